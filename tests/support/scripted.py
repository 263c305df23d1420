"""A generator that says what a script says: its samples are encoded texts, its log-probabilities made up."""

import tiny

from agentgym_train.protocols import Sample


class ScriptedGenerator:
    """``script(row, turn)`` returns the action of a row's turn, counted from 0 since the row began."""

    def __init__(self, script, tokenizer=None):
        self.script = script
        self.tokenizer = tokenizer or tiny.tokenizer(tiny.CHATML)
        self.prompts, self.seeds, self.version = [], [], 0

    def load(self, weights, version):
        self.version = version

    def sleep(self):
        pass

    def wake(self):
        pass

    def session(self, seeds, sampling):
        self.seeds = list(seeds)
        return _Session(self, sampling)


class _Session:
    def __init__(self, generator, sampling):
        self.generator, self.sampling, self.turn = generator, sampling, {}
        self.submitted = {}

    def submit(self, row, ids):
        self.submitted[row] = list(ids)

    def poll(self):
        prompts, self.submitted = self.submitted, {}
        self.generator.prompts.append(prompts)
        return {row: self.sample(row) for row in prompts}

    def sample(self, row):
        turn = self.turn[row] = self.turn.get(row, -1) + 1
        ids = self.generator.tokenizer(self.generator.script(row, turn), add_special_tokens=False)["input_ids"]
        ids = [*ids, next(iter(self.sampling.stop_ids))]
        return Sample(ids, [-0.1] * len(ids), self.generator.version)

    def restart(self, row):
        self.turn.pop(row, None)

    def finish(self, row):
        self.turn.pop(row, None)
