"""Where commands write: names are claimed before the work, and what is written is shown whole.

Nothing is replaced that balance did not make, or was not told to replace.
"""

from __future__ import annotations

import fnmatch
import os
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Self

from balance.errors import FileError
from balance.recordings.claims import Claim, TakenError, numbered, sweep


@dataclass(frozen=True)
class Kind:
    """What a command leaves in a folder of its own: the file to know it by, and what else."""

    name: str
    mark: str
    makes: tuple[str, ...]

    def check_replaceable(self, folder: Path) -> None:
        """Raise if ``folder`` holds anything that such a command does not make."""
        sweep(folder)
        names = sorted(entry.name for entry in folder.iterdir()) if folder.is_dir() else [""]
        if names and self.mark not in names:
            raise FileError(f"{folder} is not {self.name}, so it is not replaced")
        for name in names:
            if not any(fnmatch.fnmatchcase(name, known) for known in (self.mark, *self.makes)):
                raise FileError(
                    f"{folder} holds '{name}', which is no part of {self.name}, so it is not "
                    "replaced; move that elsewhere, or choose another folder with --out"
                )


def _drawn(*names: str) -> tuple[str, ...]:
    return tuple(f"{name}.{suffix}" for name in names for suffix in ("png", "pdf"))


_FIGURES = _drawn(
    "com_momentum", "contacts", "torques", "estimation", "phases", "change", "postures"
)
_PLAYED = ("replay*.html", "replay*.mp4", "replay*.gif")
_EXPORTED = ("recording.mcap", "recording.rrd", "recording.csv", "recording.npz")

RUN = Kind(
    "a result of balance",
    "summary.json",
    ("config.yaml", "log.parquet", *_FIGURES, *_PLAYED, *_EXPORTED),
)
OVERLAY = Kind("a folder of figures from 'balance plot'", "com_momentum.png", _FIGURES)
POSTURES = Kind("a folder of postures from 'balance plot'", "postures.png", _drawn("postures"))
EXPLANATION = Kind("a result of 'balance explain'", "explanation.json", _drawn("root_map"))
LIMIT = Kind("a result of 'balance limit'", "limit.json", _drawn("limit"))
BENCH = Kind("a result of 'balance bench'", "bench.json", ("bench.md",))
STUDY = Kind(
    "a study of balance",
    "study.json",
    (
        *("runs.log", "runs.parquet", "recordings", ".lock", ".*.part"),
        *("limits.csv", "limits.parquet", "summary.md", "compare.csv", "compare.md"),
        *("indicators.json", "balance_v1-*.json"),
        *("report.md", "table.md", "best.yaml", "pareto", ".owner", "optuna.db*"),
        *_drawn("figure", "compare", "history", "importance", "slices", "pareto"),
        *_drawn("before_after", "held_out_envelope"),
    ),
)


class Output:
    """A claimed name, for a folder or a file; a context manager that lets it go."""

    def __init__(self, path: Path, kind: Kind | None, overwrite: bool = False) -> None:
        """Claim ``path`` for a folder of this kind, or for a file; raise if it is taken."""
        self.path, self._kind, self._overwrite = path, kind, overwrite
        self._any_name = False
        with _said(f"cannot write into {path.absolute().parent}"):
            place = Path(os.path.realpath(path))
            sweep(place.parent)
            self._check()
            self._claim = Claim(place)
            try:
                self._check()  # it may have appeared just before the claim
            except BaseException:
                self._claim.release()
                raise

    @contextmanager
    def filling(self) -> Iterator[Path]:
        """What to write to; on leaving, it appears under its name, whole."""
        with _said(f"cannot write {self.path}"):
            work = self._claim.fresh()
            yield work if self._kind else work / self.path.name
            while not self._shown():
                self._move_on()
        self._overwrite, self._any_name = True, False  # what is there now is this command's own

    def _shown(self) -> bool:
        try:
            self._check()
            if self._kind:
                self._claim.publish(self._overwrite)
            else:
                self._claim.publish_file(self.path.name, self._overwrite)
        except (FileExistsError, TakenError):
            if self._any_name:
                return False
            raise
        return True

    def _move_on(self) -> None:
        """Take the next free name: something else has been made under ours since the claim."""
        written, free = self._claim.new, claim_free(self.path, self._kind)
        if self._kind is None:
            (written / self.path.name).rename(written / free.path.name)
        written.rename(free._claim.new)
        self._claim.release()
        self.path, self._claim = free.path, free._claim

    def _check(self) -> None:
        """Raise if this name cannot be given to what is being made."""
        if not os.path.exists(self.path):
            if os.path.lexists(self.path):
                raise TakenError(
                    f"{self.path} is a symbolic link to {os.readlink(self.path)}, which does not "
                    "exist; remove the link, or choose another name"
                )
        elif not self._overwrite:
            what = "output folder" if self._kind else "file"
            old = self._kind.name if self._kind else "it"
            raise TakenError(
                f"the {what} {self.path} exists; choose another name, or give --overwrite to "
                f"replace {old}"
            )
        elif self._kind:
            self._kind.check_replaceable(self.path)
        elif not os.path.isfile(self.path):
            raise FileError(f"{self.path} is not a file, so it is not replaced")

    def close(self) -> None:
        """Let others claim the name."""
        self._claim.release()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()


def claim_free(path: Path, kind: Kind | None) -> Output:
    """Claim the first of ``path``, ``path-2``, ``path-3``, ... that nobody has or is making."""
    for place in numbered(path, "" if kind else path.suffix):
        try:
            output = Output(place, kind)
        except TakenError:
            continue
        output._any_name = True
        return output
    raise AssertionError("there is no end of numbers")


@contextmanager
def adding_to(folder: Path) -> Iterator[Path]:
    """Where to write files for a folder that is there; each replaces its namesake in one step."""
    with (
        _said(f"cannot write to {folder}"),
        Claim(Path(os.path.realpath(folder))) as claim,
    ):
        work = claim.fresh()
        yield work
        for file in sorted(work.iterdir()):
            os.replace(file, folder / file.name)


@contextmanager
def _said(what: str) -> Iterator[None]:
    """The system's complaint as one sentence."""
    try:
        yield
    except OSError as error:
        reason = error.strerror or error
        raise FileError(f"{what}: {reason}") from None
