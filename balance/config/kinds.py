"""What a study's file is for, by its keys: asked by whoever is given the wrong kind of file."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Literal

StudyKind = Literal["sweep", "envelope", "tune", "compare"]
COMMANDS: dict[str, StudyKind] = {"parameters": "tune", "directions": "envelope", "axes": "sweep"}
"""The key by which a study's file is known, and what runs it; an envelope may have axes."""


def study_kind(tree: Mapping[str, Any]) -> StudyKind:
    """The command that runs a study."""
    for key, command in COMMANDS.items():
        if key in tree:
            return command
    return "sweep" if {"metric", "recordings"} & set(tree) else "compare"


def of_many(name: str, tree: Mapping[str, Any]) -> str:
    """The mistake of taking a study for one experiment; ``name`` is as it was given."""
    kind = study_kind(tree)
    return f"'{name}' is a study of many experiments; run it with: balance {kind} {name}"
