"""Environment variables that no HTTP client can use: one line names the variable."""

import pytest
from some import full

from agentgym_envs.envs.search.server import HTTPRetriever
from agentgym_envs.errors import ArgumentError
from agentgym_envs.models.apis import APIS
from agentgym_envs.models.connect import connect
from agentgym_envs.models.endpoint import ModelEndpoint

pytestmark = pytest.mark.usefixtures("provider_sdks")

FAR = "http://far.example/v1"
SECRET = "password-0123"


@pytest.fixture(autouse=True)
def _clean_environment(monkeypatch):
    for scheme in ("http", "https", "all", "no"):
        monkeypatch.delenv(f"{scheme}_proxy", raising=False)
        monkeypatch.delenv(f"{scheme}_proxy".upper(), raising=False)
    for name in ("SSL_CERT_FILE", "SSL_CERT_DIR"):
        monkeypatch.delenv(name, raising=False)
    for api in APIS.values():
        monkeypatch.setenv(api.api_key_env, "key")


def clients(url):
    """Returns functions that make a client, one for each API, and the search environment's."""
    made = [
        lambda api=api: connect(ModelEndpoint(model="m", api=api, base_url=url)) for api in APIS
    ]
    return [*made, lambda: HTTPRetriever(url)]


def refused(url):
    """Returns the only message with which all clients are refused."""
    messages = set()
    for make in clients(url):
        with pytest.raises(ArgumentError) as caught:
            make()
        messages.add(str(caught.value))
    (message,) = messages
    assert "\n" not in message
    assert SECRET not in message
    return message


@pytest.mark.parametrize("variable", ["ALL_PROXY", "http_proxy", *full("all_proxy", "HTTPS_PROXY")])
@pytest.mark.parametrize(
    ("address", "fault"),
    [
        (f"socks://me:{SECRET}@h:1080", "the scheme socks://"),
        ("socks4://h:1080", "the scheme socks4://"),
        ("ftp://h:1080", "the scheme ftp://"),
        (f"http://me:{SECRET}@h:port", "no address"),
        ("http://", "no address"),
    ],
)
def test_a_proxy_that_cannot_be_used(variable, address, fault, monkeypatch):
    monkeypatch.setenv(variable, address)
    message = refused(FAR)
    assert f"the environment variable {variable} " in message
    assert fault in message
    for make in clients("http://127.0.0.1:9/v1"):
        make()  # no proxy is used for this machine


def test_a_socks_proxy_needs_a_package(monkeypatch):
    monkeypatch.setattr("importlib.util.find_spec", lambda name: None)
    monkeypatch.setenv("ALL_PROXY", "socks5://h:1080")
    assert 'python -m pip install "socksio"' in refused(FAR)


def test_proxies_that_can_be_used_or_are_not(monkeypatch):
    monkeypatch.setenv("ALL_PROXY", "h:1080")
    monkeypatch.setenv("HTTPS_PROXY", "HTTP://me:word@h:1080")
    for make in clients(FAR):
        make()
    monkeypatch.setenv("ALL_PROXY", "socks://h:1080")
    monkeypatch.setenv("NO_PROXY", "*")
    for make in clients(FAR):
        make()


@pytest.mark.parametrize("url", [FAR, "http://127.0.0.1:9/v1"])
@pytest.mark.parametrize(
    ("variable", "kind"),
    [
        ("SSL_CERT_FILE", "missing"),
        ("SSL_CERT_FILE", "text"),
        ("SSL_CERT_FILE", "folder"),
        ("SSL_CERT_DIR", "missing"),
        ("SSL_CERT_DIR", "text"),
    ],
)
def test_certificates_that_cannot_be_read(variable, kind, url, monkeypatch, tmp_path):
    (tmp_path / "text").write_text("no certificate")
    (tmp_path / "folder").mkdir()
    monkeypatch.setenv(variable, str(tmp_path / kind))
    message = refused(url)
    assert f"the environment variable {variable} names no certificates: " in message
    assert str(tmp_path / kind) in message
