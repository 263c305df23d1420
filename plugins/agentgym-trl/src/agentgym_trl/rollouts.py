"""Plays the episodes of TRL's ``GRPOTrainer`` in an environment of ours."""

import logging
from collections.abc import Collection, Mapping, Sequence
from typing import Any

import torch
from datasets import Dataset
from transformers import PreTrainedTokenizerBase, TrainerCallback
from trl.chat_template_utils import supports_tool_calling

from agentgym_envs.errors import ArgumentError, EnvFailure
from agentgym_envs.pool import EnvPool, PoolResult, describe
from agentgym_train import ChatTokens
from agentgym_trl.episode import Episode
from agentgym_trl.horizon import Horizon

log = logging.getLogger(__name__)
# TRL refuses templates without tool calls, even if the model is given no tools.
TOOL_CALLS = (
    "{% if messages | selectattr('role', 'equalto', 'tool') | list %}{{ messages | tojson }}"
    "{% else %}ORIGINAL{% endif %}"
)


class Rollouts:
    """The parts of a ``GRPOTrainer`` that play episodes.

    An episode that the environment fails has the reward None and no loss: TRL leaves it out of the
    group's mean.

    Args:
        env_id: a registered id, or "module:id".
        tokenizer: the model's; has a chat template.
        turns: the horizon of evaluation, and of training without a curriculum.
        curriculum: ``name`` and options of a curriculum of agentgym-train; it sets the horizon of
            training.
        max_context: maximum number of tokens of an episode; by default the model's number of
            positions.
        action_format: a key of ``agentgym_envs.wrappers.FORMATS``; "plain": the response is the
            action.
        workers: number of processes of environments in each training process; by default one per
            CPU core.
        timeout: time limit of one call of an environment, in seconds.
        **kwargs: the environment's keywords.

    Raises:
        AgentGymError: the environment does not exist, rejects a keyword or fails; the curriculum
            does not exist or rejects an option; the template rewrites earlier messages.
    """

    def __init__(
        self,
        env_id: str,
        tokenizer: PreTrainedTokenizerBase,
        *,
        turns: int,
        curriculum: Mapping[str, Any] | None = None,
        max_context: int | None = None,
        action_format: str = "plain",
        workers: int | None = None,
        timeout: float = 60.0,
        **kwargs: Any,
    ):
        if turns < 1:
            raise ArgumentError(f"turns={turns}: must be at least 1")
        self._setup = {"action_format": action_format, "timeout": timeout, **kwargs}
        self.description = describe(env_id, **self._setup)
        if self.description.several:
            seats = ", ".join(self.description.several)
            raise ArgumentError(f"{env_id} is for several agents: choose one of seats= {seats}")
        self.env_id, self.turns, self._workers = env_id, turns, workers
        self._tokenizer, self._max_context = tokenizer, max_context
        self._chat = ChatTokens(tokenizer, self.description.instructions, section="tokenizer")
        self._horizon = Horizon(curriculum) if curriculum else None
        self._pool: EnvPool | None = None

    def dataset(self, rows: int | None = None, *, first_seed: int = 0) -> Dataset:
        """Returns a data set of tasks.

        Args:
            rows: number of rows; by default one per task.
            first_seed: the seed of the first row; the next rows have the next seeds.

        Raises:
            ArgumentError: no number, and the environment lists no tasks.
        """
        ids = self.description.task_ids
        if not (rows or ids):
            raise ArgumentError(f"{self.env_id} lists no tasks: give dataset a number of rows")
        numbers = range(rows or len(ids or ()))
        columns: dict[str, list[Any]] = {
            "prompt": [[{"role": "user", "content": ""}] for _ in numbers],
            "seed": [first_seed + n for n in numbers],
        }
        if ids:
            columns["task_id"] = [ids[n % len(ids)] for n in numbers]
        return Dataset.from_dict(columns)

    def arguments(self) -> dict[str, Any]:
        """Returns arguments for ``GRPOTrainer``. Add your callbacks to its list ``callbacks``."""
        template = self._tokenizer.chat_template
        if not supports_tool_calling(self._tokenizer):
            self._tokenizer.chat_template = TOOL_CALLS.replace("ORIGINAL", template)
        horizon = [self._horizon] if self._horizon else []
        return {
            "processing_class": self._tokenizer,
            "environment_factory": Episode,
            "rollout_func": self.play,
            "reward_funcs": [env_reward],
            "callbacks": [*horizon, _Ends(self, template)],
        }

    def play(self, prompts: Sequence[Any], trainer: Any) -> dict[str, list[Any]]:
        """Plays the episodes of a batch: the ``rollout_func``.

        Args:
            prompts: not used; the rows are in ``trainer.environments``.
            trainer: a ``GRPOTrainer``.

        Raises:
            EnvFailure: the environment failed in every episode.
            ArgumentError: a row has an unknown task id.
        """
        episodes: list[Episode] = trainer.environments
        try:
            self._play(episodes, trainer)
        except BaseException:
            self.close()  # answers of these episodes are on their way
            raise
        for episode in episodes:
            if episode.error:
                log.warning("an episode is left out: %s", episode.error)
            if episode.error or not episode.turns:
                episode._leave_out(self._tokenizer.eos_token_id)
        self._measure(episodes, trainer)
        sampled = [e.logps for e in episodes]
        return {
            "prompt_ids": [e.prompt_ids for e in episodes],
            "completion_ids": [e.completion_ids for e in episodes],
            "logprobs": None if None in sampled else sampled,  # type: ignore[dict-item]
            "env_mask": [e.mask for e in episodes],
        }

    def close(self) -> None:
        """Ends the environments; the next rollout starts them again."""
        if self._pool:
            self._pool.close()
            self._pool = None

    def _play(self, episodes: list[Episode], trainer: Any) -> None:
        chat, pool, horizon = self._chat, self._open(len(episodes)), self._turns(trainer)
        positions = self._max_context or trainer.model.config.max_position_embeddings
        room = positions - trainer.max_completion_length
        for index, episode in enumerate(episodes):
            options = {"task_id": episode.task_id} if episode.task_id is not None else None
            pool.reset(index, seed=episode.seed, options=options)
        for result in received(pool, range(len(episodes))):
            episodes[result.index]._begin(result, chat, room=room)
        while sums(trainer, len(playing := [n for n, e in enumerate(episodes) if not e.end]))[0]:
            # Sampling can be an operation of all processes: one without episodes takes part.
            histories = [episodes[n].prompt_ids + episodes[n].completion_ids for n in playing]
            actions, logps = trainer._generate_single_turn(
                histories or [[self._tokenizer.eos_token_id]], None, {}, 1
            )
            for place, index in enumerate(playing):
                episodes[index]._act(actions[place], logps[place] if logps else None)
                pool.send(index, chat.text(actions[place]))
            for result in received(pool, playing):
                episodes[result.index]._observe(result, chat, horizon=horizon, room=room)

    def _open(self, count: int) -> EnvPool:
        if self._pool and self._pool.num_envs < count:
            self.close()
        if not self._pool:
            self._pool = EnvPool(
                self.env_id, count, workers=self._workers, **self._setup, max_episode_steps=-1
            )
        return self._pool

    def _turns(self, trainer: Any) -> int:
        training = self._horizon and trainer.model.training
        return self._horizon.turns if self._horizon and training else self.turns

    def _measure(self, episodes: list[Episode], trainer: Any) -> None:
        """Gives the curriculum its metrics; raises an error if every episode failed."""
        played = [e for e in episodes if e.reward_or_none is not None]
        cut = [e.end == "horizon" for e in played]
        count, success, truncated, turns, invalid = sums(
            trainer,
            len(played),
            sum(e.success for e in played),
            sum(cut),
            sum(e.turns for e in played),
            sum(e.invalid for e in played),
        )
        if not count:
            raise self._nothing_played([e.error for e in episodes if e.error], len(episodes))
        if self._horizon and trainer.model.training:
            self._horizon.metrics = {
                "success": success / count,
                "truncated_horizon": truncated / count,
                "invalid": invalid / max(turns, 1),
            }

    def _nothing_played(self, errors: Sequence[EnvFailure], episodes: int) -> Exception:
        if errors:
            return EnvFailure(
                f"{self.env_id} failed in all {episodes} episodes of a step: {errors[0]}"
            )
        return ArgumentError(
            f"no first observation of {self.env_id} leaves room for an action: raise max_context,"
            " or lower max_completion_length of GRPOConfig"
        )


def env_reward(environments: Sequence[Episode], log_metric: Any, **_: Any) -> list[float | None]:
    """Returns the sum of rewards of each episode, or None if it was not played; logs metrics."""
    played = [e for e in environments if e.reward_or_none is not None]
    metrics = {
        "success": [e.success for e in played],
        "turns": [e.turns for e in played],
        "invalid": [e.invalid / e.turns for e in played],
        "truncated_horizon": [e.end == "horizon" for e in played],
        "truncated_context": [e.end == "context" for e in played],
        "env_failed": [e.error is not None for e in environments],
    }
    for name, values in metrics.items():
        if values:
            log_metric(name, sum(values) / len(values))
    return [e.reward_or_none for e in environments]


def received(pool: EnvPool, indices: Collection[int]) -> list[PoolResult]:
    """Waits for a result of each environment."""
    results: list[PoolResult] = []
    while len(results) < len(indices):
        results += pool.recv()
    return results


def sums(trainer: Any, *values: float) -> list[float]:
    """Returns sums over all processes."""
    accelerator = trainer.accelerator
    row = torch.tensor([values], dtype=torch.float32, device=accelerator.device)
    found: list[float] = accelerator.gather(row).sum(0).tolist()
    return found


class _Ends(TrainerCallback):  # type: ignore[misc]
    """Restores the chat template, and ends the environments after training."""

    def __init__(self, rollouts: Rollouts, template: str):
        self._rollouts, self._template = rollouts, template

    def on_init_end(self, *_: Any, **__: Any) -> None:
        self._rollouts._tokenizer.chat_template = self._template

    def on_train_end(self, *_: Any, **__: Any) -> None:
        self._rollouts.close()
