"""The interface of agents, the two baseline agents, and the function that loads an agent.

An agent is a class. One object plays one episode, or one seat of it if ``info["seat"]`` names
several. All methods can be ``async``::

    class Mine:
        # The form of its responses: a key of agentgym_envs.wrappers.FORMATS
        format = "plain"

        # The keywords are its options. A keyword named "client" gets the model's client.
        def __init__(self, *, option=1): ...

        # The opening holds system prompt, tools and notes of earlier attempts: see EpisodeOpening.
        def start(self, opening): ...

        # Returns the whole response.
        def act(self, observation, info):
            return "go north"

        # Can return JSON data for the next attempt at this task.
        def end(self, ending): ...

``start`` and ``end`` are optional. With an ``end``, attempts at a task run one after the other. A
plain function ``(observation, info) -> response`` is an agent too. Functions that are not ``async``
run in threads, several at a time, so they can block.
"""

import inspect
import json
import random
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

from agentgym_envs import plugins
from agentgym_envs.errors import (
    AgentFailure,
    ArgumentError,
    BrokenPlugin,
    UnknownName,
    not_taken,
)
from agentgym_envs.tasks import stable_hash
from agentgym_envs.wrappers import FORMATS
from agentgym_envs.wrappers.formats import FunctionCallFormat, ToolTemplates

AGENTS = "agentgym_envs.agents"


class _AskOracle(str):
    """Compared by identity, not by text: no model can write it."""


ASK_ORACLE = _AskOracle("oracle")
"""A response that asks the environment's oracle for the action."""


@dataclass(frozen=True)
class EpisodeOpening:
    """The facts that an agent gets before the first observation."""

    task_id: str
    attempt: int
    """From 0."""
    goal: str
    instructions: str
    """The environment's rules and its grammar of actions, without those of the format."""
    format_rules: str
    """How to write a response; empty if the whole response is the action."""
    tools: Sequence[Mapping[str, Any]]
    """The environment's functions in OpenAI's ``tools`` form."""
    memory: Sequence[Any] = ()
    """Return values of ``end`` from earlier attempts at this task, in order."""
    seat: str = ""
    """The seat that the agent plays; empty in an environment with one agent."""

    @property
    def system_prompt(self) -> str:
        """Both kinds of rules."""
        return "\n\n".join(filter(None, (self.instructions, self.format_rules)))


def seat_of(info: Mapping[str, Any]) -> str:
    """Returns who acts next, or acted last; empty in an environment with one agent."""
    seat = info.get("seat")
    return seat if isinstance(seat, str) else ""


def open_episode(
    info: Mapping[str, Any],
    *,
    task_id: str,
    attempt: int = 0,
    rules: str,
    format_rules: str,
    tools: ToolTemplates,
    memory: Sequence[Any] = (),
) -> EpisodeOpening:
    """Returns the opening for an agent, or for the agent of the seat that ``info`` names.

    An evaluation, a tournament and the trainer call it, so an agent reads the same texts in all.

    Args:
        info: of the reset, or of the seat's first turn.
        task_id: of the episode.
        attempt: at the task, from 0.
        rules: of the environment: :attr:`.EnvDescription.rules`.
        format_rules: of the action format; empty if a response is the action.
        tools: the environment's functions: :attr:`.EnvDescription.tools`.
        memory: return values of ``end`` from earlier attempts at the task. In a game, each can be a
            dictionary by seat.
    """
    seat = seat_of(info)
    own = [left.get(seat) if isinstance(left, Mapping) else None for left in memory]
    return EpisodeOpening(
        task_id=task_id,
        attempt=attempt,
        goal=str(info.get("goal", "")),
        instructions=rules,
        format_rules=format_rules,
        tools=FunctionCallFormat(tools).schema(),
        memory=tuple(own if seat else memory),
        seat=seat,
    )


@dataclass(frozen=True)
class EpisodeEnding:
    """How an episode ended."""

    observation: str
    """The last observation of the agent."""
    success: bool
    score: float
    truncated: bool
    """The step limit or the model's context was used up."""


def checked_lesson(agent: Any, lesson: Any) -> Any:
    """Returns what an agent's ``end`` returned.

    Raises:
        AgentFailure: it is no JSON data.
    """
    try:
        json.dumps(lesson, allow_nan=False)
    except (TypeError, ValueError) as error:
        raise AgentFailure(
            f"the 'end' of the agent {type(agent).__name__} returned what is no JSON: {error}"
        ) from error
    return lesson


class Agent:
    """Base class of agents. A subclass can also define ``end``: see the module."""

    format: ClassVar[str | None] = "plain"
    """The format of responses, a key of ``agentgym_envs.wrappers.FORMATS``.

    With None, a response is the action.
    """
    lists_actions: ClassVar[bool] = False
    """Whether the agent needs ``info["admissible_actions"]``."""

    def start(self, opening: EpisodeOpening) -> Awaitable[None] | None:
        """Starts an episode; does nothing here."""

    def act(self, observation: str, info: Mapping[str, Any]) -> Awaitable[str] | str:
        """Returns the whole response to an observation."""
        raise NotImplementedError


class RandomAgent(Agent):
    """Uniformly random admissible actions; the same in every run."""

    format = None
    lists_actions = True

    def start(self, opening: EpisodeOpening) -> None:
        """Seeds the random generator by task, seat and attempt."""
        self._rng = random.Random(stable_hash(opening.task_id + opening.seat) + opening.attempt)

    def act(self, observation: str, info: Mapping[str, Any]) -> str:
        """Returns a random action."""
        listed: list[str] = info.get("admissible_actions") or []
        if not listed:
            raise ArgumentError(
                "the environment lists no admissible actions, which random play needs"
            )
        return self._rng.choice(listed)


class OracleAgent(Agent):
    """Plays the environment's solution."""

    format = None

    def act(self, observation: str, info: Mapping[str, Any]) -> str:
        """Asks the environment's oracle."""
        return ASK_ORACLE


@dataclass(frozen=True)
class AgentFactory:
    """Creates an agent for each episode, or for each seat of it."""

    name: str
    target: Callable[..., Any]
    options: Mapping[str, Any]

    @property
    def format(self) -> str | None:
        """See :class:`Agent`."""
        declared: str | None = getattr(self.target, "format", "plain")
        return declared

    @property
    def learns(self) -> bool:
        """Whether the agent has an ``end``. If so, attempts at a task run one after the other."""
        return hasattr(self.target, "end")

    @property
    def lists_actions(self) -> bool:
        """See :class:`Agent`."""
        return bool(getattr(self.target, "lists_actions", False))

    @property
    def needs_client(self) -> bool:
        """Whether the agent uses a model."""
        return inspect.isclass(self.target) and "client" in _keywords(self.target)

    def check_format(self, form: str | None) -> None:
        """Checks a chosen format of responses; None leaves the agent's format.

        Raises:
            ArgumentError: no such format, or an agent with its own format.
        """
        if form is not None and form not in FORMATS:
            raise UnknownName("format", form, FORMATS)
        if form not in (None, self.format) and self.format in (None, "function"):
            raise ArgumentError(
                f"agent {self.name!r} has its own format of responses: leave the format out"
            )

    def make(self, client: Any = None) -> Any:
        """Returns an agent for one episode, or one seat of it."""
        if not inspect.isclass(self.target):
            return _FunctionAdapter(self.target)
        return self.target(**self.options, **({"client": client} if self.needs_client else {}))


class _FunctionAdapter(Agent):
    """A plain function as an agent."""

    def __init__(self, function: Callable[[str, Mapping[str, Any]], Awaitable[str] | str]):
        self._function = function

    def act(self, observation: str, info: Mapping[str, Any]) -> Awaitable[str] | str:
        """Calls the function."""
        return self._function(observation, info)


def load(name: str, options: Mapping[str, Any] | None = None) -> AgentFactory:
    """Loads an agent.

    Args:
        name: a name in the entry-point group ``agentgym_envs.agents``, "module:name" or
            "./file.py:name". The module can be in the working directory.
        options: keywords of the agent's constructor.

    Raises:
        UnknownName: the name is not registered.
        BrokenPlugin: the import fails, or the object is not an agent.
        ArgumentError: an option that the agent does not take.
    """
    target = plugins.load(AGENTS, name, f"agent {name!r} cannot be imported")
    if not callable(target) or (
        inspect.isclass(target) and not callable(getattr(target, "act", None))
    ):
        raise BrokenPlugin(
            f"agent {name!r} is neither a function nor a class with a method 'act': {target!r}"
        )
    factory = AgentFactory(name, target, dict(options or {}))
    known = _keywords(target) - {"client"} if inspect.isclass(target) else set()
    if not _takes_all(target) and (unknown := sorted(set(factory.options) - known)):
        raise not_taken(f"agent {name!r}", unknown[0], known)
    if factory.format not in (None, *FORMATS):
        raise BrokenPlugin(
            f"agent {name!r} has the format {factory.format!r}, which is none of"
            f" {', '.join(FORMATS)}"
        )
    return factory


def _keywords(target: Callable[..., Any]) -> set[str]:
    return {
        p.name
        for p in inspect.signature(target).parameters.values()
        if p.kind in (p.KEYWORD_ONLY, p.POSITIONAL_OR_KEYWORD)
    }


def _takes_all(target: Callable[..., Any]) -> bool:
    return inspect.isclass(target) and any(
        p.kind is p.VAR_KEYWORD for p in inspect.signature(target).parameters.values()
    )
