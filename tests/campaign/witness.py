"""A plant under the eyes of somebody who knows mechanics and nothing of how it was simulated.

Every step is weighed by its states alone: momentum about the world's origin before and after, and
Pinocchio's inverse dynamics for what the joints must have got.  What contacts did is taken from
what the plant says of them.  Nothing is judged here; :mod:`campaign.invariants` does that.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace

import numpy as np
import pinocchio as pin
from numpy.typing import NDArray

from balance.config import ExperimentConfig
from balance.robots import Robot
from balance.simulation.ground import GroundMotion
from balance.simulation.plants.interface import BodyImpulse, Plant
from balance.simulation.plants.wrapper import PlantWrapper

Array = NDArray[np.float64]

LOADED_N = 1.0  # below which a centre of pressure is not told
FORGET = 0.8  # of its speed that a joint is still given credit for a step later
CURVE = 1e-3  # of a joint's largest torque
STOP_RAD = 1e-3  # so near to the end of its range a joint may feel its stop
BACK_S = 0.02  # time constant with which bodies leave what they got into within a step
POINT_M = 1e-6  # of MuJoCo's corners, which are balls of that radius


@dataclass
class Seen:
    """What a step was: sums over the run so far are in ``total``, largest values in the rest."""

    steps: int = 0
    gained: Array = field(default_factory=lambda: np.zeros(3))  # linear momentum, N s
    given: Array = field(default_factory=lambda: np.zeros(3))  # by gravity, contacts, pushes, N s
    acted: float = 0.0  # sum of the sizes of all that was given, N s
    pushed: Array = field(default_factory=lambda: np.zeros(3))  # by pushes alone, N s
    unexplained: float = 0.0  # largest share of a step's impulse on the base that nothing gave
    untold: float = 0.0  # the same of moments, less what the arms of contacts that sank in explain
    linear: float = 0.0  # largest error of a step, N s
    angular: float = 0.0  # about the CoM, largest error of a step, N m s
    work: float = 0.0  # of all contacts with the surroundings since the start, J
    between: float = 0.0  # of contacts between bodies of the robot, J
    least_work: float = 0.0
    created: float = 0.0  # most that contacts gave back after they took it, J
    exchanged: float = 0.0  # sum of the sizes of all that contacts gave and took, J
    load: float = 0.0  # largest normal force of all contacts, N
    sunk: dict[str, float] = field(default_factory=dict)  # depths less ways, m, by what is touched
    way: dict[str, float] = field(default_factory=dict)  # that touching bodies made in a step, m
    pull: float = 0.0  # most that a contact pulled, N
    friction: float = -np.inf  # most by which a tangential force was above mu f_n, over f_n
    cop: float = -np.inf  # furthest that a CoP was out of its surface, m
    torque: float = -np.inf  # most by which a joint's torque was above its limit, N m
    torque_joint: int = 0
    too_fast: int = 0  # steps in which a joint got more than its drive has at that speed
    beyond: float = 0.0  # furthest that a joint was beyond its range, less a step's way, rad
    beyond_joint: int = 0
    finite: bool = True


class Witness(PlantWrapper):
    """A plant that is used like the one inside; ``seen`` is what was seen of it so far."""

    def __init__(
        self, plant: Plant, robot: Robot, config: ExperimentConfig, ground: GroundMotion | None
    ) -> None:
        super().__init__(plant)
        self.robot, self._ground = robot, ground
        self._model, self._data = robot.model, robot.model.createData()
        self._after = robot.model.createData()
        self._friction = np.full(len(robot.soles), config.plant.friction)
        self._keeps_momentum = config.plant.engine == "pinocchio"
        self._weight = robot.mass * np.array(robot.model.gravity.linear)
        frames = [frame for frame in robot.model.frames if frame.type == pin.FrameType.BODY]
        self._frames = {frame.name: frame for frame in frames}
        self._hulls = [_edges(sole.corners[:, :2]) for sole in robot.soles]
        self._most = robot.effort_limits if config.plant.torque_limits else np.inf
        self._curve = _curve(config, robot)
        self._fast = np.zeros(robot.model.nv - 6)
        self._ways: dict[tuple[str, str], float] = {}
        self.seen, self._kept = Seen(), (Seen(), self._fast, self._ways, 0)
        self.wrenches: list[Array] = []

    def set_friction(self, surface: int, friction: float) -> None:
        """Change the friction coefficient under one surface."""
        self._friction[surface] = friction
        super().set_friction(surface, friction)

    def remember(self) -> bool:
        """Keep the state, what was seen included."""
        kept = replace(self.seen, sunk=dict(self.seen.sunk), way=dict(self.seen.way))
        self._kept = kept, self._fast, self._ways, len(self.wrenches)
        return super().remember()

    def go_back(self) -> None:
        """Be again where ``remember`` was called."""
        seen, self._fast, self._ways, length = self._kept
        self.seen = replace(seen, sunk=dict(seen.sunk), way=dict(seen.way))
        del self.wrenches[length:]
        super().go_back()

    def step(self, torques: Array, impulses: Sequence[BodyImpulse] = ()) -> None:
        """Advance by one time step and look at it."""
        plant, model, dt = self.plant, self._model, self.dt
        time, q, v = plant.time, plant.q, plant.v
        limits, damping = plant.torque_range.copy(), plant.joint_damping.copy()
        plant.step(torques, impulses)
        q_end, v_end = plant.q, plant.v
        seen = self.seen
        seen.steps += 1
        self.wrenches.append(plant.contact_wrenches.copy())
        if not (np.isfinite(q_end).all() and np.isfinite(v_end).all()):
            seen.finite = False
            return
        data, after = self._data, self._after
        before = np.array(pin.computeCentroidalMomentum(model, data, q, v).vector)
        gained = np.array(pin.computeCentroidalMomentum(model, after, q_end, v_end).vector) - before
        pin.updateFramePlacements(model, data)
        pin.computeJointJacobians(model, data, q)
        v_step = v_end.copy()
        v_step[:6] = pin.difference(model, q, q_end)[:6] / dt
        change = (v_step - v) / dt
        if not self._keeps_momentum:
            # This engine's equations are those of the base's velocity in the world's axes.
            R, R_end = (pin.Quaternion(one[3:7]).matrix() for one in (q, q_end))
            change[:3] = (R.T @ R_end @ v_end[:3] - v[:3]) / dt - _cross(v[3:6], v[:3])
            change[3:6] = (v_end[3:6] - v[3:6]) / dt
        given = np.zeros(6)
        given[:3] = dt * self._weight
        acted, work = float(np.linalg.norm(given[:3])), 0.0
        generalised = np.zeros(model.nv)
        com = np.array(data.com[0])
        mean, arm = 0.5 * (v + v_step), 0.0

        def act(joint: int, place: Array, force: Array, moment: Array, carried: Array) -> Array:
            """Note a force (N s) and moment at a place of a body, whose support is ``carried``.

            Returns with which velocity the place began the step.
            """
            nonlocal acted, work
            given[:3] += force
            given[3:] += _cross(place - com, force) + moment
            acted += float(np.linalg.norm(force))
            J = pin.getJointJacobian(model, data, joint, pin.WORLD)
            wrench = np.concatenate([force, _cross(place, force) + moment])
            generalised[:] += J.T @ wrench
            work += float(wrench @ (J @ mean - carried))
            twist = J @ v - carried
            return np.asarray(twist[:3] + _cross(twist[3:], place))

        seen.load = max(seen.load, float(plant.contact_wrenches[:, 2].sum()))
        still, before_it = np.zeros(6), 0.0
        moving = still if self._ground is None else self._ground.twist(time, dt)
        for number, (sole, wrench) in enumerate(
            zip(self.robot.soles, plant.contact_wrenches, strict=True)
        ):
            if not wrench.any():
                continue
            pose = sole.pose(data)
            on_ground = self._ground is not None and sole.name in self._ground.surfaces
            R_WP = sole.plane.rotation
            if on_ground:
                R_WP = self._ground.pose(time).rotation @ R_WP
            axes = sole.axes(pose.rotation, R_WP)
            joint = model.frames[sole.frame_id].parentJoint
            act(
                joint,
                pose.translation,
                dt * axes @ wrench[:3],
                dt * axes @ wrench[3:],
                moving if on_ground else still,
            )
            self._judge_wrench(number, wrench, R_WP.T @ axes @ wrench[:3])
            if not self._keeps_momentum:
                # This engine has forces in the middle of what sank in, and tells them at corners.
                plane = self._ground.pose(time) * sole.plane if on_ground else sole.plane
                heights = plane.actInv(pose).rotation[2] @ sole.corners.T
                depth = -float((heights + plane.actInv(pose).translation[2]).min())
                arm += (0.5 * max(depth, 0.0) + POINT_M) * float(np.linalg.norm(wrench[:3]))
            seen.exchanged += abs(work - before_it)
            before_it = work
        seen.work += work
        ways = {key: way * np.exp(-dt / BACK_S) for key, way in self._ways.items()}
        for touch in plant.touches:
            work, speed = 0.0, np.zeros(3)
            for body, sign in ((touch.body, 1.0), (touch.other, -1.0)):
                if body in self._frames:
                    force = sign * dt * touch.force
                    moves = moving if sign > 0.0 and touch.other == "ground" else still
                    joint = self._frames[body].parentJoint
                    speed += sign * act(joint, touch.point, force, np.zeros(3), moves)
            key = touch.body, touch.other
            what = "each other" if touch.other in self._frames else "the floor"
            way = max(ways.get(key, 0.0), dt * float(np.linalg.norm(speed)))
            ways[key] = way
            seen.way[what] = max(seen.way.get(what, 0.0), way)
            seen.sunk[what] = max(seen.sunk.get(what, 0.0), touch.depth_m - way)
            if touch.other in self._frames:
                seen.between += work
            else:
                seen.work += work
            seen.exchanged += abs(work)
        self._ways = ways
        seen.created = max(seen.created, seen.work - seen.least_work)
        seen.least_work = min(seen.least_work, seen.work)
        for impulse in impulses:
            frame = self._frames[impulse.body]
            place = data.oMf[model.getFrameId(impulse.body, pin.FrameType.BODY)]
            vector = place.rotation @ impulse.vector if impulse.in_body_axes else impulse.vector
            act(frame.parentJoint, place.act(impulse.point), vector, np.zeros(3), still)
            seen.pushed = seen.pushed + vector
        seen.gained, seen.given = seen.gained + gained[:3], seen.given + given[:3]
        seen.acted += acted
        error = gained - given
        seen.linear = max(seen.linear, float(np.abs(error[:3]).max()))
        seen.angular = max(seen.angular, float(np.abs(error[3:]).max()))
        needed = np.array(pin.rnea(model, data, q, v, change)) - generalised / dt
        given_in_all = acted + dt * np.abs(v).max()
        left = dt * np.abs(needed[:6])
        seen.unexplained = max(seen.unexplained, float(left[:3].max()) / given_in_all)
        seen.untold = max(seen.untold, float(left[3:].max() - dt * arm) / given_in_all)
        self._judge_joints(q, q_end, needed[6:], v_step[6:], limits, damping, arm)

    def _judge_wrench(self, number: int, wrench: Array, force: Array) -> None:
        """``force`` (3,) is that of the wrench in the axes of the plane."""
        seen, normal = self.seen, float(force[2])
        seen.pull = max(seen.pull, -normal)
        over = float(np.hypot(*force[:2])) - self._friction[number] * normal
        seen.friction = max(seen.friction, over / (abs(normal) + 1.0))
        if wrench[2] > LOADED_N:
            normal = float(wrench[2])
            cop = np.array([-wrench[4], wrench[3]]) / normal
            seen.cop = max(seen.cop, _outside(self._hulls[number], cop))

    def _judge_joints(
        self,
        q: Array,
        q_end: Array,
        got: Array,
        speed: Array,
        limits: Array,
        damping: Array,
        arm: float,
    ) -> None:
        """``got`` (nj,) is what motion says that the joints got, friction included.

        ``arm`` N m of it may be due to where contacts are said to act.
        """
        seen, model = self.seen, self._model
        lower, upper = model.lowerPositionLimit[7:], model.upperPositionLimit[7:]
        over = np.maximum(lower - q_end[7:], q_end[7:] - upper)
        self._fast = np.maximum(np.abs(speed), FORGET * self._fast)
        sunk = over - self.dt * self._fast
        joint = int(np.argmax(sunk))
        if sunk[joint] > seen.beyond:
            seen.beyond, seen.beyond_joint = float(sunk[joint]), joint
        # End stops give what they must, and do not say how much.
        free = np.maximum(over, np.maximum(lower - q[7:], q[7:] - upper)) < -STOP_RAD
        most = np.minimum(limits[1], self._most)
        driving = got * speed > 0.0
        line = most if self._curve is None else np.minimum(most, self._curve(np.abs(speed)))
        above = np.abs(got) - np.where(driving, most, most + damping * np.abs(speed)) - arm
        above = np.where(free, above, -np.inf)
        seen.too_fast += bool((driving & free & (np.abs(got) > line + CURVE * most + arm)).any())
        joint = int(np.argmax(above))
        if above[joint] > seen.torque:
            seen.torque, seen.torque_joint = float(above[joint]), joint


def _curve(config: ExperimentConfig, robot: Robot) -> Callable[[Array], Array] | None:
    """Largest torque (nj,) that drives a joint at a speed, as docs/imperfections.md has it."""
    shape = config.actuators.speed_torque
    if shape == "none":
        return None
    full, none = shape.full_until * robot.rated_speeds, shape.none_from * robot.rated_speeds
    return lambda speed: robot.effort_limits * np.clip((none - speed) / (none - full), 0.0, 1.0)


def _cross(a: Array, b: Array) -> Array:
    """As NumPy's, which takes its time over three numbers."""
    (ax, ay, az), (bx, by, bz) = a.tolist(), b.tolist()
    return np.array([ay * bz - az * by, az * bx - ax * bz, ax * by - ay * bx])


def _edges(corners: Array) -> Array:
    """Corners (n, 2) of a convex area in the order around its middle."""
    middle = corners.mean(axis=0)
    around = np.arctan2(*(corners - middle).T[::-1])
    return np.asarray(corners[np.argsort(around)])


def _outside(corners: Array, point: Array) -> float:
    """How far (m) a point is out of a convex area, a line or a point; negative inside."""
    if len(corners) == 1:
        return float(np.linalg.norm(point - corners[0]))
    if len(corners) == 2:
        along = corners[1] - corners[0]
        share = np.clip((point - corners[0]) @ along / (along @ along), 0.0, 1.0)
        return float(np.linalg.norm(point - corners[0] - share * along))
    sides = np.roll(corners, -1, axis=0) - corners
    normals = np.column_stack([sides[:, 1], -sides[:, 0]])
    normals /= np.linalg.norm(normals, axis=1)[:, None]
    return float(((point - corners) * normals).sum(axis=1).max())
