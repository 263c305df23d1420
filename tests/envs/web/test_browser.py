"""The browser runtime, on the tests' pages: observations, actions, and the limits of a page."""

import os
import re
import sys
import time
from datetime import UTC, datetime

import psutil
import pytest
from pages import ORIGIN, Outside, PagesEnv, click
from raised import raises
from some import full

from agentgym_envs.envs.web import chromium
from agentgym_envs.envs.web.look import elements, find
from agentgym_envs.envs.web.proxy import ProxyReply
from agentgym_envs.envs.web.tab import REQUEST_WAIT
from agentgym_envs.errors import ArgumentError, MissingBrowser

pytestmark = pytest.mark.timeout(180)


def test_an_observation_has_webarenas_parts(make):
    env = make("<title>Home</title><h1>Welcome</h1><a href=/x>It's here</a><input aria-label=Name>")
    text, info = env.reset(seed=1)
    assert text.splitlines() == [
        "Tab 0 (current): Home",
        "",
        "[1] RootWebArea 'Home' focused: True",
        "\t[2] heading 'Welcome'",
        '\t[3] link "It\'s here"',
        "\t[4] textbox 'Name' required: False",
        "",
        f"URL: {ORIGIN}/",
        "OBJECTIVE: look around",
        "PREVIOUS ACTION: None",
    ]
    text, _, _, _, info = env.step("click [99]")
    assert text.splitlines()[-2:] == [
        "PREVIOUS ACTION: click [99]",
        "ERROR: there is no element [99] on this page",
    ]
    assert info["invalid"]
    assert info["url"] == f"{ORIGIN}/"


def test_an_element_keeps_its_id_while_the_page_changes(make):
    number = "'number ' + document.querySelectorAll('p').length"
    grow = (
        "document.body.prepend(Object.assign(document.createElement('p'), {textContent:"
        f" {number}}}))"
    )
    env = make(f'<button onclick="{grow}">Add</button>')
    env.reset(seed=1)
    button = find(env._text, "Add").id
    for _ in range(3):
        click(env, "Add")
        assert find(env._text, "Add").id == button
    new = [e.id for e in elements(env._text) if e.name.startswith("number")]
    assert len(set(new)) == 3
    assert min(new) > button


def test_fields_lists_and_keys(make):
    env = make(
        "<form action=/sent><input name=a aria-label=A><select name=b"
        " aria-label=B><option>one<option value=2>two</select><input type=checkbox name=c"
        " aria-label=C></form>",
    )
    env.pages["/sent"] = "<title>Sent</title>"
    env.reset(seed=1)
    chooser = find(env._text, "B").id
    said = env.step(f"select [{chooser}] [three]")[0].splitlines()[-1]
    assert said == f"ERROR: element [{chooser}] has no option 'three', only one, two"
    env.step(f"select [{chooser}] [two]")
    click(env, "C")
    env.step("press [ctrl+k]")
    assert "ERROR: 'Nonsense' is no key" in env.step("press [Nonsense]")[0]
    *_, info = env.step(f"type [{find(env._text, 'A').id}] [x y] [1]")
    assert info["url"] == f"{ORIGIN}/sent?a=x+y&b=2&c=on"


def test_tabs_dialogs_history_and_scrolling(make):
    env = make(
        {
            "/": (
                "<title>One</title><a href=/two target=_blank>open</a><button"
                " onclick=\"alert('Careful')\">warn</button><div style=height:3000px></div>"
            ),
            "/two": "<title>Two</title><a href=/three>on</a>",
            "/three": "<title>Three</title>",
        },
        history=2,
    )
    env.reset(seed=1)
    assert "DIALOG: alert: Careful (accepted)" in click(env, "warn")[0]
    assert click(env, "open")[0].startswith("Tab 0: One | Tab 1 (current): Two")
    assert click(env, "on")[4]["url"] == f"{ORIGIN}/three"
    assert env.step("go_back")[4]["url"] == f"{ORIGIN}/two"
    assert env.step("go_forward")[4]["url"] == f"{ORIGIN}/three"
    assert env.step("tab_focus [0]")[0].startswith("Tab 0 (current): One | Tab 1: Three")
    text = env.step("tab_focus [5]")[0]
    assert "ERROR: there is no tab 5: the last is 1" in text
    assert "PREVIOUS ACTION: tab_focus [0]; tab_focus [5]" in text
    env.step("scroll [down]")
    assert env.session.page.evaluate("scrollY") == 720
    env.step("tab_focus [1]")
    assert env.step("close_tab")[0].startswith("Tab 0 (current): One\n")
    assert env.step("close_tab")[4]["url"] == "about:blank"
    assert env.step(f"goto [{ORIGIN}/two]")[4]["url"] == f"{ORIGIN}/two"
    assert "http and https addresses only" in env.step("goto [file:///etc/passwd]")[0]


def test_the_page_that_judges_see_is_where_the_agent_is(make):
    """Actions bypass Playwright, which must know of them when it is asked."""
    env = make({"/": "<a href=/two>on</a>", "/two": "<title>Two</title>"})
    for _ in range(2):
        env.reset(seed=1)
        assert env.session.page.url == f"{ORIGIN}/"
        click(env, "on")
        assert env.session.page.url == f"{ORIGIN}/two"


def test_a_page_that_is_judged_gets_no_consent(make):
    """WebArena dismisses the dialogs of the pages that it judges."""
    env = make("<p>")
    env.reset(seed=1)
    with env.session.another_tab() as page:
        page.goto(f"{ORIGIN}/")
        assert page.evaluate("[confirm('Delete?'), prompt('Name?', 'x')]") == [False, None]


def test_going_back_ends_at_the_first_page(make):
    """A tab begins blank, and the blank page is part of its history."""
    env = make({"/": "<title>One</title>", "/two": "<title>Two</title>"})
    env.reset(seed=1)
    text, *_, info = env.step("go_back")
    assert (info["url"], info["invalid"]) == (f"{ORIGIN}/", True)
    assert text.endswith("ERROR: there is no page to go back to")
    env.step("new_tab")
    assert env.step("go_back")[4]["invalid"]
    env.step(f"goto [{ORIGIN}/two]")
    text, *_, info = env.step("go_back")
    assert (info["url"], info["invalid"]) == ("about:blank", False)
    assert "ERROR" not in text
    env.step("go_forward")
    env.session.page.evaluate("history.pushState(0, '')")  # a second page of the same address
    assert not env.step("go_back")[4]["invalid"]


@pytest.mark.parametrize("size", [(1280, 900), {"width": 1280, "height": 900}, 1, "on", None])
def test_a_viewport_is_no_size(size):
    with pytest.raises(ArgumentError) as error:
        PagesEnv({}, viewport=size)
    shown = (
        "must be True, to show what is in view of a window of 1280 × 720 pixels, or False, to show"
        " the whole page"
    )
    assert str(error.value) == f"viewport={size!r} {shown}"


def test_the_viewport_and_the_cut(make):
    page = "<a href=/a>above</a><div style=height:2000px></div><a href=/b>below</a>"
    assert [e.name for e in elements(make(page).reset(seed=1)[0])] == ["", "above", "below"]
    env = make(page, viewport=True)
    assert [e.name for e in elements(env.reset(seed=1)[0])] == ["", "above"]
    for _ in range(3):
        env.step("scroll [down]")
    assert [e.name for e in elements(env._text)] == ["", "below"]
    long = make("".join(f"<p>paragraph number {i}</p>" for i in range(400)), max_length=1000)
    text = long.reset(seed=1)[0]
    assert "more characters; scroll" in text
    assert len(text) < 1300


def test_a_click_meets_what_has_scrolled_into_view_and_what_is_not_covered(make):
    env = make(
        "<div style='height:200px;overflow:auto'><div style=height:900px></div>"
        "<button onclick=document.title='deep'>Deep</button></div>"
        "<div style='position:relative'><button style='width:200px'"
        " onclick=document.title='wide'>Wide</button>"
        "<div style='position:absolute;left:60px;top:0;width:90px;height:30px;background:red'>"
        "</div></div>"
    )
    env.reset(seed=1)
    click(env, "Deep")
    assert env.session.page.title() == "deep"
    click(env, "Wide")
    assert env.session.page.title() == "wide"


def test_a_click_waits_for_what_moves_away_when_the_pointer_comes(make):
    env = make(
        "<style>button { position: relative } .away { left: 500px }</style><div"
        " style=width:900px><button>Save</button></div><script>const b ="
        " document.querySelector('button');b.onmouseenter = () => { b.className = 'away';"
        " setTimeout(() => b.className = '', 200) };b.onclick = () => document.title ="
        " 'Saved'</script>"
    )
    env.reset(seed=1)
    assert "Tab 0 (current): Saved" in click(env, "Save")[0]


@pytest.mark.parametrize(
    "action", ["click [{}]", "hover [{}]", "type [{}] [two] [0]", "select [{}] [two]"]
)
@pytest.mark.parametrize(
    "change",
    [lambda page: page.evaluate("document.body.innerHTML = ''"), lambda page: page.reload()],
    ids=["removed", "reloaded"],
)
def test_an_action_on_an_element_that_has_gone_is_refused(make, action, change):
    env = make("<select aria-label=Number><option>one<option>two</select>")
    number = re.search(r"\[(\d+)\] combobox 'Number'", env.reset(seed=1)[0])[1]
    change(env.session.page)
    observation, *_, info = env.step(action.format(number))
    assert info["invalid"]
    assert f"ERROR: element [{number}] is not on the page any more" in observation


def test_the_page_itself_and_a_page_that_hides_its_elements_can_be_clicked(make):
    env = make(
        "<button onclick=\"document.title += '"
        " pressed'\">Press</button><script>document.elementFromPoint = () => { throw Error('no') };"
        " onclick = () => document.title += ' clicked'</script>"
    )
    env.reset(seed=1)
    assert "Tab 0 (current): clicked\n" in env.step("click [1]")[0]
    assert "Tab 0 (current): clicked pressed clicked\n" in click(env, "Press")[0]


def test_nothing_but_the_tasks_own_pages_can_be_reached(make, outside):
    socket = outside.replace("http", "ws")
    env = make(
        {
            "/": (
                f"<img src={outside}/image><link rel=stylesheet href={outside}/style><iframe"
                f" src={outside}/frame></iframe><script>fetch('{outside}/fetch').catch(() => 0);"
                f" navigator.sendBeacon('{outside}/beacon');new WebSocket('{socket}/socket');"
                f" </script><a href={outside}/link>leave</a><a href=/away>away</a><a"
                f" href='data:text/plain,x' download=x.txt>save</a><form action={outside}/form"
                " method=post><button>send</button></form>"
            ),
            "/away": ProxyReply(302, {"Location": f"{outside}/redirected"}, b""),
        }
    )
    env.reset(seed=1)
    for name in ("leave", "send", "save"):
        click(env, name)
    *_, info = click(env, "away")
    assert "about" in info["url"] or info["url"].startswith(ORIGIN)
    *_, info = env.step(f"goto [{outside}/goto]")
    assert info["invalid"]
    assert Outside.hits == []
    assert info["blocked"][outside] >= 8
    assert outside.removeprefix("http://") in info["blocked"]


def test_service_workers_are_refused(make, outside):
    env = make(f"<a href={outside}/worker>go</a>", outside=(outside,))
    env.reset(seed=1)
    *_, info = click(env, "go")
    assert info["blocked"] == {"service worker": 1}


def test_a_redirect_stays_within_the_task(make):
    env = make(
        {
            "/": "<a href=/old>go</a>",
            "/old": ProxyReply(302, {"Location": "/new?x=<b>"}, b""),
            "/new": "<title>New</title>",
        }
    )
    env.reset(seed=1)
    *_, info = click(env, "go")
    assert info["url"] == f"{ORIGIN}/new?x=%3Cb%3E"
    assert env.session.page.title() == "New"
    assert env.step("go_back")[4]["url"] == f"{ORIGIN}/"


STORE = """<title>-</title><script>
document.title = [localStorage.x, sessionStorage.x, document.cookie, history.length > 1].join('|');
localStorage.x = sessionStorage.x = 'seen'; document.cookie = 'x=seen';
</script><a href=/?more>again</a>"""


def test_an_episode_sees_nothing_of_another(make):
    env, other = make(STORE), make(STORE)
    env.reset(seed=1)
    click(env, "again")
    assert env.session.page.title() == "seen|seen|x=seen|true"
    env.session.context.add_cookies(
        [{"name": "x", "value": "of a page never opened", "url": "http://other.test"}]
    )
    for fresh in (env, other):
        fresh.reset(seed=2)
        assert fresh.session.page.title().startswith("|||")
        assert [cookie["domain"] for cookie in fresh.session.context.cookies()] == ["pages.test"]
        assert fresh.step("go_back")[4]["url"] in (f"{ORIGIN}/", "about:blank")
        assert fresh.session.chromium is env.session.chromium


def test_a_missing_browser_is_named(make, monkeypatch):
    with raises(MissingBrowser, "'no-such-browser'"):
        make("<p>", browser="no-such-browser").reset(seed=1)
    monkeypatch.setattr(chromium.shutil, "which", lambda name: None)
    with pytest.raises(MissingBrowser, match="agentgym install web"):
        chromium.find(None, "/nowhere/chromium")


def program(folder, script):
    file = folder / "browser"
    file.write_text(f"#!/bin/sh\n{script}\n")
    file.chmod(0o755)
    return str(file)


def running():
    """Returns the running children of this process."""
    return [p.pid for p in psutil.Process().children() if p.status() != psutil.STATUS_ZOMBIE]


@pytest.mark.parametrize(
    ("script", "reason"),
    [
        (
            "echo one >&2; echo 'cannot open shared object file: libnss3.so' >&2; exit 127",
            r"cannot open shared object file: libnss3\.so",
        ),
        *full(("exit 0", r"BrowserType\.launch: [^\n]+")),  # in Playwright's words
    ],
)
def test_a_browser_that_does_not_start_is_one_line(alone, make, tmp_path, script, reason):
    name = program(tmp_path, script)
    env = make("<p>", browser=name)
    drivers = running()
    for _ in range(2):
        with pytest.raises(MissingBrowser) as error:
            env.reset(seed=1)
        said = (
            rf"{re.escape(name)} does not start \({reason}\): run it by hand, or name another with"
            r" browser="
        )
        assert re.fullmatch(said, str(error.value))
        assert error.value.__context__ is None
    assert running() == drivers


@pytest.mark.skipif(sys.platform != "linux", reason="other systems always have a display")
@pytest.mark.parametrize("display", [None, *full(":77")])
def test_a_window_without_a_display_is_one_line(make, monkeypatch, display):
    for name in ("DISPLAY", "WAYLAND_DISPLAY"):
        monkeypatch.delenv(name, raising=False)
    if display:
        monkeypatch.setenv("DISPLAY", display)
    with raises(MissingBrowser, "display", "xvfb-run"):
        make("<p>", headed=True).reset(seed=1)


def test_the_browser_is_looked_for_in_order(tmp_path, monkeypatch):
    own = tmp_path / "own"
    monkeypatch.setattr(chromium.shutil, "which", lambda name: f"/usr/bin/{name}")
    assert chromium.find("mine", str(own)) == "/usr/bin/mine"
    assert chromium.find(None, str(own)) == "/usr/bin/chromium-headless-shell"
    assert chromium.find(None, str(own), headed=True) == "/usr/bin/chromium"
    own.touch()
    assert chromium.find(None, str(own)) == str(own)


@pytest.mark.full
def test_a_browser_is_named_as_in_a_shell(make, tmp_path, monkeypatch):
    program(tmp_path, f'exec "{chromium.find(None, chromium.own_executable())}" "$@"')
    monkeypatch.setenv("PATH", str(tmp_path), prepend=os.pathsep)
    assert "StaticText 'text'" in make("<p>text", browser="browser").reset(seed=1)[0]


def test_screenshots_are_kept(make, tmp_path):
    env = make("<p>a", screenshots=tmp_path)
    env.reset(options={"task_id": "page-0"})
    env.step("scroll [down]")
    assert [p.name for p in sorted(tmp_path.iterdir())] == ["page-0-0.png", "page-0-1.png"]
    assert all(p.read_bytes().startswith(b"\x89PNG") for p in tmp_path.iterdir())


def test_a_pages_own_timers_run_out_within_an_action_whatever_the_machine_does(make, monkeypatch):
    """Results at one second of the page's clock are always seen, results at three seconds never.

    No real second passes.
    """
    monkeypatch.setattr(PagesEnv, "clock", datetime(2030, 1, 2, tzinfo=UTC))
    monkeypatch.setattr(PagesEnv, "tick", 2000)
    env = make(
        {
            "/": (
                '<button onclick="for (const s of [0.03, 1, 3]) setTimeout(() =>'
                " document.body.append(`(${s})`), 1000 * s);setTimeout(() => fetch('/late').then(r"
                " => r.text()).then(t => document.body.append(t)),"
                ' 500)">wait</button><script>document.body.append(new'
                " Date().toISOString())</script>"
            ),
            "/late": "(late)",
        }
    )
    assert "2030-01-02T00:00:00.000Z" in env.reset(seed=1)[0]
    text = click(env, "wait")[0]
    assert [s for s in ("(0.03)", "(1)", "(late)", "(3)") if s in text] == [
        "(0.03)",
        "(1)",
        "(late)",
    ]
    assert "(3)" in env.step("scroll [down]")[0]


@pytest.mark.parametrize(
    "how",
    ["location = '/next'", "window.open('/next')", "setTimeout(() => window.open('/next'), 500)"],
)
def test_the_page_that_an_action_leads_to_has_its_time_too(make, monkeypatch, how):
    monkeypatch.setattr(PagesEnv, "clock", datetime(2030, 1, 2, tzinfo=UTC))
    monkeypatch.setattr(PagesEnv, "tick", 2000)
    env = make(
        {
            "/": f'<button onclick="{how}">on</button>',
            "/next": "<script>setTimeout(() => document.body.append('(in time)'), 1500)</script>",
        }
    )
    for _ in range(3):
        env.reset(seed=1)
        assert "(in time)" in click(env, "on")[0]


def test_requests_that_stay_open_do_not_hold_up_an_action(make, outside):
    env = make(
        f"<button onclick=\"new EventSource('{outside}/hang');"
        f" fetch('{outside}/hang')\">listen</button>",
        outside=(outside,),
    )
    env.reset(seed=1)
    times = []
    for _ in range(3):
        start = time.monotonic()
        click(env, "listen") if not times else env.step("scroll [down]")
        times.append(time.monotonic() - start)
    assert times[0] < REQUEST_WAIT + 2
    assert max(times[1:]) < REQUEST_WAIT / 2


@pytest.mark.parametrize("paced", [True, False])
def test_frames_are_limited_where_pages_load(make, monkeypatch, paced):
    """Without a limit, a page that loads or moves fills a core with frames that are never seen."""
    monkeypatch.setattr(PagesEnv, "paced", paced)
    env = make("<p>hello")
    env.reset(seed=1)
    command = psutil.Process(env.session.chromium.pid).cmdline()
    assert (chromium.UNPACED in command) is not paced
