"""Robots from MJCF: the same robot as from the URDF that it was made of."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pinocchio as pin
import pytest
import yaml

import balance
from balance.errors import ConfigError, FileError, RobotError
from balance.robots import Robot, load_robot
from balance.robots.mjcf import read_mjcf, urdf_text

RELATIVE_TOLERANCE = 2e-5  # MuJoCo writes six digits

LEG = """
<mujoco model="rod"><worldbody>
  <geom type="plane" size="1 1 1"/>
  <body name="trunk" pos="0 0 1"><freejoint/>
    <inertial pos="0 0 0" mass="10" diaginertia="1 1 1"/>
    <geom name="belly" type="capsule" size="0.1 0.2" rgba="1 0 0 1"/>
    <body name="leg" pos="0 0 -0.3">
      <inertial pos="0 0 -0.2" mass="2" diaginertia="0.1 0.1 0.01"/>
      <joint name="hip" type="hinge" axis="0 1 0" pos="0 0 0.05" range="-57.3 57.3"
        actuatorfrcrange="-80 80"/>
      <geom type="ellipsoid" size="0.03 0.04 0.2" pos="0 0 -0.2"/>
      <site name="tip" pos="0 0 -0.4"/>
      {more}
    </body>
  </body>
</worldbody></mujoco>
"""


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The TORO-like robot in MuJoCo's own words, and its robot file."""
    mujoco: Any = pytest.importorskip("mujoco", reason="pip install 'pin-balance[mujoco]'")
    folder = tmp_path_factory.mktemp("mjcf")
    toro = load_robot("toro")
    whole = '<mujoco><compiler fusestatic="false" discardvisual="false"/></mujoco>'
    text = toro.urdf.read_text().replace('<robot name="toro">', f'<robot name="toro">{whole}')
    spec = mujoco.MjSpec.from_string(text)
    list(spec.bodies)[1].add_freejoint()
    spec.compile()
    (folder / "toro.xml").write_text(spec.to_xml())
    tree = yaml.safe_load((toro.urdf.parent / "robot.yaml").read_text())
    del tree["urdf"]
    tree |= {"mjcf": "toro.xml", "rated_speed": 5.0}
    (folder / "toro_mjcf.yaml").write_text(yaml.safe_dump(tree))
    return folder


@pytest.fixture(scope="module")
def robot(folder: Path) -> Robot:
    return load_robot(folder / "toro_mjcf.yaml")


def test_masses_limits_and_shapes_are_those_of_the_urdf(robot: Robot, toro: Robot) -> None:
    order = [robot.joint_names.index(name) for name in toro.joint_names]
    assert robot.mass == pytest.approx(toro.mass, rel=RELATIVE_TOLERANCE)
    assert robot.effort_limits[order] == pytest.approx(toro.effort_limits)
    for key in ("lowerPositionLimit", "upperPositionLimit"):
        ours, theirs = (getattr(one.model, key)[7:] for one in (robot, toro))
        assert ours[order] == pytest.approx(theirs, rel=RELATIVE_TOLERANCE)
    assert robot.com() == pytest.approx(toro.com(), abs=1e-6)
    kinds = [sorted((shape.body, shape.kind) for shape in one.shapes) for one in (robot, toro)]
    assert kinds[0] == kinds[1]
    assert robot.height() == pytest.approx(toro.height(), abs=1e-5)


def test_the_mass_matrix_is_that_of_the_urdf(robot: Robot, toro: Robot) -> None:
    rng = np.random.default_rng(3)
    order = [robot.joint_names.index(name) for name in toro.joint_names]
    rows = [*range(6), *(6 + index for index in order)]
    for _ in range(3):
        joints = rng.uniform(-0.5, 0.5, toro.model.nv - 6)
        theirs = pin.neutral(toro.model)
        ours = pin.neutral(robot.model)
        theirs[7:] = joints
        ours[[7 + index for index in order]] = joints
        M_ours = pin.crba(robot.model, robot.model.createData(), ours)
        M_theirs = pin.crba(toro.model, toro.model.createData(), theirs)
        both = [np.triu(M) + np.triu(M, 1).T for M in (M_ours, M_theirs)]
        error = np.abs(both[0][np.ix_(rows, rows)] - both[1]).max()
        assert error < RELATIVE_TOLERANCE * np.abs(both[1]).max()


def test_it_takes_the_push_of_the_paper_as_the_urdf_does(folder: Path) -> None:
    keys = {"duration_s": 1.2, "control_period_s": 0.002}
    ours = balance.run("toro_push", overrides=keys | {"robot": str(folder / "toro_mjcf.yaml")})
    theirs = balance.run("toro_push", overrides=keys)
    peaks = [run.summary()["peak_com_error_m"] for run in (ours, theirs)]
    assert peaks[0] == pytest.approx(peaks[1], rel=1e-3)


def test_a_joint_beside_its_body_a_capsule_and_a_site_are_kept(tmp_path: Path) -> None:
    file, urdf = tmp_path / "rod.xml", tmp_path / "rod.urdf"
    file.write_text(LEG.format(more=""))
    urdf.write_text(urdf_text(file))
    model = pin.buildModelFromUrdf(str(urdf), pin.JointModelFreeFlyer())
    wanted = read_mjcf(file)
    q, data, other = pin.neutral(model), model.createData(), wanted.createData()
    q[7] = 0.4
    pin.framesForwardKinematics(model, data, q)
    pin.framesForwardKinematics(wanted, other, q)
    for name in ("trunk", "leg", "tip"):
        mine, theirs = data.oMf[model.getFrameId(name)], other.oMf[wanted.getFrameId(name)]
        assert mine.homogeneous == pytest.approx(theirs.homogeneous, abs=1e-9)
    text = urdf.read_text()
    assert text.count("<sphere") == 4 and "plane" not in text  # two ends, seen and touched
    assert model.upperEffortLimit[6] == 80.0
    assert model.upperPositionLimit[7] == pytest.approx(np.radians(57.3))


def test_a_joint_of_several_axes_is_refused_by_name(tmp_path: Path) -> None:
    file = tmp_path / "rod.xml"
    ball = (
        '<body name="foot" pos="0 0 -0.4"><inertial pos="0 0 0" mass="1" diaginertia="1 1 1"/>'
        '<joint name="ankle" type="ball"/></body>'
    )
    file.write_text(LEG.format(more=ball))
    with pytest.raises(RobotError, match="joint 'ankle' has several axes"):
        urdf_text(file)
    file.write_text("<mujoco><nonsense")
    with pytest.raises(RobotError, match="cannot be loaded"):
        urdf_text(file)


def test_a_file_has_one_model(tmp_path: Path, folder: Path) -> None:
    tree = yaml.safe_load((folder / "toro_mjcf.yaml").read_text())
    path = tmp_path / "robot.yaml"
    path.write_text(yaml.safe_dump(tree | {"urdf": "toro.urdf"}))
    with pytest.raises(ConfigError, match="give either urdf or mjcf"):
        load_robot(path)
    path.write_text(yaml.safe_dump(tree | {"mjcf": "nowhere.xml"}))
    with pytest.raises(FileError, match=r"the MJCF file .*nowhere.xml does not exist"):
        load_robot(path)
