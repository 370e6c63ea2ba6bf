"""What the operating system does in one step: swap two names, take a free one, lock a file.

Everything that only Linux or POSIX can do is here, each with what is done elsewhere.
"""

from __future__ import annotations

import ctypes
import errno
import os
from functools import cache
from pathlib import Path
from typing import Any

try:
    import fcntl
except ImportError:  # not a POSIX system
    fcntl = None  # type: ignore[assignment]

# <linux/fs.h> and <fcntl.h>
RENAME_NOREPLACE, RENAME_EXCHANGE = 1, 2
AT_FDCWD = -100
CANNOT = (errno.ENOSYS, errno.EINVAL, errno.ENOTSUP)


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
