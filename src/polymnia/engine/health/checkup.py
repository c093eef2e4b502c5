"""The checkup: tests each component of a server the way clients use it."""

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


class HealthNote(Struct, frozen=True):
    """What a check noticed: a code, and the values it depends on."""

    code: str
    values: JsonObject = {}


class Component(Struct, frozen=True, kw_only=True):
    """A component's status, the reasons, the time of the check (microseconds since 1970), and its metrics.

    ``notes`` are the problems; those of a healthy component say what worked.
    """

    status: Status
    notes: list[HealthNote]
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
        self.found: list[tuple[Status, HealthNote]] = []
        self.metrics: JsonObject = {}

    @property
    def status(self) -> Status:
        return _worst([status for status, _ in self.found])

    @property
    def notes(self) -> list[HealthNote]:
        """The problems; without any, what worked."""
        healthy = self.status == "healthy"
        return [note for status, note in self.found if healthy or status != "healthy"]

    def note(self, status: Status, code: str, **values: Any) -> None:
        self.found.append((status, HealthNote(code, values)))

    def timed(self, step: str, work: Callable[[], Any]) -> Any:
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
        self.metrics[f"{step}_ms"] = round(elapsed * 1000, 3)
        if failed:
            # A busy store may be free in a moment; other failures do not resolve themselves.
            status: Status = "degraded" if isinstance(failed[0], Busy) else "unhealthy"
            self.note(status, "step_failed", step=step, why=_reason(failed[0]))
        elif not done:
            self.note("degraded", "no_answer", step=step, seconds=_WAIT)
        elif elapsed > _SLOW:
            self.note("degraded", "slow", step=step, seconds=elapsed)
        return done[0] if done else None


_ComponentCheck: TypeAlias = Callable[[_Probe, "Memory", list[str], bool], None]


def _reason(error: BaseException) -> str:
    return error.message if isinstance(error, Fault) else f"{type(error).__name__}: {error}"


def _tried(examine: _ComponentCheck, memory: Memory, projects: list[str], detailed: bool) -> Component:
    probe = _Probe()
    try:
        examine(probe, memory, projects, detailed)
    except Exception as e:
        # A failure of the component is the result of the check.
        probe.note("unhealthy", "failed", why=_reason(e))
    now = time.time_ns() // 1000
    return Component(status=probe.status, notes=probe.notes, checked=now, metrics=probe.metrics)


class _Rollback(Exception):
    """Rolls back a trial change."""


def _database(probe: _Probe, memory: Memory, projects: list[str], detailed: bool) -> None:
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

    counted = probe.timed("read", read)
    if counted is None:
        return
    memories, relations, change = counted
    probe.metrics |= {"memories": memories, "relationships": relations, "last_change": change}
    about = store.about()
    for key in ("kind", "format", "bytes", "log_bytes", "connections"):
        if key in about:
            probe.metrics[key] = about[key]
    if about.get("log_bytes", 0) > _LONG_LOG:
        probe.note("degraded", "long_log", megabytes=about["log_bytes"] >> 20)
    if grant.write:
        probe.timed("write", write)
    damaged = probe.timed("indexes", lambda: damaged_indexes(store, projects[-_COUNTED:], whole=detailed, shared=False))
    for one in damaged or ():
        if not one.vectors:
            probe.note("unhealthy", "index_damaged", index=one)
    if detailed and grant.projects is None:
        checked = store.check(None, CheckRequest(checks=["file"], is_scope=bool, analyst=Analysis()))
        for fact in checked.facts:
            probe.note("unhealthy", "file_damaged", where=fact.spots[0].label)
        probe.metrics["pages_checked"] = checked.examined.get("pages of the file", (0, 0))[0]
    if detailed:
        probe.metrics["projects"] = len(store.projects())
    for code in ("written",) if grant.write else ("read", "may_not_write"):
        probe.note("healthy", code)
    if detailed and grant.projects is not None:
        probe.note("healthy", "may_not_read_file")


def _vector_store(probe: _Probe, memory: Memory, projects: list[str], detailed: bool) -> None:
    """Run a search, find the nearest neighbour of a word at any distance, and count passages without a vector."""
    finder, project = memory.finding(), projects[-1]
    counted = projects[-_COUNTED:]
    probe.timed("try_search", memory.try_search)
    if not finder.channels:
        probe.note("healthy", "no_semantic_search")
        return

    def search() -> list[Nearby]:
        word = Record(id=0, uid="-", name="-", kind="-", observations=(_WORD,))
        embedded = finder.embed_text(project, *read_as(word))
        with finder.neighbours(project) as near:
            return near.nearest(embedded, 1)

    found = probe.timed("search", search)
    healths = probe.timed("count", lambda: [finder.health(one) for one in counted])
    if healths is None:
        return
    names = [channel.name for channel in finder.channels]
    pending = sum(one.pending for one in healths)
    probe.metrics |= {
        "passages": sum(one.passages for one in healths),
        "vectors": sum(one.models[name]["vectors"] for one in healths for name in names),
        "pending": pending,
        "waiting_words": sum(one.waiting_words for one in healths),
        "found": len(found or ()),
    }
    if detailed:
        probe.metrics["models"] = {
            name: one | {count: sum(each.models[name][count] for each in healths) for count in ("vectors", "pending")}
            for name, one in healths[0].models.items()
        }
    searched = sum(healths[-1].models[name]["vectors"] for name in names)
    broken = probe.timed("indexes", lambda: damaged_indexes(memory.store, counted, whole=detailed, shared=False))
    for one in broken or ():
        if one.vectors:
            probe.note("unhealthy", "index_damaged", index=one)
    if pending:
        probe.note("degraded", "vectors_pending", count=pending)
    elif found == [] and searched and all(channel.ready.is_set() for channel in finder.models(project)):
        probe.note("degraded", "nothing_found")
    probe.note("healthy", "searched")
    if len(counted) < len(projects):
        probe.note("healthy", "some_projects", counted=len(counted), projects=len(projects))


def _ai_service(probe: _Probe, memory: Memory, projects: list[str], detailed: bool) -> None:
    """Have each model embed a word, and check the vector."""
    finder = memory.finding()
    if not finder.channels:
        probe.metrics["models"] = []
        probe.note("healthy", "no_model")
        return
    tried = {channel.name: _try_model(channel) for channel in finder.each_model(projects[-1])}
    working = [name for name, one in tried.items() if one.status != "unhealthy"]
    for name, one in tried.items():
        if one.status != "healthy":
            # Semantic search still works if another model does.
            probe.note("degraded" if working else one.status, "model", model=name, notes=one.notes)
    probe.metrics["models"] = [{"id": name, "status": one.status, **one.metrics} for name, one in tried.items()]
    probe.note("healthy", "embedded", models=", ".join(working))


def _try_model(channel: Channel) -> _Probe:
    probe = _Probe()
    vectors = probe.timed("embed", lambda: channel.soon([_WORD], query=True) if channel.load(patient=False) else None)
    if vectors is None:
        if not probe.found and channel.fault:
            probe.note("unhealthy", "failed", why=channel.fault.message)
        elif not probe.found:
            probe.note("unhealthy", "no_vector")
        return probe
    probe.metrics["dimensions"] = int(vectors.shape[-1])
    dimensions = channel.embedder.dimensions
    if vectors.shape != (1, dimensions):
        probe.note("unhealthy", "wrong_shape", shape=vectors.shape, dimensions=dimensions)
    elif not abs((length := float((vectors[0] ** 2).sum()) ** 0.5) - 1) <= _LENGTH:
        probe.note("unhealthy", "wrong_length", length=length)
    return probe


def _cache(probe: _Probe, memory: Memory, projects: list[str], detailed: bool) -> None:
    """Update the cached indexes from the store, and measure them."""
    finder = memory.finding()
    health = probe.timed("follow", lambda: finder.health(projects[-1]))
    if health is None:
        return
    known = set(memory.store.projects())
    indexes = [index for name, index in finder.cached().items() if name in known]
    probe.metrics |= {
        "projects": len(indexes),
        "passages": sum(index.count - 1 for index in indexes),
        "bytes": sum(index.bytes for index in indexes),
        "small_projects": memory.store.about().get("held", 0),
    }
    probe.note("healthy", "cache_current")


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
