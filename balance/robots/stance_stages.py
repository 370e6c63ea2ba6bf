"""A static posture found step by step, or why there is none, in one sentence.

The search is done with few conditions first, and goes on from what it found with more: places,
then balance, then torques, then bodies that must not meet.  Whatever fails first is why.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np
import pinocchio as pin
from numpy.typing import NDArray

from balance.dynamics.constrained_fit import Fit
from balance.dynamics.static_equilibrium import com_shortfall, least_effort
from balance.dynamics.static_posture import Point, StaticPosture, Touch, Wanted
from balance.dynamics.surface_place import place_rows
from balance.errors import RobotError
from balance.robots.static_stance import (
    TIGHT,
    Stance,
    StanceProblem,
    find_stance,
    random_starts,
    search_clear,
)

Array = NDArray[np.float64]

MISSED = 1e-4  # m or rad, by which a place counts as missed
AT_STOP_RAD = 0.02


def find_by_stages(problem: StanceProblem, starts: Sequence[Array]) -> Stance:
    """A static posture with small margins if need be; an error says why there is none."""
    model = problem.robot.model
    wanted = problem.wanted(TIGHT)
    idle = tuple(Touch(touch.name, touch.place) for touch in wanted.touches)
    starts = [*starts, *random_starts(model, starts[0])]
    reach, placed = _best(model, replace(wanted, touches=idle, com_xy=None), starts)
    if not placed.met:
        raise RobotError(_out_of_reach(problem, reach.wanted, placed.x.q))
    strong = replace(wanted, torque_share=np.inf)
    search, balanced = _best(model, strong, [placed.x.q, *starts])
    if not balanced.met:
        raise RobotError(_unbalanced(problem, search, balanced.x.q))
    search, held = _best(model, wanted, [balanced.x.q, *starts])
    if not held.met:
        raise RobotError(_too_weak(problem, search, (held, balanced)))
    stance = find_stance(problem, [held.x.q]) or find_stance(
        problem, [held.x.q, *starts[:2]], TIGHT
    )
    if stance is None:
        raise RobotError(_in_the_way(problem, wanted, held.x.q))
    return stance


def _best(
    model: pin.Model, wanted: Wanted, starts: Sequence[Array]
) -> tuple[StaticPosture, Fit[Point]]:
    """The search that meets its conditions, or comes nearest to it."""
    best: Fit[Point] | None = None
    search = StaticPosture(model, wanted)
    for q in starts:
        fit = search.search(q)
        if best is None or fit.terms.violation < best.terms.violation:
            best = fit
        if fit.met:
            break
    assert best is not None
    return search, best


def _out_of_reach(problem: StanceProblem, wanted: Wanted, q: Array) -> str:
    model = problem.robot.model
    data = model.createData()
    pin.computeJointJacobians(model, data, q)
    pin.updateFramePlacements(model, data)
    missed = []
    for touch in wanted.touches:
        rows = place_rows(model, data, touch.place)
        n = len(touch.place.position)
        far = float(np.linalg.norm(np.append(rows.c[:n], np.minimum(rows.h, 0.0))))
        missed.append((far, float(np.linalg.norm(rows.c[n:])), touch.name))
    far, turned, name = max(missed, key=lambda one: one[0] + 0.3 * one[1])
    stops = _at_stops(problem, q)
    limits = f" with {stops} at the stop" if stops else ""
    if far > MISSED:
        return f"'{name}' is {far:.2g} m out of reach{limits}; put it nearer, or its other contacts"
    if turned > MISSED:
        return f"'{name}' cannot lie flat, {turned:.2g} rad are missing{limits}; turn or move it"
    return f"no joint angles within the ranges were found{limits}; give other hints in 'posture'"


def _at_stops(problem: StanceProblem, q: Array) -> str:
    model = problem.robot.model
    near = np.minimum(q[7:] - model.lowerPositionLimit[7:], model.upperPositionLimit[7:] - q[7:])
    names = problem.robot.joint_names
    return ", ".join(names[k] for k in np.flatnonzero(near < AT_STOP_RAD))


def _unbalanced(problem: StanceProblem, search: StaticPosture, q: Array) -> str:
    bearing = ", ".join(touch.name for touch in search.bearing)
    shift = com_shortfall(search, q)
    if shift is None:
        return (
            f"no wrenches in the friction cones of {bearing} hold it, wherever its CoM is; give it "
            "more contacts, or faces that point upwards"
        )
    far = float(np.linalg.norm(shift))
    com = problem.robot.com(q)
    return (
        f"no wrenches in the cones of {bearing} hold it: with the CoM at ({com[0]:.2f}, "
        f"{com[1]:.2f}) m it is {far:.2g} m outside of what they can bear; give it more contacts, "
        "or put them elsewhere"
    )


def _too_weak(
    problem: StanceProblem, search: StaticPosture, fits: tuple[Fit[Point], Fit[Point]]
) -> str:
    """The joints that lack torque in the postures that come nearest."""
    names, limits = problem.robot.joint_names, search.limits
    for fit in fits:
        effort = least_effort(search, fit.x.q)
        if effort is None:
            continue
        over = np.flatnonzero(effort.shares > search.wanted.torque_share)
        worst = sorted(over.tolist(), key=lambda k: -effort.shares[k])[:3]
        if told := [
            f"{names[k]} needs {abs(effort.torques[k]):.0f} N m of its {limits[k]:.0f}"
            for k in worst
        ]:
            return f"{', '.join(told)}; give it another posture or more contacts"
    return "no posture that its torques hold was found; give hints in 'posture', or more contacts"


def _in_the_way(problem: StanceProblem, wanted: Wanted, q: Array) -> str:
    clearance = problem.clearance()
    _, fit = search_clear(problem.robot.model, wanted, clearance, q, TIGHT.clearance)
    found = clearance.look(fit.x.q, 0.0)
    if not found:
        return "bodies come too near to each other in every posture found; give hints in 'posture'"
    depth, pair = found[0]
    return (
        f"'{pair.one}' is in {_called(problem, pair.other)} by {-depth:.2g} m at best; move what "
        "is around, or the contacts"
    )


def _called(problem: StanceProblem, name: str) -> str:
    return f"the {name}" if name in problem.objects or name == "floor" else f"'{name}'"
