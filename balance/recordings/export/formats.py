"""The formats that a recording can be exported to, one entry each."""

from __future__ import annotations

import importlib.util
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from balance.errors import ConfigError, MissingExtraError, ResultError, known_names
from balance.recordings.export import mcap_file, rerun_file, tables
from balance.recordings.outputs import Output
from balance.recordings.recording import Recording


@dataclass(frozen=True)
class Format:
    """How a format is written, the end of its files' names, and what it needs to be installed."""

    write: Callable[[Recording, Path], None]
    suffix: str
    text: str
    modules: tuple[str, ...] = ()
    extra: str = ""

    def check_extra(self) -> None:
        """Raise if a Python package that it needs is missing."""
        for module in self.modules:
            if importlib.util.find_spec(module) is None:
                raise MissingExtraError(module, self.extra)


FORMATS = {
    "mcap": Format(
        mcap_file.write_mcap,
        ".mcap",
        "for Foxglove: the moving robot, its URDF, signals, pushes and verdict",
        ("mcap", "foxglove_schemas_protobuf"),
        "mcap",
    ),
    "rerun": Format(
        rerun_file.write_rerun,
        ".rrd",
        "for Rerun: the moving robot, signals, pushes and verdict",
        ("rerun",),
        "rerun",
    ),
    "csv": Format(tables.write_csv, ".csv", "one column for each one of log.parquet"),
    "npz": Format(tables.write_npz, ".npz", "one array for each signal, for NumPy and MATLAB"),
}


def export(recording: Recording, path: str | Path, to: str, overwrite: bool = False) -> Path:
    """Write a recording to ``path`` in a format of :data:`FORMATS`.  Returns the path."""
    if to not in FORMATS:
        raise ConfigError(f"there is no format '{to}' to export to{known_names(to, FORMATS)}")
    found = FORMATS[to]
    found.check_extra()
    if recording.time.size == 0:
        raise ResultError("the recording is empty: there is nothing to export")
    with Output(Path(path), None, overwrite) as output:
        with output.filling() as file:
            found.write(recording, file)
        return output.path
