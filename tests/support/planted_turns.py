"""Environments with one planted bug each in observations, actions, scores or infos.

The import of this module registers them.
"""

import os
import re
import time

import gymnasium
from breaches import COUNTER, Count

from agentgym_envs import Outcome


class JunkGains(Count):
    """Invalid actions raise the score."""

    def act(self, action):
        outcome = super().act(action)
        return (
            outcome._replace(score=0.1, invalid=False)
            if outcome.invalid
            else outcome._replace(score=max(outcome.score, 0.1))
        )


class ErrorsGain(Count):
    def act(self, action):
        outcome = super().act(action)
        return (
            outcome._replace(score=0.1) if action.startswith("loo") and outcome.invalid else outcome
        )


class Worthless(Count):
    """A success scores 0."""

    def act(self, action):
        return super().act(action)._replace(score=0.0)


class NeverInvalid(Count):
    def act(self, action):
        return super().act(action)._replace(invalid=False)


class Patient(Count):
    """Accepts blank text as a valid action."""

    def act(self, action):
        return super().act(action) if action.strip() else Outcome(self.number, 0.0)


class ListedTwice(Count):
    def actions(self):
        return super().actions() + ["look"] * self.looked


class Shuffled(Count):
    """Lists the actions in an order that changes between episodes."""

    def begin(self, task, rng):
        self.turned = next(COUNTER)
        return super().begin(task, rng)

    def actions(self):
        listed = super().actions()
        return listed[self.turned % len(listed) :] + listed[: self.turned % len(listed)]


class ListingShows(Count):
    """Listing changes the observation."""

    def begin(self, task, rng):
        text, goal = super().begin(task, rng)
        return text + " (see the list)" * self.admissible, goal


class ListingMoves(Count):
    """Listing changes the random generator of the episode, so later turns differ."""

    def begin(self, task, rng):
        self.rng = rng
        return super().begin(task, rng)

    def actions(self):
        if self.admissible and self._turn:
            self.rng = type(self.rng)(self._turn)
        return super().actions()

    def act(self, action):
        outcome = super().act(action)
        return outcome._replace(text=f"{outcome.text} {self.rng.randrange(99)}")


class Blank(Count):
    def begin(self, task, rng):
        return " \n", super().begin(task, rng)[1]


class Rich(str):
    """A subclass of str."""


class Subclassed(Count):
    def act(self, action):
        outcome = super().act(action)
        return outcome._replace(text=Rich(outcome.text)) if self._turn > 2 else outcome


class NotANumber(Count):
    def act(self, action):
        outcome = super().act(action)
        return outcome._replace(score=float("nan")) if self._turn > 1 else outcome


class Negative(Count):
    def act(self, action):
        outcome = super().act(action)
        return outcome._replace(score=-0.1) if outcome.invalid else outcome


class Doubled(Count):
    """The reward is twice the change of the score."""

    def step(self, action):
        text, reward, *rest = super().step(action)
        return text, 2 * reward, *rest


class TimedOut(Count):
    """Truncates the episode by an additional limit of 60 turns."""

    def step(self, action):
        *turn, truncated, info = super().step(action)
        return *turn, truncated or info["turn"] >= 60, info


class Unready(Count):
    """Starts with ``invalid=True``."""

    def _info(self, outcome):
        return {**super()._info(outcome), "invalid": bool(outcome.invalid or not self._turn)}


class Rewriting(Count):
    """Changes an info after it was returned."""

    def _info(self, outcome):
        self.held = self.held if self._turn else []
        self.held.append(self._turn)
        return {**super()._info(outcome), "turns": self.held}


class Entrusting(Count):
    """Depends on a list that the caller can change."""

    def _info(self, outcome):
        self.kept = super().actions()
        return {
            **super()._info(outcome),
            **({"admissible_actions": self.kept} if self.admissible else {}),
        }

    def act(self, action):
        known = action in self.kept if self.admissible else action in self.actions()
        outcome = super().act(action)
        return outcome if known else outcome._replace(invalid=True, text="What?")


class Stamped(Count):
    """Puts the time into the info."""

    def _info(self, outcome):
        return {**super()._info(outcome), "at": int(time.time())}


class Counted(Count):
    """Counts the earlier episodes."""

    episodes = 0

    def begin(self, task, rng):
        self.episodes += 1
        text, goal = super().begin(task, rng)
        return text + " Welcome back!" * (self.episodes > 40), goal


class CarriedOver(Count):
    """Carries state from one episode to the next."""

    def begin(self, task, rng):
        looked = getattr(self, "looked", False)
        text, goal = super().begin(task, rng)
        self.looked = looked
        return text, goal


class Surrogates(Count):
    def act(self, action):
        action.encode()
        return super().act(action)


class NullBytes(Count):
    def act(self, action):
        if "\0" in action:
            raise ValueError("embedded null byte")
        return super().act(action)


class Backslashes(Count):
    def act(self, action):
        return super().act(re.sub("^.*$", action, "look"))


class Braces(Count):
    def act(self, action):
        return super().act(action)._replace(text="You say " + ("{}" + action[:20]).format(1))


class Percent(Count):
    def act(self, action):
        return (
            super()
            .act(action)
            ._replace(text=("You say " + action[:20]) % () if "%" in action else "no")
        )


class Digits(Count):
    """Accepts "٣" as a digit and fails at "²"."""

    def act(self, action):
        return super().act(
            str(int(action)) if action and action[0].isdigit() and len(action) < 100 else action
        )


class LongNumbers(Count):
    def act(self, action):
        return (
            super()
            .act(action)
            ._replace(text=str(sum(int(word) for word in action.split()[:3] if word.isdecimal())))
        )


class Recursive(Count):
    def act(self, action):
        def depth(text):
            return 1 + depth(text[1:]) if text[:1] == "[" else 0

        depth(action)
        return super().act(action)


class Exiting(Count):
    """Raises ``SystemExit`` in a step."""

    def act(self, action):
        if action == "quit":
            raise SystemExit
        return super().act(action)


class ExitingAtReset(Count):
    def begin(self, task, rng):
        raise SystemExit(0)


class ExitingInActions(Count):
    def actions(self):
        raise SystemExit(0)


class ExitingInOracle(Count):
    def oracle(self):
        yield "look"
        raise SystemExit(0)


class ExitingAtClose(Count):
    def close(self):
        raise SystemExit(0)


class ExitingAtOnce(Count):
    """Ends the process with ``os._exit``."""

    def act(self, action):
        return os._exit(0) if action == "quit" else super().act(action)


class Interrupted(Count):
    """Simulates a user who presses Ctrl-C during a step."""

    def act(self, action):
        raise KeyboardInterrupt


class Dropped(Count):
    """Raises ``GeneratorExit``, which is not an ``Exception``."""

    def act(self, action):
        if action == "undo":
            raise GeneratorExit
        return super().act(action)


PLANTED = {
    JunkGains: "junk raised the score from 0.0 to 0.1",
    ErrorsGain: "an invalid action raised the score from 0.0 to 0.1",
    Worthless: "success is true, and the score is 0.0",
    NeverInvalid: r"info\['invalid'\] was false after each of 2000 hostile actions",
    Patient: r"\[''.*\] are valid actions; \d+ others without a word are invalid",
    ListedTwice: r"listed more than once: \['look'\]",
    Shuffled: "non-deterministic|began differently|became",
    ListingShows: "played without admissible=True and render_mode='ansi', .* became",
    ListingMoves: "played without admissible=True and render_mode='ansi', .* became",
    Blank: "the first observation is empty",
    Subclassed: "the observation is a Rich, not a str",
    NotANumber: "the score nan is not in",
    Negative: r"the score -0.1 is not in \[0, 1\]",
    Doubled: "the rewards add up to 2.0, the score is 1.0",
    TimedOut: "truncated is True at turn 60, the limit is None",
    Unready: "an episode begins with success=False and invalid=True",
    Rewriting: "the info before turn 1 changed after it was returned",
    Entrusting: "played after the caller had emptied info",
    Stamped: "became|began differently",  # the time decides which property sees it
    Counted: "again in one process|became",
    CarriedOver: "became|started|differently",
    Surrogates: "surrogates not allowed",
    NullBytes: "embedded null byte",
    Backslashes: "hostile actions.*bad escape",
    Braces: "hostile actions",
    Percent: "hostile actions",
    Digits: "invalid literal for int",
    LongNumbers: "hostile actions .* integer string conversion",
    Recursive: "hostile actions .* RecursionError",
    Exiting: "hostile actions .* SystemExit",
    ExitingAtReset: "SystemExit: 0",
    ExitingInActions: "SystemExit: 0",
    ExitingInOracle: "SystemExit: 0",
    ExitingAtClose: "SystemExit: 0",
    ExitingAtOnce: r"SystemExit: os\._exit\(0\)",
    Dropped: "GeneratorExit",
}
for cls in (Interrupted, *PLANTED):
    gymnasium.register(
        f"turns/{cls.__name__}-v0",
        entry_point=f"planted_turns:{cls.__name__}",
        max_episode_steps=20,
    )
