"""The commands as one table: every one explains itself, and options stand behind their command."""

from __future__ import annotations

import errno
import io
import json
import os
import shlex
import subprocess
import sys
from pathlib import Path

import pytest

from form import each
from polymnia.cli import _COMMANDS
from polymnia.cli.commands import COMMANDS, parser
from polymnia.settings import SETTINGS
from stdio_client import Place

from .desk import Desk


def test_every_command_is_known_before_the_table_is_loaded() -> None:
    assert list(_COMMANDS) == [command.name for command in COMMANDS]


@each("command", [command.name for command in COMMANDS])
def test_every_command_explains_itself(desk: Desk, command: str) -> None:
    told = desk.run(command, "--help")
    assert told.code == 0
    assert told.out.startswith(f"usage: polymnia {command}")


def test_help_is_short_on_top_and_tells_settings_apart(desk: Desk) -> None:
    told = desk.run("move", "--help").lines
    assert told[0] == "usage: polymnia move [ID ...] --to SCOPE [options]"
    assert desk.run("delete", "--help").lines[0] == "usage: polymnia delete ID|NAME [ID|NAME ...] [options]"
    settings = told.index("settings:")
    assert all(any(flag in line for line in told[settings:]) for flag in ("--store", "--project", "--busy-timeout"))
    assert not any("POLYMNIA_" in line for line in told[:settings])


def test_every_command_names_a_function_that_is_there() -> None:
    from importlib import import_module

    for command in COMMANDS:
        if command.runs:
            module, _, function = command.runs.partition(":")
            assert callable(getattr(import_module(f"polymnia.cli.{module}"), function))


@pytest.mark.parametrize("command", ["add", "list", "move", "scopes", "associations", "sessions"])
def test_an_option_before_its_command_is_told_where_it_belongs(desk: Desk, command: str) -> None:
    told = desk.run("--store", "x.db", command)
    assert told.code == 2
    assert f"polymnia {command} --store" in told.err


def test_a_misspelt_command_names_the_nearest_one(desk: Desk) -> None:
    told = desk.run("serch", "tea")
    assert told.code == 2
    assert "'serch'; did you mean search?" in told.err
    assert "'LIST'; did you mean list?" in desk.run("LIST").err
    assert "--verson; did you mean --version?" in desk.run("--verson").err
    assert "did you mean" not in desk.run("zzz").err


def test_projects_do_not_see_each_other(desk: Desk) -> None:
    desk.add("Ann likes tea", "--project", "a")
    assert len(desk.run("list", "--project", "a").lines) == 1
    assert desk.run("list", "--project", "b").lines == []


def test_no_argument_has_the_name_of_a_setting() -> None:
    from polymnia.settings import SETTINGS

    flags = {setting.flag for setting in SETTINGS}
    for command in COMMANDS:
        top = parser()
        sub = next(action for action in top._actions if action.dest == "command").choices
        assert sub is not None
        own = [action for action in sub[command.name]._actions if not set(action.option_strings) & flags]  # type: ignore[index]
        assert not {action.dest for action in own} & {setting.name for setting in SETTINGS}


def test_commands_and_a_running_server_share_the_store(place: Place) -> None:
    server = place.serve("associative")
    stored = server.call("memory_store", content="Ann likes green tea", scope="home").value["memory_id"]
    assert stored in place.run("list").stdout
    assert place.run("add", "Bob plays chess", "--scope", "home").returncode == 0
    assert place.run("move", stored, "--to", "people").returncode == 0
    found = server.call("memory_search", query="chess").value["memories"]
    assert [one["content"] for one in found] == ["Bob plays chess"]
    assert server.call("memory_get", memory_id=stored).value["scope"] == "people"


# ── settings ────────────────────────────────────────────────────────────────────────────────────────────────


def test_every_setting_is_told_with_its_source(desk: Desk, monkeypatch: pytest.MonkeyPatch) -> None:
    (desk.folder / "mine.toml").write_text('project = "atlas"', encoding="utf-8")
    monkeypatch.setenv("POLYMNIA_EMBEDDER_KEY", "sk-very-secret")
    told = desk.run("config", "--config", "mine.toml", "--max-batch", "7", "--json").value
    assert set(told) == {setting.name for setting in SETTINGS}
    assert told["project"] == {"value": "atlas", "source": str(desk.folder / "mine.toml")}
    assert told["max_batch"] == {"value": 7, "source": "--max-batch"}
    assert told["embedder"] == {"value": "none", "source": "POLYMNIA_EMBEDDER"}
    assert told["log_level"] == {"value": "warning", "source": "default"}
    lines = desk.run("config", "--config", "mine.toml").out
    assert "atlas" in lines
    assert "sk-very-secret" not in lines + str(told)


def test_a_key_that_does_not_exist_is_an_error_with_the_closest_name(desk: Desk) -> None:
    (desk.folder / "mine.toml").write_text('projekt = "atlas"', encoding="utf-8")
    told = desk.run("config", "--config", "mine.toml")
    assert told.code == 2
    assert "did you mean project" in told.err


def test_a_variable_that_looks_like_a_setting_and_is_none_is_told(desk: Desk, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("POLYMNIA_PROJEKT", "atlas")
    told = desk.run("config")
    assert told.code == 0
    assert "POLYMNIA_PROJEKT is no setting; did you mean POLYMNIA_PROJECT?" in told.err


# ── what a client needs ─────────────────────────────────────────────────────────────────────────────────────


@pytest.mark.parametrize("client", ["claude-desktop", "cursor", "vscode", "claude-code"])
def test_what_is_printed_for_a_client_starts_a_server_from_any_folder(desk: Desk, client: str) -> None:
    told = desk.run("config", "--client", client, "--dialect", "official", "--store", "mine.db")
    assert told.code == 0
    if client == "claude-code":
        words = shlex.split(told.out)
        command = words[words.index("--") + 1 :]
    else:
        entry = told.value["servers" if client == "vscode" else "mcpServers"]["polymnia"]
        command = [entry["command"], *entry["args"]]
    assert Path(command[0]).is_absolute()
    message = b'{"jsonrpc":"2.0","id":1,"method":"ping"}\n'
    done = subprocess.run(
        command, input=message, capture_output=True, cwd="/", env={"HOME": str(desk.folder)}, timeout=60
    )
    assert json.loads(done.stdout) == {"jsonrpc": "2.0", "id": 1, "result": {}}
    assert str(desk.folder / "mine.db") in command


def test_what_the_environment_says_travels_to_the_client(desk: Desk, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("POLYMNIA_STORE")
    monkeypatch.setenv("MEMORY_FILE_PATH", str(desk.folder / "old.jsonl"))
    monkeypatch.setenv("POLYMNIA_EMBEDDER_KEY", "sk-very-secret")
    told = desk.run("config", "--client", "cursor", "--dialect", "official")
    arguments = told.value["mcpServers"]["polymnia"]["args"]
    assert arguments[arguments.index("--file") + 1] == str(desk.folder / "old.jsonl")
    assert "sk-very-secret" not in told.out
    assert desk.run("config", "--dialect", "official", "--json").value["file"]["source"] == "MEMORY_FILE_PATH"


@pytest.mark.parametrize(
    ("code", "said"),
    [(errno.EPIPE, ""), (errno.ENOSPC, "polymnia: The output cannot be written: No space left on device\n")],
)
def test_an_export_that_nobody_takes_is_no_fault_of_the_store(
    desk: Desk, monkeypatch: pytest.MonkeyPatch, code: int, said: str
) -> None:
    class Closed(io.RawIOBase):
        def writable(self) -> bool:
            return True

        def write(self, _: object) -> int:
            raise OSError(code, os.strerror(code))

    desk.add("Ann likes green tea")
    monkeypatch.setattr("sys.stdout", io.TextIOWrapper(Closed()))
    told = desk.run("export", "-")
    assert (told.code, told.err) == (1, said)


@pytest.mark.skipif(sys.platform != "linux", reason="/dev/full is of Linux")
@pytest.mark.skipif(sys.platform == "win32", reason="a folder in use cannot be removed there")
@each("words", [("install", "cursor", "--here", "--yes"), ("list", "--store", "x.db"), ("import", "x.json")])
def test_a_folder_that_is_gone_is_told(desk: Desk, monkeypatch: pytest.MonkeyPatch, words: tuple[str, ...]) -> None:
    gone = desk.folder / "gone"
    gone.mkdir(exist_ok=True)
    monkeypatch.chdir(gone)
    gone.rmdir()
    told = desk.run(*words)
    monkeypatch.chdir(desk.folder)
    assert (told.code, told.out) == (1, "")
    assert told.err.startswith("polymnia: ")


def test_output_that_cannot_be_written_is_told_in_one_line(desk: Desk) -> None:
    for text in ("Ann likes green tea", "Snow is white"):
        desk.add(text)
    with open("/dev/full", "wb") as full:
        done = subprocess.run(
            [sys.executable, "-m", "polymnia", "list"], stdout=full, stderr=subprocess.PIPE, text=True, timeout=60
        )
    assert (done.returncode, done.stderr) == (1, "polymnia: The output cannot be written: No space left on device\n")


def test_a_reader_that_goes_away_ends_a_command_quietly(desk: Desk) -> None:
    for text in ("Ann likes green tea", "Snow is white"):
        desk.add(text)
    command = [sys.executable, "-m", "polymnia", "export", "-", "--archive"]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE) as writer:
        assert writer.stdout is not None
        assert writer.stderr is not None
        writer.stdout.close()
        assert (writer.stderr.read(), writer.wait(60)) == (b"", 1)
