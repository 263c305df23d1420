import json
from pathlib import Path

import pytest
from typer.testing import CliRunner

import agentgym_envs
from agentgym_envs import suite
from agentgym_envs.cli import app
from agentgym_envs.errors import UnknownName

PAPER = {
    "web": {"E-commerce": 15, "CMS": 15, "Maps": 10, "GitLab and Reddit": 10},
    "search": {"NQ": 50, "TriviaQA": 50, "PopQA": 50, "HotpotQA": 50, "2Wiki": 50, "Bamboogle": 50, "MuSiQue": 100},
    "textcraft": {"Depth 1": 31, "Depth 2": 41, "Depth 3": 25, "Depth 4": 3},
    "babyai": {"GoTo": 55, "Pickup": 15, "ActionObjDoor": 5, "FindObjS7": 5, "OneRoomS20": 5, "SynthLoc": 5},
    "scienceworld": {"Measure": 53, "Test-Conductivity": 83, "Find": 44, "Chem-Mix": 5, "Lifespan": 15},
}


def test_the_counts_are_the_papers_and_no_task_is_counted_twice():
    families = agentgym_envs.suites["agentgym-rl"]
    listed: dict = {}
    for family in families:
        listed.setdefault(family.scenario, {})[family.name] = family.count
    assert listed == PAPER
    seen = set()
    for family in families:
        ids = family.task_ids()
        assert len(ids) == len(set(ids)) == family.count, family.name
        assert not seen & {(family.env_id, i) for i in ids}
        seen |= {(family.env_id, i) for i in ids}


def test_the_web_rows_are_webarenas_where_it_is_hosted(monkeypatch):
    ours = {f.name: (f.env_id, f.patterns) for f in suite._families() if f.scenario == "web"}
    assert ours["GitLab and Reddit"] == ("agentgym/WebSites-v0", ("code-*", "forum-*"))
    monkeypatch.setenv("WEBARENA_CONFIG", "test.raw.json")
    theirs = {f.name: (f.env_id, f.patterns) for f in suite._families() if f.scenario == "web"}
    assert theirs["CMS"] == ("agentgym/WebArena-v0", ("shopping_admin-*",))


@pytest.fixture
def small(monkeypatch):
    keep = [f for f in suite.suites["agentgym-rl"] if f.name in ("Depth 4", "SynthLoc", "NQ")]
    elsewhere = suite.Family("web", "Intranet", 10, "agentgym/TextCraft-v1", ("intranet-*",))
    monkeypatch.setitem(suite.suites, "small", (elsewhere, *keep))


def test_one_call_evaluates_family_by_family(small):
    done = []
    results = {r.family.name: r for r in suite.evaluate("small", "oracle", on_episode=done.append)}
    assert (results["Intranet"].success, results["Intranet"].episodes) == (None, [])
    assert [results[n].success for n in ("NQ", "Depth 4", "SynthLoc")] == [1.0, 1.0, 1.0]
    assert done.count("SynthLoc") == 5


def test_an_agent_of_the_users_and_files_of_the_users(small, tmp_path):
    (tmp_path / "nq.jsonl").write_text('{"question": "who?", "answer": ["me"]}\n')
    (tmp_path / "c.jsonl").write_text(json.dumps({"id": "0", "contents": '"Me"\nIt is me.'}) + "\n")
    data = {"NQ": {"questions": str(tmp_path / "nq.jsonl"), "corpus": str(tmp_path / "c.jsonl")}}

    def agent(observation, info):
        return "<answer>me</answer>" if "who?" in observation else "nothing"

    results = {r.family.name: r for r in suite.evaluate("small", agent, horizon=2, data=data)}
    assert [e.success for e in results["NQ"].episodes] == [True]
    assert results["Depth 4"].success == 0.0
    assert {e.turns for e in results["Depth 4"].episodes} == {2}


@pytest.mark.parametrize("kind", [str, Path])
def test_the_whole_file_of_a_user_is_played(small, tmp_path, kind):
    (tmp_path / "nq.jsonl").write_text("".join(f'{{"question": "q{n}?", "answer": "a"}}\n' for n in range(20)))
    data = {"NQ": {"questions": kind(tmp_path / "nq.jsonl")}}
    results = {r.family.name: r for r in suite.evaluate("small", lambda *_: "nothing", horizon=1, data=data)}
    assert len(results["NQ"].episodes) == 20


def test_unknown_names(small):
    with pytest.raises(UnknownName, match="unknown suite 'agentgym'"):
        suite.evaluate("agentgym", "oracle")
    with pytest.raises(UnknownName, match="unknown family 'NaturalQuestions'"):
        suite.evaluate("small", "oracle", data={"NaturalQuestions": {}})
    with pytest.raises(UnknownName, match="unknown agent 'clever'"):
        suite.evaluate("small", "clever")


def test_the_command_prints_the_table(small):
    done = CliRunner().invoke(app, ["suite", "small", "--agent", "oracle"])
    assert done.exit_code == 0, done.output
    rows = [[c.strip() for c in line.split("│")[1:-1]] for line in done.output.splitlines() if line.startswith("│")]
    assert ["textcraft", "Depth 4", "3/3", "1.000", "1.000", ""] in rows
    assert any(row[:5] == ["web", "Intranet", "0/10", "–", "–"] for row in rows)
