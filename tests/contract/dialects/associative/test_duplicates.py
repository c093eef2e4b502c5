"""What is stored already is recognised, and what only looks like it is not."""

from __future__ import annotations

import pytest

from apart import APART, SAME
from stdio_client import Place, Server

from .speaking import contents, got, store, stored, until_embedded


@pytest.mark.promise("associative.duplicates.same")
def test_the_same_text_again_is_answered_with_the_memory_that_says_it(words: Server) -> None:
    first = stored(words, "The backup runs at night", scope="ops", tags=["kept"])
    again = store(words, "The backup runs at night", scope="ops")
    assert again["is_duplicate"] is True
    assert again["memory_id"] == first
    assert (again["content"], again["similarity_score"]) == ("The backup runs at night", 1.0)
    assert "joined" not in again
    assert contents(words) == ["The backup runs at night"]
    assert got(words, first)["version"] == 1


@pytest.mark.promise("associative.duplicates.joined")
def test_what_a_duplicate_brings_along_is_joined_to_the_memory_and_can_be_taken_back(
    place: Place, words: Server
) -> None:
    first = stored(words, "The backup runs at night", tags=["ops"], metadata={"source": "wiki", "page": 3})
    again = store(
        words, "the backup runs at night.", tags=["nightly", "ops"], category="fact",
        metadata={"page": 4, "by": "Ann"},
    )  # fmt: skip
    assert (again["memory_id"], again["is_duplicate"]) == (first, True)
    assert again["joined"] == {
        "tags": ["nightly"], "category": "fact", "metadata": {"page": 4, "by": "Ann"},
        "replaced": {"metadata": {"page": 3}},
    }  # fmt: skip
    memory = got(words, first)
    assert (memory["tags"], memory["category"], memory["version"]) == (["ops", "nightly"], "fact", 2)
    assert memory["metadata"] == {"source": "wiki", "page": 4, "by": "Ann"}
    assert memory["content"] == "The backup runs at night"
    twice = store(words, "The backup runs at night", tags=["nightly"], category="fact", metadata={"by": "Ann"})
    assert "joined" not in twice
    assert got(words, first)["version"] == 2
    assert place.run("undo").returncode == 0
    memory = got(words, first)
    assert (memory["tags"], memory["category"], memory["metadata"]) == (["ops"], None, {"source": "wiki", "page": 3})


@pytest.mark.promise("associative.duplicates.no_model")
@pytest.mark.parametrize(
    ("text", "again"),
    [
        ("Deploys happen on Friday", "Deploys happen on Friday"),
        ("백업은 밤에 실행된다", "백업은 밤에 실행된다"),
        ("🦉🦉 hoot", "🦉🦉 hoot"),
        ("x", "x"),
        ("!?", "!?"),
        ("a line\nand  another\tone", "a line\nand  another\tone"),
        ("long text " * 2000, "long text " * 2000),
        ("100 % of _it_ \\ 'quoted' \"twice\"", "100 % of _it_ \\ 'quoted' \"twice\""),
    ],
    ids=["English", "Korean", "emoji", "a letter", "signs", "lines", "long", "marks"],
)
def test_without_a_model_equal_texts_are_recognised(shared: Server, text: str, again: str) -> None:
    first = stored(shared, text, scope="no/model")
    answer = store(shared, again, scope="no/model")
    assert (answer["is_duplicate"], answer["memory_id"]) == (True, first)


@pytest.mark.promise("associative.duplicates.harmless")
def test_what_differs_in_nothing_that_carries_meaning_is_recognised(shared: Server) -> None:
    for at, (text, again) in enumerate(SAME):
        first = stored(shared, text, scope=f"same/{at}")
        answer = store(shared, again, scope=f"same/{at}")
        assert (answer["is_duplicate"], answer["memory_id"], answer["content"]) == (True, first, text)


@pytest.mark.promise("associative.duplicates.reworded")
@pytest.mark.promise("associative.duplicates.similar")
def test_a_reworded_text_is_stored_and_the_similar_memory_is_named(meaning: Server) -> None:
    for at, (text, again) in enumerate(
        [
            ("The user prefers dark mode", "User prefers dark mode."),
            ("Deploys happen every Friday at 5pm", "Every Friday at 17:00 deploys happen"),
            ("사용자는 커피를 좋아한다", "사용자는 커피를 좋아합니다."),
        ]
    ):
        scope = f"reworded/{at}"
        first = stored(meaning, text, scope=scope)
        until_embedded(meaning, text)
        answer = store(meaning, again, scope=scope, similarity_threshold=0.6)
        assert answer["is_duplicate"] is False
        (near,) = [one for one in answer["similar_memories"] if one["scope"] == scope]
        assert (near["memory_id"], near["content"]) == (first, text)
        assert 0.6 <= near["similarity_score"] < 1
        assert any("similar_memories" in note for note in answer["notes"])
    assert "similar_memories" not in store(meaning, "Nothing here is like this owl", scope="reworded/none")


@pytest.mark.promise("associative.duplicates.conflict")
@pytest.mark.parametrize("embedder", ["none", "use"])
def test_texts_that_say_something_else_are_all_kept(place: Place, embedder: str) -> None:
    server = place.serve("associative", environment={"POLYMNIA_EMBEDDER": embedder})
    pairs = [pair for some in APART.values() for pair in some]
    assert len(pairs) >= 60
    unnamed = []
    for at, (text, other) in enumerate(pairs):
        first = stored(server, text, scope=f"apart/{at}")
        answer = store(server, other, scope=f"apart/{at}", similarity_threshold=0)
        assert answer["is_duplicate"] is False, (text, other)
        if first not in [one["memory_id"] for one in answer.get("similar_memories", ())]:
            unnamed.append((text, other))
        assert all(one["similarity_score"] < 1 for one in answer.get("similar_memories", ()))
    assert len(unnamed) <= len(pairs) // 10, unnamed


@pytest.mark.promise("associative.duplicates.scope")
def test_the_same_text_in_another_scope_is_another_memory(shared: Server) -> None:
    texts = [stored(shared, "The same everywhere", scope=scope) for scope in ("dup/a", "dup/a/b", "dup/ab", "dup")]
    assert len(set(texts)) == 4
    assert store(shared, "The same everywhere", scope=" dup / a ")["memory_id"] == texts[0]


@pytest.mark.promise("associative.duplicates.allowed")
def test_duplicates_are_stored_when_they_are_allowed(shared: Server) -> None:
    ids = {stored(shared, "allowed", scope="allowed", allow_duplicates=True) for _ in range(3)}
    assert len(ids) == 3
    assert store(shared, "allowed", scope="allowed")["memory_id"] in ids


@pytest.mark.promise("associative.duplicates.gone")
def test_what_was_deleted_changed_or_moved_away_is_no_duplicate_any_more(shared: Server) -> None:
    for undo in (
        ("memory_delete", {}),
        ("memory_update", {"content": "something else entirely"}),
        ("memory_update", {"scope": "gone/elsewhere"}),
    ):
        first = stored(shared, "here and gone", scope="gone", auto_associate=False)
        shared.call(undo[0], {"memory_id": first, **undo[1]})
        second = stored(shared, "here and gone", scope="gone")
        assert second != first
        shared.call("memory_delete", memory_id=second)


@pytest.mark.promise("associative.duplicates.changed")
def test_what_a_memory_was_changed_into_is_recognised(shared: Server) -> None:
    id = stored(shared, "the first wording", scope="changed")
    shared.call("memory_update", memory_id=id, content="now it says this")
    assert store(shared, "now it says this", scope="changed")["memory_id"] == id
    moved = stored(shared, "on its way", scope="changed/from")
    shared.call("memory_move", memory_ids=[moved], target_scope="changed/to")
    assert store(shared, "on its way", scope="changed/to")["memory_id"] == moved


@pytest.mark.promise("associative.duplicates.at_once")
@pytest.mark.parametrize("embedder", ["none", "use"])
def test_processes_that_store_the_same_at_once_keep_one(place: Place, embedder: str) -> None:
    servers = [place.serve("associative", environment={"POLYMNIA_EMBEDDER": embedder}) for _ in range(2)]
    for server in servers:
        store(server, f"something before, to be ready: {servers.index(server)}")
    texts = [f"Fact about the {animal} in the zoo" for animal in ("owl", "fox", "elk", "hen", "bat")]
    with place.held():
        calls = [(s, s.begin_call("memory_store", {"content": text, "scope": "z"})) for text in texts for s in servers]
        for server in servers:
            server.request("ping")  # they have read what was sent, and wait for the store
    answers = [server.reply(call).value for server, call in calls]
    assert sorted(text for text in contents(servers[0]) if text in texts) == sorted(texts)
    assert len(contents(servers[1])) == len(texts) + 2
    assert sum(answer["is_duplicate"] for answer in answers) == len(texts)
    assert len({answer["memory_id"] for answer in answers}) == len(texts)


@pytest.mark.promise("associative.duplicates.other_dialects")
def test_a_graph_entity_that_says_the_same_is_recognised(place: Place) -> None:
    server = place.serve("all")
    entities = [{"name": "Backup", "entityType": "fact", "observations": ["The backup runs at night"]}]
    server.call("create_entities", entities=entities)
    answer = store(server, "The backup runs at night")
    assert answer["is_duplicate"] is True
    assert got(server, answer["memory_id"])["name"] == "Backup"
