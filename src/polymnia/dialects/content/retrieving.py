"""memory_retrieve: searching, reading, comparing, and looking back."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from polymnia.dialects.content import parameters
from polymnia.dialects.content.asking import Asking, replied
from polymnia.dialects.content.reading import Verb
from polymnia.dialects.content.results import answer, item, minimal, relationship, summarised, turn, version
from polymnia.engine.content import content
from polymnia.engine.text.calendar import moment, read_moment
from polymnia.errors import BadArguments, Invalid, NoModel, Violation
from polymnia.models import Filters, Record, Relation
from polymnia.operation import Context, Memory, Reply

if TYPE_CHECKING:
    from polymnia.dialects.content.answers import ContentVersion, Relationship

__all__ = ["VERBS", "period"]

_LANES = {"semantic": "meaning", "keyword": "words", "hybrid": "all"}
_DAY = 86_400_000_000
_AROUND = 400  # characters of context


def _or(value: Any, default: Any) -> Any:
    return default if value is None else value


def period(given: parameters.DateRange | None, where: str) -> tuple[int | None, int | None]:
    """From and to in microseconds; a bare date as the end means the end of its day."""
    if given is None:
        return None, None
    start = None if given.start is None else read_moment(given.start, f"{where}.start")
    end = None if given.end is None else read_moment(given.end, f"{where}.end")
    if end is not None and given.end is not None and len(given.end.strip()) <= len("2025-07-10"):
        end += _DAY
    elif end is not None:
        end += 1
    if start is not None and end is not None and start >= end:
        raise Invalid(f"{where}.start is after {where}.end", field=f"{where}.start", hint="Exchange the two.")
    return start, end


def _search(context: Context, given: parameters.SearchContent) -> Reply:
    asking = Asking(context, given)
    if not given.query.strip():
        raise Invalid("query is empty", field="query", hint="Say what to look for.")
    filters, options = given.filters or parameters.SearchFilters(), given.options or parameters.SearchOptions()
    start, end = period(filters.date_range, "filters.date_range")
    wanted = Filters(
        session=given.session_id, any_session=False, content_types=tuple(_or(filters.content_types, ())),
        tags=tuple(_or(filters.tags, ())), created_from=start, created_to=end, metadata=_or(filters.metadata, {}),
    )  # fmt: skip
    limit, offset = _or(options.limit, 10), _or(options.offset, 0)
    sort = _or(options.sort_by, "relevance")
    ascending = _or(options.sort_order, "asc" if sort == "title" else "desc") == "asc"

    def work() -> dict[str, Any]:
        found = asking.memory.search(
            given.query, limit=limit, offset=offset, filters=wanted, lanes=_LANES[_or(given.query_type, "hybrid")],
            facets=True, at_least=options.min_relevance, sort=sort, ascending=ascending,
        )  # fmt: skip
        if given.query_type == "semantic":
            _meaning_or_fault(asking.memory, needed=True)
        results = [_result(hit, options) for hit in found.hits]
        facets = {
            name: [{"value": value, "count": count} for value, count in found.facets.get(key, [])]
            for name, key in (("content_types", "content_types"), ("tags", "tags"), ("months", "months"))
        }
        told = answer(
            asking.begun, results=results, total=found.total, page=offset // limit + 1, per_page=limit, facets=facets
        )
        # What a call does not see is no filter its caller set.
        asked = filters != parameters.SearchFilters()
        if found.notes:
            misses = any(note.code == "nearest" for note in found.notes)
            told["notes"] = [
                note.text if asked or note.code != "filtered" else "Nothing matches."
                for note in found.notes
                if asked or note.code != "filtered" or not misses
            ]
        return told

    return replied(asking, work)


def _meaning_or_fault(memory: Memory, *, needed: bool = False) -> None:
    finder = memory.finding()
    if needed and not finder.channels:
        raise NoModel(
            "There is no model to search by meaning: --embedder is none",
            hint="Use query_type keyword or hybrid, or start the server with a model.",
        )
    fault = finder.broken()
    if fault is not None:
        raise NoModel(f"Search by meaning failed: {fault.message}", hint=fault.hint)


def _result(hit: Any, options: parameters.SearchOptions) -> dict[str, Any]:
    told: dict[str, Any] = {
        "content": item(hit.record),
        "relevance": hit.score,
        "explanation": hit.why.sentence,
    }
    if options.include_highlights:
        told["highlights"] = [_marked(fragment.text, fragment.marks) for fragment in hit.fragments]
    if options.include_context:
        told["context"] = _context(hit.record, hit.fragments)
    for side, said in (("previous_turn", hit.previous), ("next_turn", hit.next)):
        if said is not None:
            told[side] = turn(said)
    return told


def _marked(text: str, marks: Any) -> str:
    """A piece with what matches between two stars each."""
    parts, at = [], 0
    for start, end in sorted(marks):
        if start >= at:
            parts += [text[at:start], "**", text[start:end], "**"]
            at = end
    return "".join((*parts, text[at:]))


def _context(record: Record, fragments: Any) -> str:
    """The text around the best piece."""
    text = content(record)
    piece = fragments[0].text.strip("… ") if fragments else ""
    at = max(0, text.find(piece))
    start, end = max(0, at - _AROUND), min(len(text), at + len(piece) + _AROUND)
    return ("…" if start else "") + text[start:end] + ("…" if end < len(text) else "")


def _get(context: Context, given: parameters.GetContent) -> Reply:
    asking = Asking(context, given)
    options = given.options or parameters.GetOptions()
    form, metadata = _or(options.format, "full"), _or(options.include_metadata, True)

    def work() -> dict[str, Any]:
        memory = asking.memory
        record = memory.item(given.content_id, session=given.session_id)
        shapes = {"full": item, "summary": summarised}
        told = shapes[form](record, metadata=metadata) if form in shapes else minimal(record)
        fields: dict[str, Any] = {"content_id": record.uid, "content": told}
        if given.include_refs or options.include_relationships:
            links = memory.item_relations(record, session=given.session_id)
            if options.include_relationships:
                told["relationships"] = [_link(record, one, other) for one, other in links]
            if given.include_refs:
                told["references"] = _references(record, links)
        if given.include_history:
            told["history"] = _versions(memory, given.content_id, given.session_id, None, False)
        if options.include_embeddings:
            told["embeddings"] = memory.item_vectors(record)
        return answer(asking.begun, **fields)

    return replied(asking, work)


def _link(record: Record, relation: Relation, other: Record | None) -> Relationship:
    ends = [record.uid if name == record.name else (other.uid if other else None)
            for name in (relation.source, relation.target)]  # fmt: skip
    return relationship(relation, *ends)


def _references(record: Record, links: list[tuple[Relation, Record | None]]) -> dict[str, Any]:
    """What an item points to, and what points to it."""
    outgoing: list[dict[str, Any]] = []
    incoming: list[dict[str, Any]] = []
    for relation, other in links:
        end = minimal(other) if other is not None else {"content_id": None, "deleted": True}
        told = {**end, "type": relation.type}
        (outgoing if relation.source == record.name else incoming).append(told)
    return {"outgoing": outgoing, "incoming": incoming}


def _versions(memory: Memory, id: str, session: str | None, limit: int | None, diffs: bool) -> list[ContentVersion]:
    found = memory.item_versions(id, session=session)
    return [
        version(one, found[i + 1] if i + 1 < len(found) else None, diffs)
        for i, one in enumerate(found)
        if limit is None or i < limit
    ]


def _similar(context: Context, given: parameters.FindSimilar) -> Reply:
    asking = Asking(context, given)
    if (given.content is None) == (given.content_id is None):
        if given.content is None:
            raise BadArguments(
                "find_similar_content", [Violation("content_id", "string; or give content", "undefined")]
            )
        raise Invalid("Give content or content_id, not both", field="content_id", hint="Leave one of them out.")
    if given.content is not None and not given.content.strip():
        raise Invalid("content is empty", field="content", hint="Give a text to compare with.")
    options = given.options or parameters.SimilarOptions()

    def work() -> dict[str, Any]:
        measure = _or(options.similarity_method, "cosine")
        found = asking.memory.similar_items(
            text=given.content,
            id=given.content_id,
            session=given.session_id,
            limit=_or(given.limit, 10),
            threshold=_or(given.threshold, 0.0),
            measure=measure,
            include_self=_or(options.include_self, False),
            content_types=_or(options.content_types, ()),
            exclude=_or(options.exclude_ids, ()),
        )
        _meaning_or_fault(asking.memory)
        results = [{"content": item(record), "similarity": value} for record, value in found]
        return answer(asking.begun, results=results, total=len(results), similarity_method=measure)

    return replied(asking, work)


def _history(context: Context, given: parameters.GetHistory) -> Reply:
    asking = Asking(context, given)

    def work() -> dict[str, Any]:
        told = _versions(
            asking.memory, given.content_id, given.session_id, given.limit, _or(given.include_diffs, False)
        )
        total = len(asking.memory.item_versions(given.content_id, session=given.session_id))
        fields: dict[str, Any] = {"content_id": given.content_id, "versions": told, "total_versions": total}
        deletion = asking.memory.item_deletion(given.content_id, session=given.session_id)
        if deletion is not None:
            fields["deleted"] = {
                "at": moment(deletion.at),
                "by": deletion.who,
                "change": deletion.id,
                "restore": "update_content with this content_id, updates {} and options.restore true brings it back.",
            }
        return answer(asking.begun, **fields)

    return replied(asking, work)


VERBS = {
    "search_content": Verb(
        params=parameters.SearchContent,
        run=_search,
        help="Search the items of a project by words, by meaning, or by both, in any language. Best matches "
        "first, each with its relevance from 0 to 1 and the reason it was found.",
        reads=True,
    ),
    "get_content": Verb(
        params=parameters.GetContent,
        run=_get,
        help="Read one item: its text and, where asked for, its relationships, references, versions and vectors.",
        reads=True,
    ),
    "find_similar_content": Verb(
        params=parameters.FindSimilar,
        run=_similar,
        help="Find the items most similar in meaning to a text or to another item.",
        reads=True,
    ),
    "get_content_history": Verb(
        params=parameters.GetHistory,
        run=_history,
        help="List the versions of an item, newest first: what each said, who made it, and what it changed.",
        reads=True,
    ),
}
