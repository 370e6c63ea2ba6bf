"""Fits of meshes: they hold them, hardly stick out, and are kept on disk."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pinocchio as pin
import pytest
from scipy.spatial import ConvexHull

from balance.errors import RobotError
from balance.robots import load_robot
from balance.robots.shapes import fit_cache
from balance.robots.shapes.fit_cache import cache_folder, fitted
from balance.robots.shapes.mesh_fit import HULL_TOLERANCE_M, STICKING_OUT_M, fit_mesh, read_points
from balance.robots.shapes.shape import shape_of
from balance.robots.shapes.solids import read_solids

SCALE = (1.0, 1.0, 1.0)
NEAR_M = 1.5e-3  # of a size to the true one: the faces of a capsule's mesh are no cylinder's
BETWEEN_M = 6e-4  # what may be missed between the directions that are compared

TURN = pin.SE3(pin.exp3(np.array([0.4, -1.1, 0.7])), np.array([0.3, -0.2, 0.1]))


def circle(number: int) -> np.ndarray:
    angles = 2.0 * np.pi * np.arange(number) / number
    return np.column_stack([np.cos(angles), np.sin(angles)])


def prism(radius: float, half: float, sides: int = 40) -> np.ndarray:
    """Corners of a cylinder as meshes have it."""
    ring = radius * circle(sides)
    return np.concatenate([np.column_stack([ring, np.full(sides, z)]) for z in (-half, half)])


def globe(radius: float) -> np.ndarray:
    latitudes = np.linspace(-0.5 * np.pi, 0.5 * np.pi, 21)
    return np.concatenate(
        [
            radius * np.column_stack([np.cos(a) * circle(40), np.full(40, np.sin(a))])
            for a in latitudes
        ]
    )


def stadium(radius: float, half: float) -> np.ndarray:
    points = globe(radius)
    return points + np.sign(points[:, 2:]) * [0.0, 0.0, half]


def box(*half: float) -> np.ndarray:
    return np.array([[x, y, z] for x in (-1, 1) for y in (-1, 1) for z in (-1, 1)]) * half


@pytest.mark.parametrize(
    ("points", "kind", "size"),
    [
        (box(0.05, 0.1, 0.2), "box", (0.05, 0.1, 0.2)),
        (prism(0.05, 0.15), "cylinder", (0.05, 0.15)),
        (globe(0.07), "sphere", (0.07,)),
        (stadium(0.06, 0.12), "capsule", (0.06, 0.12)),
    ],
)
def test_a_mesh_of_something_simple_is_found_to_be_that(
    points: np.ndarray, kind: str, size: tuple[float, ...]
) -> None:
    """Wherever it is and however turned; a polygon's corners are on the round one's rim."""
    fit = fit_mesh(points @ TURN.rotation.T + TURN.translation, "sample")
    assert fit.kind == kind
    np.testing.assert_allclose(sorted(fit.size), sorted(size), atol=NEAR_M)
    np.testing.assert_allclose(fit.placement.translation, TURN.translation, atol=NEAR_M)


def test_something_bent_becomes_a_hull_that_is_as_large() -> None:
    rng = np.random.default_rng(1)
    points = rng.standard_normal((500, 3)) * [0.02, 0.05, 0.1]
    fit = fit_mesh(points, "cloud")
    assert fit.kind == "hull"
    assert fit.points is not None
    assert ConvexHull(fit.points).volume > 0.95 * ConvexHull(points).volume


def test_fits_hold_their_meshes_and_hardly_stick_out() -> None:
    """All of iCub's, in random directions, which are not those that the fit was made with."""
    robot = load_robot("icub")
    rng = np.random.default_rng(0)
    directions = rng.standard_normal((3000, 3))
    directions /= np.linalg.norm(directions, axis=1)[:, None]
    kinds = set()
    for solid in read_solids(robot.urdf, robot.package_dirs, "collision"):
        assert solid.file is not None
        points = read_points(solid.file, solid.scale)
        fit = fitted(solid.file, solid.scale)
        shape = shape_of(fit.kind, fit.size, fit.placement, fit.points)
        local = directions @ fit.placement.rotation
        reach = np.array([shape.reach(d) for d in local]) + directions @ fit.placement.translation
        excess = reach - (directions @ points.T).max(axis=1)
        short = HULL_TOLERANCE_M + BETWEEN_M if fit.kind == "hull" else 1e-9
        assert excess.min() > -short
        assert excess.max() < (1e-9 if fit.kind == "hull" else STICKING_OUT_M + BETWEEN_M)
        kinds.add(fit.kind)
    assert kinds == {"hull", "cylinder", "box"}


def write_stl(path: Path, points: np.ndarray) -> Path:
    """The hull of some points as a text file."""
    facets = "".join(
        "facet normal 0 0 0\nouter loop\n"
        + "".join("vertex {} {} {}\n".format(*points[corner]) for corner in triangle)
        + "endloop\nendfacet\n"
        for triangle in ConvexHull(points).simplices
    )
    path.write_text(f"solid sample\n{facets}endsolid sample\n")
    return path


@pytest.fixture
def cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    return cache_folder()


def test_a_fit_is_read_back_bit_for_bit_without_the_mesh(
    tmp_path: Path, cache: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    rng = np.random.default_rng(3)
    mesh = write_stl(tmp_path / "cloud.stl", 0.1 * rng.standard_normal((80, 3)))
    first = fitted(mesh, SCALE)
    assert len(list(cache.glob("*.json"))) == 1

    def refuse(*_: object) -> None:
        raise AssertionError("the mesh was read again")

    monkeypatch.setattr(fit_cache, "read_points", refuse)
    second = fitted(mesh, SCALE)
    assert first.points is not None
    assert np.array_equal(first.points, second.points)
    with pytest.raises(AssertionError):
        fitted(mesh, (2.0, 1.0, 1.0))  # of another scale it is another shape


@pytest.mark.parametrize("damage", ["", "{", "[]", '{"kind": "egg"}', "cut"])
def test_a_damaged_fit_is_made_anew(tmp_path: Path, cache: Path, damage: str) -> None:
    mesh = write_stl(tmp_path / "box.stl", box(0.1, 0.2, 0.3))
    first = fitted(mesh, SCALE)
    (kept,) = cache.glob("*.json")
    whole = kept.read_text()
    tree = json.loads(whole)
    kept.write_text(json.dumps(tree | {"size": [0.1]}) if damage == "cut" else damage)
    assert fitted(mesh, SCALE).size == first.size
    assert kept.read_text() == whole
    assert list(cache.glob(".part*")) == []


def test_without_a_folder_for_it_nothing_is_kept(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "cache").write_text("a file is in the way")
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    mesh = write_stl(tmp_path / "box.stl", box(0.1, 0.2, 0.3))
    assert fitted(mesh, SCALE).kind == "box"


@pytest.mark.parametrize(
    ("content", "said"),
    [
        ("nonsense", "cannot be read: Failed to determine STL storage"),
        ("", "cannot be read: File is empty"),
        ("solid s\nfacet normal 0 0 1\nouter loop\nvertex 0 0 0\nvertex 1 0 0\nvertex 0 1 0\n"
         "endloop\nendfacet\nfacet normal 0 0 1\nouter loop\nvertex 1 1 0\nvertex 1 0 0\n"
         "vertex 0 1 0\nendloop\nendfacet\nendsolid s\n", "is flat"),
    ],
    ids=["not a mesh", "empty", "flat"],
)  # fmt: skip
def test_a_mesh_that_is_no_body_is_named(
    tmp_path: Path, cache: Path, content: str, said: str
) -> None:
    mesh = tmp_path / "odd.stl"
    mesh.write_text(content)
    with pytest.raises(RobotError) as error:
        fitted(mesh, SCALE)
    assert f"the mesh {mesh} {said}" in str(error.value)
    assert "\n" not in str(error.value)
