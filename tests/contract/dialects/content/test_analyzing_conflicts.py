"""detect_conflicts: what cannot both hold is found as what it is, and each suggestion does what it says."""

from __future__ import annotations

from typing import Any

import pytest

from stdio_client import Place, Server

from .analyzing import CONFLICTS, analyze, diary
from .speaking import DECISION, get, related, stored, write

FACT, ADVICE, TIME, LOGIC = CONFLICTS

# The second of each was said a month later.
PLANTED: dict[str, tuple[str, str, str]] = {
    "number": (FACT, "The upload limit of the archive is 20 MB.", "The upload limit of the archive is 50 MB."),
    "negation": (FACT, "The billing service stores card numbers.", "The billing service does not store card numbers."),
    "port": (FACT, "결제 서버의 포트는 8080이다.", "결제 서버의 포트는 9090이다."),
    "squash": (ADVICE, "You should squash commits before merging.", "You should not squash commits before merging."),
    "timeout": (FACT, "The gateway timeout is 30 seconds.", "The gateway timeout is now 10 seconds."),
    "backup": (FACT, "백업 보관 기간은 30일이다.", "백업 보관 기간은 이제 90일이다."),
    "fee": (TIME, "Since 1 March 2025 the harbour fee is 20 euros.", "Since 1 May 2026 the harbour fee is 30 euros."),
}  # fmt: skip

# The same words, but nothing of it excludes anything else.
PEACEFUL = [
    "The upload limit of the archive service is 20 MB.",
    "The upload limit of the video service is 500 MB.",
    "The billing service stores card numbers.",
    "The mail service does not store card numbers.",
    "결제 서버의 포트는 8080이다.",
    "알림 서버의 포트는 9090이다.",
    "Always squash commits before merging to main.",
    "Never force push to a shared branch.",
    "The gateway timeout is 30 seconds.",
    "The worker queue timeout is 45 seconds.",
    "The retry limit used to be 3, now it is 5.",
    "The Orion migration started on 2025-04-02.",
    "The Orion migration finished on 2025-05-12.",
    "Ticket HEL-204 is open.",
    "Ticket HEL-198 is closed.",
    "다크 모드 플래그는 활성화 상태입니다.",
    "실험 기능 플래그는 비활성화 상태입니다.",
    "If the cache is cold, the first request takes 4 seconds.",
    "Is the gateway timeout 20 seconds?",
]


def plant(place: Place, project: str, pairs: dict[str, tuple[str, str, str]]) -> dict[str, tuple[str, str]]:
    """A project in which these pairs stand, the second of each a month after the first."""
    with diary(place, project) as book:
        first = [book.note(text, days=60 - at) for at, (_, text, _) in enumerate(pairs.values())]
        second = [book.note(text, days=30 - at) for at, (_, _, text) in enumerate(pairs.values())]
    return dict(zip(pairs, zip(first, second, strict=True), strict=True))


@pytest.fixture(scope="module")
def planted(module_place: Place) -> dict[str, tuple[str, str]]:
    """The ids of what clashes in the project `planted`; nobody changes it."""
    return plant(module_place, "planted", PLANTED)


def pairs(answer: dict[str, Any]) -> dict[frozenset[str], dict[str, Any]]:
    """The conflicts of an answer by the ids of their two items."""
    return {frozenset(side["content_id"] for side in one["statements"]): one for one in answer["conflicts"]}


def conflicts(server: Server, project: str, /, **more: Any) -> dict[frozenset[str], dict[str, Any]]:
    """What clashes in a project."""
    return pairs(analyze(server, "detect_conflicts", project, **more))


@pytest.mark.promise("analysis.conflicts.found")
def test_what_was_planted_is_found_as_what_it_is_and_nothing_else(
    shared: Server, planted: dict[str, tuple[str, str]]
) -> None:
    answer = analyze(shared, "detect_conflicts", "planted")
    found = pairs(answer)
    assert {frozenset(ids): PLANTED[name][0] for name, ids in planted.items()} == {
        ids: one["type"] for ids, one in found.items()
    }
    assert len(answer["conflicts"]) == len(PLANTED)
    assert answer["counts"] == {FACT: 5, ADVICE: 1, TIME: 1, LOGIC: 0}
    assert answer["looked_at"]["items"] == 2 * len(PLANTED)
    assert answer["message"] == "Found 7 conflicts"


@pytest.mark.promise("analysis.conflicts.found")
def test_each_tells_both_sentences_what_differs_and_which_is_newer(
    shared: Server, planted: dict[str, tuple[str, str]]
) -> None:
    found = conflicts(shared, "planted")
    for name, (old, new) in planted.items():
        one = found[frozenset((old, new))]
        said = {side["content_id"]: side["sentence"] for side in one["statements"]}
        assert said == {old: PLANTED[name][1], new: PLANTED[name][2]}
        assert one["newer"] == new, name
        assert one["differs"]
        assert 0.5 <= one["confidence"] <= 1
    assert found[frozenset(planted["number"])]["differs"] == "20 MB and 50 MB"
    assert found[frozenset(planted["backup"])]["differs"] == "30일 and 90일"
    for side in found[frozenset(planted["number"])]["statements"]:
        assert side["said_at"] == get(shared, "planted", side["content_id"])["updated_at"]
        assert side["dated_by"] == "the last change of the item"


@pytest.mark.promise("analysis.conflicts.none")
def test_where_nothing_clashes_nothing_is_told(shared: Server, project: str) -> None:
    for text in PEACEFUL:
        stored(shared, project, text)
    answer = analyze(shared, "detect_conflicts", project)
    assert (answer["conflicts"], answer["message"]) == ([], "Found no conflicts")
    assert answer["counts"] == dict.fromkeys(CONFLICTS, 0)
    assert answer["looked_at"]["items"] == len(PEACEFUL)


@pytest.mark.promise("analysis.conflicts.none")
def test_a_series_of_notes_of_one_form_is_no_conflict(shared: Server, module_place: Place, project: str) -> None:
    with diary(module_place, project) as book:
        for number in range(8):
            book.note(f"Ship number {number} moored at pier {number % 3} with {number + 5} sailors.", days=60 - number)
        for number in range(8):
            book.note(f"The baker used {number + 3} sacks of flour for loaf {number}.", days=40 - number)
        for number in range(8):
            book.note(
                f"{number + 1}번 배가 {number % 3 + 1}번 부두에 선원 {number + 5}명과 정박했다.", days=20 - number
            )
    answer = analyze(shared, "detect_conflicts", project)
    assert [[side["sentence"] for side in one["statements"]] for one in answer["conflicts"]] == []


@pytest.mark.promise("analysis.conflicts.none")
def test_what_is_named_together_need_not_clash(shared: Server, project: str) -> None:
    ids = [stored(shared, project, text) for text in PEACEFUL]
    assert conflicts(shared, project, content_ids=ids, options={"sensitivity": "low"}) == {}
    answer = analyze(shared, "detect_conflicts", project, content_ids=ids)
    told = [[side["sentence"] for side in one["statements"]] for one in answer["conflicts"]]
    assert not told


@pytest.mark.promise("analysis.conflicts.types")
@pytest.mark.parametrize("type", [FACT, ADVICE, TIME])
def test_only_the_types_asked_for_are_told(shared: Server, planted: dict[str, tuple[str, str]], type: str) -> None:
    answer = analyze(shared, "detect_conflicts", "planted", conflict_types=[type])
    expected = {frozenset(ids) for name, ids in planted.items() if PLANTED[name][0] == type}
    assert {one["type"] for one in answer["conflicts"]} == {type}
    assert expected <= set(pairs(answer))
    assert list(answer["counts"]) == [type]
    others = [one for one in CONFLICTS if one != type]
    both = analyze(shared, "detect_conflicts", "planted", conflict_types=others)
    assert type not in {one["type"] for one in both["conflicts"]}


@pytest.mark.promise("analysis.conflicts.sensitivity")
def test_a_higher_sensitivity_tells_more_and_all_that_a_lower_one_tells(shared: Server, project: str) -> None:
    sure = [stored(shared, project, f"The archive door code is {code}.") for code in (4711, 8155)]
    unsure = [stored(shared, project, f"The lease of the depot runs until {year}.") for year in (2027, 2029)]
    told: dict[str, dict[frozenset[str], dict[str, Any]]] = {}
    for level, least in (("low", 0.8), ("medium", 0.3), ("high", 0.3)):
        answer = analyze(shared, "detect_conflicts", project, options={"sensitivity": level})
        assert answer["sensitivity"] == level
        told[level] = pairs(answer)
        assert all(one["confidence"] >= least for one in told[level].values())
        unsaid = [note for note in answer["notes"] if "sensitivity high tells them" in note]
        assert bool(unsaid) is (frozenset(unsure) not in told[level])
    assert set(told["low"]) == {frozenset(sure)}
    assert set(told["low"]) <= set(told["medium"]) <= set(told["high"]) == {frozenset(sure), frozenset(unsure)}
    assert analyze(shared, "detect_conflicts", project)["sensitivity"] == "medium"


@pytest.mark.promise("analysis.conflicts.scope")
def test_a_set_is_compared_within_itself(shared: Server, planted: dict[str, tuple[str, str]]) -> None:
    (old, new), (other, _) = planted["timeout"], planted["number"]
    answer = analyze(shared, "detect_conflicts", "planted", scope="content_set", content_ids=[old, new, other])
    assert set(pairs(answer)) == {frozenset((old, new))}
    assert answer["looked_at"]["items"] == 3
    assert conflicts(shared, "planted", content_ids=[old, other]) == {}


@pytest.mark.promise("analysis.conflicts.scope")
@pytest.mark.parametrize("name", PLANTED)
def test_a_single_item_is_compared_with_the_whole_project(
    shared: Server, planted: dict[str, tuple[str, str]], name: str
) -> None:
    for id in planted[name]:
        answer = analyze(shared, "detect_conflicts", "planted", content_ids=[id])
        assert set(pairs(answer)) == {frozenset(planted[name])}
        assert answer["scope"] == "content_set"


UNRELATED = (
    "The gateway does not retry failed payments.", "Anna is allergic to hazelnuts.",
    "The museum is closed on Tuesdays.",
    "No passwords are kept in the repository.", "Basil dies at the first frost.", "우리 팀은 스크럼을 사용한다.",
    "달에는 공기가 없다.", "The lease of the warehouse ends in March.", "민수는 매운 음식을 먹지 못한다.",
)  # fmt: skip


@pytest.mark.promise("analysis.conflicts.unrelated")
@pytest.mark.parametrize("door", ["shared", "meaning"])
def test_two_named_items_about_different_things_do_not_clash(
    request: pytest.FixtureRequest, project: str, door: str
) -> None:
    server: Server = request.getfixturevalue(door)
    ids = [stored(server, project, text) for text in UNRELATED]
    for at, one in enumerate(ids):
        for other in ids[at + 1 :]:
            assert analyze(server, "detect_conflicts", project, content_ids=[one, other])["conflicts"] == []


@pytest.mark.promise("analysis.conflicts.rings")
def test_relationships_that_lead_back_to_where_they_began(shared: Server, project: str) -> None:
    ids = [stored(shared, project, f"# {name}\n\nWhat {name} is about.") for name in ("Alpha", "Beta", "Gamma")]
    for at in range(3):
        related(shared, project, ids[at], ids[(at + 1) % 3], "part_of")
    answer = analyze(shared, "detect_conflicts", project)
    (ring,) = answer["conflicts"]
    assert (ring["type"], ring["subtype"]) == (LOGIC, "cycle")
    assert all(title in ring["differs"] for title in ("Alpha", "Beta", "Gamma"))
    # Similarity may lead round and round.
    peaceful = f"{project} too"
    ids = [stored(shared, peaceful, f"# {name}\n\nWhat {name} is about.") for name in ("Alpha", "Beta", "Gamma")]
    for at in range(3):
        related(shared, peaceful, ids[at], ids[(at + 1) % 3], "similar_to")
    assert conflicts(shared, peaceful) == {}


@pytest.mark.promise("analysis.conflicts.rings")
def test_conflicts_and_patterns_tell_the_same_circles(place: Place) -> None:
    server = place.serve("all")
    types = ("reports_to", "supersedes", "built_on", "has_child", "likes", "선행", "overrides", "forked_from", "is_a")
    names = [f"{type} {end}" for type in types for end in "abc"]
    entities = [{"name": name, "entityType": "thing", "observations": [f"This is {name}."]} for name in names]
    server.call("create_entities", entities=entities)
    steps = [(type, a, b) for type in types for a, b in ("ab", "bc", "ca")]
    links = [{"from": f"{type} {a}", "to": f"{type} {b}", "relationType": type} for type, a, b in steps]
    server.call("create_relations", relations=links)
    conflicts = analyze(server, "detect_conflicts", "default", conflict_types=[LOGIC])["conflicts"]
    shape = analyze(server, "detect_patterns", "default", pattern_types=["relationship_patterns"])["patterns"]
    circles = [one for one in shape if one["name"] == "cycle"]
    told = {one["evidence"]["steps"][0]["type"]: one["confidence"] for one in circles}
    assert set(told) == set(types) - {"likes"}
    assert sorted(one["differs"].split(" a ")[0].split(" b ")[0].split(" c ")[0] for one in conflicts) == sorted(told)
    assert sorted(one["confidence"] for one in conflicts) == sorted(round(sure, 3) for sure in told.values())


@pytest.mark.promise("analysis.conflicts.decisions")
def test_two_decisions_of_one_matter_that_exclude_each_other(shared: Server, project: str) -> None:
    matter = {"title": "Database of the ledger", "context": "The ledger needs a database", "rationale": "Measured"}
    one = {"decision": "Use PostgreSQL for the ledger", "alternatives": ["Use MySQL for the ledger"]}
    two = {"decision": "Use MySQL for the ledger", "alternatives": ["Use PostgreSQL for the ledger"]}
    ids = [write(shared, "store_decision", project, **matter, **more)["content_id"] for more in (one, two)]
    write(shared, "store_decision", project, **{**DECISION, "stakeholders": []})
    found = conflicts(shared, project, conflict_types=[ADVICE])
    assert set(found) == {frozenset(ids)}
    (one_,) = found.values()
    assert {side["sentence"] for side in one_["statements"]} == {one["decision"], two["decision"]}


# Resolutions


@pytest.mark.promise("analysis.conflicts.resolutions")
def test_suggestions_are_told_unless_they_are_not_wanted(shared: Server, planted: dict[str, tuple[str, str]]) -> None:
    told = analyze(shared, "detect_conflicts", "planted")["conflicts"]
    assert {one["resolution"]["action"] for one in told} == {"keep_newest", "keep_both_with_dates"}
    assert all(one["resolution"]["why"] for one in told)
    bare = analyze(shared, "detect_conflicts", "planted", options={"include_resolution_suggestions": False})
    assert not [one for one in bare["conflicts"] if "resolution" in one]
    assert len(bare["conflicts"]) == len(told)


def follow(server: Server, resolution: dict[str, Any]) -> None:
    """Make the calls of a suggestion as they stand."""
    for key in ("call", "then"):
        if key in resolution:
            reply = server.call(resolution[key]["tool"], resolution[key]["arguments"])
            assert not reply.failed, reply.text


@pytest.mark.promise("analysis.conflicts.resolutions")
@pytest.mark.parametrize("name", ["number", "negation", "port", "squash"])
def test_after_the_suggested_call_the_conflict_is_gone(
    shared: Server, module_place: Place, project: str, name: str
) -> None:
    old, new = plant(module_place, project, {name: PLANTED[name]})[name]
    (clash,) = conflicts(shared, project).values()
    assert clash["resolution"]["action"] == "keep_newest"
    follow(shared, clash["resolution"])
    assert conflicts(shared, project, options={"sensitivity": "high"}) == {}
    assert get(shared, project, new)["content"] == PLANTED[name][2]
    assert get(shared, project, old)["content"] == PLANTED[name][1]  # nothing is lost
    assert get(shared, project, old)["metadata"]["superseded_by"] == new


@pytest.mark.promise("analysis.conflicts.resolutions")
@pytest.mark.parametrize("named", [False, True], ids=["project", "content_set"])
def test_only_the_sentence_that_clashes_is_marked(
    shared: Server, module_place: Place, project: str, named: bool
) -> None:
    with diary(module_place, project) as book:
        old = book.note("The harbour office is 8 km away. Ships pay at the counter.", days=90)
        new = book.note("The harbour office is 10 km away.", days=3)
        day = book.date(3)
    (clash,) = conflicts(shared, project, **({"content_ids": [old, new]} if named else {})).values()
    follow(shared, clash["resolution"])
    marked = f"The harbour office is 8 km away (until {day}). Ships pay at the counter."
    assert get(shared, project, old)["content"] == marked
    assert conflicts(shared, project) == {}


@pytest.mark.promise("analysis.conflicts.resolutions")
@pytest.mark.parametrize(
    ("named", "texts", "dated"),
    [
        (False, ("2025년 3월 1일부터 항구 요금은 20유로다.", "2026년 5월 1일부터 항구 요금은 30유로다."),
         " (2026-05-01까지)."),
        (True, ("Since 1 March 2025 the harbour fee is 20 euros.", "Since 1 May 2026 the harbour fee is 30 euros."),
         " (until 2026-05-01)."),
    ],
    ids=["project", "content_set"],
)  # fmt: skip
def test_both_may_hold_each_in_its_time(
    shared: Server, module_place: Place, project: str, named: bool, texts: tuple[str, str], dated: str
) -> None:
    old, new = plant(module_place, project, {"fee": (TIME, *texts)})["fee"]
    asked = {"content_ids": [old, new]} if named else {}
    (clash,) = conflicts(shared, project, **asked).values()
    assert clash["resolution"]["action"] == "keep_both_with_dates"
    assert [(side["said_at"][:10], side["dated_by"]) for side in clash["statements"]] == [
        ("2025-03-01", "the sentence"),
        ("2026-05-01", "the sentence"),
    ]
    follow(shared, clash["resolution"])
    assert get(shared, project, old)["content"] == texts[0].removesuffix(".") + dated
    assert get(shared, project, new)["content"] == texts[1]
    assert conflicts(shared, project, **asked) == {}


@pytest.mark.promise("analysis.conflicts.resolutions")
def test_where_nothing_tells_which_holds_a_person_is_asked(shared: Server, project: str) -> None:
    one = stored(shared, project, "The archive door code is 4711.")
    two = stored(shared, project, "The archive door code is 8155.")
    (clash,) = conflicts(shared, project).values()
    assert (clash["newer"], clash["resolution"]["action"]) == (two, "ask")
    assert set(clash["resolution"]) == {"action", "why"}
    assert all(get(shared, project, id)["content"] in clash["resolution"]["why"] for id in (one, two))


@pytest.mark.promise("analysis.conflicts.resolutions")
def test_a_suggestion_works_within_a_session(shared: Server, module_place: Place, project: str) -> None:
    with diary(module_place, project) as book:
        book.note("The door code is 4711.", days=40, session="s")
        new = book.note("The door code is 8155.", days=3, session="s")
    assert conflicts(shared, project) == {}
    (clash,) = conflicts(shared, project, session_id="s").values()
    follow(shared, clash["resolution"])
    assert conflicts(shared, project, session_id="s") == {}
    assert get(shared, project, new, session_id="s")["content"] == "The door code is 8155."


@pytest.mark.promise("analysis.conflicts.resolutions")
def test_a_decision_that_was_replaced_is_marked_and_stays(shared: Server, module_place: Place, project: str) -> None:
    parts = {"title": "Database of the ledger", "context": "The ledger needs a database", "rationale": "Measured"}
    one = {"decision": "Use PostgreSQL for the ledger", "alternatives": ["Use MySQL for the ledger"], **parts}
    two = {"decision": "Use MySQL for the ledger", "alternatives": ["Use PostgreSQL for the ledger"], **parts}
    with diary(module_place, project) as book:
        old = book.note("Database of the ledger: use PostgreSQL", days=40, kind="decision", metadata={"decision": one})
        new = book.note("Database of the ledger: use MySQL", days=4, kind="decision", metadata={"decision": two})
    (clash,) = conflicts(shared, project, conflict_types=[ADVICE]).values()
    follow(shared, clash["resolution"])
    assert get(shared, project, old)["metadata"]["superseded_by"] == new
    assert conflicts(shared, project) == {}


# The second was said two months later.
CHANGED = [
    ("The office is in Berlin.", "The office moved to Munich."),
    ("The checkout page is owned by Mara.", "Piet took over the checkout page from Mara."),
    ("We use Jira for tickets.", "We switched from Jira to Linear for tickets."),
]
BESIDE = [
    ("User likes hiking.", "User likes swimming."),
    ("User has a sister.", "User has a brother."),
    ("We use PostgreSQL for orders.", "We use MongoDB for logs."),
    ("사용자는 등산을 좋아한다.", "사용자는 수영을 좋아한다."),
]


@pytest.mark.promise("analysis.conflicts.changed")
def test_what_changed_is_found_in_other_words(meaning: Server, module_place: Place, project: str) -> None:
    missed = []
    for number, (old, new) in enumerate(CHANGED):
        name = f"{project} {number}"
        with diary(module_place, name) as book:
            ids = [book.note(old, days=60), book.note(new, days=2)]
        found = analyze(meaning, "detect_conflicts", name, content_ids=ids)["conflicts"]
        told = [([side["sentence"] for side in one["statements"]], one["newer"]) for one in found]
        missed += [new] if told != [([old, new], ids[1])] else []
    assert missed == []


@pytest.mark.promise("analysis.conflicts.changed")
@pytest.mark.parametrize("pair", BESIDE, ids=[one[1] for one in BESIDE])
def test_what_stands_side_by_side_does_not_clash(shared: Server, project: str, pair: tuple[str, str]) -> None:
    ids = [stored(shared, project, text) for text in pair]
    for named in ({}, {"content_ids": ids}, {"content_ids": ids[:1]}):
        assert analyze(shared, "detect_conflicts", project, **named)["conflicts"] == []


@pytest.mark.promise("analysis.conflicts.units")
def test_amounts_are_compared_in_one_unit(shared: Server, project: str) -> None:
    for text in ("Sessions expire after 2 hours.", "Sessions expire after 120 minutes."):
        stored(shared, project, text)
    assert analyze(shared, "detect_conflicts", project)["conflicts"] == []
    stored(shared, project, "Sessions expire after 90 minutes.")
    found = analyze(shared, "detect_conflicts", project)["conflicts"]
    assert {side["sentence"] for one in found for side in one["statements"]} == {
        "Sessions expire after 2 hours.", "Sessions expire after 120 minutes.", "Sessions expire after 90 minutes.",
    }  # fmt: skip
    assert all("90 minutes" in one["differs"] and "120 minutes" in one["differs"] for one in found)


@pytest.mark.promise("analysis.conflicts.none")
def test_a_question_without_its_mark_states_nothing(shared: Server, project: str) -> None:
    for text in ("can you speak to me in french", "can you speak to me in chinese"):
        stored(shared, project, text)
    assert analyze(shared, "detect_conflicts", project)["conflicts"] == []
