"""Names of results that come from a page."""

from __future__ import annotations

import re
from pathlib import Path

from balance.errors import FileError

SAFE_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9_-]{0,59}")


def safe_child(folder: Path, name: object, suffix: str = "") -> Path:
    """``folder/name``; a name that could leave the folder, or is odd in any way, is refused."""
    text = str(name).strip() or "live"
    if not SAFE_NAME.fullmatch(text):
        raise FileError(
            f"'{text[:60]}' is no name for a result; use letters, digits, '-' and '_', at most 60"
        )
    return folder / f"{text}{suffix}"
