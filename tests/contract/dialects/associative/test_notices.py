"""What the associative tools point out: texts that became equal, unknown scopes, files that were replaced."""

from __future__ import annotations

import pytest

from stdio_client import Place, Server

from .speaking import archive, fault, got, imported, stored


@pytest.mark.promise("associative.duplicates.made")
def test_an_update_that_makes_two_equal_texts_names_the_other(shared: Server) -> None:
    noon = stored(shared, "The kiln is fired at noon", scope="equal/kiln")
    night = stored(shared, "The kiln is fired at night", scope="equal/kiln")
    other = stored(shared, "The kiln is fired at noon", scope="equal/other")
    value = shared.call("memory_update", memory_id=night, content="The kiln is fired at noon").value
    assert [(one["memory_id"], one["similarity_score"]) for one in value["similar_memories"]] == [(noon, 1.0)]
    assert "exactly the same" in value["notes"][0]
    assert "similar_memories" not in shared.call("memory_update", memory_id=night, tags=["x"]).value
    assert "similar_memories" not in shared.call("memory_update", memory_id=noon, content="Something else").value
    value = shared.call("memory_update", memory_id=other, scope="equal/kiln").value
    assert [one["memory_id"] for one in value["similar_memories"]] == [night]


@pytest.mark.promise("associative.duplicates.made")
def test_a_move_that_makes_two_equal_texts_names_the_other(shared: Server) -> None:
    here = stored(shared, "Clay is wedged twice", scope="moving/a")
    there = stored(shared, "Clay is wedged twice", scope="moving/b")
    alone = stored(shared, "Glaze is mixed by weight", scope="moving/b")
    value = shared.call("memory_move", memory_ids=[there, alone], target_scope="moving/a").value
    assert value["moved_count"] == 2
    assert value["duplicates"] == [{"memory_id": there, "duplicate_of": here}]
    again = stored(shared, "Clay is wedged twice", scope="moving/c/d")
    value = shared.call("memory_move", source_scope="moving/c/d", target_scope="moving/a").value
    assert value["duplicates"] == [{"memory_id": again, "duplicate_of": here}]
    assert "duplicates" not in shared.call("memory_move", source_scope="moving/a", target_scope="moving/e").value


@pytest.mark.promise("associative.import.prefix")
@pytest.mark.parametrize("strategy", ["create_versions", "overwrite", "merge_metadata"])
def test_a_prefix_does_not_move_a_memory_that_is_here(shared: Server, strategy: str) -> None:
    scope = f"prefixed/{strategy}"
    id = stored(shared, f"Old text of {strategy}", scope=scope)
    data = archive(shared, scope=scope).replace("Old text", "New text")
    value = imported(shared, import_data=data, merge_strategy=strategy, target_scope_prefix="elsewhere")
    assert (value["overwritten_count"], value["imported_scopes"]) == (1, [scope])
    now = got(shared, id)
    assert now["scope"] == scope
    assert now["content"].startswith("Old" if strategy == "merge_metadata" else "New")


@pytest.mark.promise("associative.scopes.unknown")
def test_a_scope_that_is_not_there_is_told_with_the_nearest(shared: Server) -> None:
    stored(shared, "Cones bend at their temperature", scope="pottery/firing")
    for tool, arguments in (
        ("memory_search", {"query": "cones", "scope": "potery/firing"}),
        ("scope_list", {"parent_scope": "potery/firing"}),
        ("memory_export", {"scope": "potery/firing"}),
    ):
        value = shared.call(tool, arguments).value
        assert value["notes"] == ["There is no scope 'potery/firing'; did you mean 'pottery/firing'?"], tool


@pytest.mark.promise("associative.archives.replaces")
def test_an_export_over_a_file_says_that_it_replaced_it(shared: Server) -> None:
    first = shared.call("memory_export", file_path="replaced.json").value
    assert "replaced" not in first
    second = shared.call("memory_export", file_path="replaced.json").value
    assert second["replaced"] is True
    assert "replaced it" in second["notes"][0]


@pytest.mark.promise("associative.errors.validation")
def test_a_value_that_does_not_fit_is_told_in_words(shared: Server) -> None:
    for tool, arguments, message in (
        ("memory_search", {"query": "x", "limit": "three"}, "`limit` must be a number, got the string 'three'"),
        ("memory_search", {"query": "x", "limit": 2.5}, "`limit` must be a whole number, got 2.5"),
        ("memory_list_all", {"page": 0}, "`page` must be 1 or more, got 0"),
    ):
        assert fault(shared.call(tool, arguments))["message"] == message
    told = shared.refusal("tools/call", {"name": "memory_serch", "arguments": {}})
    assert told["message"] == "Unknown tool: memory_serch; did you mean memory_search?"


@pytest.mark.promise("associative.search.empty")
def test_a_search_where_nothing_is_stored_says_so(place: Place) -> None:
    stored(place.serve("associative", "--project", "kitchen"), "Figs ripen in September")
    value = place.serve("associative", "--project", "kichen").call("memory_search", query="figs").value
    assert value["notes"] == ["There are no memories in the project 'kichen' yet; did you mean the project 'kitchen'?"]
