"""Where the robot stands: floor, light, camera, and the two themes."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import viser
from numpy.typing import NDArray

from balance.app.live.colours import Colour
from balance.app.live.follow import ROOT as WORLD
from balance.app.live.follow import Follow
from balance.app.live.in_view import InView
from balance.robots import Robot

RIGHT_PX = 300  # width of the panel that drives
LIGHT_FROM = (2.2, -2.6, 5.0)  # m, seen from the robot


@dataclass(frozen=True)
class Theme:
    """Colours of everything that is not the robot."""

    dark: bool
    brand: Colour
    """Of what can be pressed."""
    sky: tuple[Colour, Colour]
    """Above and at the horizon."""
    floor: Colour
    cell: Colour
    section: Colour
    shadow: float
    ambient: float
    soft: float
    """Light of the sky, beside that of the environment map."""
    alone: float
    """Light of the sky without an environment map."""
    sun: float


LIGHT = Theme(
    dark=False,
    brand=(88, 101, 118),
    sky=((214, 226, 238), (250, 251, 253)),
    floor=(244, 246, 249),
    cell=(222, 227, 233),
    section=(190, 199, 209),
    shadow=0.28,
    ambient=0.4,
    soft=0.55,
    alone=2.4,
    sun=1.5,
)
DARK = Theme(
    dark=True,
    brand=(140, 155, 178),
    sky=((12, 16, 24), (38, 47, 61)),
    floor=(27, 33, 43),
    cell=(40, 48, 61),
    section=(58, 70, 88),
    shadow=0.55,
    ambient=0.3,
    soft=0.4,
    alone=3.6,
    sun=1.7,
)


class Surroundings:
    """Floor, sky and lamps; the same for every robot."""

    def __init__(
        self, server: viser.ViserServer, theme: Theme, environment_map: bool = True
    ) -> None:
        self._server, self._environment_map = server, environment_map
        self.floor = True
        self.follow, self.in_view = Follow(server), InView(server)
        server.scene.set_up_direction("+z")
        server.scene.world_axes.visible = False
        server.scene.configure_default_lights(enabled=False)
        server.gui.main_panel.dock_right()
        server.gui.main_panel.set_width(RIGHT_PX)
        self.set_theme(theme)

    def set_theme(self, theme: Theme) -> None:
        """Use the colours of a theme, in the scene and in the panels."""
        self.theme = theme
        scene = self._server.scene
        self._server.gui.configure_theme(
            dark_mode=theme.dark,
            control_width="large",
            show_logo=False,
            show_share_button=False,
            brand_color=theme.brand,
        )
        scene.configure_environment_map(
            "studio" if self._environment_map else None, environment_intensity=theme.ambient
        )
        # A spot has one shadow map, a directional light three: too many without a graphics card.
        scene.add_light_spot(
            "/surroundings/sun",
            intensity=theme.sun,
            decay=0.0,
            angle=0.5,
            penumbra=0.6,
            cast_shadow=True,
            direction=(-LIGHT_FROM[0], -LIGHT_FROM[1], -LIGHT_FROM[2]),
            position=LIGHT_FROM,
        )
        scene.add_light_hemisphere(
            "/surroundings/sky",
            sky_color=(255, 255, 255),
            ground_color=theme.floor,
            intensity=theme.soft if self._environment_map else theme.alone,
        )
        self._floor = scene.add_grid(
            f"{WORLD}/floor",
            infinite_grid=True,
            cell_size=0.1,
            section_size=0.5,
            cell_color=theme.cell,
            section_color=theme.section,
            cell_thickness=0.7,
            section_thickness=1.1,
            fade_distance=11.0,
            fade_strength=1.6,
            plane_color=theme.floor,
            plane_opacity=1.0,
            shadow_opacity=theme.shadow,
            visible=self.floor,
        )
        scene.set_background_image(_gradient(*theme.sky), format="png")
        scene.configure_fog(7.0, 16.0, color=theme.sky[1])

    def set_dark(self, dark: bool) -> None:
        """Dark or light."""
        self.set_theme(DARK if dark else LIGHT)

    def set_floor(self, shown: bool) -> None:
        """Show or hide floor and grid."""
        self.floor = self._floor.visible = shown

    def look_at(self, robot: Robot) -> None:
        """Put the camera of new pages where the robot and some of a fall fit in."""
        height = 1.9 * float(robot.com()[2])
        target = np.array([*robot.com()[:2], 0.5 * height])
        camera = self._server.initial_camera
        camera.look_at = target
        camera.position = target + height * np.array([1.5, -1.05, 0.36])
        camera.fov = 0.66
        for client in self._server.get_clients().values():
            # In this order: a new position carries the point looked at along.
            client.camera.position = camera.position
            client.camera.look_at = camera.look_at


def _gradient(top: Colour, horizon: Colour) -> NDArray[np.uint8]:
    """A sky (256, 8, 3) that brightens towards the middle of the image."""
    share = np.clip(np.linspace(0.0, 2.0, 256), 0.0, 1.0)[:, None, None]
    image = (1.0 - share) * np.array(top) + share * np.array(horizon)
    return np.broadcast_to(image, (256, 8, 3)).astype(np.uint8)
