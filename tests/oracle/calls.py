"""Random sequences of calls to the nine graph tools, drawn from alphabets small enough to collide."""

from __future__ import annotations

from copy import deepcopy
from typing import Any

from hypothesis import strategies as st

__all__ = ["Call", "calls", "legal_calls"]

# A tool and its arguments; None stands for a call without an ``arguments`` member.
Call = tuple[str, dict[str, Any] | None]

# Case variants, two spellings of one letter (composed and not), letters whose lower case is longer or
# depends on its place, the empty name, and characters that JSON and line-based files must escape.
_NAMES = ["a", "A", "b", "서울", "서울특별시", "", "ß", "İ", "\u00e9", "e\u0301", "ΟΔΟΣ", "x\ny", " "]
_KINDS = ["t", "T", "도시", "", "Straße"]
_TEXTS = [
    "x", "X", "", "서울은 크다", "STRASSE", "istanbul", "οδος", "😀", "aa",
    'tab\t quote" back\\ line\n', "\u2028\x7f\x01\x1f", "</b>&amp;",
]  # fmt: skip
_WORDS = [
    *_NAMES,
    *_TEXTS,
    "S",
    "ss",
    "i",
    "i\u0307",
    "\u0307",
    "σ",
    "ς",
    "울",
    "울은 크",
    "E",
    '"',
    "\\",
    "zz",
]
_TYPES = ["r", "R", "knows", "살다", ""]
_JUNK: list[Any] = [0, 1.5, True, None, "junk", [], {}, [1], [None], {"name": "junk"}, [["x"]]]

_names = st.sampled_from(_NAMES)
_texts = st.lists(st.sampled_from(_TEXTS), max_size=3)


def _many(item: st.SearchStrategy[Any]) -> st.SearchStrategy[list[Any]]:
    return st.lists(item, max_size=3)


_entity = st.fixed_dictionaries({"name": _names, "entityType": st.sampled_from(_KINDS), "observations": _texts})
_relation = st.fixed_dictionaries({"from": _names, "to": _names, "relationType": st.sampled_from(_TYPES)})
_addition = st.fixed_dictionaries({"entityName": _names, "contents": _texts})
_removal = st.fixed_dictionaries({"entityName": _names, "observations": _texts})


def _call(tool: str, **fields: st.SearchStrategy[Any]) -> st.SearchStrategy[Call]:
    return st.tuples(st.just(tool), st.fixed_dictionaries(fields))


_create_entities = _call("create_entities", entities=_many(_entity)).map(lambda call: _first_wins(call))
_legal: st.SearchStrategy[Call] = st.one_of(
    # Twice: a sequence is about something only when there are memories to speak of.
    _create_entities,
    _create_entities,
    _call("create_relations", relations=_many(_relation)),
    _call("create_relations", relations=_many(_relation)),
    _call("add_observations", observations=_many(_addition)),
    # One at a time, so that a missing name does not refuse most of the additions.
    _call("add_observations", observations=_addition.map(lambda one: [one])),
    _call("delete_entities", entityNames=_many(_names)),
    _call("delete_observations", deletions=_many(_removal)),
    _call("delete_relations", relations=_many(_relation)),
    _call("read_graph"),
    _call("search_nodes", query=st.sampled_from(_WORDS)),
    _call("open_nodes", names=_many(_names)),
)


@st.composite
def _spoilt(draw: st.DrawFn) -> Call:
    """A legal call with one or two places replaced, dropped or added to."""
    tool, arguments = draw(_legal)
    spoilt: Any = {"arguments": deepcopy(arguments)}
    for _ in range(draw(st.integers(1, 2))):
        holder, key = draw(st.sampled_from(_places(spoilt)))
        what = draw(st.sampled_from(["replace", "replace", "drop", "extend"]))
        if what == "extend" and isinstance(holder[key], dict):
            holder[key]["stray"] = draw(st.sampled_from(_JUNK))
        elif what == "drop" and isinstance(holder, dict) and holder is not spoilt:
            del holder[key]
        elif holder is not spoilt:
            holder[key] = deepcopy(draw(st.sampled_from(_JUNK)))
    return _first_wins((tool, spoilt["arguments"]))


def _places(tree: Any) -> list[tuple[Any, Any]]:
    """Every (container, key) below the tree."""
    keys = tree.keys() if isinstance(tree, dict) else range(len(tree)) if isinstance(tree, list) else ()
    found = []
    for key in keys:
        found.append((tree, key))
        found += _places(tree[key])
    return found


def _first_wins(call: Call) -> Call:
    """The call without the entities whose name came before in the same call.

    The one deliberate difference: the release stores a name twice when one call gives it twice, and is
    then unable to tell the two apart; the contract says that the first wins.
    """
    tool, arguments = call
    if tool != "create_entities" or not isinstance(arguments, dict):
        return call
    if not isinstance(arguments.get("entities"), list):
        return call
    kept: list[Any] = []
    seen: set[str] = set()
    for entity in arguments["entities"]:
        name = entity.get("name") if isinstance(entity, dict) else None
        if isinstance(name, str) and name in seen:
            continue
        if isinstance(name, str):
            seen.add(name)
        kept.append(entity)
    return tool, {**arguments, "entities": kept}


_stray: st.SearchStrategy[Call] = st.one_of(
    st.tuples(st.sampled_from(["nope", "", "Read_Graph", "서울"]), st.just({})),
    st.tuples(st.sampled_from(["read_graph", "open_nodes", "create_entities"]), st.none()),
)


def legal_calls(size: int) -> st.SearchStrategy[list[Call]]:
    """Sequences of calls whose arguments fit the tools' schemas."""
    return st.lists(_legal, min_size=size // 2, max_size=size)


def calls(size: int) -> st.SearchStrategy[list[Call]]:
    """Sequences in which about one call in four is wrong in some way."""
    any_call = st.one_of(_legal, _legal, _legal, _legal, _legal, _legal, _spoilt(), _spoilt(), _stray)
    return st.lists(any_call, min_size=size // 2, max_size=size)
