"""Answers to the tasks of the sites: fair wordings count; guesses, hedges and near misses do not.

No browser is needed. ``answer_cases.toml`` has over 500 answers to real tasks of all kinds. The
judge decides over them as a fair reader does.
"""

import collections
import json
import re
import tomllib
from pathlib import Path

import pytest

from agentgym_envs.envs.web.answer_matching import KINDS, accepts
from agentgym_envs.envs.web.evaluators import EvaluationInput, clean, evaluate
from agentgym_websites import host as hosts
from agentgym_websites.site import open_database
from agentgym_websites.tasks.load import load

TASKS = {task["name"]: task for task in load()}
ASKING = [t for t in TASKS.values() if "string_match" in t["eval"]["eval_types"]]
READ = tomllib.loads(Path(__file__).with_name("answer_cases.toml").read_text(encoding="utf-8"))
CASES = [(name, cases) for table in READ.values() for name, cases in table.items()]
FAIR = [(name, " ".join(said.split())) for name, c in CASES for said in c["fair"].split("|")]
WRONG = [(name, " ".join(said.split())) for name, c in CASES for said in c["wrong"].split("|")]


@pytest.fixture(scope="module")
def query():
    databases = {tables: open_database(hosts.snapshot(tables)) for tables in hosts.FILL}

    def answer(locator):
        tables, _, sql = locator.partition(":")
        return "\n".join(" | ".join(map(str, row)) for row in databases[tables].execute(sql))

    return answer


@pytest.fixture(scope="module")
def instances():
    """Two instances of each template with an answer; all have different answers somewhere."""
    found = collections.defaultdict(list)
    for task in ASKING:
        if task["kind"] != "unachievable":
            found[task["intent_template_id"]].append(task)
    return found


def scores(task, said, query):
    return evaluate(task, said, EvaluationInput(None, None, query)).success


def test_fair_wordings_solve_every_template(instances, query):
    for tasks in instances.values():
        task, said = tasks[0], tasks[0]["oracle"][-1][1]
        for fair in (said, f"The answer is {said}.", f'"{said}"'):
            assert scores(task, fair, query), (task["name"], fair)


def test_wrong_ones_solve_none(instances, query):
    """The answer of another instance, both of them, none of them, and the right one in doubt."""
    for tasks in instances.values():
        task, said = tasks[0], tasks[0]["oracle"][-1][1]
        others = [t["oracle"][-1][1] for t in tasks if not scores(task, t["oracle"][-1][1], query)]
        assert others, f"{task['name']} and its like have one answer"
        for wrong in (
            others[0],
            f"{said} or {others[0]}",
            f"{others[0]}, {said}",
            f"maybe {said}",
            f"not {said} but {others[0]}",
            "N/A",
        ):
            assert not scores(task, wrong, query), (task["name"], wrong)


def test_n_a_with_a_reason_solves_what_cannot_be_done_and_nothing_else(query):
    for task in ASKING:
        assert scores(task, "N/A. There is nothing of the kind on the site", query) == (
            task["kind"] == "unachievable"
        ), task["name"]


def test_no_answer_is_frequent_and_no_text_has_two(instances):
    texts = collections.defaultdict(set)
    for tasks in instances.values():
        said = collections.Counter(t["oracle"][-1][1] for t in tasks)
        assert max(said.values()) <= 4, tasks[0]["name"]
        for task in tasks:
            texts[task["intent"]].add(json.dumps(task["eval"]["reference_answers"]))
    assert {len(answers) for answers in texts.values()} == {1}


def test_texts_have_no_doubled_article_and_no_gap():
    wrong = re.compile(r"\b(the|a|an) (the|a|an) |  |\bNone\b| [,.?!]|\{\w*\}(?!”)", re.I)
    for task in load():
        text = re.sub(r"“[^”]*”", "“”", task["intent"])
        assert not wrong.search(text), text
        assert not text[0].islower(), text
        assert text[-1] in ".?”m", text


def judged(name, said, query):
    task = TASKS[name]
    spec = task["eval"]["reference_answers"]["answer"]
    return accepts(spec, clean(said), task["intent"], query)


def test_the_cases_have_all_kinds_of_answers():
    kinds = {TASKS[name]["eval"]["reference_answers"]["answer"]["kind"] for name in dict(FAIR)}
    assert kinds == {*KINDS, "name", "none"} - {"yes"}  # no task asks for yes or no
    assert min(len(FAIR), len(WRONG)) >= 120


@pytest.mark.parametrize(("name", "said"), FAIR)
def test_a_fair_answer_is_accepted(name, said, query):
    assert judged(name, said, query)


@pytest.mark.parametrize(("name", "said"), WRONG)
def test_a_wrong_answer_is_refused(name, said, query):
    assert not judged(name, said, query)
