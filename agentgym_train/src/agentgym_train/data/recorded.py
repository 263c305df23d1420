"""Episodes from the result folders of ``agentgym eval``, and the order in which they are used.

The episodes are those of an oracle or of any agent.
"""

from collections.abc import Sequence
from pathlib import Path

from agentgym_envs.evaluate import record
from agentgym_envs.evaluate.record import EpisodeRow
from agentgym_envs.tasks import stable_hash
from agentgym_envs.wrappers import FormatError, ResponseFormat
from agentgym_train.errors import ConfigError


def read_episodes(folders: Sequence[str], env_id: str, *, key: str) -> list[EpisodeRow]:
    """Returns the lines of an environment's episodes with one agent.

    Args:
        folders: the result folders.
        env_id: the environment's id.
        key: the configuration key of the folders, for messages.

    Raises:
        ArgumentError: a folder contains no results.
        ConfigError: the folders have no such episode.
    """
    found = [row for folder in folders for row in record.episodes(record.read(Path(folder))[0])]
    own = [row for row in found if _name(row["env_id"]) == _name(env_id)]
    if not own:
        others = ", ".join(sorted({row["env_id"] for row in found})) or "no environment"
        raise ConfigError(
            f"{key}={list(folders)}: not one episode is of {env_id}; they are of {others}"
        )
    rows = [row for row in own if len({turn.get("seat") for turn in row["turns"]}) <= 1]
    if not rows:
        raise ConfigError(
            f"{key}={list(folders)}: each episode has several agents, and episodes of one agent are"
            " needed"
        )
    return rows


def responses(row: EpisodeRow, reader: ResponseFormat) -> list[str]:
    """Returns the responses of a line in the run's action format.

    A bare action is converted to the format.

    Raises:
        ConfigError: the format cannot express an action; names the task.
    """
    return [_written(turn["response"], reader, row["task_id"]) for turn in row["turns"]]


def _written(response: str, reader: ResponseFormat, task_id: str) -> str:
    try:
        reader.parse(response)
    except FormatError:
        try:
            return reader.render(response)
        except ValueError as error:
            raise ConfigError(
                f"task {task_id!r}: {response[:60]!r} is not a response in env.action_format:"
                f" {error}"
            ) from error
    return response


def _name(env_id: str) -> str:
    return env_id.rpartition(":")[2]


class EpochSampler:
    """Draws 0, …, ``count`` − 1 in a new order for each pass.

    The order depends on the seed and the pass only, so a resumed run needs no state.

    Args:
        count: number of items.
        seed: fixes the orders.

    >>> sampler = EpochSampler(3, seed=1)
    >>> sorted(sampler.place(number) for number in range(3))
    [0, 1, 2]
    """

    def __init__(self, count: int, *, seed: int):
        self._count, self._seed = count, seed
        self._order: tuple[int, list[int]] = (-1, [])  # the latest pass and its order

    def place(self, number: int) -> int:
        """Returns the item at position ``number`` of all draws, counted from 0."""
        epoch, place = divmod(number, self._count)
        if self._order[0] != epoch:
            key = f"deal {self._seed} {epoch}"
            order = sorted(range(self._count), key=lambda item: stable_hash(f"{key} {item}"))
            self._order = (epoch, order)
        return self._order[1][place]
