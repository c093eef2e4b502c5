"""Sessions: begun, listed with real counts and ages, cleaned up when nobody used them, and brought back."""

from __future__ import annotations

import time

import pytest

from form import each
from stdio_client import Place, Server

from .speaking import archive, contents, found, got, imported, kept, linked, refused, scopes, stored, told

DAY = 86_400_000_000


def manage(server: Server, action: str, **more: object) -> dict[str, object]:
    reply = server.call("session_manage", action=action, **more)
    assert not reply.failed, reply.text
    value: dict[str, object] = reply.value
    return value


def listed(server: Server) -> dict[str, dict[str, object]]:
    """The sessions by their ids."""
    sessions = manage(server, "list")["sessions"]
    assert isinstance(sessions, list)
    return {one["session_id"]: one for one in sessions}


def aged(place: Place, name: str, days: float) -> None:
    """Make a session and what is in it so many days older than it is."""
    then = time.time_ns() // 1000 - int(days * DAY)
    place.sql("UPDATE session SET created = %s WHERE name = %s", then, name)
    place.sql("UPDATE memory SET created = %s, updated = %s WHERE session = %s", then, then, name)


@pytest.mark.promise("associative.sessions.create")
def test_a_session_is_created_with_the_name_it_is_given(words: Server) -> None:
    answer = manage(words, "create", session_id="mcp-development-session")
    assert answer["session_id"] == "mcp-development-session"
    assert answer["session_scope"] == "session/mcp-development-session"
    assert listed(words)["mcp-development-session"]["created_at"] == answer["created_at"]


@pytest.mark.promise("associative.sessions.create")
def test_without_a_name_a_new_one_is_made_each_time(words: Server) -> None:
    names = [manage(words, "create")["session_id"] for _ in range(3)]
    assert len(set(names)) == 3
    assert set(listed(words)) == set(names)
    id = stored(words, "kept in a session", scope=f"session/{names[0]}")
    assert got(words, id)["scope"] == f"session/{names[0]}"


@pytest.mark.promise("associative.sessions.existing")
def test_a_session_that_is_there_goes_on(words: Server) -> None:
    first = manage(words, "create", session_id="s")
    stored(words, "kept", scope="session/s")
    again = words.call("session_manage", action="create", session_id="s")
    assert again.value["created_at"] == first["created_at"]
    assert again.value["already_existed"] is True
    assert again.notes
    assert listed(words)["s"]["memory_count"] == 1


@pytest.mark.promise("associative.sessions.names")
@each("name", ["a/b", "..", "", "  ", "x" * 101, "a\nb"])
def test_a_name_that_makes_no_scope_is_refused(shared: Server, name: str) -> None:
    value = refused(shared, "session_manage", "VALIDATION_ERROR", action="create", session_id=name)
    assert "session_id" in value["message"]
    assert listed(shared) == {}


@pytest.mark.promise("associative.sessions.list")
def test_sessions_are_listed_with_real_counts_and_ages(place: Place, words: Server) -> None:
    assert manage(words, "list") == {"action": "list", "sessions": [], "total_sessions": 0}
    for name, count in (("a", 2), ("ab", 1), ("empty", 0)):
        manage(words, "create", session_id=name)
        for number in range(count):
            stored(words, f"note {number}", scope=f"session/{name}/part {number}")
    aged(place, "ab", 2.5)
    sessions = listed(words)
    assert {name: one["memory_count"] for name, one in sessions.items()} == {"a": 2, "ab": 1, "empty": 0}
    assert {name: one["age_days"] for name, one in sessions.items()} == {"a": 0, "ab": 2, "empty": 0}
    assert sessions["ab"]["scope"] == "session/ab"
    assert manage(words, "list")["total_sessions"] == 3


@pytest.mark.promise("associative.sessions.by_itself")
def test_storing_in_a_session_scope_begins_the_session(words: Server) -> None:
    stored(words, "a thought", scope="session/new one/deep")
    other = stored(words, "another", scope="elsewhere")
    words.call("memory_move", memory_ids=[other], target_scope="session/moved")
    stored(words, "no session at all", scope="sessions/x")
    stored(words, "nor this", scope="session")
    assert {name: one["memory_count"] for name, one in listed(words).items()} == {"new one": 1, "moved": 1}


@pytest.mark.promise("associative.sessions.scope")
def test_the_memories_of_a_session_are_memories_like_all_others(words: Server) -> None:
    manage(words, "create", session_id="s")
    id = stored(words, "a temporary thought", scope="session/s")
    assert found(words, "temporary thought") == [id]
    assert found(words, "temporary thought", scope="session/s") == [id]
    assert scopes(words)["session/s"]["memory_count"] == 1
    words.call("memory_move", memory_ids=[id], target_scope="kept/for good")
    assert listed(words)["s"]["memory_count"] == 0
    assert manage(words, "cleanup", max_age_days=0)["freed_memories"] == 0
    assert contents(words) == ["a temporary thought"]


@pytest.mark.promise("associative.sessions.cleanup")
def test_cleanup_removes_what_is_older_and_says_what_it_freed(place: Place, words: Server) -> None:
    for name, days in (("old", 8), ("older", 30), ("young", 6)):
        for number in range(3):
            stored(words, f"note {number} of {name}", scope=f"session/{name}/x")
        aged(place, name, days)
    outside = stored(words, "outside")
    answer = words.call("session_manage", action="cleanup")
    assert {key: answer.value[key] for key in ("action", "removed_sessions", "freed_memories", "max_age_days")} == {
        "action": "cleanup", "removed_sessions": 2, "freed_memories": 6, "max_age_days": 7,
    }  # fmt: skip
    assert answer.value["removed_session_ids"] == ["old", "older"]
    assert set(listed(words)) == {"young"}
    assert sorted(contents(words)) == ["note 0 of young", "note 1 of young", "note 2 of young", "outside"]
    assert found(words, "old note", scope="session/old", include_child_scopes=True) == []
    assert got(words, outside)["content"] == "outside"


@pytest.mark.promise("associative.sessions.cleanup")
def test_what_a_session_counts_is_what_goes_with_it(words: Server) -> None:
    data = '{"memories": [{"content": "inside", "session": "s"}, {"content": "too", "scope": "session/s"}]}'
    imported(words, import_data=data)
    counted = listed(words)["s"]["memory_count"]
    assert manage(words, "cleanup", max_age_days=0)["freed_memories"] == counted
    assert len(kept(words)) == 2 - int(str(counted))


@pytest.mark.promise("associative.sessions.cleanup_used")
def test_a_session_that_was_used_lately_stays(place: Place, words: Server) -> None:
    manage(words, "create", session_id="long")
    aged(place, "long", 100)
    stored(words, "used today", scope="session/long")
    assert manage(words, "cleanup")["removed_sessions"] == 0
    assert listed(words)["long"]["memory_count"] == 1


@pytest.mark.promise("associative.sessions.cleanup_nothing")
def test_cleanup_of_nothing_removes_nothing(place: Place, words: Server) -> None:
    manage(words, "create", session_id="young")
    before = told(place, "changes")
    for _ in range(2):
        answer = manage(words, "cleanup")
        assert (answer["removed_sessions"], answer["freed_memories"]) == (0, 0)
    assert told(place, "changes") == before


@pytest.mark.promise("associative.sessions.cleanup_undo")
def test_one_undo_brings_back_what_a_cleanup_removed(place: Place, words: Server) -> None:
    one = stored(words, "the golden lantern of the lighthouse", scope="session/s", tags=["t"], metadata={"k": 1})
    two = stored(words, "the golden lantern of the lighthouse again", scope="session/s/deep")
    three = stored(words, "the golden lantern of the lighthouse thrice", scope="outside")
    before, links, sessions = archive(words), {id: set(linked(words, id)) for id in (one, two, three)}, listed(words)
    assert manage(words, "cleanup", max_age_days=0)["freed_memories"] == 2
    assert linked(words, three) == []
    assert [memory["memory_id"] for memory in kept(words)] == [three]

    told(place, "undo")

    assert {id: set(linked(words, id)) for id in (one, two, three)} == links
    for part in ("session_id", "memory_count", "created_at"):
        assert listed(words)["s"][part] == sessions["s"][part]
    assert set(found(words, "golden lantern")) == {one, two, three}
    assert scopes(words)["session/s"]["total_memory_count"] == 2
    assert len(archive(words)) == len(before)
