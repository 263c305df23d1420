"""The generator ``vllm`` with vLLM itself; see ``tox run -e vllm``."""

import json
import os
import random
import socket
import subprocess
import sys
import time
from contextlib import ExitStack, closing

import httpx2
import numpy as np
import processes
import pytest
import small_run
import tiny
import torch
from raised import raises
from transformers import AutoModelForCausalLM

from agentgym_train import plugins
from agentgym_train.errors import ModelError
from agentgym_train.generators.probe import ask
from agentgym_train.protocols import SamplingOptions
from agentgym_train.testing import check_generator, generators

pytestmark = [
    pytest.mark.vllm,
    pytest.mark.timeout(900),
    pytest.mark.filterwarnings("ignore"),  # of vLLM, about its own insides
]
SAMPLING = SamplingOptions(temperature=1.0, max_new_tokens=6, stop_ids=frozenset({3}))
HEADS = {"hidden_size": 128, "num_attention_heads": 2, "num_key_value_heads": 1}
IN_PROCESS = {"name": "vllm", "kv_cache_gib": 0.25}


def build(folder, **options):
    plugin = plugins.make(plugins.GENERATOR, IN_PROCESS | options)
    return closing(plugin.build(tiny.context(str(folder))))


def test_it_is_what_the_trainer_needs():
    assert len(check_generator(IN_PROCESS)) == len(generators.CHECKS)


def test_the_process_is_left_as_it_was(tmp_path):
    tiny.model(**HEADS).save_pretrained(tmp_path)
    set_threads, names = torch.set_num_threads, ("LD_PRELOAD", "LOCAL_WORLD_SIZE")
    environment = [os.environ.get(name) for name in names]
    for seed in (torch.manual_seed, random.seed, np.random.seed):
        seed(5)
    expected = float(torch.rand(1)), random.random(), np.random.rand()
    for seed in (torch.manual_seed, random.seed, np.random.seed):
        seed(5)
    with build(tmp_path):
        assert (float(torch.rand(1)), random.random(), np.random.rand()) == expected
        assert torch.set_num_threads is set_threads
        assert [os.environ.get(name) for name in names] == environment


@pytest.mark.parametrize("kind", ["qwen3", "llama"])
def test_other_architectures(tmp_path, kind):
    shape = HEADS | ({"head_dim": 64} if kind == "qwen3" else {})
    tiny.model(kind, **shape).save_pretrained(tmp_path)
    other = tiny.model(kind, seed=1, **shape).eval()
    with build(tmp_path) as generator:
        generator.load(other.named_parameters(), 1)
        prompt = [10, 20, 30]
        sample = ask(generator.session([5], SAMPLING), {0: prompt})[0]
    with torch.no_grad():
        logits_TV = other(torch.tensor([prompt + sample.ids])).logits[0]
    logp_TV = logits_TV.log_softmax(-1)[len(prompt) - 1 : -1]
    expected = logp_TV.gather(1, torch.tensor(sample.ids)[:, None])[:, 0].tolist()
    assert sample.logps == pytest.approx(expected, abs=1e-4)


def test_a_prefix_is_computed_once(tmp_path):
    tiny.model(**HEADS).save_pretrained(tmp_path)
    with build(tmp_path) as generator:
        session = generator.session([5], SAMPLING)
        cached = []
        step = generator.engine._engine.step

        def watched():
            outputs = step()
            cached.extend(output.num_cached_tokens for output in outputs)
            return outputs

        generator.engine._engine.step = watched
        ask(session, {0: list(range(10, 210))})
        ask(session, {0: [20]})
        assert cached[0] == 0
        assert cached[1] >= 192  # whole blocks of 32
        generator.load(tiny.model(seed=1, **HEADS).named_parameters(), 1)
        ask(session, {0: [20]})
        assert cached[2] == 0  # of other weights


def test_many_long_prompts_at_once_change_nothing(tmp_path):
    tiny.model(**HEADS).save_pretrained(tmp_path)
    prompts = {row: [10 + (row + i) % 200 for i in range(300)] for row in range(64)}
    with build(tmp_path) as generator:
        together = ask(generator.session(range(64), SAMPLING), prompts)
        alone = ask(generator.session(range(64), SAMPLING), {63: prompts[63]})
    assert len(together) == 64
    assert alone[63].ids == together[63].ids
    assert alone[63].logps == pytest.approx(together[63].logps, abs=1e-4)


def test_a_model_that_vllm_refuses_is_one_line(tmp_path):
    tiny.model().save_pretrained(tmp_path)  # heads of 8
    with raises(ModelError, "vLLM") as caught, build(tmp_path):
        pass
    assert "\n" not in str(caught.value)


def test_weights_that_vllm_does_not_take_are_named(tmp_path, monkeypatch):
    from vllm.model_executor.models.qwen2 import Qwen2ForCausalLM

    load = Qwen2ForCausalLM.load_weights

    def deaf(self, weights):
        return load(self, ((name, w) for name, w in weights if name != "model.norm.weight"))

    monkeypatch.setattr(Qwen2ForCausalLM, "load_weights", deaf)
    tiny.model(**HEADS).save_pretrained(tmp_path)
    with raises(ModelError, "'model.norm.weight'"), build(tmp_path):
        pass


def train(folder, generator, *arguments):
    path = small_run.write(
        folder,
        run={"folder": str(folder / "run"), "steps": 4, "save_every": 4},
        scratch={"hidden": 128, "heads": 2, "episodes": 60, "steps": 40, "turns": 8},
        generator=generator,
        engine={"lr": 1e-3},
    )
    command = [sys.executable, "-c", "from agentgym_train.cli import app; app()"]
    run = subprocess.run(
        [*command, "run", str(path), *arguments],
        env=processes.environment(),
        capture_output=True,
        text=True,
        check=False,
    )
    assert run.returncode == 0, run.stdout + run.stderr
    return [json.loads(line) for line in (folder / "run/metrics.jsonl").read_text().splitlines()]


def test_it_trains_with_one_process_and_with_two(tmp_path):
    runs = []
    for count in (1, 2):
        folder = tmp_path / str(count)
        folder.mkdir()
        runs.append(train(folder, IN_PROCESS, "--processes", str(count)))
        init = AutoModelForCausalLM.from_pretrained(folder / "run/init").state_dict()
        model = AutoModelForCausalLM.from_pretrained(folder / "run/model").state_dict()
        assert all(not torch.equal(init[name], model[name]) for name in init)
    for row in runs[0] + runs[1]:
        assert row["logp_drift"] < 1e-5
    assert runs[0][0]["grad_norm"] == pytest.approx(runs[1][0]["grad_norm"], rel=1e-3)


@pytest.fixture(scope="module")
def servers(tmp_path_factory):
    """Two servers with the model of ``check_generator``."""
    folder = tmp_path_factory.mktemp("served")
    generators._model(0).save_pretrained(folder)
    with ExitStack() as stack:
        running = [stack.enter_context(Served(folder)) for _ in range(2)]
        for server in running:
            server.wait()
        yield running


class Served:
    """A server of vLLM."""

    def __init__(self, folder):
        with socket.create_server(("127.0.0.1", 0)) as free:
            port = free.getsockname()[1]
        self.url = f"http://127.0.0.1:{port}"
        arguments = "--skip-tokenizer-init --dtype float32 --enforce-eager --max-model-len 512"
        arguments += " --no-enable-chunked-prefill --enable-scale-out"
        self.process = subprocess.Popen(
            [
                *(sys.executable, "-m", "vllm.entrypoints.openai.api_server"),
                *("--model", str(folder), "--port", str(port), *arguments.split()),
                *("--logprobs-mode", "processed_logprobs"),
            ],
            env=os.environ
            | {
                "VLLM_SERVER_DEV_MODE": "1",
                "VLLM_CPU_KVCACHE_SPACE": "1",
                "VLLM_NO_USAGE_STATS": "1",
                "VLLM_LOGGING_LEVEL": "ERROR",
            },
            start_new_session=True,
        )

    def __enter__(self):
        return self

    def __exit__(self, *error):
        self.kill()

    def kill(self):
        if self.process.poll() is None:
            os.killpg(self.process.pid, 9)
            self.process.wait()

    def wait(self):
        end = time.monotonic() + 300
        while time.monotonic() < end:
            assert self.process.poll() is None
            try:
                if httpx2.get(f"{self.url}/health", trust_env=False).status_code == 200:
                    return
            except httpx2.TransportError:
                time.sleep(0.5)
        raise AssertionError("the server does not start")


def test_servers_are_what_the_trainer_needs(servers, tmp_path):
    options = {
        "name": "vllm",
        "servers": [server.url for server in servers],
        "shared_folder": str(tmp_path / "shared"),
    }
    assert len(check_generator(options)) == len(generators.CHECKS)


def test_rows_of_a_server_that_is_killed_are_sampled_again(servers, tmp_path, caplog):
    generators._model(0).save_pretrained(tmp_path / "model")
    options = {
        "servers": [server.url for server in servers],
        "shared_folder": str(tmp_path / "shared"),
    }
    long = SamplingOptions(temperature=1.0, max_new_tokens=200, stop_ids=frozenset())
    prompts = {row: [10 + row] for row in range(16)}
    with build(tmp_path / "model", **options) as generator:
        undisturbed = ask(generator.session(range(16), long), prompts)
        session = generator.session(range(16), long)
        for row, ids in prompts.items():
            session.submit(row, ids)
        samples = session.poll(timeout=0.05)
        servers[1].kill()
        while samples.keys() != prompts.keys():
            samples |= session.poll()
    assert "is lost" in caplog.text
    assert {row: s.ids for row, s in samples.items()} == {
        row: s.ids for row, s in undisturbed.items()
    }
