"""Every setting as data: what it is called, what it may be, where it comes from. Imports nothing of ours.

A value is looked for on the command line, then in the environment, then it is the default.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

__all__ = ["SETTINGS", "BadSetting", "Setting", "Settings", "read"]

MIB = 1024 * 1024


class BadSetting(ValueError):
    """A setting has a value it cannot have, or does not exist."""


class Setting:
    """One setting. ``choices`` lists its values where it has few; ``optional`` may be given without a value."""

    def __init__(
        self,
        name: str,
        kind: Callable[[str], object],
        default: object,
        help: str,
        *,
        choices: Sequence[str] = (),
        optional: bool = False,
    ) -> None:
        self.name = name
        self.kind = kind
        self.default = default
        self.help = help
        self.choices = choices
        self.optional = optional

    @property
    def flag(self) -> str:
        """How it is written on the command line."""
        return "--" + self.name.replace("_", "-")

    @property
    def variable(self) -> str:
        """How it is called in the environment."""
        return "POLYMNIA_" + self.name.upper()

    def value(self, text: str, source: str) -> object:
        """Read the setting from a text; ``source`` names where the text stands."""
        if self.choices and text not in self.choices:
            raise BadSetting(f"{source} is {text!r}, but must be one of: {', '.join(self.choices)}")
        try:
            value = self.kind(text)
        except ValueError:
            raise BadSetting(f"{source} is {text!r}, but must be a number") from None
        if isinstance(value, int | float) and not 0 < value < 1e18:
            raise BadSetting(f"{source} is {text!r}, but must be a number above zero")
        return value


GRAPHS = ("simple", "strict", "bilingual", "official")
DIALECTS = ("all", *GRAPHS, "associative", "content")
LANES = ("all", "words", "meaning")
LEVELS = ("debug", "info", "notice", "warning", "error")

SETTINGS = (
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
        "Who turns texts into vectors: auto, use, use+bge, none, onnx:FOLDER, sentence-transformers:MODEL, "
        "openai:MODEL or ollama:MODEL.",
    ),
    Setting("embedder_url", str, None, "Where openai:MODEL or ollama:MODEL is served."),
    Setting("embedder_key", str, None, "The key for openai:MODEL."),
    Setting("embedder_timeout", float, 30.0, "Seconds to wait for one answer of an embedder over HTTP."),
    Setting("rerank", str, "off", "Whether the best candidates are judged once more by a cross-encoder.",
            choices=("off", "on")),
    Setting("lanes", str, "all", "What a ranked search goes by.", choices=LANES),
    Setting("export_dir", str, None, "The folder of exports and imports (default: `exports` beside the store)."),
    Setting("require_session", str, "off", "Whether the content tools write only within a session.",
            choices=("off", "on")),
    Setting("secrets", str, "flag", "What happens to content that looks like a credential.",
            choices=("flag", "redact", "refuse")),
    Setting("count_reads", str, "on", "Whether it is counted what is read, by whom and when, for analyses of usage.",
            choices=("on", "off")),
    Setting("log_level", str, "warning", "How much is told on stderr.", choices=LEVELS),
    Setting("busy_timeout", float, 30.0, "Seconds a write waits for other processes before it gives up."),
    Setting("max_message_bytes", int, 16 * MIB, "The largest message accepted."),
    Setting("max_text_bytes", int, 5 * MIB, "The largest single text accepted."),
    Setting("max_name_bytes", int, 64 * 1024, "The longest name, type or relation type accepted."),
    Setting("max_batch", int, 10_000, "The most items accepted in one call."),
    Setting("max_import_bytes", int, 2048 * MIB, "The largest archive imported, after it is unpacked."),
    Setting("max_nesting", int, 100, "The deepest nesting accepted in a message."),
)  # fmt: skip
_BY_FLAG = {setting.flag: setting for setting in SETTINGS}


class Settings:
    """The values in force."""

    store: str | None
    project: str
    dialect: str
    graph: str
    file: str | None
    embedder: str
    embedder_url: str | None
    embedder_key: str | None
    embedder_timeout: float
    rerank: str
    lanes: str
    export_dir: str | None
    require_session: str
    secrets: str
    count_reads: str
    log_level: str
    busy_timeout: float
    max_message_bytes: int
    max_text_bytes: int
    max_name_bytes: int
    max_batch: int
    max_import_bytes: int
    max_nesting: int

    def __init__(self, values: Mapping[str, object], environment: Mapping[str, str]) -> None:
        unknown = values.keys() - {setting.name for setting in SETTINGS}
        if unknown:
            raise BadSetting(f"There is no setting {', '.join(sorted(unknown))}")
        for setting in SETTINGS:
            value = values.get(setting.name)
            if value is None and (text := environment.get(setting.variable)):
                value = setting.value(text, setting.variable)
            setattr(self, setting.name, setting.default if value is None else value)


def read(arguments: Sequence[str]) -> dict[str, object]:
    """Read flags such as ``--store PATH`` or ``--store=PATH``."""
    values: dict[str, object] = {}
    rest = list(arguments)
    while rest:
        flag, given, text = rest.pop(0).partition("=")
        setting = _BY_FLAG.get(flag)
        if setting is None:
            raise BadSetting(f"There is no option {flag}")
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
