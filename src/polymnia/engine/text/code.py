"""Code: its programming language, by the label the author gave it or by its syntax."""

from __future__ import annotations

import re

COMMENTS = re.compile(r"^[ \t]*(?:#(?![!\[])|//+|--+|;+|\*(?!/)|/\*+|%+)([^\n]*)$", re.MULTILINE)
"""A comment line of any language."""

_READ = 20_000
# The languages, each with its aliases.
_TABLE = """
    python=py,python3,py3,ipython javascript=js,node,mjs,ecmascript typescript=ts jsx tsx
    bash=sh,shell,zsh,console,shell-session,shellscript fish powershell=ps1 bat yaml=yml json=jsonc,json5,jsonl toml
    ini xml html=htm css scss sass less c=csrc,chdr cpp=c++,cxx,c++src csharp=cs,c# fsharp=f# go=golang
    rust=rs,rustsrc ruby=rb php java=java-source kotlin=kt scala swift objectivec=objective-c dart lua perl=pl r
    julia matlab haskell=hs ocaml elixir=ex erlang=erl clojure lisp scheme
    sql=postgresql,postgres,mysql,sqlite,plpgsql graphql=gql protobuf=proto dockerfile=docker makefile=make cmake
    terraform=tf,hcl nix vim latex=tex diff=patch asm wasm zig nim solidity groovy vbnet=vb fortran cobol pascal
    prolog vue svelte mermaid dot nginx regex http crystal d awk sed cuda verilog vhdl apex abap markdown=md
"""
_NAMES = {
    alias: name
    for name, _, aliases in (entry.partition("=") for entry in _TABLE.split())
    for alias in (name, *aliases.split(","))
}


def _patterns(table: str) -> dict[str, re.Pattern[str]]:
    found: dict[str, list[str]] = {}
    for name, _, pattern in (line.partition(" ") for line in table.strip().splitlines()):
        found.setdefault(name, []).append(pattern)
    return {name: re.compile("|".join(patterns), re.MULTILINE) for name, patterns in found.items()}


# One match of these is enough.
_CERTAIN = _patterns(r"""
python \A#![^\n]*\bpython
python ^[ \t]*(?:async )?def \w+\([^)\n]*\)[^:\n]*:[ \t]*$
python ^from [\w.]+ import [\w*(]
python ^if __name__ == ['\"]__main__
bash \A#![^\n]*\b(?:ba|z|k)?sh\b
php <\?php\b
go ^package [a-z]\w*[ \t]*$(?s:.*?)^(?:import|func|type|var)\b
rust ^[ \t]*(?:pub )?fn \w+(?:<[^>\n]*>)?\([^)\n]*\)[^\n{;]*\{
rust ^use (?:std|crate|super)::
rust \blet mut \w
java ^[ \t]*(?:public|private|protected) (?:static |final |abstract )*(?:class|interface|enum|void) \w
java \bSystem\.out\.print
csharp ^using System[\w.]*;
csharp ^[ \t]*namespace [\w.]+[ \t]*[;{]?[ \t]*$(?s:.*?)\b(?:class|interface|record) \w
cpp ^#include <(?:iostream|vector|string|memory|map|algorithm)>
cpp \bstd::\w
c ^#include <(?:stdio|stdlib|string|unistd|stdint)\.h>
sql (?i:^[ \t]*(?:select\b[^;]{1,2000}?\bfrom\b|update \w+ set\b|delete from \w|insert into \w|alter table\b))
sql (?i:^[ \t]*create (?:or replace )?(?:table|view|index|function)\b)
html (?i:\A\s*<!doctype html)
html (?i:<html[\s>])
xml \A\s*<\?xml\b
diff ^(?:diff --git |@@ -\d+(?:,\d+)? \+\d)
dockerfile \A(?:#[^\n]*\n|\s)*FROM [\w./:-]+(?: AS \w+)?[ \t]*$
typescript ^(?:export )?(?:interface \w+[^{\n]*\{|type \w+ = )
typescript \b(?:const|let) \w+: (?:string|number|boolean|\w+\[\])
typescript \)\s*: (?:Promise<|string|number|boolean|void)\b
kotlin ^[ \t]*(?:suspend |private |override )*fun \w+\([^)\n]*\)[^\n]*[{=]
swift ^import (?:Foundation|SwiftUI|UIKit)\b
swift ^[ \t]*func \w+\([^)\n]*\) -> \w+ \{
ruby ^[ \t]*def \w+[?!]?(?:\([^)\n]*\))?[ \t]*$(?s:.*?)^[ \t]*end\b
ruby ^require ['\"]
ruby \bputs ['\"]
css ^[ \t]*[.#]?[a-zA-Z][\w .#:>,-]*\{\s*(?:[a-z-]+\s*:\s*[^;{}]+;\s*)+\}
makefile ^[\w./-]+:[^=\n]*\n\t\S
latex \\documentclass
latex \\begin\{\w+\*?\}
""")
# Of these, two different matches are.
_LIKELY = _patterns(r"""
javascript \b(?:const|let|var) \w+ =[ ]
javascript => ?[{(]
javascript \bfunction ?\w*\(
javascript \bconsole\.(?:log|error)\(
javascript \brequire\(['\"]
javascript ^import .* from ['\"]
javascript ^export (?:default|const|function|class)\b
javascript \bdocument\.
javascript \bawait \w
javascript ===
python ^import [\w.]+(?: as \w+)?[ \t]*$
python ^[ \t]*(?:for \w+ in .*|while .*|if .*|elif .*|else|try|except.*|with .* as \w+|class \w+.*):[ \t]*$
python \bprint\(
python \bself\.
python ^@\w+
python \bNone\b
python \blen\(
bash ^[ \t]*\$ \w
bash ^[ \t]*(?:sudo |apt|apt-get|brew|pip3? install|npm (?:install|run|i)|cd |mkdir |curl |export \w+=|echo )
bash ^[ \t]*(?:git (?:clone|commit|push|pull|checkout|add)|docker |kubectl |chmod |ls\b|cat |grep )
bash \$\{?\w+\}?
bash \bfi$
bash ; then$
bash \bdone$
java \bnew \w+(?:<[^>\n]*>)?\(
java \b(?:String|int|boolean|List<\w+>) \w+ =[ ]
java @Override
java ^import java
yaml ^[\w-]+:[ \t]*$
yaml ^[\w-]+: [^\n{};]+$
yaml ^[ ]{2,}-? ?[\w-]+: ?
""")


def of_label(label: str) -> str | None:
    """The language of a fence's label; None for `text`, `output` and other labels that are not a language."""
    word = label.strip().lower().strip("{}.").removeprefix("language-").split(",")[0]
    return _NAMES.get(word) if word else None


def of_type(kind: str) -> str | None:
    """The language of a content type such as text/x-python; None if it is not one of code."""
    top, _, word = kind.partition("/")
    word = word.removeprefix("x-").removeprefix("vnd.").removesuffix("-source").removesuffix("-script")
    if top not in ("text", "application") or word in ("plain", "markdown", "html"):
        return None
    return of_label(word)


def of_code(code: str) -> str | None:
    """The language of unlabelled code, by its syntax; None if that is inconclusive."""
    head = code[:_READ].strip()
    if len(head) < 8:
        return None
    if head[0] in "{[" and _is_json(code):
        return "json"
    for name, pattern in _CERTAIN.items():
        if pattern.search(head):
            return name
    found = {
        name: len({match.group().strip() for match in pattern.finditer(head[:4000])})
        for name, pattern in _LIKELY.items()
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
