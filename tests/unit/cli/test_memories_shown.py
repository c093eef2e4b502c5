"""One memory in full, and many line by line."""

from __future__ import annotations

import re

import pytest

from polymnia import EntityDraft, connect
from polymnia.cli.console import width

from .desk import UNLIKE, Desk


def test_a_memory_is_shown_by_its_id_with_all_that_is_known_of_it(desk: Desk) -> None:
    for text in UNLIKE:
        desk.add(text)
    near = desk.add("The payment gateway retries failed charges after 5 minutes", "--tag", "cache")
    id = desk.add(
        "The payment gateway retries failed charges after 9 minutes", "--scope", "work", "--tag", "cache",
        "--category", "fact", "--meta", "n=1",
    )  # fmt: skip
    told = desk.run("show", id).out
    text = "- The payment gateway retries failed charges after 9 minutes"
    details = ("scope work", "tags cache", "category fact", 'metadata {"n":1}', "version 1")
    for said in (id, text, *details, near, "charges after 5 minutes"):
        assert said in told
    value = desk.run("show", id, "--json").value
    assert [one["id"] for one in value["associations"]] == [near]
    assert value["relations"][0]["origin"] == "auto"


def test_an_entity_is_shown_by_its_name_and_by_its_id(desk: Desk) -> None:
    with connect() as memory:
        memory.create_entities([EntityDraft("Ann", "person", ("Likes tea",)), EntityDraft("Bob", "person", ("Sings",))])
        memory.create_relations([("Ann", "Bob", "knows")])
    by_name = desk.run("show", "Ann").out
    assert by_name.splitlines()[:3] == ["Ann (person)", "  - Likes tea", "  Ann knows → Bob"]
    id = desk.run("show", "Ann", "--json").value["id"]
    assert desk.run("show", id).out == by_name
    assert desk.run("show", id, "--at", "1").out.startswith("Ann (person)\n  - Likes tea")


def test_what_is_not_there_is_told(desk: Desk) -> None:
    desk.add("Ann likes tea")
    for words in (["show", "nobody"], ["show", "nobody", "--at", "1"], ["associations", "nobody"]):
        told = desk.run(*words)
        assert (told.code, told.out) == (1, "")
        assert "nobody" in told.err


def test_a_list_has_the_newest_first_and_goes_on_page_by_page(desk: Desk) -> None:
    ids = [desk.add(f"Note number {n} about thing{n}") for n in range(5)]
    first = desk.run("list", "--per-page", "2")
    assert [line.split("\t")[0] for line in first.lines] == [ids[4], ids[3]]
    assert "--page 2" in first.err
    last = desk.run("list", "--per-page", "2", "--page", "3")
    assert [line.split("\t")[0] for line in last.lines] == [ids[0]]
    assert last.err == ""
    value = desk.run("list", "--per-page", "2", "--page", "2", "--json").value
    assert (value["page"], value["pages"], value["total"], value["perPage"]) == (2, 3, 5, 2)
    assert [one["id"] for one in value["memories"]] == [ids[2], ids[1]]
    assert desk.run("list", "--page", "9").out == ""


def test_a_list_of_a_scope_has_those_below_it_only_if_asked(desk: Desk) -> None:
    top, below = desk.add("Ann likes tea", "--scope", "work"), desk.add("Bob plays chess", "--scope", "work/api")
    desk.add("Eve sings", "--scope", "workshop")
    default = desk.add("Filed nowhere")
    assert [row.split("\t")[0] for row in desk.run("list", "--scope", "work").lines] == [top]
    assert [row.split("\t")[0] for row in desk.run("list", "--scope", "work/", "--below").lines] == [below, top]
    assert [row.split("\t")[0] for row in desk.run("list", "--scope", "user/default").lines] == [default]
    assert desk.run("list", "--scope", "work", "--below", "--page", "2", "--per-page", "1").lines[0].startswith(top)
    assert desk.run("list", "--below").code == 1


def test_in_a_pipe_a_memory_is_one_line_of_three_fields_whatever_it_says(desk: Desk) -> None:
    desk.add("a\tb\nc\x1b[31m" + "long " * 100, "--scope", "work")
    (line,) = desk.run("list").lines
    id, scope, text = line.split("\t")
    assert (len(id), scope) == (36, "work")
    assert text == "a b c [31m" + "long " * 100


@pytest.mark.parametrize("columns", [60, 80, 120])
def test_on_a_terminal_a_memory_takes_one_line_of_its_width(
    desk: Desk, columns: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("NO_COLOR", "1")
    desk.add("결제 서비스는 매달 첫날에 모든 고객에게 청구서를 보낸다 " * 5, "--scope", "업무/결제")
    desk.add("line one\nline two " * 2000)
    shown = desk.look("list", columns=columns)
    assert len(shown) == 2
    assert all(columns - 1 <= width(line) <= columns for line in shown)
    assert all(line.endswith("…") for line in shown)


@pytest.mark.long
@pytest.mark.parametrize("columns", [40, 80, 200])
@pytest.mark.parametrize("command", ["config", "health", "explain 결제 서비스는 매달 첫날에 청구서를 보낸다"])
def test_on_a_terminal_of_any_width_a_report_fits_and_says_all_it_says_in_a_pipe(
    desk: Desk, command: str, columns: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("NO_COLOR", "1")
    monkeypatch.setenv("POLYMNIA_PROJECT", "결제-서비스-팀의-기억")
    monkeypatch.setenv("POLYMNIA_ALLOWED_HOSTS", "memory.example.org, 기억.example.org, other.example.org")
    for text in ("결제 서비스는 매달 첫날에 모든 고객에게 청구서를 보낸다", *UNLIKE):
        desk.add(text)
    verb, *query = command.split(" ", 1)
    shown = desk.look(verb, *query, columns=columns)
    # A word that is wider than a terminal, such as a path, stays whole on a line of its own.
    assert all(width(line) <= columns or " " not in line.strip() for line in shown)
    piped = desk.run(verb, *query).out
    assert _words("\n".join(shown)) == _words(piped)


def _words(report: str) -> list[str]:
    return re.sub(r"[0-9.]+\s+ms", "ms", report).split()


def test_colours_are_for_terminals_that_want_them(desk: Desk, monkeypatch: pytest.MonkeyPatch) -> None:
    id = desk.add("Ann likes tea")
    for words in (["list"], ["show", id], ["scopes"], ["associations", id]):
        assert "\x1b[" in "".join(desk.look(*words))
        assert "\x1b[" not in desk.run(*words).out
    monkeypatch.setenv("NO_COLOR", "1")
    assert "\x1b[" not in "".join(desk.look("list"))


def test_a_store_that_is_not_there_is_not_made_by_looking(desk: Desk) -> None:
    for words in (["list"], ["show", "x"], ["scopes"], ["associations", "x"], ["move", "x", "--to", "y"], ["sessions"]):
        assert desk.run(*words).code == 1
    assert not (desk.folder / "memory.db").exists()


def test_a_search_tells_where_its_hits_are_filed_and_takes_the_filters(desk: Desk) -> None:
    id = desk.add("Ann likes tea", "--scope", "home/people", "--category", "taste", "--tag", "tea")
    desk.add("The tea cache holds a day", "--scope", "work")
    told = desk.run("search", "tea", "--scope", "home", "--below")
    assert f"{id} (memory) home/people" in told.lines[0]
    for words in (["--category", "taste"], ["--tag", "tea"], ["--scope", "home/people/"]):
        (hit,) = desk.run("search", "tea", *words, "--json").value["hits"]
        assert (hit["id"], hit["scope"], hit["category"]) == (id, "home/people", "taste")
    assert desk.run("search", "tea", "--threshold", "1", "--json").value["hits"] == []
