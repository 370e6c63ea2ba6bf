"""How times grow with the number of joints and of contacts, on generated trees."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator, Sequence

import numpy as np
import pinocchio as pin
from numpy.typing import NDArray
from threadpoolctl import threadpool_limits

from balance.analysis.bench.floors import ControlFloor, PlantFloor, wrench_programs
from balance.analysis.bench.report import Figure
from balance.analysis.bench.timing import growth_exponent, time_calls
from balance.config import load_config
from balance.control.momentum import MomentumController
from balance.robots import Robot, load_robot
from balance.robots.contacts import ContactSurface
from balance.simulation.plants.pinocchio_plant import PinocchioPlant

Array = NDArray[np.float64]

JOINTS = (12, 24, 36, 48, 60)
CONTACTS = (2, 3, 4, 5, 6)
ARM_JOINTS = 6
ARM_LINK_KG = 0.3
ARM_LINK_M = 0.1
SETTLED = 0.15  # a step may grow faster than its floor by this much, the spread of such fits


def growth_figures(states: int, rounds: int) -> Iterator[Figure]:
    """Exponents of control step, plant step and their floors in joints and contacts."""
    by_joints = {n: _times(tree(n, 2), states, rounds) for n in JOINTS}
    by_contacts = {k: _times(tree(12 + ARM_JOINTS * 4, k), states, rounds) for k in CONTACTS}
    yield from _fits("joints", by_joints)
    yield from _fits("contacts", by_contacts)


def _fits(what: str, times: dict[int, dict[str, float]]) -> Iterator[Figure]:
    sizes: Sequence[float] = list(times)
    for step, floor in (("momentum step", "control floor"), ("plant step", "plant floor")):
        exponents = [
            growth_exponent(sizes, [times[size][name] for size in times]) for name in (step, floor)
        ]
        most = exponents[1] + SETTLED if step == "momentum step" else None
        yield Figure(f"{floor}, exponent in {what}", exponents[1], "1")
        yield Figure(f"{step}, exponent in {what}", exponents[0], "1", most)


def _times(robot: Robot, states: int, rounds: int) -> dict[str, float]:
    """Medians in us at states near the nominal one."""
    # Arms that reach for planes in the air may have to pull, which only welds can; those that are
    # generated have no shapes.
    config = load_config("toro_push", {"plant.contact": "welded", "plant.collisions": "none"})
    law, plant = MomentumController(config, robot), PinocchioPlant(config.plant, robot)
    rng, nv = np.random.default_rng(0), robot.model.nv
    v = list(0.01 * rng.standard_normal((states, nv)))
    q = [pin.integrate(robot.model, robot.q_nominal, 0.01 * velocity) for velocity in v]
    torques = [law.step(*state, 0.0).torques for state in zip(q, v, strict=True)]
    control = ControlFloor(robot, wrench_programs(law, q, v, [0.0] * states))
    floor = PlantFloor(robot)

    def step(i: int) -> None:
        plant.q, plant.v = robot.q_nominal, v[i]
        plant.step(torques[i])

    calls = {
        "control floor": lambda i: control(i, q[i], v[i]),
        "momentum step": lambda i: law.step(q[i], v[i], 0.0),
        "plant floor": lambda i: floor(q[i], v[i]),
        "plant step": step,
    }
    with threadpool_limits(1):
        times = time_calls(calls, states, rounds)
    return {name: timing.median for name, timing in times.items()}


def tree(joints: int, contacts: int) -> Robot:
    """The TORO-like robot's legs and trunk with as many arms of six joints as asked for.

    ``joints`` is 12 plus a multiple of six; contacts beyond the soles are at the ends of arms.
    """
    toro = load_robot("toro")
    legs = [f"{side}_{joint}" for side in ("left", "right") for joint in _leg_joints(toro)]
    others = [toro.model.getJointId(name) for name in toro.joint_names if name not in legs]
    model = pin.buildReducedModel(toro.model, others, toro.q_nominal)
    feet = pin.buildReducedModel(toro.model, others, toro.q_nominal)
    arms = (joints - len(legs)) // ARM_JOINTS
    ends = [_add_arm(model, number, arms) for number in range(arms)]
    q = np.zeros(model.nq)
    q[:7] = toro.q_nominal[:7]
    for index in range(2, feet.njoints):
        q[model.joints[model.getJointId(feet.names[index])].idx_q] = toro.q_nominal[
            toro.model.joints[toro.model.getJointId(feet.names[index])].idx_q
        ]
    soles = [
        dataclasses.replace(sole, frame_id=model.getFrameId(sole.frame)) for sole in toro.soles
    ]
    data = model.createData()
    pin.framesForwardKinematics(model, data, q)
    for name in ends[: contacts - len(soles)]:
        frame = model.getFrameId(name)
        plane = data.oMf[frame].copy()
        soles.append(ContactSurface(name, name, frame, pin.SE3.Identity(), 0.05, 0.05, plane=plane))
    surfaces = tuple(soles)
    mass = float(pin.computeTotalMass(model))
    return dataclasses.replace(
        toro, model=model, q_nominal=q, soles=surfaces, surfaces=surfaces, mass=mass
    )


def _leg_joints(robot: Robot) -> list[str]:
    """Names, without the side, of the joints between the base and a sole."""
    model = robot.model
    joint = model.frames[robot.soles[0].frame_id].parentJoint
    names = [model.names[j] for j in list(model.supports[joint])[2:]]
    return [name.partition("_")[2] for name in names]


def _add_arm(model: pin.Model, number: int, arms: int) -> str:
    """Add a chain that leaves the base in a direction of its own; the name of its end."""
    turn = pin.utils.rotate("z", 2.0 * np.pi * number / max(arms, 1))
    parent, placement = 1, pin.SE3(turn, np.array([0.0, 0.0, 0.3]))
    axes = (pin.JointModelRZ, pin.JointModelRY, pin.JointModelRX)
    for index in range(ARM_JOINTS):
        kind = axes[index % 3]()
        name = f"arm_{number}_{index}"
        limit = np.array([2.0])
        parent = model.addJoint(
            parent, kind, placement, name, 50.0 * np.ones(1), np.ones(1), -limit, limit
        )
        lever = np.array([ARM_LINK_M / 2, 0.0, 0.0])
        inertia = pin.Inertia(ARM_LINK_KG, lever, 1e-3 * np.eye(3))
        model.appendBodyToJoint(parent, inertia, pin.SE3.Identity())
        placement = pin.SE3(np.eye(3), np.array([ARM_LINK_M, 0.0, 0.0]))
    end = f"arm_{number}_end"
    model.addBodyFrame(end, parent, placement, 0)
    return end
