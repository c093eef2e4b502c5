"""Everything that can go wrong, as a tree. Imports nothing.

    Fault                     something could not be done; nothing was changed
    ├── Invalid               the caller's words are not legal
    │   ├── BadArguments      arguments do not fit the operation's shape
    │   ├── BadText           a text holds what no memory may hold (NUL, half a surrogate pair)
    │   ├── EmptyList         a list that must name something names nothing
    │   ├── OverLimit         larger than a limit, which the message names
    │   └── UnknownOperation  no tool, prompt, resource or command of that name
    ├── NotFound              no memory of that name in this project
    │   └── MissingEnds       a relation names a memory that does not exist
    ├── AlreadyExists         a name is taken
    ├── ManyTexts             a memory has several observations, and one text would replace them all
    ├── Conflict              a later change stands in the way
    ├── Cancelled             the caller withdrew the request
    ├── Refused               a rule of this server does not allow it
    │   └── NotAllowed        the key does not open this project, or only for reading
    ├── ExportFailed          an archive could not be written
    ├── ImportFailed          an archive could not be read, or holds what cannot be imported
    └── Unavailable           the store cannot serve
        ├── Busy              another process has held the store for too long
        ├── TooNew            the store was written by a newer Polymnia
        ├── NotAStore         the file is something else
        ├── Damaged           the store is broken
        │   └── BrokenFile    a JSON file is broken; says what was saved and where
        ├── NoLibrary         a library that not every installation has is missing
        ├── NoModel           a model for search by meaning cannot be had
        ├── NoSpace           the disk is full
        └── Forbidden         the operating system refuses to read or write here

A fault carries ``code`` (stable, for programs), ``message`` (what and why), ``hint`` (what to do)
and ``details`` (the data behind the message). How it looks to a client is each wire form's business.
"""

from __future__ import annotations

__all__ = ["Fault", "Invalid", "BadArguments", "BadText", "EmptyList", "OverLimit", "UnknownOperation", "NotFound"]
__all__ += ["MissingEnds", "AlreadyExists", "ManyTexts", "Conflict", "Cancelled", "Refused", "NotAllowed"]
__all__ += ["ExportFailed", "ImportFailed", "Unavailable", "Busy", "TooNew", "NotAStore", "Damaged", "BrokenFile"]
__all__ += ["NoLibrary", "NoModel", "NoSpace", "Forbidden"]


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
        self.word: object = None  # how the dialect that was spoken words it, where several are offered by one tool
        if hint is not None:
            self.hint = hint
        self.details = details


class Invalid(Fault):
    """The caller's words are not legal; nothing was read or changed."""

    hint = "Correct the value and call again."


class BadArguments(Invalid):
    """The arguments do not fit the operation's shape. ``violations`` lists every misfit."""

    hint = "Compare the arguments with the tool's input schema and call again."

    def __init__(self, operation: str, violations: list[Violation]) -> None:
        text = "; ".join(str(v) for v in violations)
        super().__init__(f"Invalid arguments for {operation}: {text}", operation=operation)
        self.operation = operation
        self.violations = violations


_KINDS = {"int": "a whole number", "number": "a number", "string": "a string", "array": "an array"}
_KINDS |= {"object": "an object", "boolean": "true or false"}
_SHORT = 40  # characters of a value that is quoted


class Violation:
    """One misfit: where it is, what was expected there, what was given.

    ``given`` is a kind of value, or ``undefined``, ``unknown`` (there is no such parameter) or ``empty``; ``provided``
    is the value itself. ``of`` names the item of a list it is in, ``near`` the parameter that may be meant.
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
            meant = f" (did you mean `{self.near}`?)" if self.near else ""
            return f"{where} is no parameter here{meant}, {self.expected}"
        if self.given == "empty":
            return f"{where} cannot be empty"
        return f"{where} must be {self.wanted}, got {self._got()}"

    @property
    def wanted(self) -> str:
        """What was expected, in words."""
        return _KINDS.get(self.expected, self.expected)

    def _got(self) -> str:
        """What was given: the value itself where it is short, else its kind."""
        value = self.provided
        if self.given == "string" and isinstance(value, str) and len(value) <= _SHORT:
            return f"the string {value!r}"
        if self.given == "number" and isinstance(value, int | float):
            return str(value)
        return {**_KINDS, "boolean": str(value).lower()}.get(self.given, self.given)


class BadText(Invalid):
    """A text holds what no memory may hold. ``field`` says which text."""

    hint = "Remove the character and call again."

    def __init__(self, field: str, what: str) -> None:
        super().__init__(f"{field} contains {what}, which cannot be stored", field=field, what=what)
        self.field = field


class EmptyList(Invalid):
    """A list that must name something is empty. ``field`` says which list."""

    hint = "Give at least one item."

    def __init__(self, field: str, of: str | None = None) -> None:
        super().__init__(f"{field} array cannot be empty" + (f": {of}" if of else ""), field=field, of=of)
        self.field = field
        self.of = of


class OverLimit(Invalid):
    """Larger than a limit. The message names the limit, its value and the setting that moves it."""

    hint = "Send less at once, or raise the limit in the settings."

    def __init__(self, field: str, size: int, unit: str, limit: int, setting: str) -> None:
        message = f"{field} has {size:,} {unit}, over the limit of {limit:,} (setting {setting})"
        super().__init__(message, field=field, size=size, limit=limit, setting=setting)


class UnknownOperation(Invalid):
    """No tool, prompt, resource or command of that name."""

    hint = "List what there is and use a name from it."


class NotFound(Fault):
    """No such thing in this project; nothing was changed. ``names`` lists every missing one."""

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
    """A later change stands in the way; nothing was changed. ``changes`` lists them."""

    hint = "Undo the later changes first."

    def __init__(self, message: str, *, changes: list[int] | None = None, hint: str | None = None) -> None:
        super().__init__(message, hint=hint, changes=changes or [])
        self.changes = changes or []


class Cancelled(Fault):
    """The caller withdrew the request; nothing was changed."""

    hint = "Call again when the result is wanted."


class Refused(Fault):
    """A rule of this server does not allow it: a setting, not a mistake. Nothing was changed."""

    hint = "Do what the message asks for, or ask whoever runs the server to change the setting it names."


class NotAllowed(Refused):
    """The caller's key does not open this project, or opens it only for reading. Nothing was changed."""

    hint = "Use a key that allows it, or ask whoever runs the server for one."


class ExportFailed(Fault):
    """An archive could not be written. What had its name before has it still."""

    hint = "Choose another name or place for the file and export again."


class ImportFailed(Fault):
    """An archive could not be read, or holds what cannot be imported; nothing was. ``problems`` lists every one."""

    hint = "Correct the archive and import it again; nothing was imported."

    def __init__(self, message: str, *, problems: list[str] | None = None, hint: str | None = None) -> None:
        super().__init__(message, hint=hint, problems=problems or None)
        self.problems = problems or []


class Unavailable(Fault):
    """The store cannot serve this request."""


class Busy(Unavailable):
    """Another process has held the store for longer than the busy timeout."""

    hint = "Look for a stopped or very long-running process that uses the same store, then try again."


class TooNew(Unavailable):
    """The store was written by a newer Polymnia."""

    hint = "Upgrade Polymnia, or choose another store with --store."


class NotAStore(Unavailable):
    """The file exists and is something else than a Polymnia store."""

    hint = "Choose another path with --store; the file was left as it is."


class Damaged(Unavailable):
    """The store is broken. It was left as it is."""

    hint = "Stop every process that uses it, keep a copy, and put a backup in its place."


class BrokenFile(Damaged):
    """A JSON file is broken. The message says what was saved and where it is."""

    hint = "Look at the files named in the message; nothing was overwritten."


class NoLibrary(Unavailable):
    """A library that not every installation has is missing."""

    hint = "Install Polymnia with its extra [oauth], and start the server anew."

    def __init__(self, library: str) -> None:
        super().__init__(
            f"This needs the library {library}, which is not installed",
            hint="Install Polymnia with its extra [oauth], as in: uv tool install '.[oauth]' or "
            "pip install '.[oauth]' in a checkout; then start the server anew.",
            library=library,
        )


class NoModel(Unavailable):
    """A model for search by meaning cannot be had. Words are searched all the same."""

    hint = "Install the package the message names, or choose another model with --embedder; search by words works."


class NoSpace(Unavailable):
    """The disk is full; the change was rolled back whole."""

    hint = "Free some space on the disk that holds the store and try again."


class Forbidden(Unavailable):
    """The operating system refuses to read or write here."""

    hint = "Check the permissions of the store and its folder, or choose another place with --store."
