"""The prompts and resources the suite asks for."""

from __future__ import annotations

from typing import Any

from msgspec.json import encode

from polymnia.dialects.conformance.media import embedded, image, png, text
from polymnia.operation import Context, Prompt, PromptArgument, Resource, Template

__all__ = ["RESOURCES", "TEMPLATES", "prompt", "prompts"]


def _says(*blocks: dict[str, Any]) -> list[dict[str, Any]]:
    return [{"role": "user", "content": block} for block in blocks]


def _with_arguments(context: Context, given: dict[str, str]) -> str:
    return f"Prompt with arguments: arg1='{given['arg1']}', arg2='{given['arg2']}'"


def _with_resource(context: Context, given: dict[str, str]) -> list[dict[str, Any]]:
    resource = embedded(given["resourceUri"], "text/plain", "Embedded resource content for testing.")
    return _says(resource, text("Please process the embedded resource above."))


def _with_image(context: Context, given: dict[str, str]) -> list[dict[str, Any]]:
    return _says(image(), text("Please analyze the image above."))


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
