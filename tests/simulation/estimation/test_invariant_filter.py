"""The filter's linear error model is that of the motion, and its covariance that of its errors."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import pinocchio as pin
import pytest
from numpy.typing import NDArray
from scipy.stats import chi2

from balance.simulation.estimation.errors import base_errors, plain_stds
from balance.simulation.estimation.invariant_filter import BODY, InvariantFilter

Array = NDArray[np.float64]

GRAVITY = np.array([0.0, 0.0, -9.81])
DT = 0.01
FEET = [
    pin.SE3(pin.rpy.rpyToMatrix(0.1, 0.2, -0.3), np.array([0.1, 0.1, -0.9])),
    pin.SE3(np.eye(3), np.array([0.0, -0.1, -0.9])),
]
N = BODY + 6 * len(FEET) + 6


def filter_at(pose: pin.SE3) -> InvariantFilter:
    return InvariantFilter(pose, FEET, GRAVITY)


def perturbed(base: InvariantFilter, xi: Array) -> InvariantFilter:
    """The state exp(xi) X, by the definition of the error of each part."""
    result = filter_at(pin.SE3(base.rotation, base.position))
    turn, left = pin.exp3(xi[:3]), pin.Jexp3(-xi[:3])
    result.rotation = turn @ base.rotation
    result.velocity = turn @ base.velocity + left @ xi[3:6]
    result.position = turn @ base.position + left @ xi[6:9]
    for i in range(len(FEET)):
        at = BODY + 6 * i
        result.feet[i] = turn @ base.feet[i] + left @ xi[at : at + 3]
        result.foot_rotations[i] = pin.exp3(xi[at + 3 : at + 6]) @ base.foot_rotations[i]
    result.gyro_bias = base.gyro_bias + xi[-6:-3]
    result.accel_bias = base.accel_bias + xi[-3:]
    return result


def error(estimate: InvariantFilter, truth: InvariantFilter) -> Array:
    """xi with estimate = exp(xi) truth."""
    turn = estimate.rotation @ truth.rotation.T
    xi = np.zeros(N)
    xi[:3] = pin.log3(turn)
    inverse = np.linalg.inv(pin.Jexp3(-xi[:3]))
    xi[3:6] = inverse @ (estimate.velocity - turn @ truth.velocity)
    xi[6:9] = inverse @ (estimate.position - turn @ truth.position)
    for i in range(len(FEET)):
        at = BODY + 6 * i
        xi[at : at + 3] = inverse @ (estimate.feet[i] - turn @ truth.feet[i])
        xi[at + 3 : at + 6] = pin.log3(estimate.foot_rotations[i] @ truth.foot_rotations[i].T)
    xi[-6:-3] = estimate.gyro_bias - truth.gyro_bias
    xi[-3:] = estimate.accel_bias - truth.accel_bias
    return xi


@pytest.fixture
def moving() -> InvariantFilter:
    rng = np.random.default_rng(0)
    state = filter_at(pin.SE3(pin.exp3(rng.normal(size=3)), rng.normal(size=3)))
    state.velocity = rng.normal(size=3)
    state.gyro_bias, state.accel_bias = 0.1 * rng.normal(size=3), 0.1 * rng.normal(size=3)
    return state


def test_a_small_error_grows_as_the_covariance_says(moving: InvariantFilter) -> None:
    """Without noise a covariance xi xi^T becomes that of the error after the step."""
    rng = np.random.default_rng(1)
    xi = 1e-5 * rng.normal(size=N)
    gyro, accel = rng.normal(size=3), 10.0 * rng.normal(size=3)
    other = perturbed(moving, xi)
    np.testing.assert_allclose(error(other, moving), xi, atol=1e-14)
    moving.covariance = np.outer(xi, xi)
    quiet, dt = np.zeros(12), 1e-4
    moving.propagate(gyro, accel, dt, quiet)
    other.propagate(gyro, accel, dt, quiet)
    grown = error(other, moving)
    assert np.abs(grown - xi).max() > 5e-9, "the error must change to be a test"
    # What is left are terms of second order in dt: the change above makes some 1e-13.
    np.testing.assert_allclose(moving.covariance, np.outer(grown, grown), rtol=0, atol=2e-16)


def test_the_measurement_of_the_feet_undoes_an_error(moving: InvariantFilter) -> None:
    """Nothing but the feet is uncertain, and the measurement exact: they are put right."""
    xi = np.zeros(N)
    xi[BODY:-6] = 1e-3 * np.random.default_rng(2).normal(size=12)
    wrong = perturbed(moving, xi)
    wrong.covariance[BODY:-6, BODY:-6] = np.eye(12)
    pose = pin.SE3(moving.rotation, moving.position)
    seen = [
        pose.actInv(pin.SE3(C, d)) for C, d in zip(moving.foot_rotations, moving.feet, strict=True)
    ]
    wrong.correct(seen, 1e-12 * np.eye(12))
    np.testing.assert_allclose(error(wrong, moving)[BODY:-6], 0.0, atol=1e-8)
    np.testing.assert_allclose(np.diag(wrong.covariance)[BODY:-6], 0.0, atol=1e-10)


def test_anchoring_makes_the_feet_as_uncertain_as_the_body(moving: InvariantFilter) -> None:
    """Feet that are known relative to the body only move with its error."""
    P = np.zeros((N, N))
    P[:9, :9] = np.diag(np.arange(1.0, 10.0)) ** 2
    moving.covariance = P
    moving.anchor(np.full(12, 0.1))
    difference = np.zeros((12, N))
    difference[:, BODY:-6] = np.eye(12)
    for i in range(2):
        difference[6 * i : 6 * i + 3, 6:9] = difference[6 * i + 3 : 6 * i + 6, :3] = -np.eye(3)
    relative = difference @ moving.covariance @ difference.T
    np.testing.assert_allclose(relative, 0.01 * np.eye(12), atol=1e-12)


def base_state(body: InvariantFilter) -> Array:
    """Position, quaternion, velocity in body axes; the angular velocity does not matter."""
    pose = pin.SE3ToXYZQUAT(pin.SE3(body.rotation, body.position))
    return np.concatenate([pose, body.rotation.T @ body.velocity, np.zeros(3)])


@dataclass(frozen=True)
class Noise:
    """Densities of a simulated robot, and standard deviations of its biases and kinematics."""

    gyro: float = 1e-3
    accel: float = 1e-2
    gyro_bias: float = 0.01
    accel_bias: float = 0.05
    foot: float = 2e-3
    kinematics: float = 1e-3


def simulated_nees(rng: np.random.Generator, noise: Noise, steps: int) -> tuple[float, Array]:
    """xi^T P^-1 xi of the body's nine errors after a run, and the plain errors."""
    truth = filter_at(pin.SE3(np.eye(3), np.array([0.0, 0.0, 0.9])))
    start = np.concatenate([[0.02, 0.02, 1e-3], [0.05] * 3, [1e-3] * 3])
    P = np.zeros((N, N))
    biases = [noise.gyro_bias] * 3 + [noise.accel_bias] * 3
    np.fill_diagonal(P, np.concatenate([start, np.zeros(12), biases]) ** 2)
    xi = np.sqrt(np.diag(P)) * rng.normal(size=N)
    # The feet are known relative to the body, up to the kinematics.
    for i in range(2):
        at = BODY + 6 * i
        xi[at : at + 3], xi[at + 3 : at + 6] = xi[6:9], xi[:3]
    xi[BODY:-6] += noise.kinematics * rng.normal(size=12)
    truth.gyro_bias, truth.accel_bias = -xi[-6:-3], -xi[-3:]
    estimate = perturbed(truth, xi)
    estimate.covariance = P
    estimate.anchor(np.full(12, noise.kinematics))
    estimate.gyro_noise, estimate.accel_noise = noise.gyro, noise.accel
    for step in range(steps):
        t = step * DT
        omega = 0.5 * np.array([np.sin(3 * t), np.cos(2 * t), 0.3])
        gyro = omega + noise.gyro / np.sqrt(DT) * rng.normal(size=3) + truth.gyro_bias
        turned = truth.rotation @ pin.exp3(DT * omega)
        force = turned.T @ (np.array([np.cos(4 * t), np.sin(5 * t), 0.2]) - GRAVITY)
        accel = force + noise.accel / np.sqrt(DT) * rng.normal(size=3) + truth.accel_bias
        truth.propagate(omega + truth.gyro_bias, force + truth.accel_bias, DT, np.zeros(12))
        walk = noise.foot * np.sqrt(DT) * rng.normal(size=(2, 6))
        truth.feet += walk[:, :3]
        truth.foot_rotations = np.array(
            [pin.exp3(w[3:]) @ C for w, C in zip(walk, truth.foot_rotations, strict=True)]
        )
        estimate.propagate(gyro, accel, DT, np.full(12, noise.foot))
        pose = pin.SE3(truth.rotation, truth.position)
        seen = []
        for C, d in zip(truth.foot_rotations, truth.feet, strict=True):
            exact = pose.actInv(pin.SE3(C, d))
            n = noise.kinematics * rng.normal(size=6)
            seen.append(pin.SE3(pin.exp3(n[3:]) @ exact.rotation, exact.translation + n[:3]))
        estimate.correct(seen, noise.kinematics**2 * np.eye(12))
    xi = error(estimate, truth)[:BODY]
    nees = float(xi @ np.linalg.solve(estimate.covariance[:BODY, :BODY], xi))
    plain = base_errors(base_state(estimate)[None], base_state(truth)[None])[0]
    np.testing.assert_allclose(plain[:3], estimate.position - truth.position, atol=1e-12)
    np.testing.assert_allclose(plain[6:], estimate.velocity - truth.velocity, atol=1e-12)
    spread = [estimate.position, estimate.velocity, estimate.covariance[:9, :9].ravel()]
    scaled = plain / plain_stds(np.concatenate(spread)[None])[0]
    return nees, scaled


def test_errors_are_as_large_as_the_covariance_says() -> None:
    """Normalised squared errors of 30 simulated runs add up to a chi-square of 9 x 30 degrees."""
    runs = 30
    results = [simulated_nees(np.random.default_rng(s), Noise(), 80) for s in range(runs)]
    total = sum(nees for nees, _ in results)
    low, high = chi2.ppf([0.005, 0.995], BODY * runs)
    assert low < total < high
    # The same of the plain errors in world axes, which the recording shows.
    squares = np.sum([scaled**2 for _, scaled in results], axis=0)
    low, high = chi2.ppf([0.0005, 0.9995], runs)
    assert (low < squares).all() and (squares < high).all()
