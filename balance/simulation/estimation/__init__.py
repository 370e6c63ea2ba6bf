"""The base's pose and velocity from an inertial unit and leg kinematics."""

from balance.simulation.estimation.base_estimator import BaseEstimator

__all__ = ["BaseEstimator"]
