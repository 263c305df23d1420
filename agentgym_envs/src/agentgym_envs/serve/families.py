"""The families of the AgentGym protocol: their fields, task numbers and wordings.

The fields are those that the clients of agentenv 0.2.0 read.
"""

import re
from collections.abc import Callable, Mapping
from functools import cache
from types import MappingProxyType
from typing import Any

from agentgym_envs.errors import TaskError
from agentgym_envs.pool import PoolResult
from agentgym_envs.serve.family import ListedFamily, ServedFamily, done, out_of_range
from agentgym_envs.serve.refusal import RefusedRequest

_PUT = r"^\s*put (.+) in/on (.+)"
_FENCED = re.compile(r"```(.*?)```", re.DOTALL)


class TextCraftFamily(ListedFamily):
    """Numbers count the goals by depth, then by name; they are taken modulo the number of goals.

    The original sorts goals of one depth by the order of the files in its folder, which differs
    between machines.
    """

    name = "textcraft"
    begins = True

    def check_create(self, fields: Mapping[str, Any]) -> None:
        """Refuses own commands and goals; the folder of recipes is ignored."""
        for name in ("commands", "goal"):
            if fields.get(name) is not None:
                raise RefusedRequest(400, f"{name}: must be null; reset picks a task by its number")

    def created(self, number: int, text: str) -> Any:
        """Returns the number with a first observation."""
        return {"id": number, "observation": text, "reward": 0, "done": False}

    def task_id(self, index: int) -> str:
        """Returns the goal with a number."""
        return super().task_id(index % len(self._listed()))

    def _make_list(self) -> list[str]:
        tasks = self._task_set()
        return sorted(super()._make_list(), key=lambda one: (tasks.difficulty(one), one))


class BabyAIFamily(ServedFamily):
    """Numbers are the original's: level ``index % 40``, seed ``index // 40``."""

    name = "babyai"

    def task_id(self, index: int) -> str:
        """Returns the level and the seed of a number."""
        from agentgym_envs.envs.babyai.tasks import LEVELS

        name = f"{LEVELS[index % len(LEVELS)]}-{index // len(LEVELS)}"
        try:
            return str(_babyai().get(name).id)
        except TaskError as error:
            raise RefusedRequest(
                400,
                f"data_idx: {index} is the level {name.rpartition('-')[0]} with the seed"
                f" {index // len(LEVELS)}, which is not a task here: the seed has no solution, is a"
                " copy of another one, or is not one of 0 to 69",
            ) from error

    def begun(self, result: PoolResult) -> Any:
        """Returns the text with the scores, which are 0."""
        return self.stepped(result)

    def stepped(self, result: PoolResult) -> dict[str, Any]:
        """Adds the score, the sum of the rewards."""
        return {**super().stepped(result), "score": (result.info or {})["score"]}


class SciWorldFamily(ServedFamily):
    """Numbers count the variations of the tasks that AgentGym uses; scores go from 0 to 100."""

    name = "sciworld"

    def task_id(self, index: int) -> str:
        """Returns the variation with a number."""
        from agentgym_envs.envs.scienceworld.tasks import LEFT_OUT_BY_AGENTGYM, TABLE

        rows = [row for row in TABLE if row.number not in LEFT_OUT_BY_AGENTGYM]
        left = index
        for row in rows:
            if left < row.variations:
                return f"{row.name}-{left}"
            left -= row.variations
        raise out_of_range(self.index, index, sum(row.variations for row in rows))

    def begun(self, result: PoolResult) -> Any:
        """Separates the task from the first look."""
        info = result.info or {}
        return {
            **self.stepped(result),
            "task_description": info["goal"],
            "observation": result.observation.removeprefix(info["goal"]).lstrip("\n"),
        }

    def stepped(self, result: PoolResult) -> dict[str, Any]:
        """Adds the score in percent."""
        step = super().stepped(result)
        score = round(100 * (result.info or {})["score"])
        return {**step, "reward": round(100 * result.reward), "score": score}


class SearchQAFamily(ListedFamily):
    """Numbers count the questions: first those of the test split, as in the original."""

    name, key, index = "searchqa", "env_idx", "id"

    def created(self, number: int, text: str) -> Any:
        """Returns the bare number."""
        return number

    def begun_text(self, result: PoolResult) -> str:
        """Adds the rules: the client's own prompt does not name the tag of an answer."""
        from agentgym_envs.envs.search.env import SearchEnv

        return f"{SearchEnv.instructions}\n\n{result.observation}"

    def begun(self, result: PoolResult) -> Any:
        """Returns the bare text."""
        return self.begun_text(result)


class _WebFamily(ServedFamily):
    """The form of WebArena's client."""

    key, index = "env_idx", "idx"

    def action(self, response: object) -> object:
        """Returns the text in the first triple backticks: the client sends the whole response."""
        found = _FENCED.search(response) if isinstance(response, str) else None
        return found[1].strip() if found else response

    def stepped(self, result: PoolResult) -> dict[str, Any]:
        """Names the end ``terminated``."""
        return {**super().stepped(result), "terminated": done(result)}


class WebArenaFamily(_WebFamily):
    """Numbers are WebArena's ``task_id``, as in the names of its files of tasks."""

    name = "webarena"
    _ids: dict[int, str] | None = None

    def task_id(self, index: int) -> str:
        """Returns the task with WebArena's number."""
        if self._ids is None:
            ids = self._task_set().ids("all")
            self._ids = {int(re.sub(r".*-", "", task_id)): task_id for task_id in ids}
        if index not in self._ids:
            raise RefusedRequest(
                400, f"idx: {index} is not a task_id of the server's configuration"
            )
        return self._ids[index]


class WebSitesFamily(_WebFamily, ListedFamily):
    """The sites of this package for WebArena's client."""

    name = "websites"


class MazeFamily(ServedFamily):
    """LMRL-Gym's maze. Numbers are the original's games 0 to 24.

    The original's game 25 begins at the goal, so it is not a task here. A client that runs out of
    steps gets the reward -1, as in the original.
    """

    name, index = "maze", "game"

    def task_id(self, index: int) -> str:
        """Returns the task of a game."""
        from agentgym_envs.envs.lmrl.maze import PLACES

        if index >= len(PLACES) - 1:
            raise out_of_range(self.index, index, len(PLACES) - 1)
        return f"game-{index}"

    def stepped(self, result: PoolResult) -> dict[str, Any]:
        """Gives failure its reward."""
        failed = done(result) and not (result.info or {})["success"]
        return {**super().stepped(result), **({"reward": -1.0} if failed else {})}


class WordleFamily(ListedFamily):
    """LMRL-Gym's Wordle. Seeds count the words; they are taken modulo the number of words.

    The original draws the word from a generator with the seed. Rewards are the original's: 1 for
    the hidden word, otherwise 0.
    """

    name, index = "wordle", "seed"

    def task_id(self, index: int) -> str:
        """Returns the word with a number."""
        return super().task_id(index % len(self._listed()))

    def pages(self) -> dict[str, Callable[[PoolResult | None], Any]]:
        """Adds the list of words that the guesses so far allow."""
        return {"filtered_vocab": _filtered_vocab}


class AlfWorldFamily(ListedFamily):
    """ALFWorld. Numbers count the tasks: test, then train, then dev.

    The words are those of ALFWorld 0.3.3, which AgentGym's server uses: ``put X in/on Y`` instead
    of ``move X to Y``, and no ``help``.
    """

    name, index = "alfworld", "game"
    keywords = MappingProxyType({"admissible": True})

    def action(self, response: object) -> object:
        """Returns the command in this package's words."""
        return re.sub(_PUT, r"move \1 to \2", response) if isinstance(response, str) else response

    def begun_text(self, result: PoolResult) -> str:
        """Leaves out the welcome, as the original's server does."""
        return "\n".join(result.observation.split("\n\n")[1:])

    def begun(self, result: PoolResult) -> Any:
        """Returns the text with the commands that are possible."""
        observation = self.begun_text(result)
        return {"observation": observation, "available_actions": _put_actions(result)}

    def stepped_text(self, result: PoolResult) -> str:
        """Leaves out the arrival, as the original's server does."""
        text = re.sub(r"^You arrive at [^.]*\. ", "", result.observation)
        return re.sub("^You move the (.*) to the ", r"You put the \1 in/on the ", text)

    def stepped(self, result: PoolResult) -> dict[str, Any]:
        """Adds the commands that are possible."""
        return {**super().stepped(result), "available_actions": _put_actions(result)}

    def pages(self) -> dict[str, Callable[[PoolResult | None], Any]]:
        """Adds the commands that are possible."""
        return {"available_actions": _put_actions}


class WebShopFamily(ListedFamily):
    """WebShop. Numbers count the goals, which begin with those of the test split."""

    name, key, index = "webshop", "env_idx", "session_id"
    keywords = MappingProxyType({"admissible": True})

    def created(self, number: int, text: str) -> Any:
        """Returns the bare number."""
        return number

    def begun(self, result: PoolResult) -> Any:
        """Returns the text and the original's empty info."""
        return [self.begun_text(result), None]

    def stepped(self, result: PoolResult) -> dict[str, Any]:
        """Names the text ``state``, with an empty info."""
        step = super().stepped(result)
        return {"state": step.pop("observation"), **step, "info": None}

    def pages(self) -> dict[str, Callable[[PoolResult | None], Any]]:
        """Adds the clickable texts and the instruction."""
        return {"available_actions": _available_actions, "instruction_text": _instruction_text}

    def _make_list(self) -> list[str]:
        tasks = self._task_set()
        return [task_id for split in ("test", "dev", "train") for task_id in tasks.ids(split)]


FAMILIES: dict[str, type[ServedFamily]] = {
    "agentgym/TextCraft": TextCraftFamily,
    "agentgym/BabyAI": BabyAIFamily,
    "agentgym/ScienceWorld": SciWorldFamily,
    "agentgym/Search": SearchQAFamily,
    "agentgym/LMRLMaze": MazeFamily,
    "agentgym/LMRLWordle": WordleFamily,
    "agentgym/Household": AlfWorldFamily,
    "agentgym/Shop": WebShopFamily,
    "agentgym/WebArena": WebArenaFamily,
    "agentgym/WebSites": WebSitesFamily,
}
"""Families by the id without its version."""


def family_of(env_id: str, keywords: Mapping[str, Any]) -> ServedFamily | None:
    """Returns the family of an id, or None."""
    kind = FAMILIES.get(re.sub(r"-v\d+$", "", env_id))
    return kind(env_id, keywords) if kind else None


@cache
def _babyai() -> Any:
    from agentgym_envs.envs.babyai.tasks import babyai_tasks

    return babyai_tasks()


def _filtered_vocab(result: PoolResult | None) -> list[str]:
    from agentgym_envs.envs.lmrl.wordle import consistent

    info = (result.info if result else None) or {}
    return list(consistent(info.get("guesses", ())))


def _put_actions(result: PoolResult | None) -> list[str]:
    listed = (result.info or {})["admissible_actions"] if result else []
    return sorted(
        re.sub("^move (.+) to (.+)", r"put \1 in/on \2", action)
        for action in listed
        if action != "help"
    )


def _available_actions(result: PoolResult | None) -> dict[str, Any]:
    listed = ((result.info if result else None) or {}).get("admissible_actions", [])
    searching = any(action.startswith("search[") for action in listed)
    clicks = [action[len("click[") : -1] for action in listed if action.startswith("click[")]
    return {"has_search_bar": searching, "clickables": ["search"] if searching else clicks}


def _instruction_text(result: PoolResult | None) -> str:
    return f"Instruction: {((result.info if result else None) or {}).get('goal', '')}"
