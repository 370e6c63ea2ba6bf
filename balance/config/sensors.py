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
    """Joint velocities: ``measured`` with white noise (rad/s), or ``differentiated`` from encoders.

    ``cutoff_hz`` is the corner frequency of a first-order low-pass filter behind either.
    """

    source: Literal["measured", "differentiated"] = "measured"
    noise_rad_s: NonNegative = 0.0
    cutoff_hz: Positive | None = None


class ImuConfig(Strict):
    """Gyroscope and accelerometer on ``body``, by default the base.

    ``gyro_noise`` rad/s/sqrt(Hz) and ``accel_noise`` m/s^2/sqrt(Hz) are densities of white noise;
    ``gyro_bias`` rad/s and ``accel_bias`` m/s^2 are the standard deviations from which constant
    offsets are drawn, one for each axis.
    """

    body: str | None = None
    gyro_noise: NonNegative = 0.0
    gyro_bias: NonNegative = 0.0
    accel_noise: NonNegative = 0.0
    accel_bias: NonNegative = 0.0


class SensorsConfig(Strict):
    """What the control law is told of the robot; all zero is perfect knowledge.

    Standard deviations of one sample: ``encoder_noise_rad``, ``force_noise_N`` and
    ``moment_noise_Nm`` (each component of each sole's wrench).  Readings are ``delay_s`` old,
    which need not be a whole number of control periods.  ``preset`` fills in what is not given.
    """

    preset: Literal["default"] | None = None
    encoder_noise_rad: NonNegative = 0.0
    encoder_resolution_rad: NonNegative = 0.0
    velocity: JointVelocityConfig = JointVelocityConfig()
    imu: ImuConfig = ImuConfig()
    force_noise_N: NonNegative = 0.0
    moment_noise_Nm: NonNegative = 0.0
    delay_s: NonNegative = 0.0

    @model_validator(mode="before")
    @classmethod
    def _fill_in(cls, value: Any) -> Any:
        preset = value.get("preset") if isinstance(value, Mapping) else None
        if isinstance(preset, str) and preset in PRESETS:
            return _merged(PRESETS[preset], value)
        return value


class EstimatorConfig(Strict):
    """Assumptions of the base estimator.

    A loaded foot wanders by ``foot_drift_m`` and ``foot_drift_rad`` in a second, one in the air or
    on its edge by a metre and a radian.  ``kinematics_m`` and ``kinematics_rad`` are errors of the
    leg kinematics beside the encoders', and the initial tilt is known to ``tilt_rad``.
    """

    foot_drift_m: Positive = 1e-3
    foot_drift_rad: Positive = 1e-3
    kinematics_m: Positive = 1e-4
    kinematics_rad: Positive = 3e-4
    tilt_rad: Positive = 5e-3


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
