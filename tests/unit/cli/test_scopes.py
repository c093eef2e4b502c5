"""The tree of scopes, where a text belongs, and sessions."""

from __future__ import annotations

from .desk import Desk


def test_scopes_are_drawn_as_a_tree_with_their_counts(desk: Desk) -> None:
    for scope, text in (
        ("work", "Ann likes tea"), ("work/api", "Bob plays chess"), ("work/api/cache", "Eve sings"),
        ("work/web", "Mallory paints"), ("집/강아지", "벨로는 산책을 좋아한다"),
    ):  # fmt: skip
        desk.add(text, "--scope", scope)
    assert desk.run("scopes").lines == [
        "               own  all",
        "work             1    4",
        "├── api          1    2",
        "│   └── cache    1    1",
        "└── web          1    1",
        "집               0    1",
        "└── 강아지       1    1",
        "5 memories in 5 scopes.",
    ]
    assert desk.run("scopes", "work/api").lines[1:] == [
        "work/api     1    2",
        "└── cache    1    1",
        "2 memories in 2 scopes.",
    ]
    assert desk.run("scopes", "work/api", "--json").value == [
        {"scope": "work/api", "memories": 1, "total": 2, "children": ["work/api/cache"]},
        {"scope": "work/api/cache", "memories": 1, "total": 1, "children": []},
    ]


def test_a_scope_in_which_nothing_is_filed_is_told(desk: Desk) -> None:
    desk.add("Ann likes tea")
    told = desk.run("scopes", "nowhere")
    assert (told.code, told.out) == (1, "")
    assert "Scope not found: 'nowhere'" in told.err


def test_a_text_is_told_where_it_belongs_and_why(desk: Desk) -> None:
    for day in ("Mondays", "Tuesdays", "Fridays"):
        desk.add(f"Deploy the api on {day}", "--scope", "work/api")
    desk.add("Deploy the web page at night", "--scope", "work/web")
    told = desk.run("scopes", "--suggest", "When do we deploy the api?")
    assert told.lines[0].endswith("  work/api")
    assert "Deploy the api" in told.lines[1]
    assert told.lines[-1].startswith("keywords: ")
    value = desk.run("scopes", "--suggest", "-", "--json", stdin=b"When do we deploy the api?\n").value
    assert value["scope"] == "work/api"
    assert 0 < value["confidence"] <= 1
    assert all(one["scope"] != "work/api" for one in value["alternatives"])


def test_a_text_that_is_like_nothing_belongs_nowhere_for_sure(desk: Desk) -> None:
    desk.add("Deploy the api on Mondays", "--scope", "work/api")
    assert desk.run("scopes", "--suggest", "Snow is white").lines[0].endswith("user/default  (not sure)")
    assert desk.run("scopes", "home", "--suggest", "Snow is white", "--json").value["scope"] == "home"


def test_a_session_begins_once_and_is_listed_with_its_memories(desk: Desk) -> None:
    assert "session/monday" in desk.run("sessions", "create", "monday").out
    assert "goes on" in desk.run("sessions", "create", "monday").out
    assert desk.run("sessions", "create", "monday", "--json").value["new"] is False
    desk.add("Short answers today", "--scope", "session/monday/style")
    desk.add("Tuesday is for tea", "--scope", "session/tuesday")
    rows = [line.split("\t") for line in desk.run("sessions").lines]
    assert [row[:2] for row in rows] == [["monday", "1"], ["tuesday", "1"]]
    assert [one["session"] for one in desk.run("sessions", "list", "tuesday", "--json").value] == ["tuesday"]
    assert "used today" in "".join(desk.look("sessions"))


def test_a_session_without_a_name_is_given_one(desk: Desk) -> None:
    name = desk.run("sessions", "create", "--json").value["session"]
    assert [line.split("\t")[0] for line in desk.run("sessions").lines] == [name]


def test_cleaning_up_removes_what_is_old_and_can_be_taken_back(desk: Desk) -> None:
    desk.add("Short answers today", "--scope", "session/monday")
    desk.add("Ann likes tea")
    assert "Nothing to remove" in desk.run("sessions", "cleanup").out
    assert desk.run("sessions", "cleanup", "--older-than", "0", "--json").value == {
        "olderThanDays": 0.0,
        "removed": ["monday"],
        "memories": 1,
    }
    assert len(desk.run("list").lines) == 1
    assert desk.run("sessions").err == "There are no sessions.\n"
    assert desk.run("undo").code == 0
    assert len(desk.run("list").lines) == 2


def test_only_the_session_that_is_named_goes(desk: Desk) -> None:
    for name in ("monday", "tuesday"):
        desk.run("sessions", "create", name)
    assert "Removed monday." in desk.run("sessions", "cleanup", "monday", "--older-than", "0").out
    assert [line.split("\t")[0] for line in desk.run("sessions").lines] == ["tuesday"]


def test_what_makes_no_sense_of_sessions_is_refused(desk: Desk) -> None:
    desk.run("sessions", "create", "monday")
    assert desk.run("sessions", "cleanup", "nobody").code == 1
    assert desk.run("sessions", "list", "nobody").code == 1
    assert desk.run("sessions", "list", "--older-than", "3").code == 1
    assert desk.run("sessions", "create", "a/b").code == 1
    assert desk.run("sessions", "cleanup", "--older-than", "-1").code == 2
    assert desk.run("sessions", "forget").code == 2
