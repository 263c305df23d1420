"""Rollouts, baselines and random play in environments on other machines."""

import time

import gymnasium
import psutil
import pytest
import small_run
from scripted import collect
from started_hosts import hosts
from typer.testing import CliRunner

from agentgym_envs.evaluate import baselines
from agentgym_train import cli
from agentgym_train import config as configuration
from agentgym_train.config import EnvConfig, ScratchConfig
from agentgym_train.models import scratch
from agentgym_train.rollout.build import describe, make_pool
from agentgym_train.rollout.tasks import EpisodeStart

FAULTY = "faulty_envs:support/Faulty-v0"


@pytest.fixture(scope="module")
def two():
    with hosts(2) as started:
        yield started


def test_the_configuration_names_the_hosts_of_a_run(two, tmp_path, monkeypatch):
    addresses = [host.address for host in two]
    local = configuration.load(small_run.write(tmp_path))
    path = small_run.write(tmp_path, env={"hosts": addresses})
    config = configuration.load(path)
    assert config.env.hosts == tuple(addresses)
    expected = describe(local)
    # Nothing may start on this machine.
    monkeypatch.setattr("agentgym_envs.pool.workers.WorkerHandle", None)
    assert describe(config) == expected
    with make_pool(config, 4, {"rooms": [3]}) as pool:
        for i in range(4):
            pool.reset(i, seed=i)
        seen = {}
        while pool.outstanding:
            seen |= {result.index: result.observation for result in pool.recv()}
        assert [len(psutil.Process(host.process.pid).children()) for host in two] == [1, 1]
    env = gymnasium.make("agentgym/Maze-v1", rooms=[3])
    assert [seen[i] for i in range(4)] == [env.reset(seed=i)[0] for i in range(4)]


def test_hosts_and_their_password_are_no_keywords_of_an_environment(tmp_path):
    for name in ("hosts", "token"):
        path = small_run.write(tmp_path, env={"kwargs": {name: ["a:1"]}})
        done = CliRunner().invoke(cli.app, ["run", str(path)])
        assert done.exit_code == 2
        assert name in done.output


def test_random_play_and_baselines_are_those_of_this_machine(two, monkeypatch):
    addresses = tuple(host.address for host in two)

    def play(**more):
        env = EnvConfig(id="agentgym/Maze-v1", workers=1, action_format="plain", **more)
        config = ScratchConfig(episodes=5, turns=6)
        return scratch.random_play(env, config, seed=3, progress=lambda *args: None)

    maze, tasks = "agentgym/Maze-v1", {"episodes": 3, "horizon": 30, "kwargs": {"rooms": [3]}}
    local = play(), baselines.play(maze, "random", **tasks)
    # Nothing may start on this machine.
    monkeypatch.setattr("agentgym_envs.pool.workers.WorkerHandle", None)
    assert play(hosts=addresses) == local[0]
    assert baselines.play(maze, "random", hosts=addresses, **tasks) == local[1]


@pytest.mark.full
def test_the_loss_of_a_host_uses_up_no_retry(two):
    """The only host is killed twice while two episodes play, which may not fail even once."""
    host, kills = two[0], [3, 5]

    def script(row, turn):
        if kills and turn == kills[0]:
            kills.pop(0)
            host.kill()
            host.start()
        time.sleep(0.01)
        return "ok"

    groups, collector, *_ = collect(
        FAULTY,
        [EpisodeStart(0, 1), EpisodeStart(1, 2)],
        script,
        hosts=[host.address],
        workers=1,
        retries=0,
        length=9,
    )
    assert not kills
    assert [len(group.trajectories) for group in groups] == [1, 1]
    assert all(group.trajectories[0].success for group in groups)
    assert collector.failures == []
