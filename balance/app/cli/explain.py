"""The command ``balance explain``: the linearised closed loop in words and numbers."""

from __future__ import annotations

from typing import TYPE_CHECKING

import typer

from balance.app.cli.options import (
    ConfigArgument,
    OutOption,
    OverwriteOption,
    PdfOption,
    RobotsOption,
    SetOption,
    TrustOption,
    claimed,
    tell_code,
)

if TYPE_CHECKING:
    from rich.table import Table

    from balance.analysis.linear.explain import AxisReport, Explanation


def register(app: typer.Typer) -> None:
    """Add the command to ``app``."""
    app.command()(explain)


def explain(
    config: ConfigArgument,
    out: OutOption = None,
    set_: SetOption = None,
    robots: RobotsOption = None,
    overwrite: OverwriteOption = False,
    pdf: PdfOption = False,
    trust: TrustOption = False,
) -> None:
    """Linearise the closed loop: modes, margins, critical gains, and what the push will do."""
    import json

    from threadpoolctl import threadpool_limits

    from balance.analysis.linear.explain import explain as linear_explanation
    from balance.app.terminal import console
    from balance.config import find_config, load_config, parse_overrides
    from balance.plots.roots import root_map
    from balance.plots.style import save
    from balance.recordings.outputs import EXPLANATION

    path = find_config(config)
    loaded = load_config(path, parse_overrides(set_ or []), trust=trust)
    tell_code(loaded.code)
    with claimed(out, f"{path.stem}-explained", EXPLANATION, overwrite) as output:
        with threadpool_limits(1):
            found = linear_explanation(loaded, robots or [])
        for table in (axis_table, margin_table, gain_table, push_table):
            console.print(table(found))
        for line in summary_lines(found):
            console.print(line, highlight=False, soft_wrap=True)
        with output.filling() as folder:
            text = json.dumps(found.as_dict(), indent=2) + "\n"
            (folder / "explanation.json").write_text(text, encoding="utf-8")
            figures = save(root_map(found, path.stem), folder, "root_map", pdf)
    names = ", ".join(["explanation.json", *(file.name for file in figures)])
    console.print(f"Written to {output.path}: {names}", highlight=False, soft_wrap=True)


def axis_table(found: Explanation) -> Table:
    """For each axis: gains both ways, and the mode that results."""
    table = _table(
        f"{found.robot}, law {found.law}: the linearised closed loop",
        "axis", "stiffness", "damping [1/s]", "gains alone", "closed loop",
    )  # fmt: skip
    for one in found.axes:
        unit = "N/m" if one.name.startswith("CoM") else "N m"
        table.add_row(
            one.name,
            f"{one.stiffness:.4g} {unit}",
            f"{one.damping:.4g}",
            f"{one.designed_hz:.2f} Hz, ζ {one.designed_ratio:.2f}",
            f"{one.mode.frequency_hz:.2f} Hz, ζ {one.mode.damping_ratio:.2f}",
        )
    return table


def margin_table(found: Explanation) -> Table:
    """For each axis what its loop bears, opened there with all others closed."""
    table = _table(
        "stability margins, one axis at a time", "axis", "gain", "phase [°]", "delay [ms]"
    )
    for one in found.axes:
        margins = one.margins
        table.add_row(
            one.name,
            _range(margins.gain_down, margins.gain_up),
            "any" if margins.phase_deg is None else f"{margins.phase_deg:.0f}",
            "any" if margins.delay_s is None else f"{1e3 * margins.delay_s:.0f}",
        )
    return table


def push_table(found: Explanation) -> Table:
    """What the configured pushes do to each axis, and to the contacts."""
    table = _table(
        "predicted answer to the pushes", "axis", "largest error", "settling time, 10 % [s]"
    )
    if found.com_peak_m is None:
        table.add_row("all", "grows for ever", "")
        return table
    for one in found.axes:
        if one.pushed:
            table.add_row(one.name, _peak(one), _seconds(one.settling_s))
    table.add_row("CoM, all axes", f"{found.com_peak_m:.4f} m", _seconds(found.com_settling_s))
    for use in found.uses:
        shares = f"CoP {100 * use.cop:.0f} %, friction {100 * use.friction:.0f} %"
        table.add_row(use.contact, f"{shares} used", "")
    return table


def gain_table(found: Explanation) -> Table:
    """Values of each gain between which the discrete loop is stable, the others as they are."""
    rate = f"{1.0 / found.period_s:g} Hz"
    table = _table(
        f"critical values of each gain at {rate}",
        "gain", "value", "unstable below", "unstable above",
    )  # fmt: skip
    for one in found.critical:
        low = "never" if one.low is None else f"{one.low:.3g}"
        high = "never" if one.high is None else f"{one.high:.3g}"
        table.add_row(f"{one.name}.{'xyz'[one.axis]}", f"{one.value:g}", low, high)
    return table


def summary_lines(found: Explanation) -> list[str]:
    """The loop as a whole, and the warnings."""
    lines = []
    if found.stable:
        delay = "any" if found.delay_s is None else f"{1e3 * found.delay_s:.1f} ms"
        lines.append(f"Delay of all torques at once that the loop bears: {delay}.")
    lines += [f"Warning: {text}." for text in found.warnings]
    return lines


def _table(title: str, first: str, *others: str) -> Table:
    from rich.markup import escape
    from rich.table import Table

    table = Table(title=escape(title), title_justify="left")
    table.add_column(escape(first))
    for name in others:
        table.add_column(escape(name), justify="right")
    return table


def _range(low: float | None, high: float | None) -> str:
    below = "0" if low is None else f"{low:.2g}"
    above = "any" if high is None else f"{high:.0f}" if high >= 100.0 else f"{high:.3g}"
    return f"× {below} to {above}"


def _peak(one: AxisReport) -> str:
    return f"{one.peak:.4f} m" if one.name.startswith("CoM") else f"{one.peak:.4f} rad"


def _seconds(value: float | None) -> str:
    return "not settled" if value is None else f"{value:.2f}"
