"""Runs the snippets of a page of the docs in order, as a reader would type them.

- ``yaml`` and ``python`` whose first line is a comment with a file's name, ``# push.yaml``: the
  file is written;
- other ``python``: runs, with what the page's earlier ones left;
- ``bash``: runs line by line; ``balance`` in this process, all else in a shell;
- ``text``: what the block above it prints.

A block below ``<!-- not run: REASON -->`` is only shown.
"""

from __future__ import annotations

import contextlib
import io
import os
import re
import shlex
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from balance.app.cli import main

BLOCK = re.compile(
    r"(?P<skip><!-- not run: (?P<reason>.+?) -->\n+)?^```(?P<kind>\w+)\n(?P<text>.*?)^```$",
    re.DOTALL | re.MULTILINE,
)
FILE_NAME = re.compile(r"# ([\w./]+\.(?:yaml|py))\n")
NUMBER = re.compile(r"(?<![\w.])-?\d+(?:\.\d+)?(?:e[-+]?\d+)?")
TIMED = ("control step", "real time", "runs", "trials", " s elapsed")
TOLERANCE = 0.05  # of a number; processors round differently


@dataclass(frozen=True)
class Block:
    """A fenced block of a page."""

    kind: str
    text: str
    reason: str | None = None
    """Why it is not run."""

    @property
    def file(self) -> str | None:
        """The file that it is, if it is one."""
        found = FILE_NAME.match(self.text)
        return found[1] if found and self.kind in ("yaml", "python") else None


@dataclass(frozen=True)
class Ran:
    """A block that was run, what it printed, and what the page says that it prints."""

    block: Block
    printed: str
    expected: str | None


def blocks(page: Path) -> list[Block]:
    """The blocks of a page, in order."""
    found = BLOCK.finditer(page.read_text(encoding="utf-8"))
    return [Block(one["kind"], one["text"], one["reason"]) for one in found]


def run_page(page: Path, folder: Path) -> Iterator[Ran]:
    """Run a page in an empty folder; an error of a snippet is raised, with the snippet."""
    names: dict[str, Any] = {"__name__": "__main__"}
    every = blocks(page)
    with contextlib.chdir(folder), _imports_from(folder):
        for block, after in zip(every, [*every[1:], None], strict=True):
            if block.reason or block.kind == "text":
                continue
            if block.file:
                Path(block.file).parent.mkdir(parents=True, exist_ok=True)
                Path(block.file).write_text(block.text, encoding="utf-8")
                continue
            expected = after.text if after is not None and after.kind == "text" else None
            yield Ran(block, _printed(block, names), expected)


@contextlib.contextmanager
def _imports_from(folder: Path) -> Iterator[None]:
    """Python finds modules in the working folder; those of one page are not those of the next."""
    before = set(sys.modules)
    sys.path.insert(0, str(folder))
    try:
        yield
    finally:
        sys.path.remove(str(folder))
        for name in set(sys.modules) - before:
            if str(getattr(sys.modules[name], "__file__", "")).startswith(str(folder)):
                del sys.modules[name]


def _printed(block: Block, names: dict[str, Any]) -> str:
    if block.kind == "python":
        with _caught() as out:
            exec(compile(block.text, "<page>", "exec"), names)
        return out.getvalue()
    if block.kind != "bash":
        return ""
    return "".join(_command(line) for line in block.text.splitlines() if line.strip())


def _command(line: str) -> str:
    words = shlex.split(line, comments=True)
    if words[:1] != ["balance"]:
        # The interpreter of the tests is the one with the package in it.
        path = os.pathsep.join([str(Path(sys.executable).parent), os.environ["PATH"]])
        done = subprocess.run(
            line, shell=True, capture_output=True, text=True, env={**os.environ, "PATH": path}
        )
        if done.returncode:
            raise AssertionError(f"{line}\n{done.stderr}")
        return done.stdout
    with _caught() as out:
        kept, sys.argv = sys.argv, words
        try:
            main()
            code: Any = 0
        except SystemExit as end:
            code = end.code
        finally:
            sys.argv = kept
    printed = out.getvalue()
    # A page may show what a mistake looks like: exit code 2 and a sentence.
    if code not in (0, None, 2) or (code == 2 and "balance: " not in printed):
        raise AssertionError(f"{line}: exit code {code}\n{printed}")
    return printed


@contextlib.contextmanager
def _caught() -> Iterator[io.StringIO]:
    out = io.StringIO()
    with contextlib.redirect_stdout(out), contextlib.redirect_stderr(out):
        yield out


def differences(printed: str, expected: str) -> list[str]:
    """Lines that a page shows and that were not printed, in order; ``...`` stands for any lines."""
    lines = [_plain(line) for line in printed.splitlines()]
    missing, at = [], 0
    for line in map(_plain, expected.splitlines()):
        if line in ("", "..."):
            continue
        found = next((i for i in range(at, len(lines)) if _same(lines[i], line)), None)
        if found is None:
            missing.append(line)
        else:
            at = found + 1
    return missing


def _plain(line: str) -> str:
    """A line without the frame of a table."""
    return " ".join(re.sub(r"[│┃┏┓┗┛┡┩└┘├┤┳┻╇┴━─]", " ", line).split())


def _same(one: str, other: str) -> bool:
    """Whether two lines say the same, with numbers that differ no more than they may."""
    if "..." in other:
        pattern = ".*".join(map(re.escape, other.split("...")))
        return re.fullmatch(pattern, one) is not None
    if NUMBER.sub("#", one) != NUMBER.sub("#", other):
        return False
    if any(word in one for word in TIMED):
        return True
    pairs = zip(map(float, NUMBER.findall(one)), map(float, NUMBER.findall(other)), strict=True)
    return all(abs(a - b) <= TOLERANCE * max(abs(a), abs(b)) + 1e-9 for a, b in pairs)
