"""A lab and a page of it in headless Chromium, drawn in software."""

from __future__ import annotations

import shutil
import sys
import tempfile
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from playwright.sync_api import sync_playwright

from balance.app.live.lab import Lab
from balance.app.live.server import open_server
from balance.config import load_config

SIZE = {"width": 1440, "height": 860}
PATIENCE_S = 300.0  # software rendering on a busy machine
FLAGS = [
    "--headless",
    "--no-sandbox",
    "--use-gl=angle",
    "--use-angle=swiftshader",
    "--enable-unsafe-swiftshader",
    "--hide-scrollbars",
]


@contextmanager
def lab_and_page(size: Any = None, experiment: str = "toro_side") -> Iterator[tuple[Lab, Any]]:
    """The lab of an experiment, the paper's push by default, and a page that drives it."""
    chromium = shutil.which("chromium") or shutil.which("chromium-browser")
    if chromium is None:
        sys.exit("Chromium is not installed (Debian: apt install chromium)")
    with tempfile.TemporaryDirectory() as results, sync_playwright() as playwright:
        server = open_server("127.0.0.1", 0)
        lab = Lab(server, load_config(experiment), Path(results))
        loop = threading.Thread(target=lab.run)
        loop.start()
        try:
            browser = playwright.chromium.launch(executable_path=chromium, args=FLAGS)
            page = browser.new_page(viewport=size or SIZE)
            page.set_default_timeout(1e3 * PATIENCE_S)
            page.goto(f"http://127.0.0.1:{server.get_port()}")
            page.get_by_role("button", name="Push", exact=True).wait_for()
            yield lab, page
            browser.close()
        finally:
            lab.stop()
            loop.join()
            lab.close()
            server.stop()


def wait_until(condition: Callable[[], bool]) -> None:
    """Wait, but not for ever."""
    end = time.monotonic() + PATIENCE_S
    while not condition():
        if time.monotonic() > end:
            sys.exit("the lab did not get there; try again on a quieter machine")
        time.sleep(0.05)


def session(lab: Lab) -> Any:
    """The running session, once there is one."""
    wait_until(lambda: lab.running is not None)
    return lab.running
