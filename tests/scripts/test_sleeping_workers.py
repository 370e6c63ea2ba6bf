"""What docs/cluster.md says of many workers."""

from __future__ import annotations

import pytest

pytest.importorskip("distributed")
from lib.sleeping_workers import predicted_s


def test_a_study_takes_its_rounds_or_what_one_process_does_for_all_runs() -> None:
    few = predicted_s(runs=240, count=8, run_s=2.0, extra_s=0.1, bottleneck_s=0.01)
    assert few == pytest.approx(30 * 2.1)
    many = predicted_s(runs=10_000, count=1000, run_s=2.0, extra_s=0.1, bottleneck_s=0.01)
    assert many == pytest.approx(100.0)  # ten rounds would take 21 s
