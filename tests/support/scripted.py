"""A generator that samples the texts of a script, with synthetic log-probabilities."""

import tiny

from agentgym_envs.pool import EnvPool
from agentgym_train.protocols import ActionSample, SamplingOptions
from agentgym_train.rollout.collector import EpisodeCollector

OPTIONS = (
    "retries",
    "batch_wait",
    "agents",
    "opponents",
    "keep_next",
    "make_player",
    "attempts",
    "stop_ids",
)
"""Keywords of ``collect`` that are those of ``play`` or of the collector."""


class ScriptedGenerator:
    """``script(row, turn)`` returns an action as text or token ids; each row starts at turn 0."""

    in_background = False

    def __init__(self, script, tokenizer=None):
        self.script = script
        self.tokenizer = tokenizer or tiny.tokenizer(tiny.CHATML)
        self.prompts, self.seeds, self.version, self.finished = [], [], 0, []
        self.closed_sessions = 0
        self.kept = []  # by action: tokens that a rewind left, or None without a rewind

    def load(self, weights, version):
        self.version = version

    def sleep(self):
        pass

    def wake(self):
        pass

    def close(self):
        pass

    def session(self, seeds, sampling):
        self.seeds = list(seeds)
        return _Session(self, sampling)


class _Session:
    def __init__(self, generator, sampling):
        self.generator, self.sampling, self.turn = generator, sampling, {}
        self.submitted, self.rewound = {}, {}

    def submit(self, row, ids):
        self.submitted[row] = list(ids)
        self.generator.kept.append(self.rewound.pop(row, None))

    def rewind(self, row, length):
        self.rewound[row] = length

    def poll(self, timeout=None):
        prompts, self.submitted = self.submitted, {}
        self.generator.prompts.append(prompts)
        return {row: self.sample(row) for row in prompts}

    def sample(self, row):
        turn = self.turn[row] = self.turn.get(row, -1) + 1
        action = self.generator.script(row, turn)
        ids = (
            action
            if isinstance(action, list)
            else self.generator.tokenizer(action, add_special_tokens=False)["input_ids"]
        )
        ids = [*ids, next(iter(self.sampling.stop_ids))]
        return ActionSample(ids, [-0.1] * len(ids), self.generator.version)

    def restart(self, row):
        self.turn.pop(row, None)

    def finish(self, row):
        self.generator.finished.append(row)

    def close(self):
        self.generator.closed_sessions += 1


def play(
    pool, starts, script, *, chat=None, max_turns=10, max_context=1000, stop_ids=None, **options
):
    """Plays a script in a pool; returns the groups, the collector, the generator and the chat."""
    chat = chat or tiny.chat(instructions="")
    stop_ids = chat.stop_ids if stop_ids is None else stop_ids
    sampling = SamplingOptions(temperature=1.0, max_new_tokens=8, stop_ids=stop_ids)
    generator = ScriptedGenerator(script, chat.tokenizer)
    generator.load([], 4)
    collector = EpisodeCollector(pool, generator, chat, max_context=max_context, **options)
    return (
        collector.collect(starts, max_turns=max_turns, sampling=sampling, noise="n"),
        collector,
        generator,
        chat,
    )


def collect(
    env_id,
    starts,
    script,
    *,
    chat=None,
    max_turns=10,
    max_context=1000,
    workers=2,
    timeout=60.0,
    **kwargs,
):
    """Plays a script in a new pool; keywords are those of the collector or the environment."""
    options = {name: kwargs.pop(name) for name in OPTIONS if name in kwargs}
    with EnvPool(
        env_id, len(starts), workers=workers, timeout=timeout, max_episode_steps=-1, **kwargs
    ) as pool:
        return play(
            pool, starts, script, chat=chat, max_turns=max_turns, max_context=max_context, **options
        )
