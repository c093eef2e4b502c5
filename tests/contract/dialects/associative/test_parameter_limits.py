"""Defaults, limits, choices and what is required: published, and told when a call goes beyond them."""

from __future__ import annotations

from typing import Any

import pytest

from form import each
from stdio_client import Server

from .speaking import refused

BEYOND = [
    ("memory_search", {"query": "x"}, "limit", 100),
    ("memory_discover_associations", {"memory_id": "x"}, "limit", 50),
    ("memory_list_all", {}, "per_page", 100),
]


@pytest.mark.promise("associative.parameters.limits")
@pytest.mark.parametrize(("tool", "arguments", "name", "most"), BEYOND, ids=[f"{t}.{n}" for t, _, n, _ in BEYOND])
def test_beyond_a_limit_the_answer_names_the_field_and_the_limit(
    shared: Server, tool: str, arguments: dict[str, Any], name: str, most: int
) -> None:
    schema = shared.tools()[tool]["inputSchema"]["properties"][name]
    assert (schema["minimum"], schema["maximum"]) == (1, most)
    for value in (0, -1, most + 1, 10**30):
        refusal = refused(shared, tool, "VALIDATION_ERROR", **arguments, **{name: value})
        assert name in refusal["message"]
        assert f"1 to {most}" in refusal["message"]
    for value in ("five", 1.5, True, [], {}):
        assert name in refused(shared, tool, "VALIDATION_ERROR", **arguments, **{name: value})["message"]


@pytest.mark.promise("associative.parameters.limits")
@pytest.mark.parametrize("tool", ["memory_store", "memory_search", "memory_discover_associations"])
def test_a_threshold_is_from_0_to_1(shared: Server, tool: str) -> None:
    arguments = {"content": "x", "query": "x", "memory_id": "x"}
    own = {
        name: value for name, value in arguments.items() if name in shared.tools()[tool]["inputSchema"]["properties"]
    }
    for value in (-0.1, 1.1, 10**30, "half"):
        refusal = refused(shared, tool, "VALIDATION_ERROR", **own, similarity_threshold=value)
        assert "similarity_threshold" in refusal["message"]


@pytest.mark.promise("associative.parameters.limits")
def test_a_page_is_1_or_more_and_one_beyond_the_last_is_empty(shared: Server) -> None:
    for page in (0, -1, "0", "first"):
        assert "page" in refused(shared, "memory_list_all", "VALIDATION_ERROR", page=page)["message"]
    for page in (10**6, 10**18):
        assert shared.call("memory_list_all", page=page).value["memories"] == []


@pytest.mark.promise("associative.parameters.limits")
def test_an_age_is_no_negative_number(shared: Server) -> None:
    for age in (-1, "-7", 10**9):
        refused(shared, "session_manage", "VALIDATION_ERROR", action="cleanup", max_age_days=age)


@pytest.mark.promise("associative.parameters.choices")
@pytest.mark.parametrize(
    ("tool", "name", "choices", "arguments"),
    [
        ("memory_export", "export_format", ("json", "yaml"), {}),
        (
            "memory_import",
            "merge_strategy",
            ("skip_duplicates", "overwrite", "create_versions", "merge_metadata"),
            {"import_data": "{}"},
        ),
        ("session_manage", "action", ("create", "list", "cleanup"), {}),
    ],
)
def test_another_choice_is_refused_with_the_choices_there_are(
    shared: Server, tool: str, name: str, choices: tuple[str, ...], arguments: dict[str, Any]
) -> None:
    assert set(shared.tools()[tool]["inputSchema"]["properties"][name]["enum"]) == set(choices)
    message = refused(shared, tool, "VALIDATION_ERROR", **arguments, **{name: "another"})["message"]
    assert name in message
    assert all(choice in message for choice in choices)


@pytest.mark.promise("associative.parameters.required", "associative.errors.validation")
@each(
    ("tool", "name", "arguments"),
    [
        ("memory_store", "content", {}),
        ("memory_search", "query", {}),
        ("memory_get", "memory_id", {}),
        ("memory_update", "memory_id", {"content": "x"}),
        ("memory_delete", "memory_id", {}),
        ("memory_discover_associations", "memory_id", {}),
        ("scope_suggest", "content", {}),
        ("memory_move", "memory_ids", {"target_scope": "x"}),
        ("memory_move", "target_scope", {"memory_ids": ["x"]}),
        ("session_manage", "action", {}),
    ],
)
def test_what_is_required_and_missing_is_named_in_the_words_of_the_seed(
    shared: Server, tool: str, name: str, arguments: dict[str, Any]
) -> None:
    for given in (arguments, {"request": arguments}):
        value = refused(shared, tool, "VALIDATION_ERROR", **given)
        assert value["message"] == f"Required field '{name}' is missing"
        assert value["data"] == {}


@pytest.mark.promise("associative.parameters.defaults")
def test_the_published_defaults_are_those_of_the_seed(shared: Server) -> None:
    published = {
        f"{tool}.{name}": schema["default"]
        for tool, listed in shared.tools().items()
        for name, schema in listed["inputSchema"]["properties"].items()
        if "default" in schema
    }
    assert published == {
        "memory_store.scope": "user/default",
        "memory_store.allow_duplicates": False,
        "memory_store.auto_associate": True,
        "memory_store.similarity_threshold": 0.95,
        "memory_search.limit": 10,
        "memory_search.similarity_threshold": 0.1,
        "memory_search.include_associations": True,
        "memory_search.include_child_scopes": False,
        "memory_get.include_associations": True,
        "memory_update.preserve_associations": True,
        "memory_discover_associations.limit": 10,
        "memory_discover_associations.similarity_threshold": 0.1,
        "scope_list.include_memory_counts": True,
        "memory_list_all.page": 1,
        "memory_list_all.per_page": 10,
        "memory_export.export_format": "json",
        "memory_export.compression": False,
        "memory_export.include_associations": True,
        "memory_import.merge_strategy": "skip_duplicates",
        "memory_import.validate_data": True,
        "session_manage.max_age_days": 7,
    }


@pytest.mark.promise("associative.parameters.defaults")
def test_every_parameter_is_described(shared: Server) -> None:
    for tool, listed in shared.tools().items():
        for name, schema in listed["inputSchema"]["properties"].items():
            assert schema.get("description"), f"{tool}.{name}"
        assert len(listed["description"]) > 20


@pytest.mark.promise("associative.parameters.limits")
def test_more_ids_than_a_batch_may_have_are_refused(shared: Server) -> None:
    value = refused(
        shared, "memory_move", "VALIDATION_ERROR", memory_ids=[f"id {n}" for n in range(10_001)], target_scope="x"
    )
    assert "memory_ids" in value["message"]
    assert "10,000" in value["message"]


@pytest.mark.promise("associative.parameters.limits")
def test_a_whole_number_may_be_written_with_a_point(shared: Server) -> None:
    for tool, arguments in (
        ("memory_search", {"query": "x", "limit": 5.0, "similarity_threshold": 1}),
        ("memory_list_all", {"page": 1.0, "per_page": 5.0}),
        ("session_manage", {"action": "cleanup", "max_age_days": 0.5}),
    ):
        reply = shared.call(tool, arguments)
        assert not reply.failed, reply.text
