"""Projects and scopes as a tree, what the server is and how it does, and its keys."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Annotated, Any, Literal, Protocol

from polymnia.dialects.explorer import shapes
from polymnia.dialects.explorer.shapes import Project, operation
from polymnia.dialects.shapes import about as described
from polymnia.engine.text.calendar import moment
from polymnia.engine.transfer.downloads import FORMATS
from polymnia.errors import Conflict, Invalid, NotAllowed, NotFound, Refused
from polymnia.models import JsonObject
from polymnia.operation import Context, Operation

_COUNTED = 32  # projects whose vectors are counted
_LATEST = 1_000  # changes whose clients are listed
_KINDS = 50


@operation("about", "About", reads=True)
def about(context: Context) -> JsonObject:
    """What this server is, who calls, and what the key may do."""
    memory, grant = context.memory, context.memory.grant
    projects = memory.store.projects()
    try:
        own: str | None = memory.project
    except Refused:
        own = None
    if own is not None and own not in projects:
        projects = [own, *projects]  # nothing is stored in it yet
    return {
        "name": "polymnia",
        "version": context.version,
        "user": memory.author.user,
        "projects": projects,
        "project": own,
        "access": {
            "write": grant.write,
            "manage": context.manages,
            "all_projects": grant.projects is None,
            "key": bool(context.key),
        },
        "formats": {"export": list(FORMATS), "import": ["graph", "archive", "project"]},
        "limits": {
            "message_bytes": memory.limits.inline_bytes * 4,
            "text_bytes": memory.limits.text_bytes,
            "name_bytes": memory.limits.name_bytes,
            "batch": memory.limits.batch,
        },
    }


@operation("tree", "Projects and scopes", reads=True)
def tree(context: Context, project: Project | None = None) -> JsonObject:
    """Projects and their scopes with counts, and the kinds of memories in each."""
    found = []
    for memory in shapes.opened(context.memory, project):
        scopes = memory.scopes()
        with memory.store.read(memory.project) as snapshot:
            memories, relations = snapshot.count()
            kinds = list(snapshot.kinds().items())[:_KINDS]
        shown = [
            {"path": one.path, "memories": one.memories, "total": one.total, "children": list(one.children)}
            for one in scopes
        ]
        found.append(
            {
                "project": memory.project,
                "memories": memories,
                "relations": relations,
                "scopes": shown,
                "kinds": kinds,
            }
        )
    return {"projects": found}


@operation("move_scope", "Move a scope", destroys=True)
def move_scope(
    context: Context,
    from_: Annotated[str, described("The scope, which moves with everything below it.")],
    to: Annotated[str, described("Its new path.")],
    project: Project | None = None,
) -> JsonObject:
    """Move a scope with everything below it, as one change; into one that is there, both are joined."""
    memory = shapes.in_project(context.memory, project)
    if (to.strip("/") + "/").startswith(from_.strip("/") + "/"):
        hint = "Choose a path that is not below it."
        raise Invalid("A scope cannot move into itself", field="to", hint=hint)
    done = memory.rename_scope(from_.strip("/"), to.strip("/"), step=context.step)
    return {"moved": len(done.moved)}


def health(figures: Callable[[], JsonObject]) -> Operation:
    """The operation ``health``; ``figures`` are those of the server."""

    @operation("health", "Health", reads=True)
    def health(context: Context) -> JsonObject:
        """Sizes, texts without a vector, the clients of the newest changes, and the limits of the server."""
        memories = shapes.opened(context.memory)
        about = dict(context.memory.store.about())
        if "path" in about:
            about["path"] = context.place(str(about["path"]))
        if context.memory.grant.projects is not None:
            about.pop("bytes", None)  # of all projects
        projects, clients = [], dict[tuple[str, str], JsonObject]()
        for at, memory in enumerate(memories):
            with memory.store.read(memory.project) as snapshot:
                count, relations = snapshot.count()
                models = {name: vectors for name, (_, vectors) in snapshot.models().items()}
            pending = memory.finding().health(memory.project).pending if at < _COUNTED else None
            projects.append(
                {
                    "project": memory.project,
                    "memories": count,
                    "relations": relations,
                    "vectors": models,
                    "pending": pending,
                }
            )
            for one in memory.changes(max(100, _LATEST // len(memories))):
                if one.client is not None:
                    client = clients.setdefault(
                        (memory.project, one.client),
                        {
                            "client": one.client,
                            "who": one.who,
                            "project": memory.project,
                            "last": moment(one.at),
                            "changes": 0,
                        },
                    )
                    client["changes"] += 1
        measured = None if context.counters is None else context.counters.measured()
        return {
            "status": "ready",
            "version": context.version,
            "store": about,
            "projects": projects,
            "clients": sorted(clients.values(), key=lambda one: str(one["last"]), reverse=True),
            "calls": None if measured is None else {"requests": measured.requests, "errors": measured.errors},
            **figures(),
        }

    return health


# ── keys ──────────────────────────────────────────────────────────────────────────────────────────────────


class Keys(Protocol):
    """The file of keys of a server."""

    @property
    def used(self) -> bool:
        """Whether there are keys, or were some."""

    def keys(self) -> list[Any]:
        """All keys."""

    def add(
        self, name: str, *, projects: tuple[str, ...] | None, write: bool, metrics: bool, manage: bool
    ) -> tuple[Any, str]:
        """Create a key; returns it and its text."""

    def revoke(self, id: str) -> Any:
        """Remove a key and return it."""


def key_operations(file: Keys) -> Sequence[Operation]:
    """The operations on the keys of a file."""

    @operation("keys", "Keys", reads=True)
    def keys(context: Context) -> JsonObject:
        """The keys of this server, without their secrets."""
        _check_right(context)
        known = file.keys()
        return {"keys": [_shown(one, context) for one in known], "needed": file.used}

    @operation("create_key", "Make a key")
    def create_key(
        context: Context,
        name: Annotated[str, described("Whose it is.")],
        access: Literal["read", "write", "manage", "metrics"],
        projects: Annotated[list[str], described("Projects it opens; all by default.")] | None = None,
    ) -> JsonObject:
        """Make a key. Its secret is answered this once and kept nowhere."""
        _check_right(context)
        if access in ("manage", "metrics") and projects:
            what = "opens all projects" if access == "manage" else "opens no project"
            raise Invalid(f"A key with the right {access} {what}", field="projects", hint="Leave projects out.")
        if projects is not None and not projects:
            raise Invalid("projects is empty", field="projects", hint="Leave it out for all projects, or name some.")
        if access != "manage" and not file.used:
            hint = "Make one with the right manage first, and use it from then on."
            raise Refused("The first key must have the right manage: from then on every call needs a key", hint=hint)
        opens = () if access == "metrics" else None if projects is None else tuple(projects)
        key, secret = file.add(
            name, projects=opens, write=access in ("write", "manage"), metrics=access == "metrics",
            manage=access == "manage",
        )  # fmt: skip
        return {"key": _shown(key, context), "secret": secret}

    @operation("revoke_key", "Revoke a key", destroys=True)
    def revoke_key(context: Context, id: Annotated[str, described("Its id.")]) -> JsonObject:
        """Revoke a key: it opens nothing from then on."""
        _check_right(context)
        known = file.keys()
        key = next((one for one in known if one.id == id), None)
        if key is None:
            raise NotFound([id], "Key", hint="The list of keys has the ids.")
        if key.manage and len(known) > 1 and sum(one.manage for one in known) == 1:
            hint = "Make another key with the right manage first, or use `polymnia keys revoke`."
            raise Conflict("This is the last key that manages the others", hint=hint)
        return {"revoked": _shown(file.revoke(id), context)}

    return keys, create_key, revoke_key


def _check_right(context: Context) -> None:
    if not context.manages:
        hint = "Use a key that was made with: polymnia keys add NAME --access manage"
        raise NotAllowed("This key may not manage keys", hint=hint)


def _shown(key: Any, context: Context) -> JsonObject:
    access = "metrics" if key.metrics else "manage" if key.manage else "write" if key.write else "read"
    return {
        "id": key.id,
        "name": key.name,
        "projects": None if key.projects is None else list(key.projects),
        "access": access,
        "created": moment(key.created),
        "current": key.id == context.key,
        "user": key.user,
        "expires": None if key.expires is None else moment(key.expires),
        "limits": {"calls": key.calls, "memories": key.memories, "texts": key.texts},
    }
