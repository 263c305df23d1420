"""The page on which episodes are compared, in a browser and asked by hand."""

import errno
import http.client
import json
import os
import re
import signal
import subprocess
import sys
import threading
import time
from contextlib import contextmanager
from pathlib import Path

import pytest
from compared import folder, result, turn
from raised import raises
from watched import watch

from agentgym_envs.errors import ArgumentError
from agentgym_envs.evaluate.record import EpisodeRows
from agentgym_envs.feedback.pairs import pairs
from agentgym_envs.feedback.record import ComparisonFile, read, standing
from agentgym_envs.feedback.server import JudgingServer
from agentgym_envs.feedback.session import JudgingSession

pytestmark = pytest.mark.timeout(120)
HOSTILE = (
    "</pre><script>window.ran = 1</script><img src=x onerror='window.ran = 1'>\u2028\x00\ud800 &lt;"
    " $policy"
)


def runs(*texts, tasks=3):
    """Two runs whose responses name them."""
    words = texts or ("of one", "of two")
    return [
        (
            name,
            [
                result(f"t-{i}", [turn(1), turn(2, response=f"{word}: go 2"), turn(3)], last=word)
                for i in range(tasks)
            ],
        )
        for name, word in zip(("one", "two"), words, strict=True)
    ]


@contextmanager
def served(played, file=None):
    """A server of a session; its port and token are its address's."""
    session = JudgingSession(
        pairs(played, lambda env_id: "Find the lamp.\nActions: go"), file or EpisodeRows(), seed=0
    )
    with JudgingServer(session) as server:
        thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01})
        thread.start()
        try:
            yield server
        finally:
            server.shutdown()
            thread.join()


@pytest.fixture
def opened(browser):
    """Opens a page; its complaints and its foreign requests fail the test."""
    contexts, complaints = [], []

    def build(server, name="kim"):
        contexts.append(browser.new_context(viewport={"width": 1280, "height": 800}))
        page = contexts[-1].new_page()
        watch(page, complaints, server.address())
        page.goto(server.address(name))
        if name:
            reached(page, f"{name} ")
        return page

    build.complaints = complaints
    yield build
    for context in contexts:
        context.close()
    assert complaints == []


def reached(page, ready):
    page.wait_for_selector(f"body[data-ready^='{ready}']")


def texts(page, selector):
    return json.loads(
        page.locator(selector).evaluate_all(
            "(all) => JSON.stringify(all.map((e) => e.textContent))"
        )
    )


def press(page, *keys):
    """Presses keys of which each leads to another pair."""
    for key in keys:
        before = page.get_attribute("body", "data-ready")
        page.keyboard.press(key)
        page.wait_for_function(
            "(b) => document.body.dataset.ready !== b && document.body.dataset.ready", arg=before
        )


def on_the_left(page):
    """Whose episode the left one is."""
    return "one" if texts(page, "#sides .turn")[2].count("of one") else "two"


def test_a_pair_is_judged_by_keyboard_and_recorded_for_its_run(opened, tmp_path):
    file = ComparisonFile(tmp_path / "c.jsonl")
    with served(runs(tasks=6), file) as server:
        page, expected = opened(server), []
        for number in range(6):
            assert page.inner_text("#position") == f"{number + 1} of 6"
            left, key = on_the_left(page), "ab"[number % 2]
            expected.append("a" if (left == "one") == (key == "a") else "b")
            press(page, key)
        assert page.inner_text("#total") == "Thank you, kim: 6 pairs."
    rows = read(tmp_path / "c.jsonl")[0]
    file.close()
    assert [(row["task_id"], row["choice"], row["annotator"]) for row in rows] == [
        (f"t-{i}", choice, "kim") for i, choice in enumerate(expected)
    ]
    assert {row["a"]["run"] for row in rows} == {"one"}
    assert rows[0]["instructions"] == "Find the lamp.\nActions: go"
    assert set(expected) == {"a", "b"}


def test_all_keys_do_what_the_help_says(opened):
    file = EpisodeRows()
    with served(runs(tasks=4), file) as server:
        page = opened(server)
        page.keyboard.press("?")
        assert page.locator("#help").is_visible()
        page.keyboard.press("t")  # not a judgement
        page.keyboard.press("Escape")
        page.keyboard.press("r")
        assert page.locator("#instructions").is_visible()
        page.keyboard.press("c")
        page.keyboard.type("both went about ?")
        page.keyboard.press("Enter")
        press(page, "t")
        assert page.input_value("#comment") == ""
        press(page, "n")
        assert [(row["choice"], row["comment"]) for row in file.rows] == [
            ("tie", "both went about ?"),
            ("neither", ""),
        ]
        for step, reached_turn in (("ArrowRight", 1), ("ArrowRight", 2), ("ArrowLeft", 1)):
            page.keyboard.press(step)
            here = page.locator("#sides .turn").evaluate_all(
                "(all) => all.map((e) => e.classList.contains('here'))"
            )
            assert [i for i, is_here in enumerate(here) if is_here] == [
                2 * reached_turn,
                2 * reached_turn + 1,
            ]
        top = page.locator(".turn.here").first.bounding_box()["y"]
        assert page.locator("#sides .side").first.bounding_box()["y"] + 20 < top < 400
        page.evaluate("scrollTo(0, 0)")
        page.keyboard.press("ArrowDown")
        page.wait_for_function("() => scrollY > 0")


def test_undo_reload_and_another_annotator(opened):
    file = EpisodeRows()
    with served(runs(tasks=2), file) as server:
        page = opened(server)
        page.keyboard.press("c")
        page.keyboard.type("nearer")
        page.keyboard.press("Escape")
        press(page, "a", "u")
        assert page.inner_text("#position") == "1 of 2"
        assert page.input_value("#comment") == "nearer"
        assert texts(page, "#choices [aria-pressed=true]") == ["a A is better"]
        press(page, "t")
        page.reload()
        reached(page, "kim 1")
        assert page.inner_text("#position") == "2 of 2"
        press(page, "n")
        other = opened(server, "lee & co")
        assert other.inner_text("#position") == "1 of 2"
        press(other, "t", "t")
        assert (
            other.inner_text("#agreement")
            == "agreement of kim, lee & co on 2 pairs: 0.50, Cohen's κ 0.00"
        )
        press(other, "u")
        assert other.inner_text("#position") == "2 of 2"
        press(page, "u")
        assert page.inner_text("#position") == "2 of 2"
        page.click("#rename")
        page.keyboard.type("max")
        page.keyboard.press("Enter")
        reached(page, "max 0")
    assert [(row["annotator"], row["task_id"], row["choice"]) for row in standing(file.rows)] == [
        ("kim", "t-0", "tie"),
        ("lee & co", "t-0", "tie"),
    ]


def test_what_is_typed_at_once_after_the_name_was_left_is_no_judgement(opened):
    file = EpisodeRows()
    with served(runs(), file) as server:
        page = opened(server)
        key = "new KeyboardEvent('keydown', {key: 'a', bubbles: true})"
        page.evaluate(
            "() => { document.querySelector('#rename').click();"
            f" document.activeElement.dispatchEvent({key}) }}"
        )
        assert page.evaluate("document.activeElement.name") == "name"
        page.keyboard.type("max")
        page.keyboard.press("Enter")
        reached(page, "max 0")
    assert file.rows == []


def test_the_page_asks_for_a_name(opened):
    with served(runs()) as server:
        page = opened(server, "")
        page.keyboard.press("Enter")
        assert page.locator("#pair").is_hidden()
        page.keyboard.type("kim")
        page.keyboard.press("Enter")
        reached(page, "kim 0")
        assert page.url == server.address("kim")
        assert page.inner_text("#rename") == "kim"


def test_texts_are_shown_exactly_and_run_nothing(opened):
    played = runs(HOSTILE, "x" + HOSTILE, tasks=2)
    for _, rows in played:
        for row in rows:
            row |= {"task_id": HOSTILE + row["task_id"], "env_id": HOSTILE}
            row["turns"][0] |= {
                "observation": HOSTILE,
                "action": HOSTILE,
                "seat": HOSTILE,
                "response": HOSTILE,
            }
            row["turns"][1] |= {"seat": "player_1"}
    with served(played) as server:
        page = opened(server, HOSTILE[:40])
        assert texts(page, "#sides pre.observation")[:2] == [HOSTILE, HOSTILE]
        assert sorted(texts(page, "#sides pre.response")) == sorted(
            [f"{HOSTILE}: go 2", f"x{HOSTILE}: go 2"]
        )
        assert texts(page, "#sides pre.action")[:2] == [HOSTILE, HOSTILE]
        assert texts(page, "#sides .seat .dot") == [HOSTILE, HOSTILE, "player_1", "player_1"]
        assert texts(page, "#task") == [f"{HOSTILE} · {HOSTILE}t-0"]
        page.fill("#comment", HOSTILE)
        page.locator("#choices [value=tie]").click()
        page.wait_for_function("() => document.querySelector('#position').textContent === '2 of 2'")
        assert page.evaluate(
            "[window.ran, document.querySelectorAll('img, iframe, #sides script').length]"
        ) == [None, 0]
        assert page.evaluate("document.documentElement.scrollWidth - innerWidth") <= 0


def test_the_browser_is_not_told_whose_an_episode_is_or_how_it_scored(opened):
    played = runs("x", "y")
    for name, rows in played:
        for row in rows:
            row |= {"settings": f"settings-{name}", "score": 0.123}
    with served([(f"folder-{name}", rows) for name, rows in played]) as server:
        answers = []
        page = opened(server)
        page.on("response", lambda response: answers.append(response))
        page.reload()
        reached(page, "kim 0")
        press(page, "t")
        said = [answer.text() for answer in answers]
    assert [json.loads(text)["question"]["task_id"] for text in said[1:]] == ["t-0", "t-1"]
    assert not any(re.search(r"folder-|settings-|0\.123", text) for text in said)
    assert not any("reward" in text for text in said[1:])


def test_a_server_that_is_gone_is_said_and_nothing_is_lost(opened):
    file = EpisodeRows()
    with served(runs(), file) as server:
        page = opened(server)
        press(page, "t")
    page.keyboard.press("t")
    page.wait_for_selector("#problem:visible")
    assert "is agentgym compare still running? What was judged before is saved." in page.inner_text(
        "#problem"
    )
    assert page.inner_text("#position") == "2 of 3"
    assert len(file.rows) == 1
    opened.complaints.clear()  # the browser's own: connection refused


def asked(server, method="GET", place="", body=None, path=None, **headers):
    connection = http.client.HTTPConnection("127.0.0.1", server.server_port, timeout=10)
    content = None if body is None else json.dumps(body)
    given = {"Content-Type": "application/json"} if body is not None else {}
    named = {name.replace("_", "-"): value for name, value in headers.items()}
    connection.request(method, path or f"/{server.token}/{place}", content, given | named)
    answer = connection.getresponse()
    text = answer.read().decode()
    connection.close()
    return answer.status, text


def test_whoever_is_not_the_page_is_refused():
    file = EpisodeRows()
    with served(runs(), file) as server:
        judgement = {"annotator": "kim", "number": 0, "choice": "tie", "comment": ""}
        here = f"127.0.0.1:{server.server_port}"
        assert asked(server)[0] == 200
        assert asked(server, place="state?annotator=kim", Origin=f"http://{here}")[0] == 200
        assert asked(server, path="/")[0] == 404
        assert asked(server, path="/state?annotator=kim")[0] == 404
        assert asked(server, path=f"/{server.token}x/state?annotator=kim")[0] == 404
        assert (
            asked(server, "POST", body=judgement, path=f"/{'x' * len(server.token)}/judge")[0]
            == 404
        )
        for host in ("evil.test", f"evil.test:{server.server_port}", "127.0.0.1", "127.0.0.1:1"):
            assert asked(server, Host=host)[0] == 403
            assert asked(server, "POST", "judge", judgement, Host=host)[0] == 403
        for origin in (
            "http://evil.test",
            "null",
            f"https://{here}",
            f"http://localhost:{server.server_port}",
        ):
            assert asked(server, place="state?annotator=kim", Origin=origin)[0] == 403
            assert asked(server, "POST", "judge", judgement, Origin=origin)[0] == 403
        assert asked(server, "POST", "judge", judgement, Content_Type="text/plain")[0] == 400
        assert asked(server, "POST", "judge", judgement, Content_Length="2000000")[0] == 400
        assert file.rows == []
        assert asked(server, "POST", "judge", judgement)[0] == 200
        assert len(file.rows) == 1
        assert server.server_address[0] == "127.0.0.1"


@pytest.mark.parametrize(
    ("place", "body"),
    [
        ("judge", {"annotator": "kim", "number": 0, "choice": "a", "comment": ""}),
        ("judge", {"annotator": "", "number": 0, "choice": "tie", "comment": ""}),
        ("judge", {"annotator": "kim", "number": "0", "choice": "tie", "comment": ""}),
        ("judge", {"annotator": "kim", "number": 0, "choice": "tie"}),
        ("judge", ["kim"]),
        ("undo", {}),
        ("poem", {"annotator": "kim"}),
    ],
)
def test_what_is_no_judgement_changes_nothing(place, body):
    file = EpisodeRows()
    with served(runs(), file) as server:
        status, text = asked(server, "POST", place, body)
        assert status == 400
        assert json.loads(text)["error"]
    assert file.rows == []


def test_a_judgement_that_cannot_be_saved_is_said_and_comes_again(tmp_path, monkeypatch):
    file, write = ComparisonFile(tmp_path / "c.jsonl"), os.write
    judgement = {"annotator": "kim", "number": 0, "choice": "tie", "comment": ""}

    def full(to, line):
        if b'"comparison"' in line:
            write(to, line[:40])
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
        return write(to, line)

    with served(runs(), file) as server:
        with monkeypatch.context() as patched:
            patched.setattr(os, "write", full)
            status, text = asked(server, "POST", "judge", judgement)
        assert status == 400
        assert "No space left on device. This line is not saved" in json.loads(text)["error"]
        assert json.loads(asked(server, place="state?annotator=kim")[1])["done"] == 0
        assert json.loads(asked(server, "POST", "judge", judgement)[1])["done"] == 1
    file.close()
    assert [row["task_id"] for row in read(tmp_path / "c.jsonl")[0]] == ["t-0"]


def test_a_port_that_is_taken_is_said():
    with (
        served(runs()) as server,
        raises(ArgumentError, f"port {server.server_port}"),
    ):
        JudgingServer(None, port=server.server_port)


@pytest.mark.full
@pytest.mark.slow
def test_the_command_serves_until_it_is_interrupted_and_goes_on_where_it_stopped(tmp_path):
    for name, rows in runs():
        folder(tmp_path / name, rows)
    command = [
        Path(sys.executable).parent / "agentgym",
        "compare",
        "one",
        "two",
        "--annotator",
        "kim",
        "--port",
        "0",
    ]
    for done in (0, 1):
        with subprocess.Popen(
            command, cwd=tmp_path, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
        ) as running:
            found = re.search(
                r"3 pairs: http://127\.0\.0\.1:(\d+)/([\w-]+)/#kim", running.stdout.readline()
            )
            connection = http.client.HTTPConnection("127.0.0.1", int(found[1]), timeout=10)
            body = json.dumps({"annotator": "kim", "number": done, "choice": "tie", "comment": ""})
            connection.request(
                "POST", f"/{found[2]}/judge", body, {"Content-Type": "application/json"}
            )
            assert json.loads(connection.getresponse().read())["done"] == done + 1
            time.sleep(0.1)
            running.send_signal(signal.SIGINT)
            out, err = running.communicate(timeout=20)
            assert (running.returncode, err) == (0, "")
            assert "comparisons.jsonl: agreement" in out
    rows = read(tmp_path / "comparisons.jsonl")[0]
    assert [row["task_id"] for row in rows] == ["t-0", "t-1"]
    assert "go north" in rows[0]["instructions"]
