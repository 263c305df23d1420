"""A failure of a browser ends an episode with a clear error and has no other effect."""

import os
import shutil
import signal
import subprocess
import sys
import tempfile
import time

import psutil
import pytest
from pages import click
from raised import raises
from some import full

from agentgym_envs.envs.web import session as sessions
from agentgym_envs.envs.web.tab import BrowserTab
from agentgym_envs.errors import EnvRaised, EnvTimeout

pytestmark = pytest.mark.timeout(180)


@pytest.mark.parametrize("hang", ["while (true) alert(1)", *full("while (true) {}")])
def test_a_page_that_loops_for_ever_ends_its_episode_and_no_other(make, hang):
    env, neighbour = (
        make(f"<button onclick='{hang}'>hang</button>", timeout=3),
        make("<h1>calm</h1><a href=#x>on</a>"),
    )
    neighbour.reset(seed=1)
    env.reset(seed=1)
    start = time.monotonic()
    with raises(EnvTimeout, "3 s"):
        click(env, "hang")
    assert time.monotonic() - start < 10
    assert click(neighbour, "on")[4]["url"].endswith("#x"), "the neighbour's episode goes on"
    browser = neighbour.session.chromium
    assert "hang" in env.reset(seed=2)[0]
    assert env.session.chromium is neighbour.session.chromium is browser
    assert "calm" in neighbour.step("scroll [down]")[0]


FLOODS = {
    "a script": ("for (let i = 0; i < 15; i++) window.open('/')", 11),
    "a script that writes them": (
        "for (let i = 0; i < 15; i++) window.open('').document.write('x')",
        11,
    ),
    "a script that they cannot reach": (
        "for (let i = 0; i < 15; i++) window.open('/', '', 'noopener')",
        11,
    ),
    "each other": ("window.open('/more')", 1),
}
"""Method → how it opens tabs, and how many of them at least exceed a limit of five."""


def alive(env):
    """Counts the pages of the agent's context, without the one that copies and pastes."""
    session = env.session
    hidden = {session._copier.target.id} if session._copier else set()
    return len(
        [
            t
            for t in session.chromium.targets.values()
            if t.context == session._id and t.id not in hidden
        ]
    )


@pytest.mark.parametrize(
    "opener",
    [
        pytest.param(o, marks=[pytest.mark.full] * (o not in ("a script", "each other")))
        for o in FLOODS
    ],
)
def test_a_flood_of_tabs_is_stopped(make, monkeypatch, opener):
    monkeypatch.setattr(sessions, "TABS", 5)
    script, surplus = FLOODS[opener]
    more = "<script>window.open('/more')</script>"
    env = make({"/": f'<button onclick="{script}">flood</button>', "/more": more})
    env.reset(seed=1)
    *_, info = click(env, "flood")
    assert len(env.session.tabs) == 5
    assert info["blocked"]["tab"] >= surplus
    env.step("scroll [down]")
    deadline = time.monotonic() + 5
    while alive(env) > 5 and time.monotonic() < deadline:
        env.session.chromium.connection.wait(0.1)
    assert alive(env) == 5, "none is left unseen"
    blocked = [env.step("scroll [down]")[-1]["blocked"]["tab"] for _ in range(2)]
    assert blocked[0] == blocked[1] < 2 * surplus + 5, "what was closed opens no more"
    env.reset(seed=2)
    assert len(env.session.tabs) == 1


def test_a_killed_browser_is_an_error_and_comes_back(make):
    env, neighbour = make("<h1>one</h1>"), make("<h1>two</h1>")
    env.reset(seed=1)
    neighbour.reset(seed=1)
    os.kill(env.session.chromium.pid, signal.SIGKILL)
    with raises(EnvRaised, "browser"):
        env.step("scroll [down]")
    assert "one" in env.reset(seed=2)[0]
    with pytest.raises(EnvRaised):
        neighbour.step("scroll [down]")
    assert "two" in neighbour.reset(seed=2)[0]
    assert neighbour.session.chromium is env.session.chromium


def test_a_crashed_tab_is_an_error(make):
    env, neighbour = make("<h1>one</h1>"), make("<h1>two</h1>")
    env.reset(seed=1)
    neighbour.reset(seed=1)
    for process in psutil.Process(env.session.chromium.pid).children(recursive=True):
        if process.status() != psutil.STATUS_ZOMBIE and "--type=renderer" in process.cmdline():
            process.kill()
    for world, shown in ((env, "one"), (neighbour, "two")):
        with pytest.raises(EnvRaised):
            world.step("scroll [down]")
        assert shown in world.reset(seed=2)[0]


def test_a_page_that_never_loads_is_an_error(make, outside):
    env = make(f"<a href={outside}/hang>slow</a>", outside=(outside,), timeout=3)
    env.reset(seed=1)
    with raises(EnvTimeout, "3 s"):
        click(env, "slow")
    assert "slow" in env.reset(seed=2)[0]


def test_a_document_that_is_left_open_is_seen_as_it_is(make):
    env = make(
        "<button onclick=\"document.open(); document.write('<h1>half</h1>')\">slow</button>"
        "<button onclick=\"window.open('').document.write('<h1>popup</h1>')\">more</button>"
    )
    env.reset(seed=1)
    assert "popup" in click(env, "more")[0]
    env.step("tab_focus [0]")
    assert "half" in click(env, "slow")[0]


def test_close_leaves_no_process(alone, make):
    before = {p.pid for p in psutil.Process().children(recursive=True)}
    env, other = make("<p>a"), make("<p>b")
    env.reset(seed=1)
    other.reset(seed=1)
    pid = env.session.chromium.pid
    env.close()
    env.close()
    assert psutil.pid_exists(pid)
    other.close()
    left = [
        p
        for p in psutil.Process().children(recursive=True)
        if p.pid not in before and p.status() != psutil.STATUS_ZOMBIE
    ]
    assert left == []


@pytest.mark.browser
def test_no_browser_outlives_a_killed_parent():
    code = (
        "import sys, time; sys.path.insert(0, sys.argv[1]); from pages import PagesEnv\nenv ="
        " PagesEnv({'/': '<p>a'}); env.reset(seed=1); print(env.session.chromium.pid, flush=True);"
        " time.sleep(60)"
    )
    support = os.path.join(os.path.dirname(__file__), "../../support")
    temporary = tempfile.mkdtemp()  # a killed process does not remove its files
    parent = subprocess.Popen(
        [sys.executable, "-c", code, support],
        stdout=subprocess.PIPE,
        text=True,
        env={**os.environ, "TMPDIR": temporary},
    )
    pid = int(parent.stdout.readline())
    assert psutil.pid_exists(pid)
    parent.kill()
    parent.wait()
    parent.stdout.close()
    deadline = time.monotonic() + 20
    while (
        psutil.pid_exists(pid)
        and psutil.Process(pid).status() != psutil.STATUS_ZOMBIE
        and time.monotonic() < deadline
    ):
        time.sleep(0.3)
    assert not psutil.pid_exists(pid) or psutil.Process(pid).status() == psutil.STATUS_ZOMBIE
    while os.path.exists(temporary) and time.monotonic() < deadline:  # Playwright cleans up too
        shutil.rmtree(temporary, ignore_errors=True)


@pytest.mark.full
@pytest.mark.slow
def test_memory_and_processes_do_not_grow(make):
    env = make("<h1>a</h1><a href=/>again</a>")

    def size():
        return sum(
            p.memory_info().rss
            for p in psutil.Process(env.session.chromium.pid).children(recursive=True)
        )

    counts = []
    for episode in range(25):
        env.reset(seed=episode)
        click(env, "again")
        if episode in (9, 24):
            counts.append(
                (size(), len(psutil.Process(env.session.chromium.pid).children(recursive=True)))
            )
    (before, processes), (after, processes_after) = counts
    assert after < 1.25 * before + 20e6
    assert processes_after <= processes + 1


def test_a_document_that_loads_slowly_on_a_busy_machine_is_waited_for(make, monkeypatch):
    """Each look takes longer than usual, and the document is complete only at the ninth."""
    env = make("<h1>Home</h1><a href=/x>more</a>")
    env.pages["/x"] = "<h1>There</h1>"
    env.reset(seed=1)
    looks, look = [], BrowserTab.look

    def slow(tab, passing=0):
        time.sleep(0.3)
        looks.append(look(tab, passing))
        return "interactive" if len(looks) < 9 else looks[-1]

    monkeypatch.setattr(BrowserTab, "look", slow)
    click(env, "more")
    assert len(looks) >= 9
