"""Content gaps: what a project asks, mentions or refers to and does not contain."""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Iterable, Iterator
from collections.abc import Set as AbstractSet

from polymnia.engine.analysis.actions import UNWRITTEN, Action, CreateEntity, DeleteRelations, Relate, StoreItem, Update
from polymnia.engine.analysis.activity.changes import DAY
from polymnia.engine.analysis.insights.view import InsightResults, InsightView, habit
from polymnia.engine.content import DECISION, find_deleted, title_of
from polymnia.engine.knowledge.derived import decision_parts
from polymnia.engine.text.document import PLACEHOLDER, Block, blocks, without_code
from polymnia.engine.text.language import fold
from polymnia.engine.text.names import distinct, names
from polymnia.engine.text.sentences import asks, sentences
from polymnia.models import Record, Relation


def content_gaps(view: InsightView, results: InsightResults) -> None:
    """What is missing: unfinished text, answers, targets of references, parts of decisions, names."""
    results.looked_at["memories"] = len(view.records)
    _unfinished(view, results)
    find_open_questions(view, results)
    _missing_references(view, results)
    _loose_ends(view, results)
    _thin_decisions(view, results)
    unwritten_names(view, results)


# ── Unfinished text: placeholders, and headings without text ─────────────────────────────────────────────────────────

_LINE = 160  # characters quoted of a line


def placeholders(text: str) -> Iterator[tuple[str, str]]:
    """The unfinished lines of a text: ``marked`` or ``empty heading``, and the line itself."""
    if "#" not in text and not PLACEHOLDER.search(text):
        return
    heading: Block | None = None
    for block in blocks(text):
        if block.kind == "h" and heading is not None and block.level <= heading.level:
            yield "empty heading", _line(text, heading)
        heading = block if block.kind == "h" else None
        if block.kind != "code" and PLACEHOLDER.search(text, block.start, block.end):
            heading = None
            for line in text[text.rfind("\n", 0, block.start) + 1 : block.end].splitlines():
                if PLACEHOLDER.search(line):
                    yield "marked", line.strip()[:_LINE]
    if heading is not None and heading.level > 1:  # a text that is only a title is complete
        yield "empty heading", _line(text, heading)


def _line(text: str, block: Block) -> str:
    return text[text.rfind("\n", 0, block.start) + 1 : block.end].strip()


def _unfinished(view: InsightView, results: InsightResults) -> None:
    total = 0
    for record in view.project.each(view.records, 500):
        some = list(placeholders(view.project.text(record)))
        if not some:
            continue
        total += len(some)
        days = (view.project.now - record.updated) // DAY
        places = [{"how": how, "line": line} for how, line in some[: view.budget.examples]]
        results.add(
            "unfinished",
            1.0,
            {"places": places, "count": len(some), "days_since_change": days},
            len(some) + days / 365,
            details={"title": title_of(record)},
            members=(record.id,),
            actions=view.steps(Update(id=record.uid, content=UNWRITTEN, draft=True)),
        )
    results.looked_at["unfinished_places"] = total


# ── Open questions ───────────────────────────────────────────────────────────────────────────────────────────────────
# Whether a question is answered is estimated from the share of its words in the best other memory. Measured with and
# without the answering text in the store (Korean and English): a question has no answer with the odds
# exp(3.03 - 4.79 · share). Vectors added next to nothing.

_BASE, _SLOPE = 3.03, -4.79  # log odds of no answer by the share of the words
_OPEN = 0.7  # the chance of no answer from which a question is reported
_COMPARED = (100, 300, 1500)  # questions by depth, the newest
_NEAREST = 20
_SHORTEST = 8  # characters; "why?" is addressed to somebody present
_QUESTION = re.compile(r"[?？]|니까|까요|나요|는가")
_LED = re.compile(r"[ \t]*(?:[-*+•◦‣·>]|\d{1,3}[.)]|#{1,6})?[ \t]*(?:\[[ xX]\][ \t]+)?")
_ITEM = re.compile(r"[ \t]*(?:[-*+•◦‣·]|\d{1,3}[.)])[ \t]")
_TURN = re.compile(r"\s*\W{0,2}([^\W\d_][\w .'’-]{0,30}?)\W{0,2}:\s")
_RESOLVES = re.compile(r"answer|resolv|solve|답|해결", re.IGNORECASE)


def open_questions(text: str) -> Iterator[str]:
    """The questions of a text that it does not answer itself: at its end, or items of a list."""
    if not _QUESTION.search(text):
        return
    lines = [line for line in without_code(text).splitlines() if line.strip()]
    for at, line in enumerate(lines):
        found = _sentences(line) if _QUESTION.search(line) else []
        if not found or not asks(found[-1]):
            continue  # the rest of the line answers the question
        after = lines[at + 1] if at + 1 < len(lines) else ""
        listed = _ITEM.match(line) is not None and (_ITEM.match(after) or after.lstrip().startswith("#"))
        following = _sentences(after)
        if not after or listed or (following and all(asks(one) for one in following)):
            yield from (one for one in found if asks(one) and len(one) >= _SHORTEST)


def _sentences(line: str) -> list[str]:
    return sentences(_LED.sub("", line, count=1).strip())


def unanswered(share: float) -> float:
    """The chance that a question has no answer if the best memory has this share of its words."""
    return 1.0 / (1.0 + math.exp(-(_BASE + _SLOPE * share)))


def find_open_questions(view: InsightView, results: InsightResults) -> None:
    """Add the questions that no memory answers."""
    found: list[tuple[Record, str]] = []
    speaker: str | None = None
    waiting: list[tuple[Record, str]] = []
    for record in view.project.each(view.records, 500):
        text = view.project.text(record)
        turn = _TURN.match(text, 0, 80)
        who = turn[1] if turn else None
        if speaker is None or who in (None, speaker):
            found += waiting  # else they were addressed to the next speaker
        speaker, waiting = who, [(record, one) for one in open_questions(text)]
    found += waiting
    most = _COMPARED[view.budget.rank]
    results.looked_at |= {"questions": len(found), "questions_compared": min(most, len(found))}
    closed = {one.target for one in view.project.relations if _RESOLVES.search(one.type)}
    only_asks: dict[int, bool] = {}
    by_record: dict[int, list[tuple[float, str, float, Record | None]]] = {}
    for record, sentence in sorted(found, key=lambda one: (-one[0].created, one[0].id, one[1]))[:most]:
        view.tick()
        if record.name in closed:
            continue
        share, nearest = _best_answer(view, record, sentence, only_asks)
        if (chance := unanswered(share)) >= _OPEN:
            by_record.setdefault(record.id, []).append((chance, sentence, share, nearest))
    for id, some in by_record.items():
        some.sort(key=lambda one: (-one[0], one[1]))
        _add_questions(view, results, view.project.by_id[id], some)


def _best_answer(
    view: InsightView, source: Record, sentence: str, only_asks: dict[int, bool]
) -> tuple[float, Record | None]:
    """The memory with most of a question's words, and their share; memories that only ask do not count."""
    neighbours = view.project.neighbours
    near = neighbours.by_words(sentence, _NEAREST)
    loaded = neighbours.load([number for number, _ in near])
    for number, share in near:
        record = loaded.get(number)
        if record is None or record.id == source.id or record.id not in view.whole.by_id:
            continue
        if number not in only_asks:
            found = sentences(" ".join(view.project.text(record)[-2000:].split()))
            only_asks[number] = bool(found) and all(map(asks, found))
        if not only_asks[number]:
            return share, record
    return 0.0, None


def _add_questions(
    view: InsightView, results: InsightResults, record: Record, some: list[tuple[float, str, float, Record | None]]
) -> None:
    chance, _, share, nearest = some[0]
    shown = [
        {
            "question": sentence,
            "confidence": round(open_, 4),
            "words_said": round(share, 4),
            "nearest": near and near.uid,
        }
        for open_, sentence, share, near in some[: view.budget.examples]
    ]
    results.add(
        "open_question",
        round(chance, 4),
        {"questions": shown, "count": len(some), "record": {"id": record.uid}},
        len(some),
        details={"title": title_of(record), "share": share, "nearest": nearest and title_of(nearest)},
        members=(record.id,),
        actions=view.steps(
            StoreItem(content=UNWRITTEN, tags=record.tags, draft=True),
            Relate(source=UNWRITTEN, target=record.uid, type="resolves", draft=True),
        ),
    )


# ── References to something missing: ids, linked titles, numbered keys, ends of relations ────────────────────────────

_ID = re.compile(r"\bcontent_[0-9a-f]{32}\b")
_LINK = re.compile(r"\[\[([^\[\]|#\n]{1,120})(?:[|#][^\[\]\n]*)?\]\]")
_KEY = re.compile(r"(?<![\w-])([A-Z][A-Z0-9]{1,9})-(\d{1,6})(?![\w-])")
_LETTER = re.compile(r"[^\W\d_]")
_SERIES = 2  # titles that make a series of numbered keys
_LEAST = 0.2
_DELETED = "deleted"  # the mark of a relation that was preserved when its end was deleted
_REPORTED = 100
_AT_ONCE = 20  # relations that one action deletes

Places = dict[str, list[Record]]


def _missing_references(view: InsightView, results: InsightResults) -> None:
    """Ids, links and numbered keys in texts that lead nowhere."""
    ids, links, keys = _references(view)
    results.looked_at["references"] = len(ids) + len(links)
    snapshot, filters, base = view.whole.snapshot, view.whole.filters, view.whole.neighbours.base
    known = snapshot.ids_of(list(ids)) if ids else {}
    visible = set(snapshot.matching(filters, among=[id - base for id in known.values()])) if known else set()
    existing = {uid for uid, id in known.items() if id - base in visible}  # hidden records are like missing ones
    for id, records in sorted(ids.items()):
        if id not in existing:
            deleted = find_deleted(snapshot, id, filters.session) is not None
            _add_reference(view, results, id, records, 1.0, how="deleted" if deleted else "id")
    if not links and not keys:
        return
    titles = [title_of(one) for one in view.whole.items]
    named = {name_key(one) for one in titles} | {name_key(one.name) for one in view.whole.items if one.name != one.uid}
    for title, records in sorted(links.items()):
        if name_key(title) not in named:
            _add_reference(view, results, title, records, 1.0, how="title")
    _missing_keys(view, results, keys, titles)


def _references(view: InsightView) -> tuple[Places, Places, Places]:
    """The ids, the linked titles and the numbered keys in texts, each with the records that have it."""
    ids: Places = {}
    links: Places = {}
    keys: Places = {}
    for record in view.project.each(view.records):
        text = without_code(view.project.text(record))
        for found, places in ((_ID.findall(text), ids), (_LINK.findall(text), links)):
            for one in dict.fromkeys(found):
                if _LETTER.search(one):
                    places.setdefault(one.strip(), []).append(record)
        for one in dict.fromkeys(match[0] for match in _KEY.finditer(text)):
            keys.setdefault(one, []).append(record)
    return ids, links, keys


def _missing_keys(view: InsightView, results: InsightResults, keys: Places, titles: list[str]) -> None:
    """Numbered keys such as ADR-12, of series that are in the titles of memories."""
    led: dict[str, set[str]] = {}
    for title in titles:
        if match := _KEY.match(title.strip("#[( ")):
            led.setdefault(match[1], set()).add(match[0])
    for series, known in sorted(led.items()):
        named = {one for one in keys if one.rpartition("-")[0] == series}
        missing = named - known
        usual = habit(len(named) - len(missing), len(named) - 1)
        if len(known) < _SERIES or usual < _LEAST:
            continue
        results.looked_at["references"] += len(named)
        counts = {"series": series, "named": len(named), "there": len(named) - len(missing), "called": len(known)}
        for one in sorted(missing):
            _add_reference(view, results, one, keys[one], round(usual, 4), how="key", **counts)


def _add_reference(
    view: InsightView, results: InsightResults, what: str, records: list[Record], sure: float, **details: object
) -> None:
    steps: list[Action] = [Update(id=records[0].uid, content=UNWRITTEN, draft=True)]
    if not _ID.fullmatch(what):
        steps.append(StoreItem(content=UNWRITTEN, title=what, draft=True))
    results.add(
        "missing_reference",
        sure,
        {"reference": what, "count": len(records), "records": view.shown(records)},
        len(records),
        details={"title": title_of(records[0]), "ids": [one.uid for one in records[:3]], **details},
        members=tuple(one.id for one in records),
        actions=view.steps(*steps),
    )


def _loose_ends(view: InsightView, results: InsightResults) -> None:
    known = view.whole.by_name
    own = view.project.by_name
    ends: dict[str, list[Relation]] = {}
    for at, relation in enumerate(view.whole.snapshot.relations()):
        if at % 5000 == 0:
            view.tick()
        if relation.metadata.get(_DELETED) or (relation.source in known and relation.target in known):
            continue
        if relation.source in own or relation.target in own or view.among is None:
            for name in {relation.source, relation.target} - known.keys():
                ends.setdefault(name, []).append(relation)
    existing = view.whole.snapshot.ids(list(ends)) if ends else {}
    loose = sorted((-len(some), name) for name, some in ends.items() if name not in existing)
    results.looked_at["loose_ends"] = len(loose)
    for _, name in loose[:_REPORTED]:
        some = ends[name]
        records = [own[end] for end in dict.fromkeys(e for r in some for e in (r.source, r.target)) if end in own]
        shown = [{"source": r.source, "type": r.type, "target": r.target} for r in some[: view.budget.examples]]
        steps: list[Action] = [CreateEntity(name=name, draft=True)]
        if len(some) <= _AT_ONCE:
            steps.append(DeleteRelations(relations=tuple((r.source, r.target, r.type) for r in some)))
        results.add(
            "loose_end",
            1.0,
            {"name": name, "count": len(some), "relations": shown, "records": view.shown(records)},
            len(some),
            details={"types": [type for type, _ in Counter(relation.type for relation in some).most_common(3)]},
            members=tuple(one.id for one in records),
            actions=view.steps(*steps),
        )


# ── Decisions without a part that most decisions of the project have ─────────────────────────────────────────────────

_PARTS = ("rationale", "alternatives", "impact")
_USUAL = 0.5  # the share of decisions with a part, from which it is missed


def _thin_decisions(view: InsightView, results: InsightResults) -> None:
    decisions = {one.id: decision_parts(one) for one in view.records if one.kind == DECISION}
    results.looked_at["decisions"] = len(decisions)
    known = {id: parts for id, parts in decisions.items() if parts is not None}
    for part in _PARTS if known else ():
        missing = view.loaded(id for id, parts in known.items() if not parts.get(part))
        having = len(known) - len(missing)
        usual = habit(having, len(known) - 1)
        if not missing or usual < _USUAL:
            continue
        results.add(
            f"decision_without_{part}",
            round(usual, 4),
            {"lacking": view.shown(missing), "count": len(missing), "having": having, "decisions": len(known)},
            len(missing),
            details={"title": title_of(missing[0])},
            members=tuple(one.id for one in missing),
            actions=view.steps(Update(id=missing[0].uid, content=UNWRITTEN, draft=True)),
        )


_FEWEST = 3  # memories that mention a name
_USUALLY = 0.2  # the share of such names with a memory of their own, from which one is missed
_READ = 4_000  # characters of a text; its main names come early
_LETTERS = 3  # two are a unit or a symbol
_EACH = 30  # names of one text
_NAMED = 40
_HALF = 2  # compared with names mentioned at least half as often
_TOKEN = re.compile(r"[가-힣]+|[^\W_가-힣]+")
_FIRST = 3  # words that name the subject of a text without a title
_BEGINNING = 200
_TITLE = re.compile(r"\s*#{1,6}[ \t]+(.*\S)")


def name_key(name: str) -> tuple[str, ...]:
    """The folded words of a name."""
    return tuple(fold(token) for token in _TOKEN.findall(name))


def unwritten_names(view: InsightView, results: InsightResults) -> None:
    """Names without a memory of their own, where names mentioned as often have one."""
    found: dict[tuple[str, ...], list[tuple[Record, str]]] = {}
    sample = view.sample.items
    for record in view.sample.each(sample, 200):
        mentioned: dict[tuple[str, ...], str] = {}
        for name in distinct(names(view.project.text(record)[:_READ]), _EACH):
            if len(name.text) >= (_LETTERS if name.text.isascii() else 2):
                mentioned.setdefault(name_key(name.text), name.text)
        for words, text in mentioned.items():
            found.setdefault(words, []).append((record, text))
    often = {words: some for words, some in found.items() if words and len(some) >= _FEWEST}
    results.looked_at |= {"texts_read_for_names": len(sample), "names": len(often)}
    if not often:
        return
    heads = headed(view.whole.items, often.keys())
    counts = [(len(some), words in heads) for words, some in often.items()]
    unusual = 0
    for count, words in sorted((-len(some), words) for words, some in often.items() if words not in heads)[:_NAMED]:
        peers = [has for other, has in counts if other * _HALF >= -count]
        usual = habit(sum(peers), len(peers) - 1)
        if usual < _USUALLY:
            unusual += 1
        else:
            _add_name(view, results, often[words], peers, usual)
    if unusual:
        having = sum(has for _, has in counts)
        results.note("names_seldom_written", silent=unusual, fewest=_FEWEST, having=having, names=len(counts))


def _add_name(
    view: InsightView, results: InsightResults, some: list[tuple[Record, str]], peers: list[bool], usual: float
) -> None:
    spelled = Counter(text for _, text in some)
    name = min(spelled, key=lambda text: (-spelled[text], text))
    quotes = []
    for record, _ in some[: view.budget.examples]:
        lines = view.project.text(record)[:_READ].splitlines()
        line = next((s for line in lines if name in line for s in sentences(line) if name in s), "")
        quotes.append({"id": record.uid, "sentence": line[:300]})
    results.add(
        "unwritten_name",
        round(usual, 4),
        {
            "name": name,
            "mentions": len(some),
            "said": quotes,
            "names_like_it": len(peers),
            "having": sum(peers),
        },
        len(some),
        members=tuple(record.id for record, _ in some),
        actions=view.steps(StoreItem(content=f"# {name}\n\n{UNWRITTEN}", title=name, draft=True)),
    )


def headed(records: Iterable[Record], names: AbstractSet[tuple[str, ...]]) -> set[tuple[str, ...]]:
    """Those of some names that are in the names, titles, tags or first words of some records."""
    longest = max(map(len, names), default=0)
    found: set[tuple[str, ...]] = set()
    for record in records:
        text = record.observations[0][:_BEGINNING] if record.observations else ""
        title = _TITLE.match(text)
        heads = [title[1]] if title else [" ".join(_TOKEN.findall(text)[: _FIRST + longest - 1])]
        heads += [record.name] if record.name != record.uid else []
        heads += [str(record.metadata.get("title", "")), *record.tags]
        for at, head in enumerate(heads):
            words = name_key(head)
            for start in range(len(words) if at or title else min(_FIRST, len(words))):
                for end in range(start + 1, min(start + longest, len(words)) + 1):
                    *most, last = words[start:end]
                    found |= names & {(*most, form) for form in _forms(last)}
    return found


def _forms(word: str) -> tuple[str, ...]:
    """A word, and a Korean one without its particles."""
    if "가" <= word[0] <= "힣" and len(word) > 2:
        return (word, *(word[:cut] for cut in range(max(2, len(word) - 2), len(word))))
    return (word,)
