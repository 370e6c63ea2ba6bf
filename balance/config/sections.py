"""The sections of an experiment whose keys depend on a name: that of a law, a push, an engine.

A class in a registry may hold a pydantic class ``Config`` with its keys.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from types import GenericAlias
from typing import Annotated, Any, Literal, Protocol, TypeVar, Union

from pydantic import BaseModel, ConfigDict, Field, SerializeAsAny, create_model

from balance.config.laws import LawConfig
from balance.config.plant import PlantConfig
from balance.config.pushes import PushConfig
from balance.config.quantity import Quantity, as_quantity
from balance.config.registry import ENGINES, LAWS, PUSHES, QUANTITIES, Registry
from balance.config.user_code import UserCode
from balance.errors import ConfigError

B = TypeVar("B", bound=BaseModel)
S = TypeVar("S", bound=LawConfig)


@dataclass(frozen=True)
class Sections:
    """The schemas of an experiment's named sections, and the user's code behind them."""

    law: type[LawConfig]
    pushes: tuple[type[PushConfig], ...]
    plant: type[PlantConfig]
    code: Mapping[str, UserCode] = field(default_factory=dict)
    problems: tuple[str, ...] = ()

    def fields(self) -> dict[str, Any]:
        """For each section its annotation and default, as pydantic takes them."""
        push: Any = PushConfig
        if len(self.pushes) == 1:
            push = self.pushes[0]
        elif self.pushes and PushConfig not in self.pushes:
            push = Annotated[Union[self.pushes], Field(discriminator="type")]  # noqa: UP007
        return {
            # A section that a program changes later is written with the keys that it then has.
            "controller": (Annotated[self.law, SerializeAsAny()], ...),
            "pushes": (GenericAlias(tuple, (Annotated[push, SerializeAsAny()], ...)), ()),
            "plant": (Annotated[self.plant, SerializeAsAny()], self.plant()),
        }

    def checked_code(self) -> dict[str, Any]:
        """The key ``code`` of the experiment."""
        if not self.code:
            return {}
        return {"code": {name: code.sha256 for name, code in self.code.items()}}


def experiment_sections(tree: Mapping[str, Any], code: bool = True) -> Sections:
    """Schemas for the law, the pushes and the engine that an experiment names.

    A section without a name is left to the general schema, which says what it lacks.  Without
    ``code`` the keys of whatever is not ours are not looked at.
    """
    found: dict[str, UserCode] = {}
    problems: list[str] = []

    def named(registry: Registry, section: object, key: str, base: type[B]) -> type[B]:
        if not isinstance(section, Mapping):
            return base
        tag = _TAGS[registry.kind]
        name = section.get(tag)
        if not isinstance(name, str):
            if name is None:
                valid = ", ".join(sorted(registry.names()))
                problems.append(f"'{key}' needs a key '{tag}'; valid: {valid}")
                return _unread(base)
            return base
        if not code and name not in registry.ours:
            return _unread(base)
        try:
            behind = registry.find(name, f"{key}.{tag}")
            schema = section_schema(behind.target, name, tag, base)
        except ConfigError as error:
            problems.append(str(error))
            return _unread(base)
        if behind.code is not None:
            found[name] = behind.code
            problems.extend(_other_file(behind.code, tree.get("code")))
        return schema

    own = tree.get("quantities")
    for name, _, file in _found_quantities(own if code and isinstance(own, list) else (), problems):
        if file is not None:
            found[name] = file
            problems.extend(_other_file(file, tree.get("code")))
    pushes, plant = tree.get("pushes"), tree.get("plant")
    items = pushes if isinstance(pushes, list | tuple) else ()
    kinds = [named(PUSHES, item, f"pushes.{i}", PushConfig) for i, item in enumerate(items)]
    # Our engines have no keys of their own, and need not be installed to read what they made.
    ours = not isinstance(plant, Mapping) or plant.get("engine", "pinocchio") in ENGINES.ours
    return Sections(
        law=named(LAWS, tree.get("controller"), "controller", LawConfig),
        pushes=tuple(dict.fromkeys(kinds)),
        plant=PlantConfig if ours else named(ENGINES, plant, "plant", PlantConfig),
        code=found,
        problems=tuple(problems),
    )


def _other_file(code: UserCode, given: object) -> Iterator[str]:
    """A complaint if ``code`` is not what the experiment says that it was made with."""
    if isinstance(given, Mapping) and given.get(code.reference, code.sha256) != code.sha256:
        yield (
            f"{code.file} is not the file that this experiment was made with (sha256 "
            f"{code.sha256[:12]}, not {str(given[code.reference])[:12]}); restore it, or remove "
            "'code' to run the new one"
        )


def own_quantities(config: HasQuantities) -> tuple[Quantity, ...]:
    """The user's own quantities that an experiment names; their code is that of its ``code``."""
    problems: list[str] = []
    found = []
    for _, one, code in _found_quantities(config.quantities, problems):
        found.append(one)
        problems.extend(() if code is None else _other_file(code, config.code))
    if problems:
        raise ConfigError(problems[0])
    return tuple(found)


def _found_quantities(
    names: Iterable[object], problems: list[str]
) -> Iterator[tuple[str, Quantity, UserCode | None]]:
    """Each name with its quantity and the user's file; what is wrong goes to ``problems``."""
    taken: dict[str, str] = {}
    for index, name in enumerate(names):
        where = f"quantities.{index}"
        if not isinstance(name, str):
            continue  # the schema says so
        if name in QUANTITIES.ours:
            problems.append(f"'{where}' = '{name}' is one of ours: every summary has it; remove it")
            continue
        taken = taken or dict.fromkeys(_our_columns(), "one of our columns")
        try:
            behind = QUANTITIES.find(name, where)
            one = as_quantity(behind.target, f"'{where}' = '{name}'", taken)
        except ConfigError as error:
            problems.append(str(error))
            continue
        taken[one.key] = f"'{name}'"
        yield name, one, behind.code


def _our_columns() -> Iterator[str]:
    """Names of the columns of a study's table."""
    yield from _STUDY_COLUMNS
    for name in QUANTITIES.ours:
        yield name
        yield from (column.name for column in QUANTITIES.find(name, "quantities").target.columns)


_STUDY_COLUMNS = (
    "key", "cell", "seed", "error", "worker", "wall_time_s", "cpu_time_s", "recovered_impulse",
    "robustness_margin", "own_quantities",
)  # fmt: skip
_TAGS = {"law": "law", "push": "type", "engine": "engine"}


def known_section(registry: Registry, name: str, base: type[B]) -> type[B]:
    """The schema of a section by the name in it."""
    tag = _TAGS[registry.kind]
    return section_schema(registry.find(name, tag).target, name, tag, base)


def law_section(controller: Mapping[str, Any]) -> type[LawConfig]:
    """The schema of the section ``controller``, by the law that it names."""
    return known_section(LAWS, controller["law"], LawConfig)


def push_config(**keys: Any) -> PushConfig:
    """A push from its keys."""
    return known_section(PUSHES, keys["type"], PushConfig)(**keys)


def section_schema(target: Any, name: str, tag: str, base: type[B]) -> type[B]:
    """The keys of ``target``'s ``Config`` and those of ``base``, of which ``tag`` has its name."""
    own = getattr(target, "Config", None)
    if own is not None and not (isinstance(own, type) and issubclass(own, BaseModel)):
        raise ConfigError(
            f"'{tag}' = '{name}': its 'Config' must be a pydantic class that declares keys"
        )
    key = (name, tag, own, base)
    if key not in _JOINED:
        _JOINED[key] = _joined(name, tag, own, base)
    joined: type[B] = _JOINED[key]
    return joined


_JOINED: dict[Any, Any] = {}


def _joined(name: str, tag: str, own: type[Any] | None, base: type[Any]) -> type[Any]:
    """``own`` and ``base`` in one class, in which the key ``tag`` has one value."""
    if own is None:
        bases: tuple[type[Any], ...] = (base,)
    else:
        bases = (own,) if issubclass(own, base) else (own, base)
    title = name.rpartition(":")[2].title().replace("_", "") + tag.title() + "Config"
    fields: dict[str, Any] = {tag: (Literal[name], ...)}
    return create_model(title, __base__=bases, **fields)


def _unread(base: type[B]) -> type[B]:
    """``base`` with whatever other keys there are, and a name that may be missing."""
    name = f"Unread{base.__name__}"
    if name not in _JOINED:
        tags: dict[str, Any] = {
            tag: (str, "") for tag in _TAGS.values() if tag in base.model_fields
        }
        allow = type(name, (base,), {"model_config": ConfigDict(extra="allow")})
        _JOINED[name] = create_model(name, __base__=allow, **tags)
    unread: type[B] = _JOINED[name]
    return unread


class HasQuantities(Protocol):
    """An experiment's config, which knows this module."""

    @property
    def quantities(self) -> tuple[str, ...]: ...

    @property
    def code(self) -> dict[str, str] | None: ...


class HasController(Protocol):
    """An experiment's config, which knows this module."""

    @property
    def controller(self) -> LawConfig: ...


def section_of(config: HasController, kind: type[S]) -> S:
    """The section ``controller`` of an experiment, whose law must have the keys of ``kind``."""
    law = config.controller
    if not isinstance(law, kind):
        lacking = sorted(set(kind.model_fields) - set(type(law).model_fields))
        raise ConfigError(
            f"controller.law = '{law.law}' has no key {' or '.join(map(repr, lacking))}, which "
            "this needs"
        )
    return law


def shared_keys(one: type[LawConfig], other: type[LawConfig]) -> set[str]:
    """Keys that two laws have from a class that they share: these mean the same in both."""
    shared: set[str] = set()
    for base in set(one.__mro__) & set(other.__mro__):
        if issubclass(base, LawConfig):
            shared |= set(base.model_fields)
    return shared
