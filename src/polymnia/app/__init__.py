"""The composition root: the only place that builds a store, a memory, a dialect and a server from the settings."""

from __future__ import annotations

import os
import sys
from collections.abc import Mapping
from contextlib import AbstractContextManager, closing
from typing import TYPE_CHECKING

from polymnia.engine.memory import Memory
from polymnia.engine.ports import Store
from polymnia.engine.privacy.screening import Screen
from polymnia.engine.reads import ReadCounter
from polymnia.engine.search import Analysis, LazySearch
from polymnia.errors import Fault, Invalid, NoLibrary, NotAStore
from polymnia.importing import importing, load
from polymnia.models import Limits
from polymnia.operation import Registry
from polymnia.settings import GRAPHS, BadSetting, Settings, is_database, read_file, unknown_variables

if TYPE_CHECKING:
    from polymnia.engine.graph import Policy
    from polymnia.engine.ports.maintenance import Migrated
    from polymnia.engine.search.finder import Finder
    from polymnia.keys import KeyFile
    from polymnia.storage.copying import BackupFiles, CopySource, CopyTarget, Progress
    from polymnia.storage.postgres import PostgresStore
    from polymnia.storage.sqlite import SqliteStore
    from polymnia.transports.rpc import Server

_FILE_VARIABLES = {"simple": "MEMORY_PATH", "official": "MEMORY_FILE_PATH"}
"""The environment variables of other servers that name their file, by the dialect that honours them."""


def settings(values: Mapping[str, object], environment: Mapping[str, str] | None = None) -> Settings:
    """The effective settings: from the arguments, then the environment, then the settings file, then the defaults."""
    environment = os.environ if environment is None else environment
    named = values.get("config") or environment.get("POLYMNIA_CONFIG")
    path = os.path.abspath(os.path.expanduser(str(named))) if named else default_config()
    has_default = environment is os.environ and os.path.exists(path)  # a custom environment is complete by itself
    chosen = Settings(values, environment, read_file(path) if named or has_default else None)
    chosen.config = path
    chosen.file = _file(chosen, environment)
    return chosen


def default_store() -> str:
    """The default path of the store: in the platform's folder for application data."""
    return os.path.join(_folder("XDG_DATA_HOME", ".local/share", "user_data_dir"), "memory.db")


def default_config() -> str:
    """The default settings file: never one in the working directory, which may be under somebody else's control."""
    return os.path.join(_folder("XDG_CONFIG_HOME", ".config", "user_config_dir"), "polymnia.toml")


def _folder(variable: str, below: str, function: str) -> str:
    """Polymnia's folder on this platform. On Linux without platformdirs, since loading it delays the start."""
    if sys.platform == "linux":
        home = os.environ.get(variable, "").strip() or os.path.join(os.path.expanduser("~"), below)
        return os.path.join(home, "polymnia")
    with importing():
        import platformdirs

    return str(getattr(platformdirs, function)("polymnia", appauthor=False))


def misspelt_variables() -> list[str]:
    """Messages about environment variables that look like settings but are not."""
    return unknown_variables(os.environ)


def ignored_variables(chosen: Settings) -> list[str]:
    """Messages about file variables of other dialects, which are ignored: nothing is written to those files."""
    if chosen.file is not None or chosen.store is not None:
        return []
    return [
        f"{variable} is set but not used: only --dialect {name} keeps that file. "
        f"Memories are kept in {default_store()}; --file PATH keeps a file in any dialect."
        for name, variable in _FILE_VARIABLES.items()
        if os.environ.get(variable)
    ]


def environment() -> Mapping[str, str]:
    """The environment of this process, for what has to look at other programs' variables."""
    return os.environ


def sqlite_version() -> str:
    """The version of SQLite that stores are kept with."""
    return str(load("apsw").sqlite_lib_version())


def wants_colour() -> bool:
    """Whether colours are allowed: NO_COLOR is not set (no-color.org)."""
    return not os.environ.get("NO_COLOR")


def _behaviour(chosen: Settings) -> str:
    """The behaviour of the graph: the dialect's own, or else the setting ``graph``."""
    return chosen.dialect if chosen.dialect in GRAPHS else chosen.graph


def _file(chosen: Settings, environment: Mapping[str, str]) -> str | None:
    """The JSON file to mirror the memory in, if any: from the setting, or from the dialect's own variable."""
    dialect, path = _behaviour(chosen), chosen.file
    if path is None and chosen.store is None:
        variable = _FILE_VARIABLES.get(dialect)
        path = environment.get(variable) or None if variable else None
        if path is not None and variable:
            chosen.sources["file"] = variable
    if path is None:
        return None
    if not path:
        if dialect != "simple":
            raise BadSetting("The option --file needs a path (only the dialect simple has a default file)")
        path = os.path.join("~", ".cursor", "memory.json")
    full = os.path.abspath(os.path.expanduser(path))
    if os.path.isdir(full) or path.endswith(os.sep):
        return os.path.join(full, "memory.json")
    if not full.endswith((".json", ".jsonl")):
        raise BadSetting(f"The JSON file {full} must end in .json or .jsonl; it was left as it is")
    return full


def local_folder(chosen: Settings) -> str:
    """The folder of the store, where exports are written too; of the default store if it is a database."""
    path = default_store() if chosen.store is None or is_database(chosen.store) else chosen.store
    return os.path.dirname(os.path.abspath(path))


def has_no_store(chosen: Settings) -> bool:
    """Whether the store is a file that nothing has made yet."""
    place = chosen.store or default_store()
    return not is_database(place) and not os.path.exists(place)


def open_store(place: str, *, busy_timeout: float = 30.0, create: bool = True) -> SqliteStore | PostgresStore:
    """The store at a place: a file, or a schema of a PostgreSQL database."""
    if is_database(place):
        for library in ("psycopg", "psycopg_pool"):
            try:
                load(library)
            except ImportError:
                raise NoLibrary(library, "postgres") from None
        with importing():
            from polymnia.storage.postgres import PostgresStore

        return PostgresStore(
            place, busy_timeout=busy_timeout, create=create, analyst=Analysis(), backup_files=_BackupFiles()
        )
    from polymnia.storage.sqlite import SqliteStore

    return SqliteStore(place, busy_timeout=busy_timeout, create=create, analyst=Analysis())


class _BackupFiles:
    """The files of backups, whose engine is imported when there is one to write or to read."""

    def writing(self, path: str, *, overwrite: bool) -> AbstractContextManager[CopyTarget]:
        return self._files().writing(path, overwrite=overwrite)

    def reading(self, path: str) -> AbstractContextManager[CopySource]:
        return self._files().reading(path)

    def _files(self) -> BackupFiles:
        with importing():
            from polymnia.storage.sqlite.backups import FileBackups

        return FileBackups()


def migrate(source: str, target: str, progress: Progress, *, busy_timeout: float = 30.0) -> Migrated:
    """Copy a store into another one, whatever their engines, and verify the copy.

    Run again after an interruption, it continues. The target is refused if it holds anything else.
    """
    with importing():
        from polymnia.storage import copying

    with (
        closing(open_store(source, busy_timeout=busy_timeout, create=False)) as here,
        closing(open_store(target, busy_timeout=busy_timeout)) as there,
        closing(there.as_target()) as filled,
    ):
        read = here.as_source()
        if read.place == filled.place:
            raise Invalid(f"{read.place} cannot be copied into itself", hint="Name another place with --to.")
        return copying.migrate(read, filled, progress)


def _store(chosen: Settings, create: bool) -> Store:
    path = chosen.store or default_store()
    if chosen.file is None:
        return open_store(path, busy_timeout=chosen.busy_timeout, create=create)
    if is_database(chosen.store):
        raise BadSetting("--file goes with a store that is a file, not with a postgresql:// address")
    from polymnia.storage.sqlite import SqliteStore

    if chosen.store is None and chosen.project != "default":
        raise BadSetting("A JSON file shows one project: --project goes with --file only when --store is given too")
    from polymnia.engine.transfer.mirror import Mirror
    from polymnia.storage.sqlite.write_lock import WriteLock

    companion = _companion_path(chosen.file)
    path = chosen.store or companion + ".db"
    if not create and not os.path.exists(chosen.file) and not os.path.exists(path):
        raise NotAStore(f"There is no file {chosen.file}", hint="Check the path.")
    os.makedirs(os.path.dirname(companion), mode=0o700, exist_ok=True)
    inner = SqliteStore(path, busy_timeout=chosen.busy_timeout, analyst=Analysis())
    lock = WriteLock(companion + ".lock", chosen.busy_timeout)
    return Mirror(inner, chosen.file, lock, limits=limits(chosen), tell=_warn)


def _warn(text: str) -> None:
    """Print a message on stderr, which carries no protocol messages."""
    print(f"polymnia: {text}", file=sys.stderr, flush=True)


def _companion_path(file: str) -> str:
    """The path prefix of the files behind a JSON file: the store with its history and indexes, and the lock."""
    from hashlib import sha256

    name = sha256(os.path.realpath(file).encode()).hexdigest()[:24]
    return os.path.join(os.path.dirname(default_store()), "files", name)


def limits(chosen: Settings) -> Limits:
    """The size limits set by the settings."""
    # A response carries an archive twice, as text and as structured content, and escaped.
    inline = chosen.max_message_bytes // 4
    return Limits(chosen.max_text_bytes, chosen.max_name_bytes, chosen.max_batch, chosen.max_import_bytes, inline)


def registry(chosen: Settings) -> Registry:
    """The configured dialect, with the path of its prebuilt tool list."""
    found = dialect(chosen)
    if chosen.structured != "auto" and found.structured != (chosen.structured == "on"):
        found.structured = not found.structured
        return found  # its list is made when it is asked for
    name = f"all-{chosen.graph}" if chosen.dialect == "all" else chosen.dialect
    found.listing = os.path.join(os.path.dirname(os.path.dirname(__file__)), "dialects", "listings", f"{name}.json")
    return found


def dialect(chosen: Settings) -> Registry:
    """The configured dialect; ``all`` offers every tool, each with the behaviour of its own dialect."""
    if chosen.dialect == "native":
        from polymnia.dialects import native

        return native.registry()
    if chosen.dialect == "associative":
        from polymnia.dialects import associative

        return associative.registry()
    if chosen.dialect == "content":
        from polymnia.dialects import content

        return content.registry()
    if chosen.dialect == "chatgpt":
        from polymnia.dialects import chatgpt

        return chatgpt.registry()
    from polymnia.dialects import graph

    found = graph.registry(_behaviour(chosen))
    if chosen.dialect == "all":
        from polymnia.dialects import associative, content, joined

        found = joined.registry(found, associative.registry(), content.registry())
    return found


def policy(chosen: Settings) -> Policy:
    """The graph policy of the dialect."""
    from polymnia.dialects.graph.behaviours import BEHAVIOURS

    return BEHAVIOURS[_behaviour(chosen)].policy


def open_memory(chosen: Settings, who: str, *, create: bool = True) -> Memory:
    """Open the configured memory with its dialect's policy; a missing one is created unless ``create`` is false."""
    _check_embedder(chosen)
    rules = policy(chosen)
    store = _store(chosen, create)
    # Models are loaded eagerly only if the dialect's searches use them.
    finding = LazySearch(lambda: _finder(chosen, store), eager=rules.search == "ranked" and chosen.embedder != "none")
    bounds = limits(chosen)
    return Memory(
        _metered(chosen, store),
        reads=ReadCounter(store) if chosen.count_reads == "on" else None,
        project=chosen.project,
        who=who,
        policy=rules,
        limits=bounds,
        screen=Screen(chosen.secrets, bounds),
        finding=finding,
        exports=chosen.export_dir or os.path.join(local_folder(chosen), "exports"),
    )


def _metered(chosen: Settings, store: Store) -> Store:
    """The store, of which no project grows beyond what the settings allow."""
    if chosen.max_project_memories is None and chosen.max_project_texts is None:
        return store
    from polymnia.engine.access import Metered, Quota

    return Metered(store, Quota(chosen.max_project_memories, chosen.max_project_texts))


def _check_embedder(chosen: Settings) -> None:
    """Refuse an unknown embedder now instead of at the first search."""
    if chosen.embedder in ("auto", "none"):
        return
    from polymnia import inference

    try:
        inference.check(chosen.embedder, url=chosen.embedder_url, key=_embedder_key(chosen))
    except Invalid as e:
        raise BadSetting(f"{e.message}\n{e.hint}") from None


def missing_models(chosen: Settings) -> str | None:
    """What the configured models lack on this machine, and what to do about it; None if nothing is missing."""
    from polymnia import inference

    return inference.missing(chosen.embedder)


def damaged_models(chosen: Settings) -> Fault | None:
    """The fault of the bundled model files; None if they are intact."""
    from polymnia import inference

    return inference.damaged(chosen.embedder)


def _embedder_key(chosen: Settings) -> str | None:
    """The API key of the embedder, from the setting or from its file."""
    path = chosen.embedder_key_file
    if chosen.embedder_key is not None or path is None:
        return chosen.embedder_key
    try:
        with open(os.path.expanduser(path), encoding="utf-8") as file:
            key = file.read().strip()
    except (OSError, UnicodeDecodeError) as e:
        reason = e.strerror if isinstance(e, OSError) else "it is no text"
        raise BadSetting(f"The file {path} of --embedder-key-file cannot be read: {reason}") from None
    if not key:
        raise BadSetting(f"The file {path} of --embedder-key-file is empty")
    return key


def _finder(chosen: Settings, store: Store) -> Finder:
    from polymnia import inference

    with importing():
        from polymnia.engine.search.finder import Finder

    url, key = chosen.embedder_url, _embedder_key(chosen)
    return Finder(
        store,
        embedders=inference.choose(chosen.embedder, url=url, key=key, timeout=chosen.embedder_timeout),
        reranker=inference.reranker(chosen.embedder),
        judge=inference.judge(chosen.embedder),
        kinds=inference.kinds(chosen.embedder),
        effort=chosen.effort,
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

    ``store`` is the file it is stored in (default: the one all clients of this user share), ``project`` the part
    of it to work in, ``graph`` the behaviour of the verbs (strict, simple, bilingual or official), ``file`` a JSON
    file to mirror it in. Omitted arguments come from the environment, as for the command. Nothing is opened before
    it is needed.

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
    return open_memory(settings(values), who)


def key_file(chosen: Settings) -> KeyFile:
    """The configured key file."""
    from polymnia.keys import KeyFile

    return KeyFile(chosen.keys or os.path.join(os.path.dirname(default_config()), "keys.json"))


def server(chosen: Settings, memory: Memory, hidden: Mapping[str, str] | None = None) -> Server:
    """A server of the configured dialect for a memory; ``hidden`` lists folders that clients must not see."""
    from polymnia import __version__
    from polymnia.transports.rpc import Server

    in_sessions, nesting = chosen.require_session == "on", chosen.max_nesting
    tools = registry(chosen)
    return Server(memory, tools, version=__version__, max_nesting=nesting, require_session=in_sessions, hidden=hidden)


def serve_stdio(chosen: Settings) -> None:
    """Serve one client on stdin and stdout."""
    from polymnia.transports.log import Log
    from polymnia.transports.stdio import serve

    if os.isatty(0):
        print("Serving MCP on stdin and stdout, for a program to talk to. Ctrl-C ends it.", file=sys.stderr)
    for text in ignored_variables(chosen):
        _warn(text)
    one = server(chosen, open_memory(chosen, chosen.dialect))
    log = Log(chosen.log_level, "json" if chosen.log_format == "json" else "text")
    serve(one, max_message_bytes=chosen.max_message_bytes, log=log)
