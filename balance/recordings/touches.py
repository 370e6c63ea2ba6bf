"""Which bodies touched what, when and how hard: spans of time, put together while a run goes on."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import astuple, dataclass, fields
from typing import Any

import numpy as np

from balance.simulation.plants.interface import Touch

RATTLE_S = 0.02  # two bodies that part for less than this have touched once
Pair = tuple[str, str]


@dataclass(frozen=True)
class TouchSpan:
    """Two bodies, or a body and an obstacle, that touched from ``start_s`` to ``end_s``.

    ``impulse_Ns`` is the sum of the forces between them over time, ``largest_N`` the largest of
    them, ``depth_m`` how deep one was in the other at most.
    """

    body: str
    other: str
    start_s: float
    end_s: float
    impulse_Ns: float
    largest_N: float
    depth_m: float


class TouchBook:
    """Takes down what touches in every simulation step."""

    def __init__(self, dt: float) -> None:
        self._dt = dt
        self._open: dict[Pair, TouchSpan] = {}
        self._closed: list[TouchSpan] = []

    def add(self, time: float, touches: Sequence[Touch]) -> None:
        """Note the ``touches`` of the step that began at ``time``, s."""
        forces: dict[Pair, float] = {}
        depths: dict[Pair, float] = {}
        for touch in touches:
            pair = touch.body, touch.other
            forces[pair] = forces.get(pair, 0.0) + float(np.linalg.norm(touch.force))
            depths[pair] = max(depths.get(pair, 0.0), touch.depth_m)
        end = time + self._dt
        for pair, force in forces.items():
            old = self._open.pop(pair, None)
            if old is not None and time - old.end_s > RATTLE_S:
                self._closed.append(old)
                old = None
            old = old or TouchSpan(*pair, time, end, 0.0, 0.0, 0.0)
            impulse = old.impulse_Ns + force * self._dt
            largest, depth = max(old.largest_N, force), max(old.depth_m, depths[pair])
            self._open[pair] = TouchSpan(*pair, old.start_s, end, impulse, largest, depth)

    def spans(self) -> tuple[TouchSpan, ...]:
        """All spans so far, in the order in which they began."""
        return tuple(
            sorted(
                [*self._closed, *self._open.values()], key=lambda s: (s.start_s, s.body, s.other)
            )
        )


def touched_pairs(spans: Sequence[TouchSpan]) -> list[dict[str, Any]]:
    """The spans of each pair as one entry, in the order in which they first touched."""
    pairs: dict[Pair, list[TouchSpan]] = {}
    for span in spans:
        pairs.setdefault((span.body, span.other), []).append(span)
    return [
        {
            "body": body,
            "other": other,
            "start_s": one[0].start_s,
            "end_s": one[-1].end_s,
            "duration_s": sum(span.end_s - span.start_s for span in one),
            "impulse_Ns": sum(span.impulse_Ns for span in one),
            "largest_N": max(span.largest_N for span in one),
            "depth_m": max(span.depth_m for span in one),
        }
        for (body, other), one in pairs.items()
    ]


def spans_text(spans: Sequence[TouchSpan]) -> str:
    """Spans as a log file keeps them."""
    return json.dumps([astuple(span) for span in spans])


def spans_from(text: str) -> tuple[TouchSpan, ...]:
    """The spans in such a text, of which old files have none; a ValueError if it makes no sense."""
    rows = json.loads(text) if text else []
    spans = []
    for row in rows if isinstance(rows, list) else [None]:
        if not isinstance(row, list) or len(row) != len(fields(TouchSpan)):
            raise ValueError("it is no list of touches")
        body, other, *numbers = row
        spans.append(TouchSpan(str(body), str(other), *map(float, numbers)))
    return tuple(spans)
