"""A state of a robot for ``balance theory``, with what many checks need evaluated once."""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cached_property

import numpy as np
import pinocchio as pin

from balance.dynamics.base_frame import BaseChange, change_base
from balance.dynamics.checks import Array, frame_id, symmetrise
from balance.dynamics.decoupled import DecoupledDynamics, decoupled_dynamics
from balance.dynamics.momentum import CentroidalMomentum, centroidal_momentum, wrench_at_com
from balance.dynamics.ott_model import OttModel, ott_model
from balance.errors import SingularityError

_MIXED = pin.ReferenceFrame.LOCAL_WORLD_ALIGNED
_RELATIVE_RANK_TOLERANCE = 1e-13


@dataclass(frozen=True, eq=False)
class Workspace:
    """A model with and without gravity, and a place to evaluate each, shared by all states.

    Making a ``pin.Data`` costs ten times as much as using it once.
    """

    model: pin.Model
    data: pin.Data
    weightless: pin.Model
    weightless_data: pin.Data

    @classmethod
    def of(cls, model: pin.Model) -> Workspace:
        """The workspace of ``model``, which is left untouched."""
        weightless = model.copy()
        weightless.gravity.setZero()
        return cls(model, model.createData(), weightless, weightless.createData())


@dataclass(frozen=True, eq=False)
class State:
    """A random state with torques and contact wrenches, and the dynamics there, lazily."""

    workspace: Workspace
    q: Array
    """(nq,) configuration."""
    v: Array
    """(nv,) velocity, Pinocchio's convention."""
    effort: Array
    """(nv - 6,) torque of each joint per unit of the inertia it alone would move, rad/s^2."""
    links: tuple[str, ...]
    """Names of three random frames fixed to links."""
    wrenches: Array
    """(3, 6) contact wrenches at the origins of ``links``, world axes, N and N m."""
    _bases: dict[str, BaseChange] = field(default_factory=dict, repr=False)

    @property
    def model(self) -> pin.Model:
        """The model."""
        return self.workspace.model

    @property
    def data(self) -> pin.Data:
        """What every evaluation overwrites."""
        return self.workspace.data

    @cached_property
    def M(self) -> Array:
        """(nv, nv) mass matrix."""
        return symmetrise(pin.crba(self.model, self.data, self.q))

    @cached_property
    def M_inv(self) -> Array:
        """(nv, nv) inverse of the mass matrix, or an error that names the massless joint."""
        self._check_mass_matrix()
        return np.asarray(np.linalg.inv(self.M), dtype=np.float64)

    def _check_mass_matrix(self) -> None:
        """Raise unless every pivot of M is more than the rounding of its diagonal entry."""
        try:
            pivots = np.diag(np.linalg.cholesky(self.M)) ** 2 / np.diag(self.M)
        except np.linalg.LinAlgError:
            pivots = np.zeros(1)
        if np.min(pivots) > _RELATIVE_RANK_TOLERANCE:
            return
        still = int(np.argmax(np.abs(np.linalg.eigh(self.M)[1][:, 0])))
        joint = next(
            name
            for name, joint in zip(self.model.names, self.model.joints, strict=True)
            if joint.idx_v <= still < joint.idx_v + joint.nv
        )
        raise SingularityError(
            f"the mass matrix of model '{self.model.name}' is singular, since joint '{joint}' "
            "moves no inertia; give the links beyond it a mass and an inertia, or lock it"
        )

    @cached_property
    def tau(self) -> Array:
        """(nv - 6,) joint torques, N m; as large as suits each joint, see ``effort``."""
        return self.effort / np.diag(self.M_inv)[6:]

    @cached_property
    def C(self) -> Array:
        """(nv, nv) Coriolis matrix of Pinocchio's body-level factorisation."""
        return np.array(pin.computeCoriolisMatrix(self.model, self.data, self.q, self.v))

    @cached_property
    def kinetic_energy(self) -> float:
        """Kinetic energy v^T M v / 2 with the rotors', J.

        Not ``pin.computeKineticEnergy``, which in 4.1 leaves out the rotors of joints of type
        JointModelRevoluteUnaligned.
        """
        return 0.5 * float(self.v @ self.M @ self.v)

    @cached_property
    def gravity(self) -> Array:
        """(nv,) gravity torques g(x) of the equations of motion."""
        return np.array(pin.computeGeneralizedGravity(self.model, self.data, self.q))

    @cached_property
    def momentum(self) -> CentroidalMomentum:
        """Centroidal momentum, its matrix and its rate."""
        return centroidal_momentum(self.model, self.q, self.v, self.data)

    @cached_property
    def decoupled(self) -> DecoupledDynamics:
        """Decoupled equations of motion of Garofalo2015."""
        return decoupled_dynamics(self.model, self.q, self.v, self.data)

    @cached_property
    def ott(self) -> OttModel:
        """Model (35) of Garofalo2015."""
        return ott_model(self.model, self.q, self.v, self.data)

    @cached_property
    def generalised_torques(self) -> Array:
        """(nv,) joint torques as generalised forces, Q^T tau."""
        return np.concatenate([np.zeros(6), self.tau])

    @cached_property
    def placements(self) -> list[pin.SE3]:
        """Poses of ``links`` in the world."""
        data = self.data
        pin.framesForwardKinematics(self.model, data, self.q)
        return [data.oMf[frame_id(self.model, link)].copy() for link in self.links]

    @cached_property
    def jacobians(self) -> list[Array]:
        """Jacobians (6, nv) of ``links``, world axes at their origin, for Pinocchio's v."""
        indices = [frame_id(self.model, link) for link in self.links]
        return [
            np.array(pin.computeFrameJacobian(self.model, self.data, self.q, index, _MIXED))
            for index in indices
        ]

    @cached_property
    def wrench_at_com(self) -> Array:
        """(6,) sum of the contact wrenches carried to the CoM, world axes."""
        contacts = zip(self.wrenches, self.placements, strict=True)
        com = self.momentum.com
        return np.sum([wrench_at_com(w, X.translation, com) for w, X in contacts], axis=0)

    @cached_property
    def contact_forces(self) -> Array:
        """(nv,) contact wrenches as generalised forces, sum of J_i^T w_i."""
        contacts = zip(self.jacobians, self.wrenches, strict=True)
        return np.sum([J.T @ w for J, w in contacts], axis=0)

    @cached_property
    def acceleration(self) -> Array:
        """(nv,) acceleration under gravity, ``tau`` and ``wrenches``, by the ABA algorithm."""
        forces = pin.StdVec_Force()
        forces.extend([pin.Force.Zero()] * self.model.njoints)
        contacts = zip(self.links, self.wrenches, self.placements, strict=True)
        for link, wrench, placement in contacts:
            frame = self.model.frames[frame_id(self.model, link)]
            world_axes = pin.SE3(placement.rotation.T, np.zeros(3))
            forces[frame.parentJoint] += frame.placement.act(world_axes.act(pin.Force(wrench)))
        acceleration = pin.aba(
            self.model, self.data, self.q, self.v, self.generalised_torques, forces
        )
        return np.array(acceleration)

    @cached_property
    def mixed_acceleration(self) -> Array:
        """(nv,) rate of the velocity with the base's part in mixed representation."""
        R = np.asarray(self.base("B").rotation)
        rate = self.acceleration.copy()
        rate[:3] = R @ (rate[:3] + np.cross(self.v[3:6], self.v[:3]))
        rate[3:6] = R @ rate[3:6]
        return rate

    @cached_property
    def falling_acceleration(self) -> Array:
        """(nv,) acceleration in free fall under gravity and ``tau``, by ABA."""
        return np.array(pin.aba(self.model, self.data, self.q, self.v, self.generalised_torques))

    @cached_property
    def weightless_acceleration(self) -> Array:
        """(nv,) acceleration in free flight without gravity under ``tau``, by ABA."""
        model, data = self.workspace.weightless, self.workspace.weightless_data
        return np.array(pin.aba(model, data, self.q, self.v, self.generalised_torques))

    def base(self, frame: str) -> BaseChange:
        """Equations of motion for another base frame, evaluated once."""
        if frame not in self._bases:
            self._bases[frame] = change_base(self.model, self.q, self.v, frame, data=self.data)
        return self._bases[frame]
