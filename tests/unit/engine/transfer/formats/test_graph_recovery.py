"""Damaged files: whatever still stands in them is taken, and the report tells what was not."""

from __future__ import annotations

import json

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from form import by_form, each
from polymnia.engine.transfer.formats.graph import GraphFile, read, recover, write
from polymnia.engine.transfer.formats.graph_recovery import parse_leniently
from polymnia.errors import BrokenFile

PEOPLE = [
    {
        "name": f"person {n}",
        "entityType": "person",
        "observations": [f"text {n}.{i} {{é}}" for i in range(n % 3)],
    }
    for n in range(6)
]
LINKS = [{"from": f"person {n}", "to": f"person {n + 1}", "relationType": "knows"} for n in range(5)]
DOCUMENT = json.dumps({"entities": PEOPLE, "relations": LINKS, "version": 1}, indent=2, ensure_ascii=False).encode()
COMPACT = json.dumps(json.loads(DOCUMENT)).encode()
LINES = b"\n".join(
    json.dumps(item, ensure_ascii=False).encode()
    for item in [{"type": "entity", **p} for p in PEOPLE] + [{"type": "relation", **link} for link in LINKS]
)
FORMS = pytest.mark.parametrize("data", [DOCUMENT, COMPACT, LINES], ids=["document", "compact", "lines"])


def recovered(data: bytes) -> GraphFile:
    """What is taken from bytes that cannot be read as they are."""
    with pytest.raises(BrokenFile):
        read(data, "memory.json")
    return recover(data, "memory.json")


def spans(data: bytes) -> list[tuple[int, int, dict[str, object]]]:
    """Where each item of a good file begins and ends."""
    text, found, pos = data.decode(), [], 0
    decoder = json.JSONDecoder()
    for item in PEOPLE + LINKS:
        key = "name" if "name" in item else "from"
        pos = text.index(json.dumps(item[key]), pos)
        start = text.rindex("{", 0, pos)
        pos = decoder.raw_decode(text, start)[1]
        found.append((len(text[:start].encode()), len(text[:pos].encode()), item))
    return found


def holds(graph: GraphFile, item: dict[str, object]) -> bool:
    """Whether the item is in the graph, with every text it had."""
    if "name" in item:
        wanted = (item["name"], item["entityType"], tuple(item["observations"]))  # type: ignore[arg-type]
        return wanted in [(e.name, e.kind, e.observations) for e in graph.entities]
    return (item["from"], item["to"], item["relationType"]) in [link[:3] for link in graph.relations]


# Files that end too early


@FORMS
def test_a_file_cut_anywhere_gives_back_every_item_before_the_cut(data: bytes) -> None:
    places = spans(data)
    for cut in range(1, len(data)):
        graph = recover(data[:cut], "memory.json")
        missing = [item for _, end, item in places if end <= cut and not holds(graph, item)]
        assert not missing, f"cut at byte {cut}"
        assert {link[:3] for link in graph.relations} <= {tuple(link.values()) for link in LINKS}
        assert {e.name for e in graph.entities} <= {person["name"] for person in PEOPLE}


def test_an_entity_that_breaks_off_gives_back_its_name_and_its_whole_texts() -> None:
    graph = recovered(b'{"entities": [{"name": "Ann", "entityType": "person", "observations": ["likes tea", "has a d')
    assert [(e.name, e.kind, e.observations) for e in graph.entities] == [("Ann", "person", ("likes tea",))]
    assert graph.report.repaired[-1].why == "It breaks off; what was complete of it was taken."
    assert "has a d" in graph.report.refused[0].why


def test_a_relation_that_breaks_off_before_its_type_is_refused() -> None:
    graph = recovered(LINES + b'\n{"type": "relation", "from": "person 1", "to": "person 5", "relationTy')
    assert len(graph.relations) == len(LINKS)
    assert [f.where for f in graph.report.refused] == ["line 12"]


def test_a_document_that_ends_between_two_items_says_that_it_does() -> None:
    cut = spans(DOCUMENT)[2][1]
    [finding] = recovered(DOCUMENT[:cut]).report.refused
    assert finding.where == f"line {DOCUMENT[:cut].count(10) + 1}, byte {cut}"


@pytest.mark.parametrize(
    "data", [b"{", b'{"entities": [', b"[", b'{"entities": {"Ann', b'"', b"\0" * 4096, b"\xff\xfe{"]
)
def test_a_file_with_nothing_in_it_to_take_gives_an_empty_graph_and_says_so(data: bytes) -> None:
    graph = recovered(data)
    assert graph.entities == graph.relations == graph.unread == []
    assert graph.report.refused


# Damage in the middle


@FORMS
@pytest.mark.parametrize(
    "garbage",
    [b"\0\0\0\0", b"\xff\xfe", b'"', b"<<<<<<< HEAD\n", b"}", b"]", b"{", b"[", b'{"name": ', b"\\", b",,"],
)
def test_garbage_inside_one_item_costs_that_item_at_most(data: bytes, garbage: bytes) -> None:
    places = spans(data)
    start, end, _ = places[2]
    for at in range(start + 1, end, 3):
        graph = recover(data[:at] + garbage + data[at:], "memory.json")
        missing = [item for begin, _, item in places if begin != start and not holds(graph, item)]
        assert not missing, f"garbage at byte {at}"


@FORMS
def test_a_hole_in_the_file_costs_the_items_it_touches_at_most(data: bytes) -> None:
    places = spans(data)
    for at in range(places[1][0], places[6][0], 7):
        graph = recover(data[:at] + data[at + 90 :], "memory.json")
        touched = [item for begin, end, item in places if begin < at + 90 and end > at]
        missing = [item for *_, item in places if item not in touched and not holds(graph, item)]
        assert not missing, f"hole at byte {at}"


def test_two_documents_in_one_file_are_both_taken() -> None:
    other = json.dumps({"entities": [{"name": "Zoe", "entityType": "cat", "observations": []}], "relations": []})
    graph = recovered(DOCUMENT + other.encode())
    assert [e.name for e in graph.entities] == [str(p["name"]) for p in PEOPLE] + ["Zoe"]
    assert graph.relations == read(DOCUMENT, "memory.json").relations
    assert graph.extra == {"version": 1}
    assert graph.report.refused == []


def test_the_end_of_an_older_longer_document_after_a_shorter_one_is_no_hindrance() -> None:
    graph = recovered(DOCUMENT + DOCUMENT[-80:])
    assert len(graph.entities) == len(PEOPLE)
    assert graph.extra == {"version": 1}


def test_objects_inside_a_lost_item_are_not_taken_for_entities() -> None:
    graph = recovered(b'{"entities": [{"id": @, "author": {"name": "Eve"}}, {"name": "Ann", "observations": []}]}')
    assert [e.name for e in graph.entities] == ["Ann"]


def test_items_are_found_even_where_the_key_of_their_section_is_lost() -> None:
    graph = recovered(DOCUMENT.replace(b'"entities"', b'"ent\xff\0ies"'))
    assert graph.entities == read(DOCUMENT, "memory.json").entities
    assert len(graph.relations) == len(LINKS)


def test_foreign_keys_of_a_damaged_document_are_kept() -> None:
    graph = recovered(b'{"version": {"n": 1}, "entities": [{"name": "Ann", "entityType": "x", "observations": []}')
    assert graph.extra == {"version": {"n": 1}}
    assert [e.name for e in graph.entities] == ["Ann"]


def test_a_damaged_object_keyed_by_name_gives_back_its_members() -> None:
    graph = recovered(b'{"entities": {"Ann": {"entityType": "x", "observations": ["a"]}, "Bob": ["b", "c"], "Cy": ["d')
    assert [(e.name, e.observations) for e in graph.entities] == [
        ("Ann", ("a",)),
        ("Bob", ("b", "c")),
        ("Cy", ()),
    ]


@FORMS
def test_an_item_nested_beyond_what_any_program_reads_costs_that_item_at_most(data: bytes) -> None:
    deep = b"[" * 50_000 + b"]" * 50_000
    graph = recovered(data.replace(b'"text 2.0', deep + b', "text 2.0', 1))
    missing = [item for *_, item in spans(data) if not holds(graph, item)]
    assert [item["name"] for item in missing] == ["person 2"]
    assert graph.report.refused


# Things written by hand or by another program


@each(
    ("item", "observations"),
    [
        (b'{"name": "Ann", "entityType": "x", "observations": ["a", "b",]}', ("a", "b")),
        (b'{"observations": ["a", "b",], "name": "Ann", "entityType": "x",}', ("a", "b")),
        (b'{"name": "Ann", "entityType": "x", "observations": ["a" "b"]}', ("a", "b")),
        (b'{"name": "Ann" "entityType": "x", "observations": ["a"]}', ("a",)),
        (b'{"name": "Ann", "entityType": "x", "observations": ["two\nlines"]}', ("two\nlines",)),
        (b'{"name": "Ann", "entityType": "x", "observations": ["C:\\data\\new"]}', ("C:\\data\new",)),
        (b'{"name": "Ann", "entityType": "x", "observations": ["a"], "score": NaN}', ("a",)),
    ],
)
@each("form", ["document", "lines"])
def test_small_slips_are_mended_without_loss(item: bytes, observations: tuple[str, ...], form: str) -> None:
    data = b'{"entities": [%b], "relations": []}' % item if form == "document" else LINES + b"\n" + item
    graph = recovered(data)
    assert ("Ann", "x", observations) in [(e.name, e.kind, e.observations) for e in graph.entities]
    assert graph.report.repaired
    assert graph.report.refused == []


def test_a_comma_too_many_between_the_items_of_a_document_is_left_out() -> None:
    graph = recovered(DOCUMENT.replace(b'],\n  "relations"', b',],\n  "relations"'))
    assert len(graph.entities) == len(PEOPLE)
    assert [f.why for f in graph.report.repaired] == ["There was a comma too many; left out."]


def test_lines_that_end_in_a_comma_are_taken() -> None:
    graph = recovered(LINES.replace(b"\n", b",\n"))
    assert (len(graph.entities), len(graph.relations)) == (len(PEOPLE), len(LINKS))
    assert len(graph.report.repaired) == 10
    assert graph.report.refused == []


def test_objects_with_no_line_end_between_them_are_parted() -> None:
    graph = recovered(LINES.replace(b"\n", b""))
    assert (len(graph.entities), len(graph.relations)) == (len(PEOPLE), len(LINKS))
    assert len(graph.report.repaired) == 10


def test_lines_spread_over_many_lines_are_joined() -> None:
    data = b"\n".join(json.dumps(json.loads(line), indent=2).encode() for line in LINES.splitlines())
    graph = recovered(data)
    assert (graph.form, graph.entities) == ("lines", read(LINES, "memory.jsonl").entities)
    assert len(graph.relations) == len(LINKS)
    assert graph.report.refused == []


def test_good_lines_between_broken_ones_are_taken_and_every_broken_one_is_named() -> None:
    good = LINES.splitlines()
    data = b"\n".join([good[0], b"# my notes", good[1], b'{"type": "entity", "na', b"null", good[6]])
    graph = recovered(data)
    assert [e.name for e in graph.entities] == ["person 0", "person 1"]
    assert len(graph.relations) == 1
    assert {f.where for f in graph.report.refused} >= {"line 2", "line 4"}


def test_bytes_that_are_not_utf_8_are_replaced_in_the_text_they_are_in_and_nowhere_else() -> None:
    graph = recovered(DOCUMENT.replace("text 2.0 {é}".encode(), b"text \xe9 {\xc3\xa9}"))
    texts = [text for e in graph.entities for text in e.observations]
    assert "text \ufffd {é}" in texts
    assert sum("\ufffd" in text for text in texts) == 1
    [finding] = graph.report.repaired
    assert "UTF-8" in finding.why


def test_a_replacement_character_that_was_in_the_file_is_no_damage() -> None:
    data = LINES.replace(b"text 2.0", "text \ufffd".encode()) + b"\n{"
    assert recovered(data).report.repaired == []


def test_a_nul_in_a_damaged_file_is_refused_too() -> None:
    graph = recovered(LINES.replace(b"text 2.0", b"text\0"))
    assert "person 2" not in [e.name for e in graph.entities]
    assert any("NUL" in f.why for f in graph.report.refused)


# Anything at all


@settings(deadline=None, max_examples=by_form(60, 300))
@given(st.binary(max_size=60), st.sampled_from(["memory.json", "memory.jsonl"]))
def test_no_bytes_are_too_bad_to_be_looked_at(data: bytes, path: str) -> None:
    check(recover(data, path))


SHARDS = [
    *(bytes([byte]) for byte in b'{}[],:"\\\n\0\xff-'),
    *(b'"entities":', b'"relations":', b'"observations":', b'"name":"a"', b'"type":"entity"', b'"from":"a"'),
    *(b'"to":"b"', b'{"type":"entity",', b'{"name":"b","entityType":"c","observations":["d"]}', b'"x"'),
    *(b"null", b"NaN", b"1e999", b"9" * 4400, b"\\ud800"),
]
shards = st.lists(st.sampled_from(SHARDS), max_size=25)


@settings(deadline=None, max_examples=by_form(120, 600))
@given(shards, st.sampled_from(["memory.json", "memory.jsonl"]))
def test_no_shards_of_json_are_too_bad_to_be_looked_at(parts: list[bytes], path: str) -> None:
    check(recover(b"".join(parts), path))


def check(graph: GraphFile) -> None:
    """What was recovered can be written and is then a file in good order with the same in it."""
    out = b"".join(write(graph.form, graph.entities, graph.relations, extra=graph.extra, unread=graph.unread))
    again = read(out, "memory.jsonl" if graph.form == "lines" else "memory.json")
    assert again.entities == graph.entities
    assert again.relations == graph.relations


@pytest.mark.long
def test_nothing_is_too_deep_to_be_mended() -> None:
    mended = parse_leniently("[" * 200_000 + "]" * 200_000, 0)
    assert mended.complete
    assert mended.faults == ()
