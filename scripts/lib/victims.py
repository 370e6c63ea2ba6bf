"""Commands that things happen to: each on a small disk of its own, started again when it ends."""

from __future__ import annotations

import json
import os
import shutil
import socket
import subprocess
import sys
import time
from abc import ABC, abstractmethod
from pathlib import Path

import numpy as np
import pyarrow.parquet as pq
from lib.live_session import saved

import balance
from balance.app.live.replay import result_folders
from balance.recordings.results import load_recording
from balance.studies.workers import TIMING

SIZE = "24m"
STUDY_S = 1800.0  # for a study or session that nothing happens to any more
GONE_S = 60.0  # for what a killed command has started
RUNS = 8  # that a live session saves
# Root may write into read-only folders; without these two capabilities it may not.
POWERLESS = ("setpriv", "--bounding-set=-dac_override,-dac_read_search")
CLOCK = """
import os, time
_now, _file = time.time, os.environ["FAULTS_CLOCK"]
def _skewed():
    try:
        with open(_file) as file:
            return _now() + float(file.read() or 0)
    except (OSError, ValueError):
        return _now()
time.time = _skewed
"""


def run(*words: object) -> None:
    """A system command that must not fail."""
    subprocess.run(list(map(str, words)), check=True, capture_output=True)


class Victim(ABC):
    """A command that is started again whenever it ends before it is done."""

    def __init__(self, name: str, root: Path) -> None:
        self.name, self.root = name, root
        self.disk, self.clock = root / f"{name}.disk", root / f"{name}.clock"
        self.disk.mkdir()
        run("mount", "-t", "tmpfs", "-o", f"size={SIZE}", "tmpfs", self.disk)
        self.out = self.disk / "out"
        self.process: subprocess.Popen[bytes] | None = None
        self.starts = self.finished = 0
        self.log = open(root / f"{name}.log", "ab")  # noqa: SIM115
        site = root / "site"
        site.mkdir(exist_ok=True)
        (site / "sitecustomize.py").write_text(CLOCK)
        paths = [
            str(site),
            str(Path(__file__).parents[1]),
            *filter(None, [os.getenv("PYTHONPATH")]),
        ]
        path = os.pathsep.join(paths)
        self.environment = {**os.environ, "PYTHONPATH": path, "FAULTS_CLOCK": str(self.clock)}

    @abstractmethod
    def words(self, out: Path) -> list[str]:
        """The command line that works in ``out``."""

    @abstractmethod
    def verify(self) -> None:
        """Raise SystemExit if anything in the finished output is lost, doubled or half written."""

    @property
    def done(self) -> bool:
        """Whether the command has ended well."""
        return self.process is not None and self.process.poll() == 0

    def start(self, out: Path | None = None) -> subprocess.Popen[bytes]:
        self.starts += 1
        self.process = subprocess.Popen(
            [*POWERLESS, *self.words(out or self.out)], env=self.environment, stdout=self.log,
            stderr=self.log, start_new_session=True,
        )  # fmt: skip
        return self.process

    def keep_going(self) -> None:
        """Start the command unless it runs or is done."""
        if self.process is None or self.process.poll() not in (None, 0):
            self.start()

    def begin_anew(self) -> None:
        """Forget what was made."""
        shutil.rmtree(self.out, ignore_errors=True)
        self.process = None

    def below(self) -> dict[int, str]:
        """Processes that the command has started, and their command lines."""
        assert self.process is not None
        words = ["ps", "-o", "pid=,args=", "-g", str(self.process.pid)]
        listed = subprocess.run(words, capture_output=True, text=True).stdout.splitlines()
        found = {
            int(pid): args for pid, _, args in (line.strip().partition(" ") for line in listed)
        }
        found.pop(self.process.pid, None)
        return found

    def workers(self) -> list[int]:
        """Processes that work for the command, once there are any."""
        end = time.monotonic() + GONE_S
        while time.monotonic() < end:
            if self.done:
                self.check()
                self.begin_anew()
            self.keep_going()
            found = [pid for pid, args in self.below().items() if "resource_tracker" not in args]
            if found:
                return found
            time.sleep(0.2)
        raise SystemExit(f"{self.name} has no worker to happen anything to")

    def all_gone(self) -> None:
        """Raise SystemExit if a command that has ended leaves a process behind."""
        end = time.monotonic() + GONE_S
        while self.below():
            if time.monotonic() > end:
                raise SystemExit(f"{self.name} has ended, but these run on: {self.below()}")
            time.sleep(0.2)

    def check(self) -> None:
        """Let the command finish, see that nothing of it runs on, and look at what it made."""
        for _ in range(20):
            self.keep_going()
            assert self.process is not None
            if self.process.wait(timeout=STUDY_S) == 0:
                break
        else:
            raise SystemExit(f"{self.name} does not end")
        self.all_gone()
        self.verify()
        self.finished += 1


class StudyVictim(Victim):
    """A sweep or a tuning study."""

    def __init__(self, name: str, text: str, root: Path) -> None:
        super().__init__(name, root)
        self.study, self.peace = root / f"{name}.yaml", root / f"{name}.peace"
        self.study.write_text(text)

    def words(self, out: Path) -> list[str]:
        command = [sys.executable, "-m", "balance.app.cli", self.name, str(self.study)]
        return [*command, "--workers", "2", "--out", str(out)]

    def verify(self) -> None:
        """The rows must be those of a study that was left in peace."""
        if not self.peace.exists() and self.start(self.peace).wait(timeout=STUDY_S) != 0:
            raise SystemExit(f"{self.name} fails even when left in peace")
        found, wanted = _rows(self.out), _rows(self.peace)
        if found != wanted:
            extra, lost = set(found) - set(wanted), set(wanted) - set(found)
            print(*sorted(extra)[:2], "instead of", *sorted(lost)[:2], sep="\n")
            raise SystemExit(f"{self.name}: {len(extra)} rows are new, {len(lost)} are lost")


def _rows(folder: Path) -> list[str]:
    """The rows of a finished study, sorted, without what differs between repetitions."""
    rows = pq.read_table(folder / "runs.parquet").to_pylist()
    kept = [{k: v for k, v in row.items() if k not in TIMING} for row in rows]
    found = sorted(json.dumps(row, sort_keys=True) for row in kept)
    if len(set(found)) != len(found):
        raise SystemExit(f"{folder}: a run is in the table twice")
    return found


class LiveVictim(Victim):
    """A live session that saves its runs."""

    def __init__(self, root: Path) -> None:
        super().__init__("live", root)
        self.journal = root / "live.journal"
        with socket.socket() as probe:
            probe.bind(("127.0.0.1", 0))
            self.port = int(probe.getsockname()[1])

    def words(self, out: Path) -> list[str]:
        session = Path(__file__).with_name("live_session.py")
        words = [sys.executable, session, out, self.journal, self.port, RUNS]
        return list(map(str, words))

    def begin_anew(self) -> None:
        super().begin_anew()
        self.journal.unlink(missing_ok=True)

    def all_gone(self) -> None:
        """Neither a process nor the port may stay."""
        super().all_gone()
        with socket.socket() as probe:
            probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            probe.bind(("127.0.0.1", self.port))

    def verify(self) -> None:
        """Every run that counts as saved is there, and every run there can be repeated exactly."""
        said, there = saved(self.journal), result_folders(self.out)
        if len(set(said)) != len(said) or not set(said) <= set(there):
            raise SystemExit(f"live says it saved {sorted(said)}, but there are {sorted(there)}")
        for name in there:  # more than said, where it was killed before it could say so
            found = load_recording(self.out / name)
            again = balance.run(balance.load_config(self.out / name / "config.yaml"))
            same = (found.q == again.q[: found.time.size]).all(axis=1)
            if not same.all():
                row = int(np.argmin(same))
                raise SystemExit(
                    f"{name}: period {row} of {same.size} is not what its config gives"
                )
            json.loads((self.out / name / "summary.json").read_text(encoding="utf-8"))
