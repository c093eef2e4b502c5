"""Programs: what language a piece of code is in, by what its author calls it or by signs of its own."""

from __future__ import annotations

import re

__all__ = ["COMMENTS", "of_code", "of_label", "of_type"]

COMMENTS = re.compile(r"^[ \t]*(?:#(?![!\[])|//+|--+|;+|\*(?!/)|/\*+|%+)([^\n]*)$", re.MULTILINE)
"""Lines that are a comment in one language or another."""

_READ = 20_000
_ALIASES = {
    "py": "python", "python3": "python", "py3": "python", "ipython": "python", "js": "javascript", "node": "javascript",
    "mjs": "javascript", "ecmascript": "javascript", "ts": "typescript", "sh": "bash", "shell": "bash", "zsh": "bash",
    "console": "bash", "shell-session": "bash", "shellscript": "bash", "yml": "yaml", "c++": "cpp", "cxx": "cpp",
    "csrc": "c", "c++src": "cpp", "chdr": "c", "golang": "go", "rs": "rust", "rustsrc": "rust", "rb": "ruby",
    "kt": "kotlin", "cs": "csharp", "c#": "csharp", "f#": "fsharp", "objective-c": "objectivec", "ps1": "powershell",
    "postgresql": "sql", "postgres": "sql", "mysql": "sql", "sqlite": "sql", "plpgsql": "sql", "htm": "html",
    "docker": "dockerfile", "make": "makefile", "md": "markdown", "tex": "latex", "hs": "haskell", "ex": "elixir",
    "erl": "erlang", "pl": "perl", "jsonc": "json", "json5": "json", "jsonl": "json", "patch": "diff", "vb": "vbnet",
    "java-source": "java", "gql": "graphql", "tf": "terraform", "hcl": "terraform", "proto": "protobuf",
}  # fmt: skip
_LANGUAGES = frozenset({
    "python", "javascript", "typescript", "jsx", "tsx", "bash", "fish", "powershell", "bat", "yaml", "json", "toml",
    "ini", "xml", "html", "css", "scss", "sass", "less", "c", "cpp", "csharp", "fsharp", "go", "rust", "ruby", "php",
    "java", "kotlin", "scala", "swift", "objectivec", "dart", "lua", "perl", "r", "julia", "matlab", "haskell", "ocaml",
    "elixir", "erlang", "clojure", "lisp", "scheme", "sql", "graphql", "protobuf", "dockerfile", "makefile", "cmake",
    "terraform", "nix", "vim", "latex", "diff", "asm", "wasm", "zig", "nim", "solidity", "groovy", "vbnet", "fortran",
    "cobol", "pascal", "prolog", "vue", "svelte", "mermaid", "dot", "nginx", "regex", "http", "crystal", "d", "awk",
    "sed", "cuda", "verilog", "vhdl", "apex", "abap", "markdown",
})  # fmt: skip


def _signs(**patterns: str) -> dict[str, re.Pattern[str]]:
    return {name: re.compile(pattern, re.MULTILINE) for name, pattern in patterns.items()}


# One of these settles it.
_CERTAIN = _signs(
    python=r"\A#![^\n]*\bpython|^[ \t]*(?:async )?def \w+\([^)\n]*\)[^:\n]*:[ \t]*$"
    r"|^from [\w.]+ import [\w*(]|^if __name__ == ['\"]__main__",
    bash=r"\A#![^\n]*\b(?:ba|z|k)?sh\b",
    php=r"<\?php\b",
    go=r"^package [a-z]\w*[ \t]*$(?s:.*?)^(?:import|func|type|var)\b",
    rust=r"^[ \t]*(?:pub )?fn \w+(?:<[^>\n]*>)?\([^)\n]*\)[^\n{;]*\{|^use (?:std|crate|super)::|\blet mut \w",
    java=r"^[ \t]*(?:public|private|protected) (?:static |final |abstract )*(?:class|interface|enum|void) \w"
    r"|\bSystem\.out\.print",
    csharp=r"^using System[\w.]*;|^[ \t]*namespace [\w.]+[ \t]*[;{]?[ \t]*$(?s:.*?)\b(?:class|interface|record) \w",
    cpp=r"^#include <(?:iostream|vector|string|memory|map|algorithm)>|\bstd::\w",
    c=r"^#include <(?:stdio|stdlib|string|unistd|stdint)\.h>",
    sql=r"(?i)^[ \t]*(?:select\b[^;]{1,2000}?\bfrom\b|insert into \w|create (?:or replace )?(?:table|view"
    r"|index|function)\b|update \w+ set\b|delete from \w|alter table\b)",
    html=r"(?i)\A\s*<!doctype html|<html[\s>]",
    xml=r"\A\s*<\?xml\b",
    diff=r"^(?:diff --git |@@ -\d+(?:,\d+)? \+\d)",
    dockerfile=r"\A(?:#[^\n]*\n|\s)*FROM [\w./:-]+(?: AS \w+)?[ \t]*$",
    typescript=r"^(?:export )?(?:interface \w+[^{\n]*\{|type \w+ = )|\b(?:const|let) \w+: (?:string|number"
    r"|boolean|\w+\[\])|\)\s*: (?:Promise<|string|number|boolean|void)\b",
    kotlin=r"^[ \t]*(?:suspend |private |override )*fun \w+\([^)\n]*\)[^\n]*[{=]",
    swift=r"^import (?:Foundation|SwiftUI|UIKit)\b|^[ \t]*func \w+\([^)\n]*\) -> \w+ \{",
    ruby=r"^[ \t]*def \w+[?!]?(?:\([^)\n]*\))?[ \t]*$(?s:.*?)^[ \t]*end\b|^require ['\"]|\bputs ['\"]",
    css=r"^[ \t]*[.#]?[a-zA-Z][\w .#:>,-]*\{\s*(?:[a-z-]+\s*:\s*[^;{}]+;\s*)+\}",
    makefile=r"^[\w./-]+:[^=\n]*\n\t\S",
    latex=r"\\documentclass|\\begin\{\w+\*?\}",
)  # fmt: skip
# Two of these do, in different places.
_LIKELY = _signs(
    javascript=r"\b(?:const|let|var) \w+ = |=> ?[{(]|\bfunction ?\w*\(|\bconsole\.(?:log|error)\("
    r"|\brequire\(['\"]|^import .* from ['\"]|^export (?:default|const|function|class)\b"
    r"|\bdocument\.|\bawait \w|===",
    python=r"^import [\w.]+(?: as \w+)?[ \t]*$|^[ \t]*(?:for \w+ in .*|while .*|if .*|elif .*|else|try"
    r"|except.*|with .* as \w+|class \w+.*):[ \t]*$|\bprint\(|\bself\.|^@\w+|\bNone\b|\blen\(",
    bash=r"^[ \t]*\$ \w|^[ \t]*(?:sudo |apt|apt-get|brew|pip3? install|npm (?:install|run|i)|git (?:clone"
    r"|commit|push|pull|checkout|add)|cd |mkdir |curl |export \w+=|echo |docker |kubectl |chmod |ls\b"
    r"|cat |grep )|\$\{?\w+\}?|\bfi$|; then$|\bdone$",
    java=r"\bnew \w+(?:<[^>\n]*>)?\(|\b(?:String|int|boolean|List<\w+>) \w+ = |@Override|^import java",
    yaml=r"^[\w-]+:[ \t]*$|^[\w-]+: [^\n{};]+$|^[ ]{2,}-? ?[\w-]+: ?",
)  # fmt: skip


def of_label(label: str) -> str | None:
    """The language an author names on a fence; None for `text`, `output` and other words that are no language."""
    word = label.strip().lower().strip("{}.").removeprefix("language-").split(",")[0]
    word = _ALIASES.get(word, word)
    return word if word in _LANGUAGES else None


def of_type(kind: str) -> str | None:
    """The language a content type names (text/x-python); None where it names none."""
    top, _, word = kind.partition("/")
    word = word.removeprefix("x-").removeprefix("vnd.").removesuffix("-source").removesuffix("-script")
    if top not in ("text", "application") or word in ("plain", "markdown", "html"):
        return None
    return of_label(word)


def of_code(code: str) -> str | None:
    """The language of code that is not labelled; None when its signs do not settle it."""
    head = code[:_READ].strip()
    if len(head) < 8:
        return None
    if head[0] in "{[" and _is_json(code):
        return "json"
    for name, sign in _CERTAIN.items():
        if sign.search(head):
            return name
    found = {
        name: len({match.group().strip() for match in sign.finditer(head[:4000])}) for name, sign in _LIKELY.items()
    }
    best = max(found, key=lambda name: found[name])
    second = sorted(found.values())[-2]
    enough = 2 if best != "yaml" else max(2, (head.count("\n") + 1) * 2 // 3)
    return best if found[best] >= enough and found[best] > second else None


def _is_json(code: str) -> bool:
    from msgspec import DecodeError
    from msgspec.json import decode

    try:
        decode(code)
    except (DecodeError, RecursionError, ValueError):
        return False
    return True
