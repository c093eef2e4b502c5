"""Prompts, and the completion of names."""

from __future__ import annotations

from typing import Any

import pytest

from stdio_client import Place, Server, entity, envelope

NAMES = ["alice", "alan", "Albert", "bob", "서울", "서울역", "부산"]


@pytest.fixture(scope="module")
def shared(module_place: Place) -> Server:
    server = module_place.serve("strict")
    server.call("create_entities", entities=[entity(name, f"about {name}") for name in NAMES])
    return server


def complete(server: Server, value: str, ref: dict[str, Any] | None = None, name: str = "name") -> list[str]:
    ref = ref or {"type": "ref/resource", "uri": "memory://memory/{name}"}
    completion = server.request("completion/complete", {"ref": ref, "argument": {"name": name, "value": value}})
    values: list[str] = completion["completion"]["values"]
    return values


@pytest.mark.promise("protocol.prompts.list")
def test_three_prompts_are_offered_with_titles_and_described_arguments(shared: Server) -> None:
    prompts = shared.request("prompts/list")["prompts"]

    assert len(prompts) == 3
    assert len({prompt["name"] for prompt in prompts}) == 3
    for prompt in prompts:
        assert prompt["title"]
        assert prompt["description"]
        for argument in prompt.get("arguments", []):
            assert argument["name"]
            assert argument["description"]


@pytest.mark.promise("protocol.prompts.get")
def test_every_prompt_gives_messages_that_use_its_arguments(shared: Server) -> None:
    for prompt in _prompts(shared):
        arguments = {a["name"]: f"given {a['name']}" for a in prompt.get("arguments", [])}

        result = shared.request("prompts/get", {"name": prompt["name"], "arguments": arguments})

        assert result["messages"], prompt["name"]
        words = ""
        for message in result["messages"]:
            assert message["role"] in ("user", "assistant")
            assert message["content"]["type"] == "text"
            words += message["content"]["text"]
        for value in arguments.values():
            assert value in words, prompt["name"]


@pytest.mark.promise("protocol.prompts.get")
def test_a_prompt_can_be_had_in_the_stateless_era(shared: Server) -> None:
    for prompt in _prompts(shared):
        arguments = {a["name"]: "something" for a in prompt.get("arguments", [])}
        result = shared.modern("prompts/get", {"name": prompt["name"], "arguments": arguments})
        assert result["resultType"] == "complete"
        assert result["messages"]


@pytest.mark.promise("protocol.prompts.unknown")
def test_an_unknown_prompt_is_invalid_params_in_both_eras(shared: Server) -> None:
    for params in ({"name": "no such prompt"}, {"name": "no such prompt", "_meta": envelope()}):
        error = shared.refusal("prompts/get", params)
        assert error["code"] == -32602
        assert "no such prompt" in error["message"]
    assert shared.refusal("prompts/get", {})["code"] == -32602


@pytest.mark.promise("protocol.prompts.required_arguments")
def test_a_prompt_without_its_required_arguments_is_invalid_params(shared: Server) -> None:
    for prompt in _prompts(shared):
        required = [a["name"] for a in prompt.get("arguments", []) if a.get("required")]
        if required:
            error = shared.refusal("prompts/get", {"name": prompt["name"]})
            assert error["code"] == -32602
            assert required[0] in error["message"]


@pytest.mark.promise("protocol.completion.names")
def test_names_are_completed_from_their_beginning(shared: Server) -> None:
    assert set(complete(shared, "al")) >= {"alan", "alice"}
    assert not set(complete(shared, "al")) & {"bob", "서울", "부산"}
    assert complete(shared, "서울") == ["서울", "서울역"]
    assert complete(shared, "zzz") == []
    assert set(complete(shared, "")) == set(NAMES)


@pytest.mark.promise("protocol.completion.limit")
def test_at_most_100_values_are_given_and_the_answer_says_that_there_are_more(place: Place) -> None:
    server = place.serve("official")
    server.call("create_entities", entities=[entity(f"many {i:03}", "x") for i in range(150)])
    ref = {"type": "ref/resource", "uri": "memory://memory/{name}"}

    completion = server.request("completion/complete", {"ref": ref, "argument": {"name": "name", "value": "many"}})

    assert len(completion["completion"]["values"]) == 100
    assert completion["completion"]["hasMore"] is True
    assert completion["completion"].get("total", 150) == 150


@pytest.mark.promise("protocol.completion.unknown")
def test_completing_for_something_unknown_is_invalid_params(shared: Server) -> None:
    argument = {"name": "name", "value": "a"}
    for ref in (
        {"type": "ref/prompt", "name": "no such prompt"},
        {"type": "ref/resource", "uri": "memory://no/such/{template}"},
        {"type": "ref/nothing"},
        {},
    ):
        error = shared.refusal("completion/complete", {"ref": ref, "argument": argument})
        assert error["code"] == -32602, ref
    assert shared.refusal("completion/complete", {})["code"] == -32602


def _prompts(server: Server) -> list[dict[str, Any]]:
    """The prompts there are; a server without one would make every check of them an empty one."""
    prompts: list[dict[str, Any]] = server.request("prompts/list")["prompts"]
    assert prompts
    return prompts
