"""Plans the episodes to play: each task of a suite or an environment, once per attempt."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from agentgym_envs import plugins, registry
from agentgym_envs.core import Tool
from agentgym_envs.errors import ArgumentError, MissingExtra, UnknownName, pip_command
from agentgym_envs.evaluate.left_out import SkippedFamily
from agentgym_envs.evaluate.suites import SuiteFamily, suites, whole_file
from agentgym_envs.pool import describe
from agentgym_envs.tasks import spread, strings

SEED = "seed-"
SEEDS = 100  # episodes of an environment that lists no tasks, where no number is given


@dataclass(frozen=True)
class EvalEnv:
    """An environment, its keywords, and the rules and tools that an agent gets."""

    env_id: str
    kwargs: Mapping[str, Any] = field(hash=False)
    instructions: str
    tools: Mapping[str, str | Tool] = field(hash=False)
    text_env: bool = True


@dataclass(frozen=True)
class PlannedEpisode:
    """One episode to play."""

    suite: str
    scenario: str
    family: str
    task_id: str
    difficulty: int
    attempt: int
    env: EvalEnv = field(repr=False)

    @property
    def start(self) -> dict[str, Any]:
        """The arguments of the reset, the same for all attempts at a task."""
        if self.env.text_env:
            return {"options": {"task_id": self.task_id}}
        return {"seed": int(self.task_id.removeprefix(SEED))}


def plan(
    target: str,
    *,
    split: str = "test",
    tasks: Sequence[str] | str | None = None,
    episodes: int | None = None,
    attempts: int = 1,
    only: Sequence[str] = (),
    kwargs: Mapping[str, Any] | None = None,
    data: Mapping[str, Mapping[str, Any]] | None = None,
) -> tuple[list[PlannedEpisode], list[SkippedFamily]]:
    """Returns the episodes to play, and the families that cannot be played.

    Args:
        target: a suite, a registered id, or another form of :func:`agentgym_envs.registry.spec`.
        split: of an environment; a suite has its own.
        tasks: ids or glob patterns that narrow an environment's split.
        episodes: tasks at even distances over a family or split; None takes all.
        attempts: at each task.
        only: families or scenarios of a suite.
        kwargs: constructor keywords.
        data: keywords for a family of a suite, by its name.

    Raises:
        UnknownName: no such suite, environment, family or split.
        ArgumentError: a count below one, or an option that belongs to the other kind of target.
        AgentGymError: the environment refuses its keywords.
    """
    for name, count in (("episodes", episodes), ("attempts", attempts)):
        if count is not None and count < 1:
            raise ArgumentError(f"{name}={count}: must be at least 1")
    patterns = None if tasks is None else strings(tasks, "tasks")
    if target in suites:
        if patterns is not None:
            raise ArgumentError(
                f"{target} is a suite with fixed tasks: 'only' narrows it to families"
            )
        if unknown := next(
            (name for name in data or {} if name not in {f.name for f in suites[target]}), None
        ):
            raise UnknownName("family", unknown, [f.name for f in suites[target]])
        families, skipped = _available(_chosen(target, only), kwargs or {}, data or {})
    else:
        if only:
            raise ArgumentError(f"'only' narrows a suite, and {target} is none: use task patterns")
        if data:
            raise ArgumentError("keywords by family belong to a suite")
        _known(target)
        families, skipped = (
            [_single(target, split, patterns, dict(kwargs or {}), episodes or SEEDS)],
            [],
        )
    made = [
        PlannedEpisode(
            target if target in suites else "", scenario, family, task_id, difficulty, attempt, env
        )
        for scenario, family, env, listed in families
        for task_id, difficulty in spread_pairs(listed, episodes)
        for attempt in range(attempts)
    ]
    return made, skipped


RatedTasks = list[tuple[str, int]]
"""Task ids and difficulties."""
PreparedFamily = tuple[str, str, EvalEnv, RatedTasks]
"""Scenario, family, environment, tasks."""


def spread_pairs(listed: RatedTasks, count: int | None) -> RatedTasks:
    """Returns ``count`` of them at even distances."""
    difficulty = dict(listed)
    ids = [task_id for task_id, _ in listed]
    return [(i, difficulty[i]) for i in spread(ids, len(ids) if count is None else count)]


def _known(target: str) -> None:
    try:
        registry.spec(target)
    except UnknownName:
        if registry.names_class(target):  # the error lists the classes of the module
            raise
        names = [*suites, *plugins.discover(plugins.ENVIRONMENTS)]
        raise UnknownName("suite or environment", target, names) from None


def _chosen(suite: str, only: Sequence[str]) -> list[SuiteFamily]:
    families = suites[suite]
    names = {f.name for f in families} | {f.scenario for f in families}
    if unknown := next((name for name in only if name not in names), None):
        raise UnknownName("family or scenario", unknown, names)
    return [f for f in families if not only or f.name in only or f.scenario in only]


def _available(
    families: Iterable[SuiteFamily],
    kwargs: Mapping[str, Any],
    data: Mapping[str, Mapping[str, Any]],
) -> tuple[list[PreparedFamily], list[SkippedFamily]]:
    """Prepares the families whose extras are installed and whose tasks are there."""
    prepared: list[PreparedFamily] = []
    skipped: list[SkippedFamily] = []
    for family in families:
        plugin = plugins.discover(plugins.ENVIRONMENTS).get(family.env_id)
        if plugin and (extra := registry.missing_extra(plugin)):
            command = pip_command(extra, registry.provider(plugin))
            skipped.append(SkippedFamily(family.name, command, extra))
            continue
        keywords = whole_file({**kwargs, **data.get(family.name, {})})
        ids = family.task_ids(**keywords)
        if not ids:
            skipped.append(SkippedFamily(family.name, "none of its tasks is there"))
            continue
        prepared.append(
            (
                family.scenario,
                family.name,
                *_eval_env(family.env_id, {"split": "test", **keywords}, ids),
            )
        )
    return prepared, skipped


def _single(
    env_id: str, split: str, tasks: list[str] | None, kwargs: dict[str, Any], seeds: int
) -> PreparedFamily:
    """Prepares a single environment as one family."""
    name = env_id.rpartition(":")[2]
    if (plugin := plugins.discover(plugins.ENVIRONMENTS).get(name)) and (
        extra := registry.missing_extra(plugin)
    ):
        raise MissingExtra(name, extra, registry.provider(plugin))
    chosen = {"split": split, **({} if tasks is None else {"tasks": tasks}), **kwargs}
    try:
        description = describe(env_id, **chosen)
    except ArgumentError:
        description = describe(env_id, **kwargs)  # a plain environment has no splits
        if description.text_env:
            raise
    if description.text_env:
        kwargs = chosen
        listed = list(zip(description.task_ids or [], description.difficulties or [], strict=True))
    elif tasks is not None:
        raise ArgumentError(
            f"{registry.named(env_id)} lists no tasks, so that no pattern can choose among them"
        )
    else:
        listed = [(f"{SEED}{n}", 0) for n in range(seeds)]
    return (
        "",
        name,
        EvalEnv(env_id, kwargs, description.rules, description.tools, description.text_env),
        listed,
    )


def _eval_env(
    env_id: str, kwargs: dict[str, Any], ids: Iterable[str]
) -> tuple[EvalEnv, RatedTasks]:
    """Returns an environment of a suite, and its tasks with their difficulties.

    Environments of suites are built in and quick to construct.
    """
    inner: Any = registry.make(env_id, **kwargs).unwrapped
    inner.close()
    return EvalEnv(env_id, kwargs, inner.instructions, dict(inner.tools)), [
        (i, inner.task_set.difficulty(i)) for i in ids
    ]
