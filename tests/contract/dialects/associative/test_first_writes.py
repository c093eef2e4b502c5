"""The first write to a store or project, by several at once."""

from __future__ import annotations

import pytest

from stdio_client import Place


@pytest.mark.promise("associative.duplicates.at_once")
@pytest.mark.parametrize("embedder", ["none", "use"])
def test_a_text_that_two_processes_store_first_is_kept_once(place: Place, embedder: str) -> None:
    servers = [place.serve("associative", environment={"POLYMNIA_EMBEDDER": embedder}) for _ in range(2)]
    for server in servers:
        server.call("memory_search", query="nothing yet")
    for number in range(4):
        project_free_text = f"The red note number {number} is kept in scope {number}"
        calls = [s.begin_call("memory_store", {"content": project_free_text, "scope": "c"}) for s in servers]
        answers = [server.reply(call).value for server, call in zip(servers, calls, strict=True)]
        assert len({answer["memory_id"] for answer in answers}) == 1
        assert sorted(answer["is_duplicate"] for answer in answers) == [False, True]
