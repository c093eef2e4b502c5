"""Access: the host a request is for, the page and the proxy it comes from, and the key it carries."""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Mapping, MutableMapping
from ipaddress import IPv4Address, IPv4Network, IPv6Address, IPv6Network, ip_address
from typing import TYPE_CHECKING, Any

from msgspec import Struct
from msgspec.structs import replace

from polymnia.errors import Fault
from polymnia.keys import KeyFile
from polymnia.operation import EVERYTHING, Grant, Quota
from polymnia.transports.errors import Refusal
from polymnia.transports.rpc import ClientLink, Connection, Server

if TYPE_CHECKING:
    from polymnia.transports.web.connection import ActiveRequest
    from polymnia.transports.web.oauth import Tokens

METRICS = "/metrics"
_LONGEST = 200  # characters of a project name, as everywhere
_LOCAL = ("127.0.0.1", "localhost", "[::1]")
_PREFIX = re.compile(r"(/[A-Za-z0-9._~-]+)+")
_SECURE = {"http": "https", "ws": "wss"}

Network = IPv4Network | IPv6Network
_Scope = Mapping[str, Any]


class Principal(Struct, frozen=True):
    """An authenticated caller: the key ("" where none is needed), its rights, and the address."""

    key: str = ""
    grant: Grant = EVERYTHING
    address: str = ""
    user: str | None = None  # the name of the key, or the subject of the token
    account: str | None = None  # the same with its kind, as the history records it
    project: str | None = None  # named in the URL of the request
    metrics: bool = False  # whether it may read the metrics
    manage: bool = False  # whether it may make and revoke keys
    calls: int | None = None  # a minute, if they are limited

    @property
    def caller(self) -> str:
        """Whose calls count together, over all sessions: those of a key, or of an address."""
        return f"key {self.key}" if self.key else f"address {self.address}"

    def same(self, other: Principal) -> bool:
        """Whether this is the same key with the same rights; the address may differ."""
        same_rights = (self.grant, self.manage, self.calls) == (other.grant, other.manage, other.calls)
        return self.key == other.key and same_rights and self.project == other.project

    def connection(self, server: Server, link: ClientLink) -> Connection:
        """A connection for this caller, limited to what the key allows."""
        memory = server.memory
        if self.grant != EVERYTHING or self.project is not None:
            memory = memory.limited(self.grant, self.project)
        return Connection(server, link, memory, user=self.user, account=self.account)


class Authenticator:
    """Identifies the bearer of a token: a key of the file, or a token of the authorization server, if there is one.

    As long as neither is configured, everybody is admitted.
    """

    def __init__(self, keys: KeyFile, tokens: Tokens | None = None) -> None:
        self._keys = keys
        self._tokens = tokens
        self.renew: Callable[[], None] | None = None if tokens is None else tokens.renew
        self._anybody = Principal(manage=True)

    def __call__(self, token: str | None, *, renewed: bool = True) -> Principal | None:
        """The bearer of a token, or of none; None if it grants nothing.

        Raises Outdated if its issuer should be asked for new keys first (``renew``).
        """
        if self._tokens is None and not self._keys.used:
            return self._anybody
        if token is None:
            return None
        key = self._keys.find(token)
        if key is None:
            return None if self._tokens is None else self._tokens(token, renewed=renewed)
        if key.expired:
            return None
        quota = None
        if key.memories is not None or key.texts is not None:
            quota = Quota(key.memories, key.texts, f"polymnia keys set {key.id} --max-{{what}} N")
        grant = Grant(None if key.projects is None else frozenset(key.projects), key.write, quota)
        return Principal(
            key.id,
            grant,
            calls=key.calls,
            user=key.user or key.name,
            account=f"key {key.name} ({key.id})",
            metrics=key.metrics,
            manage=key.manage and key.projects is None and key.write,
        )


class Gate:
    """Checks every request before anything else does.

    ``hosts`` are the names this server answers to (with a port, or ``name:*`` for any), ``origins`` the pages that may
    call it besides its own. ``who`` identifies keys; without it no key is required. ``challenge`` is sent to callers
    without a key. ``log`` gets the reason when keys cannot be checked.
    """

    def __init__(
        self,
        *,
        hosts: Collection[str],
        origins: Collection[str],
        who: Authenticator | None,
        challenge: str = "Bearer",
        log: Callable[[str, str], None] | None = None,
    ) -> None:
        self._hosts = frozenset(host.lower() for host in hosts)
        self.origins = frozenset(origin.lower() for origin in origins)
        self.who = who
        self._challenge = challenge
        self._log = log
        self._logged = ""  # the last reason logged why keys cannot be checked

    def check_place(self, active: ActiveRequest) -> bytes | None:
        """Refuse a request for a foreign host or from a foreign page; returns the page's origin, if any.

        A page of another site can make a browser send requests here, but not with a name of ours (DNS rebinding).
        """
        scope, headers = active.scope, active.headers
        host = headers.get(b"host", b"").decode("latin-1").lower()
        origin = headers.get(b"origin")
        if len(headers) != len(scope["headers"]):  # a header was repeated
            given = [name for name, _ in scope["headers"]]
            host = host if given.count(b"host") == 1 else ""
            origin = origin if given.count(b"origin") <= 1 else b"several"
        if host not in self._hosts and not self._with_port(host) and not _is_own_address(scope, host):
            hint = "Use an address of this server, or have its operator name the host in allowed_hosts."
            raise Refusal(421, "This server does not answer to that host name (setting allowed_hosts)", hint=hint)
        if origin is None:
            return None
        page = origin.decode("latin-1").lower()
        scheme = "https" if scope.get("scheme") in ("https", "wss") else "http"
        if page not in self.origins and page != f"{scheme}://{host}":
            hint = "Have the operator of the server name the origin in allowed_origins."
            raise Refusal(403, "Pages of that origin may not call this server (setting allowed_origins)", hint=hint)
        return origin

    def admit(self, active: ActiveRequest, *, renewed: bool = True) -> Principal:
        """Authenticate a request by the key it carries, or refuse it; raises Outdated if ``who`` is to be renewed."""
        scope = active.scope
        address = str((scope.get("client") or ("",))[0])
        project = _project(scope)
        if self.who is None:
            return Principal(address=address, project=project)
        given = active.headers.get(b"authorization")
        if given is not None and sum(name == b"authorization" for name, _ in scope["headers"]) > 1:
            given = None
        kind, _, token = (given or b"").decode("latin-1").partition(" ")
        try:
            principal = self.who(token.strip() if kind.lower() == "bearer" else None, renewed=renewed)
        except Fault as e:
            self._log_once(e.message)
            raise Refusal(503, "Keys cannot be checked now", [(b"retry-after", b"10")]) from None
        self._logged = ""
        if principal is None or (principal.grant.projects == frozenset() and not principal.metrics):
            text = "A key is needed: Authorization: Bearer KEY" if given is None else "This key opens nothing here"
            made = "polymnia keys add NAME --access metrics" if scope["path"] == METRICS else "polymnia keys add"
            hint = f"Send a key that `{made}` has printed, in the header Authorization: Bearer KEY."
            wrong = "" if given is None or "=" not in self._challenge else ', error="invalid_token"'
            raise Refusal(401, text, [(b"www-authenticate", f"{self._challenge}{wrong}".encode())], hint=hint)
        self._check_right(scope["path"], principal)
        if project is not None and not principal.grant.sees(project):
            hint = "Name a project the key was made for, or ask whoever made it for one that opens this project."
            raise Refusal(403, f"This key does not open the project {project!r}", hint=hint)
        return replace(principal, address=address, project=project)

    def _check_right(self, path: str, principal: Principal) -> None:
        """Refuse a key that is not for this path: metrics need a right of their own."""
        if path == METRICS and not principal.metrics and principal.key:
            hint = "Make a key for it: polymnia keys add NAME --access metrics"
            raise Refusal(403, "This key lacks the right to read /metrics (access metrics)", hint=hint)
        if path != METRICS and principal.grant.projects == frozenset():
            hint = "Use a key that was made with --access read or --access write."
            raise Refusal(403, "This key reads /metrics and opens nothing else", hint=hint)

    def _log_once(self, text: str) -> None:
        """Log why keys cannot be checked; once, and not for every request."""
        if self._log is not None and text != self._logged:
            self._logged = text
            self._log("error", text)

    def still_admits(self, active: ActiveRequest) -> bool:
        """Whether an admitted caller would still be admitted, with the same rights."""
        try:
            return active.principal is None or self.admit(active).same(active.principal)
        except Refusal:
            return False

    def _with_port(self, host: str) -> bool:
        name, colon, port = host.rpartition(":")
        return bool(colon) and port.isdecimal() and f"{name}:*" in self._hosts


def _project(scope: _Scope) -> str | None:
    """The project named in the URL (``?project=NAME``), for tools that have no parameter for it."""
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


def _is_own_address(scope: _Scope, host: str) -> bool:
    """Whether a host is the very address the request came to, and not a name that was made to point here."""
    own = str((scope.get("server") or ("",))[0]).removeprefix("::ffff:")
    authority = f"[{own}]" if ":" in own else own
    return bool(own) and (
        host == authority or (host.startswith(f"{authority}:") and host[len(authority) + 1 :].isdecimal())
    )


def local_hosts() -> list[str]:
    """The names of the local machine, with any port."""
    return [f"{name}:*" for name in _LOCAL] + list(_LOCAL)


def trust_forwarded(scope: MutableMapping[str, Any], proxies: Collection[Network]) -> None:
    """Replace the address, host, scheme and path prefix of a trusted proxy by the client's own.

    Of several addresses the last that is not a trusted proxy counts: anybody can forge those before it.
    """
    if not _is_among(str((scope.get("client") or ("",))[0]), proxies):
        return
    forwarded: dict[bytes, list[str]] = {}
    for name, value in scope["headers"]:
        if name.startswith(b"x-forwarded-"):
            forwarded.setdefault(name, []).extend(part.strip() for part in value.decode("latin-1").split(","))
    hops = forwarded.get(b"x-forwarded-for", [])
    client = next((hop for hop in reversed(hops) if not _is_among(hop, proxies)), None)
    if client is not None and _address(client) is not None:
        scope["client"] = (str(_address(client)), 0)
    if forwarded.get(b"x-forwarded-proto", [""])[-1].lower() in ("https", "wss"):
        scope["scheme"] = _SECURE.get(scope["scheme"], scope["scheme"])
    if host := forwarded.get(b"x-forwarded-host", [""])[-1]:
        others = [(name, value) for name, value in scope["headers"] if name != b"host"]
        scope["headers"] = [*others, (b"host", host.encode("latin-1"))]
    if _PREFIX.fullmatch(prefix := forwarded.get(b"x-forwarded-prefix", [""])[-1].rstrip("/")):
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
