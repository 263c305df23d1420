"""Episodes from the result folders of ``agentgym eval``, of an oracle or of any agent."""

from collections.abc import Sequence
from pathlib import Path

from agentgym_envs.evaluate import record
from agentgym_envs.evaluate.record import EpisodeRow
from agentgym_envs.wrappers import FormatError, ResponseFormat
from agentgym_train.errors import ConfigError


def read(folders: Sequence[str], env_id: str, *, key: str) -> list[EpisodeRow]:
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
