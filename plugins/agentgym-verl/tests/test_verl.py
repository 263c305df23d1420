"""Episodes in verl's agent-loop worker, with a stub for the model; see ``tox run -e verl``."""

import asyncio
import json
from pathlib import Path
from types import SimpleNamespace

import gymnasium
import pytest
from raised import raises

pytest.importorskip("verl", reason="needs verl: run `tox run -e verl`")

import hydra
import numpy
import verl
from agentgym_verl import rows
from tokenizers import Tokenizer, decoders, models, pre_tokenizers
from transformers import PreTrainedTokenizerFast, Qwen2Config
from verl.experimental.agent_loop.agent_loop import AgentLoopWorker
from verl.protocol import DataProto
from verl.workers.rollout.replica import TokenOutput

from agentgym_envs.errors import ArgumentError, EnvFailure, TaskError

pytestmark = pytest.mark.filterwarnings("ignore")  # of verl, about its own insides
SEVENTH = "seventh_env:support/Seventh-v0"
TEMPLATE = (
    "{% for m in messages %}<{{ m.role[0] }}>{{ m.content }}<e>{% endfor %}"
    "{% if add_generation_prompt %}<a>{% endif %}"
)


@pytest.fixture(scope="module")
def tokenizer(tmp_path_factory):
    """One token per byte. Its folder also has the configuration of a model."""
    vocab = {letter: n for n, letter in enumerate(sorted(pre_tokenizers.ByteLevel.alphabet()))}
    base = Tokenizer(models.BPE(vocab=vocab, merges=[]))
    base.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    base.decoder = decoders.ByteLevel()
    fast = PreTrainedTokenizerFast(tokenizer_object=base, eos_token="<e>", pad_token="<p>")
    fast.add_special_tokens({"additional_special_tokens": ["<s>", "<u>", "<a>"]})
    fast.chat_template = TEMPLATE
    folder = tmp_path_factory.mktemp("model")
    fast.save_pretrained(folder)
    Qwen2Config(architectures=["Qwen2ForCausalLM"]).save_pretrained(folder)
    fast.name_or_path = str(folder)
    return fast


@pytest.fixture(autouse=True)
def _folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)


class Model:
    """Answers with texts in order, the last one repeated."""

    def __init__(self, tokenizer, *texts):
        self.tokenizer, self.texts = tokenizer, list(texts)
        self.requests = 0

    async def generate(self, *, request_id, prompt_ids, sampling_params):
        self.requests += 1
        text = self.texts.pop(0) if len(self.texts) > 1 else self.texts[0]
        if isinstance(text, Exception):
            raise text
        ids = self.tokenizer.encode(text + "<e>")
        steps = {"min_global_steps": self.requests, "max_global_steps": self.requests}
        return TokenOutput(token_ids=ids, log_probs=[-0.5] * len(ids), extra_fields=steps)


def worker(tokenizer, model, room, options):
    """A worker with the configuration of verl's trainer and a file of agent loops."""
    entry = {"name": "agentgym", "_target_": "agentgym_verl.AgentGymLoop", "turns": 30, **options}
    Path("loops.yaml").write_text(json.dumps([entry]))
    rollout = "actor_rollout_ref.rollout"
    overrides = [
        f"actor_rollout_ref.model.path={tokenizer.name_or_path}",
        f"{rollout}.name=vllm",
        f"{rollout}.calculate_log_probs=true",
        f"{rollout}.agent.agent_loop_config_path={Path('loops.yaml').absolute()}",
        "data.max_prompt_length=8000",
        f"data.max_response_length={room}",
    ]
    folder = Path(verl.__file__).parent / "trainer" / "config"
    with hydra.initialize_config_dir(str(folder), version_base=None):
        return AgentLoopWorker(hydra.compose("ppo_trainer", overrides=overrides), model)


def batch(played):
    """Rows, as verl's trainer gives them to its workers."""
    columns = {"raw_prompt": "prompt", "agent_name": "agent_name", "extra_info": "extra_info"}
    data = {name: numpy.empty(len(played), dtype=object) for name in columns}
    for name, key in columns.items():
        data[name][:] = [row[key] for row in played]
    return DataProto(non_tensor_batch=data, meta_info={"global_steps": 1})


def unpadded(output):
    """The trajectories of a batch of results."""
    data, room = output.batch, output.batch["responses"].shape[1]
    for n in range(len(data)):
        here = data["attention_mask"][n].bool()
        before, after = here[:-room], here[-room:]
        yield SimpleNamespace(
            prompt_ids=data["prompts"][n][before].tolist(),
            response_ids=data["responses"][n][after].tolist(),
            response_mask=data["response_mask"][n][after].tolist(),
            logps=data["rollout_log_probs"][n][after].tolist(),
            score=data["rm_scores"][n].sum().item(),
            values={k: output.non_tensor_batch[k][n] for k in ("success", "turns", "invalid")},
            steps=[output.non_tensor_batch[f"{k}_global_steps"][n] for k in ("min", "max")],
        )


def play(tokenizer, model, played, *, room=4000, at_once=12, **options):
    """Plays rows in batches of ``at_once``; returns the trajectories."""
    maker = worker(tokenizer, model, room, options)

    async def run():
        parts = [played[n : n + at_once] for n in range(0, len(played), at_once)]
        return [one for p in parts for one in unpadded(await maker.generate_sequences(batch(p)))]

    return asyncio.run(run())


def test_an_episode_is_that_of_the_environment(tokenizer):
    target = "agentgym/TextCraft-v2"
    row = rows(target, split="test")[0]
    env = gymnasium.make(target, split="test")
    observation, _ = env.reset(options={"task_id": row["extra_info"]["task_id"]})
    actions = list(env.unwrapped.oracle())
    text, sampled, score = f"<u>{observation}<e>", "", 0.0
    for number, action in enumerate(actions):
        observation, reward, *_ = env.step(action)
        score += reward
        sampled += f"{action}<e>"
        text += f"<a>{action}<e>" + (number + 1 < len(actions)) * f"<u>{observation}<e>"
    model = Model(tokenizer, *actions)
    (output,) = play(
        tokenizer, model, [row], target=target, action_format="plain", env={"split": "test"}
    )
    ids = output.prompt_ids + output.response_ids
    assert tokenizer.decode(ids) == f"<s>{env.unwrapped.instructions}<e>{text}"
    marked = [i for i, m in zip(output.response_ids, output.response_mask, strict=True) if m]
    assert tokenizer.decode(marked) == sampled
    assert tokenizer.decode(output.prompt_ids).endswith("<a>")
    assert [logp != 0 for logp in output.logps] == [bool(m) for m in output.response_mask]
    assert output.score == score == 1.0
    values = {"success": 1.0, "turns": len(actions), "invalid": 0}
    assert output.values == values
    assert output.steps == [1, len(actions)]


def test_an_episode_that_fails_is_played_again_and_no_fault_becomes_a_zero(tokenizer):
    """Twelve episodes of three steps, one after another: every seventh step fails."""
    model = Model(tokenizer, "word")
    outputs = play(
        tokenizer,
        model,
        rows(SEVENTH, 12),
        at_once=1,
        target=SEVENTH,
        action_format="plain",
        env={"workers": 1, "every": 7},
    )
    assert [output.score for output in outputs] == [12.0] * 12
    assert model.requests > 36
    assert {output.response_mask.count(1) for output in outputs} == {3 * len("word.")}


def test_what_fails_each_time_raises(tokenizer):
    options = {"target": SEVENTH, "action_format": "plain", "env": {"workers": 1, "every": 2}}
    with raises(EnvFailure, "seventh step"):
        play(tokenizer, Model(tokenizer, "word"), rows(SEVENTH, 1), **options)
    with raises(RuntimeError, "status 500"):
        play(tokenizer, Model(tokenizer, RuntimeError("status 500")), rows(SEVENTH, 1), **options)


def test_limits(tokenizer):
    options = {"target": SEVENTH, "action_format": "plain", "env": {"workers": 1, "every": 100}}
    played = play(tokenizer, Model(tokenizer, "word"), rows(SEVENTH, 12), turns=2, **options)
    assert [(one.score, one.values["turns"]) for one in played] == [(8.0, 2)] * 12
    # "word", its end, and "<u>turn 1<e><a>" have 14 tokens.
    (one,) = play(tokenizer, Model(tokenizer, "word"), rows(SEVENTH, 1), room=14, **options)
    assert (one.score, len(one.response_ids)) == (4.0, 5)
    (none,) = play(tokenizer, Model(tokenizer, "word"), rows(SEVENTH, 1), room=3, **options)
    assert (none.score, len(none.response_ids)) == (0.0, 3)


def test_bad_input(tokenizer):
    with pytest.raises(ArgumentError, match="lists no tasks"):
        rows(SEVENTH)
    (row,) = rows("agentgym/TextCraft-v2", 1)
    row["extra_info"]["task_id"] = "depth9-house"
    with raises(TaskError, "depth9-house"):
        play(tokenizer, Model(tokenizer, "word"), [row], target="agentgym/TextCraft-v2")
