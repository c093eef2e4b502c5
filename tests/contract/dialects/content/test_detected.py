"""What is read from a text when asked for: its metadata, and its relationships to others."""

from __future__ import annotations

import pytest

from stdio_client import Server

from .speaking import RELATIONSHIPS, get, stored, write

PAGE = """# Harbour report

## Ships

Ann Larsen counted 12 ships on 2025-03-14. See https://example.org/ships for the list.

## Cranes

```python
print("crane")
```
"""
SHOWN = {"options": {"include_relationships": True}}


@pytest.mark.promise("content.store.extract")
def test_metadata_is_read_from_the_text_when_asked_for(shared: Server, project: str) -> None:
    options = {"extract_metadata": True}
    answer = write(
        shared, "store_content", project, content=PAGE, content_type="text/markdown", metadata={"k": 1}, options=options
    )
    metadata = answer["metadata"]
    assert (metadata["k"], metadata["title"]) == (1, "Harbour report")
    told = str(metadata["extracted"])
    for piece in ("Ships", "Cranes", "https://example.org/ships", "2025-03-14", "python"):
        assert piece in told, piece
    assert get(shared, project, answer["content_id"])["metadata"] == metadata


@pytest.mark.promise("content.store.extract")
def test_nothing_is_read_where_it_is_not_asked_for(shared: Server, project: str) -> None:
    assert write(shared, "store_content", project, content=PAGE)["metadata"] == {}
    assert write(shared, "store_content", project, content=PAGE, options={"extract_metadata": False})["metadata"] == {}


@pytest.mark.promise("content.store.extract")
def test_what_the_caller_says_goes_before_what_is_read(shared: Server, project: str) -> None:
    given = {"content": PAGE, "metadata": {"title": "Mine"}, "options": {"extract_metadata": True}}
    assert write(shared, "store_content", project, **given)["metadata"]["title"] == "Mine"


@pytest.mark.promise("content.store.extract")
def test_korean_is_read_too(shared: Server, project: str) -> None:
    text = "# 항구 보고서\n\n배포는 2025년 3월 14일에 서울에서 진행한다. 담당자는 김민수 과장이다."
    given = {"content": text, "content_type": "text/markdown", "options": {"extract_metadata": True}}
    metadata = write(shared, "store_content", project, **given)["metadata"]
    assert metadata["title"] == "항구 보고서"
    assert "ko" in str(metadata["extracted"])


@pytest.mark.promise("content.store.detect")
def test_relationships_are_found_when_asked_for_each_with_its_evidence(shared: Server, project: str) -> None:
    target = stored(shared, project, "# Harbour report\n\nTwelve ships were counted.", content_type="text/markdown")
    text = f"The new cranes are needed, see {target} for the figures."
    answer = write(shared, "store_content", project, content=text, options={"detect_relationships": True})
    (drawn,) = answer["relationships"]
    assert (drawn["source_id"], drawn["target_id"]) == (answer["content_id"], target)
    assert drawn["type"] in RELATIONSHIPS
    assert drawn["origin"] == "auto"
    assert 0 <= drawn["strength"] <= 1
    assert drawn["context"]
    (shown,) = get(shared, project, target, **SHOWN)["relationships"]
    assert shown == drawn


@pytest.mark.promise("content.store.detect")
def test_none_are_drawn_where_it_is_not_asked_for(shared: Server, project: str) -> None:
    target = stored(shared, project, "# Harbour report\n\nTwelve ships were counted.")
    for options in ({}, {"detect_relationships": False}):
        answer = write(shared, "store_content", project, content=f"See {target} there", options=options)
        assert "relationships" not in answer
    assert get(shared, project, target, **SHOWN)["relationships"] == []


@pytest.mark.promise("content.update.relationships")
def test_relationships_that_were_found_follow_an_updated_text_unless_that_is_unwanted(
    shared: Server, project: str
) -> None:
    one = stored(shared, project, "# Harbour report\n\nTwelve ships were counted.")
    two = stored(shared, project, "# Orchard report\n\nMany apples were counted.")
    id = stored(shared, project, f"For the figures see {one} there", options={"detect_relationships": True})
    by_hand = write(shared, "create_relationship", project, source_id=id, target_id=one, type="causes")

    def targets() -> set[tuple[str, str]]:
        shown = get(shared, project, id, **SHOWN)["relationships"]
        return {(one["target_id"], one["origin"]) for one in shown}

    assert targets() == {(one, "auto"), (one, "manual")}
    updates = {"content": f"For the figures see {two} there"}
    off, on = {"update_relationships": False}, {"update_relationships": True}
    write(shared, "update_content", project, content_id=id, updates=updates, options=off)
    assert targets() == {(one, "auto"), (one, "manual")}
    write(shared, "update_content", project, content_id=id, updates=updates, options=on)
    assert targets() == {(two, "auto"), (one, "manual")}
    write(shared, "update_content", project, content_id=id, updates={"content": f"All of it is in {one} now"})
    assert targets() == {(one, "auto"), (one, "manual")}
    assert by_hand["relationship"]["origin"] == "manual"


@pytest.mark.promise("content.store.detect")
def test_nothing_of_another_session_is_related(shared: Server, project: str) -> None:
    target = stored(shared, project, "# Harbour report\n\nTwelve ships were counted.", session_id="one")
    given = {"options": {"detect_relationships": True}}
    outside = write(shared, "store_content", project, content=f"For the figures see {target} there", **given)
    assert "relationships" not in outside
    inside = {"content": f"All ships are in {target} by name", "session_id": "one", **given}
    assert "relationships" not in write(shared, "store_content", f"{project} too", **inside)
    assert [one["target_id"] for one in write(shared, "store_content", project, **inside)["relationships"]] == [target]
