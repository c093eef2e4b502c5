"""JSON is read to the letter, however it is laid out and wherever the file happens to be cut."""

from __future__ import annotations

import io
import json
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from form import by_form
from polymnia.engine.transfer.formats import json_records
from polymnia.engine.transfer.formats.archive import ARCHIVE
from polymnia.engine.transfer.formats.json_records import read_json
from polymnia.engine.transfer.formats.records import Broken, FileLimits, Source
from polymnia.errors import Invalid

DOCUMENT: dict[str, Any] = {
    "associations": [{"source": "a", "strength": -1.5e-3}],
    "memories": [
        {"a": 'quo"te \\', "b": [1, {"c": "é😀"}, []], "when": "12:30", ":": ": "},
        {},
        {"text": "]}{[,", "more": {"none": None, "yes": True, "no": False, "x": 1e300}},
    ],
}
LAYOUTS = [
    json.dumps(DOCUMENT),
    json.dumps(DOCUMENT, separators=(",", ":"), ensure_ascii=False),
    json.dumps(DOCUMENT, indent=2),
    json.dumps(DOCUMENT, indent="\t", separators=(" ,", " :")).replace("\n", "\r\n"),
    json.dumps(DOCUMENT).replace("}, {", "},\n{"),
    json.dumps(DOCUMENT, ensure_ascii=False).replace("}, {", "}\n,{").replace("[{", "[\n\n{"),
]


def read(data: bytes) -> tuple[list[Any], list[Any], bool]:
    """The memories, the associations, and whether anything was broken or passed over."""
    found = list(read_json(Source(io.BytesIO(data), 1 << 30), FileLimits(), ARCHIVE))
    memories = [item.value for item in found if item.section == "memories"]
    associations = [item.value for item in found if item.section == "associations"]
    left = any(item.section == "unknown" or isinstance(item.value, Broken) for item in found)
    return memories, associations, left


@pytest.mark.parametrize("chunk", [1, 2, 3, 7, 64, 100_000])
@pytest.mark.parametrize("layout", LAYOUTS)
def test_the_layout_and_the_chunks_make_no_difference(layout: str, chunk: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(json_records, "_CHUNK", chunk)
    assert read(layout.encode()) == (DOCUMENT["memories"], DOCUMENT["associations"], False)


@settings(max_examples=by_form(100, 400), deadline=None)
@given(
    st.sampled_from(LAYOUTS),
    st.lists(
        st.tuples(
            st.integers(0, 400), st.sampled_from(["put", "cut", "set"]), st.sampled_from('{}[]",:\\ \n10-.etn\0é')
        )
    ),
)
def test_what_is_taken_is_what_json_means(layout: str, edits: list[tuple[int, str, str]]) -> None:
    text = layout
    for where, how, what in edits[:4]:
        at = where % (len(text) + 1)
        text = text[:at] + (what if how != "cut" else "") + text[at + (how != "put") :]
    try:
        memories, associations, left = read(text.encode())
    except Invalid:
        return
    if left:
        return
    meant = json.loads(text, object_pairs_hook=_once)
    if isinstance(meant, list):
        assert (memories, associations) == (meant, [])
    else:
        assert (memories, associations) == (meant.get("memories") or [], meant.get("associations") or [])


def _once(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    made = dict(pairs)
    assert len(made) == len(pairs)
    return made
