"""An episode: the object that TRL calls an environment."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

from agentgym_envs.errors import EnvFailure
from agentgym_envs.pool import PoolResult
from agentgym_envs.scores import above
from agentgym_train import ChatTokens


@dataclass
class Episode:
    """The row of a batch, and what was played for it.

    TRL exposes every public method except ``reset`` to the model as a tool, so there is no other.
    """

    seed: int | None = None
    task_id: str | None = None
    prompt_ids: list[int] = field(default_factory=list)
    """The tokens before the first action."""
    completion_ids: list[int] = field(default_factory=list)
    """Actions, and the tokens between them."""
    mask: list[int] = field(default_factory=list)
    """1 for sampled tokens, 0 for all others."""
    logps: list[float] | None = field(default_factory=list)
    """Log-probabilities at sampling; None if the generator gives none."""
    turns: int = 0
    reward: float = 0.0
    success: bool = False
    invalid: int = 0
    """Actions that the environment did not understand."""
    end: str = ""
    """"decided", "horizon", "context" or "failed"; empty while the episode goes on."""
    error: EnvFailure | None = None

    @property
    def reward_or_none(self) -> float | None:
        """The sum of rewards; None without a played turn, or after a failure."""
        return self.reward if self.turns and self.error is None else None

    def reset(self, *, seed: int | None = None, task_id: str | None = None, **_: Any) -> None:
        """Takes the columns of a row; :class:`agentgym_trl.Rollouts` starts the episode.

        TRL stops the run if this raises, so no environment is called here.
        """
        self.__init__(seed, task_id)  # type: ignore[misc]

    def _begin(self, result: PoolResult, chat: ChatTokens, *, room: int) -> None:
        """Adds the tokens before the first action; ends the episode if there are over ``room``."""
        if not self._failed(result):
            self.prompt_ids = chat.opening(result.observation)
            self.end = "context" if len(self.prompt_ids) > room else ""

    def _act(self, ids: Sequence[int], logps: Sequence[float] | None) -> None:
        self._add(ids, 1, logps)
        self.turns += 1

    def _observe(self, result: PoolResult, chat: ChatTokens, *, horizon: int, room: int) -> None:
        """Ends the episode, or adds the tokens up to the next action.

        Args:
            result: of the action.
            chat: has the tokens.
            horizon: maximum number of turns.
            room: maximum number of tokens before an action.
        """
        if self._failed(result):
            return
        info = result.info or {}
        self.reward += result.reward
        self.success = bool(info.get("success", result.terminated and above(self.reward, 0.0)))
        self.invalid += bool(info.get("invalid"))
        if result.terminated:
            self.end = "decided"
        elif result.truncated or self.turns == horizon:
            self.end = "horizon"
        else:
            between = chat.between(self.completion_ids, result.observation)
            if len(self.prompt_ids) + len(self.completion_ids) + len(between) > room:
                self.end = "context"
            else:
                self._add(between, 0, [0.0] * len(between))

    def _leave_out(self, end_id: int) -> None:
        """Makes a row without loss: TRL needs at least one token."""
        self.prompt_ids = self.prompt_ids or [end_id]
        self.completion_ids = self.completion_ids or [end_id]
        self.mask = [0] * len(self.completion_ids)
        if self.logps is not None:
            self.logps = [0.0] * len(self.completion_ids)

    def _failed(self, result: PoolResult) -> bool:
        if result.error is None:
            return False
        if result.error.__cause__:
            result.check()  # the row is at fault: an unknown task id
        self.error, self.end = result.error, "failed"
        return True

    def _add(self, ids: Sequence[int], mask: int, logps: Sequence[float] | None) -> None:
        self.completion_ids += ids
        self.mask += [mask] * len(ids)
        if logps is None:
            self.logps = None
        elif self.logps is not None:
            self.logps += logps
