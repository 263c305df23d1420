"""vLLM servers elsewhere: which one samples, what if one is lost, and how they get weights."""

import logging
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, closing
from dataclasses import replace

import pytest
import tiny
import torch
from raised import raises
from stub_vllm import StubVLLM

from agentgym_train.errors import ConfigError, ModelError
from agentgym_train.generators import fleet
from agentgym_train.generators.building_blocks import WeightNames
from agentgym_train.generators.probe import ask
from agentgym_train.generators.vllm import VLLM
from agentgym_train.generators.vllm_servers import write
from agentgym_train.protocols import SamplingOptions

SAMPLING = SamplingOptions(temperature=0.7, max_new_tokens=3, stop_ids=frozenset({3, 2}))
ROWS = range(6)


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    folder = tmp_path_factory.mktemp("model")
    tiny.model().save_pretrained(folder)
    return str(folder)


@pytest.fixture
def servers():
    with ExitStack() as stack:
        yield [stack.enter_context(StubVLLM()) for _ in range(2)]


@pytest.fixture
def build(folder, tmp_path):
    """Returns a function that builds a generator with servers."""
    with ExitStack() as stack:

        def build(*urls, **changes):
            options = VLLM.Options(servers=urls, shared_folder=str(tmp_path / "shared"))
            generator = VLLM.build(options, replace(tiny.context(folder), **changes))
            return stack.enter_context(closing(generator))

        yield build


@pytest.fixture
def generator(build, servers):
    return build(*(server.url for server in servers))


def play(session, turns=2):
    return [ask(session, {row: [10 + row, 20 + turn] for row in ROWS}) for turn in range(turns)]


def hold(servers):
    """Lets requests wait. A server that answers at once would get more than its half."""
    for server in servers:
        server.free.clear()


def places(servers):
    """Returns for each conversation, by its first token, the servers that sampled it."""
    found = {}
    for number, server in enumerate(servers):
        for request in server.requests:
            found.setdefault(request["token_ids"][0], []).append(number)
    return found


def test_a_request_has_all_that_fixes_its_action(generator, servers):
    play(generator.session(ROWS, SAMPLING), turns=1)
    request = next(r for s in servers for r in s.requests if r["token_ids"] == [10, 20])
    seed = request["sampling_params"].pop("seed")
    assert type(seed) is int
    assert request["sampling_params"] == {
        "temperature": 0.7,
        "max_tokens": 3,
        "stop_token_ids": [2, 3],
        "ignore_eos": True,
        "logprobs": 0,
        "detokenize": False,
    }


def test_requests_go_to_the_least_busy_and_conversations_stay(generator, servers):
    session = generator.session(ROWS, SAMPLING)
    hold(servers)
    for row in ROWS:
        session.submit(row, [10 + row])
        servers[0].arrived(row // 2 + 1)
        servers[1].arrived((row + 1) // 2)
    assert [len(server.requests) for server in servers] == [3, 3]
    for server in servers:
        server.free.set()
    done = {}
    while len(done) < len(ROWS):
        done |= session.poll(timeout=10)
    for row in reversed(ROWS):
        session.submit(row, [30])
    done = {}
    while len(done) < len(ROWS):
        done |= session.poll()
    assert all(len(set(numbers)) == 1 and len(numbers) == 2 for numbers in places(servers).values())


def test_sessions_of_several_threads_get_their_own_answers(generator):
    """Whichever thread receives an answer, it reaches its session."""

    def play_rows(seed):
        session, samples = generator.session([seed + row for row in ROWS], SAMPLING), []
        for turn in range(8):
            done = {}
            for row in ROWS:
                session.submit(row, [10 + row, 20 + turn])
            while len(done) < len(ROWS):
                done |= session.poll(timeout=0.02)
            samples.append({row: done[row].ids for row in ROWS})
        session.close()
        return samples

    seeds = [100 * number for number in range(4)]
    with ThreadPoolExecutor(len(seeds)) as threads:
        beside = list(threads.map(play_rows, seeds))
    assert beside == [play_rows(seed) for seed in seeds]


def test_rows_of_a_server_that_dies_are_sampled_again_elsewhere(generator, servers, caplog):
    undisturbed = play(generator.session(ROWS, SAMPLING))
    before = [len(server.requests) for server in servers]
    session = generator.session(ROWS, SAMPLING)
    hold(servers)
    for row in ROWS:
        session.submit(row, [10 + row, 20])
    servers[0].arrived(before[0] + 3)
    servers[1].arrived(before[1] + 3)
    servers[0].free.set()
    with caplog.at_level(logging.WARNING):
        servers[1].die()
        first = {}
        while len(first) < len(ROWS):
            first |= session.poll()
    assert first == undisturbed[0]
    assert ask(session, {row: [10 + row, 21] for row in ROWS}) == undisturbed[1]
    (message,) = [r.getMessage() for r in caplog.records if "is lost" in r.getMessage()]
    assert message.startswith(f"server {servers[1].url} is lost (")
    assert message.endswith("): its 3 requests are sampled again elsewhere")


def test_a_connection_that_ends_before_a_request_costs_no_server(build, caplog):
    with StubVLLM() as server:
        generator = build(server.url)
        session = generator.session(ROWS, SAMPLING)
        expected = ask(session, {0: [10, 20]})
        server.hangups = 1
        again = generator.session(ROWS, SAMPLING)
        assert ask(again, {0: [10, 20]}) == expected
        assert "lost" not in caplog.text


def test_a_lost_server_is_back_after_the_next_load(generator, servers, caplog):
    model = tiny.model(seed=1)
    port = servers[1].port
    servers[1].die()
    play(generator.session(ROWS, SAMPLING), turns=1)
    with StubVLLM(port=port) as back:
        play(generator.session(ROWS, SAMPLING), turns=1)
        assert not back.requests
        generator.load(model.named_parameters(), 1)
        assert back.version == servers[0].version
        play(generator.session(ROWS, SAMPLING), turns=1)
        assert back.requests


def test_a_server_that_was_started_again_has_other_weights(generator, servers, caplog):
    servers[1].version = "default"
    expected = play(generator.session(ROWS, SAMPLING))
    assert len(expected[1]) == len(ROWS)
    assert f"server {servers[1].url} is lost (it has other weights" in caplog.text
    assert len(servers[0].requests) == 2 * len(ROWS)


def test_a_machine_that_disappears_is_noticed(build, servers, monkeypatch, caplog):
    monkeypatch.setattr(fleet, "EVERY", 0.05)
    generator = build(*(server.url for server in servers))
    hold(servers)
    session = generator.session(ROWS, SAMPLING)
    for row in ROWS:
        session.submit(row, [10 + row])
    servers[1].arrived(3)
    servers[0].free.set()
    servers[1].healthy = False
    done = {}
    while len(done) < len(ROWS):
        done |= session.poll()
    assert "is lost (status 503" in caplog.text
    servers[1].free.set()


def test_no_server_left_is_one_line(generator, servers):
    for server in servers:
        server.die()
    session = generator.session(ROWS, SAMPLING)
    session.submit(0, [5])
    with raises(ModelError, "none of the 2", "left"):
        session.poll()
    with raises(ModelError, "none of the 2", "loads"):
        generator.load(tiny.model().named_parameters(), 1)


def test_a_closed_session_ends_its_requests(generator, servers):
    hold(servers)
    session = generator.session(ROWS, SAMPLING)
    for row in ROWS:
        session.submit(row, [10 + row])
    for server in servers:
        server.arrived(3)
    session.close()
    for server in servers:
        server.cancelled(3)
        server.free.set()
    again = play(generator.session(ROWS, SAMPLING))
    assert again[0].keys() == set(ROWS)
    assert sum(len(server.requests) for server in servers) == 18


def test_weights_reach_all_servers_under_all_names(generator, servers, tmp_path):
    model = tiny.model(seed=1)
    generator.load(model.named_parameters(), 7)
    expected = model.state_dict()
    for server in servers:
        assert server.weights.keys() == expected.keys()
        assert all(torch.equal(server.weights[name], expected[name]) for name in expected)
    assert servers[0].version == servers[1].version != "default"
    assert not list((tmp_path / "shared").iterdir())  # the files are removed
    sample = play(generator.session(ROWS, SAMPLING), turns=1)[0][0]
    assert sample.version == 7


def test_weights_are_written_in_parts(tmp_path, monkeypatch):
    monkeypatch.setattr("agentgym_train.generators.vllm_servers.SHARD", 20_000)
    model = tiny.model()
    write(tmp_path / "w", WeightNames(model), model.named_parameters())
    with StubVLLM() as server:
        import httpx2

        httpx2.post(
            f"{server.url}/collective_rpc",
            json={"method": "reload_weights", "kwargs": {"weights_path": str(tmp_path / "w")}},
            trust_env=False,
        )
    assert len(list((tmp_path / "w").iterdir())) > 2
    assert server.weights.keys() == model.state_dict().keys()


def test_weights_that_do_not_fit_change_no_server(generator, servers):
    versions = [server.version for server in servers]
    with pytest.raises(ModelError, match="no such weight"):
        generator.load({"nonsense": torch.zeros(1)}.items(), 1)
    assert [server.version for server in servers] == versions


@pytest.mark.parametrize(
    ("stub", "message"),
    [
        ({"model": {"logprobs_mode": "raw_logprobs"}}, "start it with --logprobs-mode processed"),
        ({"model": {"max_model_len": 100}}, "takes 100 tokens, but the run needs 512; start it"),
        (
            {"vocabulary": 200},
            "serves another model: its embeddings have the shape (200, 32), those of the run (300,",
        ),
        (
            {"model": {"dtype": "torch.bfloat16"}},
            "in torch.bfloat16; start it with --dtype float32",
        ),
        ({"dev": False}, "has no /server_info; start it with VLLM_SERVER_DEV_MODE=1"),
    ],
)
def test_a_server_that_does_not_fit_is_one_line(build, stub, message):
    with StubVLLM(**stub) as server, pytest.raises(ConfigError) as caught:
        build(server.url)
    assert message in str(caught.value)
    assert server.url in str(caught.value)
    assert "\n" not in str(caught.value)


def test_a_server_that_is_not_there_is_one_line(build, servers):
    servers[1].die()
    with raises(ConfigError, "ConnectError"):
        build(servers[0].url, servers[1].url)
    build(servers[0].url)  # nothing of the failure is left


def test_a_server_that_rejects_the_weights_is_one_line(build, servers):
    servers[0].refusal = 500, {"error": "size mismatch"}
    with raises(ModelError, "none of the 1", "500", "size mismatch"):
        build(servers[0].url)


def test_two_models_cannot_share_a_server(generator, build, servers):
    with pytest.raises(ConfigError, match="already samples for another model of this run"):
        build(servers[0].url)
