import copy
import json
import os
import subprocess
import sys

import pytest
from compared import comparison, result, side, turn, write
from raised import raises
from some import full

from agentgym_envs.errors import ArgumentError
from agentgym_envs.feedback.record import (
    TURNED,
    ComparisonFile,
    EpisodePair,
    episode,
    read,
    standing,
    undo,
)


def test_what_was_added_is_there_again(tmp_path):
    odd = comparison(comment="odd \ud800   \x00 “text” \r\n")
    opened = ComparisonFile(tmp_path / "c.jsonl")
    opened.add(odd)
    opened.close()
    again = ComparisonFile(tmp_path / "c.jsonl")
    again.add(undo(odd))
    again.close()
    assert read(tmp_path / "c.jsonl") == ([odd, undo(odd)], 0)


def test_a_line_is_on_the_disk_before_the_next_pair(tmp_path, monkeypatch):
    synced = []
    opened = ComparisonFile(tmp_path / "c.jsonl")
    monkeypatch.setattr(os, "fsync", lambda file: synced.append(os.pread(file, 9999, 0)))
    opened.add(comparison())
    opened.close()
    assert synced == [(tmp_path / "c.jsonl").read_bytes()]


@pytest.mark.parametrize("cut", [1, 13, len(json.dumps(comparison("u")))])
def test_a_torn_last_line_is_dropped_and_nothing_else(tmp_path, cut):
    path = write(tmp_path / "c.jsonl", [comparison("t")])
    with path.open("a") as file:
        file.write(json.dumps(comparison("u"))[:cut])
    assert read(path) == ([comparison("t")], cut)
    opened = ComparisonFile(path)
    assert (opened.rows, opened.cut) == ([comparison("t")], cut)
    opened.add(comparison("v"))
    opened.close()
    assert [row["task_id"] for row in read(path)[0]] == ["t", "v"]


@pytest.mark.parametrize("saved", [1, *full(0)])
def test_a_line_that_does_not_fit_on_the_disk_leaves_none_of_itself(tmp_path, saved):
    """A file size limit stands for a full disk.

    A part of the line is written before the failure.
    """
    code = (
        "import resource, sys; from pathlib import Path; from agentgym_envs.feedback.record import"
        " ComparisonFile\n"
    )
    code += "from compared import comparison; from agentgym_envs.errors import ArgumentError\n"
    code += "path = Path(sys.argv[1]); c = ComparisonFile(path)\n"
    code += "for number in range(int(sys.argv[2])): c.add(comparison(f't-{number}'))\n"
    code += (
        "resource.setrlimit(resource.RLIMIT_FSIZE, (path.stat().st_size + 40,"
        " resource.RLIM_INFINITY))\n"
    )
    code += "try: c.add(comparison('lost'))\n"
    code += "except ArgumentError as error: print(error, len(c.rows))\n"
    code += "resource.setrlimit(resource.RLIMIT_FSIZE, (resource.RLIM_INFINITY,) * 2)\n"
    code += "c.add(comparison('after'))\n"
    path = tmp_path / "c.jsonl"
    command = [sys.executable, "-c", code, str(path), str(saved)]
    support = {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)}
    ended = subprocess.run(command, capture_output=True, text=True, env=support, check=False)
    assert ended.returncode == 0, ended.stderr
    assert ended.stdout.startswith(f"cannot write {path}: File too large. This line is not saved")
    assert ended.stdout.endswith(f" {saved}\n"), "nor counted"
    assert read(path) == (
        [*(comparison(f"t-{number}") for number in range(saved)), comparison("after")],
        0,
    )


BAD = {
    "no JSON": "{",
    "no object": "[1]",
    "an episode": json.dumps(result()),
    "another choice": json.dumps(comparison(choice="left")),
    "a side without a run": json.dumps(comparison(a={**side(), "run": None})),
    "a turn without a response": json.dumps(comparison(b=side(turns=[turn(1, response=None)]))),
    "no rules": json.dumps(
        {key: value for key, value in comparison().items() if key != "instructions"}
    ),
    "an undo of nothing": json.dumps({**undo(comparison()), "a": {}}),
}


@pytest.mark.parametrize("text", BAD.values(), ids=BAD)
def test_a_line_that_is_none_is_named_and_kept(tmp_path, text):
    path = write(tmp_path / "c.jsonl", [comparison()])
    with path.open("a") as file:
        file.write(text + "\n")
    before = path.read_bytes()
    with raises(ArgumentError, "line 2", str(path)):
        ComparisonFile(path)
    assert path.read_bytes() == before


def test_a_file_that_is_not_there_is_named(tmp_path):
    with raises(ArgumentError, "none.jsonl"):
        read(tmp_path / "none.jsonl")
    with raises(ArgumentError, "No such file"):
        ComparisonFile(tmp_path / "no folder" / "c.jsonl")


def test_one_process_at_a_time(tmp_path):
    code = (
        "import sys; from pathlib import Path; from agentgym_envs.feedback.record import"
        " ComparisonFile;"
    )
    code += "c = ComparisonFile(Path(sys.argv[1])); print('open', flush=True); sys.stdin.read()"
    command = [sys.executable, "-c", code, str(tmp_path / "c.jsonl")]
    with subprocess.Popen(
        command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    ) as other:
        assert other.stdout.readline() == "open\n"
        with raises(ArgumentError, "another process"):
            ComparisonFile(tmp_path / "c.jsonl")
        other.kill()
        other.wait()
        ComparisonFile(tmp_path / "c.jsonl").close()


def test_what_stands_is_the_last_word_of_each_annotator_on_each_pair():
    first, second = comparison("t", "a"), comparison("t", "b")
    other, apart = comparison("t", "tie", "lee"), comparison("t", "a", b=side("two", attempt=1))
    assert standing([first, other, second, apart]) == [other, second, apart]
    assert standing([first, second, undo(second)]) == []  # not the first word again
    assert standing([first, undo(other), undo(apart)]) == [first]
    assert standing([first, undo(first), second]) == [second]


@pytest.mark.parametrize("choice", ["a", "b", "tie", "neither"])
def test_a_line_with_its_sides_the_other_way_round_is_the_same_judgement(choice):
    straight = comparison("t", choice)
    turned = {
        **straight,
        "a": straight["b"],
        "b": straight["a"],
        "choice": TURNED.get(choice, choice),
    }
    before = copy.deepcopy(turned)
    assert EpisodePair.of(turned) == EpisodePair.of(straight)
    assert standing([turned]) == [straight]
    assert standing([comparison("t", "a"), turned, comparison("t", "b", "lee")]) == [
        straight,
        comparison("t", "b", "lee"),
    ]
    assert standing([straight, undo(turned)]) == []
    assert turned == before


def test_an_undo_names_the_pair_without_its_texts():
    row = undo(comparison())
    assert EpisodePair.of(row) == EpisodePair.of(comparison())
    assert row["a"] == {"run": "one", "attempt": 0, "settings": "h"}
    assert row.keys() == {"row", "env_id", "task_id", "annotator", "a", "b"}


def test_of_an_episode_only_what_a_reader_judges_is_kept():
    row = result(
        turns=[turn(1, seat="player_0", screenshot="x.png", response="Action: go")],
        score=None,
        last=None,
        attempt=3,
    )
    before = copy.deepcopy(row)
    kept = episode("one", row)
    assert kept["turns"] == [turn(1, seat="player_0", response="Action: go")]
    assert {key: kept[key] for key in kept if key != "turns"} == {
        "run": "one", "attempt": 3, "settings": "h", "success": True, "score": None,
        "end": "terminated", "last": "",
    }  # fmt: skip
    assert row == before
