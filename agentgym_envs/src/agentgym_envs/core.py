"""The environment contract: ``TextEnv``, a ``gymnasium.Env`` of strings.

Observations and actions are strings. An environment implements five methods:
:meth:`TextEnv.make_tasks`, :meth:`TextEnv.begin`, :meth:`TextEnv.act`, :meth:`TextEnv.actions` and
:meth:`TextEnv.oracle`. The base class does the rest: it chooses the task, seeds the episode, turns
scores into rewards, fills ``info`` and renders. ``agentgym_envs.testing.check_text_env`` checks the
contract.
"""

import random
import reprlib
from abc import ABCMeta, abstractmethod
from collections.abc import Iterable, Iterator, Mapping
from types import MappingProxyType
from typing import Any, ClassVar, NamedTuple, Self, TypedDict

import gymnasium
from gymnasium.error import ResetNeeded

from agentgym_envs import plugins
from agentgym_envs.errors import ArgumentError, BrokenPlugin, shown
from agentgym_envs.spaces import Unicode
from agentgym_envs.tasks import Task, TaskSet, named_task, select

ENV_KEYWORDS = ("split", "tasks", "admissible", "render_mode")  # every environment has these
ECHO_LIMIT = 200  # characters of an action that an observation repeats


class Outcome(NamedTuple):
    """The result of an action.

    Attributes:
        text: the observation.
        score: progress in [0, 1] after the action; the reward is its change.
        done: the task is decided.
        success: the task is solved.
        invalid: the action was not understood.
        extra: more keys for ``info``, JSON-able; each environment's README lists its keys.
    """

    text: str
    score: float
    done: bool = False
    success: bool = False
    invalid: bool = False
    extra: Mapping[str, Any] | None = None


class InvalidResponse(str):
    """A response that holds no action.

    The environment returns this text as the observation, and the turn counts as invalid.
    """


class Tool(TypedDict):
    """A tool whose parameters have types; a plain template has string parameters only.

    It is JSON-able. In agents with function calls, a model sees the description and the schemas.
    The environment checks the values.
    """

    template: str
    """The action, with the parameters in braces."""
    description: str
    parameters: Mapping[str, Mapping[str, Any]]
    """JSON schemas by parameter; a parameter without one is a string."""


class TextEnv(gymnasium.Env[str, str], metaclass=ABCMeta):
    """Base class of text environments.

    Args:
        split: "train", "dev" or "test".
        tasks: task ids or glob patterns that narrow the split.
        admissible: compute ``info["admissible_actions"]``; off by default because it slows down
            steps.
        render_mode: None or "ansi".

    Raises:
        UnknownName: no such split.
        TaskError: ``tasks`` selects nothing.
        ArgumentError: no such render mode.
        BrokenPlugin: the class lacks methods.
    """

    metadata: dict[str, Any] = {"render_modes": ["ansi"], "render_fps": 4}
    instructions: ClassVar[str] = ""
    """The rules and the action grammar, used as a system prompt."""
    tools: ClassVar[Mapping[str, str | Tool]] = MappingProxyType({"act": "{action}"})
    """Tools by name.

    The value is the action's template, with the parameters in braces, or a :class:`Tool`.
    """

    def __new__(cls, *args: Any, **kwargs: Any) -> Self:
        """Rejects a class that lacks methods; unlike Python's error, ours names the package."""
        require_methods(cls, "agentgym_envs.TextEnv")
        return super().__new__(cls)

    def __init__(
        self,
        *,
        split: str = "train",
        tasks: Iterable[str] | str | None = None,
        admissible: bool = False,
        render_mode: str | None = None,
    ):
        if render_mode not in (None, *self.metadata["render_modes"]):
            raise ArgumentError(
                f"render_mode must be None or one of {self.metadata['render_modes']}, not"
                f" {render_mode!r}"
            )
        self.observation_space = Unicode()
        self.action_space = Unicode()
        self.split = split
        self.admissible = admissible
        self.render_mode = render_mode
        self.task_set = self.make_tasks()
        if not isinstance(self.task_set, TaskSet):
            raise TypeError(f"make_tasks must return a TaskSet, not {reprlib.repr(self.task_set)}")
        self.task_ids = select(self.task_set, split, tasks)
        self._filtered = tasks is not None
        self.task: Task | None = None
        self._text = ""
        self._goal = ""
        self._turn = 0
        self._score = 0.0
        self._over = True

    @abstractmethod
    def make_tasks(self) -> TaskSet:
        """Returns the tasks of all splits.

        The constructor calls this once, so it must not start a simulator or download anything.
        """

    @abstractmethod
    def begin(self, task: Task, rng: random.Random) -> tuple[str, str]:
        """Starts a task; returns the first observation and the goal.

        Args:
            task: the task to start.
            rng: the episode's random generator.
        """

    @abstractmethod
    def act(self, action: str) -> Outcome:
        """Applies an action, which can be any string."""

    def refuse(self, text: str) -> Outcome:
        """Returns the outcome of a response without an action.

        The state does not change, and the turn counts as invalid.

        Args:
            text: says what is wrong with the response.
        """
        return Outcome(text, self._score, invalid=True)

    @abstractmethod
    def actions(self) -> list[str]:
        """Returns the actions that are valid now, in a fixed order."""

    @abstractmethod
    def oracle(self) -> Iterator[str]:
        """Yields actions that solve the current task from the current state.

        The caller steps the environment between two of them.
        """

    def reset(
        self, *, seed: int | None = None, options: dict[str, Any] | None = None
    ) -> tuple[str, dict[str, Any]]:
        """Starts an episode.

        Args:
            seed: picks the task and fixes the rest of the episode.
            options: ``{"task_id": ...}`` names the task; without it, or with None, the seed picks.

        Returns:
            The first observation and the info.

        Raises:
            TaskError: an unknown task id.
            ArgumentError: an unknown option.
            TypeError: ``begin`` does not return two strings.
        """
        named = named_task(options)
        if extra := sorted(map(shown, set(options or {}) - {"task_id"})):
            raise ArgumentError(f"unknown reset option {extra[0]}; the only one is 'task_id'")
        super().reset(seed=seed)
        drawn = (seed or 0) if named is not None else int(self.np_random.integers(2**63))
        self.task, rng = self.task_set.start(
            drawn, self.task_ids, named=named, filtered=self._filtered
        )
        self._turn, self._score, self._over = 0, 0.0, False
        begun = self.begin(self.task, rng)
        if not isinstance(begun, tuple) or [isinstance(b, str) for b in begun] != [True, True]:
            raise TypeError(
                "begin must return an observation and a goal, two strings, not"
                f" {reprlib.repr(begun)}"
            )
        self._text, self._goal = begun
        return self._text, self._info(Outcome(self._text, self._score))

    def step(self, action: str) -> tuple[str, float, bool, bool, dict[str, Any]]:
        """Applies an action and counts a turn.

        Args:
            action: any string.

        Returns:
            Observation, reward (the change of the score), terminated, truncated, info.
            ``truncated``
            is always False here: step limits are wrappers.

        Raises:
            ResetNeeded: before the first reset or after the end of an episode.
            TypeError: the action is not a string, or ``act`` does not return an Outcome.
        """
        if not isinstance(action, str):
            raise TypeError(f"an action is a str, not {type(action).__name__}")
        if self._over:
            raise ResetNeeded("the episode is over or was never started: call reset()")
        outcome = (
            self.refuse(str(action)) if isinstance(action, InvalidResponse) else self.act(action)
        )
        if not isinstance(outcome, Outcome):
            raise TypeError(f"act must return an Outcome, not {reprlib.repr(outcome)}")
        reward = outcome.score - self._score
        self._turn += 1
        self._text, self._score, self._over = outcome.text, outcome.score, outcome.done
        return self._text, float(reward), bool(outcome.done), False, self._info(outcome)

    def render(self) -> str | None:  # type: ignore[override]
        """Returns the last observation in mode "ansi"."""
        return self._text if self.render_mode == "ansi" else None

    def _info(self, outcome: Outcome) -> dict[str, Any]:
        assert self.task is not None
        info: dict[str, Any] = {
            "task_id": self.task.id,
            "goal": self._goal,
            "score": float(outcome.score),
            "success": bool(outcome.success),
            "invalid": bool(outcome.invalid),
            "turn": self._turn,
            **copied(outcome.extra or {}),
        }
        if self.admissible:
            listed = [] if outcome.done else self.actions()
            info["admissible_actions"] = list(listed) if isinstance(listed, list) else listed
        return info


def copied(value: Any) -> Any:
    """Returns a value with new lists and dictionaries, because the caller of step can change them.

    >>> copied({"moves": [1, 2]})
    {'moves': [1, 2]}
    """
    if isinstance(value, Mapping):
        return {key: copied(item) for key, item in value.items()}
    return [copied(item) for item in value] if isinstance(value, list) else value


def require_methods(cls: ABCMeta, contract: str) -> None:
    """Rejects a class that lacks methods of its contract.

    Raises:
        BrokenPlugin: methods are missing; the message names them and the package of the class.
    """
    if missing := ", ".join(sorted(cls.__abstractmethods__)):  # type: ignore[attr-defined]
        raise BrokenPlugin(
            f"{cls.__module__}.{cls.__qualname__}{_origin(cls)} lacks {missing}: see {contract}"
        )


def _origin(cls: type) -> str:
    """Returns " of DISTRIBUTION" for a registered class, otherwise an empty string."""
    target = f"{cls.__module__}:{cls.__qualname__}"
    owners = [
        plugins.distribution(p)
        for p in plugins.discover(plugins.ENVIRONMENTS).values()
        if p.target == target
    ]
    return f" of {owners[0]}" if owners else ""


def command(action: str, limit: int = 500) -> str:
    """Returns a command in normal form: one line, single blanks, no full stop at its end.

    Every environment whose actions are commands reads them with this function. Messages and answers
    keep their full stops.

    >>> command("go   to the kitchen.")
    'go to the kitchen'

    Args:
        action: any string.
        limit: number of characters to read; the rest is ignored.
    """
    return " ".join(action[:limit].split()).removesuffix(".").rstrip()


def echo(action: str) -> str:
    """Returns an action in a form that an observation can repeat.

    The result is valid Unicode on one line, cut at ``ECHO_LIMIT`` characters.
    """
    text = " ".join(action[: 2 * ECHO_LIMIT].encode("utf-8", "replace").decode().split())
    text = "".join(c for c in text if c.isprintable())
    return text if len(text) <= ECHO_LIMIT else text[:ECHO_LIMIT] + "…"
