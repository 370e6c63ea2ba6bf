"""Reading YAML into frozen, strict objects, with one clear sentence for every mistake."""

from __future__ import annotations

import math
import re
import types
import typing
from collections.abc import Mapping
from pathlib import Path
from typing import Annotated, Any, TypeVar, Union

import yaml
from pydantic import BaseModel, ConfigDict, ValidationError

from balance.errors import ConfigError, FileError, known_names

MAX_FILE_BYTES = 4_000_000
MAX_INTEGER = 2**63
# Squares and products of a few numbers in this range neither overflow nor vanish.
SMALLEST, LARGEST = 1e-30, 1e30


class Strict(BaseModel):
    """Base of every configuration object: frozen, no unknown keys, no NaN or infinity."""

    model_config = ConfigDict(
        frozen=True, extra="forbid", allow_inf_nan=False, validate_default=True
    )


T = TypeVar("T", bound=BaseModel)


class _UniqueKeyLoader(yaml.SafeLoader):
    """YAML's safe loader, but a key given twice is an error instead of the last one winning."""


def _mapping(loader: _UniqueKeyLoader, node: yaml.MappingNode) -> dict[Any, Any]:
    loader.flatten_mapping(node)
    seen: dict[Any, Any] = {}
    for key_node, value_node in node.value:
        key = loader.construct_object(key_node, deep=True)
        if not isinstance(key, str | int | float | bool):
            raise yaml.constructor.ConstructorError(
                None, None, f"key {key!r} is not plain text", key_node.start_mark
            )
        if key in seen:
            raise yaml.constructor.ConstructorError(
                None, None, f"key '{key}' is given twice", key_node.start_mark
            )
        seen[key] = loader.construct_object(value_node, deep=True)
    return seen


def _no_plain_value(loader: _UniqueKeyLoader, node: yaml.Node) -> Any:
    kind = node.tag.rpartition(":")[2]
    raise yaml.constructor.ConstructorError(
        None, None, f"a value of kind '{kind}' is not allowed here", node.start_mark
    )


def _integer(loader: _UniqueKeyLoader, node: yaml.ScalarNode) -> int:
    value = int(loader.construct_yaml_int(node))
    if abs(value) >= MAX_INTEGER:
        raise yaml.constructor.ConstructorError(
            None, None, f"a whole number of {value.bit_length()} bits is too large", node.start_mark
        )
    return value


def _float(loader: _UniqueKeyLoader, node: yaml.ScalarNode) -> float:
    value = float(loader.construct_yaml_float(node))
    if math.isfinite(value) and value != 0.0 and not SMALLEST < abs(value) < LARGEST:
        raise yaml.constructor.ConstructorError(
            None,
            None,
            f"{value:g} is no physical quantity: sizes go from {SMALLEST:g} to {LARGEST:g}",
            node.start_mark,
        )
    return value


_UniqueKeyLoader.add_constructor("tag:yaml.org,2002:float", _float)
_UniqueKeyLoader.add_constructor("tag:yaml.org,2002:int", _integer)
_UniqueKeyLoader.add_constructor(yaml.resolver.BaseResolver.DEFAULT_MAPPING_TAG, _mapping)
# Only what a resolved config can hold again: numbers, text, true, false, null, lists and mappings.
for _kind in ("binary", "timestamp", "omap", "pairs", "set"):
    _UniqueKeyLoader.add_constructor(f"tag:yaml.org,2002:{_kind}", _no_plain_value)
# YAML 1.1 reads "1e-6" as text because it lacks a dot; people who write gains expect a number.
_UniqueKeyLoader.add_implicit_resolver(
    "tag:yaml.org,2002:float",
    re.compile(r"^[-+]?[0-9][0-9_]*[eE][-+]?[0-9]+$"),
    list("-+0123456789"),
)


def parse_yaml(text: str, source: str) -> Any:
    """The value of a YAML text; ``source`` names it in errors."""
    try:
        return yaml.load(text, Loader=_UniqueKeyLoader)
    except yaml.YAMLError as error:
        mark = getattr(error, "problem_mark", None)
        where = f" at line {mark.line + 1}, column {mark.column + 1}" if mark else ""
        problem = getattr(error, "problem", None) or str(error).splitlines()[0]
        raise ConfigError(f"{source}{where} is not valid YAML: {problem}") from None
    except (RecursionError, ValueError) as error:
        raise ConfigError(f"{source} cannot be read as YAML: {error}") from None


def dump_yaml(value: Mapping[str, Any]) -> str:
    """``value`` as YAML text, in its own order; lists of numbers stay on one line."""
    return yaml.safe_dump(_with_lists(value), sort_keys=False, default_flow_style=None, width=100)


def load_yaml_mapping(path: Path) -> dict[str, Any]:
    """The mapping at the top of a YAML file."""
    text = read_text(path)
    value = parse_yaml(text, str(path))
    if not isinstance(value, dict):
        kind = (
            "is empty"
            if value is None
            else f"holds {'a list' if isinstance(value, list) else repr(value)[:60]}"
        )
        raise ConfigError(f"{path} {kind}; its top level must be a mapping of keys to values")
    return {str(key): item for key, item in value.items()}


def read_text(path: Path) -> str:
    """The text of a file of sane size, or one sentence about why not."""
    try:
        if path.is_dir():
            raise FileError(f"{path} is a folder; a YAML file is needed")
        if path.stat().st_size > MAX_FILE_BYTES:
            raise FileError(f"{path} has {path.stat().st_size} bytes; at most {MAX_FILE_BYTES}")
        with path.open("rb") as file:
            content = file.read(MAX_FILE_BYTES + 1)
        if len(content) > MAX_FILE_BYTES:  # a device does not tell its size
            raise FileError(f"{path} does not end; at most {MAX_FILE_BYTES} bytes are read")
        return content.decode("utf-8-sig")
    except FileNotFoundError:
        raise FileError(f"{path} does not exist; check the path") from None
    except UnicodeDecodeError:
        raise FileError(f"{path} is not text in UTF-8") from None
    except (OSError, ValueError) as error:
        reason = getattr(error, "strerror", None) or error
        raise FileError(f"{path} cannot be read: {reason}") from None


def validate(cls: type[T], value: object, source: str) -> T:
    """``value`` as a ``cls``, or a :class:`ConfigError` about its first mistake.

    Types are taken strictly: neither "10" nor true is a number.
    """
    try:
        return cls.model_validate(_with_tuples(value), strict=True)
    except ValidationError as error:
        raise ConfigError(_sentence(cls, error, source)) from None


def _with_tuples(value: Any) -> Any:
    """``value`` with tuples for lists, which is what the frozen objects hold."""
    if isinstance(value, Mapping):
        return {key: _with_tuples(item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return tuple(_with_tuples(item) for item in value)
    return value


def _with_lists(value: Any) -> Any:
    """``value`` as YAML shows it."""
    if isinstance(value, Mapping):
        return {key: _with_lists(item) for key, item in value.items()}
    if isinstance(value, tuple):
        return [_with_lists(item) for item in value]
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


def _sentence(cls: type[BaseModel], error: ValidationError, source: str) -> str:
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
    first = problems[order[0]]
    key = ".".join(str(part) for part in paths[order[0]])
    if first["type"] == "extra_forbidden":
        valid = _keys_at(cls, first["loc"][:-1])
        sentence = f"{source}: unknown key '{key}'{known_names(str(first['loc'][-1]), valid)}"
    elif first["type"] == "missing" and isinstance(first["loc"][-1], int):
        values = _with_lists(first["input"])
        parent, _, index = key.rpartition(".")
        sentence = f"{source}: '{parent}' = {values}: value number {int(index) + 1} is missing"
    elif first["type"] == "missing":
        sentence = f"{source}: key '{key}' is missing"
    elif first["type"] == "union_tag_not_found":
        sentence = f"{source}: '{key}' needs a key {first['ctx']['discriminator']}"
    elif first["type"] == "union_tag_invalid":
        context = first["ctx"]
        tag = str(context["discriminator"]).strip("'")
        sentence = (
            f"{source}: '{key}.{tag}' = '{context['tag']}' is unknown; "
            f"valid: {context['expected_tags']}"
        )
    else:
        message = _KINDS.get(first["type"], first["msg"].removeprefix("Value error, "))
        if first["type"] == "too_short":
            message = f"it needs at least {first['ctx']['min_length']} entry"
        message = message.replace("Input should", "it must")
        message = message[0].lower() + message[1:]
        shown = repr(_with_lists(first["input"]))
        at = f"'{key}'" + (f" = {shown}" if len(shown) <= 60 else "")
        sentence = f"{source}: {at}: {message}" if key else f"{source}: {message}"
    more = len({path for path in paths if not _within(path, paths[order[0]])})
    return sentence + (f" (and {more} more problem{'s' if more > 1 else ''})" if more else "")


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


def _keys_at(cls: type[BaseModel], loc: tuple[int | str, ...]) -> list[str]:
    models = [
        annotation
        for annotation in _walk(cls, loc)[0]
        if isinstance(annotation, type) and issubclass(annotation, BaseModel)
    ]
    tag = loc[-1] if loc else None
    tagged = [m for m in models if _tag_of(m) == tag]
    return sorted({name for m in (tagged or models) for name in m.model_fields})


def _tag_of(model: type[BaseModel]) -> object:
    """The fixed value of a model's discriminator, the field whose literal has one value."""
    for model_field in model.model_fields.values():
        values = typing.get_args(model_field.annotation)
        if typing.get_origin(model_field.annotation) is typing.Literal and len(values) == 1:
            return values[0]
    return None
