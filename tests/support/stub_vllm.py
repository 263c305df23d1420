"""A vLLM server for tests, with real sockets; its tokens depend on the seed of a request only."""

import json
import select
import threading
import time
from contextlib import suppress
from http.server import BaseHTTPRequestHandler
from pathlib import Path

from safetensors.torch import load_file
from stub_server import StubServer

from agentgym_envs.tasks import stable_hash

TINY = {
    "dtype": "torch.float32",
    "logprobs_mode": "processed_logprobs",
    "max_model_len": 512,
}
"""What a server tells about ``tiny.model()``."""


class StubVLLM:
    """Context manager that serves on a local port.

    Args:
        port: 0: a free one.
        model: changes to the description of the served model.
        vocabulary: of the served model.
        dev: whether the calls for developers are there.
    """

    def __init__(self, *, port=0, model=None, vocabulary=300, dev=True):
        self.model = TINY | (model or {})
        self.vocabulary = vocabulary
        self.dev, self.weights, self.version = dev, {}, "default"
        self.requests, self.refusal, self.healthy, self.cut = [], None, True, 0
        self.hangups = 0  # requests whose connection is closed without an answer
        self.dying, self.free = False, threading.Event()  # not set: requests wait
        self.free.set()
        self._server = StubServer(("127.0.0.1", port), _Handler)
        self._server.stub = self
        self.port = self._server.server_address[1]
        self.url = f"http://127.0.0.1:{self.port}"

    def __enter__(self):
        threading.Thread(target=self._server.serve_forever, args=(0.01,), daemon=True).start()
        return self

    def __exit__(self, *error):
        self.die()

    def die(self):
        """Ends all connections, those that wait too."""
        self.dying = True
        self.free.set()
        self._server.shutdown()
        self._server.server_close()

    def arrived(self, count):
        """Waits until so many requests have arrived."""
        self._wait(lambda: len(self.requests) >= count)

    def cancelled(self, count):
        """Waits until so many requests, which waited, were cut off by the other side."""
        self._wait(lambda: self.cut >= count)

    def _wait(self, condition):
        end = time.monotonic() + 10
        while not condition():
            assert time.monotonic() < end, f"{len(self.requests)} requests, {self.cut} cut off"
            time.sleep(0.005)


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def log_message(self, *args):
        pass

    def do_GET(self):
        stub = self.server.stub
        if self.path == "/health":
            self.answer(200 if stub.healthy else 503)
        elif stub.dev and self.path.startswith("/server_info"):
            self.answer(200, {"vllm_config": {"model_config": stub.model}})
        else:
            self.answer(404, {"detail": "Not Found"})

    def do_POST(self):
        stub = self.server.stub
        body = self.rfile.read(int(self.headers.get("Content-Length") or 0))
        body = json.loads(body) if body else None
        if self.path == "/inference/v1/generate":
            self.generate(stub, body)
        elif body and body.get("method") == "get_model_inspection":
            shape = f"embedding_dim=32, org_vocab_size={stub.vocabulary}, tp_size=1"
            self.answer(200, {"results": [f"Qwen2ForCausalLM(\n  VocabParallelEmbedding({shape})"]})
        elif stub.refusal:
            self.answer(*stub.refusal)
        else:
            if self.path == "/collective_rpc":
                assert body["method"] == "reload_weights"
                stub.weights = {}
                for file in sorted(Path(body["kwargs"]["weights_path"]).glob("*.safetensors")):
                    stub.weights |= load_file(file)
            elif self.path == "/update_weight_version":
                stub.version = body["new_version"]
            self.answer(200, {"results": [None]})

    def generate(self, stub, body):
        if stub.hangups:
            stub.hangups -= 1
            self.close_connection = True
            return
        stub.requests.append(body)
        while not stub.free.wait(0.01):
            if select.select([self.connection], [], [], 0)[0]:  # nothing but an end can come
                stub.cut += 1
                self.close_connection = True
                return
        if stub.dying:
            self.close_connection = True
            return
        seed = body["sampling_params"]["seed"]
        ids = [10 + stable_hash(f"{seed} {place}") % 80 for place in range(3)]
        content = [{"token_id": token, "logprob": -token / 100} for token in ids]
        choice = {
            "token_ids": ids,
            "finish_reason": "length",
            "logprobs": {"content": content},
            "weight_versions": [{"version": stub.version, "start": 0, "end": 3}],
        }
        self.answer(200, {"choices": [choice]})

    def answer(self, status, body=None):
        data = b"" if body is None else json.dumps(body).encode()
        with suppress(OSError):  # the other side can have closed the connection
            self.send_response(status)
            self.send_header("Content-Length", str(len(data)))
            self.end_headers()
            self.wfile.write(data)
