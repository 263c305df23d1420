"""Answers of servers that say no, and a run of ``agentgym eval`` that meets them.

``server_answers.jsonl`` has one answer a line: a new report is a new line. The fields of a line:

- ``name``: the provider, and what is special
- ``api``: the APIs of such servers; ``any``: all, because gateways pass answers on
- ``status``: of the answer; 0: the server closes the connection
- ``expect``: a key of ``OUTCOMES``. After a ``retried`` or ``shortened`` answer the request is
  sent again, after the second one with a lower limit and once only. A ``cut`` reply has no whole
  action.
- ``agent``: ``function`` for an answer to a request with tools; otherwise the agent is ``chat``
- ``body``: JSON data; a string is sent as it is
"""

import importlib.util
import json
import random
import re
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from types import MappingProxyType
from typing import Any, NamedTuple

import gymnasium
import pytest
import stub_model
from stub_apis import StubAnthropic, StubGoogle, StubResponses
from stub_model import StubModel
from typer.testing import CliRunner

from agentgym_envs import Task, TaskSet, TextEnv, core, registry
from agentgym_envs.cli import app
from agentgym_envs.evaluate import plan, runner
from agentgym_envs.evaluate.record import read
from agentgym_envs.models import retry
from agentgym_envs.pool.description import EnvDescription
from agentgym_envs.pool.result import PoolResult
from agentgym_envs.wrappers import ActionFormat

STEPS, HORIZON = 3, 20
STUBS = {
    "chat": StubModel,
    "responses": StubResponses,
    "anthropic": StubAnthropic,
    "google": StubGoogle,
}
EXTRAS = {"responses": "openai", "anthropic": "anthropic", "google": "google.genai"}


def _installed(module: str) -> bool:
    try:
        return importlib.util.find_spec(module) is not None
    except ModuleNotFoundError:  # of a parent
        return False


HERE = [api for api in STUBS if api not in EXTRAS or _installed(EXTRAS[api])]
"""APIs whose SDK is installed."""


class Outcome(NamedTuple):
    """What an answer does to an episode."""

    end: str = ""
    """The cause under which the episode ends at once; empty: it goes on."""
    turn: str = ""
    """The mark of the answer's turn; empty: the answer is no turn."""


OUTCOMES = {
    "played": Outcome(turn="valid"),
    "invalid": Outcome(turn="invalid"),
    "cut": Outcome(turn="cut"),
    "retried": Outcome(),
    "shortened": Outcome(),
    "context": Outcome("context"),
    "refused": Outcome("refused"),
    "rejected": Outcome("rejected"),
}


@dataclass(frozen=True, kw_only=True)
class Answer:
    """A line of the table."""

    name: str
    api: str
    status: int
    expect: str
    body: Any
    agent: str = "chat"

    @property
    def apis(self) -> list[str]:
        return list(STUBS) if self.api == "any" else self.api.split()

    @property
    def outcome(self) -> Outcome:
        return OUTCOMES[self.expect]

    def behaviour(self) -> stub_model.Behaviour:
        return stub_model.status(self.status, body=self.body) if self.status else stub_model.close()


LINES = Path(__file__).with_suffix(".jsonl").read_text("utf-8").splitlines()
ANSWERS = [Answer(**json.loads(line)) for line in LINES]


class AnswersEnv(TextEnv):
    """Success after ``STEPS`` valid actions."""

    tools = MappingProxyType({"go": "go", "say": "say {words}"})

    def __init__(self, *, size: int = 1, **keywords: Any):
        self.size = size
        super().__init__(**keywords)

    def make_tasks(self) -> TaskSet:
        return TaskSet(Task(id=f"task-{n:03}", split="test") for n in range(self.size))

    def begin(self, task: Task, rng: random.Random) -> tuple[str, str]:
        self.name, self.done = task.id, 0
        return f"This is {task.id}.", "go on"

    def act(self, action: str) -> core.Outcome:
        valid = action.partition(" ")[0] in ("go", "say")
        self.done += valid
        over = self.done == STEPS
        return core.Outcome(f"{self.name}: {self.done}", self.done / STEPS, over, over, not valid)

    def actions(self) -> list[str]:
        return ["go"]

    def oracle(self):
        yield from ["go"] * STEPS


gymnasium.register("support/Answers-v0", entry_point=AnswersEnv, max_episode_steps=HORIZON)


class HerePool:
    """Environments in this process instead of workers, because only the server is tested."""

    def __init__(self, env_id, count, *, action_format, workers, timeout, hosts, **keywords):
        made = [registry.make(env_id, **keywords) for _ in range(count)]
        self._envs = [ActionFormat(env, action_format) if action_format else env for env in made]

    async def reset(self, number, **start):
        observation, info = self._envs[number].reset(**start)
        return PoolResult(number, observation, info=info)

    async def send(self, number, response):
        return PoolResult(number, *self._envs[number].step(response))

    async def close(self):
        pass


def described(env_id: str, **keywords: Any) -> EnvDescription:
    """Describes the environment without a worker."""
    env = registry.make(env_id, **keywords).unwrapped
    levels = [env.task_set.difficulty(task) for task in env.task_ids]
    return EnvDescription(env.instructions, list(env.task_ids), levels, dict(env.tools), True)


class Seen(NamedTuple):
    """What the record has of an episode."""

    cause: str
    """Its ``end``, or the kind of its fault."""
    turns: list[str]
    """Marks of the turns. The line of a fault has their number only; they count as valid."""
    score: float | None
    """None: the line is not scored."""


class Played(NamedTuple):
    """A run that has ended."""

    rows: list[dict[str, Any]]
    status: int
    output: str
    asked: Counter[str]
    """Requests by task."""

    def seen(self) -> dict[str, Seen]:
        """Returns the episodes by task."""
        lines: dict[str, list[dict[str, Any]]] = {}
        for row in self.rows:
            lines.setdefault(row["task_id"], []).append(row)
        return {task: _seen(*found) for task, found in lines.items()}


def _seen(row: dict[str, Any], *more: dict[str, Any]) -> Seen:
    """Returns an episode; the lines of one that has several become its cause."""
    causes = [line.get("end") or line["fault"] for line in (row, *more)]
    if row["row"] == "fault" or more:
        return Seen(" ".join(causes), ["valid"] * row["turns"] if not more else [], None)
    marks = [
        "cut" if turn.get("cut") else "invalid" if turn["invalid"] else "valid"
        for turn in row["turns"]
    ]
    assert row["success"] == (row["end"] == "terminated")
    return Seen(row["end"], marks, row["score"])


def play(
    folder: Path, api: str, agent: str, count: int, choose: Callable[[str, int], Answer | None]
) -> Played:
    """Plays ``count`` tasks, one at a time.

    Args:
        folder: the results' folder.
        api: the API.
        agent: the agent.
        count: the number of tasks.
        choose: returns the answer to a task's request, by its number from 0, or None for a good
            reply.
    """
    asked: Counter[str] = Counter()

    def answer(request):
        found = re.search(r"task-\d+", json.dumps(request.body))
        if not found:  # a request before the first episode
            return good(api, agent)
        number, asked[found[0]] = asked[found[0]], asked[found[0]] + 1
        chosen = choose(found[0], number)
        return chosen.behaviour() if chosen else good(api, agent)

    with STUBS[api](answer) as stub, pytest.MonkeyPatch.context() as patch:
        patch.setattr(runner, "AsyncEnvPool", HerePool)
        patch.setattr(plan, "describe", described)
        patch.setattr(retry, "FIRST", 1e-3)
        for name in ("OPENAI_API_KEY", "ANTHROPIC_API_KEY", "GEMINI_API_KEY"):
            patch.delenv(name, raising=False)
        server = ["--api", api, "--model", "stub", "--base-url", stub.url]
        env = ["server_answers:support/Answers-v0", "--set", f"size={count}"]
        limits = ["--concurrency", "1", "--out", str(folder)]
        command = ["eval", *env, "--agent", agent, *server, *limits]
        result = CliRunner().invoke(app, command, catch_exceptions=False)
    return Played(read(folder)[0], result.exit_code, result.output, asked)


def good(api: str, agent: str) -> stub_model.Behaviour:
    """Returns a reply that holds a valid action."""
    if api == "chat":
        return stub_model.ok("go") if agent == "chat" else stub_model.tool_call("go", {})
    return STUBS[api].said("go") if agent == "chat" else STUBS[api].called("go", {})
