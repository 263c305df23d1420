"""``agentgym/Tools-v0``: serve a user with function calls, by the rules of a policy.

The form of the task is that of tau-bench (Yao et al., 2024, arXiv:2406.12045). Domains, policies,
tasks and the user are those of this package.
"""

import random
from collections.abc import Iterator, Mapping
from copy import deepcopy
from types import MappingProxyType
from typing import Any

from agentgym_envs.core import Outcome, TextEnv, Tool, command
from agentgym_envs.envs.tools.domain import ServiceDomain, ToolError, content
from agentgym_envs.envs.tools.listing import listed
from agentgym_envs.envs.tools.model_user import ModelUser
from agentgym_envs.envs.tools.parameters import BadCall
from agentgym_envs.envs.tools.tasks import DOMAINS, case_of, tasks
from agentgym_envs.envs.tools.user import ScriptedUser, UserReply
from agentgym_envs.errors import UnknownName
from agentgym_envs.tasks import Task, TaskSet

SAY = "say"
MODEL = "model:"
LONGEST = 2000  # characters of an action; the rest is ignored
BUSY = "Error: the system is busy. Nothing was changed. Try again."
_SAY: Tool = {
    "template": "say {text}",
    "description": "Sends a message to the user and returns the answer.",
    "parameters": {"text": {"type": "string", "description": "The message, one line."}},
}


class ToolsEnv(TextEnv):
    """Serve a user with function calls, by a policy.

    Args:
        user: "scripted", or "model:NAME" for a model at ``OPENAI_BASE_URL``. With a model, episodes
            are not deterministic, and the oracle need not succeed.
        **kwargs: see :class:`agentgym_envs.core.TextEnv`.

    Raises:
        UnknownName: no such user.
        ArgumentError: the key of the model's server is missing.
    """

    instructions = (
        "You are the agent of a service. You serve one user by the rules of a policy. Each turn is"
        " one action: a message to the user, or one call of a tool.\nsay TEXT sends a message and"
        " returns the answer of the user.\nTOOL name=VALUE name=VALUE calls a tool with all of its"
        " parameters, such as: get_item item=B-123\nThe first observation has the policy and the"
        " tools. The tools do not enforce the policy. The user ends the conversation. You succeed"
        " if the database is then as the policy and the wishes of the user demand, and if you have"
        " told the user the facts that it asked for. Answer with one action and nothing else."
    )
    tools: Mapping[str, str | Tool] = MappingProxyType(  # type: ignore[misc]
        {
            SAY: _SAY,
            **{
                name: function.tool
                for domain in DOMAINS.values()
                for name, function in domain.functions.items()
            },
        }
    )

    def __init__(self, *, user: str = "scripted", **kwargs: Any):
        if user != "scripted" and not str(user).startswith(MODEL):
            raise UnknownName("user", str(user), ["scripted", f"{MODEL}NAME"])
        if user != "scripted":
            ModelUser.check(user.removeprefix(MODEL))
        self._user_name = user
        super().__init__(**kwargs)

    @property
    def domain(self) -> ServiceDomain:
        """The domain of the current task."""
        assert self.task is not None
        return DOMAINS[self.task.data["domain"]]

    def make_tasks(self) -> TaskSet:
        """Returns the tasks of both domains."""
        return tasks()

    def begin(self, task: Task, rng: random.Random) -> tuple[str, str]:
        """Starts the conversation."""
        self._case = case_of(task)
        self._database = deepcopy(self._case.database)
        self._busy = self._case.busy
        self._log: set[str] = set()
        self._told: set[int] = set()
        self.user = self._make_user()
        opening = f"User: {self.user.opening()}"
        self._seen = [opening]
        return f"{self._briefing()}\n\n{opening}", f"serve the user of the {self.domain.title}"

    def act(self, action: str) -> Outcome:
        """Sends a message to the user, or calls a tool."""
        words = command(action, LONGEST)
        try:
            said = words.partition(" ")[0].lower() == SAY
            outcome = self._say(words, action) if said else self._call(words)
        except BadCall as error:
            return Outcome(str(error), 0.0, invalid=True)
        self._seen.append(outcome.text)
        return outcome

    def actions(self) -> list[str]:
        """Returns some messages, and calls of each tool with values that occurred so far."""
        return listed(self.domain, "\n".join(self._seen))

    def oracle(self) -> Iterator[str]:
        """Yields the actions of the case that were not successful so far."""
        *first, _ = self._case.plan
        for action in self._case.plan:
            if action in first and self._ends(action):
                continue  # the user already heard such a message, and asked for something else
            for _ in range(2):  # a tool can be busy once
                if command(action, LONGEST) not in self._log and not self._over:
                    yield action
        while not self._over:
            yield "say Is there anything else?"

    def _ends(self, action: str) -> bool:
        """Returns whether a scripted user would leave after an action."""
        message = action.removeprefix(f"{SAY} ")
        if message == action or not isinstance(self.user, ScriptedUser):
            return False
        return deepcopy(self.user).reply(message).ends

    def _make_user(self) -> ScriptedUser | ModelUser:
        proof = self.domain.proof
        if self._user_name.startswith(MODEL):
            return ModelUser(self._case, proof, self._user_name.removeprefix(MODEL))
        return ScriptedUser(self._case, self.domain.topics, proof)

    def _briefing(self) -> str:
        usages = [f"- {f.usage}: {f.description}" for f in self.domain.functions.values()]
        policy = self.domain.policy.format(today=self._case.today).strip()
        return "\n".join([policy, "", "Tools:", *usages])

    def _say(self, words: str, action: str) -> Outcome:
        """Sends the message of an action, of which ``words`` is the normal form."""
        if words.lower() == SAY:
            raise BadCall("The message is empty. Write: say TEXT")
        self._log.add(words)
        text = " ".join(action[:LONGEST].split()[1:])
        self._told |= {n for n, fact in enumerate(self._case.facts) if fact.told_in(text)}
        reply: UserReply = self.user.reply(text)
        return self._outcome(f"User: {reply.text}", reply.ends)

    def _call(self, words: str) -> Outcome:
        function, arguments = self.domain.read(words)
        if function.changes and self._busy:
            self._busy = False
            return self._outcome(BUSY, False)
        try:
            text = function.run(self._database, **arguments)
        except ToolError as error:
            return self._outcome(str(error), False)
        self._log.add(words)
        return self._outcome(text, function.name == self.domain.transfer)

    def _outcome(self, text: str, over: bool) -> Outcome:
        """Returns an outcome; only the last one of an episode is judged."""
        if not over:
            return Outcome(text, 0.0)
        gold = self.domain.after(self._case.database, self._case.gold)
        database = content(self._database) == content(gold)
        told = len(self._told) == len(self._case.facts)
        solved = database and told
        judged = {"database_ok": database, "facts_told": told}
        return Outcome(text, float(solved), True, solved, extra=judged)
