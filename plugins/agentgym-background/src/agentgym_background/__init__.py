"""A generator that samples in a background thread while environments are at work."""

from collections.abc import Iterable, Sequence
from concurrent.futures import FIRST_COMPLETED, Future, ThreadPoolExecutor, wait
from dataclasses import dataclass

import torch
from torch import Tensor
from transformers import AutoModelForCausalLM, PreTrainedModel

from agentgym_train import (
    Generator,
    GeneratorContext,
    GeneratorPlugin,
    Sample,
    Sampling,
    Session,
    choose,
    drop,
    make_room,
    noise,
    take_over,
)


@dataclass(frozen=True, kw_only=True)
class Background(GeneratorPlugin):
    """Builds the generator; has no options."""

    def build(self, context: GeneratorContext) -> "BackgroundGenerator":
        """Loads a copy of the model."""
        model = AutoModelForCausalLM.from_pretrained(context.model_folder, dtype=context.dtype)
        return BackgroundGenerator(model.to(context.device).eval().requires_grad_(False))


class BackgroundGenerator(Generator):
    """Samples rows one by one, in the order of their submission."""

    in_background = True

    def __init__(self, model: PreTrainedModel):
        self._model, self._version = model, 0

    def load(self, weights: Iterable[tuple[str, Tensor]], version: int) -> None:
        """Copies the weights."""
        take_over(self._model, weights)
        self._version = version

    def session(self, seeds: Sequence[int], sampling: Sampling) -> "BackgroundSession":
        """Starts one episode per seed."""
        return BackgroundSession(self._model, self._version, seeds, sampling)

    def sleep(self) -> None:
        """Frees the memory of the weights."""
        drop(self._model)

    def wake(self) -> None:
        """Allocates the memory of the weights again."""
        make_room(self._model)


class BackgroundSession(Session):
    """Episodes in progress.

    The thread starts with the first submit and ends when the session is closed or dropped.
    """

    def __init__(
        self, model: PreTrainedModel, version: int, seeds: Sequence[int], sampling: Sampling
    ):
        self._model, self._version, self._seeds, self._sampling = model, version, seeds, sampling
        self._history: dict[int, list[int]] = {row: [] for row in range(len(seeds))}
        self._turn = dict.fromkeys(self._history, 0)
        self._thread = ThreadPoolExecutor(max_workers=1, thread_name_prefix="background")
        self._submitted: dict[int, Future[Sample]] = {}
        self._closed = False

    def submit(self, row: int, ids: Sequence[int]) -> None:
        """Puts the row at the end of the thread's queue."""
        self._history[row] += ids
        self._submitted[row] = self._thread.submit(self._sample, row)

    def poll(self, timeout: float | None = None) -> dict[int, Sample]:
        """Returns the finished rows, or waits for the next one; raises errors of the thread."""
        wait(self._submitted.values(), timeout, return_when=FIRST_COMPLETED)
        done = [row for row, future in self._submitted.items() if future.done()]
        return {row: self._submitted.pop(row).result() for row in done}

    def restart(self, row: int) -> None:
        """Clears the history of a row."""
        self._history[row], self._turn[row] = [], 0

    def finish(self, row: int) -> None:
        """Removes a row."""
        del self._history[row], self._turn[row]

    def close(self) -> None:
        """Ends the thread after the token that it samples."""
        self._closed = True
        self._thread.shutdown(cancel_futures=True)

    @torch.inference_mode()
    def _sample(self, row: int) -> Sample:
        """Samples an action in the thread; recomputes the whole history for each token."""
        sample, history = Sample([], [], self._version), self._history[row]
        while len(sample.ids) < self._sampling.max_new_tokens:
            logits_1V = self._model(
                input_ids=torch.tensor([history], device=self._model.device), use_cache=False
            ).logits[:, -1]
            point = noise(self._seeds[row], self._turn[row], len(sample.ids))
            (token,), (logp,) = choose(logits_1V, [point], temperature=self._sampling.temperature)
            history.append(token)
            sample.ids.append(token)
            sample.logps.append(logp)
            if token in self._sampling.stop_ids or self._closed:
                break
        self._turn[row] += 1
        return sample
