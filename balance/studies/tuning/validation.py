"""Before and after: the present and the tuned gains on the experiment itself, on pushes that tuning
never saw, and in an envelope of held-out directions."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from balance.config import parse_config
from balance.config.tuning import TuneConfig
from balance.robots import Robot
from balance.studies.cells import look_up
from balance.studies.directions import Heading, ankle_impulse, headings
from balance.studies.envelope import check_push
from balance.studies.limits import DirectionLimits
from balance.studies.search import Probe, Settings, Trial, limit
from balance.studies.store import Row
from balance.studies.tuning.dialogue import Dialogue, Run, Script
from balance.studies.tuning.trial import Faced, faced, impulse_keys, searched

VARIANTS = ("start", "tuned")
ITSELF = "the experiment itself"
ENVELOPE_CRITERIA = ("recovered",)


@dataclass(frozen=True)
class HeldOut:
    """A run of the validation: which gains, which push, with which seed, and its row."""

    variant: str
    case: str
    seed: int
    row: Row


class Validation:
    """The dialogues that compare the two sets of values, and what they have found."""

    def __init__(
        self,
        config: TuneConfig,
        robot: Robot,
        variants: Mapping[str, Mapping[str, Any]],
        source: str,
        best: int,
    ) -> None:
        """``variants`` maps the names of :data:`VARIANTS` to the keys that they set.

        The tuned ones are those of trial ``best``, which is part of their runs' names: with more
        trials another one may be the best.
        """
        self._config, self._robot, self._source = config, robot, source
        self.names = {"start": "start", "tuned": f"tuned-{best}"}
        self.runs: list[Dialogue[HeldOut]] = []
        self.searches: list[Dialogue[DirectionLimits]] = []
        pushes = [one for case in config.validation.pushes for one in faced(config, case, source)]
        for variant, values in variants.items():
            self.runs.append(
                Dialogue(f"{self.names[variant]}-itself", self._itself(variant, values))
            )
            for index, one in enumerate(pushes):
                name = f"{self.names[variant]}-held-out-{index}"
                self.runs.append(Dialogue(name, self._held_out(variant, values, one)))
        envelope = config.validation.envelope
        for index, heading in enumerate(headings(envelope.directions) if envelope else ()):
            for variant, values in variants.items():
                name = f"{self.names[variant]}-envelope-{index}"
                self.searches.append(Dialogue(name, self._limits(variant, values, heading)))

    def dialogues(self) -> list[Dialogue[Any]]:
        """All of them, the longest first."""
        return [*self.searches, *self.runs]

    def _itself(self, variant: str, values: Mapping[str, Any]) -> Script[HeldOut]:
        row = yield Run(values, ITSELF, {"gains": variant}, keep=True)
        return HeldOut(variant, ITSELF, row["seed"], row)

    def _held_out(self, variant: str, values: Mapping[str, Any], one: Faced) -> Script[HeldOut]:
        row = yield Run({**one.overrides, **values}, one.case.name, {"gains": variant})
        return HeldOut(variant, one.case.name, row["seed"], row)

    def _limits(
        self, variant: str, values: Mapping[str, Any], heading: Heading
    ) -> Script[DirectionLimits]:
        envelope = self._config.validation.envelope
        assert envelope is not None
        ankle_Ns = ankle_impulse(self._robot, heading)

        def run(probe: Probe) -> Run:
            keys = impulse_keys(heading, probe.impulse * ankle_Ns)
            columns = {
                "gains": variant,
                "azimuth_deg": heading.azimuth_deg,
                "elevation_deg": heading.elevation_deg,
                "push_ankle_fraction": probe.impulse,
            }
            overrides = {**envelope.set, **keys, **values}
            return Run(overrides, "held-out envelope", columns, searched=True)

        trials = yield from searched(run, Settings(envelope.tolerance), ENVELOPE_CRITERIA)
        return self._result(variant, heading, ankle_Ns, trials)

    def _result(
        self, variant: str, heading: Heading, ankle_Ns: float, trials: Sequence[Trial]
    ) -> DirectionLimits:
        return DirectionLimits(
            variant={"gains": variant},
            azimuth_deg=heading.azimuth_deg,
            elevation_deg=heading.elevation_deg,
            ankle_limit_Ns=ankle_Ns,
            mass_kg=self._robot.mass,
            limits={name: limit(trials, name) for name in ENVELOPE_CRITERIA},
            runs=len(trials),
            errors=0,
            finished=True,
        )

    @property
    def held_out(self) -> list[HeldOut]:
        """The finished runs."""
        return [one.result for one in self.runs if one.result is not None]

    @property
    def limits(self) -> list[DirectionLimits]:
        """The finished directions, variant by variant."""
        found = [one.result for one in self.searches if one.result is not None]
        return sorted(found, key=lambda one: VARIANTS.index(one.variant["gains"]))


def check_envelope(config: TuneConfig, source: str, robots: Sequence[Path]) -> None:
    """The push of the held-out envelope must be one whose size can be searched."""
    envelope = config.validation.envelope
    if envelope is not None:
        where = f"{source}: 'validation.envelope'"
        base = parse_config(config.experiment, where, envelope.set)
        look_up(base, where, robots)
        check_push(base, where)
