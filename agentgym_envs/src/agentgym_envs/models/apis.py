"""The APIs that a model can be asked through, and which provider a key belongs to."""

import os
from dataclasses import dataclass


@dataclass(frozen=True, kw_only=True)
class ApiDefaults:
    """The defaults of an API."""

    title: str
    base_url: str
    base_url_env: str
    """The environment variable that replaces ``base_url``."""
    api_key_env: str
    url_ends: str
    """How the path of a base URL ends."""
    extra: str = ""
    """The extra that installs the SDK; empty if none is needed."""
    package: str = "httpx2"
    """The package that sends requests."""


_OPENAI = {
    "base_url": "https://api.openai.com/v1",
    "base_url_env": "OPENAI_BASE_URL",
    "api_key_env": "OPENAI_API_KEY",
    "url_ends": "most end in /v1",
}
APIS = {
    "chat": ApiDefaults(title="chat completions", **_OPENAI),
    "responses": ApiDefaults(
        title="OpenAI's Responses API", extra="openai", package="openai", **_OPENAI
    ),
    "anthropic": ApiDefaults(
        title="Anthropic's Messages API",
        base_url="https://api.anthropic.com",
        base_url_env="ANTHROPIC_BASE_URL",
        api_key_env="ANTHROPIC_API_KEY",
        url_ends="the SDK adds /v1",
        extra="anthropic",
        package="anthropic",
    ),
    "google": ApiDefaults(
        title="Google's Gemini API",
        base_url="https://generativelanguage.googleapis.com",
        base_url_env="GOOGLE_GEMINI_BASE_URL",
        api_key_env="GEMINI_API_KEY",
        url_ends="the SDK adds /v1",
        extra="google",
        package="google-genai",
    ),
}
# Beginnings of keys, and the host that they are for.
_KEYS = {
    "sk-ant-": ("Anthropic", "api.anthropic.com"),
    "sk-proj-": ("OpenAI", "api.openai.com"),
    "sk-or-": ("OpenRouter", "openrouter.ai"),
    "AIza": ("Google", "generativelanguage.googleapis.com"),
    "gsk_": ("Groq", "api.groq.com"),
    "xai-": ("xAI", "api.x.ai"),
}
_HOSTS = {host: owner for owner, host in _KEYS.values()}


def url_from_environment(api: str) -> str:
    """Returns the base URL of an API's environment variable; empty without one."""
    return os.environ.get(APIS[api].base_url_env, "") if api in APIS else ""


def stranger(key: str, host: str) -> str:
    """Returns why a key cannot be for a host; empty if its beginning shows nothing wrong.

    Gateways and private servers take any key.
    """
    start, owner = next(
        ((start, owner) for start, (owner, _) in _KEYS.items() if key.startswith(start)), ("", "")
    )
    if not owner or _HOSTS.get(host, owner) == owner:
        return ""
    return f"starts with {start}, as {owner}'s keys do, and {host} is {_HOSTS[host]}'s server"
