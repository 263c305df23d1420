"""Environments with one planted bug each in tasks, goals or solutions.

The import of this module registers them.
"""

from itertools import count, islice, permutations

import gymnasium

from agentgym_envs import Outcome, Task, TaskSet, TextEnv

WORDS = ("red", "green", "blue", "black", "white", "brown")
ORDERS = list(permutations(WORDS, 4))[::15]


class Words(TextEnv):
    """Shows colours that the agent must repeat one by one. Subclasses break the contract."""

    instructions = "Say the colour that you see."
    orders = {"train": ORDERS[:8], "dev": ORDERS[8:16], "test": ORDERS[16:24]}

    def make_tasks(self):
        return TaskSet(
            Task(id=f"{split}-{n}", split=split, data={"order": order})
            for split, orders in self.orders.items()
            for n, order in enumerate(orders)
        )

    def begin(self, task, rng):
        self.order, self.position = task.data["order"], 0
        return self.order[0], "say all colours"

    def act(self, action):
        self.position += action == self.order[self.position]
        done = self.position == len(self.order)
        text = "done" if done else self.order[self.position]
        return Outcome(
            text,
            self.position / len(self.order),
            done=done,
            success=done,
            invalid=action not in WORDS,
        )

    def actions(self):
        return list(WORDS)

    def oracle(self):
        yield from self.order[self.position :]


class SharedOrders(Words):
    """The same content in two splits."""

    orders = {**Words.orders, "test": ORDERS[:8]}


class Repeated(Words):
    """The same content twice in a split, with the task id in the text."""

    orders = {**Words.orders, "train": [*ORDERS[:7], ORDERS[2]]}

    def begin(self, task, rng):
        text, goal = super().begin(task, rng)
        return f"Task {task.id}. {text}", goal


class OneCopy(Words):
    """One of 120 tasks copies another with different data; a small sample contains neither."""

    orders = {
        split: list(permutations(WORDS, 4))[40 * part :][:40]
        for part, split in enumerate(("train", "dev", "test"))
    }

    def make_tasks(self):
        tasks = super().make_tasks()
        tasks._by_id["dev-17"] = Task(
            id="dev-17", split="dev", data={"order": list(self.orders["train"][23])}
        )
        return tasks


class FarCopy(Words):
    """Two of 600 tasks have equal data; a sample is unlikely to contain both."""

    orders = {
        "train": [(a, b) for a in WORDS for b in WORDS if a != b],
        "dev": [
            *islice(permutations(WORDS, 5), 500),
            ("red", "blue", "white", "green", "black", "brown"),
        ],
        "test": [
            *islice(permutations(WORDS, 5), 500, None),
            ("red", "blue", "white", "green", "black", "brown"),
        ],
    }


class Long(Words):
    """All tasks need more turns than the limit."""

    orders = {split: [order * 6 for order in orders] for split, orders in Words.orders.items()}


class LongOnce(Words):
    """One task needs more turns than the limit."""

    orders = {**Words.orders, "test": [*Words.orders["test"][:5], ORDERS[22] * 6]}


class Telling(Words):
    def begin(self, task, rng):
        text, _ = super().begin(task, rng)
        return text, "say " + ", then ".join(task.data["order"])


class TellingAtFirst(Words):
    def begin(self, task, rng):
        text, goal = super().begin(task, rng)
        return f"Walkthrough: {' > '.join(task.data['order'])}\n{text}", goal


class Paraphrasing(Words):
    """The goal contains the solution in other words."""

    def begin(self, task, rng):
        text, _ = super().begin(task, rng)
        return text, "First of all, cry " + ". That done, whisper ".join(task.data["order"])

    def act(self, action):
        return super().act(action.removeprefix("say "))

    def actions(self):
        return [f"say {word}" for word in WORDS]

    def oracle(self):
        return (f"say {word}" for word in super().oracle())


class Constant(Words):
    """All seeds draw the same task."""

    def reset(self, *, seed=None, options=None):
        return super().reset(seed=seed, options=options or {"task_id": self.task_ids[0]})


class Unnamed(Words):
    """The id of a task does not determine its content."""

    def begin(self, task, rng):
        return super().begin(self.task_set.get(f"{task.split}-0"), rng)


class Forgetting(Words):
    """Resets without a seed draw the next task of the process."""

    drawn = count()

    def reset(self, *, seed=None, options=None):
        if seed is None and not options:
            options = {"task_id": f"{self.split}-{next(self.drawn) % 8}"}
        return super().reset(seed=seed, options=options)


class Unchosen(Words):
    """The keyword ``tasks`` changes the list but not the draw."""

    def reset(self, *, seed=None, options=None):
        if not options:
            seed = seed if seed is not None else int(self.np_random.integers(99))
            options = {"task_id": f"{self.split}-{seed % 8}"}
        return super().reset(seed=seed, options=options)


class Unnarrowed(Words):
    def __init__(self, *, tasks=None, **kwargs):
        super().__init__(tasks=tasks, **kwargs)
        self.task_ids = self.task_set.ids(self.split)


class NumberedIds(Words):
    def __init__(self, **kwargs):
        super().__init__(**kwargs)
        self.task_ids = tuple(range(8))


class Stuck(Words):
    """One task of 24 has no solution."""

    def act(self, action):
        stuck = self.task.id == "dev-5" and self.position == 3
        return Outcome(self.order[3], 0.75) if stuck else super().act(action)


class Hopeful(Words):
    """The oracle never stops."""

    def oracle(self):
        while True:
            yield "red"


class Moody(Words):
    """The oracle differs from call to call."""

    asked = count()

    def oracle(self):
        yield from ["red"] * (next(self.asked) % 9)
        yield from super().oracle()


class Muttering(Words):
    """The oracle starts with an invalid action."""

    def oracle(self):
        yield "hm"
        yield from super().oracle()


class Sticky(Words):
    """The oracle knows the number of remaining colours, but not the colours."""

    def oracle(self):
        yield from self.order[: len(self.order) - self.position]


PLANTED = {
    SharedOrders: r"the tasks 'train-\d' and 'test-\d' have the same content",
    Repeated: r"the tasks 'train-2' and 'train-7' have the same content",
    OneCopy: r"the tasks '.*' and '.*' have the same content",
    FarCopy: r"the tasks 'dev-500' and 'test-220' have the same content",
    Long: "the oracle needs more turns than the step limit of 20",
    LongOnce: "'test-5': the oracle needs more turns than the step limit of 20",
    Telling: r"'train-0': the goal 'say red.* contains the actions \['red', ",
    TellingAtFirst: r"'train-0': the goal .* or the text 'Walkthrough: .* contains the actions",
    Paraphrasing: r"'train-0': the goal 'First of all, cry .* contains the actions",
    Constant: "the seeds 0 to 19 all draw 'train-0'",
    Unnamed: "have the same content",
    Forgetting: (
        r"reset\(\) after reset\(seed=5\) began differently the second time|`env.reset\(\)` is"
        r" non-deterministic"
    ),
    Unchosen: "reset draws 'test-3'",
    Unnarrowed: r"tasks=\['train-7'\]: task_ids is \('train-0'",
    NumberedIds: "the task id 0 is not a non-empty str",
    Stuck: "the oracle does not solve 'dev-5'",
    Hopeful: "the oracle needs more turns|the oracle does not solve",
    Moody: r"the oracle did \[.*\], and then \[|the oracle needs more turns",
    Muttering: "the oracle's 'hm' was not understood",
    Sticky: "the oracle does not solve '.*' after 1 of its steps",
}
for cls in (Words, *PLANTED):
    gymnasium.register(
        f"tasks/{cls.__name__}-v0",
        entry_point=f"planted_tasks:{cls.__name__}",
        max_episode_steps=20,
    )
