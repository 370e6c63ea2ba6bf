"""The YAML schema of an experiment: frozen objects that refuse what they do not know."""

from balance.config.experiment import (
    ExperimentConfig,
    Reference,
    find_config,
    load_config,
    parse_config,
    parse_overrides,
)
from balance.config.laws import (
    LAWS,
    WRENCH_LAWS,
    CaptureLaw,
    ContactAssumptions,
    GainChange,
    Gains,
    HierarchicalLaw,
    Impedance,
    LawBase,
    MomentumLaw,
    Oscillator,
    OttLaw,
    Setpoint,
    VirtualModelLaw,
    WholeBodyLaw,
    WrenchLawBase,
    WrenchQP,
)
from balance.config.plant import Plant
from balance.config.pushes import ForcePush, HalfSinePush, ImpulsePush, PendulumPush
from balance.config.values import gain_matrix

__all__ = [
    "LAWS",
    "WRENCH_LAWS",
    "CaptureLaw",
    "ContactAssumptions",
    "ExperimentConfig",
    "ForcePush",
    "GainChange",
    "Gains",
    "HalfSinePush",
    "HierarchicalLaw",
    "Impedance",
    "ImpulsePush",
    "LawBase",
    "MomentumLaw",
    "Oscillator",
    "OttLaw",
    "PendulumPush",
    "Plant",
    "Reference",
    "Setpoint",
    "VirtualModelLaw",
    "WholeBodyLaw",
    "WrenchLawBase",
    "WrenchQP",
    "find_config",
    "gain_matrix",
    "load_config",
    "parse_config",
    "parse_overrides",
]
