"""A user's own law in the safety frame of ours: whatever it does, the robot gets safe torques."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any, final

import numpy as np
from numpy.typing import NDArray

from balance.config import BalancingLawConfig, ExperimentConfig
from balance.config.user_code import told
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
    own laws, with the status ``LAW_FAILED`` and a sentence that names the law.
    """

    failure = ControlStatus.LAW_FAILED

    def __init__(
        self, make: Callable[[ExperimentConfig, Robot], Any], config: ExperimentConfig, robot: Robot
    ) -> None:
        self.name = getattr(make, "__name__", type(make).__name__)
        frame = BalancingLawConfig(law=config.controller.law, contacts=config.controller.contacts)
        super().__init__(frame, robot, make_solver(frame.qp.solver))
        self._shape, self._contacts = (robot.model.nv - 6,), (len(robot.soles), 6)
        self._limits = robot.effort_limits
        self._failure = ""
        try:
            self.law = make(config, robot)
        except BalanceError:
            raise
        except Exception as error:  # noqa: BLE001
            raise ConfigError(
                f"controller.law = '{config.controller.law}': {self.name} cannot be made: "
                f"{told(error)}"
            ) from None

    @property
    def constraint_names(self) -> tuple[str, ...]:
        """What the law says of itself, if it does."""
        return tuple(getattr(self.law, "constraint_names", ()))

    def attempt(self, q: Array, v: Array, t: float) -> ControlOutput | None:
        """The law's own answer, checked and within the torque limits; None if it has none."""
        # Copies: what a stranger writes into his arguments must not change the robot.
        try:
            answer = self.law.step(q.copy(), v.copy(), t)
        except Exception as error:  # noqa: BLE001
            fault = f"step raised {told(error)}"
        else:
            output = answer if isinstance(answer, ControlOutput) else self._plain(answer)
            fault = self._fault(output, answer)
            if output is not None and not fault:
                return self._within_limits(output)
        self._failure = f"{self.name}.{fault}; it must return {self._shape[0]} joint torques in N m"
        return None

    def _plain(self, answer: object) -> ControlOutput | None:
        """Bare torques as an output; the wrenches that the law counts on are not known."""
        try:
            torques = np.array(answer, dtype=float)
        except (TypeError, ValueError):
            return None
        none = np.empty(0, dtype=np.intp)
        unknown = np.full(self._contacts, np.nan)
        return ControlOutput(torques, unknown, ControlStatus.OK, none, np.zeros(6))

    def _fault(self, output: ControlOutput | None, answer: object) -> str:
        """What is wrong with an answer; empty if nothing is."""
        if output is None:
            return f"step returned a {type(answer).__name__}"
        if np.shape(output.torques) != self._shape:
            return f"step returned torques of shape {np.shape(output.torques)}"
        if not np.isfinite(output.torques).all():
            return "step returned torques that are not finite"
        if np.shape(output.wrenches) != self._contacts:
            return f"step returned wrenches of shape {np.shape(output.wrenches)}"
        return ""

    def _within_limits(self, output: ControlOutput) -> ControlOutput:
        torques = np.asarray(output.torques, dtype=float)
        cut = np.clip(torques, -self._limits, self._limits)
        limited = ControlStatus.TORQUE_LIMITED if (cut != torques).any() else ControlStatus.OK
        return replace(output, torques=cut, status=output.status | limited)

    def conflict(self, q: Array, v: Array) -> str:
        """What the law did wrong at the last state."""
        return self._failure
