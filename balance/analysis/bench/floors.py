"""The calls that cannot be avoided, and what a step costs in multiples of them."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pinocchio as pin
from numpy.typing import NDArray
from scipy.linalg.lapack import dposv, dpotrf, dtrtrs

from balance.control.parts.free_motion import FreeMotion
from balance.control.parts.whole_body import WholeBody
from balance.control.parts.wrench_law import WrenchLaw
from balance.control.qp import QuadraticProgram
from balance.control.qp.daqp_solver import DaqpSolver
from balance.control.whole_body_qp import WholeBodyController
from balance.robots import Robot

Array = NDArray[np.float64]


class ControlFloor:
    """``ccrba``, the joint Jacobians, those of the soles, and one solve of the wrench QP."""

    def __init__(self, robot: Robot, programs: list[QuadraticProgram]) -> None:
        self._model, self._data = robot.model, robot.model.createData()
        self._soles = [sole.frame_id for sole in robot.soles]
        self._programs, self._solver = programs, DaqpSolver()

    def __call__(self, index: int, q: Array, v: Array) -> None:
        model, data = self._model, self._data
        pin.ccrba(model, data, q, v)
        pin.computeJointJacobians(model, data, q)
        for sole in self._soles:
            pin.getFrameJacobian(model, data, sole, pin.LOCAL)
        self._solver.answer(self._programs[index])


class WholeBodyFloor:
    """All terms of the equation of motion, what holds the contacts, and one solve of the dense QP.

    The terms are Pinocchio's; what the contacts leave free takes two QR factorisations and the
    products with them, and the tasks their normal equations.
    """

    def __init__(self, law: WholeBodyController, programs: list[QuadraticProgram]) -> None:
        self._law, self._programs, self._solver = law, programs, DaqpSolver()
        self._model, self._data = law.robot.model, law.robot.model.createData()
        self._soles = [sole.frame_id for sole in law.robot.soles]
        self._rest = np.zeros(self._model.nv)
        standing = WholeBody(law.robot).at(law.robot.q_nominal, self._rest)
        self._equations, self._weight = law.formulation(standing)
        self._rows, self._values = law.tasks.evaluate(standing, law.path.at(0.0))

    def __call__(self, index: int, q: Array, v: Array) -> None:
        model, data = self._model, self._data
        pin.crba(model, data, q)
        pin.nonLinearEffects(model, data, q, v)
        pin.forwardKinematics(model, data, q, v, self._rest)
        pin.ccrba(model, data, q, v)
        for sole in self._soles:
            pin.getFrameJacobian(model, data, sole, pin.LOCAL)
            pin.getFrameClassicalAcceleration(model, data, sole, pin.LOCAL)
        free = FreeMotion(self._equations, self._weight)
        B, c = free.on_accelerations(self._equations, self._rows, self._values)
        dposv(B.T.dot(B), c.dot(B))
        self._solver.answer(self._programs[index])


class PlantFloor:
    """``crba``, bias forces, Jacobians, factorisation, Delassus matrix and a contact solve."""

    def __init__(self, robot: Robot) -> None:
        self._model, self._data = robot.model, robot.model.createData()
        self._soles = [sole.frame_id for sole in robot.soles]
        rows = 6 * len(robot.soles)
        self._rows = np.zeros((rows + 1, robot.model.nv))
        self._rows[-1] = 1.0

    def __call__(self, q: Array, v: Array) -> None:
        model, data, rows = self._model, self._data, self._rows
        pin.crba(model, data, q, pin.Convention.WORLD)
        pin.nonLinearEffects(model, data, q, v)
        pin.computeJointJacobians(model, data, q)
        for index, sole in enumerate(self._soles):
            rows[6 * index : 6 * index + 6] = pin.getFrameJacobian(model, data, sole, pin.LOCAL)
        factor, _ = dpotrf(data.M)
        half = dtrtrs(factor, rows.T, trans=1)[0]
        products = half.T.dot(half)
        _, impulses, _ = dposv(products[:-1, :-1], products[:-1, -1])
        dtrtrs(factor, half[:, :-1].dot(impulses))


def wrench_programs(
    law: WrenchLaw, q: Sequence[Array], v: Sequence[Array], time: Sequence[float]
) -> list[QuadraticProgram]:
    """The contact-wrench QP of every state."""
    programs = []
    for q_i, v_i, t in zip(q, v, time, strict=True):
        here = law.support.at(q_i, v_i)
        G = here.G.copy()
        wanted = law.wanted_wrench(here, law.path.at(t))
        share = law.distribution.even_share(G, wanted)
        programs.append(law.distribution.program(G, wanted, share))
    return programs


def whole_body_programs(
    law: WholeBodyController, q: Sequence[Array], v: Sequence[Array], time: Sequence[float]
) -> list[QuadraticProgram]:
    """The dense QP of every state."""
    programs = []
    for q_i, v_i, t in zip(q, v, time, strict=True):
        programs.append(law.program(law.body.at(q_i, v_i), law.path.at(t)))
    return programs
