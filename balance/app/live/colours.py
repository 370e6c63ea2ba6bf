"""What a colour means: the same in scene, plots, status, buttons and replay files.

Axes, pushes and alarms have a hue each that nothing else uses; soles and the times of control steps
are grey, told apart by their dashes; what can be pressed is grey too, but for the push itself.
"""

from __future__ import annotations

from dataclasses import dataclass

Colour = tuple[int, int, int]

# Okabe and Ito's, as in the figures.
AXES: dict[str, Colour] = {"x": (213, 94, 0), "y": (0, 158, 115), "z": (0, 114, 178)}
PUSH: Colour = (230, 159, 0)
ALARM: Colour = (196, 18, 48)

MASS: Colour = (126, 84, 214)
"""The centre of mass, and where it was."""
CAPTURE: Colour = (86, 180, 233)
GROUND: Colour = (170, 51, 119)
"""What the ground does: wrenches, centre of pressure, support."""
ASKED: Colour = (238, 153, 170)
"""What the law asks of the ground."""
SPIN: Colour = (140, 140, 44)
NEUTRAL: Colour = (120, 130, 142)

DASHES = ((), (7, 4), (2, 3), (9, 3, 2, 3))
"""Of the lines that share the neutral colour, in pixels."""


@dataclass(frozen=True)
class Line:
    """How a line of a plot is drawn."""

    name: str
    colour: Colour
    dash: tuple[int, ...] = ()


AXIS_LINES = tuple(Line(name, colour) for name, colour in AXES.items())
STEP_LINES = (
    Line("largest", NEUTRAL, (2, 3)),
    Line("median", NEUTRAL),
    Line("deadline", ALARM),
)


def sole_lines(soles: list[str]) -> tuple[Line, ...]:
    """One line for each sole, as far as the dashes reach."""
    return tuple(Line(name, NEUTRAL, dash) for name, dash in zip(soles, DASHES, strict=False))


def css(colour: Colour, opacity: float = 1.0) -> str:
    """The colour as a page wants it."""
    red, green, blue = colour
    alpha = "" if opacity >= 1.0 else f"{round(255 * opacity):02X}"
    return f"#{red:02X}{green:02X}{blue:02X}{alpha}"
