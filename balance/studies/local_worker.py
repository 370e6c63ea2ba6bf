"""Loaded by Dask into every local worker process, also into those that replace a dead one."""

from __future__ import annotations

import signal


def dask_setup(_worker: object) -> None:
    """Leave Ctrl-C to the command, which ends its workers itself."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
