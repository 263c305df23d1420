"""A correct environment, and environments with one breach of the contract each.

The import of this module registers them.
"""

import itertools
import os
from pathlib import Path

import gymnasium

from agentgym_envs import Outcome, Task, TaskSet, TextEnv

COUNTER = itertools.count()


class Count(TextEnv):
    """Shows a number; the agent must look, then repeat it. Subclasses break the contract."""

    instructions = "Look, then say the number."

    def make_tasks(self):
        numbers = {"train": range(8), "dev": range(8, 16), "test": range(16, 24)}
        return TaskSet(
            Task(id=f"{split}-{n % 8}", split=split, data={"n": n, "all": list(map(str, all_))})
            for split, all_ in numbers.items()
            for n in all_
        )

    def begin(self, task, rng):
        self.number, self.looked = str(task.data["n"]), False
        return self.number, "say it"

    def act(self, action):
        if action == "look":
            self.looked = True
            return Outcome(self.number, 0.0)
        done = self.looked and action == self.number
        return Outcome(
            "yes" if done else "no",
            float(done),
            done=done,
            success=done,
            invalid=action not in self.actions(),
        )

    def actions(self):
        return ["look", *(self.task.data["all"] if self.looked else ())]

    def oracle(self):
        yield from ["look"] * (not self.looked)
        yield self.number


class Unlimited(Count):
    """Registered without a step limit."""


class Silent(Count):
    instructions = ""


class OneAlphabet(Count):
    def __init__(self, **kwargs):
        super().__init__(**kwargs)
        self.observation_space = gymnasium.spaces.Text(10)


class Oracleless(TextEnv):
    instructions, make_tasks, begin, act, actions = (
        Count.instructions,
        Count.make_tasks,
        Count.begin,
        Count.act,
        Count.actions,
    )


class Homegrown(gymnasium.Env):
    instructions = "None of ours."

    def __init__(self, **kwargs):
        self.observation_space = self.action_space = Count().action_space
        self.render_mode = kwargs.get("render_mode")

    metadata = {"render_modes": ["ansi"]}


class Overlapping(Count):
    def make_tasks(self):
        tasks = super().make_tasks()
        tasks._ids["test"] = tasks._ids["train"]
        return tasks


class Shallow(Count):
    def make_tasks(self):
        tasks = super().make_tasks()
        tasks.difficulty = lambda task_id: -1
        return tasks


class Splitless(Count):
    def __init__(self, **kwargs):
        super().__init__(**kwargs)
        self.task_ids = () if self.split == "dev" else self.task_ids


class Reordered(Count):
    def __init__(self, **kwargs):
        super().__init__(**kwargs)
        self.task_ids = self.task_ids[next(COUNTER) % 2 :]


class AnyTask(Count):
    def __init__(self, *, tasks=None, **kwargs):
        super().__init__(**kwargs)


class AnySplit(Count):
    def __init__(self, *, split="train", **kwargs):
        super().__init__(split=split.partition(" ")[0].replace("no", "dev"), **kwargs)


class AnyMode(Count):
    def __init__(self, *, render_mode=None, **kwargs):
        super().__init__(render_mode=render_mode and "ansi", **kwargs)


class Mute(Count):
    def render(self):
        return self.render_mode and ""


class Painting(Count):
    def render(self):
        return self._text


class BrokenTemplate(Count):
    tools = {"say": "{number"}


class NumberedParameter(Count):
    tools = {"act": "{0}"}


class Quoting(Count):
    tools = {"act": "{action!r}"}


class Repeating(Count):
    tools = {"act": "{action}{action}"}


class SpacedTool(Count):
    tools = {"say it": "{action}"}


class MissingParameter(Count):
    tools = {"act": {"template": "{action}", "description": "", "parameters": {"number": {}}}}


class Unwritable(Count):
    tools = {"look": "look"}


class Raising(Count):
    def act(self, action):
        return super().act(action) if len(action) < 1000 else 1 / 0


class RaisingElsewhere(Count):
    def act(self, action):
        return super().act(action) if len(action) < 1000 or self.task.split != "test" else 1 / 0


class RaisingLater(Count):
    def act(self, action):
        return 1 / 0 if self._turn >= 3 and len(action) > 1000 else super().act(action)


class RaisingAtTheUnseen(Count):
    """Raises at a mutilated action that the first observation does not list."""

    def act(self, action):
        return 1 / 0 if action.startswith("FREE") else super().act(action)

    def actions(self):
        return super().actions() + ["free the number"] * self.looked


class Fragile(Count):
    def act(self, action):
        return super().act(action) if self._turn < 6 else 1 / 0


class Misleading(Count):
    def act(self, action):
        return super().act(action)._replace(invalid=action in self.task.data["all"])


class Stale(Count):
    def actions(self):
        return [*super().actions(), *["look again"] * (next(COUNTER) % 2)]


class Speechless(Count):
    def actions(self):
        return super().actions() if self._turn < 3 else []


class Talkative(Count):
    def _info(self, outcome):
        return {**super()._info(outcome), "admissible_actions": self.actions()}


class Drifting(Count):
    def act(self, action):
        outcome = super().act(action)
        return outcome._replace(extra={"score": 0.5}) if self._turn == 4 else outcome


class OverScoring(Count):
    def act(self, action):
        return super().act(action)._replace(score=2.0)


class Miscounting(Count):
    def act(self, action):
        return super().act(action)._replace(extra={"turn": 1})


class Tuples(Count):
    def act(self, action):
        return super().act(action)._replace(extra={"where": (1, 2)})


class Infinite(Count):
    def act(self, action):
        return super().act(action)._replace(extra={"cost": float("inf")})


class GoingOn(Count):
    def act(self, action):
        return super().act(action)._replace(done=False)


class Impatient(Count):
    def step(self, action):
        *turn, truncated, info = super().step(action)
        return *turn, truncated or info["turn"] == 5, info


class Numeric(Count):
    """Returns 0 instead of False, in turns that Gymnasium does not check."""

    def step(self, action):
        text, reward, terminated, truncated, info = super().step(action)
        return text, reward, int(terminated) if info["turn"] > 2 else terminated, truncated, info


class Textless(Count):
    def act(self, action):
        return super().act(action)._replace(text=None if self._turn > 2 else "no")


class Longwinded(Count):
    def act(self, action):
        return super().act(action)._replace(text="no " * 10_000)


class Surrogate(Count):
    def act(self, action):
        return super().act(action)._replace(text="\ud800")


class Echoing(Count):
    def act(self, action):
        return super().act(action)._replace(text=action)


class Misnaming(Count):
    def reset(self, *, seed=None, options=None):
        return super().reset(seed=seed, options=options and {**options, "task_id": "dev-0"})


class AnyOption(Count):
    def reset(self, *, seed=None, options=None):
        return super().reset(
            seed=seed, options={k: v for k, v in (options or {}).items() if k == "task_id"}
        )


class Unseeded(Count):
    def begin(self, task, rng):
        text, goal = super().begin(task, rng)
        return f"{text} {next(COUNTER)}", goal


class Forgetful(Count):
    """A task that is chosen by id starts differently each time; a drawn task does not."""

    def begin(self, task, rng):
        text, goal = super().begin(task, rng)
        return f"{text} {next(COUNTER) if self._named else 0}", goal

    def reset(self, *, seed=None, options=None):
        self._named = bool(options)
        return super().reset(seed=seed, options=options)


class HashOrdered(Count):
    def begin(self, task, rng):
        _, goal = super().begin(task, rng)
        return " ".join({f"word{i}" for i in range(20)}), goal


class Worn(Count):
    """An episode depends on earlier episodes, but only with ``admissible``."""

    played = 0

    def begin(self, task, rng):
        self.played += self.admissible
        text, goal = super().begin(task, rng)
        return text + " again" * (self.played > 8), goal


class Lazy(Count):
    def oracle(self):
        yield "look"


class LazyInTheMiddle(Count):
    def oracle(self):
        yield from super().oracle() if not self.looked else ()


class Endless(Count):
    def oracle(self):
        yield from super().oracle()
        while True:
            yield self.number


class Undying(Count):
    def step(self, action):
        if self._over and self._turn:
            return self._text, 0.0, True, False, self._info(Outcome("", self._score))
        return super().step(action)


class Eager(Count):
    def step(self, action):
        return super().step(action) if self.task else ("", 0.0, False, False, {})


class Continued(Count):
    """A reset after the end continues the count of turns."""

    def reset(self, *, seed=None, options=None):
        before = self._turn if self._over and not options else 0
        text, info = super().reset(seed=seed, options=options)
        return text, {**info, "turn": before}


class Elsewhere(Count):
    """Fails in other processes."""

    def begin(self, task, rng):
        return super().begin(task, rng) if os.environ.get("PYTHONHASHSEED") != "0" else 1 / 0


class OtherStart(Count):
    def reset(self, *, seed=None, options=None):
        return super().reset(seed=None if seed is None else seed + 1, options=options)


class OtherStep(Count):
    def act(self, action):
        return super().act(action)._replace(text="vector")


class OtherReward(Count):
    def step(self, action):
        text, reward, *rest = super().step(action)
        return text, reward + 1.0, *rest


class OtherInfo(Count):
    def step(self, action):
        *turn, info = super().step(action)
        return *turn, {**info, "goal": "win"}


class OtherLimit(Count):
    def step(self, action):
        *turn, truncated, info = super().step(action)
        return *turn, truncated or info["turn"] == 2, info


class MoreInfo(Count):
    def step(self, action):
        *turn, info = super().step(action)
        return *turn, {**info, "hint": 3}


VECTORS = {
    cls: f"vector_{cls.__name__}"
    for cls in (OtherStart, OtherStep, OtherReward, OtherInfo, OtherLimit, MoreInfo)
}


def __getattr__(name):
    """Returns a vector environment of a class that differs from the registered one."""
    cls = next((c for c, vector in VECTORS.items() if vector == name), None)
    if cls is None:
        raise AttributeError(name)
    return lambda num_envs, max_episode_steps, **kwargs: gymnasium.vector.SyncVectorEnv(
        [lambda: cls(**kwargs)] * num_envs
    )


class Mistyped(Count):
    def act(self, action):
        return super().act(action)._replace(extra={"goal": 3})


class Littering(Count):
    def begin(self, task, rng):
        Path(f"litter-{next(COUNTER)}").touch()
        return super().begin(task, rng)


class Haunted(Count):
    def close(self):
        os.spawnlp(os.P_NOWAIT, "sleep", "sleep", "4")


BREACHES = {
    Unlimited: "no default max_episode_steps",
    Silent: "instructions is empty",
    OneAlphabet: "spaces must be Unicode",
    Oracleless: "oracle",
    Homegrown: "must be a subclass of agentgym_envs.TextEnv",
    Overlapping: "share no task",
    Shallow: r"difficulty\(.*\) says -1, and the task ",
    Splitless: "must be a non-empty tuple",
    Reordered: "changed between two environments",
    AnyTask: "must raise TaskError",
    AnySplit: "must raise UnknownName",
    AnyMode: "an unknown render_mode must raise",
    Mute: r"render\(\) returns ''",
    Painting: r"render\(\) returns '\d'",
    BrokenTemplate: "reads it back.* expected '}'",
    NumberedParameter: "parameters must be identifiers",
    Quoting: "parameters must be identifiers",
    MissingParameter: "schemas of other parameters",
    Repeating: "each used once",
    SpacedTool: "is not an identifier",
    Unwritable: "no function writes the action '0'",
    Raising: "hostile actions",
    RaisingElsewhere: "hostile actions.*'test-",
    RaisingLater: "hostile actions",
    RaisingAtTheUnseen: "hostile actions.*'FREE",
    Fragile: "Admissible actions.*turn 7.*ZeroDivisionError",
    Misleading: r"'\d+' was listed, but",
    Stale: r"actions\(\) changes without a step",
    Speechless: "must give a list of actions",
    Talkative: "must be absent",
    Drifting: "the rewards add up to 0.0, the score is 0.5",
    OverScoring: "the score 2.0",
    Miscounting: "turn is 1 after 2",
    Tuples: r"info\[where\] does not round-trip through JSON",
    Infinite: "not JSON compliant",
    GoingOn: "goes on after a success",
    Impatient: "truncated is True at turn 5, the limit is",
    Numeric: "must be bool",
    Textless: "the observation is a NoneType",
    Longwinded: "the observation has 30000 characters",
    Surrogate: "surrogates not allowed",
    Echoing: "hostile actions",
    Misnaming: "asked for 'train-0', got 'dev-0'",
    AnyOption: "no_such_option.* must raise",
    Unseeded: "non-deterministic",
    Forgetful: "began differently the second time",
    HashOrdered: "same seed and actions",
    Worn: "same seed and actions",
    Lazy: "oracle does not solve 'train-0' after 0",
    LazyInTheMiddle: "after 1 of its steps",
    Endless: "oracle",
    Undying: "step after the end",
    Eager: "step before reset",
    Continued: "turn is . after 0 actions",
    Elsewhere: "a second process failed",
    OtherStart: "environment 0 of the vector began differently",
    OtherStep: "environment 0 of the vector went on differently at turn 1: observation is 'vector'",
    OtherReward: (
        "environment 0 of the vector went on differently at turn 1: reward is '1.0', not '0.0'"
    ),
    OtherInfo: (
        "environment 0 of the vector went on differently at turn 1: goal is 'win', not 'say it'"
    ),
    OtherLimit: (
        "environment . of the vector went on differently at turn 2: truncated is 'True', not"
        " 'False'"
    ),
    MoreInfo: "environment 0 of the vector went on differently at turn 1: hint is '3', not 'None'",
    Mistyped: r"info\['goal'\] is 3, not a str",
    Littering: "the working folder has new files",
    Haunted: "no process",
}
for cls in (Count, *BREACHES):
    gymnasium.register(
        f"contract/{cls.__name__}-v0",
        entry_point="breaches:Count" if cls in VECTORS else f"breaches:{cls.__name__}",
        vector_entry_point=f"breaches:{VECTORS[cls]}" if cls in VECTORS else None,
        max_episode_steps=None if cls is Unlimited else 20,
    )
gymnasium.register("contract/Versionless", entry_point="breaches:Count", max_episode_steps=20)
