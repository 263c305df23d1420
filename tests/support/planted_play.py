"""Environments with one planted bug each in what their tasks measure.

The import of this module registers them.
"""

import base64
import random

import gymnasium
from breaches import Count
from planted_tasks import Words

from agentgym_envs import Outcome, Task, TaskSet


class Shouting(Words):
    """The test tasks are the train tasks in capitals."""

    def begin(self, task, rng):
        text, goal = super().begin(task, rng)
        return (text.upper() if task.split == "test" else text), goal

    def make_tasks(self):
        orders = self.orders | {"test": self.orders["train"]}
        return TaskSet(
            Task(
                id=f"{split}-{n}",
                split=split,
                data={"order": order, "title": ", ".join(order).upper() if split == "test" else ""},
            )
            for split, all_ in orders.items()
            for n, order in enumerate(all_)
        )

    def act(self, action):
        outcome = super().act(action)
        loud = outcome.text.upper() + " !" if self.task.split == "test" else outcome.text
        return outcome._replace(text=loud)


class Shortcut(Words):
    """One listed action wins."""

    def act(self, action):
        outcome = super().act(action)
        if action == "skip":
            return outcome._replace(text="done", score=1.0, done=True, success=True, invalid=False)
        return outcome

    def actions(self):
        return [*super().actions()[:3], "skip", *super().actions()[3:]]


class Patience(Words):
    """Any twelve valid actions win."""

    def begin(self, task, rng):
        self.valid = 0
        return super().begin(task, rng)

    def act(self, action):
        outcome = super().act(action)
        self.valid += not outcome.invalid
        if self.valid == 12:
            return outcome._replace(score=1.0, done=True, success=True)
        return outcome


class Variety(Patience):
    """Any twelve valid actions win; an action that is repeated at once does not count."""

    def begin(self, task, rng):
        self.last = ""
        return super().begin(task, rng)

    def act(self, action):
        self.valid -= action == self.last and action in super().actions()
        self.last = action
        return super().act(action)


class ShortcutLater(Count):
    """One action wins that is listed after the first turn."""

    def act(self, action):
        outcome = super().act(action)
        if action == "skip" and self.looked:
            return outcome._replace(text="yes", score=1.0, done=True, success=True, invalid=False)
        return outcome

    def actions(self):
        return [*super().actions(), *["skip"] * self.looked, *["think"] * self.looked]


class Generous(Words):
    """Any colour that was not said before is right."""

    def begin(self, task, rng):
        self.said = set()
        return super().begin(task, rng)

    def act(self, action):
        fresh = action in super().actions() and action not in self.said
        self.said.add(action)
        return super().act(self.order[self.position] if fresh else action)


class Correcting(Words):
    """The answer to an invalid action names the right one."""

    def act(self, action):
        outcome = super().act(action)
        right = self.order[min(self.position, 3)]
        return outcome._replace(text=f"No, say {right}.") if outcome.invalid else outcome


class CorrectingValid(Count):
    """The answer to a valid, wrong action names the right one."""

    def act(self, action):
        outcome = super().act(action)
        wrong = outcome.text == "no" and not outcome.invalid
        return outcome._replace(text=f"It was {self.number}.") if wrong else outcome


class RightFirst(Words):
    """The right action is listed first."""

    def actions(self):
        right = self.order[min(self.position, 3)]
        return [right, *(word for word in super().actions() if word != right)]


class RightThird(Words):
    """The right action is always the third one in the list."""

    def actions(self):
        right = self.order[min(self.position, 3)]
        rest = [word for word in super().actions() if word != right]
        return [*rest[:2], right, *rest[2:]]


class Informed(Words):
    """Info holds the solution; subclasses hide it."""

    def _info(self, outcome):
        return {**super()._info(outcome), "debug": {"plan": self.hidden()}}

    def hidden(self):
        return list(self.order)


class InformedByText(Informed):
    def hidden(self):
        return " > ".join(self.order).upper()


class InformedBackwards(Informed):
    def hidden(self):
        return " ".join(self.order)[::-1]


class InformedInBase64(Informed):
    def hidden(self):
        return base64.b64encode(" ".join(self.order).encode()).decode()


class InformedOfTheNext(Count):
    """Info holds the next action as a number."""

    def _info(self, outcome):
        return {**super()._info(outcome), "answer": int(self.number)}


class Hidden(Words):
    """No text shows the colours after the first one."""

    def act(self, action):
        outcome = super().act(action)
        return outcome if outcome.done else outcome._replace(text="next")


class HiddenNumber(Count):
    """No text shows the number."""

    def begin(self, task, rng):
        return "A number.", super().begin(task, rng)[1]

    def act(self, action):
        return super().act(action)._replace(text="You look." if action == "look" else "no")


class Unforgiving(Words):
    """After a wrong colour no success is possible, and no text says so."""

    def begin(self, task, rng):
        self.spoilt = False
        return super().begin(task, rng)

    def wrong(self, action):
        return action in super().actions() and action != self.order[self.position]

    def act(self, action):
        self.spoilt |= self.wrong(action)
        outcome = super().act(action)
        if self.spoilt and outcome.done:
            self.position -= 1
            return outcome._replace(done=False, success=False, score=0.75)
        return outcome


class UnforgivingJunk(Unforgiving):
    """After an invalid action no success is possible."""

    def wrong(self, action):
        return action not in Words.actions(self)


class Rarely(Unforgiving):
    """Only one wrong colour makes a success impossible."""

    def wrong(self, action):
        return action == "brown" and super().wrong(action)


class Startled(Words):
    """The oracle raises after two wrong colours in a row."""

    def begin(self, task, rng):
        self.wrong = 0
        return super().begin(task, rng)

    def act(self, action):
        wrong = action in self.actions() and action != self.order[self.position]
        self.wrong = self.wrong + 1 if wrong else 0
        return super().act(action)

    def oracle(self):
        assert self.wrong < 2, "unknown state"
        yield from super().oracle()


class Confused(Startled):
    """The oracle gives up after a wrong colour."""

    def oracle(self):
        return iter(()) if self.wrong else super().oracle()


class Endless(Words):
    """The oracle goes on after the end."""

    def oracle(self):
        while True:
            yield self.order[min(self.position, 3)]


class Higher(Count):
    """A correct game: the answer to a guess says whether the number is higher or lower."""

    def make_tasks(self):
        numbers = list(range(1, 21))
        random.Random(3).shuffle(numbers)
        parts = {"train": numbers[:8], "dev": numbers[8:14], "test": numbers[14:]}
        return TaskSet(
            Task(id=f"{split}-{i}", split=split, data={"n": n})
            for split, part in parts.items()
            for i, n in enumerate(part)
        )

    def begin(self, task, rng):
        super().begin(task, rng)
        self.looked = True
        return "Guess.", "guess the number from 1 to 20"

    def act(self, action):
        outcome = super().act(action)
        if outcome.done or action not in self.actions():
            return outcome._replace(text="?", invalid=not outcome.done)
        return outcome._replace(text="higher" if int(action) < int(self.number) else "lower")

    def actions(self):
        return [str(n) for n in range(1, 21)]

    def oracle(self):
        yield self.number


class TwoArms(Words):
    """A correct game of chance: one of two arms pays, and random pulls are often right."""

    orders = {split: orders[:2] for split, orders in Words.orders.items()}

    def begin(self, task, rng):
        self.arm, self.coins, self.pulls = "LR"[int(task.id[-1]) % 2], 0, 0
        hall = ", ".join(task.data["order"])
        return f"The hall is {hall}. There are two arms, L and R.", "get three coins"

    def act(self, action):
        self.coins, self.pulls = self.coins + (action == self.arm), self.pulls + 1
        won, text = self.coins == 3, f"You have {self.coins} coins."
        return Outcome(
            text,
            self.coins / 3,
            done=won or self.pulls == 8,
            success=won,
            invalid=action not in self.actions(),
        )

    def actions(self):
        return ["L", "R"]

    def oracle(self):
        yield from self.arm * (3 - self.coins)


CORRECT = (Higher, TwoArms)
PLANTED = {
    Endless: r"oracle\(\) yields '\w+' after the end of the episode",
    Shouting: r"the tasks 'train-\d' and 'test-\d' have the same content, up to case",
    Shortcut: r"a policy that plays 'skip' when it is listed wins 24 of 24 tasks",
    ShortcutLater: r"a policy that plays 'skip' when it is listed wins 24 of 24 tasks",
    Patience: r"a policy that plays the first listed action in every turn wins (\d+) of \1 tasks",
    Variety: "random listed actions win 6 of 6 tasks.* also with another last action",
    Generous: "random listed actions win 6 of 6 tasks",
    Correcting: r"\d+ of \d+ answers to a mistake name the right action: after .* 'No, say",
    CorrectingValid: r"answers to a mistake name the right action: after .* 'It was",
    RightFirst: "the oracle's action is number 1 of the list of admissible actions",
    RightThird: "the oracle's action is number 3 of the list of admissible actions",
    Informed: r"info\['debug'\] tells the solution in \d+ of \d+ tasks.* remove this key",
    InformedByText: r"info\['debug'\] tells the solution",
    InformedBackwards: r"info\['debug'\] tells the solution",
    InformedInBase64: r"info\['debug'\] tells the solution",
    InformedOfTheNext: r"info\['answer'\] tells the solution",
    Hidden: "are the same until the end, but the oracle does .* can only guess",
    HiddenNumber: "are the same until the end, but the oracle does .* can only guess",
    Unforgiving: "the same answers as without the mistake|the oracle solved 0 of",
    UnforgivingJunk: "an invalid action must not change the task",
    Rarely: "the same answers as without the mistake 'brown', but do not solve the task",
    Startled: r"'train-0': after .* oracle\(\) raises AssertionError: unknown state",
    Confused: r"the oracle solved \d+ of|an invalid action must not change the task",
}
for cls in (*PLANTED, *CORRECT):
    gymnasium.register(
        f"play/{cls.__name__}-v0",
        entry_point=f"planted_play:{cls.__name__}",
        max_episode_steps=20,
    )
