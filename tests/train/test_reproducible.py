"""The same seed gives the same run, bit for bit.

This holds in another process, with several threads, and for any timing of the environments.
"""

import json

import arrival
import pytest
import small_run
import tiny
import torch
from rich.console import Console

from agentgym_train import config as configuration
from agentgym_train.evaluation import evaluate
from agentgym_train.models import scratch
from agentgym_train.reporting import report
from agentgym_train.run import repair, work
from agentgym_train.run.launch import note_prepared


def test_processes_with_two_threads_agree_whatever_the_order_in_which_environments_answer(
    warm, tmp_path
):
    for order in (1, 3):
        warm.play(arrival.__file__, tmp_path, tmp_path / f"{order}.json", order)
    one, other = (json.loads((tmp_path / f"{order}.json").read_text()) for order in (1, 3))
    assert one == other
    assert one["threads"] == [2, 2]
    beside = one["beside"]
    assert beside["gradients"] == [one["gradient"]], "collecting beside it changes no bit"
    assert (beside["samples"], beside["logps"]) == (one["samples"], one["logps"])


@pytest.fixture
def threads():
    """Returns a function that calls another one and returns the number of torch's threads after it.

    The number is one before the call. The fixture restores it at the end.
    """
    before = torch.get_num_threads()

    def seen_by(call):
        torch.set_num_threads(1)
        call()
        return torch.get_num_threads()

    yield seen_by
    torch.set_num_threads(before)


def test_all_parts_of_a_run_have_the_threads_that_its_file_names(tmp_path, monkeypatch, threads):
    path, console = (
        small_run.write(tmp_path, run={"folder": str(tmp_path), "threads": 3}),
        Console(quiet=True),
    )
    config = configuration.load(path)
    path.rename(tmp_path / "config.toml")
    note_prepared(tmp_path, 1)

    def make(folder, *args, **options):
        folder.mkdir()
        (folder / "config.json").touch()

    monkeypatch.setattr(scratch, "make", make)
    monkeypatch.setattr(work, "work_on_policy", lambda *args: None)
    assert threads(lambda: repair.prepare_init(config, tmp_path, report.RunDisplay(console))) == 3
    assert threads(lambda: work.work(tmp_path, console)) == 3
    tiny.save(tmp_path / "model", template=tiny.CHATML)
    monkeypatch.setattr(evaluate, "evaluate", lambda *args: evaluate.PlayedEpisodes([], []))
    monkeypatch.setattr(evaluate, "overall", lambda played: {})
    monkeypatch.setattr(report, "table", lambda rows: "")
    assert threads(lambda: work.evaluate_checkpoint(tmp_path, None, [], console)) == 3
    assert threads(lambda: work.use_threads(0)) == 1
