"""The table of players whose seats share one score."""

from agentgym_envs.tournament.schedule import PlannedGame
from agentgym_envs.tournament.standings import (
    LEGEND,
    meanings,
    shared_standings,
    standings,
    won,
)

SOLVED = (True, True, False, True)


def games(*pairs):
    return [
        {
            **{"suite": "", "family": " with ".join(pair), "task_id": f"task-{number}"},
            **{"success": solved, "score": float(solved), "end": "terminated"},
            **{"turns": [], "usage": {}},
            "seats": {seat: {"player": name} for seat, name in zip("ab", pair, strict=True)},
        }
        for pair in pairs
        for number, solved in enumerate(SOLVED)
    ]


def line(rows, player):
    found = shared_standings(rows, ["x", "y"], [])
    return next(line for line in found.lines if line["player"] == player)


def test_the_interval_is_over_tasks_and_not_over_games():
    """A third game of each task, with the same results, makes nothing more certain."""
    two = line(games(("x", "x"), ("x", "y")), "x")
    three = line(games(("x", "x"), ("x", "y"), ("y", "x")), "x")
    assert (two["games"], three["games"]) == ("8", "12")
    assert two["success"] == three["success"] == 0.75
    assert (two["low"], two["high"]) == (three["low"], three["high"])


def test_the_seats_and_the_missing_games():
    rows = games(("x", "y"))
    missing = [
        PlannedGame("task-0", 1, ("y", "x"), True),
        PlannedGame("task-0", 1, ("y", "y"), True),
    ]
    table = shared_standings(rows, ["x", "y"], missing)
    assert table.warning.startswith("4 of 6 games, incomplete")
    bounds = {line["player"]: (line["least"], line["most"]) for line in table.lines}
    assert bounds == {"x": (3 / 5, 4 / 5), "y": (3 / 6, 5 / 6)}, "three of four games are solved"
    assert {key for key, _ in table.columns} >= {"least"}
    assert [head for _, head in table.columns][-3:] == ["as a", "as b", "missing"]
    shown = {line["player"]: (line["a"], line["b"], line["missing"]) for line in table.lines}
    assert shown == {"x": ("0.750", "–", "1"), "y": ("–", "0.750", "2")}
    assert shared_standings([], ["x", "y"], missing).lines[0]["games"] == "0"


def test_scores_that_differ_by_rounding_are_a_draw():
    seats = {"a": {"score": 0.1 + 0.2, "forfeit": False}, "b": {"score": 0.3, "forfeit": False}}
    assert won({"seats": seats}, "a") == won({"seats": seats}, "b") == 0.5
    seats["a"]["score"] = 0.301
    assert (won({"seats": seats}, "a"), won({"seats": seats}, "b")) == (1.0, 0.0)


def test_a_duel_has_bounds_of_the_score_and_a_legend_of_its_columns():
    """x won one game of one point; one of its games and one of y's are missing."""
    seats = {
        seat: {"player": name, "score": score, "forfeit": False}
        for seat, name, score in (("a", "x", 1.0), ("b", "y", 0.0))
    }
    rows = [{"task_id": "t", "end": "terminated", "seats": seats}]
    whole = standings(rows, ["x", "y"], [])
    assert whole.warning == ""
    assert not {"least", "missing"} & {key for key, _ in whole.columns}
    half = standings(rows, ["x", "y"], [PlannedGame("t", 1, ("y", "x"), False)])
    found = {line["player"]: (line["least"], line["most"]) for line in half.lines}
    assert found == {"x": (0.5, 1.0), "y": (0.0, 0.5)}
    for table, absent in ((whole, 2), (half, 0)):
        keys = [key for key, _ in table.columns]
        assert len(meanings(table, keys, shared=False)) == len(LEGEND) - absent
    assert len(meanings(half, ["player", "games", "a"], shared=True)) == 2
