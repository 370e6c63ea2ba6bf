"""Dask workers for a study: processes of this machine, or a cluster that is already running."""

from __future__ import annotations

import logging
import os
import re
import signal
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

import balance
from balance.errors import InputError, MissingExtraError
from balance.studies.failures import ClusterError

if TYPE_CHECKING:
    from distributed import Client

CONNECT_S = 10.0
FIRST_WORKER_S = 60.0
BLAS_VARIABLES = ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS")
SETTINGS = {
    # A run that ends its process twice is suspected of doing so; the runner tries it alone later.
    "distributed.scheduler.allowed-failures": 1,
    # Dask keeps logs of its own work; their default length would look like a leak.
    "distributed.admin.low-level-log-length": 1000,
}


@contextmanager
def workers(scheduler: str | None = None, count: int | None = None) -> Iterator[Client]:
    """A client of ``count`` local worker processes, or of the cluster behind ``scheduler``."""
    try:
        import dask
        import distributed  # noqa: F401
    except ImportError:
        raise MissingExtraError("distributed", "cluster") from None
    # What Dask says about its own connections is no news for the user; failures reach us.
    logging.getLogger("distributed").setLevel(logging.CRITICAL)
    with dask.config.set(SETTINGS):
        if scheduler is None:
            with _local(count or usable_cores()) as client:
                yield client
        else:
            if count is not None:
                raise InputError("--workers is for local workers; a scheduler brings its own")
            with _existing(scheduler) as client:
                yield client


def usable_cores() -> int:
    """Cores that this process may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


@contextmanager
def _local(count: int) -> Iterator[Client]:
    from distributed import Client, LocalCluster

    environment = dict.fromkeys(BLAS_VARIABLES, "1")
    with (
        _interrupts_ignored(),
        LocalCluster(
            n_workers=count,
            threads_per_worker=1,
            processes=True,
            host="127.0.0.1",
            dashboard_address=None,
            silence_logs=logging.CRITICAL,
            env=environment,
        ) as cluster,
        Client(cluster) as client,
    ):
        yield client


@contextmanager
def _interrupts_ignored() -> Iterator[None]:
    yield


@contextmanager
def _existing(address: str) -> Iterator[Client]:
    from distributed import Client

    if not re.fullmatch(r"(tcp|tls)://[^\s/]+:\d+", address):
        raise InputError(
            f"--scheduler '{address}' is no address of a Dask scheduler; it looks like "
            "tcp://host:8786, or tls://host:8786 with TLS"
        )
    try:
        client = Client(address, timeout=CONNECT_S)
    except (OSError, ValueError, RuntimeError) as error:
        raise ClusterError(
            f"the scheduler {address} does not answer within {CONNECT_S:g} s ({_reason(error)}); "
            "start one with 'dask scheduler', or leave --scheduler out to use this machine"
        ) from None
    with client:
        _check_workers(client, address)
        yield client
