import logging
import random

import psutil
import pytest
import tiny
import torch
import transformers
from raised import raises
from some import every, full
from transformers import AutoModelForCausalLM

from agentgym_train.errors import ModelError
from agentgym_train.generators import hf, memory, ragged_cache
from agentgym_train.generators.building_blocks import choose, noise
from agentgym_train.generators.hf import HF
from agentgym_train.generators.probe import ask
from agentgym_train.protocols import SamplingOptions

FAST = ("qwen2", "qwen3", "llama", "mistral", "gemma3_text", "phi", "phi3", "gpt2", "mpt")
METHODS = dict.fromkeys(FAST, 0) | {"bloom": 1, "lfm2": 2, "mamba": 3}


@pytest.fixture(scope="module")
def model():
    return tiny.model()


@pytest.fixture(scope="module")
def generator(model):
    return HF(model)


def sampling(**kwargs):
    return SamplingOptions(
        **({"temperature": 1.0, "max_new_tokens": 6, "stop_ids": frozenset({3})} | kwargs)
    )


def prompt(row, turn):
    return [10 + (7 * row + 3 * turn + i) % 200 for i in range(1 + (row * 3 + turn) % 5)]


def converse(generator, sampling, rows=5, turns=5, backwards=False):
    """Plays turns with prompts of uneven length; rows end, restart and skip turns.

    Returns the (prompt, sample) pairs of each row.
    """
    session = generator.session([100 + row for row in range(rows)], sampling)
    record = {row: [] for row in range(rows)}
    alive = set(range(rows))
    for turn in range(turns):
        prompts = {row: prompt(row, turn) for row in sorted(alive, reverse=backwards)}
        if turn == 1:
            session.restart(1)
            record[1] = []
        if turn == 2:
            del prompts[0]  # its environment is slow
        for row, sample in ask(session, prompts).items():
            record[row].append((prompts[row], sample))
        if turn == 1:
            for row in (3, 4):
                session.finish(row)
                alive.discard(row)
    return record


def sampled(turns):
    return [sample.ids for _, sample in turns]


def alone(model, turns, temperature):
    """Returns the log-probabilities of one row's actions, without padding or cache."""
    ids = [token for before, sample in turns for token in (*before, *sample.ids)]
    with torch.no_grad():
        logits = model(input_ids=torch.tensor([ids]), use_cache=False).logits[0]
    logps = (logits / temperature).log_softmax(-1)
    values, place = [], 0
    for before, sample in turns:
        place += len(before)
        values += [float(logps[place + i - 1, token]) for i, token in enumerate(sample.ids)]
        place += len(sample.ids)
    return values


def generator_of(kind, **shape):
    return HF(tiny.model(kind, **shape), allow_slower=True)


@pytest.mark.parametrize("kind", every(2, METHODS))
def test_log_probabilities_are_those_of_one_forward_pass_over_each_row_alone(kind, caplog):
    generator = generator_of(kind)
    model, record = generator._model, converse(generator, sampling(temperature=0.8))
    assert hf.METHODS.index(generator.method) == METHODS[kind]
    for turns in record.values():
        sampled = [logp for _, sample in turns for logp in sample.logps]
        assert sampled == pytest.approx(alone(model, turns, 0.8), abs=1e-4)
    assert sum(len(turns) for turns in record.values()) == 17
    assert (
        max(sum(len(p) + len(s.ids) for p, s in turns) for turns in record.values())
        > 2 * tiny.WINDOW
    )
    told = [
        record.getMessage()
        for record in caplog.records
        if record.levelno == logging.WARNING and "agentgym" in record.name
    ]
    assert len(told) == (METHODS[kind] > 0)
    assert all(kind in message and generator.method.name in message for message in told)


@pytest.mark.parametrize("kind", ["qwen2", *full("mpt", "bloom")])
def test_over_long_episodes_whose_rows_stop_early_log_probabilities_are_exact_too(kind):
    generator = generator_of(kind)
    model, stops = generator._model, sampling(stop_ids=frozenset(range(100)), max_new_tokens=8)
    record = converse(generator, stops, rows=12, turns=16)
    for turns in record.values():
        logps = [logp for _, sample in turns for logp in sample.logps]
        assert logps == pytest.approx(alone(model, turns, 1.0), abs=1e-4)
    lengths = [len(sample.ids) for turns in record.values() for _, sample in turns]
    assert {1, 2, 3, 8} < set(lengths)


def test_a_model_that_no_method_reproduces_is_refused(monkeypatch):
    monkeypatch.setattr(hf, "METHODS", hf.METHODS[:3])
    with raises(ModelError, "'mamba'"):
        HF(tiny.model("mamba"))


def test_a_slower_method_is_an_error_that_names_the_versions_unless_it_is_allowed(
    monkeypatch, caplog
):
    """A release of transformers can give the cache another name in ``forward``."""
    monkeypatch.setattr(memory, "CACHE_NAMES", ("memory",))
    with raises(ModelError, "'qwen2'") as error:
        HF(tiny.model())
    said = str(error.value)
    assert f"transformers {transformers.__version__} and torch {torch.__version__}" in said
    assert f"with {hf.METHODS[3].name}" in said
    assert "generator.allow_slower=true" in said
    assert generator_of("qwen2").method == hf.METHODS[3]
    assert [record.levelno for record in caplog.records] == [logging.WARNING]


class Old(transformers.Qwen2ForCausalLM):
    """Takes the cache as before transformers 5.24."""

    def forward(
        self, input_ids, attention_mask=None, position_ids=None, past_key_values=None, **rest
    ):
        given = {"attention_mask": attention_mask, "position_ids": position_ids}
        return super().forward(input_ids, **given, **{CACHE: past_key_values}, **rest)


class New(transformers.Qwen2ForCausalLM):
    """Takes the cache as since transformers 5.24."""

    def forward(self, input_ids, attention_mask=None, position_ids=None, cache=None, **rest):
        given = {"attention_mask": attention_mask, "position_ids": position_ids}
        return super().forward(input_ids, **given, **{CACHE: cache}, **rest)


CACHE = memory.cache_name(tiny.model())
"""The name in the installed release."""


@pytest.mark.parametrize("kind", [Old, New])
def test_the_cache_goes_where_a_release_takes_it(kind):
    made = kind(tiny.model().config)
    assert HF(made).method == hf.METHODS[0]


def test_a_model_whose_code_rules_out_the_first_method_needs_the_option_too(tmp_path):
    tiny.model("bloom").save_pretrained(tmp_path)
    context = tiny.context(str(tmp_path))
    with raises(ModelError, "'bloom'"):
        HF.build(HF.Options(), context)
    assert HF.build(HF.Options(allow_slower=True), context).method_name == hf.METHODS[1].name


@pytest.mark.parametrize(
    ("kind", "shape"),
    [
        ("mistral", {}),
        *(
            pytest.param(*case, marks=pytest.mark.full)
            for case in [
                ("phi3", {}),
                ("gemma3_text", {}),
                ("qwen2", {"use_sliding_window": True, "max_window_layers": 1}),
            ]
        ),
    ],
)
def test_a_window_longer_than_the_trial_is_exact(kind, shape):
    generator = generator_of(kind, sliding_window=90, **shape)
    assert generator.method == hf.METHODS[0]
    record = converse(generator, sampling(max_new_tokens=30, stop_ids=frozenset()))
    for turns in record.values():
        logps = [logp for _, sample in turns for logp in sample.logps]
        assert logps == pytest.approx(alone(generator._model, turns, 1.0), abs=1e-4)
    assert max(sum(len(p) + len(s.ids) for p, s in turns) for turns in record.values()) > 150


@pytest.mark.parametrize(("kind", "types"), [("llama", None), ("mistral", ["full_attention"] * 2)])
def test_a_window_that_only_the_model_or_only_its_configuration_has_is_found(kind, types):
    """Llama ignores the window; Mistral ignores the types. The window is longer than the trial."""
    with raises(ModelError, hf.METHODS[0].name):
        HF(tiny.model(kind, sliding_window=400, layer_types=types))


def test_after_the_trial_the_window_is_that_of_the_model():
    assert generator_of("mistral", sliding_window=400)._model.config.sliding_window == 400


def test_other_layers_than_whole_ones_and_windows_are_known_from_the_structure(monkeypatch):
    """Their windows and chunks are longer than the trial."""
    local = generator_of("gpt_neo", num_layers=2, attention_types=[[["global", "local"], 1]])
    chunks = {"attention_chunk_size": 400, "num_local_experts": 2, "intermediate_size_mlp": 64}
    llama4 = generator_of("llama4_text", head_dim=16, **chunks)
    assert local.method == llama4.method == hf.METHODS[2]
    assert memory.attention(tiny.model("llama", attention_chunk_size=400)) is None
    windowed = tiny.model("mistral", sliding_window=400)
    assert [hf.by_structure(windowed, method) is None for method in hf.METHODS] == [
        1,
        0,
        1,
        1,
    ]
    monkeypatch.setattr(hf, "METHODS", hf.METHODS[1:])
    assert generator_of("mistral", sliding_window=400).method == hf.METHODS[1]


@pytest.mark.parametrize("kind", METHODS)
def test_the_expected_method_is_the_one_that_is_used(kind):
    with torch.device("meta"):
        model = tiny.model(kind)
    assert hf.METHODS.index(hf.expected_method(model, allow_slower=True)) == METHODS[kind]


def test_a_refused_method_is_refused_without_weights_too():
    with torch.device("meta"):
        model = tiny.model("bloom")
    with raises(ModelError, "'bloom'"):
        hf.expected_method(model)


def test_what_the_structure_does_not_tell_the_trial_does(monkeypatch):
    monkeypatch.setattr(hf, "METHODS", hf.METHODS[1:2])
    with raises(ModelError, "'mpt'", "float32"):
        HF(tiny.model("mpt"))


@pytest.mark.parametrize(
    ("kind", "first", "chosen"),
    [("qwen2", 0, 0), ("mistral", 0, 0), ("mistral", 1, 2), ("mpt", 0, 0), ("mpt", 1, 2)],
)
def test_in_bfloat16_it_remembers_as_in_float32_and_keeps_its_precision(
    kind, first, chosen, monkeypatch
):
    """Rounding to bfloat16 changes log-probabilities more than MPT's padded cache does."""
    methods = hf.METHODS
    monkeypatch.setattr(hf, "METHODS", methods[first:])
    model = tiny.model(kind).to(torch.bfloat16)
    before = {name: tensor.clone() for name, tensor in model.state_dict().items()}
    assert methods.index(HF(model, allow_slower=True).method) == chosen
    for name, tensor in model.state_dict().items():
        assert tensor.dtype == before[name].dtype
        assert torch.equal(tensor, before[name]), name


def test_a_model_with_broken_weights_is_refused():
    model = tiny.model()
    model.get_input_embeddings().weight.data[:] = torch.nan
    with pytest.raises(ModelError, match="not finite"):
        HF(model)


def test_it_loads_the_models_folder_in_the_precision_asked_for(tmp_path):
    generator = HF.build(HF.Options(), tiny.context(tiny.save(tmp_path), dtype=torch.bfloat16))
    (sample,) = ask(generator.session([0], sampling()), {0: [5, 6]}).values()
    with torch.no_grad():
        model = AutoModelForCausalLM.from_pretrained(tmp_path, dtype=torch.bfloat16)
        ids = torch.tensor([[5, 6, *sample.ids]])
        logp = (
            model(input_ids=ids)
            .logits[0, 1:-1]
            .float()
            .log_softmax(-1)
            .gather(1, ids[0, 2:, None])[:, 0]
        )
    assert sample.logps == pytest.approx(logp.tolist(), abs=0.05)


def test_with_a_cold_temperature_it_is_transformers_greedy_search(model, generator):
    record = converse(generator, sampling(temperature=1e-6))
    for turns in record.values():
        ids = []
        for before, sample in turns:
            ids += before
            out = model.generate(
                torch.tensor([ids]),
                attention_mask=torch.ones(1, len(ids)).long(),
                do_sample=False,
                max_new_tokens=6,
                eos_token_id=3,
                pad_token_id=0,
            )
            assert out[0, len(ids) :].tolist() == sample.ids
            ids += sample.ids


@pytest.mark.parametrize("kind", ["qwen2", "mistral"])
def test_samples_depend_neither_on_the_other_rows_nor_on_the_order_of_prompts(kind):
    """The samples are equal here. In general, the size of a batch changes the rounding of logits.

    About once in 10^6 tokens, the change moves a boundary across the noise.
    """
    generator = HF(tiny.model(kind))
    ids = {row: [s.ids for _, s in turns] for row, turns in converse(generator, sampling()).items()}
    backwards = converse(generator, sampling(), backwards=True)
    assert {row: [s.ids for _, s in turns] for row, turns in backwards.items()} == ids
    for row in (0, 1, 4):
        session = generator.session([100 + row], sampling())
        turns = [
            turn
            for turn in range(5)
            if (row, turn) not in {(0, 2), (1, 0)} and (row < 3 or turn < 2)
        ]
        assert [ask(session, {0: prompt(row, turn)})[0].ids for turn in turns] == ids[row]


@pytest.fixture
def two_threads():
    """Sets two threads, which share matrix products: a line's number then affects its rounding."""
    before = torch.get_num_threads()
    torch.set_num_threads(2)
    yield
    torch.set_num_threads(before)


def test_the_order_in_which_rows_of_a_batch_end_and_are_submitted_does_not_change_rounding(
    two_threads,
):
    generator = HF(tiny.model(hidden_size=64, intermediate_size=256, vocabulary=500))

    def logps(order):
        session, rng, said = (
            generator.session(range(40), sampling(stop_ids=frozenset())),
            random.Random(order),
            [],
        )
        for turn in range(5):
            # 40, 33, 25, 18 and 11 rows.
            rows = [row for row in range(40) if (row * 7 + 5) % 11 > 2 * (turn - 1)]
            for row in rng.sample(rows, len(rows)):
                if turn and (row * 7 + 5) % 11 <= 2 * turn:
                    session.finish(row)
                else:
                    session.submit(row, prompt(row, turn))
            said.append({row: sample.logps for row, sample in session.poll().items()})
        return said

    assert logps(0) == logps(1) == logps(2)


def test_a_slow_row_does_not_change_the_samples(generator):
    together, apart = (generator.session([7, 8], sampling()) for _ in range(2))
    rounds = [{0: [20, 21], 1: [30]}, {0: [40], 1: [50, 51]}]
    late = [{0: [20, 21]}, {0: [40], 1: [30]}, {1: [50, 51]}]

    def ids(session, rounds):
        turns = [
            (row, sample.ids) for prompts in rounds for row, sample in ask(session, prompts).items()
        ]
        return {row: [ids for r, ids in turns if r == row] for row in (0, 1)}

    assert ids(together, rounds) == ids(apart, late)


def test_the_seeds_fix_the_samples(generator):
    def ids(*seeds):
        return [
            s.ids
            for s in ask(
                generator.session(seeds, sampling()), {r: [20] for r in range(len(seeds))}
            ).values()
        ]

    assert ids(1, 2, 1) == ids(1, 2, 1)
    assert ids(1, 2, 1)[0] == ids(1, 2, 1)[2] != ids(1, 2, 1)[1]


def test_turns_and_places_have_noise_of_their_own():
    keys = [(seed, turn, place) for seed in (0, 1, 12) for turn in range(12) for place in range(12)]
    values = [noise(*key) for key in keys]
    assert len(set(values)) == len(keys)
    assert all(0 <= value < 1 for value in values)
    assert sum(values) / len(values) == pytest.approx(0.5, abs=4 * (1 / 12 / len(values)) ** 0.5)
    assert noise(1, 2, 3) == 0.10046688902368128  # the same in every process and version


def test_all_rows_that_are_submitted_are_one_batch(generator, monkeypatch):
    session, batches = generator.session(range(5), sampling(max_new_tokens=1)), []
    forward = generator._model.forward

    def spied(input_ids, **rest):
        batches.append(len(input_ids))
        return forward(input_ids=input_ids, **rest)

    monkeypatch.setattr(generator._model, "forward", spied)
    for row in (3, 0, 4):
        session.submit(row, [20 + row])
    assert list(session.poll()) == [0, 3, 4]
    assert session.poll() == {}
    assert batches == [3], "one call for all; the cache has a line for each row so far"


def at_once(generator, sampling, rows=6, turns=5):
    """Plays rows that join the batch as soon as their last action is done, or a few polls later.

    Returns the (prompt, sample) pairs of each row, and the rows that each poll returned.
    """
    session = generator.session([100 + row for row in range(rows)], sampling)
    record, polled = {row: [] for row in range(rows)}, []
    due = {row: row % 3 for row in range(rows)}  # row → the poll before which it is submitted
    while any(len(pairs) < turns for pairs in record.values()):
        for row in [row for row, poll in due.items() if poll <= len(polled)]:
            del due[row]
            session.submit(row, prompt(row, len(record[row])))
        samples = session.poll()
        polled.append(list(samples))
        for row, sample in samples.items():
            record[row].append((prompt(row, len(record[row])), sample))
            if len(record[row]) == turns:
                session.finish(row)
            else:
                due[row] = len(polled) + (row + len(polled)) % 3
        if not samples:
            due = dict.fromkeys(due, 0)
    assert session.poll() == {}
    return record, polled


@pytest.mark.parametrize("kind", ["qwen2", "mamba", *full("mpt", "gpt2")])
def test_a_row_leaves_the_batch_when_it_is_done_and_joins_it_without_changing_log_probabilities(
    kind,
):
    model = tiny.model(kind)
    stops = sampling(stop_ids=frozenset(range(100)), max_new_tokens=12)
    record, polled = at_once(HF(model), stops)
    for turns in record.values():
        logps = [logp for _, sample in turns for logp in sample.logps]
        assert logps == pytest.approx(alone(model, turns, 1.0), abs=1e-4)
    assert min(map(len, polled)) <= 1
    assert len(polled) > 12, "in lock-step there are at most as many polls as turns"


@pytest.mark.parametrize("kind", ["bloom", "lfm2"])
def test_with_a_memory_that_no_row_can_join_a_batch_is_returned_as_a_whole(kind):
    generator = generator_of(kind)
    model, stops = generator._model, sampling(stop_ids=frozenset(range(100)), max_new_tokens=12)
    record, polled = at_once(generator, stops)
    for turns in record.values():
        logps = [logp for _, sample in turns for logp in sample.logps]
        assert logps == pytest.approx(alone(model, turns, 1.0), abs=1e-4)
    assert len(polled[0]) == 2
    session = generator.session([7, 8], sampling(stop_ids=frozenset(), max_new_tokens=4))
    session.submit(0, [20, 21])
    assert session.poll(timeout=0.0) == {}
    session.submit(1, [30])
    assert [list(session.poll()) for _ in range(2)] == [[0], [1]]


def test_a_poll_with_a_time_limit_samples_one_token_at_a_time(generator):
    never = sampling(stop_ids=frozenset(), max_new_tokens=4)
    whole = ask(generator.session([7, 8], never), {0: [20, 21], 1: [30]})
    session, polls = generator.session([7, 8], never), []
    session.submit(0, [20, 21])
    session.submit(1, [30])
    while not (polls and polls[-1]):
        polls.append(session.poll(timeout=0.0))
    assert polls[:-1] == [{}, {}, {}]
    assert {row: sample.ids for row, sample in polls[-1].items()} == {
        row: sample.ids for row, sample in whole.items()
    }


def test_keys_are_not_repeated_for_each_head_while_rows_sample(generator, monkeypatch):
    """transformers repeats them for prompts only, and here prompts have calls of their own."""
    widths, keys, prompt_lines = [], [], 0
    attend, forward = torch.nn.functional.scaled_dot_product_attention, generator._model.forward

    def noting_attend(query, key, value, **rest):
        keys.append((widths[-1], key.shape[1]))
        return attend(query, key, value, **rest)

    def noting_forward(input_ids, **rest):
        nonlocal prompt_lines
        lines, width = input_ids.shape
        widths.append(width)
        prompt_lines += lines if width > 1 else 0
        return forward(input_ids=input_ids, **rest)

    monkeypatch.setattr(torch.nn.functional, "scaled_dot_product_attention", noting_attend)
    monkeypatch.setattr(generator._model, "forward", noting_forward)
    at_once(generator, sampling(stop_ids=frozenset(range(100)), max_new_tokens=12))
    config = generator._model.config
    assert config.num_attention_heads > config.num_key_value_heads
    assert widths.count(1) > len(widths) / 2, "not each call has a prompt"
    assert prompt_lines <= 1.5 * 6 * 5, "a call with prompts has hardly any other rows"
    assert {heads for width, heads in keys if width == 1} == {config.num_key_value_heads}


def test_the_memory_has_lines_for_rows_in_progress_only(generator, monkeypatch):
    session, lines = generator.session(range(30), sampling()), []
    add = ragged_cache.ColumnCache.add

    def noting_add(cache, count):
        add(cache, count)
        lines.append(cache.lines)

    monkeypatch.setattr(ragged_cache.ColumnCache, "add", noting_add)
    for first in range(0, 30, 3):
        for turn in range(2):
            ask(session, {row: prompt(row, turn) for row in range(first, first + 3)})
            cache = session._memory._cache
            assert {len(tensor) for tensor in cache._held.values()} == {cache.lines}
        for row in range(first, first + 3):
            session.finish(row)
    assert max(lines) == 3
    session.close()
    assert not session._memory._cache._held


def test_restart_gives_what_a_fresh_row_gives(generator):
    fresh, used = generator.session([5], sampling()), generator.session([5], sampling())
    ask(used, {0: [90, 91, 92]})
    used.restart(0)
    for ids in ([20, 21], [30]):
        one, two = ask(fresh, {0: ids})[0], ask(used, {0: ids})[0]
        assert one.ids == two.ids
        assert one.logps == pytest.approx(two.logps, abs=1e-5)


def test_samples_follow_the_distribution(model, generator):
    """The first token of 4,000 episodes agrees with the softmax within four standard errors."""
    rows = 4000
    session = generator.session(range(rows), sampling(max_new_tokens=1))
    samples = ask(session, {r: [20, 30, 40] for r in range(rows)})
    with torch.no_grad():
        p = model(torch.tensor([[20, 30, 40]])).logits[0, -1].softmax(-1)
    counts = (
        torch.bincount(torch.tensor([s.ids[0] for s in samples.values()]), minlength=len(p)) / rows
    )
    assert ((counts - p).abs() <= 4 * (p * (1 - p) / rows).sqrt() + 1e-3).all()


def test_the_noise_picks_by_cumulative_probability_and_never_an_impossible_token():
    logits = torch.tensor([0.0, 0.5, 0.0, 0.2, 0.3, 0.0]).log()
    below_one = 1 - 2**-53
    cases = {0.0: 1, 0.4999: 1, 0.5001: 3, 0.6999: 3, 0.7001: 4, below_one: 4}
    tokens, logps = choose(logits.expand(len(cases), -1), list(cases), temperature=1.0)
    assert tokens == list(cases.values())
    assert logps == pytest.approx([float(logits[t]) for t in tokens], abs=1e-6)
    with pytest.raises(ModelError, match="not finite"):
        choose(torch.tensor([[torch.nan, 0.0]]), [0.5], temperature=1.0)


def test_a_stop_token_ends_and_belongs_to_the_sample(generator):
    session = generator.session(
        range(64), sampling(stop_ids=frozenset(range(100, 300)), max_new_tokens=20)
    )
    for sample in ask(session, {r: [5 + r] for r in range(64)}).values():
        stops = [i for i, t in enumerate(sample.ids) if t >= 100]
        assert stops == [len(sample.ids) - 1] or (not stops and len(sample.ids) == 20)
        assert len(sample.ids) == len(sample.logps)


@pytest.mark.parametrize("kind", ["gpt2", *full("qwen2")])
@pytest.mark.parametrize("both_names", [*full(False), True])
def test_new_weights_are_used_tied_ones_under_one_name_or_both(kind, both_names):
    other = tiny.model(kind, seed=9)
    generator = HF(tiny.model(kind))
    before = converse(generator, sampling())
    weights = [(n, p.detach()) for n, p in other.named_parameters(remove_duplicate=not both_names)]
    generator.load(weights, 3)
    after, expected = (converse(g, sampling()) for g in (generator, HF(other)))
    assert [sampled(turns) for turns in before.values()] != [
        sampled(turns) for turns in after.values()
    ]
    assert [sampled(turns) for turns in after.values()] == [
        sampled(turns) for turns in expected.values()
    ]
    assert {sample.version for turns in before.values() for _, sample in turns} == {0}
    assert {sample.version for turns in after.values() for _, sample in turns} == {3}


@pytest.mark.parametrize(
    ("change", "says"),
    [
        (lambda w: w.pop("model.norm.weight"), r"1 weights were not loaded .* 'model.norm.weight'"),
        (lambda w: w.update(nonsense=torch.zeros(1)), r"'nonsense' .* no such weight"),
        (
            lambda w: w.update({"model.norm.weight": torch.zeros(1)}),
            r"\(1,\) does not fit the generator's model: its shape there is \(32,\)",
        ),
    ],
)
def test_weights_that_are_missing_unknown_or_of_another_shape_are_refused(
    model, generator, change, says
):
    weights = {name: weight.clone() for name, weight in model.named_parameters()}
    change(weights)
    with pytest.raises(ModelError, match=says):
        generator.load(weights.items(), 1)


@pytest.mark.parametrize("kind", ["gpt2", *full("qwen2", "mpt")])
def test_after_sleep_wake_and_load_it_samples_as_before(kind):
    """Tied weights stay tied, and buffers do not change."""
    generator = HF(tiny.model(kind))
    policy = tiny.model(kind)
    before = converse(generator, sampling())
    tied = {
        name: id(weight)
        for name, weight in generator._model.named_parameters(remove_duplicate=False)
    }
    generator.sleep()
    assert {
        name: id(weight)
        for name, weight in generator._model.named_parameters(remove_duplicate=False)
    } == tied
    assert all(weight.untyped_storage().nbytes() == 4 for weight in generator._model.parameters())
    with pytest.raises(RuntimeError, match="single memory location"):
        generator.load(policy.named_parameters(), 0)
    generator.wake()
    for weight in generator._model.parameters():
        weight.fill_(torch.nan)  # whatever the new memory holds
    generator.load(policy.named_parameters(), 0)
    assert converse(generator, sampling()) == before
    assert all(weight.is_contiguous() for weight in generator._model.parameters())


def test_asleep_it_has_given_its_memory_back(tmp_path):
    """The resident memory of the process falls by 38 MB of tied weights, more than malloc keeps."""
    tiny.model("qwen2", vocabulary=150_000, hidden_size=64).save_pretrained(tmp_path)
    generator = HF.build(HF.Options(), tiny.context(str(tmp_path)))
    weights = {name: weight.clone() for name, weight in generator._model.named_parameters()}
    size, rss = sum(weight.nbytes for weight in weights.values()), psutil.Process().memory_info
    assert size > 2**25
    for _ in range(2):
        awake = rss().rss
        generator.sleep()
        assert awake - rss().rss > 0.9 * size
        generator.wake()
        generator.load(weights.items(), 1)
        assert rss().rss - awake < 0.1 * size
