"""A page: what a reader sees of a text, whatever it is written in."""

from __future__ import annotations

from msgspec import Struct, field

from polymnia.engine.extracting.values import Heading

__all__ = ["Page"]


class Page(Struct):
    """The words of a text in blocks, and what stands beside them.

    A block is a paragraph (p), an item of a list (li), a heading (h) or a row of a table (td).
    """

    blocks: list[tuple[str, str]] = field(default_factory=list)
    headings: list[Heading] = field(default_factory=list)
    title: str | None = None
    programs: list[tuple[str, str]] = field(default_factory=list)
    """Blocks of code: the language they are said to be in, or nothing, and the code."""
    links: list[str] = field(default_factory=list)
    """Where links lead that are no part of the words."""
    paragraphs: int | None = 0
    """None where the text has blocks of words but no paragraphs of its own."""
    tasks: int = 0
    tasks_done: int = 0
    tables: bool = False

    @property
    def prose(self) -> str:
        """All words that are no code, a block a line."""
        return "\n".join(text for _, text in self.blocks)
