"""The stateless version: every request carries its envelope, every result says that it is complete."""

from __future__ import annotations

from typing import Any

import pytest

from stdio_client import HANDSHAKES, MODERN, Place, Server, entity, envelope

CACHEABLE: list[tuple[str, dict[str, Any]]] = [
    ("server/discover", {}),
    ("tools/list", {}),
    ("prompts/list", {}),
    ("resources/list", {}),
    ("resources/templates/list", {}),
    ("resources/read", {"uri": "memory://knowledge-graph"}),
]


@pytest.fixture(scope="module")
def shared(module_place: Place) -> Server:
    """A server nobody shook hands with."""
    server = module_place.start("--dialect", "strict")
    server.modern("tools/call", {"name": "create_entities", "arguments": {"entities": [entity("a", "x")]}})
    return server


@pytest.mark.promise("protocol.stateless.discover")
def test_discover_lists_the_versions_and_capabilities_without_a_handshake(shared: Server) -> None:
    result = shared.modern("server/discover")

    assert MODERN in result["supportedVersions"]
    assert "tools" in result["capabilities"]
    assert "resources" in result["capabilities"]
    assert "prompts" in result["capabilities"]
    assert result["resultType"] == "complete"


@pytest.mark.promise("protocol.stateless.call")
def test_tools_can_be_listed_and_called_without_a_handshake(shared: Server) -> None:
    listed = shared.modern("tools/list")
    called = shared.modern("tools/call", {"name": "open_nodes", "arguments": {"names": ["a"]}})

    assert len(listed["tools"]) == 9
    assert listed["resultType"] == "complete"
    assert called["resultType"] == "complete"
    assert called["structuredContent"]["nodes"][0]["name"] == "a"


@pytest.mark.promise("protocol.stateless.call")
def test_a_failed_call_is_complete_too(shared: Server) -> None:
    called = shared.modern("tools/call", {"name": "open_nodes", "arguments": {}})

    assert called["isError"] is True
    assert called["resultType"] == "complete"


@pytest.mark.promise("protocol.stateless.cacheable")
@pytest.mark.parametrize(("method", "params"), CACHEABLE, ids=[method for method, _ in CACHEABLE])
def test_what_may_be_cached_says_for_how_long_and_for_whom(shared: Server, method: str, params: dict[str, Any]) -> None:
    result = shared.modern(method, params)

    assert result["resultType"] == "complete"
    assert isinstance(result["ttlMs"], int)
    assert result["ttlMs"] >= 0
    assert result["cacheScope"] in ("public", "private")


@pytest.mark.promise("protocol.stateless.cacheable")
def test_memories_are_never_cached_for_others(shared: Server) -> None:
    assert shared.modern("resources/read", {"uri": "memory://knowledge-graph"})["cacheScope"] == "private"


@pytest.mark.promise("protocol.stateless.envelope")
def test_an_envelope_without_client_capabilities_is_invalid_params(shared: Server) -> None:
    incomplete = envelope()
    del incomplete["io.modelcontextprotocol/clientCapabilities"]

    for method in ("server/discover", "tools/list"):
        error = shared.refusal(method, {"_meta": incomplete})
        assert error["code"] == -32602
        assert "clientCapabilities" in error["message"]


@pytest.mark.promise("protocol.stateless.envelope")
def test_client_info_may_be_left_out(shared: Server) -> None:
    anonymous = envelope()
    del anonymous["io.modelcontextprotocol/clientInfo"]

    assert shared.request("tools/list", {"_meta": anonymous})["resultType"] == "complete"


@pytest.mark.promise("protocol.stateless.envelope")
def test_discover_without_an_envelope_is_refused(shared: Server) -> None:
    # Without an envelope the request belongs to the handshake era, which does not know the method.
    assert shared.refusal("server/discover")["code"] in (-32601, -32602)
    assert shared.refusal("server/discover", {"_meta": {}})["code"] in (-32601, -32602)


@pytest.mark.promise("protocol.stateless.envelope")
def test_a_version_that_is_no_string_is_invalid_params(shared: Server) -> None:
    for version in (7, None, ["2026-07-28"]):
        meta = envelope() | {"io.modelcontextprotocol/protocolVersion": version}
        assert shared.refusal("tools/list", {"_meta": meta})["code"] == -32602


@pytest.mark.promise("protocol.stateless.unsupported_version")
@pytest.mark.parametrize("method", ["server/discover", "tools/list", "tools/call"])
def test_an_unsupported_version_is_refused_with_the_supported_ones(shared: Server, method: str) -> None:
    params = {"name": "read_graph", "arguments": {}} if method == "tools/call" else {}

    error = shared.refusal(method, {**params, "_meta": envelope("2031-01-01")})

    assert error["code"] == -32022
    assert error["data"]["requested"] == "2031-01-01"
    assert MODERN in error["data"]["supported"]


@pytest.mark.promise("protocol.stateless.removed_methods")
@pytest.mark.parametrize("method", ["initialize", "ping", "logging/setLevel", "resources/subscribe"])
def test_methods_the_stateless_version_removed_are_not_found_there(shared: Server, method: str) -> None:
    assert shared.refusal(method, {"_meta": envelope(), "level": "info"})["code"] == -32601


@pytest.mark.promise("protocol.stateless.server_info")
def test_results_name_the_server_in_their_meta(shared: Server) -> None:
    info = shared.modern("tools/list")["_meta"]["io.modelcontextprotocol/serverInfo"]

    assert info["name"]
    assert info["version"]


@pytest.mark.promise("protocol.stateless.unknown_resource")
def test_an_unknown_resource_is_invalid_params(shared: Server) -> None:
    for uri in ("memory://memory/nobody", "memory://elsewhere", "file:///etc/passwd"):
        error = shared.refusal("resources/read", {"uri": uri, "_meta": envelope()})
        assert error["code"] == -32602, uri


@pytest.mark.promise("protocol.stateless.handshake_versions")
def test_a_handshake_version_in_an_envelope_is_unsupported_or_served_as_its_era(shared: Server) -> None:
    for version in HANDSHAKES:
        answer = shared.answer(shared.begin("tools/list", {"_meta": envelope(version)}))
        if "error" in answer:
            assert answer["error"]["code"] == -32022
            assert MODERN in answer["error"]["data"]["supported"]
        else:
            assert "resultType" not in answer["result"]
