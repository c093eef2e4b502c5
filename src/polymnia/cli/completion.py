"""The ``completion`` command: scripts for bash, zsh and fish, made from the tables of commands and settings.

The scripts hold every word themselves: asking the program at each key press would take 0.15 s.
"""

from __future__ import annotations

from argparse import SUPPRESS, Action, Namespace
from collections.abc import Iterator
from typing import Any, NamedTuple

from polymnia.cli import commands
from polymnia.cli.console import CommandResult
from polymnia.settings import SETTINGS, file_path, store_place

_FILES = ("FILE", "FOLDER", "PATH", "STORE")
_OPTIONAL = ("?", "*")
_KNOWN = {"CLIENT": commands.CLIENTS}
"""What the parser leaves to its command to check, which can say more about it."""


class CommandArgument(NamedTuple):
    """An argument of a command: an option if its name has dashes, ``value`` what it is called if it takes one."""

    name: str
    help: str
    value: str | None = None
    choices: tuple[str, ...] = ()
    is_file: bool = False
    repeats: bool = False
    optional: bool = False


def arguments() -> dict[str, list[CommandArgument]]:
    """The arguments of every command, as its parser takes them."""
    top: Any = next(action for action in commands.parser()._actions if action.dest == "command")
    return {
        name: [_argument(action) for action in parser._actions if action.help != SUPPRESS]
        for name, parser in top.choices.items()
    }


def _argument(action: Action) -> CommandArgument:
    named = action.option_strings[-1] if action.option_strings else action.dest
    setting = next((one for one in SETTINGS if one.flag == named), None)
    parsed = tuple(map(str, action.choices or (setting.choices if setting else ())))
    choices = parsed or _KNOWN.get(str(action.metavar), ())
    value = None
    if action.nargs != 0:
        value = str(action.metavar or action.dest.upper()).strip("{}") if not parsed else action.dest
    is_file = setting.kind in (file_path, store_place) if setting else value in _FILES
    help = (action.help or "").replace("%%", "%")
    repeats = action.nargs in ("*", "+") or type(action).__name__ == "_AppendAction"
    return CommandArgument(named, help, value, choices, is_file, repeats, action.nargs in _OPTIONAL)


def completion(given: Namespace, chosen: object) -> CommandResult:
    """Print the script of a shell."""
    made = {"bash": _bash, "zsh": _zsh, "fish": _fish}[given.shell]
    lines = list(made(arguments()))
    return CommandResult({"shell": given.shell, "script": "\n".join((*lines, ""))}, lines, verbatim=True)


def _short(help: str) -> str:
    """The first sentence of a description."""
    return help.partition(". ")[0].partition(" (default")[0].rstrip(".")


# ── bash ─────────────────────────────────────────────────────────────────────────────────────────────────


def _bash(known: dict[str, list[CommandArgument]]) -> Iterator[str]:
    """Where nothing is suggested, bash completes names of files."""
    yield from (
        "# Completion for bash. For this shell: source <(polymnia completion bash)",
        "# For all: polymnia completion bash > ~/.local/share/bash-completion/completions/polymnia",
        "_polymnia() {",
        '    local word=${COMP_WORDS[COMP_CWORD]} before=${COMP_WORDS[COMP_CWORD-1]} words=""',
        "    if [ \"$word\" = = ]; then word=''",
        '    elif [ "$before" = = ]; then before=${COMP_WORDS[COMP_CWORD-2]}; fi',
        "    COMPREPLY=()",
        '    if [ "$COMP_CWORD" -eq 1 ]; then',
        f"        words='{' '.join([*known, 'help', '--help', '--version'])}'",
        "    else",
        '        case "${COMP_WORDS[1]} $before" in',
    )
    for patterns, words in _values(known):
        yield f"            {'|'.join(patterns)}) words='{' '.join(words)}' ;;"
    yield "            *) case ${COMP_WORDS[1]} in"
    for command, all in known.items():
        options = [one.name for one in all if one.name.startswith("-")]
        places = [word for one in all if not one.name.startswith("-") for word in one.choices]
        yield f"                {command}) if [ \"${{word:0:1}}\" = - ]; then words='{' '.join(options)}'"
        yield f"                    else words='{' '.join(places)}'; fi ;;"
    yield from (
        "            esac ;;",
        "        esac",
        "    fi",
        "    local IFS=$' \\n'",
        "    # bash 3.2, which macOS has, knows no mapfile",
        "    # shellcheck disable=SC2207",
        '    [ -z "$words" ] || COMPREPLY=($(compgen -W "$words" -- "$word"))',
        "}",
        "complete -o bashdefault -o default -F _polymnia polymnia",
    )


def _values(known: dict[str, list[CommandArgument]]) -> list[tuple[list[str], tuple[str, ...]]]:
    """The options with a value by what it may be: patterns for the command and the option."""
    found: dict[tuple[str, tuple[str, ...]], list[str]] = {}
    for command, all in known.items():
        for one in all:
            if one.name.startswith("-") and one.value is not None:
                found.setdefault((one.name, one.choices), []).append(f"'{command} {one.name}'")
    return [(patterns, words) for (_, words), patterns in found.items()]


# ── zsh ──────────────────────────────────────────────────────────────────────────────────────────────────


def _zsh(known: dict[str, list[CommandArgument]]) -> Iterator[str]:
    helps = {command.name: command.help for command in commands.COMMANDS}
    yield from (
        "#compdef polymnia",
        "# Completion for zsh. For this shell: source <(polymnia completion zsh)",
        "# For all: polymnia completion zsh > ~/.zfunc/_polymnia, with that folder in fpath",
        "_polymnia() {",
        "    local -a commands",
        "    if (( CURRENT == 2 )); then",
        "        commands=(",
    )
    for command in known:
        yield f"            {_quoted(command + ':' + helps[command])}"
    yield from (
        "        )",
        "        _describe -t commands command commands",
        "        return",
        "    fi",
        "    local command=${words[2]}",
        "    shift words",
        "    (( CURRENT-- ))",
        "    case $command in",
    )
    for command, all in known.items():
        yield f"        {command}) _arguments : \\"
        places = 0
        for one in all:
            if one.name.startswith("-"):
                help = _short(one.help).replace("[", "\\[").replace("]", "\\]").replace(":", "\\:")
                spec = f"{'*' if one.repeats else ''}{one.name}[{help}]"
                spec += "" if one.value is None else f"{'::' if one.optional else ':'}{_zsh_value(one)}"
            else:
                places += 1
                spec = f"{'*' if one.repeats else places}:{':' if one.optional else ''}{_zsh_value(one)}"
            yield f"            {_quoted(spec)} \\"
        yield "            ;;"
    yield from (
        "    esac",
        "}",
        'if [[ $funcstack[1] == _polymnia ]]; then _polymnia "$@"; else compdef _polymnia polymnia; fi',
    )


def _zsh_value(one: CommandArgument) -> str:
    name = (one.value or one.name).replace(":", "\\:")
    return f"{name}:{'(' + ' '.join(one.choices) + ')' if one.choices else '_files' if one.is_file else ' '}"


# ── fish ─────────────────────────────────────────────────────────────────────────────────────────────────


def _fish(known: dict[str, list[CommandArgument]]) -> Iterator[str]:
    yield "# Completion for fish: polymnia completion fish > ~/.config/fish/completions/polymnia.fish"
    yield "complete -c polymnia -f"
    for command in commands.COMMANDS:
        yield f"complete -c polymnia -n __fish_use_subcommand -a {command.name} -d {_quoted(command.help)}"
    shared: dict[CommandArgument, list[str]] = {}
    for name, all in known.items():
        for one in all:
            shared.setdefault(one, []).append(name)
    for one, names in shared.items():
        when = f"complete -c polymnia -n '__fish_seen_subcommand_from {' '.join(names)}'"
        words = f" -a {_quoted(' '.join(one.choices))}" if one.choices else ""
        if one.name.startswith("-"):
            takes = "" if one.value is None else " -r -F" if one.is_file else f" -x{words}"
            yield f"{when} -l {one.name.lstrip('-')}{takes} -d {_quoted(_short(one.help))}"
        elif one.is_file:
            yield f"{when} -F"
        elif words:
            yield f"{when}{words}"


def _quoted(text: str) -> str:
    """A text in single quotes, as all three shells read it."""
    return "'" + text.replace("'", "'\\''") + "'"
