"""A replay file in a real browser: what it shows, and that all of it stays together."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

from browser_pages import CHROMIUM, COARSE, FLAGS, PATIENCE_S, SIZE, colours, sync_api, until
from live_samples import short_recording
from stepped_runs import stepped

from balance.app.live.export import export_html
from balance.app.live.replay_page import replay_page
from balance.app.live.surroundings import LIGHT


def test_a_replay_file_plays_by_itself(tmp_path: Path) -> None:
    path = export_html(short_recording(), tmp_path / "replay.html")
    with sync_api.sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=CHROMIUM, args=FLAGS)
        it_shows_and_plays(browser.new_page(viewport=SIZE, device_scale_factor=COARSE), path)
        browser.close()


def test_a_replay_says_how_strong_the_push_was_and_what_held_it() -> None:
    pushed, walked = short_recording(), stepped()
    share = pushed.summary()["pushes"][0]["ankle_limit_fraction"]
    page = replay_page("", pushed, "", [], 1.0, LIGHT)
    assert f"{100 * share:.0f} % of the ankle limit</div>" in page
    walked = replace(walked, pushes=pushed.pushes)
    assert "of the ankle limit; held by 1 step</div>" in replay_page("", walked, "", [], 1.0, LIGHT)


def it_shows_and_plays(film: Any, path: Path) -> None:
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
    the_light_is_that_of_the_first_round(film)


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


def the_light_is_that_of_the_first_round(film: Any) -> None:
    """The player's own lamps, which it switches on when it begins anew, go out within a frame."""
    until(lambda: lamps(film) == ["HemisphereLight", "SpotLight"])


def lamps(film: Any) -> list[str]:
    found = film.evaluate(
        """() => {
          const view = document.querySelector("iframe").contentWindow, found = [];
          let scene = Object.values(view.__viserMutable.nodeRefFromName).find(node => node?.parent);
          while (scene.parent) scene = scene.parent;
          scene.traverse(node => { if (node.isLight && node.visible) found.push(node.type); });
          return found.concat(scene.environment ? ["environment"] : []);
        }"""
    )
    return sorted(found)
