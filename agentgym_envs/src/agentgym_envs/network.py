"""Shared network helpers."""

import functools
import importlib.util
import ipaddress
import os
import ssl
from typing import Any
from urllib.request import getproxies

from agentgym_envs.errors import ArgumentError

PROXIES = ("http", "https", "socks5", "socks5h")
"""Schemes of the proxies that ``httpx2`` can use."""


def is_local(host: str) -> bool:
    """Returns whether a host is this machine.

    Requests to it use no proxy, and its servers seldom require a key.
    """
    try:
        address = ipaddress.ip_address(host)
    except ValueError:
        return host == "localhost" or host.endswith(".localhost")
    return address.is_loopback or address.is_unspecified


def http_options(host: str) -> dict[str, Any]:
    """Returns the arguments of an ``httpx2`` client that depend on environment variables.

    Raises:
        ArgumentError: a variable names a proxy or certificates that cannot be used.
    """
    local = is_local(host)
    if not local:
        _check_proxies()
    variables = (os.environ.get(name, "") for name in ("SSL_CERT_FILE", "SSL_CERT_DIR"))
    return {"trust_env": not local, "verify": _certificates(*variables)}


def _check_proxies() -> None:
    """Rejects a proxy that ``httpx2`` cannot use. The error does not repeat it: it can hold a key.

    Raises:
        ArgumentError: names the variable.
    """
    proxies = getproxies()
    if "*" in (name.strip() for name in proxies.get("no", "").split(",")):
        return
    for scheme in ("http", "https", "all"):
        if (address := proxies.get(scheme)) and (fault := _fault(address)):
            variable = next(
                (n for n in (f"{scheme}_proxy", f"{scheme}_proxy".upper()) if n in os.environ),
                f"{scheme}_proxy",
            )
            raise ArgumentError(f"the environment variable {variable} {fault}, or unset it")


def _fault(address: str) -> str:
    """Returns why an address cannot be that of a proxy, and what to do; empty if it can."""
    import httpx2

    scheme, mark, _ = address.partition("://")
    if not mark:
        scheme, address = "http", f"http://{address}"
    if scheme.lower() not in PROXIES:
        known = ", ".join(f"{name}://" for name in PROXIES)
        return f"names a proxy with the scheme {scheme}://: use one of {known}"
    try:
        host = httpx2.URL(address).host
    except httpx2.InvalidURL:
        host = ""
    if not host:
        return "holds no address of a proxy: write it as http://host:port"
    if scheme.lower().startswith("socks") and importlib.util.find_spec("socksio") is None:
        return 'names a SOCKS proxy, which needs a package: run python -m pip install "socksio"'
    return ""


@functools.cache
def _certificates(file: str, folder: str) -> ssl.SSLContext:
    """Loads the trusted certificates once: those of two variables, or else the system's.

    Args:
        file: the variable ``SSL_CERT_FILE``.
        folder: the variable ``SSL_CERT_DIR``, which counts if the other one is empty. It can name
            several folders.

    Raises:
        ArgumentError: a variable names no certificates.
    """
    import httpx2

    if folder and not file and not any(map(os.path.isdir, folder.split(os.pathsep))):
        raise _no_certificates("SSL_CERT_DIR", folder, "no such folder")
    try:
        return httpx2.create_ssl_context()
    except OSError as error:  # ssl.SSLError is one
        if not file:
            raise
        raise _no_certificates("SSL_CERT_FILE", file, error.strerror or str(error)) from None


def _no_certificates(variable: str, value: str, reason: str) -> ArgumentError:
    return ArgumentError(
        f"the environment variable {variable} names no certificates: {value}: {reason}. Correct"
        " it, or unset it to use the system's"
    )
