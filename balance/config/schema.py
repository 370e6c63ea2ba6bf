"""Reading YAML into frozen, strict objects, with one clear sentence for every mistake."""

from __future__ import annotations

import types
import typing
from collections.abc import Mapping, Sequence
from typing import Annotated, Any, TypeVar, Union

from pydantic import BaseModel, ConfigDict, ValidationError

from balance.config.meanings import NO_UNIT, meaning
from balance.config.paths import CODE_FILE
from balance.config.yaml_reader import (
    MAX_FILE_BYTES,
    dump_yaml,
    load_yaml_mapping,
    parse_yaml,
    read_text,
    with_lists,
)
from balance.errors import ConfigError, known_names, listed

__all__ = [
    "MAX_FILE_BYTES",
    "Strict",
    "dump_yaml",
    "load_yaml_mapping",
    "parse_yaml",
    "read_text",
    "validate",
]


class Strict(BaseModel):
    """Base of every configuration object: frozen, no unknown keys, no NaN or infinity."""

    model_config = ConfigDict(
        frozen=True, extra="forbid", allow_inf_nan=False, validate_default=True
    )


T = TypeVar("T", bound=BaseModel)


def validate(cls: type[T], value: object, source: str, problems: Sequence[str] = ()) -> T:
    """``value`` as a ``cls``, or a :class:`ConfigError` that lists all its mistakes.

    Types are taken strictly: neither "10" nor true is a number.  ``problems`` are mistakes that
    were found before.
    """
    try:
        valid = cls.model_validate(_with_tuples(value), strict=True)
    except ValidationError as error:
        raise ConfigError(listed(source, [*problems, *_complaints(cls, error)])) from None
    if problems:
        raise ConfigError(listed(source, list(problems)))
    return valid


def _with_tuples(value: Any) -> Any:
    """``value`` with tuples for lists, which is what the frozen objects hold."""
    if isinstance(value, Mapping):
        return {key: _with_tuples(item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return tuple(_with_tuples(item) for item in value)
    return value


# Pydantic's words for a type, in those of YAML.
_KINDS = {
    "tuple_type": "it must be a list",
    "model_type": "it must be a mapping of keys to values",
    "model_attributes_type": "it must be a mapping of keys to values",
    "dict_type": "it must be a mapping of keys to values",
    "string_type": "it must be text",
    "float_type": "it must be a number",
    "int_type": "it must be a whole number",
    "bool_type": "it must be true or false",
}


def _complaints(cls: type[BaseModel], error: ValidationError) -> list[str]:
    """What is wrong, one clause for each key."""
    problems = error.errors(include_url=False)
    paths = [tuple(_yaml_path(cls, item["loc"], item["type"])) for item in problems]
    # An unknown key is usually the cause of a missing one: speak of it first.  Of a union that
    # fits in no way, speak of the member that went deepest.
    order = sorted(
        range(len(problems)),
        key=lambda i: (
            problems[i]["type"] != "extra_forbidden",
            any(paths[i] == other[: len(paths[i])] != other for other in paths),
        ),
    )
    told: list[tuple[int | str, ...]] = []
    clauses: list[str] = []
    for i in order:
        if not any(_within(paths[i], other) for other in told):
            told.append(paths[i])
            clauses += _clauses(cls, problems[i], ".".join(map(str, paths[i])))
    return clauses


def _clauses(cls: type[BaseModel], problem: Any, key: str) -> list[str]:
    """One of pydantic's complaints in our words; a check of several keys may have several."""
    kind, loc, value = problem["type"], problem["loc"], with_lists(problem["input"])
    context = problem.get("ctx", {})
    if kind == "extra_forbidden":
        models, names = _models_at(cls, loc[:-1]), _keys_at(cls, loc[:-1])
        inside = _section_with(str(loc[-1]), models)
        return [f"unknown key '{key}'{inside}{known_names(str(loc[-1]), names)}{_declare(models)}"]
    if kind == "missing" and isinstance(loc[-1], int):
        parent, _, index = key.rpartition(".")
        return [f"'{parent}' = {value}: value number {int(index) + 1} is missing"]
    if kind == "missing":
        told = _told(_models_at(cls, loc[:-1]), str(loc[-1]))
        return [f"key '{key}' is missing{told}{_choices(_walk(cls, loc)[0])}"]
    if kind == "union_tag_not_found":
        tags = [_tag_of(model) for model in _walk(cls, loc)[0]]
        valid = f"; valid: {', '.join(sorted(map(str, tags)))}"
        return [f"'{key}' needs a key {context['discriminator']}{valid}"]
    if kind == "union_tag_invalid":
        tag = str(context["discriminator"]).strip("'")
        names = [str(_tag_of(model)) for model in _walk(cls, loc)[0]]
        hint = known_names(str(context["tag"]), names).partition("; valid")[0]
        return [
            f"'{key}.{tag}' = '{context['tag']}' is unknown{hint}; "
            f"valid: {context['expected_tags']}"
        ]
    shown = repr(value)
    at = (f"'{key}'" + (f" = {shown}" if len(shown) <= 60 else "") + ": ") if key else ""
    example = ""
    if kind in _KINDS and loc and isinstance(loc[-1], str):
        found = [meaning(model, loc[-1]).example for model in _models_at(cls, loc[:-1])]
        example = next((f", such as {text}" for text in found if text), "")
    return [at + message + example for message in _messages(problem, context)]


def _declare(models: list[type[BaseModel]]) -> str:
    """Where code of the user's own, a section's law for example, says which keys it has."""
    tags = (_tag_of(model) for model in models)
    own = next((found for tag in tags if (found := CODE_FILE.fullmatch(str(tag)))), None)
    return f"; keys of your own go into a class Config inside {own['attribute']}" if own else ""


def _told(models: list[type[BaseModel]], key: str) -> str:
    """What a key of one of the sections means, its unit and an example, in brackets."""
    for model in models:
        told = meaning(model, key)
        if told.text:
            unit = f" [{told.unit}]" if told.unit not in ("", NO_UNIT) else ""
            example = f", such as {told.example}" if told.example else ""
            return f" ({told.text[0].lower()}{told.text[1:].rstrip('.')}{unit}{example})"
    return ""


def _section_with(key: str, models: list[type[BaseModel]]) -> str:
    """Where an unknown key would be known: in a section right below."""
    for model in models:
        for name, field in model.model_fields.items():
            if _any_field(_members(field.annotation), key):
                return f" (it belongs under '{name}')"
    return ""


def _messages(problem: Any, context: Mapping[str, Any]) -> list[str]:
    if problem["type"] == "too_short":
        return [f"it needs at least {context['min_length']} entry"]
    if problem["type"] == "value_error":
        return [str(text) for text in context["error"].args]
    message = str(_KINDS.get(problem["type"], problem["msg"]))
    message = message.replace("Input should", "it must")
    return [message[0].lower() + message[1:]]


def _choices(annotations: list[Any]) -> str:
    """What a missing value may be, where that is one of a few words."""
    words = [
        str(word)
        for annotation in annotations
        if typing.get_origin(annotation) is typing.Literal
        for word in typing.get_args(annotation)
    ]
    return f"; valid: {', '.join(words)}" if words else ""


def _within(path: tuple[int | str, ...], other: tuple[int | str, ...]) -> bool:
    """Whether one of two keys is the other or lies above it."""
    shorter = min(len(path), len(other))
    return path[:shorter] == other[:shorter]


def _members(annotation: Any) -> list[Any]:
    """The classes that an annotation may stand for."""
    origin = typing.get_origin(annotation)
    if origin is Annotated:
        return _members(typing.get_args(annotation)[0])
    if origin in (Union, types.UnionType):
        return [m for arg in typing.get_args(annotation) for m in _members(arg)]
    return [annotation]


def _walk(cls: type[BaseModel], loc: tuple[int | str, ...]) -> tuple[list[Any], list[int | str]]:
    """The annotations reached by a pydantic error location, and the part of it that is YAML.

    Pydantic mixes tags of unions into locations; those are not keys of the file.
    """
    here: list[Any] = [cls]
    visible: list[int | str] = []
    at_union = False
    for part in loc:
        if at_union and isinstance(part, str) and not _any_field(here, part):
            at_union = False  # the tag of a member of the union
            continue
        step: list[Any] = []
        for annotation in here:
            origin, args = typing.get_origin(annotation), typing.get_args(annotation)
            if isinstance(annotation, type) and issubclass(annotation, BaseModel):
                if part in annotation.model_fields:
                    step += _members(annotation.model_fields[str(part)].annotation)
            elif origin is tuple and isinstance(part, int) and Ellipsis not in args:
                step += _members(args[part]) if part < len(args) else []
            elif origin in (list, tuple) and isinstance(part, int):
                step += [m for arg in args if arg is not Ellipsis for m in _members(arg)]
            elif origin is dict and len(args) == 2:
                step += _members(args[1])
        if step:
            here = list(dict.fromkeys(step))
            at_union = len(here) > 1
            visible.append(part)
        elif isinstance(part, int):
            visible.append(part)
    return here, visible


def _any_field(annotations: list[Any], name: str) -> bool:
    return any(
        isinstance(a, type) and issubclass(a, BaseModel) and name in a.model_fields
        for a in annotations
    )


def _yaml_path(cls: type[BaseModel], loc: tuple[int | str, ...], kind: str) -> list[int | str]:
    """The key of the file that an error is about."""
    if kind == "extra_forbidden":
        return [*_walk(cls, loc[:-1])[1], loc[-1]]
    return _walk(cls, loc)[1]


def _models_at(cls: type[BaseModel], loc: tuple[int | str, ...]) -> list[type[BaseModel]]:
    """The sections that may stand at a place; the one that its tag names, if it has a tag."""
    models = [
        annotation
        for annotation in _walk(cls, loc)[0]
        if isinstance(annotation, type) and issubclass(annotation, BaseModel)
    ]
    tag = loc[-1] if loc else None
    return [m for m in models if _tag_of(m) == tag] or models


def _keys_at(cls: type[BaseModel], loc: tuple[int | str, ...]) -> list[str]:
    return sorted({name for model in _models_at(cls, loc) for name in model.model_fields})


def _tag_of(model: type[BaseModel]) -> object:
    """The fixed value of a model's discriminator, the field whose literal has one value."""
    for model_field in model.model_fields.values():
        values = typing.get_args(model_field.annotation)
        if typing.get_origin(model_field.annotation) is typing.Literal and len(values) == 1:
            return values[0]
    return None
