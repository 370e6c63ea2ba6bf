"""Result folders: what a run leaves on disk, written all at once or not at all.

``config.yaml`` (resolved, with versions), ``summary.json``, ``log.parquet`` (one row per control
period) and the figures.
"""

from __future__ import annotations

import json
import os
import shutil
import tempfile
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

import yaml

from balance.config import ExperimentConfig, parse_config
from balance.config.schema import load_yaml_mapping
from balance.errors import FileError, ResultError
from balance.recordings.claims import recover
from balance.recordings.log_file import read_log, write_log
from balance.recordings.outputs import RUN, Output
from balance.recordings.own_quantities import OwnValue, stored_values
from balance.recordings.provenance import provenance
from balance.recordings.recording import Recording
from balance.recordings.signals import stored_signals
from balance.recordings.verdict import RunEnd
from balance.robots import Robot
from balance.robots.stance import robot_of
from balance.simulation.mismatch import simulated_robot
from balance.simulation.pushes import Push, make_pushes

Draw = Callable[[Recording, Path], object]
HARMLESS_ROWS = 100_000  # of a log, whatever its config says: some 100 MB


def save_recording(
    recording: Recording,
    folder: str | Path,
    *,
    overwrite: bool = False,
    draw: Draw | None = None,
) -> Path:
    """Write a result folder; ``draw(recording, folder)`` adds figures.  Returns the folder.

    It is written out of sight first, so a reader never sees half a result.
    """
    with Output(Path(folder), RUN, overwrite) as output:
        return fill(output, recording, draw)


def fill(output: Output, recording: Recording, draw: Draw | None = None) -> Path:
    """Write a result under a name that is claimed already.  Returns the folder."""
    with output.filling() as work:
        summary = json.dumps(recording.summary(), indent=2) + "\n"
        (work / "summary.json").write_text(summary, encoding="utf-8")
        write_log(recording, work / "log.parquet")
        if draw is not None:
            draw(recording, work)
        # Last: it names every package that took part, also in writing and drawing.
        (work / "config.yaml").write_text(config_text(recording.config), encoding="utf-8")
    return output.path


def fill_or_rescue(output: Output, recording: Recording, draw: Draw | None = None) -> Path:
    """Write a result; if that fails, keep the data in a private temporary folder.

    The disk may have filled up during a long run, whose result must not be lost.
    """
    try:
        return fill(output, recording, draw)
    except FileError as error:
        shelter = None
        try:
            shelter = Path(tempfile.mkdtemp(prefix="balance-"))
            kept = save_recording(recording, shelter / output.path.name)
        except (FileError, OSError):
            if shelter:
                shutil.rmtree(shelter, ignore_errors=True)
            raise error from None
        raise FileError(f"{error}; the data was saved to {kept} instead") from None


def load_recording(folder: str | Path, robot_folders: Sequence[Path] = ()) -> Recording:
    """The recording in a result folder."""
    folder = Path(folder)
    if not os.path.isfile(folder / "log.parquet"):
        recover(folder)  # a command may have been killed while it replaced it
    if not os.path.isfile(folder / "log.parquet"):
        raise ResultError(f"{folder} is not a result folder: it has no log.parquet")
    while True:
        before = folder.stat()
        recording = _load(folder, robot_folders)
        if os.path.samestat(before, folder.stat()):  # else it was replaced meanwhile
            return recording


def _load(folder: Path, robot_folders: Sequence[Path]) -> Recording:
    file = folder / "config.yaml"
    # A result may be anybody's: what its config names is not run.
    config = parse_config(load_yaml_mapping(file), str(file), code=False)
    summary = _summary(folder)
    robot = simulated_robot(robot_of(config, robot_folders), config)
    most_rows = max(config.n_periods, HARMLESS_ROWS)
    arrays, facts = read_log(folder / "log.parquet", robot, stored_signals(config), most_rows)
    try:
        end = RunEnd.from_facts(facts)
    except ValueError as error:
        raise ResultError(
            f"{folder / 'log.parquet'} does not say how the run ended: {error}"
        ) from None
    return Recording(
        config=config,
        robot=robot,
        pushes=_pushes(folder, config, robot, summary),
        end=end,
        conflict=facts.get(b"conflict", b"").decode(errors="replace"),
        timing=_timing(folder, summary),
        own=_own(folder, summary),
        **arrays,
    )


def _summary(folder: Path) -> dict[str, Any]:
    try:
        summary = json.loads((folder / "summary.json").read_text(encoding="utf-8"))
    except (OSError, ValueError, RecursionError):
        summary = None
    if not isinstance(summary, dict):
        raise _damaged(folder)
    return summary


def _damaged(folder: Path) -> ResultError:
    return ResultError(f"{folder / 'summary.json'} is missing or damaged")


def _timing(folder: Path, summary: Mapping[str, Any]) -> dict[str, Any]:
    try:
        step = summary["control_step_us"]
        return {
            "control_step_us": {name: float(step[name]) for name in ("median", "p99")},
            "realtime_factor": float(summary["realtime_factor"]),
        }
    except (ValueError, KeyError, TypeError):
        raise _damaged(folder) from None


def _pushes(
    folder: Path, config: ExperimentConfig, robot: Robot, summary: Mapping[str, Any]
) -> tuple[Push, ...]:
    """The pushes; those of a user's own kind as the summary tells of them."""
    try:
        end = float(summary["simulated_s"])  # what is told was delivered by then
        given = [{**push, "end_s": min(push["end_s"], end)} for push in summary["pushes"]]
        return tuple(make_pushes(config, robot, given))
    except (ValueError, KeyError, TypeError, IndexError):
        raise _damaged(folder) from None


def _own(folder: Path, summary: Mapping[str, Any]) -> tuple[OwnValue, ...]:
    """The user's own quantities as the summary tells of them."""
    try:
        return stored_values(summary)
    except (ValueError, KeyError, TypeError, AttributeError, OverflowError):
        raise _damaged(folder) from None


def config_text(config: ExperimentConfig) -> str:
    """The resolved configuration as YAML that ``balance run`` takes, with its provenance."""
    resolved = config.model_copy(update={"provenance": provenance()})
    body = yaml.safe_dump(
        resolved.model_dump(mode="json", exclude_none=True), sort_keys=False, width=100
    )
    return f"# Resolved configuration of a run; repeat it with: balance run THIS_FILE\n{body}"
