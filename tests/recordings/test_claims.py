"""Claims on names: one command at a time, and nothing lost wherever that command is killed."""

from __future__ import annotations

import os
import signal
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from balance.recordings import system_calls
from balance.recordings.claims import Claim, TakenError, recover, sweep, workspace
from balance.recordings.outputs import RUN, Output, claim_free

FILES = ("summary.json", "config.yaml", "log.parquet")
# Everything by which claims and outputs change the disk; Path and shutil call these too.
CALLS = ("mkdir", "rename", "replace", "link", "unlink", "rmdir", "open", "ftruncate", "pwrite")
CALLS_IN_ALL = 200  # no command here makes as many


def write(output: Output, generation: str) -> None:
    with output.filling() as work:
        for name in FILES:
            (work / name).write_text(generation)


def save(folder: Path, generation: str, overwrite: bool = False) -> None:
    with Output(folder, RUN, overwrite) as output:
        write(output, generation)


def seen(folder: Path) -> str:
    """The generation of a result that is there and whole; empty if there is none."""
    if not folder.exists():
        return ""
    assert {path.name for path in folder.iterdir()} == set(FILES)
    found = {(folder / name).read_text() for name in FILES}
    assert len(found) == 1, "halves of two results"
    return found.pop()


def killed_at(call: int, work: Callable[[], None]) -> bool:
    """Do ``work`` in another process, which ends with SIGKILL before its ``call``-th change."""
    child = os.fork()
    if child == 0:
        left = [call]

        def deadly(change: Callable[..., Any]) -> Callable[..., Any]:
            def until_then(*arguments: Any, **options: Any) -> Any:
                left[0] -= 1
                if left[0] == 0:
                    os.kill(os.getpid(), signal.SIGKILL)
                return change(*arguments, **options)

            return until_then

        try:
            for name in CALLS:
                setattr(os, name, deadly(getattr(os, name)))
            system_calls._renameat2 = deadly(system_calls._renameat2)
            work()
            os._exit(0)
        finally:
            os._exit(1)
    _, status = os.waitpid(child, 0)
    assert os.WIFSIGNALED(status) or os.WEXITSTATUS(status) == 0, "the work itself failed"
    return os.WIFSIGNALED(status)


@pytest.fixture(params=["names can be swapped", "names cannot be swapped"])
def swaps(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> bool:
    """With Linux's renameat2, and as on a system without it."""
    swaps = request.param == "names can be swapped"
    if not swaps:
        monkeypatch.setattr(system_calls, "_system_call", lambda: None)
    return swaps


def test_wherever_an_overwrite_is_killed_the_old_or_the_new_result_is_there(
    tmp_path: Path, swaps: bool
) -> None:
    generations = set()
    for call in range(1, CALLS_IN_ALL):
        results = tmp_path / str(call)
        folder = results / "run"
        save(folder, "old")
        killed = killed_at(call, lambda folder=folder: save(folder, "new", overwrite=True))
        if swaps:
            assert seen(folder) in ("old", "new"), f"killed at change {call}"
        else:
            recover(folder)  # as whoever reads it does
        generations.add(seen(folder))
        assert seen(folder) in ("old", "new"), f"killed at change {call}"
        save(results / "another", "other")  # the next command that comes along
        assert {path.name for path in results.iterdir()} == {"run", "another"}
        if not killed:
            assert seen(folder) == "new"
            break
    else:
        pytest.fail("the command never came to its end")
    assert generations == {"old", "new"}


def test_wherever_a_first_run_is_killed_nothing_half_written_stays(
    tmp_path: Path, swaps: bool
) -> None:
    for call in range(1, CALLS_IN_ALL):
        folder = tmp_path / str(call) / "run"
        killed = killed_at(call, lambda folder=folder: save(folder, "new"))
        assert seen(folder) in ("", "new"), f"killed at change {call}"
        with claim_free(folder, RUN) as output:  # the same command again
            write(output, "again")
        hidden = [path.name for path in folder.parent.iterdir() if path.name.startswith(".")]
        assert hidden == []
        assert seen(output.path) == "again"
        if not killed:
            break
    else:
        pytest.fail("the command never came to its end")


def test_one_claim_serves_for_many_generations(tmp_path: Path, swaps: bool) -> None:
    """As ``run --watch`` writes them."""
    with Output(tmp_path / "run", RUN) as output:
        for generation in ("first", "second", "third"):
            write(output, generation)
            assert seen(tmp_path / "run") == generation
    assert [path.name for path in tmp_path.iterdir()] == ["run"]


def test_an_old_result_whose_name_was_taken_meanwhile_is_not_lost(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Killed between two renames; then somebody makes a folder of that name."""
    monkeypatch.setattr(system_calls, "_system_call", lambda: None)
    folder, work = tmp_path / "run", workspace(tmp_path / "run")
    save(folder, "old")
    work.mkdir()
    (work / "claim").touch()
    (work / "new").mkdir()
    folder.rename(work / "old")
    folder.mkdir()
    (folder / "thesis.tex").write_text("years of work")
    sweep(tmp_path)
    assert (folder / "thesis.tex").exists()
    assert seen(tmp_path / "run-2") == "old"
    assert not work.exists()


def test_a_claim_excludes_others_until_it_is_released(tmp_path: Path) -> None:
    with Claim(tmp_path / "run") as claim:
        (claim.fresh() / "precious").touch()
        with pytest.raises(TakenError, match=f"another command \\(process {os.getpid()} on "):
            Claim(tmp_path / "run")
        sweep(tmp_path)  # leaves what a living process does alone
        assert (claim.new / "precious").exists()
    Claim(tmp_path / "run").release()
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("name", ["mine", "claim"])
def test_a_folder_that_only_looks_like_a_claim_is_left_alone(tmp_path: Path, name: str) -> None:
    work = workspace(tmp_path / "run")
    work.mkdir()
    (work / name).write_text("years of work")
    sweep(tmp_path)
    with pytest.raises(TakenError, match="is no claim of this user"):
        Claim(tmp_path / "run")
    assert (work / name).read_text() == "years of work"


def test_without_locks_a_claim_is_whoever_made_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("balance.recordings.claims.try_lock", lambda file: None)
    with Claim(tmp_path / "run"):
        with pytest.raises(TakenError):
            Claim(tmp_path / "run")
        sweep(tmp_path)
        assert workspace(tmp_path / "run").exists()
    Claim(tmp_path / "run").release()
    assert list(tmp_path.iterdir()) == []
