"""What ``polymnia`` alone shows on a terminal: what is in the memory, and three things to do next."""

from __future__ import annotations

from collections.abc import Iterator

from polymnia import app
from polymnia.cli.console import CommandResult, counted, dim, labelled, line, strong
from polymnia.cli.history import change_data
from polymnia.cli.install import survey
from polymnia.cli.install.machine import this_machine
from polymnia.engine.content import title_of
from polymnia.models import JsonObject
from polymnia.settings import Settings

_NEWEST = 3


def overview(chosen: Settings) -> CommandResult:
    """Show the memory in a few lines."""
    found = _memory(chosen)
    ways = _next(found, list(survey(this_machine())))
    column = max(len(command) for command, _ in ways) + 4
    lines = [
        *_shown(found),
        "",
        "What to do next:",
        *(labelled(command, about, column, 2) for command, about in ways),
        dim("polymnia --help lists every command."),
    ]
    return CommandResult(found | {"next": [command for command, _ in ways]}, lines)


def _memory(chosen: Settings) -> JsonObject:
    """What the store has, if there is one."""
    place = chosen.store or app.default_store()
    found: JsonObject = {"store": place, "exists": False, "project": chosen.project, "projects": 0}
    found |= {"memories": 0, "relations": 0, "changed": None, "newest": []}
    if chosen.file is None and app.has_no_store(chosen):
        return found
    with app.open_memory(chosen, "cli", create=False) as memory:
        memories, relations = memory.count()
        changes = memory.changes(1)
        return found | {
            "store": memory.store.about()["path"],
            "exists": True,
            "projects": len(memory.store.projects()),
            "memories": memories,
            "relations": relations,
            "changed": change_data(changes[0]) if changes else None,
            "newest": [title_of(record) for record in memory.page(1, _NEWEST)[0]],
        }


def _shown(found: JsonObject) -> Iterator[str]:
    if not found["exists"]:
        yield f"{strong('Polymnia')} has no memory here yet: {found['store']}"
        return
    counts = f"{counted(found['memories'], 'memory')} and {counted(found['relations'], 'relation')}"
    others = f", {counted(found['projects'], 'project')} in all" if found["projects"] > 1 else ""
    yield f"{strong('Polymnia')} keeps {counts} in project {found['project']!r}{others}."
    yield dim(line(str(found["store"])))
    if (change := found["changed"]) is not None:
        yield dim(f"Last change {change['at'][:16]}: {change['action']} by {change['who']}.")
    if found["newest"]:
        yield "Newest:"
        yield from (f"  {line(title, 2)}" for title in found["newest"])


def _next(found: JsonObject, clients: list[JsonObject]) -> list[tuple[str, str]]:
    """Three commands that are of use now, and what for."""
    without = next((one["client"] for one in clients if one["state"] == "found"), None)
    installed = any(one["state"] == "installed" for one in clients)
    ways: list[tuple[str, str]] = []
    if without is not None:
        ways.append((f"polymnia install {without}", "give your AI client this memory"))
    elif not installed:
        ways.append(("polymnia install --list", "which AI clients can have this memory"))
    if not found["memories"]:
        ways.append(('polymnia add "Ann likes green tea"', "remember something"))
        ways.append(("polymnia import FILE", "take in what another memory has"))
        ways.append(("polymnia demo", "a short tour on a temporary store"))
    else:
        ways.append(('polymnia search "…"', "find memories by words and by meaning"))
        ways.append(("polymnia analyze conflicts", "what cannot both be true"))
        ways.append(("polymnia changes", "who changed what, and when"))
    return ways[:3]
