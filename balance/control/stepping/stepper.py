"""Steps: one law for each set of feet that bears, and what is asked of it in each period."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import final

import numpy as np
import pinocchio as pin
from numpy.typing import NDArray

from balance.control.capture.law import CaptureController
from balance.control.parts.joint_bounds import JointBounds
from balance.control.parts.setpoints import Desired
from balance.control.stepping.gait import Gait, Mode
from balance.control.stepping.heights import com_height
from balance.control.stepping.home import Home, find_home
from balance.control.stepping.limbs_apart import LimbsApart
from balance.control.stepping.seen import Eyes, Seen
from balance.control.stepping.sizes import ankles, step_sizes
from balance.control.stepping.stance_law import StanceLaw, SwingTarget, Wish
from balance.robots import Robot
from balance.robots.contacts import ContactSurface

Array = NDArray[np.float64]

UNBOUNDED_WEIGHTS = 20.0  # of the robot: a normal force that no contact reaches
EMPTY_N = 1e-3  # bound of a foot whose load is off
NOWHERE = np.full(4, np.nan)
NOWHERE.flags.writeable = False
HEIGHT_RATE = 4.0  # omega, at which the CoM comes to its height
# omega, at which joints come to the end of their range: a leg that lands far out needs all of its
# hip's, and at the rate of a law that stands it would arrive late
RANGE_RATE = 12.0
DOWN = 3.0  # of the landing speed, at which a foot that bears and has lost the ground comes down
MOST_LEAN = 0.04  # of the CoM's height, that the body gives a step that falls short
REST = np.zeros(3)
REST.flags.writeable = False
BOTH: tuple[int, ...] = (0, 1)
FOLLOW_RATE = 8.0  # omega, at which a swing foot's path comes to where the foot is


@final
class StepBounds(JointBounds):
    """Those of a law that stands, but that joints come to the ends of their ranges faster."""

    def __init__(self, robot: Robot, omega: float, endless: NDArray[np.intp] | None) -> None:
        super().__init__(robot, omega, endless)
        self._rate = RANGE_RATE * omega


@dataclass(slots=True)
class Asked:
    """Which law is asked in a period, the numbers of its contacts, and where the robot shall be."""

    law: StanceLaw
    contacts: NDArray[np.intp]
    desired: Desired


class Stepper:
    """Takes steps from whatever state until the robot stands on both feet again."""

    def __init__(self, law: CaptureController.Config, robot: Robot, period: float) -> None:
        sizes = self.sizes = step_sizes(robot)
        self._weight = robot.mass * float(np.linalg.norm(robot.model.gravity.linear))
        names = [sole.name for sole in robot.soles]
        self.numbers = np.array([names.index(sole.name) for sole in sizes.soles], dtype=np.intp)
        """Which of the robot's contacts are the left and the right foot."""
        self._contacts = {feet: self.numbers[list(feet)] for feet in (BOTH, (0,), (1,))}
        self._full = law.contacts.max_normal_force_N or UNBOUNDED_WEIGHTS * self._weight
        self._least = law.contacts.least_normal_force(robot.mass)
        contacts = law.contacts.model_copy(update={"max_normal_force_N": self._full})
        inner = law.model_copy(update={"contacts": contacts})
        apart = LimbsApart(robot, sizes.omega)

        def made(*soles: ContactSurface) -> StanceLaw:
            on_them = replace(robot, soles=soles)
            # A body that falls over a foot takes its ankle to the stop, and then the foot rolls
            # over its edge: a bound would have the leg give way instead.
            ends = ankles(robot, soles) if len(soles) == 1 else None
            bounds = StepBounds(robot, sizes.omega, ends)
            return StanceLaw(inner, on_them, law.contact_damping, law.joint_friction, bounds, apart)

        self.both = made(*sizes.soles)
        self.single = made(sizes.soles[0]), made(sizes.soles[1])
        for one, other in zip(self.single, reversed(sizes.soles), strict=True):
            one.may_swing(other)
        self.eyes = Eyes(robot.model, robot.q_nominal, sizes)
        self._period = period
        self.gait = Gait(sizes, self.eyes, self._weight, period)
        self._upright = pin.Quaternion(robot.q_nominal[3:7]).matrix()
        self._strongest = 3.0 * float(sizes.foot_acceleration.max())

    @property
    def laws(self) -> tuple[StanceLaw, ...]:
        """All laws, of which one is asked in each period."""
        return self.both, *self.single

    def home(self, seen: Seen) -> Home | None:
        """Where the robot stands, if it does so as in its nominal stance; None while it steps."""
        # A foot that has just come down is not off again before the law that leans knows of it.
        return find_home(seen, self.eyes) if self.gait.rests(seen) else None

    def ask(self, seen: Seen) -> Asked:
        """Tell a law what is wanted of it now."""
        gait = self.gait
        turned = self.eyes.turned(seen, gait.stance if gait.stepping else None)
        rotation = pin.rpy.rpyToMatrix(0.0, 0.0, turned).dot(self._upright)
        height = com_height(gait, seen, turned)
        law, feet, swing = self.both, BOTH, None
        if gait.mode is Mode.SWING:
            law, feet, swing = self.single[gait.stance], (gait.stance,), self._swing(seen)
        acceleration = self._acceleration(seen, height)
        least, most = self._bounds(seen, feet)
        normals = np.array([gait.grounds[foot].normal for foot in feet])
        off, speed = gait.off_ground(seen), DOWN * self.sizes.landing_speed
        down = np.array([speed if off[foot] else 0.0 for foot in feet])
        still = gait.mode in (Mode.STAND, Mode.SHIFT)
        law.ask(Wish(acceleration, rotation, swing, least, most, normals, down, still))
        quaternion = np.array(pin.Quaternion(rotation).coeffs())
        com = seen.middle
        com[2] = height
        desired = Desired(com, REST, REST, quaternion, rotation, REST, REST, moving=False)
        return Asked(law, self._contacts[feet], desired)

    def _acceleration(self, seen: Seen, height: float) -> Array:
        """Of the CoM (3,): away from the CoP as a pendulum's, and to its height."""
        omega, rate = self.sizes.omega, HEIGHT_RATE * self.sizes.omega
        x, y, z = seen.com.tolist()
        p_x, p_y = self.gait.cop(seen).tolist()
        lean_x, lean_y = self._lean(seen)
        up = rate**2 * (height - z) - 2.0 * rate * float(seen.velocity[2])
        return np.array([omega**2 * (x - p_x - lean_x), omega**2 * (y - p_y - lean_y), up])

    def _lean(self, seen: Seen) -> tuple[float, float]:
        """How far (x, y) beyond the CoP the force shall pass the CoM, m: what a plan falls short.

        xi(T) = p + (xi - p) exp(omega T): so much farther out is p, as a pendulum would have it,
        that xi comes to where the foot lands.  The moment is the body's, which leans for it.
        """
        gait, sizes = self.gait, self.sizes
        plan = gait.plan
        if gait.mode not in (Mode.UNLOAD, Mode.SWING) or plan is None or plan.missed == 0.0:
            return 0.0, 0.0
        left = plan.time + sizes.load
        if gait.mode is Mode.UNLOAD:
            left += gait.begin + gait.unload_s - seen.time
        growth = np.expm1(sizes.omega * max(left, self._period))
        out = seen.xi - plan.cop
        far = min(float(plan.missed / growth), MOST_LEAN * sizes.height)
        share = far / max(math.sqrt(out.dot(out)), 1e-9)
        return share * float(out[0]), share * float(out[1])

    def _swing(self, seen: Seen) -> SwingTarget:
        gait, sizes = self.gait, self.sizes
        path, (plan, place) = gait.path, gait.aim
        assert path is not None
        share = min(1.0, FOLLOW_RATE * sizes.omega * self._period)
        path.follow(seen.places[gait.swing], self.eyes.sole_velocity(gait.swing), share)
        path.advance(self._period, place, plan.time)
        return SwingTarget(
            sizes.soles[gait.swing],
            path.place,
            path.velocity,
            path.acceleration,
            gait.ground.axes(gait.yaw),
            self._strongest,
        )

    def _bounds(self, seen: Seen, feet: tuple[int, ...]) -> tuple[Array, Array]:
        """Least and largest normal forces of feet, N: a foot's load is taken off and put on."""
        gait = self.gait
        most = [self._full, self._full]
        passed = seen.time - gait.begin
        if gait.mode is Mode.UNLOAD:
            most[gait.swing] = gait.unload_from * (1.0 - passed / gait.unload_s)
        elif gait.mode is Mode.LOAD:
            most[gait.swing] = self._weight * (passed + self._period) / self.sizes.load
        most = [max(most[foot], EMPTY_N) for foot in feet]
        return np.array([min(self._least, 0.5 * force) for force in most]), np.array(most)

    def landing(self) -> tuple[int, Array]:
        """Number of the sole that steps, and where it is to land, (4,); -1 and NaN for none."""
        gait = self.gait
        if not gait.stepping:
            return -1, NOWHERE
        return int(self.numbers[gait.swing]), np.array([*gait.aim[1].tolist(), gait.yaw])
