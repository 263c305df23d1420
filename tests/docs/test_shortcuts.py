"""The tables of ``benchmarks/shortcuts.py`` in the READMEs.

Every generated family has a table, and no shortcut solves it.
"""

import csv
import re
from pathlib import Path

import pytest
import shortcuts

import agentgym_envs
import agentgym_websites
from agentgym_envs import registry

AIM = 0.10
WITHOUT = {
    "agentgym/TextWorld-v0": "plays games of the user's own",
    "agentgym/TwoAttempts-v0": "plays another environment twice",
    "agentgym/LMRLMaze-v0": "one maze, for a client of AgentGym; its README has random play",
    "agentgym/WebArena-v1": "needs sites of the user's own",
}
PARTIAL_ORACLE = {
    "agentgym/MiniWoB-v1": "24 of the 125 pages have no script",
    "agentgym/ScienceWorld-v2": "its paths may be longer than upstream's limit of turns",
}
EXCEPTIONS = {
    ("agentgym/Maze-v1", "wall follower, which reads the exits"): "this is a strategy for the task",
    (
        "agentgym/LockedMaze-v1",
        "wall follower, which reads the exits",
    ): "this is a strategy for the task",
    (
        "agentgym/TieredMaze-v0",
        "wall follower, which reads the exits",
    ): "this is a strategy for the task",
    (
        "agentgym/TieredMaze-v0",
        "wall follower, which opens doors only",
    ): "this is a strategy for the lower half of the tiers",
    (
        "agentgym/TextCraft-v2",
        "everything: plenty of each item, then every command",
    ): "the tasks and the limit are upstream's",
    (
        "agentgym/BabyAI-v2",
        "first `pickup`, else turn left",
    ): "the tasks and the actions are upstream's",
    ("agentgym/BabyAI-v2", "each `go to` in turn"): "the tasks and the actions are upstream's",
    ("agentgym/BabyAI-v2", "each macro action in turn"): "the tasks and the actions are upstream's",
    (
        "agentgym/Tools-v0",
        "obeys the user, ignores the policy (knows the task)",
    ): "this agent knows the task and ignores only the policy",
    (
        "agentgym/Household-v0",
        "searcher, which reads the observations",
    ): "this is a strategy for the task",
    (
        "agentgym/Household-v0",
        "all objects in turn, with the named change, to the named target",
    ): "it ignores the object only; 50 turns are enough for a dozen objects",
    ("agentgym/MiniWoB-v1", "clicks all elements in turn"): "the pages are upstream's",
    (
        "agentgym/Shop-v0",
        "first hit below the price, options that the instruction names",
    ): "this is a strategy for the task",
    ("agentgym/TWSimple-v1", "script: fetches the apple"): "there are six foods, so chance is 1/6",
    ("agentgym/TWSimple-v1", "script: fetches all foods"): "there are six foods, so chance is 1/6",
}
UNIFORM = shortcuts.UNIFORM
UPSTREAM = {"agentgym/BabyAI-v2", "agentgym/MiniWoB-v1", "agentgym/ScienceWorld-v2"}
"""Environments whose tasks and lists of actions are those of the original."""


READMES = "\n".join(
    path.read_text(encoding="utf-8")
    for package in (agentgym_envs, agentgym_websites)
    for path in Path(package.__file__).parent.rglob("README.md")
)
RESULTS = Path(__file__).parents[2] / "benchmarks/results"
RECORDED = [*csv.reader((RESULTS / "shortcuts.csv").read_text(encoding="utf-8").splitlines())]


def table(env_id):
    """Returns the recorded success of each policy in an environment."""
    rows = [cells for own, *cells in RECORDED if own == env_id]
    return {name: float(success) for name, success, *_ in rows[1:-1]}


MEASURED = sorted(
    name
    for name in registry.discover(registry.ENVIRONMENTS).keys() - WITHOUT.keys()
    if name.startswith("agentgym/")
)


@pytest.mark.parametrize("env_id", MEASURED)
def test_each_environment_has_a_table_with_the_oracle_and_uniform_play(env_id):
    rows = table(env_id)
    assert {"no action (empty text)", "copy of the observation", UNIFORM} < rows.keys()
    assert len(rows) >= 7
    assert rows["oracle"] == 1.0 or env_id in PARTIAL_ORACLE


@pytest.mark.parametrize("env_id", MEASURED)
def test_only_the_listed_shortcuts_solve_more_than_a_tenth(env_id):
    above = {name for name, success in table(env_id).items() if success > AIM} - {"oracle", UNIFORM}
    assert above == {name for of, name in EXCEPTIONS if of == env_id}


@pytest.mark.parametrize("env_id", sorted(set(MEASURED) - UPSTREAM))
def test_uniform_play_stays_below_a_third_where_tasks_and_lists_are_ours(env_id):
    assert table(env_id)[UNIFORM] <= 1 / 3


@pytest.mark.parametrize("env_id", MEASURED)
def test_the_table_of_a_page_is_that_of_the_records(env_id):
    wanted = shortcuts.shown([cells for own, *cells in RECORDED if own == env_id])
    (shown,) = re.findall(rf"<!-- shortcuts {env_id} -->\n.*\n\n([^<]*)\n<!-- end", READMES)
    assert shown.splitlines() == "\n".join(wanted).splitlines()


def test_the_sentence_on_constant_answers_has_the_measured_figures():
    text = (RESULTS / "web_constant_agents.md").read_text(encoding="utf-8")
    shares = dict(re.findall(r"^\| (\w+).*?\| ([\d.]+)% \| [\d.]+ \|$", text, re.MULTILINE))
    assert shares.keys() >= {"nothing", "a", "everything", "the", "always"}
    assert all(float(shares[first]) < 1 for first in ("nothing", "a", "everything"))
    most = re.search(r"^\| the most that .*? ([\d.]+)% \| [\d.]+ \|$", text, re.MULTILINE)
    assert float(most[1]) < 1
    assert round(float(shares["always"])) == 4
    sentence = "none solves 1 % of the tasks except `N/A`. `N/A` solves the 4 % of the tasks"
    assert sentence in READMES


def test_the_table_of_baselines_has_the_rows_of_the_pages():
    text = (RESULTS / "baselines.md").read_text(encoding="utf-8")
    first = text.partition("\n## Models")[0]
    rows = re.findall(r"^\| (agentgym/\S+) \| (\S+) \| (\S+)(?: \(.*\))? \| (\S+) \|", first, re.M)
    assert sorted(name for name, *_ in rows) == MEASURED
    for env_id, uniform, best, oracle in rows:
        shares = table(env_id)
        others = shares.keys() - {"oracle", UNIFORM}
        assert (float(uniform), float(oracle)) == (shares[UNIFORM], shares["oracle"])
        assert float(best) == max(shares[name] for name in others)
