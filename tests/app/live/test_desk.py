"""The panel's settings: clamped, checked, and turned into an experiment."""

from __future__ import annotations

import math
from pathlib import Path

import pytest

import balance
from balance.app.live.desk import Desk, bodies
from balance.app.live.ranges import RANGES
from balance.app.live.safe_names import safe_child, without_folders
from balance.config import LAWS
from balance.config.laws import BalancingLawConfig, WrenchLawConfig
from balance.config.sections import law_section
from balance.errors import FileError, InputError
from balance.recordings.results import config_text
from balance.robots import Robot, robot_files


@pytest.fixture
def desk() -> Desk:
    return Desk(balance.load_config("toro_push"))


def test_untouched_it_is_the_experiment_of_the_file(desk: Desk) -> None:
    assert desk.config() == balance.load_config("toro_push")


@pytest.mark.parametrize("name", sorted(RANGES))
def test_numbers_are_clamped_to_their_range(desk: Desk, name: str) -> None:
    assert desk.set(name, 1e9) == RANGES[name].high
    assert desk.set(name, -1e9) == RANGES[name].low
    desk.config()


@pytest.mark.parametrize("value", [math.nan, math.inf, "12", None, True, [1.0]])
def test_what_is_no_number_is_refused(desk: Desk, value: object) -> None:
    with pytest.raises(InputError, match="number is needed"):
        desk.set("impulse", value)
    assert desk.numbers["impulse"] == RANGES["impulse"].first


def test_only_what_was_offered_can_be_chosen(desk: Desk, toro: Robot) -> None:
    with pytest.raises(InputError, match="cannot be chosen as law"):
        desk.choose("law", "__import__('os')")
    with pytest.raises(InputError, match="cannot be chosen as robot"):
        desk.choose("robot", "../../etc/passwd")
    with pytest.raises(InputError, match="has no body 'universe'"):
        desk.choose_body(toro, "universe")
    with pytest.raises(InputError, match="no setting 'base'"):
        desk.set("base", 1.0)


def test_sliders_reach_the_keys_they_name(desk: Desk) -> None:
    desk.set("friction", 0.4)
    desk.set("mass_error", 10.0)
    desk.set("delay", 4.0)
    desk.set("noise", 2.0)
    desk.choose("state", "estimated")
    desk.choose("law", "ott2011")
    config = desk.config()
    assert config.plant.friction == 0.4
    assert config.mismatch is not None
    assert config.mismatch.mass_scale == pytest.approx(1.1)
    assert config.sensors is not None
    assert config.sensors.delay_s == pytest.approx(0.004)
    assert config.sensors.encoder_noise_rad == pytest.approx(2 * 5e-5)
    assert (config.state, config.controller.law) == ("estimated", "ott2011")
    assert config.controller.gains == balance.load_config("toro_push").controller.gains


GIVEN: dict[str, object] = {
    "controller.contacts": {"friction": 0.55},
    "controller.qp": {"regularisation": 1e-5},
    "controller.impedance": {"frequency_hz": 1.5, "damping_ratio": 0.8},
    "controller.setpoints": [{"time_s": 0.1, "duration_s": 0.5, "com_m": [0.01, 0.0, 0.0]}],
    "controller.contact_damping": 33.0,
    "controller.contact_return": 0.7,
}


@pytest.mark.parametrize("law", LAWS.names())
def test_another_law_keeps_every_key_that_it_knows(law: str) -> None:
    desk = Desk(balance.load_config("toro_push", GIVEN))
    before = desk.config().controller
    desk.choose("law", law)
    after = desk.config().controller
    wrench_law = issubclass(law_section({"law": law}), WrenchLawConfig)
    keys = set(BalancingLawConfig.model_fields) - {"law"} | (
        {"contact_return"} if wrench_law else set()
    )
    assert {key.split(".")[1] for key in GIVEN} - {"contact_return"} <= keys
    for key in keys:
        assert getattr(after, key) == getattr(before, key), key
    desk.choose("law", "momentum")
    assert desk.config().controller == before


def test_another_law_has_its_own_defaults(tmp_path: Path) -> None:
    """Also where a file spells out those of the law before, as that of a result does."""
    path = tmp_path / "resolved.yaml"
    path.write_text(config_text(balance.load_config("toro_push")), encoding="utf-8")
    desk = Desk(balance.load_config(path))
    desk.choose("law", "capture")
    plain = balance.load_config("toro_push", {"controller": {"law": "capture"}}).controller
    assert desk.config().controller.contact_damping == plain.contact_damping


def test_noise_leaves_the_inertial_unit_where_it_is() -> None:
    desk = Desk(balance.load_config("toro_push", {"sensors.imu.body": "hip"}))
    for noise in (0.0, 2.0):
        desk.set("noise", noise)
        sensors = desk.config().sensors
        assert sensors is not None and sensors.imu.body == "hip"


@pytest.mark.parametrize("robot", ["toro", "talos", "icub", "g1"])
def test_every_robot_can_be_chosen_and_pushed(desk: Desk, robot: str) -> None:
    desk.choose("robot", robot)
    config = desk.config()
    assert config.robot == robot
    model = balance.load_robot(robot)
    assert model.push_body in bodies(model)
    assert desk.push(model, desk.dial()).body == model.push_body


def test_choices_that_make_no_session_are_taken_back(desk: Desk, toro: Robot) -> None:
    desk.set("friction", 0.4)
    desk.accept()
    accepted = desk.config()
    desk.choose_body(toro, "trunk")
    desk.set("impulse", 30.0)
    desk.set("friction", 0.1)
    desk.set("delay", 8.0)
    desk.choose("robot", "talos")
    desk.choose("engine", "mujoco")
    desk.take_back()
    assert desk.config() == accepted
    assert desk.numbers["friction"] == 0.4
    assert (desk.chosen("robot"), desk.chosen("engine")) == ("toro", "pinocchio")
    assert desk.push(toro, desk.dial()).body == "trunk"  # pushes are not concerned
    assert desk.numbers["impulse"] == 30.0


def test_gains_outlive_a_choice_that_is_taken_back(desk: Desk) -> None:
    gains = desk.base.controller.gains.model_copy(update={"K_P": 1234.0})
    desk.set_gains(gains)
    desk.choose("law", "ott2011")
    desk.take_back()
    assert desk.config().controller.gains.K_P == 1234.0
    assert desk.config().controller.law == "momentum"


def test_another_robot_begins_with_its_own_world(desk: Desk) -> None:
    desk.set("delay", 8.0)
    desk.set("friction", 0.1)
    desk.choose("robot", "talos")
    assert desk.numbers["delay"] == 0.0
    assert desk.numbers["friction"] == desk.config().plant.friction
    assert desk.config().sensors is None


def test_a_robot_from_a_file_of_its_own_is_offered_by_the_file_s_name(tmp_path: Path) -> None:
    path = tmp_path / "mine.yaml"
    path.write_text(robot_files()["toro"].read_text(encoding="utf-8"), encoding="utf-8")
    desk = Desk(balance.load_config("toro_push", {"robot": str(path)}))
    given = desk.config()
    assert given.robot == str(path)
    assert desk.chosen("robot") == "mine.yaml"
    assert desk.chosen("robot") in desk.choices["robot"]
    desk.choose("robot", "talos")
    assert desk.config().robot == "talos"
    desk.choose("robot", "mine.yaml")
    assert desk.config() == given


def test_the_dial_points_to_the_left_at_90_degrees(desk: Desk) -> None:
    desk.set("angle", 90.0)
    assert desk.dial() == pytest.approx((0.0, 1.0, 0.0))


@pytest.mark.parametrize(
    "name", ["../x", "/etc/x", "a/b", "..", ".hidden", "a b", "x\0y", "a" * 61, "-x", "é"]
)
def test_names_that_could_leave_the_folder_are_refused(tmp_path: Path, name: str) -> None:
    with pytest.raises(FileError, match="no name for a result"):
        safe_child(tmp_path, name)


def test_plain_names_stay_inside_the_folder(tmp_path: Path) -> None:
    assert safe_child(tmp_path, " run_2-b ", ".yaml") == tmp_path / "run_2-b.yaml"
    assert safe_child(tmp_path, "") == tmp_path / "live"


@pytest.mark.parametrize(
    ("text", "public"),
    [
        ("cannot write /srv/a/b/x.yaml: No space left", "cannot write x.yaml: No space left"),
        ("('/etc/passwd', \"/a\")", "('passwd', \"a\")"),
        ("/srv/lab of mine/x.yaml is odd", "x.yaml is odd"),
        ("results/live.yaml and ../x/y.yaml", "results/live.yaml and ../x/y.yaml"),
        ("K_D [1/s], 3 N m/rad, 1 / 2", "K_D [1/s], 3 N m/rad, 1 / 2"),
        ("http://127.0.0.1:8080/index.html", "http://127.0.0.1:8080/index.html"),
    ],
)
def test_of_an_absolute_path_a_page_sees_the_end(text: str, public: str) -> None:
    assert without_folders(text, [Path("/srv/lab of mine")]) == public


def test_paths_below_the_working_folder_are_given_from_there_on() -> None:
    assert without_folders(f"{Path.cwd()}/results/x is full") == "results/x is full"
