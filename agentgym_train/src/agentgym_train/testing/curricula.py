"""The check for authors of curricula."""

import json
import random
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from contextlib import contextmanager
from functools import partial
from types import MappingProxyType
from typing import Any

from agentgym_envs.errors import AgentGymError, ArgumentError, BrokenPlugin, ConformanceError
from agentgym_train import plugins
from agentgym_train.curricula import answers
from agentgym_train.engine.distributed import Distributed
from agentgym_train.protocols import Curriculum
from agentgym_train.reporting.metrics import failed, means, totals

PLAYS = 8  # sequences of metrics
CUTS = 4  # interruptions of each
EXTREMES = (0.0, 1.0, -1e6, 1e6)
METRICS = (
    *means(dict.fromkeys(totals([], Distributed()) | failed([]), 1.0)),
    *("horizon", "loss", "entropy", "logp_drift", "grad_norm", "lr", "updates"),
)
"""What a step of any run reports; an algorithm may log more."""

Answer = tuple[int, tuple[int, int] | None]
"""Horizon and difficulties."""


def check_curriculum(name_or_options: str | Mapping[str, Any], *, steps: int = 100) -> list[str]:
    """Checks what the trainer relies on in a curriculum, over eight runs with made-up metrics.

    The metrics of a step have the names of :data:`METRICS`. They are shares from 0 to 1, or, at
    every fourth step or so, all the same: 0, 1, or a million above or below.

    Args:
        name_or_options: its registered name, or a configuration's table: its ``name`` and its
            options.
        steps: of each run, at least 2.

    Returns:
        One line for each property that holds.

    Raises:
        ArgumentError: too few steps.
        UnknownName: no such curriculum.
        ConfigError: an option that it does not have, or a value that it cannot have.
        BrokenPlugin: it does not import, is no dataclass, cannot be made, or lacks methods.
        ConformanceError: the first property that does not hold, with what was seen.
    """
    if steps < 2:
        raise ArgumentError(f"steps={steps}: at least 2 are needed, to interrupt between them")
    options = {"name": name_or_options} if isinstance(name_or_options, str) else name_or_options
    make = partial(plugins.make_object, plugins.CURRICULUM, options)
    for number in range(PLAYS):
        rng = random.Random(number)
        seen = [_metrics(rng) for _ in range(steps)]
        cuts = {0, *rng.sample(range(1, steps), min(CUTS, steps - 1))}
        undisturbed = _play(make, seen)
        _compare(
            make(),
            undisturbed,
            _play(make, seen),
            "for a second instance that sees the same metrics",
        )
        _compare(
            make(),
            undisturbed,
            _play(make, seen, cuts),
            f"once its state was restored, before the steps {_steps(cuts)}",
        )
    return [
        "horizons are whole numbers from 1 up, difficulties two whole numbers or None",
        "asking for them changes nothing",
        "the same metrics lead to the same answers",
        "its state is JSON, and restoring it leads to the same answers",
        "observe takes any finite metrics and leaves them as they are",
    ]


def _metrics(rng: random.Random) -> dict[str, float]:
    extreme = rng.choice(EXTREMES) if rng.random() < 0.25 else None
    return {name: rng.random() if extreme is None else extreme for name in METRICS}


def _play(
    make: Callable[[], Curriculum], seen: Sequence[Mapping[str, float]], cuts: Collection[int] = ()
) -> list[Answer]:
    """Returns the answers at every step; before each of ``cuts`` another instance takes over."""
    curriculum, answers = make(), []
    for step, metrics in enumerate(seen):
        if step in cuts:
            state, curriculum = json.loads(_state(curriculum, step)), make()
            with _told(curriculum, "load_state_dict", step):
                curriculum.load_state_dict(state)
        answers.append(_answer(curriculum, step, last=len(seen) - 1))
        with _told(curriculum, "observe", step):
            curriculum.observe(MappingProxyType(metrics))
    return answers


def _answer(curriculum: Curriculum, step: int, *, last: int) -> Answer:
    before, (first, *_, again) = (
        _state(curriculum, step),
        [_ask(curriculum, s) for s in (step, 0, last, step)],
    )
    if again != first:
        raise ConformanceError(
            f"{plugins.title(curriculum)}: {_shown(step, first)} and, asked again,"
            f" {_told_of(again)}"
        )
    if (after := _state(curriculum, step)) != before:
        raise ConformanceError(
            f"{plugins.title(curriculum)}: asking it at step {step + 1} turned its state {before}"
            f" into {after}"
        )
    return first


def _ask(curriculum: Curriculum, step: int) -> Answer:
    with _told(curriculum, "horizon", step):
        horizon = answers.turns(curriculum, step)
    with _told(curriculum, "difficulties", step):
        return horizon, answers.difficulties(curriculum, step)


def _state(curriculum: Curriculum, step: int) -> str:
    with _told(curriculum, "state_dict", step):
        state: Any = curriculum.state_dict()
    if not isinstance(state, dict):
        raise ConformanceError(
            f"{plugins.title(curriculum)}: its state at step {step + 1} is {state!r}, no dict"
        )
    try:
        return json.dumps(state, allow_nan=False)
    except (TypeError, ValueError) as error:
        raise ConformanceError(
            f"{plugins.title(curriculum)}: its state at step {step + 1} is {state!r}, no JSON:"
            f" {error}"
        ) from error


def _compare(
    curriculum: Curriculum, expected: list[Answer], found: list[Answer], where: str
) -> None:
    for step, (one, other) in enumerate(zip(expected, found, strict=True)):
        if one != other:
            raise ConformanceError(
                f"{plugins.title(curriculum)}: {_shown(step, one)} and {_told_of(other)} {where}"
            )


@contextmanager
def _told(curriculum: Curriculum, method: str, step: int) -> Iterator[None]:
    """Says which method failed at which step, in one line."""
    try:
        yield
    except BrokenPlugin as error:
        raise ConformanceError(str(error)) from error
    except AgentGymError:
        raise
    except Exception as error:
        raise ConformanceError(
            f"{plugins.title(curriculum)}: {method} raised {error!r} at step {step + 1}"
        ) from error


def _shown(step: int, answer: Answer) -> str:
    return f"at step {step + 1} it answers {_told_of(answer)}"


def _told_of(answer: Answer) -> str:
    horizon, difficulties = answer
    return f"a horizon of {horizon}" + (
        f" and difficulties {difficulties[0]} to {difficulties[1]}" if difficulties else ""
    )


def _steps(cuts: Collection[int]) -> str:
    return ", ".join(str(step + 1) for step in sorted(cuts))
