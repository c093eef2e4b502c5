"""Analyses on the command line: what was found, for people and for programs."""

from __future__ import annotations

import re
import shlex
import subprocess
from argparse import Namespace
from typing import get_args

import pytest

from polymnia.cli.analysis import as_command
from polymnia.cli.commands import COMMANDS, parser
from polymnia.engine.analysis import actions

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


def test_what_an_insight_advises_is_a_command_for_the_same_project(desk: Desk) -> None:
    for _ in range(2):
        desk.add("The plants are watered on Mondays.", "--no-associate", "--allow-duplicates", "--project", "garden")
    told = desk.run("analyze", "insights", "--project", "garden")
    assert not re.search(r"memory_\w+|delete_content|update_content|\boperation\b", told.out)
    (words,) = [shlex.split(line) for line in told.lines if line.strip().startswith("polymnia ")]
    assert (words[:2], words[3:]) == (["polymnia", "delete"], ["--project", "garden"])
    assert desk.run("show", words[2], "--project", "garden").code == 0


ACTIONS: tuple[actions.Action, ...] = (
    actions.StoreItem(content="it's {x", title="t", tags=("one",)), actions.Update(id="i", tags=("one",)),
    actions.Delete(id="i"), actions.Relate(source="i", target="j", type="cites"),
    actions.Show(id="i"), actions.ShowHistory(id="i"),
    actions.CheckQuality(id="i"), actions.CheckConflicts(ids=("i", "j")),
    actions.CleanSessions(days=30), actions.CreateEntity(name="n", draft=True),
    actions.AddObservations(name="n", texts=("a",)), actions.DeleteObservations(name="n", texts=("a",)),
    actions.DeleteRelations(relations=(("a", "b", "c"),)),
)  # fmt: skip


def test_every_action_is_a_command_or_a_sentence() -> None:
    assert {type(one) for one in ACTIONS} == set(get_args(actions.Action))
    said = [as_command(one, Namespace(project="my garden", store=None)) for one in ACTIONS]
    assert all(said)
    commands = [shlex.split(text) for text in said if text.startswith("polymnia ")]
    known = {command.name for command in COMMANDS}
    assert len(commands) >= 7
    for words in commands:
        assert words[-2:] == ["--project", "my garden"]
        if words[1] in known:
            assert parser().parse_args(words[1:]).command == words[1]


def test_a_text_of_several_lines_is_one_word_on_one_line() -> None:
    text = "a\nb's \\ {x"
    line = as_command(actions.StoreItem(content=text), Namespace())
    assert "\n" not in line
    told = subprocess.run(["bash", "-c", f"printf %s {line.removeprefix('polymnia add ')}"], capture_output=True)
    assert told.stdout.decode() == text


def test_notes_of_several_patterns_name_the_one_they_are_about(filled: Desk) -> None:
    several = filled.run("analyze", "patterns", "--type", "usage_patterns", "--type", "temporal_patterns").err
    assert "usage_patterns: " in several
    assert "temporal_patterns: " in several
    assert "usage_patterns: " not in filled.run("analyze", "patterns", "--type", "usage_patterns").err


def test_a_conflict_says_which_is_newer_and_what_to_do(desk: Desk) -> None:
    texts = (
        "As of 2026-03-01, the price of the Basic plan is 10 euros.",
        "As of 2026-05-01, the price of the Basic plan is 12 euros.",
    )
    for text in texts:
        desk.add(text, "--project", "shop", "--no-associate")
    told = desk.run("analyze", "conflicts", "--project", "shop")
    (one,) = desk.run("analyze", "conflicts", "--project", "shop", "--json").value["conflicts"]
    assert f"      newer: {texts[1]} (since 2026-05-01 by its own words)" in told.lines
    becomes = f"the text becomes “{texts[0].removesuffix('.')} (until 2026-05-01).”"
    assert f"      change {one['left']['record']['id']}: {becomes}" in told.lines


def test_a_question_names_each_statement_once_and_what_to_do_for_each_answer(filled: Desk) -> None:
    told = filled.run("analyze", "conflicts")
    assert told.out.count("The timeout of the payment service is 30 seconds.") == 1
    assert "ask: which of the two holds?" in told.out
    for answer, other in (("first", "10 seconds"), ("second", "30 seconds")):
        (line,) = [line for line in told.lines if line.startswith(f"      if the {answer}: ")]
        assert f": polymnia delete {_id(filled, other)}" in line


def test_a_statement_in_a_longer_text_is_not_to_be_deleted_with_it(desk: Desk) -> None:
    desk.add("The harbour office opens at 08:00 each morning. Ships pay at the counter.", "--no-associate")
    desk.add("The harbour office opens at 10:00 each morning.", "--no-associate")
    told = desk.run("analyze", "conflicts")
    assert f"if the second: take the sentence out of {_id(desk, 'counter')} in project default" in told.out
    assert f"delete {_id(desk, 'counter')}" not in told.out


def test_what_can_be_analyzed_is_told_where_nothing_is_named(filled: Desk) -> None:
    told = filled.run("analyze")
    assert told.code == 1
    for what in ("patterns", "quality ID", "relationships ID", "conflicts", "insights"):
        assert f"polymnia analyze {what}" in told.err
    assert "required" not in told.err
