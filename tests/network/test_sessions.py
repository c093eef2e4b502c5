"""Sessions: those of the content tools by every way in, and how many of the protocol there are."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from polymnia.keys import KeyFile

from .conftest import MANY
from .served import Served, request

STORE = {"operation": "store_content", "project_id": "p"}
SEARCH = {"operation": "search_content", "project_id": "p", "query": "harbour"}


@pytest.fixture(scope="module")
def strict_about_sessions(serving: Callable[..., Served]) -> Served:
    """A server whose content tools write only within a session."""
    return serving(*MANY, "--require-session", "on")


@pytest.mark.promise("network.sessions.required")
def test_without_a_session_id_nothing_is_stored_where_one_is_required(strict_about_sessions: Served, kind: str) -> None:
    with strict_about_sessions.door(kind, "content") as door:
        refused = door.call("memory_store", {**STORE, "content": "The harbour is frozen."})
        assert refused["error"]["code"] == 403
        kept = door.call("memory_store", {**STORE, "session_id": kind, "content": f"The harbour of {kind} is open."})
        assert "result" in kept
        seen = door.call("memory_retrieve", {**SEARCH, "session_id": kind})["result"]["content"][0]["text"]
        assert f"harbour of {kind}" in seen
        assert "frozen" not in seen
        assert "harbour of" not in door.call("memory_retrieve", SEARCH)["result"]["content"][0]["text"]


@pytest.mark.promise("network.sessions.bounded")
def test_one_key_that_begins_many_sessions_ends_no_others(serving: Callable[..., Served], tmp_path: Path) -> None:
    file = KeyFile(str(tmp_path / "config" / "polymnia" / "keys.json"))
    modest, greedy = file.add("modest")[1], file.add("greedy")[1]
    served = serving(*MANY, "--max-sessions", "5", folder=tmp_path)
    kept = served.begin(key=modest)
    begun = [served.begin(key=greedy) for _ in range(20)]
    assert served.post(request("ping"), key=modest, Mcp_Session_Id=kept).status == 200
    alive = [served.post(request("ping"), key=greedy, Mcp_Session_Id=one).status for one in begun]
    assert alive == [404] * 16 + [200] * 4


@pytest.mark.long
@pytest.mark.promise("network.sessions.bounded")
def test_where_all_sessions_are_in_use_there_is_no_other(serving: Callable[..., Served]) -> None:
    served = serving(*MANY, "--max-sessions", "2")
    with served.events() as first, served.events() as second:
        assert first.next() is not None
        assert second.next() is not None
        assert served.status("GET", "/sse") == 503
        assert "retry-after" in served.last
