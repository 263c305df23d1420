import pytest
from raised import raises

from agentgym_envs.errors import ArgumentError, UnknownName
from agentgym_envs.models.apis import APIS
from agentgym_envs.models.endpoint import ModelEndpoint


def test_each_api_has_its_server_and_its_key():
    found = {api: ModelEndpoint(model="m", api=api) for api in APIS}
    assert {api: (e.base_url, e.api_key_env) for api, e in found.items()} == {
        "chat": ("https://api.openai.com/v1", "OPENAI_API_KEY"),
        "responses": ("https://api.openai.com/v1", "OPENAI_API_KEY"),
        "anthropic": ("https://api.anthropic.com", "ANTHROPIC_API_KEY"),
        "google": ("https://generativelanguage.googleapis.com", "GEMINI_API_KEY"),
    }


def test_an_api_that_is_not_there():
    with raises(UnknownName, "'antropic'", "'anthropic'"):
        ModelEndpoint(model="m", api="antropic")


@pytest.mark.parametrize(
    ("key", "options", "message"),
    [
        ("sk-ant-api03-x", {}, "starts with sk-ant-, as Anthropic's keys do, and api.openai.com"),
        ("AIzaSyX", {"api": "responses"}, "starts with AIza, as Google's keys do, and api.openai"),
        (
            "sk-proj-x",
            {"api": "anthropic"},
            "starts with sk-proj-, as OpenAI's keys do, and api.an",
        ),
        ("sk-ant-x", {"api": "google"}, "and generativelanguage.googleapis.com is Google's server"),
        (
            "gsk_x",
            {"base_url": "https://openrouter.ai/api/v1"},
            "Groq's keys do, and openrouter.ai",
        ),
    ],
)
def test_a_key_of_another_provider_is_refused_and_not_repeated(monkeypatch, key, options, message):
    monkeypatch.setenv("K", key + "-rest-of-the-secret")
    endpoint = ModelEndpoint(model="m", api_key_env="K", **options)
    with pytest.raises(ArgumentError) as caught:
        endpoint.key()
    assert str(caught.value).startswith("the key in $K ")
    assert message in str(caught.value)
    assert "secret" not in str(caught.value)


@pytest.mark.parametrize(
    ("key", "options"),
    [
        ("sk-ant-x", {"base_url": "https://api.anthropic.com/v1"}),  # its chat completions
        ("AIzaX", {"base_url": "https://gateway.example/v1"}),
        ("sk-or-x", {"base_url": "https://openrouter.ai/api/v1"}),
        ("sk-123", {"api": "anthropic"}),
        ("any", {}),
    ],
)
def test_other_keys_are_taken(monkeypatch, key, options):
    monkeypatch.setenv("K", key)
    assert ModelEndpoint(model="m", api_key_env="K", **options).key() == key
