"""One drawn experiment, run and looked at."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any
from unittest import mock

from campaign.draw import Drawn
from campaign.robots import loaded_as
from campaign.witness import Witness

from balance.config import ExperimentConfig, PlantConfig, load_config
from balance.errors import BalanceError
from balance.experiment import Experiment
from balance.recordings.judging import judge
from balance.recordings.recording import Recording
from balance.robots import Robot
from balance.simulation.ground import GroundMotion
from balance.simulation.plants import make_plant
from balance.simulation.plants.interface import Plant

ENGINES = ("pinocchio", "mujoco")


@dataclass(frozen=True)
class Run:
    """What came of an experiment in one engine; ``refusal`` is the sentence if it was none."""

    engine: str
    experiment: Experiment | None = None
    recording: Recording | None = None
    witness: Witness | None = None
    refusal: str = ""

    @property
    def outcome(self) -> str:
        """In a word."""
        return "refused" if self.recording is None else str(judge(self.recording).outcome)


def run(drawn: Drawn, engine: str, overrides: Mapping[str, Any] | None = None) -> Run:
    """Simulate an experiment under the eyes of a witness; a bad one is refused in a sentence."""
    watched: list[Witness] = []

    def watch(config: PlantConfig, robot: Robot, ground: GroundMotion | None) -> Plant:
        watched.append(Witness(make_plant(config, robot, ground), robot, loaded, ground))
        return watched[0]

    loaded: ExperimentConfig
    keys = {"plant.engine": engine, **(overrides or {})}
    with loaded_as(drawn.size, drawn.mass), mock.patch("balance.experiment.make_plant", watch):
        try:
            loaded = load_config(drawn.tree, keys)
            experiment = Experiment(loaded)
        except BalanceError as error:
            return Run(engine, refusal=str(error))
        return Run(engine, experiment, experiment.run(), watched[0])
