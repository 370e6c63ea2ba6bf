"""One array holds all joint placements, and follows Pinocchio's data."""

from __future__ import annotations

import numpy as np
import pinocchio as pin

from balance.dynamics.placements import frame_points, joint_placements

EXACT = 1e-14


def test_view_has_every_joints_axes_and_origin_and_follows_the_data() -> None:
    model = pin.buildSampleModelHumanoidRandom()
    data = model.createData()
    placements = joint_placements(data)
    rng = np.random.default_rng(1)
    for _ in range(3):
        q = pin.integrate(model, pin.neutral(model), rng.uniform(-1.0, 1.0, model.nv))
        pin.forwardKinematics(model, data, q)
        assert placements.shape == (model.njoints, 4, 3)
        for joint, placement in enumerate(data.oMi):
            np.testing.assert_array_equal(placements[joint, :3], placement.rotation.T)
            np.testing.assert_array_equal(placements[joint, 3], placement.translation)


def test_one_product_places_a_frame_and_its_points() -> None:
    model = pin.buildSampleModelHumanoidRandom()
    data = model.createData()
    pin.forwardKinematics(
        model, data, pin.randomConfiguration(model, -np.ones(model.nq), np.ones(model.nq))
    )
    joint, placement = model.njoints - 1, pin.SE3.Random()
    points = np.random.default_rng(2).normal(size=(5, 3))
    placed = frame_points(placement, points) @ joint_placements(data)[joint]
    X_WF = data.oMi[joint] * placement
    np.testing.assert_allclose(placed[:3], X_WF.rotation.T, atol=EXACT)
    np.testing.assert_allclose(placed[3], X_WF.translation, atol=EXACT)
    np.testing.assert_allclose(placed[4:], [X_WF.act(point) for point in points], atol=EXACT)
