import pytest
from raised import raises

from agentgym_envs.errors import ArgumentError
from agentgym_envs.pool import EnvPool, wire
from agentgym_envs.pool.backend import PoolLimits
from agentgym_envs.pool.handle import PoolRequest
from agentgym_envs.pool.messages import answer_of
from agentgym_envs.pool.wire import BadMessage, MessageInbox, pack
from agentgym_envs.pool.workers import SpreadBackend

MESSAGES = [
    {"id": 1},
    {},
    {"text": "\ud800 🙂" * 50},
    {"nested": [1, {"x": None}]},
    {"id": 2, "long": "x" * 400},
]


@pytest.mark.parametrize("size", [1, 3, 4, 5, 64, 10**6])
def test_messages_arrive_however_they_are_cut(size):
    stream = b"".join(map(pack, MESSAGES)) * 3
    inbox, got = MessageInbox(), []
    for start in range(0, len(stream), size):
        got += inbox.feed(stream[start : start + size])
    assert got == MESSAGES * 3
    assert inbox.first() is None


def test_a_message_stays_until_it_is_taken():
    inbox = MessageInbox()
    inbox._stream.chunks.append(pack({"id": 7}) + pack({"id": 8}))
    assert inbox.first() == inbox.first() == {"id": 7}
    assert inbox.taken == 0
    inbox.take(7)
    assert (inbox.taken, inbox.first()) == (7, {"id": 8})


@pytest.mark.parametrize(
    "stream", [b"\xff\xff\xff\xff", b"\0\0\0\x02[]", b"\0\0\0\x01{", b"\0\0\0\x01\xff"]
)
def test_other_bytes_are_no_message(stream):
    with pytest.raises(BadMessage):
        list(MessageInbox().feed(stream))


def test_a_message_that_is_too_long_is_neither_sent_nor_read(monkeypatch):
    monkeypatch.setattr(wire, "LONGEST", len(pack({"id": 1})) - 4)
    (message,) = MessageInbox().feed(pack({"id": 1}))
    assert message == {"id": 1}
    with raises(ValueError, "10 bytes", "9"):
        pack({"id": 10 + 1})
    with raises(BadMessage, "10 bytes"):
        list(MessageInbox().feed(b"\0\0\0\x0a"))
    monkeypatch.setattr(wire, "LONGEST", 1000)
    with EnvPool("agentgym/Maze-v1", 1) as pool:
        with raises(ArgumentError, "1000"):
            pool.send(0, "x" * 1000)
        assert pool.outstanding == 0


def test_a_host_passes_an_answer_on_with_another_number():
    workers = SpreadBackend(b"", 1, env_id="x", num_envs=1, limits=PoolLimits(1, 1))
    request = PoolRequest(3, 0, "step", b"")
    for answer in ({"observation": "a, b", "reward": 0.5}, {"error": "no", "refusal": None}):
        found = workers.read_result(request, pack({"id": 3, **answer})[4:])
        assert bool(found.error) == ("error" in answer)
        assert answer_of(12, found) == pack({"id": 12, **answer})
    assert answer_of(7, workers.read_result(request, b'{"id": 3}')) == pack({"id": 7})
    for wrong in (b'{"id": 4}', b'{"id": "3"}', b'{"a": 1, "id": 3}', b'{"id": 3.5}', b"[3]"):
        with pytest.raises(BadMessage):
            workers.read_result(request, wrong)
