"""Pages of the site that are made from the code: keys, commands, API, signals and quantities."""

from __future__ import annotations

import inspect
import typing
from collections.abc import Iterator
from pathlib import Path
from types import ModuleType
from typing import Any

import typer.models
from lib.key_pages import KINDS, key_page
from lib.key_reference import Examples

import balance
from balance import dynamics, rotations
from balance.app.cli import app
from balance.config.meanings import unit_of_name
from balance.config.registry import ENGINES, LAWS, PUSHES, QUANTITIES
from balance.recordings.signals import signals_table
from balance.robots import load_robot, robot_files

MADE = "This page is made from the code when the site is built."


def write_pages(folder: Path) -> None:
    """Write every page into ``folder``; one that is as it was is left alone."""
    folder.mkdir(exist_ok=True)
    examples = Examples()
    pages = {f"keys_{kind}": key_page(kind, examples) for kind in KINDS}
    pages |= {
        "commands": commands_page(),
        "api": api_page(),
        "dynamics": module_page(dynamics, "Dynamics"),
        "rotations": module_page(rotations, "Rotations"),
        "signals": signals_page(),
        "names": names_page(),
    }
    for name, text in pages.items():
        path = folder / f"{name}.md"
        if not path.exists() or path.read_text(encoding="utf-8") != text:
            path.write_text(text, encoding="utf-8")


def commands_page() -> str:
    """Every command with its arguments and options."""
    lines = ["# Commands", "", f"{MADE} `balance COMMAND --help` prints the same.", ""]
    lines += [*_options(app.registered_callback.callback), ""]  # type: ignore[union-attr]
    for command in app.registered_commands:
        function: Any = command.callback
        name = command.name or function.__name__
        text = " ".join((command.help or inspect.getdoc(function) or "").split())
        lines += [f"({name}-command)=", "", f"## `balance {name}`", "", text, ""]
        lines += [*_options(function), ""]
    return "\n".join(lines)


def _options(function: Any) -> Iterator[str]:
    """A table of what a command takes, from the signature that typer reads as well."""
    yield from ["| option | default | meaning |", "|---|---|---|"]
    for one in inspect.signature(function, eval_str=True).parameters.values():
        kind, told = typing.get_args(one.annotation)[:2]
        default = one.default
        told_default = f"`{default}`" if isinstance(default, str) else str(default)
        if default is one.empty:
            told_default = "required"
        elif default in (None, False, True):
            told_default = "yes" if default is True else "–"
        yield f"| {_flags(one, kind, told)} | {told_default} | {_cell(told.help or '')} |"


def _flags(one: inspect.Parameter, kind: Any, told: Any) -> str:
    """How an option is typed, and what follows it."""
    if choices := [word for word in typing.get_args(kind) if isinstance(word, str)]:
        words = "/".join(choices)
    else:
        words = told.metavar or one.name.upper()
    if isinstance(told, typer.models.ArgumentInfo):
        return f"`{words}`"
    name = "--" + one.name.strip("_").replace("_", "-")
    given = [one for one in (told.default, *told.param_decls) if str(one).startswith("--")]
    flags = given or ([f"{name}/--no-{name[2:]}"] if kind is bool else [name])
    typed = ", ".join(f"`{flag}`" for flag in flags)
    return typed if kind is bool else f"{typed} `{words}`"


def _cell(text: str) -> str:
    return " ".join(text.split()).replace("|", "\\|")


def api_page() -> str:
    """The public names of the package."""
    lines = ["# Python", "", f"`import balance` gives these names. {MADE}", ""]
    lines += ["The papers' equations are on pages of their own: [dynamics](dynamics.md) and "
              "[rotations](rotations.md).", ""]  # fmt: skip
    for name in sorted(balance.__all__, key=str.lower):
        if name != "__version__":
            lines += _documented(f"balance.{name}", getattr(balance, name))
    return "\n".join(lines)


def module_page(module: ModuleType, title: str) -> str:
    """The functions and classes that a package exports, by the module that they are from."""
    told = inspect.getdoc(module) or ""
    lines = [f"# {title}", "", told.replace("``", "`"), "", MADE, ""]
    homes: dict[str, list[str]] = {}
    for name in exported(module):
        target = getattr(module, name)
        homes.setdefault(getattr(target, "__module__", None) or module.__name__, []).append(name)
    for home, names in sorted(homes.items()):
        lines += [f"## `{home}`", ""]
        for name in names:
            lines += _documented(f"{module.__name__}.{name}", getattr(module, name), name)
    return "\n".join(lines)


def exported(module: ModuleType) -> list[str]:
    """Public functions and classes of a package."""
    names = getattr(module, "__all__", None) or vars(module)
    return sorted(
        name for name in names if not name.startswith("_") and callable(getattr(module, name))
    )


def _documented(path: str, target: Any, again: str = "") -> Iterator[str]:
    """``again`` is the name of something that may be on the page of the public names as well."""
    kind = "autoclass" if inspect.isclass(target) else "autofunction"
    yield from ["```{eval-rst}", f".. {kind}:: {path}"]
    if inspect.isclass(target):
        yield "   :members:"
    if again in balance.__all__:
        yield "   :no-index:"
    yield from ["```", ""]


def signals_page() -> str:
    """Every signal of a recording and every quantity of a summary."""
    lines = ["# Signals and quantities", "", MADE, "", "## Signals", "", SIGNALS, "",
             signals_table(load_robot("toro")), "", "## Quantities", "", ABOUT, ""]  # fmt: skip
    lines += ["| key | what | unit | better | columns |", "|---|---|---|---|---|"]
    for name in QUANTITIES.ours:
        one = QUANTITIES.find(name, "quantities").target
        columns = ", ".join(f"`{column.name}`" for column in one.columns) or "–"
        unit = _si(one.key, one.unit if one.scale == 1.0 else "")
        cells = (f"`{one.key}`", _cell(one.text), unit, one.better or "–", columns)
        lines.append(f"| {' | '.join(cells)} |")
    return "\n".join([*lines, ""])


def _si(key: str, unit: str) -> str:
    """The unit in ``summary.json``: a quantity that is shown scaled is there in SI."""
    return unit or unit_of_name(key) or "–"


SIGNALS = (
    "Attributes of a `Recording`, and columns of `log.parquet`, here those of the robot `toro`. "
    "[Recordings](../recordings.md) says more."
)
ABOUT = (
    "Keys of `summary.json`, in SI units. Those with columns can be swept, compared, bounded and "
    "tuned; *better* says which way tuning improves them."
)


def names_page() -> str:
    """What can be named in a file: laws, pushes, engines, robots."""
    lines = ["# Names", "", f"What `law`, `type`, `engine` and `robot` may be. {MADE}", ""]
    for title, registry in (("Laws", LAWS), ("Pushes", PUSHES), ("Engines", ENGINES)):
        lines += [f"## {title}", "", "| name | what |", "|---|---|"]
        lines += [f"| `{name}` | {_cell(registry.describe(name))} |" for name in registry.ours]
        lines.append("")
    lines += ["## Robots", "", "| name | what | joints | mass [kg] |", "|---|---|---:|---:|"]
    for name in robot_files():
        robot = load_robot(name)
        joints, mass = len(robot.joint_names), f"{robot.mass:.1f}"
        lines.append(f"| `{name}` | {_cell(robot.description)} | {joints} | {mass} |")
    return "\n".join([*lines, ""])
