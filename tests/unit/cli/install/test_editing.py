"""Files as people write them: edited in place, never doubled, never half written, refused where they are broken."""

from __future__ import annotations

import json
import os
import tomllib
from pathlib import Path
from typing import Any

import pytest
import yaml
from hypothesis import given, settings
from hypothesis import strategies as st

from form import by_form
from polymnia.cli.install import configuration, json_text
from polymnia.cli.install.clients import BY_NAME
from polymnia.cli.install.machine import Program
from polymnia.cli.install.text import BrokenConfiguration, UneditableConfiguration
from polymnia.errors import Conflict, Forbidden, Invalid

PROGRAM = Program("/usr/bin/polymnia", (), "pipx")


def added(name: str, file: Path, entry_name: str | None = None) -> configuration.Edit:
    """The change that brings Polymnia into a client's file."""
    client = BY_NAME[name]
    return configuration.addition(client, str(file), client.entry(PROGRAM, ["stdio"]), entry_name)


def kept(name: str, file: Path, text: str) -> str:
    """The text of a file after Polymnia was added."""
    file.write_bytes(text.encode())
    configuration.write(added(name, file))
    return file.read_bytes().decode()


# ── JSON with comments ────────────────────────────────────────────────────────────────────────────────────

_LINES = '"polymnia": {\n{0} "command": "/usr/bin/polymnia",\n{0} "args": ["stdio"]\n{0}}'
_ENTRY = _LINES.replace("{0}", "  ")
_NEW = '{\n  "mcpServers": {\n    ' + _LINES.replace("{0} ", "      ").replace("{0}", "    ") + "\n  }\n}\n"


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("", _NEW),
        ("// mine\n", "// mine\n" + _NEW),
        ('{"a": 1}', '{"a": 1, "mcpServers": {"polymnia": {"command": "/usr/bin/polymnia", "args": ["stdio"]}}}'),
        (
            '{\n "mcpServers": {\n  "x": {} // the first\n }\n}',
            '{\n "mcpServers": {\n  "x": {}, // the first\n  ' + _ENTRY + "\n }\n}",
        ),
        (
            '{\n "mcpServers": {\n  // none yet\n }\n}',
            '{\n "mcpServers": {\n  // none yet\n  ' + _ENTRY + "\n }\n}",
        ),
        ('{\n "mcpServers": null,\n}', '{\n "mcpServers": {\n  ' + _ENTRY + "\n },\n}"),
    ],
)
def test_comments_commas_and_indentation_stay(tmp_path: Path, before: str, after: str) -> None:
    assert kept("cursor", tmp_path / "mcp.json", before) == after


_VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=8),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=6), inner, max_size=4),
    max_leaves=12,
)


@settings(max_examples=by_form(30, 100))
@given(st.dictionaries(st.text(max_size=6), _VALUES, max_size=4), st.sampled_from([None, 1, 2, 4, "\t"]))
def test_whatever_a_document_holds_is_still_there(document: dict[str, Any], indent: int | str | None) -> None:
    text = json.dumps(document, indent=indent, ensure_ascii=False)
    assert json_text.parse(text) == document
    path = ("polymnia-servers",)
    after = json_text.put(text, path, "polymnia", {"command": "x"})
    assert json.loads(after) == {**document, "polymnia-servers": {"polymnia": {"command": "x"}}}
    again = json_text.remove(json_text.put(after, path, "other", {}), path, "polymnia")
    assert json.loads(again) == {**document, "polymnia-servers": {"other": {}}}


@pytest.mark.parametrize("gone", ["a", "b", "c"])
@pytest.mark.parametrize("form", ["{%s}", "{\n  %s\n}", "{\n  %s,\n}", "{ // first\n  %s // last\n}"])
def test_an_entry_is_removed_with_its_comma(form: str, gone: str) -> None:
    inner = ", ".join(f'"{name}": {{}}' for name in "abc")
    text = '{"s": ' + form % (inner if "\n" not in form else inner.replace(", ", ",\n  ")) + "}"
    after = json_text.parse(json_text.remove(text, ("s",), gone))
    assert after == {"s": {name: {} for name in "abc" if name != gone}}


# ── what is broken ────────────────────────────────────────────────────────────────────────────────────────


@pytest.mark.parametrize(
    ("name", "text", "where"),
    [
        ("cursor", '{\n  "mcpServers": {\n    "x": {"command": "a" "args": []}\n  }\n}', "line 3, column 26"),
        ("cursor", '{"a": 1', "line 1, column 8"),
        ("cursor", "[]", "line 1, column 1"),
        ("cursor", '{"a": "\n"}', "line 1, column 8"),
        ("cursor", '{"a": /* ', "line 1, column 7"),
        ("cursor", "{a: 1}", "line 1, column 2"),
        ("cursor", '{"한글": }', "line 1, column 8"),
        ("cursor", "{} {}", "line 1, column 4"),
        ("codex", "model = \n", "line 1, column 9"),
        ("codex", '[a]\nx = 1\n[a]\n', "line 3, column 3"),
        ("goose", "a: b: c\n", "line 1, column 5"),
        ("goose", "- a\n", "line 1, column 1"),
        ("continue", "a: [1,\n", "line 2, column 1"),
    ],
)  # fmt: skip
def test_a_broken_file_is_refused_with_the_place_and_left_as_it_is(
    tmp_path: Path, name: str, text: str, where: str
) -> None:
    file = tmp_path / "file"
    file.write_text(text)
    with pytest.raises(BrokenConfiguration) as raised:
        added(name, file)
    assert f"{file} is broken at {where}: " in raised.value.message
    assert not raised.value.message.endswith(" at")
    assert file.read_text() == text
    assert os.listdir(tmp_path) == ["file"]


def test_a_file_in_another_encoding_is_refused(tmp_path: Path) -> None:
    file = tmp_path / "mcp.json"
    file.write_bytes('{\n "a": "é"}'.encode("latin-1"))
    with pytest.raises(BrokenConfiguration, match="line 2, column 8: it is no UTF-8"):
        added("cursor", file)


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("codex", 'mcp_servers = { x = { command = "y" } }\n'),
        ("codex", 'mcp_servers.polymnia.command = "polymnia"\n'),
        ("goose", "extensions: {x: {cmd: y}}\n"),
        ("goose", "{extensions: {}}\n"),
        ("cursor", '{"mcpServers": []}'),
        ("continue", "mcpServers:\n  x:\n    command: y\n"),
    ],
)
def test_what_cannot_be_edited_safely_is_left_alone(tmp_path: Path, name: str, text: str) -> None:
    file = tmp_path / "file"
    file.write_text(text)
    with pytest.raises(UneditableConfiguration):
        added(name, file)
    assert file.read_text() == text


# ── what is there already ─────────────────────────────────────────────────────────────────────────────────


def test_an_entry_that_starts_polymnia_under_another_name_is_changed_not_doubled(tmp_path: Path) -> None:
    entry = {"command": "uvx", "args": ["polymnia"], "env": {"POLYMNIA_PROJECT": "atlas"}, "disabled": True}
    after = json.loads(kept("cline", tmp_path / "a.json", json.dumps({"mcpServers": {"memory": entry}})))
    assert after == {"mcpServers": {"memory": {**entry, "command": "/usr/bin/polymnia", "args": ["stdio"]}}}


@pytest.mark.parametrize(
    "words",
    ["uvx polymnia@latest stdio", "uvx polymnia[oauth]==0.1.0 stdio", "uv tool run polymnia", "python -m polymnia"],
)
def test_polymnia_is_known_however_it_is_started(tmp_path: Path, words: str) -> None:
    command, *args = words.split()
    text = json.dumps({"mcpServers": {"memory": {"command": command, "args": args}}})
    assert list(json.loads(kept("cursor", tmp_path / "a.json", text))["mcpServers"]) == ["memory"]


@pytest.mark.parametrize(
    "words",
    ["npx -y @modelcontextprotocol/server-filesystem polymnia", "uvx mcp-server-git --repository /code/polymnia"],
)
def test_a_server_that_is_given_a_folder_of_that_name_is_not_touched(tmp_path: Path, words: str) -> None:
    file, (command, *args) = tmp_path / "a.json", words.split()
    entry = {"command": command, "args": args}
    after = json.loads(kept("cursor", file, json.dumps({"mcpServers": {"git": entry}})))["mcpServers"]
    assert list(after) == ["git", "polymnia"]
    assert after["git"] == entry
    (edit,) = configuration.removal(BY_NAME["cursor"], str(file), None)
    assert json.loads(edit.after) == {"mcpServers": {"git": entry}}


def test_a_foreign_entry_of_that_name_is_not_touched(tmp_path: Path) -> None:
    file = tmp_path / "a.json"
    text = '{"mcpServers": {"memory": {"command": "npx", "args": ["-y", "@modelcontextprotocol/server-memory"]}}}'
    after = json.loads(kept("cursor", file, text))["mcpServers"]
    assert list(after) == ["memory", "polymnia"]
    assert after["memory"]["command"] == "npx"
    (edit,) = configuration.removal(BY_NAME["cursor"], str(file), None)
    configuration.write(edit)
    assert file.read_text() == text


def test_a_name_of_ones_own_makes_a_second_entry(tmp_path: Path) -> None:
    file = tmp_path / "a.json"
    configuration.write(added("cursor", file))
    configuration.write(added("cursor", file, "work"))
    assert list(json.loads(file.read_text())["mcpServers"]) == ["polymnia", "work"]
    (edit,) = configuration.removal(BY_NAME["cursor"], str(file), "work")
    configuration.write(edit)
    assert list(json.loads(file.read_text())["mcpServers"]) == ["polymnia"]


def test_an_entry_for_a_server_on_the_network_is_not_overwritten(tmp_path: Path) -> None:
    file = tmp_path / "a.json"
    file.write_text('{"mcpServers": {"polymnia": {"url": "http://127.0.0.1:9080/mcp"}}}')
    with pytest.raises(Invalid, match="for a server at http://127"):
        added("cursor", file)


def test_comments_and_settings_in_an_entry_of_toml_stay(tmp_path: Path) -> None:
    before = (
        '[mcp_servers.polymnia]\n# mine\ncommand = "polymnia" # by name\nargs = [\n  "stdio",\n  "--dialect", # which\n'
        '  "all",\n]\nstartup_timeout_sec = 20\n\n# the next one\n[tui]\ntheme = "dark"\n'
    )
    after = kept("codex", tmp_path / "config.toml", before)
    assert after == before.replace('command = "polymnia"', 'command = "/usr/bin/polymnia"')
    (edit,) = configuration.removal(BY_NAME["codex"], str(tmp_path / "config.toml"), None)
    assert edit.after.decode() == '\n# the next one\n[tui]\ntheme = "dark"\n'


def test_lines_of_toml_that_end_as_on_windows_are_added_changed_and_removed(tmp_path: Path) -> None:
    file, client = tmp_path / "config.toml", BY_NAME["codex"]
    before = b'model = "x"\r\n\r\n[tui]\r\ntheme = "dark"\r\n'
    file.write_bytes(before)
    configuration.write(added("codex", file))
    entry = client.entry(PROGRAM, ["stdio", "--project", "p"])
    configuration.write(configuration.addition(client, str(file), entry, None))
    assert b"\r\n[mcp_servers.polymnia]\r\n" in file.read_bytes()
    assert b'args = ["stdio", "--project", "p"]\r\n' in file.read_bytes()
    (removal,) = configuration.removal(client, str(file), None)
    configuration.write(removal)
    assert file.read_bytes() == before


def test_tables_below_an_entry_of_toml_go_with_it(tmp_path: Path) -> None:
    file = tmp_path / "config.toml"
    text = '[mcp_servers.a]\ncommand = "x"\n'
    more = '\n[mcp_servers.polymnia]\ncommand = "polymnia"\n\n[mcp_servers.polymnia.env]\nA = "b"\n'
    file.write_text(text + more)
    (edit,) = configuration.removal(BY_NAME["codex"], str(file), None)
    assert edit.after.decode() == text
    assert tomllib.loads(kept("codex", file, text + more))["mcp_servers"]["polymnia"]["env"] == {"A": "b"}


@pytest.mark.parametrize(
    "empty", ["extensions:\n", "extensions: {}\n", "extensions: null # none\n", "extensions:   # x\n"]
)
def test_an_empty_section_of_yaml_is_filled(tmp_path: Path, empty: str) -> None:
    after = yaml.safe_load(kept("goose", tmp_path / "a.yaml", f"A: 1\n{empty}B: 2\n"))
    assert list(after) == ["A", "extensions", "B"]
    assert after["extensions"]["polymnia"]["cmd"] == "/usr/bin/polymnia"


@pytest.mark.parametrize(
    "lists", ["mcpServers:\n- name: x\n  command: y\n", "mcpServers:\n    -   name: x\n        command: y\n"]
)
def test_a_list_of_yaml_keeps_its_indentation(tmp_path: Path, lists: str) -> None:
    after = kept("continue", tmp_path / "a.yaml", f"name: n\n{lists}# the end\n")
    assert [one["name"] for one in yaml.safe_load(after)["mcpServers"]] == ["x", "polymnia"]
    assert after.startswith(f"name: n\n{lists}")
    assert after.endswith("# the end\n")


def test_an_entry_of_yaml_is_changed_in_its_place(tmp_path: Path) -> None:
    before = (
        "extensions:\n  memory:\n    # ours\n    cmd: polymnia\n    args: [stdio]\n    enabled: false\n    timeout: 9\n"
    )
    after = kept("goose", tmp_path / "a.yaml", before)
    assert after.startswith(
        "extensions:\n  memory:\n    # ours\n    cmd: /usr/bin/polymnia\n    args: [stdio]\n    enabled: false\n"
    )
    assert yaml.safe_load(after)["extensions"]["memory"]["timeout"] == 9


# ── writing ───────────────────────────────────────────────────────────────────────────────────────────────


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("cursor", ""),
        ("cursor", "{}"),
        ("cursor", "\ufeff{ }\r\n"),
        ("zed", '{\n  "theme": "dark", // mine\n}\n'),
        ("vscode", '{"servers": { /* none yet */ },}'),
        ("codex", 'model = "o3"'),
        ("continue", "name: Mine\nversion: 1.0.0\nschema: v1"),
        ("goose", "extensions:\nGOOSE_MODEL: x\n"),
    ],
)
def test_a_file_without_any_server_is_the_same_to_the_byte_after_removing(tmp_path: Path, name: str, text: str) -> None:
    client, file = BY_NAME[name], tmp_path / "config"
    file.write_bytes(text.encode())
    for options in (["stdio"], ["stdio", "--project", "atlas"]):
        configuration.write(configuration.addition(client, str(file), client.entry(PROGRAM, options), None))
    (change,) = configuration.removal(client, str(file), None)
    configuration.write(change)
    assert file.read_bytes() == text.encode()


def test_what_was_set_since_stays_when_the_entry_is_removed(tmp_path: Path) -> None:
    client, file = BY_NAME["cursor"], tmp_path / "mcp.json"
    file.write_text("{}")
    configuration.write(configuration.addition(client, str(file), client.entry(PROGRAM, ["stdio"]), None))
    file.write_text(file.read_text().replace("{", '{"theme": "dark", ', 1))
    (change,) = configuration.removal(client, str(file), None)
    configuration.write(change)
    assert json.loads(file.read_text()) == {"theme": "dark", "mcpServers": {}}


def test_a_link_stays_a_link(tmp_path: Path) -> None:
    (tmp_path / "dotfiles").mkdir()
    real = tmp_path / "dotfiles" / "mcp.json"
    real.write_text("{}")
    link = tmp_path / "mcp.json"
    link.symlink_to(real)
    configuration.write(added("cursor", link))
    assert link.is_symlink()
    assert "polymnia" in real.read_text()


def test_a_file_that_changed_in_the_meantime_is_not_overwritten(tmp_path: Path) -> None:
    file = tmp_path / "mcp.json"
    file.write_text("{}")
    edit = added("cursor", file)
    file.write_text('{"new": 1}')
    with pytest.raises(Conflict, match="in the meantime"):
        configuration.write(edit)
    assert file.read_text() == '{"new": 1}'
    assert os.listdir(tmp_path) == ["mcp.json"]


def test_a_file_that_is_read_only_is_not_replaced(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    file = tmp_path / "mcp.json"
    file.write_text("{}")
    edit = added("cursor", file)
    monkeypatch.setattr("os.access", lambda path, mode: False)  # root may write whatever the rights say
    with pytest.raises(Forbidden, match="read-only"):
        configuration.write(edit)
    assert file.read_text() == "{}"
    assert [path.name for path in tmp_path.iterdir()] == ["mcp.json"]


def test_a_folder_that_cannot_be_made_is_told(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(Forbidden, match="Cannot"):
        configuration.write(added("cursor", tmp_path / "file" / "mcp.json"))


def test_a_difference_shows_no_more_of_a_file_than_it_must(tmp_path: Path) -> None:
    file = tmp_path / "mcp.json"
    file.write_text(json.dumps({"key": "x" * 10_000, "mcpServers": {}}))
    assert max(map(len, added("cursor", file).difference())) <= 160


def test_a_mark_at_the_start_of_a_file_stays(tmp_path: Path) -> None:
    file = tmp_path / "mcp.json"
    file.write_bytes(b"\xef\xbb\xbf{}")
    configuration.write(added("cursor", file))
    assert file.read_bytes().startswith(b"\xef\xbb\xbf{\n")
