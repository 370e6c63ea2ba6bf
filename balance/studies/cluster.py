"""Dask workers for a study: processes of this machine, or a cluster that is already running."""

from __future__ import annotations

import logging
import re
import signal
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

import balance
from balance.errors import BalanceError, InputError, MissingExtraError
from balance.recordings.system_calls import usable_cores

if TYPE_CHECKING:
    from distributed import Client

CONNECT_S = 10.0
FIRST_WORKER_S = 30.0
BLAS_VARIABLES = ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS")
SETTINGS = {
    # A run that ends its process twice is suspected of doing so; the runner tries it alone later.
    "distributed.scheduler.allowed-failures": 1,
    # Dask keeps logs and a profile of its own work, which grow for an hour like a leak.
    "distributed.admin.low-level-log-length": 1000,
    "distributed.worker.profile.enabled": False,
    # It looks at itself 50 times a second, 3 % of two cores for what nobody reads.
    "distributed.admin.tick.interval": "1s",
    "distributed.admin.tick.limit": "10s",
    "distributed.admin.system-monitor.interval": "5s",
    # Dask would have malloc hand every freed block back to the system at once: setting up a run,
    # which makes and drops many arrays, then takes up to six times as long.
    "distributed.nanny.pre-spawn-environ": dict.fromkeys(BLAS_VARIABLES, "1"),
}


class ClusterError(BalanceError):
    """A Dask scheduler does not answer, or its workers cannot run our experiments."""


@contextmanager
def workers(scheduler: str | None = None, count: int | None = None) -> Iterator[Client]:
    """A client of ``count`` local worker processes, or of the cluster behind ``scheduler``."""
    try:
        import dask
        import distributed  # noqa: F401
    except ImportError:
        raise MissingExtraError("distributed", "cluster") from None
    _silence()
    with dask.config.set(SETTINGS):
        if scheduler is None:
            with _local(count or usable_cores()) as client:
                yield client
        else:
            if count is not None:
                raise InputError("--workers is for local workers; a scheduler brings its own")
            with _existing(scheduler) as client:
                yield client


def _silence() -> None:
    """Keep Dask's remarks about its own connections from the terminal; failures reach us."""
    for name in list(logging.root.manager.loggerDict):
        if name.split(".")[0] == "distributed":
            logging.getLogger(name).setLevel(logging.CRITICAL)


@contextmanager
def _local(count: int) -> Iterator[Client]:
    from distributed import Client, LocalCluster

    try:
        with _interrupts_ignored():
            cluster = LocalCluster(
                n_workers=count,
                threads_per_worker=1,
                processes=True,
                host="127.0.0.1",
                dashboard_address="127.0.0.1:0",
                silence_logs=logging.CRITICAL,
                preload="balance.studies.workers",
            )
    except (OSError, RuntimeError) as error:
        raise ClusterError(f"the {count} local workers cannot be started: {error}") from error
    with cluster, Client(cluster) as client:
        yield client


@contextmanager
def _interrupts_ignored() -> Iterator[None]:
    """Ctrl-C is for the command, not for the processes that it starts within."""
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    before = signal.signal(signal.SIGINT, signal.SIG_IGN)
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, before)


@contextmanager
def _existing(address: str) -> Iterator[Client]:
    from distributed import Client

    if not re.fullmatch(r"(tcp|tls)://[^\s/]+:\d+", address):
        raise InputError(
            f"'{address}' is no address of a Dask scheduler; it looks like tcp://host:8786, or "
            "tls://host:8786"
        )
    try:
        client = Client(address, timeout=CONNECT_S)
    except (OSError, ValueError, TypeError, RuntimeError) as error:
        reason = str(error).splitlines()[0] if str(error) else type(error).__name__
        raise ClusterError(
            f"the scheduler {address} does not answer within {CONNECT_S:g} s ({reason}); start one "
            "with 'dask scheduler', or leave --scheduler out to use this machine alone"
        ) from None
    with client:
        _check_workers(client, address)
        yield client


def _check_workers(client: Client, address: str) -> None:
    """Refuse a cluster without workers, or whose workers have another version of us."""
    try:
        client.wait_for_workers(1, timeout=FIRST_WORKER_S)
    except TimeoutError:
        raise ClusterError(
            f"the scheduler {address} has no workers; start some with 'dask worker {address} "
            "--nworkers auto --nthreads 1'"
        ) from None
    try:
        versions = client.run(version)
    except ImportError as error:
        raise ClusterError(
            f"a worker of {address} cannot load balance ({error}); install 'pin-balance[cluster]' "
            "on every machine of the cluster"
        ) from None
    for worker, found in versions.items():
        if found != balance.__version__:
            raise ClusterError(
                f"worker {worker} has balance {found}, this machine {balance.__version__}; install "
                "the same version everywhere"
            )


def version() -> str:
    """The version of this package, asked on a worker."""
    return balance.__version__
