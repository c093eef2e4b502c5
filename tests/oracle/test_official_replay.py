"""Whatever is asked, in whatever order: our official dialect answers as the release from npm does."""

from __future__ import annotations

from typing import Any

from hypothesis import HealthCheck, given, settings

from form import by_form, each

from .calls import Call, calls, legal_calls
from .servers import Official

_bounded = settings(derandomize=True, database=None, deadline=None, suppress_health_check=[HealthCheck.too_slow])


def _replay(sequence: list[Call], ours: Official, theirs: Official) -> None:
    ours.forget()
    theirs.forget()
    for number, call in enumerate(sequence):
        expected = theirs.answer(call)
        assert ours.answer(call) == expected, f"call {number}: {call}"
    assert ours.graph() == theirs.graph()


@settings(_bounded, max_examples=by_form(25, 200))
@given(legal_calls(20))
def test_legal_calls_get_the_answers_of_the_release(ours: Official, theirs: Official, sequence: list[Call]) -> None:
    _replay(sequence, ours, theirs)


@settings(_bounded, max_examples=by_form(25, 200))
@given(calls(16))
def test_wrong_calls_among_legal_ones_get_the_answers_of_the_release(
    ours: Official, theirs: Official, sequence: list[Call]
) -> None:
    _replay(sequence, ours, theirs)


_REFUSED: list[Any] = [
    ("create_entities", {}),
    ("create_entities", None),
    ("create_entities", {"entities": None}),
    ("create_entities", {"entities": {"name": "a"}}),
    ("create_entities", {"entities": ["a", 1, None, [], True]}),
    ("create_entities", {"entities": [{"name": 7, "entityType": "t", "observations": []}]}),
    ("create_entities", {"entities": [{"name": "a"}]}),
    ("create_entities", {"entities": [{"name": "a", "entityType": "t", "observations": ["x", 1, None, {}]}]}),
    ("create_entities", {"entities": [{"name": [], "entityType": {}, "observations": "x"}, 1.5]}),
    ("create_relations", {"relations": [{"from": 1, "to": None, "relationType": True}]}),
    ("create_relations", {"relations": [{"from": "a", "to": "b"}]}),
    ("add_observations", {"observations": [{"entityName": "a"}, {"contents": [1]}]}),
    ("add_observations", {"observations": "x"}),
    ("delete_entities", {"entityNames": "a"}),
    ("delete_entities", {"entityNames": [1, "a", None]}),
    ("delete_observations", {"deletions": [{"entityName": None, "observations": None}]}),
    ("delete_relations", {"relations": [{}]}),
    ("search_nodes", {}),
    ("search_nodes", {"query": 1}),
    ("open_nodes", {"names": [None]}),
    ("open_nodes", {"names": {}}),
    ("no_such_tool", {}),
    ("no_such_tool", None),
]


@each("call", _REFUSED)
def test_a_refusal_is_worded_as_the_release_words_it(ours: Official, theirs: Official, call: Call) -> None:
    expected = theirs.answer(call)
    assert expected["isError"] is True
    assert ours.answer(call) == expected


def test_a_name_given_twice_in_one_call_is_stored_once_and_the_first_wins(ours: Official) -> None:
    """The release stores both, and can then tell neither from the other: the contract differs here."""
    first = {"name": "twice", "entityType": "t", "observations": ["first"]}
    second = {"name": "twice", "entityType": "u", "observations": ["second"]}
    ours.forget()
    created = ours.answer(("create_entities", {"entities": [first, second]}))
    assert created["structuredContent"] == {"entities": [first]}
    assert ours.graph()["structuredContent"]["entities"] == [first]
