"""The final table."""

import io

from rich.console import Console

from agentgym_envs.terminal import Output
from agentgym_train.data.types import Trajectory, Turn
from agentgym_train.evaluation import evaluate
from agentgym_train.reporting import report


def test_the_table_says_of_how_many_episodes_and_how_sure():
    """Half of 100: Wilson's interval is 0.404 to 0.596; of none of 10 it is 0 to 0.278."""
    console = Console(width=100, record=True, file=io.StringIO())
    rows = {
        "after": {"success": 0.5, "score": 0.5, "turns": 3.0, "invalid": 0.25, "episodes": 100},
        "oracle": {"success": 0.0, "score": 0.0, "turns": 1.0, "episodes": 10},
    }
    console.print(report.table(rows))
    shown = [
        " ".join(line.replace("│", " ").split()) for line in console.export_text().splitlines()
    ]
    assert "after RL 100 0.500 (0.40–0.60) 0.500 3.0 25.0%" in shown
    assert "oracle 10 0.000 (0.00–0.28) 0.000 1.0 0.0%" in shown


def test_the_table_keeps_its_numbers_beside_long_names():
    numbers = {"success": 0.5, "score": 0.5, "turns": 3.0, "invalid": 0.25, "episodes": 100}
    name = "TieredMaze-v0/" + 5 * "a-long-name-"
    rows = {"after": numbers | {"env": {name: numbers}}}
    for width, terminal in ((80, True), (80, False)):
        file = io.StringIO()
        Output(width=width, file=file, force_terminal=terminal, color_system=None).print(
            report.table(rows)
        )
        assert file.getvalue().count("0.500 (0.40–0.60) │ 0.500 │ 3.0   │ 25.0%") == 2
        assert "…" not in file.getvalue()
        assert (name in file.getvalue()) != terminal
        assert max(map(len, file.getvalue().splitlines())) <= 80 or not terminal


def warnings(*rows, quiet=False):
    console = Console(width=60, file=io.StringIO())
    display = report.Display(console, quiet=quiet)
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
    turns = [Turn("seen", [1], [2], [-1.0], action="go", cut=cut) for cut in (False, True)]
    assert report.as_text(Trajectory("a", 0, turns)).count("`go` (cut)") == 1


def test_an_evaluation_counts_cut_actions():
    turns = [Turn("seen", [1], [2], [-1.0], cut=cut) for cut in (False, True, False, True)]
    assert evaluate.summary([Trajectory("a", 0, turns)])["cut_actions"] == 0.5
