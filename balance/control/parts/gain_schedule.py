"""Gains that change during a run: one set takes over from another without a jump in torque."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray
from pydantic import ValidationError

from balance.config import ExperimentConfig, GainChangeConfig, LawConfig
from balance.control.parts.moving_contacts import MovingContacts, moving_contacts
from balance.control.parts.output import Controller, ControlOutput
from balance.errors import BalanceError, ConfigError
from balance.robots import Robot

Array = NDArray[np.float64]


class GainSchedule:
    """One law under gains that change at given times.

    During a change both laws are evaluated and torques and wrenches are mixed, with a share that
    grows from 0 to 1 along a cubic with zero slope at both ends.  Torque limits and wrench cones
    are convex, so a mixture keeps them.
    """

    def __init__(
        self,
        config: ExperimentConfig,
        robot: Robot,
        make: Callable[[ExperimentConfig, Robot], Controller],
    ) -> None:
        self._config, self._robot, self._make = config, robot, make
        self._waiting = list(config.controller.gain_changes)
        self._law = config.controller.model_copy(update={"gain_changes": ()})
        self._current = self._made(self._law)
        self._next: Controller | None = None

    @property
    def constraint_names(self) -> tuple[str, ...]:
        """Names of the constraints that ``ControlOutput.active`` indexes."""
        return self._current.constraint_names

    @property
    def moving_contacts(self) -> MovingContacts | None:
        """What moves the contacts of the law."""
        return moving_contacts(self._current)

    def add(self, change: GainChangeConfig) -> None:
        """Plan a change after all others."""
        self._waiting.append(change)

    def check(self, change: GainChangeConfig) -> None:
        """Raise if the law refuses a change."""
        try:
            self._made(self._law.changed(change))
        except ValidationError as error:
            problem = error.errors(include_url=False)[0]
            key = ".".join(map(str, problem["loc"]))
            raise ConfigError(f"'{key}' = {problem['input']!r}: {problem['msg']}") from None

    def step(self, q: Array, v: Array, t: float) -> ControlOutput:
        """Torques for the measured configuration, velocity and time."""
        output = self._current.step(q, v, t)
        if not self._waiting or t < self._waiting[0].time_s:
            return output
        change = self._waiting[0]
        if self._next is None:
            self._law = self._law.changed(change)
            self._next = self._made_now(change)
        new = self._next.step(q, v, t)
        s = min((t - change.time_s) / change.blend_s, 1.0)
        if s >= 1.0:
            self._current, self._next = self._next, None
            del self._waiting[0]
            return new
        share = s * s * (3.0 - 2.0 * s)
        return ControlOutput(
            output.torques + share * (new.torques - output.torques),
            output.wrenches + share * (new.wrenches - output.wrenches),
            output.status | new.status,
            new.active,
            output.residual + share * (new.residual - output.residual),
            output.conflict or new.conflict,
        )

    def _made_now(self, change: GainChangeConfig) -> Controller:
        """The next law; one that cannot be made ends the run, and what was simulated is kept."""
        try:
            return self._made(self._law)
        except BalanceError as error:
            text = f"the change of gains at {change.time_s:g} s cannot be made: {error}"
            raise RuntimeError(text) from None

    def _made(self, law: LawConfig) -> Controller:
        return self._make(self._config.model_copy(update={"controller": law}), self._robot)
