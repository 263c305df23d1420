"""The check for authors of curricula: ours pass it, and it names every planted fault."""

import math
import random
from types import SimpleNamespace

import pytest
import shipped
from raised import raises

from agentgym_envs.errors import ArgumentError, ConformanceError, UnknownName
from agentgym_train import Curriculum, plugins
from agentgym_train.errors import ConfigError
from agentgym_train.testing import check_curriculum


class Sound(Curriculum):
    """A turn more for every step with more success than not; tasks up to as many.

    Correct until a subclass breaks it.
    """

    def __init__(self):
        self.earned = 0

    def horizon(self, step):
        return 1 + self.earned

    def difficulties(self, step):
        return (1, 1 + self.earned) if step else None

    def observe(self, metrics):
        self.earned += metrics["success"] > 0.5

    def state_dict(self):
        return {"earned": self.earned}

    def load_state_dict(self, state):
        self.earned = state["earned"]


class NoTurns(Sound):
    def horizon(self, step):
        return self.earned


class HalfTurns(Sound):
    def horizon(self, step):
        return 1 + self.earned / 2


class Dice(Sound):
    def horizon(self, step):
        return random.randint(1, 1000)


class Counting(Sound):
    def horizon(self, step):
        self.earned += 1
        return 1 + self.earned // 1000


class Remembering(Sound):
    def horizon(self, step):
        self.longest = max(getattr(self, "longest", 0), step)
        return 1 + self.longest


class Short(Sound):
    def horizon(self, step):
        return [3, 4, 5][step]


class Reversed(Sound):
    def difficulties(self, step):
        return (2, 1)


class Three(Sound):
    def difficulties(self, step):
        return (1, 2, 3)


class Restless(Sound):
    def difficulties(self, step):
        self.earned += 1
        return (1, 1)


class Moody(Sound):
    def difficulties(self, step):
        return (1, 2) if random.random() < 0.5 else None


class Sets(Sound):
    def state_dict(self):
        return {"earned": {self.earned}}


class Infinite(Sound):
    def state_dict(self):
        return {"earned": math.inf}


class Lists(Sound):
    def state_dict(self):
        return [self.earned]


class NumberedKeys(Sound):
    """JSON keys cannot be numbers."""

    def state_dict(self):
        return {0: self.earned}

    def load_state_dict(self, state):
        self.earned = state.get(0, 0)


class Forgetful(Sound):
    def load_state_dict(self, state):
        pass


class HalfForgetful(Sound):
    """Its tasks are not restored."""

    tasks = 0

    def difficulties(self, step):
        return (0, self.tasks)

    def observe(self, metrics):
        super().observe(metrics)
        self.tasks += 1


class Adding(Sound):
    def load_state_dict(self, state):
        self.earned = state["earned"] + 1


class Unrestorable(Sound):
    def load_state_dict(self, state):
        self.earned = state["gone"]


class Shared(Sound):
    """All instances share their state."""

    total = 0

    def horizon(self, step):
        return 1 + Shared.total

    def observe(self, metrics):
        Shared.total += 1


class Misspelt(Sound):
    def observe(self, metrics):
        self.earned += metrics["succes"] > 0.5


class Exponential(Sound):
    def observe(self, metrics):
        self.earned += math.exp(metrics["return"]) > 2


class Pessimistic(Sound):
    """Negative returns take turns away until none is left."""

    def observe(self, metrics):
        self.earned += int(metrics["return"])


class Meddling(Sound):
    def observe(self, metrics):
        metrics["success"] = 1.0


FAULTS = {
    NoTurns: "its horizon at step 1 is 0, not a whole number",
    HalfTurns: "its horizon at step 1 is 1.0, not a whole number",
    Dice: r"at step 1 it answers a horizon of \d+ and, asked again, a horizon of \d+",
    Counting: r"asking it at step 1 turned its state \{\"earned\": 0\} into \{\"earned\": 4\}",
    Remembering: "at step 1 it answers a horizon of 1 and, asked again, a horizon of 100",
    Short: r"horizon raised IndexError\(.*\) at step 1",
    Reversed: r"its difficulties at step 1 are \(2, 1\), neither None nor two whole numbers",
    Three: r"its difficulties at step 1 are \(1, 2, 3\)",
    Restless: "at step 1 it answers a horizon of 1 and .* and, asked again, a horizon of 4",
    Moody: "asked again",
    Sets: r"its state at step 1 is \{.*\}, not JSON: .*set is not",
    Infinite: r"its state at step 1 is \{.*inf\}, not JSON",
    Lists: r"its state at step 1 is \[0\], not a dict",
    NumberedKeys: "once its state was restored, before the steps 1, ",
    Forgetful: "once its state was restored",
    HalfForgetful: r"difficulties 0 to \d+ and .* once its state was restored",
    Adding: "at step 1 it answers a horizon of 1 and a horizon of 2 once its state was restored",
    Unrestorable: r"load_state_dict raised KeyError\('gone'\) at step 1",
    Shared: (
        "at step 1 it answers a horizon of 1 and a horizon of 101 for a second instance that sees"
        " the same metrics"
    ),
    Misspelt: r"observe raised KeyError\('succes'\) at step 1",
    Exponential: r"observe raised OverflowError\(.*\) at step \d+",
    Pessimistic: r"its horizon at step \d+ is -\d+",
    Meddling: r"observe raised TypeError\(.*\) at step 1",
}


def check(cls, monkeypatch, **options):
    monkeypatch.setattr(plugins, "make", lambda kind, options: SimpleNamespace(build=cls))
    return check_curriculum("planted", **options)


@pytest.mark.parametrize("fault", FAULTS)
def test_a_planted_fault_is_named(fault, monkeypatch):
    random.seed(0)
    with pytest.raises(ConformanceError, match=FAULTS[fault]) as caught:
        check(fault, monkeypatch)
    assert str(caught.value).startswith(fault.__name__)
    assert "\n" not in str(caught.value)


def test_every_planted_fault_is_tried():
    assert set(FAULTS) == {
        cls for cls in globals().values() if isinstance(cls, type) and issubclass(cls, Sound)
    } - {Sound}


def test_without_a_fault_every_property_holds(monkeypatch):
    assert len(check(Sound, monkeypatch)) == 5
    assert check(Sound, monkeypatch, steps=2)


@pytest.mark.parametrize("name", shipped.CURRICULA)
def test_those_that_are_shipped_pass(name):
    assert check_curriculum({"name": name, **shipped.CURRICULA[name]})


def test_what_cannot_be_checked_is_refused():
    with raises(UnknownName, "'fixd'"):
        check_curriculum("fixd")
    with raises(ConfigError, "curriculum.turns"):
        check_curriculum("fixed")
    with raises(ArgumentError, "steps=1"):
        check_curriculum({"name": "fixed", "turns": 1}, steps=1)
