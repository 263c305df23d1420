import pytest
import tiny
import torch
from transformers import AutoModelForCausalLM

from agentgym_train.batching import pack
from agentgym_train.engine.logps import token_logps
from agentgym_train.generators.hf import HFGenerator
from agentgym_train.protocols import Sampling
from agentgym_train.types import Group, Trajectory, Turn


@pytest.fixture(scope="module")
def model(tmp_path_factory):
    return AutoModelForCausalLM.from_pretrained(tiny.save(tmp_path_factory.mktemp("model"))).eval()


def sampling(**kwargs):
    return Sampling(**({"temperature": 1.0, "max_new_tokens": 6, "stop_ids": frozenset({3}), "seed": 0} | kwargs))


def converse(generator, sampling, rows=5, turns=4):
    """Plays turns of uneven prompts; rows drop out, start again and sit out. Returns each row's turns."""
    session = generator.session(rows, sampling)
    record = {row: [] for row in range(rows)}
    alive = set(range(rows))
    for turn in range(turns):
        prompts = {r: [10 + (7 * r + 3 * turn + i) % 200 for i in range(1 + (r * 3 + turn) % 5)] for r in sorted(alive)}
        if turn == 1:
            session.restart(1)
            record[1] = []
        if turn == 2:
            del prompts[0]  # its environment is slow
        for row, sample in session.generate(prompts).items():
            record[row].append(Turn("", list(prompts[row]), sample.ids, sample.logps))
        if turn == 1:
            for row in (2, 3, 4)[: rows - 2]:
                session.finish(row)
                alive.discard(row)
    return record


@pytest.mark.parametrize("temperature", [1.0, 0.6])
def test_log_probabilities_are_those_of_one_forward_pass_over_everything(model, temperature):
    record = converse(HFGenerator(model), sampling(temperature=temperature))
    batch = pack([Group(r, [Trajectory("", r, turns)]) for r, turns in record.items()])
    with torch.no_grad():
        logp_BT = token_logps(model, batch, temperature).logp_BT
    assert batch.action_tokens > 30
    torch.testing.assert_close(logp_BT[batch.action_BT], batch.logp_BT[batch.action_BT], atol=1e-4, rtol=0)


def test_with_a_cold_temperature_it_is_transformers_greedy_search(model):
    record = converse(HFGenerator(model), sampling(temperature=1e-6))
    for turns in record.values():
        ids = []
        for turn in turns:
            ids += turn.prompt_ids
            out = model.generate(
                torch.tensor([ids]),
                attention_mask=torch.ones(1, len(ids)).long(),
                do_sample=False,
                max_new_tokens=6,
                eos_token_id=3,
            )
            assert out[0, len(ids) :].tolist() == turn.action_ids
            ids += turn.action_ids


def test_the_seed_fixes_the_samples(model):
    first, again, other = (converse(HFGenerator(model), sampling(seed=s)) for s in (1, 1, 2))
    assert first == again
    assert first != other


def test_samples_follow_the_distribution(model):
    """4,000 draws of one token against the softmax, within four standard errors."""
    rows = 4000
    session = HFGenerator(model).session(rows, sampling(max_new_tokens=1))
    samples = session.generate({r: [20, 30, 40] for r in range(rows)})
    with torch.no_grad():
        p = model(torch.tensor([[20, 30, 40]])).logits[0, -1].softmax(-1)
    counts = torch.bincount(torch.tensor([s.ids[0] for s in samples.values()]), minlength=len(p)) / rows
    assert ((counts - p).abs() <= 4 * (p * (1 - p) / rows).sqrt() + 1e-3).all()


def test_a_stop_token_ends_and_belongs_to_the_sample(model):
    session = HFGenerator(model).session(64, sampling(stop_ids=frozenset(range(100, 400)), max_new_tokens=20))
    for sample in session.generate({r: [5 + r] for r in range(64)}).values():
        stops = [i for i, t in enumerate(sample.ids) if t >= 100]
        assert stops == [len(sample.ids) - 1] or (not stops and len(sample.ids) == 20)
        assert len(sample.ids) == len(sample.logps)


def test_new_weights_are_used(model, tmp_path):
    generator = HFGenerator(AutoModelForCausalLM.from_pretrained(tiny.save(tmp_path, seed=9)).eval())
    before = converse(generator, sampling())
    generator.load((n, p.detach()) for n, p in model.named_parameters())
    after = converse(generator, sampling())
    assert before != after
    assert after == converse(HFGenerator(model), sampling())
