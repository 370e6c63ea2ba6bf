"""Push a humanoid and see whether it stays on its feet."""

from __future__ import annotations

__version__ = "0.1.0"
