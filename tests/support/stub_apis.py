"""Servers that speak the Messages, Gemini and Responses APIs, with the failures of ``stub_model``.

with StubAnthropic([said("left")]) as model:    # answers in this order, repeats the last one
    Endpoint(model="stub", api=model.api, base_url=model.url)
"""

from collections.abc import Callable
from typing import Any

from stub_model import Behaviour, Request, StubModel, status


def raw(body: bytes, kind: str = "application/json") -> Behaviour:
    """Answers with status 200 and these bytes."""

    def behave(handler, request):
        handler.send_response(200)
        handler.send_header("Content-Type", kind)
        handler.send_header("Content-Length", str(len(body)))
        handler.end_headers()
        handler.wfile.write(body)

    return behave


def answer(body: dict[str, Any]) -> Behaviour:
    """Answers with this body."""
    return status(200, body=body)


class _Stub(StubModel):
    """A server of one API: ``asked`` has the requests for completions."""

    api = ""
    paths = ("", "")
    """Ends of the paths for a completion and for the list of models."""
    failure: Callable[[int, str], dict[str, Any]]

    @property
    def url(self) -> str:
        return super().url.removesuffix("/v1")

    @property
    def asked(self) -> list[Request]:
        return [request for request in self.requests if request.method == "POST"]

    def _behaviour(self, request: Request) -> Behaviour:
        if self.key is not None and self.key_of(request.headers) != self.key:
            return self.denied()
        complete, models = self.paths
        path = request.path.partition("?")[0]
        if (request.method, path) == ("GET", models):
            return self._listing()
        if (request.method, path) != ("POST", complete):
            return self.fault(404, "Not found.")
        if callable(self._script):
            return self._script(request)
        return self._script.pop(0) if len(self._script) > 1 else self._script[0]

    def _listing(self) -> Behaviour:
        return self.models if callable(self.models) else answer(self.listed(self.models))

    def denied(self) -> Behaviour:
        return self.fault(401, "invalid key")

    @staticmethod
    def key_of(headers: dict[str, str]) -> str:
        return headers.get("authorization", "").removeprefix("Bearer ")


class StubAnthropic(_Stub):
    api = "anthropic"
    paths = ("/v1/messages", "/v1/models")

    @staticmethod
    def fault(code, message, kind="invalid_request_error"):
        error = {"type": kind, "message": message}
        return status(code, body={"type": "error", "error": error, "request_id": "req_1"})

    @staticmethod
    def listed(names):
        rows = [
            {"type": "model", "id": n, "display_name": n, "created_at": "2026-01-01T00:00:00Z"}
            for n in names
        ]
        return {"data": rows, "has_more": False, "first_id": None, "last_id": None}

    @staticmethod
    def said(text=None, *, blocks=(), stop="end_turn", **usage):
        content = [*blocks, *([{"type": "text", "text": text}] if text else [])]
        return answer(
            {
                "id": "msg_1",
                "type": "message",
                "role": "assistant",
                "model": "stub-2026",
                "content": content,
                "stop_reason": stop,
                "stop_sequence": None,
                "usage": {"input_tokens": 4, "output_tokens": 2, **usage},
            }
        )

    @classmethod
    def called(cls, name, arguments):
        thought = {"type": "thinking", "thinking": "North.", "signature": "c2lnbmVk"}
        call = {"type": "tool_use", "id": "toolu_1", "name": name, "input": arguments}
        return cls.said(blocks=[thought, call], stop="tool_use")

    @classmethod
    def nothing(cls):
        return answer({"type": "message", "role": "assistant", "content": None})


class StubResponses(_Stub):
    api = "responses"
    paths = ("/v1/responses", "/v1/models")

    @property
    def url(self):
        return StubModel.url.fget(self)

    @staticmethod
    def fault(code, message, kind="invalid_request_error"):
        error = {"message": message, "type": kind, "param": None, "code": None}
        return status(code, body={"error": error})

    @staticmethod
    def listed(names):
        rows = [{"id": n, "object": "model", "created": 0, "owned_by": "stub"} for n in names]
        return {"object": "list", "data": rows}

    @staticmethod
    def said(text=None, *, items=(), state="completed", why=None, cached=0, **part):
        content = [{"type": "output_text", "text": text, "annotations": []}] if text else []
        message = {
            "type": "message",
            "id": "msg_1",
            "role": "assistant",
            "status": "completed",
            "content": [*content, *([part] if part else [])],
        }
        return answer(
            {
                "id": "resp_1",
                "object": "response",
                "created_at": 0,
                "model": "stub-2026",
                "status": state,
                "error": None,
                "incomplete_details": why and {"reason": why},
                "output": [*items, *([message] if message["content"] else [])],
                "parallel_tool_calls": True,
                "tool_choice": "auto",
                "tools": [],
                "usage": {
                    "input_tokens": 4,
                    "output_tokens": 2,
                    "total_tokens": 6,
                    "input_tokens_details": {"cached_tokens": cached, "cache_write_tokens": 0},
                    "output_tokens_details": {"reasoning_tokens": 0},
                },
            }
        )

    @classmethod
    def called(cls, name, arguments):
        thought = {
            "type": "reasoning",
            "id": "rs_1",
            "summary": [{"type": "summary_text", "text": "North."}],
            "encrypted_content": "c2VhbGVk",
        }
        call = {
            "type": "function_call",
            "id": "fc_1",
            "call_id": "call_1",
            "name": name,
            "arguments": cls.dumped(arguments),
            "status": "completed",
        }
        return cls.said(items=[thought, call])

    @staticmethod
    def dumped(arguments):
        inner = ", ".join(f'"{name}": "{value}"' for name, value in arguments.items())
        return f"{{{inner}}}"

    @classmethod
    def nothing(cls):
        return answer({"id": "resp_1", "object": "response", "status": "failed", "output": []})


class StubGoogle(_Stub):
    api = "google"
    paths = ("/v1/models/stub:generateContent", "/v1/models")

    @staticmethod
    def key_of(headers):
        return headers.get("x-goog-api-key", "")

    def denied(self):
        details = [{"@type": "type.googleapis.com/google.rpc.ErrorInfo", "reason": _NO_KEY}]
        error = {"code": 400, "message": "API key not valid.", "status": "INVALID_ARGUMENT"}
        return status(400, body={"error": {**error, "details": details}})

    @staticmethod
    def fault(code, message, kind="INVALID_ARGUMENT", details=()):
        error = {"code": code, "message": message, "status": kind, "details": list(details)}
        return status(code, body={"error": error})

    @staticmethod
    def listed(names):
        return {"models": [{"name": f"models/{name}", "displayName": name} for name in names]}

    @staticmethod
    def said(text=None, *, parts=(), stop="STOP", **usage):
        content = {"role": "model", "parts": [*parts, *([{"text": text}] if text else [])]}
        return answer(
            {
                "candidates": [{"content": content, "finishReason": stop, "index": 0}],
                "usageMetadata": {
                    "promptTokenCount": 4,
                    "candidatesTokenCount": 2,
                    "totalTokenCount": 6,
                    **usage,
                },
                "modelVersion": "stub-2026",
                "responseId": "r1",
            }
        )

    @classmethod
    def called(cls, name, arguments):
        thought = {"text": "North.", "thought": True}
        call = {"functionCall": {"name": name, "args": arguments}, "thoughtSignature": "c2lnbmVk"}
        return cls.said(parts=[thought, call])

    @classmethod
    def nothing(cls):
        return answer({"candidates": []})


_NO_KEY = "API_KEY_INVALID"
