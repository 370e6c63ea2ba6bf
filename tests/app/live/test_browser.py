"""The page in a real browser: headless Chromium, drawing in software."""

from __future__ import annotations

import re
import signal
import socket
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
from browser_pages import (
    CHROMIUM,
    FLAGS,
    NO_PICTURES,
    PATIENCE_S,
    colours,
    open_page,
    sync_api,
    until,
)

import balance
from balance.recordings.results import load_recording


class Command:
    """``balance live`` in a process of its own."""

    def __init__(self, *arguments: str) -> None:
        with socket.socket() as probe:
            probe.bind(("127.0.0.1", 0))
            self.port = probe.getsockname()[1]
        command = [sys.executable, "-m", "balance.app.cli", *arguments, "--port", str(self.port)]
        self.process = subprocess.Popen(
            command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True
        )
        assert self.process.stdout is not None
        self.greeting = self.process.stdout.readline()
        assert f"http://127.0.0.1:{self.port}" in self.greeting, self.greeting

    def stop(self) -> int:
        if self.process.poll() is None:
            self.process.send_signal(signal.SIGINT)
        return self.process.wait(PATIENCE_S)

    def port_is_free(self) -> bool:
        with socket.socket() as probe:
            probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            return probe.connect_ex(("127.0.0.1", self.port)) != 0


def test_the_lab_in_a_real_browser(tmp_path: Path) -> None:
    """One session from the first page to the last, for a browser takes long to start."""
    with sync_api.sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=CHROMIUM, args=FLAGS)
        lab = Command("live", "toro_push", "--out", str(tmp_path))
        try:
            page = open_page(browser, lab.port, drawn=True)
            page.get_by_role("button", name="Push", exact=True).wait_for()
            the_page_loads_and_the_canvas_is_not_empty(page)
            a_click_on_a_link_chooses_the_body(page)
            page.evaluate(NO_PICTURES)
            a_push_by_button_moves_the_robot_and_it_recovers(page)
            the_whole_robot_is_between_the_panels(page)
            a_fall_says_why_and_offers_to_begin_anew(page)
            a_slider_changes_the_gain_in_use(page)
            a_second_page_watches_without_controls(browser, lab)
            what_is_saved_repeats_the_session(page, tmp_path)
            closing_the_page_stops_nothing(browser, lab, page)
            closing_the_command_frees_the_port(lab)
        finally:
            lab.stop()
        a_result_folder_is_replayed_with_a_time_slider(browser, tmp_path)
        browser.close()


def figure(page: Any, label: str) -> str:
    """The value below a label in the status window."""
    cell = page.get_by_text(label, exact=True).locator("xpath=following-sibling::div")
    return str(cell.inner_text())


def press(page: Any, name: str) -> None:
    page.get_by_role("button", name=name, exact=True).click()


def row(page: Any, label: str) -> Any:
    """The line of the panel with this label."""
    return page.get_by_text(label, exact=True).locator("xpath=ancestor::*[.//input][1]")


def set_number(page: Any, label: str, value: str) -> None:
    field = row(page, label).locator("input").last
    field.fill(value)
    field.press("Enter")


def time_of(page: Any) -> float:
    return float(figure(page, "time").split()[0])


def reset(page: Any) -> None:
    """Begin anew, and see it: the figure for the time falls."""
    before = time_of(page)
    press(page, "Reset")
    until(lambda: time_of(page) < before)


def open_tab(page: Any, name: str) -> None:
    page.get_by_role("tab", name=name, exact=True).click()


def chart_peak(page: Any, title: str) -> float:
    """The largest value that a chart shows, whatever its sign."""
    return float(
        page.evaluate(
            """title => {
              for (const {chart} of Object.values(window.__viserTestpoints.uplots)) {
                if (chart.root.querySelector(".u-title").textContent !== title) continue;
                return Math.max(...chart.data.slice(2).flatMap(s => [...s].map(Math.abs)));
              }
              return -1;
            }""",
            title,
        )
    )


def the_page_loads_and_the_canvas_is_not_empty(page: Any) -> None:
    assert "balance live" in page.inner_text("body")
    until(lambda: colours(page) > 50)


def body(page: Any) -> str:
    return str(row(page, "Body").locator("input").first.input_value())


def a_click_on_a_link_chooses_the_body(page: Any) -> None:
    assert body(page) == "hip"
    scene = page.locator("canvas").first.bounding_box()
    until(lambda: page.mouse.click(*trunk_in(scene)) or body(page) == "trunk")
    open_tab(page, "World")  # and back: the choice belongs to the lab, not to the tab
    open_tab(page, "Push")
    assert body(page) == "trunk"


def trunk_in(scene: Any) -> tuple[float, float]:
    """Where the first camera sees the trunk: in the middle, a third from the top."""
    return scene["x"] + 0.5 * scene["width"], scene["y"] + 0.34 * scene["height"]


def a_push_by_button_moves_the_robot_and_it_recovers(page: Any) -> None:
    reset(page)
    assert figure(page, "last push") == "none"
    before = chart_peak(page, "CoM error [mm]")
    press(page, "The experiment's push")
    until(lambda: "N s" in figure(page, "last push"))
    until(lambda: chart_peak(page, "CoM error [mm]") > before + 10.0)  # mm
    started = time_of(page)
    until(lambda: time_of(page) > started + 1.5)
    assert page.get_by_role("dialog").count() == 0


def farthest_from_the_middle(page: Any) -> float:
    """Of all links of the robot: 1 at the edge of the picture."""
    spots = page.evaluate(
        """() => {
          const {nodeRefFromName, camera} = window.__viserMutable;
          return Object.entries(nodeRefFromName)
            .filter(([name, node]) => node && name.startsWith("/world/robot/"))
            .map(([name, node]) => node.getWorldPosition(node.position.clone()).project(camera))
            .map(place => [place.x, place.y]);
        }"""
    )
    assert len(spots) > 20
    return float(np.abs(spots).max())


def the_whole_robot_is_between_the_panels(page: Any) -> None:
    """In a window even smaller than 1024 x 700: shoulders and soles are inside the picture."""
    assert farthest_from_the_middle(page) < 1.0
    canvas = page.locator("canvas[data-engine]").bounding_box()
    for panel in page.get_by_role("tab", name=re.compile("^(Run|Push)$")).all():
        box = panel.bounding_box()
        beside = box["x"] + box["width"] <= canvas["x"] or box["x"] >= canvas["x"] + canvas["width"]
        assert beside


def a_fall_says_why_and_offers_to_begin_anew(page: Any) -> None:
    set_number(page, "Impulse [N s]", "60")  # half as much again as ankles can catch
    until(lambda: "150 % of the ankle limit" in page.inner_text("body"))
    until(lambda: "% of what any law could recover without a step" in page.inner_text("body"))
    press(page, "Push")
    page.get_by_text("The robot fell", exact=True).wait_for()
    why = re.compile(r"The robot fell at .* s: .*Reset begins anew")
    page.get_by_role("alert").filter(has_text=why).wait_for()
    assert page.get_by_role("dialog").count() == 0  # nothing lies on top of the robot
    until(lambda: figure(page, "real time") == "paused")
    until(lambda: max(map(abs, seen_at(page, "/Centre of mass/ball"))) < 0.5)
    until(lambda: farthest_from_the_middle(page) < 1.0)  # all of it, wider than it stood
    press(page, "Begin anew")
    page.get_by_text("The robot fell", exact=True).wait_for(state="hidden")
    until(lambda: tilt(page, "/Sole rectangles/sole 0") < 0.05)
    until(lambda: figure(page, "last push") == "none")
    set_number(page, "Impulse [N s]", "12")


def seen_at(page: Any, layer: str) -> list[float]:
    """Where in the picture a node of a layer is, from -1 to 1 on both axes."""
    found = page.evaluate(
        """layer => {
          const {nodeRefFromName, camera} = window.__viserMutable;
          const node = nodeRefFromName["/world/overlay" + layer];
          const place = node.getWorldPosition(node.position.clone()).project(camera);
          return [place.x, place.y];
        }""",
        layer,
    )
    return [float(value) for value in found]


def tilt(page: Any, layer: str) -> float:
    """Of a node of a layer, from 0 (upright or level) to 1."""
    found = page.evaluate(
        """layer => {
          const node = window.__viserMutable.nodeRefFromName["/world/overlay" + layer];
          return Math.hypot(node.quaternion.x, node.quaternion.y);
        }""",
        layer,
    )
    return float(found)


def a_slider_changes_the_gain_in_use(page: Any) -> None:
    assert figure(page, "gain changes") == "0"
    open_tab(page, "Law")
    damping = page.get_by_text("CoM, damping ratio").locator("xpath=ancestor::*[.//input][1]")
    field = damping.locator("input").nth(1)
    field.fill("0.8")
    field.press("Enter")
    until(lambda: figure(page, "gain changes") != "0")


def a_second_page_watches_without_controls(browser: Any, lab: Command) -> None:
    second = open_page(browser, lab.port)
    second.get_by_text("You are watching.").wait_for()
    assert second.get_by_role("button", name="Push", exact=True).count() == 0
    second.close()


def what_is_saved_repeats_the_session(page: Any, results: Path) -> None:
    open_tab(page, "Keep")
    name = row(page, "Name").locator("input")
    name.fill("../mine")
    press(page, "Save config")
    page.get_by_text("is no name for a result").first.wait_for()
    assert list(results.iterdir()) == []
    name.fill("mine")
    reset(page)  # a short session is soon repeated
    open_tab(page, "Push")
    press(page, "Push")
    until(lambda: "12.0 N s" in figure(page, "last push"))
    pushed = time_of(page)
    until(lambda: time_of(page) > pushed + 0.2)
    press(page, "Pause")
    until(lambda: figure(page, "real time") == "paused")
    open_tab(page, "Keep")
    press(page, "Save config")
    until(lambda: (results / "mine.yaml").is_file())
    press(page, "Save run")
    until(lambda: (results / "mine" / "summary.json").is_file())
    recording = load_recording(results / "mine")
    config = balance.load_config(results / "mine.yaml")
    assert config.controller.gains.K_D[0] != 7.0  # the slider's
    assert [push.impulse_Ns for push in config.pushes] == [12.0]
    again = balance.run(config)
    rows = min(again.time.size, recording.time.size)
    assert np.array_equal(again.q[:rows], recording.q[:rows])


def closing_the_page_stops_nothing(browser: Any, lab: Command, page: Any) -> None:
    press(page, "Play")
    before = time_of(page)
    page.close()
    assert lab.process.poll() is None
    new = open_page(browser, lab.port)
    new.get_by_role("button", name="Push", exact=True).wait_for()
    until(lambda: time_of(new) > before)
    new.close()


def closing_the_command_frees_the_port(lab: Command) -> None:
    children = _children(lab.process.pid)
    assert children
    assert lab.stop() == 0
    assert lab.port_is_free()
    until(lambda: not any(Path(f"/proc/{pid}").exists() for pid in children), 10.0)


def a_result_folder_is_replayed_with_a_time_slider(browser: Any, results: Path) -> None:
    command = Command("replay", str(results / "mine"))
    try:
        page = open_page(browser, command.port)
        page.get_by_text("Time [s]").wait_for()
        press(page, "Pause")
        set_number(page, "Time [s]", "0.1")
        until(lambda: figure(page, "time") == "0.10 s")  # and it stays there
        press(page, "Export")
        until(lambda: (results / "mine" / "replay.html").is_file())
        page.close()
    finally:
        command.stop()


def _children(pid: int) -> list[int]:
    path = Path(f"/proc/{pid}/task/{pid}/children")
    return [int(word) for word in path.read_text().split()] if path.exists() else []
