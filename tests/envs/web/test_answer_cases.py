"""The answer judge decides over 500 answers to real tasks of all kinds as a fair reader does."""

import pytest
from answer_cases import FIRST, SECOND

from agentgym_envs.envs.web.evaluators import clean
from agentgym_envs.envs.web.sites import host as hosts
from agentgym_envs.envs.web.sites.answers import KINDS, accepts
from agentgym_envs.envs.web.sites.site import open_database
from agentgym_envs.envs.web.sites.tasks.load import load

TASKS = {task["name"]: task for task in load()}


CASES = [(name, cases) for table in (FIRST, SECOND) for name, cases in table.items()]
FAIR = [(name, said.strip()) for name, (fair, _) in CASES for said in fair.split("|")]
WRONG = [(name, said.strip()) for name, (_, wrong) in CASES for said in wrong.split("|")]


@pytest.fixture(scope="module")
def query():
    databases = {tables: open_database(hosts.snapshot(tables)) for tables in hosts.FILL}

    def answer(locator):
        tables, _, sql = locator.partition(":")
        return "\n".join(" | ".join(map(str, row)) for row in databases[tables].execute(sql))

    return answer


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
