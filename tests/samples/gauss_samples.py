"""Models and random states for the tests of Gauss' principle."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache

import numpy as np
import pinocchio as pin
from example_robot_data import robots_loader
from numpy.typing import NDArray

from balance.dynamics.gauss import GaussDynamics, gauss_dynamics
from balance.dynamics.gauss.forward import PointForce
from balance.dynamics.gauss.state import chart_from_pinocchio
from balance.rotations import get_chart

Array = NDArray[np.float64]


@cache
def load_talos() -> pin.Model:
    loader = robots_loader.ROBOTS["talos"]
    inside = f"{loader.path}/{loader.urdf_subpath}/{loader.urdf_filename}"
    root = robots_loader.getModelPath(inside)
    return pin.buildModelFromUrdf(f"{root}/{inside}", pin.JointModelFreeFlyer())


def make_tree(armature: float = 0.0, tip_mass: float = 0.7) -> pin.Model:
    """A base with a revolute, a continuous and a prismatic joint."""
    rng = np.random.default_rng(1)
    tilt = pin.exp3(np.array([0.1, 0.2, 0.3]))
    model = pin.Model()
    parent = model.addJoint(0, pin.JointModelFreeFlyer(), pin.SE3.Identity(), "root_joint")
    base = pin.Inertia(3.0, np.array([0.05, -0.1, 0.2]), tilt @ np.diag([0.5, 0.6, 0.8]) @ tilt.T)
    model.appendBodyToJoint(parent, base, pin.SE3.Identity())
    for name, joint in (
        ("hinge", pin.JointModelRY()),
        ("wheel", pin.JointModelRUBX()),
        ("slide", pin.JointModelPZ()),
    ):
        placement = pin.SE3(pin.exp3(rng.normal(size=3)), 0.3 * rng.normal(size=3))
        parent = model.addJoint(parent, joint, placement, name)
        inertia = pin.Inertia(tip_mass, 0.1 * rng.normal(size=3), tip_mass * np.diag([2.0, 3, 4]))
        model.appendBodyToJoint(parent, inertia, pin.SE3.Identity())
        placement = pin.SE3(tilt, np.ones(3))
        model.addFrame(pin.Frame(f"{name}_body", parent, 0, placement, pin.FrameType.BODY))
    model.armature = np.concatenate([np.zeros(6), np.full(3, armature)])
    return model


@dataclass(frozen=True)
class Sample:
    """A random state in a chart, away from its singularities, and the same for Pinocchio."""

    model: pin.Model
    chart: str
    q_pin: Array
    v_pin: Array
    q: Array
    qdot: Array
    rng: np.random.Generator

    @property
    def dynamics(self) -> GaussDynamics:
        return gauss_dynamics(self.model, self.chart, self.q, self.qdot)

    @property
    def velocity_map(self) -> Array:
        """T in qdot = T v."""
        columns = [
            chart_from_pinocchio(self.model, self.chart, self.q_pin, e)[1]
            for e in np.eye(self.model.nv)
        ]
        return np.column_stack(columns)


def make_sample(model: pin.Model, chart: str, seed: int) -> Sample:
    rng = np.random.default_rng(seed)
    coordinates = get_chart(chart)
    q = pin.neutral(model)
    while True:
        xyzw = rng.normal(size=4)
        q[3:7] = xyzw / np.linalg.norm(xyzw)
        theta = coordinates.from_matrix(pin.Quaternion(q[3:7]).matrix())
        singular = np.linalg.svd(coordinates.rate_map(theta), compute_uv=False)
        if singular.min() > 0.05:
            break
    step = rng.normal(size=model.nv)
    step[3:6] = 0.0
    q = pin.integrate(model, q, step)
    v = rng.normal(size=model.nv)
    return Sample(model, chart, q, v, *chart_from_pinocchio(model, chart, q, v), rng)


def random_contacts(sample: Sample, count: int = 4) -> list[PointForce]:
    names = [f.name for f in sample.model.frames if f.type == pin.FrameType.BODY and f.parentJoint]
    return [
        PointForce(str(name), 0.1 * sample.rng.normal(size=3), 100.0 * sample.rng.normal(size=3))
        for name in sample.rng.choice(names, count)
    ]


def relative_error(value: Array, reference: Array) -> float:
    return float(np.linalg.norm(value - reference) / np.linalg.norm(reference))


def aba(sample: Sample, effort: Array, contacts: list[PointForce]) -> Array:
    """Pinocchio's acceleration under generalised forces (nv,) and contact forces."""
    model, data = sample.model, sample.model.createData()
    pin.framesForwardKinematics(model, data, sample.q_pin)
    external = [pin.Force.Zero() for _ in range(model.njoints)]
    for contact in contacts:
        index = model.getFrameId(contact.frame)
        point, force = data.oMf[index].act(np.asarray(contact.point)), np.asarray(contact.force)
        joint = model.frames[index].parentJoint
        external[joint] += data.oMi[joint].actInv(pin.Force(force, np.cross(point, force)))
    return np.array(pin.aba(model, data, sample.q_pin, sample.v_pin, effort, external))
