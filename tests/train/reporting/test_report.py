"""The final table."""

import io

from compared import result
from rich.console import Console

from agentgym_envs.evaluate import tables
from agentgym_envs.terminal import CommandConsole
from agentgym_train.data.types import Call, Trajectory, Turn
from agentgym_train.evaluation import evaluate
from agentgym_train.reporting import report


def test_the_table_says_of_how_many_episodes_and_how_sure():
    """The mid-p interval of half of 100 is 0.403 to 0.597.

    That of none of 10 ends where (1 - p) ** 10 / 2 = 0.025, at 0.259.
    """
    console = Console(width=100, record=True, file=io.StringIO())
    rows = {
        "after": {"success": 0.5, "score": 0.5, "turns": 3.0, "invalid": 0.25, "episodes": 100},
        "oracle": {"success": 0.0, "score": 0.0, "turns": 1.0, "episodes": 10},
    }
    console.print(report.table(rows))
    shown = [
        " ".join(line.replace("│", " ").split()) for line in console.export_text().splitlines()
    ]
    assert "after RL 100 0.500 (0.40–0.60) 0.500 3.0 0.250" in shown
    assert "oracle 10 0.000 (0.00–0.26) 0.000 1.0 0.000" in shown


def test_a_step_shows_its_own_success_and_names_the_average():
    """The average keeps nine tenths: after 0 and 0.5 it is 0.05, and after no rated episode too."""
    console = Console(width=100, file=io.StringIO())
    display = report.RunDisplay(console)
    row = {"horizon": 5, "tokens": 30, "time": {"collect": 2.0}}
    for step, rated in enumerate(({}, {"success": 0.0}, {"success": 0.5}, {}), 1):
        display.step(row | {"step": step} | rated, 4)
    assert console.file.getvalue().splitlines() == [
        "training 1/4 horizon 5 · success – · 15 tokens/s",
        "training 2/4 horizon 5 · success 0.00 (moving average 0.00) · 15 tokens/s",
        "training 3/4 horizon 5 · success 0.50 (moving average 0.05) · 15 tokens/s",
        "training 4/4 horizon 5 · success – (moving average 0.05) · 15 tokens/s",
    ]


def test_the_table_and_the_report_have_the_same_interval():
    rows = [result(f"t{n}", 1, success=n < 3) for n in range(12)]
    (line,) = tables.results(rows).lines
    assert report.interval(line["success"], 12) == (line["low"], line["high"])


def test_the_table_keeps_its_numbers_beside_long_names():
    numbers = {"success": 0.5, "score": 0.5, "turns": 3.0, "invalid": 0.25, "episodes": 100}
    name = "TieredMaze-v0/" + 5 * "a-long-name-"
    rows = {"after": numbers | {"env": {name: numbers}}}
    for width, terminal in ((80, True), (80, False)):
        file = io.StringIO()
        CommandConsole(width=width, file=file, force_terminal=terminal, color_system=None).print(
            report.table(rows)
        )
        assert file.getvalue().count("0.500 (0.40–0.60) │ 0.500 │ 3.0   │ 0.250") == 2
        assert "…" not in file.getvalue()
        assert (name in file.getvalue()) != terminal
        assert max(map(len, file.getvalue().splitlines())) <= 80 or not terminal


def warnings(*rows, quiet=False):
    console = Console(width=60, file=io.StringIO())
    display = report.RunDisplay(console, quiet=quiet)
    for row in rows:
        display.warn_of_cut_actions(row, 64)
    return console.file.getvalue()


def test_many_cut_actions_are_warned_of_once_per_environment():
    few, many = {"cut_actions": 0.09}, {"cut_actions": 0.25}
    shown = warnings(few, many, many)
    assert shown.count("25% of the actions were cut at rollout.max_new_tokens=64") == 1
    assert warnings(few, {"tokens": 3}) == warnings(many, quiet=True) == ""
    several = warnings(many | {"env": {"Maze": few, "Shop": many}}, {"env": {"Maze": many}})
    assert [name for name in ("in Shop", "in Maze") if several.count(name) == 1] == [
        "in Shop",
        "in Maze",
    ]


def test_an_episode_shows_its_cut_actions():
    turns = [Turn("seen", [Call([1], [2], [-1.0], cut=cut)], action="go") for cut in (False, True)]
    assert report.as_text(Trajectory("a", 0, turns)).count("`go` (cut)") == 1


def test_an_evaluation_counts_cut_actions():
    turns = [Turn("seen", [Call([1], [2], [-1.0], cut=cut)]) for cut in (False, True, False, True)]
    assert evaluate.summary([Trajectory("a", 0, turns)])["cut_actions"] == 0.5
