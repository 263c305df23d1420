"""Which rows share a step: the collector and ``hf`` under a virtual clock, and ``EnvResponses``."""

from dataclasses import replace

import pytest
import timed
import tiny
from scripted import ScriptedGenerator

from agentgym_train.protocols import SamplingOptions
from agentgym_train.rollout.collector import EpisodeCollector
from agentgym_train.rollout.responses import EnvResponses
from agentgym_train.rollout.tasks import EpisodeStart


@pytest.fixture(scope="module")
def benchmark():
    """The module ``benchmarks/rollout_schedule.py``."""
    import rollout_schedule

    return rollout_schedule


def uneven(rng):
    return min(100, 1 + int(rng.expovariate(1 / 20)))


def scripts(benchmark, action=uneven, environment=lambda rng: 0.01, episodes=24):
    return benchmark.script(action, environment, seed=0, episodes=episodes, turns=(4, 10))


def test_with_uneven_actions_it_is_near_the_bound_and_lock_step_is_not(benchmark):
    episodes = scripts(benchmark)
    ours, lock = (benchmark.collect(episodes, prompt=0.0, joins=j).now for j in (True, False))
    bound = max(episode.alone(0.0) for episode in episodes)
    assert bound <= ours <= 1.15 * bound
    assert lock > 1.6 * ours


@pytest.mark.parametrize("seconds", [0.01, 3.0])
def test_with_even_actions_it_is_lock_step(benchmark, seconds):
    episodes = scripts(benchmark, lambda rng: 20, lambda rng: seconds * rng.random())
    ours, lock = (benchmark.collect(episodes, joins=joins) for joins in (True, False))
    assert ours.calls == lock.calls
    assert ours.now == pytest.approx(lock.now)


def test_the_speed_of_environments_does_not_change_which_rows_share_a_step(benchmark):
    """The actions are the same, and the seconds differ by factors of up to 180."""
    tokens = [episode.tokens for episode in scripts(benchmark)]
    calls = []
    for seed in range(3):
        made = benchmark.script(
            uneven, lambda rng: 10 ** rng.uniform(-2, 0.25), seed=seed, episodes=24, turns=(10, 10)
        )
        episodes = [
            benchmark.Episode(of, one.seconds[: len(of) + 1])
            for of, one in zip(tokens, made, strict=True)
        ]
        calls.append(benchmark.collect(episodes).calls)
    assert calls[0] == calls[1] == calls[2]
    assert len({len(rows) for rows in calls[0]}) > 10


def test_where_environments_are_slow_no_row_waits_for_another_after_the_first_late_response(
    benchmark,
):
    """The environments take 3 s, or a hundred calls of the model."""
    episodes = scripts(benchmark, environment=lambda rng: 3.0)
    bound = max(episode.alone(benchmark.CALL) for episode in episodes)
    seconds = [benchmark.collect(episodes, batch_wait=wait).now for wait in (0.0, 10.0)]
    assert seconds[0] < 1.15 * bound
    assert seconds[1] < 1.3 * bound


@pytest.mark.parametrize(
    ("update", "save_every", "in_turns", "ahead"),
    [
        (4.0, 99, 4 * (10 + 4), 10 * 4 + 4),  # the last update has nothing beside it
        (25.0, 99, 4 * (10 + 25), 10 + 4 * 25),
        (10.0, 2, 4 * (10 + 10), 2 * (10 + 10 + 10)),  # the step after a checkpoint waits
        (10.0, 1, 4 * (10 + 10), 4 * (10 + 10)),
    ],
)
def test_ahead_a_step_takes_as_long_as_the_longer_one_of_collection_and_update(
    benchmark, update, save_every, in_turns, ahead
):
    seconds = [
        benchmark.train([10.0] * 4, update, ahead=option, save_every=save_every)
        for option in (False, True)
    ]
    assert seconds == [in_turns, ahead]


class Requests:
    """A pool whose responses arrive when the test says so; it notes the time limits of waits."""

    def __init__(self):
        self.arrived, self.upcoming, self.waits = [], [], []

    def recv(self, *, timeout=None):
        if not timeout and timeout is not None:
            results, self.arrived = self.arrived, []
            return results
        self.waits.append(timeout)
        return self.upcoming.pop(0) if self.upcoming else []


def results(*slots):
    return [timed.PoolResult(slot, observation="x") for slot in slots]


def receive(responses, episodes=16, **options):
    options = {"busy": True, "in_background": False} | options
    taken, late = responses.receive(episodes, **options)
    return [result.index for result in taken], late


@pytest.fixture
def pool():
    return Requests()


@pytest.fixture
def responses(pool):
    """Sixteen episodes; the environments of 5, 3, 9 and 1 step, one after the other."""
    responses = EnvResponses(pool, 10.0)
    for slot in (5, 3, 9, 1):
        receive(responses)
        responses.expect(slot)
    return responses


def test_up_to_a_quarter_of_the_responses_nothing_is_awaited_and_nothing_taken(pool, responses):
    pool.arrived = results(5, 9)
    assert receive(responses) == ([], [])
    assert not pool.waits


def test_beyond_it_the_oldest_are_awaited_until_three_sixteenths_lack_one(pool, responses):
    responses.expect(7)
    pool.arrived, pool.upcoming = results(9, 7, 3), [results(5)]
    assert receive(responses) == ([3, 5], [])
    assert len(pool.waits) == 1
    assert pool.waits[0] <= 10.0


def test_rows_that_left_the_batch_together_return_together(pool, responses):
    receive(responses)
    for slot in (0, 2):
        responses.expect(slot)
    pool.arrived = results(5, 3, 9, 1, 0, 2)
    assert receive(responses)[0] == [3, 5, 9]
    for slot in (7, 8):
        responses.expect(slot)
    pool.arrived = results(7, 8)
    assert receive(responses)[0] == [0, 1, 2], "1 and 0 would be enough; 2 left with 0"


def test_after_a_late_response_the_clock_decides_and_nothing_is_awaited(pool, responses):
    """Once a sixteenth of the episodes have a response, all of them are taken."""
    responses.expect(7)
    pool.arrived = results(3)
    assert receive(responses) == ([3], [5])
    pool.waits.clear()
    for slot in (2, 4, 6):
        responses.expect(slot)
    pool.arrived = results(6)
    assert receive(responses, episodes=17) == ([], [9, 1, 7]), "late too, and late once"
    pool.arrived = results(5)
    assert receive(responses, episodes=17) == ([5, 6], [])
    assert not pool.waits


def test_without_work_for_the_generator_all_are_awaited(pool, responses):
    pool.upcoming = [results(9), results(1, 5)]
    assert receive(responses, busy=False) == ([1, 5, 9], [3])
    assert pool.waits[0] is None
    assert len(pool.waits) == 3
    pool.upcoming = [results(3)]
    assert receive(responses, busy=False) == ([3], [])


def test_a_generator_in_the_background_gets_what_has_arrived(pool, responses):
    for slot in range(10, 16):
        responses.expect(slot)
    pool.arrived = results(15, 1)
    assert receive(responses, in_background=True) == ([1, 15], [])
    assert not pool.waits


class Rows(ScriptedGenerator):
    """Notes the highest number of rows between their first submit and their end."""

    def __init__(self):
        super().__init__(lambda row, turn: "x")
        self.playing, self.most = set(), 0

    def session(self, seeds, sampling):
        made = super().session(seeds, sampling)
        submit, finish = made.submit, made.finish

        def noting_submit(row, ids):
            self.playing.add(row)
            self.most = max(self.most, len(self.playing))
            submit(row, ids)

        def noting_finish(row):
            self.playing.discard(row)
            finish(row)

        made.submit, made.finish = noting_submit, noting_finish
        return made


@pytest.mark.parametrize(
    ("max_rows", "agents", "most"), [(0, 1, 7), (3, 1, 3), (9, 1, 7), (5, 2, 2), (1, 2, 1)]
)
def test_max_rows_bounds_the_rows_in_progress(max_rows, agents, most):
    """Of an episode with two agents only one acts here; its other row counts all the same."""
    chat, generator = tiny.chat(instructions=""), Rows()
    names = ("a", "b")[:agents] if agents > 1 else ()
    pool = TurnByTurn([1.0, 5.0] * 3 + [2.0], names)
    collector = EpisodeCollector(
        pool, generator, chat, max_context=1000, max_rows=max_rows, agents=names
    )
    sampling = SamplingOptions(temperature=1.0, max_new_tokens=8, stop_ids=chat.stop_ids)
    groups = collector.collect(
        [EpisodeStart(row, row) for row in range(7)], max_turns=99, sampling=sampling, noise="n"
    )
    assert generator.most == most
    assert [g.number for g in groups] == [n for n in range(7) for _ in range(agents)]
    assert {len(t.turns) for g in groups for t in g.trajectories if t.agent in ("", "a")} == {4}


class TurnByTurn(timed.TimedPool):
    """Episodes of four steps in which the first agent acts."""

    def __init__(self, seconds, agents):
        super().__init__(timed.Clock(), seconds, 4)
        self.agents = agents

    def result(self, row, *, done):
        made = super().result(row, done=done)
        if not self.agents:
            return made
        each = dict.fromkeys(self.agents, 0.0)
        info = {"seat": "a", "rewards": each, "scores": each}
        info |= {"invalids": dict.fromkeys(each, False), "successes": dict.fromkeys(each, False)}
        return replace(made, info=info)
