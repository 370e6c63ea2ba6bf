"""What only Linux or POSIX can do, each with what is done elsewhere.

Names that are swapped or taken in one step, locks, reserved disk, memory that is given back, what a
process has used, and which cores it may use.
"""

from __future__ import annotations

import ctypes
import errno
import mmap
import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from functools import cache
from pathlib import Path
from typing import Any

try:
    import fcntl
    import resource
except ImportError:  # not a POSIX system
    fcntl = resource = None  # type: ignore[assignment]

# <linux/fs.h> and <fcntl.h>
RENAME_NOREPLACE, RENAME_EXCHANGE = 1, 2
AT_FDCWD = -100
CANNOT = (errno.ENOSYS, errno.EINVAL, errno.ENOTSUP)

ZEROS = bytes(1 << 20)


def exchange(one: Path, other: Path) -> bool:
    """Swap what two names stand for, in one step; False where that is not possible."""
    return _renameat2(one, other, RENAME_EXCHANGE)


def move_to_free(source: Path, target: Path) -> None:
    """Rename ``source``; a name that is taken, even by an empty folder, is a FileExistsError."""
    if _renameat2(source, target, RENAME_NOREPLACE):
        return
    if os.path.isfile(source):
        os.link(source, target)
        os.unlink(source)
        return
    # Between these two lines only an empty folder can be made that the second one replaces.
    if os.path.lexists(target):
        raise FileExistsError(errno.EEXIST, os.strerror(errno.EEXIST), str(target))
    os.rename(source, target)


def try_lock(file: int) -> bool | None:
    """Lock an open file until it is closed, if only by the end of the process, however it ends.

    False if another process holds the lock; None where files cannot be locked.
    """
    if fcntl is None:
        return None
    try:
        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    except OSError:
        return None
    return True


def _renameat2(source: Path, target: Path, flags: int) -> bool:
    """Linux's renameat2; False if this system, or this file system, does not have it."""
    call = _system_call()
    if call is None:
        return False
    if call(AT_FDCWD, os.fsencode(source), AT_FDCWD, os.fsencode(target), flags) == 0:
        return True
    number = ctypes.get_errno()
    if number in CANNOT:
        return False
    raise OSError(number, os.strerror(number), str(source), None, str(target))


@cache
def _system_call() -> Any:
    try:
        return ctypes.CDLL(None, use_errno=True).renameat2
    except (AttributeError, OSError, TypeError):
        return None


def reserve(file: int, size: int) -> None:
    """Give an open, empty file ``size`` bytes of disk; OSError if there is no room for them."""
    if hasattr(os, "posix_fallocate"):
        os.posix_fallocate(file, 0, size)
        return
    while size > 0:  # elsewhere zeros that are written are there
        size -= os.write(file, memoryview(ZEROS)[:size])
    os.lseek(file, 0, os.SEEK_SET)


def give_back(memory: mmap.mmap) -> None:
    """Give the memory of a mapped file back until it is next used, where that can be asked for."""
    if hasattr(memory, "madvise") and hasattr(mmap, "MADV_DONTNEED"):
        with suppress(OSError):  # locked memory stays
            memory.madvise(mmap.MADV_DONTNEED)


def usable_cores() -> int:
    """Cores that this process may use; elsewhere all of them."""
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


def raise_priority(niceness: int) -> None:
    """Be served before others, where the system grants it."""
    with suppress(OSError, AttributeError):
        os.setpriority(os.PRIO_PROCESS, 0, niceness)


@contextmanager
def real_time() -> Iterator[None]:
    """Give way to nobody meanwhile, where the system grants it; for short work between waits.

    Linux keeps a twentieth of the time for others all the same, by default.
    """
    try:
        os.sched_setscheduler(0, os.SCHED_RR | os.SCHED_RESET_ON_FORK, os.sched_param(1))
    except (OSError, AttributeError):
        yield
        return
    try:
        yield
    finally:
        os.sched_setscheduler(0, os.SCHED_OTHER, os.sched_param(0))


@contextmanager
def in_real_time_class() -> Iterator[bool]:
    """As :func:`real_time`, for a run that sleeps now and then; whether the system granted it."""
    if not hasattr(os, "sched_setscheduler"):
        yield False
        return
    kept = os.sched_getscheduler(0), os.sched_getparam(0)
    try:
        os.sched_setscheduler(0, os.SCHED_RR | os.SCHED_RESET_ON_FORK, os.sched_param(1))
    except OSError:
        yield False
        return
    try:
        yield True
    finally:
        os.sched_setscheduler(0, *kept)


# <sys/mman.h>
MCL_CURRENT, MCL_FUTURE = 1, 2


@contextmanager
def locked_memory() -> Iterator[bool]:
    """Keep all memory of the process in place meanwhile; whether the system granted it."""
    try:
        library = ctypes.CDLL(None, use_errno=True)
        locked = library.mlockall(MCL_CURRENT | MCL_FUTURE) == 0
    except (AttributeError, OSError, TypeError):
        locked = False
    try:
        yield locked
    finally:
        if locked:
            library.munlockall()


def page_faults() -> tuple[int, int]:
    """Pages that this thread found not mapped so far, and those that were read from disk."""
    if resource is None or not hasattr(resource, "RUSAGE_THREAD"):
        return 0, 0
    used = resource.getrusage(resource.RUSAGE_THREAD)
    return used.ru_minflt, used.ru_majflt


def load_average() -> float | None:
    """Mean number of processes that wanted a core during the last minute; None if unknown."""
    return os.getloadavg()[0] if hasattr(os, "getloadavg") else None


def peak_memory_MB() -> float:
    """The most memory that this process ever had, MB; NaN if the system does not tell.

    Linux hands ``ru_maxrss`` down to a child, which then begins at the size of its parent; what
    /proc tells is of the program that runs now.
    """
    if resource is None:
        return float("nan")
    with suppress(OSError), open("/proc/self/status", encoding="ascii") as status:
        for line in status:
            if line.startswith("VmHWM:"):
                return int(line.split()[1]) / 1024
    unit = 1 if sys.platform == "darwin" else 1024  # bytes there, KiB elsewhere
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * unit / 1024**2


def children_cpu_s() -> float:
    """CPU time of all child processes that have ended, s."""
    if resource is None:
        used = os.times()
        return used.children_user + used.children_system
    spent = resource.getrusage(resource.RUSAGE_CHILDREN)
    return spent.ru_utime + spent.ru_stime
