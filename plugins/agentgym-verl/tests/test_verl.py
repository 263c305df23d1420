"""Episodes in verl's agent loop, with a stub for the model; see ``tox run -e verl``."""

import asyncio

import gymnasium
import pytest

pytest.importorskip("verl", reason="needs verl: run `tox run -e verl`")

import hydra
from agentgym_verl import AgentGymLoop, rows
from omegaconf import OmegaConf
from tokenizers import Tokenizer, decoders, models, pre_tokenizers
from transformers import PreTrainedTokenizerFast
from verl.experimental.agent_loop.agent_loop import DictConfigWrap
from verl.utils.dataset.rl_dataset import RLHFDataset
from verl.workers.rollout.replica import TokenOutput

from agentgym_envs.errors import ArgumentError, EnvFailure, TaskError

pytestmark = pytest.mark.filterwarnings("ignore")  # of verl, about its own insides
SEVENTH = "seventh_env:support/Seventh-v0"
TEMPLATE = (
    "{% for m in messages %}<{{ m.role[0] }}>{{ m.content }}<e>{% endfor %}"
    "{% if add_generation_prompt %}<a>{% endif %}"
)


@pytest.fixture(scope="module")
def tokenizer():
    """One token per byte."""
    vocab = {letter: n for n, letter in enumerate(sorted(pre_tokenizers.ByteLevel.alphabet()))}
    base = Tokenizer(models.BPE(vocab=vocab, merges=[]))
    base.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    base.decoder = decoders.ByteLevel()
    fast = PreTrainedTokenizerFast(tokenizer_object=base, eos_token="<e>", pad_token="<p>")
    fast.add_special_tokens({"additional_special_tokens": ["<s>", "<u>", "<a>"]})
    fast.chat_template = TEMPLATE
    return fast


class Model:
    """Answers with texts in order, the last one repeated."""

    def __init__(self, tokenizer, *texts):
        self.tokenizer, self.texts = tokenizer, list(texts)
        self.prompts = []

    async def generate(self, *, request_id, prompt_ids, sampling_params):
        self.prompts.append(self.tokenizer.decode(prompt_ids))
        text = self.texts.pop(0) if len(self.texts) > 1 else self.texts[0]
        if isinstance(text, Exception):
            raise text
        ids = self.tokenizer.encode(text + "<e>")
        return TokenOutput(token_ids=ids, log_probs=[-0.5] * len(ids))


def play(tokenizer, model, played, *, room=4000, at_once=12, **options):
    """Plays rows, each in a loop that is made as in verl's workers."""
    lengths = {"prompt_length": 8000, "response_length": room}
    config = OmegaConf.create({"actor_rollout_ref": {"rollout": lengths}, "data": {}})
    entry = {"name": "agentgym", "_target_": "agentgym_verl.AgentGymLoop", "turns": 30, **options}

    async def run(row, places):
        loop = hydra.utils.instantiate(
            OmegaConf.create({key: value for key, value in entry.items() if key != "name"}),
            trainer_config=DictConfigWrap(config),
            server_manager=model,
            tokenizer=tokenizer,
            processor=None,
            dataset_cls=RLHFDataset,
            data_config=DictConfigWrap(config.data),
        )
        assert isinstance(loop, AgentGymLoop)
        async with places:
            return await loop.run({}, raw_prompt=row["prompt"], extra_info=row["extra_info"])

    async def together():
        places = asyncio.Semaphore(at_once)
        return await asyncio.gather(*(run(row, places) for row in played))

    return asyncio.run(together())


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
    assert [logp != 0 for logp in output.response_logprobs] == [
        bool(m) for m in output.response_mask
    ]
    assert output.reward_score == score == 1.0
    values = {"success": 1.0, "turns": len(actions), "invalid": 0}
    assert output.extra_fields["reward_extra_info"] == values


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
    assert [output.reward_score for output in outputs] == [12.0] * 12
    assert len(model.prompts) > 36
    assert {output.response_mask.count(1) for output in outputs} == {3 * len("word.")}


def test_what_fails_each_time_raises(tokenizer):
    options = {"target": SEVENTH, "action_format": "plain", "env": {"workers": 1, "every": 2}}
    with pytest.raises(EnvFailure, match="a seventh step"):
        play(tokenizer, Model(tokenizer, "word"), rows(SEVENTH, 1), **options)
    with pytest.raises(RuntimeError, match="status 500"):
        play(tokenizer, Model(tokenizer, RuntimeError("status 500")), rows(SEVENTH, 1), **options)


def test_limits(tokenizer):
    options = {"target": SEVENTH, "action_format": "plain", "env": {"workers": 1, "every": 100}}
    played = play(tokenizer, Model(tokenizer, "word"), rows(SEVENTH, 12), turns=2, **options)
    assert [(one.reward_score, one.num_turns) for one in played] == [(8.0, 4)] * 12
    # "word", its end, and "<u>turn 1<e><a>" have 14 tokens.
    (one,) = play(tokenizer, Model(tokenizer, "word"), rows(SEVENTH, 1), room=14, **options)
    assert (one.reward_score, len(one.response_ids)) == (4.0, 5)
    (none,) = play(tokenizer, Model(tokenizer, "word"), rows(SEVENTH, 1), room=3, **options)
    assert (none.reward_score, len(none.response_ids)) == (0.0, 3)


def test_bad_input(tokenizer):
    with pytest.raises(ArgumentError, match="lists no tasks"):
        rows(SEVENTH)
    row = {"prompt": [], "extra_info": {"index": 0, "task_id": "depth9-house"}}
    with pytest.raises(TaskError, match="depth9-house"):
        play(tokenizer, Model(tokenizer, "word"), [row], target="agentgym/TextCraft-v2")
