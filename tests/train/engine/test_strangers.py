"""Programs that do not belong to a run: what they can reach, read and disturb."""

import json
import socket
import threading
import time
from contextlib import ExitStack

import pytest
import strangers
from torch.distributed import HashStore

from agentgym_train.engine import addresses, watchdog

SECRET = b"secret"


def test_processes_of_one_machine_listen_on_the_loopback_and_keep_their_secret(warm, tmp_path):
    lines = warm.play(strangers.__file__, tmp_path).splitlines()
    found = [json.loads(line) for line in lines if line.startswith("{")]
    assert [each["listens"] for each in found if "listens" in each] == [["127.0.0.1"]] * 2
    assert [each["alone"] for each in found if "alone" in each] == [["lo", "127.0.0.1"]]
    (store,) = [each["store"] for each in found if "store" in each]
    values = {key.rpartition("/")[2]: bytes.fromhex(value) for key, value in store.items()}
    assert int(values["watchdog"]) > 0, "a port and nothing else"
    assert not any(strangers.SECRET in value for value in values.values())


class Main(threading.Thread):
    """The main process of a run of three."""

    def __init__(self, stack):
        super().__init__()
        self.listener = stack.enter_context(addresses.listen("127.0.0.1", 0))
        self.place = self.listener.getsockname()
        self.store = HashStore()
        self.store.set(watchdog.KEY, str(self.place[1]))
        self.links = {}
        self.start()

    def run(self):
        self.links = watchdog._accept(self.listener, 3, SECRET)

    def call(self, rank, secret=SECRET):
        return watchdog._call(self.store, rank, self.place[0], secret)[0]


def test_strangers_take_no_place_and_delay_nobody():
    with ExitStack() as stack:
        began, main = time.monotonic(), Main(stack)

        def stranger():
            link = stack.enter_context(socket.create_connection(main.place, timeout=5))
            return link, link.recv(watchdog.CHALLENGE)

        silent = [stranger() for _ in range(watchdog.STRANGERS + 40)]
        assert len({challenge for _, challenge in silent}) == len(silent), "no answer fits twice"
        assert silent[0][0].recv(1) == b"", "the oldest ones make room"
        first = stack.enter_context(main.call(1))
        for rank, secret in [(2, b""), (2, b"guess"), (0, SECRET), (1, SECRET), (3, SECRET)]:
            refused = stack.enter_context(main.call(rank, secret))
            refused.settimeout(5)
            assert refused.recv(1) == b"", (rank, secret)
        link, _ = stranger()
        copied = watchdog.ANSWER.pack(2, watchdog._proof(silent[-1][1], 2, SECRET))
        link.sendall(copied)  # a right answer to another challenge
        assert link.recv(1) == b""
        second = stack.enter_context(main.call(2))
        main.join(10)
        assert {rank: each.getpeername() for rank, each in main.links.items()} == {
            1: first.getsockname(),
            2: second.getsockname(),
        }
        assert time.monotonic() - began < 5
        for each in main.links.values():
            each.close()


@pytest.mark.parametrize(
    ("address", "wanted"),
    [
        ("127.0.0.1", {"127.0.0.1"}),
        ("localhost", {"127.0.0.1", "::1"}),
        ("192.0.2.77", {"0.0.0.0"}),
    ],
)
def test_a_port_is_open_on_the_meeting_address_alone_unless_a_proxy_has_it(address, wanted, caplog):
    with addresses.listen(address, 0) as listener:
        assert listener.getsockname()[0] in wanted
        with pytest.raises(OSError, match="in use"):
            addresses.listen(address, listener.getsockname()[1])
    assert ("listens on all addresses" in caplog.text) == (wanted == {"0.0.0.0"})


def test_a_name_that_is_the_loopback_here_alone_leaves_the_port_open_to_the_others(monkeypatch):
    def lookup(*_, **__):
        return [(socket.AF_INET, socket.SOCK_STREAM, 6, "", ("127.0.1.1", 0))]

    monkeypatch.setattr(socket, "getaddrinfo", lookup)
    with addresses.listen("machine1", 0) as listener:
        assert listener.getsockname()[0] == "0.0.0.0"


@pytest.mark.parametrize(
    ("variables", "inside"),
    [
        ({"MASTER_ADDR": "127.0.0.1"}, True),
        ({"MASTER_ADDR": "localhost"}, True),
        ({"MASTER_ADDR": "::1"}, True),
        ({"MASTER_ADDR": "machine1"}, False),
        ({"MASTER_ADDR": "10.0.0.1", "LOCAL_WORLD_SIZE": "4"}, True),
        ({"MASTER_ADDR": "10.0.0.1", "LOCAL_SIZE": "4"}, True),
        ({"MASTER_ADDR": "10.0.0.1", "LOCAL_WORLD_SIZE": "2"}, False),
        ({"MASTER_ADDR": "machine1", "SLURM_STEP_TASKS_PER_NODE": "4"}, True),
        ({"MASTER_ADDR": "machine1", "SLURM_STEP_TASKS_PER_NODE": "2(x2)"}, False),
        ({"MASTER_ADDR": "m", "LOCAL_SIZE": "2", "SLURM_STEP_TASKS_PER_NODE": "4"}, False),
    ],
)
def test_launchers_say_whether_all_processes_are_on_one_machine(variables, inside):
    assert addresses.on_one_machine(variables | {"WORLD_SIZE": "4"}) == inside


def test_a_device_that_the_user_names_is_used():
    variables = {"GLOO_SOCKET_IFNAME": "eth0"}
    addresses.stay_inside(variables)
    assert variables == {"GLOO_SOCKET_IFNAME": "eth0", "NCCL_SOCKET_IFNAME": "lo"}
