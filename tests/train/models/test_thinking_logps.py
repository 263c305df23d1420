"""Sampled log-probabilities are those of the training forward where thoughts are stripped.

The model has random weights. A bias makes it write tags of thoughts and stop tokens, so its replies
have thoughts, and some are cut.
"""

import os
from functools import partial
from pathlib import Path

import pytest
import tiny
import torch
from families import DATE, FAMILIES

from agentgym_envs.agents import EpisodeOpening
from agentgym_envs.agents.chat import ChatAgent
from agentgym_train.data.batching import pack
from agentgym_train.data.types import Group, Trajectory, Turn
from agentgym_train.generators import probe
from agentgym_train.generators.hf import HF
from agentgym_train.generators.probe import ask
from agentgym_train.models.chat import ChatTokens
from agentgym_train.models.conversation import Conversation
from agentgym_train.models.loading import load_tokenizer
from agentgym_train.models.policy import token_logps
from agentgym_train.protocols import SamplingOptions
from agentgym_train.rollout.policy_client import AgentPlayer

REAL = os.environ.get("AGENTGYM_TOKENIZERS", "")
SHAPES = {
    "deepseek_v3": {
        "n_routed_experts": 4,
        "num_experts_per_tok": 2,
        "n_group": 1,
        "topk_group": 1,
        "moe_intermediate_size": 32,
        "q_lora_rank": 16,
        "kv_lora_rank": 16,
        "qk_nope_head_dim": 8,
        "qk_rope_head_dim": 8,
        "v_head_dim": 8,
        "first_k_dense_replace": 1,
        "num_key_value_heads": 4,
    },
    "gpt_oss": {"num_local_experts": 4, "num_experts_per_tok": 2, "head_dim": 16},
}
REAL_SHAPES = {"Qwen3": "qwen3", "DeepSeek V3": "deepseek_v3", "gpt-oss": "gpt_oss"}
MODES = {
    "template": ("template", {}),
    "strip": ("strip", {}),
    "keep": ("keep", {}),
    "no thinking": ("template", {"enable_thinking": False}),
}
ROWS, TURNS, NEW_TOKENS = 3, 3, 20
OPENING = EpisodeOpening(
    task_id="t", attempt=0, goal="", instructions="Be brief.", format_rules="", tools=(), memory=()
)


def biased(kind, vocabulary, biases):
    """Returns a model whose logits have biases; the first feature is constant.

    Args:
        kind: of architecture.
        vocabulary: number of tokens.
        biases: by token.
    """
    model = tiny.model(
        kind, vocabulary=vocabulary, tie_word_embeddings=False, **SHAPES.get(kind, {})
    )
    with torch.no_grad():
        model.get_input_embeddings().weight[:, 0] = 4.0
        for name, weight in model.named_parameters():
            if name.endswith(("o_proj.weight", "down_proj.weight")):
                weight[0] = 0.0
            elif name.endswith("experts.down_proj"):
                weight[..., 0] = 0.0
        head = model.get_output_embeddings().weight
        head[:, 0] = 0.0
        for token, bias in biases.items():
            head[token, 0] = bias
    return model


def played(model, conversation, thoughts):
    """Plays an agent in each row of a session; returns the trajectories."""
    limits = {"max_context": 4096, "max_new_tokens": NEW_TOKENS}
    players = [
        AgentPlayer(
            lambda client: ChatAgent(client=client, thoughts=thoughts),
            lambda info, memory: OPENING,
            conversation,
            **limits,
        )
        for _ in range(ROWS)
    ]
    session = HF(model).session(range(ROWS), sampling(conversation.chat))
    rows = [Trajectory("t", n) for n in range(ROWS)]
    lengths = [0] * ROWS
    for turn in range(TURNS):
        steps = [player.turn(f"Exit {turn}: north", {}) for player in players]
        requests = [next(step) for step in steps]
        for row, request in enumerate(requests):
            if request.kept < lengths[row]:
                session.rewind(row, request.kept)
        for row, sample in ask(session, {n: r.ids for n, r in enumerate(requests)}).items():
            call = requests[row].call
            call.action_ids, call.logps = sample.ids, sample.logps
            lengths[row] = requests[row].kept + len(requests[row].ids) + len(sample.ids)
            rows[row].turns.append(Turn("", [call]))
            with pytest.raises(StopIteration):
                steps[row].send(sample)
    session.close()
    return rows, [reply for player in players for reply in player._client.replies]


def sampling(chat):
    return SamplingOptions(temperature=0.9, max_new_tokens=NEW_TOKENS, stop_ids=chat.stop_ids)


def check(kind, tokenizer, thoughts, arguments):
    """Returns the trajectories and the replies, after the comparison."""
    chat = ChatTokens(tokenizer, "Be brief.", must_grow=False, arguments=arguments, date=DATE)
    conversation = Conversation(chat)
    known = {t.content: n for n, t in tokenizer.added_tokens_decoder.items()}
    biases = {
        known[tag]: bias for tag, bias in (("<think>", 2.2), ("</think>", 2.4)) if tag in known
    }
    biases |= dict.fromkeys(chat.stop_ids, 2.0)
    model = biased(kind, len(tokenizer), biases)
    forward = partial(token_logps, model, temperature=0.9)
    probe.check_logps(
        HF(model),
        forward,
        sampling=sampling(chat),
        ids=conversation.prompt([{"role": "user", "content": "Exits: north, south"}], []),
        length=probe.length(model.config),
        dtype="float32",
        rewinds=True,
    )
    rows, replies = played(model, conversation, thoughts)
    batch = pack([Group(0, rows)])
    with torch.no_grad():
        logp_BT = forward(batch).logp_BT.float()
    difference = (logp_BT - batch.logp_BT).abs()[batch.action_BT]
    assert int(batch.action_BT.sum()) == sum(len(reply.ids) for reply in replies)
    assert float(difference.max()) < 1e-3
    return rows, replies


@pytest.mark.parametrize("mode", MODES)
def test_sampled_logps_are_those_of_the_training_forward(mode):
    thoughts, arguments = MODES[mode]
    rows, replies = check("qwen3", FAMILIES["Qwen3"].tokenizer(), thoughts, arguments)
    samples = max(len(row.samples) for row in rows)
    assert any(reply.reasoning for reply in replies)
    assert any(reply.text for reply in replies)
    assert (samples == 1) == (mode == "keep")


@pytest.mark.skipif(not REAL, reason="AGENTGYM_TOKENIZERS names no folder of real tokenizers")
@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("name", REAL_SHAPES)
def test_sampled_logps_with_real_tokenizers(name, mode):
    thoughts, arguments = MODES[mode]
    tokenizer = load_tokenizer(str(Path(REAL) / FAMILIES[name].folder))
    if "enable_thinking" not in tokenizer.chat_template:
        arguments = {}
    check(REAL_SHAPES[name], tokenizer, thoughts, arguments)
