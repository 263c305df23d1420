"""The page that follows evaluations: what it reads, in a browser, and asked by hand."""

import errno
import fcntl
import http.client
import json
import re
import signal
import subprocess
import sys
import threading
from contextlib import contextmanager
from pathlib import Path

import pytest
from compared import result, turn
from raised import raises
from typer.testing import CliRunner
from watched import watch

from agentgym_envs.cli import app
from agentgym_envs.errors import ArgumentError
from agentgym_envs.evaluate import record
from agentgym_envs.evaluate.frames import read_rows
from agentgym_envs.evaluate.settings import RunSettings
from agentgym_envs.report.following import FollowedRuns
from agentgym_envs.report.view import ViewServer

pytestmark = pytest.mark.timeout(120)
HOSTILE = (
    "</pre><script>window.ran = 1</script><img src=x onerror='window.ran = 1'>\u2028\ud800 &lt;"
)
USAGE = {"calls": 2, "prompt_tokens": 900, "completion_tokens": 100, "cost": 0.5}


def played(task, success=True, words="go", cost=0.5, **changes):
    turns = [turn(1), turn(2, observation=f"a lamp near {task}", response=f"{words} 2")]
    return result(task, turns, success=success, usage={**USAGE, "cost": cost}, **changes)


def lost(task):
    head = {key: value for key, value in played(task).items() if key not in ("turns", "success")}
    return head | {"row": "fault", "fault": "provider", "try": 1, "turns": 1, "error": "no answer"}


def append(folder, *rows):
    with (folder / record.EPISODES).open("a") as file:
        file.write("".join(json.dumps(row) + "\n" for row in rows))


@pytest.fixture
def folder(tmp_path):
    record.write(tmp_path / "runs" / "one", {"model": "m"}, [played("a"), played("b", False)])
    return tmp_path / "runs" / "one"


@pytest.mark.parametrize("reading", [["view"], ["report"], None])
def test_a_folder_of_a_newer_version_is_refused_in_one_line(folder, reading):
    path = folder / record.SETTINGS
    path.write_text(json.dumps({**record.read_settings(folder), "layout": record.LAYOUT + 1}))
    text = f"{folder} was written by a newer version of agentgym-envs"
    if reading is None:
        with raises(ArgumentError, text):
            read_rows(folder)
        return
    run = CliRunner().invoke(app, [*reading, str(folder)])
    assert run.exit_code == 2
    (line,) = run.stderr.splitlines()
    assert line.startswith(f"error: {text}")


def seen(following):
    return [entry["task_id"] for entry in following.news(following.version, 0, -1)["entries"]]


def test_only_new_lines_are_read(folder):
    following = FollowedRuns([folder])
    file = folder / record.EPISODES
    size = file.stat().st_size
    append(folder, played("c"))
    news = following.news(following.version, 2, 2)
    assert [entry["task_id"] for entry in news["entries"]] == ["c"]
    assert (news["entries"][0]["tokens"], news["entries"][0]["cost"]) == (1000, 0.5)
    with file.open("r+b") as opened:
        opened.write(b"x" * size)  # whoever reads the first lines again fails
    append(folder, played("d"))
    assert seen(following) == ["a", "b", "c", "d"]


def test_half_a_line_waits_for_its_rest(folder):
    following = FollowedRuns([folder])
    line = json.dumps(played("c")) + "\n"
    with (folder / record.EPISODES).open("a") as file:
        file.write(line[:40])
        file.flush()
        assert seen(following) == ["a", "b"]
        file.write(line[40:])
    assert seen(following) == ["a", "b", "c"]


def test_a_file_that_was_replaced_is_read_from_its_beginning(folder):
    following = FollowedRuns([folder])
    before = following.version
    record.write(folder, {"model": "m"}, [played("z")])
    news = following.news(before, 2, 2)
    assert news["version"] > before
    assert [entry["task_id"] for entry in news["entries"]] == ["z"]
    assert [run["table"][0]["success"] for run in news["overview"]["runs"]] == [1.0]


def test_a_file_that_was_replaced_by_a_longer_one_is_read_from_its_beginning(folder):
    following = FollowedRuns([folder])
    record.write(folder, {"model": "m"}, [played(name, False) for name in "vwxyz"])
    assert seen(following) == list("vwxyz")


BREACHES = {
    "settings": lambda folder: (folder / record.SETTINGS).write_text("{"),
    "newer": lambda folder: (folder / record.SETTINGS).write_text('{"layout": 99}'),
    "prompts": lambda folder: (folder / record.PROMPTS).write_text("poem\n"),
    "line": lambda folder: append(folder, {"row": "poem"}),
}


@pytest.mark.parametrize("breach", BREACHES)
def test_a_broken_folder_is_named_and_the_others_are_shown(folder, breach):
    other = folder.parent / "broken"
    record.write(other, {"model": "m"}, [played("x")])
    good = FollowedRuns([folder.parent])
    BREACHES[breach](other)
    for following in (FollowedRuns([folder.parent]), FollowedRuns([other, folder]), good):
        news = following.news(following.version, 0, -1)
        assert {"a", "b"} <= {entry["task_id"] for entry in news["entries"]}
        assert "one" in [run["name"] for run in news["overview"]["runs"]]
        (problem,) = news["problems"]
        assert str(other) in problem
    record.write(other, {"model": "m"}, [played("x")])
    (other / record.PROMPTS).unlink(missing_ok=True)
    news = good.news(good.version, 0, -1)
    assert sorted(entry["task_id"] for entry in news["entries"]) == ["a", "b", "x"]
    assert news["problems"] == []


def test_an_empty_folder_fills_when_a_run_starts(tmp_path):
    following = FollowedRuns([tmp_path])
    news = following.news(following.version, 0, -1)
    assert (news["entries"], news["overview"]["runs"]) == ([], [])
    assert news["problems"] == [f"{tmp_path} holds no results yet"]
    record.write(tmp_path / "one", {"model": "m"}, [played("a")])
    news = following.news(following.version, 0, 0)
    assert [entry["task_id"] for entry in news["entries"]] == ["a"]
    assert [run["name"] for run in news["overview"]["runs"]] == ["one"]
    assert news["problems"] == []


def test_an_episode_with_cut_prompts_is_in_the_notes(folder):
    append(folder, played("c", prompt_limit=4096))
    following = FollowedRuns([folder])
    (run,) = following.news(following.version, 0, -1)["overview"]["runs"]
    assert any("num_ctx" in note and "4,096" in note for note in run["notes"])


def test_an_empty_folder_itself_becomes_a_run(tmp_path):
    following = FollowedRuns([tmp_path])
    record.write(tmp_path, {"model": "m"}, [played("a")])
    assert seen(following) == ["a"]


def test_a_run_that_begins_later_joins_the_others(folder):
    following = FollowedRuns([folder.parent])
    record.write(folder.parent / "a new one", {"model": "n"}, [played("n")])
    following._next = float("inf")  # the tables wait, but not for a new run
    news = following.news(following.version, 2, 2)
    assert [(entry["run"], entry["task_id"]) for entry in news["entries"]] == [(1, "n")]
    assert [run["name"] for run in news["overview"]["runs"]] == ["one", "a new one"]


def test_a_run_joins_before_its_first_episode(folder):
    following = FollowedRuns([folder.parent])
    before = following.news(following.version, 0, -1)["counted"]
    record.write(folder.parent / "later", {"model": "n"}, [])
    news = following.news(following.version, 2, before)
    assert [run["name"] for run in news["overview"]["runs"]] == ["one", "later"]
    following._next = float("inf")
    append(folder.parent / "later", played("n"))
    assert [entry["run"] for entry in following.news(following.version, 2, 4)["entries"]] == [1]


def test_the_tables_are_those_of_the_report(folder):
    """One of two tasks is solved, then two of three; a fault changes no success."""
    following = FollowedRuns([folder])
    following._next = 0.0
    append(folder, played("c"), lost("d"))
    news = following.news(following.version, 0, 2)
    (line,) = news["overview"]["runs"][0]["table"]
    assert (line["tasks"], line["faults"]) == ("3", 1)
    assert line["success"] == pytest.approx(2 / 3)
    again = following.news(following.version, 4, news["counted"])
    assert again["overview"] is None, "the page has them"


def test_texts_are_found_in_any_case(folder):
    append(folder, played("c", words="GO TO"), lost("d"))
    following = FollowedRuns([folder])
    assert following.search("go to", 0) == [2]
    assert following.search("NEAR b", 0) == [1]
    assert following.search("near", 1) == [1, 2]
    assert following.search("no answer", 0) == [3]


def test_an_invalid_line_is_one_clear_line(folder):
    following = FollowedRuns([folder])
    append(folder, played("c"), {"row": "poem"})
    (problem,) = following.news(following.version, 0, -1)["problems"]
    assert re.match(r"line 4 of .* is no episode", problem)
    assert seen(following) == ["a", "b", "c"], "the lines before it are shown"


@pytest.mark.parametrize(
    ("name", "why"),
    [
        ("none", "settings.json cannot be read (No such file or directory)"),
        ("file", "settings.json cannot be read (Not a directory)"),
    ],
)
def test_a_folder_without_results_is_refused(tmp_path, name, why):
    (tmp_path / "file").touch()
    done = CliRunner().invoke(app, ["view", str(tmp_path / name)])
    assert done.exit_code == 2
    assert f"{tmp_path / name} holds no results: {why}" in done.output
    assert len(done.output.strip().splitlines()) == 1


@contextmanager
def served(*folders):
    with ViewServer(FollowedRuns(list(folders))) as server:
        thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01})
        thread.start()
        try:
            yield server
        finally:
            server.shutdown()
            thread.join()


def asked(server, place, path=None, **headers):
    connection = http.client.HTTPConnection("127.0.0.1", server.server_port, timeout=10)
    connection.request("GET", path or f"/{server.token}/{place}", headers=headers)
    answer = connection.getresponse()
    told = answer.status, answer.read().decode()
    connection.close()
    return told


def test_whoever_is_not_the_page_is_refused(folder):
    with served(folder) as server:
        place = "episode?number=0"
        assert asked(server, place)[0] == 200
        assert server.server_address[0] == "127.0.0.1"
        assert asked(server, place, path=f"/{place}")[0] == 404
        assert asked(server, place, path=f"/{server.token}x/{place}")[0] == 404
        assert asked(server, place, Host="evil.test")[0] == 403
        assert asked(server, place, Origin="http://evil.test")[0] == 403


@pytest.mark.parametrize(
    ("place", "status", "why"),
    [
        ("episode?number=2", 400, "unknown episode 2: the runs have 2 episodes, from 0"),
        ("episode?number=-1", 400, "unknown episode -1: the runs have 2 episodes, from 0"),
        ("episode?number=x", 400, "number='x': must be an integer"),
        ("news", 400, "version='': must be an integer"),
        ("poem", 404, "page not found"),
    ],
)
def test_a_wrong_question_is_answered_with_an_error(folder, place, status, why):
    with served(folder) as server:
        assert asked(server, place) == (status, json.dumps({"error": why}))


def test_a_screenshot_comes_from_the_folder_alone(folder):
    (folder / "a.png").write_bytes(b"\x89PNG\r\n\x1a\n")
    (folder.parent / "b.png").write_bytes(b"\x89PNG\r\n\x1a\n")
    turns = [turn(1, screenshot="a.png"), turn(2, screenshot="../b.png"), turn(3)]
    append(folder, result("c", turns))
    found = FollowedRuns([folder]).texts(2)["turns"]
    assert [each["screenshot"] for each in found] == [
        "data:image/png;base64,iVBORw0KGgo=",
        -1,
        None,
    ]


@pytest.fixture
def opened(browser):
    """Opens a page; its complaints and its foreign requests fail the test."""
    contexts, complaints = [], []

    def build(server, fragment=""):
        contexts.append(browser.new_context(viewport={"width": 1280, "height": 900}))
        page = contexts[-1].new_page()
        watch(page, complaints, server.address())
        page.goto(server.address() + fragment)
        page.wait_for_selector("body[data-ready]")
        return page

    build.complaints = complaints
    yield build
    for context in contexts:
        context.close()
    assert complaints == []


def texts(page, selector):
    return page.locator(selector).evaluate_all("(all) => all.map((e) => e.textContent)")


def tasks(page):
    return texts(page, "#rows .entry > :nth-child(4)")


def counts(page, text):
    page.wait_for_function("(text) => byId('count').textContent === text", arg=text)


def lives(folders):
    return FollowedRuns(folders).news(1, 0, -1)["live"]


def test_a_run_is_live_while_a_process_has_its_lock(folder, tmp_path):
    """A run that goes on, one that was killed, one that ended, and a file system without locks."""
    assert lives([folder]) == [False]
    going = record.RunRecord(tmp_path / "going", RunSettings(agent="chat"))
    try:
        assert lives([folder.parent, tmp_path / "going"]) == [False, True]
        with raises(ArgumentError, "another run"):
            record.RunRecord(tmp_path / "going", RunSettings(agent="chat"))
    finally:
        going.close()
    assert lives([tmp_path / "going"]) == [False]
    record.RunRecord(tmp_path / "going", RunSettings(agent="chat")).close()


def test_a_killed_run_is_not_live(folder):
    code = "import fcntl, sys; f = open(sys.argv[1]); fcntl.flock(f, 2); print(flush=True); input()"
    command = [sys.executable, "-S", "-c", code, str(folder / record.EPISODES)]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE) as process:
        process.stdout.readline()
        assert lives([folder]) == [True]
        process.kill()
        process.wait()
        assert lives([folder]) == [False]


def test_a_training_run_is_live_while_it_has_its_own_lock(tmp_path):
    evaluation = tmp_path / "run" / "episodes" / "before"
    record.write(evaluation, {"step": 0}, [played("a")])
    with (tmp_path / "run" / ".lock").open("w") as file:
        assert lives([tmp_path / "run"]) == [False]
        fcntl.flock(file, fcntl.LOCK_SH)  # shared by its processes
        assert lives([tmp_path / "run"]) == [True]
    assert lives([tmp_path / "run"]) == [False]


def test_without_locks_nobody_knows_whether_a_run_is_live(folder, monkeypatch):
    def flock(file, how):
        raise OSError(errno.ENOLCK, "no locks")

    monkeypatch.setattr(fcntl, "flock", flock)
    assert lives([folder]) == [None]


def test_a_plan_that_grows_changes_the_tables(folder):
    following = FollowedRuns([folder])
    known = following.news(following.version, 0, -1)
    assert following.news(following.version, 2, known["counted"])["overview"] is None
    entry = {key: played("a")[key] for key in ("suite", "scenario", "family", "env_id")}
    entry |= {"attempts": 1, "episodes": 3, "tasks": dict.fromkeys("abc", 1)}
    settings = record.read_settings(folder) | {"planned": [entry]}
    (folder / record.SETTINGS).write_text(json.dumps(settings))
    following._next = 0.0  # tables are not computed all the time
    (run,) = following.news(following.version, 2, known["counted"])["overview"]["runs"]
    assert run["warning"].startswith("2 of 3 episodes, incomplete")
    assert run["table"][-1]["least"] == pytest.approx(1 / 3)


def test_episodes_appear_while_the_page_is_open(folder, opened):
    with served(folder.parent) as server:
        page = opened(server)
        assert tasks(page) == ["b", "a"], "the newest first"
        page.fill("[name=text]", "LAMP NEAR")
        append(folder, played("c", cost=0.125), lost("d"))
        counts(page, "3 of 4")
        page.fill("[name=text]", "")
        counts(page, "4 of 4")
        assert tasks(page) == ["d", "c", "b", "a"]
        assert page.inner_text("#used") == "4,000 tokens, cost 1.625"
        assert re.match(r"○ ended, last episode \d+ s ago", page.inner_text("#live"))
        with (folder / record.EPISODES).open() as file:
            fcntl.flock(file, fcntl.LOCK_EX)
            page.wait_for_function("() => byId('live').textContent.startsWith('● live, last')")
        page.wait_for_function("() => byId('table').textContent.includes('0.667')")
        assert texts(page, "[name=fault] option") == ["any", "provider"]
        page.click("#entry-1")
        page.wait_for_selector("#sides[data-episode='2']")
        assert texts(page, "pre.observation") == ["room 1", "a lamp near c", "the end"]
        append(folder, played("e"))
        counts(page, "5 of 5")
        assert page.is_visible("#episode"), "the open episode stays"
        assert page.inner_text("#position") == "3 of 5"
        page.click("#close")
        assert tasks(page)[0] == "e"


def test_a_run_that_begins_later_appears(folder, opened):
    with served(folder.parent) as server:
        page = opened(server)
        record.write(folder.parent / "two", {"model": "n"}, [played("n")])
        counts(page, "3 of 3")
        page.wait_for_function("() => byId('runs').children.length === 2")
        assert page.is_visible("[name=run]")
        page.select_option("[name=run]", "two")
        assert tasks(page) == ["n"]


def test_the_page_of_an_empty_folder_fills_when_a_run_starts(tmp_path, opened):
    with served(tmp_path) as server:
        page = opened(server)
        assert page.inner_text("#problem") == f"{tmp_path} holds no results yet"
        assert "no episode yet" in page.inner_text("#live")
        record.write(tmp_path / "one", {"model": "m"}, [played("a")])
        counts(page, "1 of 1")
        assert tasks(page) == ["a"]
        page.wait_for_selector("#problem", state="hidden")
        assert page.title() == "one – evaluation report"


def test_rows_in_sight_stay_while_new_ones_come(folder, opened):
    append(folder, *(played(f"t{n}") for n in range(100)))
    with served(folder) as server:
        page = opened(server)
        page.evaluate("() => { byId('list').scrollTop = 60 * ROW; }")
        page.wait_for_selector("#entry-65")
        before = texts(page, "#entry-62")
        append(folder, *(played(f"u{n}") for n in range(3)))
        counts(page, "105 of 105")
        assert texts(page, "#entry-65") == before
        assert page.evaluate("() => byId('list').scrollTop / ROW") == 63


def test_the_list_is_sorted_by_a_column(folder, opened):
    append(folder, played("t10", cost=0.25), played("t9", cost=2))
    with served(folder) as server:
        page = opened(server)
        heads = page.locator("#heads button")
        heads.get_by_text("Cost").click()
        assert tasks(page) == ["t9", "a", "b", "t10"]
        assert heads.last.inner_text() == "Cost ▼"
        page.wait_for_function("() => location.hash === '#sort=-cost'")
        heads.get_by_text("Cost").click()
        assert tasks(page) == ["t10", "a", "b", "t9"]
        heads.get_by_text("Task").click()
        assert tasks(page) == ["a", "b", "t9", "t10"], "numbers in names count"
        heads.get_by_text("Task").click()
        heads.get_by_text("Task").click()
        assert tasks(page) == ["t9", "t10", "b", "a"], "the newest first again"
        page = opened(server, "#sort=cost&q=t")
        assert tasks(page) == ["t10", "t9"]
        assert tasks(opened(server, "#sort=constructor")) == ["t9", "t10", "b", "a"]


def test_hostile_text_is_shown_exactly_and_runs_nothing(folder, opened):
    append(folder, played(HOSTILE, words=HOSTILE, goal=HOSTILE))
    with served(folder) as server:
        page = opened(server)
        page.click("#entry-0")
        page.wait_for_selector("#sides[data-episode='2']")
        script = "() => JSON.stringify(document.querySelectorAll('pre')[3].textContent)"
        assert json.loads(page.evaluate(script)) == f"a lamp near {HOSTILE}"
        assert page.evaluate("[window.ran, document.querySelectorAll('#sides img').length]") == [
            None,
            0,
        ]


def test_a_server_that_is_gone_is_said_and_a_bad_line_too(folder, opened):
    with served(folder) as server:
        page = opened(server)
        append(folder, {"row": "poem"})
        page.wait_for_selector("#problem:visible")
        assert "line 3 of" in page.inner_text("#problem")
        record.write(folder, {"model": "m"}, [played("a"), played("b"), played("c")])
        counts(page, "3 of 3")
        assert page.is_hidden("#problem")
    page.wait_for_function("() => byId('problem').textContent.includes('is it still running?')")
    opened.complaints.clear()  # the browser's own: bad request, connection refused


@pytest.mark.slow
def test_the_command_serves_until_it_is_interrupted(folder):
    command = [Path(sys.executable).parent / "agentgym", "view", folder]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as on:
        found = re.search(r"http://127\.0\.0\.1:(\d+)(/[\w-]+/)", on.stdout.readline())
        connection = http.client.HTTPConnection("127.0.0.1", int(found[1]), timeout=10)
        connection.request("GET", f"{found[2]}episode?number=1")
        assert json.loads(connection.getresponse().read())["last"] == "the end"
        connection.close()
        on.send_signal(signal.SIGINT)
        assert on.communicate(timeout=20)[1] == ""
        assert on.returncode == 128 + signal.SIGINT
