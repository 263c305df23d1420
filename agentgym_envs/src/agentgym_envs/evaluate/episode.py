"""Plays one episode, with one agent or one per seat, and records its turns."""

import logging
import time
from collections.abc import Callable, Mapping, Sequence
from typing import Any, NamedTuple

from agentgym_envs.agents import ASK_ORACLE, Agent, EpisodeEnding, open_episode
from agentgym_envs.agents.base import checked_lesson, seat_of
from agentgym_envs.errors import (
    AgentFailure,
    ContextExceeded,
    ConversationRefused,
    ProviderError,
)
from agentgym_envs.evaluate.calls import AgentCaller, made
from agentgym_envs.evaluate.packing import thought
from agentgym_envs.evaluate.plan import PlannedEpisode
from agentgym_envs.evaluate.record import EpisodeRow
from agentgym_envs.pool import AsyncEnvPool, PoolResult
from agentgym_envs.scores import above
from agentgym_envs.wrappers import FORMATS
from agentgym_envs.wrappers.formats import ResponseFormat
from agentgym_envs.wrappers.responses import FormatError

NO_LIMIT = AgentCaller()
log = logging.getLogger(__name__)


class EnvSlot(NamedTuple):
    """An environment of a pool."""

    pool: AsyncEnvPool
    number: int


async def play(
    item: PlannedEpisode,
    make: Callable[[], Agent],
    env_slot: EnvSlot,
    *,
    form: str | None,
    memory: Sequence[Any],
    turns: list[EpisodeRow],
    caller: AgentCaller = NO_LIMIT,
    on_turn: Callable[[], None] = lambda: None,
) -> EpisodeRow:
    """Plays an episode.

    Each seat that ``info["seat"]`` names has a separate agent with a separate conversation.

    Args:
        item: the episode to play.
        make: creates an agent.
        env_slot: the environment; its pool reads responses in ``form``.
        form: the format of responses, or None.
        memory: lessons of earlier attempts.
        turns: an empty list that is filled during play, so that a fault's turns are known too.
        caller: calls the agents.
        on_turn: called after each turn.

    Returns:
        The keys of the episode's line that describe the play.

    Raises:
        AgentFailure: an agent failed.
        EnvFailure: the environment failed.
        ProviderError: the model's server failed.
    """
    began = time.monotonic()
    result = _checked(await env_slot.pool.reset(env_slot.number, **item.start))
    reader = FORMATS[form](item.env.tools) if form else None
    goal = str((result.info or {}).get("goal", ""))
    agents: dict[str, Agent] = {}
    seen: dict[str, str] = {}
    end, cause = "", {}
    while not end:
        info = result.info or {}
        seat = seat_of(info)
        seen[seat] = result.observation
        try:
            if seat not in agents:
                agents[seat] = made(make)
                opening = open_episode(
                    info,
                    task_id=item.task_id,
                    attempt=item.attempt,
                    rules=item.env.instructions,
                    format_rules=reader.describe() if reader else "",
                    tools=item.env.tools,
                    memory=memory,
                )
                await caller.call(agents[seat], "start", opening)
            agent = agents[seat]
            response = await caller.call(agent, "act", result.observation, info)
        except (ContextExceeded, ConversationRefused) as error:
            end = "context" if isinstance(error, ContextExceeded) else "refused"
            cause = {"error": str(error)}
            break
        after = await _taken(agent, env_slot, response)
        if after.info is None:  # the oracle had nothing more to say
            end = "truncated"
            break
        said = (after.action or "") if response is ASK_ORACLE else response
        turns.append(turn(result.observation, said, reader, after.reward, False, seat))
        _judge(turns, after.info)
        on_turn()
        result = after
        end = "terminated" if result.terminated else "truncated" if result.truncated else ""
    ended = await _ended(result, turns, end, agents, seen, caller)
    seconds = round(time.monotonic() - began, 3)
    return {"goal": goal, **ended, **cause, "turns": turns, "seconds": seconds}


async def _ended(
    result: PoolResult,
    turns: Sequence[EpisodeRow],
    end: str,
    agents: Mapping[str, Agent],
    seen: dict[str, str],
    caller: AgentCaller,
) -> EpisodeRow:
    """Returns the outcome of an episode and what its agents learned."""
    info = result.info or {}
    total = sum(played["reward"] for played in turns)
    success = bool(info.get("success", result.terminated and above(total, 0.0)))
    score = float(info.get("score", total))
    seen[seat_of(info)] = result.observation
    lessons = {}
    for seat, agent in agents.items():
        own = bool(_own(info, "successes", seat, success)), float(_own(info, "scores", seat, score))
        ending = EpisodeEnding(seen[seat], *own, end != "terminated")
        lessons[seat] = await _lesson(agent, ending, caller)
    outcome = {"success": success, "score": score, "end": end, "last": result.observation}
    return {**outcome, "memory": _left(lessons)}


def _own(info: Mapping[str, Any], key: str, seat: str, whole: Any) -> Any:
    """Returns a seat's value of ``info``, or the value of the whole episode."""
    by_seat = info.get(key)
    return by_seat.get(seat, whole) if seat and isinstance(by_seat, Mapping) else whole


def _judge(turns: Sequence[EpisodeRow], info: Mapping[str, Any]) -> None:
    """Marks invalid turns.

    If several seats speak at once, the game judges them after the last one, so an earlier turn can
    be marked.
    """
    latest = {played.get("seat", ""): played for played in turns}
    last = turns[-1].get("seat", "")
    for seat, played in latest.items():
        played["invalid"] |= bool(
            _own(info, "invalids", seat, info.get("invalid", False) and seat == last)
        )


def _left(lessons: Mapping[str, Any]) -> Any:
    """Returns the memory for the next attempt: the agent's lesson, or a lesson by seat."""
    if set(lessons) == {""}:
        return lessons[""]
    return None if all(lesson is None for lesson in lessons.values()) else lessons


async def _lesson(agent: Agent, ending: EpisodeEnding, caller: AgentCaller) -> Any:
    """Returns an agent's lesson for its next attempt; None if its model fails.

    The episode counts in both cases.
    """
    try:
        lesson = await caller.call(agent, "end", ending)
    except ProviderError as error:
        log.warning("no lesson was learned: %s", error)
        return None
    return checked_lesson(agent, lesson)


async def _taken(agent: Agent, env_slot: EnvSlot, response: Any) -> PoolResult:
    if not isinstance(response, str):
        raise AgentFailure(
            f"the agent {type(agent).__name__} responded with {response!r}: a response is a str"
        )
    pool, number = env_slot
    return _checked(
        await (pool.ask_oracle(number) if response is ASK_ORACLE else pool.send(number, response))
    )


def _checked(result: PoolResult) -> PoolResult:
    result.check()
    return result


def turn(
    observation: str,
    response: str,
    reader: ResponseFormat | None,
    reward: float,
    invalid: bool,
    seat: str = "",
) -> EpisodeRow:
    """Returns a turn as it is written down.

    Args:
        observation: the text that the agent answered.
        response: the whole answer.
        reader: of the response's format; None where it is an action.
        reward: of the action.
        invalid: it was not understood.
        seat: whose turn it was; empty in an environment with one.
    """
    try:
        action = reader.parse(response) if reader else response
    except FormatError:
        action, invalid = "", True
    who = {"seat": seat} if seat else {}
    row = {
        **who,
        "observation": observation,
        "response": response,
        "thought": thought(response, action),
        "action": action,
    }
    return {**row, "reward": reward, "invalid": invalid}
