"""Code that a YAML file names: what cannot be had is told in a sentence, and whose it is counts."""

from __future__ import annotations

import pickle
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
import yaml

import balance
from balance.config import LAWS, parse_config
from balance.config.user_code import references, said, shown_name
from balance.errors import ConfigError

LAW = """
from pydantic import BaseModel, Field

class Still:
    class Config(BaseModel):
        kp: float = Field(30.0, gt=0)
        words: str = "none"
    def __init__(self, config, robot):
        self.n = robot.model.nv - 6
    def step(self, q, v, t):
        return [0.0] * self.n

class Stepless:
    pass

class Shapeless(Still):
    Config = dict

class Broken(Still):
    def __init__(self, config, robot):
        raise ZeroDivisionError("no law today")
"""


def experiment(**controller: Any) -> dict[str, Any]:
    return {"robot": "toro", "duration_s": 0.5, "controller": controller}


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "my_laws.py").write_text(LAW)
    return tmp_path


def written(folder: Path, **controller: Any) -> Path:
    path = folder / "mine.yaml"
    path.write_text(yaml.safe_dump(experiment(**controller)))
    return path


def test_a_law_in_a_file_beside_the_config_is_found_with_its_keys(folder: Path) -> None:
    config = balance.load_config(written(folder, law="my_laws.py:Still", kp=12))
    assert config.controller.law == f"{folder}/my_laws.py:Still"
    assert config.controller.kp == 12.0  # type: ignore[attr-defined]
    assert config.controller.words == "none"  # type: ignore[attr-defined]
    changed = balance.load_config(config, {"controller.kp": 7.0})
    assert changed.controller.kp == 7.0  # type: ignore[attr-defined]


@pytest.mark.parametrize(
    ("controller", "told"),
    [
        ({"law": "nowhere.py:Still"}, ["'controller.law' = ", "nowhere.py does not exist"]),
        ({"law": "my_laws.py:Stil"}, ["has no 'Stil' (did you mean 'Still'?)"]),
        ({"law": "my_laws.py:Stepless"}, ["'Stepless' has no method 'step'", "extending.md"]),
        ({"law": "my_laws.py:Shapeless"}, ["its 'Config' must be a pydantic class"]),
        (
            {"law": "my_laws.py:Still", "kq": 1},
            ["unknown key 'controller.kq'", "gain_changes, kp"],
        ),
        ({"law": "my_laws.py:Still", "kp": -1}, ["'controller.kp' = -1", "greater than 0"]),
        ({"law": "my_laws.py:Still", "kp": "12"}, ["'controller.kp'", "a number"]),
        ({"law": "no_such_package.laws:Still"}, ["module 'no_such_package.laws'", "imported"]),
    ],
)
def test_what_cannot_be_had_is_one_sentence(
    folder: Path, controller: dict[str, Any], told: list[str]
) -> None:
    with pytest.raises(ConfigError) as caught:
        balance.load_config(written(folder, **controller))
    assert "\n" not in str(caught.value)
    for text in told:
        assert text in str(caught.value)


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("class Still(:\n", "cannot be loaded: SyntaxError in my_laws.py, line 1"),
        ("x = 1\nraise OSError('no disk')\n", "OSError in my_laws.py, line 2: no disk"),
        ("import sys\nsys.exit(3)\n", "SystemExit in my_laws.py, line 2"),
        ("import no_such_module\n", "ModuleNotFoundError in my_laws.py, line 1"),
    ],
)
def test_a_file_that_fails_is_told_with_its_line(folder: Path, text: str, told: str) -> None:
    (folder / "my_laws.py").write_text(text)
    with pytest.raises(ConfigError, match=told) as caught:
        balance.load_config(written(folder, law="my_laws.py:Still"))
    assert "\n" not in str(caught.value)


def test_a_law_that_cannot_be_made_is_told_with_its_line(folder: Path) -> None:
    config = balance.load_config(written(folder, law="my_laws.py:Broken"))
    told = r"Broken cannot be made: ZeroDivisionError in my_laws.py, line \d+: no law today"
    with pytest.raises(ConfigError, match=told):
        balance.run(config)


def test_a_file_may_import_its_neighbours(folder: Path) -> None:
    (folder / "neighbour_of_my_laws.py").write_text("STIFFNESS = 5.0\n")
    text = "from neighbour_of_my_laws import STIFFNESS\n" + LAW.replace("30.0", "STIFFNESS")
    (folder / "my_laws.py").write_text(text)
    before = list(sys.path)
    config = balance.load_config(written(folder, law="my_laws.py:Still"))
    assert config.controller.kp == 5.0  # type: ignore[attr-defined]
    assert sys.path == before


def test_another_file_is_refused_when_an_experiment_is_repeated(folder: Path) -> None:
    config = balance.load_config(written(folder, law="my_laws.py:Still"))
    tree = config.model_dump(mode="json", exclude_none=True)
    assert balance.load_config(tree, trust=True) == config
    (folder / "my_laws.py").write_text(LAW + "\n# other\n")
    with pytest.raises(ConfigError, match="is not the file that this experiment was made with"):
        balance.load_config(tree, trust=True)
    with pytest.raises(ConfigError, match="is not the file that this experiment was made with"):
        balance.run(config)  # it was read before the file changed
    assert balance.load_config(tree, {"controller": {"law": "momentum"}}).code is None


def test_the_config_of_a_result_needs_trust_where_it_names_code(folder: Path) -> None:
    path = written(folder, law="my_laws.py:Still")
    balance.load_config(path)
    (folder / "summary.json").write_text("{}")
    with pytest.raises(ConfigError, match=r"comes from a result and names code.*--trust"):
        balance.load_config(path)
    assert balance.load_config(path, trust=True).code
    assert not balance.load_config(path, {"controller.law": "momentum"}).code
    (folder / "summary.json").unlink()
    path.write_text(path.read_text() + "provenance: {balance: x}\n")
    with pytest.raises(ConfigError, match="comes from a result"):
        balance.load_config(path)


def test_what_is_read_without_code_runs_nothing_and_keeps_every_key(folder: Path) -> None:
    (folder / "my_laws.py").write_text(f"open({str(folder / 'ran')!r}, 'w')\n" + LAW)
    law = f"{folder}/my_laws.py:Still"
    push = {"type": f"{folder}/my_laws.py:P", "direction": [1.0, 0.0, 0.0], "time_s": 0.1, "x": 1}
    plant = {"engine": "their_package.engines:E", "y": [1, 2]}
    tree = {**experiment(law=law, kp=3, odd={"a": 1}), "pushes": [push], "plant": plant}
    config = parse_config(tree, "x", code=False)
    dumped = config.model_dump(mode="json")
    assert config.unread and not (folder / "ran").exists()
    assert dumped["controller"]["odd"] == {"a": 1} and dumped["pushes"][0]["x"] == 1
    assert dumped["plant"]["y"] == [1, 2]
    assert pickle.loads(pickle.dumps(config)).model_dump(mode="json") == dumped
    with pytest.raises(ConfigError, match="trust"):
        balance.run(config)
    assert not (folder / "ran").exists()


def test_configs_reach_another_process_as_they_are(folder: Path) -> None:
    config = balance.load_config(written(folder, law="my_laws.py:Still", kp=3))
    ours = balance.load_config("toro_push")
    for one in (config, ours, ours.model_copy(update={"pushes": ours.pushes * 2})):
        sent = pickle.loads(pickle.dumps(one))
        assert sent.model_dump() == one.model_dump()
        assert sent.controller == one.controller and sent.pushes == one.pushes


def test_references_are_found_wherever_a_file_may_name_one() -> None:
    tree = {
        "description": "see a.b:C",
        "controller": {"law": "a.b:C"},
        "pushes": [{"type": "force"}, {"type": "/x/p.py:P"}],
        "axes": [{"key": "controller.law", "values": ["momentum", "l.py:L"]}],
    }
    assert dict(references(tree)) == {
        "controller.law": "a.b:C", "pushes.1.type": "/x/p.py:P", "axes.0.values.1": "l.py:L",
    }  # fmt: skip


def test_results_show_the_file_without_its_folder() -> None:
    assert shown_name("/home/me/my_laws.py:Still") == "my_laws.py:Still"
    assert shown_name("momentum") == "momentum"
    line = "Loaded Still from /home/me/my_laws.py (sha256 0123456789ab)"
    assert said({"/home/me/my_laws.py:Still": "0123456789abcdef"}) == [line]


def installed(folder: Path, package: str, names: dict[str, str]) -> None:
    """A distribution as pip leaves it, as far as entry points are concerned."""
    info = folder / f"{package}-1.0.dist-info"
    info.mkdir(parents=True)
    (info / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {package}\nVersion: 1.0\n")
    lines = "".join(f"{name} = {value}\n" for name, value in names.items())
    (info / "entry_points.txt").write_text(f"[balance.laws]\n{lines}")
    (folder / f"{package}.py").write_text(LAW)


def test_an_installed_law_goes_by_its_name_and_two_of_one_name_are_refused(folder: Path) -> None:
    installed(folder, "one_pkg", {"still": "one_pkg:Still", "both": "one_pkg:Still"})
    installed(folder, "other_pkg", {"both": "other_pkg:Still", "momentum": "other_pkg:Still"})
    script = f"""
import sys
sys.path.insert(0, {str(folder)!r})
import balance
from balance.config import LAWS
assert "one_pkg" not in sys.modules
print(LAWS.names()[-2:], "one_pkg" in sys.modules)
tree = {{"robot": "toro", "duration_s": 0.5, "controller": {{"law": "still", "kp": 2}}}}
config = balance.load_config(tree)
print(config.controller.kp, list(config.code))
print(balance.load_config(tree | {{"controller": {{"law": "momentum"}}}}).code)
try:
    balance.load_config(tree | {{"controller": {{"law": "both"}}}})
except balance.errors.ConfigError as error:
    print(error)
"""
    done = subprocess.run(
        [sys.executable, "-c", script], capture_output=True, text=True, check=True
    )
    first, second, third, fourth = done.stdout.splitlines()
    assert first == "['both', 'still'] False"
    assert second == "2.0 ['still']"
    assert third == "None"  # ours come first
    assert "'one_pkg' and 'other_pkg' both declare a law of this name" in fourth
    assert "such as 'one_pkg:Still'" in fourth


def test_ours_are_found_through_the_same_registry() -> None:
    assert list(LAWS.ours)[:2] == ["capture", "hierarchical"]
    assert LAWS.find("momentum", "law").code is None


def test_an_unknown_key_of_a_users_law_says_where_to_declare_it(tmp_path: Path) -> None:
    file = tmp_path / "mine.py"
    file.write_text("class Mine:\n    def step(self, q, v, t):\n        return q[7:]\n")
    tree = {"robot": "toro", "duration_s": 1, "controller": {"law": f"{file}:Mine", "kp": 3}}
    with pytest.raises(
        ConfigError, match=r"unknown key 'controller\.kp'.*a class Config inside Mine"
    ):
        balance.load_config(tree)
