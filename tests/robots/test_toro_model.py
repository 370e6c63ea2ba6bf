"""The TORO-like robot has the published proportions, limits and mass, and is its own mirror image.

The figures below are written out again on purpose: they are the facts, not what build.py made.
"""

import subprocess
import sys
from pathlib import Path

import numpy as np
import pinocchio as pin
import pytest

FOLDER = Path(__file__).parents[2] / "robots" / "toro"
URDF = FOLDER / "toro.urdf"

EXACT = 1e-9  # URDF numbers carry 9 digits
SEED = 2015

# joint: point (m, right side, z above the sole), lower, upper (rad), torque (N m), speed (rad/s)
MIDDLE = {
    "waist_yaw": ((0, 0, 1.164), -2.09, 2.09, 100, 2.74),
    "neck_yaw": ((0.055, 0, 1.515), -1.57, 1.57, 8.4, 4.71),
    "neck_pitch": ((0.020, 0, 1.565), -0.52, 1.57, 8.4, 4.71),
}
SIDES = {
    "hip_roll": ((0, -0.100, 1.039), -1.57, 0.785, 176, 1.92),
    "hip_pitch": ((0, -0.135, 0.919), -2.01, 1.57, 100, 2.74),
    "hip_yaw": ((0, -0.135, 0.919), -2.09, 2.09, 100, 2.74),
    "knee": ((0, -0.135, 0.519), 0, 1.83, 165, 3.07),
    "ankle_roll": ((0, -0.113, 0.119), -0.34, 0.34, 50, 2.09),
    "ankle_pitch": ((0, -0.113, 0.119), -0.78, 0.78, 165, 3.07),
    "shoulder_1": ((0, -0.259, 1.520), -2.09, 2.09, 100, 2.74),
    "shoulder_2": ((0.054, -0.259, 1.520), -0.26, 3.14, 100, 2.74),
    "shoulder_3": ((0.054, -0.259, 1.520), -1.83, 1.83, 40, 2.09),
    "elbow": ((0.084, -0.259, 1.207), 0, 2.58, 40, 2.09),
    "forearm_yaw": ((0.054, -0.248, 0.901), -2.53, 2.06, 40, 2.09),
    "wrist": ((0.068, -0.248, 0.845), -1.83, 1.83, 40, 2.09),
}
FACTS = MIDDLE | {
    f"{side}_{name}": row for side in ("left", "right") for name, row in SIDES.items()
}
RIGHT_AXES = {
    "hip_roll": (1, 0, 0),
    "hip_pitch": (0, 1, 0),
    "hip_yaw": (0, 0, 1),
    "knee": (0, 1, 0),
    "ankle_roll": (1, 0, 0),
    "ankle_pitch": (0, 1, 0),
    "shoulder_1": (0, -0.866, 0.5),
    "shoulder_2": (-1, 0, 0),
    "shoulder_3": (0, 0, -1),
    "elbow": (0, -1, 0),
    "forearm_yaw": (0, 0, -1),
    "wrist": (-1, 0, 0),
}
REFLECTION = np.diag([1.0, -1.0, 1.0])


@pytest.fixture(scope="module")
def model() -> pin.Model:
    return pin.buildModelFromUrdf(str(URDF), pin.JointModelFreeFlyer())


def posture(model: pin.Model, height: float, angles: dict[str, float]) -> np.ndarray:
    """A configuration with the hip upright at `height`."""
    q = pin.neutral(model)
    q[2] = height
    for name, angle in angles.items():
        q[model.joints[model.getJointId(name)].idx_q] = angle
    return q


def standing(model: pin.Model, knee: float) -> np.ndarray:
    """Flat feet below an upright trunk, arms hanging; the soles on the ground."""
    angles = {"hip_pitch": -knee / 2, "knee": knee, "ankle_pitch": -knee / 2}
    both = {f"{side}_{name}": value for side in ("left", "right") for name, value in angles.items()}
    height = 0.120 + 2 * 0.400 * np.cos(knee / 2) + 0.119
    return posture(model, height, both)


def swap_side(name: str) -> str:
    if name.startswith("left_"):
        return name.replace("left_", "right_", 1)
    return name.replace("right_", "left_", 1)


def mirror(model: pin.Model, q: np.ndarray) -> np.ndarray:
    """The configuration of the mirror image: sides swapped, waist and neck yaw negated."""
    mirrored = q.copy()
    mirrored[1] *= -1
    mirrored[[3, 5]] *= -1
    for name in FACTS:
        sign = -1 if name in ("waist_yaw", "neck_yaw") else 1
        target = model.joints[model.getJointId(swap_side(name))].idx_q
        mirrored[target] = sign * q[model.joints[model.getJointId(name)].idx_q]
    return mirrored


def extent(shape: pin.GeometryObject, R: np.ndarray) -> np.ndarray:
    """Half the size of a shape with orientation R along the three axes (support function)."""
    solid = shape.geometry
    match type(solid).__name__:
        case "Box":
            return np.abs(R) @ solid.halfSide
        case "Sphere":
            return np.full(3, solid.radius)
        case "Cylinder":
            across = np.sqrt(np.clip(1 - R[:, 2] ** 2, 0, None))
            return solid.halfLength * np.abs(R[:, 2]) + solid.radius * across
    raise AssertionError(f"{shape.name} is not a primitive")


def bounds(model: pin.Model, kind: pin.GeometryType) -> dict[str, tuple[np.ndarray, np.ndarray]]:
    """Lowest and highest corner of every shape in the zero pose, z above the sole."""
    shapes = pin.buildGeomFromUrdf(model, str(URDF), kind)
    data, placed = model.createData(), shapes.createData()
    pin.updateGeometryPlacements(model, data, shapes, placed, standing(model, 0.0))
    return {
        shape.name: (
            X.translation - extent(shape, X.rotation),
            X.translation + extent(shape, X.rotation),
        )
        for shape, X in zip(shapes.geometryObjects, placed.oMg, strict=True)
    }


def test_build_script_reproduces_the_urdf_byte_for_byte(tmp_path: Path) -> None:
    copy = tmp_path / "copy.urdf"
    subprocess.run([sys.executable, "-B", str(FOLDER / "build.py"), str(copy)], check=True)
    assert copy.read_bytes() == URDF.read_bytes()


def test_the_robot_has_27_named_joints_and_the_base_link_hip(model: pin.Model) -> None:
    assert set(list(model.names)[2:]) == set(FACTS)
    assert model.nv == 6 + 27
    assert model.existBodyName("hip")
    base = model.frames[model.getFrameId("hip", pin.FrameType.BODY)]
    assert model.names[base.parentJoint] == "root_joint"
    assert base.placement.isIdentity(EXACT)


def test_every_frame_name_is_unique(model: pin.Model) -> None:
    names = [frame.name for frame in model.frames]
    assert len(set(names)) == len(names)


def test_mass_is_77_5_kg(model: pin.Model) -> None:
    assert pin.computeTotalMass(model) == pytest.approx(77.5, abs=0.1)


@pytest.mark.parametrize("name", FACTS)
def test_joint_has_the_place_and_limits_of_the_table(model: pin.Model, name: str) -> None:
    point, lower, upper, torque, speed = FACTS[name]
    data = model.createData()
    pin.forwardKinematics(model, data, standing(model, 0.0))
    index = model.getJointId(name)
    expected = REFLECTION @ point if name.startswith("left_") else np.array(point)
    np.testing.assert_allclose(data.oMi[index].translation, expected, atol=EXACT)
    np.testing.assert_allclose(data.oMi[index].rotation, np.eye(3), atol=EXACT)
    iq, iv = model.joints[index].idx_q, model.joints[index].idx_v
    assert model.lowerPositionLimit[iq] == pytest.approx(lower, abs=EXACT)
    assert model.upperPositionLimit[iq] == pytest.approx(upper, abs=EXACT)
    assert model.upperEffortLimit[iv] == pytest.approx(torque, abs=EXACT)
    assert model.upperVelocityLimit[iv] == pytest.approx(speed, abs=EXACT)
    assert model.lowerEffortLimit[iv] == -model.upperEffortLimit[iv]


@pytest.mark.parametrize("name", RIGHT_AXES)
def test_right_axis_is_the_tables_and_left_axis_its_mirrored_pseudo_vector(
    model: pin.Model, name: str
) -> None:
    rounding = 1e-4  # the table rounds sqrt(3)/2 to 0.866
    data = model.createData()
    pin.computeJointJacobians(model, data, standing(model, 0.0))
    right, left = (
        pin.getJointJacobian(model, data, model.getJointId(f"{side}_{name}"), pin.WORLD)[
            3:, model.joints[model.getJointId(f"{side}_{name}")].idx_v
        ]
        for side in ("right", "left")
    )
    np.testing.assert_allclose(right, RIGHT_AXES[name], atol=rounding)
    np.testing.assert_allclose(left, -REFLECTION @ right, atol=EXACT)


def test_every_inertia_is_positive_definite_with_triangle_inequality(model: pin.Model) -> None:
    for name, body in zip(list(model.names)[1:], list(model.inertias)[1:], strict=True):
        moments = np.linalg.eigvalsh(body.inertia)
        assert body.mass > 0, name
        assert moments[0] > 0, name
        assert moments[2] < moments[0] + moments[1], name


def test_every_link_with_mass_has_a_shape_and_shapes_touch_the_ground_and_1_7_m(
    model: pin.Model,
) -> None:
    visual = bounds(model, pin.GeometryType.VISUAL)
    drawn = {name.rsplit("_", 1)[0] for name in visual}
    bodies = {f.name for f in model.frames if f.type == pin.FrameType.BODY}
    assert drawn == bodies - {"left_sole", "right_sole"}
    for shapes in (visual, bounds(model, pin.GeometryType.COLLISION)):
        assert max(high[2] for _, high in shapes.values()) == pytest.approx(1.7, abs=0.01)
        assert min(low[2] for low, _ in shapes.values()) == pytest.approx(0.0, abs=EXACT)


@pytest.mark.parametrize("side", ["left", "right"])
def test_sole_is_the_published_rectangle_around_its_frame(model: pin.Model, side: str) -> None:
    data = model.createData()
    pin.framesForwardKinematics(model, data, standing(model, 0.0))
    sole = data.oMf[model.getFrameId(f"{side}_sole")]
    y = 0.113 if side == "left" else -0.113
    np.testing.assert_allclose(sole.translation, [0, y, 0], atol=EXACT)
    np.testing.assert_allclose(sole.rotation, np.eye(3), atol=EXACT)
    (plate,) = (
        box
        for name, box in bounds(model, pin.GeometryType.COLLISION).items()
        if name.startswith(f"{side}_foot")
    )
    low, high = (corner - sole.translation for corner in plate)
    np.testing.assert_allclose(low, [-0.055, -0.0475, 0.0], atol=EXACT)
    np.testing.assert_allclose(high[:2], [0.135, 0.0475], atol=EXACT)
    assert high[2] < 0.02


def test_bodies_that_touch_the_ground_in_a_fall_have_collision_shapes(model: pin.Model) -> None:
    solid = {name.rsplit("_", 1)[0] for name in bounds(model, pin.GeometryType.COLLISION)}
    sides = ("upper_thigh", "lower_thigh", "shank", "foot", "upper_arm", "forearm", "hand")
    assert solid >= {"hip", "trunk", "head"} | {
        f"{s}_{n}" for s in ("left", "right") for n in sides
    }


def test_mirrored_configuration_mirrors_bodies_com_and_inertia(model: pin.Model) -> None:
    rng = np.random.default_rng(SEED)
    data, other = model.createData(), model.createData()
    for _ in range(20):
        q = pin.neutral(model)
        q[:3] = rng.uniform(-1, 1, 3)
        q[3:7] = pin.Quaternion(pin.exp3(rng.normal(size=3))).coeffs()
        q[7:] = rng.uniform(model.lowerPositionLimit[7:], model.upperPositionLimit[7:])
        for store, configuration in ((data, q), (other, mirror(model, q))):
            pin.framesForwardKinematics(model, store, configuration)
            pin.ccrba(model, store, configuration, np.zeros(model.nv))
        np.testing.assert_allclose(other.com[0], REFLECTION @ data.com[0], atol=EXACT)
        inertia = REFLECTION @ data.Ig.inertia @ REFLECTION
        np.testing.assert_allclose(other.Ig.inertia, inertia, atol=1e-7)  # kg m2
        for frame in model.frames:
            if frame.type != pin.FrameType.BODY:
                continue
            image = other.oMf[model.getFrameId(swap_side(frame.name))]
            own = data.oMf[model.getFrameId(frame.name)]
            np.testing.assert_allclose(image.translation, REFLECTION @ own.translation, atol=EXACT)
            rotation = REFLECTION @ own.rotation @ REFLECTION
            np.testing.assert_allclose(image.rotation, rotation, atol=EXACT)


def test_shapes_are_mirror_symmetric(model: pin.Model) -> None:
    for kind in (pin.GeometryType.VISUAL, pin.GeometryType.COLLISION):
        shapes = bounds(model, kind)
        for name, (low, high) in shapes.items():
            other_low, other_high = shapes[swap_side(name)]
            np.testing.assert_allclose(other_low[[0, 2]], low[[0, 2]], atol=1e-8)
            np.testing.assert_allclose(other_high[[0, 2]], high[[0, 2]], atol=1e-8)
            assert other_low[1] == pytest.approx(-high[1], abs=1e-8)


@pytest.mark.parametrize(("knee", "height"), [(0.8, 0.945), (0.6, 0.970)])
def test_com_height_is_near_the_estimate(model: pin.Model, knee: float, height: float) -> None:
    tolerance = 0.01  # m; the estimate depends on how the arms are held
    data = model.createData()
    com = pin.centerOfMass(model, data, standing(model, knee))
    assert com[2] == pytest.approx(height, abs=tolerance)
    assert -0.055 < com[0] < 0.135, "the CoM must be above the soles"
    assert com[1] == pytest.approx(0.0, abs=EXACT)


def test_soles_are_flat_on_the_ground_with_bent_knees(model: pin.Model) -> None:
    data = model.createData()
    pin.framesForwardKinematics(model, data, standing(model, 0.8))
    for side in ("left", "right"):
        sole = data.oMf[model.getFrameId(f"{side}_sole")]
        np.testing.assert_allclose(sole.rotation, np.eye(3), atol=EXACT)
        assert sole.translation[2] == pytest.approx(0.0, abs=EXACT)


def test_inertia_about_the_com_is_near_the_estimate(model: pin.Model) -> None:
    tolerance = 0.05  # relative
    data = model.createData()
    pin.ccrba(model, data, standing(model, 0.8), np.zeros(model.nv))
    np.testing.assert_allclose(np.diag(data.Ig.inertia), [16.0, 15.0, 2.6], rtol=tolerance)
