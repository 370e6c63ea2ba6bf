"""Gauss' principle in any rotation chart, Bouyarmane2012 III-IV."""

from balance.dynamics.gauss.equations import GaussDynamics, gauss_dynamics

__all__ = ["GaussDynamics", "gauss_dynamics"]
