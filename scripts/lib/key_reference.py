"""The keys of our YAML files as the schema has them, with examples from the files that ship."""

from __future__ import annotations

import typing
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

import yaml
from lib.key_types import models_in, range_words, type_words
from pydantic import BaseModel
from pydantic_core import PydanticUndefined

from balance.app.cli.check import kind_of, models
from balance.config import load_config
from balance.config.compare import load_comparison
from balance.config.experiment import full_schema
from balance.config.meanings import NO_UNIT, meaning, owner
from balance.config.paths import data_folder
from balance.config.schema import dump_yaml, load_yaml_mapping, validate
from balance.config.studies import load_study
from balance.robots import RobotFile, robot_files

MOST_LINES = 14  # of the example of a section
LONGEST = 44  # characters of the example of a key
REQUIRED, NOT_GIVEN, ITS_DEFAULTS = "required", "–", "its defaults"
SHARED = {
    "LawConfig": "`controller`, every law",
    "BalancingLawConfig": "`controller`, every law of this package",
    "WrenchLawConfig": "`controller`, laws that share out a wrench",
    "PushConfig": "`pushes`, every push",
    "StudyConfig": "Every study",
    "SearchConfig": "Searches for a limit",
    "AggregateConfig": "`objectives` and `bounds`",
}
"""Classes whose keys several sections share, and what to call them."""

Model = type[BaseModel]


@dataclass(frozen=True)
class Key:
    """A key: a row of the reference."""

    name: str
    type: str
    unit: str
    default: str
    range: str
    meaning: str
    example: str


@dataclass(frozen=True)
class Section:
    """A class of the schema, and where in a file it stands."""

    model: Model
    path: str

    @property
    def shared(self) -> tuple[Model, ...]:
        """The classes whose keys it shares with other sections, the most general first."""
        return tuple(c for c in reversed(self.model.__mro__[1:]) if c.__name__ in SHARED)

    @property
    def own(self) -> list[str]:
        """Its keys without those that it shares."""
        fields = self.model.model_fields
        return [key for key in fields if owner(self.model, key) not in self.shared]

    @property
    def tag(self) -> tuple[str, str]:
        """The key that tells it from others at its place, and the one value of it."""
        for tag in ("law", "type"):
            field = self.model.model_fields.get(tag)
            words = typing.get_args(field.annotation) if field is not None else ()
            if len(words) == 1:
                return tag, str(words[0])
        return "", ""

    @property
    def title(self) -> str:
        """Its heading: where it stands, and the tag."""
        if self.model.__name__ in SHARED:
            return SHARED[self.model.__name__]
        place = f"`{self.path}`" if self.path else "The file"
        return f"{place}, {self.tag[0]} `{self.tag[1]}`" if self.tag[0] else place

    @property
    def text(self) -> str:
        """What its class says."""
        doc = next((vars(c)["__doc__"] for c in self.model.__mro__ if vars(c).get("__doc__")), "")
        return "\n".join(line.strip() for line in doc.strip().splitlines()).replace("``", "`")


def schema_of(kind: str) -> Model:
    """The schema of a kind of file, with all laws and pushes of ours."""
    return full_schema() if kind == "experiment" else models()[kind]  # type: ignore[index]


def sections(model: Model) -> Iterator[Section]:
    """The sections of a file, each once and after those whose keys it shares."""
    paths = _shortest_paths(model)
    seen: set[Model] = set()

    def walk(here: Model) -> Iterator[Section]:
        if here in seen:
            return
        seen.add(here)
        found = Section(here, paths[here])
        if here is model:
            yield found
        for base in found.shared:
            yield from walk(base)
        if here is not model:
            yield found
        for field in here.model_fields.values():
            for below in models_in(field.annotation):
                yield from walk(below)

    yield from walk(model)


def _shortest_paths(model: Model) -> dict[Model, str]:
    """For each section the place nearest to the top at which it may stand."""
    paths, queue = {model: ""}, [model]
    for here in queue:
        for base in Section(here, "").shared:
            paths.setdefault(base, paths[here])
        for key, field in here.model_fields.items():
            for below in models_in(field.annotation):
                if below not in paths:
                    paths[below] = f"{paths[here]}.{key}".removeprefix(".")
                    queue.append(below)
    return paths


def keys(section: Section, examples: Examples) -> list[Key]:
    """The rows of a section, as its class has them."""
    rows = []
    for name in section.own:
        field = section.model.model_fields[name]
        told = meaning(section.model, name)
        default = _default(field.get_default(call_default_factory=True))
        place = (owner(section.model, name).__qualname__, name)
        example = told.example or examples.values.get(place, "")
        rows.append(
            Key(
                name=name,
                type=type_words(field.rebuild_annotation()),
                unit="" if told.unit == NO_UNIT else told.unit,
                default=default,
                range=range_words(field),
                meaning=told.text,
                example="" if example == default else example,
            )
        )
    return rows


def _default(value: Any) -> str:
    if value is PydanticUndefined:
        return REQUIRED
    if value is None:
        return NOT_GIVEN
    if isinstance(value, BaseModel):
        return one_line(value) if value.model_fields_set else ITS_DEFAULTS
    return one_line(value)


def one_line(value: Any) -> str:
    """A value in one line of YAML."""
    text = yaml.safe_dump(_plain(value), default_flow_style=True, sort_keys=False, width=10**6)
    return text.removesuffix("\n").removesuffix("\n...")


def _plain(value: Any) -> Any:
    if isinstance(value, BaseModel):
        return value.model_dump(mode="json", exclude_unset=True)
    if isinstance(value, Mapping):
        return {key: _plain(item) for key, item in value.items()}
    return [_plain(item) for item in value] if isinstance(value, list | tuple) else value


class Examples:
    """What shipped files say: for each key a short value, for each section the fullest one."""

    def __init__(self) -> None:
        self.values: dict[tuple[str, str], str] = {}
        self.sections: dict[str, str] = {}
        for model in _shipped():
            self._gather(model)

    def _gather(self, value: Any) -> None:
        if isinstance(value, BaseModel):
            self._add(value)
        elif isinstance(value, Mapping):
            for item in value.values():
                self._gather(item)
        elif isinstance(value, list | tuple):
            for item in value:
                self._gather(item)

    def _add(self, value: BaseModel) -> None:
        text = dump_yaml(value.model_dump(mode="json", exclude_unset=True)).rstrip()
        kept = self.sections.get(type(value).__name__, "")
        if len(kept.splitlines()) < len(text.splitlines()) <= MOST_LINES:
            self.sections[type(value).__name__] = text
        for key in sorted(value.model_fields_set & set(type(value).model_fields)):
            item = getattr(value, key)
            text = one_line(item)
            if len(text) <= LONGEST and text not in ("null", "[]", "{}"):
                self.values.setdefault((owner(type(value), key).__qualname__, key), text)
            self._gather(item)


def _shipped() -> Iterator[BaseModel]:
    """Every experiment, study and robot that ships."""
    folder, kinds = data_folder("configs"), models()
    for path in sorted(folder.glob("*.yaml")):
        yield load_config(path)
    for path in sorted((folder / "studies").glob("*.yaml")):
        kind = kind_of(load_yaml_mapping(path))
        if kind == "compare":
            yield load_comparison(path)
        else:
            yield load_study(kinds[kind], path)  # type: ignore[type-var]
    for path in robot_files().values():
        yield validate(RobotFile, load_yaml_mapping(path), str(path))
