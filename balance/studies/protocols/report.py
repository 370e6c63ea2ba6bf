"""The indicators of a protocol as text: the same figures give the same bytes."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

from balance.studies.protocols.interface import Indicators
from balance.studies.summary import markdown

DIGITS = 5  # of a figure in a report


def report_table(lines: Sequence[Indicators]) -> str:
    """The indicators as a Markdown table."""
    head = list(dict.fromkeys(key for line in lines for key in line))
    return markdown(head, [[shown(line.get(key)) for key in head] for line in lines])


def shown(value: Any) -> str:
    """A figure of a report in a table."""
    return "" if value is None else f"{value:.4g}" if isinstance(value, float) else str(value)


def rounded(value: Any) -> Any:
    """A figure as a report keeps it; None for one that is not a number."""
    if not isinstance(value, float):
        return value
    return float(f"{value:.{DIGITS}g}") if math.isfinite(value) else None
