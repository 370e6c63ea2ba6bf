"""What the lab writes: result folders, configs, pages; all inside the results folder."""

from __future__ import annotations

import base64
import html
import re
from pathlib import Path

import msgspec
import numpy as np
import pytest
import zstandard
from live_samples import names_below, short_recording, snapshot

import balance
from balance.app.live import saving
from balance.app.live.export import export_html, frame_rows
from balance.app.live.layers import LAYERS
from balance.app.live.replay import Replay, result_folders
from balance.app.live.saving import (
    PAGE,
    export,
    recording_of,
    safe_child,
    save_config,
    save_run,
    without_folders,
)
from balance.app.live.surroundings import LIGHT
from balance.app.live.svg_charts import INNER, LEFT, TOP, charts
from balance.errors import FileError, InputError
from balance.recordings.notebook import headline
from balance.recordings.outputs import Output
from balance.recordings.results import load_recording
from balance.recordings.verdict import RunEnd


@pytest.fixture(scope="module")
def recording() -> balance.Recording:
    return short_recording()


def test_a_saved_run_is_a_normal_result_folder(tmp_path: Path) -> None:
    taken = snapshot()
    folder = save_run(taken, tmp_path, "mine")
    assert folder == tmp_path / "mine"
    assert {"config.yaml", "summary.json", "log.parquet", "com_momentum.png"} <= names_below(folder)
    loaded = load_recording(folder)
    assert np.array_equal(loaded.q, taken.log.q[: taken.rows])


def test_rows_that_come_while_saving_are_left_out() -> None:
    taken = snapshot()
    cut = type(taken)(taken.config, taken.log, 25, RunEnd(), 0.1, ())
    assert recording_of(cut).time.size == 25
    assert taken.log.rows == 60


def test_a_saved_config_gives_the_same_run(tmp_path: Path) -> None:
    taken = snapshot()
    path = save_config(taken, tmp_path, "mine")
    assert path.read_text().startswith("# A session of the live lab: 1 pushes.")
    again = balance.run(balance.load_config(path))
    assert np.array_equal(again.q[: taken.rows], taken.log.q[: taken.rows])
    assert save_config(taken, tmp_path, "mine") == tmp_path / "mine-2.yaml"


@pytest.mark.parametrize("name", ["../out", "a/b", "..", "/tmp/x"])
def test_nothing_is_written_outside_of_the_results(tmp_path: Path, name: str) -> None:
    results = tmp_path / "results"
    results.mkdir()
    for save in (save_run, save_config):
        with pytest.raises(FileError, match="no name for a result"):
            save(snapshot(), results, name)
    assert names_below(tmp_path) == {"results"}
    assert names_below(results) == set()


def test_an_empty_session_cannot_be_saved(tmp_path: Path) -> None:
    taken = snapshot()
    empty = type(taken)(taken.config, taken.log, 0, RunEnd(), 0.0, ())
    with pytest.raises(InputError, match="nothing has been simulated"):
        save_run(empty, tmp_path, "x")


def test_a_page_is_one_file_that_needs_nothing_else(
    recording: balance.Recording, tmp_path: Path
) -> None:
    path = export_html(recording, tmp_path / "replay.html")
    text = html.unescape(path.read_text(encoding="utf-8"))  # the player is quoted in it
    assert names_below(tmp_path) == {"replay.html"}
    assert "__VISER_EMBED_DATA__" in text
    assert not re.findall(r"<(?:script|link|img)[^>]+(?:src|href)=[\"']?https?:", text)
    assert f"<title>{headline(recording)}</title>" in text
    assert all(f'<b style="font-weight:600">{name}</b>' in text for name in LAYERS)
    no_node_is_new_after_the_beginning(text)


def no_node_is_new_after_the_beginning(text: str) -> None:
    """A player that begins anew takes back only the nodes with which the file began."""
    found = re.search(r'__VISER_EMBED_DATA__="([^"]+)"', text)
    assert found is not None
    packed = base64.b64decode(found[1])[8:]
    inner = zstandard.ZstdDecompressor().decompressobj().decompress(packed)
    size = int.from_bytes(inner[:8], "little")
    messages = msgspec.msgpack.decode(inner[8 : 8 + size])["messages"]
    made = [(time, m["name"]) for time, m in messages if "props" in m and "name" in m]
    assert len(made) > 60
    assert [name for time, name in made if time > 0.0] == []
    moved = {m["name"] for time, m in messages if time > 0.0 and m["type"] == "SetPositionMessage"}
    assert "/world/overlay/Centre of mass/ball" in moved


def test_the_charts_of_a_page_show_the_recording(recording: balance.Recording) -> None:
    time = np.array([0.0, 1.0, 2.0])
    error = np.array([[0.0, 0.0, 0.0], [5.0, np.nan, -5.0], [0.0, 5.0, 0.0]])  # mm
    text = charts(time, {"com_error": error}, ["left", "right"], recording.pushes)
    paths = re.findall(r'class="curve" d="([^"]+)"', text)
    assert len(paths) == 3
    middle = LEFT + 0.5 * INNER
    assert f"L{middle:.1f} {TOP:.1f}" in paths[0]  # the largest value is at the top
    assert paths[1].count("M") == 2  # a gap where there is no value
    assert text.count('class="push"') == len(recording.pushes)


def test_frames_of_a_page_are_evenly_spaced(recording: balance.Recording) -> None:
    rows = frame_rows(recording)
    assert rows[0] == 0
    assert set(np.diff(rows)) <= {32, 33, 34}  # rows of 1 ms; a frame of 33.3 ms


def test_what_is_exported_or_saved_stands_beside_what_is_there_or_being_made(
    recording: balance.Recording, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(saving, "export_html", lambda recording, path, *_: path.write_text("page"))
    replay = Replay(recording, tmp_path)
    for name in ("replay.html", "replay-2.html"):
        assert export(replay, PAGE, LIGHT, {}) == tmp_path / name
    with Output(tmp_path / "mine.yaml", None):  # another session saves under the same name
        assert save_config(snapshot(), tmp_path, "mine") == tmp_path / "mine-2.yaml"
    assert names_below(tmp_path) == {"replay.html", "replay-2.html", "mine-2.yaml"}


def test_an_unknown_kind_of_export_is_refused(recording: balance.Recording, tmp_path: Path) -> None:
    with pytest.raises(InputError, match="cannot be exported as 'x'"):
        export(Replay(recording, tmp_path), "x", LIGHT, {})


def test_a_replay_moves_with_the_clock_and_stays_where_it_is_put(
    recording: balance.Recording, tmp_path: Path
) -> None:
    replay = Replay(recording, tmp_path)
    replay.playing = False
    replay.seek(0.1)
    assert replay.advance() == 100
    assert replay.advance() == 100
    replay.seek(99.0)
    assert replay.row == recording.time.size - 1
    replay.playing, replay.speed = True, 1e6
    replay.advance()
    assert replay.time <= replay.duration  # it begins anew


def test_only_result_folders_are_offered_for_replay(tmp_path: Path) -> None:
    for name in ("a", ".hidden", "empty"):
        (tmp_path / name).mkdir()
    (tmp_path / "a" / "log.parquet").touch()
    (tmp_path / ".hidden" / "log.parquet").touch()
    (tmp_path / "link").symlink_to(tmp_path / "a")
    assert result_folders(tmp_path) == ["a"]
    assert result_folders(tmp_path / "none") == []


@pytest.mark.parametrize(
    "name", ["../x", "/etc/x", "a/b", "..", ".hidden", "a b", "x\0y", "a" * 61, "-x", "é"]
)
def test_names_that_could_leave_the_folder_are_refused(tmp_path: Path, name: str) -> None:
    with pytest.raises(FileError, match="no name for a result"):
        safe_child(tmp_path, name)


def test_plain_names_stay_inside_the_folder(tmp_path: Path) -> None:
    assert safe_child(tmp_path, " run_2-b ", ".yaml") == tmp_path / "run_2-b.yaml"
    assert safe_child(tmp_path, "") == tmp_path / "live"


@pytest.mark.parametrize(
    ("text", "public"),
    [
        ("cannot write /srv/a/b/x.yaml: No space left", "cannot write x.yaml: No space left"),
        ("('/etc/passwd', \"/a\")", "('passwd', \"a\")"),
        ("/srv/lab of mine/x.yaml is odd", "x.yaml is odd"),
        ("results/live.yaml and ../x/y.yaml", "results/live.yaml and ../x/y.yaml"),
        ("K_D [1/s], 3 N m/rad, 1 / 2", "K_D [1/s], 3 N m/rad, 1 / 2"),
        ("http://127.0.0.1:8080/index.html", "http://127.0.0.1:8080/index.html"),
    ],
)
def test_of_an_absolute_path_a_page_sees_the_end(text: str, public: str) -> None:
    assert without_folders(text, [Path("/srv/lab of mine")]) == public


def test_paths_below_the_working_folder_are_given_from_there_on() -> None:
    assert without_folders(f"{Path.cwd()}/results/x is full") == "results/x is full"
