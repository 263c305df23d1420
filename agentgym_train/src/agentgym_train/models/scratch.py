"""A small policy from scratch: a tokenizer and a Qwen2 model, trained on random play.

Random play uses no expert and no reward. It teaches the form of observations and the words of
actions. Recorded episodes can replace it: they also teach good actions, and give the tokenizer the
names in them.

The chat template is minimal and leaves out the system message: a model of this size cannot read
rules, and each token costs time.
"""

import json
from collections.abc import Callable, Sequence
from dataclasses import replace
from itertools import count, cycle
from pathlib import Path
from typing import Any

import torch
from tokenizers import Tokenizer, models, pre_tokenizers, trainers
from transformers import Qwen2Config, Qwen2ForCausalLM, Qwen2Tokenizer

from agentgym_envs.evaluate import baselines
from agentgym_envs.pool import describe
from agentgym_envs.wrappers import FORMATS
from agentgym_train.config import EnvConfig, ScratchConfig
from agentgym_train.data import recorded
from agentgym_train.files import writing
from agentgym_train.models import pretraining
from agentgym_train.models.chat import MINIMAL as TEMPLATE
from agentgym_train.models.chat import Message
from agentgym_train.models.loading import device

SPECIAL = ("<|pad|>", "<|user|>", "<|assistant|>", "<|end|>")
ROLES = ("user", "assistant")
OBSERVATIONS = 0.2
"""Weight of an observation's tokens beside recorded actions; beside random actions it is 1."""
Progress = Callable[[str, int, int], None]


def make(
    folder: Path,
    envs: Sequence[EnvConfig],
    config: ScratchConfig,
    *,
    seed: int,
    max_context: int,
    progress: Progress,
    replay: pretraining.Replay | None = None,
) -> None:
    """Trains a tokenizer and a model, and writes them in Hugging Face format.

    Args:
        folder: the folder of the model.
        envs: the environments. Each has an equal share of the random-play episodes, and so has
            each agent of an environment with several. Each has an equal share of the text
            of recorded episodes.
        config: sizes of the model and of its training.
        seed: fixes play, initial weights and batches.
        max_context: number of positions of the model.
        progress: called with a label, the number of units done and their total.
        replay: the agent of the run; None: the conversation alone.

    Raises:
        ConfigError: the recorded episodes of an environment cannot be used.
        EnvFailure: an environment raised an exception, hung or died.
    """
    episodes = _episodes(envs, config, seed=seed, progress=progress)
    tokenizer = train_tokenizer(
        [m["content"] for episode in episodes for m in episode], config.vocab
    )
    torch.manual_seed(seed)
    model = Qwen2ForCausalLM(
        shape(
            config,
            vocab=len(tokenizer),
            max_context=max_context,
            bos_token_id=None,
            eos_token_id=tokenizer.eos_token_id,
            pad_token_id=tokenizer.pad_token_id,
        )
    )
    model.to(device())
    pretraining.learn_to_copy(
        model,
        steps=config.copy_steps,
        lr=config.lr,
        seed=seed,
        progress=lambda done: progress("copying", done, config.copy_steps),
    )
    pretraining.learn_episodes(
        model,
        pretraining.encode(
            tokenizer,
            episodes,
            max_context=max_context,
            observations=OBSERVATIONS if config.folders else 1.0,
            replay=replay,
        ),
        config,
        seed=seed,
        progress=lambda done: progress("language modelling", done, config.steps),
    )
    model.cpu()
    with writing(folder):
        model.save_pretrained(folder)
        tokenizer.save_pretrained(folder)


def _episodes(
    envs: Sequence[EnvConfig], config: ScratchConfig, *, seed: int, progress: Progress
) -> list[list[Message]]:
    """Returns the recorded episodes of all environments, or their random play."""
    if config.folders:
        return _even([recorded_play(env, config.folders) for env in envs])
    plays = [play for env in envs for play in _seated(env)]
    share = replace(config, episodes=-(-config.episodes // len(plays)))
    return [e for env in plays for e in random_play(env, share, seed=seed, progress=progress)]


def shape(config: ScratchConfig, *, vocab: int, max_context: int, **ids: int | None) -> Qwen2Config:
    """Returns the configuration of the transformers model.

    Args:
        config: sizes of the model.
        vocab: number of the tokenizer's words, which is at most ``config.vocab``.
        max_context: number of positions of the model.
        **ids: ids of special tokens, by transformers' names.
    """
    return Qwen2Config(
        vocab_size=vocab,
        hidden_size=config.hidden,
        intermediate_size=4 * config.hidden,
        num_hidden_layers=config.layers,
        num_attention_heads=config.heads,
        num_key_value_heads=config.heads,
        max_position_embeddings=max_context,
        tie_word_embeddings=True,
        # The usual 0.02 fits wide models; a narrow model learns slowly with it. Copying forms late
        # from larger weights.
        initializer_range=0.02 if config.copy_steps else config.hidden**-0.5,
        **ids,
    )


def _seated(env: EnvConfig) -> list[EnvConfig]:
    """Returns an environment once per agent, with the other agents played by the environment.

    A transcript shows the view of one agent only.
    """
    limits: dict[str, Any] = {"action_format": env.action_format, "timeout": env.timeout}
    agents = describe(env.id, **limits, hosts=env.hosts or None, **env.kwargs).several
    return [replace(env, kwargs=env.kwargs | {"seats": agent}) for agent in agents] or [env]


def random_play(
    env: EnvConfig, config: ScratchConfig, *, seed: int, progress: Progress
) -> list[list[Message]]:
    """Returns episodes of uniformly random admissible actions as chat messages.

    Raises:
        EnvFailure: an environment raised an exception, hung or died.
    """
    done, label = count(1), f"random play, {env.name}"
    episodes = baselines.random_episodes(
        env.id,
        config.episodes,
        seed=seed,
        turns=config.turns,
        action_format=env.action_format,
        workers=env.workers or None,
        hosts=env.hosts,
        timeout=env.timeout,
        on_episode=lambda: progress(label, next(done), config.episodes),
        kwargs=env.kwargs,
    )
    return [
        [{"role": role, "content": text} for role, text in zip(cycle(ROLES), texts, strict=False)]
        for texts in episodes
    ]


def recorded_play(env: EnvConfig, folders: Sequence[str]) -> list[list[Message]]:
    """Returns an environment's episodes in result folders as chat messages.

    Raises:
        ConfigError: the folders have no such episode, or the action format cannot express an
            action.
    """
    limits: dict[str, Any] = {"action_format": env.action_format, "timeout": env.timeout}
    description = describe(env.id, **limits, hosts=env.hosts or None, **env.kwargs)
    reader = FORMATS[env.action_format](description.tools)
    return [
        [
            message
            for turn, response in zip(row["turns"], recorded.responses(row, reader), strict=True)
            for message in (
                {"role": "user", "content": turn["observation"]},
                {"role": "assistant", "content": response},
            )
        ]
        for row in recorded.read_episodes(folders, env.id, key="scratch.folders")
    ]


def _even(parts: Sequence[list[list[Message]]]) -> list[list[Message]]:
    """Returns the episodes of all parts; those of shorter parts are repeated.

    Each part then has as many characters as the longest one. No tokenizer exists yet.
    """
    lengths = [[sum(len(m["content"]) for m in episode) for episode in part] for part in parts]
    most = max(sum(part) for part in lengths)
    episodes = []
    for part, sizes in zip(parts, lengths, strict=True):
        taken = 0
        for episode, size in cycle(zip(part, sizes, strict=True)):
            if taken >= most:
                break
            episodes.append(episode)
            taken += size
    return episodes


def train_tokenizer(texts: list[str], vocab: int) -> Qwen2Tokenizer:
    """Trains a byte-level BPE tokenizer on the texts of episodes.

    Byte-level BPE can encode any text. The class is ``Qwen2Tokenizer``, since ``AutoTokenizer``
    loads the tokenizer of a Qwen2 model as that class.
    """
    tokenizer = Tokenizer(models.BPE())
    tokenizer.pre_tokenizer = Qwen2Tokenizer().backend_tokenizer.pre_tokenizer
    tokenizer.train_from_iterator(
        texts,
        trainers.BpeTrainer(
            vocab_size=vocab,
            special_tokens=list(SPECIAL),
            initial_alphabet=pre_tokenizers.ByteLevel.alphabet(),
            show_progress=False,
        ),
    )
    model = json.loads(tokenizer.to_str())["model"]
    merges = [tuple(m) for m in model["merges"]]
    pad, user, assistant, end = SPECIAL
    fast = Qwen2Tokenizer(
        vocab=model["vocab"],
        merges=merges,
        unk_token=None,
        bos_token=None,
        eos_token=end,
        pad_token=pad,
    )
    fast.add_special_tokens({"additional_special_tokens": [user, assistant]})
    fast.chat_template = TEMPLATE
    return fast
