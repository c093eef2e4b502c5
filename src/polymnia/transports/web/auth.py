"""Who may come in: the host a request is for, the page it comes from, and the key it carries."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping
from typing import Any, Protocol

from msgspec import Struct
from msgspec.json import encode
from msgspec.structs import replace

from polymnia.errors import Fault
from polymnia.operation import EVERYTHING, Grant
from polymnia.transports.requests import Link
from polymnia.transports.rpc import Connection, Server

__all__ = ["METRICS", "Gate", "Refusal", "Visitor", "Who", "headers_of", "local_hosts"]

METRICS = "/metrics"
_LONGEST = 200  # characters of the name of a project, as everywhere

_KINDS = {
    401: "unauthorized", 403: "forbidden", 404: "not_found", 408: "timeout", 409: "conflict", 413: "too_large",
    429: "rate_limited", 500: "internal_error", 503: "unavailable",
}  # fmt: skip
_LOCAL = ("127.0.0.1", "localhost", "[::1]")


class Visitor(Struct, frozen=True):
    """Somebody who was let in: by which key ("" where none is needed), to what, and from where."""

    key: str = ""
    grant: Grant = EVERYTHING
    address: str = ""
    user: str | None = None  # the name of the key, or the subject of the token
    account: str | None = None  # the same with what it is, as the history tells it
    project: str | None = None  # the one the address of the request names
    metrics: bool = False  # whether they may read the figures of the server

    @property
    def caller(self) -> str:
        """Whose calls they are, however many sessions they come by: those of a key, or of an address."""
        return f"key {self.key}" if self.key else f"address {self.address}"

    def same(self, other: Visitor) -> bool:
        """Whether somebody came by the same key and may do the same; they may have moved meanwhile."""
        return self.key == other.key and self.grant == other.grant and self.project == other.project

    def connection(self, server: Server, link: Link) -> Connection:
        """A connection of this visitor, who uses the memory as the key allows."""
        memory = server.memory
        if self.grant != EVERYTHING or self.project is not None:
            memory = memory.limited(self.grant, self.project)
        return Connection(server, link, memory, user=self.user, account=self.account)


class Refusal(Exception):
    """A request that is refused before any tool sees it: a status, headers, and a JSON-RPC error as the body.

    ``code`` is the status where none is given, ``id`` that of the message where it has been read.
    """

    def __init__(
        self,
        status: int,
        message: str,
        headers: Collection[tuple[bytes, bytes]] = (),
        *,
        code: int | None = None,
        data: Mapping[str, Any] | None = None,
        hint: str | None = None,
        id: Any = None,
    ) -> None:
        super().__init__(message)
        self.status = status
        self.message = message
        self.headers = list(headers)
        self._code = status if code is None else code
        kind = _KINDS.get(status, "bad_request")
        self._data: dict[str, Any] = {"error_type": kind, "details": {"status": status}, **(data or {})}
        if hint is not None:
            self._data["suggestions"] = [hint]
        self._id = id

    @property
    def body(self) -> bytes:
        """What the answer says."""
        error = {"code": self._code, "message": self.message, "data": self._data}
        return encode({"jsonrpc": "2.0", "id": self._id, "error": error})


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
            hint = "Use an address of this server, or have its operator name the host in allowed_hosts."
            raise Refusal(421, "This server does not answer to that host name (setting allowed_hosts)", hint=hint)
        if not origins:
            return None
        origin = origins[0].decode("latin-1").lower()
        scheme = "https" if scope.get("scheme") in ("https", "wss") else "http"
        if len(origins) > 1 or not (origin in self.origins or origin == f"{scheme}://{host}"):
            hint = "Have the operator of the server name the origin in allowed_origins."
            raise Refusal(403, "Pages of that origin may not call this server (setting allowed_origins)", hint=hint)
        return origins[0]

    def admit(self, scope: Mapping[str, Any]) -> Visitor:
        """Let somebody in by the key a request carries, or refuse them."""
        address = str((scope.get("client") or ("",))[0])
        project = _project(scope)
        if self.who is None:
            return Visitor(address=address, project=project)
        given = [value for name, value in scope["headers"] if name == b"authorization"]
        kind, _, token = given[0].decode("latin-1").partition(" ") if len(given) == 1 else ("", "", "")
        try:
            visitor = self.who(token.strip() if kind.lower() == "bearer" else None)
        except Fault as e:
            self._tell(e.message)
            raise Refusal(503, "Keys cannot be checked now", [(b"retry-after", b"10")]) from None
        self._told = ""
        if visitor is None or (visitor.grant.projects == frozenset() and not visitor.metrics):
            lacks = len(given) != 1
            text = "A key is needed: Authorization: Bearer KEY" if lacks else "This key opens nothing here"
            made = "polymnia keys add NAME --access metrics" if scope["path"] == METRICS else "polymnia keys add"
            hint = f"Send a key that `{made}` has printed, in the header Authorization: Bearer KEY."
            raise Refusal(401, text, [(b"www-authenticate", self._challenge.encode())], hint=hint)
        self._check_right(scope["path"], visitor)
        if project is not None and not visitor.grant.sees(project):
            hint = "Name a project the key was made for, or ask whoever made it for one that opens this project."
            raise Refusal(403, f"This key does not open the project {project!r}", hint=hint)
        return replace(visitor, address=address, project=project)

    def _check_right(self, path: str, visitor: Visitor) -> None:
        """Refuse a key that is not for this address: figures about the server have a right of their own."""
        if path == METRICS and not visitor.metrics and visitor.key:
            hint = "Make a key for it: polymnia keys add NAME --access metrics"
            raise Refusal(403, "This key lacks the right to read /metrics (access metrics)", hint=hint)
        if path != METRICS and visitor.grant.projects == frozenset():
            hint = "Use a key that was made with --access read or --access write."
            raise Refusal(403, "This key reads /metrics and opens nothing else", hint=hint)

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


def _project(scope: Mapping[str, Any]) -> str | None:
    """The project an address names (``?project=NAME``), for tools that have no parameter for it."""
    query: bytes = scope.get("query_string", b"")
    if b"project=" not in query:
        return None
    from urllib.parse import parse_qs

    try:
        named = parse_qs(query.decode("ascii"), keep_blank_values=True, errors="strict").get("project")
    except ValueError:
        named = []
    if named is None:
        return None
    if len(named) != 1 or not named[0].strip() or len(named[0]) > _LONGEST or "\0" in named[0]:
        text = f"project in the address is the name of one project, 1 to {_LONGEST} characters in UTF-8"
        raise Refusal(400, text, hint="Give it once, as in /mcp?project=NAME.")
    return named[0]


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
