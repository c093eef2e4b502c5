"""Storing, reading, changing and deleting: only what is given changes, versions stay, and deleted is deleted."""

from __future__ import annotations

import json

import pytest

from stdio_client import Place, Server

from .speaking import archive, contents, found, got, kept, linked, refused, restarted, store, stored, told

SECRET = "Xylophone-Zebra-4711 is the passphrase"


def bytes_of(place: Place) -> dict[str, bytes]:
    """Every file of the store as it lies on disk."""
    return place.contents()


@pytest.mark.promise("associative.store.on_disk")
def test_what_was_answered_survives_a_kill(place: Place, words: Server) -> None:
    arguments = {"scope": "a/b", "category": "c", "tags": ["t", "u"], "metadata": {"k": [1, None]}}
    id = stored(words, "survives", **arguments)
    before = got(words, id)
    words.kill()
    after = got(place.serve("associative"), id)
    assert after == before
    assert {key: after[key] for key in arguments} == arguments


@pytest.mark.promise("associative.list.order")
def test_memories_are_listed_newest_first_with_all_they_have(words: Server) -> None:
    for number in range(3):
        stored(words, f"note {number}", scope=f"s/{number}", tags=[f"t{number}"], category="c", metadata={"n": number})
    memories = kept(words)
    assert [one["content"] for one in memories] == ["note 2", "note 1", "note 0"]
    for number, one in enumerate(reversed(memories)):
        assert (one["scope"], one["tags"], one["category"]) == (f"s/{number}", [f"t{number}"], "c")
        assert one["metadata"] == {"n": number}
        assert one["created_at"] <= one["updated_at"]


@pytest.mark.promise("associative.list.order")
def test_an_empty_store_is_one_empty_page(words: Server) -> None:
    value = words.call("memory_list_all").value
    assert value["memories"] == []
    assert value["pagination"] == {
        "page": 1, "per_page": 10, "total_items": 0, "total_pages": 0, "has_next": False, "has_prev": False,
    }  # fmt: skip


@pytest.mark.promise("associative.update.version")
def test_an_update_keeps_the_version_before(place: Place, words: Server) -> None:
    id = stored(words, "as it was", tags=["old"], scope="a")
    created = got(words, id)["created_at"]
    words.call("memory_update", memory_id=id, content="as it is now")
    words.call("memory_update", memory_id=id, tags=["new"], scope="b")
    memory = got(words, id)
    assert (memory["version"], memory["created_at"]) == (3, created)
    assert memory["updated_at"] > created
    events = told(place, "history", id)
    assert [event["action"] for event in events] == ["remember", "revise", "revise"]
    assert events[1]["removed"] == ["as it was"]
    assert events[1]["added"] == ["as it is now"]
    assert {"tags", "scope"} <= events[2]["changed"].keys()
    assert told(place, "show", id, "--at", str(events[0]["change"]))["observations"] == ["as it was"]
    told(place, "undo")
    assert (got(words, id)["tags"], got(words, id)["scope"]) == (["old"], "a")


@pytest.mark.promise("associative.update.found")
def test_an_updated_text_is_found_and_the_old_one_is_not(words: Server) -> None:
    id = stored(words, "about an aardvark")
    words.call("memory_update", memory_id=id, content="about a wombat")
    assert found(words, "wombat") == [id]
    assert found(words, "aardvark") == []


@pytest.mark.promise("associative.update.missing", "associative.errors.not_found")
def test_what_is_not_there_cannot_be_changed_read_or_deleted(shared: Server) -> None:
    stored(shared, "there")
    before = archive(shared)
    for tool, more in (
        ("memory_get", {}),
        ("memory_update", {"content": "new"}),
        ("memory_delete", {}),
        ("memory_discover_associations", {}),
    ):
        value = refused(shared, tool, "MEMORY_NOT_FOUND", memory_id="invalid-uuid", **more)
        assert value["message"] == "Memory with ID 'invalid-uuid' not found"
        assert value["data"].pop("hint")
        assert value["data"] == {"memory_id": "invalid-uuid"}
    assert archive(shared) == before


@pytest.mark.promise("associative.update.whole")
def test_an_update_with_one_bad_field_changes_none(shared: Server) -> None:
    id = stored(shared, "whole or not at all", tags=["t"])
    before = got(shared, id)
    for bad in ({"scope": "a//b"}, {"tags": ["ok", ""]}, {"tags": ["ok", 5]}, {"metadata": []}, {"category": 5}):
        refused(shared, "memory_update", "VALIDATION_ERROR", memory_id=id, content="changed", **bad)
    refused(shared, "memory_update", "VALIDATION_ERROR", memory_id=id, tags=["x"], content=" ")
    assert got(shared, id) == before


@pytest.mark.promise("associative.delete.bytes")
def test_nothing_of_a_deleted_text_is_left_in_the_files_of_the_store(place: Place, words: Server) -> None:
    stored(words, "Something else that stays")
    id = stored(words, SECRET, scope="vault/Quixotic", tags=["Brontosaurus"], category="Pterodactyl",
                metadata={"Archaeopteryx": "Velociraptor"})  # fmt: skip
    words.call("memory_update", memory_id=id, content=f"{SECRET}, and Umbrella-0815")
    near = stored(words, f"{SECRET} again", allow_duplicates=True)
    words.call("memory_delete", memory_id=near)
    words.call("memory_search", query="passphrase")
    assert any(b"Xylophone" in data for data in bytes_of(place).values())
    words.call("memory_delete", memory_id=id)
    last = restarted(place, words)
    assert contents(last) == ["Something else that stays"]
    for name, data in bytes_of(place).items():
        for word in ("Xylophone", "xylophone", "zebra", "Umbrella", "umbrella", "passphrase", "Quixotic",
                     "Brontosaurus", "Pterodactyl", "Archaeopteryx", "Velociraptor"):  # fmt: skip
            assert word.encode() not in data, (name, word)


@pytest.mark.promise("associative.delete.bytes")
def test_nothing_of_it_is_left_while_the_server_goes_on_either(place: Place, words: Server) -> None:
    id = stored(words, SECRET)
    words.call("memory_delete", memory_id=id)
    for name, data in bytes_of(place).items():
        assert b"Xylophone" not in data, name


@pytest.mark.promise("associative.delete.for_good")
def test_a_deletion_cannot_be_undone(place: Place, words: Server) -> None:
    stored(words, "stays")
    id = stored(words, SECRET)
    words.call("memory_delete", memory_id=id)
    changes = told(place, "changes")
    for change in changes:
        place.run("undo", "--change", str(change["change"]))
    refused(words, "memory_get", "MEMORY_NOT_FOUND", memory_id=id)
    history = place.run("history", id)
    assert history.returncode != 0 or "Xylophone" not in history.stdout
    assert "Xylophone" not in archive(words)
    refused(words, "memory_delete", "MEMORY_NOT_FOUND", memory_id=id)


@pytest.mark.promise("associative.delete.undo")
def test_after_a_deletion_what_is_left_can_still_be_undone(place: Place, words: Server) -> None:
    one, two = (stored(words, text, scope="a") for text in ("deleted later", "left"))
    words.call("memory_move", memory_ids=[one, two], target_scope="b")
    words.call("memory_delete", memory_id=one)
    assert place.run("undo").returncode == 1
    told(place, "undo", "--change", str(told(place, "changes")[1]["change"]))
    assert got(words, two)["scope"] == "a"
    assert contents(words) == ["left"]


@pytest.mark.promise("associative.delete.unfound")
def test_what_was_deleted_is_not_found_listed_or_linked(words: Server) -> None:
    one = stored(words, "the golden lantern of the lighthouse")
    two = stored(words, "the golden lantern of the lighthouse again")
    words.call("memory_delete", memory_id=one)
    assert found(words, "golden lantern lighthouse") == [two]
    assert linked(words, two) == []
    assert [one["memory_id"] for one in kept(words)] == [two]
    assert one not in json.dumps(
        words.call("memory_discover_associations", memory_id=two, similarity_threshold=0).value
    )


@pytest.mark.long
@pytest.mark.promise("associative.delete.unfound")
def test_what_was_deleted_is_not_found_by_meaning_either(meaning: Server) -> None:
    one = stored(meaning, "The puppy chews on my slippers", scope="pets")
    assert one in found(meaning, "a young dog destroys shoes", scope="pets", similarity_threshold=0)
    meaning.call("memory_delete", memory_id=one)
    assert found(meaning, "a young dog destroys shoes", scope="pets", similarity_threshold=0) == []


@pytest.mark.promise("associative.store.tags")
def test_tags_are_kept_once_trimmed_and_in_order(shared: Server) -> None:
    id = store(shared, "with tags", tags=[" b ", "a", "b", "A"])["memory_id"]
    assert got(shared, id)["tags"] == ["b", "a", "A"]
    assert "tags" in refused(shared, "memory_store", "VALIDATION_ERROR", content="x", tags=["a", " "])["message"]
