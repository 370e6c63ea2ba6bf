"""Functions of arrays, compiled where the extra ``fast`` (Numba) is installed.

Formulas of laws and plants are written once, as functions of NumPy arrays.  With Numba the same
functions are compiled; without it, or with the environment variable ``BALANCE_COMPILED=0``, NumPy
runs them as they stand.  What is compiled is kept in the user's cache folder, under a name that
holds a hash of all sources of these rooms: an edit of one function, which others may have taken in,
is never missed.
"""

from __future__ import annotations

import hashlib
import os
import tempfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import cache
from pathlib import Path
from typing import Any, TypeVar

SWITCH = "BALANCE_COMPILED"
"""Environment variable that switches compiling off with the value 0."""

ROOMS = ("control", "dynamics", "robots", "simulation")  # that have compiled functions

Function = TypeVar("Function", bound=Callable[..., Any])


def _numba() -> Any:
    if os.environ.get(SWITCH, "1") == "0":
        return None
    try:
        import numba
    except ImportError:
        return None
    return numba


NUMBA = _numba()
COMPILED = NUMBA is not None
"""Whether functions are compiled."""


def compiled(function: Function) -> Function:
    """The same function, compiled at its first call; as it stands without Numba."""
    if NUMBA is None:
        return function
    folder = cache_folder()
    with _cached_in(folder):
        # As NumPy divides: by zero without an exception.
        made = NUMBA.njit(cache=folder is not None, error_model="numpy")
        result: Function = made(function)
        return result


def library_function(library: str, name: str, arguments: int) -> Any:
    """BLAS's or LAPACK's routine ``name``, as compiled functions call it: with addresses.

    It is SciPy's own, so that compiled functions and others give the same numbers.
    """
    from llvmlite import binding
    from numba.extending import get_cython_function_address

    symbol = f"pin_balance_{name}"  # by which functions from the cache find it
    binding.add_symbol(symbol, get_cython_function_address(f"scipy.linalg.cython_{library}", name))
    types = NUMBA.types
    return types.ExternalFunction(symbol, types.void(*[types.uintp] * arguments))


@contextmanager
def _cached_in(folder: Path | None) -> Iterator[None]:
    """Have what is decorated within kept in ``folder``, and nobody else's functions."""
    before = NUMBA.config.CACHE_DIR
    NUMBA.config.CACHE_DIR = str(folder or before)
    try:
        yield
    finally:
        NUMBA.config.CACHE_DIR = before


@cache
def cache_folder() -> Path | None:
    """Where compiled functions are kept, made if need be; None if nowhere can be written to."""
    home = os.environ.get("NUMBA_CACHE_DIR") or os.environ.get("XDG_CACHE_HOME")
    candidates = [Path(home)] if home else []
    candidates += [Path("~/.cache").expanduser(), Path(tempfile.gettempdir(), f"cache-{_user()}")]
    for candidate in candidates:
        folder = candidate / "pin-balance" / f"compiled-{_stamp()}"
        try:
            folder.mkdir(parents=True, exist_ok=True)
            tempfile.TemporaryFile(dir=folder).close()
        except OSError:
            continue
        return folder
    return None


def _user() -> str:
    return str(os.getuid()) if hasattr(os, "getuid") else "user"


def _stamp() -> str:
    """Hash of all sources of the rooms, and of what compiles them."""
    package = Path(__file__).resolve().parent.parent
    found = hashlib.sha256(str(NUMBA.__version__).encode())
    for source in sorted(path for room in ROOMS for path in (package / room).rglob("*.py")):
        found.update(source.relative_to(package).as_posix().encode())
        found.update(source.read_bytes())
    return found.hexdigest()[:16]
