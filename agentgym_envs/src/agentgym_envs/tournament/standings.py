"""The table of a tournament."""

import math
from collections import Counter
from collections.abc import Collection, Sequence
from statistics import fmean

from agentgym_envs.evaluate.metrics import summarise
from agentgym_envs.evaluate.record import EpisodeRow
from agentgym_envs.evaluate.tables import ResultTable, TableLine, counted
from agentgym_envs.scores import equal
from agentgym_envs.tournament.ratings import Array, ratings, wins
from agentgym_envs.tournament.schedule import PlannedGame

MISSING = "missing: games without a result, which count for no player."
LEGEND = {
    "games": "won–drawn–lost by seat: the higher score wins a game; a forfeit loses.",
    "score": "score: mean over games.",
    "least": "bounds: the score if it is 0 in all missing games, and if it is 1.",
    "elo": (
        "Elo: maximum-likelihood strengths of a Bradley–Terry model; the mean is 1000, and 400"
        " points are odds of ten to one. A draw is half a win. One extra draw per pair keeps all"
        " ratings finite. A player without a game has no rating."
    ),
    "interval": (
        "95 %: bootstrap over tasks; a dash stands where a player won or lost every game, or where"
        " all resamples give the same rating."
    ),
    "missing": MISSING,
}
SHARED_LEGEND = {
    "games": "All seats share one score.",
    "success": "success and score: means over tasks, of a task over its games.",
    "low": "95 %: of the success, over tasks.",
    "least": "bounds: the success if all missing games fail, and if all are solved.",
    "seat": "as SEAT: success of the games in which the player has this seat.",
    "missing": MISSING,
}
_BOUNDS = [("least", "bounds")]  # a column of an incomplete tournament
SILENT = {
    "context": "its conversation was too long for the model",
    "refused": "the model or a filter refused the conversation",
}
LETTERS = {1.0: "won", 0.5: "drawn", 0.0: "lost"}


def standings(
    rows: Sequence[EpisodeRow], players: Sequence[str], missing: Sequence[PlannedGame]
) -> ResultTable:
    """Returns one line per player, the best first.

    Args:
        rows: the lines of played games.
        players: the players of the tournament.
        missing: the games that were not played.
    """
    seats = list(rows[0]["seats"]) if rows else []
    active = [p for p in players if any(_plays(p, row) for row in rows)]
    rated = dict(zip(active, ratings(_wins(rows, active)), strict=True)) if rows else {}
    lines = []
    for player in sorted(players, key=lambda p: -rated[p].elo if p in rated else math.inf):
        own = [
            (seat, row)
            for row in rows
            for seat, result in row["seats"].items()
            if result["player"] == player
        ]
        line: TableLine = {"player": player, "games": str(len(own))}
        line |= {seat: _results([row for s, row in own if s == seat], seat) for seat in seats}
        if own:
            line["score"] = fmean(row["seats"][seat]["score"] for seat, row in own)
        line |= _bounds([row["seats"][seat]["score"] for seat, row in own], player, missing)
        if rows:
            line |= {"elo": "–", "interval": "–"}
        if player in rated:
            rating, interval = rated[player]
            line |= {
                "elo": f"{rating:.0f}",
                "interval": f"{interval.low:.0f} to {interval.high:.0f}" if interval else "–",
            }
        lines.append(line | _missing(player, missing))
    shown = [(seat, f"as {seat}") for seat in seats]
    columns = [
        ("player", ""),
        ("games", "games"),
        *shown,
        ("score", "score"),
        *_BOUNDS[: bool(missing)],
        ("elo", "Elo"),
        ("interval", "95 %"),
    ]
    return _table(columns, lines, missing, rows)


def shared_standings(
    rows: Sequence[EpisodeRow], players: Sequence[str], missing: Sequence[PlannedGame]
) -> ResultTable:
    """Returns one line per player of a game whose seats share one score, the best first.

    Args:
        rows: the lines of played games.
        players: the players of the tournament.
        missing: the games that were not played.
    """
    seats = list(rows[0]["seats"]) if rows else []
    lines = []
    for player in players:
        by_seat = {
            seat: [row for row in rows if row["seats"][seat]["player"] == player] for seat in seats
        }
        # A task's games with several partners are attempts at it.
        own = [{**row, "family": ""} for row in rows if _plays(player, row)]
        line: TableLine = {"player": player, "games": str(len(own))}
        if own:
            found = summarise(own)
            low, high = found.interval
            line |= {"success": found.success, "low": low, "high": high, "score": found.score}
        line |= _bounds([row["success"] for row in own], player, missing)
        for seat, games in by_seat.items():
            line[seat] = f"{fmean(row['success'] for row in games):.3f}" if games else "–"
        lines.append(line | _missing(player, missing))
    lines.sort(key=lambda line: -line.get("success", 0.0))
    bounds = _BOUNDS[: bool(missing)]
    measures = [("success", "success"), ("low", "95 %"), *bounds, ("score", "score")]
    measures = measures if rows else []
    shown = [(seat, f"as {seat}") for seat in seats]
    return _table([("player", ""), ("games", "games"), *measures, *shown], lines, missing, rows)


def _plays(player: str, row: EpisodeRow) -> bool:
    return any(result["player"] == player for result in row["seats"].values())


def meanings(table: ResultTable, shown: Collection[str], *, shared: bool) -> list[str]:
    """Returns the sentences of the legend for the columns that a reader sees."""
    seats = any(head.startswith("as ") for key, head in table.columns if key in shown)
    keys = {*shown, "seat"} if seats else set(shown)
    return [text for key, text in (SHARED_LEGEND if shared else LEGEND).items() if key in keys]


def _bounds(results: Sequence[float], player: str, missing: Sequence[PlannedGame]) -> TableLine:
    """Returns the mean over games with 0 and with 1 for each missing game of a player."""
    left = sum(player in contest.players for contest in missing)
    games = len(results) + left
    if not (missing and games):
        return {}
    return {"least": sum(results) / games, "most": (sum(results) + left) / games}


def _missing(player: str, missing: Sequence[PlannedGame]) -> TableLine:
    return {"missing": str(sum(player in contest.players for contest in missing) or "")}


def _table(
    columns: list[tuple[str, str]],
    lines: list[TableLine],
    missing: Sequence[PlannedGame],
    rows: Sequence[EpisodeRow],
) -> ResultTable:
    shown = [*columns, *([("missing", "missing")] if missing else [])]
    total = len(rows) + len(missing)
    warning = (
        f"{len(rows)} of {total} games, incomplete: short games finish first" if missing else ""
    )
    return ResultTable(shown, lines, _silent(rows), warning)


def _silent(rows: Sequence[EpisodeRow]) -> list[str]:
    """Tells which players forfeited games because their model gave no answer."""
    met = Counter(
        (result["player"], row["end"])
        for row in rows
        if row["end"] in SILENT
        for result in row["seats"].values()
        if result["forfeit"]
    )
    return [
        f"{player} forfeited {counted(n, 'game')}: {SILENT[end]}"
        for (player, end), n in sorted(met.items())
    ]


def won(row: EpisodeRow, seat: str) -> float:
    """Returns a seat's result in a game: 1, ½ or 0."""
    standing = {s: float(result["score"] - result["forfeit"]) for s, result in row["seats"].items()}
    own = standing.pop(seat)
    (other,) = standing.values()
    return 0.5 if equal(own, other) else float(own > other)


def _results(rows: Sequence[EpisodeRow], seat: str) -> str:
    """Returns games won, drawn and lost, such as 3–0–1."""
    counted = Counter(LETTERS[won(row, seat)] for row in rows)
    return "–".join(str(counted[letter]) for letter in LETTERS.values())


def _wins(rows: Sequence[EpisodeRow], players: Sequence[str]) -> Array:
    tasks = {
        task_id: number for number, task_id in enumerate(sorted({row["task_id"] for row in rows}))
    }
    games = []
    for row in rows:
        (first, one), (_, other) = row["seats"].items()
        games.append(
            (
                tasks[row["task_id"]],
                players.index(one["player"]),
                players.index(other["player"]),
                won(row, first),
            )
        )
    return wins(games, tasks=len(tasks), players=len(players))
