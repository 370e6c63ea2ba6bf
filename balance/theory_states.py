"""Random states of a robot for ``balance theory``, with what many checks need evaluated once."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import cached_property

import numpy as np
import pinocchio as pin

from balance.dynamics.base_frame import BaseChange, change_base
from balance.dynamics.checks import Array, check_floating_base, frame_id, symmetrise
from balance.dynamics.decoupled import DecoupledDynamics, decoupled_dynamics
from balance.dynamics.momentum import CentroidalMomentum, centroidal_momentum, wrench_at_com
from balance.errors import FrameError, InputError, SingularityError

_MIXED = pin.ReferenceFrame.LOCAL_WORLD_ALIGNED
_JOINT_ACCELERATION = 10.0
"""Size of the torques: what would accelerate the joint's own inertia by so many rad/s^2."""
_RELATIVE_RANK_TOLERANCE = 1e-13
_LINKS = 3


@dataclass(frozen=True, eq=False)
class State:
    """A random state with torques and contact wrenches, and the dynamics there, lazily."""

    model: pin.Model
    q: Array
    """(nq,) configuration."""
    v: Array
    """(nv,) velocity, Pinocchio's convention."""
    tau: Array
    """(nv - 6,) joint torques, N m."""
    links: tuple[str, ...]
    """Names of random frames of links; wrenches act at the first ones."""
    wrenches: Array
    """(2, 6) contact wrenches at the origins of links[:2], world axes, N and N m."""
    _bases: dict[str, BaseChange] = field(default_factory=dict, repr=False)

    @cached_property
    def M(self) -> Array:
        """(nv, nv) mass matrix."""
        return symmetrise(pin.crba(self.model, self.model.createData(), self.q))

    @cached_property
    def M_inv(self) -> Array:
        """(nv, nv) inverse of the mass matrix, or an error that names the massless joint."""
        eigenvalues, eigenvectors = np.linalg.eigh(self.M)
        if eigenvalues[0] <= _RELATIVE_RANK_TOLERANCE * eigenvalues[-1]:
            velocity = int(np.argmax(np.abs(eigenvectors[:, 0])))
            joint = next(
                name
                for name, joint in zip(self.model.names, self.model.joints, strict=True)
                if joint.idx_v <= velocity < joint.idx_v + joint.nv
            )
            raise SingularityError(
                f"the mass matrix of model '{self.model.name}' is singular: joint '{joint}' moves "
                "no inertia; give the links beyond it a mass and an inertia, or lock it"
            )
        return np.asarray(np.linalg.inv(self.M), dtype=np.float64)

    @cached_property
    def C(self) -> Array:
        """(nv, nv) Coriolis matrix of Pinocchio's body-level factorisation."""
        data = self.model.createData()
        return np.array(pin.computeCoriolisMatrix(self.model, data, self.q, self.v))

    @cached_property
    def gravity(self) -> Array:
        """(nv,) gravity torques g(x) of the equations of motion."""
        return np.array(pin.computeGeneralizedGravity(self.model, self.model.createData(), self.q))

    @cached_property
    def momentum(self) -> CentroidalMomentum:
        """Centroidal momentum, its matrix and its rate."""
        return centroidal_momentum(self.model, self.q, self.v)

    @cached_property
    def decoupled(self) -> DecoupledDynamics:
        """Decoupled equations of motion of Garofalo2015."""
        return decoupled_dynamics(self.model, self.q, self.v)

    @cached_property
    def generalised_torques(self) -> Array:
        """(nv,) joint torques as generalised forces, Q^T tau."""
        return np.concatenate([np.zeros(6), self.tau])

    @cached_property
    def placements(self) -> list[pin.SE3]:
        """Poses of ``links`` in the world."""
        data = self.model.createData()
        pin.framesForwardKinematics(self.model, data, self.q)
        return [data.oMf[frame_id(self.model, link)].copy() for link in self.links]

    @cached_property
    def jacobians(self) -> list[Array]:
        """Jacobians (6, nv) of ``links``, world axes at their origin, for Pinocchio's v."""
        data = self.model.createData()
        return [
            np.array(
                pin.computeFrameJacobian(
                    self.model, data, self.q, frame_id(self.model, link), _MIXED
                )
            )
            for link in self.links
        ]

    @cached_property
    def wrench_at_com(self) -> Array:
        """(6,) sum of the contact wrenches carried to the CoM, world axes."""
        contacts = zip(self.wrenches, self.placements, strict=False)
        com = self.momentum.com
        return np.sum([wrench_at_com(w, X.translation, com) for w, X in contacts], axis=0)

    @cached_property
    def acceleration(self) -> Array:
        """(nv,) acceleration under gravity, ``tau`` and ``wrenches``, by the ABA algorithm."""
        forces = pin.StdVec_Force()
        forces.extend([pin.Force.Zero()] * self.model.njoints)
        for link, wrench, placement in zip(
            self.links, self.wrenches, self.placements, strict=False
        ):
            frame = self.model.frames[frame_id(self.model, link)]
            world_axes = pin.SE3(placement.rotation.T, np.zeros(3))
            forces[frame.parentJoint] += frame.placement.act(world_axes.act(pin.Force(wrench)))
        return self._aba(self.model, self.generalised_torques, forces)

    @cached_property
    def falling_acceleration(self) -> Array:
        """(nv,) acceleration in free fall under gravity and ``tau``, by ABA."""
        return self._aba(self.model, self.generalised_torques)

    @cached_property
    def weightless_acceleration(self) -> Array:
        """(nv,) acceleration in free flight without gravity under ``tau``, by ABA."""
        return self._aba(self.weightless, self.generalised_torques)

    @cached_property
    def weightless(self) -> pin.Model:
        """A copy of the model without gravity."""
        model = self.model.copy()
        model.gravity.setZero()
        return model

    def _aba(self, model: pin.Model, forces: Array, *external: pin.StdVec_Force) -> Array:
        return np.array(pin.aba(model, model.createData(), self.q, self.v, forces, *external))

    def base(self, frame: str) -> BaseChange:
        """Equations of motion for another base frame, evaluated once."""
        if frame not in self._bases:
            self._bases[frame] = change_base(self.model, self.q, self.v, frame)
        return self._bases[frame]


def random_states(model: pin.Model, count: int, seed: int) -> Iterator[State]:
    """``count`` reproducible states: base anywhere in a 2 m cube, joints spread over their limits.

    A joint without finite limits moves in [-pi, pi].  Velocities are standard normal (m/s and
    rad/s), wrenches too but scaled with the weight; links are drawn evenly.
    """
    check_floating_base(model)
    if count < 1:
        raise InputError(f"the number of states is {count}; it must be at least 1")
    rng = np.random.default_rng(seed)
    return (random_state(model, rng) for _ in range(count))


def random_state(model: pin.Model, rng: np.random.Generator) -> State:
    """One state drawn with ``rng``, see :func:`random_states`."""
    lower, upper = _ranges(model)
    coordinates = rng.uniform(lower, upper)
    coordinates[3:7] = rng.standard_normal(4)
    q = pin.normalize(model, coordinates)
    v = rng.standard_normal(model.nv)
    inertias = np.diag(pin.crba(model, model.createData(), q))[6:]
    tau = _JOINT_ACCELERATION * inertias * rng.standard_normal(model.nv - 6)
    frames = [frame.name for frame in model.frames if frame.parentJoint > 0]
    if not frames:
        raise FrameError(
            f"model '{model.name}' has no frame on any link; add them with model.addJointFrame"
        )
    links = tuple(str(name) for name in rng.choice(frames, _LINKS))
    weight = 9.81 * pin.computeTotalMass(model)
    return State(model, q, v, tau, links, weight * rng.standard_normal((2, 6)))


def _ranges(model: pin.Model) -> tuple[Array, Array]:
    """Lower and upper bounds (nq,) to draw configurations from; [-1, 1] m for the base."""
    lower = np.array(model.lowerPositionLimit, dtype=float)
    upper = np.array(model.upperPositionLimit, dtype=float)
    bounded = np.isfinite(lower) & np.isfinite(upper) & (upper - lower < 4.0 * np.pi)
    lower = np.where(bounded, lower, -np.pi)
    upper = np.where(bounded, upper, np.pi)
    lower[:7], upper[:7] = -1.0, 1.0
    return lower, upper
