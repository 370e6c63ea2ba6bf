"""The YAML schema of an experiment: frozen objects that refuse what they do not know."""

from balance.config.experiment import (
    ExperimentConfig,
    ReferenceConfig,
    find_config,
    load_config,
    parse_config,
    parse_overrides,
)
from balance.config.laws import (
    BalancingLawConfig,
    ContactAssumptionsConfig,
    GainChangeConfig,
    GainsConfig,
    ImpedanceConfig,
    LawConfig,
    OscillatorConfig,
    SetpointConfig,
    WrenchLawConfig,
    WrenchQPConfig,
)
from balance.config.plant import PlantConfig
from balance.config.pushes import PushConfig
from balance.config.registry import ENGINES, LAWS, PROTOCOLS, PUSHES, QUANTITIES
from balance.config.sections import section_of
from balance.config.values import gain_matrix

__all__ = [
    "ENGINES",
    "LAWS",
    "PROTOCOLS",
    "PUSHES",
    "QUANTITIES",
    "BalancingLawConfig",
    "ContactAssumptionsConfig",
    "ExperimentConfig",
    "GainChangeConfig",
    "GainsConfig",
    "ImpedanceConfig",
    "LawConfig",
    "OscillatorConfig",
    "PlantConfig",
    "PushConfig",
    "ReferenceConfig",
    "SetpointConfig",
    "WrenchLawConfig",
    "WrenchQPConfig",
    "find_config",
    "gain_matrix",
    "load_config",
    "parse_config",
    "parse_overrides",
    "section_of",
]
