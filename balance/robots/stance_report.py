"""How near a phase's static posture is to its limits: torque, joint ranges, pressure, bodies."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import pinocchio as pin
from numpy.typing import NDArray

from balance.dynamics.static_equilibrium import Equilibrium, least_effort
from balance.dynamics.static_posture import StaticPosture
from balance.robots import Robot
from balance.robots.contacts import ContactSurface
from balance.robots.objects import WorldObject
from balance.robots.posture_clearance import BodyClearance
from balance.robots.sequence import PlannedPhase
from balance.robots.static_stance import Grip, Margins, StanceProblem, SurfaceGoal

Array = NDArray[np.float64]

NO_MARGINS = Margins(
    torque_share=1.0, range_rad=0.0, cop_m=0.0, cop_share=0.0, friction=1.0, clearance=1.0
)


@dataclass(frozen=True)
class StanceReport:
    """The CoM (m), the largest share of a torque limit, and the least margins of a posture.

    Each comes with what it is about: ``torque_share`` and ``range_rad`` with a joint, ``cop_m``,
    the distance of a CoP from the edge, with a surface (infinite if none has an area), ``gap_m``
    with two bodies, or a body and an object.
    """

    name: str
    com: Array
    torques: Array
    torque_share: float
    torque_joint: str
    range_rad: float
    range_joint: str
    cop_m: float
    cop_surface: str
    gap_m: float
    gap_pair: str

    def sentence(self) -> str:
        """All of it in words."""
        x, y, z = self.com
        cop = f", CoP {1e3 * self.cop_m:.0f} mm inside ({self.cop_surface})"
        return (
            f"CoM ({x:.3f}, {y:.3f}, {z:.3f}) m, torque {100 * self.torque_share:.0f} % "
            f"({self.torque_joint}), joint {self.range_rad:.2f} rad from a stop "
            f"({self.range_joint}){cop if np.isfinite(self.cop_m) else ''}, bodies "
            f"{1e3 * self.gap_m:.0f} mm apart ({self.gap_pair})"
        )


def stance_reports(
    phases: Sequence[PlannedPhase], objects: Mapping[str, WorldObject]
) -> list[StanceReport]:
    """One for each phase."""
    return [_report(phase, objects) for phase in phases]


def static_torques(phase: PlannedPhase) -> Array:
    """Torques (N m) of the joints that hold the posture with the phase's wrenches."""
    robot, q = phase.robot, phase.robot.q_nominal
    model, data = robot.model, robot.model.createData()
    tau = np.array(pin.computeGeneralizedGravity(model, data, q))
    pin.computeJointJacobians(model, data, q)
    pin.updateFramePlacements(model, data)
    for sole in robot.soles:
        if sole.name not in phase.wrenches:
            continue
        J = pin.getFrameJacobian(model, data, sole.frame_id, pin.ReferenceFrame.LOCAL)
        J = sole.placement.toActionMatrixInverse() @ J
        R = sole.pose(data).rotation.T @ sole.wrench_pose(data).rotation
        wrench = phase.wrenches[sole.name]
        tau -= J[:3].T @ R @ wrench[:3] + J[3:].T @ R @ wrench[3:]
    return tau[6:]


def least_torque(
    phase: PlannedPhase, q: Array | None = None, robot: Robot | None = None, friction: float = 0.6
) -> Equilibrium | None:
    """The wrenches of what holds a phase that take the least torque; None if none hold it.

    It may be another posture ``q`` with the same contacts, or another ``robot``: a heavier one.
    """
    robot = phase.robot if robot is None else robot
    goals = tuple(
        SurfaceGoal(sole, phase.placements[sole.name], True)
        for sole in phase.robot.soles
        if sole.name in phase.kept
    )
    q = robot.q_nominal if q is None else q
    problem = StanceProblem(robot, goals, {}, Grip(friction, 0.0), q)
    return least_effort(StaticPosture(robot.model, problem.wanted(NO_MARGINS)), q)


def _report(phase: PlannedPhase, objects: Mapping[str, WorldObject]) -> StanceReport:
    robot, q, names = phase.robot, phase.robot.q_nominal, phase.robot.joint_names
    torques = static_torques(phase)
    shares = np.abs(torques) / robot.effort_limits
    hardest = int(np.argmax(shares))
    model = robot.model
    rooms = np.minimum(q[7:] - model.lowerPositionLimit[7:], model.upperPositionLimit[7:] - q[7:])
    tightest = int(np.argmin(rooms))
    edges = {
        sole.name: _inside(sole, phase.wrenches[sole.name])
        for sole in robot.soles
        if sole.name in phase.wrenches and sole.has_area
    }
    surface = min(edges, key=lambda name: edges[name], default="")
    gap, pair = _clearance(phase, objects).least_gap(q)
    return StanceReport(
        name=phase.name,
        com=robot.com(),
        torques=torques,
        torque_share=float(shares[hardest]),
        torque_joint=names[hardest],
        range_rad=float(rooms[tightest]),
        range_joint=names[tightest],
        cop_m=edges.get(surface, np.inf),
        cop_surface=surface,
        gap_m=gap,
        gap_pair=f"{pair.one}, {pair.other}",
    )


def _inside(sole: ContactSurface, wrench: Array) -> float:
    """Distance (m) of the CoP from the nearest edge."""
    cop = np.array([-wrench[4], wrench[3]]) / wrench[2]
    return float(-(sole.edges[:, :2] @ cop + sole.edges[:, 2]).max())


def _clearance(phase: PlannedPhase, objects: Mapping[str, WorldObject]) -> BodyClearance:
    moved = {move.surface: move.on for move in phase.moves}
    return BodyClearance(phase.robot, objects, {**phase.on, **moved})
