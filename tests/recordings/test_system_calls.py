"""What only Linux or POSIX can do is in one module, which also works without it."""

from __future__ import annotations

import ast
import mmap
import os
import subprocess
import sys
import tempfile
from pathlib import Path

import numpy as np
import pytest

from balance.recordings import disk_arrays, system_calls

PACKAGE = Path(system_calls.__file__).parents[1]
HOME = Path(system_calls.__file__)
MODULES = {"fcntl", "resource", "ctypes", "termios", "pwd", "grp"}
CALLS = {
    "posix_fallocate", "posix_fadvise", "madvise", "sched_getaffinity", "sched_setaffinity",
    "setpriority", "nice", "getloadavg", "fork", "mkfifo", "statvfs",
}  # fmt: skip


def used(path: Path) -> set[str]:
    """Modules and calls of ``path`` that not every system has."""
    found = set()
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            found |= {alias.name.split(".")[0] for alias in node.names} & MODULES
        elif isinstance(node, ast.ImportFrom):
            found |= {(node.module or "").split(".")[0]} & MODULES
        elif isinstance(node, ast.Attribute):
            found |= {node.attr} & CALLS
    return found


def test_one_module_alone_calls_what_not_every_system_has() -> None:
    files = [path for path in sorted(PACKAGE.rglob("*.py")) if "_data" not in path.parts]
    users = {str(path.relative_to(PACKAGE)): used(path) for path in files if used(path)}
    assert list(users) == [str(HOME.relative_to(PACKAGE))]
    assert users[str(HOME.relative_to(PACKAGE))] >= {"fcntl", "resource", "ctypes", "madvise"}


def test_without_these_modules_the_command_is_still_there() -> None:
    code = (
        "import sys\n"
        "for name in ('fcntl', 'resource'): sys.modules[name] = None\n"
        "from balance.recordings import claims, system_calls\n"
        "import balance.studies.store\n"
        "assert system_calls.try_lock(0) is None\n"
        "assert system_calls.peak_memory_MB() != system_calls.peak_memory_MB()\n"
        "assert system_calls.children_cpu_s() >= 0.0\n"
    )
    subprocess.run([sys.executable, "-c", code], check=True, timeout=120)


@pytest.mark.parametrize("size", [1, 1 << 20, (1 << 20) + 12345])
def test_disk_is_reserved_with_zeros_where_there_is_no_call_for_it(
    size: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delattr(os, "posix_fallocate", raising=False)
    with tempfile.TemporaryFile() as file:
        system_calls.reserve(file.fileno(), size)
        status = os.fstat(file.fileno())
        assert status.st_size == size
        assert status.st_blocks * 512 >= size or size < 4096  # not sparse
        assert file.read() == bytes(size)


def test_large_arrays_work_without_the_calls_for_disk_and_memory(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.delattr(os, "posix_fallocate", raising=False)
    monkeypatch.delattr(mmap, "MADV_DONTNEED", raising=False)
    array = disk_arrays.zeros(disk_arrays.LARGE_BYTES // 8, float)
    array[:] = np.arange(array.size)
    disk_arrays.release()
    np.testing.assert_array_equal(array, np.arange(array.size))


def test_where_cores_cannot_be_asked_for_all_of_them_count(monkeypatch: pytest.MonkeyPatch) -> None:
    assert 1 <= system_calls.usable_cores() <= (os.cpu_count() or 1)
    monkeypatch.delattr(os, "sched_getaffinity", raising=False)
    assert system_calls.usable_cores() == os.cpu_count()


def test_priority_and_load_are_optional(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("setpriority", "getloadavg"):
        monkeypatch.delattr(os, name, raising=False)
    system_calls.raise_priority(-10)
    assert system_calls.load_average() is None


def test_real_time_lasts_as_long_as_its_work_and_ends_with_an_error_too(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    calls: list[int] = []
    monkeypatch.setattr(os, "sched_setscheduler", lambda pid, policy, param: calls.append(policy))

    @system_calls.real_time()
    def work() -> None:
        assert calls == [os.SCHED_RR | os.SCHED_RESET_ON_FORK]
        raise KeyError

    with pytest.raises(KeyError):
        work()
    assert calls[1:] == [os.SCHED_OTHER]


@pytest.mark.parametrize("refusal", [PermissionError, OSError])
def test_work_is_done_where_real_time_is_refused_or_unknown(
    refusal: type[OSError], monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse(*given: object) -> None:
        raise refusal

    monkeypatch.setattr(os, "sched_setscheduler", refuse)
    done = []
    with system_calls.real_time():
        done.append(1)
    monkeypatch.delattr(os, "sched_setscheduler")
    with system_calls.real_time():
        done.append(2)
    assert done == [1, 2]


def test_what_a_process_used_is_told(tmp_path: Path) -> None:
    before = system_calls.children_cpu_s()
    subprocess.run([sys.executable, "-c", "sum(range(10**6))"], check=True)
    assert system_calls.children_cpu_s() > before
    assert 1.0 < system_calls.peak_memory_MB() < 1e6


def test_peak_memory_is_the_processs_own_and_not_its_parents() -> None:
    held = np.ones(400 * 2**17)  # 400 MB, which a child's ru_maxrss would begin with
    code = "from balance.recordings.system_calls import peak_memory_MB; print(peak_memory_MB())"
    told = subprocess.run([sys.executable, "-c", code], check=True, capture_output=True, text=True)
    assert held.all() and system_calls.peak_memory_MB() > 400.0 > float(told.stdout)
