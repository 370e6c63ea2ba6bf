"""A learned policy: an ONNX network that sets joint targets, in the robot's safety frame."""

from __future__ import annotations

import math
from typing import Annotated, final

import numpy as np
from numpy.typing import NDArray
from pydantic import Field

from balance.config import BalancingLawConfig, ExperimentConfig, LawConfig, section_of
from balance.config.laws import ImpedanceConfig
from balance.config.schema import Strict
from balance.config.sections import check_network
from balance.config.values import NonNegative, Positive
from balance.control.parts.network import KEY, Actor, Network
from balance.control.parts.observation import (
    STATE,
    Observation,
    PerJoint,
    Signal,
    joint_indices,
    per_joint,
)
from balance.control.parts.output import ControlOutput, ControlStatus
from balance.control.parts.posture_impedance import PostureImpedance
from balance.control.parts.safety_frame import BalancingLaw
from balance.control.qp import make_solver
from balance.errors import ConfigError, InputError
from balance.robots import Robot

Array = NDArray[np.float64]

NO_NETWORK = "none"
ROUNDING = 1e-6  # of a period
HELD = ImpedanceConfig(frequency_hz=1.2, damping_ratio=1.0)
"""Of joints that bear a contact, for a CoM height of 1 m: the robot stands on ankle, knee and hip
one after the other, and nothing makes up for its weight when it leans."""


class ActionConfig(Strict):
    """What becomes of a network's output: targets of joints, and torques towards them."""

    scale: PerJoint = 1.0
    """Radians for each unit of the output: one number, one for each joint, or some by name
    [rad]. Example: 0.25."""
    clip: Positive | None = None
    """Largest size of an output before it is scaled; none if not given [-]. Example: 10."""
    stiffness: NonNegative | tuple[NonNegative, ...] | dict[str, NonNegative] | None = None
    """Springs towards the targets; where none is given, of an oscillator that stands, 1.2 Hz for a
    CoM height of 1 m [N m/rad]. Example: 100."""
    damping: NonNegative | tuple[NonNegative, ...] | dict[str, NonNegative] | None = None
    """Dampers; where none is given, those of the same oscillator [N m s/rad]. Example: 2."""


@final
class PolicyController(BalancingLaw):
    """Runs a network at its own rate, and springs and dampers towards its targets at every step:

        a = network(observation),  s* = s_0 + scale a,  tau = k_p (s* - s) - k_d ds/dt + tau_0,

    with s_0 the ``posture`` and tau_0, if ``feedforward`` is set, the torques that hold it at rest.
    Joints that the network does not move are held there.  The law tells no contact wrenches: it
    counts on none.
    """

    failure = ControlStatus.LAW_FAILED

    class Config(LawConfig):
        """Keys of `law: policy`."""

        network: str
        """The ONNX file; `none` where something else acts in its place, as the Gymnasium
        environment does. Example: stand.onnx."""
        period_s: Positive = 0.02
        """Period of the network, a multiple of `control_period_s`."""
        joints: tuple[str, ...] | None = None
        """Joints that the network moves, in its order; all in the robot's order if not given.
        Example: [left_knee, right_knee]."""
        observe: Annotated[tuple[Signal, ...], Field(min_length=1)] = STATE
        """What it is shown, in its order: names of signals, or mappings with `signal` and more."""
        history: Annotated[int, Field(ge=1, le=1000)] = 1
        """How many such frames it is shown at once, the oldest first [-]."""
        posture: dict[str, float] = Field(default_factory=dict)
        """Joint angles that targets and the signal `joints` count from, where they are not those
        of the nominal posture [rad]. Example: {left_knee: 0.3}."""
        act: ActionConfig = ActionConfig()
        """What becomes of its output."""
        feedforward: bool = False
        """Whether the torques that hold the nominal posture at rest are added."""

    def __init__(self, config: ExperimentConfig, robot: Robot, actor: Actor | None = None) -> None:
        """``actor`` acts in place of the network."""
        law = section_of(config, self.Config)
        frame = BalancingLawConfig(law=law.law, contacts=law.contacts)
        super().__init__(frame, robot, make_solver(frame.qp.solver))
        self._period = law.period_s
        self.decimation = _decimation(law.period_s, config.control_period_s)
        """Control periods in one of the network's."""
        names = law.joints if law.joints is not None else tuple(robot.joint_names)
        self.joints = joint_indices(names, robot, "controller.joints")
        self._names = names
        rest = robot.q_nominal[7:].copy()
        changed = joint_indices(law.posture, robot, "controller.posture")
        rest[changed] = list(law.posture.values())
        self.observation = Observation(law.observe, robot, self.joints, rest, law.history)
        self._posture = _impedance(law, robot, self.joints, names)
        self._posture.nominal[:] = rest
        self._rest = rest[self.joints]
        self._scale = per_joint(law.act.scale, names, np.ones(len(names)), "controller.act.scale")
        self.largest_action = law.act.clip or np.inf
        holds = self.fallback.held.torques
        self._forward = holds if law.feedforward else np.zeros_like(holds)
        self._limits = robot.effort_limits
        self._unknown = np.full((len(robot.soles), 6), np.nan)
        self._network = law.network
        self._actor = actor or self._made_network(config)
        self._seen: tuple[int, Array] | None = None
        self._acted: int | None = None
        self._failure = ""

    def _made_network(self, config: ExperimentConfig) -> Actor:
        if self._network == NO_NETWORK:
            raise ConfigError(
                f"'{KEY}' = '{NO_NETWORK}': nothing acts; name an ONNX file (docs/policies.md)"
            )
        shown = self.observation
        made = Network(self._network, shown.words, shown.size, len(self.joints))
        check_network(self._network, config.code)
        return made

    @property
    def constraint_names(self) -> tuple[str, ...]:
        """None: it has no constraints."""
        return ()

    def observe(self, q: Array, v: Array, t: float) -> Array:
        """What the network is shown in its period at ``t``, of the first state in it."""
        tick = math.floor(t / self._period + ROUNDING)
        if self._seen is None or self._seen[0] != tick:
            self._seen = tick, self.observation.add(q, v, t)
        return self._seen[1]

    def attempt(self, q: Array, v: Array, t: float) -> ControlOutput | None:
        """Torques towards the targets of the latest action; None if that is not finite."""
        shown = self.observe(q, v, t)
        assert self._seen is not None
        if self._acted != self._seen[0]:
            self._acted = self._seen[0]
            self._act(self._actor(shown), t)
        if self._failure:
            return None
        torques = self._posture.torque(q[7:], v[6:])
        torques += self._forward
        cut = np.minimum(np.maximum(torques, -self._limits), self._limits)
        status = ControlStatus.OK if (cut == torques).all() else ControlStatus.TORQUE_LIMITED
        none = np.empty(0, dtype=np.intp)
        return ControlOutput(cut, self._unknown, status, none, np.zeros(6))

    def _act(self, action: Array, t: float) -> None:
        """Take over an action; one that is not finite is kept out of targets and observations."""
        bad = ~np.isfinite(action)
        self._failure = ""
        if bad.any():
            joint, value = self._names[int(bad.argmax())], action[bad.argmax()]
            self._failure = (
                f"the network {self._network} gave {value:g} for joint {joint} at {t:.6g} s, which "
                "is no target; the fallback holds the robot until it gives finite ones"
            )
            return
        taken = np.clip(action, -self.largest_action, self.largest_action)
        self.observation.last_action = taken
        self._posture.nominal[self.joints] = self._rest + self._scale * taken

    def action_for(self, q: Array, v: Array, torques: Array) -> Array:
        """The action whose targets give ``torques`` (nj,) at a state, to learn from other laws."""
        needed = torques - self._forward + self._posture.damping * v[6:]
        joints, stiffness = self.joints, self._posture.stiffness[self.joints]
        if not ((stiffness > 0.0) & (self._scale != 0.0)).all():
            raise InputError("joints without stiffness or scale follow no action; give them some")
        target = q[7:][joints] + needed[joints] / stiffness
        return np.asarray((target - self._rest) / self._scale)

    def conflict(self, q: Array, v: Array) -> str:
        """What the network gave that is no action."""
        return self._failure


def _decimation(period: float, control: float) -> int:
    ratio = period / control
    if round(ratio) < 1 or abs(ratio - round(ratio)) > ROUNDING:
        raise ConfigError(
            f"'controller.period_s' = {period:g} must be a whole multiple of control_period_s = "
            f"{control:g}"
        )
    return round(ratio)


def _impedance(
    law: PolicyController.Config, robot: Robot, joints: NDArray[np.intp], names: tuple[str, ...]
) -> PostureImpedance:
    """Springs and dampers of all joints: as given, or of oscillators that stand."""
    posture = PostureImpedance(robot, robot.impedance.frequency_hz, robot.impedance.damping_ratio)
    posture.bear(robot, HELD)
    for numbers, given, key in (
        (posture.stiffness, law.act.stiffness, "stiffness"),
        (posture.damping, law.act.damping, "damping"),
    ):
        numbers[joints] = per_joint(given, names, numbers[joints], f"controller.act.{key}")
    return posture
