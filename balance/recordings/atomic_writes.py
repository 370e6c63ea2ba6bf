"""Files that are replaced as a whole: a reader, or a crash, sees the old one or the new one."""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path


@contextmanager
def replacing(path: Path) -> Iterator[Path]:
    """A hidden place beside ``path`` for a file or a folder, which then replaces it in one step.

    If anything goes wrong, what was under ``path`` stays and nothing else is left.  A folder cannot
    replace one that is not empty.
    """
    part = path.with_name(f".{path.name}.part")
    _remove(part)  # of a command that was killed
    try:
        yield part
        if part.is_file():
            with open(part, "rb") as file:
                os.fsync(file.fileno())  # or a crash might leave the new name with nothing in it
        os.replace(part, path)
    finally:
        _remove(part)


def write_atomically(path: Path, content: bytes) -> None:
    """Give a file other content."""
    with replacing(path) as part:
        part.write_bytes(content)


def _remove(part: Path) -> None:
    if part.is_dir() and not part.is_symlink():
        shutil.rmtree(part, ignore_errors=True)
    else:
        part.unlink(missing_ok=True)
