"""Settings that make a run fit, in the order in which they are tried."""

from collections.abc import Callable, Iterator
from dataclasses import replace
from typing import Any, NamedTuple

from agentgym_train.config import Config
from agentgym_train.planning.card_memory import TrainingCards
from agentgym_train.planning.plan import MemoryPlan, make

RANK = 32
SHORTEST = 1024
"""The shortest context that is proposed, in tokens."""


class ConfigChange(NamedTuple):
    """A change of the configuration."""

    text: str
    """As for ``--set``."""
    config: Config


def fitting(
    config: Config, cards: TrainingCards, memory: float
) -> tuple[list[str], MemoryPlan] | None:
    """Returns changes with which a run fits, and its plan then; None if none of these is enough.

    The first single change that is enough is returned. Otherwise changes are added one after the
    other until they are enough, and those that turn out to be unnecessary are removed again, the
    last ones first. The first five change no results; precision, adapter and context do.

    Args:
        config: the run, which does not fit.
        cards: where it trains.
        memory: bytes of a card.
    """
    if alone := next(_enough(config, cards, memory), None):
        return alone
    changes: list[Callable[[Config], ConfigChange | None]] = []
    for change in SWITCHES:
        changes.append(change)
        if _plan(config, changes, cards)[1].fits(memory):
            break
    else:
        return None
    for place in reversed(range(len(changes))):
        fewer = changes[:place] + changes[place + 1 :]
        if fewer and _plan(config, fewer, cards)[1].fits(memory):
            changes = fewer
    return _plan(config, changes, cards)


def _enough(
    config: Config, cards: TrainingCards, memory: float
) -> Iterator[tuple[list[str], MemoryPlan]]:
    for change in SWITCHES:
        texts, plan = _plan(config, [change], cards)
        if texts and plan.fits(memory):
            yield texts, plan


def _plan(
    config: Config, changes: list[Callable[[Config], ConfigChange | None]], cards: TrainingCards
) -> tuple[list[str], MemoryPlan]:
    """Returns the plan with some changes, and the texts of those that have an effect."""
    texts: dict[str, str] = {}
    for change in changes:
        if (switch := change(config)) is not None:
            key, _, value = switch.text.partition("=")
            texts[key], config = value, switch.config
    return [f"{key}={value}" for key, value in texts.items()], make(config, cards)


def _model(config: Config, key: str, value: Any) -> ConfigChange | None:
    if getattr(config.model, key) == value:
        return None
    return ConfigChange(
        f"model.{key}={value}", replace(config, model=_with(config.model, key, value))
    )


def _engine(config: Config, key: str, value: Any, text: str = "") -> ConfigChange | None:
    if getattr(config.engine, key) == value:
        return None
    return ConfigChange(
        f"engine.{key}={text or value}", replace(config, engine=_with(config.engine, key, value))
    )


def _with(section: Any, key: str, value: Any) -> Any:
    return replace(section, **{key: value})


def _checkpointing(config: Config) -> ConfigChange | None:
    return None if config.model.checkpoints else _model(config, "checkpointing", "on")


def _micro_batch(config: Config) -> ConfigChange | None:
    least = config.model.max_context
    if config.engine.micro_batch_tokens <= least:
        return None
    return _engine(config, "micro_batch_tokens", least)


def _stage(config: Config) -> ConfigChange | None:
    return _engine(config, "zero_stage", 3)


def _sleep(config: Config) -> ConfigChange | None:
    return None if config.rollout.ahead else _engine(config, "sleep", True, "true")


def _in_turns(config: Config) -> ConfigChange | None:
    if not config.rollout.ahead:
        return None
    return ConfigChange(
        "rollout.ahead=0", replace(config, rollout=_with(config.rollout, "ahead", 0))
    )


def _offload(config: Config) -> ConfigChange | None:
    place = {"device": "cpu"}
    if config.engine.zero_stage == 0 or "offload_optimizer" in config.engine.zero:
        return None
    zero = {**config.engine.zero, "offload_optimizer": place}
    return ConfigChange(
        "engine.zero.offload_optimizer.device=cpu",
        replace(config, engine=replace(config.engine, zero=zero)),
    )


def _precision(config: Config) -> ConfigChange | None:
    return _model(config, "dtype", "bfloat16")


def _adapter(config: Config) -> ConfigChange | None:
    if config.model.lora.rank or config.model.last_layers:
        return None
    lora = replace(config.model.lora, rank=RANK)
    return ConfigChange(
        f"model.lora.rank={RANK}", replace(config, model=replace(config.model, lora=lora))
    )


def _half(config: Config) -> ConfigChange | None:
    """Halves the context."""
    context = config.model.max_context // 2
    if context < max(SHORTEST, config.rollout.max_new_tokens + 1):
        return None
    return _model(config, "max_context", context)


SWITCHES: tuple[Callable[[Config], ConfigChange | None], ...] = (
    _checkpointing,
    _micro_batch,
    _stage,
    _in_turns,
    _sleep,
    _offload,
    _precision,
    _adapter,
    *(_half, _micro_batch) * 3,
)
