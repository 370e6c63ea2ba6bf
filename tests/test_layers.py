"""Imports go one way, and each outside library is imported in one place only."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path

import pytest

PACKAGE = Path(__file__).parents[1] / "balance"

# A room may import those before it, and itself.
ROOMS = (
    "errors",
    "config",
    "rotations",
    "dynamics",
    "robots",
    "control",
    "simulation",
    "recordings",
    "experiment",
    "analysis",
    "studies",
    "plots",
    "app",
)
RANK = {room: rank for rank, room in enumerate(ROOMS)}

# Against the order, or in its order but not allowed.
ALLOWED = {("studies", "plots")}  # a study draws its table; plots know a study's types only
STRANGERS = {("simulation", "control")}

# Outside library: the only places that may import it.
HOMES = {
    "matplotlib": ("plots", "recordings.recording"),  # there for its type alone
    "quadprog": ("control.qp",),
    "daqp": ("control.qp",),
    "proxsuite": ("control.qp",),
    "piqp": ("control.qp",),
    "numba": ("dynamics.compiled",),
    "onnxruntime": ("control.parts.network",),
    "gymnasium": ("app.gym",),
    "mujoco": ("simulation.plants",),
    "imageio_ffmpeg": ("simulation.plants",),
    "viser": ("app.live",),
    "trimesh": ("app.live",),
    "optuna": ("studies",),
    "distributed": ("studies",),
    "yaml": ("config.yaml_reader", "recordings"),
    "pyarrow": ("recordings", "studies"),
    "typer": ("app.cli",),
    "rich": ("app", "analysis.theory", "studies"),
    "example_robot_data": ("robots",),
    "robot_descriptions": ("robots",),
    "mcap": ("recordings.export",),
    "rerun": ("recordings.export",),
    "pandas": ("recordings",),
}


def modules() -> Iterator[tuple[str, Path]]:
    """Dotted name below the package, and file, of every module."""
    for path in sorted(PACKAGE.rglob("*.py")):
        parts = path.relative_to(PACKAGE).with_suffix("").parts
        if parts != ("__init__",) and "_data" not in parts:
            yield ".".join(parts), path


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
                yield from (
                    f"balance.{alias.name}" for alias in node.names if alias.name != "__version__"
                )


MODULES = list(modules())
NAMES = [str(path.relative_to(PACKAGE)) for _, path in MODULES]


def rooms_imported(path: Path) -> set[str]:
    return {name.split(".")[1] for name in imports(path) if name.startswith("balance.")}


def test_the_package_has_thirteen_rooms() -> None:
    assert {module.split(".")[0] for module, _ in MODULES} == set(ROOMS)
    assert sorted(p.stem for p in PACKAGE.glob("*.py")) == ["__init__", "errors", "experiment"]


@pytest.mark.parametrize(("module", "path"), MODULES, ids=NAMES)
def test_a_room_imports_only_those_above_it(module: str, path: Path) -> None:
    room = module.split(".")[0]
    for other in rooms_imported(path):
        allowed = RANK[other] <= RANK[room] or (room, other) in ALLOWED
        assert allowed, f"'{room}' must not import '{other}'"
        assert (room, other) not in STRANGERS, f"'{room}' must not know '{other}'"


@pytest.mark.parametrize(("module", "path"), MODULES, ids=NAMES)
def test_outside_libraries_stay_in_their_rooms(module: str, path: Path) -> None:
    for name in imports(path):
        homes = HOMES.get(name.split(".")[0])
        at_home = homes is None or any(f"{module}.".startswith(f"{home}.") for home in homes)
        assert at_home, f"'{name}' is imported in '{module}'"


def test_the_reader_of_imports_sees_every_form(tmp_path: Path) -> None:
    """A checker that finds nothing would let everything pass."""
    file = tmp_path / "sample.py"
    file.write_text(
        "import balance.simulation.plants as p\nfrom balance import app\n"
        "def f():\n    from balance.control.qp import QPStatus\n    import matplotlib.pyplot\n"
    )
    assert rooms_imported(file) == {"simulation", "app", "control"}
    assert "matplotlib.pyplot" in set(imports(file))
