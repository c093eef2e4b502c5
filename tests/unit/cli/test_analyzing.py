"""Analyses on the command line: what was found, for people and for programs."""

from __future__ import annotations

import pytest

from .desk import Desk


@pytest.fixture
def filled(desk: Desk) -> Desk:
    """Two statements that cannot both hold, and two that have nothing to do with them."""
    desk.add("The timeout of the payment service is 30 seconds.", "--allow-duplicates", "--no-associate")
    desk.add("The timeout of the payment service is 10 seconds.", "--allow-duplicates", "--no-associate")
    desk.add("Tea is served in the kitchen at four.", "--no-associate")
    desk.add("앤은 녹차를 좋아한다", "--no-associate")
    return desk


def _id(desk: Desk, text: str) -> str:
    (found,) = [one["id"] for one in desk.run("list", "--json").value["memories"] if text in one["observations"][0]]
    return str(found)


def test_conflicts_are_shown_with_both_statements_and_what_differs(filled: Desk) -> None:
    told = filled.run("analyze", "conflicts")
    assert told.code == 0, told.err
    assert "30 seconds and 10 seconds" in told.out
    assert "The timeout of the payment service is 30 seconds." in told.out
    assert "The timeout of the payment service is 10 seconds." in told.out
    assert told.lines[-1] == "1 found."


def test_conflicts_of_one_memory_leave_out_the_others(filled: Desk) -> None:
    assert filled.run("analyze", "conflicts", _id(filled, "kitchen")).lines[-1] == "0 found."
    (one,) = filled.run("analyze", "conflicts", _id(filled, "10 seconds"), "--json").value["conflicts"]
    assert {one["left"]["record"]["id"], one["right"]["record"]["id"]} == {
        _id(filled, "30 seconds"),
        _id(filled, "10 seconds"),
    }


def test_only_the_types_asked_for_are_looked_for(filled: Desk) -> None:
    assert filled.run("analyze", "conflicts", "--type", "logical_conflicts").lines[-1] == "0 found."
    told = filled.run("analyze", "conflicts", "--type", "logical")
    assert told.code == 1
    assert "logical_conflicts" in told.err


def test_the_quality_of_a_memory_has_eight_sides(filled: Desk) -> None:
    told = filled.run("analyze", "quality", _id(filled, "10 seconds"))
    for side in ("clarity", "completeness", "accuracy", "relevance", "structure", "consistency", "readability"):
        assert side in told.out
    assert "actionability" in told.out
    one = filled.run("analyze", "quality", _id(filled, "10 seconds"), "--type", "accuracy", "--json").value
    assert [side["name"] for side in one["dimensions"]] == ["accuracy"]


def test_relationships_are_shown_with_their_way(filled: Desk) -> None:
    kitchen = _id(filled, "kitchen")
    filled.add(f"For where the pots are, see {kitchen}.", "--no-associate")
    (one,) = filled.run("analyze", "relationships", _id(filled, "pots"), "--json").value["relationships"]
    assert (one["target"]["id"], one["type"], one["direction"]) == (kitchen, "references", "outgoing")
    (one,) = filled.run("analyze", "relationships", kitchen, "--json").value["relationships"]
    assert (one["target"]["id"], one["direction"]) == (_id(filled, "pots"), "incoming")
    assert filled.run("analyze", "relationships", kitchen).lines[-1] == "1 found."
    assert filled.run("analyze", "relationships", kitchen, "--type", "cites").lines[-1] == "0 found."


def test_what_an_analysis_needs_is_asked_for(filled: Desk) -> None:
    for words in (("quality",), ("relationships",), ("quality", "a", "b"), ("patterns", "a", "b")):
        told = filled.run("analyze", *words)
        assert told.code == 1
        assert "id" in told.err
    assert filled.run("analyze", "quality", "no such id").code == 1


def test_too_little_to_tell_is_said(filled: Desk) -> None:
    told = filled.run("analyze", "patterns")
    assert told.code == 0, told.err
    assert "oo little" in told.err


def test_patterns_of_a_time_are_of_that_time(filled: Desk) -> None:
    told = filled.run("analyze", "patterns", "--type", "quality_issues", "--until", "2001-01-01", "--json")
    assert told.value["patterns"] == []
    assert filled.run("analyze", "patterns", "--since", "yesterdays").code == 1


def test_insights_come_with_what_they_rest_on(filled: Desk) -> None:
    told = filled.run("analyze", "insights", "--json")
    assert told.code == 0, told.err
    for one in told.value["insights"]:
        assert one["evidence"]
        assert 0 <= one["confidence"] <= 1
