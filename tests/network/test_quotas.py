"""What a key and a project are limited to, and what a change of a key does to a server that runs."""

from __future__ import annotations

import json
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import polymnia
from polymnia.keys import KeyFile

from .conftest import MANY
from .served import Served, request

READ = request("tools/call", {"name": "open_nodes", "arguments": {"names": ["x"]}})


@pytest.fixture(scope="module")
def locked(serving: Callable[..., Served], tmp_path_factory: pytest.TempPathFactory) -> Served:
    """A server with a key, of which no project may hold more than six texts."""
    folder = tmp_path_factory.mktemp("locked")
    KeyFile(str(folder / "config" / "polymnia" / "keys.json")).add("first")
    return serving(*MANY, "--max-project-texts", "6", folder=folder)


def _stores(*texts: str, project: str) -> list[dict[str, Any]]:
    return [
        request(
            "tools/call",
            {
                "name": "memory_store",
                "arguments": {"operation": "store_content", "project_id": project, "content": one},
            },
        )
        for one in texts
    ]


def _told(answer: Any) -> dict[str, Any]:
    found: dict[str, Any] = answer.value.get("error") or json.loads(answer.value["result"]["content"][0]["text"])
    return found


@pytest.mark.promise("network.quotas.key")
def test_a_key_fills_a_project_up_to_its_limit_by_every_way_in(locked: Served, kind: str) -> None:
    key, text = locked.keys.add("small", memories=2)
    project = f"of {kind}"
    with locked.door(kind, "content", text) as door:
        first, second, third = (
            door.send(one) for one in _stores("The gate opens.", "The gate shuts.", "It rains.", project=project)
        )
    assert all(json.loads(one["result"]["content"][0]["text"])["success"] for one in (first, second))
    assert f"The project {project!r} may hold 2 memories, and would have 3" in json.dumps(third)
    assert f"polymnia keys set {key.id} --max-memories N" in json.dumps(third)
    with polymnia.connect(locked.store, project=project) as memory:
        assert sum(one.memories for one in memory.scopes()) == 2
    locked.keys.change(key.id, memories=3)  # which counts at once
    assert _told(locked.post(_stores("It rains.", project=project)[0], key=text))["success"]


@pytest.mark.promise("network.quotas.project")
def test_no_key_fills_a_project_beyond_the_limit_of_the_server(locked: Served) -> None:
    _, text = locked.keys.add("large")
    answers = [
        _told(locked.post(one, key=text)) for one in _stores("Ann sings.", "Ben runs.", "Cy reads.", project="p")
    ]
    assert all(one["success"] for one in answers)
    refused = json.dumps(_told(locked.post(_stores("Dora swims.", project="p")[0], key=text)))
    assert "may hold 6 texts (memories and observations), and would have 8" in refused
    assert "polymnia serve --max-project-texts N" in refused
    health = locked.post({}, "/api/health", key=text).value
    assert (health["limits"]["max_project_texts"], health["limits"]["max_project_memories"]) == (6, None)


@pytest.mark.promise("network.quotas.calls")
@pytest.mark.parametrize("flags", [(), ("--workers", "2")], ids=["alone", "workers"])
def test_of_the_calls_of_a_key_exactly_as_many_pass_as_it_may_make(
    serving: Callable[..., Served], tmp_path: Path, flags: tuple[str, ...]
) -> None:
    file = KeyFile(str(tmp_path / "config" / "polymnia" / "keys.json"))
    key, text = file.add("slow", calls=5)
    _, free = file.add("free")
    served = serving(*MANY, *flags, folder=tmp_path)
    sessions = [served.begin(key=text) for _ in range(2)]
    statuses = [
        served.post(READ, key=text, Mcp_Session_Id=sessions[at % 2]).status
        if at % 3
        else served.post(READ, key=text).status
        for at in range(8)
    ]
    assert statuses.count(200) == 5
    refused = served.post(READ, key=text)
    assert (refused.status, refused.headers["x-ratelimit-type"], refused.headers["x-ratelimit-limit"]) == (
        429,
        "key",
        "5",
    )
    assert "5 calls a minute for this key" in refused.value["error"]["message"]
    assert f"polymnia keys set {key.id} --max-calls 50" in refused.value["error"]["data"]["suggestions"][-1]
    assert served.post({}, "/api/health", key=text).status == 429
    assert served.post(READ, key=free).status == 200
    file.change(key.id, calls=100)
    assert served.post(READ, key=text).status == 200


@pytest.mark.promise("network.keys.expiry")
def test_a_key_opens_nothing_once_it_has_expired(locked: Served) -> None:
    key, text = locked.keys.add("guest", expires=time.time_ns() // 1000 + 3_600_000_000)
    assert locked.post(READ, key=text).status == 200
    locked.keys.change(key.id, expires=time.time_ns() // 1000)
    assert locked.post(READ, key=text).status == 401


@pytest.mark.promise("network.keys.managed")
def test_what_is_changed_of_a_key_counts_at_once(locked: Served) -> None:
    key, text = locked.keys.add("teller", user="ann")
    session = locked.begin(key=text)
    store = _stores("Ann was here.", project="authors")[0]
    assert _told(locked.post(store, key=text))["success"]
    with polymnia.connect(locked.store, project="authors") as memory:
        made = memory.changes(1)[0]
    assert (made.who.partition(" ")[0], made.account) == ("ann", f"key teller ({key.id})")
    locked.keys.change(key.id, write=False)
    assert "may read but not write" in json.dumps(_told(locked.post(store, key=text)))
    assert locked.post(READ, key=text, Mcp_Session_Id=session).status == 404  # it had other rights
    _, other = locked.keys.rotate(key.id)
    assert locked.post(READ, key=text).status == 401
    assert locked.post(READ, key=other).status == 200
    locked.keys.change(key.id, projects=("elsewhere",))
    assert "does not open the project" in json.dumps(_told(locked.post(store, key=other)))


@pytest.mark.promise("api.keys")
def test_the_api_lists_users_and_limits(locked: Served) -> None:
    _, manager = locked.keys.add("manager", manage=True)
    key, _ = locked.keys.add("listed", user="ben", calls=7, texts=9)
    (shown,) = [one for one in locked.post({}, "/api/keys", key=manager).value["keys"] if one["id"] == key.id]
    assert (shown["user"], shown["expires"]) == ("ben", None)
    assert shown["limits"] == {"calls": 7, "memories": None, "texts": 9}
