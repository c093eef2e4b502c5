"""Who may come in: the host a request is for, the page it comes from, and the key it carries."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping
from typing import Any, Protocol

from msgspec import Struct
from msgspec.structs import replace

from polymnia.errors import Fault
from polymnia.operation import EVERYTHING, Grant, Memory

__all__ = ["Gate", "Refusal", "Visitor", "Who", "headers_of", "local_hosts"]

_LOCAL = ("127.0.0.1", "localhost", "[::1]")


class Visitor(Struct, frozen=True):
    """Somebody who was let in: by which key ("" where none is needed), to what, and from where."""

    key: str = ""
    grant: Grant = EVERYTHING
    address: str = ""

    @property
    def caller(self) -> str:
        """Whose calls they are, however many sessions they come by: those of a key, or of an address."""
        return f"key {self.key}" if self.key else f"address {self.address}"

    def same(self, other: Visitor) -> bool:
        """Whether somebody came by the same key and may do the same; they may have moved meanwhile."""
        return self.key == other.key and self.grant == other.grant

    def memory(self, memory: Memory) -> Memory:
        """The memory as this visitor may use it."""
        return memory if self.grant == EVERYTHING else memory.limited(self.grant)


class Refusal(Exception):
    """Somebody who is not let in, as a status, a sentence and headers; ``body`` where that says it otherwise."""

    def __init__(
        self, status: int, message: str, headers: Collection[tuple[bytes, bytes]] = (), body: bytes | None = None
    ) -> None:
        super().__init__(message)
        self.status = status
        self.message = message
        self.headers = list(headers)
        self.body = body


class Who(Protocol):
    """Tells whose key a text is."""

    def __call__(self, token: str | None) -> Visitor | None:
        """The visitor who brings a token, or none; None where that opens nothing."""


def headers_of(scope: Mapping[str, Any]) -> dict[bytes, bytes]:
    """The headers of a request, names in lower case; of one that came twice the last."""
    return dict(scope["headers"])


class Gate:
    """Looks at every request before anything else does.

    ``hosts`` are the names this server answers to (with a port, or ``name:*`` for any), ``origins`` the pages that may
    call it beside its own. ``who`` tells whose key it is; without it no key is asked for. ``challenge`` is what a
    caller without a key is told to bring. ``log`` hears when keys cannot be checked.
    """

    def __init__(
        self,
        *,
        hosts: Collection[str],
        origins: Collection[str],
        who: Who | None,
        challenge: str = "Bearer",
        log: Callable[[str, str], None] | None = None,
    ) -> None:
        self._hosts = frozenset(host.lower() for host in hosts)
        self.origins = frozenset(origin.lower() for origin in origins)
        self.who = who
        self._challenge = challenge
        self._log = log
        self._told = ""  # what the log has heard of keys that cannot be checked

    def check_place(self, scope: Mapping[str, Any]) -> bytes | None:
        """Refuse a request for a foreign host or from a foreign page; answers the page's origin, if any.

        A page of another site can make a browser send requests here, but not with a name of ours (DNS rebinding).
        """
        hosts: list[bytes] = []
        origins: list[bytes] = []
        for name, value in scope["headers"]:
            if name == b"host":
                hosts.append(value)
            elif name == b"origin":
                origins.append(value)
        host = hosts[0].decode("latin-1").lower() if len(hosts) == 1 else ""
        if host not in self._hosts and not self._with_port(host) and not _came_to(scope, host):
            raise Refusal(421, "This server does not answer to that host name (setting allowed_hosts)")
        if not origins:
            return None
        origin = origins[0].decode("latin-1").lower()
        if len(origins) > 1 or not (origin in self.origins or origin == f"http://{host}"):
            raise Refusal(403, "Pages of that origin may not call this server")
        return origins[0]

    def admit(self, scope: Mapping[str, Any]) -> Visitor:
        """Let somebody in by the key a request carries, or refuse them."""
        address = str((scope.get("client") or ("",))[0])
        if self.who is None:
            return Visitor(address=address)
        given = [value for name, value in scope["headers"] if name == b"authorization"]
        kind, _, token = given[0].decode("latin-1").partition(" ") if len(given) == 1 else ("", "", "")
        try:
            visitor = self.who(token.strip() if kind.lower() == "bearer" else None)
        except Fault as e:
            self._tell(e.message)
            raise Refusal(503, "Keys cannot be checked now", [(b"retry-after", b"10")]) from None
        self._told = ""
        if visitor is None or visitor.grant.projects == frozenset():
            lacks = len(given) != 1
            text = "A key is needed: Authorization: Bearer KEY" if lacks else "This key opens nothing here"
            raise Refusal(401, text, [(b"www-authenticate", self._challenge.encode())])
        return replace(visitor, address=address)

    def _tell(self, text: str) -> None:
        """Tell the operator why nobody comes in; once, and not for everybody who does not."""
        if self._log is not None and text != self._told:
            self._told = text
            self._log("error", text)

    def welcomes(self, scope: Mapping[str, Any], visitor: Visitor) -> bool:
        """Whether somebody who was let in would be let in again, to the same."""
        try:
            return self.admit(scope).same(visitor)
        except Refusal:
            return False

    def _with_port(self, host: str) -> bool:
        name, colon, port = host.rpartition(":")
        return bool(colon) and port.isdecimal() and f"{name}:*" in self._hosts


def _came_to(scope: Mapping[str, Any], host: str) -> bool:
    """Whether a host is the very address a request came to: no name that somebody else has made point here."""
    own = str((scope.get("server") or ("",))[0]).removeprefix("::ffff:")
    authority = f"[{own}]" if ":" in own else own
    return bool(own) and (
        host == authority or (host.startswith(f"{authority}:") and host[len(authority) + 1 :].isdecimal())
    )


def local_hosts() -> list[str]:
    """The names of this machine for itself, with any port."""
    return [f"{name}:*" for name in _LOCAL] + list(_LOCAL)
