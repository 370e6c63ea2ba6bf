"""Mutated files and command lines: one sentence and exit code 2, or valid; never a traceback."""

from __future__ import annotations

from pathlib import Path

import pytest
from fuzz.harness import try_mutant
from fuzz.kinds import KINDS

COUNT = 330  # every kind has its share; scripts/fuzz runs as many as one likes
PARTS = 10


@pytest.mark.parametrize("part", range(PARTS))
def test_no_mutant_gets_a_traceback_or_leaves_a_trace(part: int) -> None:
    complaints = []
    for index in range(part, COUNT, PARTS):
        verdict = try_mutant(index)
        if verdict.complaint:
            complaints.append(f"{index} {verdict.kind}: {verdict.complaint} | {verdict.message}")
    assert not complaints, "\n".join(complaints)


def test_some_mutants_of_every_kind_of_file_are_refused() -> None:
    """The mutations bite: a harness whose files are all valid would find nothing."""
    refused = {v.kind for v in map(try_mutant, range(50)) if v.code == 2}
    assert refused == set(KINDS)


def test_a_mutant_is_the_same_whenever_it_is_made(tmp_path: Path) -> None:
    first, second = try_mutant(5), try_mutant(5)
    assert first.message.split("/")[-1] == second.message.split("/")[-1]
    assert first.code == second.code
