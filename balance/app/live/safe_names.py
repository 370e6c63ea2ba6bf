"""Names of results that come from a page, and paths in what is said on one."""

from __future__ import annotations

import re
from collections.abc import Iterable
from pathlib import Path

from balance.errors import FileError

SAFE_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9_-]{0,59}")

# A slash that neither divides (1/s) nor belongs to an address (http://), and what follows it.
_ABSOLUTE = re.compile(r"(?<![\w/.:<~)\]])/(?:[^\s/'\"<>:;,()]+/+)*([^\s/'\"<>:;,()]+)")


def safe_child(folder: Path, name: object, suffix: str = "") -> Path:
    """``folder/name``; a name that could leave the folder, or is odd in any way, is refused."""
    text = str(name).strip() or "live"
    if not SAFE_NAME.fullmatch(text):
        raise FileError(
            f"'{text[:60]}' is no name for a result; use letters, digits, '-' and '_', at most 60"
        )
    return folder / f"{text}{suffix}"


def without_folders(text: str, folders: Iterable[Path] = ()) -> str:
    """``text`` as a page may see it: of an absolute path only its end.

    Paths below one of ``folders``, or where the command was started, are given from there on; of
    all others the name is left.
    """
    known = {str(folder.absolute()).rstrip("/") for folder in (*folders, Path.cwd(), Path.home())}
    for folder in sorted(known - {""}, key=len, reverse=True):
        text = text.replace(f"{folder}/", "")
    return _ABSOLUTE.sub(r"\1", text)
