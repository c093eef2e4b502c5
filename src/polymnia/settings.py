"""Every setting as data: its name, its values and its sources. Imports nothing else of Polymnia.

A value comes from the command line, else from the environment, else from the file, else it is the default.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Generic, TypeVar

MIB = 1024 * 1024
_PREFIX = "POLYMNIA_"


class BadSetting(ValueError):
    """A setting has an invalid value or does not exist."""


K = TypeVar("K")
D = TypeVar("D")


class Setting(Generic[K, D]):
    """One setting. ``choices`` lists its values if they are few; the value of an ``optional`` flag may be omitted;
    ``zero`` allows 0. A ``secret`` is never shown, and refused on the command line, which other users can read."""

    name: str

    def __init__(
        self,
        kind: Callable[[str], K],
        default: D,
        help: str,
        *,
        choices: Sequence[str] = (),
        optional: bool = False,
        zero: bool = False,
        secret: bool = False,
    ) -> None:
        self.kind = kind
        self.default = default
        self.help = help
        self.choices = choices
        self.optional = optional
        self.zero = zero
        self.secret = secret

    def __set_name__(self, owner: type, name: str) -> None:
        self.name = name

    if TYPE_CHECKING:  # the values themselves are in the __dict__ of Settings

        def __get__(self, settings: Settings, owner: type) -> K | D: ...

        def __set__(self, settings: Settings, value: K | D) -> None: ...

    @property
    def flag(self) -> str:
        """The flag on the command line."""
        return "--" + self.name.replace("_", "-")

    @property
    def variable(self) -> str:
        """The name of the environment variable."""
        return _PREFIX + self.name.upper()

    def value(self, text: str, source: str) -> object:
        """Parse a value; ``source`` says where the text comes from, for errors."""
        if self.secret and source == self.flag:
            raise BadSetting(
                f"{self.flag} is not taken on the command line, where everybody who can list processes would read it: "
                f"set {self.variable} in the environment, or name a file that holds it with {self.flag}-file"
            )
        if self.kind is store_place and source == self.flag and has_password(text):
            raise BadSetting(
                f"{self.flag} has a password, which everybody who can list processes would read: "
                f"set {self.variable} in the environment, or keep the password in ~/.pgpass"
            )
        if self.choices and text not in self.choices:
            near = did_you_mean(text, self.choices)
            raise BadSetting(f"{source} is {text!r}, but must be one of: {', '.join(self.choices)}{near}")
        try:
            value = self.kind(text)
        except ValueError:
            raise BadSetting(f"{source} is {text!r}, but must be a number") from None
        if isinstance(value, int | float) and not (0 < value < 1e18 or (value == 0 and self.zero)):
            raise BadSetting(f"{source} is {text!r}, but must be a number above zero")
        return value


class NetworkSetting(Setting[K, D]):
    """A setting that only applies to the network server."""


def file_path(text: str) -> str:
    """The ``kind`` of settings that name a file or folder on this machine."""
    return text


def store_place(text: str) -> str:
    """The ``kind`` of the setting that says where the store is: a file, or the address of a database."""
    return text


def is_database(place: str | None) -> bool:
    """Whether a store is a PostgreSQL database rather than a file."""
    return place is not None and place.startswith(("postgresql://", "postgres://"))


def has_password(place: str) -> bool:
    """Whether the address of a database has a password in it."""
    _, _, rest = place.partition("://")
    return is_database(place) and (":" in rest.rpartition("@")[0] or "password=" in rest.partition("?")[2])


GRAPHS = ("simple", "strict", "bilingual", "official")
DIALECTS = ("all", "native", *GRAPHS, "associative", "content", "chatgpt")
LANES = ("all", "words", "meaning")
EFFORTS = ("quick", "balanced", "thorough")
LEVELS = ("debug", "info", "notice", "warning", "error")


class Settings:
    """Every setting with its effective value. ``sources`` maps each to where its value comes from."""

    config = Setting(
        file_path, None, "A file of settings (default: polymnia.toml in the platform's configuration folder)."
    )
    store = Setting(
        store_place,
        None,
        "The file that keeps the memory (default: in the platform's data folder), or a postgresql:// address.",
    )
    project = Setting(str, "default", "The project to work in; projects never see each other's memories.")
    dialect = Setting(str, "all", "The tools to offer and their manners.", choices=DIALECTS)
    graph = Setting(str, "strict", "The manners of the graph where the dialect has none of its own.", choices=GRAPHS)
    structured = Setting(
        str,
        "auto",
        "Whether answers have structured content beside their text: auto (all but the dialect `all`), on or off.",
        choices=("auto", "on", "off"),
    )
    file = Setting(
        file_path,
        None,
        "Keep the memory visible in this JSON file, and take over edits made there. Ends in .json or .jsonl.",
        optional=True,
    )
    embedder = Setting(
        str,
        "auto",
        "Who turns texts into vectors: auto, multi, none, onnx:FOLDER, sentence-transformers:MODEL, "
        "openai:MODEL or ollama:MODEL.",
    )
    embedder_url = Setting(str, None, "Where openai:MODEL or ollama:MODEL is served.")
    embedder_key = Setting(str, None, "The key for openai:MODEL. Not taken on the command line.", secret=True)
    embedder_key_file = Setting(file_path, None, "A file that holds the key for openai:MODEL, and nothing else.")
    embedder_timeout = Setting(float, 30.0, "Seconds to wait for one answer of an embedder over HTTP.")
    effort = Setting(
        str,
        "balanced",
        "How long a search may read its best candidates again together with the query: "
        "not at all, about a tenth of a second, or up to a second.",
        choices=EFFORTS,
    )
    lanes = Setting(str, "all", "What a ranked search goes by.", choices=LANES)
    export_dir = Setting(file_path, None, "The folder of exports and imports (default: `exports` beside the store).")
    require_session = Setting(
        str, "off", "Whether the content tools write only within a session.", choices=("off", "on")
    )
    secrets = Setting(
        str, "flag", "What happens to content that looks like a credential.", choices=("flag", "redact", "refuse")
    )
    count_reads = Setting(
        str, "on", "Whether it is counted what is read, by whom and when, for analyses of usage.", choices=("on", "off")
    )
    host = NetworkSetting(str, "127.0.0.1", "The address to listen on; one that others can reach needs keys.")
    port = NetworkSetting(int, 9080, "The port to listen on; 0 takes a free one.", zero=True)
    tls_certificate = NetworkSetting(
        file_path,
        None,
        "The certificate to serve with (TLS), with its chain: a file of PEM, read again when it changes.",
    )
    tls_key = NetworkSetting(file_path, None, "The private key of the certificate: a file of PEM without a password.")
    workers = NetworkSetting(int, 1, "Processes that serve the port together.")
    peer_host = NetworkSetting(
        str,
        None,
        "The name or address at which other servers of the same PostgreSQL store reach this one "
        "(default: --host, or the machine's name where that is every address).",
    )
    keys = NetworkSetting(
        file_path, None, "The file of keys (default: `keys.json` in the platform's configuration folder)."
    )
    allowed_hosts = NetworkSetting(str, None, "Further host names to answer to, with commas between; on any port.")
    allowed_origins = NetworkSetting(
        str, None, "Origins whose pages may call it from a browser, with commas between them."
    )
    trusted_proxies = NetworkSetting(str, None, "Proxies whose X-Forwarded headers are believed: addresses, networks.")
    rate_limit = NetworkSetting(int, 1000, "Calls a minute that are served in all.")
    rate_limit_session = NetworkSetting(int, 100, "Calls a minute that are served of one session.")
    rate_limit_heavy = NetworkSetting(int, 10, "Analyses, exports and imports a minute that are served of one caller.")
    rate_limit_explorer = NetworkSetting(int, 600, "Calls a minute of the explorer that are served of one caller.")
    explorer = NetworkSetting(
        str, "on", "Whether the explorer, a page to see and mend memories, is served at /.", choices=("on", "off")
    )
    max_sessions = NetworkSetting(int, 1000, "Sessions of the protocol that each process holds at once.")
    session_idle = NetworkSetting(float, 3600.0, "Seconds after which a session that nobody uses is over.")
    max_connections = NetworkSetting(int, 1000, "Connections that each process has open at once.")
    oauth_issuer = NetworkSetting(str, None, "Who issues the tokens that are taken beside keys (OAuth 2).")
    oauth_audience = NetworkSetting(str, None, "For whom such a token must be (default: this server's address).")
    oauth_keys = NetworkSetting(
        file_path, None, "The keys of the issuer: a JWKS file (default: they are fetched from the issuer)."
    )
    backup_dir = NetworkSetting(file_path, None, "A folder to make backups in while serving (default: none are made).")
    backup_every = NetworkSetting(str, "6h", "How often: a number with s, m, h or d.")
    backup_keep = NetworkSetting(int, 14, "How many of these backups are kept.")
    log_level = Setting(str, "warning", "How much is told on stderr.", choices=LEVELS)
    log_format = Setting(
        str, "auto", "How it is told: lines of text (auto: stdio) or of JSON (auto: serve).",
        choices=("auto", "text", "json"),
    )  # fmt: skip
    busy_timeout = Setting(float, 30.0, "Seconds a write waits for other processes before it gives up.")
    max_message_bytes = Setting(int, 16 * MIB, "The largest message accepted.")
    max_text_bytes = Setting(int, 5 * MIB, "The largest single text accepted.")
    max_name_bytes = Setting(int, 64 * 1024, "The longest name, type, relation type or query accepted.")
    max_batch = Setting(int, 10_000, "The most items accepted in one call, and messages in one batch.")
    max_import_bytes = Setting(int, 2048 * MIB, "The largest archive imported, after it is unpacked.")
    max_project_memories = Setting(int, None, "The most memories a project may hold (default: no limit).")
    max_project_texts = Setting(
        int, None, "The most memories and observations together a project may hold (default: no limit)."
    )
    max_nesting = Setting(int, 100, "The deepest nesting accepted in a message.")

    def __init__(
        self, values: Mapping[str, object], environment: Mapping[str, str], file: Mapping[str, object] | None = None
    ) -> None:
        if unknown := values.keys() - {setting.name for setting in SETTINGS}:
            raise BadSetting(f"There is no setting {', '.join(sorted(unknown))}")
        self.sources: dict[str, str] = {}
        for setting in SETTINGS:
            value, source = values.get(setting.name), setting.flag
            if value is None and (text := environment.get(setting.variable)):
                value, source = setting.value(text, setting.variable), setting.variable
            if value is None and file is not None:
                value, source = file.get(setting.name), "file"
            if setting.kind in (file_path, store_place) and isinstance(value, str):
                _check_path(value, source if source != "file" else setting.name, setting)
            setattr(self, setting.name, setting.default if value is None else value)
            self.sources[setting.name] = "default" if value is None else source

    def values(self) -> dict[str, object]:
        """All values by name."""
        return {setting.name: getattr(self, setting.name) for setting in SETTINGS}


SETTINGS = tuple(one for one in vars(Settings).values() if isinstance(one, Setting))
NETWORK = frozenset(one.name for one in SETTINGS if isinstance(one, NetworkSetting))
"""Names of the settings that only apply to the network server."""


def _check_path(text: str, source: str, setting: Setting[str, None]) -> None:
    """Refuse a URL instead of a file path: it would become a folder of that name."""
    scheme, is_address, _ = text.partition("://")
    if setting.kind is store_place and is_database(text):
        return
    if setting.kind is store_place and text.startswith(("postgres:", "postgresql:", "postgres//", "postgresql//")):
        raise BadSetting(f"{source} begins like the address of a database, which is written postgresql://HOST/DATABASE")
    if is_address and scheme.replace("+", "").replace("-", "").isalnum():
        # Show only the scheme: the rest may contain a password.
        raise BadSetting(
            f"{source} is an address ({scheme}://…), but must name a file on this machine"
            + (" or a postgresql:// address" if setting.kind is store_place else "")
        )


_UNITS = {"s": 1, "m": 60, "h": 3600, "d": 86_400}


def duration(text: str, source: str) -> float:
    """The seconds of a duration such as 90s, 15m, 6h or 7d."""
    number, unit = text[:-1], text[-1:]
    if unit not in _UNITS or not number.isdecimal() or not 0 < int(number) * _UNITS[unit] < 10**10:
        raise BadSetting(f"{source} is {text!r}, but must be a number with a unit, such as 90s, 15m, 6h or 7d")
    return float(int(number) * _UNITS[unit])


def without_password(text: str) -> str:
    """A URL that is safe to show: without credentials and query."""
    start, is_address, rest = text.rpartition("://")
    shown = rest.rpartition("@")[2].partition("?")[0]
    return f"{start}{is_address}{shown}"


def read(arguments: Sequence[str], without: Collection[str] = ()) -> dict[str, object]:
    """Parse flags such as ``--store PATH`` or ``--store=PATH``; those of the settings ``without`` are refused."""
    values: dict[str, object] = {}
    by_flag = {setting.flag: setting for setting in SETTINGS}
    rest = list(arguments)
    while rest:
        flag, sign, text = rest.pop(0).partition("=")
        setting = by_flag.get(flag)
        if setting is not None and setting.name in without:
            raise BadSetting(f"There is no option {flag} here: it is one of polymnia serve")
        if setting is None:
            known = ["--help", "--version", *(one.flag for one in SETTINGS if one.name not in without)]
            raise BadSetting(f"There is no option {flag}{did_you_mean(flag, known)}")
        if not sign:
            if rest and not rest[0].startswith("--"):
                text = rest.pop(0)
            elif setting.optional:
                values[setting.name] = ""
                continue
            else:
                raise BadSetting(f"The option {flag} needs a value")
        values[setting.name] = setting.value(text, flag)
    return values


def unknown_variables(environment: Iterable[str]) -> list[str]:
    """Messages about variables that look like settings but are not, each with a suggestion."""
    known = {setting.variable for setting in SETTINGS}
    unknown = sorted(name for name in environment if name.startswith(_PREFIX) and name not in known)
    return [f"The variable {name} is no setting{did_you_mean(name, known)}" for name in unknown]


def read_file(path: str) -> dict[str, object]:
    """Read a TOML file with a line such as ``store = "notes.db"`` for each setting; on and off may be booleans."""
    import tomllib

    try:
        with open(path, "rb") as file:
            document = tomllib.load(file)
    except OSError as e:
        raise BadSetting(f"The file of settings {path} cannot be read: {e.strerror}") from None
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as e:
        raise BadSetting(f"The file of settings {path} is no TOML: {e}") from None
    by_name = {setting.name: setting for setting in SETTINGS if setting.name != "config"}
    values: dict[str, object] = {}
    for key, value in document.items():
        setting = by_name.get(key.replace("-", "_"))
        if isinstance(value, dict):
            raise BadSetting(f"{path}: [{key}] is a section, but settings stand without one, each in a line of its own")
        if setting is None:
            raise BadSetting(f"{path}: there is no setting {key!r}{did_you_mean(key, by_name)}")
        if isinstance(value, bool) and set(setting.choices) == {"on", "off"}:
            value = "on" if value else "off"
        if isinstance(value, bool) or not isinstance(value, str | int | float):
            raise BadSetting(f"{path}: {key} must be a text or a number")
        if setting.kind in (str, file_path, store_place) and not isinstance(value, str):
            raise BadSetting(f"{path}: {key} must be a text, in quotes")
        values[setting.name] = setting.value(str(value), f"{path}: {key}")
    return values


def did_you_mean(text: str, known: Iterable[str]) -> str:
    """The closest known name, in capitals or not, as the end of a sentence; empty if none is close."""
    from difflib import get_close_matches

    names = {one.lstrip("-").lower(): one for one in known}  # leading dashes would make all names similar
    near = get_close_matches(text.lstrip("-").lower(), names, n=1)
    return f"; did you mean {names[near[0]]}?" if near else ""
