"""The check for authors of generators: ours passes it, and it names every planted fault."""

from dataclasses import dataclass, replace
from types import SimpleNamespace

import pytest
import torch
from raised import raises
from transformers import AutoModelForCausalLM

from agentgym_envs.errors import BrokenPlugin, ConformanceError
from agentgym_train import plugins
from agentgym_train.errors import ModelError
from agentgym_train.generators.hf import HF, HFSession
from agentgym_train.protocols import GeneratorSession
from agentgym_train.testing import check_generator, generators


def test_ours_passes():
    assert len(check_generator("hf")) == len(generators.CHECKS) == 12


def test_all_that_are_shipped_are_checked():
    found = plugins.discover(plugins.GENERATOR.group)
    ours = [n for n, p in found.items() if plugins.distribution(p) == plugins.OURS]
    assert ours == ["hf", "vllm"]  # vllm: tests/train/generators/test_vllm.py


def test_the_global_noise_is_left_alone():
    torch.manual_seed(5)
    expected = torch.rand(1)
    torch.manual_seed(5)
    generators._model(0)
    assert torch.rand(1) == expected


@dataclass(frozen=True)
class Planted:
    """A plugin with a fault in its generator or in its sessions."""

    kind: type = HF
    sessions: type = HFSession
    label: str = "Planted"

    def build(self, context):
        generator = self.kind(
            AutoModelForCausalLM.from_pretrained(context.model_folder, dtype=context.dtype)
        )
        if self.sessions is not HFSession:
            start = lambda seeds, sampling: self.sessions(  # noqa: E731
                generator._model, generator.method, seeds, sampling, generator._version
            )
            generator.session = start
        return generator


def poll(change):
    """Returns sessions that change each sample."""

    class Changed(HFSession):
        def poll(self, timeout=None):
            return {row: change(sample) for row, sample in super().poll(timeout).items()}

    return Changed


def start(change):
    """Returns sessions that start with other arguments."""

    class Changed(HFSession):
        def __init__(self, model, method, seeds, sampling, version=0):
            super().__init__(model, method, *change(seeds, sampling), version)

    return Changed


class Another(HFSession):
    def poll(self, timeout=None):
        return {row + 1: sample for row, sample in super().poll(timeout).items()}


class Twice(HFSession):
    last = {}

    def poll(self, timeout=None):
        self.last = super().poll(timeout) or self.last
        return self.last


class Unready(HFSession):
    def poll(self, timeout=None):
        return super().poll(timeout) or None


class NoiseByPlace(HFSession):
    def poll(self, timeout=None):
        if self._submitted:
            self._seeds = {row: place for place, row in enumerate(self._submitted)}
        return super().poll(timeout)


class LogpsByPlace(HFSession):
    place = {}

    def poll(self, timeout=None):
        self.place = self.place | {row: number for number, row in enumerate(self._submitted)}
        return {
            row: replace(s, logps=[logp - self.place[row] / 100 for logp in s.logps])
            for row, s in super().poll(timeout).items()
        }


class NoiseByCompany(HFSession):
    def poll(self, timeout=None):
        before, self._seeds = self._seeds, [seed + len(self._submitted) for seed in self._seeds]
        samples = super().poll(timeout)
        self._seeds = before
        return samples


class NoiseByArrival(HFSession):
    polls = 0

    def poll(self, timeout=None):
        self._turn, self.polls = dict.fromkeys(self._turn, self.polls), self.polls + 1
        return super().poll(timeout)


class NoiseByRow(HFSession):
    def poll(self, timeout=None):
        self._seeds = range(len(self._seeds))
        return super().poll(timeout)


class OneAtATime(HFSession):
    """Loses rows that are submitted while a row is sampled."""

    def poll(self, timeout=None):
        first = dict(list(self._submitted.items())[:1])
        self._submitted = first if len(self._history) == generators.ROWS else self._submitted
        return super().poll(timeout)


class LosesWhatComesLate(HFSession):
    """Samples one row at a time; rows submitted in the meantime are lost."""

    busy = False

    def submit(self, row, ids):
        if not self.busy:
            super().submit(row, ids)

    def poll(self, timeout=None):
        waiting = dict(list(self._submitted.items())[1:])
        self._submitted = dict(list(self._submitted.items())[:1])
        samples = super().poll(timeout)
        self._submitted, self.busy = waiting, bool(waiting)
        return samples


class GoesOnWithNoise(HFSession):
    def restart(self, row):
        turn = self._turn[row]
        super().restart(row)
        self._turn[row] = turn


class GoesOnWithHistory(HFSession):
    def restart(self, row):
        self._turn[row] = 0


class RestartsAll(HFSession):
    def restart(self, row):
        for each in self._turn:
            super().restart(each)


class RestartsNothingNew(HFSession):
    def restart(self, row):
        assert self._history[row]
        super().restart(row)


class KeepsAllTokens(HFSession):
    def rewind(self, row, length):
        if length == 0:  # restart works
            super().rewind(row, length)


class ReusesKeysByCount(HFSession):
    """Has keys and values of as many tokens as before, though they are others."""

    def rewind(self, row, length):
        del self._history[row][length:]

    def submit(self, row, ids):
        super().submit(row, ids)
        tokens = len(self._history[row]) + len(ids)
        self._memory.rewind(row, min(self._memory.known[row], tokens - 1))


class RewindsOnce(HFSession):
    rewound = frozenset()

    def rewind(self, row, length):
        if row not in self.rewound:
            super().rewind(row, length)
        self.rewound |= {row} if length else set()


class ForgetsAnotherToken(HFSession):
    def rewind(self, row, length):
        super().rewind(row, max(length - 1, 0))


class ForgetsTheRow(HFSession):
    def rewind(self, row, length):
        super().rewind(row, 0)


class RepeatsNoise(HFSession):
    def rewind(self, row, length):
        super().rewind(row, length)
        self._turn[row] = max(self._turn[row] - 1, 0)


class SkipsNoise(HFSession):
    def rewind(self, row, length):
        super().rewind(row, length)
        self._turn[row] += 1


class RewindsOthers(HFSession):
    def rewind(self, row, length):
        for each, history in self._history.items():
            super().rewind(each, min(length, len(history)))


class RewindsNothingNew(HFSession):
    def rewind(self, row, length):
        assert self._history[row]
        super().rewind(row, length)


class NeedsNewTokens(HFSession):
    def submit(self, row, ids):
        assert ids
        super().submit(row, ids)


class TakesAnyLength(HFSession):
    def rewind(self, row, length):
        super().rewind(row, max(0, min(length, len(self._history[row]))))


class LacksTheLengthByAnotherError(HFSession):
    def rewind(self, row, length):
        assert length >= 0
        super().rewind(row, length)


class OnlyGrows(HFSession):
    rewind = GeneratorSession.rewind

    def restart(self, row):
        HFSession.rewind(self, row, 0)
        self._turn[row] = 0


class FinishesNothingNew(HFSession):
    def finish(self, row):
        assert self._history[row]
        super().finish(row)


class MovesUp(HFSession):
    def finish(self, row):
        super().finish(row)
        self._seeds = [*self._seeds[:row], *self._seeds[row + 1 :], 0]


class BeginsAllAgain(HFSession):
    def finish(self, row):
        super().finish(row)
        self._turn = dict.fromkeys(self._turn, 0)


class IgnoresTime(HFSession):
    def poll(self, timeout=None):
        return super().poll()


class ClosesOnce(HFSession):
    closed = False

    def close(self):
        assert not self.closed
        self.closed = True


class BreaksAtClose(HF):
    def close(self):
        del self._model


class Versionless(HF):
    def load(self, weights, version):
        super().load(weights, 0)


class Deaf(HF):
    def load(self, weights, version):
        self._version = version


class Alias(HF):
    def load(self, weights, version):
        for name, weight in weights:
            self._model.get_parameter(name).data = weight
        self._version = version


def tolerant(change):
    """Returns generators that load other weights than those passed in."""

    class Changed(HF):
        def load(self, weights, version):
            own = dict(self._model.named_parameters())
            super().load(change(own, dict(weights)).items(), version)

    return Changed


class Terse(HF):
    def load(self, weights, version):
        own = dict(self._model.named_parameters())
        for name, weight in weights:
            own[name].copy_(weight)


class LosesBuffers(HF):
    def sleep(self):
        super().sleep()
        for buffer in self._model.buffers():
            buffer.zero_()


class StaysAsleep(HF):
    def wake(self):
        pass


class WakesOnce(HF):
    woken = False

    def wake(self):
        if not self.woken:
            super().wake()
        self.woken = True


SESSIONS = [
    (
        "actions",
        start(lambda seeds, sampling: (seeds, replace(sampling, stop_ids=frozenset()))),
        "continues after a stop token",
    ),
    (
        "actions",
        start(lambda seeds, sampling: (seeds, replace(sampling, max_new_tokens=9))),
        "1 to 6 tokens and one log-probability",
    ),
    (
        "actions",
        poll(lambda s: replace(s, ids=s.ids[:-1] or s.ids, logps=s.logps[:-1] or s.logps)),
        "before 6 tokens without a sto",
    ),
    ("actions", poll(lambda s: replace(s, ids=tuple(s.ids))), "not a list of token ids"),
    ("actions", poll(lambda s: replace(s, logps=s.logps[1:])), "one log-probability per token"),
    ("actions", poll(lambda s: replace(s, ids=torch.tensor(s.ids))), "not a list of token ids"),
    (
        "actions",
        poll(lambda s: replace(s, ids=[i + 100 for i in s.ids])),
        "not a list of token ids",
    ),
    (
        "actions",
        poll(lambda s: replace(s, logps=[float("nan")] * len(s.ids))),
        "not a finite float of at most 0",
    ),
    ("actions", poll(lambda s: replace(s, version=1)), "version is not 0"),
    ("actions", Another, "poll returned the rows"),
    ("actions", Twice, r"poll returned \{.*\} although nothing was submitted"),
    ("actions", Unready, "poll returned None although nothing|submit or poll raised"),
    (
        "logps",
        start(lambda seeds, sampling: (seeds, replace(sampling, temperature=1.0))),
        "differ from those of the weights of ver",
    ),
    ("logps", GoesOnWithHistory, "its log-probabilities differ"),
    ("logps", KeepsAllTokens, "its log-probabilities differ"),
    (
        "frequencies",
        start(lambda seeds, sampling: ([seed % 20 for seed in seeds], sampling)),
        r"episodes begin \d+ times",
    ),
    ("reproducible", NoiseByPlace, "where rows are submitted backwards"),
    ("reproducible", LogpsByPlace, "where rows are submitted backwards"),
    ("reproducible", NoiseByCompany, "where rows are played one after another"),
    ("reproducible", NoiseByArrival, "where rows are played one after another"),
    ("reproducible", NoiseByRow, "where the row is alone"),
    ("reproducible", OneAtATime, "but poll returned the rows"),
    (
        "reproducible",
        LosesWhatComesLate,
        "None where rows are submitted again as soon as they are polled",
    ),
    ("restarts", RestartsAll, "where other rows were restarted"),
    ("restarts", GoesOnWithNoise, "where the row was restarted"),
    ("restarts", GoesOnWithHistory, "where the row was restarted"),
    (
        "restarts",
        RestartsNothingNew,
        "restart of a row that was not yet submitted raised AssertionError",
    ),
    *(
        ("rewinds", kind, "where rows 0 and 2 were cut back .* keep the first length tokens")
        for kind in (
            KeepsAllTokens,
            ForgetsAnotherToken,
            ForgetsTheRow,
            RepeatsNoise,
            SkipsNoise,
            RewindsOthers,
        )
    ),
    ("rewinds", ReusesKeysByCount, "turn 2 of row 2 .* where rows 0 and 2 were cut back"),
    ("rewinds", RewindsOnce, "turn 3 of row 0 .* where rows 0 and 2 were cut back"),
    ("rewinds", NeedsNewTokens, "submit or poll raised AssertionError"),
    ("rewinds", RewindsNothingNew, "rewind to 0 of a row that was not yet submitted raised"),
    ("rewinds", TakesAnyLength, r"rewind\(1, -1\) of \d+ tokens was accepted; it must raise Val"),
    ("rewinds", LacksTheLengthByAnotherError, r"raised AssertionError\(.*\) instead of ValueError"),
    (
        "finishes",
        FinishesNothingNew,
        "finish of a row that was not yet submitted raised AssertionError",
    ),
    ("finishes", MovesUp, "where other rows were finished"),
    ("finishes", BeginsAllAgain, "where other rows were finished"),
    ("aborts", IgnoresTime, "poll with a timeout of 0 returned"),
    ("aborts", ClosesOnce, "close of a session at work, or a second close raised AssertionError"),
]
GENERATORS = [
    ("loads", Versionless, "version is not 7"),
    ("loads", Deaf, "differ from those of the weights of version 7"),
    ("loads", Alias, "differ from those of the weights of version 7"),
    (
        "refuses",
        tolerant(lambda own, given: given and own | given),
        "load accepted weights of which one is missing",
    ),
    (
        "refuses",
        tolerant(
            lambda own, given: {
                n: own[n] if n in own and own[n].shape != w.shape else w for n, w in given.items()
            }
        ),
        "load accepted weights of which one is of another shape",
    ),
    (
        "refuses",
        tolerant(lambda own, given: {n: w for n, w in given.items() if n in own}),
        "load accepted weights of which one is unknown",
    ),
    ("refuses", Terse, "load accepted weights of which one is missing"),
    ("sleeps", LosesBuffers, "where it slept, woke and loaded"),
    ("sleeps", StaysAsleep, "load raised RuntimeError"),
    ("sleeps", WakesOnce, "load raised RuntimeError"),
    ("closes", BreaksAtClose, "close, or a second close raised AttributeError"),
]


def check(monkeypatch, name, planted):
    monkeypatch.setattr(plugins, "make", lambda kind, options: planted)
    monkeypatch.setattr(generators, "CHECKS", (getattr(generators, f"_{name}"),))
    check_generator("planted")


def some(faults):
    """Returns the faults; by default, every third one is planted."""
    return [
        pytest.param(*getattr(fault, "values", fault), marks=[pytest.mark.full] * (n % 3 > 0))
        for n, fault in enumerate(faults)
    ]


@pytest.mark.parametrize(("name", "sessions", "message"), some(SESSIONS))
def test_a_fault_planted_in_sessions_is_named(name, sessions, message, monkeypatch):
    with pytest.raises(ConformanceError, match=f"Planted: .*({message})"):
        check(monkeypatch, name, Planted(sessions=sessions))


@pytest.mark.parametrize(("name", "kind", "message"), some(GENERATORS))
def test_a_fault_planted_in_a_generator_is_named(name, kind, message, monkeypatch):
    with pytest.raises(ConformanceError, match=f"Planted: .*({message})"):
        check(monkeypatch, name, Planted(kind=kind))


def test_sessions_need_not_be_able_to_rewind(monkeypatch):
    monkeypatch.setattr(plugins, "make", lambda *_: Planted(sessions=OnlyGrows))
    monkeypatch.setattr(generators, "CHECKS", (generators._rewinds, generators._logps))
    no_rewind, logps = check_generator("planted")
    assert no_rewind == "rewind is not implemented, so conversations can only grow"
    assert "rewind" not in logps


def test_errors_of_another_kind_are_no_refusal(monkeypatch):
    class Raising(HF):
        def load(self, weights, version):
            try:
                super().load(weights, version)
            except ModelError as error:
                raise KeyError("nonsense") from error

    with raises(ConformanceError, "load raised KeyError('nonsense')", "ModelError"):
        check(monkeypatch, "refuses", Planted(kind=Raising))


def test_a_build_of_torch_for_an_accelerator_that_is_missing_uses_the_cpu(monkeypatch):
    """Such a build names the accelerator, also on a machine without one."""
    monkeypatch.setattr(torch.accelerator, "is_available", lambda: False)
    monkeypatch.setattr(torch.accelerator, "current_accelerator", lambda: torch.device("cuda"))

    class Elsewhere(Planted):
        def build(self, context):
            raise ModelError(f"on {context.device}")

    with pytest.raises(ModelError, match="on cpu"):
        check(monkeypatch, "refuses", Elsewhere())


def test_methods_that_are_missing_are_named(monkeypatch):
    hollow = SimpleNamespace(label="hollow", build=lambda *_: SimpleNamespace(load=print))
    with raises(
        BrokenPlugin, "'planted'", "in_background, method_name, session, sleep, wake, close"
    ):
        check(monkeypatch, "actions", hollow)
    monkeypatch.setattr(HF, "session", lambda *_: object())
    with raises(BrokenPlugin, "'planted'", "submit, poll, restart, rewind, finish, close"):
        check(monkeypatch, "actions", Planted())
