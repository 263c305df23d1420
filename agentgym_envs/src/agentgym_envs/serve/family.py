"""The base classes of the families of the AgentGym protocol."""

from collections.abc import Callable, Mapping, Sequence
from types import MappingProxyType
from typing import Any, ClassVar

from agentgym_envs import registry
from agentgym_envs.pool import PoolResult
from agentgym_envs.serve.refusal import RefusedRequest

ORDER = ("test", "train", "dev")  # SearchQA's numbers begin with the test split


class ServedFamily:
    """One family.

    Args:
        env_id: the registered id.
        keywords: constructor keywords of the server's environments.
    """

    name: ClassVar[str]
    """The path."""
    key: ClassVar[str] = "id"
    """The field with the session's number."""
    index: ClassVar[str] = "data_idx"
    """The field of a reset with the task's number."""
    begins: ClassVar[bool] = False
    """Whether ``create`` starts an episode."""
    keywords: ClassVar[Mapping[str, Any]] = MappingProxyType({})
    """Constructor keywords of every session."""

    def __init__(self, env_id: str, keywords: Mapping[str, Any]):
        self.env_id = env_id
        self._keywords = dict(keywords)

    def check_create(self, fields: Mapping[str, Any]) -> None:
        """Checks the fields of ``create``.

        Raises:
            RefusedRequest: a field asks for something that clients cannot set.
        """

    def created(self, number: int, text: str) -> Any:
        """Returns the answer to ``create``."""
        return {self.key: number}

    def task_id(self, index: int) -> str | None:
        """Returns the task with a number; None if :meth:`seed` picks it.

        Raises:
            RefusedRequest: no task has this number.
        """
        raise NotImplementedError

    def seed(self, index: int) -> int | None:
        """Returns the seed of an episode. A task has the same seed in every episode."""
        return index

    def action(self, response: object) -> object:
        """Returns the action in what the client sends."""
        return response

    def begun_text(self, result: PoolResult) -> str:
        """Returns the first text of an episode."""
        return result.observation

    def begun(self, result: PoolResult) -> Any:
        """Returns the answer to ``reset``."""
        return {"observation": self.begun_text(result)}

    def stepped_text(self, result: PoolResult) -> str:
        """Returns the text of a step."""
        return result.observation

    def stepped(self, result: PoolResult) -> dict[str, Any]:
        """Returns the answer to ``step``."""
        return {
            "observation": self.stepped_text(result),
            "reward": result.reward,
            "done": done(result),
        }

    def pages(self) -> dict[str, Callable[[PoolResult | None], Any]]:
        """Returns more pages by name; each is a function of the session's last result."""
        return {}

    def _task_set(self) -> Any:
        env: Any = registry.make(self.env_id, **self._keywords).unwrapped
        try:
            return env.task_set
        finally:
            env.close()


class ListedFamily(ServedFamily):
    """A family whose numbers count the tasks of a list."""

    _ids: list[str] | None = None

    def task_id(self, index: int) -> str:
        """Returns the task at this place of the list."""
        return _pick(self._listed(), index, self.index)

    def _listed(self) -> list[str]:
        if self._ids is None:
            self._ids = self._make_list()
        return self._ids

    def _make_list(self) -> list[str]:
        tasks = self._task_set()
        return [task_id for split in ORDER for task_id in tasks.ids(split)]


def done(result: PoolResult) -> bool:
    """Returns whether the episode is over."""
    return result.terminated or result.truncated


def _pick(ids: Sequence[str], index: int, field: str) -> str:
    if index >= len(ids):
        raise out_of_range(field, index, len(ids))
    return ids[index]


def out_of_range(field: str, index: int, count: int) -> RefusedRequest:
    """Returns the error of a task's number that is too large."""
    return RefusedRequest(400, f"{field}: there is no task {index}, only 0 to {count - 1}")
