"""Fixtures of the protocol's conformance suite: one of everything a server can answer.

A server serves them in place of every dialect when ``SERVE`` is run before it starts.
"""

from __future__ import annotations

import time
from base64 import b64encode
from collections.abc import Callable
from pathlib import Path
from struct import pack
from typing import Any
from zlib import compress, crc32

from msgspec import Struct
from msgspec.json import encode

from polymnia.errors import Fault, Invalid
from polymnia.operation import Context, Operation, Prompt, PromptArgument, Registry, Reply, Resource, Template

__all__ = ["SERVE", "registry"]

SERVE = f"""
sys.path.insert(0, {str(Path(__file__).parents[1])!r})
from conformance.fixtures import registry
import polymnia.app
polymnia.app.registry = lambda chosen: registry()
"""
"""Code for the process of a server."""

# The smallest picture and the smallest sound


def _chunk(kind: bytes, data: bytes) -> bytes:
    return pack(">I", len(data)) + kind + data + pack(">I", crc32(kind + data))


def png() -> bytes:
    """One red pixel."""
    head = _chunk(b"IHDR", pack(">IIBBBBB", 1, 1, 8, 2, 0, 0, 0))
    return b"\x89PNG\r\n\x1a\n" + head + _chunk(b"IDAT", compress(b"\x00\xff\x00\x00")) + _chunk(b"IEND", b"")


def _wav() -> bytes:
    """A few samples of silence."""
    samples = bytes(16)
    form = pack("<HHIIHH", 1, 1, 8000, 16000, 2, 16)
    rest = b"WAVEfmt " + pack("<I", len(form)) + form + b"data" + pack("<I", len(samples)) + samples
    return b"RIFF" + pack("<I", len(rest)) + rest


def text(said: str) -> dict[str, Any]:
    """A text as a block."""
    return {"type": "text", "text": said}


def image() -> dict[str, Any]:
    """The picture as a block."""
    return {"type": "image", "data": b64encode(png()).decode(), "mimeType": "image/png"}


def audio() -> dict[str, Any]:
    """The sound as a block."""
    return {"type": "audio", "data": b64encode(_wav()).decode(), "mimeType": "audio/wav"}


def embedded(uri: str, mime: str, said: str) -> dict[str, Any]:
    """A resource as a block."""
    return {"type": "resource", "resource": {"uri": uri, "mimeType": mime, "text": said}}


# Prompts and resources


def _messages(*blocks: dict[str, Any]) -> list[dict[str, Any]]:
    return [{"role": "user", "content": block} for block in blocks]


def _with_arguments(context: Context, given: dict[str, str]) -> str:
    return f"Prompt with arguments: arg1='{given['arg1']}', arg2='{given['arg2']}'"


def _with_resource(context: Context, given: dict[str, str]) -> list[dict[str, Any]]:
    resource = embedded(given["resourceUri"], "text/plain", "Embedded resource content for testing.")
    return _messages(resource, text("Please process the embedded resource above."))


def _with_image(context: Context, given: dict[str, str]) -> list[dict[str, Any]]:
    return _messages(image(), text("Please analyze the image above."))


def _cities(context: Context, typed: str) -> list[str]:
    return [name for name in ("paris", "park", "party", "test") if name.startswith(typed)]


def prompt(name: str, *arguments: PromptArgument, render: Any = None) -> Prompt:
    """A prompt; without ``render`` it says one sentence."""
    said = render or (lambda context, given: "This is a simple prompt for testing.")
    return Prompt(name=name, title=name, help=f"The suite's {name}.", arguments=arguments, render=said)


def prompts() -> list[Prompt]:
    """All of them, in a list that can change."""
    needed = [PromptArgument(name=name, help="An argument.", required=True, complete=_cities) for name in _ARGUMENTS]
    return [
        prompt("test_simple_prompt"),
        prompt("test_prompt_with_arguments", *needed[:2], render=_with_arguments),
        prompt("test_prompt_with_embedded_resource", needed[2], render=_with_resource),
        prompt("test_prompt_with_image", render=_with_image),
    ]


def _data(context: Context, id: str) -> str:
    return encode({"id": id, "templateTest": True, "data": f"Data for ID: {id}"}).decode()


_ARGUMENTS = ("arg1", "arg2", "resourceUri")
RESOURCES = (
    Resource(
        uri="test://static-text", name="static-text", title="A text", help="A text that stays as it is.",
        mime="text/plain", read=lambda context: "This is the content of the static text resource.",
    ),
    Resource(
        uri="test://static-binary", name="static-binary", title="A picture", help="One red pixel.", mime="image/png",
        read=lambda context: png(),
    ),
    Resource(
        uri="test://watched-resource", name="watched-resource", title="Something to watch", help="To subscribe to.",
        mime="text/plain", read=lambda context: "Watched resource content.",
    ),
)  # fmt: skip
TEMPLATES = (
    Template(
        prefix="test://template/", variable="id", suffix="/data", name="template", title="Data by id",
        help="Says which id it was asked for.", mime="application/json", read=_data,
        complete=lambda context, typed: [],
    ),
)  # fmt: skip


# Tools: each shows one thing a server must do right

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


class _Prompted(Struct):
    """What the client's model is asked."""

    prompt: str = "Say something"


class _Asked(Struct):
    """What the user is asked."""

    message: str


def _says(*blocks: dict[str, Any]) -> Callable[[Context, Any], Reply]:
    return lambda context, given: Reply(content=blocks)


def _fails(context: Context, given: _Nothing) -> Reply:
    raise Invalid("This tool intentionally returns an error for testing", hint="")


def _logs(context: Context, given: _Nothing) -> Reply:
    for said in ("Tool execution started", "Tool processing data", "Tool execution completed"):
        if context.log_to_client is not None:
            context.log_to_client("info", said)
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


def _samples(context: Context, given: _Prompted) -> Reply:
    return Reply(text=f"LLM response: {context.sample and context.sample('Be brief.', given.prompt, 100)}")


def _elicits(context: Context, given: _Asked) -> Reply:
    return Reply(text=f"User response: {context.confirm and context.confirm(given.message)}")


def _confirms(*questions: str) -> Callable[[Context, Any], Reply]:
    def run(context: Context, given: _Nothing) -> Reply:
        return Reply(text=f"state-ok: {[context.confirm and context.confirm(one) for one in questions]}")

    return run


def _needs_sampling(context: Context, given: _Nothing) -> Reply:
    """What needs a capability that the client did not declare is refused."""
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
    add("test_sampling", _samples, _Prompted, asks=True)
    add("test_elicitation", _elicits, _Asked, asks=True)
    add("test_input_required_result_elicitation", _confirms("Are you there?"), asks=True)
    add("test_input_required_result_sampling", _samples, _Prompted, asks=True)
    add("test_input_required_result_request_state", _confirms("Are you sure?"), asks=True)
    add("test_input_required_result_multi_round", _confirms("Are you sure?", "Really?"), asks=True)
    add("test_input_required_result_tampered_state", _confirms("Are you sure?"), asks=True)
    add("test_input_required_result_capabilities", _samples, _Prompted, asks=True)
    add("test_trigger_tool_change", change_tools)
    add("test_trigger_prompt_change", change_prompts)
    add("test_custom_header", _routed, _Routed, headers={"region": "Region"})
    add("json_schema_2020_12_tool", _says(text("The schema is what matters.")), takes=lambda: _SCHEMA)
    return found


def _changed(context: Context, name: str) -> Reply:
    if context.changed is not None:
        context.changed(name)
    return Reply(text=f"The list of {name} is another one now.")
