"""Law and robot on its contacts, linearised about the standing posture by differentiation.

While the contacts hold, the robot moves in n = nv - rank(J_c) directions N of its configuration.  A
state x = (xi, nu) of 2n numbers are a displacement N xi and a velocity N nu.  From one control
period to the next

    x+ = A_p x + B tau + b_p j,        tau = K x,        A = A_p + B K,

with torques tau and impulses j of pushes, all deviations from standing.  The matrices are central
differences of the very steps that a simulation takes: of the law's ``step`` and of the Pinocchio
plant's, contacts welded.  So the sampling of a discrete loop is in them exactly.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pinocchio as pin
from numpy.typing import NDArray
from scipy.linalg import null_space

from balance.config import ExperimentConfig
from balance.config.actuators import PERFECT_DRIVES
from balance.control import Controller, make_controller
from balance.errors import ConfigError
from balance.experiment import Experiment
from balance.robots import Robot
from balance.robots.contact_rows import held_part
from balance.simulation.plants.interface import BodyImpulse, Plant
from balance.simulation.pushes import Push

Array = NDArray[np.float64]

STEP = 1e-6  # of the differences: m, rad and their rates; N m and N s
RANK_TOLERANCE = 1e-9


@dataclass(frozen=True)
class LinearLoop:
    """The matrices of the linearised loop, and the experiment they belong to.

    Outputs: ``com`` (3, 2n) and ``rotation`` (3, 2n) errors; ``commanded`` (6 k, 2n) contact
    wrenches of the law; ``measured`` (6 k, 2n) and ``measured_push`` (6 k, pushes) those of the
    ground under the law's torques, from state and impulse.
    """

    experiment: Experiment
    N: Array
    A_p: Array
    B: Array
    K: Array
    push: Array
    com: Array
    rotation: Array
    commanded: Array
    commanded_rest: Array
    measured: Array
    measured_push: Array
    measured_rest: Array
    rest_error: float
    """Largest acceleration (m/s^2, rad/s^2) of the standing robot: zero if it is at rest."""

    @property
    def A(self) -> Array:
        """(2n, 2n) the closed loop, from one control period to the next."""
        return self.A_p + self.B @ self.K

    @property
    def period(self) -> float:
        """The control period, s."""
        return self.experiment.config.control_period_s

    @property
    def robot(self) -> Robot:
        """The robot that is simulated."""
        return self.experiment.robot

    @property
    def pushes(self) -> list[Push]:
        """The pushes of the experiment."""
        return self.experiment.pushes


def linearise(config: ExperimentConfig, robot_folders: Sequence[Path] = ()) -> LinearLoop:
    """The loop of an experiment without its sensors and drives, about the robot's posture."""
    if config.phases:
        raise ConfigError("phases have no one posture to be linear about; give one stance")
    experiment = Experiment(ideal(config), robot_folders)
    robot = experiment.robot
    N = free_directions(robot)
    law, step = _Law(experiment.controller, robot, N), _Step(experiment, N)
    states = 2 * N.shape[1]
    torques, commanded = law(np.zeros(states))
    step.torques = torques

    nothing = np.zeros(states), np.zeros_like(torques), np.zeros(len(experiment.pushes))
    rest, measured = step(*nothing)
    K, W = differences(law, states)
    A_p, M_x = differences(lambda x: step(x, *nothing[1:]), states)
    B, M_tau = differences(lambda tau: step(nothing[0], tau, nothing[2]), torques.size)
    b_p, M_p = differences(lambda j: step(*nothing[:2], j), len(experiment.pushes))
    com, rotation = _outputs(robot, N)
    return LinearLoop(
        experiment=experiment,
        N=N,
        A_p=A_p,
        B=B,
        K=K,
        push=b_p,
        com=com,
        rotation=rotation,
        commanded=W,
        commanded_rest=commanded,
        measured=M_x + M_tau @ K,
        measured_push=M_p,
        measured_rest=measured,
        rest_error=float(np.abs(rest[N.shape[1] :]).max() / config.control_period_s),
    )


def ideal(config: ExperimentConfig) -> ExperimentConfig:
    """The experiment on welded contacts, with perfect sensors and drives."""
    plant = config.plant.model_copy(update={"engine": "pinocchio", "contact": "welded"})
    return config.model_copy(
        update={"plant": plant, "sensors": None, "actuators": PERFECT_DRIVES, "state": True}
    )


def free_directions(robot: Robot) -> Array:
    """(nv, n) orthonormal basis of the velocities that move nothing that a contact holds."""
    model, data = robot.model, robot.model.createData()
    pin.computeJointJacobians(model, data, robot.q_nominal)
    pin.updateFramePlacements(model, data)
    J = []
    for sole in robot.soles:
        J_F = pin.getFrameJacobian(model, data, sole.frame_id, pin.LOCAL)
        if sole.has_area:  # what holds its body still, wherever on it
            J.append(J_F)
        else:
            J_S = sole.placement.toActionMatrixInverse() @ J_F
            J.append(held_part(sole, sole.pose(data).rotation, J_S))
    return np.asarray(null_space(np.concatenate(J), rcond=RANK_TOLERANCE))


Columns = tuple[Array, Array]


def differences(function: Callable[[Array], Columns], size: int) -> Columns:
    """Jacobians of the two results of ``function`` at zero, by central differences."""
    first, second = [], []
    for i in range(size):
        delta = np.zeros(size)
        delta[i] = STEP
        above, below = function(delta), function(-delta)
        first.append((above[0] - below[0]) / (2.0 * STEP))
        second.append((above[1] - below[1]) / (2.0 * STEP))
    if not first:
        zero = function(np.zeros(0))
        return np.zeros((zero[0].size, 0)), np.zeros((zero[1].size, 0))
    return np.stack(first, axis=1), np.stack(second, axis=1)


class _Law:
    """Torques and wrenches of the law as a function of the state."""

    def __init__(self, controller: Controller, robot: Robot, N: Array) -> None:
        self._controller, self._robot, self._N = controller, robot, N

    def __call__(self, x: Array) -> Columns:
        n, N = self._N.shape[1], self._N
        q = pin.integrate(self._robot.model, self._robot.q_nominal, N @ x[:n])
        output = self._controller.step(q, N @ x[n:], 0.0)
        return output.torques.copy(), output.wrenches.ravel().copy()


class _Step:
    """State after a control period, and mean contact wrenches in it, with the torques held."""

    def __init__(self, experiment: Experiment, N: Array) -> None:
        self._plant: Plant = experiment.plant
        self._robot, self._pushes, self._N = experiment.robot, experiment.pushes, N
        self._substeps = experiment.config.n_substeps
        self.torques = np.zeros(self._robot.model.nv - 6)

    def __call__(self, x: Array, torques: Array, impulses: Array) -> Columns:
        plant, model, N = self._plant, self._robot.model, self._N
        n = N.shape[1]
        plant.reset(pin.integrate(model, self._robot.q_nominal, N @ x[:n]), N @ x[n:])
        acting = [
            BodyImpulse(
                push.body, push.point, j / self._substeps * push.direction, push.in_body_axes
            )
            for push, j in zip(self._pushes, impulses, strict=True)
            if j != 0.0
        ]
        wrenches = np.zeros(plant.contact_wrenches.size)
        for _ in range(self._substeps):
            plant.step(self.torques + torques, acting)
            wrenches += plant.contact_wrenches.ravel() / self._substeps
        moved = pin.difference(model, self._robot.q_nominal, plant.q)
        return np.concatenate([N.T @ moved, N.T @ plant.v]), wrenches


def _outputs(robot: Robot, N: Array) -> Columns:
    """CoM and base rotation, the latter in the base's axes, as functions of the state."""
    model, data = robot.model, robot.model.createData()
    still = np.zeros((3, N.shape[1]))
    com = pin.jacobianCenterOfMass(model, data, robot.q_nominal)
    return np.hstack([com @ N, still]), np.hstack([N[3:6], still])


def feedback(config: ExperimentConfig, robot: Robot, N: Array) -> Array:
    """K (nj, 2n): torques of the law that ``config`` describes as a function of the state."""
    law = _Law(make_controller(config, robot), robot, N)
    return differences(law, 2 * N.shape[1])[0]
