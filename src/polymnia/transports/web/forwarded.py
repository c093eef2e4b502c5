"""Requests that come through a proxy: what a named one says of its client (``X-Forwarded-*``) is believed."""

from __future__ import annotations

import re
from collections.abc import Collection
from ipaddress import IPv4Address, IPv4Network, IPv6Address, IPv6Network, ip_address

from polymnia.transports.web.asgi import Scope

__all__ = ["Network", "believe"]

Network = IPv4Network | IPv6Network

_PREFIX = re.compile(r"(/[A-Za-z0-9._~-]+)+")
_SECURE = {"http": "https", "ws": "wss"}


def believe(scope: Scope, proxies: Collection[Network]) -> None:
    """Put the client's own address, host, scheme and path prefix in place of the proxy's, if it is one of ours.

    Of several addresses the last that is no proxy of ours counts: anybody can write what stands before it.
    """
    if not _is_among(str((scope.get("client") or ("",))[0]), proxies):
        return
    said: dict[bytes, list[str]] = {}
    for name, value in scope["headers"]:
        if name.startswith(b"x-forwarded-"):
            said.setdefault(name, []).extend(part.strip() for part in value.decode("latin-1").split(","))
    hops = said.get(b"x-forwarded-for", [])
    client = next((hop for hop in reversed(hops) if not _is_among(hop, proxies)), None)
    if client is not None and _address(client) is not None:
        scope["client"] = (str(_address(client)), 0)
    if said.get(b"x-forwarded-proto", [""])[-1].lower() in ("https", "wss"):
        scope["scheme"] = _SECURE.get(scope["scheme"], scope["scheme"])
    if host := said.get(b"x-forwarded-host", [""])[-1]:
        kept = [(name, value) for name, value in scope["headers"] if name != b"host"]
        scope["headers"] = [*kept, (b"host", host.encode("latin-1"))]
    if _PREFIX.fullmatch(prefix := said.get(b"x-forwarded-prefix", [""])[-1].rstrip("/")):
        scope["root_path"] = prefix


def _is_among(text: str, proxies: Collection[Network]) -> bool:
    address = _address(text)
    return address is not None and any(address in network for network in proxies)


def _address(text: str) -> IPv4Address | IPv6Address | None:
    """An address as a proxy writes it: bare, in brackets, or with a port."""
    if text.startswith("["):
        text = text[1:].partition("]")[0]
    elif text.count(":") == 1:
        text = text.partition(":")[0]
    try:
        found = ip_address(text)
    except ValueError:
        return None
    return getattr(found, "ipv4_mapped", None) or found
