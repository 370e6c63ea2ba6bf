"""What keeps the rest of the process from disturbing the steps of a run."""

from __future__ import annotations

import gc
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from functools import lru_cache

from threadpoolctl import ThreadpoolController


@contextmanager
def undisturbed() -> Iterator[None]:
    """One thread of the linear algebra, and no garbage collection.

    The matrices are small: threads cost more than they save.
    """
    with _thread_pools(len(sys.modules)).limit(limits=1), no_garbage_collection():
        yield


@lru_cache(maxsize=1)
def _thread_pools(modules: int) -> ThreadpoolController:
    """The pools of all libraries: looking for them takes 5 ms, and other ``modules`` bring more."""
    return ThreadpoolController()


@contextmanager
def no_garbage_collection() -> Iterator[None]:
    """No search for cyclic garbage, which a control step makes none of, can hit a step meanwhile.

    Reference counts free memory as ever.
    """
    enabled = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if enabled:
            gc.enable()
