"""Fits of meshes, kept on disk: fitting takes a second or two for a robot, reading them back none.

A file is named by a hash of the mesh's content, so it never is out of date.  What cannot be read
is fitted anew; what cannot be written is not kept.
"""

from __future__ import annotations

import hashlib
import json
import os
import tempfile
from contextlib import suppress
from pathlib import Path
from typing import Any

import numpy as np
import pinocchio as pin

from balance.errors import RobotError
from balance.robots.shapes import mesh_fit
from balance.robots.shapes.mesh_fit import Fit, fit_mesh, read_points
from balance.robots.shapes.solids import Vector3

VERSION = 2  # of the fits; a change of mesh_fit.py that gives others needs another


def cache_folder() -> Path:
    """Where fits are kept, by the rules of the XDG base directories."""
    base = os.environ.get("XDG_CACHE_HOME", "")
    folder = Path(base) if os.path.isabs(base) else Path(os.path.expanduser("~")) / ".cache"
    return folder / "pin-balance" / "fits"


def fitted(file: Path, scale: Vector3) -> Fit:
    """The shape that stands for a mesh file, from the cache if it is there."""
    kept = cache_folder() / f"{_key(file, scale)}.json"
    with suppress(OSError, ValueError, KeyError, TypeError):
        return _decoded(json.loads(kept.read_text(encoding="utf-8")))
    fit = fit_mesh(read_points(file, scale), str(file))
    write_whole(kept, json.dumps(_encoded(fit)))
    return fit


def _key(file: Path, scale: Vector3) -> str:
    try:
        content = file.read_bytes()
    except OSError as error:
        reason = error.strerror or error
        raise RobotError(f"the mesh {file} cannot be read: {reason}; {mesh_fit.REMEDY}") from None
    settings = (
        VERSION,
        mesh_fit.DIRECTIONS,
        mesh_fit.HULL_TOLERANCE_M,
        mesh_fit.STICKING_OUT_M,
        file.suffix.lower(),
        scale,
    )
    return hashlib.sha256(repr(settings).encode() + content).hexdigest()


def _encoded(fit: Fit) -> dict[str, Any]:
    """A fit as JSON, whose numbers are exact."""
    return {
        "kind": fit.kind,
        "size": fit.size,
        "rotation": fit.placement.rotation.tolist(),
        "translation": fit.placement.translation.tolist(),
        "points": None if fit.points is None else fit.points.tolist(),
    }


def _decoded(tree: dict[str, Any]) -> Fit:
    """The fit of JSON; a ValueError, KeyError or TypeError if it is none."""
    kind = tree["kind"]
    numbers = {"box": 3, "sphere": 1, "cylinder": 2, "capsule": 2, "hull": 0}[kind]
    size = tuple(float(value) for value in tree["size"])
    placement = pin.SE3(
        np.array(tree["rotation"], dtype=float).reshape(3, 3),
        np.array(tree["translation"], dtype=float).reshape(3),
    )
    points = None
    if kind == "hull":
        points = np.array(tree["points"], dtype=float).reshape(-1, 3)
    if len(size) != numbers or not np.isfinite(placement.homogeneous).all():
        raise ValueError(f"not a {kind}: {size}")
    return Fit(kind, size, placement, points)


def write_whole(path: Path, text: str) -> None:
    """Write a file that others see whole or not at all; do without it if that cannot be."""
    with suppress(OSError):
        path.parent.mkdir(parents=True, exist_ok=True)
        handle, part = tempfile.mkstemp(dir=path.parent, prefix=".part-")
        try:
            with os.fdopen(handle, "w", encoding="utf-8") as file:
                file.write(text)
            os.replace(part, path)
        except OSError:
            os.unlink(part)
