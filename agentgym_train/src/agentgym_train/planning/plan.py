"""The memory that a run needs on each card, while it generates and while it updates.

A run alternates between two phases. While it generates, a card holds the trainer's state, the
generator's weights and the key-value cache. While it updates, the generator sleeps, and the card
holds the activations of one micro-batch. With ``rollout.ahead`` both phases come at the same time,
in the second column. The plan is made for the longest episodes that
``model.max_context`` allows.
"""

from collections.abc import Collection, Iterator
from dataclasses import dataclass
from functools import partial
from typing import NamedTuple

import torch
from transformers import AutoModelForSequenceClassification, PretrainedConfig

from agentgym_train import plugins
from agentgym_train.config import SCRATCH, Config
from agentgym_train.engine import critic
from agentgym_train.models import scratch
from agentgym_train.models.loading import load_shape
from agentgym_train.planning import card_memory
from agentgym_train.planning.card_memory import EngineMemory, TrainingCards, engine_memory
from agentgym_train.planning.trace import TraceResult, TraceSetting, trace
from agentgym_train.scorers import rewards
from agentgym_train.scorers.reward_model import RewardModel

RESERVE = 0.06
"""Share of a card's memory for the driver, collectives and fragmentation."""
EMBEDDED = "hf"
"""The generator whose memory is planned; others run elsewhere or reserve a part of the card."""
GENERATING, LOADING, UPDATING = "generating", "loading", "updating"


class PlanRow(NamedTuple):
    """A line of the table: bytes on each card, by phase."""

    name: str
    generating: float
    loading: float
    updating: float


@dataclass(frozen=True)
class MemoryPlan:
    """The memory of a run."""

    rows: tuple[PlanRow, ...]
    cards: TrainingCards
    load: float
    """Bytes of main memory while all processes load models, if they share one machine."""
    host: float
    """Bytes of main memory afterwards: offloaded state of all processes."""
    tokens: int
    """Tokens of the largest micro-batch."""
    episodes: int
    """Maximum number of episodes that one process plays at the same time."""

    sleeps: bool
    """Whether the trainer's state is in main memory while the generator works."""

    @property
    def phases(self) -> list[str]:
        """Returns the names of the phases in the order of a step."""
        return [GENERATING, UPDATING, LOADING] if self.sleeps else [GENERATING, UPDATING]

    def total(self, phase: str) -> float:
        """Returns the bytes on a card in a phase."""
        return float(sum(getattr(row, phase) for row in self.rows))

    @property
    def peak(self) -> float:
        """Returns the bytes on a card in the phase that needs most."""
        return max(map(self.total, self.phases))

    def fits(self, memory: float) -> bool:
        """Whether a card of so many bytes is large enough, with a reserve."""
        return self.peak <= memory * (1 - RESERVE)


def make(config: Config, cards: TrainingCards) -> MemoryPlan:
    """Plans a run; loads no weights.

    Args:
        config: the run.
        cards: where it trains; one process per card.

    Raises:
        AgentGymError: a plugin or the model's ``config.json`` cannot be loaded, or the model cannot
            be planned.
    """
    shape = shape_of(config)
    algorithm = plugins.make_algorithm(config.algorithm)
    streams = {*algorithm.required_streams, *rewards.watched(config.scorer)}
    kind = critic.kind(config, streams)
    rows, tokens = micro_batch(config, whole_groups=algorithm.whole_groups)
    text, bonus = shape.to_json_string(), "entropy" in streams
    traced = trace(TraceSetting(shape, text, config.model, kind, bonus, rows, tokens))
    return _add_up(config, cards, shape, traced, streams, tokens=rows * tokens)


def shape_of(config: Config) -> PretrainedConfig:
    """Returns the transformers configuration of the policy, also of one that is not made yet."""
    if config.model.path == SCRATCH:
        return scratch.shape(
            config.scratch, vocab=config.scratch.vocab, max_context=config.model.max_context
        )
    return load_shape(config.model.path)


def micro_batch(config: Config, *, whole_groups: bool) -> tuple[int, int]:
    """Returns the rows of the largest micro-batch and the tokens of each."""
    context = config.model.max_context
    if whole_groups:
        return max(env.group_size for env in config.envs), context
    rows = max(1, config.engine.micro_batch_tokens // context)
    return rows, max(context, config.engine.micro_batch_tokens // rows)


def episodes(config: Config, processes: int) -> int:
    """Returns the most episodes that one process plays at the same time."""
    training = [-(-env.groups // processes) * env.group_size for env in config.envs]
    most = max(*training, -(-config.eval.episodes // processes))
    return min(most, config.rollout.max_rows or most)


@dataclass(frozen=True)
class _Parts:
    """The parts of a plan, in bytes on each card."""

    policy: EngineMemory
    critic: EngineMemory | None
    reference: EngineMemory | None
    scorers: float
    """Reward models."""
    generator: float
    cache: float
    call: float
    """Temporary tensors of the generator."""
    activations: float
    largest: float
    """The largest weight, which is gathered while the generator loads."""

    @property
    def engines(self) -> list[EngineMemory]:
        """Returns the models that learn."""
        return [each for each in (self.policy, self.critic) if each]

    @property
    def buckets(self) -> float:
        """Returns the buffers that stay allocated."""
        return sum(each.buckets for each in self.engines)

    def rows(self, *, sleeps: bool, ahead: bool) -> list[PlanRow]:
        """Returns the lines of the table; ``ahead``: the generator works during the update too."""
        rows = _state("", self.policy, sleeps)
        if self.critic:
            rows += _state("critic ", self.critic, sleeps)
        frozen = self.reference.weights if self.reference else 0
        buckets = self.buckets
        return [
            *rows,
            PlanRow("reference", frozen, frozen, frozen),
            PlanRow("reward models", self.scorers, self.scorers, self.scorers),
            PlanRow("generator", self.generator, self.generator, self.generator * ahead),
            PlanRow("key-value cache", self.cache, 0, self.cache * ahead),
            PlanRow("activations", 0, 0, self.activations),
            PlanRow(
                "buffers",
                self.call + (0 if sleeps else buckets),
                buckets + self.largest,
                buckets + self.passing + self.call * ahead,
            ),
        ]

    @property
    def passing(self) -> float:
        """Returns the temporary bytes of the update beside the activations.

        The optimizer step comes when the activations are gone, so only the larger peak counts.
        """
        models = [*self.engines, *([self.reference] if self.reference else [])]
        passes = self.activations + max(each.gathered for each in models)
        return max(passes, *(each.step for each in self.engines)) - self.activations


def _state(name: str, each: EngineMemory, sleeps: bool) -> list[PlanRow]:
    """Returns the lines of a model that learns."""
    lines = [
        ("weights", each.weights, each.weights),
        ("gradients", each.gradients_kept, each.gradients),
        ("optimizer", each.optimizer, each.optimizer),
    ]
    return [PlanRow(name + part, 0 if sleeps else kept, kept, most) for part, kept, most in lines]


def _add_up(
    config: Config,
    cards: TrainingCards,
    shape: PretrainedConfig,
    traced: TraceResult,
    streams: Collection[str],
    *,
    tokens: int,
) -> MemoryPlan:
    dtype, sleeps, ahead = config.model.dtype, config.engine.sleep, bool(config.rollout.ahead)
    size = 2 if dtype == "bfloat16" else 4
    engine = partial(engine_memory, config=config.engine, dtype=dtype, cards=cards)
    whole = size * sum(w.numel for w in traced.model)
    # The reference of an adapter is the same model with the adapter off.
    second = "reference" in streams and not config.model.lora.rank
    played = card_memory.GeneratorRows(episodes(config, cards.count), config.model.max_context)
    embedded = config.generator["name"] == EMBEDDED
    parts = _Parts(
        policy=engine(traced.policy),
        critic=engine(traced.critic) if traced.critic else None,
        reference=engine(traced.model, frozen=True) if second else None,
        scorers=sum(judges(config)),
        generator=whole * embedded,
        cache=card_memory.generator_cache(shape, played, size) * embedded,
        call=card_memory.generator_call(shape, played, size) * embedded,
        activations=traced.activations,
        largest=size * max(w.numel for w in traced.model),
    )
    asleep = sum(each.weights + each.optimizer + each.gradients_kept for each in parts.engines)
    return MemoryPlan(
        rows=tuple(row for row in parts.rows(sleeps=sleeps, ahead=ahead) if any(row[1:])),
        cards=cards,
        load=whole * cards.count if embedded or config.engine.zero_stage < 3 else whole,
        host=sum(each.host for each in parts.engines) + asleep * cards.count * sleeps,
        tokens=tokens,
        episodes=played.count,
        sleeps=sleeps,
    )


def judges(config: Config) -> Iterator[float]:
    """Yields the bytes of each reward model among the scorers."""
    size = 2 if config.model.dtype == "bfloat16" else 4
    for table in config.scorer:
        scorer = plugins.make(plugins.SCORER, table)
        if scorer.cls is RewardModel:
            with torch.device("meta"):
                model = AutoModelForSequenceClassification.from_config(
                    load_shape(scorer.options.path, key="scorer.path")
                )
                yield float(size) * sum(p.numel() for p in model.parameters())
