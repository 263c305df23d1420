"""One training step in two threads, with results that arrive in a random order.

    arrival.py FILE ORDER

Writes digests of the samples, the log-probabilities and the gradient: one after the other, and with
collection and learning at the same time. ORDER seeds the order in
which the results of environments arrive.
"""

import hashlib
import json
import random
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import tiny
import torch

from agentgym_envs.pool import PoolResult
from agentgym_envs.tasks import stable_hash
from agentgym_train.data.batching import pack
from agentgym_train.generators.hf import HF
from agentgym_train.models.policy import token_logps
from agentgym_train.protocols import SamplingOptions
from agentgym_train.rollout.collector import EpisodeCollector
from agentgym_train.rollout.tasks import EpisodeStart

EPISODES = 8


class Pool:
    """Environments with episodes of 1 to 8 steps; all results that are due arrive together."""

    def __init__(self, order):
        self.rng, self.due, self.turns = random.Random(order), set(), {}

    def reset(self, row, *, seed, options):
        self.turns[row] = 0
        self.due.add(row)

    def send(self, row, action):
        self.turns[row] += 1
        self.due.add(row)

    def recv(self, *, timeout=None):
        rows, self.due = sorted(self.due), set()
        self.rng.shuffle(rows)
        return [self.answer(row) for row in rows]

    def answer(self, row):
        turn, length = self.turns[row], 1 + stable_hash(f"length {row}") % 8
        seen = "Exits: " + " ".join(["north", "east"][: stable_hash(f"exits {row} {turn}") % 3])
        return PoolResult(
            row, observation=seen, reward=float(row % 2), terminated=turn == length, info={}
        )


def digest(*values):
    return hashlib.blake2b(
        b"".join(v if isinstance(v, bytes) else repr(v).encode() for v in values)
    ).hexdigest()


def collect(collector, chat):
    return collector.collect(
        [EpisodeStart(row, row) for row in range(EPISODES)],
        max_turns=8,
        sampling=SamplingOptions(temperature=1.0, max_new_tokens=6, stop_ids=chat.stop_ids),
        noise="n",
    )


def learn(model, groups):
    """Returns a digest of the gradient."""
    batch = pack(groups)
    model.requires_grad_(True)
    model.zero_grad()
    ratio_BT = (token_logps(model, batch, 1.0).logp_BT - batch.logp_BT).exp()
    (ratio_BT * batch.return_B()[:, None]).sum().backward()
    return digest(*(p.grad.numpy().tobytes() for p in model.parameters()))


def digested(groups):
    calls = [call for group in groups for t in group.trajectories for call in t.calls]
    return {
        "samples": digest([call.action_ids for call in calls]),
        "logps": digest([call.logps for call in calls]),
    }


def main(file, order):
    torch.set_num_threads(2)
    chat, model = (
        tiny.chat(instructions=""),
        tiny.model(hidden_size=64, intermediate_size=256, vocabulary=500),
    )
    collector = EpisodeCollector(Pool(order), HF(model), chat, max_context=500)
    groups = collect(collector, chat)
    policy = tiny.model(hidden_size=64, intermediate_size=256, vocabulary=500)
    digests = digested(groups) | {"gradient": learn(policy, groups)}
    # Again, with both at the same time.
    with ThreadPoolExecutor(1) as thread:
        beside = thread.submit(collect, collector, chat)
        gradients = {learn(policy, groups) for _ in iter(beside.done, True)}
        digests["beside"] = digested(beside.result()) | {"gradients": sorted(gradients)}
        threads = thread.submit(torch.get_num_threads).result()
    digests["threads"] = [torch.get_num_threads(), threads]
    Path(file).write_text(json.dumps(digests))


if __name__ == "__main__":
    main(*sys.argv[1:])
