"""Types and ranges of YAML keys in words, for the reference."""

from __future__ import annotations

import types
import typing
from collections.abc import Iterator
from typing import Annotated, Any, Literal, Union

from pydantic import BaseModel
from pydantic.fields import FieldInfo

from balance.config.values import Range

WORDS = {float: "number", int: "whole number", bool: "true or false", str: "text", Any: "any value"}
PLURALS = {"number": "numbers", "whole number": "whole numbers", "text": "texts"}


def type_words(annotation: Any) -> str:
    """An annotation in the words of YAML; a section by the mark ``<ClassName>``."""
    origin, args = typing.get_origin(annotation), typing.get_args(annotation)
    if origin is Annotated:
        return type_words(args[0])
    if isinstance(annotation, type) and issubclass(annotation, BaseModel):
        return f"<{annotation.__name__}>"
    if origin is Literal:
        return ", ".join(f"`{str(word).lower() if word is True else word}`" for word in args)
    if origin in (Union, types.UnionType):
        words = [type_words(arg) for arg in args if arg is not type(None)]
        if {"whole number", "number"} <= set(words):
            words.remove("whole number")
        return " or ".join(dict.fromkeys(words))
    if origin is tuple and Ellipsis in args:
        return f"list of {_many(type_words(args[0]))}"
    if origin is tuple:
        kinds = list(dict.fromkeys(map(type_words, args)))
        return f"list of {len(args)} {_many(' or '.join(kinds))}"
    if origin is dict:
        return f"mapping of names to {_many(type_words(args[1]))}"
    return WORDS[annotation]


def _many(words: str) -> str:
    if words.startswith("list of "):
        return "lists of " + words.removeprefix("list of ")
    return PLURALS.get(words, words)


def models_in(annotation: Any) -> Iterator[type[BaseModel]]:
    """The sections that an annotation may stand for."""
    if isinstance(annotation, type) and issubclass(annotation, BaseModel):
        yield annotation
    for arg in typing.get_args(annotation):
        yield from models_in(arg)


def range_words(field: FieldInfo) -> str:
    """The bounds of a key's numbers, or of its length."""
    found = [*_bounds(field.metadata), *_inner_bounds(field.annotation)]
    return "; ".join(dict.fromkeys(found))


def _inner_bounds(annotation: Any) -> Iterator[str]:
    if typing.get_origin(annotation) is Annotated:
        inner, *metadata = typing.get_args(annotation)
        for item in metadata:
            yield from _bounds(item.metadata if isinstance(item, FieldInfo) else [item])
        yield from _inner_bounds(inner)
    elif not (isinstance(annotation, type) and issubclass(annotation, BaseModel)):
        for arg in typing.get_args(annotation):
            yield from _inner_bounds(arg)


def _bounds(metadata: list[Any]) -> Iterator[str]:
    """The constraints of one place, as ``> 0`` or ``0 to 1``."""
    told = {key: getattr(item, key) for item in metadata for key in _NAMES if hasattr(item, key)}
    yield from (item.words for item in metadata if isinstance(item, Range))
    low, high = told.get("ge"), told.get("le")
    if low is not None and high is not None:
        yield f"{_number(low)} to {_number(high)}"
    else:
        parts = [f"{sign} {_number(told[name])}" for name, sign in _SIGNS.items() if name in told]
        if parts:
            yield " and ".join(parts)
    if told.get("min_length"):
        yield f"at least {told['min_length']}"
    if told.get("max_length"):
        yield f"at most {told['max_length']}"


_SIGNS = {"gt": ">", "ge": "≥", "lt": "<", "le": "≤"}
_NAMES = (*_SIGNS, "min_length", "max_length")


def _number(value: float) -> str:
    return f"{value:g}" if abs(value) < 1e5 else f"{value:.0f}"
