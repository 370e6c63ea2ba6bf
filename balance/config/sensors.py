"""YAML schema of what the robot measures, and of the estimate made from it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated, Any, Literal

from pydantic import BeforeValidator, model_validator

from balance.config.schema import Strict
from balance.config.values import NonNegative, Positive

# Noise of good industrial parts: 16-bit encoders; an inertial unit of 0.006 deg/s/sqrt(Hz) and
# 60 micro-g/sqrt(Hz), calibrated to 0.03 deg/s and 2 milli-g; foot sensors of 0.2 % of the weight.
PRESETS: dict[str, dict[str, Any]] = {
    "default": {
        "encoder_noise_rad": 5e-5,
        "encoder_resolution_rad": 1e-4,
        "velocity": {"source": "differentiated", "cutoff_hz": 50.0},
        "imu": {
            "gyro_noise": 1e-4,
            "gyro_bias": 5e-4,
            "accel_noise": 6e-4,
            "accel_bias": 0.02,
        },
        "force_noise_N": 1.5,
        "moment_noise_Nm": 0.1,
    }
}


class JointVelocityConfig(Strict):
    """How joint velocities are measured."""

    source: Literal["measured", "differentiated"] = "measured"
    """`measured` with white noise, or `differentiated` from the encoders."""
    noise_rad_s: NonNegative = 0.0
    """Standard deviation of a measured sample."""
    cutoff_hz: Positive | None = None
    """Corner frequency of a first-order low-pass filter behind either source."""


class ImuConfig(Strict):
    """Gyroscope and accelerometer."""

    body: str | None = None
    """The body that carries it; the base if not given. Example: torso."""
    gyro_noise: NonNegative = 0.0
    """Density of the gyroscope's white noise [rad/s/sqrt(Hz)]."""
    gyro_bias: NonNegative = 0.0
    """Standard deviation from which its constant offset is drawn, for each axis [rad/s]."""
    accel_noise: NonNegative = 0.0
    """Density of the accelerometer's white noise [m/s^2/sqrt(Hz)]."""
    accel_bias: NonNegative = 0.0
    """Standard deviation from which its constant offset is drawn, for each axis [m/s^2]."""


class SensorsConfig(Strict):
    """What the control law is told of the robot; all zero is perfect knowledge."""

    preset: Literal["default"] | None = None
    """`default`: noise of good industrial parts, in place of all that is not given."""
    encoder_noise_rad: NonNegative = 0.0
    """Standard deviation of a sample of a joint's angle."""
    encoder_resolution_rad: NonNegative = 0.0
    """Step of the encoders."""
    velocity: JointVelocityConfig = JointVelocityConfig()
    """How joint velocities are measured."""
    imu: ImuConfig = ImuConfig()
    """Gyroscope and accelerometer, which the estimate of the base needs."""
    force_noise_N: NonNegative = 0.0
    """Standard deviation of each force of a sole's wrench."""
    moment_noise_Nm: NonNegative = 0.0
    """Standard deviation of each moment of a sole's wrench."""
    delay_s: NonNegative = 0.0
    """Age of all readings; it need not be a whole number of control periods."""

    @model_validator(mode="before")
    @classmethod
    def _fill_in(cls, value: Any) -> Any:
        preset = value.get("preset") if isinstance(value, Mapping) else None
        if isinstance(preset, str) and preset in PRESETS:
            return _merged(PRESETS[preset], value)
        return value


class EstimatorConfig(Strict):
    """Assumptions of the base estimator."""

    foot_drift_m: Positive = 1e-3
    """How far a loaded foot wanders in a second; one in the air or on its edge: a metre."""
    foot_drift_rad: Positive = 1e-3
    """How far a loaded foot turns in a second; one in the air or on its edge: a radian."""
    kinematics_m: Positive = 1e-4
    """Error of the leg kinematics beside that of the encoders, in place."""
    kinematics_rad: Positive = 3e-4
    """Error of the leg kinematics beside that of the encoders, in orientation."""
    tilt_rad: Positive = 5e-3
    """Accuracy to which the tilt is known at the beginning."""


def _state(value: Any) -> Any:
    return True if value == "true" else value


State = Annotated[Literal[True, "estimated"], BeforeValidator(_state)]
"""Where the base's pose and velocity come from: ``true``, or ``estimated`` from sensors."""


def _merged(below: Mapping[str, Any], above: Mapping[str, Any]) -> dict[str, Any]:
    """``above`` on top of ``below``, mapping by mapping."""
    result = dict(below)
    for key, item in above.items():
        both = isinstance(item, Mapping) and isinstance(result.get(key), Mapping)
        result[key] = _merged(result[key], item) if both else item
    return result
