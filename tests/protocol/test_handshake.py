"""The handshake era: initialize, and what it negotiates."""

from __future__ import annotations

import pytest

from stdio_client import HANDSHAKES, LATEST_HANDSHAKE, MODERN, Place, Server, entity


@pytest.fixture(scope="module")
def shared(module_place: Place) -> Server:
    return module_place.start("--dialect", "strict")


@pytest.mark.promise("protocol.handshake.versions")
@pytest.mark.parametrize("version", HANDSHAKES)
def test_every_handshake_version_is_accepted_as_asked(place: Place, version: str) -> None:
    server = place.start("--dialect", "official")

    assert server.initialize(version)["protocolVersion"] == version

    assert len(server.tools()) == 9
    server.call("create_entities", entities=[entity("a", "x")])
    assert server.names() == ["a"]


@pytest.mark.promise("protocol.handshake.unknown_version")
@pytest.mark.parametrize("version", ["1999-01-01", "2030-01-01", "next", ""])
def test_an_unknown_version_is_answered_with_the_latest_handshake_version(shared: Server, version: str) -> None:
    assert shared.initialize(version)["protocolVersion"] == LATEST_HANDSHAKE


@pytest.mark.promise("protocol.handshake.unknown_version")
def test_a_handshake_never_negotiates_the_stateless_version(shared: Server) -> None:
    assert shared.initialize(MODERN)["protocolVersion"] == LATEST_HANDSHAKE


@pytest.mark.promise("protocol.handshake.capabilities")
def test_initialize_tells_who_the_server_is_and_what_it_can(shared: Server) -> None:
    result = shared.initialize()

    assert result["serverInfo"]["name"]
    assert result["serverInfo"]["version"]
    capabilities = result["capabilities"]
    assert "tools" in capabilities
    assert "prompts" in capabilities
    assert capabilities["resources"]["subscribe"] is True
    assert "completions" in capabilities
    assert "logging" in capabilities


@pytest.mark.promise("protocol.handshake.capabilities")
@pytest.mark.parametrize("dialect", ["simple", "strict", "bilingual", "official"])
def test_every_dialect_introduces_itself(place: Place, dialect: str) -> None:
    result = place.start("--dialect", dialect).initialize()

    assert result["capabilities"]["resources"]["subscribe"] is True
    assert result["serverInfo"]["name"]


@pytest.mark.promise("protocol.handshake.bad_params")
def test_a_version_that_is_no_string_is_invalid_params_and_a_missing_one_is_offered(shared: Server) -> None:
    assert shared.refusal("initialize", {"protocolVersion": 7, "capabilities": {}})["code"] == -32602
    assert shared.request("initialize", {"capabilities": {}})["protocolVersion"] == LATEST_HANDSHAKE


@pytest.mark.promise("protocol.ping")
def test_ping_is_answered_with_an_empty_result(shared: Server) -> None:
    assert shared.request("ping") == {}
    assert shared.request("ping", {}) == {}


@pytest.mark.promise("protocol.log_level")
@pytest.mark.parametrize("level", ["debug", "info", "notice", "warning", "error", "critical", "alert", "emergency"])
def test_every_log_level_can_be_set(shared: Server, level: str) -> None:
    assert shared.request("logging/setLevel", {"level": level}) == {}


@pytest.mark.promise("protocol.log_level")
def test_an_unknown_log_level_is_invalid_params(shared: Server) -> None:
    assert shared.refusal("logging/setLevel", {"level": "loud"})["code"] == -32602
    assert shared.refusal("logging/setLevel", {})["code"] == -32602


@pytest.mark.promise("protocol.handshake.results_are_plain")
def test_results_of_the_handshake_era_carry_nothing_of_the_stateless_one(shared: Server) -> None:
    shared.initialize()

    for method in ("tools/list", "prompts/list", "resources/list", "resources/templates/list"):
        result = shared.request(method)
        assert not {"resultType", "ttlMs", "cacheScope"} & set(result), method


@pytest.mark.promise("protocol.eras")
def test_both_eras_are_served_on_one_connection_in_any_order(place: Place) -> None:
    server = place.start("--dialect", "official")

    assert server.modern("server/discover")["resultType"] == "complete"
    server.initialize()
    assert "resultType" not in server.request("tools/list")
    assert server.modern("tools/list")["resultType"] == "complete"
    server.call("create_entities", entities=[entity("a", "x")])
    modern = server.modern("tools/call", {"name": "read_graph", "arguments": {}})
    assert modern["structuredContent"]["entities"] == [entity("a", "x")]
    assert server.initialize("2024-11-05")["protocolVersion"] == "2024-11-05"
