"""Tasks: an episode solves one. Task ids never change, and the three splits share no task."""

import difflib
import fnmatch
import hashlib
import random
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Self

from agentgym_envs.errors import ArgumentError, TaskError, UnknownName, shown

SPLITS = ("train", "dev", "test")


@dataclass(frozen=True, kw_only=True)
class Task:
    """One task of an environment.

    Attributes:
        id: unique in its environment, stable across versions of the package.
        split: "train", "dev" or "test".
        difficulty: grows with how hard the task is; each environment defines the unit.
        data: values that the environment needs to start the task.
    """

    id: str
    split: str
    difficulty: int = 0
    data: Mapping[str, Any] = field(default_factory=dict)


class TaskSet:
    """A finite table of tasks.

    Environments with endless tasks override :meth:`draw` and :meth:`get`.

    Args:
        tasks: all tasks of all splits.
        repeats: see the attribute.

    Attributes:
        splits: names of the splits.
        repeats: whether two ids can name the same content, as two seeds of a small page do. The
            conformance kit then allows repeated content and reports it.

    Raises:
        TaskError: two tasks share an id.

    >>> tasks = TaskSet([Task(id="a", split="train", difficulty=3), Task(id="b", split="test")])
    >>> tasks.ids("train"), tasks.difficulty("a")
    (('a',), 3)
    """

    splits: tuple[str, ...] = SPLITS
    repeats: bool = False

    def __init__(self, tasks: Iterable[Task], *, repeats: bool = False):
        self.repeats = repeats
        self._by_id: dict[str, Task] = {}
        for task in tasks:
            if task.id in self._by_id:
                raise TaskError(f"two tasks are called {task.id!r}")
            self._by_id[task.id] = task
        self._ids = {s: tuple(i for i, t in self._by_id.items() if t.split == s) for s in SPLITS}

    def __deepcopy__(self, memo: dict[int, Any]) -> Self:
        """Returns the same table: it never changes, and copying thousands of tasks is slow."""
        return self

    def ids(self, split: str) -> tuple[str, ...]:
        """Returns the ids of a split, in a fixed order."""
        return self._ids[split]

    def get(self, task_id: str) -> Task:
        """Returns a task.

        Raises:
            TaskError: no task has this id.
        """
        try:
            return self._by_id[check_id(task_id)]
        except KeyError:
            near = difflib.get_close_matches(task_id, self._by_id, n=1, cutoff=0.4)
            hint = (
                f"Did you mean {near[0]!r}?"
                if near
                else f"An id looks like {next(iter(self._by_id))!r}."
            )
            raise TaskError(
                f"unknown task {shown(task_id)} of {len(self._by_id)}. {hint}"
            ) from None

    def difficulty(self, task_id: str) -> int:
        """Returns a task's difficulty; override this if :meth:`get` is slow.

        Raises:
            TaskError: no task has this id.
        """
        return self.get(task_id).difficulty

    def draw(self, rng: random.Random, ids: Sequence[str], *, filtered: bool) -> str:
        """Returns a random task id.

        Args:
            rng: the random generator.
            ids: the ids to draw from.
            filtered: whether the user chose these ids with ``tasks``.
        """
        return ids[rng.randrange(len(ids))]

    def start(
        self, drawn: int, ids: Sequence[str], *, named: str | None, filtered: bool
    ) -> tuple[Task, random.Random]:
        """Returns an episode's task, and the random generator for the rest of the episode.

        Args:
            drawn: the episode's seed.
            ids: the ids to draw from.
            named: the task's id; None draws one.
            filtered: see :meth:`draw`.

        Raises:
            TaskError: no task has the id ``named``.
        """
        rng = random.Random(f"{named if named is None else check_id(named)}:{drawn}")
        return self.get(self.draw(rng, ids, filtered=filtered) if named is None else named), rng


def check_id(task_id: object) -> str:
    """Returns ``task_id`` if it has the form of one: a string of valid Unicode, not empty.

    Raises:
        TaskError: the value has another form.
    """
    if (
        isinstance(task_id, str)
        and task_id
        and task_id == task_id.encode(errors="replace").decode()
    ):
        return task_id
    raise TaskError(
        f"unknown task {shown(task_id)}: name one by its id, a string, or leave it out to draw one"
    )


def named_task(options: Mapping[str, Any] | None) -> str | None:
    """Returns the task id in a reset's options, or None without one.

    Raises:
        ArgumentError: the options are not a dictionary.
        TaskError: the value does not have the form of a task id.
    """
    check_options(options)
    named = (options or {}).get("task_id")
    return None if named is None else check_id(named)


def check_options(options: object) -> None:
    """Checks the options of a reset.

    Raises:
        ArgumentError: the options are neither None nor a dictionary.
    """
    if options is not None and not isinstance(options, Mapping):
        raise ArgumentError(
            f"options={shown(options)}: must be a dictionary such as {{'task_id': …}}, or None"
        )


def strings(patterns: object, keyword: str) -> list[str]:
    """Returns task ids or patterns as a list.

    >>> strings("a/*", "tasks")
    ['a/*']

    Args:
        patterns: one string or several.
        keyword: name of the keyword, for the error message.

    Raises:
        ArgumentError: the value holds something other than strings.
    """
    if isinstance(patterns, str):
        return [patterns]
    given = list(patterns) if isinstance(patterns, Iterable) else [None]
    texts = [one for one in given if isinstance(one, str)]
    if len(texts) == len(given):
        return texts
    raise ArgumentError(
        f"{keyword}={shown(patterns)}: must be a task id or a list of them, as strings"
    )


def matching(ids: Iterable[str], patterns: Sequence[str]) -> tuple[str, ...]:
    """Returns the ids that match any of the glob patterns."""
    return tuple(i for i in ids if any(fnmatch.fnmatchcase(i, p) for p in patterns))


def select(tasks: TaskSet, split: str, patterns: Iterable[str] | str | None) -> tuple[str, ...]:
    """Returns the ids of a split that match any of the glob patterns; without patterns, all ids.

    Raises:
        UnknownName: no such split.
        ArgumentError: the patterns are not strings.
        TaskError: no id matches, or the split is empty.

    >>> tasks = TaskSet(Task(id=name, split="train") for name in ("easy-1", "easy-2", "hard-1"))
    >>> select(tasks, "train", "easy-*")
    ('easy-1', 'easy-2')
    """
    if not isinstance(split, str) or split not in tasks.splits:
        raise UnknownName("split", split, tasks.splits)
    ids = tasks.ids(split)
    if patterns is not None:
        wanted = strings(patterns, "tasks")
        ids = matching(ids, wanted)
        if not ids:
            example = next(iter(tasks.ids(split)), None)
            raise TaskError(
                f"tasks={shown(wanted)} selects nothing of split {split!r}; an id there looks like"
                f" {example!r}"
            )
    if not ids:
        raise TaskError(f"split {split!r} has no task")
    return ids


def spread(task_ids: Sequence[str], count: int) -> list[str]:
    """Returns ``count`` ids evenly spaced over the list, or all ids if there are fewer.

    >>> spread(["a", "b", "c", "d"], 2)
    ['a', 'c']
    """
    count = min(count, len(task_ids))
    return [task_ids[i * len(task_ids) // count] for i in range(count)]


def stable_hash(text: str) -> int:
    """Returns a non-negative 63-bit hash that depends on the text alone.

    Python's ``hash`` of a string differs between processes.
    """
    return int.from_bytes(hashlib.blake2b(text.encode(), digest_size=8).digest(), "big") >> 1


def split_of(key: str, *, held_out: int = 10) -> str:
    """Assigns a key to a split by its hash.

    One part in ``held_out`` goes to dev, one part to test, and the rest to train.
    """
    return {0: "dev", 1: "test"}.get(stable_hash(key) % held_out, "train")
