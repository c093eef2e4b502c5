"""Keys from the command line."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from polymnia.keys import KeyFile

from .desk import Desk


@pytest.fixture
def path(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> str:
    """The file of keys of this test."""
    monkeypatch.setenv("POLYMNIA_KEYS", str(tmp_path / "keys.json"))
    return str(tmp_path / "keys.json")


def test_a_key_is_shown_once_and_alone_on_its_stream(desk: Desk, path: str) -> None:
    told = desk.run("keys", "add", "laptop")
    assert told.code == 0
    (text,) = told.lines
    assert KeyFile(path).find(text) is not None
    assert "shown this once" in told.err
    assert "It is the first: from now on a server asks for a key" in told.err
    assert "first" not in desk.run("keys", "add", "phone").err
    assert text not in told.err
    assert text not in desk.run("keys", "list").out


def test_a_key_may_be_limited(desk: Desk, path: str) -> None:
    told = desk.run("keys", "add", "guest", "--for", "a", "--for", "b", "--access", "read", "--json")
    key = KeyFile(path).find(told.value["key"])
    assert key is not None
    assert (key.projects, key.write) == (("a", "b"), False)
    (listed,) = desk.run("keys", "list", "--json").value
    assert (listed["name"], listed["projects"], listed["access"]) == ("guest", ["a", "b"], "read")
    assert "key" not in listed
    assert "digest" not in listed


def test_the_list_says_what_each_opens(desk: Desk, path: str) -> None:
    assert "0 keys" in desk.run("keys", "list").out
    desk.run("keys", "add", "laptop")
    desk.run("keys", "add", "guest", "--for", "a", "--access", "read")
    told = desk.run("keys", "list").out
    assert "read and write all projects" in told
    assert "read a" in told
    assert "2 keys" in told


def test_a_revoked_key_opens_nothing(desk: Desk, path: str) -> None:
    text = desk.run("keys", "add", "laptop").lines[0]
    key = KeyFile(path).find(text)
    assert key is not None
    told = desk.run("keys", "revoke", key.id)
    assert (told.code, told.out) == (0, f"laptop ({key.id}) opens nothing any more.\n")
    assert KeyFile(path).find(text) is None
    again = desk.run("keys", "revoke", key.id)
    assert again.code != 0
    assert "polymnia keys list" in again.err


def _made(desk: Desk, *flags: str) -> Any:
    return desk.run("keys", "add", "laptop", *flags, "--json").value


@pytest.mark.promise("network.keys.managed")
def test_a_key_is_shown_and_changed(desk: Desk, path: str) -> None:
    flags = ("--user", "ann", "--expires", "2035-01-31", "--max-calls", "60", "--max-memories", "1000")
    made = _made(desk, *flags)
    text, id = made.pop("key"), made["id"]
    assert (made["user"], made["expires"]) == ("ann", "2035-01-31T00:00:00.000000Z")
    assert made["limits"] == {"calls": 60, "memories": 1000, "texts": None}
    assert desk.run("keys", "show", id, "--json").value == made
    listed = desk.run("keys", "list").out
    assert "of ann, until 2035-01-31T00:00, 60 calls a minute, up to 1,000 memories a project" in listed
    changed = desk.run(
        "keys", "set", id, "--access", "read", "--for", "atlas", "--max-calls", "0", "--max-texts", "5", "--json"
    ).value
    assert (changed["access"], changed["projects"], changed["user"]) == ("read", ["atlas"], "ann")
    assert changed["limits"] == {"calls": None, "memories": 1000, "texts": 5}
    wider = desk.run("keys", "set", id, "--all-projects", "--expires", "never", "--json").value
    assert (wider["access"], wider["projects"], wider["expires"]) == ("read", None, None)
    assert KeyFile(path).find(text) is not None


@pytest.mark.promise("network.keys.managed")
def test_a_key_gets_another_text_and_stays_the_same_key(desk: Desk, path: str) -> None:
    before = _made(desk, "--for", "a")
    after = desk.run("keys", "rotate", before["id"], "--json").value
    assert after.pop("key") != before["key"]
    assert after == {name: value for name, value in before.items() if name != "key"}
    assert KeyFile(path).find(before["key"]) is None
    told = desk.run("keys", "rotate", before["id"])
    assert KeyFile(path).find(told.lines[0]) is not None


@pytest.mark.promise("network.keys.managed")
def test_what_contradicts_itself_changes_nothing(desk: Desk, path: str) -> None:
    id = _made(desk)["id"]
    before = desk.run("keys", "show", id, "--json").value
    for flags in (
        (), ("--expires", "soon"), ("--expires", "2035-13-01"), ("--for", "a", "--all-projects"), ("--user", " "),
        ("--access", "manage", "--for", "a"), ("--access", "metrics", "--for", "a"), ("--max-calls", "-1"),
    ):  # fmt: skip
        assert desk.run("keys", "set", id, *flags).code != 0, flags
    assert desk.run("keys", "set", "0123456789ab", "--user", "x").code != 0
    assert desk.run("keys", "show", id, "--json").value == before


@pytest.mark.parametrize("action", ["add", "show", "set", "rotate", "revoke"])
def test_what_is_missing_is_told(desk: Desk, path: str, action: str) -> None:
    told = desk.run("keys", action)
    assert told.code != 0
    assert f"keys {action} needs" in told.err


def test_the_tour_is_there_in_json_too(desk: Desk) -> None:
    told = desk.run("demo", "--json")
    assert told.code == 0
    steps = told.value["steps"]
    assert [step.get("tool", "command") for step in steps][:2] == ["create_entities", "create_relations"]
    assert steps[-2]["command"] == ["undo"]
    assert "authentication-strategy" in str(steps[-1]["answer"])


def test_a_server_that_others_can_reach_needs_keys(desk: Desk, path: str) -> None:
    told = desk.run("serve", "--host", "0.0.0.0")
    assert told.code == 2
    assert "Others can reach 0.0.0.0, so keys are needed" in told.err
    assert "polymnia keys add" in told.err


def test_a_misspelt_option_of_the_server_is_told_what_was_meant(desk: Desk) -> None:
    told = desk.run("serve", "--prot", "1")
    assert told.code == 2
    assert "no option --prot; did you mean --port?" in told.err
    assert "did you mean" not in desk.run("search", "tea", "--host", "x").err  # an option of the server alone


def test_a_server_on_stdio_suggests_only_options_that_it_has(desk: Desk) -> None:
    assert desk.run("stdio", "--bogus").err.startswith("polymnia: There is no option --bogus\n")
    assert "did you mean" not in desk.run("stdio", "--hots", "x").err
    assert "did you mean --store?" in desk.run("stdio", "--stor", "x").err


def test_the_settings_show_where_keys_and_exports_lie(desk: Desk, path: str) -> None:
    told = desk.run("config", "--json").value
    assert told["keys"]["value"] == path
    told = desk.run("config", "--json", "--store", "/somewhere/notes.db").value
    assert told["export_dir"] == {"value": "/somewhere/exports", "source": "default"}
