"""The site builds without a warning, its links lead somewhere, and it has every public name."""

from __future__ import annotations

import subprocess
import sys
from html.parser import HTMLParser
from pathlib import Path
from urllib.parse import unquote, urlsplit

import pytest
from lib.site_pages import exported

import balance
from balance import dynamics, rotations
from balance.app.cli import app

ROOT = Path(__file__).resolve().parents[2]


class _Page(HTMLParser):
    """The links of a page, and the places in it that a link may name."""

    def __init__(self, path: Path) -> None:
        super().__init__()
        self.links: list[str] = []
        self.places: set[str] = set()
        self.feed(path.read_text(encoding="utf-8"))

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        for name, value in attrs:
            if name == "id" and value:
                self.places.add(value)
            elif name in ("href", "src") and value:
                self.links.append(value)


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The built site; a warning of Sphinx is an error."""
    folder = tmp_path_factory.mktemp("site")
    command = [sys.executable, "-m", "sphinx", "-W", "--keep-going", "-q", "-b", "html"]
    command += ["-d", str(folder / "doctrees"), str(ROOT / "docs"), str(folder / "html")]
    done = subprocess.run(command, capture_output=True, text=True, cwd=ROOT)
    assert done.returncode == 0, done.stderr
    return folder / "html"


@pytest.fixture(scope="module")
def pages(site: Path) -> dict[Path, _Page]:
    return {path: _Page(path) for path in site.rglob("*.html")}


def test_types_have_the_names_of_the_code(site: Path) -> None:
    text = (site / "reference" / "dynamics.html").read_text(encoding="utf-8")
    assert "ForwardRef" not in text
    assert "Array" in text


def test_every_link_within_the_site_leads_somewhere(site: Path, pages: dict[Path, _Page]) -> None:
    broken = []
    for path, page in pages.items():
        for link in page.links:
            there = urlsplit(link)
            if there.scheme or there.netloc:
                continue
            file = (path.parent / unquote(there.path)).resolve() if there.path else path
            place = unquote(there.fragment)
            if not file.exists() or (place and file in pages and place not in pages[file].places):
                broken.append(f"{path.relative_to(site)}: {link}")
    assert broken == []
    assert len(pages) > 30


def test_every_public_name_is_documented(pages: dict[Path, _Page]) -> None:
    text = "\n".join(path.read_text(encoding="utf-8") for path in pages if "reference" in str(path))
    names = [f"balance.{name}" for name in balance.__all__ if name != "__version__"]
    names += [f"balance.dynamics.{name}" for name in exported(dynamics)]
    names += [f"balance.rotations.{name}" for name in exported(rotations)]
    shown = [name.rpartition(".")[2] for name in names]
    assert len(names) > 150
    assert [name for name in shown if f'<span class="pre">{name}</span>' not in text] == []


@pytest.mark.parametrize("module", [balance, dynamics, rotations])
def test_every_public_name_has_a_docstring(module: object) -> None:
    names = exported(module) if module is not balance else balance.__all__[1:]  # type: ignore[arg-type]
    assert [name for name in names if not getattr(module, name).__doc__] == []


def test_every_command_is_documented(site: Path, pages: dict[Path, _Page]) -> None:
    places = pages[site / "reference" / "commands.html"].places
    for command in app.registered_commands:
        name = command.name or command.callback.__name__  # type: ignore[union-attr]
        assert f"{name}-command" in places
