"""What is mutated: each kind puts a damaged file into a folder and says which command reads it."""

from __future__ import annotations

import json
import random
import shutil
from collections.abc import Callable
from functools import cache
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import yaml
from fuzz.mutations import NASTY_YAML, mutated_text, mutated_tree, mutated_words

import balance
from balance.config import find_config
from balance.config.paths import data_folder
from balance.recordings.results import save_recording

Make = Callable[[random.Random, Path], list[str]]


@cache
def _shipped(kind: str) -> tuple[str, ...]:
    """Texts of shipped files; studies name their experiment without its folder."""
    configs = data_folder("configs")
    files = sorted([*configs.glob("*.yaml"), *(configs / "studies").glob("*.yaml")])
    texts = []
    for file in files:
        tree = yaml.safe_load(file.read_text(encoding="utf-8"))
        if _kind_of(file.stem, tree) != kind:
            continue
        if isinstance(tree.get("experiment"), str):
            tree["experiment"] = Path(tree["experiment"]).stem
        texts.append(yaml.safe_dump(tree, sort_keys=False))
    return tuple(texts)


def _kind_of(name: str, tree: dict[str, object]) -> str:
    if "experiment" not in tree:
        return "config"
    if "parameters" in tree:
        return "tune"
    if name.startswith("compare"):
        return "compare"
    return "envelope" if "directions" in tree else "sweep"


def _mutated(text: str, rng: random.Random) -> bytes:
    return mutated_tree(text, rng).encode() if rng.random() < 0.7 else mutated_text(text, rng)


def _file(kind: str, command: str) -> Make:
    def make(rng: random.Random, folder: Path) -> list[str]:
        path = folder / f"{kind}.yaml"
        path.write_bytes(_mutated(rng.choice(_shipped(kind)), rng))
        return [command, str(path), *(["--out", str(folder / "out")] if command != "check" else [])]

    return make


def _check_robot(folder: Path) -> list[str]:
    # Robots have bodies of different names, so nothing is pushed.
    robot = f"robot={folder / 'mine.yaml'}"
    return ["check", "toro_push", "--set", "pushes=[]", "--set", robot]


def _robot(rng: random.Random, folder: Path) -> list[str]:
    robots = sorted(data_folder("robots").glob("*.yaml"))
    own = data_folder("robots") / "toro" / "robot.yaml"
    file = rng.choice([*robots, own, own])
    shutil.copy(own.with_name("toro.urdf"), folder)
    (folder / "mine.yaml").write_bytes(_mutated(file.read_text(encoding="utf-8"), rng))
    return _check_robot(folder)


def _urdf(rng: random.Random, folder: Path) -> list[str]:
    own = data_folder("robots") / "toro"
    shutil.copy(own / "robot.yaml", folder / "mine.yaml")
    text = (own / "toro.urdf").read_text(encoding="utf-8")
    (folder / "toro.urdf").write_bytes(mutated_text(text, rng))
    return _check_robot(folder)


def _line(rng: random.Random, folder: Path) -> list[str]:
    lines = (
        ["run", "toro_push", "--set", "duration_s=0.1", "--out", str(folder / "out")],
        ["check", "toro_push", "--set", "pushes.0.time_s=0.2", "--robots", str(folder)],
        ["check", "talos_push", "--set", "controller.law=ott2011"],
        ["plot", str(folder / "nothing"), "--out", str(folder / "out")],
        ["sweep", "gains", "--workers", "1", "--out", str(folder / "out"), "--overwrite"],
        ["envelope", "envelope_toro", "--no-resume", "--out", str(folder / "out")],
        ["compare", "compare_toro", "--no-limits", "--out", str(folder / "out")],
        ["tune", "tune_toro", "--set", "trials=3", "--out", str(folder / "out")],
        ["theory", "--robot", "toro", "--states", "2", "--seed", "1"],
        ["robots", "--robots", str(folder)],
        ["schema"],
        ["live", "toro_push", "--set", "plant.friction=0.5", "--port", "0", "--no-open"],
        ["replay", str(folder / "nothing"), "--html", str(folder / "page.html")],
        ["explain", "toro_push", "--set", "controller.gains.D=5", "--out", str(folder / "out")],
        ["bench", "--quick", "--compare", str(folder / "nothing"), "--out", str(folder / "out")],
    )
    return mutated_words(rng.choice(lines), rng)


@cache
def _result_files() -> dict[str, bytes]:
    """The files of a short run."""
    import tempfile

    short = {"duration_s": 0.25, "pushes": []}
    recording = balance.run(balance.load_config(find_config("toro_push"), short))
    with tempfile.TemporaryDirectory() as scratch:
        folder = save_recording(recording, Path(scratch) / "run")
        return {file.name: file.read_bytes() for file in folder.iterdir()}


def _result(rng: random.Random, folder: Path) -> list[str]:
    run = folder / "run"
    run.mkdir()
    for name, content in _result_files().items():
        (run / name).write_bytes(content)
    rng.choice((_damage_bytes, _damage_table, _damage_table, _damage_json, _damage_files))(rng, run)
    return rng.choice((["plot", str(run)], ["replay", str(run)]))


def _damage_bytes(rng: random.Random, run: Path) -> None:
    file = run / rng.choice(("log.parquet", "log.parquet", "config.yaml", "summary.json"))
    data = file.read_bytes()
    if file.suffix == ".parquet":
        data = data[: rng.randrange(len(data))] if rng.random() < 0.5 else _flipped(data, rng)
        file.write_bytes(data)
    else:
        file.write_bytes(mutated_text(data.decode(), rng))


def _flipped(data: bytes, rng: random.Random) -> bytes:
    changed = bytearray(data)
    # The footer is at the end: damage there is read first.
    low = rng.choice((0, max(0, len(data) - 400)))
    for _ in range(rng.choice((1, 5, 50))):
        changed[rng.randrange(low, len(data))] = rng.randrange(256)
    return bytes(changed)


def _damage_table(rng: random.Random, run: Path) -> None:
    table = pq.read_table(run / "log.parquet")
    at = rng.randrange(table.num_columns)
    name, rows = table.column_names[at], table.num_rows
    kind = rng.randrange(8)
    if kind == 0:
        table = table.drop_columns([name])
    elif kind == 1:
        table = table.rename_columns([n + "x" if n == name else n for n in table.column_names])
    elif kind == 2:
        table = table.set_column(at, name, pa.array(["text"] * rows))
    elif kind == 3:
        table = table.set_column(at, name, pa.array([None] * rows, pa.float64()))
    elif kind == 4:
        table = table.slice(0, rng.choice((0, 1)))
    elif kind == 5:
        table = table.set_column(at, name, pa.array([float("nan")] * rows))
    elif kind == 6:
        table = table.set_column(at, name, pa.array([[1.0]] * rows))
    else:
        table = pa.table({"foreign": [1, 2, 3]})
    if rng.random() < 0.2:
        table = table.replace_schema_metadata(
            {b"end": rng.choice((b"\xff", b"fell at x s: y", b""))}
        )
    pq.write_table(table, run / "log.parquet")


def _damage_json(rng: random.Random, run: Path) -> None:
    foreign = (
        "[]", "1", "null", "{}", "", "{", '{"outcome": 1}', '"text"', "[" * 50_000,
        json.dumps({"control_step_us": 1, "realtime_factor": "x"}),
        json.dumps({"control_step_us": {"median": None, "p99": []}, "realtime_factor": None}),
    )  # fmt: skip
    (run / "summary.json").write_text(rng.choice(foreign))


def _damage_files(rng: random.Random, run: Path) -> None:
    name = rng.choice(("log.parquet", "config.yaml", "summary.json"))
    (run / name).unlink()
    kind = rng.randrange(4)
    if kind == 1:
        (run / name).mkdir()
    elif kind == 2:
        (run / name).symlink_to(run / name)
    elif kind == 3:
        (run / name).write_text(rng.choice(NASTY_YAML[:40]))


def _study_folder(rng: random.Random, folder: Path) -> list[str]:
    """A folder in which a study is to go on, but something else is there."""
    out = folder / "out"
    out.mkdir()
    content = rng.choice(("", "{}", "[]", "1", '{"fingerprint": 1}', "{" * 9, "\0", "[" * 50_000))
    (out / "study.json").write_text(content)
    (out / "runs.log").write_bytes(rng.randbytes(rng.choice((0, 10, 1000))))
    if rng.random() < 0.2:
        (out / "study.json").unlink()
        (out / "study.json").mkdir()
    elif rng.random() < 0.2:
        (out / "study.json").write_bytes(b"\xff\xfe\xff")
    command = rng.choice((["sweep", "gains"], ["compare", "compare_toro", "--no-limits"]))
    return [*command, "--out", str(out)]


KINDS: dict[str, tuple[Make, int]] = {
    "config": (_file("config", "check"), 6),
    "robot": (_robot, 4),
    "urdf": (_urdf, 4),
    "sweep": (_file("sweep", "sweep"), 3),
    "envelope": (_file("envelope", "envelope"), 2),
    "compare": (_file("compare", "compare"), 2),
    "tune": (_file("tune", "tune"), 3),
    "command line": (_line, 4),
    "result folder": (_result, 4),
    "study folder": (_study_folder, 1),
}
"""How a mutant of each kind is made, and how many of each in 33."""
