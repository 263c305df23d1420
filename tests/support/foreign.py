"""Third-party plugins with entry points beside this file.

A curriculum with state, and generators without a cache.
"""

import random
from dataclasses import dataclass, replace

import torch
from transformers import AutoModelForCausalLM

from agentgym_train import ActionSample, Curriculum, Generator


class Responsive(Curriculum):
    """Adds one turn after every step with a mean return above ``bar``."""

    @dataclass(frozen=True, kw_only=True)
    class Options:
        bar: float = 0.5

    def __init__(self, options):
        self.bar, self.turns = options.bar, 1

    def horizon(self, step: int) -> int:
        return self.turns

    def observe(self, metrics) -> None:
        self.turns += metrics["return"] > self.bar

    def state_dict(self):
        return {"turns": self.turns}

    def load_state_dict(self, state) -> None:
        self.turns = state["turns"]


class Naive(Generator):
    """Builds a generator; has no options."""

    @classmethod
    def build(cls, options, context):
        return NaiveGenerator(load(context))


class Hollow(Generator):
    """Builds an object that is not a generator."""

    @classmethod
    def build(cls, options, context):
        return object()


class Stale(Generator):
    """Builds a generator that ignores the requested temperature."""

    @classmethod
    def build(cls, options, context):
        return StaleGenerator(load(context))


def load(context):
    model = AutoModelForCausalLM.from_pretrained(context.model_folder, dtype=context.dtype)
    return model.eval()


class NaiveGenerator:
    """Computes the whole history for every token; has only the methods of the protocol."""

    in_background = False
    method_name = "the whole history for every token"

    def __init__(self, model):
        self._model, self._version = model, 0

    def load(self, weights, version):
        own = dict(self._model.named_parameters())
        with torch.no_grad():
            for name, weight in weights:
                own[name].copy_(weight)
        self._version = version

    def session(self, seeds, sampling):
        return _Session(self._model, list(seeds), sampling, self._version)

    def sleep(self):
        pass

    def wake(self):
        pass

    def close(self):
        pass


class StaleGenerator(NaiveGenerator):
    def session(self, seeds, sampling):
        return super().session(seeds, replace(sampling, temperature=2.0))


class _Session:
    def __init__(self, model, seeds, sampling, version):
        self._model, self._seeds, self._sampling, self._version = model, seeds, sampling, version
        self._submitted = []
        self._history, self._turn = [[] for _ in seeds], [0 for _ in seeds]

    def restart(self, row):
        self._history[row], self._turn[row] = [], 0

    def finish(self, row):
        self._history[row] = None

    def close(self):
        pass

    def submit(self, row, ids):
        self._history[row] += ids
        self._submitted.append(row)

    @torch.no_grad()
    def poll(self, timeout=None):
        """Returns one row per call, the latest first."""
        return {
            row: self._answer(row) for row in (self._submitted.pop() for _ in self._submitted[:1])
        }

    def _answer(self, row):
        rng = random.Random(f"{self._seeds[row]} {self._turn[row]}")
        self._turn[row] += 1
        history = self._history[row]
        ids, logps = [], []
        while len(ids) < self._sampling.max_new_tokens and not (
            ids and ids[-1] in self._sampling.stop_ids
        ):
            logits_V = self._model(torch.tensor([history + ids])).logits[0, -1].float()
            logp_V = (logits_V / self._sampling.temperature).log_softmax(-1)
            ids.append(rng.choices(range(len(logp_V)), logp_V.exp().tolist())[0])
            logps.append(float(logp_V[ids[-1]]))
        history += ids
        return ActionSample(ids, logps, self._version)
