"""Imports go one way, and each outside library is imported in one place only."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path

import pytest

PACKAGE = Path(__file__).parents[1] / "balance"

# A layer may import the layers before it, and itself.
LAYERS = (
    ("errors",),
    ("paths", "schema", "disk_arrays", "rotations", "urdf_files"),
    ("dynamics",),
    ("contacts", "contact_points", "robot_model"),
    ("robots",),
    ("config",),
    ("qp", "stance", "joint_values", "size"),
    ("ground",),
    ("mismatch",),
    ("controllers", "plants", "pushes", "estimation"),
    # A recording judges itself: Recording.summary().
    ("recording", "metrics", "demand", "falls", "limiting"),
    ("perception", "dropout"),  # sensors of a plant, an estimate, and a law
    ("experiment",),
    ("results",),
    ("linear",),
    ("theory", "studies", "plots", "bench"),
    ("live", "terminal"),
    ("cli",),
)
RANK = {room: rank for rank, rooms in enumerate(LAYERS) for room in rooms}

# Rooms of one rank that must not know each other.
STRANGERS = (
    ("plants", "controllers"),
    ("estimation", "controllers"),
    ("estimation", "plants"),
    ("pushes", "controllers"),
    ("qp", "stance"),
    ("contacts", "robot_model"),
    ("schema", "rotations"),
)

# Outside library: the only rooms that may import it.
HOMES = {
    "matplotlib": {"plots"},
    "quadprog": {"qp"},
    "daqp": {"qp"},
    "proxsuite": {"qp"},
    "piqp": {"qp"},
    "mujoco": {"plants"},
    "imageio_ffmpeg": {"plants"},
    "viser": {"live"},
    "trimesh": {"live"},
    "optuna": {"studies"},
    "distributed": {"studies"},
    "yaml": {"schema", "results"},
    "pyarrow": {"results", "studies"},
    "typer": {"cli"},
    "rich": {"terminal", "theory", "studies", "cli", "live"},
    "example_robot_data": {"robots"},
}


def modules() -> Iterator[tuple[str, Path]]:
    """Room (first name below the package) and file of every module."""
    for path in sorted(PACKAGE.rglob("*.py")):
        parts = path.relative_to(PACKAGE).with_suffix("").parts
        if parts != ("__init__",) and "_data" not in parts:
            yield parts[0], path


def imports(path: Path) -> Iterator[str]:
    """Dotted names of the modules that a file imports, also inside of functions."""
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0, f"{path}: relative import"
            module = node.module or ""
            yield module
            if module == "balance":
                yield from (f"balance.{alias.name}" for alias in node.names)


MODULES = list(modules())
NAMES = [str(path.relative_to(PACKAGE)) for _, path in MODULES]


def rooms_imported(path: Path) -> set[str]:
    return {name.split(".")[1] for name in imports(path) if name.startswith("balance.")}


def test_every_room_has_its_layer() -> None:
    assert {room for room, _ in MODULES} - set(RANK) == set()


@pytest.mark.parametrize(("room", "path"), MODULES, ids=NAMES)
def test_imports_go_from_upper_layers_to_lower_ones(room: str, path: Path) -> None:
    for other in rooms_imported(path):
        assert other in RANK, f"imports balance.{other}, which has no layer"
        assert RANK[other] <= RANK[room], f"'{room}' must not import '{other}'"
        for pair in STRANGERS:
            assert not (room != other and {room, other} == set(pair)), f"{room} imports {other}"


@pytest.mark.parametrize(("room", "path"), MODULES, ids=NAMES)
def test_outside_libraries_stay_in_their_rooms(room: str, path: Path) -> None:
    for name in imports(path):
        library = name.split(".")[0]
        assert room in HOMES.get(library, {room}), f"'{library}' is imported in '{room}'"


def test_the_reader_of_imports_sees_every_form(tmp_path: Path) -> None:
    """A checker that finds nothing would let everything pass."""
    file = tmp_path / "sample.py"
    file.write_text(
        "import balance.plants as p\nfrom balance import cli\n"
        "def f():\n    from balance.qp.problem import QPStatus\n    import matplotlib.pyplot\n"
    )
    assert rooms_imported(file) == {"plants", "cli", "qp"}
    assert "matplotlib.pyplot" in set(imports(file))
