"""Completion in real shells: what each suggests where a person would press the tab key."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path

import pytest

from polymnia.cli.commands import COMMANDS
from polymnia.settings import DIALECTS
from programs import program

from .desk import Desk

_BASH = """
source "$1"; shift
COMP_WORDS=("$@"); COMP_CWORD=$(($# - 1))
_polymnia
printf '%s\\n' "${COMPREPLY[@]}"
"""
# Completion of zsh works in a line editor only: this collects what would be shown, and leaves.
_ZSH_SETUP = r"""
PROMPT=
autoload -Uz compinit; compinit -D -u
source "$SCRIPT"
compadd() { local -a found; builtin compadd -O found "$@"; print -r -- "[[${(j: :)found}]]"; builtin compadd "$@" }
collect() { _main_complete; print -r -- "[[""end]]"; exit }
zle -C collect complete-word collect
bindkey "^I" collect
"""
_ZSH = r"""
zmodload zsh/zpty
zpty shell zsh -f -i
zpty -w shell "source $1"
shift
zpty -w -n shell "$*"$'\t'
while zpty -r shell line; do print -r -- "$line"; [[ $line == *'[[end]]'* ]] && break; done
"""
_CASES = [
    ("polymnia ba", {"backup"}),
    ("polymnia serve --dialect na", {"native"}),
    ("polymnia keys re", {"revoke"}),
    ("polymnia serve --work", {"--workers"}),
    ("polymnia completion ", {"bash", "zsh", "fish"}),
]


@pytest.fixture
def script(desk: Desk, tmp_path: Path, request: pytest.FixtureRequest) -> tuple[str, Path]:
    """The script of a shell, as the command prints it."""
    shell = request.param
    program(shell)
    path = tmp_path / f"completion.{shell}"
    path.write_text(desk.run("completion", shell).out, encoding="utf-8")
    return shell, path


def _suggested(shell: str, path: Path, line: str) -> set[str]:
    """What a shell suggests for the end of a line."""
    if shell == "fish":
        typed = f'source {path}; complete -C "{line}"'
        done = subprocess.run([program(shell), "--no-config", "-c", typed], capture_output=True, text=True, timeout=30)
        return {one.partition("\t")[0] for one in done.stdout.splitlines()}
    if shell == "bash":
        words = line.split(" ")
        done = subprocess.run(
            [program(shell), "--norc", "-c", _BASH, "bash", path, *words], capture_output=True, text=True, timeout=30
        )
        assert not done.stderr
        return set(done.stdout.split())
    setup = path.with_name("setup.zsh")
    setup.write_text(_ZSH_SETUP)
    done = subprocess.run(
        [program(shell), "-f", "-c", _ZSH, "zsh", setup, line],
        capture_output=True, text=True, timeout=30, cwd=path.parent, env={**os.environ, "SCRIPT": str(path)},
    )  # fmt: skip
    found = [part.partition("]]")[0] for part in done.stdout.split("[[")[1:]]
    return {word for part in found for word in part.split()} - {"end"}


@pytest.mark.long
@pytest.mark.parametrize("script", ["bash", "zsh", "fish"], indirect=True)
def test_a_shell_completes_commands_options_and_values(script: tuple[str, Path]) -> None:
    for line, wanted in _CASES:
        found = _suggested(*script, line)
        assert wanted <= found, line
        assert len(found) <= len(wanted) + 1, line


@pytest.mark.parametrize("script", ["bash", "fish"], indirect=True)
def test_every_command_and_dialect_is_suggested(script: tuple[str, Path]) -> None:
    assert {command.name for command in COMMANDS} <= _suggested(*script, "polymnia ")
    assert set(DIALECTS) == _suggested(*script, "polymnia stdio --dialect ")
    assert {"claude-desktop", "lm-studio"} <= _suggested(*script, "polymnia install ")
    assert _suggested(*script, "polymnia install cursor cod") == {"codex"}


def test_the_script_for_bash_passes_shellcheck(desk: Desk, tmp_path: Path) -> None:
    (tmp_path / "completion").write_text(desk.run("completion", "bash").out)
    done = subprocess.run(
        [program("shellcheck"), "-s", "bash", tmp_path / "completion"], capture_output=True, text=True
    )
    assert done.returncode == 0, done.stdout


def test_a_script_is_there_in_json_too_and_whole_on_a_narrow_terminal(desk: Desk) -> None:
    told = desk.run("completion", "bash")
    assert desk.run("completion", "bash", "--json").value == {"shell": "bash", "script": told.out}
    assert desk.look("completion", "bash", columns=40) == told.lines


def test_another_shell_is_refused_with_those_there_are(desk: Desk) -> None:
    told = desk.run("completion", "powershell")
    assert told.code == 2
    assert "fish" in told.err
