import json
from collections import Counter
from pathlib import Path

import pytest
from evaluations import evaluate
from raised import raises
from typer.testing import CliRunner

import agentgym_envs
from agentgym_envs import registry
from agentgym_envs.agents.base import AgentFactory
from agentgym_envs.cli import app
from agentgym_envs.errors import ArgumentError, UnknownName
from agentgym_envs.evaluate import suites as module
from agentgym_envs.evaluate import tables
from agentgym_envs.evaluate.plan import plan

PAPER = {
    "web": {"E-commerce": 15, "CMS": 15, "Maps": 10, "GitLab and Reddit": 10},
    "search": {
        "NQ": 50,
        "TriviaQA": 50,
        "PopQA": 50,
        "HotpotQA": 50,
        "2Wiki": 50,
        "Bamboogle": 50,
        "MuSiQue": 100,
    },
    "textcraft": {"Depth 1": 31, "Depth 2": 41, "Depth 3": 25, "Depth 4": 3},
    "babyai": {
        "GoTo": 55,
        "Pickup": 15,
        "ActionObjDoor": 5,
        "FindObjS7": 5,
        "OneRoomS20": 5,
        "SynthLoc": 5,
    },
    "scienceworld": {
        "Measure": 53,
        "Test-Conductivity": 83,
        "Find": 44,
        "Chem-Mix": 5,
        "Lifespan": 15,
    },
}


CLASSIC = {
    "household": {"Pick": 24, "Look": 18, "Clean": 31, "Heat": 23, "Cool": 21, "Pick two": 17},
    "shop": {"Shop": 360},
    "tools": {"Library": 84, "Railway": 84},
}
"""ALFWorld has 134 unseen games of these kinds. The others are the whole test splits."""


@pytest.mark.parametrize(("suite", "counts"), [("agentgym-rl", PAPER), ("classic", CLASSIC)])
def test_the_counts_are_the_papers_and_no_task_is_counted_twice(suite, counts):
    families = agentgym_envs.suites[suite]
    listed: dict = {}
    for family in families:
        listed.setdefault(family.scenario, {})[family.name] = family.count
    assert listed == counts
    seen = set()
    for family in families:
        ids = family.task_ids()
        assert len(ids) == len(set(ids)) == family.count, family.name
        assert not seen & {(family.env_id, i) for i in ids}
        seen |= {(family.env_id, i) for i in ids}


def test_the_classic_suite_has_the_step_limits_of_the_papers():
    limits = {
        f.scenario: registry.spec(f.env_id).max_episode_steps for f in module.suites["classic"]
    }
    assert limits == {"household": 50, "shop": 15, "tools": 30}


@pytest.mark.full
def test_the_classic_suite_is_played_beside_published_figures(tmp_path):
    args = ["eval", "classic", "--agent", "oracle", "--episodes", "1", "--out", str(tmp_path)]
    done = CliRunner().invoke(app, args)
    assert done.exit_code == 0, done.output
    lines = [line.split("  ") for line in done.output.splitlines()]
    cells = [[cell.strip() for cell in line if cell.strip()] for line in lines]
    assert ["this run", "1.000", "1.000", "1.000"] in cells
    assert ["Qwen2.5-7B, GiGPO", "0.908", "0.728", "arXiv 2505.10978"] in cells
    assert ["GPT-4o, tool calls", "0.420", "tau-bench's README, airline"] in cells
    text = " ".join(done.output.split())
    assert "Heat, Cool, Pick two: without games=FOLDER, embedded tasks by ALFWorld's rules" in text
    assert "Shop: without products=FILE, an embedded catalogue by WebShop's rules" in text
    assert "Library, Railway: domains of this package in the form of tau-bench" in text


def test_the_web_rows_are_webarenas_where_it_is_hosted(monkeypatch):
    ours = {f.name: (f.env_id, f.patterns) for f in module._families() if f.scenario == "web"}
    assert ours["GitLab and Reddit"] == ("agentgym/WebSites-v1", ("code-*", "forum-*"))
    monkeypatch.setenv("WEBARENA_CONFIG", "test.raw.json")
    theirs = {f.name: (f.env_id, f.patterns) for f in module._families() if f.scenario == "web"}
    assert theirs["CMS"] == ("agentgym/WebArena-v1", ("shopping_admin-*",))


@pytest.fixture
def small(monkeypatch):
    keep = [f for f in module.suites["agentgym-rl"] if f.name in ("Depth 4", "SynthLoc", "NQ")]
    elsewhere = module.SuiteFamily("web", "Intranet", 10, "agentgym/TextCraft-v2", ("intranet-*",))
    monkeypatch.setitem(module.suites, "small", (elsewhere, *keep))


@pytest.mark.full
def test_a_suite_is_played_family_by_family_and_what_is_not_there_is_told(small, tmp_path):
    items, skipped = plan("small")
    assert [(s.family, s.reason) for s in skipped] == [("Intranet", "none of its tasks is there")]
    rows = evaluate(tmp_path, items, "oracle", horizon=None).record.rows
    assert Counter((row["scenario"], row["family"]) for row in rows) == COUNTS
    assert all(row["success"] for row in rows)
    (note,) = tables.notes(rows)
    assert note.startswith("NQ: embedded questions")


COUNTS = {("textcraft", "Depth 4"): 3, ("babyai", "SynthLoc"): 5, ("search", "NQ"): 50}


def test_an_agent_and_files_of_the_users(small, tmp_path):
    (tmp_path / "nq.jsonl").write_text('{"question": "who?", "answer": ["me"]}\n')
    (tmp_path / "c.jsonl").write_text(json.dumps({"id": "0", "contents": '"Me"\nIt is me.'}) + "\n")
    data = {"NQ": {"questions": str(tmp_path / "nq.jsonl"), "corpus": str(tmp_path / "c.jsonl")}}

    def agent(observation, info):
        return "<answer>me</answer>" if "who?" in observation else "nothing"

    items, _ = plan("small", data=data)
    rows = evaluate(tmp_path, items, AgentFactory("mine", agent, {}), horizon=2).record.rows
    assert [row["success"] for row in rows if row["family"] == "NQ"] == [True]
    assert {(row["success"], len(row["turns"])) for row in rows if row["family"] == "Depth 4"} == {
        (False, 2)
    }


@pytest.mark.parametrize("kind", [str, Path])
def test_the_whole_file_of_a_user_is_played(small, tmp_path, kind):
    (tmp_path / "nq.jsonl").write_text(
        "".join(f'{{"question": "q{n}?", "answer": "a"}}\n' for n in range(20))
    )
    items, _ = plan("small", only=["NQ"], data={"NQ": {"questions": kind(tmp_path / "nq.jsonl")}})
    assert len({item.task_id for item in items}) == 20


def test_keywords_for_a_family_that_is_not_there(small):
    with raises(UnknownName, "'NaturalQuestions'"):
        plan("small", data={"NaturalQuestions": {}})
    with raises(ArgumentError, "suite"):
        plan("agentgym/Maze-v1", data={"NQ": {}})


@pytest.mark.parametrize("option", [["--set", "split=train"], ["--data", "NQ.split=train"]])
def test_a_suite_has_splits_of_its_own(small, tmp_path, option):
    done = CliRunner().invoke(
        app, ["eval", "small", "--agent", "oracle", "--out", str(tmp_path / "out"), *option]
    )
    assert done.exit_code == 2, done.output
    (line,) = done.output.splitlines()
    assert "split='train' cannot be set for " in line
    assert "a suite has its own splits. Leave it out" in line


def test_the_command_prints_families_scenarios_and_the_papers_figures(small, tmp_path):
    (tmp_path / "nq.jsonl").write_text('{"question": "who?", "answer": ["me"]}\n')
    args = [
        "eval",
        "small",
        "--agent",
        "oracle",
        "--out",
        str(tmp_path / "out"),
        "--data",
        f"NQ.questions={tmp_path / 'nq.jsonl'}",
    ]
    done = CliRunner().invoke(app, args)
    assert done.exit_code == 1, done.output
    assert "1 family not played: Intranet; none of its tasks is there" in done.output
    lines = [line.split() for line in done.output.splitlines()]
    assert ["Depth", "4", "3", "1.000"] in [line[:4] for line in lines]
    assert ["all", "of", "babyai", "5", "1.000"] in [line[:5] for line in lines]
    assert ["this", "run,", "3", "of", "4", "families", "1.000", "1.000", "1.000"] in lines
    assert "Published figures are of the papers' own tasks" in done.output
