"""No port: neither another user nor a page reaches the browser's debugger."""

import os
import subprocess

import psutil
import pytest

from agentgym_envs.envs.web import proxy

# A server may close the connection before the request is written. The shell ignores SIGPIPE, so it
# lives on.
PROBE = (
    'trap "" PIPE; exec 3<>/dev/tcp/127.0.0.1/$0 && '
    'printf "GET /json/version HTTP/1.0\\r\\n\\r\\n" >&3 && cat <&3; echo asked'
)


def listening(pids):
    """Returns the TCP ports on which some processes listen."""
    found = [psutil.Process(pid).net_connections("tcp") for pid in pids]
    return {
        c.laddr.port for connections in found for c in connections if c.status == psutil.CONN_LISTEN
    }


def test_no_process_of_the_browser_listens(make):
    env = make("<h1>one")
    env.reset(seed=1)
    browser = psutil.Process(env.session.chromium.pid)
    assert "--remote-debugging-pipe" in browser.cmdline()
    assert not any(word.startswith("--remote-debugging-port") for word in browser.cmdline())
    family = [browser, *browser.children(recursive=True)]
    assert listening(p.pid for p in family if p.status() != psutil.STATUS_ZOMBIE) == set()
    profile = next(
        word.partition("=")[2] for word in browser.cmdline() if word.startswith("--user-data-dir=")
    )
    assert not os.path.exists(f"{profile}/DevToolsActivePort")


@pytest.mark.skipif(os.geteuid() != 0, reason="only root may become another user")
def test_another_user_finds_no_debugger(make):
    env = make("<h1>one")
    env.reset(seed=1)
    ports = listening([os.getpid(), env.session.chromium.pid])
    assert ports, "the proxy listens"
    for port in ports:
        asked = subprocess.run(
            ["/bin/bash", "-c", PROBE, str(port)],
            user="nobody",
            cwd="/",
            capture_output=True,
            text=True,
        )
        assert asked.stdout.endswith("asked\n"), asked.stderr
        assert "webSocketDebuggerUrl" not in asked.stdout
    sockets = [
        c.laddr for c in psutil.Process().net_connections("unix") if "agentgym" in str(c.laddr)
    ]
    assert sockets == [], "the socket of the start is gone"


def test_a_page_finds_no_debugger(make):
    env = make("<script>window.found = []</script><h1>one")
    env.reset(seed=1)
    port = env.session.proxy.address.rpartition(":")[2]
    look = (
        f"fetch('http://127.0.0.1:{port}/json/version').then(r => r.text()).catch(() => 'nothing')"
    )
    assert env.session.tab.evaluate(look) in ("nothing", "")


@pytest.mark.skipif(os.geteuid() != 0, reason="only root may become another user")
def test_another_user_gets_nothing_from_the_proxy_and_is_not_counted(make):
    env = make("<h1>one")
    env.reset(seed=1)
    ask = (
        'exec 3<>/dev/tcp/127.0.0.1/$0; printf "GET http://elsewhere.test/ HTTP/1.0\\r\\n\\r\\n"'
        " >&3; cat <&3; echo asked"
    )
    port = env.session.proxy.address.rpartition(":")[2]
    command = ["/bin/bash", "-c", ask, port]
    other = subprocess.run(
        command, user="nobody", cwd="/", capture_output=True, text=True, check=False
    )
    assert "HTTP/1.1" not in other.stdout
    assert env.session.blocked == {}
    mine = subprocess.run(command, cwd="/", capture_output=True, text=True, check=False)
    assert mine.stdout.startswith("HTTP/1.1 204"), "the same request of this user is answered"


def test_the_owner_of_a_connection_is_found_although_the_table_misses_a_row(monkeypatch):
    def row(local, remote, user):
        return ["0:", f"0100007F:{local:04X}", f"0100007F:{remote:04X}", "", "", "", "", str(user)]

    server = row(80, 0, 7)
    tables = [[server, row(5000, 81, 9)], [server], [server, row(5000, 80, 8)]]
    monkeypatch.setattr(proxy, "_connections", lambda: tables.pop(0))
    assert proxy.owner(5000, 80) == 8, "port 5000 also reaches another server"
    monkeypatch.setattr(proxy, "_connections", lambda: [server])
    assert proxy.owner(5000, 80) == proxy.UNKNOWN_USER, "the connection is gone"
    monkeypatch.setattr(proxy, "_connections", list)
    assert proxy.owner(5000, 80) is None, "no table"
