"""Arrays for long runs: large ones live in temporary files, little of them in memory at once."""

from __future__ import annotations

import math
import mmap
import tempfile
import weakref
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

from balance.errors import FileError
from balance.recordings.system_calls import give_back, reserve

LARGE_BYTES = 4_000_000
CHUNK_ROWS = 4096
"""Rows that are written, derived or saved before their memory is given back."""

_mapped: weakref.WeakSet[mmap.mmap] = weakref.WeakSet()


def zeros(shape: Any, dtype: Any) -> Any:
    """An array of zeros; in a nameless temporary file, which goes with it, if it is large."""
    size = math.prod(np.atleast_1d(shape).tolist()) * np.dtype(dtype).itemsize
    if size < LARGE_BYTES:
        return np.zeros(shape, dtype)
    with tempfile.TemporaryFile() as file:
        try:
            # Reserved, not sparse: a disk that fills up later would end the process without a word.
            reserve(file.fileno(), size)
        except OSError as error:
            folder = tempfile.gettempdir()
            raise FileError(
                f"{folder} has no room for {size / 1e6:.0f} MB of a recording: "
                f"{error.strerror}; free some, or set TMPDIR to another folder"
            ) from None
        memory = mmap.mmap(file.fileno(), size)
    _mapped.add(memory)
    return np.ndarray(shape, dtype, buffer=memory)


def release() -> None:
    """Give the memory of all large arrays back; they are read from their files when next used."""
    for memory in list(_mapped):
        give_back(memory)


def chunks(rows: int, size: int | None = None) -> Iterator[slice]:
    """Slices of up to ``size`` rows; the memory of one is given back before the next."""
    size = size or CHUNK_ROWS
    for start in range(0, rows, size):
        yield slice(start, min(start + size, rows))
        release()


def in_chunks(rows: int, of: Callable[[slice], Any]) -> Any:
    """What ``of`` makes of some rows, for all of them, with a part of what it reads in memory."""
    # Copies: of a view the rows would be read again when all are put together.
    return np.concatenate([of(slice(0)), *(np.array(of(part)) for part in chunks(rows))])


def detached(array: Any) -> Any:
    """A copy that nobody else writes to; the array itself if it lives in a file of its own."""
    base = array
    while isinstance(base, np.ndarray):
        base = base.base
    return array if isinstance(base, mmap.mmap) and base in _mapped else array.copy()
