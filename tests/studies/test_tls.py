"""A cluster with TLS as docs/cluster.md has it: who holds a certificate may work, no others."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

import balance
from balance.studies.cluster import CONNECT_S

PAGE = Path(__file__).parents[2] / "docs" / "cluster.md"
PATIENCE_S = 300.0  # against hanging; a busy machine takes its time
CONNECT = """
import sys
from balance.errors import BalanceError
from balance.studies import cluster
from balance.studies.cluster import version, workers
cluster.CONNECT_S, cluster.FIRST_WORKER_S = float(sys.argv[2]), float(sys.argv[3])
try:
    with workers(sys.argv[1]) as client:
        print(*set(client.run(version).values()))
except BalanceError as error:
    print(error)
    sys.exit(2)
"""
OTHER = "import balance\nbalance.__version__ = '0.0.1'\n"
Start = Callable[..., subprocess.Popen[bytes]]


def block(begins: str) -> str:
    """The block of code on the page that begins so."""
    blocks = PAGE.read_text(encoding="utf-8").split("```")[1::2]
    found = [
        text.partition("\n")[2] for text in blocks if text.partition("\n")[2].startswith(begins)
    ]
    assert len(found) == 1
    return found[0]


@pytest.fixture(scope="module")
def certificates(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Dask's settings, with the certificates that the commands of the page make."""
    folder = tmp_path_factory.mktemp("tls")
    subprocess.run(["sh", "-ec", block("openssl")], cwd=folder, check=True, capture_output=True)
    settings = block("distributed:").replace("/home/me/tls", str(folder))
    (folder / "tls.yaml").write_text(settings, encoding="utf-8")
    return folder


@pytest.fixture(scope="module")
def start(certificates: Path) -> Iterator[Start]:
    """Starts parts of a cluster on loopback, each a process group of its own."""
    started: list[subprocess.Popen[bytes]] = []

    def start(kind: str, *words: str) -> subprocess.Popen[bytes]:
        command = [sys.executable, "-m", f"distributed.cli.dask_{kind}", "--host", "127.0.0.1"]
        process = subprocess.Popen(
            [*command, "--dashboard-address", "127.0.0.1:0", *words],
            env={**os.environ, "DASK_CONFIG": str(certificates), "OMP_NUM_THREADS": "1"},
            stderr=subprocess.DEVNULL, start_new_session=True, cwd=certificates,
        )  # fmt: skip
        started.append(process)
        return process

    yield start
    for process in started:
        process.kill()
        process.wait()


@pytest.fixture(scope="module")
def address(start: Start, certificates: Path) -> str:
    """Of a scheduler with one worker."""
    file = certificates / "scheduler.json"
    start("scheduler", "--protocol", "tls", "--port", "0", "--scheduler-file", str(file))
    deadline = time.monotonic() + PATIENCE_S
    while not file.is_file():
        assert time.monotonic() < deadline, "waited in vain for the scheduler"
        time.sleep(0.02)
    found = str(json.loads(file.read_text())["address"])
    start("worker", found, "--nthreads", "1", "--no-nanny")
    return found


def ask(address: str, certificates: Path | None = None) -> tuple[int, str]:
    """Exit code and words of somebody who connects as a study does, each in his own process."""
    env = {key: value for key, value in os.environ.items() if key != "DASK_CONFIG"}
    if certificates is not None:
        env["DASK_CONFIG"] = str(certificates)
    # Who has no certificate is refused by silence, which is not to be waited for as long.
    connect = PATIENCE_S if certificates is not None else CONNECT_S
    words = [sys.executable, "-c", CONNECT, address, str(connect), str(PATIENCE_S)]
    done = subprocess.run(words, env=env, capture_output=True, text=True, timeout=3.0 * PATIENCE_S)
    return done.returncode, done.stdout.strip() or done.stderr


def test_who_holds_a_certificate_may_work(address: str, certificates: Path) -> None:
    assert address.startswith("tls://127.0.0.1:")
    assert ask(address, certificates) == (0, balance.__version__)


def test_who_holds_none_is_refused_with_a_sentence(address: str) -> None:
    for given in (address, address.replace("tls://", "tcp://")):
        code, text = ask(given)
        assert code == 2
        assert f"the scheduler {given} does not answer" in text
        assert "\n" not in text


def test_a_worker_of_another_version_is_refused_with_a_sentence(
    start: Start, address: str, certificates: Path
) -> None:
    other = certificates / "other_version.py"
    other.write_text(OTHER, encoding="utf-8")
    start("worker", address, "--nthreads", "1", "--no-nanny", "--preload", str(other))
    deadline = time.monotonic() + PATIENCE_S
    while (found := ask(address, certificates))[0] == 0:  # until it has come
        assert time.monotonic() < deadline
    code, text = found
    assert code == 2
    assert f"has balance 0.0.1, this machine {balance.__version__}; install the same" in text
