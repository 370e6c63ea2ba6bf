"""Images of a robot and the pushes on it, drawn off screen by MuJoCo."""

from __future__ import annotations

import os
import sys
from collections.abc import Sequence
from typing import Any

import mujoco
import numpy as np
import pinocchio as pin
from numpy.typing import NDArray

from balance.dynamics.checks import frame_id
from balance.errors import FileError
from balance.robots import Robot
from balance.simulation.pendulum import Swing
from balance.simulation.plants.scene import scene
from balance.simulation.pushes import Push

Array = NDArray[np.float64]
Image = NDArray[np.uint8]

PUSH_COLOUR = np.array([0.84, 0.15, 0.16, 1.0], dtype=np.float32)
PUSH_LENGTH = 0.25  # of the arrow, in units of the robot's height
PUSH_WIDTH = 0.012
BALL_COLOUR = np.array([0.90, 0.55, 0.05, 1.0], dtype=np.float32)
ROPE_COLOUR = np.array([0.25, 0.27, 0.30, 1.0], dtype=np.float32)
ROPE_WIDTH_M = 0.004
TOUCH_COLOUR = np.array([0.80, 0.47, 0.65, 1.0], dtype=np.float32)
LONGEST_TOUCH = 0.6  # of an arrow, in robot heights
LEAST_TOUCH = 0.01  # of the weight, that is drawn
NO_TOUCHES = np.zeros((0, 2, 3))
STAYS = 0.15  # way, in robot heights, within which the camera rests
LEAST_PUSH_S = 0.3  # for which a short push is shown
MAX_GEOMS = 2000


class Film:
    """Draws images of one robot; a context manager, for it holds an OpenGL context."""

    def __init__(
        self,
        robot: Robot,
        pushes: Sequence[Push],
        width: int,
        height: int,
        swings: Sequence[Swing] = (),
        states: Sequence[Array] = (),
    ) -> None:
        """``swings`` are the pendulums behind some of the pushes.

        The camera is so far away that the robot fits in as it stands, and in all of ``states``.
        """
        self._robot, self._pushes, self._swings = robot, pushes, swings
        self._pin_data = robot.model.createData()
        self._model = scene(robot, width, height)
        self._data = mujoco.MjData(self._model)
        self._pose(robot.q_nominal)
        shapes = self._model.geom_bodyid > 0
        self._top_m = 1.2 * float(robot.q_nominal[2])
        if shapes.any():
            self._top_m = max(self._top(q, shapes) for q in (robot.q_nominal, *states))
        self._image = np.empty((height, width, 3), dtype=np.uint8)
        self._view = mujoco.MjrRect(0, 0, width, height)
        self._camera = self._make_camera()
        self._options = mujoco.MjvOption()
        self._options.flags[mujoco.mjtVisFlag.mjVIS_INERTIA] = not shapes.any()

    @staticmethod
    def check_drawing() -> None:
        """Raise if nothing can be drawn on this machine."""
        _open_gl(16, 16).free()

    def __enter__(self) -> Film:
        self._gl = _open_gl(self._view.width, self._view.height)
        self._gl.make_current()
        self._scene = mujoco.MjvScene(self._model, MAX_GEOMS)
        self._context = mujoco.MjrContext(self._model, mujoco.mjtFontScale.mjFONTSCALE_100)
        mujoco.mjr_setBuffer(mujoco.mjtFramebuffer.mjFB_OFFSCREEN, self._context)
        return self

    def __exit__(self, *_: object) -> None:
        self._context.free()
        self._gl.free()

    def image(self, time: float, q: Array, touches: Array = NO_TOUCHES) -> Image:
        """The robot at ``q``, pushed as at ``time``: (height, width, 3) bytes, top row first.

        ``touches`` (n, 2, 3) are where bodies touch besides the soles, and with which force, N.
        """
        self._pose(q)
        self._follow(q)
        mujoco.mjv_updateScene(
            self._model,
            self._data,
            self._options,
            None,
            self._camera,
            mujoco.mjtCatBit.mjCAT_ALL.value,
            self._scene,
        )
        self._draw_pushes(time)
        self._draw_pendulums(time)
        self._draw_touches(touches)
        mujoco.mjr_render(self._view, self._scene, self._context)
        mujoco.mjr_readPixels(self._image, None, self._view, self._context)
        return self._image[::-1]  # OpenGL's first row is the lowest

    def _top(self, q: Array, shapes: NDArray[np.bool_]) -> float:
        """Height (m) of the robot at ``q``, nearly."""
        self._pose(q)
        tops = self._data.geom_xpos[:, 2] + 0.7 * self._model.geom_rbound
        return float(tops[shapes].max())

    def _pose(self, q: Array) -> None:
        self._data.qpos[:] = q
        self._data.qpos[3], self._data.qpos[4:7] = q[6], q[3:6]
        mujoco.mj_forward(self._model, self._data)
        pin.framesForwardKinematics(self._robot.model, self._pin_data, q)

    def _make_camera(self) -> mujoco.MjvCamera:
        """From the front left, so far away that the robot and some of a fall fit in.

        A pendulum needs more room.
        """
        camera = mujoco.MjvCamera()
        camera.lookat[:] = [*self._robot.com()[:2], 0.5 * self._top_m]
        camera.distance = (2.1 if self._swings else 1.8) * self._top_m
        camera.azimuth, camera.elevation = 150.0, -12.0
        return camera

    def _follow(self, q: Array) -> None:
        """Turn the camera after a robot that goes away, which is to lie in the middle."""
        way = q[:2] - self._robot.q_nominal[:2]
        length = float(np.linalg.norm(way))
        share = max(0.0, 1.0 - STAYS * self._top_m / length) if length > 0.0 else 0.0
        self._camera.lookat[:2] = self._robot.com()[:2] + share * way

    def _draw_touches(self, touches: Array) -> None:
        """An arrow from each place where bodies touch, long enough to come out of the body."""
        weight = self._robot.mass * float(np.linalg.norm(self._robot.model.gravity.linear))
        for point, force in touches:
            size = float(np.linalg.norm(force))
            if size > LEAST_TOUCH * weight:
                length = LONGEST_TOUCH * np.tanh(1.5 * size / weight) * self._top_m
                self._arrow(point, point + length / size * force, TOUCH_COLOUR)

    def _draw_pushes(self, time: float) -> None:
        """An arrow that ends where a push acts; short pushes stay for a while."""
        for push in self._pushes:
            if not push.start <= time <= max(push.end, push.start + LEAST_PUSH_S):
                continue
            pose = self._pin_data.oMf[frame_id(self._robot.model, push.body)]
            axis = pose.rotation @ push.direction if push.in_body_axes else push.direction
            point = pose.act(push.point)
            length = np.copysign(PUSH_LENGTH * self._top_m, push.impulse)
            self._arrow(point - length * axis, point, PUSH_COLOUR)

    def _draw_pendulums(self, time: float) -> None:
        """A ball on two ropes, until it has swung away; then the next one."""
        rope, sphere = mujoco.mjtGeom.mjGEOM_CAPSULE, mujoco.mjtGeom.mjGEOM_SPHERE
        for swing in [one for one in self._swings if one.shown(time)][:1]:
            ball = swing.ball(time)
            for end in swing.rope_ends:
                self._connect(rope, ROPE_WIDTH_M, end, ball, ROPE_COLOUR)
            self._shape(sphere, np.full(3, swing.radius), ball, BALL_COLOUR)

    def _arrow(self, begin: Array, end: Array, colour: NDArray[np.float32]) -> None:
        width = PUSH_WIDTH * self._top_m
        self._connect(mujoco.mjtGeom.mjGEOM_ARROW, width, begin, end, colour)

    def _connect(
        self,
        kind: mujoco.mjtGeom,
        width: float,
        begin: Array,
        end: Array,
        colour: NDArray[np.float32],
    ) -> None:
        if (geom := self._shape(kind, np.zeros(3), np.zeros(3), colour)) is not None:
            mujoco.mjv_connector(geom, kind, width, begin, end)

    def _shape(
        self, kind: mujoco.mjtGeom, size: Array, place: Array, colour: NDArray[np.float32]
    ) -> mujoco.MjvGeom | None:
        """One more shape in this image; None if it is full."""
        if self._scene.ngeom >= self._scene.maxgeom:
            return None
        geom = self._scene.geoms[self._scene.ngeom]
        mujoco.mjv_initGeom(geom, kind, size, place, np.eye(3).ravel(), colour)
        self._scene.ngeom += 1
        return geom


def _open_gl(width: int, height: int) -> Any:
    """An OpenGL context without a window: EGL on Linux, unless MUJOCO_GL asks for another."""
    try:
        if sys.platform == "linux" and not os.environ.get("MUJOCO_GL"):
            from mujoco.egl import GLContext
        else:
            GLContext = mujoco.GLContext
        return GLContext(width, height)
    except Exception as error:  # noqa: BLE001  the libraries fail in many ways
        reason = " ".join(str(error).split()) or type(error).__name__
        raise FileError(
            f"no film can be drawn, for OpenGL does not work here ({reason}); install EGL "
            "(Debian: libegl1 libgl1-mesa-dri), or choose another by MUJOCO_GL"
        ) from None
