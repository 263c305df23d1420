"""Configuration: one TOML file, frozen dataclasses behind it, the same names everywhere.

Sections ``algorithm``, ``curriculum``, ``generator`` and ``source``, and each of ``scorer`` and ``tracker``, are a plugin's
``name`` and its own options.
``env`` is one table, or several: ``[[env]]``.
"""

import re
from dataclasses import dataclass, field, replace
from typing import Annotated, Any, Literal

from pydantic import Field

from agentgym_train.config.constraints import Count, Name, NonNegative, Positive, Seconds, Seed, Temperature, Wait, Whole
from agentgym_train.errors import ConfigError

SCRATCH = "scratch"
VOCAB = 260  # the bytes and the four special tokens


@dataclass(frozen=True, kw_only=True)
class EnvConfig:
    """Where episodes come from."""

    id: Name
    """A registered id, or "module:id"."""
    name: str = ""
    """What metrics and messages call it, of letters, digits and -_.; without it the id's last part, without the version."""
    kwargs: dict[str, Any] = field(default_factory=dict)
    """For the environment's constructor."""
    groups: Count = 8
    """Tasks a step, over all processes: its weight among several environments."""
    group_size: Count = 8
    """Episodes a task."""
    workers: Whole = 0
    """Environment processes a trainer process; 0: one a core."""
    action_format: str = "plain"
    """How a response holds its action: plain, react, tags or function."""
    timeout: Seconds = 60.0
    """Seconds one environment call may take."""
    retries: Whole = 3
    """Fresh environments that an episode gets after a failure."""
    failure_budget: Whole = 256
    """Episodes of the whole run that may be given up, their retries spent, before it stops with a report."""
    curriculum: dict[str, Any] = field(default_factory=dict)
    """Its own; empty: another instance of the run's."""

    def __post_init__(self) -> None:
        if not self.name:
            object.__setattr__(self, "name", re.sub(r"-v\d+$", "", re.split("[:/]", self.id)[-1]))
        if not re.fullmatch(r"[\w.-]+", self.name):
            raise ValueError(f"the name {self.name!r} has characters other than letters, digits and -_.")


@dataclass(frozen=True, kw_only=True)
class ModelConfig:
    """The policy at the start."""

    path: Name = SCRATCH
    """A Hugging Face causal LM, local folder or hub name; "scratch" makes a small one (see ``scratch``)."""
    dtype: Literal["float32", "bfloat16"] = "float32"
    """Training and generation precision: float32 or bfloat16."""
    max_context: Annotated[int, Field(ge=32, le=2**31 - 1)] = 2048
    """Tokens an episode may have; at least 32, for the start-up probe is an episode too."""
    last_layers: Whole = 0
    """Learn in so many of the last layers alone, which saves the backward pass of the others; 0: in the whole model."""


@dataclass(frozen=True, kw_only=True)
class ScratchConfig:
    """The small model that ``model.path = "scratch"`` makes: random weights, language-modelled on random play."""

    layers: Count = 2
    hidden: Count = 64
    heads: Count = 4
    """Attention heads; ``hidden`` is an even multiple of it."""
    vocab: Annotated[Count, Field(ge=VOCAB)] = 384
    """Entries of the byte-level BPE tokenizer."""
    episodes: Count = 2000
    """Random-play episodes to model: no expert, no reward."""
    turns: Count = 16
    """Turns an episode of random play."""
    steps: Count = 500
    batch: Count = 16
    """Episodes an optimizer step."""
    lr: Positive = 5e-3

    def __post_init__(self) -> None:
        if self.hidden % (2 * self.heads):
            raise ValueError(f"hidden={self.hidden} is no even multiple of heads={self.heads}")


@dataclass(frozen=True, kw_only=True)
class RolloutConfig:
    """How the policy acts."""

    temperature: Temperature = 1.0
    max_new_tokens: Count = 64
    """Tokens a turn."""
    batch_wait: Wait = 10.0
    """Seconds that ready episodes wait for slower ones before they go on without them, while the generator has nothing to do.
    An answer that comes later is counted as ``late`` in the metrics: the clock has then chosen a batch, and rounding may differ
    in another run."""


@dataclass(frozen=True, kw_only=True)
class EngineConfig:
    """The optimizer step."""

    zero_stage: Annotated[int, Field(ge=0, le=3)] = 2
    """In bfloat16, 0 and 1 run as 2, the first stage that accumulates gradients in float32."""
    lr: Positive = 1e-6
    weight_decay: NonNegative = 0.0
    warmup: Whole = 0
    """Optimizer steps of linear warm-up."""
    decay: Whole = 0
    """Optimizer steps over which the rate falls linearly to a tenth, where it stays; 0: constant."""
    max_grad_norm: Positive = 1.0
    micro_batch_tokens: Count = 4096
    """Padded tokens a forward pass. A CPU is quicker with few (caches), a GPU with as many as its memory holds."""
    minibatches: Count = 1
    """Optimizer steps that one collection is split into."""
    zero: dict[str, Any] = field(default_factory=dict)
    """More keys of DeepSpeed's ``zero_optimization``."""


@dataclass(frozen=True, kw_only=True)
class CriticConfig:
    """What estimates returns, for algorithms that ask for it (ppo); others ignore it."""

    kind: Literal["model", "head"] = "model"
    """"model": a second model, made from the initial policy. "head": one linear layer on the policy, whose loss shapes
    the policy too."""
    lr: NonNegative = 0.0
    """Of the second model or of the head, with the policy's warm-up and decay; 0: ``engine.lr``."""


@dataclass(frozen=True, kw_only=True)
class EvalConfig:
    """Held-out tasks, at the full horizon, with the sampled policy."""

    kwargs: dict[str, Any] = field(default_factory=dict)
    """Changes to ``env.kwargs``, usually the split."""
    episodes: Count = 100
    """Tasks, one episode each."""
    horizon: Whole = 0
    """Turns; 0: the environment's registered limit."""
    every: Whole = 0
    """Steps between evaluations during training; 0: only before and after."""


@dataclass(frozen=True, kw_only=True)
class RunConfig:
    """Length and place of the run."""

    folder: Name
    steps: Count
    seed: Seed = 0
    save_every: Count = 50
    """Steps between checkpoints."""
    keep: Count = 2
    """Checkpoints to keep."""
    threads: Whole = 0
    """CPU threads of a training process; 0: torch's choice. Another number rounds differently."""


@dataclass(frozen=True, kw_only=True)
class Settings:
    """What every run has."""

    run: RunConfig
    model: ModelConfig = ModelConfig()
    engine: EngineConfig = EngineConfig()
    tracker: list[dict[str, Any]] = field(default_factory=list)
    """``[[tracker]]`` tables; ``metrics.jsonl`` is written in any case."""


@dataclass(frozen=True, kw_only=True)
class Config(Settings):
    """Everything the run of a policy is made of."""

    envs: Annotated[tuple[EnvConfig, ...], Field(min_length=1)]
    """``[env]``, or each ``[[env]]``."""
    scratch: ScratchConfig = ScratchConfig()
    rollout: RolloutConfig = RolloutConfig()
    critic: CriticConfig = CriticConfig()
    eval: EvalConfig = EvalConfig()
    algorithm: dict[str, Any] = field(default_factory=lambda: {"name": "grpo"})
    curriculum: dict[str, Any] = field(default_factory=dict)
    generator: dict[str, Any] = field(default_factory=lambda: {"name": "hf"})
    source: dict[str, Any] = field(default_factory=lambda: {"name": "rollout"})
    scorer: list[dict[str, Any]] = field(default_factory=list)
    """``[[scorer]]`` tables: each changes the rewards that the one before it left."""

    def __post_init__(self) -> None:
        answer, context = self.rollout.max_new_tokens, self.model.max_context
        if answer >= context:
            raise ConfigError(f"rollout.max_new_tokens={answer} leaves no room for a prompt in model.max_context={context}")
        names = [env.name for env in self.envs]
        if twice := next((name for name in names if names.count(name) > 1), None):
            raise ConfigError(f"two environments have the name {twice!r}: set env.name of one of them")

    @property
    def env(self) -> EnvConfig:
        """The environment, of a configuration that has but one: see :meth:`each`."""
        (env,) = self.envs
        return env

    @property
    def groups(self) -> int:
        """Groups a step, of all environments and processes."""
        return sum(env.groups for env in self.envs)

    def each(self) -> list["Config"]:
        """Returns a configuration for each environment, as if it were the only one."""
        return [replace(self, envs=(env,), curriculum=env.curriculum or self.curriculum) for env in self.envs]
