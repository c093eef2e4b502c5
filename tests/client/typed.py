"""What the types of the Python client promise. mypy checks this file (`make check`), and nothing runs it.

Each line that is wrong has an ignore of its own error; mypy complains about an ignore that is not needed.
"""

from __future__ import annotations

from polymnia.client import AsyncMCPMemoryClient, MCPMemoryClient
from polymnia.client.types import Entity, SearchOptions

__all__ = ["answers", "coroutines", "parameters", "tools"]


def answers(client: MCPMemoryClient) -> tuple[str, str, float, list[str], str | None]:
    """Every field of an answer has a type, and there are no others."""
    stored = client.store_content("project", "text", tags=("label",))
    stored["content_idd"]  # type: ignore[typeddict-item]
    found = client.search_content("project", "query", options={"limit": 5})
    found["results"][0]["relevanc"]  # type: ignore[typeddict-item]
    result = found["results"][0]
    graph = client.read_graph()
    client.create_entities([])["nope"]  # type: ignore[typeddict-item]
    summary = client.get_content_history("project", stored["content_id"])["versions"][0]["summary"]
    return (
        stored["content_id"],
        result["content"]["title"],
        result["relevance"],
        graph["entities"][0]["observations"],
        summary,
    )


def parameters(client: MCPMemoryClient) -> None:
    """Parameters, and what is inside them, are checked by their names and their values."""
    options: SearchOptions = {"limit": 5, "sort_by": "date"}
    entity: Entity = {"name": "Ann", "entityType": "person", "observations": []}
    client.search_content("project", "query", query_type="hybrid", options=options)
    client.create_entities([entity])
    client.create_relations([{"from": "Ann", "to": "Bob", "relationType": "knows"}])
    client.search_content("project", "query", options={"limits": 5})  # type: ignore[arg-type]
    client.search_content("project", "query", query_type="telepathic")  # type: ignore[arg-type]
    client.create_entities([{"entityTyp": "person"}])  # type: ignore[typeddict-item]
    client.store_content("project")  # type: ignore[call-arg]


def tools(client: MCPMemoryClient) -> tuple[str, str]:
    """The method of a tool takes and answers what the operation that it names does."""
    stored = client.memory_store(operation="store_content", project_id="project", content="text")
    client.memory_store(operation="store_contnt", project_id="project", content="text")  # type: ignore[call-overload]
    client.memory_store(operation="store_content", project_id="project", contnt="text")  # type: ignore[call-overload]
    return stored["content_id"], client.memory_store(content="text")["memory_id"]


async def coroutines(client: AsyncMCPMemoryClient) -> int:
    """The same holds with asyncio."""
    (await client.check_system_health())["helth"]  # type: ignore[misc]
    await client.search_content("project", "query", options={"limits": 5})  # type: ignore[arg-type]
    await client.search_content("project")  # type: ignore[call-arg]
    stored = await client.store_content("project", "text", timeout=5)
    return (await client.get_content("project", stored["content_id"]))["content"]["version"] + (
        await client.memory_retrieve(operation="search_content", project_id="project", query="query")
    )["total"]
