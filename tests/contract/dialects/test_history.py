"""Nothing is ever lost: history, undo and the past, over stores that servers wrote."""

from __future__ import annotations

import json
import re
from typing import Any

import pytest

from stdio_client import Place, Server, entity, relation

A, B, C = entity("a", "one", "two"), entity("b", "three"), entity("c", "four")
AB, CA = relation("a", "knows", "b"), relation("c", "knows", "a")

RFC3339_UTC = re.compile(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{6}Z")


def told(place: Place, *arguments: str) -> Any:
    """What a command answers as JSON."""
    done = place.run(*arguments, "--json")
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


def fill(server: Server) -> None:
    server.call("create_entities", entities=[A, B, C])
    server.call("create_relations", relations=[AB, CA])


def in_any_order(graph: dict[str, Any]) -> dict[str, list[str]]:
    return {part: sorted(json.dumps(item, sort_keys=True) for item in items) for part, items in graph.items()}


@pytest.mark.promise("history.tells", "history.author")
def test_history_tells_who_did_what_and_when(place: Place, server: Server) -> None:
    fill(server)
    server.call("add_observations", observations=[{"entityName": "a", "contents": ["new"]}])
    server.call("delete_observations", deletions=[{"entityName": "a", "observations": ["one"]}])
    server.call("delete_entities", entityNames=["a"])

    events = told(place, "history", "a")

    assert [event["action"] for event in events] == [
        "create_entities",
        "create_relations",
        "add_observations",
        "delete_observations",
        "delete_entities",
    ]
    assert events[0]["created"] is True
    assert events[0]["added"] == ["one", "two"]
    assert events[2]["added"] == ["new"]
    assert events[3]["removed"] == ["one"]
    assert events[4]["deleted"] is True
    assert all("contract tests" in event["who"] for event in events)
    assert [event["tool"] for event in events] == [event["action"] for event in events]
    assert all(event["client"].startswith("contract tests") for event in events)
    assert all(f"({event['dialect']})" in event["who"] and event["account"] is None for event in events)
    numbers = [event["change"] for event in events]
    assert numbers == sorted(set(numbers))


@pytest.mark.promise("history.times")
@pytest.mark.promise("everywhere.times")
def test_times_are_told_in_utc_with_microseconds(place: Place, strict: Server) -> None:
    fill(strict)
    strict.call("add_observations", observations=[{"entityName": "a", "contents": ["new"]}])

    events = told(place, "history", "a")

    times = [event["at"] for event in events]
    assert all(RFC3339_UTC.fullmatch(at) for at in times)
    assert times == sorted(set(times))
    assert RFC3339_UTC.fullmatch(told(place, "show", "a")["created"])


@pytest.mark.promise("history.for_people")
def test_history_is_readable_without_json_too(place: Place, strict: Server) -> None:
    fill(strict)

    done = place.run("history", "a")

    assert done.returncode == 0
    assert "create_entities" in done.stdout
    assert "one" in done.stdout
    assert "\x1b[" not in done.stdout


@pytest.mark.promise("history.unknown")
def test_the_history_of_a_name_that_never_was_is_an_error_with_an_exit_code(place: Place, strict: Server) -> None:
    fill(strict)

    for command in ("history", "show"):
        done = place.run(command, "nobody")
        assert done.returncode != 0, command
        assert "nobody" in done.stderr, command
        assert "Traceback" not in done.stderr, command
        assert done.stdout == "", command


@pytest.mark.promise("history.replaced")
def test_the_version_that_simple_replaced_stays_in_the_history(place: Place, simple: Server) -> None:
    fill(simple)
    created = told(place, "history", "a")[0]
    simple.call("create_entities", entities=[entity("a", "entirely new", type="other")])

    events = told(place, "history", "a")

    assert sorted(events[-1]["removed"]) == ["one", "two"]
    assert events[-1]["added"] == ["entirely new"]
    assert events[-1]["version"] > created["version"]
    before = told(place, "show", "a", "--at", created["at"])
    assert before["entityType"] == "thing"
    assert before["observations"] == ["one", "two"]
    assert told(place, "show", "a")["observations"] == ["entirely new"]


@pytest.mark.promise("history.no_store")
@pytest.mark.parametrize(
    "command",
    ["show a", "history a", "changes", "export backup.json", "export -", "undo", "undo --change 1", "purge a --yes"],
)
def test_a_command_that_needs_a_store_makes_none(place: Place, command: str) -> None:
    before = list(place.folder.rglob("*"))

    done = place.run(*command.split(), environment={"POLYMNIA_STORE": place.nowhere})

    assert done.returncode == 1
    assert f"There is no store at {place.shown}" in done.stderr
    assert done.stdout == ""
    assert list(place.folder.rglob("*")) == before
    assert place.is_nowhere()


@pytest.mark.promise("history.undo.newest")
def test_undo_takes_back_the_newest_change_and_running_servers_see_it(place: Place, server: Server) -> None:
    fill(server)
    before = server.graph()
    server.call("add_observations", observations=[{"entityName": "b", "contents": ["mistake"]}])

    answer = told(place, "undo")

    assert answer["undone"]["action"] == "add_observations"
    assert server.graph() == before
    assert "b" not in server.call("search_nodes", query="mistake").text


@pytest.mark.promise("history.undo.cascade")
def test_undoing_a_deletion_brings_back_entities_observations_and_relations(place: Place, server: Server) -> None:
    fill(server)
    before = server.graph()
    server.call("delete_entities", entityNames=["a", "c"])
    assert server.graph() == {"entities": [B], "relations": []}

    told(place, "undo")

    assert in_any_order(server.graph()) == in_any_order(before)
    assert server.graph()["entities"][0]["observations"] == ["one", "two"]
    assert "a" in server.call("search_nodes", query="two").text
    server.call("delete_entities", entityNames=["a"])
    assert in_any_order(server.graph()) == in_any_order({"entities": [B, C], "relations": []})


@pytest.mark.promise("history.undo.chosen")
def test_a_chosen_change_is_undone_while_later_ones_stay(place: Place, strict: Server) -> None:
    fill(strict)
    strict.call("add_observations", observations=[{"entityName": "a", "contents": ["wrong"]}])
    wrong = told(place, "history", "a")[-1]["change"]
    strict.call("add_observations", observations=[{"entityName": "b", "contents": ["right"]}])

    told(place, "undo", "--change", str(wrong))

    assert strict.graph()["entities"] == [A, entity("b", "three", "right"), C]


@pytest.mark.promise("history.undo.replaced")
def test_undoing_a_replacement_brings_the_old_version_back(place: Place, simple: Server) -> None:
    fill(simple)
    simple.call("create_entities", entities=[entity("a", "entirely new", type="other")])

    told(place, "undo")

    assert simple.call("open_nodes", names=["a"]).value == [A]


@pytest.mark.promise("history.undo.conflict")
def test_an_undo_that_a_later_change_stands_in_the_way_of_is_refused_and_changes_nothing(
    place: Place, strict: Server
) -> None:
    fill(strict)
    created = told(place, "history", "a")[0]["change"]
    strict.call("add_observations", observations=[{"entityName": "a", "contents": ["later"]}])
    later = told(place, "history", "a")[-1]["change"]
    before = strict.graph()

    done = place.run("undo", "--change", str(created))

    assert done.returncode != 0
    assert str(later) in done.stderr
    assert strict.graph() == before


@pytest.mark.promise("history.undo.conflict")
def test_undoing_a_deletion_whose_name_was_taken_again_is_refused(place: Place, strict: Server) -> None:
    fill(strict)
    strict.call("delete_entities", entityNames=["a"])
    gone = told(place, "history", "a")[-1]["change"]
    strict.call("create_entities", entities=[entity("a", "someone else")])

    done = place.run("undo", "--change", str(gone))

    assert done.returncode != 0
    assert strict.call("open_nodes", names=["a"]).value["nodes"][0]["observations"] == ["someone else"]


@pytest.mark.promise("history.undo.nothing")
def test_undo_with_nothing_to_undo_or_an_unknown_change_is_an_error(place: Place, strict: Server) -> None:
    strict.graph()

    for arguments in (["undo"], ["undo", "--change", "424242"], ["undo", "--change", "9" * 20]):
        done = place.run(*arguments)
        assert done.returncode != 0, arguments
        assert done.stderr.strip(), arguments
        assert "Traceback" not in done.stderr, arguments


@pytest.mark.promise("history.undo.again")
def test_undo_can_itself_be_undone(place: Place, strict: Server) -> None:
    fill(strict)
    strict.call("delete_entities", entityNames=["a"])
    after = strict.graph()

    undo = told(place, "undo")
    told(place, "undo", "--change", str(undo["change"]))

    assert in_any_order(strict.graph()) == in_any_order(after)


@pytest.mark.promise("history.undo.redo")
def test_undo_redo_and_undo_again(place: Place, strict: Server) -> None:
    def standing() -> list[int | None]:
        return [change["undoneBy"] for change in reversed(told(place, "changes"))]

    strict.call("create_entities", entities=[A])

    told(place, "undo")
    assert strict.names() == []
    assert standing() == [2, None]
    told(place, "undo", "--change", "2")
    assert strict.graph()["entities"] == [A]
    assert standing() == [None, 3, None]
    assert told(place, "undo")["undone"]["change"] == 1
    assert strict.names() == []
    assert standing() == [4, 3, None, None]


@pytest.mark.promise("history.undo.steps")
def test_undoing_again_and_again_goes_back_step_by_step(place: Place, strict: Server) -> None:
    states = [strict.graph()]
    strict.call("create_entities", entities=[A])
    states.append(strict.graph())
    strict.call("create_entities", entities=[B])
    states.append(strict.graph())
    strict.call("create_relations", relations=[AB])

    for state in reversed(states):
        told(place, "undo")
        assert strict.graph() == state


@pytest.mark.promise("history.purge.gone")
def test_a_purged_memory_is_nowhere(place: Place, server: Server) -> None:
    fill(server)
    server.call("create_entities", entities=[entity("diary", "a secret"), entity("letter", "another secret")])
    server.call("create_relations", relations=[relation("a", "hides", "diary")])

    done = place.run("purge", "diary", "letter", "--yes")

    assert done.returncode == 0, done.stderr
    assert in_any_order(server.graph()) == in_any_order({"entities": [A, B, C], "relations": [AB, CA]})
    assert "diary" not in server.call("search_nodes", query="secret").text
    assert place.run("history", "diary").returncode == 1
    assert "diary" not in place.run("history", "a").stdout
    server.close_input()
    assert server.exit_code() == 0
    assert not [name for name, data in place.contents().items() if b"secret" in data]


@pytest.mark.promise("history.purge.yes")
def test_without_yes_nothing_is_purged(place: Place, strict: Server) -> None:
    fill(strict)
    before = strict.graph()

    done = place.run("purge", "a")

    assert done.returncode == 1
    assert "--yes" in done.stderr
    assert strict.graph() == before


@pytest.mark.promise("history.purge.undo")
def test_undo_after_a_purge_says_that_it_was_final_and_touches_nothing_else(place: Place, strict: Server) -> None:
    strict.call("create_entities", entities=[A])
    strict.call("create_entities", entities=[B])
    place.run("purge", "a", "--yes")
    purge = told(place, "changes")[0]["change"]

    refused = place.run("undo")
    assert refused.returncode == 1
    assert "final" in refused.stderr and f"change {purge}" in refused.stderr and "--change N" in refused.stderr
    assert strict.names() == ["b"]
    assert place.run("undo", "--change", str(purge)).returncode == 1

    assert told(place, "undo", "--change", str(purge - 1))["undone"]["action"] == "create_entities"
    assert strict.names() == []


@pytest.mark.promise("history.as_of")
def test_a_memory_is_shown_as_it_was_at_a_time(place: Place, strict: Server) -> None:
    fill(strict)
    strict.call("add_observations", observations=[{"entityName": "a", "contents": ["new"]}])
    strict.call("delete_relations", relations=[AB])
    strict.call("delete_entities", entityNames=["a"])
    created, related, added, unrelated, deleted = (event["at"] for event in told(place, "history", "a"))

    def shown(at: str) -> tuple[list[str], int]:
        value = told(place, "show", "a", "--at", at)
        return value["observations"], len(value["relations"])

    assert shown(created) == (["one", "two"], 0)
    assert shown(related) == (["one", "two"], 2)
    assert shown(added) == (["one", "two", "new"], 2)
    assert shown(unrelated) == (["one", "two", "new"], 1)
    assert place.run("show", "a", "--at", deleted).returncode != 0
    assert place.run("show", "a", "--at", "2001-01-01").returncode != 0
    assert place.run("show", "a").returncode != 0


@pytest.mark.promise("history.as_of")
def test_a_time_may_be_given_with_a_zone_and_nonsense_is_refused(place: Place, strict: Server) -> None:
    fill(strict)

    assert told(place, "show", "a", "--at", "2999-01-01T00:00:00+09:00")["observations"] == ["one", "two"]
    for time in ("the day before yesterday", "0001-01-01", "9" * 20, "2026-13-01"):
        done = place.run("show", "a", "--at", time)
        assert done.returncode != 0, time
        assert done.stderr.strip(), time
        assert "Traceback" not in done.stderr, time


@pytest.mark.promise("history.projects")
def test_history_and_undo_stay_inside_their_project(place: Place, strict: Server) -> None:
    fill(strict)
    other = place.serve("strict", "--project", "other")
    other.call("create_entities", entities=[entity("a", "of the other project")])

    assert "of the other project" not in json.dumps(told(place, "history", "a"))
    told(place, "undo")
    assert other.names() == ["a"]
    assert strict.graph()["relations"] == []
    assert strict.names() == ["a", "b", "c"]


@pytest.mark.promise("history.refused_calls")
def test_a_refused_call_and_a_call_that_changes_nothing_leave_no_trace(place: Place, strict: Server) -> None:
    fill(strict)
    before = told(place, "history", "a")

    strict.refused("create_entities", entities=[entity("a", "x")])
    strict.call("add_observations", observations=[{"entityName": "a", "contents": ["one"]}])
    strict.call("delete_observations", deletions=[{"entityName": "a", "observations": ["never said"]}])

    assert told(place, "history", "a") == before
    assert told(place, "undo")["undone"]["action"] == "create_relations"
