"""The tree of faults. Imports nothing.

    Fault                     something could not be done; nothing was changed
    ├── Invalid               the caller's input is not valid
    │   ├── BadArguments      the arguments do not match the operation's schema
    │   ├── BadText           a text contains what no memory may contain (NUL, a lone surrogate)
    │   ├── EmptyList         a list that must not be empty is empty
    │   ├── OverLimit         a limit is exceeded; the message names it
    │   └── UnknownOperation  no tool, prompt, resource or command has that name
    ├── NotFound              no memory has that name in this project
    │   └── MissingEnds       a relation names a memory that does not exist
    ├── AlreadyExists         a name is taken
    ├── ManyTexts             a memory has several observations, and one text would replace them all
    ├── Conflict              a later change prevents it
    ├── Cancelled             the caller cancelled the request
    ├── Refused               a rule of this server does not allow it
    │   ├── NotAllowed        the key does not grant access to this project, or only read access
    │   └── OverQuota         the project would hold more than it may
    ├── ExportFailed          an archive could not be written
    ├── ImportFailed          an archive could not be read, or has records that cannot be imported
    └── Unavailable           the store cannot serve requests
        ├── Busy              another process has held the store for too long
        ├── Interrupted       the connection to the store was lost, or two changes collided; it can be tried again
        ├── TooNew            the store was written by a newer Polymnia
        ├── NotAStore         the file is something else
        ├── Damaged           the store is broken
        │   └── BrokenFile    a JSON file is broken; the message says what was saved and where
        ├── NoLibrary         an optional library is not installed
        ├── NoModel           a model for search by meaning is not available
        ├── NoSpace           the disk is full
        └── Forbidden         the operating system denies reading or writing here

A fault has a ``code`` (stable, for programs), a ``message`` (what and why), a ``hint`` (what to do)
and ``details`` (the data behind the message). Transports and dialects decide how a client sees it.
"""

from __future__ import annotations

__all__ = ["Fault", "Invalid", "BadArguments", "BadText", "EmptyList", "OverLimit", "UnknownOperation", "NotFound"]
__all__ += ["MissingEnds", "AlreadyExists", "ManyTexts", "Conflict", "Cancelled", "Refused", "NotAllowed", "OverQuota"]
__all__ += ["ExportFailed", "ImportFailed", "Unavailable", "Busy", "Interrupted", "TooNew", "NotAStore", "Damaged"]
__all__ += ["BrokenFile", "NoLibrary", "NoModel", "NoSpace", "Forbidden"]


class Fault(Exception):
    """Something could not be done, and nothing was changed."""

    code = "fault"
    """For programs: the name of the class in snake case."""
    hint = "Try again; if it happens again, please report it."

    def __init_subclass__(cls) -> None:
        cls.code = "".join(f"_{letter.lower()}" if letter.isupper() else letter for letter in cls.__name__)[1:]

    def __init__(self, message: str, *, hint: str | None = None, **details: object) -> None:
        super().__init__(message)
        self.message = message
        self.word: object = None  # the dialect's wording, if one tool serves several dialects
        if hint is not None:
            self.hint = hint
        self.details = details


class Invalid(Fault):
    """The caller's input is not valid; nothing was read or changed."""

    hint = "Correct the value and call again."


class BadArguments(Invalid):
    """The arguments do not match the operation's schema. ``violations`` lists every mismatch."""

    hint = "Compare the arguments with the tool's input schema and call again."

    def __init__(self, operation: str, violations: list[Violation]) -> None:
        text = "; ".join(str(v) for v in violations)
        super().__init__(f"Invalid arguments for {operation}: {text}", operation=operation)
        self.operation = operation
        self.violations = violations


_KINDS = {"int": "a whole number", "number": "a number", "string": "a string", "array": "an array"}
_KINDS |= {"object": "an object", "boolean": "true or false"}
_SHORT = 40  # characters up to which a value is quoted


class Violation:
    """One mismatch: its path, what was expected there, and what was given.

    ``given`` is a type, or ``undefined``, ``unknown`` (there is no such parameter) or ``empty``; ``provided`` is the
    value itself. ``of`` names the list item it is in, ``near`` the parameter that was probably intended.
    """

    __slots__ = ("expected", "given", "near", "of", "path", "provided", "range")

    def __init__(
        self,
        path: str,
        expected: str,
        given: str,
        range: tuple[float, float] | None = None,
        *,
        provided: object = None,
        of: str | None = None,
        near: str | None = None,
    ) -> None:
        self.path = path
        self.expected = expected
        self.given = given
        self.range = range
        self.provided = provided
        self.of = of
        self.near = near

    def __str__(self) -> str:
        where = f"`{self.path}`" if self.path else "the arguments"
        if self.of:
            where += f" (of {self.of[:80]!r})"
        if self.given == "undefined":
            return f"{where} is required ({self.expected})"
        if self.given == "unknown":
            suggestion = f" (did you mean `{self.near}`?)" if self.near else ""
            return f"{where} is no parameter here{suggestion}, {self.expected}"
        if self.given == "empty":
            return f"{where} cannot be empty"
        return f"{where} must be {self.wanted}, got {self._got()}"

    @property
    def wanted(self) -> str:
        """What was expected, in words."""
        return _KINDS.get(self.expected, self.expected)

    def _got(self) -> str:
        """What was given: the value itself if it is short, else its type."""
        value = self.provided
        if self.given == "string" and isinstance(value, str) and len(value) <= _SHORT:
            return f"the string {value!r}"
        if self.given == "number" and isinstance(value, int | float):
            return str(value)
        return {**_KINDS, "boolean": str(value).lower()}.get(self.given, self.given)


class BadText(Invalid):
    """A text contains what no memory may contain. ``field`` says which text."""

    hint = "Remove the character and call again."

    def __init__(self, field: str, what: str) -> None:
        super().__init__(f"{field} contains {what}, which cannot be stored", field=field, what=what)
        self.field = field


class EmptyList(Invalid):
    """A list that must not be empty is empty. ``field`` says which list."""

    hint = "Give at least one item."

    def __init__(self, field: str, of: str | None = None) -> None:
        super().__init__(f"{field} array cannot be empty" + (f": {of}" if of else ""), field=field, of=of)
        self.field = field
        self.of = of


class OverLimit(Invalid):
    """A limit is exceeded. The message names the limit, its value and the setting that changes it."""

    hint = "Send less at once, or raise the limit in the settings."

    def __init__(self, field: str, size: int, unit: str, limit: int, setting: str) -> None:
        message = f"{field} has {size:,} {unit}, over the limit of {limit:,} (setting {setting})"
        super().__init__(message, field=field, size=size, limit=limit, setting=setting)


class UnknownOperation(Invalid):
    """No tool, prompt, resource or command has that name."""

    hint = "List what there is and use a name from it."


class NotFound(Fault):
    """Something does not exist in this project; nothing was changed. ``names`` lists everything missing."""

    hint = "Check the spelling, or create it first."

    def __init__(
        self,
        names: list[str],
        what: str = "Entities",
        *,
        hint: str | None = None,
        near: list[str] | None = None,
        message: str | None = None,
    ) -> None:
        super().__init__(message or f"{what} not found: {', '.join(map(repr, names))}", hint=hint, names=names)
        self.names = names
        if near:
            self.details["nearest"] = near
            self.hint = f"{self.hint} The nearest there {'is' if len(near) == 1 else 'are'}: {', '.join(near)}."


class AlreadyExists(Fault):
    """A name is taken; nothing was changed. ``names`` lists every taken one."""

    hint = "Use add_observations to extend it, or delete it first."

    def __init__(self, names: list[str]) -> None:
        super().__init__(f"Already exists: {', '.join(map(repr, names))}", names=names)
        self.names = names


class MissingEnds(NotFound):
    """A relation names a memory that does not exist; no relation was stored."""

    hint = "Create both entities before relating them."


class ManyTexts(Fault):
    """A memory has several observations, and one text would replace them all; nothing was changed."""

    hint = (
        "Use add_observations to add one and delete_observations to remove one; "
        "everything but the text can be changed here."
    )

    def __init__(self, name: str, count: int) -> None:
        message = f"{name!r} has {count} observations, and content would replace all of them"
        super().__init__(message, field="content", name=name, observations=count)
        self.name = name


class Conflict(Fault):
    """Later changes prevent it; nothing was changed. ``changes`` lists them."""

    hint = "Undo the later changes first."

    def __init__(self, message: str, *, changes: list[int] | None = None, hint: str | None = None) -> None:
        super().__init__(message, hint=hint, changes=changes or [])
        self.changes = changes or []


class Cancelled(Fault):
    """The caller cancelled the request; nothing was changed."""

    hint = "Call again when the result is wanted."


class Refused(Fault):
    """A rule of this server does not allow it: a setting, not a mistake. Nothing was changed."""

    hint = "Do what the message asks for, or ask whoever runs the server to change the setting it names."


class NotAllowed(Refused):
    """The caller's key does not grant access to this project, or only read access. Nothing was changed."""

    hint = "Use a key that allows it, or ask whoever runs the server for one."


class OverQuota(Refused):
    """The project would hold more than the server or the caller's key allows. Nothing was changed."""

    hint = "Delete what is no longer needed, or ask whoever runs the server to raise the limit."


class ExportFailed(Fault):
    """An archive could not be written. An existing file of that name was not changed."""

    hint = "Choose another name or place for the file and export again."


class ImportFailed(Fault):
    """An archive could not be read, or has records that cannot be imported; nothing was. ``problems`` lists them."""

    hint = "Correct the archive and import it again; nothing was imported."

    def __init__(self, message: str, *, problems: list[str] | None = None, hint: str | None = None) -> None:
        super().__init__(message, hint=hint, problems=problems or None)
        self.problems = problems or []


class Unavailable(Fault):
    """The store cannot serve this request."""


class Busy(Unavailable):
    """Another process has held the store for longer than the busy timeout."""

    hint = "Look for a stopped or very long-running process that uses the same store, then try again."


class Interrupted(Unavailable):
    """The connection to the store was lost, or two changes collided; nothing was changed."""

    hint = "Call again."


class TooNew(Unavailable):
    """The store was written by a newer Polymnia."""

    hint = "Upgrade Polymnia, or choose another store with --store."


class NotAStore(Unavailable):
    """The file exists but is not a Polymnia store."""

    hint = "Choose another path with --store; the file was left as it is."


class Damaged(Unavailable):
    """The store is broken. It was not changed."""

    hint = "Stop every process that uses it, keep a copy, and put a backup in its place."


class BrokenFile(Damaged):
    """A JSON file is broken. The message says what was saved and where."""

    hint = "Look at the files named in the message; nothing was overwritten."


class NoLibrary(Unavailable):
    """An optional library is not installed."""

    hint = "Install Polymnia with the extra that has it, and start the server anew."

    def __init__(self, library: str, extra: str = "oauth") -> None:
        super().__init__(
            f"This needs the library {library}, which is not installed",
            hint=f"Install Polymnia with its extra [{extra}], as in: uv tool install '.[{extra}]' or "
            f"pip install '.[{extra}]' in a checkout; then start the server anew.",
            library=library,
        )


class NoModel(Unavailable):
    """A model for search by meaning is not available. Search by words still works."""

    hint = "Install the package the message names, or choose another model with --embedder; search by words works."


class NoSpace(Unavailable):
    """The disk is full; the change was rolled back completely."""

    hint = "Free some space on the disk that holds the store and try again."


class Forbidden(Unavailable):
    """The operating system denies reading or writing here."""

    hint = "Check the permissions of the store and its folder, or choose another place with --store."
