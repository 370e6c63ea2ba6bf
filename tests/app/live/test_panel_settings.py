"""The panel's settings: clamped, checked, and turned into an experiment."""

from __future__ import annotations

import math
from pathlib import Path

import pytest

import balance
from balance.app.live.panel_settings import PanelSettings, bodies
from balance.app.live.ranges import RANGES
from balance.config import LAWS
from balance.config.laws import BalancingLawConfig, WrenchLawConfig
from balance.config.sections import law_section
from balance.errors import InputError
from balance.recordings.results import config_text
from balance.robots import Robot, robot_files


@pytest.fixture
def settings() -> PanelSettings:
    return PanelSettings(balance.load_config("toro_side"))


def test_untouched_it_is_the_experiment_of_the_file(settings: PanelSettings) -> None:
    assert settings.config() == balance.load_config("toro_side")


@pytest.mark.parametrize("name", sorted(RANGES))
def test_numbers_are_clamped_to_their_range(settings: PanelSettings, name: str) -> None:
    assert settings.set(name, 1e9) == RANGES[name].high
    assert settings.set(name, -1e9) == RANGES[name].low
    settings.config()


@pytest.mark.parametrize("value", [math.nan, math.inf, "12", None, True, [1.0]])
def test_what_is_no_number_is_refused(settings: PanelSettings, value: object) -> None:
    with pytest.raises(InputError, match="number is needed"):
        settings.set("impulse", value)
    assert settings.numbers["impulse"] == RANGES["impulse"].first


def test_only_what_was_offered_can_be_chosen(settings: PanelSettings, toro: Robot) -> None:
    with pytest.raises(InputError, match="cannot be chosen as law"):
        settings.choose("law", "__import__('os')")
    with pytest.raises(InputError, match="cannot be chosen as robot"):
        settings.choose("robot", "../../etc/passwd")
    with pytest.raises(InputError, match="has no body 'universe'"):
        settings.choose_body(toro, "universe")
    with pytest.raises(InputError, match="no setting 'base'"):
        settings.set("base", 1.0)


def test_sliders_reach_the_keys_they_name(settings: PanelSettings) -> None:
    settings.set("friction", 0.4)
    settings.set("mass_error", 10.0)
    settings.set("delay", 4.0)
    settings.set("noise", 2.0)
    settings.choose("state", "estimated")
    settings.choose("law", "ott2011")
    config = settings.config()
    assert config.plant.friction == 0.4
    assert config.mismatch is not None
    assert config.mismatch.mass_scale == pytest.approx(1.1)
    assert config.sensors is not None
    assert config.sensors.delay_s == pytest.approx(0.004)
    assert config.sensors.encoder_noise_rad == pytest.approx(2 * 5e-5)
    assert (config.state, config.controller.law) == ("estimated", "ott2011")
    assert config.controller.gains == balance.load_config("toro_side").controller.gains


GIVEN: dict[str, object] = {
    "controller.contacts": {"friction": 0.55},
    "controller.qp": {"regularisation": 1e-5},
    "controller.impedance": {"frequency_hz": 1.5, "damping_ratio": 0.8},
    "controller.setpoints": [{"time_s": 0.1, "duration_s": 0.5, "com_m": [0.01, 0.0, 0.0]}],
    "controller.contact_damping": 33.0,
    "controller.contact_return": 0.7,
}


@pytest.mark.parametrize("law", LAWS.ready())
def test_another_law_keeps_every_key_that_it_knows(law: str) -> None:
    settings = PanelSettings(balance.load_config("toro_side", GIVEN))
    before = settings.config().controller
    settings.choose("law", law)
    after = settings.config().controller
    keys = set(BalancingLawConfig.model_fields) - {"law"}
    assert {key.split(".")[1] for key in GIVEN} - {"contact_return"} <= keys
    if issubclass(law_section({"law": law}), WrenchLawConfig):
        keys |= {"contact_return"}
    given = [one.contacts.model_dump(exclude_unset=True) for one in (before, after)]
    assert given[0] == given[1] and given[0]["friction"] == 0.55  # laws differ in their defaults
    for key in keys - {"contacts"}:
        assert getattr(after, key) == getattr(before, key), key
    settings.choose("law", "momentum")
    assert settings.config().controller == before


def test_another_law_has_its_own_defaults(tmp_path: Path) -> None:
    """Also where a file spells out those of the law before, as that of a result does."""
    path = tmp_path / "resolved.yaml"
    path.write_text(config_text(balance.load_config("toro_side")), encoding="utf-8")
    settings = PanelSettings(balance.load_config(path))
    settings.choose("law", "capture")
    plain = balance.load_config("toro_side", {"controller": {"law": "capture"}}).controller
    assert settings.config().controller.contact_damping == plain.contact_damping


def test_noise_leaves_the_inertial_unit_where_it_is() -> None:
    settings = PanelSettings(balance.load_config("toro_side", {"sensors.imu.body": "hip"}))
    for noise in (0.0, 2.0):
        settings.set("noise", noise)
        sensors = settings.config().sensors
        assert sensors is not None and sensors.imu.body == "hip"


@pytest.mark.parametrize("robot", ["toro", "talos", "icub", "g1"])
def test_every_robot_can_be_chosen_and_pushed(settings: PanelSettings, robot: str) -> None:
    settings.choose("robot", robot)
    config = settings.config()
    assert config.robot == robot
    model = balance.load_robot(robot)
    assert model.push_body in bodies(model)
    assert settings.push(model, settings.dial()).body == model.push_body


def test_choices_that_make_no_session_are_taken_back(settings: PanelSettings, toro: Robot) -> None:
    settings.set("friction", 0.4)
    settings.accept()
    accepted = settings.config()
    settings.choose_body(toro, "trunk")
    settings.set("impulse", 30.0)
    settings.set("friction", 0.1)
    settings.set("delay", 8.0)
    settings.choose("robot", "talos")
    settings.choose("engine", "mujoco")
    settings.take_back()
    assert settings.config() == accepted
    assert settings.numbers["friction"] == 0.4
    assert (settings.chosen("robot"), settings.chosen("engine")) == ("toro", "pinocchio")
    assert settings.push(toro, settings.dial()).body == "trunk"  # pushes are not concerned
    assert settings.numbers["impulse"] == 30.0


def test_gains_outlive_a_choice_that_is_taken_back(settings: PanelSettings) -> None:
    gains = settings.base.controller.gains.model_copy(update={"K_P": 1234.0})
    settings.set_gains(gains)
    settings.choose("law", "ott2011")
    settings.take_back()
    assert settings.config().controller.gains.K_P == 1234.0
    assert settings.config().controller.law == "momentum"


def test_another_robot_begins_with_its_own_world(settings: PanelSettings) -> None:
    settings.set("delay", 8.0)
    settings.set("friction", 0.1)
    settings.choose("robot", "talos")
    assert settings.numbers["delay"] == 0.0
    assert settings.numbers["friction"] == settings.config().plant.friction
    assert settings.config().sensors is None


def test_a_robot_from_a_file_of_its_own_is_offered_by_the_file_s_name(tmp_path: Path) -> None:
    path = tmp_path / "mine.yaml"
    path.write_text(robot_files()["toro"].read_text(encoding="utf-8"), encoding="utf-8")
    settings = PanelSettings(balance.load_config("toro_side", {"robot": str(path)}))
    given = settings.config()
    assert given.robot == str(path)
    assert settings.chosen("robot") == "mine.yaml"
    assert settings.chosen("robot") in settings.choices["robot"]
    settings.choose("robot", "talos")
    assert settings.config().robot == "talos"
    settings.choose("robot", "mine.yaml")
    assert settings.config() == given


def test_the_dial_points_to_the_left_at_90_degrees(settings: PanelSettings) -> None:
    settings.set("angle", 90.0)
    assert settings.dial() == pytest.approx((0.0, 1.0, 0.0))
