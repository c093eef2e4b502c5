"""Checks the health of a server by exercising each component the way clients do."""

from __future__ import annotations

import os
import sys
import threading
import time
from collections.abc import Callable, Collection, Sequence
from typing import TYPE_CHECKING, Any, Literal, TypeAlias, get_args

from msgspec import Struct

from polymnia.engine.content import read_as
from polymnia.engine.health.counters import Counters, Performance
from polymnia.engine.health.integrity import damaged_indexes
from polymnia.engine.ports import Store
from polymnia.engine.ports.maintenance import CheckRequest
from polymnia.engine.search import Analysis
from polymnia.errors import Busy, Fault, Invalid
from polymnia.models import JsonObject, Record

if TYPE_CHECKING:
    from polymnia.engine.memory import Memory
    from polymnia.engine.search.finder import Channel
    from polymnia.engine.search.neighbours import Nearby

ComponentName = Literal["database", "vector_store", "ai_service", "cache"]
COMPONENTS: tuple[ComponentName, ...] = get_args(ComponentName)

Status = Literal["healthy", "degraded", "unhealthy"]
_WORSE: tuple[Status, ...] = get_args(Status)
_WORD = "water"
_WAIT = 5.0  # seconds a component has to respond; its work continues in its thread
_SLOW = 1.0  # seconds after which a response counts as slow
_LONG_LOG = 1 << 30  # bytes; far beyond what one large change produces
_COUNTED = 32  # projects whose vectors are counted: each is loaded into memory, which holds 64
_LENGTH = 0.05  # tolerance for the length of a unit vector


class Component(Struct, frozen=True, kw_only=True):
    """A component's status, the reason, the time of the check (microseconds since 1970), and its metrics."""

    status: Status
    message: str
    checked: int
    metrics: JsonObject


class Resources(Struct, frozen=True, kw_only=True):
    """Resource usage: bytes of memory and disk, and open connections to the store's file."""

    memory: int
    storage: int
    connections: int


class HealthReport(Struct, frozen=True, kw_only=True):
    """The checked components and their worst status. ``performance`` is None if requests are not counted."""

    status: Status
    components: dict[str, Component]
    resources: Resources
    performance: Performance | None = None


def _worst(statuses: list[Status]) -> Status:
    return max(statuses, key=_WORSE.index, default="healthy")


def check(
    memory: Memory,
    *,
    projects: Sequence[str] = (),
    components: Collection[str] | None = None,
    detailed: bool = False,
    counters: Counters | None = None,
) -> HealthReport:
    """Check each component. ``detailed`` reads the whole file and reports more metrics.

    The metrics cover all ``projects``, or the memory's own project if none are given. Never waits longer than a few
    seconds for an operation, and never raises because a component fails.
    """
    unknown = [name for name in components or () if name not in COMPONENTS]
    if unknown:
        raise Invalid(f"components has {unknown[0]!r:.60}, but must be of: {', '.join(COMPONENTS)}", field="components")
    parts: dict[str, Component] = {}
    for name in COMPONENTS:
        if not components or name in components:
            parts[name] = _tried(_CHECKS[name], memory, list(projects) or [memory.project], detailed)
    return HealthReport(
        status=_worst([one.status for one in parts.values()]),
        components=parts,
        resources=_resources(memory.store),
        performance=None if counters is None else counters.measured(),
    )


class _Probe:
    """A component being checked: its findings and metrics."""

    def __init__(self) -> None:
        self.found: list[tuple[Status, str]] = []
        self.metrics: JsonObject = {}

    @property
    def status(self) -> Status:
        return _worst([status for status, _ in self.found])

    @property
    def why(self) -> str:
        return "; ".join(message for status, message in self.found if status != "healthy")

    def say(self, status: Status, message: str) -> None:
        self.found.append((status, message))

    def timed(self, name: str, work: Callable[[], Any]) -> Any:
        """Run something in a separate thread and time it. Returns None if it failed or timed out."""
        done: list[Any] = []
        failed: list[BaseException] = []

        def run() -> None:
            try:
                done.append(work())
            except BaseException as e:
                failed.append(e)

        started = time.perf_counter()
        thread = threading.Thread(target=run, name="polymnia-condition", daemon=True)
        thread.start()
        thread.join(_WAIT)
        elapsed = time.perf_counter() - started
        self.metrics[f"{name}_ms"] = round(elapsed * 1000, 3)
        if failed:
            # A busy store may be free in a moment; other failures do not resolve themselves.
            self.say("degraded" if isinstance(failed[0], Busy) else "unhealthy", f"{name}: {_reason(failed[0])}")
            return None
        if not done:
            self.say("degraded", f"{name}: no answer within {_WAIT:g} s")
            return None
        if elapsed > _SLOW:
            self.say("degraded", f"{name} took {elapsed:.1f} s")
        return done[0]


_ComponentCheck: TypeAlias = Callable[[_Probe, "Memory", list[str], bool], str]


def _reason(error: BaseException) -> str:
    return error.message if isinstance(error, Fault) else f"{type(error).__name__}: {error}"


def _tried(examine: _ComponentCheck, memory: Memory, projects: list[str], detailed: bool) -> Component:
    probe = _Probe()
    try:
        message = examine(probe, memory, projects, detailed)
    except Exception as e:
        # A failure of the component is the result of the check.
        probe.say("unhealthy", _reason(e))
        message = ""
    now = time.time_ns() // 1000
    return Component(status=probe.status, message=probe.why or message, checked=now, metrics=probe.metrics)


class _Rollback(Exception):
    """Rolls back a trial change."""


def _database(look: _Probe, memory: Memory, projects: list[str], detailed: bool) -> str:
    """Read, write (and roll back), and if detailed read the whole file; each only if the caller is permitted to."""
    store, grant = memory.store, memory.grant

    def read() -> tuple[int, int, int]:
        memories = relations = change = 0
        for project in projects:
            with store.read(project) as snapshot:
                here = snapshot.count()
                memories, relations = memories + here[0], relations + here[1]
                change = max(change, snapshot.numbers[3])
        return memories, relations, change

    def write() -> bool:
        try:
            with store.write(projects[-1], memory.author, "check_system_health") as tx:
                tx.note("health", None)
                raise _Rollback
        except _Rollback:
            return True

    counted = look.timed("read", read)
    if counted is None:
        return ""
    memories, relations, change = counted
    look.metrics |= {"memories": memories, "relationships": relations, "last_change": change}
    about = store.about()
    for key in ("kind", "format", "bytes", "log_bytes", "connections"):
        if key in about:
            look.metrics[key] = about[key]
    if about.get("log_bytes", 0) > _LONG_LOG:
        look.say("degraded", f"the write-ahead log has {about['log_bytes'] >> 20} MB")
    if grant.write:
        look.timed("write", write)
    damaged = look.timed("indexes", lambda: damaged_indexes(store, projects[-_COUNTED:], whole=detailed, shared=False))
    for one in damaged or ():
        if not one.vectors:
            look.say("unhealthy", f"{one.what}. {one.how}")
    if detailed and grant.projects is None:
        asked = CheckRequest(checks=["file"], is_scope=bool, analyst=Analysis())
        checked = store.check(None, asked)
        for fact in checked.facts:
            look.say("unhealthy", f"the file is not sound: {fact.spots[0].label}")
        look.metrics["pages_checked"] = checked.looked.get("pages of the file", (0, 0))[0]
    if detailed:
        look.metrics["projects"] = len(store.projects())
    message = "Reads and writes are answered"
    if not grant.write:
        message = "Reads are answered; writes were not tried, for this key may only read"
    if detailed and grant.projects is not None:
        message += "; the file was not looked at, for this key opens some projects only"
    return message


def _vector_store(look: _Probe, memory: Memory, projects: list[str], detailed: bool) -> str:
    """Run a search, find the nearest neighbour of a word at any distance, and count passages without a vector."""
    finder, project = memory.finding(), projects[-1]
    counted = projects[-_COUNTED:]
    look.timed("try_search", memory.try_search)
    if not finder.channels:
        return "Search by meaning is switched off: no model was chosen"

    def search() -> list[Nearby]:
        word = Record(id=0, uid="-", name="-", kind="-", observations=(_WORD,))
        embedded = finder.embed_text(project, *read_as(word))
        with finder.neighbours(project) as near:
            return near.nearest(embedded, 1)

    found = look.timed("search", search)
    healths = look.timed("count", lambda: [finder.health(one) for one in counted])
    if healths is None:
        return ""
    names = [channel.name for channel in finder.channels]
    pending = sum(one.pending for one in healths)
    look.metrics |= {
        "passages": sum(one.passages for one in healths),
        "vectors": sum(one.models[name]["vectors"] for one in healths for name in names),
        "pending": pending,
        "waiting_words": sum(one.waiting_words for one in healths),
        "found": len(found or ()),
    }
    if detailed:
        look.metrics["models"] = {
            name: one | {count: sum(each.models[name][count] for each in healths) for count in ("vectors", "pending")}
            for name, one in healths[0].models.items()
        }
    searched = sum(healths[-1].models[name]["vectors"] for name in names)
    broken = look.timed("indexes", lambda: damaged_indexes(memory.store, counted, whole=detailed, shared=False))
    for one in broken or ():
        if one.vectors:
            look.say("unhealthy", f"{one.what}. {one.how}")
    if pending:
        look.say("degraded", f"{pending} passage(s) have no vector yet; words find them, meaning does not")
    elif found == [] and searched and all(channel.ready.is_set() for channel in finder.models(project)):
        look.say("degraded", "a search by meaning found nothing, though there are vectors")
    message = "A search by meaning was answered"
    if len(counted) < len(projects):
        message += f"; vectors were counted in the newest {len(counted)} of {len(projects)} projects"
    return message


def _ai_service(look: _Probe, memory: Memory, projects: list[str], detailed: bool) -> str:
    """Have each model embed a word, and check the vector."""
    finder = memory.finding()
    if not finder.channels:
        look.metrics["models"] = []
        return "No model was chosen: search is by words alone"
    tried = {channel.name: _try_model(channel) for channel in finder.each_model(projects[-1])}
    working = [name for name, one in tried.items() if one.status != "unhealthy"]
    for name, one in tried.items():
        if one.status != "healthy":
            # Semantic search still works if another model does.
            look.say("degraded" if working else one.status, f"{name}: {one.why}")
    look.metrics["models"] = [{"id": name, "status": one.status, **one.metrics} for name, one in tried.items()]
    return f"{', '.join(working)} embedded a word"


def _try_model(channel: Channel) -> _Probe:
    look = _Probe()
    vectors = look.timed("embed", lambda: channel.soon([_WORD], query=True) if channel.load(patient=False) else None)
    if vectors is None:
        if not look.found:
            look.say("unhealthy", channel.fault.message if channel.fault else "it gave no vector")
        return look
    look.metrics["dimensions"] = int(vectors.shape[-1])
    dimensions = channel.embedder.dimensions
    if vectors.shape != (1, dimensions):
        look.say("unhealthy", f"it gave vectors of the shape {vectors.shape}, not of {dimensions} numbers")
    elif not abs((length := float((vectors[0] ** 2).sum()) ** 0.5) - 1) <= _LENGTH:
        look.say("unhealthy", f"it gave a vector of the length {length:.3g}, not of 1")
    return look


def _cache(look: _Probe, memory: Memory, projects: list[str], detailed: bool) -> str:
    """Update the cached indexes from the store, and measure them."""
    finder = memory.finding()
    health = look.timed("follow", lambda: finder.health(projects[-1]))
    if health is None:
        return ""
    known = set(memory.store.projects())
    indexes = [index for name, index in finder.cached().items() if name in known]
    look.metrics |= {
        "projects": len(indexes),
        "passages": sum(index.count - 1 for index in indexes),
        "bytes": sum(index.bytes for index in indexes),
        "small_projects": memory.store.about().get("held", 0),
    }
    return "What is held in memory follows the store"


_CHECKS: dict[str, _ComponentCheck] = {
    "database": _database,
    "vector_store": _vector_store,
    "ai_service": _ai_service,
    "cache": _cache,
}


# ── resources ─────────────────────────────────────────────────────────────────────────────────────────────


def _resources(store: Store) -> Resources:
    """The resource usage of the process and its store; zero for a store that cannot be opened."""
    try:
        about = store.about()
    except Fault:
        about = {}
    storage, connections = int(about.get("bytes", 0)), int(about.get("connections", 0))
    return Resources(memory=_memory_used(), storage=storage, connections=connections)


def _memory_used() -> int:
    """The process's resident memory in bytes; its peak where the system does not report the current value."""
    try:
        with open("/proc/self/statm", encoding="ascii") as file:
            return int(file.read().split()[1]) * os.sysconf("SC_PAGESIZE")
    except OSError:
        pass
    try:
        import resource
    except ImportError:  # Windows
        return 0
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return peak if sys.platform == "darwin" else peak * 1024
