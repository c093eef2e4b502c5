"""The composition root: settings become a store, a memory, a dialect and a server. Only here do they meet."""

from __future__ import annotations

import os
from collections.abc import Mapping

from polymnia.engine.memory import Memory
from polymnia.engine.ports import Store
from polymnia.models import Limits
from polymnia.operation import Registry
from polymnia.settings import BadSetting, Settings

__all__ = ["connect", "default_store", "memory", "registry", "serve_stdio", "settings", "wants_colour"]


def settings(values: Mapping[str, object], environment: Mapping[str, str] | None = None) -> Settings:
    """The settings in force: what was given, then the environment, then the defaults."""
    environment = os.environ if environment is None else environment
    chosen = Settings(values, environment)
    chosen.file = _file(chosen, environment)
    return chosen


def default_store() -> str:
    """Where the memory lives when nobody says otherwise: the platform's folder for an application's data."""
    from platformdirs import user_data_dir

    return os.path.join(user_data_dir("polymnia", appauthor=False), "memory.db")


def wants_colour() -> bool:
    """Whether the user has not asked programs to print without colours (no-color.org)."""
    return not os.environ.get("NO_COLOR")


def _behaviour(chosen: Settings) -> str:
    return chosen.graph if chosen.dialect == "all" else chosen.dialect


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


def _store(chosen: Settings) -> Store:
    from polymnia.storage.sqlite import SqliteStore

    if chosen.file is None:
        return SqliteStore(chosen.store or default_store(), busy_timeout=chosen.busy_timeout)
    from polymnia.engine.transfer.mirror import Mirror
    from polymnia.storage.sqlite.queue import Turn

    behind = _behind(chosen.file)
    os.makedirs(os.path.dirname(behind), mode=0o700, exist_ok=True)
    inner = SqliteStore(chosen.store or behind + ".db", busy_timeout=chosen.busy_timeout)
    turn = Turn(behind + ".lock", chosen.busy_timeout)
    return Mirror(inner, chosen.file, turn, limits=_limits(chosen))


def _behind(file: str) -> str:
    """What stands behind a JSON file: history, indexes and a lock, for which the file itself has no room."""
    from hashlib import sha256

    name = sha256(os.path.realpath(file).encode()).hexdigest()[:24]
    return os.path.join(os.path.dirname(default_store()), "files", name)


def _limits(chosen: Settings) -> Limits:
    return Limits(chosen.max_text_bytes, chosen.max_name_bytes, chosen.max_batch)


def registry(chosen: Settings) -> Registry:
    """The dialect the settings name."""
    from polymnia.dialects import graph

    return graph.registry(_behaviour(chosen))


def memory(chosen: Settings, who: str) -> Memory:
    """The memory the settings name, with the manners of its dialect."""
    from polymnia.dialects.graph.behaviours import BEHAVIOURS

    policy = BEHAVIOURS[_behaviour(chosen)].policy
    return Memory(_store(chosen), project=chosen.project, who=who, policy=policy, limits=_limits(chosen))


def connect(
    store: str | None = None, *, project: str = "default", graph: str = "strict", who: str = "library"
) -> Memory:
    """Open a memory from Python.

    ``store`` is the file that keeps it (default: the one every client of this user shares), ``graph`` the
    manners of the verbs: strict, simple, bilingual or official. Nothing is opened before it is needed.

    >>> memory = connect("notes.db")
    >>> memory.create_entities([EntityDraft("Ann", "person", ("Likes tea",))])
    """
    values: dict[str, object] = {"project": project, "dialect": graph, "graph": graph}
    if graph not in ("simple", "strict", "bilingual", "official"):
        raise BadSetting(f"graph is {graph!r}, but must be one of: simple, strict, bilingual, official")
    chosen = Settings(values, os.environ)
    chosen.store = os.fspath(store) if store is not None else chosen.store
    chosen.file = None
    return memory(chosen, who)


def serve_stdio(chosen: Settings) -> None:
    """Serve one client on stdin and stdout."""
    from polymnia import __version__
    from polymnia.transports.rpc import Server
    from polymnia.transports.stdio import serve

    server = Server(
        memory(chosen, chosen.dialect), registry(chosen), version=__version__, max_nesting=chosen.max_nesting
    )
    serve(server, max_message_bytes=chosen.max_message_bytes, log_level=chosen.log_level)
