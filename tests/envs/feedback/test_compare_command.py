import pytest
from compared import folder, result, turn
from rich.console import Console
from typer.testing import CliRunner

from agentgym_envs.cli import app
from agentgym_envs.evaluate.record import EpisodeRows
from agentgym_envs.feedback.pairs import pairs
from agentgym_envs.feedback.record import read, standing
from agentgym_envs.feedback.session import JudgingSession
from agentgym_envs.feedback.terminal import compare


@pytest.fixture(autouse=True)
def rules(monkeypatch):
    monkeypatch.setattr(
        "agentgym_envs.feedback.pairs.instructions", lambda env_id, kwargs: f"the rules of {env_id}"
    )


def invoke(*args, **kwargs):
    return CliRunner().invoke(app, ["compare", *map(str, args)], **kwargs)


def runs(tmp_path, *names, attempts=1):
    rows = [
        [
            result(f"t-{i}", 2, attempt=n, last=f"{name} {n}")
            for i in range(2)
            for n in range(attempts)
        ]
        for name in names
    ]
    return [folder(tmp_path / name, played) for name, played in zip(names, rows, strict=True)]


def test_the_terminal_compares_and_takes_back(tmp_path):
    file = tmp_path / "c.jsonl"
    result = invoke(
        *runs(tmp_path, "one", "two"),
        "--terminal",
        "--out",
        file,
        input="kim\nwhat\nt  why not\nu\nn\nq\n",
    )
    assert result.exit_code == 0, result.output
    assert "the rules of agentgym/Maze-v1" in result.output
    assert "before: tie why not" in result.output
    # Four times a pair, once for "what".
    assert result.output.count("a, b: this one is better") == 5
    rows = read(file)[0]
    assert [row["row"] for row in rows] == ["comparison", "undo", "comparison"]
    assert [(row["choice"], row["comment"]) for row in standing(rows)] == [("neither", "why not")]
    again = invoke(
        tmp_path / "one",
        tmp_path / "two",
        "--terminal",
        "--out",
        file,
        "--annotator",
        "kim",
        input="a\n",
    )
    assert again.exit_code == 0, again.output
    assert "2 of 2" in again.output
    assert "1 of 2" not in again.output
    assert standing(read(file)[0])[-1]["choice"] in ("a", "b")


def test_attempts_of_one_run_are_compared(tmp_path):
    file = tmp_path / "c.jsonl"
    asked = invoke(
        *runs(tmp_path, "one", attempts=3),
        "--terminal",
        "--annotator",
        "kim",
        "--out",
        file,
        input="t\n" * 6,
    )
    assert asked.exit_code == 0, asked.output
    pairs = [(row["task_id"], row["a"]["attempt"], row["b"]["attempt"]) for row in read(file)[0]]
    assert pairs[:2] == [("t-0", 0, 1), ("t-1", 0, 1)]
    assert len(pairs) == 6


def test_hostile_text_is_no_markup_and_moves_no_cursor():
    text = "[red]x[/] \x1b[2J :smile: \x07"
    played = [
        (name, [result("[b]t[/]", [turn(1, observation=text, seat="[i]p[/]", response=name)])])
        for name in ("one", "two")
    ]
    console = Console(record=True, width=120, force_terminal=True)
    with console.capture() as captured:
        compare(
            JudgingSession(pairs(played, lambda env_id: text), EpisodeRows(), seed=0),
            "kim",
            console=console,
            ask=lambda prompt: "q",
        )
    shown = captured.get()
    assert "\x1b[2J" not in shown
    assert "\x07" not in shown
    assert shown.count("[red]x[/] �[2J :smile: �") == 3
    assert "[i]p[/]" in shown


def test_the_annotator_can_leave_at_any_time(tmp_path):
    for given in ("", "kim\n", "kim\nt\n"):
        assert (
            invoke(
                *runs(tmp_path, "one", "two"),
                "--terminal",
                "--out",
                tmp_path / "c.jsonl",
                input=given,
            ).exit_code
            == 0
        )


@pytest.mark.parametrize(
    ("names", "message"),
    [
        (("one", "two", "three"), "two runs can be compared, and these are 3"),
        (("one",), "has no second attempt at any task, or all of them went alike"),
        (("none",), "holds no results"),
    ],
)
def test_what_cannot_be_compared_is_one_line_and_writes_nothing(tmp_path, names, message):
    made = runs(tmp_path, *[name for name in names if name != "none"])
    answer = invoke(
        *(made or [tmp_path / "none"]), "--out", tmp_path / "c.jsonl", "--annotator", "kim"
    )
    assert answer.exit_code == 2
    assert message in answer.output
    assert not (tmp_path / "c.jsonl").exists()


def test_runs_without_a_common_task_have_nothing_to_compare(tmp_path):
    one, two = folder(tmp_path / "one", [result("t")]), folder(tmp_path / "two", [result("u")])
    answer = invoke(one, two, "--terminal")
    assert answer.exit_code == 2
    assert "the two runs share no task and attempt" in answer.output
