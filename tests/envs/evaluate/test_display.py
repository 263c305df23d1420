"""Tables in narrow terminals and in pipes."""

import io

import pytest

from agentgym_envs.evaluate.display import show
from agentgym_envs.evaluate.tables import PAIRED, ResultTable
from agentgym_envs.terminal import CommandConsole

BASE, OTHER = "results/qwen2.5-7b-instruct-checkpoint-100", "qwen2.5-7b-instruct-checkpoint-2000"
VALUES = (f"{OTHER} − {BASE}", "40", "+0.125", "-0.01 to +0.26", "7", "2", "0.18")
COMPARED = ResultTable([(head, head) for head in PAIRED], [dict(zip(PAIRED, VALUES, strict=True))])
WIDE = ResultTable(
    [(name, name) for name in ("name", *map(str, range(1000, 1040)))], [{"name": "x"}]
)


def printed(table, *, terminal, width=80):
    file = io.StringIO()
    console = CommandConsole(file=file, force_terminal=terminal, width=width, color_system=None)
    show(console, table, "the title")
    return file.getvalue().splitlines()


@pytest.mark.parametrize("width", [72, 80])
def test_a_comparison_keeps_its_numbers_in_a_narrow_terminal(width):
    lines = printed(COMPARED, terminal=True, width=width)
    assert max(map(len, lines)) <= width
    assert next(line.split() for line in lines if "runs" in line) == " ".join(PAIRED).split()
    (numbers,) = (line for line in lines if "+0.125" in line)
    assert numbers.split()[-8:] == ["40", "+0.125", "-0.01", "to", "+0.26", "7", "2", "0.18"]
    name = "".join(line[: lines[2].index("tasks")].replace(" ", "") for line in lines[4:])
    assert name == f"{OTHER}−{BASE}", "the whole name, on several lines"
    assert not any("…" in line for line in lines)


def test_columns_that_do_not_fit_a_terminal_are_named():
    lines = printed(WIDE, terminal=True)
    assert max(map(len, lines)) <= 80
    text = " ".join(lines)
    assert all(head in text for head, _ in WIDE.columns)
    assert "1039: in a wider terminal, in a pipe" in text


def test_a_pipe_gets_whole_lines():
    heads = " ".join(head for head, _ in WIDE.columns)
    assert any(heads in " ".join(line.split()) for line in printed(WIDE, terminal=False))
    (whole,) = (line for line in printed(COMPARED, terminal=False) if "+0.125" in line)
    assert f"{OTHER} − {BASE}" in whole
