"""Robots that the experiments of one process share: reading one takes as long as a short run.

What is found out about a robot, its shapes or what its body can do, is then found out once, too.
"""

from __future__ import annotations

import os
from collections import OrderedDict
from collections.abc import Callable, Hashable, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pinocchio as pin
from numpy.typing import NDArray

from balance.robots.robot import Robot, load_robot, robot_path
from balance.robots.shapes.fit_cache import cache_folder

MOST = 16  # robots, or stances of them; the one that was not asked for longest goes first


@dataclass(frozen=True)
class _Shared:
    """A robot, and by what to tell whether it is still what its files say."""

    robot: Robot
    model: pin.Model
    q_nominal: NDArray[np.float64]
    urdf: Hashable

    def is_as_read(self) -> bool:
        robot = self.robot
        return (
            _stamp(robot.urdf) == self.urdf
            and bool(np.array_equal(robot.q_nominal, self.q_nominal))
            and robot.model == self.model
        )


_shared: OrderedDict[Hashable, _Shared] = OrderedDict()


def shared_robot(
    name_or_yaml: str | Path,
    folders: Sequence[Path],
    stance: str = "",
    stand: Callable[[Robot], Robot] | None = None,
) -> Robot:
    """As :func:`balance.load_robot`, but the same object as long as its files are the same.

    ``stance`` names what ``stand`` makes of it.  Whoever changes its model or its posture gets that
    robot for himself: the next to ask reads the files anew.
    """
    path = robot_path(name_or_yaml, folders)
    key = (os.path.abspath(path), _stamp(path), stance)
    found = _shared.get(key)
    if found is not None and found.is_as_read():
        _shared.move_to_end(key)
        return found.robot
    robot = load_robot(path)
    robot = robot if stand is None else stand(robot)
    if not robot.urdf.is_relative_to(cache_folder().parent):  # made of a file that we do not watch
        copies = robot.model.copy(), robot.q_nominal.copy()
        _shared[key] = _Shared(robot, *copies, _stamp(robot.urdf))
        while len(_shared) > MOST:
            _shared.popitem(last=False)
    return robot


def _stamp(path: Path) -> Hashable:
    try:
        found = os.stat(path)
    except OSError:
        return None
    return found.st_mtime_ns, found.st_size, found.st_ino
