"""Fill the tables of docs/reference from the code: python docs/build_reference.py

The prose of the pages is written by hand; what stands between ``<!-- name -->`` and ``<!-- end -->`` is made by the
function of that name in ``BLOCKS``. With ``--check`` nothing is written: stale pages are named, and the exit code is 1.
"""

from __future__ import annotations

import argparse
import json
import re
import sys
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, TypeVar

from polymnia import app, errors
from polymnia.cli import commands
from polymnia.dialects.associative import refusals as associative
from polymnia.dialects.content import TOOLS
from polymnia.dialects.content import refusals as content
from polymnia.dialects.content.call import OperationParameters
from polymnia.dialects.content.shapes import Answer
from polymnia.dialects.graph.behaviours import BEHAVIOURS
from polymnia.operation import Operation, Registry
from polymnia.schemas import JsonObject, components
from polymnia.settings import SETTINGS
from polymnia.transports import errors as rpc_errors

FOLDER = Path(__file__).resolve().parent / "reference"
COMMAND = "python docs/build_reference.py"
T = TypeVar("T")

# ── Markdown ─────────────────────────────────────────────────────────────────────────────────────────────


def table(head: str, rows: Iterable[Sequence[str]]) -> str:
    """A table; ``head`` names its columns, with | between them."""
    columns = head.split("|")
    lines = [columns, ["---"] * len(columns), *rows]
    return "\n".join("| " + " | ".join(cell.replace("|", r"\|") for cell in line) + " |" for line in lines)


def code(text: str) -> str:
    """A code span."""
    return f"`{text}`"


def codes(texts: Iterable[str]) -> str:
    """Code spans with commas between them."""
    return ", ".join(map(code, texts))


def links(names: Iterable[str]) -> str:
    """Links to sections of the same page."""
    return ", ".join(f"[{code(name)}](#{name})" for name in names)


def grouped(values: Mapping[str, T]) -> list[tuple[T, list[str]]]:
    """The distinct values, each with the names that have it."""
    groups: dict[T, list[str]] = {}
    for name, value in values.items():
        groups.setdefault(value, []).append(name)
    return list(groups.items())


# ── Schemas ──────────────────────────────────────────────────────────────────────────────────────────────


def schema(kind: Any) -> JsonObject:
    """The JSON Schema of a type, with every reference replaced by what it refers to."""
    (top,), parts = components([kind])

    def resolved(node: Any) -> Any:
        if isinstance(node, list):
            return [resolved(one) for one in node]
        if not isinstance(node, dict):
            return node
        if "$ref" in node:
            node = parts[node["$ref"]] | {key: value for key, value in node.items() if key != "$ref"}
        return {key: resolved(value) for key, value in node.items()}

    whole: JsonObject = resolved(top)
    return whole


def type_of(node: JsonObject) -> str:
    """A type in words, with its bounds."""
    if "enum" in node:
        return " or ".join(code(str(one)) for one in node["enum"])
    if "anyOf" in node:
        return " or ".join(map(type_of, node["anyOf"]))
    kind = node.get("type", "any value")
    if kind == "array":
        return f"list of {types_of(node['items'])}"
    if kind == "object" and isinstance(node.get("additionalProperties"), dict):
        return f"object of {types_of(node['additionalProperties'])}"
    words = " or ".join(kind) if isinstance(kind, list) else str(kind)
    for least, most, unit in (("minimum", "maximum", ""), ("minLength", "maxLength", " characters")):
        if most in node:
            words += f", {node.get(least, 0):,} to {node[most]:,}{unit}"
        elif least in node:
            words += f", {node[least]:,}{unit} or more"
    return words


def types_of(node: JsonObject) -> str:
    """The type of several values: strings, objects, but `one` or `other`."""
    words = type_of(node)
    return f"{words}s" if words.isalpha() else words


def fields(node: JsonObject, path: str = "") -> Iterator[tuple[str, JsonObject, bool]]:
    """The fields of an object and of the objects in it: path, schema, and whether it is required."""
    for name, field in node.get("properties", {}).items():
        yield path + name, field, name in node.get("required", ())
        inner, end = field, ""
        while inner.get("type") == "array":
            inner, end = inner["items"], f"{end}[]"
        if isinstance(inner.get("additionalProperties"), dict):
            inner, end = inner["additionalProperties"], f"{end}.*"
        yield from fields(inner, f"{path}{name}{end}.")


def parameters(node: JsonObject) -> str:
    """The table of what a tool takes."""
    rows = []
    for path, field, required in fields(node):
        default = code(json.dumps(field["default"])) if "default" in field else ""
        description = field.get("description", "").removeprefix("Required. ")
        rows.append([code(path), type_of(field), "required" if required else default, description])
    return table("parameter|type|default|description", rows) if rows else "No parameters of its own."


def answer(node: JsonObject) -> str:
    """The table of what a tool answers."""
    rows = []
    for path, field, required in fields(node):
        kind = type_of(field) if required else f"{type_of(field)}; optional"
        rows.append([code(path), kind, field.get("description", "")])
    return table("answer|type|description", rows) if rows else "The answer is an empty object."


def without(node: JsonObject, common: JsonObject) -> JsonObject:
    """A schema without the fields that another one has too."""
    own = {name: field for name, field in node["properties"].items() if name not in common["properties"]}
    return {**node, "properties": own}


# ── Operations ───────────────────────────────────────────────────────────────────────────────────────────


def registry(dialect: str) -> Registry:
    """A dialect with the default settings."""
    return app.registry(app.settings({"dialect": dialect}, {}))


def tools(*dialects: str) -> str:
    """The tools of some dialects; where the dialects differ, each part says whose it is."""
    operations = {dialect: registry(dialect).operations for dialect in dialects}
    names = list(operations[dialects[0]])
    sections = [links(names)]
    for name in names:
        sections.append(f"### {name}")
        same = {dialect: operations[dialect][name] for dialect in dialects}
        for text, users in grouped({dialect: description(one) for dialect, one in same.items()}):
            sections.append(text if len(users) == len(dialects) else f"- {codes(users)}: {text}")
        takes = grouped({dialect: parameters(schema(one.params)) for dialect, one in same.items()})
        gives = grouped({dialect: answer(schema(one.output)) for dialect, one in same.items()})
        for text, users in takes + gives:
            sections.append(text if len(users) == len(dialects) else f"In {codes(users)}:\n\n{text}")
    return "\n\n".join(sections)


def description(tool: Operation) -> str:
    """What a tool does, and which annotations it has."""
    hints = {"readOnlyHint": tool.reads, "destructiveHint": tool.destroys, "idempotentHint": tool.idempotent}
    annotations = codes(name for name, is_set in hints.items() if is_set)
    return tool.help.replace("<", "&lt;") + (f" ({annotations})" if annotations else "")


def content_tools() -> str:
    """The tools of the content dialect and their operations."""
    return table("tool|operations", ([code(name), links(tool.operations())] for name, tool in TOOLS.items()))


def content_operations() -> str:
    """The operations of the content dialect, without what all of them take and answer."""
    sections = []
    for tool, operations in ((name, tool.operations()) for name, tool in TOOLS.items()):
        for name, one in operations.items():
            text = f"{one.help} An operation of {code(tool)}{', which only reads' if one.reads else ''}."
            text += "" if one.project else " `project_id` is not required."
            takes = without(schema(one.params), schema(OperationParameters))
            sections += [f"### {name}", text, parameters(takes), answer(without(schema(one.answer), schema(Answer)))]
    return "\n\n".join(sections)


def resources() -> str:
    """The resources and the templates of their addresses."""
    every = registry("all")
    found = [(one.uri, one.help, one.mime) for one in every.resources]
    found += [(one.pattern, one.help, one.mime) for one in every.templates]
    return table("address|description|type", ([code(address), help, code(mime)] for address, help, mime in found))


def prompts() -> str:
    """The prompts and their arguments."""
    found = []
    for one in registry("all").prompts:
        given = (f"{code(a.name)}{'' if a.required else ' (optional)'}: {a.help}" for a in one.arguments)
        found.append([code(one.name), one.help, " ".join(given)])
    return table("prompt|description|arguments", found)


# ── Settings and commands ────────────────────────────────────────────────────────────────────────────────


def subcommands() -> dict[str, argparse.ArgumentParser]:
    """The parser of each command."""
    return next(dict(a.choices) for a in commands.parser()._actions if isinstance(a, argparse._SubParsersAction))


def settings() -> str:
    """The settings, and the commands that take each."""
    takes = {name: {action.dest for action in parser._actions} for name, parser in subcommands().items()}
    kinds: dict[Any, str] = {int: "whole number", float: "number"}
    found = []
    for one in SETTINGS:
        default = "none" if one.default is None else code(f"{one.default:g}" if one.kind is float else str(one.default))
        names = [name for name in takes if one.name in takes[name]]
        without = [name for name in takes if name not in names]
        users = f"every command but {codes(without)}" if len(without) <= 2 else codes(names)
        flag = "none" if one.secret else code(one.flag)
        found.append(
            [flag, code(one.variable), codes(one.choices) or kinds.get(one.kind, "text"), default, one.help, users]
        )
    return table("flag|variable|value|default|description|commands", found)


def limits() -> str:
    """The settings that are limits."""
    found = (one for one in SETTINGS if one.name.startswith("max_"))
    return table(
        "setting|default|description",
        ([code(one.flag), "none" if one.default is None else f"{one.default:,}", one.help] for one in found),
    )


def usage(action: argparse.Action) -> str:
    """How an argument is written on the command line."""
    value = str(action.metavar or ("{" + ",".join(action.choices) + "}" if action.choices else action.dest.upper()))
    if action.nargs in ("+", "*"):
        value += "…"
    if action.nargs in ("?", "*"):
        value = f"[{value}]"
    if not action.option_strings:
        return value
    return action.option_strings[-1] if action.nargs == 0 else f"{action.option_strings[-1]} {value}"


def command_list() -> str:
    """The commands at a glance."""
    named = ((f"[`polymnia {one.name}`](#polymnia-{one.name})", one.help) for one in commands.COMMANDS)
    return table("command|description", named)


def command_sections() -> str:
    """The commands with their options."""
    names = {setting.name for setting in SETTINGS}
    sections = []
    for name, parser in subcommands().items():
        shown = [action for action in parser._actions if action.help != argparse.SUPPRESS and action.dest != "help"]
        own = [action for action in shown if action.dest not in names]
        shared = [action.option_strings[-1] for action in shown if action.dest in names]
        line = [usage(a) if a.required or not a.option_strings else f"[{usage(a)}]" for a in own]
        line = ["polymnia", name, *line, *(["[settings]"] if shared else [])]
        sections += [f"## polymnia {name}", f"```text\n{' '.join(line)}\n```", parser.description or ""]
        if own:
            sections.append(table("argument|description", ([code(usage(a)), str(a.help)] for a in own)))
        if shared:
            sections.append(f"[Settings](settings.md): {codes(shared)}.")
    return "\n\n".join(sections)


# ── Errors ───────────────────────────────────────────────────────────────────────────────────────────────


def error_tree() -> str:
    """The errors as their module draws them."""
    lines = (errors.__doc__ or "").splitlines()
    return "\n".join(["```text", *(line[4:] for line in lines if line.startswith("    ")), "```"])


def error_sections() -> str:
    """The errors: meaning, hint, and the code in each form."""
    sections = []
    for kind, number in rpc_errors.CODES.items():
        meaning = " ".join((kind.__doc__ or "").split()).replace("``", "`")
        status, type_ = content.CODES[kind]
        sections += [
            f"### {kind.code}",
            f"{meaning} *{kind.hint}*",
            f"{code(kind.__name__)} in Python, {number} in JSON-RPC, {code(associative.CATEGORIES[kind])} in "
            f"`associative`, {status} {code(type_)} in `content`.",
        ]
    return "\n\n".join(sections)


def error_words() -> str:
    """How each dialect words an error."""
    texts = {}
    for dialect in (*BEHAVIOURS, "associative", "content"):
        reply = registry(dialect).word(errors.NotFound(["Ann"]))
        refusal = dict(zip(("code", "message", "data"), reply.refusal, strict=True)) if reply.refusal else None
        texts[dialect] = reply.text or json.dumps(refusal or reply.value)
    return "\n\n".join(f"{codes(names)}:\n\n```text\n{text}\n```" for text, names in grouped(texts))


def content_codes() -> str:
    """The codes of the content dialect and the errors that have each."""
    groups = sorted(grouped({kind.code: value for kind, value in content.CODES.items()}))
    return table("code|`error_type`|errors", ([str(n), code(t), links(names)] for (n, t), names in groups))


# ── Writing ──────────────────────────────────────────────────────────────────────────────────────────────

BLOCKS: dict[str, Callable[[], str]] = {
    "graph tools": lambda: tools(*BEHAVIOURS),
    "associative tools": lambda: tools("associative"),
    "content tools": content_tools,
    "content parameters": lambda: parameters(schema(OperationParameters)),
    "content answer": lambda: answer(schema(Answer)),
    "content operations": content_operations,
    "resources": resources,
    "prompts": prompts,
    "settings": settings,
    "limits": limits,
    "command list": command_list,
    "commands": command_sections,
    "error tree": error_tree,
    "errors": error_sections,
    "error words": error_words,
    "content codes": content_codes,
}


def filled(page: str) -> str:
    """A page whose blocks say what the code says."""

    def block(found: re.Match[str]) -> str:
        return f"<!-- {found[1]} -->\n\n{BLOCKS[found[1]]()}\n\n<!-- end -->"

    return re.sub(r"<!-- ((?!end)[\w ]+) -->.*?<!-- end -->", block, page, flags=re.DOTALL)


def main() -> int:
    """Fill the pages, or check them."""
    parser = argparse.ArgumentParser(description="Fill the tables of docs/reference from the code.")
    parser.add_argument("--check", action="store_true", help="write nothing; name the pages that are stale")
    parser.add_argument("--folder", type=Path, default=FOLDER, help="where the pages are (default: docs/reference)")
    chosen = parser.parse_args()
    status = 0
    for path in sorted(chosen.folder.glob("*.md")):
        before = path.read_text(encoding="utf-8")
        if (text := filled(before)) == before:
            continue
        if chosen.check:
            print(f"{path.name} is stale. Run: {COMMAND}", file=sys.stderr)
            status = 1
        else:
            path.write_text(text, encoding="utf-8", newline="\n")
    return status


if __name__ == "__main__":
    sys.exit(main())
