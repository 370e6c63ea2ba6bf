"""The bench measures what it says, writes a table that can be read back, and compares tables."""

from __future__ import annotations

import gc
import sys
from pathlib import Path

import numpy as np
import pinocchio as pin
import pytest
from typer.testing import CliRunner

from balance.analysis.bench import plants
from balance.analysis.bench.creep import creep_figures
from balance.analysis.bench.floors import ControlFloor, PlantFloor, wrench_programs
from balance.analysis.bench.growth import tree
from balance.analysis.bench.laws import form_figures
from balance.analysis.bench.phase_forms import _experiment, guided_states
from balance.analysis.bench.profile import profile_figures
from balance.analysis.bench.report import Figure, Report, compare, load_report
from balance.analysis.bench.startup import memory_figures, startup_figures
from balance.analysis.bench.states import PushedStates
from balance.analysis.bench.timing import Timing, growth_exponent, time_calls
from balance.app.cli import app
from balance.config import load_config
from balance.control.momentum import MomentumController
from balance.errors import BalanceError, FileError, ResultError
from balance.simulation.undisturbed import no_garbage_collection

REPORT = Report(
    (
        Figure("step", 60.0, "us", 70.0),
        Figure("loop", 4.0, "x real time", 5.0, at_least=True),
        Figure("floor", 25.0, "us"),
    ),
    {"processor": "none"},
)


def test_a_figure_knows_whether_its_target_is_met() -> None:
    assert [figure.met for figure in REPORT.figures] == [True, False, None]
    assert [figure.wanted for figure in REPORT.figures] == ["<= 70", ">= 5", ""]


def test_a_written_table_reads_back_and_has_a_row_for_each_figure(tmp_path: Path) -> None:
    REPORT.write(tmp_path / "bench")
    assert load_report(tmp_path / "bench") == REPORT
    assert load_report(tmp_path / "bench" / "bench.json") == REPORT
    table = (tmp_path / "bench" / "bench.md").read_text()
    assert "| loop | 4 | x real time | >= 5 | no |" in table
    assert "processor none" in table


def test_comparison_has_the_ratio_of_figures_that_both_have() -> None:
    old = Report((Figure("step", 120.0, "us"), Figure("gone", 1.0, "us")))
    assert [(f.name, before, ratio) for f, before, ratio in compare(REPORT, old)] == [
        ("step", 120.0, 0.5)
    ]


def test_a_file_that_is_no_table_is_refused_with_one_sentence(tmp_path: Path) -> None:
    with pytest.raises(FileError, match="cannot read"):
        load_report(tmp_path / "nothing.json")
    for content in ("not json", "{}", '{"figures": [{"a": 1}], "machine": {}}'):
        (tmp_path / "bench.json").write_text(content)
        with pytest.raises(ResultError, match="not a table of 'balance bench'"):
            load_report(tmp_path)


def test_command_refuses_a_missing_table_before_it_measures(tmp_path: Path) -> None:
    done = CliRunner().invoke(app, ["bench", "--compare", str(tmp_path / "none.json")])
    assert isinstance(done.exception, BalanceError)


def test_every_call_is_timed_on_every_state_in_every_round() -> None:
    seen: list[tuple[str, int]] = []
    calls = {name: lambda i, name=name: seen.append((name, i)) for name in ("a", "b")}
    times = time_calls(calls, states=3, rounds=2)
    assert seen == 2 * [(name, state) for state in range(3) for name in ("a", "b")]
    assert set(times) == {"a", "b"}


def test_timing_takes_the_best_round_of_each_state() -> None:
    times = 1e-6 * np.array([[1.0, 9.0, 3.0], [5.0, 2.0, 30.0]])
    timing = Timing.of(times)
    assert timing.median == pytest.approx(2.0)
    assert timing.p99 == pytest.approx(3.0, rel=0.02)
    assert timing.raw_p99 > 25.0


def test_exponent_of_a_power_law_is_found() -> None:
    sizes = [12, 24, 48]
    assert growth_exponent(sizes, [3.0 * n**1.7 for n in sizes]) == pytest.approx(1.7)


@pytest.mark.parametrize(("joints", "contacts"), [(12, 2), (24, 4), (60, 2)])
def test_generated_trees_have_the_joints_and_contacts_asked_for(joints: int, contacts: int) -> None:
    robot = tree(joints, contacts)
    assert (robot.model.nv - 6, len(robot.soles)) == (joints, contacts)
    data = robot.model.createData()
    pin.framesForwardKinematics(robot.model, data, robot.q_nominal)
    for sole in robot.soles:  # every contact lies on its plane
        pose = sole.pose_on_plane(data)
        heights = sole.corners @ pose.rotation[2] + pose.translation[2]
        np.testing.assert_allclose(heights, 0.0, atol=1e-6)
    law = MomentumController(load_config("toro_push"), robot)
    v = np.zeros(robot.model.nv)
    assert np.isfinite(law.step(robot.q_nominal, v, 0.0).torques).all()
    programs = wrench_programs(law, [robot.q_nominal], [v], [0.0])
    ControlFloor(robot, programs)(0, robot.q_nominal, v)
    PlantFloor(robot)(robot.q_nominal, v)


def test_a_control_step_leaves_nothing_behind() -> None:
    """No cyclic garbage, and no memory that adds up over a thousand steps of a pushed run."""
    states = PushedStates(50)
    step = states.step_of(states.controller("momentum"))

    def blocks_after(rounds: int) -> int:
        for _ in range(rounds):
            for i in range(len(states)):
                step(i)
        return sys.getallocatedblocks()

    with no_garbage_collection():
        few = blocks_after(4)
        gc.collect()
        many = blocks_after(20)
        assert gc.collect() < 10
    assert many - few < 20


def test_parts_of_a_step_are_timed_on_their_own() -> None:
    figures = list(profile_figures(PushedStates(5), 2))
    assert len(figures) == 5 and all(figure.value > 0.0 for figure in figures)


def test_both_forms_of_the_whole_body_program_are_timed() -> None:
    plain, quaternion, ratio = form_figures(5, 2)
    assert ratio.value == pytest.approx(quaternion.value / plain.value)


def test_both_forms_answer_alike_in_a_motion_on_one_foot_and_on_two() -> None:
    """What is timed: the forms' torques at the same states, to the rounding of their programs."""
    laws = [_experiment(form)[1] for form in ("plain", "quaternion")]
    states, feet = guided_states()[::40], set()
    for stage, guidance, q, v, time in states:
        answers = []
        for law in laws:
            own = law.stages[stage].law
            own.guide(guidance)
            answers.append(own.step(q, v, time).torques)
        feet.add(len(laws[0].stages[stage].contacts))
        np.testing.assert_allclose(*answers, atol=1e-3)
    assert feet == {1, 2}


def test_steps_of_a_robot_that_lies_are_timed(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(plants, "LYING_ROBOTS", ("toro",))
    monkeypatch.setattr(plants, "LYING_S", 0.1)
    median, p99 = plants.lying_figures(1)
    assert 0.0 < median.value <= p99.value


def test_creep_compares_the_last_steps_of_a_run_with_its_first() -> None:
    growth, leak = creep_figures(0.2)
    assert growth.value > 0.0 and leak.value >= 0.0
    assert growth.name == "0.2 s of steps, last tenth over first"


def test_children_are_timed_and_weighed() -> None:
    figures = {figure.name: figure.value for figure in startup_figures(1)}
    assert figures["import balance"] >= 0.5 * figures["start of the interpreter"] > 0.0
    (memory,) = memory_figures(0.8)
    assert 20.0 < memory.value < 500.0
