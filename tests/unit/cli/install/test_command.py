"""`polymnia install` as a person types it."""

from __future__ import annotations

import io
import json
import subprocess
import sys
from pathlib import Path

import pytest

from polymnia.cli import main

from ..desk import Desk, Terminal


@pytest.fixture
def home(desk: Desk, monkeypatch: pytest.MonkeyPatch) -> Path:
    """An empty home folder with Cursor in it, and no settings in the environment."""
    for name in ("STORE", "EMBEDDER", "DIALECT"):
        monkeypatch.delenv(f"POLYMNIA_{name}")
    variables = ("CODEX_HOME", "CLAUDE_CONFIG_DIR", "CLINE_MCP_SETTINGS_PATH", "GEMINI_CLI_HOME")
    for name in ("XDG_CONFIG_HOME", "XDG_DATA_HOME", *variables):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("HOME", str(desk.folder))
    (desk.folder / ".cursor").mkdir()
    return desk.folder


def test_one_line_gives_a_client_this_memory_and_a_second_one_changes_nothing(desk: Desk, home: Path) -> None:
    told = desk.run("install", "cursor", "--yes")
    assert told.code == 0, told.err
    file = home / ".cursor" / "mcp.json"
    assert f"Adds 'polymnia' to {file}" in told.out
    assert '+    "polymnia": {' in told.out
    written = file.read_bytes()
    entry = json.loads(written)["mcpServers"]["polymnia"]
    assert entry["args"][-3:] == ["stdio", "--dialect", "native"]
    again = desk.run("install", "cursor", "--yes")
    assert (again.code, again.out) == (
        0,
        f"Cursor has this memory already, as 'polymnia' in {file}. Nothing was changed.\n",
    )
    assert file.read_bytes() == written
    assert sorted(path.name for path in file.parent.iterdir()) == ["mcp.json"]


def test_what_a_client_starts_answers(desk: Desk, home: Path) -> None:
    desk.run("install", "cursor", "--yes", "--project", "집")
    entry = json.loads((home / ".cursor" / "mcp.json").read_text())["mcpServers"]["polymnia"]
    done = subprocess.run(
        [entry["command"], *entry["args"]],
        input=b'{"jsonrpc":"2.0","id":1,"method":"ping"}\n', capture_output=True, cwd="/", env={"HOME": str(home)},
        timeout=60,
    )  # fmt: skip
    assert json.loads(done.stdout) == {"jsonrpc": "2.0", "id": 1, "result": {}}


def test_store_project_and_dialect_can_be_chosen(desk: Desk, home: Path) -> None:
    options = ("--store", "mine.db", "--project", "atlas", "--dialect", "official")
    (told,) = desk.run("install", "cursor", "--yes", "--json", *options).value
    assert told["action"] == "added"
    words = told["entry"]["args"]
    assert words[words.index("--store") + 1] == str(home / "mine.db")
    assert words[words.index("--project") + 1] == "atlas"
    assert words[words.index("--dialect") + 1] == "official"


def test_options_of_an_entry_stay_but_for_those_given_anew(desk: Desk, home: Path) -> None:
    desk.run("install", "cursor", "--yes", "--store", "mine.db", "--dialect", "official")
    file = home / ".cursor" / "mcp.json"
    file.write_text(file.read_text().replace(sys.executable.rpartition("/")[0], "/gone"))
    (mended,) = desk.run("install", "cursor", "--yes", "--json").value
    assert mended["action"] == "changed"
    assert mended["entry"]["args"][-4:] == ["--store", str(home / "mine.db"), "--dialect", "official"]
    assert not mended["entry"]["command"].startswith("/gone")
    (changed,) = desk.run("install", "cursor", "--yes", "--json", "--dialect", "native").value
    assert Path(changed["backup"]).exists()
    assert changed["entry"]["args"][-4:] == ["--store", str(home / "mine.db"), "--dialect", "native"]


def test_options_that_the_server_would_refuse_are_not_kept(desk: Desk, home: Path) -> None:
    file = home / ".cursor" / "mcp.json"
    file.write_text('{"mcpServers": {"polymnia": {"command": "polymnia", "args": ["stdio", "--dialect", "nativ"]}}}')
    (told,) = desk.run("install", "cursor", "--yes", "--json").value
    assert told["entry"]["args"][-3:] == ["stdio", "--dialect", "native"]


def test_an_entry_of_that_name_that_starts_something_else_is_left_alone(desk: Desk, home: Path) -> None:
    file = home / ".cursor" / "mcp.json"
    file.write_text('{"mcpServers": {"polymnia": {"command": "node", "args": ["mine.js"]}}}')
    before = file.read_bytes()
    told = desk.run("install", "cursor", "--yes")
    assert (told.code, file.read_bytes()) == (1, before)
    assert "has an entry 'polymnia' that starts node mine.js" in told.err
    assert desk.run("install", "cursor", "--yes", "--name", "memory").code == 0
    assert set(json.loads(file.read_text())["mcpServers"]) == {"polymnia", "memory"}


def test_a_dry_run_writes_nothing(desk: Desk, home: Path) -> None:
    told = desk.run("install", "--all", "--dry-run")
    assert told.code == 0
    assert "Nothing was written (dry run)." in told.out
    assert list((home / ".cursor").iterdir()) == []


def test_where_nobody_can_be_asked_nothing_is_written(desk: Desk, home: Path) -> None:
    told = desk.run("install", "cursor")
    assert told.code == 1
    assert "--yes writes without asking" in told.err
    assert list((home / ".cursor").iterdir()) == []


@pytest.mark.parametrize(("answer", "code"), [("y\n", 0), ("n\n", 1), ("\n", 1), ("", 1)])
def test_at_a_terminal_it_asks(desk: Desk, home: Path, monkeypatch: pytest.MonkeyPatch, answer: str, code: int) -> None:
    monkeypatch.setattr("sys.stdin", Terminal(answer))
    screen = io.StringIO()
    monkeypatch.setattr("sys.stderr", screen)
    assert main(["install", "cursor"]) == code
    assert "Write this? [y/N]" in screen.getvalue()
    assert (home / ".cursor" / "mcp.json").exists() == (code == 0)


def test_a_broken_file_does_not_stop_the_others(desk: Desk, home: Path) -> None:
    (home / ".gemini").mkdir()
    (home / ".gemini" / "settings.json").write_text("{")
    told = desk.run("install", "gemini", "cursor", "--yes")
    assert told.code == 1
    assert "settings.json is broken at line 1, column 2" in told.err
    assert (home / ".gemini" / "settings.json").read_text() == "{"
    assert (home / ".cursor" / "mcp.json").exists()


def test_it_is_removed_again(desk: Desk, home: Path) -> None:
    file = home / ".cursor" / "mcp.json"
    file.write_text('{\n  "mcpServers": {}\n}\n')
    desk.run("install", "cursor", "--yes")
    told = desk.run("install", "--remove", "--all", "--yes")
    assert told.code == 0, told.err
    assert "Removes 'polymnia' from" in told.out
    assert file.read_text() == '{\n  "mcpServers": {}\n}\n'
    assert "nothing of Polymnia" in desk.run("install", "--remove", "cursor", "--yes").out


def test_the_list_says_who_is_here_and_who_has_it(desk: Desk, home: Path) -> None:
    states = {one["client"]: one["state"] for one in desk.run("install", "--list", "--json").value}
    assert states["cursor"] == "found"
    assert states["zed"] == "absent"
    assert len(states) == 12
    desk.run("install", "cursor", "--yes")
    lines = desk.look("install", "--list")
    assert any("cursor" in line and "has it" in line for line in lines)
    narrow = " ".join(desk.look("install", "--list", columns=40))
    assert all(one["file"] in narrow for one in desk.run("install", "--list", "--json").value)


def test_a_project_has_an_entry_of_its_own(desk: Desk, home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    folder = home / "my project"
    (folder / ".vscode").mkdir(parents=True)
    before = '{\n  // ours\n  "servers": {"a": {"command": "b"}},\n}\n'
    (folder / ".vscode" / "mcp.json").write_text(before)
    monkeypatch.chdir(folder)
    told = desk.run("install", "vscode", "claude-code", "codex", "--here", "--yes", "--project", "atlas")
    assert told.code == 0, told.err
    assert "others who share this folder need their own" in told.err
    written = json.loads((folder / ".mcp.json").read_text())["mcpServers"]["polymnia"]
    assert written["args"][-2:] == ["--project", "atlas"]
    assert "[mcp_servers.polymnia]" in (folder / ".codex" / "config.toml").read_text()
    assert "// ours" in (folder / ".vscode" / "mcp.json").read_text()
    assert not (home / ".claude.json").exists()

    listed = {one["file"]: one for one in desk.run("install", "--list", "--json").value if one["here"]}
    assert set(listed) == {str(folder / name) for name in (".mcp.json", ".vscode/mcp.json", ".codex/config.toml")}
    assert all(one["state"] == "installed" for one in listed.values())
    checked = desk.run("doctor", "--no-start", "--json").value["checks"]
    assert any(str(folder / ".mcp.json") in one["text"] for one in checked)

    assert desk.run("install", "vscode", "claude-code", "codex", "--here", "--remove", "--yes").code == 0
    assert (folder / ".vscode" / "mcp.json").read_text() == before
    assert not [one for one in desk.run("install", "--list", "--json").value if one["here"]]


def test_a_client_that_reads_no_file_of_a_project_is_told(desk: Desk, home: Path) -> None:
    told = desk.run("install", "cursor", "windsurf", "--here", "--yes")
    assert told.code == 1
    assert "Windsurf reads no file in the folder of a project\nThese do: claude-code, cursor" in told.err
    assert not (home / ".cursor" / "mcp.json").exists()


def test_the_files_of_the_home_folder_are_listed_once(desk: Desk, home: Path) -> None:
    desk.run("install", "cursor", "--yes")
    listed = [one for one in desk.run("install", "--list", "--json").value if one["client"] == "cursor"]
    assert [(one["state"], one["here"]) for one in listed] == [("installed", False)]


def test_a_misspelt_client_is_told_which_is_near(desk: Desk, home: Path) -> None:
    told = desk.run("install", "curser")
    assert told.code == 1
    assert "did you mean cursor?" in told.err


def test_without_a_client_the_known_ones_are_told(desk: Desk, home: Path) -> None:
    told = desk.run("install")
    assert told.code == 1
    assert "lm-studio" in told.err


def test_secrets_are_not_written_into_files(desk: Desk, home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("POLYMNIA_EMBEDDER_KEY", "sk-very-secret")
    told = desk.run("install", "cursor", "--yes")
    assert "--embedder-key-file" in told.err
    assert "sk-very-secret" not in told.out + (home / ".cursor" / "mcp.json").read_text()
    monkeypatch.setenv("POLYMNIA_STORE", "postgresql://ann:hunter2@db.test/memory")
    refused = desk.run("install", "cursor", "--yes")
    assert refused.code == 1
    assert "pgpass" in refused.err
    assert "hunter2" not in refused.err


def test_a_client_that_is_not_here_is_told_so(desk: Desk, home: Path) -> None:
    told = desk.run("install", "zed", "--yes")
    assert told.code == 0
    assert "Zed was not found on this machine" in told.err
