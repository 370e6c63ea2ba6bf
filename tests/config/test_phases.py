"""What is wrong with phases is said in one sentence, before anything is looked for."""

from __future__ import annotations

from typing import Any

import pytest

from balance.config import load_config
from balance.errors import ConfigError

STAND = {"name": "stand", "contacts": ["left sole", "right sole"], "until": {"time_s": 1.0}}
SHIFT = {
    "name": "shift",
    "contacts": ["left sole", "right sole"],
    "until": {"loaded": 0.95, "timeout_s": 4.0},
}
LIFT = {
    "name": "lift",
    "contacts": ["left sole"],
    "move": {"right sole": {"by_m": [0.0, 0.0, 0.1]}},
}
BOX = {"centre_m": [0.4, 0.0, 0.1], "size_m": [0.3, 0.5], "depth_m": 0.1}


def with_phases(*phases: dict[str, Any], **keys: Any) -> dict[str, Any]:
    return {
        "robot": "toro",
        "duration_s": 5.0,
        "controller": {"law": "whole_body_qp"},
        "phases": list(phases),
        **keys,
    }


def test_a_sequence_is_read_with_its_defaults() -> None:
    config = load_config(with_phases(STAND, SHIFT, LIFT))
    move = config.phases[2].move["right sole"]
    assert (move.on, move.clearance_m, move.duration_s) == (None, 0.05, 1.0)
    assert config.phases[1].until is not None
    assert config.phases[1].until.conditions == ("loaded",)
    assert config.phases[2].until is None


def test_an_experiment_has_no_phases_unless_it_says_so() -> None:
    config = load_config("toro_push")
    assert config.phases == () and config.objects == {}


@pytest.mark.parametrize(
    ("phases", "keys", "said"),
    [
        ([STAND | {"contacts": []}], {}, "has no contacts: nothing bears"),
        (
            [LIFT | {"contacts": [], "move": {"left sole": {}, "right sole": {}}}],
            {},
            "'left sole' and 'right sole' would move at once where none bears",
        ),
        (
            [STAND | {"until": {"loaded": 0.9}}, LIFT],
            {},
            "loaded may never come true; give timeout_s",
        ),
        ([STAND | {"until": {"timeout_s": 3.0}}, LIFT], {}, "it never ends; give time_s"),
        ([STAND | {"until": None}, LIFT], {}, "('stand') never ends, and 1 more follow it"),
        (
            [STAND | {"until": {"time_s": 3.0, "com_m": 0.01, "timeout_s": 2.0}}, LIFT],
            {},
            "timeout_s = 2 s is over before time_s = 3 s is",
        ),
        ([STAND, SHIFT], {}, "loaded is about the contacts of the next phase; there is none"),
        (
            [STAND, LIFT | {"contacts": ["left sole", "right sole"]}],
            {},
            "a limb that moves does not bear",
        ),
        ([STAND, STAND], {}, "phases has two called 'stand'"),
        ([STAND | {"contacts": ["left sole"] * 2}], {}, "a contact is named twice"),
        (
            [STAND, LIFT | {"move": {"right sole": {"on": "bax"}}}],
            {"objects": {"box": BOX}},
            "move.right sole.on = 'bax' is no object (did you mean 'box'?)",
        ),
        (
            [STAND, LIFT | {"move": {"right sole": {"to_m": [0, 0, 0.0], "by_m": [0, 0, 0.0]}}}],
            {},
            "to_m (a place) and by_m (an offset) say the same thing",
        ),
        (
            [STAND, LIFT | {"move": {"right sole": {"by_m": [0, 0, 0.1], "yaw_rad": 0.1}}}],
            {},
            "yaw_rad is a heading on a face",
        ),
        (
            [STAND, LIFT | {"until": {"touchdown_N": 10.0, "timeout_s": 2.0}}],
            {},
            "no move says 'on' what",
        ),
        (
            [STAND, LIFT | {"places": {"left sole": {"on": "floor"}}}],
            {},
            "after the first phase they get anywhere by 'move'",
        ),
        ([STAND], {"stance": {"contacts": ["left sole"]}}, "stance and phases both say what bears"),
        ([], {"objects": {"box": BOX}}, "there are no phases; remove them"),
        ([STAND], {"objects": {"floor": BOX}}, "is what the ground is called"),
    ],
)
def test_a_mistake_is_told(phases: list[Any], keys: dict[str, Any], said: str) -> None:
    with pytest.raises(ConfigError) as error:
        load_config(with_phases(*phases, **keys))
    assert said in str(error.value)
