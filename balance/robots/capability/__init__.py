"""What a robot's own numbers allow it: centre of pressure, lean, moments, steps.

Laws, verdicts and the recovery limit all ask here, so that they share one set of bounds.
"""

from balance.robots.capability.capability import AZIMUTHS, Capability, capability
from balance.robots.capability.cop import cop_region
from balance.robots.capability.flywheel import MomentumMap, momentum_map
from balance.robots.capability.steps import StepNumbers, step_numbers

__all__ = [
    "AZIMUTHS",
    "Capability",
    "MomentumMap",
    "StepNumbers",
    "capability",
    "cop_region",
    "momentum_map",
    "step_numbers",
]
