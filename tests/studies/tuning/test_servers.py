"""Tuning studies whose trials are on a real database server, which is killed and started again."""

from __future__ import annotations

import subprocess
import sys
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import tuning_samples
from database_servers import MariaDB, PostgreSQL, Server
from tuning_samples import drive, pretend, rows_of, trials_of, tuning_of, write_study

from balance.studies.store import StudyStoppedError

TRIALS = 8
SAMPLES = Path(tuning_samples.__file__).parent
# The first run of a group waits until the other has a trial too: neither can do all of them.
GROUP = """
import sys, time
from pathlib import Path
import tuning_samples
path, folder, order = Path(sys.argv[1]), Path(sys.argv[2]), int(sys.argv[3])
pretend, here = tuning_samples.pretend, path.parent
def meeting(task):
    (here / f"{folder.name}.met").touch()
    patience = time.monotonic() + 300.0  # against hanging; a busy machine takes its time
    while len(list(here.glob("*.met"))) < 2 and time.monotonic() < patience:
        time.sleep(0.01)
    return pretend(task)
tuning_samples.pretend = meeting
tuning_samples.drive(tuning_samples.tuning_of(path), folder, order)
"""


@pytest.fixture(params=[PostgreSQL, MariaDB], ids=["postgresql", "mariadb"])
def server(request: pytest.FixtureRequest) -> Iterator[Server]:
    pytest.importorskip("psycopg2")
    pytest.importorskip("pymysql")
    kind: type[Server] = request.param
    if not kind.is_there():
        pytest.skip(f"no {kind.__name__}; on Debian scripts/test installs it")
    started = kind()
    yield started
    started.stop()


def test_two_process_groups_share_a_study(server: Server, tmp_path: Path) -> None:
    """Together they do the trials once: none twice, none lost, each of them with all its runs."""
    path = write_study(tmp_path, storage=server.url, trials=TRIALS)
    folders = [tmp_path / name for name in "ab"]
    groups = [
        subprocess.Popen(
            [sys.executable, "-c", GROUP, str(path), str(folder), str(order)],
            start_new_session=True, stderr=subprocess.PIPE, cwd=SAMPLES,
        )
        for order, folder in enumerate(folders)
    ]  # fmt: skip
    for group in groups:
        _, errors = group.communicate(timeout=900)
        assert group.returncode == 0, errors.decode()
    study = tuning_of(path)
    drive(study, folders[0], 0)  # finds all of it done
    told = study.archive.told()
    numbers = [trial.number for trial in told]
    assert len(set(numbers)) == len(numbers)
    # Each begins with the present gains, and what both had open when there were enough is ended.
    assert TRIALS <= len(numbers) <= TRIALS + 4
    # A command numbers its own trials from 0 on.
    trials = [[row["trial"] for row in rows_of(folder)] for folder in folders]
    names = [{name for name in found if name.isdigit()} for found in trials]
    assert min(map(len, names)) > 0
    assert sum(map(len, names)) == len(numbers)
    assert all(set(_runs(folder).values()) == {1} for folder in folders)


def test_a_server_that_is_killed_mid_study_costs_nothing(
    server: Server, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The command stops with a sentence; given again, it ends where it would have without."""
    calm = tuning_of(write_study(tmp_path, trials=TRIALS))
    drive(calm, tmp_path / "calm", 0)
    path = write_study(tmp_path, storage=server.url, trials=TRIALS)
    runs = 0

    def killing(task: Any) -> Any:
        nonlocal runs
        runs += 1
        if runs in (3, 8):
            server.kill()
        return pretend(task)

    monkeypatch.setattr(tuning_samples, "pretend", killing)
    for order in range(2):
        with pytest.raises(StudyStoppedError, match="the same command goes on from there"):
            drive(tuning_of(path), tmp_path / "shaken", order)
        server.restart()
    study = tuning_of(path)
    drive(study, tmp_path / "shaken", 2)
    assert trials_of(study) == trials_of(calm)
    assert _runs(tmp_path / "shaken") == _runs(tmp_path / "calm")


def _runs(*folders: Path) -> Counter[str]:
    """How often each run is in the logs of some studies."""
    return Counter(row["key"] for folder in folders for row in rows_of(folder))
