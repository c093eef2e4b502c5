"""Analysis: the patterns, quality, connections, conflicts and insights of a project.

The verbs are here; each imports its module when it is called.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Collection, Hashable, Sequence
from functools import partial
from typing import TYPE_CHECKING, Any, TypeVar

from msgspec.structs import replace

from polymnia.engine.analysis.cache import parts
from polymnia.engine.content import find, find_item, visible
from polymnia.engine.project import Project, Step
from polymnia.engine.reads import COUNTED
from polymnia.errors import NotFound
from polymnia.importing import importing, load
from polymnia.models import Filters, Record

if TYPE_CHECKING:
    from polymnia.engine.analysis.cache import ResultCache
    from polymnia.engine.analysis.conflicts import Clashes
    from polymnia.engine.analysis.connections import Connections
    from polymnia.engine.analysis.findings import Findings, Remark
    from polymnia.engine.analysis.graph.drawing import Choice, Drawing
    from polymnia.engine.analysis.insights import Insights
    from polymnia.engine.analysis.quality import Quality
    from polymnia.engine.analysis.review import ReviewItem, ReviewKind
    from polymnia.engine.analysis.view import ProjectView

T = TypeVar("T")

PATTERNS = {
    "topic_clusters": "topics",
    "usage_patterns": "activity.usage",
    "quality_issues": "issues",
    "relationship_patterns": "graph.patterns",
    "temporal_patterns": "activity.temporal",
    "user_patterns": "activity.users",
}
"""The types of patterns, each with the module whose function of the same name finds it."""

_WHOLE = frozenset(("topic_clusters", "quality_issues", "usage_patterns", "user_patterns"))
"""Those that are computed for the whole project and then filtered, even for one memory."""


class AnalysisVerbs(Project):
    """Analysing a project. Nothing here changes anything."""

    cache: ResultCache

    def analysed(
        self,
        work: Callable[[ProjectView], T],
        *,
        key: Hashable,
        filters: Filters | None = None,
        start: int | None = None,
        end: int | None = None,
        focus: str | None = None,
        session: str | None = None,
        quick: bool = False,
        step: Step | None = None,
    ) -> tuple[T, int]:
        """The result of an analysis and the time it was computed; cached while the project is unchanged.

        ``key`` is everything but the project that the result depends on. ``filters`` select the memories (default: all
        without a session, and those of ``session``), ``focus`` is the id of the one it is about. A ``quick`` analysis
        uses the index of the searches; any other has one of its own.
        """
        with importing():
            from polymnia.engine.analysis.view import ProjectView

        filters = visible(session) if filters is None else filters
        now = time.time_ns() // 1000
        finder, reads = self.finding(), self.reads

        def tick(done: int = 0, total: int = 0) -> None:
            if step is not None:
                step(done, total)

        tick()
        if quick:
            finder.wait_for_models(self.project)
        with finder.neighbours(self.project) if quick else finder.separate_neighbours(self.project, tick) as look:
            # The state is that of the snapshot which is analyzed.
            state = (
                self.store.identity(),
                look.numbers[:2],
                look.snapshot.stamp,
                look.snapshot.noted(COUNTED),
                0 if reads is None else reads.times,
                tuple(one.seen for one in look.index.vectors.values()),
            )
            project = ProjectView(
                look, filters=filters, now=now, start=start, end=end, tick=tick,
                focus=None if focus is None else find_item(look.snapshot, focus, session).id,
                pending_reads=[] if reads is None else reads.pending(self.project),
            )  # fmt: skip
            full_key = (self.project, key, repr(filters), start, end, focus, session)
            return self.cache.result(full_key, state, now, lambda: _computed(work, project))

    def patterns(
        self,
        types: Sequence[str],
        *,
        session: str | None = None,
        only_session: bool = False,
        id: str | None = None,
        start: int | None = None,
        end: int | None = None,
        step: Step | None = None,
    ) -> tuple[dict[str, Findings], int]:
        """The patterns of each type in the project, in one session, or of one item; and the latest time one of them was
        computed."""
        filters = _selected(session, only_session)
        about = None if id is None else self.found_items([id], session=session)[0].id
        found: dict[str, Findings] = {}
        latest = 0
        for type, part in zip(types, parts(step, len(types)), strict=True):
            detect = getattr(load(f"polymnia.engine.analysis.{PATTERNS[type]}"), type)
            key, focus = ("patterns", type), None if type in _WHOLE else id
            one, at = self.analysed(
                detect, key=key, filters=filters, session=session, start=start, end=end, focus=focus, step=part
            )
            if about is not None:
                one = replace(one, patterns=[p for p in one.patterns if about in p.members])
            found[type] = one
            latest = max(latest, at)
        return found, latest

    def quality(
        self,
        id: str,
        *,
        dimensions: Sequence[str],
        suggestions: bool = True,
        metrics: bool = True,
        against: Sequence[str] = (),
        session: str | None = None,
        step: Step | None = None,
    ) -> tuple[Quality, int]:
        """The quality of an item, compared with others if they are named; and the time it was computed."""
        with importing():
            from polymnia.engine.analysis.quality import analyze

        record, *others = self.found_items([id, *against], session=session)
        key = ("quality", id, tuple(dimensions), suggestions, metrics, tuple(against))
        work = partial(
            analyze, record=record, dimensions=dimensions, suggestions=suggestions, metrics=metrics, against=others
        )
        return self.analysed(work, key=key, session=session, quick=True, step=step)

    def connections(
        self,
        id: str,
        *,
        types: Sequence[str] | None = None,
        max_depth: int = 2,
        limit: int = 50,
        least: float = 0.0,
        session: str | None = None,
        step: Step | None = None,
    ) -> tuple[Connections, int]:
        """What an item is related to, step by step: by stored relations and by what the texts show."""
        with importing():
            from polymnia.engine.analysis.connections import connections

        (record,) = self.found_items([id], session=session)
        key = ("connections", id, _key(types), max_depth, limit, least)
        work = partial(connections, record=record, types=types, max_depth=max_depth, limit=limit, min_confidence=least)
        return self.analysed(work, key=key, session=session, quick=True, step=step)

    def conflicts(
        self,
        *,
        types: Sequence[str],
        ids: Sequence[str] | None = None,
        sensitivity: str = "medium",
        suggest: bool = True,
        session: str | None = None,
        step: Step | None = None,
    ) -> tuple[Clashes, int]:
        """Statements that cannot both hold: in the project, among some items, or between one item and all others."""
        with importing():
            from polymnia.engine.analysis import conflicts

        among = None if ids is None else [record.id for record in self.found_items(ids, session=session)]

        def work(project: ProjectView) -> Clashes:
            if among is not None and len(among) == 1:
                if not (records := project.snapshot.load(among)):  # deleted meanwhile
                    raise NotFound(list(ids or ()))
                return conflicts.conflicts_of(
                    project, records[0], types=types, sensitivity=sensitivity, suggest=suggest
                )
            return conflicts.conflicts(project, types=types, sensitivity=sensitivity, among=among, suggest=suggest)

        key = ("conflicts", tuple(types), _key(ids), sensitivity, suggest)
        return self.analysed(work, key=key, session=session, quick=among is not None, step=step)

    def insights(
        self,
        *,
        types: Sequence[str],
        depth: Any = "surface",
        horizon: Any = "medium",
        recommend: bool = True,
        ids: Sequence[str] | None = None,
        session: str | None = None,
        only_session: bool = False,
        step: Step | None = None,
    ) -> tuple[Insights, int]:
        """Conclusions from the project, a session or some items, with recommendations."""
        with importing():
            from polymnia.engine.analysis.insights import insights

        among = None if ids is None else [record.id for record in self.found_items(ids, session=session)]
        key = ("insights", tuple(types), depth, horizon, recommend, _key(ids))
        work = partial(insights, types=types, depth=depth, horizon=horizon, recommend=recommend, among=among)
        return self.analysed(work, key=key, filters=_selected(session, only_session), session=session, step=step)

    def review(self, kind: ReviewKind, *, step: Step | None = None) -> tuple[list[ReviewItem], list[Remark], int]:
        """What is to be settled in the project: conflicts, duplicates, open questions or stale memories.

        Most certain first, with notes and the time it was computed.
        """
        with importing():
            from polymnia.engine.analysis.review import review

        (found, notes), at = self.analysed(
            lambda project: review(project, kind), key=("review", kind), filters=Filters(), step=step
        )
        return found, notes, at

    def draw(
        self,
        id: str | None = None,
        *,
        depth: int = 1,
        limit: int = 5000,
        types: Sequence[str] | None = None,
        automatic: bool = True,
        choose: Choice = "newest",
    ) -> Drawing:
        """The graph around a memory, or of the whole project; ``types`` are those of the relations to draw.

        Without ``automatic``, relations that the server has drawn itself are left out.
        """
        with importing():
            from polymnia.engine.analysis.graph.drawing import around, whole

        with self.store.read(self.project) as snapshot:
            if id is None:
                return whole(snapshot, limit=limit, choose=choose, types=types, automatic=automatic)
            record = find(snapshot, id)
            return around(snapshot, record, depth=depth, limit=limit, types=types, automatic=automatic)

    def ids_shown(self, ids: Collection[int]) -> dict[int, str]:
        """The public ids of those of some records that exist."""
        with self.store.read(self.project) as snapshot:
            return snapshot.uids(sorted(ids)) if ids else {}

    def found_items(self, ids: Sequence[str], *, session: str | None = None) -> list[Record]:
        """Items by their ids, in that order; all must exist."""
        with self.store.read(self.project) as snapshot:
            return [find_item(snapshot, id, session) for id in dict.fromkeys(ids)]


def _selected(session: str | None, only_session: bool) -> Filters:
    return Filters(session=session, only_session=True) if only_session else visible(session)


def _key(names: Sequence[str] | None) -> tuple[str, ...] | None:
    return None if names is None else tuple(names)


def _computed(work: Callable[[ProjectView], T], project: ProjectView) -> T:
    try:
        return work(project)
    except OSError as e:
        # Inside a read of the store it would count as a fault of the store.
        raise RuntimeError(f"The analysis failed: {e}") from e
