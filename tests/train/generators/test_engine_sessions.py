"""Sessions of an engine that samples requests, with an engine that does what a test tells it."""

import gc
import math
import time

import pytest
import tiny
import torch
from raised import raises

from agentgym_envs.tasks import stable_hash
from agentgym_train.errors import ConfigError, ModelError
from agentgym_train.generators.building_blocks import WeightNames
from agentgym_train.generators.requests import EngineGenerator, SampledAction
from agentgym_train.generators.vllm import VLLM
from agentgym_train.protocols import SamplingOptions

SAMPLING = SamplingOptions(temperature=0.7, max_new_tokens=4, stop_ids=frozenset({3}))


class StubEngine:
    """Completes the requests of the rows in ``turns``, one element per call of ``receive``."""

    def __init__(self, *turns):
        self.turns, self.running, self.requests = list(turns), {}, []
        self.aborted, self.timeouts = [], []

    def submit(self, key, request):
        self.running[key] = request
        self.requests.append(request)

    def receive(self, timeout):
        self.timeouts.append(timeout)
        rows = self.turns.pop(0) if self.turns else ()
        keys = [key for key in self.running if key.row in rows]
        return {key: self.answer(key, self.running.pop(key)) for key in keys}

    def answer(self, key, request):
        return SampledAction([100 + key.row, 3], [-1.0, -0.5])

    def abort(self, keys):
        self.aborted += [key for key in keys if self.running.pop(key, None)]

    def load(self, weights, version):
        pass

    def sleep(self):
        pass


def started(*turns, rows=3):
    engine = StubEngine(*turns)
    return engine, EngineGenerator(engine).session(range(rows), SAMPLING)


def test_a_row_is_returned_when_it_is_complete_while_others_go_on():
    engine, session = started([1], [0, 2])
    for row in range(3):
        session.submit(row, [5, 6])
    assert session.poll().keys() == {1}
    session.submit(1, [7])
    assert list(session.poll()) == [0, 2]  # in order, whatever the engine's
    assert engine.requests[3].ids == (5, 6, 101, 3, 7)  # the whole row, once
    assert [key.row for key in engine.running] == [1]


def test_a_poll_ends_with_its_time():
    engine, session = started([], [], [0])
    session.submit(0, [5])
    assert session.poll(timeout=0.0) == {}
    assert len(engine.timeouts) == 1  # a step is made even so
    assert session.poll(timeout=60.0).keys() == {0}
    assert 50 < engine.timeouts[-1] <= 60
    began = time.monotonic()
    assert session.poll() == {}  # nothing is submitted
    assert time.monotonic() - began < 1


def test_the_seed_of_a_request_is_that_of_its_episode_and_turn():
    engine, session = started([0], [0], [0], [1])
    for _ in range(2):
        session.submit(0, [5])
        session.poll()
    session.restart(0)
    session.submit(0, [5])
    session.poll()
    session.submit(1, [5])
    session.poll()
    first, second, again, other = (request.seed for request in engine.requests)
    assert again == first
    assert len({first, second, other}) == 3
    assert engine.requests[2].ids == (5,)
    assert all(0 <= seed < 2**63 for seed in (first, second, other))


def test_a_row_that_is_cut_back_requests_its_prefix_with_the_noise_of_the_next_turn():
    engine, session = started(*[[0, 1]] * 4)
    for row in (0, 1):
        session.rewind(row, 0)
        session.submit(row, [5, 6, 7])
    session.poll()
    session.submit(0, [8])
    session.rewind(1, 2)
    session.submit(1, [8, 9])
    session.poll()
    with raises(ValueError, "row 1", "length=7", "6 tokens"):
        session.rewind(1, 7)
    session.rewind(1, 4)
    session.submit(1, [])
    ids = [request.ids for request in engine.requests]
    assert ids[2:] == [(5, 6, 7, 100, 3, 8), (5, 6, 8, 9), (5, 6, 8, 9)]
    seeds = [stable_hash(f"1 {turn}") for turn in range(3)]
    assert [request.seed for request in engine.requests[1::2]] == [seeds[0], seeds[1]]
    assert engine.requests[4].seed == seeds[2]


def test_sessions_side_by_side_get_their_own_actions():
    engine = StubEngine([0])
    generator = EngineGenerator(engine)
    one, other = (generator.session([0], SAMPLING) for _ in range(2))
    one.submit(0, [5])
    other.submit(0, [6])
    assert one.poll().keys() == {0}
    assert other.poll().keys() == {0}
    assert len(engine.timeouts) == 1  # both were complete after the first call


def test_what_a_session_still_wants_is_aborted_when_it_is_closed_or_dropped():
    engine = StubEngine([0], [0], [0])
    generator = EngineGenerator(engine)
    closed, dropped = (generator.session(range(2), SAMPLING) for _ in range(2))
    for session in (closed, dropped):
        session.submit(0, [5])
        session.submit(1, [5])
    assert closed.poll().keys() == {0}  # the other session's row 0 is complete too
    closed.close()
    closed.close()
    assert [(key.session, key.row) for key in engine.aborted] == [(0, 1)]
    del dropped, session
    gc.collect()
    generator.load((), 3)
    assert [(key.session, key.row) for key in engine.aborted] == [(0, 1), (1, 1)]
    assert not generator.inbox.take([*engine.aborted, *(k._replace(row=0) for k in engine.aborted)])
    assert generator.session([0], SAMPLING)._version == 3


def test_log_probabilities_that_are_not_finite_are_named(monkeypatch):
    monkeypatch.setattr(StubEngine, "answer", lambda *_: SampledAction([5], [math.nan]))
    _, session = started([0])
    session.submit(0, [5])
    with raises(ModelError, "0.7"):
        session.poll()


def test_a_tied_weight_comes_under_all_its_names():
    model = tiny.model()
    names = dict(WeightNames(model).checked(model.named_parameters()))
    assert ("model.embed_tokens.weight", "lm_head.weight") in names
    assert {name for group in names for name in group} == set(model.state_dict())
    untied = tiny.model(tie_word_embeddings=False)
    assert ("lm_head.weight",) in dict(WeightNames(untied).checked(untied.named_parameters()))


@pytest.mark.parametrize("name", ["lm_head.weight", "model.embed_tokens.weight"])
def test_one_name_of_a_tied_weight_is_enough_and_no_name_is_an_error(name):
    model = tiny.model()
    others = {n: w for n, w in model.named_parameters() if "embed" not in n}
    weight = model.get_input_embeddings().weight
    assert (
        len(list(WeightNames(model).checked((others | {name: weight}).items()))) == len(others) + 1
    )
    with raises(ModelError, "'model.embed_tokens"):
        list(WeightNames(model).checked(others.items()))


def test_a_context_longer_than_the_models_is_one_line(tmp_path):
    tiny.model(max_position_embeddings=256).save_pretrained(tmp_path)
    with raises(ConfigError, "model.max_context=512", "256"):
        VLLM.build(VLLM.Options(), tiny.context(str(tmp_path)))


def test_a_missing_vllm_is_one_line(tmp_path, monkeypatch):
    tiny.model().save_pretrained(tmp_path)
    monkeypatch.setitem(__import__("sys").modules, "vllm", None)
    monkeypatch.delitem(
        __import__("sys").modules, "agentgym_train.generators.vllm_engine", raising=False
    )
    with raises(ConfigError, "agentgym-train[vllm]") as caught:
        VLLM.build(VLLM.Options(), tiny.context(str(tmp_path)))
    assert "\n" not in str(caught.value)


def test_servers_and_their_folder_belong_together():
    for options in ({"servers": ("http://a",)}, {"shared_folder": "x"}):
        with pytest.raises(ConfigError, match="belong together"):
            VLLM.Options(**options)
    with raises(ConfigError, "'http://a'"):
        VLLM.Options(servers=("http://a", "http://a"), shared_folder="x")


def test_weights_of_another_vocabulary_are_named():
    model, other = tiny.model(), tiny.model(vocabulary=320)
    with raises(ModelError, "(320, 32)", "(300, 32)"):
        list(WeightNames(model).checked(other.named_parameters()))
    assert torch.equal(model.lm_head.weight, model.model.embed_tokens.weight)
