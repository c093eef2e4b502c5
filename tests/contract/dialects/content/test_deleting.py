"""delete_content: softly, for good, and what becomes of relationships."""

from __future__ import annotations

import pytest

from stdio_client import Place, Server

from .speaking import bytes_of, find, found, get, refused, related, restarted, similar, stored, told, versions, write

EVERYTHING = {"include_refs": True, "options": {"include_relationships": True}}


@pytest.mark.promise("content.delete.gone")
@pytest.mark.parametrize("options", [{}, {"hard": False}, {"hard": True}])
def test_what_is_deleted_is_gone_from_every_read(shared: Server, project: str, options: dict[str, bool]) -> None:
    id, other = stored(shared, project, "a red barn"), stored(shared, project, "a red shed")
    answer = write(shared, "delete_content", project, content_id=id, options=options)
    assert (answer["deleted"], answer["hard"], answer["content_id"]) == (True, bool(options.get("hard")), id)
    assert found(shared, project, "red") == [other]
    assert id not in similar(shared, project, content="a red barn")
    assert find(shared, project, "red")["total"] == 1
    for operation, more in (
        ("get_content", {}),
        *([("get_content_history", {})] if options.get("hard") else []),
        ("find_similar_content", {}),
        ("update_content", {"updates": {"summary": "s"}}),
        ("delete_content", {}),
    ):
        refused(shared, operation, 404, project, content_id=id, **more)
    refused(shared, "create_relationship", 404, project, source_id=other, target_id=id, type="cites")


@pytest.mark.promise("content.delete.undo")
def test_a_soft_deletion_can_be_undone_with_its_relationships(place: Place, words: Server) -> None:
    one, two = stored(words, "atlas", "first barn", tags=["t"]), stored(words, "atlas", "second barn")
    related(words, "atlas", one, two, strength=0.5)
    write(words, "update_content", "atlas", content_id=one, updates={"content": "first red barn"})
    before = get(words, "atlas", one, **EVERYTHING)
    write(words, "delete_content", "atlas", content_id=one)
    assert get(words, "atlas", two, **EVERYTHING)["relationships"] == []
    told(place, "atlas", "undo")
    after = get(words, "atlas", one, **EVERYTHING)
    assert {k: after[k] for k in ("content", "tags", "references")} == {
        k: before[k] for k in ("content", "tags", "references")
    }
    assert [(r["type"], r["strength"]) for r in after["relationships"]] == [("references", 0.5)]
    assert set(found(words, "atlas", "barn")) == {one, two}
    assert "first barn" in [one["content"] for one in versions(words, "atlas", one)]


@pytest.mark.promise("content.delete.restore")
def test_what_was_deleted_is_shown_and_brought_back(place: Place, words: Server) -> None:
    one, two, three = (stored(words, "atlas", f"{what} barn", tags=["t"]) for what in ("first", "second", "third"))
    related(words, "atlas", one, two, strength=0.5)
    related(words, "atlas", three, one)
    write(words, "update_content", "atlas", content_id=one, updates={"content": "first red barn"})
    before = get(words, "atlas", one, **EVERYTHING)
    write(words, "delete_content", "atlas", content_id=one, options={"preserve_references": True})
    write(words, "delete_content", "atlas", content_id=two)

    shown = words.call("memory_retrieve", operation="get_content_history", project_id="atlas", content_id=one).value
    assert [one["content"] for one in shown["versions"]] == ["first red barn", "first barn"]
    assert shown["deleted"]["change"] and shown["deleted"]["by"] and "options.restore" in shown["deleted"]["restore"]
    error = refused(words, "get_content", 404, "atlas", content_id=one)
    assert "options.restore" in str(error)
    refused(words, "update_content", 422, "atlas", content_id=one, updates={"summary": "s"}, options={"restore": True})

    answer = write(words, "update_content", "atlas", content_id=one, updates={}, options={"restore": True})
    assert answer["content_id"] == one
    after = get(words, "atlas", one, **EVERYTHING)
    assert (after["content"], after["tags"]) == (before["content"], before["tags"])
    # What leads to something that is gone stays away; what was kept, marked as leading nowhere, is as it was.
    assert [(link["content_id"], link["type"]) for link in after["references"]["incoming"]] == [(three, "references")]
    assert after["references"]["outgoing"] == []
    assert set(found(words, "atlas", "barn")) == {one, three}
    history = words.call("memory_retrieve", operation="get_content_history", project_id="atlas", content_id=one).value
    assert "deleted" not in history
    refused(words, "update_content", 409, "atlas", content_id=one, updates={}, options={"restore": True})
    refused(words, "update_content", 404, "other", content_id=two, updates={}, options={"restore": True})

    assert "deleted" in place.run("history", two, "--project", "atlas").stdout
    assert told(place, "atlas", "changes")[0]["did"][0]["how"] == "restored"


@pytest.mark.promise("content.delete.bytes")
def test_a_hard_deletion_leaves_nothing_in_the_files(place: Place, words: Server) -> None:
    stays = stored(words, "atlas", "Something else that stays")
    id = stored(words, "atlas", "Xylophone first", summary="Quixotic", tags=["Brontosaurus"],
                metadata={"Archaeopteryx": "Velociraptor"})  # fmt: skip
    write(words, "update_content", "atlas", content_id=id, updates={"content": "Xylophone and Umbrella"})
    related(words, "atlas", stays, id, context="Pterodactyl", metadata={"k": "Stegosaurus"})
    find(words, "atlas", "xylophone")
    assert any(b"Xylophone" in data for data in bytes_of(place).values())
    write(words, "delete_content", "atlas", content_id=id, options={"hard": True})
    last = restarted(place, words)
    assert get(last, "atlas", stays, **EVERYTHING)["relationships"] == []
    for name, data in bytes_of(place).items():
        for word in ("Xylophone", "xylophone", "Umbrella", "Quixotic", "Brontosaurus", "Archaeopteryx",
                     "Velociraptor", "Pterodactyl", "Stegosaurus"):  # fmt: skip
            assert word.encode() not in data, (name, word)


@pytest.mark.promise("content.delete.bytes")
def test_a_hard_deletion_cannot_be_undone(place: Place, words: Server) -> None:
    id = stored(words, "atlas", "Xylophone")
    write(words, "delete_content", "atlas", content_id=id, options={"hard": True})
    for change in told(place, "atlas", "changes"):
        place.run("undo", "--project", "atlas", "--change", str(change["change"]))
    refused(words, "get_content", 404, "atlas", content_id=id)
    assert found(words, "atlas", "xylophone") == []


@pytest.mark.promise("content.delete.relationships")
@pytest.mark.parametrize("options", [{}, {"delete_relationships": True}, {"preserve_references": False}])
def test_relationships_go_with_either_end(shared: Server, project: str, options: dict[str, bool]) -> None:
    one, two, three = (stored(shared, project, text) for text in ("one", "two", "three"))
    related(shared, project, one, two)
    related(shared, project, two, three)
    related(shared, project, one, three)
    answer = write(shared, "delete_content", project, content_id=two, options=options)
    assert (answer["relationships_deleted"], answer["references_preserved"]) == (2, 0)
    (left,) = get(shared, project, one, **EVERYTHING)["relationships"]
    assert left["target_id"] == three
    assert len(get(shared, project, three, **EVERYTHING)["relationships"]) == 1


@pytest.mark.promise("content.delete.references")
@pytest.mark.parametrize(
    "options",
    [
        {"preserve_references": True},
        {"preserve_references": True, "hard": True},
        {"delete_relationships": False},
    ],
)
def test_references_may_be_kept_and_are_marked_deleted(shared: Server, project: str, options: dict[str, bool]) -> None:
    one, two, three = (stored(shared, project, text) for text in ("one", "two", "three"))
    related(shared, project, one, two, "cites", strength=0.25, context="page 3")
    related(shared, project, two, three)
    answer = write(shared, "delete_content", project, content_id=two, options=options)
    assert (answer["relationships_deleted"], answer["references_preserved"]) == (1, 1)
    shown = get(shared, project, one, **EVERYTHING)
    (kept,) = shown["relationships"]
    assert (kept["source_id"], kept["target_id"], kept["type"]) == (one, two, "cites")
    assert (kept["deleted"], kept["strength"], kept["context"]) == (True, 0.25, "page 3")
    (reference,) = shown["references"]["outgoing"]
    assert reference["deleted"] is True
    assert get(shared, project, three, **EVERYTHING)["relationships"] == []
    refused(shared, "get_content", 404, project, content_id=two)
