"""Why a robot has no static posture with its surfaces in given places, in one sentence.

The same search is done with fewer conditions, the geometry first: whatever fails first is why.
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
from balance.robots.static_stance import TIGHT, StanceProblem, search_clear

Array = NDArray[np.float64]

MISSED = 1e-4  # m or rad, by which a place counts as missed
AT_STOP_RAD = 0.02


def why_none(problem: StanceProblem, starts: Sequence[Array]) -> str:
    """Which place, balance, torque or body stands in the way of a static posture."""
    model = problem.robot.model
    wanted = problem.wanted(TIGHT)
    idle = tuple(Touch(touch.name, touch.place) for touch in wanted.touches)
    reach, fit = _best(model, replace(wanted, touches=idle, com_xy=None), starts)
    if not fit.met:
        return _out_of_reach(problem, reach.wanted, fit.x.q)
    weightless = replace(wanted, torque_share=np.inf)
    balanced, held = _best(model, weightless, [fit.x.q, *starts])
    if not held.met:
        return _unbalanced(problem, balanced, held.x.q)
    strong, fit = _best(model, wanted, [held.x.q, *starts])
    if not fit.met:
        return _too_weak(problem, strong, fit.x.q) or _too_weak(problem, balanced, held.x.q) or ""
    return _in_the_way(problem, wanted, [fit.x.q, *starts])


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


def _too_weak(problem: StanceProblem, search: StaticPosture, q: Array) -> str:
    effort = least_effort(search, q)
    if effort is None:
        return ""
    over = np.flatnonzero(effort.shares > search.wanted.torque_share)
    names, limits = problem.robot.joint_names, search.limits
    worst = sorted(over, key=lambda k: -effort.shares[k])[:3]
    told = [
        f"{names[k]} needs {abs(effort.torques[k]):.0f} N m of its {limits[k]:.0f}" for k in worst
    ]
    return f"{', '.join(told)}; give it another posture or more contacts" if told else ""


def _in_the_way(problem: StanceProblem, wanted: Wanted, starts: Sequence[Array]) -> str:
    clearance = problem.clearance()
    best: tuple[float, str] = (-np.inf, "")
    for q in starts:
        _, fit = search_clear(problem.robot.model, wanted, clearance, q, TIGHT.clearance)
        if found := clearance.look(fit.x.q, 0.0):
            depth, pair = found[0]
            best = max(best, (depth, f"'{pair.one}' is in {_called(problem, pair.other)}"))
    depth, what = best
    if not what:
        return "bodies come too near to each other in every posture found; give hints in 'posture'"
    return f"{what} by {-depth:.2g} m in every posture found; move what is around, or the contacts"


def _called(problem: StanceProblem, name: str) -> str:
    return f"the {name}" if name in problem.objects or name == "floor" else f"'{name}'"
