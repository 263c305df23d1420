"""Shared network helpers."""

import ipaddress


def is_local(host: str) -> bool:
    """Returns whether a host is this machine.

    Requests to it use no proxy, and its servers seldom require a key.
    """
    try:
        address = ipaddress.ip_address(host)
    except ValueError:
        return host == "localhost" or host.endswith(".localhost")
    return address.is_loopback or address.is_unspecified
