"""What two runs say of each other: repeated, mirrored, with half the step, in the other engine."""

from __future__ import annotations

import copy
from collections.abc import Iterator, Mapping
from dataclasses import fields

import numpy as np
from campaign.draw import Drawn, Tree
from campaign.trial import Run, run

from balance.recordings.signals import Signals

MIRRORED_M = 1e-3  # by which the CoM of a mirrored run may differ, as long as both stand
SCALES = (0.98, 1.02, 0.95, 1.05, 0.9, 1.1, 0.8, 1.25, 0.5, 2.0)
"""Sizes of all pushes, near ones first, that are tried to find how far the next limit is."""


def differences(first: Run, second: Run) -> Iterator[str]:
    """Signals in which a repeated run is not the same to the last bit."""
    if first.recording is None or second.recording is None:
        if first.refusal != second.refusal:
            yield f"repeated: {first.refusal or 'ran'}, then {second.refusal or 'ran'}"
        return
    for field in fields(Signals):
        one, other = (getattr(of.recording, field.name) for of in (first, second))
        if one is not None and not np.array_equal(one, other, equal_nan=one.dtype.kind == "f"):
            yield f"repeated: {field.name} differs"


SYMMETRIC = ("toro",)
"""Robots whose left and right are the same to the last digit."""


def mirrored(drawn: Drawn) -> Drawn | None:
    """The experiment in a mirror; None if the robot, or chance in it, has no mirror image."""
    tree = drawn.tree
    random = "sensors" in tree or "dropped_share" in tree.get("actuators", {})
    if tree["robot"] not in SYMMETRIC or random or "phases" in tree:
        return None
    tree = copy.deepcopy(tree)
    for push in tree["pushes"]:
        if push.get("axes") == "body" or "left" in push["body"] or "right" in push["body"]:
            return None
        push["direction"][1] *= -1.0
        push["point_m"][1] *= -1.0
    for move in tree["controller"].get("setpoints", []):
        move["com_m"][1] *= -1.0
    _mirror_stance(tree.get("stance", {}))
    _mirror_ground(tree.get("ground", {}))
    mismatch = tree.get("mismatch", {})
    for place in (mismatch.get("com_offset_m"), mismatch.get("payload", {}).get("point_m")):
        if place is not None:
            place[1] *= -1.0
    for fault in tree.get("faults", []):
        for key in ("joint", "surface"):
            if key in fault:
                if fault[key].endswith("yaw"):
                    return None
                fault[key] = _other_side(fault[key])
    return Drawn(tree, drawn.size, drawn.mass)


def _other_side(name: str) -> str:
    if name.startswith("left"):
        return name.replace("left", "right", 1)
    return name.replace("right", "left", 1)


def _mirror_stance(stance: Tree) -> None:
    if "moved_m" in stance:
        stance["moved_m"] = {_other_side(k): [x, -y] for k, (x, y) in stance["moved_m"].items()}
    if "com_offset_m" in stance:
        stance["com_offset_m"][1] *= -1.0


def _mirror_ground(ground: Tree) -> None:
    if "tilt_deg" in ground:
        ground["tilt_deg"][0] *= -1.0
    if "heights_m" in ground:
        ground["heights_m"] = {_other_side(k): h for k, h in ground["heights_m"].items()}
    for move in ground.get("motion", []):
        move["tilt_deg"][0] *= -1.0
        move["translation_m"][1] *= -1.0


def mirror_faults(one: Run, image: Run) -> Iterator[str]:
    """Where a mirrored run is no mirror image: the outcome, and where the CoM was."""
    if one.recording is None or image.recording is None:
        if one.outcome != image.outcome:
            yield f"mirrored: {one.refusal or 'ran'}, {image.refusal or 'ran'}"
        return
    if one.outcome != image.outcome:
        yield f"mirrored: {one.outcome}, in the mirror {image.outcome}"
    elif one.outcome != "fell":
        apart = one.recording.com_error - image.recording.com_error * [1.0, -1.0, 1.0]
        most = float(np.abs(apart).max())
        if most > MIRRORED_M:
            yield f"mirrored: the CoM is {1e3 * most:.3g} mm from its image"


def distance(drawn: Drawn, here: Mapping[str, str]) -> tuple[float | None, str]:
    """How much larger or smaller pushes must be for one of the runs to end otherwise.

    ``here`` are the outcomes by engine; the size that changes one and what it becomes.
    """
    for scale in SCALES:
        for engine, outcome in here.items():
            there = run(drawn.scaled(scale), engine).outcome
            if there != outcome:
                return scale, f"{engine} {outcome}, with {scale:g} of the push {there}"
    return None, "no size tried changes an outcome"
