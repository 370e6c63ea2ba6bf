"""Result folders: what a run leaves on disk, written all at once or not at all.

``config.yaml`` (resolved, with versions), ``summary.json``, ``log.parquet`` (one row per control
period) and the figures.
"""

from __future__ import annotations

import json
import os
import platform
import shutil
import subprocess
import tempfile
from collections.abc import Callable, Sequence
from datetime import datetime
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any

import numpy as np
import yaml
from numpy.typing import NDArray

import balance
from balance.config import ExperimentConfig, load_config
from balance.errors import FileError, ResultError
from balance.recordings.disk_arrays import chunks
from balance.recordings.recording import Recording
from balance.recordings.verdict import RunEnd
from balance.robots import Robot
from balance.robots.stance import robot_of
from balance.robots.surfaces import surface_label
from balance.simulation.mismatch import simulated_robot
from balance.simulation.pushes import make_pushes

Array = NDArray[np.float64]
XYZ = ("x", "y", "z")
WRENCH = ("fx", "fy", "fz", "mx", "my", "mz")


def check_output(folder: Path, overwrite: bool = False) -> None:
    """Raise unless ``folder`` can be written without destroying anything."""
    if os.path.exists(folder):
        if not overwrite:
            raise FileError(
                f"the output folder {folder} exists; choose another with --out, or give "
                "--overwrite to replace a result of balance"
            )
        if not (folder / "summary.json").is_file() and any(folder.iterdir()):
            raise FileError(f"{folder} is not a result of balance, so it is not replaced")
    parent = folder.absolute().parent
    try:
        parent.mkdir(parents=True, exist_ok=True)
        Path(tempfile.mkdtemp(prefix=f".{folder.name}.", dir=parent)).rmdir()
    except OSError as error:
        raise FileError(f"cannot write into {parent}: {error.strerror or error}") from None


def free_folder(parent: Path, name: str) -> Path:
    """``parent/name``, or the first of ``name-2``, ``name-3``, ... that does not exist."""
    folder, count = parent / name, 2
    while folder.exists():
        folder, count = parent / f"{name}-{count}", count + 1
    return folder


def save_recording(
    recording: Recording,
    folder: str | Path,
    *,
    overwrite: bool = False,
    draw: Callable[[Recording, Path], object] | None = None,
) -> Path:
    """Write a result folder; ``draw(recording, folder)`` adds figures.  Returns the folder.

    Everything is written beside the folder first and renamed into place at the end, so a reader
    never sees half a result.
    """
    folder = Path(folder)
    check_output(folder, overwrite)
    work = Path()
    try:
        work = Path(tempfile.mkdtemp(prefix=f".{folder.name}.", dir=folder.absolute().parent))
        (work / "config.yaml").write_text(config_text(recording.config), encoding="utf-8")
        summary = json.dumps(recording.summary(), indent=2) + "\n"
        (work / "summary.json").write_text(summary, encoding="utf-8")
        _write_log(recording, work / "log.parquet")
        if draw is not None:
            draw(recording, work)
        work.chmod(0o755)
        _move_into_place(work, folder)
    except OSError as error:
        raise FileError(f"cannot write {folder}: {error.strerror or error}") from None
    finally:
        if work != Path():
            shutil.rmtree(work, ignore_errors=True)
    return folder


def save_somewhere(
    recording: Recording,
    folder: Path,
    overwrite: bool,
    draw: Callable[[Recording, Path], object] | None,
) -> Path:
    """Write a result folder; if that fails, keep the data in the system's temporary folder.

    The disk may have filled up during a long run, whose result must not be lost.
    """
    try:
        return save_recording(recording, folder, overwrite=overwrite, draw=draw)
    except FileError as error:
        shelter = Path(tempfile.gettempdir()) / "balance-results"
        try:
            kept = save_recording(recording, free_folder(shelter, folder.name))
        except (FileError, OSError):
            raise error from None
        raise FileError(f"{error}; the data was saved to {kept} instead") from None


def _move_into_place(work: Path, folder: Path) -> None:
    if not folder.exists():
        work.rename(folder)
        return
    old = Path(tempfile.mkdtemp(prefix=f".{folder.name}.old.", dir=folder.absolute().parent))
    folder.rename(old / "was")
    work.rename(folder)
    shutil.rmtree(old, ignore_errors=True)


def load_recording(folder: str | Path, robot_folders: Sequence[Path] = ()) -> Recording:
    """The recording in a result folder."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    folder = Path(folder)
    if not os.path.isfile(folder / "log.parquet"):
        raise ResultError(f"{folder} is not a result folder: it has no log.parquet")
    config = load_config(folder / "config.yaml")
    robot = simulated_robot(robot_of(config, robot_folders), config)
    try:
        table = pq.read_table(folder / "log.parquet")
        known = set(table.column_names)
    except (pa.ArrowException, OSError, UnicodeDecodeError) as error:
        reason = str(error).splitlines()[0]
        raise ResultError(f"{folder / 'log.parquet'} cannot be read: {reason}") from None
    arrays: dict[str, Any] = {}
    for attribute, names in _blocks(robot, config.state == "estimated"):
        if attribute == "cop":  # follows from the contact wrenches
            continue
        missing = [name for name in names if name not in known]
        if missing:
            raise ResultError(
                f"{folder / 'log.parquet'} has no column '{missing[0]}'; it was not written for "
                f"robot '{robot.name}' by this version of balance"
            )
        columns = [table.column(name).to_numpy() for name in names]
        kind = np.integer if attribute == "status" else np.number
        for name, column in zip(names, columns, strict=True):
            # Without load there is no contact wrench to be finite: a run may end in an explosion.
            if not np.issubdtype(column.dtype, kind) or (
                attribute != "contact_wrenches" and not np.isfinite(column).all()
            ):
                raise ResultError(
                    f"{folder / 'log.parquet'}: column '{name}' has entries that are no numbers"
                )
        arrays[attribute] = _shape(attribute, np.stack(columns, axis=1), len(robot.soles))
    metadata = table.schema.metadata or {}
    try:
        end = RunEnd.from_facts(metadata)
    except ValueError as error:
        raise ResultError(
            f"{folder / 'log.parquet'} does not say how the run ended: {error}"
        ) from None
    return Recording(
        config=config,
        robot=robot,
        pushes=tuple(make_pushes(config, robot)),
        end=end,
        conflict=metadata.get(b"conflict", b"").decode(errors="replace"),
        timing=_timing(folder),
        **arrays,
    )


def _timing(folder: Path) -> dict[str, Any]:
    try:
        summary = json.loads((folder / "summary.json").read_text(encoding="utf-8"))
        step = summary["control_step_us"]
        return {
            "control_step_us": {name: float(step[name]) for name in ("median", "p99")},
            "realtime_factor": float(summary["realtime_factor"]),
        }
    except (OSError, ValueError, KeyError, TypeError, RecursionError):
        raise ResultError(f"{folder / 'summary.json'} is missing or damaged") from None


def _shape(attribute: str, values: Array, soles: int) -> Array:
    if attribute in ("time", "lowest_body", "status"):
        return np.ascontiguousarray(values[:, 0])
    if attribute in ("wrenches", "contact_wrenches"):
        return values.reshape(len(values), soles, 6)
    return values


def _blocks(robot: Robot, estimated: bool) -> list[tuple[str, dict[str, str]]]:
    """Attribute of a recording, and its columns with their units."""
    joints = robot.joint_names
    soles = sole_labels(robot)

    def columns(prefix: str, unit: str, names: Sequence[str] = XYZ) -> dict[str, str]:
        return {f"{prefix}_{name}": unit for name in names}

    def wrench_columns(prefix: str) -> dict[str, str]:
        forces_first = zip(WRENCH, ["N"] * 3 + ["N m"] * 3, strict=True)
        pairs = list(forces_first)
        return {f"{prefix}_{sole}_{name}": unit for sole in soles for name, unit in pairs}

    blocks = [
        ("time", {"time": "s"}),
        ("com_error", columns("com_error", "m")),
        ("rotation_error", columns("rotation_error", "rad")),
        (
            "momentum",
            columns("linear_momentum", "kg m/s") | columns("angular_momentum", "kg m^2/s"),
        ),
        ("push_force", columns("push_force", "N")),
        ("status", {"status": "flags"}),
        (
            "shortfall",
            columns("shortfall_force", "N") | columns("shortfall_moment", "N m"),
        ),
        ("wrenches", wrench_columns("wrench")),
        ("contact_wrenches", wrench_columns("contact_wrench")),
        ("cop", {f"cop_{sole}_{axis}": "m" for sole in soles for axis in "xy"}),
        ("sole_lift", columns("sole_lift", "m", soles)),
        ("sole_slip", columns("sole_slip", "m", soles)),
        ("lowest_body", {"lowest_body": "m"}),
        ("torques", columns("torque", "N m", joints)),
        (
            "q",
            columns("base_position", "m")
            | columns("base_quaternion", "1", (*XYZ, "w"))
            | columns("q", "rad", joints),
        ),
        (
            "v",
            columns("base_velocity", "m/s")
            | columns("base_rate", "rad/s")
            | columns("v", "rad/s", joints),
        ),
    ]
    if estimated:
        parts = (("position", "m"), ("rotation", "rad"), ("velocity", "m/s"))
        names: dict[str, str] = {}
        for kind in ("error", "std"):
            for part, unit in parts:
                names |= columns(f"estimate_{kind}_{part}", unit)
        blocks.append(("estimation", names))
    return blocks


def sole_labels(robot: Robot) -> list[str]:
    """Short names of the soles, as used in column names."""
    return [surface_label(sole.name) for sole in robot.soles]


def _write_log(recording: Recording, path: Path) -> None:
    import pyarrow as pa
    import pyarrow.parquet as pq

    blocks = _blocks(recording.robot, recording.estimation is not None)
    kinds = {"status": pa.int64()}
    fields = [
        pa.field(name, kinds.get(attribute, pa.float64()), metadata={"unit": unit})
        for attribute, columns in blocks
        for name, unit in columns.items()
    ]
    facts = {"robot": recording.robot.name, "conflict": recording.conflict}
    facts |= recording.end.facts()
    schema = pa.schema(fields, metadata=facts)
    rows = recording.time.size
    values = [
        np.asarray(getattr(recording, attribute)).reshape(rows, len(columns))
        for attribute, columns in blocks
    ]
    with pq.ParquetWriter(path, schema, compression="zstd") as writer:
        for chunk in chunks(rows):
            columns = [column for block in values for column in block[chunk].T]
            arrays = [
                pa.array(column, type=field.type)
                for column, field in zip(columns, fields, strict=True)
            ]
            writer.write_table(pa.Table.from_arrays(arrays, schema=schema))


def config_text(config: ExperimentConfig) -> str:
    """The resolved configuration as YAML that ``balance run`` takes, with its provenance."""
    resolved = config.model_copy(update={"provenance": provenance()})
    body = yaml.safe_dump(
        resolved.model_dump(mode="json", exclude_none=True), sort_keys=False, width=100
    )
    return f"# Resolved configuration of a run; repeat it with: balance run THIS_FILE\n{body}"


def provenance() -> dict[str, str]:
    """Versions, commit, machine and time of a run."""
    packages = ("pin", "numpy", "scipy", "quadprog", "example-robot-data")
    found = {"balance": balance.__version__, "python": platform.python_version()}
    for package in packages:
        try:
            found[package] = version(package)
        except PackageNotFoundError:
            found[package] = "not installed"
    commit = _commit()
    if commit:
        found["commit"] = commit
    found["machine"] = f"{platform.system()} {platform.machine()}"
    found["written"] = datetime.now().astimezone().isoformat(timespec="seconds")
    return found


def _commit() -> str:
    """Commit of the clone that this code runs from; empty for an installed package."""
    root = Path(__file__).resolve().parents[2]
    if not (root / ".git").exists():
        return ""
    try:
        answer = subprocess.run(
            ["git", "-C", str(root), "describe", "--always", "--dirty", "--abbrev=12"],
            capture_output=True,
            text=True,
            timeout=5,
            check=True,
        )
    except (OSError, subprocess.SubprocessError):
        return ""
    return answer.stdout.strip()
