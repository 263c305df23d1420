"""What everything that talks to a server agrees on."""

import ipaddress


def is_local(host: str) -> bool:
    """Says whether a host is this machine: proxies are not for it, and its servers seldom want a key."""
    try:
        address = ipaddress.ip_address(host)
    except ValueError:
        return host == "localhost" or host.endswith(".localhost")
    return address.is_loopback or address.is_unspecified
