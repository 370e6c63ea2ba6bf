"""YAML schema of a comparison: control laws on the same experiment."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Annotated, Any

from pydantic import BeforeValidator, Field, field_validator

from balance.config.experiment import load_config
from balance.config.schema import Strict, load_yaml_mapping, validate
from balance.config.studies import (
    DirectionsConfig,
    SearchConfig,
    StudyConfig,
    find_study,
    load_study,
)

# A name is also that of a folder, and must not look like the number of a run.
Name = Annotated[str, Field(pattern=r"^[A-Za-z][\w ,.()+=-]*$", max_length=40)]


class ComparedLawConfig(Strict):
    """A law of a comparison."""

    law: str
    """Name of the law, or FILE.py:NAME for your own."""
    name: Name | None = None
    """What to call it in table and figure; the law's name if not given. Example: stiff."""
    set: dict[str, Any] = Field(default_factory=dict)
    """Dotted keys of its `controller` section."""

    @property
    def label(self) -> str:
        """Its name; the law's if it has none of its own, of one in a file that of its class."""
        return self.name or self.law.rpartition(":")[2]


def _named(value: Any) -> Any:
    return {"law": value} if isinstance(value, str) else value


class LimitsConfig(SearchConfig):
    """The search for the largest recovered push of each law.

    The push is the experiment's first one in other sizes and directions, at the start of a run that
    lasts until its verdict is settled; as a half sine if its own kind has no given impulse.
    """

    directions: DirectionsConfig = DirectionsConfig(count=4)
    """Directions in which the limit is searched."""


class CompareConfig(StudyConfig):
    """Laws on the same experiment."""

    command = "compare"

    laws: tuple[Annotated[ComparedLawConfig, BeforeValidator(_named)], ...] = ()
    """Names of laws, or mappings with `law`, `name` and `set`; all known laws if empty."""
    limits: LimitsConfig | None = LimitsConfig()
    """How the largest recovered push of each law is searched; `null` leaves it out."""

    @field_validator("laws")
    @classmethod
    def _told_apart(cls, laws: tuple[ComparedLawConfig, ...]) -> tuple[ComparedLawConfig, ...]:
        labels = [law.label for law in laws]
        for label in labels:
            if labels.count(label) > 1:
                raise ValueError(f"'{label}' is compared twice; give one of them another 'name'")
        return laws


def load_comparison(
    path: str | Path,
    overrides: Mapping[str, Any] | None = None,
    limits: bool = True,
    trust: bool = False,
) -> CompareConfig:
    """The comparison in a YAML file, or one of all laws on the experiment in it.

    The dotted ``overrides`` are keys of the file, whichever it is; without ``limits`` the search
    for recovery limits is left out.
    """
    path = find_study(path, or_experiment=True)
    if "experiment" in load_yaml_mapping(path):
        changes = dict(overrides or {})
        if not limits:
            changes = {k: v for k, v in changes.items() if k.split(".")[0] != "limits"}
            changes["limits"] = None
        return load_study(CompareConfig, path, changes, trust)
    experiment = load_config(path, overrides, trust=trust)
    # A default of the experiment's law is not one of the others: only what was set counts.  The
    # config of a result spells everything out; there, what is no default was set.
    spelled_out = experiment.provenance is not None
    tree: dict[str, Any] = {
        "experiment": experiment.model_dump(
            mode="json",
            exclude_none=True,
            exclude_unset=not spelled_out,
            exclude_defaults=spelled_out,
            exclude={"reference", "provenance"},
        )
    }
    return validate(CompareConfig, tree if limits else {**tree, "limits": None}, str(path))
