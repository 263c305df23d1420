"""Balancing and skipping change no loss, no weight and no error report.

The references are an update that runs all
trajectories, and a single process.
"""

import balanced
import one_step
import pytest
import tiny
import torch

from agentgym_train.data.batching import pack

pytestmark = [pytest.mark.slow, pytest.mark.full]
EVERY = pytest.mark.parametrize(
    ("number", "stage"),
    [(number, stage) for number in balanced.SHARES for stage in balanced.STAGES],
)


@pytest.fixture(scope="module")
def results(tmp_path_factory, warm):
    home = tmp_path_factory.mktemp("balanced")
    warm.play(balanced.__file__, home, tiny.save(home / "model"), home)
    return {number: torch.load(home / f"{number}.pt") for number in balanced.SHARES}


@EVERY
def test_what_is_skipped_changes_no_loss_and_no_weight(results, number, stage):
    got, full = (results[number][stage]["skipped"][name] for name in ("GRPO", "Full"))
    one = results[1][0]["skipped"]["Full"]
    for mine, theirs, alone in zip(got["metrics"], full["metrics"], one["metrics"], strict=True):
        for key in ("loss", "grad_norm"):
            assert mine[key] == pytest.approx(theirs[key], rel=1e-5, abs=1e-6)
            assert mine[key] == pytest.approx(alone[key], rel=1e-4, abs=1e-5)
        assert (mine["updates"], theirs["skipped"]) == (1, 0)
    # The last update has no gradient. AdamW still moves the weights by momentum and weight decay.
    for name, weight in got["weights"].items():
        # Adam divides by the size of the gradient. Near 0, rounding decides the sign of a step.
        for other in (full, one):
            torch.testing.assert_close(weight, other["weights"][name], atol=5e-5, rtol=0)


@EVERY
def test_what_is_skipped_costs_no_pass(results, number, stage):
    """In the second update, process 1 of two has only groups with equal returns."""
    got, full = (results[number][stage]["skipped"][name] for name in ("GRPO", "Full"))
    batch, groups = pack(one_step.groups()), one_step.groups()
    whole, some = batch.action_tokens, pack(groups[:5]).action_tokens
    assert [sum(passes) for passes in full["passes"]] == [whole] * 3
    shares = [pack([groups[n] for n in share]) for share in balanced.SHARES[number]]
    shortest = [share.take([int(share.valid_BT.sum(1).argmin())]).action_tokens for share in shares]
    assert [sum(passes) for passes in got["passes"]] == [whole, some, sum(shortest)]
    assert len(got["passes"][2]) == number, "one pass on each process"
    assert len(got["passes"][1]) < len(full["passes"][1])
    assert [m["skipped"] for m in got["metrics"]] == [0, 9, 24 - number]
    last = got["metrics"][2]
    assert last["grad_norm"] == last["loss"] == 0.0
    assert last["entropy"] > 1.0, "a metric of tokens is still a mean over tokens"
    # The two means are over different trajectories.
    assert got["metrics"][1]["entropy"] != pytest.approx(full["metrics"][1]["entropy"], rel=1e-6)


@EVERY
def test_an_error_blames_the_episodes_of_the_process_that_has_them(results, number, stage):
    found = results[number][stage]["blamed"]
    assert [sorted(names) for names in found["names"]] == balanced.SPOILED[number]
    assert (found["moved"] > 0) == (number > 1), "another process computed some of them"


@EVERY
def test_trajectories_are_computed_once_by_any_process(results, number, stage):
    found = results[number][stage]["shared"]
    batch = pack(one_step.groups())
    rows = sorted(row for theirs in found["rows"] for row in theirs)
    assert rows == [
        ((0, row), group, batch.id_BT[row, batch.valid_BT[row]].tolist())
        for row, group in enumerate(batch.group_B.tolist())
    ]
    groups = [{group for _, group, _ in theirs} for theirs in found["rows"]]
    assert sum(map(len, groups)) == 8, "groups stay whole"
    assert len(set(found["micros"])) == 1
    tokens = [sum(len(ids) for *_, ids in theirs) for theirs in found["rows"]]
    assert max(tokens) < 1.2 * sum(tokens) / number


@EVERY
def test_a_stream_is_the_same_wherever_it_is_computed(results, number, stage):
    found, batch = results[number][stage]["shared"], pack(one_step.groups())
    alone = results[1][0]["shared"]["old"]
    torch.testing.assert_close(found["old"], alone, atol=1e-5, rtol=1e-5)
    values = found["value"][batch.action_BT] - batch.id_BT[batch.action_BT]
    assert set(values.tolist()) == {1000.0 * rank for rank in range(number)}
    assert not found["value"][~batch.action_BT].any()
