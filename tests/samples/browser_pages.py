"""Headless Chromium, drawing in software; a test that needs it is skipped where it is missing."""

from __future__ import annotations

import base64
import shutil
import time
from typing import Any

import pytest

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


def open_page(browser: Any, port: int, drawn: bool = False) -> Any:
    """A page of a lab; nothing is drawn unless asked for."""
    page = browser.new_page(viewport=SIZE, device_scale_factor=COARSE)
    page.set_default_timeout(1e3 * PATIENCE_S)
    page.add_init_script(FEWER_PICTURES)
    if not drawn:
        page.add_init_script(NO_PICTURES)
    page.goto(f"http://127.0.0.1:{port}")
    # Notes lie on top of the controls in a window as small as this.
    page.add_style_tag(content=".mantine-Notifications-root * {pointer-events: none !important}")
    return page


def until(condition: Any, seconds: float = PATIENCE_S) -> None:
    """Wait, but not for ever."""
    end = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < end, "it did not happen"
        time.sleep(0.2)


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
