"""Comparisons in the forms of TRL's trainers; that TRL takes them is tested in test_trl.py."""

import errno
import json
import os

import pytest
from compared import comparison, side, turn, write
from typer.testing import CliRunner

from agentgym_envs.cli import app
from agentgym_envs.feedback.export import exported
from agentgym_envs.feedback.record import undo


def said(*turns):
    return side(
        turns=[turn(i, observation=seen, response=did) for i, (seen, did) in enumerate(turns)]
    )


A = said(("start", "go 1"), ("room 1", "so: go 2"), ("room 2", "take lamp"))
B = said(("start", "go 1"), ("room 1", "go 3"))
RULES = {"role": "system", "content": "Find the lamp."}


def user(text):
    return {"role": "user", "content": text}


def assistant(text):
    return {"role": "assistant", "content": text}


A_SAID = [
    user("start"),
    assistant("go 1"),
    user("room 1"),
    assistant("so: go 2"),
    user("room 2"),
    assistant("take lamp"),
]
B_SAID = [user("start"), assistant("go 1"), user("room 1"), assistant("go 3")]


def only(form, **changes):
    rows, left_out = exported([comparison(a=A, b=B, **changes)], form)
    assert not left_out
    return rows


def test_rewards_have_whole_conversations_the_better_one_chosen():
    assert only("rewards", choice="a") == [
        {"chosen": [RULES, *A_SAID], "rejected": [RULES, *B_SAID]}
    ]
    assert only("rewards", choice="b") == [
        {"chosen": [RULES, *B_SAID], "rejected": [RULES, *A_SAID]}
    ]


def test_dpo_has_what_both_have_in_common_as_its_prompt():
    assert only("dpo", choice="b") == [
        {"prompt": [RULES, *A_SAID[:3]], "chosen": B_SAID[3:], "rejected": A_SAID[3:]}
    ]


@pytest.mark.parametrize(
    ("a", "b", "prompt"),
    [
        ([("s", "x")], [("s", "y")], 2),
        (
            [("s", "x"), ("one", "y")],
            [("s", "x"), ("other", "y")],
            2,
        ),  # an environment of chance: both completions begin alike
        ([("s", "x")], [("s", "x"), ("t", "y")], 2),  # one goes on where the other ends
        ([("s", "x"), ("t", "y")], [("s", "x"), ("t", "z")], 4),
    ],
)
def test_dpos_prompt_ends_with_an_observation_and_leaves_both_a_response(a, b, prompt):
    (row,) = exported([comparison(a=said(*a), b=said(*b))], "dpo")[0]
    assert len(row["prompt"]) == prompt
    assert row["prompt"][-1]["role"] == "user"
    for name, turns in (("chosen", a), ("rejected", b)):
        assert row[name][0]["role"] == row[name][-1]["role"] == "assistant"
        assert len(row["prompt"]) + len(row[name]) == 1 + 2 * len(turns)


@pytest.mark.parametrize(
    ("choice", "labels"),
    [
        ("a", [True, False]),
        ("b", [False, True]),
        ("tie", [True, True]),
        ("neither", [False, False]),
    ],
)
def test_kto_says_of_each_episode_whether_it_is_good(choice, labels):
    rows = only("kto", choice=choice)
    assert [row["label"] for row in rows] == labels
    assert [row["prompt"] for row in rows] == [[RULES, user("start")]] * 2
    assert [row["completion"] for row in rows] == [A_SAID[1:], B_SAID[1:]]


def test_without_rules_there_is_no_system_message():
    assert only("rewards", instructions="")[0]["chosen"] == A_SAID


def test_what_says_nothing_is_left_out_and_counted():
    seats = side(turns=[turn(1, seat="player_0"), turn(2, seat="player_1")])
    rows = [
        comparison(choice="tie"),
        comparison(choice="neither"),
        comparison(a=side(turns=0)),
        comparison(b=seats),
    ]
    rows += [
        comparison(a=A, b=said(("elsewhere", "go 1"))),
        comparison(a=A, b=side(turns=[turn(1, seat="player_0")])),
    ]
    for form, kept, kinds in (("rewards", 2, 4), ("dpo", 0, 5), ("kto", 8, 2)):
        made, left_out = exported(rows, form)
        assert (len(made), len(left_out)) == (kept, kinds)
    assert exported(rows, "rewards")[1] == {
        "both are equally good": 1,
        "neither is good": 1,
        "an episode has no turn": 1,
        "several seats act in an episode": 1,
    }


def invoke(*args):
    return CliRunner().invoke(app, ["export", *map(str, args)])


def test_the_command_writes_what_stands(tmp_path):
    odd = said(("half \ud800, whole \ud83d\ude00\u2028", "go"))
    rows = [
        comparison("t"),
        comparison("u", a=odd),
        comparison("v"),
        comparison("w", "tie"),
        undo(comparison("t")),
    ]
    path, out = write(tmp_path / "c.jsonl", rows), tmp_path / "out.jsonl"
    answer = invoke(path, out, "--to", "rewards")
    assert (answer.exit_code, answer.output) == (
        0,
        f"wrote {out}: 2 rows; left out, as both are equally good: 1\n",
    )
    made = [json.loads(line) for line in out.read_bytes().decode("utf-8").split("\n")[:-1]]
    assert made[0]["chosen"][1]["content"] == "half �, whole 😀\u2028"
    assert len(made) == 2


@pytest.mark.parametrize("name", ["c.jsonl", "no/../c.jsonl", "link.jsonl", "hard.jsonl"])
def test_the_comparisons_are_never_written_over(tmp_path, monkeypatch, name):
    monkeypatch.chdir(tmp_path)
    path = write(tmp_path / "c.jsonl", [comparison()])
    (tmp_path / "link.jsonl").symlink_to(path)
    (tmp_path / "hard.jsonl").hardlink_to(path)
    before = path.read_bytes()
    answer = invoke("c.jsonl", name, "--to", "dpo")
    assert (answer.exit_code, path.read_bytes()) == (2, before)
    assert (
        f"{name} is the file of the comparisons itself, which would be lost: name another one to"
        " write" in answer.output
    )


def test_no_file_beside_is_touched(tmp_path):
    """Not even one that is named as a draft might be."""
    path = write(tmp_path / "c.jsonl.new", [comparison()])
    (tmp_path / "c.jsonl.tmp").write_text("precious")
    before = path.read_bytes()
    assert invoke(path, tmp_path / "c.jsonl").exit_code == 0
    assert path.read_bytes() == before
    assert sorted(file.name for file in tmp_path.iterdir()) == [
        "c.jsonl",
        "c.jsonl.new",
        "c.jsonl.tmp",
    ]
    assert (tmp_path / "c.jsonl.tmp").read_text() == "precious"


def test_an_export_that_fails_leaves_the_older_one(tmp_path, monkeypatch):
    path, out = write(tmp_path / "c.jsonl", [comparison()]), tmp_path / "out.jsonl"
    out.write_text("older")

    def full(draft, target):
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    monkeypatch.setattr(os, "replace", full)
    answer = invoke(path, out)
    assert (answer.exit_code, out.read_text()) == (2, "older")
    assert f"cannot write {out}: No space left on device" in answer.output
    assert sorted(file.name for file in tmp_path.iterdir()) == ["c.jsonl", "out.jsonl"]


def test_an_export_into_a_pipe_or_through_a_link_keeps_them(tmp_path):
    path, pipe, link = (
        write(tmp_path / "c.jsonl", [comparison()]),
        tmp_path / "pipe",
        tmp_path / "link",
    )
    link.symlink_to(tmp_path / "out.jsonl")
    os.mkfifo(pipe)
    end = os.open(pipe, os.O_RDONLY | os.O_NONBLOCK)
    try:
        assert invoke(path, pipe).exit_code == invoke(path, link).exit_code == 0
        assert os.read(end, 99_999) == (tmp_path / "out.jsonl").read_bytes()
    finally:
        os.close(end)
    assert link.is_symlink()
    assert pipe.is_fifo()


def test_a_pair_judged_again_with_the_folders_the_other_way_round_is_exported_once(tmp_path):
    again = comparison(choice="a", a=side("two", 3), b=side("one"))
    path, out = write(tmp_path / "c.jsonl", [comparison(choice="a"), again]), tmp_path / "out.jsonl"
    assert invoke(path, out).exit_code == 0
    assert [json.loads(line) for line in out.read_text().splitlines()] == exported(
        [comparison(choice="b")], "rewards"
    )[0]


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["c.jsonl", "out", "--to", "rewrds"], "unknown form 'rewrds'. Did you mean 'rewards'?"),
        (["none", "out"], "none holds no comparisons"),
        (
            ["tie", "out"],
            "tie has no comparison for --to rewards; left out, as both are equally good: 1",
        ),
        (["c.jsonl", "no/out"], "cannot write no/out: No such file"),
        (["c.jsonl", "c.jsonl/out"], "cannot write c.jsonl/out: Not a directory"),
        (["c.jsonl", "."], "cannot write .: Is a directory"),
    ],
)
def test_what_cannot_be_exported_is_one_line(tmp_path, monkeypatch, arguments, message):
    monkeypatch.chdir(tmp_path)
    write(tmp_path / "c.jsonl", [comparison()])
    write(tmp_path / "tie", [comparison(choice="tie")])
    answer = invoke(*arguments)
    assert answer.exit_code == 2
    assert message in answer.output
    assert not (tmp_path / "out").exists()
