"""Integrity: checks a project, a session or a whole store by the rules in rules.toml, and repairs what it can."""

from __future__ import annotations

import os
from collections.abc import Collection, Iterable
from typing import TYPE_CHECKING, Literal, NamedTuple, get_args

import msgspec
from msgspec import Struct
from msgspec.structs import replace

from polymnia.engine import scopes
from polymnia.engine.health.repairs import REPAIRS
from polymnia.engine.ports import Store
from polymnia.engine.ports.maintenance import CheckRequest, CheckResult, Fact
from polymnia.engine.search import Analysis
from polymnia.errors import Fault, Invalid
from polymnia.importing import importing

if TYPE_CHECKING:
    from polymnia.engine.project import Project
    from polymnia.engine.search.finder import Channel

Check = Literal[
    "orphaned_relationships",
    "missing_embeddings",
    "data_consistency",
    "reference_integrity",
    "schema_compliance",
    "performance_issues",
]
CHECKS: tuple[Check, ...] = get_args(Check)

Severity = Literal["error", "warning", "info"]
SEVERITIES: tuple[Severity, ...] = get_args(Severity)


RepairedBy = Literal["store", "change", "words", "models", "file", "nobody"]


class Rule(NamedTuple):
    """The meaning of a kind of fact."""

    check: Check
    severity: Severity
    by: RepairedBy


with open(os.path.join(os.path.dirname(__file__), "rules.toml"), "rb") as file:
    _CHECKED = msgspec.toml.decode(file.read(), type=dict[Check, dict[str, tuple[Severity, RepairedBy]]])
RULES = {kind: Rule(check, *rule) for check, rules in _CHECKED.items() for kind, rule in rules.items()}
"""The rule of every kind of fact."""


class IntegrityFinding(Struct, frozen=True, kw_only=True):
    """A problem, or something worth knowing.

    ``where`` lists the first occurrences, ``count`` counts all, ``left`` those remaining after a repair. ``failed`` is
    why a repair failed: ``unreadable_text``, ``too_many``, or the message of a fault.
    """

    check: Check
    kind: str
    severity: Severity
    count: int
    where: tuple[str, ...]
    project: str | None
    fixable: bool
    left: int
    failed: str | None = None


class Examined(Struct, frozen=True, kw_only=True):
    """How much was examined: ``looked`` out of ``of``. ``why_not``: ``restricted_key``, or the store's reason."""

    project: str | None
    what: str
    looked: int = 0
    of: int = 0
    why_not: str | None = None

    @property
    def whole(self) -> bool:
        """Whether everything was examined."""
        return self.why_not is None and self.looked == self.of


class IntegrityReport(Struct, frozen=True, kw_only=True):
    """The findings of the checks, worst first, and what they examined.

    ``changes`` has, for each project, the change that repaired its memories; undoing it reverts the repair.
    """

    scope: str
    checks: tuple[Check, ...]
    projects: int
    findings: list[IntegrityFinding]
    looked: list[Examined]
    changes: dict[str, int] = {}

    @property
    def sound(self) -> bool:
        """Whether no errors or warnings remain."""
        return not any(one.left and one.severity != "info" for one in self.findings)

    def count(self, severity: Severity) -> int:
        """The number of remaining findings of a severity."""
        return sum(1 for one in self.findings if one.left and one.severity == severity)


Scope = Literal["project", "session", "system"]
_ALL = 1 << 40
_LISTED = 8192  # texts indexed between two commits
_EMBEDDED = 64  # passages embedded between two commits
_FEW_ROWS, _FEW_TEXTS, _FEW_PAGES = 20_000, 100, 65_536  # of a quick check of the indexes, requested often
_TEXTS = 300
_OF_VECTORS = {"vector_of_nothing", "vector_broken"}
REINDEXED = _OF_VECTORS | {
    "scope_count_wrong", "tag_rows_wrong", "text_count_wrong", "characters_wrong", "words_wrong", "index_damaged",
    "shape_differs",
}  # fmt: skip
"""The kinds of damage to indexes that a reindex repairs."""
MAX_EMBEDDED = 5_000
"""How many passages are embedded in one call: at most a minute with the built-in model."""


def validate(
    memory: Project,
    *,
    scope: Scope = "project",
    session: str | None = None,
    checks: Collection[str] | None = None,
    fix: bool = False,
    spots: int = 100,
    sample: int | None = 2_000,
) -> IntegrityReport:
    """Run the checks on the project, one session of it, or every project of the store and the file itself.

    With ``fix`` problems are repaired where possible and everything is checked again, so that the report shows what
    remains. ``spots`` is the maximum number of occurrences a finding names. ``sample`` is how many texts are compared
    with the indexes in full (None: all); everything else is checked completely, up to the newest million rows of each
    kind. Findings of other projects name no memories.
    """
    if scope == "session" and session is None:
        raise Invalid("A check of a session needs to know which", field="session_id")
    chosen = _chosen(checks)
    request = CheckRequest(
        checks=chosen,
        is_scope=_is_scope,
        analyst=Analysis(),
        session=session if scope == "session" else None,
        models=tuple(channel.name for channel in memory.finding().models(memory.project)),
        spots=spots,
        sample=_ALL if sample is None else sample,
    )
    places: list[str | None] = [memory.project]
    if scope == "system":
        places = [*dict.fromkeys((memory.project, *memory.store.projects())), None]
    elif scope == "project" and memory.grant.projects is None:
        places.append(None)
    run = _Run(memory, request, whole=scope == "system")
    for place in places:
        run.check(place, fix)
    if scope == "project" and memory.grant.projects is not None:
        run.looked.append(Examined(project=None, what="file", why_not="restricted_key"))
    return IntegrityReport(
        scope=scope,
        checks=chosen,
        projects=sum(1 for place in places if place is not None),
        findings=sorted(run.findings, key=lambda one: (SEVERITIES.index(one.severity), CHECKS.index(one.check))),
        looked=run.looked,
        changes=run.changes,
    )


def _chosen(checks: Collection[str] | None) -> tuple[Check, ...]:
    unknown = [name for name in checks or () if name not in CHECKS]
    if unknown:
        raise Invalid(f"checks has {unknown[0]!r:.60}, but must be of: {', '.join(CHECKS)}", field="checks")
    return tuple(name for name in CHECKS if not checks or name in checks)


def _is_scope(path: str) -> bool:
    try:
        return scopes.legal_scope(path, "scope") == path
    except Invalid:
        return False


class _Run:
    """A run of the checks."""

    def __init__(self, memory: Project, request: CheckRequest, *, whole: bool) -> None:
        self.memory = memory
        self.request = request
        self.whole = whole
        self.findings: list[IntegrityFinding] = []
        self.looked: list[Examined] = []
        self.changes: dict[str, int] = {}

    def check(self, place: str | None, fix: bool) -> None:
        """Check one project, or with None what all projects share; with ``fix`` repair it and check again."""
        found = self._check(place)
        for what, (looked, there) in found.examined.items():
            self.looked.append(Examined(project=place, what=what, looked=looked, of=there))
        for what, why in found.skipped.items():
            self.looked.append(Examined(project=place, what=what, why_not=why))
        kinds = {fact.kind for fact in found.facts if RULES[fact.kind].by != "nobody"}
        if not fix or not kinds:
            self.findings += [self._finding(fact, fact.count) for fact in found.facts]
            return
        failed: dict[str, str] = {}
        if place is None:
            self.memory.store.repair(None, kinds, self.request)
        else:
            self._repair(place, kinds, failed)
        left = {_key(fact): fact for fact in self._check(place).facts}
        for fact in found.facts:
            remaining = left.pop(_key(fact), None)
            self.findings.append(
                self._finding(fact, 0 if remaining is None else remaining.count, failed.get(fact.kind))
            )
        self.findings += [self._finding(fact, fact.count, failed.get(fact.kind)) for fact in left.values()]

    def _check(self, place: str | None) -> CheckResult:
        request = self.request
        if place is None and not self.whole:
            # A check of one project reports only performance issues of what all projects share.
            request = replace(request, checks=[name for name in request.checks if name == "performance_issues"])
        return self.memory.store.check(place, request)

    def _finding(self, fact: Fact, left: int, failed: str | None = None) -> IntegrityFinding:
        rule = RULES[fact.kind]
        own = fact.project in (None, self.memory.project)
        return IntegrityFinding(
            check=rule.check,
            kind=fact.kind,
            severity=rule.severity,
            count=fact.count,
            where=tuple(dict.fromkeys(spot.label for spot in fact.spots)) if own else (),
            project=fact.project,
            fixable=rule.by != "nobody",
            left=left,
            failed=failed,
        )

    # ── repairs ───────────────────────────────────────────────────────────────────────────────────────

    def _repair(self, project: str, kinds: set[str], failed: dict[str, str]) -> None:
        """Repair memories and derived data in one change, then the indexes and vectors in batches."""
        store = self.memory.store
        by = {kind: RULES[kind].by for kind in kinds}
        every = replace(self.request, spots=_ALL)
        with store.write(project, self.memory.author, "validate_data_integrity") as tx:
            store.repair(tx, {kind for kind in kinds if by[kind] == "store"}, every)
            if any(one == "change" for one in by.values()):
                facts = {fact.kind: fact for fact in store.check(project, every).facts}
                unreadable = facts.get("text_no_unicode")
                broken = {spot.detail for spot in unreadable.spots} if unreadable else set()
                for kind, repair in REPAIRS.items():
                    if kind in kinds and kind in facts:
                        repair(tx, [spot for spot in facts[kind].spots if spot.id not in broken])
            if "vectors_unused" in kinds:
                tx.drop_vectors(self.request.models)
            changed, number = tx.changed, tx.numbers[3] + 1
        if changed:
            self.changes[project] = number
            self.memory.finding.notify(project)
        if kinds & _OF_VECTORS:
            self.memory.finding().forget(project)  # its cache holds deleted vectors
        self._list_words(project, kinds)
        if "embedding_missing" in kinds or changed or "vector_broken" in kinds:
            self._embed(project, every, failed)

    def _list_words(self, project: str, kinds: set[str]) -> None:
        anew = bool(kinds & {"words_wrong", "words_outdated", "marks_many"})
        if not anew and "words_behind" not in kinds:
            return
        left, before = 1, 0
        while 0 < left != before:
            before = left
            with self.memory.store.write(project, "polymnia", "reindex") as tx:
                if anew:
                    tx.drop_words()
                    anew = False
                left = tx.index_words(_LISTED)

    def _embed(self, project: str, every: CheckRequest, failed: dict[str, str]) -> None:
        request = replace(every, checks=["missing_embeddings"])
        channels = {channel.name: channel for channel in self.memory.finding().channels}
        missing: dict[str, list[tuple[int, int]]] = {}
        for fact in self.memory.store.check(project, request).facts:
            for spot in fact.spots:
                model, part = spot.detail
                missing.setdefault(model, []).append((spot.id % (1 << 32), part))
        for model, passages in missing.items():
            if why := self._embed_with(channels[model], project, passages):
                failed["embedding_missing"] = why

    def _embed_with(self, channel: Channel, project: str, passages: list[tuple[int, int]]) -> str | None:
        """Embed passages; returns the reason if that failed or is incomplete."""
        with importing():
            from polymnia.engine.search.worker import embed_some

        if not channel.load(patient=False) and channel.fault is not None:
            return channel.fault.message
        for start in range(0, min(len(passages), MAX_EMBEDDED), _EMBEDDED):
            batch = passages[start : start + _EMBEDDED]
            try:
                with self.memory.store.read(project) as snapshot:
                    texts = snapshot.texts_of(sorted({number for number, _ in batch}))
                embed_some(self.memory.store, project, channel, texts, batch)
            except Fault as fault:
                return fault.message
            except UnicodeDecodeError:  # reported as a separate finding
                return "unreadable_text"
            if channel.fault is not None:
                return channel.fault.message
        return "too_many" if len(passages) > MAX_EMBEDDED else None


def _key(fact: Fact) -> tuple[str, str | None]:
    """The identity of a fact: its kind and, for vectors, the model."""
    if fact.kind == "vectors_unused":
        return fact.kind, fact.spots[0].label
    return fact.kind, fact.spots[0].detail[0] if fact.kind == "embedding_missing" else None


# ── indexes ───────────────────────────────────────────────────────────────────────────────────────────────


class BrokenIndex(Struct, frozen=True):
    """A damaged index: in how many places, and the first of them. ``vectors`` marks the index of semantic search."""

    kind: str
    project: str | None
    count: int
    where: tuple[str, ...]
    vectors: bool


def damaged_indexes(store: Store, projects: Iterable[str], *, whole: bool, shared: bool = True) -> list[BrokenIndex]:
    """Find indexes that are inconsistent with the texts, in these projects and (``shared``) in what all projects share.

    ``whole`` checks everything and reads the whole file. Otherwise only the newest rows are compared, and the pages of
    the substring index are read only if the file is not large.
    """
    request = CheckRequest(checks=["indexes"], is_scope=bool, analyst=Analysis(), spots=3, rows=_ALL, sample=_TEXTS)
    if not whole:
        request = replace(request, rows=_FEW_ROWS, sample=_FEW_TEXTS, pages=_FEW_PAGES)
    places: list[str | None] = [*projects, None] if shared and whole else [*projects]
    return [
        BrokenIndex(
            fact.kind,
            fact.project,
            fact.count,
            tuple(dict.fromkeys(spot.label for spot in fact.spots)),
            fact.kind in _OF_VECTORS,
        )
        for place in places
        for fact in store.check(place, request).facts
    ]
