"""Kinds of values that appear in several places of the YAML schema."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Annotated, Any, Protocol

import numpy as np
from numpy.typing import NDArray
from pydantic import AfterValidator, BeforeValidator, Field

Array = NDArray[np.float64]


@dataclass(frozen=True)
class Range:
    """What a value must be, in the words of the reference, where a bound cannot say it."""

    words: str


Positive = Annotated[float, Field(gt=0)]
NonNegative = Annotated[float, Field(ge=0)]
Vector3 = tuple[float, float, float]
PositiveVector3 = tuple[Positive, Positive, Positive]


def _gain(value: Any) -> Any:
    """A 3 x 3 gain from a number, three numbers, or nine; symmetric positive definite."""
    entries = np.array(value, dtype=object)
    numbers = all(isinstance(x, int | float) and not isinstance(x, bool) for x in entries.flat)
    array = entries.astype(float) if numbers else np.empty(0)
    if array.shape == ():
        array = np.diag(np.full(3, array))
    elif array.shape == (3,):
        array = np.diag(array)
    if array.shape != (3, 3):
        raise ValueError("a gain is one number, three numbers or a 3 x 3 matrix of numbers")
    symmetric = np.isfinite(array).all() and np.allclose(array, array.T, rtol=1e-12, atol=0)
    if not symmetric or np.linalg.eigvalsh(array)[0] <= 0.0:
        raise ValueError("a gain must be finite, symmetric and positive definite")
    return tuple(map(tuple, value)) if np.ndim(value) == 2 else value


Gain = Annotated[
    float | Vector3 | tuple[Vector3, Vector3, Vector3],
    BeforeValidator(_gain),
    Range("positive definite"),
]


def gain_matrix(gain: float | Vector3 | tuple[Vector3, ...]) -> Array:
    """The 3 x 3 matrix of a gain given as scalar, diagonal or matrix."""
    array = np.array(gain, dtype=float)
    return array if array.ndim == 2 else np.diag(np.broadcast_to(array, 3))


def _direction(value: Vector3) -> Vector3:
    if np.linalg.norm(value) < 1e-9:
        raise ValueError("a direction must not be zero")
    return value


Direction = Annotated[Vector3, AfterValidator(_direction), Range("not zero")]


class Move(Protocol):
    """Something that takes place from ``time_s`` on, for ``duration_s``."""

    @property
    def time_s(self) -> float: ...
    @property
    def duration_s(self) -> float: ...


def check_one_after_the_other(moves: Sequence[Move]) -> None:
    """Raise a ValueError if one of ``moves`` begins before another has ended."""
    in_time = sorted(moves, key=lambda move: move.time_s)
    for first, second in pairwise(in_time):
        if second.time_s < first.time_s + first.duration_s:
            raise ValueError(
                f"the move at time_s = {second.time_s} begins before the one at "
                f"{first.time_s} has ended, at {first.time_s + first.duration_s:g} s"
            )
