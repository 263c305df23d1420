"""Makes the client for an endpoint's API."""

import importlib
from typing import Any

from agentgym_envs.models.endpoint import ModelEndpoint
from agentgym_envs.models.provider import ModelClient

# Imported on use: each SDK is an extra.
_CLIENTS = {
    "chat": "client:ChatClient",
    "responses": "responses:ResponsesClient",
    "anthropic": "anthropic:AnthropicClient",
    "google": "google:GoogleClient",
}


def connect(endpoint: ModelEndpoint, **options: Any) -> ModelClient:
    """Returns a client.

    Args:
        endpoint: the model and its server.
        **options: see :class:`~agentgym_envs.models.provider.ModelClient`.

    Raises:
        ArgumentError: an invalid key or option.
        MissingExtra: the API's SDK is not installed.
    """
    module, name = _CLIENTS[endpoint.api].split(":")
    kind = getattr(importlib.import_module(f"agentgym_envs.models.{module}"), name)
    client: ModelClient = kind(endpoint, **options)
    return client
