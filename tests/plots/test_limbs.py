"""Joints find their limb by name."""

from __future__ import annotations

import pytest

from balance.plots.limbs import LIMBS, limbs, short_name
from balance.robots import load_robot


@pytest.mark.parametrize("name", ["toro", "talos", "icub", "g1"])
def test_every_joint_of_our_robots_belongs_to_one_limb(name: str) -> None:
    names = load_robot(name).joint_names
    found = limbs(names)
    assert tuple(found) == LIMBS
    assert sorted(index for joints in found.values() for index in joints) == list(range(len(names)))
    assert len(found["left leg"]) == len(found["right leg"]) == 6
    assert len(found["left arm"]) == len(found["right arm"]) >= 6


def test_joints_with_unknown_names_come_in_chunks() -> None:
    names = ["l_hip_pitch", *(f"motor{i}" for i in range(9))]
    assert limbs(names) == {
        "left leg": [0],
        "joints 2 to 8": [1, 2, 3, 4, 5, 6, 7],
        "joints 9 to 10": [8, 9],
    }


def test_a_limb_without_side_is_not_guessed() -> None:
    assert limbs(["hip_pitch"]) == {"joints 1 to 1": [0]}


@pytest.mark.parametrize(
    ("name", "limb", "short"),
    [
        ("leg_left_1_joint", "left leg", "leg 1"),
        ("right_knee_joint", "right leg", "knee"),
        ("r_wrist_prosup", "right arm", "wrist prosup"),
        ("LShoulderPitch", "left arm", "shoulder pitch"),
        ("rightAnkleRoll", "right leg", "ankle roll"),
        ("torso_2_joint", "trunk and head", "torso 2"),
    ],
)
def test_names_are_split_into_words(name: str, limb: str, short: str) -> None:
    assert list(limbs([name])) == [limb]
    assert short_name(name) == short
