"""Markdown of the reference: a page for each kind of YAML file."""

from __future__ import annotations

from collections.abc import Mapping

from lib.key_reference import (
    ITS_DEFAULTS,
    NOT_GIVEN,
    REQUIRED,
    SHARED,
    Examples,
    Key,
    Section,
    keys,
    schema_of,
    sections,
)

KINDS = {
    "experiment": ("Keys of an experiment", "balance run"),
    "sweep": ("Keys of a sweep", "balance sweep"),
    "envelope": ("Keys of an envelope", "balance envelope"),
    "compare": ("Keys of a comparison", "balance compare"),
    "tune": ("Keys of a tuning study", "balance tune"),
    "robot": ("Keys of a robot", "balance robots"),
}
INTRODUCTION = (
    "Unknown keys are errors that name the nearest valid one, and numbers are in SI units. This "
    "page is made from the schema when the site is built; `balance schema {}` prints the same as "
    "JSON, for editors that complete and check YAML."
)
OF_EXPERIMENTS = (
    " Wherever an experiment wants a number it may say `{uniform: [low, high]}` or "
    "`{normal: [mean, std]}`, drawn from its `seed`."
)


def key_page(kind: str, examples: Examples) -> str:
    """The page of one kind of file."""
    title, command = KINDS[kind]
    told = INTRODUCTION.format(kind) + (OF_EXPERIMENTS if kind == "experiment" else "")
    lines = [f"# {title}", "", f"The YAML files of `{command}`. {told}", ""]
    every = list(sections(schema_of(kind)))
    names = {f"<{one.model.__name__}>": one for one in every}
    for one in every:
        lines += [f"({_anchor(kind, one)})=", "", f"## {one.title}", "", one.text, ""]
        lines += _shared(one, kind)
        if rows := keys(one, examples):
            lines += ["| key | value | default | meaning |", "|---|---|---|---|"]
            lines += [_row(row, kind, names) for row in rows]
        shown = examples.sections.get(one.model.__name__, "")
        if "\n" in shown:
            lines += ["", "For example, from a shipped file:", "", "```yaml", shown, "```"]
        lines.append("")
    return "\n".join(lines)


def _anchor(kind: str, section: Section) -> str:
    return f"{kind}-{section.model.__name__}".lower()


def _shared(section: Section, kind: str) -> list[str]:
    links = [f"[{SHARED[c.__name__]}](#{_anchor(kind, Section(c, ''))})" for c in section.shared]
    return [f"With the keys of {', '.join(links)}.", ""] if links else []


def _row(key: Key, kind: str, names: Mapping[str, Section]) -> str:
    value = key.type
    for name, one in names.items():
        value = value.replace(name, f"[`{one.tag[1] or key.name}`](#{_anchor(kind, one)})")
    value += f" [{key.unit}]" if key.unit else ""
    value += f", {key.range}" if key.range else ""
    bare = key.default in (REQUIRED, NOT_GIVEN, ITS_DEFAULTS)
    default = key.default if bare else f"`{key.default}`"
    text = key.meaning + (f" *Example:* `{key.example}`" if key.example else "")
    return f"| `{key.name}` | {value} | {default} | {text} |"
