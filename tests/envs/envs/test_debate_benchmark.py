"""``benchmarks/debate.py`` with an honest model that can only read.

The result of each method is known.
"""

import re
from pathlib import Path

import pytest
import stub_model
from scripts import load
from stub_model import StubModel, policy

SCRIPT = Path(__file__).parents[3] / "benchmarks" / "debate.py"


@pytest.fixture
def debate(monkeypatch):
    module = load(SCRIPT)
    monkeypatch.setattr(
        module, "KINDS", {"arithmetic": "arithmetic*", "multi-hop": "hop2-capital-*"}
    )
    return module


def reader(messages):
    """An honest model that computes and repeats all it has read.

    It answers after reading the city's country and that country's capital.
    """
    seen = "\n".join(m["content"] for m in messages if m["role"] == "user")
    if sums := re.search(r"What is ([\d ×+−]+)\?", seen):
        return f"answer: {eval(sums[1].replace('×', '*').replace('−', '-'))}"
    city = re.search(r"in which (.*) is\?", seen)[1]
    country = re.search(rf"{re.escape(city)} is a city in (.*?)\. GeoNames", seen)
    capital = country and re.search(
        rf"{re.escape(country[1])} is a country .*? Its capital is (.*?) and its currency", seen
    )
    known = re.findall(r"You know: (.*)", seen)
    return "\n".join([*known, f"answer: {capital[1] if capital else 'nobody knows'}"])


def table(path):
    return [
        [cell.strip() for cell in line.split("|")[1:-1]]
        for line in path.read_text().splitlines()
        if line.startswith("| ")
    ][1:]


def run(debate, tmp_path, **options):
    debate.main(
        "stub",
        episodes=6,
        concurrency=1,
        work=tmp_path / "work",
        result=tmp_path / "debate.md",
        **options,
    )
    return table(tmp_path / "debate.md")


def test_what_is_split_is_found_by_talking_alone(debate, tmp_path, monkeypatch):
    with StubModel(policy(reader)) as stub:
        monkeypatch.setenv("OPENAI_BASE_URL", stub.url)
        lines = run(debate, tmp_path)
        asked = len(stub.completions)
        assert run(debate, tmp_path) == lines
        assert len(stub.completions) == asked, "what is there is not played again"
    right, wrong = "1.00 (0.61–1.00)", "0.00 (0.00–0.39)"
    assert lines == [
        ["single agent", "all", f"{right}, 1 calls", f"{right}, 1 calls"],
        ["self-consistency of 3", "all", f"{right}, 3 calls", f"{right}, 3 calls"],
        ["debate of 3, 2 rounds", "all", f"{right}, 6 calls", f"{right}, 6 calls"],
        ["vote of 3 without discussion", "own", "as above", f"{wrong}, 3 calls"],
        ["debate of 3, 2 rounds", "own", "as above", f"{right}, 6 calls"],
    ]
    assert asked == 6 * (1 + 3 + 6) * 2 + 6 * (3 + 6)


def test_a_server_that_fails_makes_no_answer_wrong(debate, tmp_path, monkeypatch):
    def script(request):
        refused = "capital" in request.messages[1]["content"] and len(request.messages) == 2
        return stub_model.status(400) if refused else stub_model.ok(reader(request.messages))

    with StubModel(script) as stub:
        monkeypatch.setenv("OPENAI_BASE_URL", stub.url)
        assert [line[3] for line in run(debate, tmp_path)] == ["none, 6 missing"] * 5
