"""Every bound of a verdict, in one place: what counts as recovered, upright and fallen.

``docs/design.md`` prints :func:`bounds_table`.
"""

from __future__ import annotations

import math

from balance.robots.clearance import TOUCH_HEIGHT_M

HOLD_S = 0.25  # at the end of a run, for which a robot must stand still
MAX_COM_ERROR_M = 0.03
MAX_ROTATION_RAD = 0.09
MAX_ANGULAR_RATE = 0.15  # rad/s
AT_STOP_RAD = 1e-4  # a joint that is this near to the end of its range rests on it
LOADED_N = 1.0  # normal force above which a sole counts as touching the ground
MAX_SLIP_M = 0.02
MAX_FLIGHT_S = 0.1
MAX_TILT_RAD = math.radians(60.0)
MIN_HEIGHT_SHARE = 0.6  # of the nominal height of the base
LONGEST_WAIT_S = 10.0  # for which a run of a study goes on to see the verdict settle


def bounds_table() -> str:
    """The bounds as a Markdown table."""
    rows = (
        ("recovered", "stands still at the end for at least", f"{HOLD_S:g} s"),
        ("", "CoM, distance from its setpoint, below", f"{MAX_COM_ERROR_M:g} m"),
        ("", "base, rotation error, below", f"{MAX_ROTATION_RAD:g} rad"),
        ("", "base, angular rate, below", f"{MAX_ANGULAR_RATE:g} rad/s"),
        ("", "every joint further from a stop on which it did not rest", f"{AT_STOP_RAD:g} rad"),
        ("", "slip of a sole that bears load, at most", f"{MAX_SLIP_M:g} m"),
        ("", "time of a sole off the ground, at most", f"{MAX_FLIGHT_S:g} s"),
        ("", "a sole is off the ground below a normal force of", f"{LOADED_N:g} N"),
        ("fell", "base, tilt, more than", f"{math.degrees(MAX_TILT_RAD):g} degrees"),
        ("", "base, height, below", f"{100 * MIN_HEIGHT_SHARE:g} % of the nominal one"),
        ("", "a joint that carries no sole, height, below", f"{TOUCH_HEIGHT_M:g} m"),
        ("studies", "a run goes on after its last push for at most", f"{LONGEST_WAIT_S:g} s"),
    )
    lines = ["| verdict | what | bound |", "|---|---|---|"]
    return "\n".join([*lines, *(f"| {' | '.join(row)} |" for row in rows)])
