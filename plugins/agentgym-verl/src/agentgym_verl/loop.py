"""The agent loop that plays an episode for a row."""

import asyncio
import json
import logging
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any
from uuid import uuid4

from verl.experimental.agent_loop.agent_loop import (
    AgentLoopBase,
    AgentLoopMetrics,
    AgentLoopOutput,
)

from agentgym_envs.errors import EnvFailure
from agentgym_envs.pool import PoolResult, SharedPool, describe
from agentgym_envs.scores import above

log = logging.getLogger(__name__)
TRIES = 3
"""Of an episode that the environment fails."""

_pools: dict[tuple[asyncio.AbstractEventLoop, str], tuple[str, SharedPool]] = {}


@dataclass
class Episode:
    """The turns played so far."""

    messages: list[dict[str, str]]
    """The conversation; verl reads the boundaries of the tokens from it."""
    ids: list[int] = field(default_factory=list)
    """All tokens."""
    mask: list[int] = field(default_factory=list)
    """1 for sampled tokens and 0 for others, after the first observation."""
    logps: list[float] = field(default_factory=list)
    """As ``mask``; empty if the generator gives none."""
    results: list[PoolResult] = field(default_factory=list)
    """Of the actions."""
    extra: dict[str, Any] = field(default_factory=dict)
    """More fields of the generator, such as the first and the last version of the policy."""


class AgentGymLoop(AgentLoopBase):  # type: ignore[misc]
    """Plays an episode.

    The arguments are keys of verl's file of agent loops.

    Args:
        *args: of verl.
        target: a registered id, or "module:id".
        turns: the largest number of turns.
        action_format: a key of ``agentgym_envs.wrappers.FORMATS``.
        env: keywords of the environment, and arguments of :class:`agentgym_envs.pool.EnvPool`.
        **kwargs: of verl.
    """

    def __init__(
        self,
        *args: Any,
        target: str,
        turns: int,
        action_format: str = "react",
        env: Mapping[str, Any] | None = None,
        **kwargs: Any,
    ):
        super().__init__(*args, **kwargs)
        self.target, self.turns = target, turns
        self.options = {"action_format": action_format, **(env or {})}

    async def run(self, sampling_params: dict[str, Any], **row: Any) -> AgentLoopOutput:
        """Plays the episode of a row, and once more if the environment fails.

        Args:
            sampling_params: for the model.
            **row: columns; ``extra_info`` has ``index``, which is the seed, and ``task_id``.

        Raises:
            EnvFailure: the environment failed in three episodes. verl's run ends.
        """
        extra = row["extra_info"]
        start: dict[str, Any] = {"seed": int(extra["index"])}
        if extra.get("task_id") is not None:
            start["options"] = {"task_id": extra["task_id"]}
        for attempt in range(1, TRIES + 1):
            try:
                return self._output(await self._play(start, sampling_params))
            except EnvFailure as error:
                if attempt == TRIES:
                    raise
                log.warning("an episode is played again: %s", error)
        raise AssertionError("unreachable")

    async def _play(self, start: Mapping[str, Any], sampling: dict[str, Any]) -> Episode:
        rules, shared = _pool(self.target, self.options)
        async with shared.environment() as (pool, number):
            first = _checked(await pool.reset(number, **start))
            system = [{"role": "system", "content": rules}] if rules else []
            episode = Episode([*system, {"role": "user", "content": first.observation}])
            episode.ids = await self.ct_build_initial_tokens(episode.messages)
            request_id = uuid4().hex
            while True:
                text = await self._sample(episode, request_id, sampling)
                if len(episode.mask) > self.rollout_config.response_length:
                    return episode  # verl cuts this action off
                result = _checked(await pool.send(number, text))
                episode.results.append(result)
                over = result.terminated or result.truncated
                if over or len(episode.results) == self.turns:
                    return episode
                if not await self._observe(episode, text, result.observation):
                    return episode

    async def _sample(self, episode: Episode, request_id: str, sampling: dict[str, Any]) -> str:
        """Adds the tokens of a response; returns its text."""
        sampled = await self.server_manager.generate(
            request_id=request_id, prompt_ids=episode.ids, sampling_params=sampling
        )
        extra = sampled.extra_fields
        first = episode.extra.get("min_global_steps", extra.get("min_global_steps"))
        episode.extra = extra | {"min_global_steps": first}
        merged, episode.mask, logps = await self.ct_merge_assistant_token(
            episode.ids,
            sampled.token_ids,
            episode.mask,
            episode.logps if episode.logps or sampled.log_probs else None,
            assistant_logprobs=sampled.log_probs,
        )
        episode.ids, episode.logps = merged.token_ids, logps or []
        text: str = self.tokenizer.decode(sampled.token_ids, skip_special_tokens=True)
        return text

    async def _observe(self, episode: Episode, text: str, observation: str) -> bool:
        """Adds the tokens up to the next action; returns whether there is room for one."""
        before = [*episode.messages, {"role": "assistant", "content": text}]
        after = [*before, {"role": "user", "content": observation}]
        merged, mask, logps = await self.ct_merge_context_msg(
            before, after, episode.ids, episode.mask, episode.logps or None
        )
        if len(mask) >= self.rollout_config.response_length:
            return False
        episode.messages, episode.ids = after, merged.token_ids
        episode.mask, episode.logps = mask, logps or []
        return True

    def _output(self, episode: Episode) -> AgentLoopOutput:
        room, played = self.rollout_config.response_length, episode.results
        count = len(episode.mask)
        score = sum(result.reward for result in played)
        info: dict[str, Any] = (played[-1].info if played else None) or {}
        decided = bool(played) and played[-1].terminated
        values = {
            "success": float(info.get("success", decided and above(score, 0.0))),
            "turns": len(played),
            "invalid": sum(bool((result.info or {}).get("invalid")) for result in played),
        }
        return AgentLoopOutput(
            prompt_ids=episode.ids[: len(episode.ids) - count],
            response_ids=episode.ids[len(episode.ids) - count :][:room],
            response_mask=episode.mask[:room],
            response_logprobs=episode.logps[:room] or None,
            reward_score=score,
            num_turns=2 * len(played),
            metrics=AgentLoopMetrics(),
            extra_fields={
                **episode.extra,
                "reward_extra_info": values,
                "turn_scores": [],
                "tool_rewards": [],
            },
        )


def _pool(target: str, options: Mapping[str, Any]) -> tuple[str, SharedPool]:
    """Returns the rules and the pool of an environment in the running event loop."""
    key = asyncio.get_running_loop(), json.dumps([target, options], sort_keys=True)
    if key not in _pools:
        rules = describe(target, **options).instructions
        _pools[key] = rules, SharedPool(target, **options)
    return _pools[key]


def _checked(result: PoolResult) -> PoolResult:
    result.check()
    return result
