"""How a robot shows itself, in a line and in a notebook."""

from __future__ import annotations

from html import escape
from typing import TYPE_CHECKING

from balance.robots.contacts import ContactSurface

if TYPE_CHECKING:
    from balance.robots.robot import Robot


def text_of(robot: Robot) -> str:
    """What a robot is, in a line."""
    return (
        f"<Robot {robot.name}: {robot.mass:.1f} kg, {len(robot.joint_names)} joints, "
        f"{len(robot.soles)} soles>"
    )


def html_of(robot: Robot) -> str:
    """Name, size, soles and strength as a small table."""
    soles = ", ".join(dict.fromkeys(map(shape_of, robot.soles)))
    strongest = robot.joint_names[int(robot.effort_limits.argmax())]
    rows = {
        "mass": f"{robot.mass:.1f} kg",
        "CoM height": f"{robot.com()[2]:.3f} m",
        "joints": f"{len(robot.joint_names)}, {len(robot.locked)} locked",
        "soles [m]": f"{len(robot.soles)} of {soles}",
        "strongest joint": f"{strongest}, {robot.effort_limits.max():.4g} N m",
        "base, pushed body": f"{robot.base_body}, {robot.push_body}",
        "model": robot.urdf.name,
    }
    lines = "".join(
        f'<tr><td style="text-align:left">{escape(name)}</td>'
        f'<td style="text-align:left">{escape(value)}</td></tr>'
        for name, value in rows.items()
    )
    title = f"{robot.name}: {robot.description}" if robot.description else robot.name
    return f"<div><b>{escape(title)}</b><table><tbody>{lines}</tbody></table></div>"


def shape_of(sole: ContactSurface) -> str:
    """What a sole touches with, in words."""
    size = f"{2 * sole.half_length:.3f} x {2 * sole.half_width:.3f}"
    if len(sole.points) == 1:
        return "one point"
    return f"{size} with {len(sole.points)} points" if sole.points else size
