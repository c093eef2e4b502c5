"""Scopes and sessions: where memories are filed, and stretches of work that come and go."""

from __future__ import annotations

import time
from collections.abc import Sequence
from typing import TYPE_CHECKING

from msgspec import Struct

from polymnia.engine import scopes
from polymnia.engine.content import Moved, pairs, same_there
from polymnia.engine.graph import Step
from polymnia.engine.ports import Transaction
from polymnia.engine.scopes import Scope
from polymnia.engine.verbs.base import Verbs
from polymnia.errors import Invalid, NotFound
from polymnia.importing import importing
from polymnia.models import Filters, JsonObject, Session, closest, legal_text, new_id

if TYPE_CHECKING:
    from polymnia.engine.knowledge.suggestions import Example, Suggestion
    from polymnia.engine.search.neighbours import EmbeddedText, Neighbours

_DAY = 86_400_000_000
_PART = 500


class Cleaned(Struct, frozen=True):
    """The sessions that were removed, and how many memories went with them."""

    sessions: list[str]
    memories: int


class ScopeVerbs(Verbs):
    """The tree of scopes, what belongs where, and sessions."""

    def scopes(self, parent: str | None = None) -> list[Scope]:
        """Every scope with memories in it or below it, in the order of their paths; with a parent, those within it."""
        wanted = None if parent is None else scopes.legal_scope(parent, "parent_scope")
        with self.store.read(self.project) as snapshot:
            return scopes.tree(snapshot.scopes(), wanted)

    def nearest_scope(self, scope: str) -> str | None:
        """The scope that was probably meant by one that is not there."""
        return closest(scope, [one.path for one in self.scopes()])

    def rename_scope(self, old: str, new: str, *, step: Step | None = None) -> Moved:
        """Call a scope otherwise: everything in it and below it moves."""
        source, target = scopes.legal_scope(old, "source_scope"), scopes.legal_scope(new, "target_scope")

        def rename(tx: Transaction) -> Moved:
            moved, same = [], dict[str, int]()
            merges = bool(tx.matching(Filters(scope=target, scopes_below=True), limit=1))
            base = tx.numbers[0] << 32
            ids = [base + number for number in tx.matching(Filters(scope=source, scopes_below=True))]
            if not ids:
                near = closest(source, [one.path for one in scopes.tree(tx.scopes())])
                meant = f"Did you mean {near}? " if near else ""
                raise NotFound([source], "Scope", hint=f"{meant}`polymnia scopes` shows what there is.")
            for start in range(0, len(ids), _PART):
                if step is not None:
                    step(start, len(ids))
                for record in tx.load(ids[start : start + _PART]):
                    before = scopes.shown(record.scope)
                    path = scopes.renamed(before, source, target)
                    filed = scopes.filed(scopes.legal_scope(path, "target_scope"))
                    scopes.begin(tx, filed["session"])
                    other = same_there(tx, record, filed["scope"]) if merges else None
                    if tx.revise(record.id, filed):
                        moved.append((record.uid, before, path))
                        if other is not None:
                            same[record.uid] = other
            return Moved(scope=target, moved=moved, same=pairs(tx, same))

        return self._write("rename_scope", rename, step, gives=Moved)

    def suggest_scope(self, content: str, *, current: str | None = None) -> Suggestion:
        """Where a text belongs, by the memories that are filed already; when those cannot tell, it says so."""
        with importing():
            from polymnia.engine.knowledge import suggestions

        from polymnia.engine.content import KIND, read_as
        from polymnia.models import Record

        legal_text(content, "content", self.limits.text_bytes)
        if not content.strip():
            raise Invalid("content is empty", field="content", hint="Give the text to file.")
        here = None if current is None else scopes.legal_scope(current, "current_scope")
        head = content[: suggestions.READ]
        finder = self.finding()
        said = finder.said(self.project, *read_as(Record(id=0, uid="-", name="-", kind=KIND, observations=(head,))))
        # Others wait while the index is looked at: what is learnt from the examples is learnt afterwards.
        with finder.look(self.project) as look:
            examples, filed = _examples(look, said, head, here)
        paths = list(dict.fromkeys(one.scope for one in examples))
        names = finder.embedded([suggestions.scope_words(path) for path in paths], list(filed))
        views = [
            suggestions.ScopeView(
                asked=said.mean(model), filed=rows, names=names[model],
                strong=finder.embedder(model).strong, unrelated=finder.embedder(model).unrelated,
            )
            for model, rows in filed.items()
            if model in names
        ]  # fmt: skip
        return suggestions.suggest(content, examples, views, current=here)

    # ── sessions ──────────────────────────────────────────────────────────────────────────────────────

    def begin_session(self, session: str | None = None) -> tuple[Session, bool]:
        """Begin a session, with a name of its own or one that is made; its memories live in session/<name>.

        One that is there already goes on; whether it is new is the second answer.
        """
        name = new_id() if session is None else scopes.legal_session(session)

        def begin(tx: Transaction) -> tuple[Session, bool]:
            new = not tx.has_session(name)
            if new:
                tx.add_session(name)
            return next(one for one in tx.sessions() if one.name == name), new

        return self._write("begin_session", begin, gives=tuple[Session, bool])

    def sessions(self) -> list[Session]:
        """Every session with its memories counted, in the order they began."""
        with self.store.read(self.project) as snapshot:
            return snapshot.sessions()

    def clean_sessions(
        self, days: float, *, only: Sequence[str] | None = None, now: int | None = None, step: Step | None = None
    ) -> Cleaned:
        """Remove sessions that nobody has used for so many days, with their memories. One undo brings all back."""
        border = (time.time_ns() // 1000 if now is None else now) - int(days * _DAY)

        def clean(tx: Transaction) -> Cleaned:
            base = tx.numbers[0] << 32
            going = [one.name for one in tx.sessions() if one.used <= border and (only is None or one.name in only)]
            freed = 0
            for name in going:
                ids = [base + number for number in tx.matching(Filters(session=name, only_session=True))]
                for start in range(0, len(ids), _PART):
                    part = tx.load(ids[start : start + _PART])
                    tx.remove_relations([r.id for r in tx.relations_of([record.name for record in part])])
                    tx.remove_records([record.id for record in part])
                freed += len(ids)
            tx.remove_sessions(going)
            return Cleaned(going, freed)

        return self._write("clean_sessions", clean, step, gives=Cleaned)


def _examples(look: Neighbours, said: EmbeddedText, head: str, current: str | None) -> tuple[list[Example], JsonObject]:
    """Filed memories of the scopes nearest to a text, and what each model that read the text makes of them."""
    with importing():
        from polymnia.engine.knowledge import suggestions
    from polymnia.engine.content import content

    _, near = look.both(said, head, suggestions.BY_MEANING, suggestions.BY_WORDS)
    near.sort(key=lambda one: (-max(one.words, one.cosine if one.cosine == one.cosine else 0.0), one.number))
    loaded = look.load([one.number for one in near])
    by_scope: dict[str | None, list[int]] = {}
    for one in near:
        record = loaded.get(one.number)
        if record is not None and suggestions.considered(scopes.shown(record.scope), current):
            by_scope.setdefault(record.scope, []).append(one.number)
    chosen: list[int] = []
    for path in list(by_scope)[: suggestions.SCOPES]:
        some = by_scope[path][: suggestions.EXAMPLES]
        more = look.snapshot.matching(Filters(scope=scopes.shown(path)), limit=suggestions.EXAMPLES)
        chosen += list(dict.fromkeys((*some, *more)))[: suggestions.EXAMPLES]
    loaded = look.load(chosen)
    chosen = [number for number in chosen if number in loaded]
    examples = [
        suggestions.Example(
            scopes.shown(loaded[number].scope), content(loaded[number])[: suggestions.READ], loaded[number].category
        )
        for number in chosen
    ]
    return examples, {model: look.means(model, chosen) for model in said.vectors if chosen}
