"""Knowledge: what is related to a memory or a text, which scope it belongs to, and the relations it expresses."""

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
    visible,
    with_targets,
)
from polymnia.engine.project import Project
from polymnia.errors import Invalid
from polymnia.importing import importing
from polymnia.models import Filters, JsonObject, Record, Relation, RelationDraft, legal_text

if TYPE_CHECKING:
    from polymnia.engine.knowledge.associations import Discovery
    from polymnia.engine.knowledge.kinds import ConversationTurn, Extraction, KindGuess
    from polymnia.engine.knowledge.suggestions import Example, Suggestion
    from polymnia.engine.ports import Transaction
    from polymnia.engine.search.neighbours import EmbeddedText, Neighbours


class KnowledgeVerbs(Project):
    """Operations that find related memories."""

    def discover(self, id: str, *, limit: int = 10, threshold: float = 0.1) -> Discovery:
        """Memories related to a memory: by meaning, shared tags and names, time, and existing relations."""
        from polymnia.engine.knowledge import associations

        def associate(view: Neighbours, embedded: EmbeddedText) -> Discovery:
            number = record.id - view.base
            now = view.load([number]).get(number, record)
            return associations.discover(view, now, embedded, limit=limit, threshold=threshold)

        finder = self.finding()
        with self.store.read(self.project) as snapshot:
            record = find(snapshot, id)
        with finder.neighbours(self.project) as view:
            if (stored := view.stored(record.id - view.base)) is not None:
                return associate(view, stored)
        embedded = finder.embed_text(self.project, *read_as(record))
        with finder.neighbours(self.project) as view:
            return associate(view, embedded)

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
        embedded = finder.embed_text(self.project, *read_as(record))
        filters = replace(visible(session), content_types=tuple(content_types))
        excluded = {*exclude} if include_self else {*exclude, record.uid}
        with finder.neighbours(self.project) as view:
            found = similar(view, embedded, whole, filters, measure, limit, threshold, excluded)
        self._count_reads((one.id for one, _ in found), opened=False)
        return found

    def suggest_scope(self, content: str, *, current: str | None = None) -> Suggestion:
        """The scope a text belongs to, judged by the memories already filed; abstains if they are not conclusive."""
        with importing():
            from polymnia.engine.knowledge import suggestions

        check_content(content, "content", self.limits, "Give the text to file.")
        here = None if current is None else scopes.legal_scope(current, "current_scope")
        head = content[: suggestions.READ]
        finder = self.finding()
        embedded = finder.embed_text(self.project, *read_as(_unstored(head, KIND)))
        # The view blocks others: the classifier is trained after it is closed.
        with finder.neighbours(self.project) as view:
            examples, filed = _examples(view, embedded, head, here)
        paths = list(dict.fromkeys(one.scope for one in examples))
        names = finder.embedded([suggestions.scope_words(path) for path in paths], list(filed))
        views = [
            suggestions.ScopeView(
                text=embedded.mean(model), examples=rows, names=names[model],
                strong=finder.embedder(model).strong, unrelated=finder.embedder(model).unrelated,
            )
            for model, rows in filed.items()
            if model in names
        ]  # fmt: skip
        return suggestions.suggest(content, examples, views, current=here)

    def kinds(self, texts: Sequence[str], *, role: str = "note", patient: bool = True) -> list[KindGuess | None]:
        """What kind of statement each text is; None where there is no model for that, or none for its language.

        ``role`` says where the texts come from: "note", "user" or "assistant". Who is not patient does not wait for a
        model to be loaded.
        """
        from polymnia.engine.knowledge import kinds

        kinds.check_role(role, "role")
        return kinds.guess(self.finding(), self.project, texts, [role] * len(texts), patient=patient)

    def kinds_of(self, records: Sequence[Record]) -> list[list[KindGuess | None]]:
        """What kind of statement each observation of stored memories is, for each memory in their order.

        Read off the vectors in the store: None for an observation that has none yet. No text is embedded.
        """
        from polymnia.engine.knowledge import kinds

        with self.store.read(self.project) as snapshot:
            return kinds.guess_stored(self.finding(), snapshot, records)

    def extract(self, messages: Sequence[ConversationTurn]) -> Extraction:
        """The sentences of a conversation that are worth keeping, and those that are not. Nothing is stored."""
        from polymnia.engine.knowledge import kinds

        for at, message in enumerate(messages):
            kinds.check_role(message.role, f"messages[{at}].role")
            legal_text(message.text, f"messages[{at}].text", self.limits.text_bytes)
        return kinds.extract(self.finding(), self.project, messages)

    def detect(self, records: Sequence[Record]) -> int:
        """Add the relationships that the texts of these items express, as one change; returns how many."""
        drawn: list[RelationDraft] = []
        for record in records:
            if len(record.observations) == 1:
                drawn += self._embedded(record, record.session, None, relate=True)[1]

        def draw(tx: Transaction) -> int:
            ends = list(dict.fromkeys((one.source, one.target, one.type) for one in drawn))
            known = {relation.ends for relation in tx.find_relations(ends)}
            new = [one for one in with_targets(tx, drawn) if (one.source, one.target, one.type) not in known]
            return len(tx.relate(new))

        return self._write("detect_relationships", draw) if drawn else 0

    def _embedded(
        self, record: Record, session: str | None, embed: bool | None, *, relate: bool
    ) -> tuple[EmbeddedText | None, list[RelationDraft]]:
        """The embedded item, and the relationships to add; each only if requested."""
        embedded, drawn = None, list[RelationDraft]()
        if relate or embed:
            embedded = self.finding().embed_text(self.project, *read_as(record), needed=bool(embed))
        if relate and embedded is not None:
            with importing():
                from polymnia.engine.knowledge.relationships import drafts

            with self.finding().neighbours(self.project) as view:
                drawn = drafts(view, record, embedded, session)
        return self.finding().unread(*read_as(record)) if embed is False else embedded, drawn

    def _planned(self, record: Record) -> Record:
        """A memory about to be stored, without credentials that may not be: nothing may be derived from those."""
        (draft,) = self.screen.drafts([as_draft(record)])
        return replace(
            record, kind=draft.kind, observations=draft.observations, category=draft.category, summary=draft.summary,
            tags=draft.tags, metadata=draft.metadata, created=time.time_ns() // 1000,
        )  # fmt: skip

    def _add(
        self, tx: Transaction, record: Record, embedded: EmbeddedText | None, drawn: Sequence[RelationDraft]
    ) -> tuple[Record, list[Relation]]:
        """Store a memory of a single text with its vectors and relations."""
        scopes.begin(tx, record.session)
        (created,) = tx.add_records([as_draft(record)])
        number = created.id & 0xFFFFFFFF
        self._put_vectors(tx, embedded, number, number + 1)
        return created, tx.relate(with_targets(tx, drawn))


def _unstored(text: str, kind: str) -> Record:
    return Record(id=0, uid="-", name="-", kind=kind, observations=(text,))


def _examples(
    view: Neighbours, embedded: EmbeddedText, head: str, current: str | None
) -> tuple[list[Example], JsonObject]:
    """Filed memories of the scopes nearest to a text, and their mean vectors for each model that embedded the text."""
    with importing():
        from polymnia.engine.knowledge import suggestions

    _, near = view.both(embedded, head, suggestions.BY_MEANING, suggestions.BY_WORDS)
    near.sort(key=lambda one: (-max(one.words, one.cosine if one.cosine == one.cosine else 0.0), one.number))
    loaded = view.load([one.number for one in near])
    by_scope: dict[str | None, list[int]] = {}
    for one in near:
        record = loaded.get(one.number)
        if record is not None and suggestions.considered(record.path, current):
            by_scope.setdefault(record.scope, []).append(one.number)
    chosen: list[int] = []
    for path in list(by_scope)[: suggestions.SCOPES]:
        some = by_scope[path][: suggestions.EXAMPLES]
        more = view.snapshot.matching(Filters(scope=scopes.shown(path)), limit=suggestions.EXAMPLES)
        chosen += list(dict.fromkeys((*some, *more)))[: suggestions.EXAMPLES]
    loaded = view.load(chosen)
    chosen = [number for number in chosen if number in loaded]
    examples = [
        suggestions.Example(one.path, content(one)[: suggestions.READ], one.category)
        for one in map(loaded.__getitem__, chosen)
    ]
    return examples, {model: view.means(model, chosen) for model in embedded.vectors if chosen}
