"""The composition root: settings become a store, a memory, a dialect and a server. Only here do they meet."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING

from polymnia.engine.memory import Memory
from polymnia.engine.ports import Store
from polymnia.engine.reads import Reads
from polymnia.engine.search import Analysis, Finding
from polymnia.errors import Invalid, NotAStore
from polymnia.models import Limits
from polymnia.operation import Grant, Registry, beside
from polymnia.settings import GRAPHS, BadSetting, Settings, read_file, strangers

if TYPE_CHECKING:
    from polymnia.engine.search.finder import Finder
    from polymnia.keys import KeyFile
    from polymnia.transports.web.auth import Who
    from polymnia.transports.web.oauth import Tokens

__all__ = [
    "connect",
    "default_config",
    "default_store",
    "dialect",
    "key_file",
    "limits",
    "memory",
    "misspelt",
    "registry",
    "serve_http",
    "serve_stdio",
    "settings",
    "visitors",
    "wants_colour",
]

_LAST_PORT = 65535


def settings(values: Mapping[str, object], environment: Mapping[str, str] | None = None) -> Settings:
    """The settings in force: what was given, then the environment, then the file of settings, then the defaults."""
    environment = os.environ if environment is None else environment
    named = values.get("config") or environment.get("POLYMNIA_CONFIG")
    path = os.path.abspath(os.path.expanduser(str(named))) if named else default_config()
    own = environment is os.environ and os.path.exists(path)  # whoever brings an environment brings all there is
    chosen = Settings(values, environment, read_file(path) if named or own else None)
    chosen.config = path
    chosen.file = _file(chosen, environment)
    return chosen


def default_store() -> str:
    """Where the memory lives when nobody says otherwise: the platform's folder for an application's data."""
    return os.path.join(_folder("XDG_DATA_HOME", ".local/share", "user_data_dir"), "memory.db")


def default_config() -> str:
    """The file of settings that is read when none is named: never one of the working folder, which may be anybody's."""
    return os.path.join(_folder("XDG_CONFIG_HOME", ".config", "user_config_dir"), "polymnia.toml")


def _folder(variable: str, below: str, function: str) -> str:
    """A folder of ours as the platform has it. On Linux the library is not asked: loading it holds up the start."""
    if sys.platform == "linux":
        home = os.environ.get(variable, "").strip() or os.path.join(os.path.expanduser("~"), below)
        return os.path.join(home, "polymnia")
    import platformdirs

    return str(getattr(platformdirs, function)("polymnia", appauthor=False))


def misspelt() -> list[str]:
    """What the environment says that looks like a setting and is none."""
    return strangers(os.environ)


def wants_colour() -> bool:
    """Whether the user has not asked programs to print without colours (no-color.org)."""
    return not os.environ.get("NO_COLOR")


def _behaviour(chosen: Settings) -> str:
    """The manners of the graph: of the dialect, or where it has none of its own, those the settings name."""
    return chosen.dialect if chosen.dialect in GRAPHS else chosen.graph


def _file(chosen: Settings, environment: Mapping[str, str]) -> str | None:
    """The JSON file to keep, if any: by the setting, or by the variable the dialect's users already have."""
    dialect, path = _behaviour(chosen), chosen.file
    if path is None and chosen.store is None:
        variable = {"simple": "MEMORY_PATH", "official": "MEMORY_FILE_PATH"}.get(dialect)
        path = environment.get(variable) or None if variable else None
    if path is None:
        return None
    if not path:
        if dialect != "simple":
            raise BadSetting("The option --file needs a path (only the dialect simple has a default file)")
        path = os.path.join("~", ".cursor", "memory.json")
    path = os.path.abspath(os.path.expanduser(path))
    return os.path.join(path, "memory.json") if os.path.isdir(path) or path.endswith(os.sep) else path


def _store(chosen: Settings, create: bool) -> Store:
    from polymnia.storage.sqlite import SqliteStore

    path = chosen.store or default_store()
    if chosen.file is None:
        return SqliteStore(path, busy_timeout=chosen.busy_timeout, create=create, analyst=Analysis())
    if chosen.store is None and chosen.project != "default":
        raise BadSetting("A JSON file shows one project: --project goes with --file only when --store is given too")
    from polymnia.engine.transfer.mirror import Mirror
    from polymnia.storage.sqlite.queue import Turn

    behind = _behind(chosen.file)
    path = chosen.store or behind + ".db"
    if not create and not os.path.exists(chosen.file) and not os.path.exists(path):
        raise NotAStore(f"There is no file {chosen.file}", hint="Check the path.")
    os.makedirs(os.path.dirname(behind), mode=0o700, exist_ok=True)
    inner = SqliteStore(path, busy_timeout=chosen.busy_timeout, analyst=Analysis())
    turn = Turn(behind + ".lock", chosen.busy_timeout)
    return Mirror(inner, chosen.file, turn, limits=limits(chosen))


def _behind(file: str) -> str:
    """What stands behind a JSON file: history, indexes and a lock, for which the file itself has no room."""
    from hashlib import sha256

    name = sha256(os.path.realpath(file).encode()).hexdigest()[:24]
    return os.path.join(os.path.dirname(default_store()), "files", name)


def limits(chosen: Settings) -> Limits:
    """The largest things the settings allow."""
    # An archive in an answer travels twice, as text and as structure, and quoted.
    inline = chosen.max_message_bytes // 4
    return Limits(chosen.max_text_bytes, chosen.max_name_bytes, chosen.max_batch, chosen.max_import_bytes, inline)


def registry(chosen: Settings) -> Registry:
    """The dialect the settings name, with the list of its tools as it was made beforehand."""
    found = dialect(chosen)
    name = f"all-{chosen.graph}" if chosen.dialect == "all" else chosen.dialect
    found.listing = os.path.join(os.path.dirname(__file__), "dialects", "listings", f"{name}.json")
    return found


def dialect(chosen: Settings) -> Registry:
    """The dialect the settings name; ``all`` is every tool at once, each with the manners of its own dialect."""
    if chosen.dialect == "associative":
        from polymnia.dialects import associative

        return associative.registry()
    if chosen.dialect == "content":
        from polymnia.dialects import content

        return content.registry()
    from polymnia.dialects import graph

    found = graph.registry(_behaviour(chosen))
    if chosen.dialect == "all":
        from polymnia.dialects import associative, content

        found = beside("all", found, associative.registry(), content.registry())
    return found


def memory(chosen: Settings, who: str, *, create: bool = True) -> Memory:
    """The memory the settings name, with the manners of its dialect; made on first use, unless told otherwise."""
    from polymnia.dialects.graph.behaviours import BEHAVIOURS

    _check_embedder(chosen)
    policy = BEHAVIOURS[_behaviour(chosen)].policy
    store = _store(chosen, create)
    # Where nobody searches by meaning, nobody pays for it.
    finding = Finding(lambda: _finder(chosen, store), eager=policy.search == "ranked" and chosen.embedder != "none")
    return Memory(
        store,
        reads=Reads(store) if chosen.count_reads == "on" else None,
        project=chosen.project,
        who=who,
        policy=policy,
        limits=limits(chosen),
        finding=finding,
        exports=chosen.export_dir or os.path.join(os.path.dirname(chosen.store or default_store()), "exports"),
    )


def _check_embedder(chosen: Settings) -> None:
    """A name that no embedder has is told at once and not at the first search."""
    if chosen.embedder in ("auto", "none"):
        return
    from polymnia import embedding

    try:
        embedding.choose(chosen.embedder, url=chosen.embedder_url, key=chosen.embedder_key)
    except Invalid as e:
        raise BadSetting(f"{e.message}\n{e.hint}") from None


def _finder(chosen: Settings, store: Store) -> Finder:
    from polymnia import embedding
    from polymnia.engine.search.finder import Finder

    url, key = chosen.embedder_url, chosen.embedder_key
    return Finder(
        store,
        embedders=embedding.choose(chosen.embedder, url=url, key=key, timeout=chosen.embedder_timeout),
        reranker=embedding.reranker(chosen.rerank),
        lanes=chosen.lanes,
    )


def connect(
    store: str | os.PathLike[str] | None = None,
    *,
    project: str | None = None,
    graph: str | None = None,
    file: str | os.PathLike[str] | None = None,
    who: str = "library",
) -> Memory:
    """Open a memory from Python.

    ``store`` is the file that keeps it (default: the one every client of this user shares), ``project`` the part
    of it to work in, ``graph`` the manners of the verbs (strict, simple, bilingual or official), ``file`` a JSON
    file to keep it visible in. What is not given comes from the environment, as for the command. Nothing is opened
    before it is needed.

    >>> memory = connect("notes.db")
    >>> memory.create_entities([EntityDraft("Ann", "person", ("Likes tea",))])
    """
    values: dict[str, object] = {}
    if graph is not None:
        if graph not in GRAPHS:
            raise BadSetting(f"graph is {graph!r}, but must be one of: {', '.join(GRAPHS)}")
        values = {"dialect": graph, "graph": graph}
    for name, value in (("store", store), ("project", project), ("file", file)):
        if value is not None:
            values[name] = os.fspath(value)
    return memory(settings(values), who)


def key_file(chosen: Settings) -> KeyFile:
    """The file of keys the settings name."""
    from polymnia.keys import KeyFile

    return KeyFile(chosen.keys or os.path.join(os.path.dirname(default_config()), "keys.json"))


def _tokens(chosen: Settings) -> Tokens | None:
    """Who checks the tokens of an authorization server, where there is one."""
    if chosen.oauth_issuer is None:
        return None
    if chosen.oauth_keys is None:
        raise BadSetting("The setting oauth_issuer needs oauth_keys, the file of the issuer's public keys")
    from polymnia.transports.web.oauth import Tokens

    audience = chosen.oauth_audience or f"http://{_authority(chosen.host, chosen.port)}/mcp"
    return Tokens(chosen.oauth_issuer, audience, chosen.oauth_keys)


def _authority(host: str, port: int) -> str:
    return f"[{host}]:{port}" if ":" in host else f"{host}:{port}"


def _origin_of(address: str) -> str:
    scheme, _, rest = address.partition("://")
    return f"{scheme}://{rest.partition('/')[0]}"


def visitors(chosen: Settings, tokens: Tokens | None = None) -> Who | None:
    """Who is let in by which token; None where everybody on this machine is.

    A server that others can reach is not started without keys.
    """
    from polymnia.transports.web.auth import Visitor

    file = key_file(chosen)
    if not file.keys() and tokens is None:
        if not _is_local(chosen.host):
            raise BadSetting(
                f"Others can reach {chosen.host}, so keys are needed and {file.path} has none; "
                "make one with: polymnia keys add NAME"
            )
        return None

    def who(token: str) -> Visitor | None:
        key = file.find(token)
        if key is None:
            return None if tokens is None else tokens(token)
        return Visitor(key.id, Grant(None if key.projects is None else frozenset(key.projects), key.write))

    return who


def _is_local(host: str) -> bool:
    from ipaddress import ip_address

    try:
        return host == "localhost" or ip_address(host).is_loopback
    except ValueError:
        return False


def _hosts(chosen: Settings) -> list[str]:
    """The names a server answers to: those of this machine for itself, its address, and what the settings add."""
    from polymnia.transports.web.auth import local_hosts

    own = f"[{chosen.host}]" if ":" in chosen.host else chosen.host
    return [*local_hosts(), own, f"{own}:*", *_listed(chosen.allowed_hosts)]


def _listed(text: str | None) -> list[str]:
    return [part.strip() for part in (text or "").split(",") if part.strip()]


def _hidden(chosen: Settings) -> dict[str, str]:
    """The folders of a server that its clients over the network are not told, the longest first."""
    store = os.path.dirname(os.path.abspath(chosen.store or default_store()))
    exports = chosen.export_dir or os.path.join(store, "exports")
    found = {os.path.realpath(exports): "the export folder", exports: "the export folder"}
    for path in (store, os.path.dirname(chosen.file or ""), os.path.dirname(default_store())):
        if path:
            found |= {os.path.realpath(path) + os.sep: "", path + os.sep: ""}
    return dict(sorted(found.items(), key=lambda one: -len(one[0])))


def serve_http(chosen: Settings, ready: Callable[[str], None] | None = None, *, conformance: bool = False) -> None:
    """Serve every dialect over the network until a signal comes; ``ready`` is told the address once it is open.

    With ``conformance`` the fixtures of the protocol's suite are served instead.
    """
    from polymnia import __version__
    from polymnia.dialects.graph.behaviours import BEHAVIOURS
    from polymnia.settings import DIALECTS
    from polymnia.transports.rpc import Server
    from polymnia.transports.web.application import Application
    from polymnia.transports.web.auth import Gate
    from polymnia.transports.web.house import House
    from polymnia.transports.web.house import Limits as WebLimits
    from polymnia.transports.web.log import Log
    from polymnia.transports.web.oauth import METADATA
    from polymnia.transports.web.rates import Rates
    from polymnia.transports.web.serving import listening, serve

    if chosen.port > _LAST_PORT:
        raise BadSetting(f"The port is {chosen.port}, but must be a number up to {_LAST_PORT}")
    held = memory(chosen, "network")
    servers = {}
    for name in DIALECTS:
        one = Settings({**chosen.values(), "dialect": name}, {})
        servers[name] = Server(
            held.acting(name, BEHAVIOURS[_behaviour(one)].policy), registry(one), version=__version__,
            max_nesting=chosen.max_nesting, require_session=chosen.require_session == "on", secrets=chosen.secrets,
            hidden=_hidden(chosen),
        )  # fmt: skip
    if conformance:
        from polymnia.dialects import conformance as fixtures

        servers = {"conformance": Server(held, fixtures.registry(), version=__version__)}
    house = House(
        WebLimits(
            body_bytes=chosen.max_message_bytes, sessions=chosen.max_sessions, session_idle=chosen.session_idle,
            connections=chosen.max_connections,
        ),
        Log(chosen.log_level),
        Rates(chosen.rate_limit, chosen.rate_limit_session, chosen.rate_limit_heavy),
    )  # fmt: skip
    tokens = _tokens(chosen)
    who = visitors(chosen, tokens)
    challenge = "Bearer" if tokens is None else f'Bearer resource_metadata="{_origin_of(tokens.audience)}{METADATA}"'
    gate = Gate(hosts=_hosts(chosen), origins=_listed(chosen.allowed_origins), who=who, challenge=challenge)
    try:
        bound = listening(chosen.host, chosen.port)
    except OSError as e:
        raise BadSetting(f"Cannot listen on {chosen.host}:{chosen.port}: {e.strerror}") from None
    if ready is not None:
        ready(f"http://{_authority(chosen.host, bound.getsockname()[1])}")
    try:
        metadata = None if tokens is None else tokens.metadata()
        serve(Application(house, gate, servers, metadata), bound)
    finally:
        held.close()


def serve_stdio(chosen: Settings) -> None:
    """Serve one client on stdin and stdout."""
    from polymnia import __version__
    from polymnia.transports.rpc import Server
    from polymnia.transports.stdio import serve

    if os.isatty(0):
        print("Serving MCP on stdin and stdout, for a program to talk to. Ctrl-C ends it.", file=sys.stderr)
    server = Server(
        memory(chosen, chosen.dialect),
        registry(chosen),
        version=__version__,
        max_nesting=chosen.max_nesting,
        require_session=chosen.require_session == "on",
        secrets=chosen.secrets,
    )
    serve(server, max_message_bytes=chosen.max_message_bytes, log_level=chosen.log_level)
