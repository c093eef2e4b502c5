"""Makes a store with the release that is installed: `python make.py 0.1.0.db.xz`, for tests of later releases.

It needs an environment of that release and nothing else: `pip install` of its commit, with the models it depends on.
0.1.0 is 3814998 (format 4 of the store); 6dd8a1c is the last commit that had the models of others (format 6). The
memories go in through a server, as those of a user would.
"""

from __future__ import annotations

import json
import lzma
import os
import subprocess
import sys
import tempfile
import time
from typing import Any

PROJECT = "lantern"

ENTITIES = {
    "Mira Vance": ["Plays the violin in an orchestra", "Is allergic to peanuts"],
    "Otto": ["Repairs bicycles in a workshop by the river", "Lends out his cargo trailer"],
    "billing-service": ["Keeps its ledger in PostgreSQL 15", "Restarts every Sunday at four"],
    "김민서": ["부산에서 작은 빵집을 운영한다", "매일 새벽 네 시에 일어난다"],
    "서버실": ["열쇠는 경비실에 맡겨 둔다"],
}
RELATIONS = [("Mira Vance", "rides with", "Otto"), ("김민서", "bakes for", "Mira Vance")]
FORGOTTEN = ("Old printer", "Jams whenever the paper is recycled")

NOTES = {
    "home/garden": [
        "The tomatoes need water every second evening in July.",
        "Snails leave the lavender alone but eat every lettuce.",
    ],
    "work/meetings": [
        "The quarterly review was moved to the last Thursday of the month.",
        "주간 회의는 매주 화요일 오전 열 시에 삼 층에서 한다.",
    ],
    "health": [
        "Blood pressure was 128 over 82 on the third of May.",
        "아버지는 혈압약을 아침 식사 후에 드신다.",
    ],
}
MOVED = ("health", "health/family", "아버지는 혈압약을 아침 식사 후에 드신다.")

DOCUMENTS = {
    "deploy": (
        "# Deployment\n\nImages are built by the nightly pipeline and rolled out to one region at a time. "
        "A release that fails its probes is taken back within ten minutes."
    ),
    "leave": "휴가 신청은 적어도 이 주 전에 팀장에게 제출해야 한다. 남은 휴가는 다음 해 삼월까지 쓸 수 있다.",
}
REVISED = "Every release waits for the signature of the engineer on call."
DECISIONS = [
    {
        "title": "Sessions live in Redis",
        "context": "Logins were lost whenever a web server restarted.",
        "decision": "We keep login sessions in Redis instead of the memory of each web server.",
        "rationale": "A restart must not throw anybody out.",
        "alternatives": ["Sticky sessions", "Signed cookies"],
    },
    {
        "title": "로그는 한 달만 보관한다",
        "context": "디스크가 석 달마다 가득 찼다.",
        "decision": "접속 기록은 삼십 일이 지나면 지운다.",
        "rationale": "오래된 기록을 찾는 사람이 거의 없다.",
    },
]


class Client:
    """A server of the installed release, spoken to over its pipes."""

    def __init__(self, store: str) -> None:
        self._process = subprocess.Popen(
            [sys.executable, "-m", "polymnia", "stdio", "--store", store, "--dialect", "all"],
            stdin=subprocess.PIPE, stdout=subprocess.PIPE,
        )  # fmt: skip
        self._ids = 0
        hello = {"protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": {"name": "make", "version": "1"}}
        self.request("initialize", hello)

    def request(self, method: str, params: dict[str, Any]) -> Any:
        """Send a request, and wait for its result."""
        assert self._process.stdin is not None and self._process.stdout is not None
        self._ids += 1
        message = {"jsonrpc": "2.0", "id": self._ids, "method": method, "params": params}
        self._process.stdin.write(json.dumps(message).encode() + b"\n")
        self._process.stdin.flush()
        for line in self._process.stdout:
            answer = json.loads(line)
            if answer.get("id") == self._ids:
                return answer["result"]
        raise EOFError(method)

    def call(self, tool: str, **arguments: Any) -> Any:
        """Call a tool that has to succeed; gives its structured answer."""
        result = self.request("tools/call", {"name": tool, "arguments": arguments})
        assert not result.get("isError"), (tool, arguments, result)
        return result.get("structuredContent") or json.loads(result["content"][0]["text"])

    def close(self) -> None:
        """End the server as a client does that leaves."""
        assert self._process.stdin is not None
        self._process.stdin.close()
        assert self._process.wait(60) == 0


def fill(client: Client) -> None:
    """Store everything, and change some of it."""
    name, text = FORGOTTEN
    entities = [{"name": n, "entityType": "subject", "observations": t[:1]} for n, t in ENTITIES.items()]
    client.call("create_entities", entities=[*entities, {"name": name, "entityType": "thing", "observations": [text]}])
    later = [{"entityName": name, "contents": texts[1:]} for name, texts in ENTITIES.items() if texts[1:]]
    client.call("add_observations", observations=later)
    client.call("create_relations", relations=[{"from": a, "relationType": t, "to": b} for a, t, b in RELATIONS])
    client.call("delete_entities", entityNames=[name])

    ids = {}
    for scope, texts in NOTES.items():
        for text in texts:
            ids[text] = client.call("memory_store", content=text, scope=scope, tags=["noted"])["memory_id"]
    _, scope, text = MOVED
    client.call("memory_move", memory_ids=[ids[text]], target_scope=scope)

    items = {}
    for key, text in DOCUMENTS.items():
        stored = client.call("memory_store", operation="store_content", project_id=PROJECT, content=text, tags=[key])
        items[key] = stored["content_id"]
    client.call(
        "memory_store", operation="update_content", project_id=PROJECT, content_id=items["deploy"],
        updates={"content": f"{DOCUMENTS['deploy']} {REVISED}"},
    )  # fmt: skip
    for decision in DECISIONS:
        decided = client.call("memory_store", operation="store_decision", project_id=PROJECT, **decision)
        items[decision["title"]] = decided.get("decision_id") or decided["content_id"]
    client.call(
        "memory_store", operation="create_relationship", project_id=PROJECT, type="references",
        source_id=items["deploy"], target_id=items[DECISIONS[0]["title"]],
    )  # fmt: skip


def embedded(store: str, project: str) -> bool:
    """Whether the release says that every text of a project has its vector."""
    command = [sys.executable, "-m", "polymnia", "health", "--json", "--store", store, "--project", project]
    models = json.loads(subprocess.run(command, capture_output=True, check=True).stdout)["models"]
    return bool(models) and all(one["vectors"] and not one["pending"] for one in models.values())


def main(target: str) -> None:
    """Make the store, wait for its vectors, and write it compressed."""
    with tempfile.TemporaryDirectory() as folder:
        store = os.path.join(folder, "memory.db")
        client = Client(store)
        fill(client)
        client.call("memory_search", query="music")
        client.call("memory_retrieve", operation="search_content", project_id=PROJECT, query="logins")
        end = time.monotonic() + 120
        while not (embedded(store, "default") and embedded(store, PROJECT)):
            assert time.monotonic() < end, "no vectors"
            time.sleep(0.5)
        client.close()
        with open(store, "rb") as made, lzma.open(target, "wb", preset=9) as out:
            out.write(made.read())


if __name__ == "__main__":
    main(*sys.argv[1:])
