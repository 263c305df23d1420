"""The check for authors of sources: ours pass it, and it names every planted fault."""

import itertools

import pytest

from agentgym_envs.errors import ConformanceError
from agentgym_train import Source
from agentgym_train.data.types import Call, EpisodeStatus, Group, Trajectory, Turn
from agentgym_train.testing import check_source


class Sound(Source):
    """One episode per group, named by step and number. Correct until a subclass breaks it."""

    failures = ()
    made = itertools.count()

    def __init__(self, distributed):
        self.distributed, self.mine = distributed, range(distributed.rank, 5, distributed.size)

    def next(self, plan):
        return [Group(n, [self.episode(plan.step, n)]) for n in self.mine]

    def episode(self, step, number):
        return Trajectory(f"{step} {number}", number, [Turn("", [Call([1], [2], [-1.0])])])

    def close(self):
        pass


class Everything(Sound):
    def __init__(self, distributed):
        super().__init__(distributed)
        self.mine = range(5)


class ByProcess(Sound):
    def episode(self, step, number):
        return Trajectory(f"{step} {number} {self.distributed.rank}", number)


class ByTime(Sound):
    def episode(self, step, number):
        return Trajectory(f"{next(self.made)}", number)


class Beyond(Sound):
    def __init__(self, distributed):
        super().__init__(distributed)
        self.mine = range(distributed.rank + 3, 8, distributed.size)


class Silent(Sound):
    def episode(self, step, number):
        return Trajectory("t", number, [Turn("", [Call([1], [2, 3], [-1.0])])])


class Failed(Sound):
    def episode(self, step, number):
        return Trajectory("t", number, status=EpisodeStatus.ERROR_ENV)


def test_a_sound_one_passes():
    assert len(check_source(Sound, groups=5)) == 5


@pytest.mark.parametrize(
    ("cls", "message"),
    [
        (Everything, "at step 1 process 2 of 2 has a group of number 0, which another group has"),
        (ByProcess, "at step 1 the groups differ with 2 processes"),
        (ByTime, "at step 1 the groups differ"),
        (Beyond, "number 5, which another group has, or which is not from 0 to 4"),
        (Silent, "2 sampled tokens with 1 log-probabilities"),
        (Failed, "an episode whose environment failed: 't'"),
    ],
)
def test_a_planted_fault_is_named(cls, message):
    with pytest.raises(ConformanceError, match=message):
        check_source(cls, groups=5)
