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
from balance.config.registry import ENGINES, LAWS, PUSHES, QUANTITIES, Found, Registry
from balance.config.user_code import SHOWN_DIGITS, UserCode, is_reference, network_files
from balance.errors import ConfigError

B = TypeVar("B", bound=BaseModel)
S = TypeVar("S", bound=LawConfig)


@dataclass(frozen=True)
class Sections:
    """The schemas of an experiment's named sections, and the user's code behind them.

    Each of the ``pushes`` has its own.
    """

    law: type[LawConfig]
    pushes: tuple[type[PushConfig], ...]
    plant: type[PlantConfig]
    code: Mapping[str, UserCode] = field(default_factory=dict)
    problems: tuple[str, ...] = ()

    def fields(self) -> dict[str, Any]:
        """For each section its annotation and default, as pydantic takes them."""
        pushes: Any = GenericAlias(tuple, self.pushes or (PushConfig, ...))
        return {
            # A section that a program changes later is written with the keys that it then has.
            "controller": (Annotated[self.law, SerializeAsAny()], ...),
            "pushes": (Annotated[pushes, SerializeAsAny()], ()),
            "plant": (Annotated[self.plant, SerializeAsAny()], PlantConfig()),
        }

    def with_code(self, tree: dict[str, Any]) -> dict[str, Any]:
        """The experiment with a key ``code`` for just the code that it now names."""
        rest = {key: item for key, item in tree.items() if key != "code"}
        if not self.code:
            return rest
        return {**rest, "code": {name: code.sha256 for name, code in self.code.items()}}


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
                return _ignored(base)
            return base
        if not code and name not in registry.ours:
            return _unread(base)
        try:
            behind = registry.find(name, f"{key}.{tag}")
            schema = section_schema(behind.target, name, tag, base)
        except ConfigError as error:
            problems.append(str(error))
            # Our engines share all keys: those of one with a wrong name can be judged.
            return base if base is PlantConfig and not is_reference(name) else _ignored(base)
        if behind.code is not None:
            found[name] = behind.code
            problems.extend(_other_file(behind, tree.get("code")))
        return schema

    own = tree.get("quantities")
    for behind, _ in _found_quantities(own if code and isinstance(own, list) else (), problems):
        if behind.code is not None:
            found[behind.name] = behind.code
            problems.extend(_other_file(behind, tree.get("code")))
    for network in network_files(tree.get("controller")) if code else ():
        found[network.reference] = network
        problems.extend(_other_file(Found(network.reference, None, network), tree.get("code")))
    pushes, plant = tree.get("pushes"), tree.get("plant")
    items = pushes if isinstance(pushes, list | tuple) else ()
    kinds = [named(PUSHES, item, f"pushes.{i}", PushConfig) for i, item in enumerate(items)]
    # Our engines have no keys of their own, and need not be installed to read what they made.
    ours = not isinstance(plant, Mapping) or plant.get("engine", "pinocchio") in ENGINES.ours
    return Sections(
        law=named(LAWS, tree.get("controller"), "controller", LawConfig),
        pushes=tuple(kinds),
        plant=PlantConfig if ours else named(ENGINES, plant, "plant", PlantConfig),
        code=found,
        problems=tuple(problems),
    )


def check_code(found: Found, code: Mapping[str, str] | None) -> None:
    """Raise if what a name stands for is no longer what an experiment was read with."""
    for problem in _other_file(found, code):
        raise ConfigError(problem)


def check_network(file: str, code: Mapping[str, str] | None) -> None:
    """Raise if a network is no longer what an experiment was read with."""
    for network in network_files({"": file}):
        check_code(Found(file, None, network), code)


def _other_file(found: Found, given: object) -> Iterator[str]:
    """A complaint if code is not what the experiment says that it was made with."""
    code = found.code
    if code is None or not isinstance(given, Mapping):
        return
    if (before := given.get(found.name, code.sha256)) != code.sha256:
        yield (
            f"{code.file} is not the file that this experiment was made with (sha256 "
            f"{code.sha256[:SHOWN_DIGITS]}, not {str(before)[:SHOWN_DIGITS]}); restore it, or "
            "remove 'code' to run the new one"
        )


def own_quantities(config: HasQuantities) -> tuple[Quantity, ...]:
    """The user's own quantities that an experiment names; their code is that of its ``code``."""
    problems: list[str] = []
    found = []
    for behind, one in _found_quantities(config.quantities, problems):
        found.append(one)
        problems.extend(_other_file(behind, config.code))
    if problems:
        raise ConfigError(problems[0])
    return tuple(found)


def _found_quantities(
    names: Iterable[object], problems: list[str]
) -> Iterator[tuple[Found, Quantity]]:
    """What is behind each name, and its quantity; what is wrong goes to ``problems``."""
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
        yield behind, one


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
_KINDS: dict[str, tuple[Registry, type[Any]]] = {
    "law": (LAWS, LawConfig),
    "type": (PUSHES, PushConfig),
    "engine": (ENGINES, PlantConfig),
}
"""For each tag where its names are found, and what all their sections have."""


def known_section(registry: Registry, name: str, base: type[B]) -> type[B]:
    """The schema of a section by the name in it."""
    tag = _TAGS[registry.kind]
    return section_schema(registry.find(name, tag).target, name, tag, base)


def every_section(law: str | None = None) -> dict[str, Any]:
    """Annotations of the sections with the keys of all laws and pushes of ours, or of one law."""

    def any_of(registry: Registry, names: Iterable[str], base: type[B]) -> Any:
        kinds = tuple(known_section(registry, name, base) for name in names)
        if len(kinds) == 1:
            return kinds[0]
        tag = _TAGS[registry.kind]
        return Annotated[Union[kinds], Field(discriminator=tag)]  # noqa: UP007

    push = any_of(PUSHES, PUSHES.ours, PushConfig)
    return {
        "controller": (any_of(LAWS, LAWS.ours if law is None else (law,), LawConfig), ...),
        "pushes": (GenericAlias(tuple, (push, ...)), ()),
    }


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
    words = name.rpartition(":")[2].split("_")
    title = "".join(word[:1].upper() + word[1:] for word in (*words, tag, "config"))
    fields: dict[str, Any] = {tag: (Literal[name], ...)}
    joined = create_model(title, __base__=bases, **fields)
    return _sent_as(joined, _blank, tag, name)


def _unread(base: type[B]) -> type[B]:
    """``base`` with whatever other keys there are, and a name that may be missing."""
    if base not in _JOINED:
        _JOINED[base] = _open(base)
    unread: type[B] = _JOINED[base]
    return unread


def _ignored(base: type[B]) -> type[B]:
    """``base`` without complaints about what is missing: what is wrong was told already."""
    key = (base, "ignored")
    if key not in _JOINED:
        given = {name: item for name, item in _STAND_INS.items() if name in base.model_fields}
        fields: Any = {name: (base.model_fields[name].annotation, x) for name, x in given.items()}
        _JOINED[key] = create_model(f"Ignored{base.__name__}", __base__=_unread(base), **fields)
    ignored: type[B] = _JOINED[key]
    return ignored


_STAND_INS = {"direction": (1.0, 0.0, 0.0), "time_s": 0.0}
"""For keys that a section must have."""


def _open(base: type[Any]) -> type[Any]:
    tags: dict[str, Any] = {tag: (str, "") for tag in _TAGS.values() if tag in base.model_fields}
    name = f"Unread{base.__name__}"
    allow = type(name, (base,), {"model_config": ConfigDict(extra="allow")})
    return _sent_as(create_model(name, __base__=allow, **tags), _blank, next(iter(tags)), None)


def is_unread(section: BaseModel) -> bool:
    """Whether the code behind a section was left alone when the section was read."""
    return any(isinstance(section, _unread(base)) for _, base in _KINDS.values())


def _sent_as(cls: type[B], make: Any, *args: Any) -> type[B]:
    """``cls``, whose objects reach another process as ``make(*args)`` and their values.

    A class that is made here cannot be imported there.
    """
    cls.__reduce__ = lambda self: (make, args, self.__getstate__())  # type: ignore[method-assign]
    return cls


def _blank(tag: str, name: str | None) -> Any:
    """An object without values, of the class of a section."""
    registry, base = _KINDS[tag]
    cls = _unread(base) if name is None else known_section(registry, name, base)
    return object.__new__(cls)


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
