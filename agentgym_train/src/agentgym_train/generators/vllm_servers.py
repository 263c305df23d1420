"""The engine over vLLM servers elsewhere: requests by HTTP, weights by files on a shared disk."""

import asyncio
import queue
import re
import shutil
import threading
import uuid
from collections.abc import Callable, Collection, Coroutine, Iterable, Iterator, Sequence
from concurrent.futures import Future
from functools import partial
from pathlib import Path
from typing import Any

from safetensors.torch import save_file
from torch import Tensor
from transformers import AutoModelForCausalLM, PreTrainedModel

from agentgym_envs.errors import AgentGymError
from agentgym_train.errors import ConfigError, ModelError
from agentgym_train.generators.building_blocks import WeightNames
from agentgym_train.generators.fleet import FleetServer, ServerError, ServerFleet
from agentgym_train.generators.requests import ActionRequest, RequestKey, SampledAction
from agentgym_train.protocols import GeneratorContext

SHARD = 4 * 2**30  # bytes of weights in a file, about
LOGPROBS = "processed_logprobs"
EMBEDDINGS = re.compile(r"embedding_dim=(?P<width>\d+), org_vocab_size=(?P<vocabulary>\d+)")
_in_use: set[str] = set()
"""Servers of the generators of this process. Two generators would overwrite their weights."""


class ServerEngine:
    """Samples with vLLM servers.

    The main process writes the weights and tells the servers to load them. Every process sends its
    own requests.

    Args:
        context: the run.
        urls: the servers; all have the same model.
        folder: a folder that the main process and the servers share.
        length: maximum number of tokens of a request.

    Raises:
        ConfigError: a server is not there, or serves another model, context or log-probabilities.
        ModelError: a server cannot load the weights.
    """

    def __init__(
        self, context: GeneratorContext, urls: Sequence[str], *, folder: Path, length: int
    ):
        self._distributed, self._folder, self._urls = context.distributed, folder, urls
        if twice := sorted(_in_use & set(urls)):
            raise ConfigError(
                f"generator.servers: {twice[0]} already samples for another model of this run; a"
                " server has one model, so frozen models need another generator"
            )
        self._loop = asyncio.new_event_loop()
        self._thread = threading.Thread(target=self._loop.run_forever, daemon=True, name="servers")
        self._thread.start()
        self._fleet = ServerFleet(urls, first=context.distributed.rank)
        self._futures: dict[RequestKey, Future[SampledAction]] = {}
        self._watch: Future[None] | None = None
        self._answers: queue.Queue[tuple[RequestKey, Future[SampledAction]]] = queue.Queue()
        _in_use.update(urls)
        try:
            self._begin(context, length)
        except BaseException:
            self.close()
            raise

    def _begin(self, context: GeneratorContext, length: int) -> None:
        """Checks the servers and has them load the initial weights."""
        self._watch = self._start(self._fleet.watch())
        model = None
        if self._distributed.is_main:  # the others need no copy
            model = AutoModelForCausalLM.from_pretrained(context.model_folder, dtype=context.dtype)
            self._names = WeightNames(model)
        self._on_main(lambda: self._wait(self._check(model, length)))
        self.load(model.named_parameters() if model else (), 0)

    def submit(self, key: RequestKey, request: ActionRequest) -> None:
        """Sends a request."""
        future = self._futures[key] = self._start(self._fleet.sample(key, request))
        future.add_done_callback(lambda done: self._answers.put((key, done)))

    def receive(self, timeout: float | None) -> dict[RequestKey, SampledAction]:
        """Waits for an answer; returns all that have arrived.

        Raises:
            ModelError: no server is left, or a server rejects a request.
        """
        actions: dict[RequestKey, SampledAction] = {}
        while True:
            try:
                key, future = self._answers.get(timeout=0 if actions else timeout)
            except queue.Empty:
                return actions
            if self._futures.get(key) is future:  # not aborted
                del self._futures[key]
                actions[key] = future.result()

    def abort(self, keys: Collection[RequestKey]) -> None:
        """Cancels requests; a server ends a request whose connection is closed."""
        for key in keys:
            if future := self._futures.pop(key, None):
                future.cancel()

    def load(self, weights: Iterable[tuple[str, Tensor]], version: int) -> None:
        """Writes the weights and has the servers load them, lost servers too.

        Raises:
            ModelError: a weight does not fit, a server cannot load them, or no server is left.
        """
        iterator = iter(weights)
        start = self._on_main(lambda: self._publish(iterator, version), then=iterator)
        self._fleet.start(*start)

    def sleep(self) -> None:
        """Does nothing: the servers have memory of their own."""

    def wake(self) -> None:
        """Does nothing."""

    def close(self) -> None:
        """Ends all requests and the thread."""
        _in_use.difference_update(self._urls)
        self.abort(list(self._futures))
        if self._watch:
            self._watch.cancel()
        self._wait(self._end())
        self._loop.call_soon_threadsafe(self._loop.stop)
        self._thread.join()
        self._loop.close()

    async def _end(self) -> None:
        # These are cancelled already. A connection's own tasks must not be: one that has not begun
        # would warn.
        others = asyncio.all_tasks() - {asyncio.current_task()}
        await asyncio.gather(*others, return_exceptions=True)
        await self._fleet.close()

    def _on_main(self, work: Callable[[], Any], *, then: Iterable[Any] = ()) -> Any:
        """Runs something in the main process; returns its result, or raises its error, in all.

        Args:
            work: what to run.
            then: is iterated to the end in all processes, after ``work``.
        """
        outcome: Any = None
        if self._distributed.is_main:
            try:
                outcome = work()
            except AgentGymError as error:
                outcome = error
            except OSError as error:
                outcome = ModelError(f"generator.shared_folder={str(self._folder)!r}: {error}")
        for _ in then:  # gathering a weight takes all processes
            pass
        outcome = self._distributed.gather(outcome)[0]
        if isinstance(outcome, Exception):
            raise outcome
        return outcome

    def _start(self, work: Coroutine[Any, Any, Any]) -> Future[Any]:
        return asyncio.run_coroutine_threadsafe(work, self._loop)

    def _wait(self, work: Coroutine[Any, Any, Any]) -> Any:
        future = self._start(work)
        try:
            return future.result()
        finally:
            future.cancel()  # an interrupt leaves no work behind

    async def _check(self, model: PreTrainedModel, length: int) -> None:
        await asyncio.gather(
            *(self._check_one(server, model, length) for server in self._fleet.servers)
        )

    async def _check_one(self, server: FleetServer, model: PreTrainedModel, length: int) -> None:
        call, inspect = partial(self._fleet.call, server), {"method": "get_model_inspection"}
        try:
            info = await call("GET", "/server_info?config_format=json")
            modules = await call("POST", "/collective_rpc", json=inspect)
        except ServerError as error:
            raise ConfigError(
                f"generator.servers: {server.url} does not answer ({error}); start the server"
            ) from error
        except ModelError as error:
            raise ConfigError(
                f"generator.servers: {server.url} has no /server_info; start it with"
                " VLLM_SERVER_DEV_MODE=1 in its environment"
            ) from error
        served, structure = info["vllm_config"]["model_config"], modules["results"][0]
        if wrong := misfit(served, structure, model=model, length=length):
            raise ConfigError(f"generator.servers: {server.url} {wrong}")

    def _publish(
        self, weights: Iterator[tuple[str, Tensor]], version: int
    ) -> tuple[str, list[str]]:
        """Writes the weights and has the servers load them.

        Returns:
            The name of the weights, and the servers that have them.
        """
        name = f"{version}-{uuid.uuid4().hex}"
        folder = self._folder / name
        try:
            write(folder, self._names, weights)
            return name, self._wait(self._load_all(folder, name))
        finally:
            shutil.rmtree(folder, ignore_errors=True)

    async def _load_all(self, folder: Path, name: str) -> list[str]:
        """Has all servers load weights; returns those that did, and takes out the others."""
        servers, loaded = self._fleet.servers, []
        results = await asyncio.gather(
            *(self._load_one(server, folder, name) for server in servers), return_exceptions=True
        )
        for server, error in zip(servers, results, strict=True):
            if error is None:
                loaded.append(server.url)
            elif isinstance(error, ServerError):
                self._fleet.lose(server, str(error))
            else:
                raise error
        if not loaded:
            raise ModelError(
                f"none of the {len(servers)} servers of the generator loads the weights; server"
                f" {servers[0].url}: {results[0]}"
            )
        return loaded

    async def _load_one(self, server: FleetServer, folder: Path, name: str) -> None:
        call = partial(self._fleet.call, server, "POST")
        reload = {"method": "reload_weights", "kwargs": {"weights_path": str(folder.resolve())}}
        await call("/collective_rpc", json=reload)
        await call("/reset_prefix_cache?reset_running_requests=true")
        await call("/update_weight_version", json={"new_version": name})


def misfit(served: dict[str, Any], structure: str, *, model: PreTrainedModel, length: int) -> str:
    """Returns why a server cannot sample for a run; empty if it can.

    Args:
        served: the server's settings of its model.
        structure: the modules of the server's model, as vLLM prints them.
        model: the policy's model.
        length: maximum number of tokens of a request.
    """
    ours = tuple(model.get_input_embeddings().weight.shape)
    if found := EMBEDDINGS.search(structure):
        theirs = int(found["vocabulary"]), int(found["width"])
        if theirs != ours:
            return (
                f"serves another model: its embeddings have the shape {theirs}, those of the run"
                f" {ours}"
            )
    dtype = str(model.dtype).removeprefix("torch.")
    if served["dtype"].removeprefix("torch.") != dtype:
        return f"computes in {served['dtype']}; start it with --dtype {dtype}"
    if served["logprobs_mode"] != LOGPROBS:
        return f"returns {served['logprobs_mode']}; start it with --logprobs-mode {LOGPROBS}"
    if served["max_model_len"] < length:
        return (
            f"takes {served['max_model_len']} tokens, but the run needs {length}; start it with"
            f" --max-model-len {length}, or lower model.max_context"
        )
    return ""


def write(folder: Path, names: WeightNames, weights: Iterable[tuple[str, Tensor]]) -> None:
    """Writes weights in files that fit into memory; a tied weight comes under all its names."""
    folder.mkdir(parents=True)
    shard: dict[str, Tensor] = {}
    size = number = 0
    for aliases, weight in names.checked(weights):
        for name in aliases:
            shard[name] = weight.detach().to("cpu", copy=True).contiguous()
            size += shard[name].nbytes
        if size >= SHARD:
            save_file(shard, folder / f"model-{number:05d}.safetensors")
            shard, size, number = {}, 0, number + 1
    save_file(shard, folder / f"model-{number:05d}.safetensors")
