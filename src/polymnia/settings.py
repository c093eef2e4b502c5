"""Every setting as data: what it is called, what it may be, where it comes from. Imports nothing of ours.

A value is looked for on the command line, then in the environment, then in the file, then it is the default.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping, Sequence

MIB = 1024 * 1024
_PREFIX = "POLYMNIA_"


class BadSetting(ValueError):
    """A setting has a value it cannot have, or does not exist."""


class Setting:
    """One setting. ``choices`` lists its values where it has few; ``optional`` may be given without a value, ``zero``
    may be zero. A ``secret`` is not taken on the command line, which others can read, and never shown."""

    def __init__(
        self,
        name: str,
        kind: Callable[[str], object],
        default: object,
        help: str,
        *,
        choices: Sequence[str] = (),
        optional: bool = False,
        zero: bool = False,
        secret: bool = False,
    ) -> None:
        self.name = name
        self.kind = kind
        self.default = default
        self.help = help
        self.choices = choices
        self.optional = optional
        self.zero = zero
        self.secret = secret

    @property
    def flag(self) -> str:
        """How it is written on the command line."""
        return "--" + self.name.replace("_", "-")

    @property
    def variable(self) -> str:
        """How it is called in the environment."""
        return _PREFIX + self.name.upper()

    def value(self, text: str, source: str) -> object:
        """Read the setting from a text; ``source`` names where the text stands."""
        if self.secret and source == self.flag:
            raise BadSetting(
                f"{self.flag} is not taken on the command line, where everybody who can list processes would read it: "
                f"set {self.variable} in the environment, or name a file that holds it with {self.flag}-file"
            )
        if self.choices and text not in self.choices:
            raise BadSetting(f"{source} is {text!r}, but must be one of: {', '.join(self.choices)}")
        try:
            value = self.kind(text)
        except ValueError:
            raise BadSetting(f"{source} is {text!r}, but must be a number") from None
        if isinstance(value, int | float) and not (0 < value < 1e18 or (value == 0 and self.zero)):
            raise BadSetting(f"{source} is {text!r}, but must be a number above zero")
        return value


GRAPHS = ("simple", "strict", "bilingual", "official")
DIALECTS = ("all", *GRAPHS, "associative", "content")
LANES = ("all", "words", "meaning")
EFFORTS = ("quick", "balanced", "thorough")
LEVELS = ("debug", "info", "notice", "warning", "error")

SETTINGS = (
    Setting("config", str, None, "A file of settings (default: polymnia.toml in the platform's configuration folder)."),
    Setting("store", str, None, "The file that keeps the memory (default: in the platform's data folder)."),
    Setting("project", str, "default", "The project to work in; projects never see each other's memories."),
    Setting("dialect", str, "all", "The tools to offer and their manners.", choices=DIALECTS),
    Setting("graph", str, "strict", "The manners of the graph where the dialect has none of its own.", choices=GRAPHS),
    Setting(
        "file", str, None,
        "Keep the memory visible in this JSON file, and take over edits made there. Ends in .json or .jsonl.",
        optional=True,
    ),
    Setting(
        "embedder", str, "auto",
        "Who turns texts into vectors: auto, multi, none, onnx:FOLDER, sentence-transformers:MODEL, "
        "openai:MODEL or ollama:MODEL.",
    ),
    Setting("embedder_url", str, None, "Where openai:MODEL or ollama:MODEL is served."),
    Setting("embedder_key", str, None, "The key for openai:MODEL. Not taken on the command line.", secret=True),
    Setting("embedder_key_file", str, None, "A file that holds the key for openai:MODEL, and nothing else."),
    Setting("embedder_timeout", float, 30.0, "Seconds to wait for one answer of an embedder over HTTP."),
    Setting("effort", str, "balanced", "How long a search may read its best candidates again together with the query: "
            "not at all, about a tenth of a second, or up to a second.", choices=EFFORTS),
    Setting("lanes", str, "all", "What a ranked search goes by.", choices=LANES),
    Setting("export_dir", str, None, "The folder of exports and imports (default: `exports` beside the store)."),
    Setting("require_session", str, "off", "Whether the content tools write only within a session.",
            choices=("off", "on")),
    Setting("secrets", str, "flag", "What happens to content that looks like a credential.",
            choices=("flag", "redact", "refuse")),
    Setting("count_reads", str, "on", "Whether it is counted what is read, by whom and when, for analyses of usage.",
            choices=("on", "off")),
    Setting("host", str, "127.0.0.1", "The address to listen on; one that others can reach needs keys."),
    Setting("port", int, 9080, "The port to listen on; 0 takes a free one.", zero=True),
    Setting("keys", str, None, "The file of keys (default: `keys.json` in the platform's configuration folder)."),
    Setting("allowed_hosts", str, None, "Further host names to answer to, with commas between; on any port."),
    Setting("allowed_origins", str, None, "Origins whose pages may call it from a browser, with commas between them."),
    Setting("trusted_proxies", str, None, "Proxies whose X-Forwarded headers are believed: addresses, networks."),
    Setting("rate_limit", int, 1000, "Calls a minute that are served in all."),
    Setting("rate_limit_session", int, 100, "Calls a minute that are served of one session."),
    Setting("rate_limit_heavy", int, 10, "Analyses, exports and imports a minute that are served of one caller."),
    Setting("max_sessions", int, 1000, "Sessions of the protocol that are held at once."),
    Setting("session_idle", float, 3600.0, "Seconds after which a session that nobody uses is over."),
    Setting("max_connections", int, 1000, "Connections that are open at once."),
    Setting("oauth_issuer", str, None, "Who issues the tokens that are taken beside keys (OAuth 2)."),
    Setting("oauth_audience", str, None, "For whom such a token must be (default: this server's address)."),
    Setting("oauth_keys", str, None, "The keys of the issuer: a JWKS file."),
    Setting("log_level", str, "warning", "How much is told on stderr.", choices=LEVELS),
    Setting("busy_timeout", float, 30.0, "Seconds a write waits for other processes before it gives up."),
    Setting("max_message_bytes", int, 16 * MIB, "The largest message accepted."),
    Setting("max_text_bytes", int, 5 * MIB, "The largest single text accepted."),
    Setting("max_name_bytes", int, 64 * 1024, "The longest name, type, relation type or query accepted."),
    Setting("max_batch", int, 10_000, "The most items accepted in one call, and messages in one batch."),
    Setting("max_import_bytes", int, 2048 * MIB, "The largest archive imported, after it is unpacked."),
    Setting("max_nesting", int, 100, "The deepest nesting accepted in a message."),
)  # fmt: skip
_BY_FLAG = {setting.flag: setting for setting in SETTINGS}
_PLACES = frozenset(("config", "store", "file", "embedder_key_file", "export_dir", "keys", "oauth_keys"))
NETWORK = frozenset((
    "host", "port", "keys", "allowed_hosts", "allowed_origins", "trusted_proxies", "rate_limit", "rate_limit_session",
    "rate_limit_heavy",
    "max_sessions", "session_idle", "max_connections", "oauth_issuer", "oauth_audience", "oauth_keys",
))  # fmt: skip
"""Settings that mean something on the network only."""


class Settings:
    """The values in force. ``sources`` tells where each comes from."""

    config: str | None
    store: str | None
    project: str
    dialect: str
    graph: str
    file: str | None
    embedder: str
    embedder_url: str | None
    embedder_key: str | None
    embedder_key_file: str | None
    embedder_timeout: float
    effort: str
    lanes: str
    export_dir: str | None
    require_session: str
    secrets: str
    count_reads: str
    host: str
    port: int
    keys: str | None
    allowed_hosts: str | None
    allowed_origins: str | None
    trusted_proxies: str | None
    rate_limit: int
    rate_limit_session: int
    rate_limit_heavy: int
    max_sessions: int
    session_idle: float
    max_connections: int
    oauth_issuer: str | None
    oauth_audience: str | None
    oauth_keys: str | None
    log_level: str
    busy_timeout: float
    max_message_bytes: int
    max_text_bytes: int
    max_name_bytes: int
    max_batch: int
    max_import_bytes: int
    max_nesting: int

    def __init__(
        self, values: Mapping[str, object], environment: Mapping[str, str], file: Mapping[str, object] | None = None
    ) -> None:
        unknown = values.keys() - {setting.name for setting in SETTINGS}
        if unknown:
            raise BadSetting(f"There is no setting {', '.join(sorted(unknown))}")
        self.sources: dict[str, str] = {}
        for setting in SETTINGS:
            value, source = values.get(setting.name), setting.flag
            if value is None and (text := environment.get(setting.variable)):
                value, source = setting.value(text, setting.variable), setting.variable
            if value is None and file is not None:
                value, source = file.get(setting.name), "file"
            if setting.name in _PLACES and isinstance(value, str):
                _check_place(value, source if source != "file" else setting.name)
            setattr(self, setting.name, setting.default if value is None else value)
            self.sources[setting.name] = "default" if value is None else source

    def values(self) -> dict[str, object]:
        """All values by their names."""
        return {setting.name: getattr(self, setting.name) for setting in SETTINGS}


def _check_place(text: str, source: str) -> None:
    """Refuse an address where a file is meant: it would become a folder of that name."""
    scheme, is_address, _ = text.partition("://")
    if is_address and scheme.replace("+", "").replace("-", "").isalnum():
        # Only how it begins: there may be a password in it.
        raise BadSetting(
            f"{source} is an address ({scheme}://…), but must name a file on this machine; "
            "what Polymnia remembers is kept in a file"
        )


def without_password(text: str) -> str:
    """An address as it may be shown: without whoever asks, and without what is asked."""
    start, is_address, rest = text.rpartition("://")
    shown = rest.rpartition("@")[2].partition("?")[0]
    return f"{start}{is_address}{shown}"


def read(arguments: Sequence[str], without: Collection[str] = ()) -> dict[str, object]:
    """Read flags such as ``--store PATH`` or ``--store=PATH``; the settings ``without`` have none here."""
    values: dict[str, object] = {}
    rest = list(arguments)
    while rest:
        flag, given, text = rest.pop(0).partition("=")
        setting = _BY_FLAG.get(flag)
        if setting is not None and setting.name in without:
            raise BadSetting(f"There is no option {flag} here: it is one of polymnia serve")
        if setting is None:
            known = [one.flag for one in SETTINGS if one.name not in without]
            raise BadSetting(f"There is no option {flag}{_meant(flag, known)}")
        if not given:
            if rest and not rest[0].startswith("--"):
                text = rest.pop(0)
            elif setting.optional:
                values[setting.name] = ""
                continue
            else:
                raise BadSetting(f"The option {flag} needs a value")
        values[setting.name] = setting.value(text, flag)
    return values


def strangers(environment: Iterable[str]) -> list[str]:
    """Variables that look like settings and are none, each with what was probably meant."""
    known = {setting.variable for setting in SETTINGS}
    lost = sorted(name for name in environment if name.startswith(_PREFIX) and name not in known)
    return [f"The variable {name} is no setting{_meant(name, known)}" for name in lost]


def read_file(path: str) -> dict[str, object]:
    """Read a TOML file with a line such as ``store = "notes.db"`` for each setting; on and off may be booleans."""
    import tomllib

    try:
        with open(path, "rb") as file:
            given = tomllib.load(file)
    except OSError as e:
        raise BadSetting(f"The file of settings {path} cannot be read: {e.strerror}") from None
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as e:
        raise BadSetting(f"The file of settings {path} is no TOML: {e}") from None
    by_name = {setting.name: setting for setting in SETTINGS if setting.name != "config"}
    values: dict[str, object] = {}
    for key, value in given.items():
        setting = by_name.get(key.replace("-", "_"))
        if isinstance(value, dict):
            raise BadSetting(f"{path}: [{key}] is a section, but settings stand without one, each in a line of its own")
        if setting is None:
            raise BadSetting(f"{path}: there is no setting {key!r}{_meant(key, by_name)}")
        if isinstance(value, bool) and set(setting.choices) == {"on", "off"}:
            value = "on" if value else "off"
        if isinstance(value, bool) or not isinstance(value, str | int | float):
            raise BadSetting(f"{path}: {key} must be a text or a number")
        if setting.kind is str and not isinstance(value, str):
            raise BadSetting(f"{path}: {key} must be a text, in quotes")
        values[setting.name] = setting.value(str(value), f"{path}: {key}")
    return values


def _meant(given: str, known: Iterable[str]) -> str:
    """The name that was probably meant, as the end of a sentence."""
    from difflib import get_close_matches

    names = {one.lstrip("-"): one for one in known}  # dashes make everything look alike
    near = get_close_matches(given.lstrip("-"), names, n=1)
    return f"; did you mean {names[near[0]]}?" if near else ""
