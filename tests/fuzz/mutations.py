"""Small accidents that happen to files: wrong values, lost keys, cut lines, foreign bytes."""

from __future__ import annotations

import copy
import random
import re
import string
from collections.abc import Callable
from typing import Any

import yaml

# YAML texts that stand for values nobody asked for; the last ones are attacks.
NASTY_YAML = (
    "null", "true", "''", "x", "-1", "0", "1", "-0.0", "1e308", "-1e308", "1e-308", ".nan",
    ".inf", "-.inf", "1" + "0" * 30, "1" + "0" * 5000, "'1'", "0x10", "1_000", "12:30:45", "~",
    "2024-02-31", "2024-01-01", "[]", "{}", "[[]]", "[1, 2]", "[1, 2, 3]", "[a, b, c]", "[1, 2, x]",
    "{a: 1}", "[[1, 2, 3], [1, 2, 3], [1, 2, 3]]", "{uniform: [0, 1]}", "{uniform: [1, 0]}",
    "{uniform: x}", "{normal: [0, -1]}", "{normal: [1.0e+308, 1.0e+308]}", "'\\x00'", '"\\0"',
    '"\\u202e"', "é", "a" * 3000, "[" * 600 + "]" * 600, "../../../../etc/passwd", "/etc/passwd",
    "/dev/zero", "toro", "momentum", "left sole", "hip",
    "!!python/object/apply:os.system ['touch pwned']", "!!python/name:os.system", "!!binary aGk=",
    "!!set {a, b}", "!!timestamp 2024-01-01", "!!int x", "!unknown 1", "&a [*a]", "*nowhere",
    "[&b {x: 1}, *b]", "{<<: {y: 2}}", "{1: 2}", "{[1]: 2}", "{null: 1}", "|\n  text\n  more",
)  # fmt: skip
NASTY_WORDS = (
    "", " ", "-", "--", "---", "=", "a=b", "x", "0", "-1", "1e309", "nan", "\u202e", "é" * 50, "*",
    "../..", "/", "/etc/passwd", "/dev/null", ".", "a" * 5000, "--help", "--set", "--out",
    "--overwrite", "--workers", "duration_s=", "=1", "pushes.9.time_s=1", "pushes.-1=2", "seed=-1",
    "controller=momentum", "a.b.c.d=1", "duration_s=1e9", "plant.step_s=1e-12", "robot=../x.yaml",
    "controller.gains.K_P=[[1,2,3]]", "pushes=[]", "pushes=[1]", "x=[", "x={", "stance=1", "..=1",
)  # fmt: skip


_Loader = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
_Dumper = getattr(yaml, "CSafeDumper", yaml.SafeDumper)


def mutated_tree(text: str, rng: random.Random) -> str:
    """YAML ``text`` with one to three of its values or keys changed."""
    tree = yaml.load(text, Loader=_Loader)
    raw: list[str] = []
    for _ in range(rng.choice((1, 1, 1, 2, 3))):
        _change(tree, rng, raw)
    out = yaml.dump(tree, Dumper=_Dumper, sort_keys=False, width=10_000)
    for index, value in enumerate(raw):
        out = out.replace(f"RAW{index}RAW", value)
    return out


def _places(tree: Any) -> list[tuple[Any, Any]]:
    """Every container and key of a tree."""
    found: list[tuple[Any, Any]] = []
    items = tree.items() if isinstance(tree, dict) else enumerate(tree)
    for key, value in items:
        found.append((tree, key))
        if isinstance(value, dict | list):
            found += _places(value)
    return found


def _change(tree: dict[str, Any], rng: random.Random, raw: list[str]) -> None:
    places = _places(tree)
    if not places:
        return
    parent, key = rng.choice(places)
    kind = rng.randrange(8)
    if kind <= 2:
        parent[key] = f"RAW{len(raw)}RAW"
        raw.append(rng.choice(NASTY_YAML))
    elif kind == 3:
        del parent[key]
    elif kind == 4 and isinstance(parent, dict):
        parent[_typo(str(key), rng)] = parent.pop(key)
    elif kind == 5:
        other, name = rng.choice(places)
        if name in other if isinstance(other, dict) else name < len(other):
            parent[key] = copy.deepcopy(other[name])
    elif kind == 6 and isinstance(parent[key], int | float):
        parent[key] = parent[key] * rng.choice((-1, 0, 1e-9, 1e-3, 1e3, 1e9, 1e300))
    elif isinstance(parent, list):
        parent.append(copy.deepcopy(parent[key]))
    else:
        parent[rng.choice(("x", "gains", "type", "name", "robot", "axes", key))] = copy.deepcopy(
            parent[key]
        )


def _typo(word: str, rng: random.Random) -> str:
    at = rng.randrange(len(word) + 1)
    return word[:at] + rng.choice(string.ascii_letters + "._ -\u00e9") + word[at + 1 :]


def mutated_text(text: str, rng: random.Random) -> bytes:
    """``text`` after one to three accidents with its characters, lines or bytes."""
    data = text.encode()
    for _ in range(rng.choice((1, 1, 2, 3))):
        data = rng.choice(_ACCIDENTS)(data, rng)
    return data


def _cut(data: bytes, rng: random.Random) -> bytes:
    return data[: rng.randrange(len(data) + 1)]


def _flip(data: bytes, rng: random.Random) -> bytes:
    changed = bytearray(data)
    for _ in range(rng.choice((1, 3, 30))):
        if changed:
            changed[rng.randrange(len(changed))] = rng.randrange(256)
    return bytes(changed)


def _lose_line(data: bytes, rng: random.Random) -> bytes:
    lines = data.splitlines(keepends=True)
    if lines:
        del lines[rng.randrange(len(lines))]
    return b"".join(lines)


def _repeat_line(data: bytes, rng: random.Random) -> bytes:
    lines = data.splitlines(keepends=True)
    if lines:
        at = rng.randrange(len(lines))
        lines[at:at] = [lines[at]]
    return b"".join(lines)


def _swap_lines(data: bytes, rng: random.Random) -> bytes:
    lines = data.splitlines(keepends=True)
    rng.shuffle(lines) if rng.random() < 0.2 else lines.reverse()
    return b"".join(lines)


def _insert(data: bytes, rng: random.Random) -> bytes:
    at = rng.randrange(len(data) + 1)
    piece = rng.choice(
        (b"\0", b"\t", b"\xff\xfe", b": ", b"- ", b"{", b"]", b"'", b'"', b"\n\n", b"&")
    )
    return data[:at] + piece + data[at:]


def _number(data: bytes, rng: random.Random) -> bytes:
    """Change the text of one number."""
    numbers = list(re.finditer(rb"-?\d+\.?\d*(?:e-?\d+)?", data))
    if not numbers:
        return data
    hit = rng.choice(numbers)
    value = rng.choice(
        (b"nan", b"inf", b"-1", b"0", b"1e400", b"1e-300", b"", b"x", b"1e12", b"1 2")
    )
    return data[: hit.start()] + value + data[hit.end() :]


def _word(data: bytes, rng: random.Random) -> bytes:
    """Put one word of the file in the place of another."""
    words = list(re.finditer(rb"[A-Za-z_]{2,}", data))
    if len(words) < 2:
        return data
    hit, other = rng.choice(words), rng.choice(words)
    return data[: hit.start()] + other[0] + data[hit.end() :]


Accident = Callable[[bytes, random.Random], bytes]
_ACCIDENTS: tuple[Accident, ...] = (
    _cut, _flip, _lose_line, _repeat_line, _swap_lines, _insert, _number, _number, _word, _word,
)  # fmt: skip


def mutated_words(words: list[str], rng: random.Random) -> list[str]:
    """A command line with one to three words lost, repeated, moved or replaced."""
    words = list(words)
    for _ in range(rng.choice((1, 1, 2, 3))):
        at = rng.randrange(len(words)) if words else 0
        kind = rng.randrange(6)
        if kind == 0 and words:
            del words[at]
        elif kind == 1 and words:
            words[at] = rng.choice(NASTY_WORDS)
        elif kind == 2:
            words.insert(at, rng.choice(NASTY_WORDS))
        elif kind == 3 and words:
            words[at] = _typo(words[at], rng)
        elif kind == 4 and words:
            words.insert(at, words[at])
        else:
            other = rng.randrange(len(words)) if words else 0
            if words:
                words[at], words[other] = words[other], words[at]
    return words
