"""Write the man page from the tables of commands and settings: python docs/build_man.py

With ``--check`` nothing is written: a stale page is named, and the exit code is 1.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator
from pathlib import Path
from textwrap import wrap

from polymnia import __version__
from polymnia.cli import commands
from polymnia.cli.completion import CommandArgument, arguments
from polymnia.settings import SETTINGS

PAGE = Path(__file__).resolve().parent.parent / "packaging" / "polymnia.1"
DATE = "November 18, 2026"
_EXAMPLES = {
    "Serve one client on stdin and stdout, with the tools made for agents:": "polymnia stdio --dialect native",
    "Remember something, and find it by its meaning:": "polymnia add 'Ann likes green tea'\n"
    "polymnia search 'what does Ann drink?'",
    "Serve a team, with a backup every six hours:": "polymnia keys add ann\n"
    "polymnia serve --host 0.0.0.0 --backup-dir backups",
}


def escaped(text: str) -> str:
    """A text as a line of the page: nothing in it is a request."""
    text = text.replace("\\", "\\e").replace("–", "\\(en").replace("…", "...").replace("“", '"').replace("”", '"')
    return "\\&" + text if text[:1] in ".'" else text


def sentences(text: str) -> Iterator[str]:
    """A text with each sentence on a line of its own, as the format wants it."""
    for part in text.replace("; ", ";\n").replace(". ", ".\n").splitlines():
        yield from map(escaped, wrap(part, 78, break_long_words=False, break_on_hyphens=False))


def item(one: CommandArgument) -> Iterator[str]:
    """An option or argument and what it does."""
    value = "" if one.value is None else " Ns = Ns Ar " + ("|".join(one.choices) or one.value).replace(" ", "_")
    yield f".It Fl Fl {one.name.lstrip('-')}{value}" if one.name.startswith("-") else f".It Ar {one.value or one.name}"
    yield from sentences(one.help[:1].upper() + one.help[1:].rstrip(".") + ".")


def page() -> str:
    """The whole page."""
    known = arguments()
    flags = {setting.flag for setting in SETTINGS}
    lines = [
        '.\\" Made by docs/build_man.py from the tables of commands and settings.',
        f".Dd {DATE}",
        ".Dt POLYMNIA 1",
        ".Os",
        ".Sh NAME",
        ".Nm polymnia",
        ".Nd one memory for AI agents, spoken in every dialect they already know",
        ".Sh SYNOPSIS",
        ".Nm",
        ".Ar command",
        ".Op Ar argument ...",
        ".Op Fl Fl option Ns = Ns Ar value ...",
        ".Sh DESCRIPTION",
        ".Nm",
        "keeps what AI agents are told, and finds it again by words and by meaning.",
        *sentences("It is a server of the Model Context Protocol, and a command for the people whose memory it is."),
        *sentences("Started by a program without arguments it serves that program on standard input and output."),
        f"This page describes version {__version__}.",
        ".Sh COMMANDS",
        "Options stand after the command.",
        "Every command that prints something for people also takes",
        ".Fl Fl json ,",
        "for scripts.",
    ]
    for command in commands.COMMANDS:
        own = [one for one in known[command.name] if one.name not in flags and one.name not in ("--help", "--json")]
        taken = [one.name for one in known[command.name] if one.name in flags]
        lines += [f".Ss polymnia {command.name}", *sentences(f"{command.help[0].upper()}{command.help[1:]}.")]
        if own:
            lines.append(".Bl -tag -width Ds")
            for one in own:
                lines += item(one)
            lines.append(".El")
        if len(taken) > 12:
            lines += [
                ".Pp",
                f"It takes the settings below{', but for those of the network' * (command.name == 'stdio')}.",
            ]
        elif taken:
            lines += [".Pp", "Settings it takes:"]
            lines += [f".Fl Fl {flag.lstrip('-')}{' ,' if flag != taken[-1] else ' .'}" for flag in taken]
    lines += [
        ".Sh SETTINGS",
        *sentences("A setting is an option, a variable of the environment, or a line in the file of settings."),
        ".Bl -tag -width Ds",
    ]
    serve = {one.name: one for one in known["serve"]}
    for setting in SETTINGS:
        if setting.flag in serve:
            lines += item(serve[setting.flag])
    lines += [".El", ".Sh ENVIRONMENT", "Every setting has a variable:", ".Ev POLYMNIA_", "and its name in capitals."]
    lines += [".Bl -tag -width Ds", ".It Ev NO_COLOR", "Print without colours.", ".El", ".Sh FILES"]
    lines += [".Bl -tag -width Ds", ".It Pa ~/.local/share/polymnia/memory.db", "The store, where none is named."]
    lines += [".It Pa ~/.config/polymnia/polymnia.toml", "Settings, one a line."]
    lines += [".It Pa ~/.config/polymnia/keys.json", "Keys for the network, hashed.", ".El"]
    lines += [".Pp", "macOS and Windows have folders of their own for these.", ".Sh EXIT STATUS"]
    lines += ["0 if all was done, 1 if not, with the reason on standard error,"]
    lines += ["2 if the command was not understood."]
    lines.append(".Sh EXAMPLES")
    for about, typed in _EXAMPLES.items():
        lines += [escaped(about), ".Bd -literal -offset indent", *map(escaped, typed.splitlines()), ".Ed", ".Pp"]
    lines.pop()
    return "\n".join(lines) + "\n"


def main(words: list[str]) -> int:
    """Write the page, or check it."""
    text = page()
    if words == ["--check"]:
        stale = not PAGE.exists() or PAGE.read_text(encoding="utf-8") != text
        if stale:
            print(f"{PAGE.name} is stale: python docs/build_man.py")
        return int(stale)
    PAGE.write_text(text, encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
