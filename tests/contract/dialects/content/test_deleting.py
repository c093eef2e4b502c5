"""delete_content: softly, for good, and what becomes of relationships."""

from __future__ import annotations

import pytest

from stdio_client import Place, Server

from .speaking import (
    bytes_of,
    done,
    find,
    found,
    get,
    refused,
    related,
    restarted,
    similar,
    stored,
    told,
    versions,
    write,
)

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


KEPT = {
    # delete_relationships, preserve_references: what stays of one --cites--> two --references--> three
    (None, None): "",
    (None, False): "",
    (None, True): "incoming",
    (True, None): "",
    (True, False): "",
    (True, True): "refused",
    (False, None): "incoming outgoing",
    (False, False): "incoming outgoing",
    (False, True): "incoming outgoing",
}


@pytest.mark.promise("content.delete.relationships")
@pytest.mark.promise("content.delete.references")
@pytest.mark.parametrize("hard", [None, False, True])
def test_relationships_are_deleted_or_kept_as_the_options_say(shared: Server, project: str, hard: bool | None) -> None:
    for (delete, preserve), stays in KEPT.items():
        given = {"hard": hard, "delete_relationships": delete, "preserve_references": preserve}
        options = {name: value for name, value in given.items() if value is not None}
        one, two, three = (stored(shared, project, f"{text} {options}") for text in ("one", "two", "three"))
        related(shared, project, one, two, "cites", strength=0.25, context="page 3")
        related(shared, project, two, three)
        related(shared, project, one, three, "describes")
        if stays == "refused":
            refused(shared, "delete_content", 422, project, content_id=two, options=options)
            continue
        answer = write(shared, "delete_content", project, content_id=two, options=options)
        kept = len(stays.split())
        assert (answer["relationships_deleted"], answer["references_preserved"]) == (2 - kept, kept), options
        refused(shared, "get_content", 404, project, content_id=two)
        shown = get(shared, project, one, **EVERYTHING)
        (left,) = [r for r in shown["relationships"] if r["type"] == "describes"]
        assert (left["target_id"], left.get("deleted")) == (three, None)
        incoming = [r for r in shown["relationships"] if r["type"] == "cites"]
        assert bool(incoming) == ("incoming" in stays), options
        for r in incoming:
            assert (r["source_id"], r["target_id"], r["deleted"]) == (one, two, True)
            assert (r["strength"], r["context"]) == (0.25, "page 3")
            assert sum(r.get("deleted", False) for r in shown["references"]["outgoing"]) == 1
        outgoing = [r for r in get(shared, project, three, **EVERYTHING)["relationships"] if r["type"] == "references"]
        assert bool(outgoing) == ("outgoing" in stays), options
        assert all((r["source_id"], r["deleted"]) == (two, True) for r in outgoing)


@pytest.mark.promise("content.delete.references")
def test_kept_relationships_are_no_fault_of_the_data(shared: Server, project: str) -> None:
    one, two, three = (stored(shared, project, text) for text in ("one", "two", "three"))
    related(shared, project, one, two)
    related(shared, project, two, three)
    write(shared, "delete_content", project, content_id=two, options={"delete_relationships": False})
    checks = ["orphaned_relationships", "reference_integrity"]
    for _ in range(2):
        asked = {"operation": "validate_data_integrity", "project_id": project, "checks": checks}
        report = done(shared, "memory_system", {**asked, "options": {"fix_issues": True}})
        assert report["summary"]["error"] == report["summary"]["warning"] == 0, report
    assert len(get(shared, project, one, **EVERYTHING)["relationships"]) == 1
    assert len(get(shared, project, three, **EVERYTHING)["relationships"]) == 1
