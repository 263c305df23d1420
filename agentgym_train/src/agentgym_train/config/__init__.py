"""Configuration: one TOML file, frozen dataclasses behind it, the same names everywhere."""

from agentgym_train.config.build import build, difference, dumps, load, of, tree, without_none
from agentgym_train.config.schema import (
    SCRATCH,
    Config,
    CriticConfig,
    EngineConfig,
    EnvConfig,
    EvalConfig,
    LoraConfig,
    ModelConfig,
    RolloutConfig,
    RunConfig,
    ScratchConfig,
    SharedSettings,
)

__all__ = [
    "SCRATCH",
    "Config",
    "CriticConfig",
    "EngineConfig",
    "EnvConfig",
    "EvalConfig",
    "LoraConfig",
    "ModelConfig",
    "RolloutConfig",
    "RunConfig",
    "ScratchConfig",
    "SharedSettings",
    "build",
    "difference",
    "dumps",
    "load",
    "of",
    "tree",
    "without_none",
]
