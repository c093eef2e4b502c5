"""Blocks: one parser of Markdown, which says where everything stands."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from polymnia.engine.text.document import PLACEHOLDER, Block, blocks, plain, without_code

TEXT = """\
---
title: notes
---
# Gateway ##

Two lines
of one paragraph.

- [x] done
- open,
  and goes on
1. first

| a | b |
|---|---|
| 1 | 2 |

> quoted
> twice

Worker
------
```python
# no heading
```
[home]: https://example.org
"""


def test_every_kind_of_block_is_read_in_its_order() -> None:
    found = [(one.kind, one.text) for one in blocks(TEXT)]
    assert found == [
        ("meta", "title: notes"),
        ("h", "Gateway"),
        ("p", "Two lines\nof one paragraph."),
        ("li", "done"),
        ("li", "open,\nand goes on"),
        ("li", "first"),
        ("td", "| a | b |"),
        ("td", "| 1 | 2 |"),
        ("q", "quoted\ntwice"),
        ("h", "Worker"),
        ("code", "# no heading"),
        ("def", "[home]: https://example.org"),
    ]


def test_levels_marks_boxes_and_labels_are_told() -> None:
    by_text = {one.text: one for one in blocks(TEXT)}
    assert (by_text["Gateway"].level, by_text["Worker"].level) == (1, 2)
    assert (by_text["done"].done, by_text["first"].done) == (True, None)
    assert (by_text["done"].mark, by_text["first"].mark) == ("-", "1.")
    assert (by_text["# no heading"].mark, by_text["# no heading"].done) == ("python", True)
    assert by_text["[home]: https://example.org"].mark == "https://example.org"


def test_a_fence_that_is_never_closed_takes_the_rest() -> None:
    assert [(one.kind, one.text, one.done) for one in blocks("~~~\n# a\n```\nb")] == [("code", "# a\n```\nb", False)]


def test_in_plain_text_a_heading_stands_alone() -> None:
    assert [one.kind for one in blocks("# a comment\n# another\nx = 1", strict=True)] == ["p"]
    assert [one.kind for one in blocks("# A title\n\nText.", strict=True)] == ["h", "p"]


@given(st.lists(st.sampled_from([*TEXT.splitlines(), "", "x", "  y", "\t- z", "\x0c", "***"]), max_size=12))
def test_blocks_stand_where_they_say_and_never_overlap(lines: list[str]) -> None:
    text = "\n".join(lines)
    end = 0
    for one in blocks(text):
        assert end <= one.start <= one.end <= len(text)
        assert _first_word(one) in text[one.start : one.end]
        end = one.end


def _first_word(block: Block) -> str:
    return next(iter(block.text.split()), "")


@given(st.text(st.sampled_from("ab`~#\n- "), max_size=60))
def test_without_its_code_a_text_is_as_long_and_has_no_fence_that_opens(text: str) -> None:
    bare = without_code(text)
    assert len(bare) == len(text)
    assert not any(one.kind == "code" for one in blocks(bare))


def test_signs_go_and_the_words_of_a_link_stay() -> None:
    assert plain("**Use** [the `pool`](https://x.y/z) and _wait_, snake_case") == "Use the pool and wait, snake_case"


def test_a_mark_of_something_unwritten_is_no_spanish_word() -> None:
    assert PLACEHOLDER.search("TO" + "DO: write this") and PLACEHOLDER.search("추후 작성")
    assert not PLACEHOLDER.search("todo el mundo")
