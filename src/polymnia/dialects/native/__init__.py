"""The native dialect: seven tools made for agents, whose answers are short texts within a budget of tokens."""

from __future__ import annotations

from polymnia.dialects.native import brief
from polymnia.dialects.native.brief import brief as brief_tool
from polymnia.dialects.native.change import forget, revise, undo
from polymnia.dialects.native.read import read
from polymnia.dialects.native.recall import recall
from polymnia.dialects.native.refusals import word
from polymnia.dialects.native.remember import remember
from polymnia.operation import Registry

_INSTRUCTIONS = (
    "A lasting memory shared by every client of this store. Call brief at the start. recall before you answer from "
    "assumption. remember what should outlive this conversation, one statement a memory; give `supersedes` when "
    "something has changed. undo takes back any change but a deletion for good, and shows first what it would do."
)

_WELCOME = 400  # tokens of what a client is told before its first call

_TOOLS = (remember, recall, read, revise, forget, undo, brief_tool)


def registry() -> Registry:
    """The native dialect."""
    return Registry(
        name="native",
        instructions=_INSTRUCTIONS,
        operations={tool.name: tool for tool in _TOOLS},
        word=word,
        resources=(brief.RESOURCE,),
        prompts=(brief.PROMPT,),
        welcome=lambda memory: brief.text(memory, _WELCOME, guess=False),
    )
