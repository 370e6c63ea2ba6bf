"""What a machine can do to a command."""

from __future__ import annotations

import contextlib
import errno
import os
import random
import signal
import subprocess
import time
from collections.abc import Callable

from lib.victims import POWERLESS, Victim


def kill_command(victim: Victim, rng: random.Random) -> None:
    """Kill the command alone: what it started must end by itself."""
    assert victim.process is not None
    victim.process.kill()
    victim.process.wait()
    victim.all_gone()


def kill_worker(victim: Victim, rng: random.Random) -> None:
    """Kill a process that the command has started: a worker, or the physics of the lab."""
    with contextlib.suppress(ProcessLookupError):
        os.kill(rng.choice(victim.workers()), signal.SIGKILL)


def stop_worker(victim: Victim, rng: random.Random) -> None:
    """Stop such a process for a while."""
    pid = rng.choice(victim.workers())
    with contextlib.suppress(ProcessLookupError):
        os.kill(pid, signal.SIGSTOP)
        time.sleep(rng.uniform(0.5, 3.0))
        os.kill(pid, signal.SIGCONT)


def fill_disk(victim: Victim, rng: random.Random) -> None:
    """Leave no byte free for a while."""
    filler = victim.disk / ".filler"
    with open(filler, "wb", buffering=0) as file:
        for size in (1 << 20, 1 << 12, 1):
            try:
                while True:
                    file.write(bytes(size))
            except OSError as error:
                if error.errno != errno.ENOSPC:
                    raise
    time.sleep(rng.uniform(0.5, 3.0))
    filler.unlink()


def read_only(victim: Victim, rng: random.Random) -> None:
    """Take the right to write from the disk's folders and files for a while."""
    paths = [path for path in [victim.disk, *victim.disk.rglob("*")] if not path.is_symlink()]
    modes = {path: path.stat().st_mode for path in paths}
    for path, mode in modes.items():
        path.chmod(mode & 0o555)
    probe = [*POWERLESS, "touch", str(victim.disk / ".probe")]
    if subprocess.run(probe, capture_output=True).returncode == 0:
        raise SystemExit("a folder that is read-only can be written to: this fault has no teeth")
    time.sleep(rng.uniform(0.5, 3.0))
    for path, mode in modes.items():
        with contextlib.suppress(FileNotFoundError):
            path.chmod(mode)


def skew_clock(victim: Victim, rng: random.Random) -> None:
    """Have the clock jump, to the future or the past, and stay there."""
    victim.clock.write_text(str(rng.choice((-86400.0, -60.0, 3600.0, 1e7))))


FAULTS: tuple[Callable[[Victim, random.Random], None], ...] = (
    kill_command, kill_worker, stop_worker, fill_disk, read_only, skew_clock,
)  # fmt: skip
