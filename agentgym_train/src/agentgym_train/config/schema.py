"""Configuration: one TOML file, frozen dataclasses behind it, the same names everywhere.

The sections ``algorithm``, ``curriculum``, ``generator`` and ``source`` hold a plugin's ``name``
and its options. So does each table of ``scorer`` and ``tracker``. The name is registered,
"module:Class" or "./file.py:Class".
``env`` is one table, or several tables ``[[env]]``.
"""

import re
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

from pydantic import Field

from agentgym_train.config.constraints import (
    Count,
    Day,
    Name,
    NonNegative,
    Positive,
    Seconds,
    Seed,
    Temperature,
    Wait,
    Whole,
)
from agentgym_train.errors import ConfigError

if TYPE_CHECKING:
    from agentgym_envs.agents import AgentFactory

SCRATCH = "scratch"
VOCAB = 260  # the bytes and the four special tokens
SCRATCH_ACTION, PRETRAINED_ACTION = 64, 512  # tokens; pretrained models write sentences
PLUGIN_GROUPS = {
    "algorithm": "agentgym_train.algorithms",
    "curriculum": "agentgym_train.curricula",
    "generator": "agentgym_train.generators",
    "source": "agentgym_train.sources",
    "scorer": "agentgym_train.scorers",
    "tracker": "agentgym_train.trackers",
}
"""The entry-point group of the plugins that a section names."""
DEFAULT_PLUGINS = {"algorithm": "grpo", "generator": "hf", "source": "rollout"}


def load_agent(table: Mapping[str, Any]) -> "AgentFactory":
    """Returns the agent of a section ``agent``.

    Raises:
        AgentGymError: the agent cannot be loaded, or does not take an option.
    """
    from agentgym_envs import agents  # a plugin of the user's can be imported here

    options = {key: value for key, value in table.items() if key not in ("name", "attempts")}
    return agents.load(str(table.get("name", "chat")), options)


def agent_attempts(table: Mapping[str, Any]) -> int:
    """Returns the number of attempts at a task in an episode.

    Args:
        table: the section ``agent``.

    Raises:
        AgentGymError: the agent cannot be loaded.
        ConfigError: an invalid number, or more than 1 for an agent that does not learn from them.
    """
    if not table:
        return 1
    agent = load_agent(table)
    attempts = table.get("attempts", 2 if agent.learns else 1)
    if type(attempts) is not int or attempts < 1:
        raise ConfigError(f"agent.attempts={attempts!r} must be a whole number from 1 up")
    if attempts > 1 and not agent.learns:
        raise ConfigError(
            f"agent.attempts={attempts}: the agent {agent.name!r} has no method 'end', so it learns"
            " nothing between attempts; set it to 1, or use another agent, such as reflect"
        )
    return attempts


def template_text(template: str, *, key: str) -> str:
    """Returns the text of a chat template.

    Args:
        template: the text, or the path of a file with it; empty: none.
        key: the configuration key, for the error message.

    Raises:
        ConfigError: the file cannot be read.
    """
    if not template or "{{" in template or "{%" in template:
        return template
    try:
        return Path(template).read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise ConfigError(
            f"{key}={template!r} is neither the text of a Jinja template nor a file that can be"
            f" read: {error}"
        ) from error


@dataclass(frozen=True, kw_only=True)
class EnvConfig:
    """The environment that episodes are played in."""

    id: Name
    """A registered environment id, "module:id", "module:Class" or "./file.py:Class". The path is
    relative to the configuration file, or else to the working folder."""
    name: str = ""
    """The environment's name in metrics and messages: letters, digits, "-", "_" and ".".
    Default: the last part of ``id`` without its version."""
    kwargs: dict[str, Any] = field(default_factory=dict)
    """Keyword arguments of the environment's constructor."""
    groups: Count = 8
    """Tasks per step over all processes; also the environment's share of the batch."""
    tokens_per_step: Whole = 0
    """Tokens per step over all processes, prompts included. The number of groups follows the
    measured tokens per group, up to ``groups``. Environments with equal numbers have equal shares
    of the tokens. 0: always ``groups`` groups."""
    group_size: Count = 8
    """Episodes per task."""
    workers: Whole = 0
    """Environment processes per training process, on each of ``hosts``; 0: one per core."""
    hosts: tuple[Name, ...] = ()
    """Addresses of ``agentgym serve --pool``, such as "10.0.0.2:9000". They run the environment for
    all training processes. Empty: each training process runs it on its own machine. The variable
    ``AGENTGYM_POOL_TOKEN`` holds the hosts' password."""
    action_format: str = ""
    """The format of an action in a response: plain, react, tags or function. Empty: the agent's own
    format, which is plain without a section ``[agent]``."""
    timeout: Seconds = 60.0
    """Time limit of one environment call, in seconds."""
    retries: Whole = 3
    """Restarts of an episode after environment failures, each in a fresh environment."""
    failure_budget: Whole = 256
    """Episodes that can fail for good over the whole run. One more stops the run with a report."""
    curriculum: dict[str, Any] = field(default_factory=dict)
    """The environment's curriculum; empty: a separate instance of the run's curriculum."""

    def __post_init__(self) -> None:
        if not self.name:
            object.__setattr__(self, "name", re.sub(r"-v\d+$", "", re.split("[:/]", self.id)[-1]))
        if not re.fullmatch(r"[\w.-]+", self.name):
            raise ValueError(
                f"the name {self.name!r} has characters other than letters, digits and -_."
            )


@dataclass(frozen=True, kw_only=True)
class LoraConfig:
    """A low-rank adapter (LoRA), which is trained instead of the model's own weights.

    It has no dropout: the trained policy must be the sampled one.
    """

    rank: Whole = 0
    """Rank of the adapter; 0: no adapter. Needs the extra ``lora``."""
    alpha: Positive = 32.0
    """The adapter's output is multiplied by ``alpha / rank``."""
    targets: Annotated[tuple[Name, ...], Field(min_length=1)] = ("all-linear",)
    """The linear layers with an adapter, by the last part of their names, such as "q_proj".
    "all-linear": every linear layer below the output head. The experts of a mixture are not linear
    layers in transformers 5 and get no adapter."""


@dataclass(frozen=True, kw_only=True)
class ModelConfig:
    """The initial policy."""

    path: Name = SCRATCH
    """A Hugging Face causal LM: a local folder or a hub name. "scratch" makes a small model (see
    ``scratch``)."""
    dtype: Literal["float32", "bfloat16"] = "float32"
    """Precision of training and generation: float32 or bfloat16."""
    max_context: Annotated[int, Field(ge=32, le=2**31 - 1)] = 2048
    """Maximum length of an episode, in tokens. At least 32, which the start-up check needs."""
    last_layers: Whole = 0
    """Train only the last N layers, which saves the backward pass of the other layers; 0: train the
    whole model."""
    lora: LoraConfig = LoraConfig()
    """The adapter; excludes ``last_layers``."""
    checkpointing: Literal["auto", "on", "off"] = "auto"
    """Gradient checkpointing: each layer keeps its input only and is computed again in the backward
    pass. It saves most of the memory of activations and costs up to a third more time. Results
    stay equal up to rounding. "auto": on for a pretrained model, off for "scratch"."""
    attn_implementation: str = ""
    """transformers' name of the attention in the training forward, such as "eager", "sdpa" or
    "flash_attention_2". Empty: transformers' choice."""
    chat_template: str = ""
    """The chat template: a Jinja file, or its text. The trained model keeps it. Empty: the template
    of the model's tokenizer."""
    chat_template_kwargs: dict[str, Any] = field(default_factory=dict, hash=False)
    """Arguments of the chat template, such as ``{ enable_thinking = false }``."""

    def __post_init__(self) -> None:
        text = template_text(self.chat_template, key="model.chat_template")
        object.__setattr__(self, "chat_template", text)
        if self.path == SCRATCH and (text or self.chat_template_kwargs):
            raise ConfigError(
                "model.path='scratch' has its own chat template: remove model.chat_template and"
                " model.chat_template_kwargs"
            )
        if self.last_layers and self.lora.rank:
            raise ConfigError(
                f"model.last_layers={self.last_layers} and model.lora.rank={self.lora.rank} exclude"
                " each other: set one of them to 0"
            )

    @property
    def checkpoints(self) -> bool:
        """Whether gradient checkpointing is on."""
        return self.checkpointing == "on" or (self.checkpointing == "auto" and self.path != SCRATCH)


@dataclass(frozen=True, kw_only=True)
class ScratchConfig:
    """The small model of ``model.path = "scratch"``.

    It starts from random weights and is trained as a language model on random play, or on recorded
    episodes.
    """

    layers: Count = 2
    """Transformer layers."""
    hidden: Count = 64
    """Hidden size; must be an even multiple of ``heads``."""
    heads: Count = 4
    """Attention heads per layer."""
    vocab: Annotated[Count, Field(ge=VOCAB)] = 384
    """Vocabulary size of the byte-level BPE tokenizer; at least 260."""
    folders: tuple[Name, ...] = ()
    """Result folders of ``agentgym eval``, such as an oracle's. Their episodes replace random play.
    Each environment has an equal share of the text. A token of an observation has a fifth of an
    action token's weight in the loss."""
    episodes: Count = 2000
    """Random-play episodes to train on. They use no expert and no reward."""
    turns: Count = 16
    """Maximum turns per random-play episode."""
    copy_steps: Whole = 0
    """Optimizer steps on random sequences of tokens that are shown twice, before language
    modelling. They teach the model to copy names from observations."""
    steps: Count = 500
    """Optimizer steps of language modelling."""
    batch: Count = 16
    """Episodes per optimizer step."""
    lr: Positive = 5e-3
    """Peak learning rate of copying and of language modelling."""

    def __post_init__(self) -> None:
        if self.hidden % (2 * self.heads):
            raise ValueError(f"hidden={self.hidden} must be an even multiple of heads={self.heads}")


@dataclass(frozen=True, kw_only=True)
class RolloutConfig:
    """Sampling of the policy's actions."""

    temperature: Temperature = 1.0
    """Sampling temperature, from 0.01 to 100."""
    max_new_tokens: Whole = 0
    """Maximum tokens per action. A longer one is cut and played as it is; the metric
    ``cut_actions`` counts it. An episode ends when its next prompt leaves less room than this in
    ``model.max_context``. 0: 64 for "scratch"; for a pretrained model a quarter of
    ``model.max_context``, but at most 512. A model that thinks before it acts needs more."""
    mask_cut_actions: bool = False
    """Exclude the tokens of cut actions from the loss. They stay in the history of the episode, and
    their rewards stay in its return."""
    overlong_filtering: bool = False
    """Exclude an episode that the context ended (``truncated_context``) from the loss and from the
    mean of its group, as in DAPO (Yu et al., 2025). Otherwise it keeps the return that it had when
    it was cut, which can be larger than that of an episode that failed. The scorer ``penalty`` can
    lower its return instead."""
    batch_wait: Wait = 10.0
    """Maximum time, in seconds, that ready episodes wait for slower environments; at most 2 s while
    the generator has rows to sample. The metrics count a later result as ``late``. The batches of
    the step then depend on the clock, and rounding can differ between runs. 0: no episode waits,
    which is faster with slow environments."""
    max_rows: Whole = 0
    """Maximum number of episodes in progress at a time, per process; 0: no limit. It bounds the
    memory of the generator. An episode counts once per agent."""
    ahead: Annotated[int, Field(ge=0, le=1)] = 0
    """1: the next step is collected while the policy learns, with the weights from before this
    update. The metric ``off_policy`` counts the optimizer steps that these weights lack.
    ``algorithm.importance_cap`` is then 2.0 unless the file sets it. A curriculum sees the metrics
    one step late. The step after a checkpoint or an evaluation is not collected ahead, so a resumed
    run equals an uninterrupted one. 0: sampling and learning take turns."""


@dataclass(frozen=True, kw_only=True)
class EngineConfig:
    """The optimizer and DeepSpeed."""

    zero_stage: Annotated[int, Field(ge=0, le=3)] = 2
    """DeepSpeed's ZeRO stage, 0 to 3. In bfloat16, 0 and 1 run as 2, which is the first stage that
    accumulates gradients in float32."""
    lr: Positive = 1e-6
    """Peak learning rate."""
    weight_decay: NonNegative = 0.0
    """Weight decay of the optimizer."""
    warmup: Whole = 0
    """Linear warm-up, in optimizer steps."""
    decay: Whole = 0
    """Linear decay of the learning rate to a tenth, in optimizer steps; constant afterwards. 0: no
    decay."""
    max_grad_norm: Positive = 1.0
    """Gradients are clipped to this norm."""
    micro_batch_tokens: Count = 4096
    """Maximum tokens per forward pass, padding included. A longer trajectory is run alone, and the
    other processes may run as many tokens at the same time. A CPU is faster with few, because of
    its caches. A GPU is faster with as many as fit its memory."""
    minibatches: Count = 1
    """Optimizer steps per training step. The groups of the step are split among them."""
    zero: dict[str, Any] = field(default_factory=dict)
    """Additional keys of DeepSpeed's ``zero_optimization``."""
    sleep: bool = False
    """Keep weights and optimizer in main memory while the generator works. It frees memory of a GPU
    that both use; each step moves them twice."""
    collective_timeout: Positive = 7200.0
    """Seconds that a process waits for the others in a collective operation. It must be longer than
    the longest rollout of a step. Processes notice within a minute if another one has ended."""


@dataclass(frozen=True, kw_only=True)
class CriticConfig:
    """The critic, which estimates returns. Only algorithms that require it use it (ppo)."""

    kind: Literal["model", "head"] = "model"
    """"model": a second model, initialised from the policy. "head": one linear layer on the policy;
    its loss changes the policy's weights too."""
    lr: NonNegative = 0.0
    """Peak learning rate of the critic; warm-up and decay are the policy's. 0: ``engine.lr``."""


@dataclass(frozen=True, kw_only=True)
class EvalConfig:
    """Evaluation of the sampled policy on held-out tasks, at the full horizon."""

    kwargs: dict[str, Any] = field(default_factory=dict)
    """Keyword arguments that replace those of ``env.kwargs``, usually the split."""
    episodes: Count = 100
    """Held-out tasks, with one episode each."""
    horizon: Whole = 0
    """Maximum turns per episode; 0: the environment's registered limit."""
    every: Whole = 0
    """Training steps between evaluations; 0: only before and after training."""


@dataclass(frozen=True, kw_only=True)
class RunConfig:
    """Length, seed and folder of the run."""

    folder: Name
    """The run folder, for configuration, metrics, checkpoints and the trained model."""
    steps: Count
    """Training steps. Each collects episodes and then updates the policy."""
    seed: Seed = 0
    """Seed of tasks, sampling and new weights."""
    save_every: Count = 50
    """Training steps between checkpoints."""
    keep: Count = 2
    """Number of checkpoints to keep; older ones are deleted."""
    threads: Whole = 0
    """CPU threads per training process; 0: torch's default. Rounding depends on this number."""
    date: Day = ""
    """The date that chat templates read, as YYYY-MM-DD. Empty: the day on which the run was
    started. The run folder keeps it."""


@dataclass(frozen=True, kw_only=True)
class SharedSettings:
    """The sections that policy runs and reward-model runs share."""

    run: RunConfig
    model: ModelConfig = ModelConfig()
    engine: EngineConfig = EngineConfig()
    tracker: list[dict[str, Any]] = field(default_factory=list)
    """``[[tracker]]`` tables. ``metrics.jsonl`` is always written."""

    @property
    def policy(self) -> "Config | None":
        """The configuration itself if the run trains a policy, else None."""
        return None

    @property
    def template_options(self) -> dict[str, Any]:
        """Options of :class:`agentgym_train.models.chat.ChatTemplate` for the model of the run."""
        return {"arguments": self.model.chat_template_kwargs, "date": self.run.date}


@dataclass(frozen=True, kw_only=True)
class Config(SharedSettings):
    """The configuration of a policy run."""

    envs: Annotated[tuple[EnvConfig, ...], Field(min_length=1)]
    """The ``[env]`` table, or all ``[[env]]`` tables."""
    scratch: ScratchConfig = ScratchConfig()
    rollout: RolloutConfig = RolloutConfig()
    critic: CriticConfig = CriticConfig()
    agent: dict[str, Any] = field(default_factory=dict)
    """Name and options of the agent, those of ``agentgym eval --agent`` and ``--option``. The name
    is registered, "module:Class" or "./file.py:Class". Empty: ``chat``, the conversation alone.
    ``attempts`` is the maximum number of attempts at a task in an episode. Its default is 2 for an
    agent with a method ``end``, such as ``reflect``, which leaves lessons for the next attempt. It
    is 1 for any other agent."""
    eval: EvalConfig = EvalConfig()
    algorithm: dict[str, Any] = field(
        default_factory=lambda: {"name": DEFAULT_PLUGINS["algorithm"]}
    )
    """Name and options of the algorithm."""
    curriculum: dict[str, Any] = field(default_factory=dict)
    """Name and options of the curriculum. Optional only if every ``[[env]]`` has its curriculum."""
    generator: dict[str, Any] = field(
        default_factory=lambda: {"name": DEFAULT_PLUGINS["generator"]}
    )
    """Name and options of the generator."""
    source: dict[str, Any] = field(default_factory=lambda: {"name": DEFAULT_PLUGINS["source"]})
    """Name and options of the source of episodes."""
    scorer: list[dict[str, Any]] = field(default_factory=list)
    """``[[scorer]]`` tables. Scorers change the rewards one after the other, in this order."""

    def __post_init__(self) -> None:
        context = self.model.max_context
        answer = self.rollout.max_new_tokens or (
            SCRATCH_ACTION if self.model.path == SCRATCH else min(PRETRAINED_ACTION, context // 4)
        )
        object.__setattr__(self, "rollout", replace(self.rollout, max_new_tokens=answer))
        for section, name in DEFAULT_PLUGINS.items():
            # A table without a name, such as one of ``--set``, has options of the default plugin.
            object.__setattr__(self, section, {"name": name} | getattr(self, section))
        if answer >= context:
            raise ConfigError(
                f"rollout.max_new_tokens={answer} must be below model.max_context={context}, which"
                " holds the prompt too"
            )
        if self.rollout.ahead and self.engine.sleep:
            raise ConfigError(
                "rollout.ahead=1 samples while the policy learns, and engine.sleep=true keeps the"
                " policy in main memory while the generator works: set rollout.ahead=0 or"
                " engine.sleep=false"
            )
        form = (load_agent(self.agent).format or "plain") if self.agent else "plain"
        envs = tuple(
            env if env.action_format else replace(env, action_format=form) for env in self.envs
        )
        object.__setattr__(self, "envs", envs)
        agent_attempts(self.agent)
        names = [env.name for env in self.envs]
        if twice := next((name for name in names if names.count(name) > 1), None):
            raise ConfigError(
                f"two environments have the name {twice!r}: set env.name of one of them"
            )

    @property
    def policy(self) -> "Config":
        """The configuration itself."""
        return self

    @property
    def env(self) -> EnvConfig:
        """The environment of a configuration with exactly one (see :meth:`each`)."""
        (env,) = self.envs
        return env

    @property
    def attempts(self) -> int:
        """Maximum number of attempts at a task in an episode."""
        return agent_attempts(self.agent)

    @property
    def groups(self) -> int:
        """Groups per step, over all environments and processes."""
        return sum(env.groups for env in self.envs)

    def each(self) -> list["Config"]:
        """Returns a configuration for each environment, as if it were the only one."""
        return [
            replace(self, envs=(env,), curriculum=env.curriculum or self.curriculum)
            for env in self.envs
        ]
