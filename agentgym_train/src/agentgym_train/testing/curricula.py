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
from agentgym_train.distributed import Distributed
from agentgym_train.protocols import Curriculum
from agentgym_train.reporting.metrics import failed, means, totals

PLAYS = 8  # number of runs with made-up metrics
CUTS = 4  # interruptions per run
EXTREMES = (0.0, 1.0, -1e6, 1e6)
METRICS = (
    *means(dict.fromkeys(totals([], Distributed()) | failed([]), 1.0)),
    *("horizon", "loss", "entropy", "logp_drift", "grad_norm", "lr", "updates", "skipped"),
)
"""Names of the metrics of every step; an algorithm can log more."""

Answer = tuple[int, tuple[int, int] | None]
"""The horizon and the range of difficulties."""


def check_curriculum(name_or_options: str | Mapping[str, Any], *, steps: int = 100) -> list[str]:
    """Checks the properties of a curriculum on which the trainer relies, in eight made-up runs.

    The metrics of a step have the names of :data:`METRICS`. Their values are random, from 0 to 1.
    At about every fourth step all have the same value: 0, 1, a million or minus a million.

    Args:
        name_or_options: a registered name, or a table of a configuration: ``name`` and options.
        steps: steps of each run, at least 2.

    Returns:
        One line for each property that holds.

    Raises:
        ArgumentError: there are too few steps.
        UnknownName: no curriculum has the name.
        ConfigError: an option is unknown, or its value is not allowed.
        BrokenPlugin: the plugin cannot be imported or built, is not a dataclass, or lacks methods.
        ConformanceError: the first property that does not hold, with the values that show it.
    """
    if steps < 2:
        raise ArgumentError(
            f"steps={steps}: at least 2 are needed for an interruption between steps"
        )
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
        "horizons are whole numbers of at least 1, and difficulties are two whole numbers or None",
        "horizon and difficulties do not change the state",
        "the same metrics lead to the same horizons and difficulties",
        "the state is JSON, and restoring it leads to the same horizons and difficulties",
        "observe accepts any finite metrics and does not change them",
    ]


def _metrics(rng: random.Random) -> dict[str, float]:
    extreme = rng.choice(EXTREMES) if rng.random() < 0.25 else None
    return {name: rng.random() if extreme is None else extreme for name in METRICS}


def _play(
    make: Callable[[], Curriculum], seen: Sequence[Mapping[str, float]], cuts: Collection[int] = ()
) -> list[Answer]:
    """Returns the answers at every step.

    Before each step of ``cuts``, a new instance continues from the saved state.
    """
    curriculum, answers = make(), []
    for step, metrics in enumerate(seen):
        if step in cuts:
            state, curriculum = json.loads(_state(curriculum, step)), make()
            with _reporting(curriculum, "load_state_dict", step):
                curriculum.load_state_dict(state)
        answers.append(_answer(curriculum, step, last=len(seen) - 1))
        with _reporting(curriculum, "observe", step):
            curriculum.observe(MappingProxyType(metrics))
    return answers


def _answer(curriculum: Curriculum, step: int, *, last: int) -> Answer:
    before = _state(curriculum, step)
    first, *_, again = (_ask(curriculum, s) for s in (step, 0, last, step))
    if again != first:
        raise ConformanceError(
            f"{plugins.title(curriculum)}: {_shown(step, first)} and, asked again, {_text(again)}"
        )
    if (after := _state(curriculum, step)) != before:
        raise ConformanceError(
            f"{plugins.title(curriculum)}: asking it at step {step + 1} turned its state {before}"
            f" into {after}"
        )
    return first


def _ask(curriculum: Curriculum, step: int) -> Answer:
    with _reporting(curriculum, "horizon", step):
        horizon = answers.turns(curriculum, step)
    with _reporting(curriculum, "difficulties", step):
        return horizon, answers.difficulties(curriculum, step)


def _state(curriculum: Curriculum, step: int) -> str:
    with _reporting(curriculum, "state_dict", step):
        state: Any = curriculum.state_dict()
    if not isinstance(state, dict):
        raise ConformanceError(
            f"{plugins.title(curriculum)}: its state at step {step + 1} is {state!r}, not a dict"
        )
    try:
        return json.dumps(state, allow_nan=False)
    except (TypeError, ValueError) as error:
        raise ConformanceError(
            f"{plugins.title(curriculum)}: its state at step {step + 1} is {state!r}, not JSON:"
            f" {error}"
        ) from error


def _compare(
    curriculum: Curriculum, expected: list[Answer], found: list[Answer], where: str
) -> None:
    for step, (one, other) in enumerate(zip(expected, found, strict=True)):
        if one != other:
            raise ConformanceError(
                f"{plugins.title(curriculum)}: {_shown(step, one)} and {_text(other)} {where}"
            )


@contextmanager
def _reporting(curriculum: Curriculum, method: str, step: int) -> Iterator[None]:
    """Turns an exception of the block into a failure that names the method and the step."""
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
    return f"at step {step + 1} it answers {_text(answer)}"


def _text(answer: Answer) -> str:
    horizon, difficulties = answer
    return f"a horizon of {horizon}" + (
        f" and difficulties {difficulties[0]} to {difficulties[1]}" if difficulties else ""
    )


def _steps(cuts: Collection[int]) -> str:
    return ", ".join(str(step + 1) for step in sorted(cuts))
