"""One look for all figures: sizes, fonts, colours, and how a figure is made and written."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from io import BytesIO
from pathlib import Path
from typing import Any

import matplotlib
from matplotlib.axes import Axes
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.figure import Figure
from matplotlib.ticker import MaxNLocator

from balance.config import LAWS
from balance.recordings.atomic_writes import replacing

DPI = 200
# Inches: with these fonts a narrow figure still reads when printed 3.5 in (one IEEE column) wide.
NARROW, WIDE = 5.0, 7.16

# Okabe and Ito's colour-blind safe palette, in the usual order red, green, blue of x, y, z.
AXIS_NAMES = ("x", "y", "z")
AXIS_COLOURS = ("#D55E00", "#009E73", "#0072B2")
PUSH_COLOUR, PUSH_TEXT_COLOUR = "#E69F00", "#8F6300"
LIMITED_COLOUR, LIMITED_TEXT_COLOUR = "#CC79A7", "#8A3A66"
QUIET_COLOUR = "0.35"
# From Tol's palettes: apart from the colours of the axes, and from one another.
JOINT_COLOURS = (
    "#332288", "#CC6677", "#117733", "#DDAA33", "#88CCEE", "#882255", "#44AA99", "#999933",
)  # fmt: skip
RUN_COLOURS = (
    "#222222", "#EE6677", "#4477AA", "#CCBB44", "#228833", "#AA3377", "#66CCEE", "#885522",
)  # fmt: skip
DASHES = ("-", "--", ":", "-.")
# Words above a panel; names from a user's files are never taken for formulas.
CAPTION: dict[str, Any] = {"fontsize": 7.0, "color": QUIET_COLOUR, "parse_math": False}

STYLE: Any = {
    "font.family": "DejaVu Sans",
    "mathtext.fontset": "dejavusans",
    "font.size": 8.5,
    "axes.labelsize": 8.5,
    "axes.titlesize": 8.5,
    "axes.titlepad": 3.0,
    "figure.titlesize": 8.5,
    "xtick.labelsize": 8.0,
    "ytick.labelsize": 8.0,
    "legend.fontsize": 8.0,
    "legend.frameon": False,
    "legend.borderpad": 0.0,
    "legend.borderaxespad": 0.4,
    "legend.handlelength": 1.6,
    "legend.columnspacing": 1.2,
    "lines.linewidth": 1.2,
    "axes.linewidth": 0.6,
    "axes.spines.top": False,
    "axes.spines.right": False,
    "axes.axisbelow": True,
    "axes.xmargin": 0.0,
    "axes.ymargin": 0.08,
    "axes.grid": True,
    "grid.color": "0.9",
    "grid.linewidth": 0.5,
    "xtick.major.width": 0.6,
    "ytick.major.width": 0.6,
    "xtick.major.size": 2.5,
    "ytick.major.size": 2.5,
    "agg.path.chunksize": 20000,  # very long runs would overflow the rasteriser
    "pdf.fonttype": 42,  # publishers reject Type 3 fonts
    "savefig.facecolor": "white",
}


@contextmanager
def styled() -> Iterator[None]:
    """Within it, matplotlib uses our style, whatever the user's own settings are."""
    with matplotlib.rc_context():
        matplotlib.rcdefaults()
        matplotlib.rcParams.update(STYLE)
        yield


def new_figure(width: float, height: float) -> Figure:
    """An empty figure of a size in inches, drawn by Agg, independent of pyplot."""
    figure = Figure(figsize=(width, height), dpi=DPI, layout="constrained")
    FigureCanvasAgg(figure)
    return figure


def few_ticks(axes: Axes, count: int = 5) -> None:
    """At most ``count`` + 1 round values on the vertical axis."""
    axes.yaxis.set_major_locator(MaxNLocator(count, steps=[1, 2, 2.5, 5, 10]))


def run_style(index: int) -> dict[str, Any]:
    """Colour and dashes of the ``index``-th of several runs; no two of the first 32 are alike."""
    dashes = DASHES[(index // len(RUN_COLOURS)) % len(DASHES)]
    return {"color": RUN_COLOURS[index % len(RUN_COLOURS)], "linestyle": dashes}


def law_style(law: str, variant: int = 0) -> dict[str, Any]:
    """Colour of a control law, the same in every figure; its variants differ in their dashes."""
    dashes = DASHES[variant % len(DASHES)]
    names = LAWS.ready()
    return {**run_style(names.index(law) if law in names else len(names)), "linestyle": dashes}


def law_styles(laws: Sequence[str]) -> list[dict[str, Any]]:
    """Looks of compared laws: ours in their colours, a user's own in those that are left."""
    known = LAWS.ready()
    taken = {law_style(law)["color"] for law in laws if law in known}
    free = [colour for colour in RUN_COLOURS if colour not in taken] or list(RUN_COLOURS)
    own = [law for law in dict.fromkeys(laws) if law not in known]
    looks = []
    for index, law in enumerate(laws):
        look = law_style(law, laws[:index].count(law))
        looks.append(look if law in known else look | {"color": free[own.index(law) % len(free)]})
    return looks


def styles(laws: Sequence[str]) -> list[dict[str, Any]]:
    """Looks of several curves: by law if each one is that of another law, else one by one."""
    if len(set(laws)) == len(laws) > 1 and set(laws) <= set(LAWS.ready()):
        return [law_style(law) for law in laws]
    return [run_style(index) for index in range(len(laws))]


def png(figure: Figure) -> bytes:
    """A figure as a picture."""
    stream = BytesIO()
    with styled():
        figure.savefig(stream, format="png", metadata={"Software": None})
    return stream.getvalue()


def save(figure: Figure, folder: Path, name: str, pdf: bool = False) -> list[Path]:
    """Write ``name``.png, and ``name``.pdf if asked; equal figures give equal bytes.

    Viewers never load half a file: an older figure is replaced as a whole.
    """
    folder.mkdir(parents=True, exist_ok=True)
    made: dict[str, dict[str, None]] = {"png": {"Software": None}}
    if pdf:
        made["pdf"] = {"CreationDate": None}
    with styled():
        for kind, metadata in made.items():
            with replacing(folder / f"{name}.{kind}") as part:
                figure.savefig(part, format=kind, metadata=metadata)
    return [folder / f"{name}.{kind}" for kind in made]
