"""memory.search and memory.explain as a program meets them: filters, reasons, pieces, budgets, times."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import closing
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from polymnia import EntityDraft, Filters, Found, Invalid, Memory, connect, describe, remark
from polymnia.engine.search import Analysis
from stdio_client import Place

_DAY = 86_400_000_000


def at(year: int, month: int, day: int, hour: int = 12) -> int:
    """A time in microseconds."""
    return int(datetime(year, month, day, hour, tzinfo=UTC).timestamp()) * 1_000_000


class Clock:
    """A clock that tells what it is set to."""

    def __init__(self) -> None:
        self.now = at(2026, 5, 1)

    def __call__(self) -> int:
        return self.now


@pytest.fixture
def clock() -> Clock:
    return Clock()


@pytest.fixture
def memory(tmp_path: Path, clock: Clock) -> Iterator[Memory]:
    """A memory that is searched by words, on a clock of its own."""
    with closing(Place(tmp_path)) as place, Memory(place.open_store(clock=clock, analyst=Analysis())) as held:
        yield held


@pytest.fixture(scope="module")
def meaning(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Memory]:
    """A memory that is searched by words and by meaning, with the model every install has."""
    patch = pytest.MonkeyPatch()
    patch.setenv("POLYMNIA_EMBEDDER", "use")
    with closing(Place(tmp_path_factory.mktemp("meaning"))) as place, connect(place.address) as held:
        held.create_entities(
            [
                EntityDraft("Ann", "person", ("Drinks green tea every morning", "Works at the harbour")),
                EntityDraft("Bob", "person", ("Plays the guitar in a band",)),
                EntityDraft("서울", "도시", ("서울은 대한민국의 수도이다",)),
                EntityDraft("Rechnung", "Notiz", ("Die Rechnung muss bis Ende des Monats bezahlt werden",)),
            ]
        )
        yield held
    patch.undo()


def names(found: Found) -> list[str]:
    return [hit.record.name for hit in found.hits]


_DRAFTS = {
    "plan": {"kind": "decision", "tags": ("storage", "search"), "scope": "work/atlas", "metadata": {"team": "blue"}},
    "draft": {"kind": "decision", "tags": ("search",), "scope": "work/atlas/api", "metadata": {"team": "red", "n": 3}},
    "memo": {"kind": "note", "tags": (), "scope": "work/atlas2", "session": "s1", "metadata": {"on": True}},
    "letter": {"kind": "note", "tags": ("storage",), "session": "s2", "category": "mail", "metadata": {"n": "3"}},
}


def fill(memory: Memory, clock: Clock) -> None:
    """Four memories of the same words, a day apart, that differ in everything else."""
    for name, more in _DRAFTS.items():
        memory.create_entities([EntityDraft(name, observations=("The lighthouse stands on a rock",), **more)])
        clock.now += _DAY


@pytest.mark.promise("search.filters")
@pytest.mark.parametrize(
    ("filters", "passing"),
    [
        ({}, "plan draft memo letter"),
        ({"kinds": ("decision",)}, "plan draft"),
        ({"kinds": ("decision", "note")}, "plan draft memo letter"),
        ({"kinds": ("Decision",)}, ""),
        ({"names": ("memo", "letter", "nobody")}, "memo letter"),
        ({"categories": ("mail",)}, "letter"),
        ({"tags": ("storage",)}, "plan letter"),
        ({"tags": ("storage", "search")}, "plan draft letter"),
        ({"tags": ("storage", "search"), "all_tags": True}, "plan"),
        ({"scope": "work/atlas"}, "plan"),
        ({"scope": "work/atlas", "scopes_below": True}, "plan draft"),
        ({"scope": "work", "scopes_below": True}, "plan draft memo"),
        ({"session": "s1"}, "plan draft memo"),
        ({"any_session": False}, "plan draft"),
        ({"created_from": at(2026, 5, 2)}, "draft memo letter"),
        ({"created_to": at(2026, 5, 2)}, "plan"),
        ({"created_from": at(2026, 5, 2), "created_to": at(2026, 5, 4)}, "draft memo"),
        ({"updated_to": at(2026, 5, 3)}, "plan draft"),
        ({"metadata": {"team": "blue"}}, "plan"),
        ({"metadata": {"n": 3}}, "draft"),
        ({"metadata": {"n": "3"}}, "letter"),
        ({"metadata": {"on": True}}, "memo"),
        ({"metadata": {"team": "red", "n": 3}, "kinds": ("decision",)}, "draft"),
        ({"metadata": {"n": 3}, "kinds": ("note",)}, ""),
    ],
)
@pytest.mark.parametrize("query", ["lighthouse", "rock where the lighthouse stands"])
def test_only_what_passes_every_filter_is_found(
    memory: Memory, clock: Clock, query: str, filters: dict[str, Any], passing: str
) -> None:
    fill(memory, clock)

    found = memory.search(query, filters=Filters(**filters))

    assert sorted(names(found)) == sorted(passing.split())
    assert found.total == len(passing.split())


@pytest.mark.promise("search.filters")
def test_a_filter_that_few_pass_finds_them_among_many(memory: Memory) -> None:
    memory.create_entities(
        [EntityDraft(f"m{i:04}", "rare" if i % 500 == 499 else "common", ("lighthouse " * 2,)) for i in range(2000)]
    )

    for query in ("lighthouse", "a lighthouse", "lighthouse rare"):
        found = memory.search(query, filters=Filters(kinds=("rare",)))
        assert sorted(names(found)) == ["m0499", "m0999", "m1499", "m1999"]


@pytest.mark.promise("search.facets")
def test_facets_count_all_that_matches_not_the_page_alone(memory: Memory, clock: Clock) -> None:
    fill(memory, clock)

    found = memory.search("lighthouse", limit=1, facets=True)

    assert len(found.hits) == 1
    assert dict(found.facets["kinds"]) == {"decision": 2, "note": 2}
    assert dict(found.facets["tags"]) == {"storage": 2, "search": 2}
    assert dict(found.facets["months"]) == {"2026-05": 4}
    assert memory.search("lighthouse").facets == {}


@pytest.mark.promise("search.fragments")
def test_each_hit_has_the_pieces_that_answer_with_the_words_marked(memory: Memory) -> None:
    long = "Nothing to see in this sentence. " * 60 + "The keeper polishes the lens. " + "Nor in this one. " * 60
    memory.create_entities([EntityDraft("tower", "place", ("It is white", long, "등대지기가 렌즈를 닦는다"))])

    (hit,) = memory.search("polished lenses").hits
    best = hit.fragments[0]
    assert best.observation == 1
    assert [best.text[start:end] for start, end in best.marks] == ["polishes", "lens"]
    assert len(best.text) < 300

    (hit,) = memory.search("렌즈").hits
    best = hit.fragments[0]
    assert best.observation == 2
    assert [best.text[start:end] for start, end in best.marks] == ["렌즈를"]


@pytest.mark.promise("search.why")
def test_a_hit_says_why_in_data_and_in_a_sentence(memory: Memory) -> None:
    memory.create_entities([EntityDraft("Ann", "person", ("Drinks green tea", "Lives in Ulm"))])

    (exact,) = memory.search("green tea").hits
    assert exact.why.exact == "observation"
    assert exact.why.terms == ("green", "tea")

    (some,) = memory.search("tea or coffee").hits
    assert some.why.exact is None
    assert some.why.terms == ("tea",)
    assert some.why.missing == ("coffee",)
    assert "“tea”" in describe(some).summary
    assert "lacks “coffee”" in describe(some).summary
    assert some.why.similarity is None

    (alike,) = memory.search("drniks").hits
    assert [word for word, _ in alike.why.alike] == ["drniks"]


@pytest.mark.long
@pytest.mark.promise("search.why")
def test_a_hit_by_meaning_says_how_near_it_is(meaning: Memory) -> None:
    hit = meaning.search("the capital of Korea").hits[0]

    assert hit.record.name == "서울"
    assert hit.why.terms == ()
    assert hit.why.similarity is not None
    assert 0.3 < hit.why.similarity <= 1
    assert "meaning" in describe(hit).summary


@pytest.mark.long
@pytest.mark.promise("search.scores")
def test_scores_are_between_nothing_and_one_and_fall(meaning: Memory) -> None:
    for query in ("Ann", "green tea", "tea", "who plays music", "서울", "수도", "was muss bezahlt werden", "a"):
        scores = [hit.score for hit in meaning.search(query).hits]
        assert scores == sorted(scores, reverse=True), query
        assert all(0 <= score <= 1 for score in scores), query
    assert meaning.search("Ann").hits[0].score == 1


@pytest.mark.promise("search.scores")
def test_a_score_is_the_same_whatever_else_is_asked_for(meaning: Memory) -> None:
    def score(**more: Any) -> float:
        return next(h.score for h in meaning.search("who plays music", **more).hits if h.record.name == "Bob")

    assert score() == score(limit=1) == score(filters=Filters(kinds=("person",)))


@pytest.mark.promise("search.budget")
def test_a_budget_of_tokens_is_kept_and_the_answer_says_what_was_cut(memory: Memory) -> None:
    text = "The keeper lights the lamp. " + "Ships pass by the rocks in the dark. " * 40
    memory.create_entities([EntityDraft(f"night {i}", "log", (f"{text} Number {i}.",)) for i in range(10)])

    whole = memory.search("keeper lamp")
    tight = memory.search("keeper lamp", max_tokens=150)

    assert whole.cut is None
    assert tight.cut is not None
    assert tight.cut.tokens <= tight.cut.budget == 150
    assert 0 < len(tight.hits) < 10
    assert tight.cut.whole + tight.cut.cut == len(tight.hits)
    assert tight.cut.whole + tight.cut.cut + tight.cut.left_out == 10
    assert all("lamp" in hit.fragments[0].text for hit in tight.hits)
    assert any(note.code == "cut" for note in tight.notes)


@pytest.mark.promise("search.budget")
def test_the_best_memory_is_cut_rather_than_left_out(memory: Memory) -> None:
    memory.create_entities(
        [
            EntityDraft("best", "log", ("The keeper lights the lamp. " + "Ships pass by in the dark. " * 60,)),
            EntityDraft("short", "log", ("A lamp",)),
        ]
    )

    found = memory.search("keeper lights lamp", max_tokens=200)

    assert names(found)[0] == "best"
    assert found.hits[0].cut


@pytest.mark.promise("search.time")
@pytest.mark.parametrize(
    ("query", "first"),
    [
        ("what happened last Tuesday", "tuesday"),
        ("what happened yesterday", "wednesday"),
        ("in April 2026", "april"),
        ("지난주 화요일에 무슨 일이 있었지", "a week before"),
        ("was war gestern", "wednesday"),
    ],
)
def test_a_time_in_a_query_is_seen_from_now(memory: Memory, query: str, first: str) -> None:
    memory.create_entities(
        [
            EntityDraft("april", "day", ("On 2026-04-20 the boat came",)),
            EntityDraft("a week before", "day", ("On 2026-05-05 the storm came",)),
            EntityDraft("tuesday", "day", ("On 2026-05-12 the letter came",)),
            EntityDraft("wednesday", "day", ("On 2026-05-13 the guest came",)),
        ]
    )

    found = memory.search(query, now=at(2026, 5, 14))  # a Thursday

    assert names(found)[0] == first
    assert found.hits[0].why.date


@pytest.mark.promise("search.time")
def test_the_day_depends_on_the_zone(memory: Memory) -> None:
    memory.create_entities([EntityDraft("12th", "day", ("On 2026-05-12 it rained",))])
    memory.create_entities([EntityDraft("13th", "day", ("On 2026-05-13 it snowed",))])
    late = at(2026, 5, 13, 20)

    assert names(memory.search("weather yesterday", now=late))[0] == "12th"
    assert names(memory.search("weather yesterday", now=late, zone=9 * 60))[0] == "13th"


@pytest.mark.promise("search.recency")
def test_newer_memories_rise_when_newness_counts(memory: Memory, clock: Clock) -> None:
    for name in ("old", "new"):
        memory.create_entities([EntityDraft(name, "note", ("The lighthouse was painted",))])
        clock.now += 400 * _DAY

    plain = memory.search("painted lighthouse", now=clock.now)
    fresh = memory.search("painted lighthouse", now=clock.now, recency=1.0)

    assert plain.hits[0].score == plain.hits[1].score
    assert names(fresh) == ["new", "old"]
    assert fresh.hits[0].score > fresh.hits[1].score


@pytest.mark.promise("search.related")
def test_what_is_linked_to_a_good_hit_rises_when_links_count(memory: Memory) -> None:
    memory.create_entities(
        [
            EntityDraft("first", "note", ("a lamp in the corner of a room full of other things",)),
            EntityDraft("linked", "note", ("a lamp in the corner of a room full of other things",)),
            EntityDraft("centre", "note", ("lamp keeper house",)),
        ]
    )
    memory.create_relations([("centre", "linked", "knows")])

    assert names(memory.search("keeper of the lamp")) == ["centre", "first", "linked"]
    assert names(memory.search("keeper of the lamp", related=1.0)) == ["centre", "linked", "first"]


@pytest.mark.promise("search.some_words")
def test_a_memory_with_one_of_the_words_is_an_answer_even_when_that_word_is_common(memory: Memory) -> None:
    memory.create_entities([EntityDraft(f"note {i}", "note", (f"apples, box {i}",)) for i in range(30)])

    found = memory.search("apples pears", limit=100)

    assert found.total == 30
    assert found.nearest == []


@pytest.mark.promise("search.lanes")
def test_a_program_may_ask_for_one_lane(meaning: Memory) -> None:
    assert names(meaning.search("the capital of Korea", lanes="words")) == []
    assert names(meaning.search("the capital of Korea", lanes="meaning"))[0] == "서울"


@pytest.mark.promise("search.refused")
@pytest.mark.parametrize(
    "wrong",
    [
        {"limit": 0},
        {"limit": 10_001},
        {"lanes": "luck"},
        {"recency": 2.0},
        {"related": -1.0},
        {"cursor": "page 2"},
        {"max_tokens": 0},
        {"now": "2026-01-01"},
        {"zone": "Mars"},
        {"filters": {"kinds": ("note",)}},
    ],
    ids=str,
)
def test_what_cannot_be_asked_is_refused_and_named(memory: Memory, wrong: dict[str, Any]) -> None:
    with pytest.raises(Invalid) as refused:
        memory.search("tea", **wrong)
    assert next(iter(wrong)) in refused.value.message


@pytest.mark.promise("search.explain")
def test_a_plan_tells_words_lanes_and_fusion(meaning: Memory) -> None:
    plan = meaning.explain("Who drinks green tea in May 2023?")

    assert plan.language == "english"
    assert plan.time == ("in May 2023", ["@2023-05"])
    looked_up = {word: [term for term, _, _ in terms] for word, terms in plan.words}
    assert "tea" in looked_up
    assert "drink" in looked_up["drinks"]
    lanes = {lane.name: lane for lane in plan.lanes}
    assert lanes.keys() == {"exact", "words", "meaning"}
    assert lanes["words"].best[0][0] == "Ann"
    assert lanes["meaning"].best[0][0] == "Ann"
    name, shares = plan.fusion[0]
    assert name == "Ann"
    assert shares.keys() == {"words", "meaning", "lent", "score"}
    assert names(plan.found)[0] == "Ann"
    assert plan.milliseconds > 0


@pytest.mark.promise("search.refused")
def test_a_cursor_is_good_for_its_own_question_only(memory: Memory) -> None:
    memory.create_entities([EntityDraft(f"leaf {i}", "leaf", (f"The archive holds leaf {i}",)) for i in range(4)])
    first = memory.search("archive", limit=2, lanes="words")
    assert first.next is not None
    with pytest.raises(Invalid, match="does not belong"):
        memory.search("leaf", limit=2, cursor=first.next, lanes="words")
    with pytest.raises(Invalid, match="does not belong"):
        memory.search("archive", limit=2, cursor=first.next, lanes="words", filters=Filters(kinds=("leaf",)))
    assert len(memory.search("archive", limit=2, cursor=first.next, lanes="words").hits) == 2


@pytest.mark.promise("search.miss")
def test_a_miss_that_the_filters_make_says_so(memory: Memory) -> None:
    memory.create_entities([EntityDraft("Zoe", "sailor", ("Drinks rooibos",)), EntityDraft("pot", "thing", ("Blue",))])
    nothing = memory.search("rooibos", filters=Filters(kinds=("nobody",)), lanes="words")
    others = memory.search("rooibos", filters=Filters(kinds=("thing",)), lanes="words")
    assert [remark(note) for note in nothing.notes] == ["No memory passes the filters."]
    assert "passes the filters" in remark(others.notes[0])


@pytest.mark.promise("search.time")
def test_speaking_of_a_time_counts_more_than_having_been_stored_then(memory: Memory) -> None:
    memory.create_entities(
        [
            EntityDraft("house", "note", ("In 1999 the house was built",)),
            EntityDraft("roof", "note", ("The roof was mended on 2031-04-07",)),
        ]
    )
    best = memory.search("what was done this month", now=at(2031, 4, 12), lanes="words").hits[0]
    assert best.record.name == "roof"
    assert "speaks of the time" in describe(best).summary


@pytest.mark.promise("search.scores")
def test_a_word_in_name_kind_or_tag_counts_more_than_in_the_text_however_faint_the_match(memory: Memory) -> None:
    memory.create_entities(
        [
            EntityDraft("a text", "note", ("We talked about lanterns and other things that day in spring",)),
            EntityDraft("a tag", "note", ("Chosen after long talks on many things in spring",), tags=("lanterns",)),
            EntityDraft("old lanterns", "note", ("Something else was said there at length in spring",)),
        ]
    )
    # Most of what is asked for is nowhere, so every score is low.
    hits = memory.search("quickly decided lanterns purchase refund", lanes="words").hits
    found = [hit.record.name for hit in hits if "lanterns" in hit.why.terms]
    assert found == ["old lanterns", "a tag", "a text"]
    assert [hit.score for hit in hits] == sorted((hit.score for hit in hits), reverse=True)


@pytest.mark.promise("search.refused")
def test_a_time_of_a_filter_that_is_no_number_is_refused_by_name(memory: Memory) -> None:
    with pytest.raises(Invalid, match="created_from"):
        memory.search("tea", filters=Filters(created_from="2026"), lanes="words")  # type: ignore[arg-type]
