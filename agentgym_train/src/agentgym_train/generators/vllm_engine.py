"""vLLM in this process; the only file that imports vLLM."""

import os
import random
from collections.abc import Collection, Iterable, Iterator
from contextlib import contextmanager

import numpy as np
import torch
from torch import Tensor
from transformers import AutoModelForCausalLM

from agentgym_train.errors import ModelError
from agentgym_train.generators.building_blocks import WeightNames
from agentgym_train.generators.requests import ActionRequest, RequestKey, SampledAction
from agentgym_train.protocols import GeneratorContext, SamplingOptions

SETTINGS = {
    "VLLM_ENABLE_V1_MULTIPROCESSING": "0",  # the engine runs in this process
    "VLLM_LOGGING_LEVEL": "ERROR",
    "VLLM_NO_USAGE_STATS": "1",
}
"""Environment variables that vLLM reads; they are set before it is imported."""
for name, value in SETTINGS.items():
    os.environ.setdefault(name, value)

from vllm import EngineArgs, SamplingParams  # noqa: E402
from vllm.sampling_params import RequestOutputKind  # noqa: E402
from vllm.v1.engine import core  # noqa: E402
from vllm.v1.engine.llm_engine import LLMEngine  # noqa: E402

# An engine would destroy torch's process groups at its end. The trainer and other engines share
# them.
core.cleanup_dist_env_and_memory = lambda: None

GIB = 2**30
ROWS = 256  # requests at a time, where the run has no limit
BLOCK = 32  # tokens of a block of the CPU's cache; only whole blocks are found again


class VLLMEngine:
    """An engine with a copy of the model.

    It starts with random weights and then loads the model's as it loads the policy's later. A
    weight that vLLM does not take then shows in the start-up probe.

    Args:
        context: the run.
        length: maximum number of tokens of a request.
        kv_cache_gib: memory of keys and values.

    Raises:
        ModelError: vLLM cannot run the model, or does not take all of its weights.
    """

    def __init__(self, context: GeneratorContext, length: int, *, kv_cache_gib: float):
        self._context, self._keys = context, dict[str, RequestKey]()
        model = AutoModelForCausalLM.from_pretrained(context.model_folder, dtype=context.dtype)
        self._names = WeightNames(model)
        try:
            with _unchanged():
                self._engine = LLMEngine.from_engine_args(_arguments(context, length, kv_cache_gib))
                self._try()
        except Exception as error:
            raise ModelError(
                f"vLLM cannot run {context.model_folder!r}: {_reason(error)}"
            ) from error
        before = self._sums()
        self.load(model.named_parameters(), 0)
        self._check_loaded(before)

    def _try(self) -> None:
        """Samples a token, since vLLM refuses some models only then."""
        sampling = SamplingOptions(temperature=1.0, max_new_tokens=1, stop_ids=frozenset())
        self.submit(RequestKey(0, 0), ActionRequest((0,), seed=0, sampling=sampling))
        while not self.receive(None):
            pass

    def submit(self, key: RequestKey, request: ActionRequest) -> None:
        """Adds a request to vLLM's scheduler."""
        sampling = SamplingParams(
            temperature=request.sampling.temperature,
            max_tokens=request.sampling.max_new_tokens,
            seed=request.seed,
            stop_token_ids=sorted(request.sampling.stop_ids),
            ignore_eos=True,  # only stop_ids stop
            logprobs=0,  # of sampled tokens only
            detokenize=False,
            output_kind=RequestOutputKind.FINAL_ONLY,
        )
        name = f"{key.session}-{key.row}"
        self._keys[name] = key
        (prompt,) = self._engine.renderer.render_cmpl([{"prompt_token_ids": list(request.ids)}])
        self._engine.add_request(name, prompt, sampling)

    def receive(self, timeout: float | None) -> dict[RequestKey, SampledAction]:
        """Samples one token of each running request."""
        actions = {}
        # On a CPU a compiler need not be there.
        stance = "force_eager" if self._context.device.type == "cpu" else "default"
        with torch.compiler.set_stance(stance):
            outputs = self._engine.step()
        for output in outputs:
            (answer,) = output.outputs
            ids = list(answer.token_ids)
            logps = [
                float(place[token].logprob)
                for token, place in zip(ids, answer.logprobs, strict=True)
            ]
            actions[self._keys.pop(output.request_id)] = SampledAction(ids, logps)
        return actions

    def abort(self, keys: Collection[RequestKey]) -> None:
        """Removes requests from the scheduler."""
        names = [name for key in keys if (name := f"{key.session}-{key.row}") in self._keys]
        for name in names:
            del self._keys[name]
        self._engine.abort_request(names)

    def load(self, weights: Iterable[tuple[str, Tensor]], version: int) -> None:
        """Copies weights, and forgets the keys and values of those before."""
        wrong: list[ModelError] = []

        def pairs() -> Iterator[tuple[str, Tensor]]:
            try:
                for names, weight in self._names.checked(weights):
                    # vLLM keeps the tensors until those of a whole layer have come.
                    copied = weight.to(self._context.device, self._context.dtype, copy=True)
                    for name in names:
                        yield name, copied
            except ModelError as error:
                wrong.append(error)  # vLLM ends what it began, and can load again

        self._engine.collective_rpc("reload_weights", kwargs={"weights_iterator": pairs()})
        self._engine.reset_prefix_cache()
        if wrong:
            raise wrong[0]

    def sleep(self) -> None:
        """Frees weights, keys and values. On a CPU vLLM cannot."""
        if self._context.device.type != "cpu":
            self._engine.sleep(level=2)

    def wake(self) -> None:
        """Allocates the memory again."""
        if self._context.device.type != "cpu":
            self._engine.wake_up()

    def close(self) -> None:
        """Frees the engine."""
        self._engine.engine_core.shutdown()
        del self._engine

    def _sums(self) -> dict[str, float]:
        """Returns the sum of each weight of vLLM's model."""

        def sums(worker: object) -> dict[str, float]:
            model = worker.model_runner.get_model()  # type: ignore[attr-defined]
            return {
                name: float(weight.detach().double().sum())
                for name, weight in model.named_parameters()
                if weight.numel()
            }

        found: list[dict[str, float]] = self._engine.collective_rpc(sums)
        return found[0]

    def _check_loaded(self, before: dict[str, float]) -> None:
        """Rejects a model of which vLLM ignored a weight: it is as random as before."""
        after = self._sums()
        if same := [name for name in before if after.get(name) == before[name]]:
            raise ModelError(
                f"vLLM did not load {len(same)} of its own weights, among them {same[0]!r}: it"
                f" knows the weights of {self._context.model_folder!r} by other names; use another"
                " generator"
            )


def _arguments(context: GeneratorContext, length: int, kv_cache_gib: float) -> EngineArgs:
    on_cpu = context.device.type == "cpu"
    # Several engines side by side, each with the device of its process.
    executor = "external_launcher" if context.distributed.size > 1 else None
    return EngineArgs(
        model=context.model_folder,
        skip_tokenizer_init=True,
        dtype=str(context.dtype).removeprefix("torch."),
        max_model_len=length,
        max_num_seqs=context.max_rows or ROWS,
        kv_cache_memory_bytes=int(kv_cache_gib * GIB),
        block_size=BLOCK if on_cpu else None,
        # After a part of a prompt, vLLM sets the noise of a request back, which fails on a CPU.
        enable_chunked_prefill=False if on_cpu else None,
        enforce_eager=on_cpu,
        enable_sleep_mode=not on_cpu,
        load_format="dummy",
        logprobs_mode="processed_logprobs",  # at the temperature
        generation_config="vllm",  # not the sampling options of the model's folder
        disable_log_stats=True,
        distributed_executor_backend=executor,
    )


@contextmanager
def _unchanged() -> Iterator[None]:
    """Restores what vLLM changes in the process when it starts: noise, threads, environment."""
    names = ("LD_PRELOAD", "LOCAL_WORLD_SIZE")
    environment = {name: os.environ.get(name) for name in names}
    python_noise, numpy_noise = random.getstate(), np.random.get_state()
    set_threads = torch.set_num_threads
    try:
        with torch.random.fork_rng():
            yield
    finally:
        random.setstate(python_noise)
        np.random.set_state(numpy_noise)
        torch.set_num_threads = set_threads
        for name, value in environment.items():
            os.environ.pop(name, None)
            if value is not None:
                os.environ[name] = value


def _reason(error: Exception) -> str:
    """Returns an error of vLLM in one line."""
    errors = getattr(error, "errors", None)  # of pydantic
    message = errors()[0]["msg"] if callable(errors) else str(error)
    return message.strip().split("\n")[0] or type(error).__name__
