"""Serving over the network: authentication, host names, proxies, and the dialects on their paths."""

from __future__ import annotations

import errno
import os
import shlex
import socket
import time
from collections.abc import Callable
from ipaddress import ip_address, ip_network
from tempfile import TemporaryDirectory

from polymnia import __version__
from polymnia.app import default_store, key_file, local_folder, open_memory, policy, server
from polymnia.app.backups import BackupSchedule, running
from polymnia.dialects import explorer as explorer_dialect
from polymnia.engine.memory import Memory
from polymnia.engine.ports.shared import SharedState
from polymnia.engine.text.calendar import moment
from polymnia.importing import importing
from polymnia.models import JsonObject
from polymnia.settings import DIALECTS, BadSetting, Settings, duration, is_database
from polymnia.transports.log import Log
from polymnia.transports.server import Server
from polymnia.transports.web.application import Application
from polymnia.transports.web.auth import Authenticator, Gate, Network, local_hosts
from polymnia.transports.web.explorer import Explorer
from polymnia.transports.web.issuer import is_safe
from polymnia.transports.web.oauth import METADATA, Tokens
from polymnia.transports.web.peers import Peers
from polymnia.transports.web.serving import listening, private, serve
from polymnia.transports.web.shared_rates import SharedRateLimiter
from polymnia.transports.web.state import RateLimiter, ServerLimits, ServerState
from polymnia.transports.web.tls import Certificate
from polymnia.transports.web.workers import Workers

_LAST_PORT = 65535
_SHOWN_LIMITS = (
    "rate_limit", "rate_limit_session", "rate_limit_heavy", "rate_limit_explorer", "max_sessions", "max_connections",
    "max_message_bytes", "max_text_bytes", "max_name_bytes", "max_batch", "max_import_bytes", "max_project_memories",
    "max_project_texts",
)  # fmt: skip


def serve_http(chosen: Settings, ready: Callable[[str], None] | None = None) -> int:
    """Serve every dialect over the network until a signal arrives; ``ready`` is called with the address once open.

    Returns an exit code.
    """
    if chosen.port > _LAST_PORT:
        raise BadSetting(f"The port is {chosen.port}, but must be a number up to {_LAST_PORT}")
    schedule = _schedule(chosen)
    memory = open_memory(chosen, "network")
    servers = {}
    for name in dict.fromkeys((chosen.dialect, *DIALECTS)):  # the chosen one has the path without a name
        one = Settings({**chosen.values(), "dialect": name}, {})
        servers[name] = server(one, memory.acting(name, policy(one)), _hidden(chosen))
    limits = ServerLimits(
        body_bytes=chosen.max_message_bytes,
        sessions=chosen.max_sessions,
        session_idle=chosen.session_idle,
        connections=chosen.max_connections,
    )
    rates = chosen.rate_limit, chosen.rate_limit_session, chosen.rate_limit_heavy, chosen.rate_limit_explorer
    log = Log(chosen.log_level, "text" if chosen.log_format == "text" else "json")
    state = ServerState(limits, log, RateLimiter(*rates))
    if schedule is not None:
        about = "When the newest backup was made, in seconds since 1970; 0 if there is none."
        state.gauges["polymnia_backup_timestamp_seconds"] = about, lambda: schedule.newest
    tls = _certificate(chosen)
    tokens = _tokens(chosen, log)
    proxies = _proxies(chosen)
    address = _address(chosen.host)
    auth = _authenticator(chosen, address, tokens)
    challenge = "Bearer" if tokens is None else f'Bearer resource_metadata="{_origin_of(tokens.audience)}{METADATA}"'
    origins = _listed(chosen.allowed_origins)
    gate = Gate(hosts=_hosts(chosen, address), origins=origins, who=auth, challenge=challenge, log=state.log)
    try:
        listener = listening(address, chosen.port)
    except OSError as e:
        raise BadSetting(
            f"Cannot listen on {chosen.host}:{chosen.port}: {os.strerror(e.errno or 0)}\n{_advice(e, chosen)}"
        ) from None
    metadata = None if tokens is None else tokens.metadata()
    page = None if chosen.explorer == "off" else explorer(chosen, memory, state)

    def open() -> None:
        if ready is not None:
            ready(f"{_scheme(chosen)}://{_authority(_public_host(address, chosen.host), listener.getsockname()[1])}")

    if chosen.workers == 1 and not is_database(chosen.store):
        open()
        try:
            with running(memory.store, schedule, state.log.event):
                serve(Application(state, gate, servers, metadata, proxies, page), [listener], tls=tls)
        finally:
            memory.close()
        return 0

    def work(shared: SharedState, others: socket.socket, name: str, started: Callable[[], None]) -> None:
        peers = Peers(shared, state, servers)
        state.rates = SharedRateLimiter(*rates, shared, lambda: peers.processes, state.log)
        peers.join(name)
        try:
            with running(memory.store, schedule, state.log.event):
                serve(Application(state, gate, servers, metadata, proxies, page), [listener, others], started, tls)
        finally:
            memory.close()
            shared.close()

    if is_database(chosen.store):
        return _serve_among_others(chosen, work, state.log, open, listener)
    return _serve_together(chosen, work, state.log, open, listener)


def explorer(chosen: Settings, memory: Memory, state: ServerState) -> Explorer:
    """The explorer: its API, and the page that speaks it."""
    limits = {name: getattr(chosen, name) for name in _SHOWN_LIMITS}

    def figures() -> JsonObject:
        return {"server": {"started": started, "sessions": len(state.sessions)}, "limits": limits}

    started = moment(time.time_ns() // 1000)
    registry = explorer_dialect.registry(key_file(chosen), figures)
    one = Settings({**chosen.values(), "dialect": "native"}, {})
    served = Server(
        memory.acting("explorer", policy(one)), registry, version=__version__, max_nesting=chosen.max_nesting,
        hidden=_hidden(chosen),
    )  # fmt: skip
    return Explorer(served, os.path.join(os.path.dirname(os.path.dirname(__file__)), "explorer"))


def _serve_together(
    chosen: Settings,
    work: Callable[[SharedState, socket.socket, str, Callable[[], None]], None],
    log: Log,
    ready: Callable[[], None],
    listener: socket.socket,
) -> int:
    """Serve with several processes of this machine, which share a folder for as long as they run."""
    if not hasattr(os, "fork"):
        raise BadSetting(_NO_FORK)
    with importing():
        from polymnia.storage.sqlite.shared import SqliteSharedState

    with TemporaryDirectory(prefix="polymnia-", ignore_cleanup_errors=True) as folder:
        path = os.path.join(folder, "shared.db")
        shared = SqliteSharedState(path, idle=chosen.session_idle)
        shared.secret  # noqa: B018 - makes the file
        shared.close()  # no connection survives a fork

        def serve_one(started: Callable[[], None]) -> None:
            name = os.path.join(folder, f"{os.getpid()}.sock")
            with private(name) as others:
                work(SqliteSharedState(path, idle=chosen.session_idle), others, f"unix:{name}", started)

        return Workers(chosen.workers, serve_one, log).run(ready, listener.close)


def _serve_among_others(
    chosen: Settings,
    work: Callable[[SharedState, socket.socket, str, Callable[[], None]], None],
    log: Log,
    ready: Callable[[], None],
    listener: socket.socket,
) -> int:
    """Serve as one or several of the processes of a database, which may run on other machines too."""
    with importing():
        from polymnia.storage.postgres.shared import PostgresSharedState

    address = _address(chosen.host)
    name = chosen.peer_host or _public_host(address, address)

    def serve_one(started: Callable[[], None]) -> None:
        with listening(address, 0) as others:
            shared = PostgresSharedState(str(chosen.store), idle=chosen.session_idle)
            work(shared, others, _authority(name, others.getsockname()[1]), started)

    if chosen.workers == 1:
        serve_one(ready)
        return 0
    if not hasattr(os, "fork"):
        raise BadSetting(_NO_FORK)
    return Workers(chosen.workers, serve_one, log).run(ready, listener.close)


_NO_FORK = "Several processes (--workers) need an operating system that can fork, which this one cannot"


def _schedule(chosen: Settings) -> BackupSchedule | None:
    """When and where backups are made, if a folder is named for them."""
    every = duration(chosen.backup_every, "backup_every")
    if chosen.backup_dir is not None:
        return BackupSchedule(chosen.backup_dir, every, chosen.backup_keep)
    if given := [flag for flag in ("every", "keep") if chosen.sources[f"backup_{flag}"] != "default"]:
        raise BadSetting(f"--backup-{given[0]} makes no backups without a folder for them: --backup-dir FOLDER")
    return None


def _tokens(chosen: Settings, log: Log) -> Tokens | None:
    """The verifier of OAuth tokens, if an issuer is configured."""
    if chosen.oauth_issuer is None:
        if chosen.oauth_keys is not None or chosen.oauth_audience is not None:
            raise BadSetting("The settings oauth_keys and oauth_audience need oauth_issuer, who issues the tokens")
        return None
    if chosen.oauth_keys is None and not is_safe(chosen.oauth_issuer):
        raise BadSetting(
            f"oauth_issuer is {chosen.oauth_issuer!r}, but its public keys can be fetched by https alone; "
            "or name a file of them with --oauth-keys"
        )
    if chosen.oauth_audience is None and chosen.port == 0:
        raise BadSetting("The setting oauth_issuer needs oauth_audience where the port is any that is free")
    audience = chosen.oauth_audience or f"{_scheme(chosen)}://{_authority(chosen.host, chosen.port)}/mcp"
    return Tokens(chosen.oauth_issuer, audience, chosen.oauth_keys, log)


def _certificate(chosen: Settings) -> Certificate | None:
    """The certificate to serve with, if one is configured."""
    if chosen.tls_certificate is None and chosen.tls_key is None:
        return None
    if chosen.tls_certificate is None or chosen.tls_key is None:
        raise BadSetting("TLS needs both: --tls-certificate FILE and --tls-key FILE")
    return Certificate(chosen.tls_certificate, chosen.tls_key)


def _scheme(chosen: Settings) -> str:
    return "http" if chosen.tls_certificate is None else "https"


def _authority(host: str, port: int) -> str:
    return f"[{host}]:{port}" if ":" in host else f"{host}:{port}"


def _origin_of(address: str) -> str:
    scheme, _, rest = address.partition("://")
    return f"{scheme}://{rest.partition('/')[0]}"


def _authenticator(chosen: Settings, address: str, tokens: Tokens | None) -> Authenticator:
    """The authenticator for keys and tokens. A server reachable by others does not start without keys."""
    file = key_file(chosen)
    if not file.keys() and tokens is None and not _is_loopback(address):
        option = "" if chosen.keys is None else f" --keys {shlex.quote(chosen.keys)}"
        raise BadSetting(
            f"Others can reach {chosen.host}, so keys are needed and {file.path} has none; "
            f"make one with: polymnia keys add NAME{option}"
        )
    return Authenticator(file, tokens)


def _public_host(address: str, host: str) -> str:
    """A host name clients can connect to: the machine's name if the server listens on every address."""
    return socket.gethostname() if ip_address(address).is_unspecified else host


def _is_loopback(address: str) -> bool:
    return ip_address(address).is_loopback


def _address(host: str) -> str:
    """The IP address of a host: a name is resolved once, and not again when the server binds."""
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    try:
        return str(socket.getaddrinfo(host, None, family, socket.SOCK_STREAM)[0][4][0])
    except (OSError, UnicodeError):
        raise BadSetting(f"host is {host!r}, which is no address and no name of one") from None


def _hosts(chosen: Settings, address: str) -> list[str]:
    """The accepted Host headers: local names, the host, the machine's name if others can reach it, and allowed_hosts.

    The address a request arrived at is always accepted. A name without a port matches any port.
    """
    names = [f"[{chosen.host}]" if ":" in chosen.host else chosen.host]
    if not _is_loopback(address):
        names.append(socket.gethostname())
    for name in _listed(chosen.allowed_hosts):
        if "/" in name:
            host = name.partition("://")[2].partition("/")[0] or name.partition("/")[0]
            raise BadSetting(f"allowed_hosts has {name!r}, which is an address of a page; give the host alone: {host}")
        names.append(name)
    with_port = [name for name in names if name.rpartition(":")[2].isdecimal() or name.endswith(":*")]
    return [*local_hosts(), *names, *(f"{name}:*" for name in names if name not in with_port)]


def _proxies(chosen: Settings) -> list[Network]:
    """The proxies whose X-Forwarded headers are trusted."""
    found = []
    for text in _listed(chosen.trusted_proxies):
        try:
            found.append(ip_network(text, strict=False))
        except ValueError:
            hint = "give addresses or networks such as 10.0.0.5 or 10.0.0.0/8"
            raise BadSetting(f"trusted_proxies has {text!r}, which is neither; {hint}") from None
    return found


def _listed(text: str | None) -> list[str]:
    return [part.strip() for part in (text or "").split(",") if part.strip()]


def _advice(e: OSError, chosen: Settings) -> str:
    """What to do about an address that cannot be bound."""
    if e.errno == errno.EADDRINUSE:
        return "Perhaps a server runs there already; choose another port with --port, or 0 for any that is free."
    if e.errno in (errno.EACCES, errno.EPERM):
        return "Ports below 1024 need more rights than this user has; choose another one with --port."
    return f"--host is an address of this machine, such as 127.0.0.1; {chosen.host} may be none."


def _hidden(chosen: Settings) -> dict[str, str]:
    """The server's folders, which network clients must not see, with their replacements, longest first."""
    store = local_folder(chosen)
    exports = chosen.export_dir or os.path.join(store, "exports")
    found = {os.path.realpath(exports): "the export folder", exports: "the export folder"}
    for path in (store, os.path.dirname(chosen.file or ""), os.path.dirname(default_store())):
        if path:
            found |= {os.path.realpath(path) + os.sep: "", path + os.sep: ""}
    return dict(sorted(found.items(), key=lambda one: -len(one[0])))
