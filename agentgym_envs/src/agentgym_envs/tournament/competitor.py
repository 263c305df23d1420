"""Players that can take a seat of a game: scripted ones, and agents with or without a model."""

import random
import time
from collections.abc import Iterable
from dataclasses import asdict, dataclass, field
from typing import Any, Protocol

from agentgym_envs import plugins
from agentgym_envs.agents.base import (
    AGENTS,
    ASK_ORACLE,
    AgentFactory,
    load,
    open_episode,
)
from agentgym_envs.errors import (
    AgentFailure,
    ArgumentError,
    UnknownName,
    shown,
)
from agentgym_envs.evaluate.budget import MeteredClient, UsageBudget, UsageTotals
from agentgym_envs.evaluate.calls import AgentCaller, made
from agentgym_envs.evaluate.transcript import ChatMessages, OnReply, ToolSchemas
from agentgym_envs.models.answers import ModelReply
from agentgym_envs.models.connect import connect
from agentgym_envs.models.endpoint import ModelEndpoint
from agentgym_envs.models.provider import ModelClient
from agentgym_envs.multi.game import TextGame
from agentgym_envs.multi.players import make_player
from agentgym_envs.tournament.loop import EventLoopThread
from agentgym_envs.tournament.players import PlayerSettings
from agentgym_envs.wrappers import FORMATS, ResponseFormat

SCRIPTED = ("random", "oracle")  # players of every game
FAILURES = 8  # failed games in a row that end a player's tournament
OUTAGE = 600.0  # seconds for which a model's server may fail before its games count


class SeatedPlayer(Protocol):
    """A player in one seat of one game."""

    reader: ResponseFormat | None
    """Reads responses; None: a response is the action."""
    usage: UsageTotals

    def start(self, task_id: str) -> None:
        """Prepares the player. Raises as :meth:`respond` does."""

    def respond(self, seen: str, turn: int) -> str:
        """Returns the response to the unseen text of the seat.

        Raises:
            AgentFailure: the agent raised, hung, or returned no text.
            ProviderError: the model's server failed.
            ContextExceeded: the conversation is too long for the model.
            ConversationRefused: the model or a filter refuses the conversation.
            Stopped: the run ends.
        """


@dataclass
class TournamentPlayer:
    """A player of a tournament.

    Attributes:
        settings: its settings.
        loop: runs its agent and its client.
        caller: calls its agent.
        factory: creates its agents; None for a scripted player of the game.
        client: its model's, if it has one.
        budget: its usage and limits.
        failures: its failed games in a row.
        since: time of the first of them, in seconds.
        served: the names by which the server's replies call its model.
        out: why it plays no further game; empty while it plays.
    """

    settings: PlayerSettings
    loop: EventLoopThread
    caller: AgentCaller
    factory: AgentFactory | None = None
    client: ModelClient | None = None
    budget: UsageBudget = field(default_factory=UsageBudget)
    failures: int = 0
    since: float = 0.0
    served: set[str] = field(default_factory=set)
    out: str = ""

    @property
    def name(self) -> str:
        """The name in the table."""
        return self.settings.name

    @property
    def form(self) -> str | None:
        """The format of responses."""
        assert self.factory
        return self.settings.format or self.factory.format

    @property
    def recorded(self) -> dict[str, Any]:
        """All settings, as a line of the record holds them."""
        settings = self.settings
        if self.factory is None:
            return {"agent": settings.agent}
        found = {"agent": settings.agent, "options": dict(settings.options), "format": self.form}
        if self.client is None:
            return found
        budget = {"budget_tokens": settings.budget_tokens, "budget_cost": settings.budget_cost}
        endpoint = asdict(self.client.endpoint)
        prices = list(endpoint["prices"]) if endpoint["prices"] else None  # as JSON has it
        served = {"served": sorted(self.served)}
        return {**found, **endpoint, "prices": prices, **budget, **served}

    def metered(self, on_reply: OnReply) -> MeteredClient | None:
        """Returns the client for one seat of one game; None without a model."""
        if self.client is None:
            return None

        def noted(messages: ChatMessages, tools: ToolSchemas, reply: ModelReply) -> None:
            self.served.add(reply.model)
            on_reply(messages, tools, reply)

        meter = MeteredClient(self.client, self.budget)
        meter.on_reply = noted
        return meter

    def is_out(self) -> bool:
        """Returns whether the player plays no further game; its games under way finish."""
        if not self.out and self.budget.spent:
            self.out = self.budget.spent
        return bool(self.out)

    def failed(self, error: str, *, first: bool, server: bool) -> None:
        """Counts a failed game; the player drops out after many in a row.

        Args:
            error: the failure.
            first: whether it was the first try of this game. A few games may fail again and again.
            server: whether the model's server failed. It may be away for ``OUTAGE`` seconds.
        """
        if not self.failures:
            self.since = time.monotonic()
        self.failures += first
        if server and time.monotonic() - self.since < OUTAGE:
            return
        if self.failures >= FAILURES and not self.out:
            self.out = f"{self.failures} games failed in a row, the last with: {error}"

    def close(self) -> None:
        """Closes the connections of the player's client."""
        if self.client:
            self.loop.run(self.client.close())

    def sit(self, game: TextGame, seat: str, on_reply: OnReply) -> SeatedPlayer:
        """Returns the player in a seat of a game that has begun.

        ``on_reply`` receives its model's requests and replies.
        """
        if self.factory is None:
            return _Script(self, game, seat)
        return _AgentSeat(self, game, seat, self.metered(on_reply))


class _Script:
    """A scripted player."""

    reader: ResponseFormat | None = None

    def __init__(self, player: TournamentPlayer, game: TextGame, seat: str):
        self.usage, self._seed = UsageTotals(), f"{seat} {player.name}"
        self._act = make_player(game, seat, player.settings.agent)

    def start(self, task_id: str) -> None:
        self._rng = random.Random(f"{task_id} {self._seed}")

    def respond(self, seen: str, turn: int) -> str:
        return self._act(seen, self._rng)


class _AgentSeat:
    """An agent, which sees what the rules of an evaluation show to it."""

    def __init__(
        self, player: TournamentPlayer, game: TextGame, seat: str, meter: MeteredClient | None
    ):
        assert player.factory
        self._player, self._game, self._seat, self._factory = player, game, seat, player.factory
        form = player.form
        self.reader = FORMATS[form](game.tools) if form else None
        self._meter = meter
        self.usage = meter.usage if meter else UsageTotals()

    def start(self, task_id: str) -> None:
        game, seat = self._game, self._seat
        opening = open_episode(
            {"seat": seat, "goal": game.goal(seat)},
            task_id=task_id,
            rules=game.instructions,
            format_rules=self.reader.describe() if self.reader else "",
            tools=game.tools,
        )
        self._agent = made(lambda: self._factory.make(self._meter))
        self._called("start", opening)

    def respond(self, seen: str, turn: int) -> str:
        info: dict[str, Any] = {
            "seat": self._seat,
            "goal": self._game.goal(self._seat),
            "turn": turn,
        }
        if self._factory.lists_actions:
            info["admissible_actions"] = self._game.actions(self._seat)
        said = self._called("act", seen, info)
        if not isinstance(said, str):
            raise AgentFailure(f"the response {shown(said)} is not a str")
        return self._game.oracle(self._seat) if said is ASK_ORACLE else said

    def _called(self, method: str, *arguments: Any) -> Any:
        player = self._player
        return player.loop.call(player.caller.call(self._agent, method, *arguments))


def competitors(
    settings: Iterable[PlayerSettings],
    game: TextGame,
    loop: EventLoopThread,
    caller: AgentCaller,
    *,
    connections: int,
) -> dict[str, TournamentPlayer]:
    """Returns the players of a game by name.

    Args:
        settings: of each player.
        game: the game to be played.
        loop: runs the agents and the clients.
        caller: calls the agents.
        connections: largest number of open connections of a player.

    Raises:
        AgentGymError: no such player or agent, or settings that contradict each other.
    """
    return {one.name: _competitor(one, game, loop, caller, connections) for one in settings}


def _competitor(
    settings: PlayerSettings,
    game: TextGame,
    loop: EventLoopThread,
    caller: AgentCaller,
    connections: int,
) -> TournamentPlayer:
    agent, agents = settings.agent, plugins.discover(AGENTS)
    scripted = [*SCRIPTED, *game.players]
    if agent in scripted:
        _check_script(settings)
        return TournamentPlayer(settings, loop, caller)
    if ":" not in agent and agent not in agents:
        raise UnknownName("player", agent, {*scripted, *agents})
    factory = load(agent, settings.options)
    _check(settings, factory)
    client = None
    if factory.needs_client:
        client = connect(ModelEndpoint(**settings.endpoint), connections=connections)
    made(lambda: factory.make(client))  # rejects an invalid option before any file is written
    names = ("budget_tokens", "budget_cost")
    budget = UsageBudget(settings.budget_tokens, settings.budget_cost, names)
    return TournamentPlayer(settings, loop, caller, factory, client, budget)


def _check_script(settings: PlayerSettings) -> None:
    """Rejects settings of an agent for a scripted player."""
    given = {"options": settings.options, "format": settings.format, **settings.endpoint}
    if useless := [key for key, value in given.items() if value]:
        raise ArgumentError(
            f"player {settings.name!r}: {settings.agent} is a scripted player: leave"
            f" {useless[0]} out"
        )


def _check(settings: PlayerSettings, factory: AgentFactory) -> None:
    """Rejects settings that contradict each other or the agent."""
    who, endpoint = f"player {settings.name!r}", settings.endpoint
    try:
        factory.check_format(settings.format)
    except ArgumentError as error:
        raise ArgumentError(f"{who}: {error}") from None
    if factory.needs_client and not endpoint.get("model"):
        raise ArgumentError(f"{who}: agent {factory.name!r} acts through a model: name its model")
    budget = settings.budget_tokens is not None or settings.budget_cost is not None
    if not factory.needs_client and (endpoint or budget):
        name = next(iter(endpoint), "the budget")
        raise ArgumentError(f"{who}: agent {factory.name!r} has no model: leave {name} out")
    if settings.budget_cost is not None and endpoint.get("prices") is None:
        raise ArgumentError(f"{who}: budget_cost needs prices")
