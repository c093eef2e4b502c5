"""Keys from the command line."""

from __future__ import annotations

from pathlib import Path

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


@pytest.mark.parametrize("action", ["add", "revoke"])
def test_what_is_missing_is_told(desk: Desk, path: str, action: str) -> None:
    told = desk.run("keys", action)
    assert told.code != 0
    assert f"keys {action} needs" in told.err


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
