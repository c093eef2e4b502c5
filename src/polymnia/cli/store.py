"""Commands on the store: backup, restore, migrate, reindex, health."""

from __future__ import annotations

import shlex
import signal
import sys
import threading
from argparse import Namespace
from collections.abc import Callable, Iterator
from contextlib import ExitStack

import msgspec

from polymnia import app
from polymnia.app import damaged_models, missing_models, open_memory
from polymnia.cli.console import CommandResult, bar, counted, dim, fields, green, labelled, red, strong
from polymnia.dialects.content.reports.health import broken_index
from polymnia.engine.health.integrity import damaged_indexes
from polymnia.engine.ports.maintenance import Copied
from polymnia.engine.search.worker import Health
from polymnia.errors import Fault, Invalid
from polymnia.importing import importing
from polymnia.models import JsonObject
from polymnia.settings import Settings, duration, has_password

_SEARCH = "passages waiting_words pending models"


def backup(arguments: Namespace, chosen: Settings) -> CommandResult:
    """Copy the store, and verify the copy; into a folder once, or again and again."""
    if arguments.every is not None or arguments.keep is not None:
        return _back_up_to_folder(arguments, chosen)
    with open_memory(chosen, "cli", create=False) as memory:
        copied = memory.store.back_up(arguments.path, overwrite=arguments.force)
    lines = [
        f"Backed up to {copied.path}, and verified: {_content(copied)}.",
        dim(f"`polymnia restore {shlex.quote(arguments.path)}` brings it back."),
    ]
    return CommandResult(msgspec.to_builtins(copied), lines)


def _back_up_to_folder(arguments: Namespace, chosen: Settings) -> CommandResult:
    if arguments.force:
        raise Invalid(
            "--force is for a file", hint="With --every or --keep a new file is made in the folder each time."
        )
    with importing():
        from polymnia.app.backups import KEEP, BackupSchedule, run

    every = 0.0 if arguments.every is None else duration(arguments.every, "--every")
    schedule = BackupSchedule(arguments.path, every, arguments.keep or KEEP)
    with open_memory(chosen, "cli", create=False) as memory:
        if arguments.every is None:
            copied = schedule.make(memory.store)
            return CommandResult(msgspec.to_builtins(copied), [_made(copied)])

        def made(copied: Copied) -> None:
            text = msgspec.json.encode(copied).decode() if arguments.json else _made(copied)
            print(text, flush=True)

        def failed(fault: Fault) -> None:
            print(f"polymnia: {fault.message}\n{fault.hint}", file=sys.stderr, flush=True)

        stop = threading.Event()
        for number in (signal.SIGINT, signal.SIGTERM):
            signal.signal(number, lambda *_: stop.set())
        run(memory.store, schedule, stop, made, failed)
    return CommandResult()


def _made(copied: Copied) -> str:
    return f"Backed up to {copied.path}, and verified: {_content(copied)}."


def restore(arguments: Namespace, chosen: Settings) -> CommandResult:
    """Replace the store by a backup."""
    with open_memory(chosen, "cli") as memory:
        restored = memory.store.restore(arguments.path)
    lines = [f"Restored from {restored.copied.path}: {_content(restored.copied)}."]
    if restored.kept is not None:
        lines.append(f"What was there before is kept in {restored.kept}; `polymnia restore` brings that back too.")
    return CommandResult(msgspec.to_builtins(restored), lines)


def _content(copied: Copied) -> str:
    memories, relations = counted(copied.memories, "memory"), counted(copied.relations, "relation")
    return f"{memories}, {relations}, {counted(copied.changes, 'change')}"


def migrate(arguments: Namespace, chosen: Settings) -> CommandResult:
    """Copy a store into another one, and verify the copy."""
    begun = False
    for option, place in (("--from", arguments.source), ("--to", arguments.target)):
        if has_password(place):
            raise Invalid(
                f"{option} has a password, which everybody who can list processes would read",
                hint="Keep it in ~/.pgpass or PGPASSWORD, and leave it out of the address.",
            )

    def step(done: int, total: int) -> None:
        nonlocal begun
        begun = True
        draw(done, total)

    try:
        with bar("Copying and comparing rows") as draw:
            moved = app.migrate(arguments.source, arguments.target, step, busy_timeout=chosen.busy_timeout)
    except (Fault, KeyboardInterrupt):
        if begun:
            print("Not finished. What was copied stays; run it again to go on.", file=sys.stderr)
        raise
    projects, memories = counted(moved.projects, "project"), counted(moved.tables["memory"], "memory")
    lines = [
        f"Copied {moved.source} to {moved.target}, and compared {counted(moved.rows, 'row')}: {projects}, {memories}, "
        f"{counted(moved.tables['relation'], 'relation')}, {counted(moved.tables['change'], 'change')}.",
        dim("The source still holds all of it. Start servers and commands with the new place as their --store."),
    ]
    return CommandResult(msgspec.to_builtins(moved), lines)


class _Progress:
    """A progress bar for the words and then for each model, and how much was done for each."""

    def __init__(self, bars: ExitStack) -> None:
        self.done: dict[str, int] = {}
        self._bars = bars
        self._step: Callable[[int, int], None] = lambda done, total: None

    def __call__(self, what: str, done: int, total: int) -> None:
        if what not in self.done:
            self._bars.close()
            self._step = self._bars.enter_context(bar("Words" if what == "words" else f"Vectors of {what}"))
        self.done[what] = done
        self._step(done, total)


def reindex(arguments: Namespace, chosen: Settings) -> CommandResult:
    """Bring all words and vectors up to date. Finished work is stored, so it can be interrupted and resumed."""
    data: JsonObject = {}
    with open_memory(chosen, "cli", create=False) as memory:
        projects = memory.store.projects() if arguments.all_projects else [chosen.project]
        for project in projects:
            before = memory.finding().health(project)
            try:
                with ExitStack() as bars:
                    progress = _Progress(bars)
                    after = memory.finding().reindex(project, progress, anew=arguments.anew)
            except KeyboardInterrupt:
                print(f"Stopped. {_summary(progress.done)} stays; run it again to go on.", file=sys.stderr)
                raise
            removed = sum(m["vectors"] for name, m in before.models.items() if name not in after.models)
            data[project] = {"done": progress.done, "removed": removed, **fields(after, _SEARCH)}
            if not arguments.json:
                CommandResult(lines=_reindexed(project, progress.done, removed, after)).print(as_json=False)
    return CommandResult(data)


def _summary(done: dict[str, int]) -> str:
    parts = [
        counted(count, "text") + " indexed" if what == "words" else f"{counted(count, 'vector')} of {what}"
        for what, count in done.items()
    ]
    return ", ".join(parts) or "What was there"


def _reindexed(project: str, done: dict[str, int], removed: int, after: Health) -> list[str]:
    lines = [f"{strong(project)}: {_summary(done) if done else 'everything was up to date'}."]
    if removed:
        lines.append(dim(f"  {counted(removed, 'vector')} of models that are not in use went."))
    return [*lines, dim(f"  {counted(after.passages, 'passage')} can be searched by words{_by_meaning(after)}.")]


def _by_meaning(after: Health) -> str:
    used = [f"{model['vectors']:,} by the meaning {name} sees" for name, model in after.models.items()]
    return "".join(f", {one}" for one in used) or "; there is no model for meaning (--embedder none)"


def health(arguments: Namespace, chosen: Settings) -> CommandResult:
    """Report the state of the store and its search; the exit code is 1 if something is broken."""
    with open_memory(chosen, "cli", create=False) as memory:
        finder = memory.finding()
        for channel in finder.channels:
            channel.load()  # only a model that has been loaded is known to work
        search = fields(finder.health(memory.project), _SEARCH)
        counts = {}
        for project in memory.store.projects():
            with memory.store.read(project) as snapshot:
                counts[project] = snapshot.count()
        entities, relations = memory.count()
        about = memory.store.about()
        damaged = [broken_index(one) for one in damaged_indexes(memory.store, counts, whole=True)]
    fault = damaged_models(chosen)
    if fault is not None and all(model["why"] != fault.message for model in search["models"].values()):
        about_model = {"what": fault.message, "where": [], "how": fault.hint, "vectors": False}
        damaged.append({"kind": "model_file", "project": None, **about_model})
    well = not damaged and all(model["state"] != "broken" for model in search["models"].values())
    data = {
        "well": well,
        "store": about,
        "projects": {name: {"memories": m, "relations": r} for name, (m, r) in counts.items()},
        "project": chosen.project,
        "memories": entities,
        "relations": relations,
        **search,
        "missing": missing_models(chosen),
        "damaged": damaged,
    }
    return CommandResult(data, _health_lines(data), code=0 if well else 1)


def _health_lines(data: JsonObject) -> Iterator[str]:
    store = data["store"]
    yield _said("store", f"{store['path']}, format {store['format']}, {counted(store['bytes'], 'byte')}")
    if "file" in store:
        yield _said("file", store["file"])
    names = [f"{name} {dim('(' + counted(one['memories'], 'memory') + ')')}" for name, one in data["projects"].items()]
    yield _said("projects", ", ".join(names) or "none yet")
    counts = [counted(data["memories"], "memory"), counted(data["relations"], "relation")]
    yield _said("project", f"{data['project']}: {', '.join([*counts, counted(data['passages'], 'passage')])}")
    waiting = f"{counted(data['waitingWords'], 'row')} not in the index yet, searched all the same"
    yield _said("words", waiting if data["waitingWords"] else "all in the index")
    for name, model in data["models"].items():
        state = {"broken": red, "ready": green}.get(model["state"], dim)(model["state"])
        waits = f", {counted(model['pending'], 'passage')} waiting for theirs" if model["pending"] else ""
        yield _said("meaning", f"{name}: {state}, {counted(model['vectors'], 'vector')}{waits}")
        if model["why"]:
            yield _said("", model["why"])
    if not data["models"]:
        yield _said("meaning", "no model (--embedder none): search goes by words alone")
    if data["missing"]:
        yield _said("missing", data["missing"])
    for one in data["damaged"]:
        where = f" {dim('(' + one['project'] + ')')}" if one["project"] else ""
        yield _said("damaged", f"{red(one['what'])}{where}")
        yield _said("", one["how"])
    if any(model["state"] == "broken" for model in data["models"].values()):
        yield red("Not well: a broken model takes no part in search until it is mended.")


def _said(what: str, text: str) -> str:
    return labelled(strong(what) if what else "", text, 10)
