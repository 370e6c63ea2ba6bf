"""A user's own law in the safety frame of ours: whatever it does, the robot gets safe torques."""

from __future__ import annotations

from collections.abc import Callable
from inspect import signature
from typing import Any, final

import numpy as np
from numpy.typing import NDArray

from balance.config import BalancingLawConfig, ExperimentConfig
from balance.config.user_code import FOREIGN, told
from balance.control.parts.output import ControlOutput, ControlStatus
from balance.control.parts.safety_frame import BalancingLaw
from balance.control.qp import make_solver
from balance.errors import BalanceError, ConfigError
from balance.robots import Robot

Array = NDArray[np.float64]


@final
class ForeignLaw(BalancingLaw):
    """Anything with a ``step(q, v, t)`` that returns joint torques or a :class:`ControlOutput`.

    An exception, a wrong shape or a torque that is not finite is answered by the fallback of our
    own laws, with the status ``LAW_FAILED`` and a sentence that names the law.  A law that does not
    tell which contact wrenches it counts on has NaN there.
    """

    failure = ControlStatus.LAW_FAILED

    def __init__(self, law: Any, config: ExperimentConfig, robot: Robot) -> None:
        """``law`` is made already; :func:`made` makes one from its class."""
        self.law, self.name = law, type(law).__name__
        section = config.controller
        frame = BalancingLawConfig(law=section.law, contacts=section.contacts)
        super().__init__(frame, robot, make_solver(frame.qp.solver))
        self._shape, self._contacts = (robot.model.nv - 6,), (len(robot.soles), 6)
        self._limits = robot.effort_limits
        self._failure = ""
        self._constraints = tuple(map(str, getattr(law, "constraint_names", ())))

    @property
    def constraint_names(self) -> tuple[str, ...]:
        """What the law says of itself, if it does."""
        return self._constraints

    def attempt(self, q: Array, v: Array, t: float) -> ControlOutput | None:
        """The law's own answer, checked and within the torque limits; None if it has none."""
        # Copies: what a stranger writes into his arguments must not change the robot.
        try:
            answer = self.law.step(q.copy(), v.copy(), t)
        except FOREIGN as error:
            self._failure = f"{self.name}.step raised {told(error, self.law)}"
            return None
        try:
            return self._within_limits(self._checked_answer(answer))
        except (TypeError, ValueError) as error:
            self._failure = (
                f"{self.name}.step returned {error}; it must return {self._shape[0]} joint torques "
                "in N m, or a ControlOutput"
            )
            return None

    def _checked_answer(self, answer: object) -> ControlOutput:
        """The answer as an output of the right shape; a ValueError says what it is instead."""
        if not isinstance(answer, ControlOutput):
            torques = _numbers(answer, self._shape, "torques")
            none = np.empty(0, dtype=np.intp)
            unknown = np.full(self._contacts, np.nan)
            return ControlOutput(torques, unknown, ControlStatus.OK, none, np.zeros(6))
        wrenches = _numbers(answer.wrenches, self._contacts, "wrenches", finite=False)
        active = np.asarray(answer.active, dtype=np.intp).ravel()
        if active.size and not 0 <= active.min() <= active.max() < len(self._constraints):
            raise ValueError(
                f"active constraints {active.tolist()}, of {len(self._constraints)} that its "
                "constraint_names name"
            )
        return ControlOutput(
            _numbers(answer.torques, self._shape, "torques"),
            wrenches,
            ControlStatus(answer.status),
            # Cones are for wrenches that are known.
            active if np.isfinite(wrenches).all() else active[:0],
            _numbers(answer.residual, (6,), "residual"),
            str(answer.conflict),
        )

    def _within_limits(self, output: ControlOutput) -> ControlOutput:
        cut = np.clip(output.torques, -self._limits, self._limits)
        if (cut != output.torques).any():
            output.status |= ControlStatus.TORQUE_LIMITED
        output.torques = cut
        return output

    def conflict(self, q: Array, v: Array) -> str:
        """What the law did wrong at the last state."""
        return self._failure


def made(make: Callable[..., Any], config: ExperimentConfig, robot: Robot) -> Any:
    """A law from its class; one sentence if that does not work."""
    name = getattr(make, "__name__", type(make).__name__)
    said = f"controller.law = '{config.controller.law}': {name}"
    if problem := _misfit(make, config, robot):
        raise ConfigError(f"{said} is made as {name}(config, robot), but {problem}")
    try:
        law = make(config, robot)
    except BalanceError:
        raise
    except FOREIGN as error:
        raise ConfigError(f"{said} cannot be made: {told(error, make)}") from None
    if problem := _misfit(getattr(law, "step", None), 0, 0, 0):
        raise ConfigError(f"{said} is asked by step(q, v, t), but {problem}")
    return law


def _misfit(function: Any, *arguments: object) -> str:
    """Why a function cannot be called so, as far as it says; empty if nothing speaks against it."""
    try:
        signature(function).bind(*arguments)
    except TypeError as error:
        return str(error) if callable(function) else ""
    except ValueError:  # compiled: it has no signature
        return ""
    return ""


def _numbers(value: object, shape: tuple[int, ...], what: str, finite: bool = True) -> Array:
    """A copy of ``value`` as numbers; a ValueError says what is wrong with it."""
    try:
        numbers = np.array(value, dtype=float)
    except (TypeError, ValueError):
        numbers = None
    if value is None or numbers is None:
        raise ValueError(f"{what} of type {type(value).__name__}") from None
    if numbers.shape != shape:
        raise ValueError(f"{what} of shape {numbers.shape}")
    if finite and not np.isfinite(numbers).all():
        raise ValueError(f"{what} that are not finite")
    return numbers
