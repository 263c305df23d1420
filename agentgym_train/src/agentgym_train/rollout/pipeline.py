"""The environments of a run, and the order of collecting, learning and loading weights.

Each environment has separate rules, action format, group size, curriculum and episodes.

Weights change only between two collections, so all tokens of a batch have the same version.

======================  ======================================================================
on-policy               collect 1 · learn 1 · load · collect 2 · learn 2 · load · …
one step ahead          collect 1 · learn 1 and collect 2 · load · learn 2 and collect 3 · …
======================  ======================================================================
"""

import threading
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import FIRST_EXCEPTION, Future, wait
from functools import partial
from typing import Any, NamedTuple

import torch
from transformers import PreTrainedTokenizerBase

from agentgym_envs.pool import EnvDescription
from agentgym_train import plugins
from agentgym_train.config import Config
from agentgym_train.data.types import EpisodeFailure, Group
from agentgym_train.distributed import Distributed
from agentgym_train.models.chat import ChatTokens
from agentgym_train.protocols import Algorithm, Generator, RunContext, Scorer, Source, StepPlan
from agentgym_train.rollout import tasks


class CollectedStep(NamedTuple):
    """A step's episodes of one environment, in one process."""

    plan: StepPlan
    groups: list[Group]
    failures: Sequence[EpisodeFailure]


class TokenBudget:
    """Chooses as many groups as the tokens of earlier groups suggest.

    The first step plays all groups, since nothing is measured. A step that played too many tokens
    leaves a debt, and one that played too few leaves a credit. The next steps pay them back.

    Args:
        tokens: tokens per step over all processes; 0: all groups are always played.
        groups: numbers of the environment's groups.

    >>> budget = TokenBudget(1000, range(8))
    >>> budget.observe(groups=8, tokens=2000)
    >>> list(budget.playing())
    [0, 2, 4, 6]
    """

    def __init__(self, tokens: int, groups: Sequence[int]):
        self._tokens, self._groups = tokens, groups
        self._per_group = 0.0  # of the latest step that played
        self._credit = 0.0

    def playing(self) -> Sequence[int]:
        """Returns the numbers of the groups to play next, spread evenly over all numbers."""
        most = len(self._groups)
        if not self._tokens or not self._per_group:
            return self._groups
        count = min(max(round((self._tokens + self._credit) / self._per_group), 0), most)
        return [self._groups[place * most // count] for place in range(count)]

    def observe(self, *, groups: int, tokens: float) -> None:
        """Receives the number of groups of a step and their tokens, over all processes."""
        first = not self._per_group
        if groups and tokens:
            self._per_group = tokens / groups
        if not first:
            # Limited: an environment with too few groups would otherwise save credit for ever. The
            # limit allows one group, however long it is.
            limit = max(self._tokens, self._per_group)
            self._credit = min(max(self._credit + self._tokens - tokens, -limit), limit)

    def state_dict(self) -> dict[str, Any]:
        """Returns the state that a resumed run needs."""
        return {"per_group": self._per_group, "credit": self._credit}

    def load_state_dict(self, state: Mapping[str, Any]) -> None:
        """Restores the state that ``state_dict`` returned."""
        self._per_group, self._credit = state["per_group"], state["credit"]


class TrainingEnv:
    """One environment of a run.

    Args:
        config: the configuration of the run, as if this environment were the only one.
        training: the description of the training environment.
        tokenizer: the policy's.
        groups: numbers of its groups in a step, over all processes.
    """

    def __init__(
        self,
        config: Config,
        training: EnvDescription,
        tokenizer: PreTrainedTokenizerBase,
        groups: Sequence[int],
    ):
        self.name, self.config = config.env.name, config
        self.training, self.groups = training, groups
        self.task_difficulty = tasks.task_difficulty(training)
        self.chat = ChatTokens(
            tokenizer, training.instructions, must_grow=False, **config.template_options
        )
        self.curriculum = plugins.make_object(plugins.CURRICULUM, config.curriculum)
        self.source: Source
        self.budget = TokenBudget(config.env.tokens_per_step, groups)
        self._scorers: list[Scorer] = []

    def plan(self, step: int) -> StepPlan:
        """Asks the curriculum and the token budget about a step (counted from 0)."""
        return StepPlan(
            step,
            tasks.checked_horizon(self.curriculum, step),
            self.budget.playing(),
            tasks.checked_difficulties(self.curriculum, step),
        )

    def collect(self, plan: StepPlan) -> CollectedStep:
        """Collects the episodes of a step.

        It can run in another thread while the curriculum observes the step before.
        """
        groups = self.source.next(plan)
        return CollectedStep(plan, groups, self.source.failures)

    def open(self, distributed: Distributed, generator: Generator, algorithm: Algorithm) -> Source:
        """Builds the scorers and the source; returns the source, which the caller closes."""
        context = RunContext(
            self.config,
            distributed,
            generator,
            self.chat,
            self.training,
            self.groups,
            algorithm,
        )
        self._scorers = [
            plugins.make_object(plugins.SCORER, table, context) for table in self.config.scorer
        ]
        self.source = plugins.make_object(plugins.SOURCE, self.config.source, context)
        return self.source

    def score(self, groups: list[Group]) -> list[Group]:
        """Returns a step's groups after all scorers, in order, have changed their rewards."""
        for scorer in self._scorers:
            groups = scorer.score(groups)
        return groups


def make_training_envs(
    config: Config, trainings: Sequence[EnvDescription], tokenizer: PreTrainedTokenizerBase
) -> list[TrainingEnv]:
    """Returns the training environments of a run, in the order of the configuration."""
    numbers = tasks.interleaved([env.groups for env in config.envs])
    return [
        TrainingEnv(one, training, tokenizer, n)
        for one, training, n in zip(config.each(), trainings, numbers, strict=True)
    ]


class RolloutPipeline:
    """Collects the episodes of each step and keeps the generator's weights up to date.

    On-policy, a step is collected with the newest weights, and the generator sleeps while the
    policy learns.

    Ahead, the next step is collected while the policy learns. The generator then has the weights
    from before the update. The step after a pause is collected with the newest weights, since
    nothing is in progress during a pause.

    Args:
        collection: the environments.
        generator: the policy's.
        load: passes the policy's weights to the generator.
        ahead: whether the next step is collected while the policy learns.
    """

    def __init__(
        self,
        collection: "StepCollection",
        generator: Generator,
        load: Callable[[], None],
        *,
        ahead: bool = False,
    ):
        self._collection, self._generator = collection, generator
        self._load, self._ahead = load, ahead
        self._started: int | None = None
        """The step that is collected while the policy learns."""
        self._stale = False
        """Whether the policy has learned since the last load."""

    def collect(self, step: int) -> list[CollectedStep]:
        """Returns the episodes of a step (counted from 0), one entry per environment."""
        if self._started != step:
            self._collection.start(step)
        self._started = None
        collected = self._collection.finish()
        if not self._ahead:
            self._generator.sleep()
        return collected

    def begin_update(self, step: int, *, pause: bool) -> None:
        """Is called before the policy learns from a step.

        Args:
            step: the step, counted from 0.
            pause: no step is collected before the weights have been saved or evaluated.
        """
        if not self._ahead or pause:
            return
        if self._stale:
            self._load()
        self._collection.start(step + 1)
        self._started = step + 1

    def end_update(self) -> None:
        """Is called after the update; the generator has the newest weights unless it collects."""
        if not self._ahead:
            self._generator.wake()
        self._stale = self._started is not None
        if not self._stale:
            self._load()


class StepCollection:
    """Collects steps, one at a time.

    Args:
        envs: the environments; they are open.
        beside: collect in other threads, so ``start`` returns at once.
        side_by_side: collect from all environments at the same time, each in its own thread.
            Otherwise one follows the other.
    """

    def __init__(self, envs: Sequence[TrainingEnv], *, beside: bool, side_by_side: bool):
        self._envs, self._beside, self._side_by_side = envs, beside, side_by_side
        self._running: list[Future[list[CollectedStep]]] = []

    def start(self, step: int) -> None:
        """Begins a step (counted from 0); the curricula decide now."""
        works = [partial(env.collect, env.plan(step)) for env in self._envs]
        lanes = [[work] for work in works] if self._side_by_side else [works]
        begin = _in_thread if self._beside or len(lanes) > 1 else _here
        self._running = [begin(lane) for lane in lanes]

    def finish(self) -> list[CollectedStep]:
        """Waits for the step; returns the episodes of each environment.

        It raises the first error of a thread at once, in the order of the environments.
        """
        done, _ = wait(self._running, return_when=FIRST_EXCEPTION)
        for future in self._running:
            if future in done and (error := future.exception()):
                raise error
        return [collected for future in self._running for collected in future.result()]


Lane = Sequence[Callable[[], CollectedStep]]


def _here(lane: Lane) -> "Future[list[CollectedStep]]":
    future: Future[list[CollectedStep]] = Future()
    future.set_result([work() for work in lane])
    return future


def _in_thread(lane: Lane) -> "Future[list[CollectedStep]]":
    """Collects in a thread that does not keep the process alive."""
    future: Future[list[CollectedStep]] = Future()
    # The current device belongs to a thread.
    accelerated = torch.accelerator.is_available()
    device = torch.accelerator.current_device_index() if accelerated else None

    def run() -> None:
        try:
            if device is not None:
                torch.accelerator.set_device_index(device)
            future.set_result([work() for work in lane])
        except BaseException as error:  # raised again by ``finish``
            future.set_exception(error)

    threading.Thread(target=run, daemon=True, name="collection").start()
    return future
