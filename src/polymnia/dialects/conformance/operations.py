"""The tools the suite calls: each shows one thing a server must do right."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Any

from msgspec import Struct

from polymnia.dialects.conformance.media import audio, embedded, image, text
from polymnia.dialects.conformance.prompts import RESOURCES, TEMPLATES, prompt, prompts
from polymnia.errors import Fault, Invalid
from polymnia.operation import Context, Operation, Registry, Reply

__all__ = ["registry"]

_PAUSE = 0.12  # seconds: longer than two tellings of progress are apart
_LONG = 1.5  # seconds: longer than a client waits before its answer becomes a stream
_MISSING_CAPABILITY = -32021
_SCHEMA = {
    "$schema": "https://json-schema.org/draft/2020-12/schema",
    "type": "object",
    "$defs": {
        "address": {
            "$anchor": "addressDef",
            "type": "object",
            "properties": {"street": {"type": "string"}, "city": {"type": "string"}},
        }
    },
    "properties": {
        "name": {"type": "string"},
        "address": {"$ref": "#/$defs/address"},
        "contactMethod": {"type": "string", "enum": ["phone", "email"]},
        "phone": {"type": "string"},
        "email": {"type": "string"},
    },
    "allOf": [{"anyOf": [{"required": ["phone"]}, {"required": ["email"]}]}],
    "if": {"properties": {"contactMethod": {"const": "phone"}}, "required": ["contactMethod"]},
    "then": {"required": ["phone"]},
    "else": {"required": ["email"]},
    "additionalProperties": False,
}


class _Nothing(Struct):
    """No parameters."""


class _Routed(Struct):
    """A parameter that clients repeat in a header."""

    region: str


def _says(*blocks: dict[str, Any]) -> Callable[[Context, Any], Reply]:
    return lambda context, given: Reply(content=blocks)


def _fails(context: Context, given: _Nothing) -> Reply:
    raise Invalid("This tool intentionally returns an error for testing", hint="")


def _logs(context: Context, given: _Nothing) -> Reply:
    for said in ("Tool execution started", "Tool processing data", "Tool execution completed"):
        if context.tell is not None:
            context.tell("info", said)
        time.sleep(_PAUSE)
    return Reply(text="Three things were logged.")


def _progresses(context: Context, given: _Nothing) -> Reply:
    for done in (0, 50, 100):
        if context.step is not None:
            context.step(done, 100)
        time.sleep(_PAUSE)
    return Reply(text="All steps are done.")


def _lasts(context: Context, given: _Nothing) -> Reply:
    time.sleep(_LONG)
    return Reply(text="Whoever left and came back reads this too.")


def _needs_sampling(context: Context, given: _Nothing) -> Reply:
    """This server never asks a client for anything, so what would need that is always refused."""
    needed: dict[str, Any] = {"requiredCapabilities": {"sampling": {}}}
    return Reply(refusal=(_MISSING_CAPABILITY, "This needs the client capability sampling", needed))


def _routed(context: Context, given: _Routed) -> Reply:
    return Reply(text=f"Region: {given.region}")


def _word(fault: Fault) -> Reply:
    return Reply(text=fault.message, is_error=True)


def _unknown(name: str) -> Reply:
    return Reply(refusal=(-32602, f"Unknown tool: {name}", {}))


def registry() -> Registry:
    """A new one, whose lists can change."""
    mixed = embedded("test://mixed-content-resource", "application/json", '{"test":"data","value":123}')
    found = Registry(
        name="conformance", instructions="Fixtures of the conformance suite.", operations={}, word=_word,
        unknown=_unknown, resources=RESOURCES, templates=TEMPLATES, prompts=prompts(), changing=("tools", "prompts"),
    )  # fmt: skip

    def change_tools(context: Context, given: _Nothing) -> Reply:
        if found.operations.pop("test_added", None) is None:
            add("test_added", _says(text("This tool comes and goes.")))
        return _changed(context, "tools")

    def change_prompts(context: Context, given: _Nothing) -> Reply:
        held = [one for one in found.prompts if one.name != "test_added"]
        found.prompts = held if len(held) < len(found.prompts) else [*held, prompt("test_added")]
        return _changed(context, "prompts")

    def add(name: str, run: Callable[[Context, Any], Reply], params: type = _Nothing, **more: Any) -> None:
        found.operations[name] = Operation(
            name=name, title=name, help=f"The suite's {name}.", params=params, output=None, run=run, reads=True, **more
        )

    add("test_simple_text", _says(text("This is a simple text response for testing.")))
    add("test_image_content", _says(image()))
    add("test_audio_content", _says(audio()))
    resource = embedded("test://embedded-resource", "text/plain", "This is an embedded resource content.")
    add("test_embedded_resource", _says(resource))
    add("test_multiple_content_types", _says(text("Multiple content types test:"), image(), mixed))
    add("test_error_handling", _fails)
    add("test_tool_with_logging", _logs)
    add("test_logging_tool", _logs)
    add("test_tool_with_progress", _progresses)
    add("test_streaming_elicitation", _progresses)
    add("test_reconnection", _lasts)
    add("test_missing_capability", _needs_sampling)
    add("test_trigger_tool_change", change_tools)
    add("test_trigger_prompt_change", change_prompts)
    add("test_custom_header", _routed, _Routed, headers={"region": "Region"})
    add("json_schema_2020_12_tool", _says(text("The schema is what matters.")), takes=lambda: _SCHEMA)
    return found


def _changed(context: Context, name: str) -> Reply:
    if context.changed is not None:
        context.changed(name)
    return Reply(text=f"The list of {name} is another one now.")
