"""Reading YAML as its writer meant it, and never more of it than a config can need.

YAML 1.1 reads ``010`` as 8, ``1:30`` as 90, ``off`` as false and ``1.5e3`` as text.  Here a number
is decimal, ``true`` and ``false`` alone are truth values, keys are the text that is written, and
what could mean two things is refused.
"""

from __future__ import annotations

import math
import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import yaml

from balance.errors import ConfigError, FileError, listed

MAX_FILE_BYTES = 4_000_000
MAX_VALUES = 200_000
"""Largest number of values in a file, each counted as often as aliases repeat it."""
MAX_DEPTH = 50
"""Deepest nesting of lists and mappings."""
MAX_INTEGER = 2**63
# Squares and products of a few numbers in this range neither overflow nor vanish.
SMALLEST, LARGEST = 1e-30, 1e30

_TAG = "tag:yaml.org,2002:"
_DIGITS = r"[0-9](?:_?[0-9])*"
# Kind, how it is written, and the characters that it may begin with.
_PLAIN = (
    ("bool", re.compile(r"(?:true|True|TRUE|false|False|FALSE)\Z"), "tTfF"),
    ("null", re.compile(r"(?:~|null|Null|NULL|)\Z"), "~nN\0"),
    ("merge", re.compile(r"<<\Z"), "<"),
    ("int", re.compile(rf"[-+]?(?:{_DIGITS}|0x[0-9a-fA-F]+|0b[01]+)\Z"), "-+0123456789"),
    (
        "float",
        re.compile(
            rf"(?:[-+]?(?:{_DIGITS}\.?(?:{_DIGITS})?|\.{_DIGITS})(?:[eE][-+]?[0-9]+)?"
            r"|[-+]?\.(?:inf|Inf|INF)|\.(?:nan|NaN|NAN))\Z"
        ),
        "-+0123456789.",
    ),
    ("clock", re.compile(r"[-+]?[0-9][0-9_]*(?::[0-5]?[0-9])+(?:\.[0-9_]*)?\Z"), "-+0123456789"),
    (
        "timestamp",
        re.compile(r"[0-9]{4}-[0-9]{1,2}-[0-9]{1,2}(?:[Tt ].*)?\Z"),
        "0123456789",
    ),
)


class _Refused(yaml.MarkedYAMLError):
    """Valid YAML that is no config; ``problem`` is the rest of a sentence about the place."""

    def __init__(self, problem: str, mark: yaml.Mark | None) -> None:
        super().__init__(None, None, problem, mark)


class _Loader(yaml.SafeLoader):
    """YAML's safe loader, with plain values as above, unique keys and bounded aliases.

    What is wrong with a value is gathered in ``problems``, so that all of it can be told at once.
    """

    def __init__(self, text: str) -> None:
        super().__init__(text)
        self.problems: list[_Refused] = []
        self._extent: dict[yaml.Node, tuple[int, int]] = {}
        self._depth = self._count = 0

    def compose_node(self, parent: Any, index: Any) -> Any:
        """A node; aliases share theirs, so that this costs no more than the file is long."""
        event = self.peek_event()
        mark = event.start_mark
        self._depth += 1
        if self._depth > MAX_DEPTH:
            raise _Refused(f"lists and mappings are nested more than {MAX_DEPTH} deep", mark)
        node = super().compose_node(parent, index)
        assert node is not None  # that is for the end of a document
        self._depth -= 1
        if node not in self._extent:
            if isinstance(event, yaml.AliasEvent):
                raise _Refused("an alias is recursive: it stands inside of what it names", mark)
            self._extent[node] = self._measure(node, mark)
        size, depth = self._extent[node]
        if size > MAX_VALUES:
            raise _Refused(f"with its aliases this stands for more than {MAX_VALUES} values", mark)
        if depth > MAX_DEPTH:
            raise _Refused(f"its aliases are nested more than {MAX_DEPTH} deep", mark)
        return node

    def _measure(self, node: Any, mark: yaml.Mark) -> tuple[int, int]:
        """How many values a new node stands for once its aliases are filled in, and how deep."""
        self._count += 1
        if self._count > MAX_VALUES:
            raise _Refused(f"the file holds more than {MAX_VALUES} values", mark)
        inner = node.value if isinstance(node, yaml.CollectionNode) else []
        if isinstance(node, yaml.MappingNode):
            inner = [part for pair in inner for part in pair]
        extents = [self._extent[part] for part in inner]
        return 1 + sum(n for n, _ in extents), 1 + max((d for _, d in extents), default=0)

    def refuse(self, problem: str, node: yaml.Node) -> None:
        """Note a problem; the value counts as absent until all of them are told."""
        self.problems.append(_Refused(problem, node.start_mark))


def _key(loader: _Loader, node: yaml.Node) -> str:
    """A key is the text that is written, whatever it would be as a value."""
    if not isinstance(node, yaml.ScalarNode):
        raise _Refused("a list or mapping as a key is not plain text", node.start_mark)
    return str(node.value)


def _mapping(loader: _Loader, node: yaml.Node) -> dict[str, Any]:
    """The keys of a mapping; those merged by ``<<`` stand below its own, as defaults."""
    if not isinstance(node, yaml.MappingNode):
        raise _Refused("this is no mapping of keys to values", node.start_mark)
    own: dict[str, Any] = {}
    merged: dict[str, Any] = {}
    for key_node, value_node in node.value:
        if key_node.tag == f"{_TAG}merge":
            for name, value in _merged(loader, value_node).items():
                merged.setdefault(name, value)
            continue
        key = _key(loader, key_node)
        if key in own:
            loader.refuse(f"key '{key}' is given twice", key_node)
        own[key] = loader.construct_object(value_node, deep=True)
    return merged | own


def _merged(loader: _Loader, node: yaml.Node) -> dict[str, Any]:
    value = loader.construct_object(node, deep=True)
    found: dict[str, Any] = {}
    for one in value if isinstance(value, list) else [value]:
        if not isinstance(one, Mapping):
            loader.refuse("'<<' takes a mapping or a list of them; quote it if text is meant", node)
            return {}
        found = {**one, **found}  # the first of several has the last word
    return found


def _integer(loader: _Loader, node: yaml.ScalarNode) -> int | None:
    text = str(node.value)
    digits = text.lstrip("+-").replace("_", "")
    if len(digits) > 1 and digits.isdigit() and digits[0] == "0":
        plain = digits.lstrip("0") or "0"
        loader.refuse(
            f"'{text}' begins with a zero, which makes it octal for some readers; write {plain}, "
            "or quote it if text is meant",
            node,
        )
        return None
    value = int(text.replace("_", ""), 0)
    if abs(value) >= MAX_INTEGER:
        loader.refuse(f"a whole number of {value.bit_length()} bits is too large", node)
        return None
    return value


def _truth(loader: _Loader, node: yaml.ScalarNode) -> bool | None:
    text = str(node.value).lower()
    if text not in ("true", "false"):
        loader.refuse(f"'{node.value}' is neither true nor false", node)
    return text == "true"


def _float(loader: _Loader, node: yaml.ScalarNode) -> float | None:
    value = float(loader.construct_yaml_float(node))
    if math.isfinite(value) and value != 0.0 and not SMALLEST < abs(value) < LARGEST:
        loader.refuse(
            f"{value:g} is no physical quantity: sizes go from {SMALLEST:g} to {LARGEST:g}", node
        )
        return None
    return value


def _clock(loader: _Loader, node: yaml.ScalarNode) -> None:
    loader.refuse(
        f"'{node.value}' looks like a time in sixties; write seconds as a plain number, or quote "
        "it if text is meant",
        node,
    )


def _other(loader: _Loader, node: yaml.Node) -> None:
    kind = node.tag.rpartition(":")[2]
    shown = f"'{node.value}' is" if isinstance(node, yaml.ScalarNode) else "this is"
    advice = "; quote it if text is meant" if kind == "timestamp" else ""
    loader.refuse(f"{shown} a value of kind '{kind}', which is not allowed here{advice}", node)


class _Dumper(yaml.SafeDumper):
    """YAML's safe dumper, which quotes whatever text the reader above would not read as text."""


_Loader.yaml_implicit_resolvers = {}  # none of YAML 1.1
_Dumper.yaml_implicit_resolvers = {
    first: list(found) for first, found in yaml.SafeDumper.yaml_implicit_resolvers.items()
}
for _kind, _pattern, _first in _PLAIN:
    for _class in (_Loader, _Dumper):
        _class.add_implicit_resolver(_TAG + _kind, _pattern, [c.replace("\0", "") for c in _first])
for _kind, _constructor in (
    ("map", _mapping),
    ("bool", _truth),
    ("int", _integer),
    ("float", _float),
    ("clock", _clock),
    # Only what a resolved config can hold again: numbers, text, true, false, null, lists, mappings.
    *((kind, _other) for kind in ("binary", "timestamp", "omap", "pairs", "set", "merge")),
):
    _Loader.add_constructor(_TAG + _kind, _constructor)


def parse_yaml(text: str, source: str) -> Any:
    """The value of a YAML text; ``source`` names it in errors."""
    try:
        loader = _Loader(text)
        value = loader.get_single_data()
    except yaml.YAMLError as error:
        raise ConfigError(f"{source}{_place(error)}{_problem(error)}") from None
    except (RecursionError, ValueError) as error:
        raise ConfigError(f"{source} cannot be read as YAML: {error}") from None
    if loader.problems:
        told = [f"{_place(one).strip()}{_problem(one)}" for one in loader.problems]
        raise ConfigError(listed(source, told, between=" "))
    return value


def _place(error: yaml.YAMLError) -> str:
    mark = getattr(error, "problem_mark", None)
    return f" at line {mark.line + 1}, column {mark.column + 1}" if mark else ""


def _problem(error: yaml.YAMLError) -> str:
    problem = getattr(error, "problem", None) or str(error).splitlines()[0]
    if isinstance(error, _Refused):
        return f": {problem}"
    advice = "; indent with spaces, not tabs" if r"'\t'" in problem else ""
    return f" is not valid YAML: {problem}{advice}"


def dump_yaml(value: Mapping[str, Any]) -> str:
    """``value`` as YAML text, in its own order; lists of numbers stay on one line."""
    return yaml.dump(
        with_lists(value), Dumper=_Dumper, sort_keys=False, default_flow_style=None, width=100
    )


def with_lists(value: Any) -> Any:
    """``value`` as YAML shows it."""
    if isinstance(value, Mapping):
        return {key: with_lists(item) for key, item in value.items()}
    if isinstance(value, tuple):
        return [with_lists(item) for item in value]
    return value


def load_yaml_mapping(path: Path) -> dict[str, Any]:
    """The mapping at the top of a YAML file."""
    value = parse_yaml(read_text(path), str(path))
    if not isinstance(value, dict):
        kind = (
            "is empty"
            if value is None
            else f"holds {'a list' if isinstance(value, list) else repr(value)[:60]}"
        )
        raise ConfigError(f"{path} {kind}; its top level must be a mapping of keys to values")
    return value


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
