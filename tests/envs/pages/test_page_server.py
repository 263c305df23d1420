"""The server of pages."""

import socket
import struct
import threading

import pytest

from agentgym_envs.pages.server import LocalHandler, LocalServer

RESET = struct.pack("ii", 1, 0)  # closes a connection with a reset


class Fails(LocalHandler):
    def get(self, place):
        raise KeyError("bug")


@pytest.fixture
def server():
    with LocalServer(Fails, "page") as made:
        threading.Thread(target=made.serve_forever, kwargs={"poll_interval": 0.01}).start()
        yield made
        made.shutdown()


def ask(server, text):
    client = socket.create_connection(("127.0.0.1", server.server_port))
    client.sendall(text.encode())
    return client


def test_a_browser_that_closes_its_connection_early_prints_nothing(server, capfd):
    client = ask(server, "GET /")
    client.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, RESET)
    client.close()
    server.shutdown()
    server.server_close()  # waits for the handlers
    assert capfd.readouterr().err == ""


def test_a_fault_of_the_page_is_printed(server, capfd):
    request = f"GET /{server.token}/other HTTP/1.1\r\nHost: 127.0.0.1:{server.server_port}\r\n\r\n"
    with ask(server, request) as client:
        client.recv(1)
    server.shutdown()
    server.server_close()
    assert "KeyError: 'bug'" in capfd.readouterr().err
