"""The official MCP client for Python speaks to us in both eras."""

from __future__ import annotations

import json
import sys
from collections.abc import Awaitable, Callable
from pathlib import Path

import anyio
import pytest
from mcp.client import Client
from mcp.client.stdio import StdioServerParameters, stdio_client
from mcp.client.subscriptions import ResourceUpdated
from mcp.shared.exceptions import MCPError
from mcp_types import ResourceTemplateReference

from stdio_client import DEADLINE, LATEST_HANDSHAKE, MODERN, Place, entity, relation

GRAPH = "memory://knowledge-graph"
A, B = entity("a", "one"), entity("b", "둘")
AB = relation("a", "knows", "b")

ERAS = pytest.mark.parametrize(("mode", "version"), [("legacy", LATEST_HANDSHAKE), ("auto", MODERN), (MODERN, MODERN)])
DIALECTS = pytest.mark.parametrize("dialect", ["official", "strict"])


def converse(place: Place, dialect: str, mode: str, talk: Callable[[Client], Awaitable[None]]) -> None:
    """Run a conversation between the official client and one server process."""
    parameters = StdioServerParameters(
        command=sys.executable,
        args=["-m", "polymnia", "stdio", "--dialect", dialect],
        env=place.environment,
        cwd=place.folder,
    )

    async def main(errors: Path) -> None:
        with errors.open("w") as log, anyio.fail_after(DEADLINE):
            async with Client(stdio_client(parameters, errlog=log), mode=mode) as client:
                await talk(client)

    errors = place.folder / "client-stderr.txt"
    anyio.run(main, errors)
    assert "Traceback" not in errors.read_text()


@pytest.mark.promise("protocol.official_client")
@ERAS
@DIALECTS
def test_the_client_connects_lists_and_calls(place: Place, dialect: str, mode: str, version: str) -> None:
    async def talk(client: Client) -> None:
        assert client.protocol_version == version
        tools = (await client.list_tools()).tools
        assert len(tools) == 9
        made = await client.call_tool("create_entities", {"entities": [A, B]})
        assert not made.is_error
        related = await client.call_tool("create_relations", {"relations": [AB]})
        assert not related.is_error
        read = await client.call_tool("read_graph", {})
        assert read.structured_content == {"entities": [A, B], "relations": [AB]}
        assert json.loads(read.content[0].text) == read.structured_content
        found = await client.call_tool("search_nodes", {"query": "둘"})
        assert "b" in found.content[0].text
        failed = await client.call_tool("create_entities", {"entities": "none"})
        assert failed.is_error

    converse(place, dialect, mode, talk)


@pytest.mark.long
@pytest.mark.promise("protocol.official_client")
@ERAS
@DIALECTS
def test_the_client_reads_resources_prompts_and_completions(
    place: Place, dialect: str, mode: str, version: str
) -> None:
    async def talk(client: Client) -> None:
        await client.call_tool("create_entities", {"entities": [A, B]})
        assert GRAPH in [str(resource.uri) for resource in (await client.list_resources()).resources]
        templates = (await client.list_resource_templates()).resource_templates
        assert templates[0].uri_template == "memory://memory/{name}"
        graph = await client.read_resource(GRAPH)
        assert json.loads(graph.contents[0].text)["entities"] == [A, B]
        one = await client.read_resource("memory://memory/b")
        assert json.loads(one.contents[0].text)["observations"] == ["둘"]
        with pytest.raises(MCPError):
            await client.read_resource("memory://memory/nobody")
        prompts = (await client.list_prompts()).prompts
        assert len(prompts) == 3
        for prompt in prompts:
            arguments = {argument.name: "tea" for argument in prompt.arguments or []}
            assert (await client.get_prompt(prompt.name, arguments)).messages
        reference = ResourceTemplateReference(type="ref/resource", uri="memory://memory/{name}")
        completed = await client.complete(reference, {"name": "name", "value": "a"})
        assert completed.completion.values == ["a"]

    converse(place, dialect, mode, talk)


@pytest.mark.long
@pytest.mark.promise("protocol.official_client")
@ERAS
def test_the_client_hears_of_progress(place: Place, mode: str, version: str) -> None:
    heard: list[float] = []

    async def hear(progress: float, total: float | None, message: str | None) -> None:
        heard.append(progress)

    async def talk(client: Client) -> None:
        many = [entity(f"n{i}", f"observation {i}") for i in range(5000)]
        made = await client.call_tool("create_entities", {"entities": many}, progress_callback=hear)
        assert not made.is_error

    converse(place, "official", mode, talk)
    assert heard
    assert heard == sorted(heard)


@pytest.mark.promise("protocol.official_client")
def test_the_client_listens_to_changes_in_the_stateless_era(place: Place) -> None:
    async def talk(client: Client) -> None:
        async with client.listen(resource_subscriptions=[GRAPH]) as news:
            assert news.honored.resource_subscriptions == [GRAPH]
            await client.call_tool("create_entities", {"entities": [A]})
            async for event in news:
                assert event == ResourceUpdated(uri=GRAPH)
                break

    converse(place, "strict", "auto", talk)


@pytest.mark.promise("protocol.official_client")
def test_the_client_subscribes_to_changes_in_the_handshake_era(place: Place) -> None:
    heard = anyio.Event

    async def main() -> None:
        updated = heard()

        async def handle(message: object) -> None:
            if getattr(message, "method", None) == "notifications/resources/updated":
                updated.set()

        parameters = StdioServerParameters(
            command=sys.executable,
            args=["-m", "polymnia", "stdio", "--dialect", "official"],
            env=place.environment,
        )
        with anyio.fail_after(DEADLINE):
            async with Client(parameters, mode="legacy", message_handler=handle) as client:
                with pytest.warns(Warning, match="subscribe"):
                    await client.subscribe_resource(GRAPH)
                await client.call_tool("create_entities", {"entities": [A]})
                await updated.wait()

    anyio.run(main)
