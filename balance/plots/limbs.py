"""Joints by limb, from their names: ``left_hip_roll``, ``leg_left_1_joint``, ``l_hip_pitch``."""

from __future__ import annotations

import re
from collections.abc import Sequence

LIMBS = ("left leg", "right leg", "left arm", "right arm", "trunk and head")
SIDES = {"left": "left", "l": "left", "right": "right", "r": "right"}
PARTS = {
    "leg": {"leg", "hip", "thigh", "knee", "shank", "ankle", "foot", "toe"},
    "arm": {"arm", "shoulder", "elbow", "forearm", "wrist", "hand", "finger", "gripper"},
    "trunk and head": {"waist", "torso", "trunk", "back", "spine", "chest", "neck", "head"},
}
CHUNK = 7  # joints in a panel if their names say nothing
_WORD = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+|\d+")


def limbs(names: Sequence[str]) -> dict[str, list[int]]:
    """Indices of the joints of each limb, in the order of :data:`LIMBS`.

    Joints that no name places follow in chunks, under the numbers of their first and last.
    """
    found: dict[str, list[int]] = {limb: [] for limb in LIMBS}
    others: list[int] = []
    for index, name in enumerate(names):
        found.get(_limb(name), others).append(index)
    for start in range(0, len(others), CHUNK):
        chunk = others[start : start + CHUNK]
        found[f"joints {chunk[0] + 1} to {chunk[-1] + 1}"] = chunk
    return {limb: indices for limb, indices in found.items() if indices}


def short_name(name: str) -> str:
    """A joint's name without its side, for use within a limb: ``hip roll``, ``leg 1``."""
    kept = [word for word in _words(name) if word not in SIDES and word != "joint"]
    return " ".join(kept) or name


def _limb(name: str) -> str:
    words = _words(name)
    side = next((SIDES[word] for word in words if word in SIDES), "")
    for part, known in PARTS.items():
        if known & set(words):
            return part if part in LIMBS else f"{side} {part}"
    return ""


def _words(name: str) -> list[str]:
    """Lower-case words of a name in snake_case or camelCase."""
    return [word.lower() for word in _WORD.findall(name)]
