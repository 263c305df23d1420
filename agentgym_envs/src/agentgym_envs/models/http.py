"""The HTTP client that all APIs share, also through the SDKs."""

import json
import re
from typing import Any

import httpx2

from agentgym_envs.models.endpoint import ModelEndpoint
from agentgym_envs.network import http_options
from agentgym_envs.surrogates import whole_json

CONNECT = 10.0  # time limit of a connection, in seconds
# A surrogate in JSON: as an escape, or as the bytes that UTF-8 forbids.
_SURROGATE = re.compile(rb"\\u[dD][89a-fA-F]|\xed[\xa0-\xbf]")
_ENCODED = ("content-encoding", "content-length", "transfer-encoding")


class HttpClient(httpx2.AsyncClient):
    """A client whose answers hold no half of a surrogate pair, so no SDK and no file sees one.

    Args:
        endpoint: the server.
        connections: the largest number of connections.

    Raises:
        ArgumentError: an environment variable names a proxy or certificates that cannot be used.
    """

    def __init__(self, endpoint: ModelEndpoint, connections: int):
        super().__init__(
            timeout=httpx2.Timeout(endpoint.timeout, connect=min(CONNECT, endpoint.timeout)),
            limits=httpx2.Limits(
                max_connections=connections, max_keepalive_connections=connections
            ),
            **http_options(endpoint.host),
        )

    async def send(
        self, request: httpx2.Request, *, stream: bool = False, **options: Any
    ) -> httpx2.Response:
        """Sends a request; see ``httpx2``. A stream is not changed."""
        answer = await super().send(request, stream=stream, **options)
        return answer if stream else _whole(answer)


def _whole(answer: httpx2.Response) -> httpx2.Response:
    """Returns an answer without halves of surrogate pairs in its JSON data."""
    if not _SURROGATE.search(answer.content):
        return answer
    try:
        found = json.loads(answer.content)
        clean = whole_json(found)
    except (ValueError, RecursionError):  # not JSON
        return answer
    if clean is found:
        return answer
    headers = [(name, text) for name, text in answer.headers.multi_items() if name not in _ENCODED]
    made = httpx2.Response(
        answer.status_code,
        headers=headers,
        content=json.dumps(clean, ensure_ascii=False).encode(),
        request=answer.request,
        extensions=answer.extensions,
    )
    made.elapsed = answer.elapsed
    return made
