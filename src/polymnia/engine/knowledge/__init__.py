"""Knowledge: what has to do with a memory or a text, where a text belongs, and the relations it shows."""

from __future__ import annotations

import time
from collections.abc import Sequence
from typing import TYPE_CHECKING

from msgspec.structs import replace

from polymnia.engine import scopes
from polymnia.engine.content import (
    CONTENT,
    KIND,
    as_draft,
    check_content,
    content,
    find,
    find_item,
    read_as,
    still_there,
    visible,
)
from polymnia.engine.project import Project
from polymnia.errors import Invalid
from polymnia.importing import importing
from polymnia.models import Filters, JsonObject, Record, Relation, RelationDraft, legal_text

if TYPE_CHECKING:
    from polymnia.engine.knowledge.associations import Discovery
    from polymnia.engine.knowledge.suggestions import Example, Suggestion
    from polymnia.engine.ports import Transaction
    from polymnia.engine.search.neighbours import EmbeddedText, Neighbours


class KnowledgeVerbs(Project):
    """Finding what belongs together."""

    def discover(self, id: str, *, limit: int = 10, threshold: float = 0.1) -> Discovery:
        """What else has to do with a memory: by meaning, shared tags and names, time, and existing relations."""
        from polymnia.engine.knowledge import associations

        def around(look: Neighbours, embedded: EmbeddedText) -> Discovery:
            number = record.id - look.base
            now = look.load([number]).get(number, record)
            return associations.discover(look, now, embedded, limit=limit, threshold=threshold)

        finder = self.finding()
        with self.store.read(self.project) as snapshot:
            record = find(snapshot, id)
        with finder.look(self.project) as look:
            if (held := look.held(record.id - look.base)) is not None:
                return around(look, held)
        embedded = finder.said(self.project, *read_as(record))
        with finder.look(self.project) as look:
            return around(look, embedded)

    def similar_items(
        self,
        *,
        text: str | None = None,
        id: str | None = None,
        session: str | None = None,
        limit: int = 10,
        threshold: float = 0.0,
        measure: str = "cosine",
        include_self: bool = False,
        content_types: Sequence[str] = (),
        exclude: Sequence[str] = (),
    ) -> list[tuple[Record, float]]:
        """The items most similar to a text or to another item, by one of three measures, each from 0 to 1."""
        with importing():
            from polymnia.engine.knowledge.similarity import similar

        if (text is None) == (id is None):
            raise Invalid("Give either content or content_id", field="content")
        if id is not None:
            with self.store.read(self.project) as snapshot:
                record = find_item(snapshot, id, session)
        else:
            record = _unstored(text or "", CONTENT)
        whole = content(record)
        legal_text(whole, "content", self.limits.text_bytes)
        finder = self.finding()
        embedded = finder.said(self.project, *read_as(record))
        filters = replace(visible(session), content_types=tuple(content_types))
        leave = {*exclude} if include_self else {*exclude, record.uid}
        with finder.look(self.project) as look:
            found = similar(look, embedded, whole, filters, measure, limit, threshold, leave)
        self._count_reads((one.id for one, _ in found), opened=False)
        return found

    def suggest_scope(self, content: str, *, current: str | None = None) -> Suggestion:
        """Where a text belongs, by the memories that are filed already; when those cannot tell, it says so."""
        with importing():
            from polymnia.engine.knowledge import suggestions

        check_content(content, "content", self.limits, "Give the text to file.")
        here = None if current is None else scopes.legal_scope(current, "current_scope")
        head = content[: suggestions.READ]
        finder = self.finding()
        embedded = finder.said(self.project, *read_as(_unstored(head, KIND)))
        # Others wait while the index is looked at: what is learnt from the examples is learnt afterwards.
        with finder.look(self.project) as look:
            examples, filed = _examples(look, embedded, head, here)
        paths = list(dict.fromkeys(one.scope for one in examples))
        names = finder.embedded([suggestions.scope_words(path) for path in paths], list(filed))
        views = [
            suggestions.ScopeView(
                asked=embedded.mean(model), filed=rows, names=names[model],
                strong=finder.embedder(model).strong, unrelated=finder.embedder(model).unrelated,
            )
            for model, rows in filed.items()
            if model in names
        ]  # fmt: skip
        return suggestions.suggest(content, examples, views, current=here)

    def detect(self, records: Sequence[Record]) -> int:
        """Draw the relationships that the texts of these items show, as one change; answers how many."""
        drawn: list[RelationDraft] = []
        for record in records:
            if len(record.observations) == 1:
                drawn += self._embedded(record, record.session, None, relate=True)[1]

        def draw(tx: Transaction) -> int:
            ends = list(dict.fromkeys((one.source, one.target, one.type) for one in drawn))
            known = {relation.ends for relation in tx.find_relations(ends)}
            new = [one for one in still_there(tx, drawn) if (one.source, one.target, one.type) not in known]
            return len(tx.relate(new))

        return self._write("detect_relationships", draw) if drawn else 0

    def _embedded(
        self, record: Record, session: str | None, embed: bool | None, *, relate: bool
    ) -> tuple[EmbeddedText | None, list[RelationDraft]]:
        """The item as the models see it, and the relationships to draw; both only where they are asked for."""
        embedded, drawn = None, list[RelationDraft]()
        if relate or embed:
            embedded = self.finding().said(self.project, *read_as(record), needed=bool(embed))
        if relate and embedded is not None:
            with importing():
                from polymnia.engine.knowledge.relationships import drafts

            with self.finding().look(self.project) as look:
                drawn = drafts(look, record, embedded, session)
        return self.finding().unread(*read_as(record)) if embed is False else embedded, drawn

    def _planned(self, record: Record) -> Record:
        """A memory to be, without the credentials that may not be stored: nothing is to be made of those."""
        (draft,) = self.screen.drafts([as_draft(record)])
        return replace(
            record, kind=draft.kind, observations=draft.observations, category=draft.category, summary=draft.summary,
            tags=draft.tags, metadata=draft.metadata, created=time.time_ns() // 1000,
        )  # fmt: skip

    def _add(
        self, tx: Transaction, record: Record, embedded: EmbeddedText | None, drawn: Sequence[RelationDraft]
    ) -> tuple[Record, list[Relation]]:
        """Store a memory of one text with its vectors and relations."""
        scopes.begin(tx, record.session)
        (made,) = tx.add_records([as_draft(record)])
        number = made.id & 0xFFFFFFFF
        self._put_vectors(tx, embedded, number, number + 1)
        return made, tx.relate(still_there(tx, drawn))


def _unstored(text: str, kind: str) -> Record:
    return Record(id=0, uid="-", name="-", kind=kind, observations=(text,))


def _examples(
    look: Neighbours, embedded: EmbeddedText, head: str, current: str | None
) -> tuple[list[Example], JsonObject]:
    """Filed memories of the scopes nearest to a text, and what each model that read the text makes of them."""
    with importing():
        from polymnia.engine.knowledge import suggestions

    _, near = look.both(embedded, head, suggestions.BY_MEANING, suggestions.BY_WORDS)
    near.sort(key=lambda one: (-max(one.words, one.cosine if one.cosine == one.cosine else 0.0), one.number))
    loaded = look.load([one.number for one in near])
    by_scope: dict[str | None, list[int]] = {}
    for one in near:
        record = loaded.get(one.number)
        if record is not None and suggestions.considered(record.path, current):
            by_scope.setdefault(record.scope, []).append(one.number)
    chosen: list[int] = []
    for path in list(by_scope)[: suggestions.SCOPES]:
        some = by_scope[path][: suggestions.EXAMPLES]
        more = look.snapshot.matching(Filters(scope=scopes.shown(path)), limit=suggestions.EXAMPLES)
        chosen += list(dict.fromkeys((*some, *more)))[: suggestions.EXAMPLES]
    loaded = look.load(chosen)
    chosen = [number for number in chosen if number in loaded]
    examples = [
        suggestions.Example(one.path, content(one)[: suggestions.READ], one.category)
        for one in map(loaded.__getitem__, chosen)
    ]
    return examples, {model: look.means(model, chosen) for model in embedded.vectors if chosen}
