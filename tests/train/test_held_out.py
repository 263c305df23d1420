"""Baselines on held-out tasks, shared by the processes of a run."""

import pytest
import small_run

from agentgym_envs.errors import EnvTimeout
from agentgym_envs.tasks import spread
from agentgym_train import cli
from agentgym_train import config as configuration
from agentgym_train.distributed import Distributed
from agentgym_train.evaluation import held_out
from agentgym_train.evaluation.held_out import HeldOut
from agentgym_train.rollout.build import describe

SCORES = [0.1, 0.2, 0.2, 0.6, 0.3, 0.5]
"""The sum of each second one and the others is another number, because of rounding."""
ROOMS = {"kwargs": {"rooms": [4, 6]}}


class Notes(dict):
    """``evaluation.json`` in memory."""

    add = dict.__setitem__


class Both(Distributed):
    """Two processes, one of which is this one; ``gather`` plays the share of the other."""

    def __init__(self, rank, play):
        self.rank, self.size, self._play, self.played = rank, 2, play, []

    def gather(self, value):
        """Returns the results of both."""
        config, description, agent, _ = self.played[-1]
        other = self._play(config, description, agent, slice(1 - self.rank, None, 2))
        return [value, other][:: 1 - 2 * self.rank]


def held_by(config, distributed):
    """Returns the held-out tasks of one process."""
    tests = HeldOut.__new__(HeldOut)
    tests.config, tests.distributed, tests.notes = config, distributed, Notes()
    tests.envs = [(one, describe(one)[1]) for one in config.each()]
    return tests


@pytest.mark.slow
def test_processes_that_share_a_baseline_find_what_one_process_finds(tmp_path, monkeypatch):
    """Five tasks: one process plays three of them, and the other one two."""
    sections = {"env": ROOMS, "eval": {"episodes": 5, "horizon": 40}}
    config = configuration.load(small_run.write(tmp_path, **sections))
    play, shares = held_out._share, []

    def noted(*args):
        both.played.append(args)
        shares.append(play(*args))
        return shares[-1]

    both, description = Both(1, play), describe(config)[1]
    alone = held_by(config, Distributed())._baseline(config, description, "random")
    monkeypatch.setattr(held_out, "_share", noted)
    assert held_by(config, both)._baseline(config, description, "random") == alone
    assert [len(share) for share in shares] == [2]
    assert alone["episodes"] == 5
    assert 0 < alone["turns"] < 40


def test_a_result_is_noted_after_its_episodes(tmp_path, monkeypatch):
    """So an interruption between the two plays the evaluation again."""
    config = configuration.load(small_run.write(tmp_path))
    tests = HeldOut.__new__(HeldOut)
    tests.config, tests.folder, tests.distributed = config, tmp_path, Distributed()
    tests.envs, tests.notes = [], Notes()
    monkeypatch.setattr(held_out.evaluate, "overall", lambda played: {"success": 0.5})

    def interrupted(*args, **options):
        raise KeyboardInterrupt

    with monkeypatch.context() as patch:
        patch.setattr(held_out.episodes, "write", interrupted)
        with pytest.raises(KeyboardInterrupt):
            tests.play("before", 0)
    assert tests.notes == {}
    tests.play("before", 0)
    assert tests.notes == {"before": {"success": 0.5, "step": 0}}
    assert (tmp_path / "episodes" / "before" / "episodes.jsonl").exists()


@pytest.mark.parametrize("rank", [0, 1])
def test_a_baseline_that_fails_in_one_process_costs_its_row_in_all_and_not_the_run(
    tmp_path, monkeypatch, capsys, rank
):
    """The first process warns."""

    def play(env_id, agent, *, task_ids, **options):
        if agent == "random" and first in task_ids:
            raise EnvTimeout("agentgym/Maze-v1 did not answer")
        scores = dict(zip(chosen, SCORES, strict=True))
        return [held_out.baselines.BaselineEpisode(i, True, scores[i], 3) for i in task_ids]

    config = configuration.load(small_run.write(tmp_path, env=ROOMS))
    first, *_ = chosen = spread(describe(config)[1].task_ids, 6)
    monkeypatch.setattr(held_out.baselines, "play", play)
    share = held_out._share
    both = Both(rank, share)
    monkeypatch.setattr(held_out, "_share", lambda *args: both.played.append(args) or share(*args))
    tests = held_by(config, both)
    tests.add_baselines(cli.out)
    assert tests.notes == {
        "oracle": {"success": 1.0, "score": sum(SCORES) / 6, "turns": 3.0, "episodes": 6}
    }
    warned = "warning: no row for random: agentgym/Maze-v1 did not answer"
    assert (warned in capsys.readouterr().out) == (rank == 0)
