"""Connect Four: the solver against plain minimax on lists of strings, the tasks, the rules."""

import functools
import json
import random

import gymnasium
import pytest
from some import full

from agentgym_envs import errors, make_parallel
from agentgym_envs.envs.connect4 import make
from agentgym_envs.envs.connect4.board import EMPTY, BoardShape
from agentgym_envs.envs.connect4.solver import PerfectSolver

ID = "agentgym/Connect4-v1"


def has_line(columns, rows, connect, mark):
    """Whether columns, strings from the bottom, hold a line."""
    cells = {
        (c, r)
        for c, column in enumerate(columns)
        for r, stone in enumerate(column)
        if stone == mark
    }
    ways = ((1, 0), (0, 1), (1, 1), (1, -1))
    return any(
        all((c + i * x, r + i * y) in cells for i in range(connect))
        for c, r in cells
        for x, y in ways
    )


def minimax(width, height, connect):
    """Returns an exhaustive solver.

    It maps columns and the player to move to the winner and the number of stones left.
    """

    @functools.cache
    def value(columns, mark):
        left, other = width * height - sum(map(len, columns)), "XO".replace(mark, "")
        values = []
        for c in range(width):
            if len(columns[c]) < height:
                after = (*columns[:c], columns[c] + mark, *columns[c + 1 :])
                values.append(
                    (left + 1) // 2
                    if has_line(after, height, connect, mark)
                    else -value(after, other)
                )
        return max(values, default=0)

    return value


def scattered(board, count, rng):
    """A random position of our board and as columns, with who moves; nobody has won."""
    moves, stones = make.scatter(board, count, rng) or ("", EMPTY)
    columns = [""] * board.columns
    for n, move in enumerate(moves):
        columns[int(move) - 1] += "XO"[n % 2]
    return stones, tuple(columns), "XO"[len(moves) % 2]


@pytest.mark.parametrize(
    ("width", "height", "connect"), [(4, 4, 3), (3, 5, 3), *full((5, 3, 3), (4, 4, 4))]
)
def test_the_solver_agrees_with_plain_minimax(width, height, connect):
    board, value, rng = (
        BoardShape(columns=width, rows=height, connect=connect),
        minimax(width, height, connect),
        random.Random(1),
    )
    solver, seen = PerfectSolver(board), set()
    for _ in range(150):
        stones, columns, mark = scattered(
            board, rng.randrange(6 if connect < 4 else 8, width * height), rng
        )
        if stones == EMPTY:
            continue
        wanted = value(columns, mark)
        seen.add((wanted > 0) - (wanted < 0))
        assert solver.value(stones) == wanted, columns
        best = solver.best(stones)
        after = (*columns[:best], columns[best] + mark, *columns[best + 1 :])
        other, left = "XO".replace(mark, ""), width * height - sum(map(len, columns))
        got = (left + 1) // 2 if has_line(after, height, connect, mark) else -value(after, other)
        assert got == wanted, f"{columns}: {best} is not a best move"
    assert len(seen) > 1


def test_where_a_line_can_be_completed_agrees_with_dropping_a_stone():
    rng = random.Random(2)
    for board in (
        BoardShape(),
        BoardShape(columns=4, rows=4, connect=3),
        BoardShape(columns=7, rows=6),
        BoardShape(columns=5, rows=7, connect=5),
    ):
        for _ in range(100):
            stones, columns, mark = scattered(board, rng.randrange(board.cells), rng)
            dropped = [
                c
                for c in board.legal(stones.mask)
                if has_line(_after(columns, c, mark), board.rows, board.connect, mark)
            ]
            assert board.winning(stones) == dropped
            picture = [
                ["XO."["XO.".index(_at(columns, c, r))] for c in range(board.columns)]
                for r in reversed(range(board.rows))
            ]
            first = stones.mine if mark == "X" else stones.mine ^ stones.mask
            assert board.draw(first, stones.mask).splitlines()[:-1] == [
                f"| {' '.join(row)} |" for row in picture
            ]


def _after(columns, c, mark):
    return (*columns[:c], columns[c] + mark, *columns[c + 1 :])


def _at(columns, c, r):
    return columns[c][r] if r < len(columns[c]) else "."


BOARDS = [
    ({}, 400),
    ({"columns": 7, "rows": 6}, 300),
    ({"columns": 4, "rows": 4, "connect": 3}, 300),
]


@pytest.mark.parametrize(("keywords", "least"), BOARDS)
def test_tasks_are_many_of_several_difficulties_and_share_no_position_with_another_split(
    keywords, least
):
    """Also not with colours exchanged, nor as in a mirror."""
    envs = {
        split: gymnasium.make(ID, split=split, **keywords).unwrapped
        for split in ("train", "dev", "test")
    }
    assert sum(len(env.task_ids) for env in envs.values()) > least
    pictures = {}
    for split, env in envs.items():
        tasks = [env.task_set.get(i) for i in env.task_ids]
        difficulties = {task.difficulty for task in tasks}
        assert len(difficulties) >= 4
        assert (1 in difficulties) == (split == "train"), "a win at once is easy to guess"
        for task in tasks:
            seen = env.game.begin(task, random.Random(0))["player_0"].splitlines()[1:-1]
            swapped = [line.translate(str.maketrans("XO", "OX")) for line in seen]
            turn = env.game.acting()[0]
            looks = {(*lines,) for lines in (seen if turn == "player_0" else swapped,)}
            looks |= {tuple(line[::-1] for line in lines) for lines in looks}
            assert not looks & pictures.keys(), task.id
            pictures |= dict.fromkeys(looks, split)


@pytest.mark.parametrize(("keywords", "least"), BOARDS)
def test_either_seat_has_about_half_of_the_tasks_of_each_split_to_win(keywords, least):
    for split in ("train", "dev", "test"):
        env = gymnasium.make(ID, split=split, **keywords).unwrapped
        seats = [env.game.default_seat(env.task_set.get(i)) for i in env.task_ids]
        assert 0.35 < seats.count("player_1") / len(seats) < 0.65
        for task_id, seat in list(zip(env.task_ids, seats, strict=True))[::25]:
            observation, info = env.reset(options={"task_id": task_id})
            mark = {"player_0": "X", "player_1": "O"}[seat]
            assert observation.startswith(f"You are {seat} and play {mark}: ")
            assert "It is your turn." in observation
            assert (info["seat"], env.game.acting(), f"-{mark}-" in task_id) == (
                seat,
                (seat,),
                True,
            )


def test_exactly_one_move_of_a_small_board_wins_by_plain_minimax():
    value = minimax(4, 4, 3)
    env = gymnasium.make(ID, columns=4, rows=4, connect=3).unwrapped
    for task_id in [i for i in env.task_ids if len(i.split("-")[2]) >= 7][::4]:
        columns, mark = [""] * 4, "X"
        for n, move in enumerate(task_id.split("-")[2]):
            columns[int(move) - 1] += "XO"[n % 2]
        mark = "XO"[(n + 1) % 2]
        after = [_after(tuple(columns), c, mark) for c in range(4) if len(columns[c]) < 4]
        wins = [
            has_line(board, 4, 3, mark) or value(board, "XO".replace(mark, "")) < 0
            for board in after
        ]
        assert wins.count(True) == 1, task_id


@pytest.mark.timeout(1800)
@pytest.mark.parametrize("tries", [100, pytest.param(None, marks=pytest.mark.full)])
@pytest.mark.parametrize("name", make.WANTED)
def test_the_positions_are_what_the_generator_makes(name, tries, monkeypatch):
    shipped = json.loads(make.FILE.read_text())[name]
    assert {d for _, d, _ in shipped} == set(make.WANTED[name].difficulties)
    if tries:
        monkeypatch.setitem(make.WANTED, name, make.WANTED[name]._replace(tries=tries))
    made = [list(row) for row in make.positions(name)]
    assert len(made) > 10
    assert [row for row in shipped if row in made] == made
    assert tries or made == shipped


@pytest.mark.parametrize("every", [12, pytest.param(1, marks=pytest.mark.full)])
def test_the_oracle_wins_in_as_many_moves_as_the_difficulty_says_against_a_perfect_defence(every):
    env = gymnasium.make(ID).unwrapped
    for split in ("train", "dev", "test"):
        for task_id in env.task_set.ids(split)[::every]:
            env.reset(options={"task_id": task_id})
            infos = [env.step(action)[4] for action in env.oracle()]
            assert infos[-1]["success"]
            assert len(infos) == env.task.difficulty, task_id


def test_the_solver_looks_at_few_positions_where_a_task_begins():
    env = gymnasium.make(ID).unwrapped
    for task_id in env.task_ids[::10]:
        env.reset(options={"task_id": task_id})
        solver = PerfectSolver(env.game.board)
        solver.best(env.game.stones)
        assert solver.nodes <= make.NODES


def test_a_game_to_its_end_in_words():
    env = make_parallel(ID, columns=4, rows=4, connect=3, tasks="win1-X-*")
    task_id = env._table.task_ids[0]
    seen, infos = env.reset(options={"task_id": task_id})
    assert "You are player_0 and play X: get 3 in a row. It is your turn." in seen["player_0"]
    assert (
        "You are player_1 and play O: get 3 in a row. It is the turn of player_0."
        in seen["player_1"]
    )
    assert seen["player_0"].splitlines()[1:] == seen["player_1"].splitlines()[1:]
    assert infos["player_0"]["acts"]
    seen, _, _, _, infos = env.step({"player_0": "drop 9"})
    assert seen["player_0"].startswith("Not an action: drop 9\nPossible are: drop ")
    assert (seen["player_1"], infos["player_0"]["invalid"], infos["player_1"]["invalid"]) == (
        "",
        True,
        False,
    )
    seen, rewards, ended, _, infos = env.step({"player_0": env.game.oracle("player_0")})
    assert "wins." in seen["player_0"]
    assert seen["player_0"] == seen["player_1"]
    assert (rewards, ended) == (
        {"player_0": 1.0, "player_1": 0.0},
        {"player_0": True, "player_1": True},
    )
    assert [infos[seat]["success"] for seat in infos] == [True, False]


def test_a_full_board_without_a_line_is_a_draw():
    env = gymnasium.make(ID, columns=4, rows=4, connect=3, seats="all").unwrapped
    for seed in range(2000):
        rng, over = random.Random(seed), False
        env.reset(seed=seed)
        while not over:
            *_, over, _, info = env.step(rng.choice(env.actions()))
        if info["scores"] == {"player_0": 0.5, "player_1": 0.5}:
            break
    assert env.game.board.legal(env.game.stones.mask) == []
    assert info["successes"] == {"player_0": False, "player_1": False}
    assert "A draw." in env._text


def test_greedy_wins_if_it_can_and_else_blocks():
    env = gymnasium.make(ID, opponents="greedy").unwrapped
    game, rng = env.game, random.Random(0)
    seen = set()
    for seed in range(300):
        made = make.scatter(game.board, random.Random(seed).randrange(8, 20), random.Random(seed))
        if made is None:
            continue
        game.stones = made[1]
        mark = "XO"[len(made[0]) % 2]
        columns = scattered(game.board, 0, rng)[1]
        for n, move in enumerate(made[0]):
            columns = _after(columns, int(move) - 1, "XO"[n % 2])
        lines = {
            m: [
                c
                for c in range(6)
                if len(columns[c]) < 5 and has_line(_after(columns, c, m), 5, 4, m)
            ]
            for m in "XO"
        }
        best = lines[mark] or lines["XO".replace(mark, "")]
        seen.add((bool(lines[mark]), bool(best)))
        said = game.players["greedy"](game, "player_0", rng)
        assert not best or said in [f"drop {c + 1}" for c in best]
    assert {(False, False), (False, True)} <= seen


@pytest.mark.parametrize(
    ("keywords", "message"),
    [
        ({"columns": 5}, "no positions for the board 5x5-4 .*; use one of 4x4-3, 6x5-4, 7x6-4"),
        ({"connect": 1}, "connect must be from 2"),
        ({"columns": "x"}, "columns must be a whole number of at most 9, not 'x'"),
        ({"rows": 5.0}, "rows must be a whole number of at most 9, not 5.0"),
        ({"connect": True}, "connect must be a whole number of at most 9, not True"),
        ({"columns": 60}, "at most 9"),
    ],
)
def test_boards_without_positions_are_refused(keywords, message):
    with pytest.raises(errors.ArgumentError, match=message):
        gymnasium.make(ID, **keywords)
