"""Small models that clone the suite's teachers: which of these settings teaches them to copy names?

    python benchmarks/suite_episodes.py runs/suite-episodes
    python benchmarks/suite_copying.py runs/suite-episodes --repeats 0.7

Prints the loss of action tokens and, at the end, the success on dev tasks. The training is that of
``[scratch]``, with a constant number of tokens per step and with these settings.
"""

import json
import math
import random
import tempfile
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import suite_episodes
import torch
import typer
from transformers import PreTrainedTokenizerBase, Qwen2ForCausalLM

from agentgym_envs.evaluate import record
from agentgym_train import config as configuration
from agentgym_train.config import Config, ModelConfig, ScratchConfig
from agentgym_train.engine.distributed import Distributed
from agentgym_train.evaluation import evaluate
from agentgym_train.models import scratch
from agentgym_train.rollout.build import make_generator
from agentgym_train.rollout.descriptions import describe

Row = tuple[list[int], list[int]]
"""The ids of an episode, and the kind of each token."""
KINDS = ("observation", "action", "repeated")
OBSERVATION, ACTION, REPEATED = range(3)


def texts(folder: Path, name: str, *, spaces: bool) -> list[list[tuple[str, str]]]:
    """Returns the observations and actions of an environment's episodes."""
    close = (">", ">") if spaces else ("> ", ">")
    return [
        [(turn["observation"], turn["response"].replace(*close)) for turn in row["turns"]]
        for row in record.read(folder / name)[0]
    ]


def encode(tokenizer: PreTrainedTokenizerBase, episode: list[tuple[str, str]]) -> Row:
    """Returns an episode in the small model's chat template."""
    _, user, assistant, end = (tokenizer.convert_tokens_to_ids(token) for token in scratch.SPECIAL)
    ids, kinds = [], []
    for observation, action in episode:
        seen, done = (tokenizer.encode(t, add_special_tokens=False) for t in (observation, action))
        ids += [user, *seen, assistant, *done, end]
        kinds += [OBSERVATION] * (len(seen) + 2) + [ACTION] * (len(done) + 1)
    return ids, kinds


def draws(rows: list[Row], *, repeats: float, limit: int, rng: random.Random) -> Iterator[Row]:
    """Yields rows in a new order per pass; a share of them twice in a row, as one row."""
    while True:
        for ids, kinds in rng.sample(rows, len(rows)):
            if rng.random() < repeats and 2 * len(ids) <= limit:
                yield ids * 2, kinds + [REPEATED] * len(kinds)
            elif len(ids) <= limit:
                yield ids, kinds


def learn(model: Qwen2ForCausalLM, batch: list[Row], observations: float) -> torch.Tensor:
    """Adds the gradients of a batch; returns sums and counts of losses by kind, shape (2, 3)."""
    sums = torch.zeros(2, 3)
    weight_K = torch.tensor([observations, 1.0, observations])
    whole = sum(float(weight_K[torch.tensor(kinds[1:])].sum()) for _, kinds in batch)
    for ids, kinds in batch:
        kind_T = torch.tensor(kinds[1:])
        with torch.autocast("cpu", torch.bfloat16):
            logits_TV = model(input_ids=torch.tensor([ids])).logits[0, :-1]
        loss_T = torch.nn.functional.cross_entropy(
            logits_TV.float(), torch.tensor(ids[1:]), reduction="none"
        )
        ((loss_T * weight_K[kind_T]).sum() / whole).backward()
        sums[0].index_add_(0, kind_T, loss_T.detach())
        sums[1].index_add_(0, kind_T, torch.ones_like(loss_T))
    return sums


def train(
    model: Qwen2ForCausalLM,
    sources: dict[str, Iterator[Row]],
    *,
    tokens: int,
    batch_tokens: int,
    lr: float,
    observations: float,
) -> None:
    """Trains on equally many tokens of each source; prints the losses."""
    optimizer = torch.optim.AdamW(model.parameters(), lr=lr, weight_decay=0.01)
    steps = tokens // batch_tokens
    seen, sums = dict.fromkeys(sources, 0), torch.zeros(2, 3)
    for step in range(steps):
        batch: list[Row] = []
        while sum(len(ids) for ids, _ in batch) < batch_tokens:
            name = min(seen, key=seen.__getitem__)
            batch.append(next(sources[name]))
            seen[name] += len(batch[-1][0])
        sums += learn(model, batch, observations)
        torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        decay = 0.55 + 0.45 * math.cos(math.pi * step / steps)
        for group in optimizer.param_groups:
            group["lr"] = lr * min(1.0, (step + 1) / (steps // 20 + 1)) * decay
        optimizer.step()
        optimizer.zero_grad()
        if (step + 1) % 40 == 0:
            means = dict(zip(KINDS, (sums[0] / sums[1]).tolist(), strict=True))
            typer.echo(json.dumps({"tokens": sum(seen.values()), **means}))
            sums.zero_()


def held_out(config: Config, folder: str, model: Any, tokenizer: Any) -> dict[str, float]:
    """Returns the success on dev tasks of one environment."""
    _, description = describe(config)
    chat = scratch.Chat(tokenizer, description.instructions)
    place = torch.device("cpu")
    generator = make_generator(config, folder, chat, device=place, distributed=Distributed())
    generator.load(list(model.state_dict().items()), 0)
    played = evaluate.evaluate(config, generator, tokenizer, description)
    generator.close()
    return evaluate.summary(played.trajectories)


def main(
    folder: Path,
    families: str = "TextCraft,Search",
    tokens: int = 400_000,
    batch_tokens: int = 1500,
    observations: float = 1.0,
    repeats: float = 0.0,
    spaces: bool = True,
    hidden: int = 64,
    layers: int = 3,
    heads: int = 2,
    vocab: int = 2048,
    lr: float = 4e-3,
    tasks: int = 40,
    seed: int = 0,
) -> None:
    """Trains a model on the teachers' episodes and plays dev tasks.

    Args:
        folder: see suite_episodes.py.
        families: names of environments, with commas.
        tokens: training tokens, repeated ones included.
        batch_tokens: tokens per optimizer step.
        observations: weight of the loss on observation tokens; the weight of actions is 1.
        repeats: share of episodes that are shown twice in a row.
        spaces: a space before the names in Search's tags.
        hidden: hidden size.
        layers: layers.
        heads: attention heads.
        vocab: size of the tokenizer.
        lr: peak learning rate.
        tasks: dev tasks per environment.
        seed: of weights and order.
    """
    torch.manual_seed(seed)
    whole = configuration.load(suite_episodes.CONFIG)
    limit = whole.model.max_context
    played = {name: texts(folder, name, spaces=spaces) for name in families.split(",")}
    tokenizer = scratch.train_tokenizer(
        [t for part in played.values() for episode in part for pair in episode for t in pair], vocab
    )
    ids = {"eos_token_id": tokenizer.eos_token_id, "pad_token_id": tokenizer.pad_token_id}
    sizes = ScratchConfig(hidden=hidden, layers=layers, heads=heads)
    shape = scratch.shape(sizes, vocab=len(tokenizer), max_context=limit, bos_token_id=None, **ids)
    model = Qwen2ForCausalLM(shape)
    typer.echo(json.dumps({"parameters": model.num_parameters(), "vocab": len(tokenizer)}))
    rng = random.Random(seed)
    rows = {name: [encode(tokenizer, e) for e in part] for name, part in played.items()}
    sources = {
        name: draws(part, repeats=repeats, limit=limit, rng=rng) for name, part in rows.items()
    }
    sizes_of_run = {"tokens": tokens, "batch_tokens": batch_tokens, "lr": lr}
    train(model, sources, observations=observations, **sizes_of_run)
    with tempfile.TemporaryDirectory() as home:
        model.save_pretrained(home)
        tokenizer.save_pretrained(home)
        for one in whole.each():
            if one.env.name in played:
                own = replace(
                    one,
                    model=ModelConfig(path=home, max_context=limit),
                    eval=replace(one.eval, episodes=tasks),
                )
                result = held_out(own, home, model, tokenizer)
                typer.echo(json.dumps({"environment": one.env.name, **result}))


if __name__ == "__main__":
    typer.run(main)
