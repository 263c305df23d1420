"""The report of an evaluation, read as a file and in a browser that reaches nothing."""

import gzip
import json
import os
import random
import re
import struct
import subprocess
import sys
import time
import zlib
from base64 import b64decode, b64encode
from hashlib import sha256
from html.parser import HTMLParser

import faulty_envs
import gymnasium
import pytest
from raised import raises
from typer.testing import CliRunner
from watched import watch

from agentgym_envs.cli import app
from agentgym_envs.errors import ArgumentError
from agentgym_envs.evaluate import record
from agentgym_envs.evaluate.folders import expanded, named
from agentgym_envs.feedback.record import episode as kept
from agentgym_envs.report import ReportRun, ReportSection, write_report

pytestmark = pytest.mark.timeout(180)

HOSTILE = [
    "</script><script>window.ran = 1</script>",
    "--></script><img src=x onerror='window.ran = 1'><svg onload='window.ran = 1'>",
    "<!--<script>window.ran = 1",
    "]]></style></pre></option><iframe srcdoc='<script>parent.ran = 1</script>'></iframe>",
    "javascript:window.ran=1",
    "a\u2028b\u2029c\x00d\x1be\x85f\r\ng\rh\ti\ufeffj",
    "lone \ud800 and \udfff, paired \U0001f600, cut \ud83d",
    "\";window.ran=1;//'`${window.ran=1}\\u003cscript\\u003e&lt;script&gt;&amp;",
    "$policy ${script} $$ <!-- data -->\n",
]
TABLE = [
    ("scenario", "Scenario"),
    ("family", "Family"),
    ("success", "Success"),
    ("low", "from"),
    ("high", "to"),
    ("turns", "Turns"),
]


def turn(number, **changes):
    action = f"go {number}"
    texts = {
        "observation": f"room {number}",
        "response": f"Thought: on\nAction: {action}",
        "thought": "on",
        "action": action,
    }
    return {**texts, "reward": 0.0, "invalid": False, "screenshot": None, **changes}


def key(task_id, **changes):
    where = {
        "suite": "small",
        "scenario": "maze",
        "family": "Maze",
        "env_id": "agentgym/Maze-v1",
        "settings": "h",
    }
    return {**where, "task_id": task_id, "difficulty": 1, "attempt": 0, **changes}


def episode(task_id, turns=3, success=True, end="terminated", **changes):
    played = [turn(number) for number in range(1, turns + 1)] if isinstance(turns, int) else turns
    told = {"goal": "take the lamp", "last": "the end", "seconds": 1.5}
    usage = {"calls": len(played), "prompt_tokens": 1200, "completion_tokens": 34}
    result = {
        "success": success,
        "score": float(success),
        "end": end,
        "turns": played,
        "usage": usage,
    }
    return {"row": "episode", **key(task_id), **told, **result, **changes}


def fault(task_id, kind="environment", **changes):
    return {
        "row": "fault",
        "fault": kind,
        **key(task_id),
        "try": 1,
        "error": "EnvTimeout: no answer",
        "turns": 2,
        **changes,
    }


def png(width, height):
    def chunk(name, content):
        return (
            struct.pack(">I", len(content))
            + name
            + content
            + struct.pack(">I", zlib.crc32(name + content))
        )

    header = chunk(b"IHDR", struct.pack(">IIBBBBB", width, height, 8, 0, 0, 0, 0))
    return (
        b"\x89PNG\r\n\x1a\n"
        + header
        + chunk(b"IDAT", zlib.compress((b"\0" * (width + 1)) * height))
        + chunk(b"IEND", b"")
    )


class Reader(HTMLParser):
    """The elements of a page: (name, attributes, text inside)."""

    def __init__(self, text):
        super().__init__(convert_charrefs=True)
        self.elements, self.inside = [], False
        self.feed(text)
        self.close()

    def handle_starttag(self, tag, attrs):
        self.elements.append((tag, dict(attrs), []))
        self.inside = True

    def handle_endtag(self, tag):
        self.inside = False

    def handle_data(self, data):
        if self.inside:
            self.elements[-1][2].append(data)

    def of(self, tag):
        return [
            (attributes, "".join(text)) for name, attributes, text in self.elements if name == tag
        ]


@pytest.fixture
def opened(browser, tmp_path):
    """Opens a report; its complaints and its foreign requests fail the test."""
    contexts, complaints = [], []

    def build(*runs, fragment="", width=1280, written=None, **more):
        path = written or tmp_path / "report.html"
        if not written:
            write_report(path, runs, **more)
        context = browser.new_context(offline=True, viewport={"width": width, "height": 900})
        contexts.append(context)
        context.add_init_script(
            "addEventListener('securitypolicyviolation', (e) => console.error('violates',"
            " e.violatedDirective))"
        )
        page = context.new_page()
        watch(page, complaints, path.as_uri())
        page.goto(path.as_uri() + fragment)
        page.wait_for_selector("body[data-ready]")
        return page

    build.complaints = complaints
    yield build
    for context in contexts:
        context.close()
    assert complaints == []


def texts(page, selector):
    """The texts of elements; as JSON, in which a lone surrogate stays one."""
    script = "(all) => JSON.stringify(all.map((e) => e.textContent))"
    return json.loads(page.locator(selector).evaluate_all(script))


def tasks(page):
    return texts(page, "#rows .entry > :nth-child(4)")


def read(page, number=0):
    page.locator(f"#entry-{number}").click()
    page.wait_for_selector("#sides[data-episode]")


def unpacked(text):
    return json.loads(gzip.decompress(b64decode(text)))


def test_the_file_is_one_script_one_style_and_inert_data(tmp_path):
    write_report(
        tmp_path / "report.html", [ReportRun("a", {"seed": 0}, [episode("t-1"), fault("t-2")])]
    )
    assert [p.name for p in tmp_path.iterdir()] == ["report.html"]
    page = Reader((tmp_path / "report.html").read_text(encoding="utf-8"))
    running = [text for attributes, text in page.of("script") if not attributes]
    inert = {attributes["id"]: text for attributes, text in page.of("script") if attributes}
    assert {attributes["type"] for attributes, _ in page.of("script") if attributes} == {
        "application/octet-stream;base64"
    }
    assert list(inert) == ["part-0", "index"]
    assert [e["task_id"] for e in unpacked(inert["index"])["entries"]] == ["t-1", "t-2"]
    assert unpacked(inert["part-0"])[0]["turns"][2]["observation"] == "room 3"
    assert [
        a.get("href", a.get("src")) for _, a, _ in page.elements if {"href", "src"} & a.keys()
    ] == ["data:,"]
    (policy,) = [
        a["content"] for a, _ in page.of("meta") if a.get("http-equiv") == "Content-Security-Policy"
    ]
    (script,), ((_, style),) = running, page.of("style")
    named = [
        f"'sha256-{b64encode(sha256(text.encode()).digest()).decode()}'" for text in (script, style)
    ]
    assert policy.split("; ") == [
        "default-src 'none'",
        f"script-src {named[0]}",
        f"style-src {named[1]}",
        "img-src data:",
        "base-uri 'none'",
        "form-action 'none'",
    ]
    names = [name for name, _, _ in page.elements]
    assert names.index("meta") < names.index("style") < names.index("script")


def test_the_same_runs_make_the_same_file_and_a_failure_leaves_the_old_one(tmp_path, monkeypatch):
    path, run = tmp_path / "report.html", ReportRun("a", {}, [episode("t-1")])
    write_report(path, [run])
    first = path.read_bytes()
    with pytest.raises(KeyError):
        write_report(path, [ReportRun("a", {}, [{"row": "fault"}])])
    assert path.read_bytes() == first
    monkeypatch.setattr(time, "time", lambda: 1e9)
    write_report(path, [run])
    assert path.read_bytes() == first


def test_hostile_text_is_shown_exactly_and_runs_nothing(opened):
    rows = [
        episode(
            text,
            [turn(1, observation=text, response="x" + text, thought=text, action=text)],
            family=text,
            goal=text,
            last=text,
        )
        for text in HOSTILE
    ]
    rows += [fault(text, family=text, error=text, kind=text) for text in HOSTILE]
    tables = [{"scenario": "maze", "family": text, "success": 0.5} for text in HOSTILE]
    runs = [
        ReportRun(name, {name: [name]}, rows, tables, [("family", name), ("success", name)])
        for name in HOSTILE[:2]
    ]
    page = opened(*runs)
    assert texts(page, "#runs li") == HOSTILE[:2]
    assert HOSTILE[0] in texts(page, "#settings td")[0]
    assert texts(page, "#table button") == HOSTILE
    assert tasks(page)[: len(HOSTILE)] == HOSTILE
    for number, text in enumerate(HOSTILE):
        page.evaluate("(number) => open(number, false)", number)
        page.wait_for_selector(f"#sides[data-episode='{number}']")
        page.locator("details summary", has_text="whole answer").click()
        page.wait_for_selector("pre.response")
        assert texts(page, "#sides pre") == [text, text, text, text, "x" + text, text]
        page.select_option("#beside", index=1)
        page.wait_for_selector("#sides.two")
        page.evaluate("(number) => open(number, false)", len(HOSTILE) + number)
        page.wait_for_selector(f"#sides[data-episode='{len(HOSTILE) + number}']")
        assert texts(page, "#sides pre.error")[0] == text
    for name in ("family", "fault"):
        assert texts(page, f"select[name={name}] option")[1:] == (
            sorted(HOSTILE) if name == "fault" else [f"maze · {t}" for t in HOSTILE]
        )
    assert page.evaluate(
        "[window.ran, document.querySelectorAll('iframe, #overview img, #sides img').length]"
    ) == [None, 0]


def test_requests_to_the_model_stand_at_their_turns(opened):
    told = {
        "messages": [
            {"role": "system", "prompt": "p"},
            {"role": "user", "content": HOSTILE[0]},
            {"role": "assistant", "content": "first"},
            {"role": "assistant", "content": "lesson"},
        ],
        "calls": [
            {"turn": 0, "messages": [[0, 2]], "reply": 2},
            {"turn": 1, "messages": [[0, 3]], "reply": 3},
        ],
    }
    rows = [episode("t-1", 1, **told), fault("t-2", traceback="mine.py:3 in act")]
    page = opened(ReportRun("a", {}, rows, prompts={"p": HOSTILE[1]}), fragment="#episode=0")
    page.wait_for_selector("details.requests", state="attached")
    page.locator("details.requests").evaluate_all("(all) => all.forEach((e) => (e.open = true))")
    requests = page.locator("article.turn").evaluate_all(
        "(all) => all.map((e) => [...e.querySelectorAll('.requests pre')].map((p) => p.innerText))"
    )
    assert requests == [[HOSTILE[1], HOSTILE[0], "first"], ["lesson"]]
    page.evaluate("open(1, false)")
    page.wait_for_selector("#sides[data-episode='1']")
    assert "mine.py:3 in act" in texts(page, "#sides pre.error")


def test_a_refused_episode_has_the_servers_message(opened):
    refused = episode("t-1", 1, success=False, end="refused", error=HOSTILE[0])
    page = opened(ReportRun("a", {}, [refused]), fragment="#episode=0")
    page.wait_for_selector("#sides[data-episode='0']")
    assert texts(page, "#sides pre.error") == [HOSTILE[0]]
    assert "the end" in texts(page, "#sides pre.observation")


def test_a_hostile_address_is_text_too(opened):
    page = opened(
        ReportRun("a", {}, [episode("t-1")]),
        fragment="#q=%3Cimg%20src%3Dx%20onerror%3Dalert(1)%3E&episode=%3Cb%3E&beside=-1",
    )
    assert page.input_value("input[name=q]") == "<img src=x onerror=alert(1)>"
    assert texts(page, "#rows .none") == ["No episode fits the filters."]
    page = opened(
        ReportRun("a", {}, [episode("t-1")]),
        fragment="#outcome=constructor&family=Cooking&run=b&fault=none&episode=7",
    )
    assert tasks(page) == ["t-1"]
    assert page.locator("#filters select").evaluate_all(
        "(all) => all.map((e) => e.selectedIndex)"
    ) == [0, 0, 0, 0]


def test_what_would_get_in_does_not_run(opened):
    page = opened(ReportRun("a", {}, [episode("t-1")]))
    page.evaluate(
        "document.body.append(Object.assign(document.createElement('script'), {textContent:"
        " 'window.ran = 1'}))"
    )
    page.evaluate(
        "document.body.insertAdjacentHTML('beforeend', '<img src=x onerror=\"window.ran = 2\">')"
    )
    page.evaluate(
        "document.body.insertAdjacentHTML('beforeend', '<img src=http://elsewhere.test/x.png>')"
    )
    page.wait_for_timeout(300)
    assert page.evaluate("window.ran") is None
    assert sum(said.startswith("violates") for said in opened.complaints) == 4  # both pictures
    opened.complaints.clear()


def test_a_long_observation_is_cut_until_asked_for(opened):
    whole = "".join(random.Random(0).choices("ab<&\n\u2028é", k=1_000_000))
    page = opened(ReportRun("a", {}, [episode("t-1", [turn(1, observation=whole)])]))
    read(page)
    assert texts(page, "pre.observation")[0] == whole[:2500]
    page.click("text=show all 1,000,000 characters")
    assert texts(page, "pre.observation")[0] == whole


def test_numbers_that_json_lacks_are_shown_as_missing(opened):
    rows = [episode("t-1", [turn(1, reward=float("nan"))], score=float("inf"))]
    table = [
        {
            "scenario": "maze",
            "family": "Maze",
            "success": float("nan"),
            "low": None,
            "high": 1.0,
            "turns": 3,
        }
    ]
    page = opened(ReportRun("a", {"limit": float("inf")}, rows, table, TABLE))
    assert texts(page, "#table td") == ["maze", "Maze", "–", "–", "1.00", "3.0"]
    assert texts(page, "#settings td") == ["limit", "null"]
    read(page)
    assert texts(page, ".turn header")[0] == "Turn 1reward 0"


def test_filters_choose_what_the_rows_say(opened):
    rng = random.Random(1)
    ends = ("terminated", "truncated", "context", "gave_up")
    rows = [
        episode(
            f"t-{i}",
            1,
            (end := rng.choice(ends)) == "terminated" and i % 2 == 0,
            end,
            family=rng.choice("AB"),
        )
        for i in range(90)
    ]
    rows += [fault(f"t-{i}", rng.choice(("environment", "provider")), family="A") for i in range(9)]
    page = opened(ReportRun("one", {}, rows), ReportRun("two", {}, rows[:7]))

    def ids(fits):
        return [row["task_id"] for row in rows if fits(row)]

    def check(expected, **values):
        page.click("text=Clear")
        for name, value in {"run": "one", **values}.items():
            box = page.locator(f"[name={name}]")
            box.fill(value) if name == "q" else box.select_option(value)
        assert page.inner_text("#count") == f"{len(expected)} of {len(rows) + 7}"
        assert tasks(page) == expected[: len(tasks(page))]

    check(ids(lambda r: True))
    check(ids(lambda r: r["family"] == "A"), family="maze · A")
    check(ids(lambda r: r.get("success")), outcome="solved")
    check(ids(lambda r: r.get("success") is False), outcome="unsolved")
    check(ids(lambda r: r.get("end") in ("truncated", "context")), outcome="truncated")
    check(ids(lambda r: r["row"] == "fault"), outcome="fault")
    check(ids(lambda r: r.get("fault") == "provider"), fault="provider")
    check(ids(lambda r: "t-1" in r["task_id"] and r["family"] == "B"), q="T-1", family="maze · B")
    page.click("text=Clear")
    assert page.inner_text("#count") == f"{len(rows) + 7} of {len(rows) + 7}"


def test_the_texts_of_episodes_are_searched_in_every_part(opened, monkeypatch):
    monkeypatch.setattr("agentgym_envs.report.data.PART", 1000)
    rows = [
        episode(f"t-{i}", [turn(1, observation=f"a LAMP near {i % 7} doors")]) for i in range(50)
    ]
    page = opened(ReportRun("one", {}, [*rows, fault("lost", error="a lamp near 3 walls")]))
    page.fill("[name=text]", "lamp near 3")
    page.wait_for_function("() => byId('count').textContent === '8 of 51'")
    assert tasks(page) == [*(f"t-{i}" for i in range(50) if i % 7 == 3), "lost"]
    page.click("text=Clear")
    assert page.inner_text("#count") == "51 of 51"
    page = opened(ReportRun("one", {}, rows), fragment="#text=near 6 DOORS")
    page.wait_for_function("() => byId('count').textContent === '7 of 50'")


def test_the_list_is_sorted_by_tokens(opened):
    used = [("a", 10), ("b", 300), ("c", 20)]
    rows = [episode(task, usage={"prompt_tokens": n, "cost": n / 100}) for task, n in used]
    page = opened(ReportRun("one", {}, [*rows, fault("lost")]))
    assert page.inner_text("#used") == "330 tokens, cost 3.3"
    page.click("#heads button:has-text('Tokens')")
    assert tasks(page) == ["b", "c", "a", "lost"]
    page.click("#heads button:has-text('Tokens')")
    assert tasks(page) == ["lost", "a", "c", "b"]
    page.click("#heads button:has-text('Tokens')")
    assert tasks(page) == ["a", "b", "c", "lost"]


def test_the_charts_are_the_hand_worked_ones(opened):
    hard = {"difficulty": 7, "env_id": "agentgym/Other-v0", "family": "Other"}
    one = [
        episode("a", 1),
        episode("b", 3),
        episode("c", 4, False, "truncated"),
        episode("d", 2, **hard),
        fault("e"),
    ]
    two = [episode("a", 2), episode("a", 2, False, attempt=1)]
    page = opened(ReportRun("one", {}, one), ReportRun("two", {}, two))
    assert texts(page, "figure .legend li") == [
        "one 0.750 of 4 episodes, 4 tasks",
        "two 0.500 of 2 episodes, 1 task",
    ]
    heights = [
        float(y)
        for y in (
            page.locator("figure >> nth=0")
            .locator("line.grid")
            .evaluate_all("(a) => a.map((e) => e.getAttribute('y1'))")
        )
    ]
    zero, whole = heights[0], heights[-1]

    def curve(number):
        path = page.locator("path.curve").nth(number).get_attribute("d")
        ys = [path.split("H")[0].split(" ")[1], *re.findall(r"V([\d.]+)", path)]
        return [pytest.approx((float(y) - zero) / (whole - zero)) for y in ys]

    assert curve(0) == [0, 0.25, 0.5, 0.75, 0.75]
    assert curve(1) == [0, 0, 0.5, 0.5, 0.5]
    assert texts(page, "figcaption")[1:] == [
        "Success by difficulty: agentgym/Maze-v1over a bar: its episodes",
        "Success by difficulty: agentgym/Other-v0over a bar: its episodes",
    ]
    assert texts(page, "rect title") == [
        "one: 0.667 of 3 episodes",
        "two: 0.500 of 2 episodes",
        "one: 1.000 of 1 episode",
    ]
    page.select_option("[name=family]", "maze · Other")
    assert texts(page, "figure .legend li") == ["one 1.000 of 1 episode, 1 task"]


def test_many_difficulties_share_bars(opened):
    page = opened(
        ReportRun("one", {}, [episode(f"t-{i}", 1, i < 40, difficulty=i) for i in range(80)])
    )
    bars = texts(page, "rect title")
    assert bars == [f"one: {share} of 10 episodes" for share in ("1.000",) * 4 + ("0.000",) * 4]
    assert [told for told in texts(page, "svg text") if "–" in told] == [
        f"{low}–{low + 9}" for low in range(0, 80, 10)
    ]


def test_the_table_has_a_line_for_each_run(opened):
    row = {
        "scenario": "maze",
        "family": "Maze",
        "success": 0.25,
        "low": 0.1,
        "high": 0.5,
        "turns": 4,
    }
    runs = [
        ReportRun(
            name, {"seed": i, "model": {"name": "m"}}, [episode("a")], [row | {"turns": i}], TABLE
        )
        for i, name in enumerate("xy")
    ]
    page = opened(*runs)
    cells = page.locator("#table tr").evaluate_all(
        "(rows) => rows.map((r) => [...r.cells].map((c) => c.textContent).join('|'))"
    )
    assert cells == [
        "Scenario|Family|Run||Success|from|to|Turns",
        "maze|Maze|x||0.250|0.10|0.50|0.0",
        "||y||0.250|0.10|0.50|1.0",
    ]
    assert texts(page, "#settings td") == ["seed", "0", "1", "model.name", '"m"', '"m"']
    assert texts(page, "#settings td.differs") == ["0", "1"]
    page.click("#table button")
    assert page.input_value("[name=family]") == "maze · Maze"


def table(page, place):
    rows = page.locator(f"{place} tr")
    return rows.evaluate_all(
        "(rows) => rows.map((r) => [...r.cells].map((c) => c.textContent).join('|'))"
    )


def played(scenario, family, task_id, *successes):
    """Returns a task with one attempt per result; the first of two turns is invalid."""
    named = {"suite": "small", "scenario": scenario, "family": family, "env_id": f"{scenario}-v0"}
    turns = [turn(1, invalid=True), turn(2)]
    return [
        episode(task_id, turns, success, attempt=n, **named) for n, success in enumerate(successes)
    ]


def reported(tmp_path, *options, **runs):
    """Writes runs, where they have rows, and has the command report them; returns its page."""
    for name, rows in runs.items():
        if rows is not None:
            record.write(tmp_path / name, {"agent": name}, rows)
    arguments = [
        "report",
        *(str(tmp_path / name) for name in runs),
        "--html",
        str(tmp_path / "page.html"),
        *options,
    ]
    result = CliRunner().invoke(app, arguments)
    assert result.exit_code == 0, result.output
    return tmp_path / "page.html"


def test_the_commands_page_has_families_of_runs_beside_each_other_with_intervals(opened, tmp_path):
    """Mid-p intervals: 0.025–0.975 of 1 of 2, 0.224–1 of 2 of 2, 0–0.95 of 0 of 1.

    The package's own simulation is within 0.01.
    """
    one = [
        *played("babyai", "GoTo", "a", True),
        *played("babyai", "GoTo", "b", False),
        *played("textcraft", "Depth 1", "c", False),
    ]
    lost = fault("d", scenario="babyai", family="Pickup", suite="small", usage={})
    two = [*played("babyai", "GoTo", "a", True), *played("babyai", "GoTo", "b", True), lost]
    page = opened(written=reported(tmp_path, one=one, two=two))
    shown = [
        "scenario|family|Run||tasks|success|95 %|score|faults|turns|invalid|truncated|tokens",
        "babyai|GoTo|one||2|0.500|0.03–0.97|0.500|–|2.0|0.50|0.00|1,234",
        "||two||2|1.000|0.23–1.00|1.000|–|2.0|0.50|0.00|1,234",
        "textcraft|Depth 1|one||1|0.000|0.00–0.95|0.000|–|2.0|0.50|0.00|1,234",
        "babyai|Pickup|two||0|–|–|–|1|–|–|–|–",
        "babyai|all|one||2|0.500|0.03–0.97|0.500|–|2.0|0.50|0.00|1,234",
        "textcraft|all|one||1|0.000|0.00–0.95|0.000|–|2.0|0.50|0.00|1,234",
        "|mean of 2 families|one||–|0.250|0.01–0.85|0.250|–|–|0.50|0.00|–",
        "|mean of 1 of 2 families|two||–|1.000|0.23–1.00|1.000|–|–|0.50|0.00|–",
        "|mean of 2 scenarios|one||–|0.250|0.01–0.85|0.250|–|–|0.50|0.00|–",
    ]
    assert table(page, "#table") == shown
    intervals = page.locator("#table svg").evaluate_all(
        "(all) => all.map((e) => e.getAttribute('aria-label'))"
    )
    assert intervals[:3] == ["0.03 to 0.97", "0.23 to 1.00", "0.00 to 0.95"]
    line = page.locator("#table svg").first.locator("line.curve")
    assert float(line.get_attribute("x1")) == pytest.approx(5 + 90 * 0.0253, abs=0.1)
    assert float(line.get_attribute("x2")) == pytest.approx(5 + 90 * 0.9747, abs=0.1)
    assert texts(page, "#table button") == ["GoTo", "Depth 1", "Pickup"]
    page.locator("#table button").nth(2).click()
    assert page.input_value("[name=family]") == "babyai · Pickup"
    assert tasks(page) == ["d"]
    assert page.evaluate("document.documentElement.scrollWidth - innerWidth") <= 0


def test_the_commands_page_has_attempts_notes_the_comparison_and_the_papers_figures(
    opened, tmp_path
):
    one = [*played("babyai", "GoTo", "a", True, False), *played("babyai", "GoTo", "b", False)]
    two = [*played("babyai", "GoTo", "a", True, True), *played("babyai", "GoTo", "b", True)]
    two[0]["score"] = float("nan")
    page = opened(written=reported(tmp_path, one=one, two=two))
    cells = [line.split("|") for line in table(page, "#table")]
    assert [(line[2], line[4], *line[8:10]) for line in cells] == [
        ("Run", "tasks", "Pass@k", "Pass^k"),
        ("one", "2×1–2", "1.000 @2", "0.000 ^2"),
        ("two", "2×1–2", "1.000 @2", "1.000 ^2"),
    ]
    fewer = (
        "1 of 2 tasks have fewer attempts; Pass@k, Pass^k and score > 0 are of those that have the"
        " most of their line"
    )
    notes = texts(page, "#notes p")
    assert notes[0] == f"one two: {fewer}"
    assert notes[1].startswith("one two: the plan is unknown"), "no command played these"
    assert notes[2] == "two: 1 episode has no finite score and counts as 0"
    assert notes[3].startswith("success: mean over tasks")
    assert texts(page, "#sections h2") == [
        "The same tasks in both",
        "Success beside published figures",
    ]
    assert table(page, "#sections section:nth-child(1)") == [
        "runs|tasks|difference|95 %|better|worse|p",
        "two − one|2|+0.750|-0.61 to +0.99|2|0|0.5",
    ]
    assert table(page, "#sections section:nth-child(2)") == [
        "|babyai|source",
        "one|0.250|",
        "two|1.000|",
        "Qwen2.5-7B, untrained|0.667|arXiv 2509.08755",
        "7B, RL at a fixed horizon|0.922|arXiv 2509.08755",
        "7B, ScalingInter-RL|0.967|arXiv 2509.08755",
    ]
    assert texts(page, "#sections p") == [
        "Published figures are of the papers' own tasks, which differ from these."
    ]


def test_difficulties_of_a_family_come_first_and_filter_nothing(opened, tmp_path):
    rows = [episode("a", difficulty=1), episode("b", success=False, difficulty=2)]
    page = opened(written=reported(tmp_path, one=rows))
    families = [line.split("|")[1] for line in table(page, "#table")]
    assert families == ["family", "difficulty 1", "difficulty 2", "Maze"]
    assert texts(page, "#table button") == ["Maze"]


def test_hostile_sections_and_notes_are_text_too(opened):
    sections = [ReportSection(text, [("a", text)], [{"a": text}], [text]) for text in HOSTILE]
    page = opened(
        ReportRun("a", {}, [episode("t-1")], notes=HOSTILE), sections=sections, legend=HOSTILE[0]
    )
    assert texts(page, "#notes p") == [*HOSTILE, HOSTILE[0]]
    for place in ("h2", "th", "td", "p"):
        assert texts(page, f"#sections {place}") == HOSTILE
    assert page.evaluate(
        "[window.ran, document.querySelectorAll('iframe, #overview img').length]"
    ) == [None, 0]


def test_a_page_that_cannot_be_written_leaves_no_draft(tmp_path):
    run, folder = ReportRun("a", {}, [episode("t-1")]), tmp_path / "pages"
    folder.mkdir()
    for path, why in (
        (folder / "none" / "page.html", "No such file or directory"),
        (folder, "it is a folder"),
    ):
        with raises(ArgumentError, str(path), why):
            write_report(path, [run])
    with pytest.raises(KeyError):
        write_report(folder / "page.html", [ReportRun("a", {}, [{"row": "fault"}])])
    assert list(folder.iterdir()) == []
    assert list(tmp_path.iterdir()) == [folder]


def test_folders_can_be_told_apart(tmp_path, monkeypatch):
    for name in ("a/r", "b/r", "b/s"):
        (tmp_path / name).mkdir(parents=True)
    monkeypatch.chdir(tmp_path / "b" / "r")
    paths = {name: type(tmp_path)(name) for name in (".", "..", "../s", "../../a/r", "../r")}

    def names(*chosen):
        return named([paths[name] for name in chosen])

    assert names(".", "../s") == ["r", "s"]
    assert names("..") == ["b"]
    assert names("../r", "../../a/r") == ["../r", "../../a/r"]
    assert names(".", "../../a/r") == [str(tmp_path / "b" / "r"), "../../a/r"]
    assert expanded([paths["../s"], paths["."], paths["../r"]]) == [paths["../s"], paths["."]]


def test_a_run_of_the_trainer_stands_for_its_evaluations(tmp_path):
    for name, step in (("step-10", 10), ("before", 0), ("after", 12), ("step-9", 9)):
        record.write(tmp_path / "run" / "episodes" / name, {"step": step}, [episode("a")])
    assert [path.name for path in expanded([tmp_path / "run"])] == [
        "before",
        "step-9",
        "step-10",
        "after",
    ]
    (tmp_path / "new" / "episodes").mkdir(parents=True)
    with raises(ArgumentError, "new/episodes"):
        expanded([tmp_path / "new"])


def test_a_folder_of_results_stands_for_them(tmp_path):
    for name in ("b", "a"):
        record.write(tmp_path / name, {}, [episode("a")])
    (tmp_path / "notes").mkdir()
    assert [path.name for path in expanded([tmp_path])] == ["a", "b"]
    assert expanded([tmp_path / "notes"]) == [tmp_path / "notes"]


def test_a_turn_of_a_game_says_who_spoke(opened):
    turns = [turn(0, seat="player_0", player="oracle"), turn(1, seat="player_1")]
    page = opened(ReportRun("a", {}, [episode("t", turns)]))
    read(page)
    assert texts(page, ".turn header")[:2] == [
        "Turn 1player_0: oraclereward 0",
        "Turn 2player_1reward 0",
    ]


def test_an_episode_is_read_turn_by_turn(opened):
    env = gymnasium.make("agentgym/Maze-v1", split="test", max_episode_steps=-1)
    observation, info = env.reset(seed=3)
    turns = []
    for action in ["fly", *env.unwrapped.oracle()]:
        following, reward, _, _, info = env.step(action)
        turns.append(
            turn(0, observation=observation, action=action, reward=reward, invalid=info["invalid"])
        )
        observation = following
    page = opened(
        ReportRun("a", {}, [episode(info["task_id"], turns, goal=info["goal"], last=observation)])
    )
    assert page.locator("article").count() == 0
    numbers = ["0", "1", "1.000", str(len(turns)), "1", "1,234", "–"]
    assert texts(page, "#entry-0 .number") == numbers
    read(page)
    assert texts(page, "pre.observation") == [*(t["observation"] for t in turns), observation]
    assert texts(page, "pre.action") == [t["action"] for t in turns]
    assert texts(page, ".turn header")[0] == "Turn 1reward 0⚠ invalid action"
    assert texts(page, ".turn header")[-2:] == [f"Turn {len(turns)}reward +1", "End✓ solvedended"]
    assert texts(page, ".invalid") == ["⚠ invalid action"]
    assert "3 calls" not in page.inner_text(".head")
    assert f"{len(turns)} calls · 1,200 + 34 tokens · 1.5 s" in page.inner_text(".head")
    page.keyboard.press("Escape")
    assert page.locator("article").count() == 0
    assert page.is_visible("#list")


@pytest.mark.parametrize(
    ("env_id", "status"),
    [
        pytest.param("agentgym/Maze-v1", 0, marks=pytest.mark.full),
        ("faulty_envs:support/Faulty-v0", 1),
    ],
)
def test_what_the_command_writes_can_be_read(opened, tmp_path, env_id, status):
    """Episodes of an agent without a model, which use no tokens, and faults."""
    folder = tmp_path / "out"
    (tmp_path / "waver.py").write_text("def wave(observation, info):\n    return 'wave'\n")
    command = [
        sys.executable,
        "-m",
        "agentgym_envs.cli",
        "eval",
        env_id,
        "--agent",
        "waver:wave",
        "--out",
        str(folder),
    ]
    command += [
        "--episodes",
        "2",
        "--horizon",
        "3",
        *([] if status == 0 else ["--set", "fault=raise", "--set", "at=1"]),
    ]
    found = {**os.environ, "PYTHONPATH": os.path.dirname(faulty_envs.__file__)}
    assert (
        subprocess.run(
            command, env=found, cwd=tmp_path, check=False, capture_output=True
        ).returncode
        == status
    )
    rows, _ = record.read(folder)
    page = opened(ReportRun("a", record.read_settings(folder), rows))
    for number, row in enumerate(rows):
        read(page, number)
        assert texts(page, "h3") == [row["task_id"]]
        assert texts(page, "pre.action") == (
            [t["action"] for t in row["turns"]] if row["row"] == "episode" else []
        )
        page.keyboard.press("Escape")


def test_keys_move_open_and_close(opened):
    page = opened(ReportRun("a", {}, [episode(f"t-{i}") for i in range(50)]))
    for pressed in ("j", "j", "ArrowDown", "k", "Enter"):
        page.keyboard.press(pressed)
    page.wait_for_selector("#sides[data-episode='2']")
    page.keyboard.press("j")
    page.wait_for_selector("#sides[data-episode='3']")
    page.keyboard.press("ArrowLeft")
    page.wait_for_selector("#sides[data-episode='2']")
    page.keyboard.press("Escape")
    for _ in range(40):
        page.keyboard.press("ArrowDown")
    assert texts(page, "#rows [aria-selected=true] > :nth-child(4)") == ["t-42"]
    assert page.locator("#rows [aria-selected=true]").bounding_box()["y"] + 30 <= sum(
        page.locator("#list").bounding_box()[side] for side in ("y", "height")
    )
    page.keyboard.press("/")
    page.keyboard.type("t-4jk")
    assert page.inner_text("#count") == "0 of 50"
    page.keyboard.press("Backspace")
    page.keyboard.press("Backspace")
    page.keyboard.press("Escape")
    page.keyboard.press("Enter")
    page.wait_for_selector("#sides[data-episode='4']")


def test_two_runs_side_by_side(opened):
    other = [turn(1), turn(2, action="go elsewhere"), turn(3), turn(4)]
    one = [episode("a"), episode("b"), episode("c"), episode("a", attempt=1)]
    two = [
        episode("c", 1),
        episode("b", 2),
        fault("a"),
        episode("a", other, False, "truncated"),
        episode("a", family="Other"),
    ]
    page = opened(ReportRun("one", {}, one), ReportRun("two", {}, two))
    read(page)
    assert texts(page, "#beside option") == [
        "nothing",
        "two, attempt 0: ⚠ fault, try 1",
        "two, attempt 0: ✗ truncated, 4 turns",
        "one, attempt 1: ✓ solved, 3 turns",
        "all 2 attempts of one",
    ]
    page.select_option("#beside", label="two, attempt 0: ✗ truncated, 4 turns")
    page.wait_for_selector("#sides.two")
    assert texts(page, ".head .dot") == ["one", "two"]
    assert texts(page, "pre.action") == [
        "go 1",
        "go 1",
        "go 2",
        "go elsewhere",
        "go 3",
        "go 3",
        "go 4",
    ]
    before = page.locator("#sides > *").evaluate_all(
        "(all) => all.findIndex((e) => e.className === 'apart')"
    )
    assert before == 4
    boxes = [page.locator(".turn").nth(i).bounding_box() for i in (0, 1)]
    assert boxes[0]["y"] == boxes[1]["y"]
    assert boxes[0]["x"] + boxes[0]["width"] < boxes[1]["x"]
    page.keyboard.press("j")
    page.wait_for_selector("#sides[data-episode='1'].two")
    assert texts(page, ".head h3") == ["b", "b"]


def test_the_address_keeps_filters_and_episode(opened):
    runs = [
        ReportRun(name, {}, [episode(f"t-{i}", family="AB"[i % 2]) for i in range(20)])
        for name in ("one", "two")
    ]
    page = opened(*runs)
    page.select_option("[name=family]", "maze · B")
    page.fill("[name=q]", "t-1")
    read(page, 1)
    page.select_option("#beside", index=1)
    page.wait_for_url("**beside=31")
    address = page.url
    assert address.partition("#")[2] == "family=maze+%C2%B7+B&q=t-1&episode=11&beside=31"
    page.go_back()
    page.wait_for_selector("#overview", state="visible")
    assert page.inner_text("#count") == "12 of 40"
    page.go_forward()
    page.wait_for_selector("#sides.two")
    again = opened(*runs, fragment="#" + address.partition("#")[2])
    again.wait_for_selector("#sides[data-episode='11'].two")
    assert texts(again, ".head h3") == ["t-11", "t-11"]
    again.keyboard.press("j")
    again.wait_for_selector("#sides[data-episode='13'].two")
    again.keyboard.press("k")
    again.wait_for_selector("#sides[data-episode='11'].two")
    again.keyboard.press("Escape")
    assert again.input_value("[name=q]") == "t-1"
    assert texts(again, "#rows [aria-selected=true] > :nth-child(4)") == ["t-11"]


def test_screenshots_are_in_the_file_and_nothing_else_of_the_disk(opened, tmp_path):
    folder = tmp_path / "run"
    folder.mkdir()
    (folder / "one.png").write_bytes(png(30, 20))
    (folder / "notes.png").write_text("secret")
    (tmp_path / "outside.png").write_bytes(png(7, 7))
    (folder / "link.png").symlink_to(tmp_path / "outside.png")
    names = [
        "one.png",
        "notes.png",
        "../outside.png",
        str(tmp_path / "outside.png"),
        "link.png",
        "none.png",
        "\x00",
        None,
    ]
    rows = [episode("a", [turn(i, screenshot=name) for i, name in enumerate(names)])]
    page = opened(ReportRun("a", {}, rows, folder=folder))
    read(page)
    page.wait_for_function("document.querySelector('.turn img').complete")
    assert page.locator(".turn img").evaluate_all(
        "(all) => all.map((e) => [e.naturalWidth, e.naturalHeight])"
    ) == [[30, 20]]
    assert page.get_by_text("The screenshot is not in this report.").count() == 6
    page.close()
    page = opened(ReportRun("a", {}, rows))
    read(page)
    assert page.get_by_text("The screenshot is not in this report.").count() == 7


def seat(number, name, **changes):
    return turn(number, seat=name, **changes)


def test_who_of_several_agents_says_what_has_a_name_and_a_colour(opened):
    names = ["player_0", "player_1", "player_10", "player_2"]
    page = opened(
        ReportRun(
            "a",
            {},
            [
                episode("t", [seat(i, name) for i, name in enumerate([*names, "player_0"])]),
                episode("u"),
            ],
        )
    )
    read(page)
    assert texts(page, ".turn header .dot") == [*names, "player_0"]
    edges = page.locator(".turn.seat").evaluate_all(
        "(all) => all.map((e) => getComputedStyle(e).borderLeftColor)"
    )
    assert edges[0] == edges[4]
    assert len(set(edges)) == 4
    dots = page.locator(".turn .dot").evaluate_all(
        "(all) => all.map((e) => getComputedStyle(e, '::before').backgroundColor)"
    )
    assert dots == edges
    order = page.locator(".turn.seat").evaluate_all("(all) => all.map((e) => e.className)")
    assert order == [f"turn seat run-{n}" for n in (0, 1, 3, 2, 0)]  # player_2 is the third
    page.keyboard.press("j")
    page.wait_for_selector("#sides[data-episode='1']")
    assert page.locator(".turn").count() == 4
    assert page.locator(".seat, .turn .dot").count() == 0


def test_all_attempts_at_a_task_are_beside_each_other(opened):
    one = [
        episode(task, attempt + 1, attempt > 0, attempt=attempt)
        for task in "ab"
        for attempt in (2, 0, 1)
    ]
    page = opened(
        ReportRun("one", {}, [*one, episode("c")]),
        ReportRun("two", {}, [episode("a")]),
        ReportRun("three", {}, [fault("a"), fault("a", attempt=1), episode("a"), episode("a")]),
    )
    read(page, 1)
    page.select_option("#beside", label="all 3 attempts of one")
    page.wait_for_selector("#sides.two .head >> nth=2")
    assert [text.split(" · ")[1] for text in texts(page, ".head > div:nth-child(3)")] == [
        "attempt 0",
        "attempt 1",
        "attempt 2",
    ]
    assert texts(page, ".head .dot") == ["one"] * 3
    boxes = [page.locator("#sides .head").nth(i).bounding_box() for i in range(3)]
    assert len({box["y"] for box in boxes}) == 1
    assert boxes[0]["x"] < boxes[1]["x"] < boxes[2]["x"]
    page.wait_for_url("**beside=attempts")
    address = page.url
    page.keyboard.press("j")
    page.keyboard.press("j")
    page.wait_for_selector("#sides[data-episode='3']")
    assert texts(page, ".head h3") == ["b"] * 3
    for _ in range(3):
        page.keyboard.press("j")
    page.wait_for_selector("#sides[data-episode='6']")
    assert texts(page, ".head h3") == ["c"]
    # An attempt that failed, one that did at first, and its last word.
    page.evaluate("open(10, false)")
    page.wait_for_selector("#sides[data-episode='10']")
    assert "attempts of" not in page.inner_text("#beside")
    page.wait_for_url("**episode=10*")
    page.goto(address)
    page.wait_for_selector("#sides[data-episode='1'].two")
    page.reload()
    page.wait_for_selector("#sides[data-episode='1'].two")
    assert texts(page, ".head h3") == ["a"] * 3


def test_comparisons_lead_to_both_episodes_and_say_who_chose_what(opened, tmp_path):
    one, two = [episode("a"), episode("b")], [episode("a", 2, False), episode("b", 4)]
    pairs = [
        {
            "env_id": "agentgym/Maze-v1",
            "task_id": e["task_id"],
            "a": kept("one", e),
            "b": kept("two", o),
            "instructions": "",
        }
        for e, o in zip(one, two, strict=True)
    ]
    made = [
        (0, "a", "kim", "nearer"),
        (0, "tie", "lee", ""),
        (1, "b", "kim", HOSTILE[0]),
        (1, "neither", "lee", ""),
    ]
    lines = [
        {"row": "comparison", **pairs[n], "choice": choice, "annotator": who, "comment": why}
        for n, choice, who, why in made
    ]
    lines.append(
        {
            "row": "comparison",
            **pairs[0],
            "a": kept("old", episode("a", 9)),
            "choice": "a",
            "annotator": "kim",
            "comment": "",
        }
    )
    (tmp_path / "c.jsonl").write_text("".join(json.dumps(line) + "\n" for line in lines))
    page = opened(
        written=reported(tmp_path, "--comparisons", str(tmp_path / "c.jsonl"), one=one, two=two)
    )
    assert table(page, "#comparisons") == [
        "Task|A|B|Choices",
        (
            "a|one attempt 0 ✓ solved|two attempt 0 ✗ not solved|kim: A is better – nearerlee:"
            " equally good"
        ),
        (
            f"b|one attempt 0 ✓ solved|two attempt 0 ✓ solved|kim: B is better – {HOSTILE[0]}lee:"
            " neither is good"
        ),
        "a|old attempt 0 |two attempt 0 ✗ not solved|kim: A is better",
    ]
    assert texts(page, "#comparisons p") == [
        "one and two: one is better 1, two is better 1, equally good 1, neither 1",
        "old and two: old is better 1, two is better 0, equally good 0, neither 0",
        "agreement of kim, lee on 2 pairs: 0.00, Cohen's κ 0.00",
        "1 of 3 pairs have an episode that is in none of these folders",
    ]
    assert texts(page, "#comparisons button") == ["a", "b"]
    page.click("#comparisons button >> nth=1")
    page.wait_for_selector("#sides[data-episode='1'].two")
    assert texts(page, ".head .dot") == ["one", "two"]
    assert texts(page, ".judgement") == [
        f"Left is A, right is B.kim: B is better – {HOSTILE[0]}lee: neither is good"
    ]
    page.keyboard.press("Escape")
    page.wait_for_selector("#overview", state="visible")
    read(page, 2)
    page.select_option("#beside", index=1)
    page.wait_for_selector("#sides.two")
    assert texts(page, ".judgement") == [
        "Left is B, right is A.kim: A is better – nearerlee: equally good"
    ]
    assert page.evaluate("window.ran") is None


def test_without_comparisons_there_is_no_such_section(opened):
    page = opened(ReportRun("a", {}, [episode("t-1")]))
    assert page.locator("#comparisons").is_hidden()


@pytest.mark.parametrize("width", [1280, 800])
def test_nothing_is_wider_than_the_window(opened, width):
    rows = [episode("x" * 300, [turn(1, observation="y" * 3000, action="z" * 500)], goal="g" * 500)]
    page = opened(ReportRun("n" * 60, {}, rows), ReportRun("b", {}, rows), width=width)
    overflow = "document.documentElement.scrollWidth - innerWidth"
    assert page.evaluate(overflow) <= 0
    read(page)
    assert page.evaluate(overflow) <= 0
    page.select_option("#beside", index=1)
    page.wait_for_selector("#sides.two")
    assert page.evaluate(overflow) <= 0


@pytest.mark.full
@pytest.mark.parametrize("count", [500, 5000])
def test_thousands_of_episodes_stay_quick(opened, count):
    rng = random.Random(0)
    words = " ".join(rng.choices([f"word{i}" for i in range(3000)], k=200_000))

    def turns():
        starts = [rng.randrange(len(words) - 1000) for _ in range(15)]
        return [
            turn(i, observation=words[s : s + 400], thought=words[s + 400 : s + 600])
            for i, s in enumerate(starts)
        ]

    rows = [
        episode(f"t-{i}", turns(), i % 3 == 0, family=f"f{i % 20}", difficulty=i % 5)
        for i in range(count)
    ]
    page = opened(ReportRun("a", {}, []))
    began = time.monotonic()
    page = opened(ReportRun("a", {}, rows))
    assert time.monotonic() - began < 60
    began = time.monotonic()
    page.reload()
    page.wait_for_selector("body[data-ready]")
    assert time.monotonic() - began < 8
    assert page.evaluate("document.querySelectorAll('*').length") < 1500
    began = time.monotonic()
    page.select_option("[name=family]", "maze · f3")
    assert page.inner_text("#count") == f"{count // 20} of {count:,}"
    assert time.monotonic() - began < 3
    began = time.monotonic()
    read(page, 2)
    assert texts(page, "pre.observation")[:15] == [t["observation"] for t in rows[43]["turns"]]
    assert time.monotonic() - began < 3
    page.keyboard.press("Escape")
    page.click("text=Clear")
    page.evaluate(f"byId('list').scrollTop = {count} * 30")
    page.wait_for_selector(f"#entry-{count - 1}")
    assert tasks(page)[-1] == f"t-{count - 1}"
    assert page.locator("#rows .entry").count() < 60


def test_an_incomplete_run_says_so_before_its_table_and_has_bounds(opened, tmp_path):
    """Two of eight are solved, one failed; the other run has all eight."""
    tasks = [f"{kind}-{n}" for kind in ("near", "far") for n in range(4)]
    family = {name: key("a")[name] for name in ("suite", "scenario", "family", "env_id")}
    plan = [family | {"attempts": 1, "episodes": 8, "tasks": dict.fromkeys(tasks, 1)}]
    lost = fault(tasks[2], usage={})
    record.write(tmp_path / "half", {"planned": plan}, [*map(episode, tasks[:2]), lost])
    record.write(tmp_path / "all", {"planned": plan}, [episode(task) for task in tasks])
    page = opened(written=reported(tmp_path, half=None, all=None))
    (warning,) = texts(page, "#warnings p")
    assert warning.startswith("half: 2 of 8 episodes, incomplete: finished episodes are the short")
    assert "5 not played yet, 1 failed in each try" in warning
    heads, *lines = [line.split("|") for line in table(page, "#table")]
    column = heads.index("bounds")
    assert [(line[1], line[4], line[column]) for line in lines] == [
        *[("far", "0 of 4", "0.00–1.00"), ("", "4", "–")],
        *[("near", "2 of 4", "0.50–1.00"), ("", "4", "–")],
        *[("Maze", "2 of 8", "0.25–1.00"), ("", "8", "–")],
    ]
    assert texts(page, "#count") == ["11 of 11"], "a missing episode is no entry"
    assert "planned" not in " ".join(texts(page, "#settings td"))
    assert "short ones: half (2 of 8 episodes)" in texts(page, "#sections p")[0]


def test_the_page_has_one_unit_and_a_legend_for_its_columns_alone(opened, tmp_path):
    one = [*played("babyai", "GoTo", "a", True, False), *played("babyai", "GoTo", "b", False)]
    page = opened(written=reported(tmp_path, one=one))
    text = page.inner_text("#overview")
    assert re.findall(r"[^ ]+ %", text.replace("95 %", "")) == []
    assert "percent" not in text
    legend = texts(page, "#notes p")[-1]
    assert "Pass@k: unbiased" in legend
    assert legend.count("paper") == 2, "its name, and a reference to it"
    for absent in ("bounds:", "cut replies:", "faults:", "refused:"):
        assert absent not in legend


@pytest.mark.parametrize(("width", "hidden"), [(1280, 0), (390, 6)])
def test_columns_that_do_not_fit_are_counted(opened, width, hidden):
    row = {"scenario": "", "family": "Maze", "success": 0.25, "turns": 4, "score": 0.5}
    columns = [("family", "family"), *((f"c{n}", f"a column {n}") for n in range(10))]
    page = opened(ReportRun("one", {}, [episode("a")], [row], columns))
    page.set_viewport_size({"width": width, "height": 800})
    page.wait_for_function("(any) => byId('more').hidden === !any", arg=hidden)
    if hidden:
        (count,) = re.findall(r"^(\d+) more columns", page.inner_text("#more"))
        edge = page.evaluate("byId('table').getBoundingClientRect().right + 8")
        ends = page.locator("#table th").evaluate_all(
            "(all) => all.map((th) => (th.textContent ? th.getBoundingClientRect().right : 0))"
        )
        assert int(count) == sum(end > edge for end in ends) >= hidden
        page.evaluate("byId('table').scrollLeft = 10000")
        page.wait_for_function("() => byId('more').hidden")


def test_on_a_phone_a_name_breaks_behind_its_slash_and_the_list_keeps_its_end(opened):
    name = "agentgym/TextCraft-v2"
    rows = [episode("t-1", family=name, env_id=name)]
    page = opened(ReportRun("a", {}, rows, [{"family": name}], [("family", "family")]))
    page.set_viewport_size({"width": 390, "height": 800})
    drawn = page.locator("#table td.name").evaluate(
        """(cell) => {
          const lines = [];
          const walker = document.createTreeWalker(cell, NodeFilter.SHOW_TEXT);
          while (walker.nextNode())
            for (let i = 0; i < walker.currentNode.length; i++) {
              const range = document.createRange();
              range.setStart(walker.currentNode, i);
              range.setEnd(walker.currentNode, i + 1);
              const top = Math.round(range.getBoundingClientRect().top);
              const same = lines.length && lines.at(-1).top === top;
              if (same) lines.at(-1).text += range.toString();
              else lines.push({ top, text: range.toString() });
            }
          return lines.map((line) => line.text);
        }"""
    )
    assert "".join(drawn) == name
    assert set(drawn[:-1]) <= {"agentgym/", "TextCraft-"}
    cell, text = (
        page.locator(f"#entry-0 > :nth-child(3){inner}").bounding_box() for inner in ("", " bdi")
    )
    assert text["x"] + text["width"] <= cell["x"] + cell["width"] + 1, "its end is in sight"
    read(page)
    assert texts(page, "#sides .head > .quiet") == [f"small · maze · {name}"]
