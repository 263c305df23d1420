"""The table of players whose seats share one score."""

from agentgym_envs.tournament.schedule import Contest
from agentgym_envs.tournament.standings import shared_standings, won

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
    missing = [Contest("task-0", 1, ("y", "x"), True), Contest("task-0", 1, ("y", "y"), True)]
    table = shared_standings(rows, ["x", "y"], missing)
    assert [head for _, head in table.columns][-3:] == ["as a", "as b", "missing"]
    shown = {line["player"]: (line["a"], line["b"], line["missing"]) for line in table.lines}
    assert shown == {"x": ("0.750", "–", "1"), "y": ("–", "0.750", "2")}
    assert shared_standings([], ["x", "y"], missing).lines[0]["games"] == "0"


def test_scores_that_differ_by_rounding_are_a_draw():
    seats = {"a": {"score": 0.1 + 0.2, "forfeit": False}, "b": {"score": 0.3, "forfeit": False}}
    assert won({"seats": seats}, "a") == won({"seats": seats}, "b") == 0.5
    seats["a"]["score"] = 0.301
    assert (won({"seats": seats}, "a"), won({"seats": seats}, "b")) == (1.0, 0.0)
