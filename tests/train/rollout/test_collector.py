from contextlib import nullcontext

import arrival
import gymnasium
import pytest
import timed as timed_support
import tiny
from scripted import ScriptedGenerator, collect, play

from agentgym_envs.pool import EnvPool
from agentgym_train.data.types import Call, EpisodeStatus, Trajectory
from agentgym_train.protocols import SamplingOptions
from agentgym_train.rollout.collector import GLANCE, EpisodeCollector, noise_seeds
from agentgym_train.rollout.tasks import EpisodeStart

FAULTY = "faulty_envs:support/Faulty-v0"


def test_an_episode_is_what_the_environment_says():
    env = gymnasium.make("agentgym/Maze-v1", rooms=[4])
    first, info = env.reset(seed=5)
    plan = [*env.unwrapped.oracle()]
    (group,), _, _, chat = collect(
        "agentgym/Maze-v1", [EpisodeStart(0, 5)] * 2, lambda row, turn: plan[turn], rooms=[4]
    )
    a, b = group.trajectories
    assert [t.action for t in a.turns] == plan
    assert a.turns[0].observation == first
    assert (a.status, a.score, a.success, a.total_reward) == (
        EpisodeStatus.COMPLETED,
        1.0,
        True,
        1.0,
    )
    assert (a.task_id, a.seed) == (info["task_id"], 5)
    assert [t.reward for t in a.turns] == [0.0] * (len(plan) - 1) + [1.0]
    assert {c.version for c in a.calls} == {4}
    assert [c.prompt_ids for c in a.calls] == [c.prompt_ids for c in b.calls]
    ids = [i for c in a.calls for i in c.prompt_ids + c.action_ids]
    full = chat.render(chat.messages([t.observation for t in a.turns], plan), prompt=False)
    # The framework ends the last message only when another follows.
    assert ids == chat.tokenizer(full, add_special_tokens=False)["input_ids"][: len(ids)]


def test_the_horizon_is_a_truncation_and_counts_actions():
    (group,), *_ = collect(
        FAULTY, [EpisodeStart(0, 1)], lambda row, turn: "ok", max_turns=3, length=5
    )
    (t,) = group.trajectories
    assert (t.status, len(t.turns), t.success) == (EpisodeStatus.TRUNCATED_HORIZON, 3, False)
    (group,), _, generator, _ = collect(
        FAULTY, [EpisodeStart(0, 1)], lambda row, turn: "ok", max_turns=5, length=5
    )
    assert group.trajectories[0].status is EpisodeStatus.COMPLETED, (
        "solved with the last action: not a truncation"
    )
    assert generator.finished == [0], "a generator may forget the row"


@pytest.mark.parametrize("max_turns", [3, 4])
def test_without_a_key_success_is_a_return_above_zero_at_the_environments_own_end(max_turns):
    (group,), *_ = collect(
        "hash_env:support/Hash-v0",
        [EpisodeStart(0, 3)],
        lambda row, turn: "go",
        max_turns=max_turns,
        length=4,
    )
    (t,) = group.trajectories
    assert t.total_reward > 0
    assert t.success is (max_turns == 4)


def cut(max_turns, **options):
    """Plays an episode of five turns up to a horizon; returns its trajectory and the chat."""
    (group,), _, generator, chat = collect(
        FAULTY,
        [EpisodeStart(0, 1)],
        lambda row, turn: "ok",
        max_turns=max_turns,
        length=5,
        **options,
    )
    assert generator.finished == [0]
    return group.trajectories[0], chat


def test_the_prompt_after_a_cut_is_the_one_that_would_have_followed():
    """The same episode with a longer horizon shows it."""
    (longer, _), (kept, _), (plain, _) = cut(4), cut(3, keep_next=True), cut(3)
    assert kept.status is EpisodeStatus.TRUNCATED_HORIZON
    assert kept.next_call == Call(longer.calls[3].prompt_ids)
    assert kept.turns == plain.turns == longer.turns[:3], "it is no turn"
    assert plain.next_call is longer.next_call is None


def test_a_completed_episode_has_no_next_prompt():
    assert cut(5, keep_next=True)[0].status is EpisodeStatus.COMPLETED
    assert cut(5, keep_next=True)[0].next_call is None


def test_a_next_prompt_must_fit_into_the_context_with_an_action():
    """Room for the prompt alone is not enough: no action could have followed at any horizon."""
    longer, _ = cut(4)
    room = 8  # the script's max_new_tokens
    needed = sum(len(c.prompt_ids) + len(c.action_ids) for c in longer.calls[:3])
    needed += len(longer.calls[3].prompt_ids) + room
    fits, tight = (cut(3, keep_next=True, max_context=needed - less)[0] for less in (0, 1))
    assert fits.next_call == Call(longer.calls[3].prompt_ids)
    assert (tight.status, tight.next_call) == (EpisodeStatus.TRUNCATED_HORIZON, None)
    full, _ = cut(4, keep_next=True, max_context=needed - 1)
    assert (full.status, full.next_call) == (EpisodeStatus.TRUNCATED_CONTEXT, None)


def test_a_limit_of_the_environment_itself_is_a_cut_too():
    """Gymnasium truncates after three turns; the horizon is nine."""
    with EnvPool("hash_env:support/Hash-v0", 1, max_episode_steps=3, length=9) as pool:
        (group,), *_ = play(
            pool, [EpisodeStart(0, 3)], lambda row, turn: "go", max_turns=9, keep_next=True
        )
    (t,) = group.trajectories
    assert (t.status, len(t.turns)) == (EpisodeStatus.TRUNCATED_HORIZON, 3)
    assert t.next_call


def test_a_retried_episode_keeps_the_prompt_of_its_last_try(tmp_path):
    marker = str(tmp_path / "failed")
    retried, _ = cut(3, keep_next=True, fault="raise", at=2, marker=marker)
    assert retried == cut(3, keep_next=True)[0]


def test_a_full_context_is_a_truncation_of_its_own():
    (group,), *_ = collect(
        FAULTY,
        [EpisodeStart(0, 1)],
        lambda row, turn: "ok",
        max_context=80,
        length=50,
        max_turns=50,
    )
    (t,) = group.trajectories
    assert t.status is EpisodeStatus.TRUNCATED_CONTEXT
    assert 40 < t.length <= 80


def test_the_context_holds_the_conversation_and_room_for_one_more_action(tmp_path):
    def played(max_context, **fault):
        said = "a longer action"
        (group,), *_ = collect(
            FAULTY,
            [EpisodeStart(0, 1)],
            lambda row, turn: said,
            max_context=max_context,
            length=5,
            **fault,
        )
        return group.trajectories[0].status, group.trajectories[0].turns

    _, turns = played(10_000)
    room = 8  # the script's max_new_tokens
    whole = Trajectory("", 0, turns)
    needed = whole.length - len(whole.calls[-1].action_ids) + room
    assert played(needed) == (EpisodeStatus.COMPLETED, turns)
    assert played(needed - 1) == (EpisodeStatus.TRUNCATED_CONTEXT, turns[:4])
    retried = played(needed, fault="raise", at=3, marker=str(tmp_path / "failed"))
    assert retried == (EpisodeStatus.COMPLETED, turns), (
        "what was said before the failure takes no room"
    )


@pytest.mark.parametrize(
    "fault", ["raise", *(pytest.param(fault, marks=pytest.mark.full) for fault in ("hang", "die"))]
)
def test_a_failing_environment_is_retried_on_a_fresh_one(fault, tmp_path):
    starts = [EpisodeStart(0, 1)] * 4
    groups, collector, _, _ = collect(
        FAULTY,
        starts,
        lambda row, turn: f"a{turn}",
        timeout=1.0,
        fault=fault,
        at=2,
        marker=str(tmp_path / "failed"),
    )
    trajectories = groups[0].trajectories
    assert len(collector.failures) >= 1
    assert len(trajectories) == 4
    for t in trajectories:
        assert t.status is EpisodeStatus.COMPLETED
        assert [turn.action for turn in t.turns] == [f"a{n}" for n in range(5)], (
            "from the start, with nothing left of the failure"
        )
        assert t.total_reward == 1.0


def test_an_environment_that_always_fails_never_reaches_the_loss():
    groups, collector, _, _ = collect(
        FAULTY,
        [EpisodeStart(0, 1), EpisodeStart(0, 1), EpisodeStart(2, 2)],
        lambda row, turn: "ok",
        fault="raise",
        at=3,
        seeds=[1],
        retries=2,
    )
    assert [(g.number, len(g.trajectories)) for g in groups] == [(0, 0), (2, 1)]
    assert [(f.seed, f.turn, f.given_up) for f in collector.failures].count((1, 3, False)) == 4
    assert [(f.seed, f.turn, f.given_up) for f in collector.failures].count((1, 3, True)) == 2
    assert len(collector.failures) == 6
    assert all("broken on purpose" in f.error for f in collector.failures)
    assert groups[1].trajectories[0].success


@pytest.mark.parametrize("fault", [pytest.param("hang", marks=pytest.mark.full), "die"])
def test_a_neighbour_of_a_dying_environment_loses_none_of_its_retries(fault):
    """Both share a worker: one ends the other more often than an episode is retried."""
    groups, collector, *_ = collect(
        FAULTY,
        [EpisodeStart(0, 1), EpisodeStart(1, 2)],
        lambda row, turn: "ok",
        workers=1,
        timeout=0.5,
        retries=2,
        length=9,
        fault=fault,
        at=2,
        seeds=[1],
    )
    assert [len(g.trajectories) for g in groups] == [0, 1]
    assert groups[1].trajectories[0].success
    assert {f.seed for f in collector.failures} == {1}
    assert [f.given_up for f in collector.failures] == [False, False, True]


def test_if_nothing_can_be_played_the_groups_are_empty():
    groups, collector, *_ = collect(
        FAULTY, [EpisodeStart(0, 1)], lambda row, turn: "raise", retries=1
    )
    assert [g.trajectories for g in groups] == [[]]
    assert [f.given_up for f in collector.failures] == [False, True]


def test_noise_is_the_episodes_own():
    """An episode's noise does not depend on other episodes or processes; no two share theirs."""
    starts = [EpisodeStart(g, 7 + g) for g in range(4) for _ in range(3)]
    seeds = noise_seeds(starts, "a")
    assert len(set(seeds)) == 12
    assert noise_seeds(starts[3:6], "a") == seeds[3:6]
    assert not set(noise_seeds(starts, "b")) & set(seeds)
    assert len(set(noise_seeds([EpisodeStart(0, 7), EpisodeStart(1, 7)], "a"))) == 2, (
        "nor have groups that drew the same task"
    )
    _, _, generator, _ = collect(FAULTY, starts[:2], lambda row, turn: "ok")
    assert generator.seeds == noise_seeds(starts[:2], "n")


def test_ready_episodes_do_not_wait_for_slow_ones():
    groups, _, generator, _ = collect(
        "faulty_envs:support/Slow-v0",
        [EpisodeStart(0, 0), EpisodeStart(1, 1)],
        lambda row, turn: "x",
        batch_wait=0.05,
        delay=0.4,
        length=4,
    )
    assert all(g.trajectories[0].success for g in groups)
    first_alone = next(i for i, p in enumerate(generator.prompts) if set(p) == {0})
    assert [set(p) for p in generator.prompts[first_alone:]].count({0}) >= 2, (
        "the fast episode went on alone"
    )


def test_an_answer_that_is_waited_for_is_not_late():
    groups, *_ = collect(
        "faulty_envs:support/Slow-v0",
        [EpisodeStart(0, 0), EpisodeStart(1, 1)],
        lambda row, turn: "x",
        delay=0.05,
        length=2,
    )
    assert [g.trajectories[0].late for g in groups] == [0, 0]


def test_rows_come_to_the_generator_in_their_order_whatever_the_order_of_the_answers():
    starts = [EpisodeStart(row, row) for row in range(9)]
    _, _, generator, _ = play(arrival.Pool(order=1), starts, lambda row, turn: "x")
    batches = [list(prompts) for prompts in generator.prompts]
    assert len(batches[0]) == 9
    assert batches == [sorted(batch) for batch in batches]


def timed(seconds, *, turns=4, failing=()):
    """Plays one episode per number in ``seconds``, the time of a step; a sample takes one."""
    clock, chat = timed_support.Clock(), tiny.chat(instructions="")
    pool, generator = (
        timed_support.TimedPool(clock, seconds, turns, failing),
        timed_support.TimedGenerator(clock),
    )
    collector = EpisodeCollector(pool, generator, chat, max_context=1000, batch_wait=0.0)
    starts = [EpisodeStart(row, row) for row in range(len(seconds))]
    sampling = SamplingOptions(temperature=1.0, max_new_tokens=8, stop_ids=chat.stop_ids)
    groups = collector.collect(starts, max_turns=99, sampling=sampling, noise="n")
    assert [[len(t.turns) for t in g.trajectories] for g in groups] == [[turns]] * len(seconds)
    return (
        groups,
        clock.now,
        {
            row: max(time for time, answered in pool.answered if answered == row)
            for row in range(len(seconds))
        },
    )


def test_environments_and_an_asynchronous_generator_work_at_the_same_time():
    """Environments of other rows step while a row is sampled, so the generator is never idle."""
    assert timed([3.0] * 4)[1] == 4 * 4 + 3, "taking turns it would be 4 * (4 + 3)"
    assert timed([2.5] * 4)[1] <= 4 * 4 + 3


def test_an_asynchronous_generator_goes_on_without_a_slow_environment():
    _, end, last = timed([50.0, 1.0, 1.0, 1.0])
    assert all(last[row] <= 1 + 3 * 4 + 4 for row in (1, 2, 3)), (
        "a second for each sample, and little more"
    )
    assert end == 4 * (1 + 50)


def test_an_answer_is_late_once_however_many_batches_go_on_without_it():
    """The fast episode ends before the slow one responds to its first action."""
    for failing in ((), (1,)):
        groups, *_ = timed([0.5, 20.0], failing=failing)
        assert [g.trajectories[0].late for g in groups] == [0, 1]


def test_fast_environments_do_not_wait_for_a_busy_generator():
    """A response is processed at once, not after all requested samples or the next one."""
    *_, last = timed([0.5] * 8, turns=2)
    assert max(last.values()) == pytest.approx(8 * 2 + 0.5)
    assert 8 + 1 + 0.5 <= min(last.values()) <= 8 + 1 + 0.5 + GLANCE


def test_sessions_are_closed_also_after_an_error():
    def broken(row, turn):
        raise KeyError("script")

    generators = [ScriptedGenerator(broken), ScriptedGenerator(lambda row, turn: "look")]
    for generator, error in zip(generators, (pytest.raises(KeyError), nullcontext()), strict=True):
        chat = tiny.chat(instructions="")
        collector = EpisodeCollector(arrival.Pool(order=1), generator, chat, max_context=1000)
        sampling = SamplingOptions(temperature=1.0, max_new_tokens=8, stop_ids=chat.stop_ids)
        with error:
            collector.collect([EpisodeStart(0, 0)], max_turns=2, sampling=sampling, noise="n")
        assert generator.closed_sessions == 1


def test_named_tasks_are_played():
    name = "rooms4-things1-test-3"
    groups, *_ = collect(
        "agentgym/Maze-v1",
        [EpisodeStart(0, 0, name)],
        lambda row, turn: "look",
        max_turns=1,
        split="test",
    )
    assert groups[0].trajectories[0].task_id == name
    assert groups[0].trajectories[0].turns[0].invalid


def test_an_action_is_cut_if_it_has_no_stop_token():
    (group,), _, generator, chat = collect(
        FAULTY, [EpisodeStart(0, 1)], lambda row, turn: "ok", max_turns=2, length=5
    )
    assert [turn.cut for turn in group.trajectories[0].turns] == [False, False]
    stop = next(iter(chat.stop_ids))
    sample = generator.session([0], SamplingOptions(1.0, 8, chat.stop_ids)).sample
    assert sample(0).ids[-1] == stop

    class Endless(ScriptedGenerator):
        def session(self, seeds, sampling):
            return super().session(seeds, SamplingOptions(1.0, 8, frozenset([7])))

    with EnvPool(FAULTY, 1, max_episode_steps=-1, length=5) as pool:
        collector = EpisodeCollector(
            pool, Endless(lambda row, turn: "ok"), tiny.chat(), max_context=1000
        )
        (group,) = collector.collect(
            [EpisodeStart(0, 1)],
            max_turns=2,
            sampling=SamplingOptions(1.0, 8, chat.stop_ids),
            noise="n",
        )
    assert [turn.cut for turn in group.trajectories[0].turns] == [True, True]
