"""Files of a run's figures."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import matplotlib
import pytest

from balance.plots import draw_run
from balance.plots.com_momentum import com_momentum_figure
from balance.plots.contacts import contacts_figure
from balance.plots.style import save
from balance.recordings.recording import Recording

NAMES = ("com_momentum", "contacts", "torques")


@pytest.fixture(scope="module")
def drawn(pushed: Recording, tmp_path_factory: pytest.TempPathFactory) -> list[Path]:
    return draw_run(pushed, tmp_path_factory.mktemp("run") / "new folder", pdf=True)


def test_a_run_is_drawn_as_three_png_files_and_pdf_files_on_request(drawn: list[Path]) -> None:
    assert {path.name for path in drawn} == {f"{n}.{end}" for n in NAMES for end in ("png", "pdf")}
    for path in drawn:
        head = path.read_bytes()[:24]
        if path.suffix == ".pdf":
            assert head.startswith(b"%PDF")
        else:
            assert head.startswith(b"\x89PNG\r\n\x1a\n")
            assert int.from_bytes(head[16:20]) == 1000


def test_equal_recordings_give_equal_bytes_whatever_the_users_style(
    pushed: Recording, drawn: list[Path], tmp_path: Path
) -> None:
    with matplotlib.rc_context({"font.size": 20.0, "axes.grid": False, "savefig.dpi": 50}):
        again = save(com_momentum_figure(pushed), tmp_path, "com_momentum")
        again += save(contacts_figure(pushed), tmp_path, "contacts", pdf=True)
        assert matplotlib.rcParams["font.size"] == 20.0
    first = {path.name: path.read_bytes() for path in drawn}
    for path in again:
        assert path.read_bytes() == first[path.name], path.name
    assert not any(b"Date" in content or b"tEXt" in content for content in first.values())


def test_a_recording_without_rows_is_drawn(empty: Recording, tmp_path: Path) -> None:
    paths = draw_run(empty, tmp_path)
    assert [path.name for path in paths] == [f"{name}.png" for name in NAMES]
    figure = com_momentum_figure(empty)
    assert figure.get_suptitle().endswith("nothing recorded")
    assert figure.axes[0].get_xlim() == (0.0, empty.config.duration_s)


def test_names_in_a_users_files_are_not_taken_for_formulas(
    pushed: Recording, tmp_path: Path
) -> None:
    assert pushed.config.reference is not None
    reference = pushed.config.reference.model_copy(update={"name": "$odd_{name$"})
    config = pushed.config.model_copy(update={"reference": reference})
    robot = replace(pushed.robot, name="$\\nonsense$")
    save(com_momentum_figure(replace(pushed, config=config, robot=robot)), tmp_path, "figure")
