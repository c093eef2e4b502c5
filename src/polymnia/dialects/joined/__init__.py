"""The dialect `all`: the tools of three dialects on one memory, described and answered as a single agent needs them."""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeVar

from msgspec.structs import replace

from polymnia.importing import importing
from polymnia.models import JsonObject
from polymnia.operation import Registry, Reply, join

T = TypeVar("T")

BUDGET = 7_500
"""The tokens an answer may have unless a call asks for more: 8,000 where the estimate is a little too low."""

_INSTRUCTIONS = (
    "A lasting memory, shared by every client of this store. Search it before you answer from assumption, and store "
    "what should outlive this conversation. Three families of tools work on the same memory; stay with one where you "
    "can. Memories: memory_store keeps a text and memory_search finds it again by meaning; this is the family for "
    "everyday use. Graph: create_entities, add_observations and create_relations keep facts about named things; "
    "search_nodes and open_nodes read them. Documents of a project: memory_store with `operation`, memory_retrieve, "
    "memory_analyze, memory_system, each with a project_id. Answers have 8,000 tokens at most unless you pass "
    "max_tokens; one that leaves something out says how much and how to go on, mostly with `cursor`. memory_delete and "
    "delete_content with options.hard are for good: ask the user first. The graph's deletions and memory_update stay "
    "in the history, from which the user can bring them back."
)


def registry(first: Registry, *others: Registry) -> Registry:
    """All dialects as one."""
    for one in (first, *others):
        one.word = _short(one.word)
        one.unknown = None if one.unknown is None else _short(one.unknown)
        one.operations = {
            name: tool if tool.word is None else replace(tool, word=_short(tool.word))
            for name, tool in one.operations.items()
        }
    found = join("all", _INSTRUCTIONS, first, *others)
    found.structured = False
    found.budget = BUDGET
    found.rewrite = _rewrite
    return found


def _short(word: Callable[[T], Reply]) -> Callable[[T], Reply]:
    """Errors within the budget, too: they may quote all that was given."""

    def short(given: T) -> Reply:
        with importing():
            from polymnia.dialects.budget import short_error
        return short_error(word(given), BUDGET)

    return short


def _rewrite(described: JsonObject) -> JsonObject:
    with importing():
        from polymnia.dialects.joined.wording import rewritten
    return rewritten(described)
