"""Versions of Nim and Sum with one breach of the contract of games each."""

import itertools
import random
import warnings

from nim import Nim
from sums import Sum

from agentgym_envs import Outcome

COUNTER = itertools.count()


class Named(Nim):
    def __init__(self):
        super().__init__()
        self.seats = ("Alice", "Bob")


class Twins(Nim):
    def __init__(self):
        super().__init__()
        self.seats = ("player_0", "player_0")


class Swapping(Nim):
    def __init__(self):
        super().__init__()
        self.seats = self.seats[:: (-1) ** next(COUNTER)]


class HalfDone(Nim):
    def act(self, said):
        outcomes = super().act(said)
        return {s: o._replace(done=o.done and s == "player_0") for s, o in outcomes.items()}


class OverScored(Nim):
    def act(self, said):
        return {s: o._replace(score=2 * o.score) for s, o in super().act(said).items()}


class Absent(Nim):
    def act(self, said):
        return {s: o for s, o in super().act(said).items() if s in said}


class Unheard(Nim):
    def act(self, said):
        odd = any(said[s] != self.oracle(s) for s in said)
        return super().act(dict.fromkeys(said, "")) if odd else super().act(said)


class Misled(Nim):
    def oracle(self, seat):
        return "as many as it takes"


class Endless(Nim):
    def act(self, said):
        self.turn = 1 - self.turn
        return {s: Outcome("nobody takes any", 0.0) for s in self.seats}


class Wordless(Nim):
    def actions(self, seat):
        return super().actions(seat) if self.pile > 3 or seat == "player_0" else []


class Whimsical(Nim):
    def actions(self, seat):
        return [*super().actions(seat), *["1"] * (next(COUNTER) % 2)]


class Fragile(Sum):
    def act(self, said):
        return super().act({s: int(w) and w for s, w in said.items()})


class FragileInOneSeat(Nim):
    """Fails at the action of the second seat."""

    def act(self, said):
        return super().act(
            {s: w.encode().decode() if s == "player_1" else w for s, w in said.items()}
        )


class Unasked(Nim):
    def __init__(self):
        super().__init__()
        self.seats += ("judge_0",)


class Echoing(Nim):
    def act(self, said):
        return {
            s: o._replace(text=" ".join(said.values())[:99]) for s, o in super().act(said).items()
        }


class Longwinded(Nim):
    def act(self, said):
        return {s: o._replace(text="well " * 5000) for s, o in super().act(said).items()}


class Leaking(Sum):
    def begin(self, task, rng):
        seen = super().begin(task, rng)
        return dict.fromkeys(seen, " ".join(seen.values()))


class LeakingLater(Sum):
    def act(self, said):
        return {
            s: o._replace(text=f"Your card is {self.cards['player_0']}.")
            for s, o in super().act(said).items()
        }


class LeakingGoal(Sum):
    def goal(self, seat):
        return " ".join(self.secrets("player_1")) or "say the sum"


class Selfish(Nim):
    """A cooperative game in which only one player wins."""

    cooperative = True


class Hasty(Nim):
    """A player whose action is invalid loses the turn."""

    def act(self, said):
        outcomes = super().act(said)
        self.turn = 1 - self.turn if any(o.invalid for o in outcomes.values()) else self.turn
        return outcomes


class Idle(Nim):
    def acting(self):
        return super().acting() if self.pile > 4 else ()


class Strange(Nim):
    def acting(self):
        return super().acting() if self.pile > 4 else ("player_2",)


class Outdated(Nim):
    def act(self, said):
        if not set(self.actions("player_0")) >= set(said.values()):
            warnings.warn("out of date", DeprecationWarning, stacklevel=1)
        return super().act(said)


class Chancy(Sum):
    """Draws from the global generator instead of the generator of the episode."""

    def begin(self, task, rng):
        return super().begin(task, random)


class HashOrdered(Nim):
    def begin(self, task, rng):
        return {
            s: " ".join({text, *(f"word{i}" for i in range(20))})
            for s, text in super().begin(task, rng).items()
        }


class Worn(Nim):
    """Depends on earlier matches."""

    played = 0

    def begin(self, task, rng):
        self.played += 1
        return {
            s: text + " again" * (self.played > 1) for s, text in super().begin(task, rng).items()
        }


BREACHES = {
    Named: r"\['Alice', 'Bob'\]: seats must have names",
    Twins: "a seat name is used twice",
    Swapping: "the seats were",
    HalfDone: "all seats must end together",
    OverScored: r"the score 2.0 of player_\d is not in \[0, 1\]",
    Absent: "the outcomes are of",
    Unheard: r"Listed actions.*\['player_\d'\] are invalid",
    Misled: "oracle in all seats.*are invalid",
    Endless: "has not ended after",
    Wordless: r"actions\('player_\d'\) returns \[\]",
    Whimsical: r"actions\('player_0'\) changes without a turn",
    Fragile: "hostile actions.*ValueError: invalid literal",
    FragileInOneSeat: "hostile actions.*UnicodeEncodeError",
    Unasked: "judge_0 does not act",
    Echoing: "hostile actions.*surrogates",
    Longwinded: "sees 25000 characters",
    Leaking: "turn 0: player_0 is shown .*, which tells 'Your card is .*, a secret of player_1",
    LeakingLater: (
        "turn 2: player_1 is shown .*, which tells 'Your card is .*, a secret of player_0"
    ),
    LeakingGoal: (
        "turn 0: player_0 has the goal .*, which tells 'Your card is .*, a secret of player_1"
    ),
    Selfish: r"cooperative is True, and the scores are \{'player_0': \d.0, 'player_1': \d.0\}",
    Hasty: (
        r"hostile actions.*player_0 was not understood and is to act again, but acting\(\) gives"
        r" \('player_1',\)"
    ),
    Idle: r"acting\(\) gives \(\)",
    Strange: r"acting\(\) gives \('player_2',\)",
    Outdated: "raises, in any seat.*out of date",
    Chancy: "PettingZoo's api_test and seed_test.*Incorrect observation",
    HashOrdered: "All seats see the same bytes.*played with PYTHONHASHSEED",
    Worn: "The parallel and the AEC form show the same",
}
