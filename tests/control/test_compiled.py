"""Compiled functions and the same ones as they stand: one source, the same answers."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import balance
from balance.dynamics import compiled

CASES = ("momentum", "whole_body_qp", "whole_body_qp, quaternion", "hierarchical", "capture")
ANSWERS = """
import json, sys
import numpy as np
from law_samples import law, moved, on_contacts
from balance.dynamics.compiled import COMPILED
from balance.robots import load_robot
robot, found = load_robot("toro"), {}
for case in json.loads(sys.argv[1]):
    controller, rng = law(case, robot), np.random.default_rng(130)
    outputs = []
    for size in (0.003, 0.003, 0.02, 0.05):
        q, v = moved(robot, size, rng)
        output = controller.step(q, on_contacts(robot, q, v), 0.0)
        outputs.append([int(output.status), output.torques.tolist(), output.wrenches.tolist()])
    found[case] = outputs
print(json.dumps({"compiled": COMPILED, "answers": found}))
"""
RUNS = """
import hashlib, json, sys
import balance
from balance.dynamics.compiled import COMPILED
found = {}
for name in json.loads(sys.argv[1]):
    recording = balance.run(name, overrides={"duration_s": 1.0, "reference": None})
    states = recording.q.tobytes() + recording.v.tobytes() + recording.torques.tobytes()
    found[name] = hashlib.sha256(states).hexdigest()
print(json.dumps({"compiled": COMPILED, "answers": found}))
"""
SAME = 1e-7  # of the largest torque or wrench; 1e-10 where no limit is active


def answers(switch: str, code: str = ANSWERS, cases: Sequence[str] = CASES) -> dict[str, Any]:
    """What a process of its own answers, with the switch in this position."""
    environment = {**os.environ, compiled.SWITCH: switch}
    environment["PYTHONPATH"] = os.pathsep.join(path for path in sys.path if path)
    command = [sys.executable, "-c", code, json.dumps(cases)]
    done = subprocess.run(command, capture_output=True, text=True, check=True, env=environment)
    answer: dict[str, Any] = json.loads(done.stdout)
    return answer


def test_laws_answer_the_same_compiled_or_not() -> None:
    pytest.importorskip("numba")
    fast, plain = answers("1"), answers("0")
    assert fast["compiled"] and not plain["compiled"]
    for case in CASES:
        for one, other in zip(fast["answers"][case], plain["answers"][case], strict=True):
            assert one[0] == other[0]
            tolerance = SAME if other[0] else 1e-10
            for actual, expected in zip(one[1:], other[1:], strict=True):
                size = np.abs(expected).max()
                np.testing.assert_allclose(actual, expected, rtol=0, atol=tolerance * size)


def test_runs_of_wrench_laws_are_the_same_to_the_last_bit_compiled_or_not() -> None:
    """A push in which feet slip, a foot on points, and hands on a table; plant and law."""
    pytest.importorskip("numba")
    names = ("toro_push", "toro_points", "toro_table")
    fast, plain = (answers(switch, RUNS, names) for switch in ("1", "0"))
    assert fast["compiled"] and not plain["compiled"]
    assert fast["answers"] == plain["answers"]


def test_an_edit_of_any_source_leads_to_another_cache(monkeypatch: pytest.MonkeyPatch) -> None:
    pytest.importorskip("numba")
    before = compiled._stamp()
    assert compiled._stamp() == before
    edited, read = Path(balance.__file__).parent / "control" / "parts" / "tasks.py", Path.read_bytes

    def with_a_line_more(path: Path) -> bytes:
        return read(path) + (b"#" if path == edited else b"")

    monkeypatch.setattr(Path, "read_bytes", with_a_line_more)
    assert compiled._stamp() != before


def test_a_home_that_cannot_be_written_to_is_no_obstacle(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    pytest.importorskip("numba")
    file = tmp_path / "file"
    file.touch()
    monkeypatch.setenv("NUMBA_CACHE_DIR", str(file))  # no folder can be made below a file
    monkeypatch.setenv("HOME", str(file))
    monkeypatch.setattr(compiled.tempfile, "gettempdir", lambda: str(tmp_path))
    compiled.cache_folder.cache_clear()
    try:
        folder = compiled.cache_folder()
        assert folder is not None and folder.is_relative_to(tmp_path)
    finally:
        compiled.cache_folder.cache_clear()
