"""The page in a real browser: headless Chromium, drawing in software."""

from __future__ import annotations

import base64
import re
import shutil
import signal
import socket
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import balance
from balance.recordings.results import load_recording

CHROMIUM = shutil.which("chromium") or shutil.which("chromium-browser")
if CHROMIUM is None:
    pytest.skip("Chromium is not installed (Debian: apt install chromium)", allow_module_level=True)
sync_api = pytest.importorskip("playwright.sync_api", reason="pip install playwright")

FLAGS = [
    "--headless",
    "--no-sandbox",
    "--disable-gpu",
    "--use-gl=angle",
    "--use-angle=swiftshader",
    "--enable-unsafe-swiftshader",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
]
PATIENCE_S = 120.0  # a busy machine draws slowly
SIZE = {"width": 900, "height": 540}
COARSE = 0.5  # pixels drawn for each of the page: software is slow at it
# Drawing in software takes most of the time, and the first picture several seconds.  Ten a second
# are enough to see by; where nothing but text and buttons is looked at, nothing is drawn.
FEWER_PICTURES = """
  const next = window.requestAnimationFrame.bind(window);
  window.requestAnimationFrame = draw => setTimeout(() => next(draw), 90);
  window.cancelAnimationFrame = clearTimeout;
"""
NO_PICTURES = """
  for (const name of ["drawElements", "drawArrays"])
    for (const more of ["", "Instanced"])
      WebGL2RenderingContext.prototype[name + more] = () => {};
"""


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


def open_page(browser: Any, port: int, drawn: bool = False) -> Any:
    page = browser.new_page(viewport=SIZE, device_scale_factor=COARSE)
    page.set_default_timeout(1e3 * PATIENCE_S)
    page.add_init_script(FEWER_PICTURES)
    if not drawn:
        page.add_init_script(NO_PICTURES)
    page.goto(f"http://127.0.0.1:{port}")
    # Notes lie on top of the controls in a window as small as this.
    page.add_style_tag(content=".mantine-Notifications-root * {pointer-events: none !important}")
    return page


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


def until(condition: Any, seconds: float = PATIENCE_S) -> None:
    end = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < end, "it did not happen"
        time.sleep(0.2)


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


def colours(page: Any, canvas: Any = None) -> int:
    """Number of colours in a screenshot of the canvas, decoded by the browser itself."""
    canvas = page.locator("canvas").first if canvas is None else canvas
    encoded = base64.b64encode(canvas.screenshot()).decode()
    count = page.evaluate(
        """async encoded => {
          const image = new Image();
          image.src = "data:image/png;base64," + encoded;
          await image.decode();
          const canvas = document.createElement("canvas");
          [canvas.width, canvas.height] = [image.width, image.height];
          const context = canvas.getContext("2d");
          context.drawImage(image, 0, 0);
          const data = context.getImageData(0, 0, image.width, image.height).data;
          const found = new Set();
          for (let i = 0; i < data.length; i += 4)
            found.add((data[i] << 16) + (data[i + 1] << 8) + data[i + 2]);
          return found.size;
        }""",
        encoded,
    )
    return int(count)


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
    press(page, "The paper's push")
    until(lambda: "N s" in figure(page, "last push"))
    until(lambda: chart_peak(page, "CoM error [mm]") > before + 10.0)  # mm
    started = time_of(page)
    until(lambda: time_of(page) > started + 1.5)
    assert page.get_by_role("dialog").count() == 0


def the_whole_robot_is_between_the_panels(page: Any) -> None:
    """In a window even smaller than 1024 x 700: shoulders and soles are inside the picture."""
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
    assert np.abs(spots).max() < 1.0
    canvas = page.locator("canvas[data-engine]").bounding_box()
    for panel in page.get_by_role("tab", name=re.compile("^(Run|Push)$")).all():
        box = panel.bounding_box()
        beside = box["x"] + box["width"] <= canvas["x"] or box["x"] >= canvas["x"] + canvas["width"]
        assert beside


def a_fall_says_why_and_offers_to_begin_anew(page: Any) -> None:
    set_number(page, "Impulse [N s]", "60")  # half as much again as ankles can catch
    until(lambda: "150 % of the ankle limit" in page.inner_text("body"))
    press(page, "Push")
    page.get_by_text("The robot fell", exact=True).wait_for()
    why = re.compile(r"The robot fell at .* s: .*Reset begins anew")
    page.get_by_role("alert").filter(has_text=why).wait_for()
    assert page.get_by_role("dialog").count() == 0  # nothing lies on top of the robot
    until(lambda: figure(page, "real time") == "paused")
    until(lambda: max(map(abs, seen_at(page, "/Centre of mass/ball"))) < 0.5)
    press(page, "Begin anew")
    page.get_by_text("The robot fell", exact=True).wait_for(state="hidden")
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
        a_replay_file_plays_by_itself(browser, results / "mine" / "replay.html")
    finally:
        command.stop()


def a_replay_file_plays_by_itself(browser: Any, path: Path) -> None:
    film = browser.new_page(viewport=SIZE, device_scale_factor=COARSE)
    film.set_default_timeout(1e3 * PATIENCE_S)
    film.goto(path.as_uri())
    player = film.frame_locator("iframe")
    player.locator("canvas").first.wait_for(timeout=1e3 * PATIENCE_S)
    until(lambda: colours(film, player.locator("canvas").first) > 50)
    # viser lets a page that still loads be pale.
    pale = "canvas => ['', '1'].includes(canvas.style.opacity)"
    until(lambda: player.locator("canvas").first.evaluate(pale))
    assert film.get_by_role("status").inner_text().startswith("toro, law momentum: ")
    assert film.locator("figure svg").count() == 5
    assert film.locator("figure .push").count() == 5  # one push
    assert "Support polygon" in film.locator("aside").inner_text()
    the_cursor_goes_with_the_player(film)
    layers_stay_with_the_robot_in_the_second_round(film)
    film.close()


def the_cursor_goes_with_the_player(film: Any) -> None:
    line = film.locator("figure .cursor").first
    before = line.get_attribute("x1")
    until(lambda: line.get_attribute("x1") != before)


def layers_stay_with_the_robot_in_the_second_round(film: Any) -> None:
    """After a round of the player each node is where the file puts it, none where it was left."""
    time_now = "Number(view.document.querySelector('[role=slider]').ariaValueNow)"
    away = film.evaluate(
        f"""async () => {{
          const view = document.querySelector("iframe").contentWindow;
          const pause = () => new Promise(done => view.requestAnimationFrame(done));
          let before = {time_now}, rounds = 0;
          while (rounds < 2 || before < 0.1) {{
            await pause();
            const now = {time_now};
            rounds += now < before;
            before = now;
          }}
          await pause();
          const {{nodeRefFromName, nodePoseData}} = view.__viserMutable;
          return Object.entries(nodePoseData)
            .filter(([name, pose]) => name.startsWith("/world/") && nodeRefFromName[name])
            .filter(([name, pose]) => pose.poseUpdateState !== "needsUpdate")
            .map(([name, pose]) => [name, Math.hypot(...nodeRefFromName[name].position.toArray()
              .map((value, i) => value - pose.position[i]))]);
        }}"""
    )
    assert len(away) > 60
    assert [name for name, distance in away if distance > 1e-6] == []


def _children(pid: int) -> list[int]:
    path = Path(f"/proc/{pid}/task/{pid}/children")
    return [int(word) for word in path.read_text().split()] if path.exists() else []
