"""get_content and get_content_history: formats, what may be included, versions and what they changed."""

from __future__ import annotations

import difflib

import pytest

from stdio_client import Server

from .speaking import get, read, related, stored, versions, write

LONG = "Title line\n\n" + "A sentence about gravel. " * 40


@pytest.mark.promise("content.get.formats")
def test_the_formats_show_more_or_less(shared: Server, project: str) -> None:
    id = stored(shared, project, LONG, tags=["stone"], metadata={"k": 1})
    full = get(shared, project, id, options={"format": "full"})
    assert full == get(shared, project, id)
    assert full["content"] == LONG
    short = get(shared, project, id, options={"format": "summary"})
    assert "content" not in short
    assert LONG.startswith(short["summary"].rstrip("…"))
    assert len(short["summary"]) < len(LONG)
    assert (short["tags"], short["metadata"]) == (["stone"], {"k": 1})
    least = get(shared, project, id, options={"format": "minimal"})
    assert least == {"content_id": id, "title": "Title line", "content_type": "text/plain", "version": 1}


@pytest.mark.promise("content.get.formats")
def test_a_summary_that_was_given_is_the_summary(shared: Server, project: str) -> None:
    id = stored(shared, project, LONG, summary="Gravel, at length")
    assert get(shared, project, id, options={"format": "summary"})["summary"] == "Gravel, at length"


@pytest.mark.promise("content.get.metadata")
def test_metadata_is_shown_unless_it_is_not_wanted(shared: Server, project: str) -> None:
    id = stored(shared, project, "text", metadata={"k": 1})
    assert get(shared, project, id, options={"include_metadata": True})["metadata"] == {"k": 1}
    assert "metadata" not in get(shared, project, id, options={"include_metadata": False})
    assert "metadata" not in get(shared, project, id, options={"include_metadata": False, "format": "summary"})


@pytest.mark.promise("content.get.references")
def test_references_lead_both_ways_and_are_shown_when_wanted(shared: Server, project: str) -> None:
    one, two, three = (stored(shared, project, text) for text in ("one", "two", "three"))
    related(shared, project, one, two, "cites")
    related(shared, project, two, three, "part_of")
    shown = get(shared, project, two, include_refs=True)
    assert "relationships" not in shown
    (outgoing,), (incoming,) = shown["references"]["outgoing"], shown["references"]["incoming"]
    assert (outgoing["content_id"], outgoing["title"], outgoing["type"]) == (three, "three", "part_of")
    assert (incoming["content_id"], incoming["title"], incoming["type"]) == (one, "one", "cites")
    assert "references" not in get(shared, project, two, include_refs=False)
    assert "references" not in get(shared, project, two)


@pytest.mark.promise("content.get.relationships")
def test_relationships_are_shown_when_wanted(shared: Server, project: str) -> None:
    one, two = stored(shared, project, "one"), stored(shared, project, "two")
    id = related(shared, project, one, two, "causes")
    (shown,) = get(shared, project, two, options={"include_relationships": True})["relationships"]
    assert (shown["relationship_id"], shown["type"]) == (id, "causes")
    assert "relationships" not in get(shared, project, two, options={"include_relationships": False})
    assert "relationships" not in get(shared, project, two)


@pytest.mark.promise("content.get.history")
def test_the_history_is_shown_when_wanted(shared: Server, project: str) -> None:
    id = stored(shared, project, "one")
    write(shared, "update_content", project, content_id=id, updates={"content": "two"})
    shown = get(shared, project, id, include_history=True)
    assert [(one["version"], one["content"]) for one in shown["history"]] == [(2, "two"), (1, "one")]
    assert "history" not in get(shared, project, id, include_history=False)
    assert "history" not in get(shared, project, id)


@pytest.mark.promise("content.history.versions")
def test_every_version_tells_what_it_was_and_whose(shared: Server, project: str) -> None:
    id = stored(shared, project, "one", tags=["a"], user_id="ann")
    write(shared, "update_content", project, content_id=id, updates={"tags": ["b"], "metadata": {"k": 1}})
    write(shared, "update_content", project, content_id=id, updates={"summary": "short"})
    answer = read(shared, "get_content_history", project, content_id=id)
    assert (answer["content_id"], answer["total_versions"]) == (id, 3)
    newest, middle, oldest = answer["versions"]
    assert (newest["version"], newest["summary"], newest["change"]) == (3, "short", "update_content")
    assert (middle["version"], middle["summary"], middle["tags"], middle["metadata"]) == (2, None, ["b"], {"k": 1})
    assert (oldest["version"], oldest["tags"], oldest["metadata"], oldest["change"]) == (1, ["a"], {}, "store_content")
    assert "ann" in oldest["changed_by"]
    assert oldest["updated_at"] < middle["updated_at"] < newest["updated_at"]
    assert newest["updated_at"] == get(shared, project, id)["updated_at"]
    assert "diff" not in newest


@pytest.mark.promise("content.history.limit")
def test_a_limit_shows_the_newest_versions_and_the_total_stays(shared: Server, project: str) -> None:
    id = stored(shared, project, "text 1")
    for number in range(2, 6):
        write(shared, "update_content", project, content_id=id, updates={"content": f"text {number}"})
    answer = read(shared, "get_content_history", project, content_id=id, limit=2)
    assert [one["version"] for one in answer["versions"]] == [5, 4]
    assert answer["total_versions"] == 5
    last = read(shared, "get_content_history", project, content_id=id, limit=2, include_diffs=True)["versions"][-1]
    assert "-text 3" in last["diff"]
    assert len(versions(shared, project, id, limit=100)) == 5


@pytest.mark.promise("content.history.diffs")
def test_diffs_are_unified_and_say_what_each_version_changed(shared: Server, project: str) -> None:
    texts = ["one\ntwo\nthree\n", "one\n둘\nthree\nfour\n"]
    id = stored(shared, project, texts[0])
    write(shared, "update_content", project, content_id=id, updates={"content": texts[1]})
    write(shared, "update_content", project, content_id=id, updates={"tags": ["t"]})
    tagged, changed, first = versions(shared, project, id, include_diffs=True)
    wanted = difflib.unified_diff(texts[0].splitlines(), texts[1].splitlines(), "version 1", "version 2", lineterm="")
    assert changed["diff"] == "\n".join(wanted)
    assert changed["changed_fields"] == ["content"]
    assert (tagged["diff"], tagged["changed_fields"]) == ("", ["tags"])
    assert "+one\n+two\n+three" in first["diff"]
    assert all("diff" not in one for one in versions(shared, project, id, include_diffs=False))


@pytest.mark.promise("content.get.embeddings")
def test_without_a_model_there_are_no_embeddings(shared: Server, project: str) -> None:
    id = stored(shared, project, "text", options={"generate_embeddings": True})
    assert not get(shared, project, id, options={"include_embeddings": True})["embeddings"]
    assert "embeddings" not in get(shared, project, id)
