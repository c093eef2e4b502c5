"""Page: a text as an editor sees it, and what is measured of it, from single flaws up to a dimension of quality."""

from __future__ import annotations

import re
from collections.abc import Sequence
from math import prod

from msgspec import Struct, field
from msgspec.structs import replace

from polymnia.engine.analysis.findings import Remark
from polymnia.engine.text.code import of_type
from polymnia.engine.text.document import Block, blocks, document
from polymnia.engine.text.language import script, spoken
from polymnia.engine.text.sentences import sentences
from polymnia.models import JsonObject

_KEPT = 12  # faults of one metric that are kept to be suggested; all of them count


class Flaw(Struct, frozen=True):
    """Something wrong in one place: the words as they stand, what it is, the values of its sentence, its weight."""

    quote: str
    name: str
    values: JsonObject = field(default_factory=dict)
    weight: float = 1.0


class Metric(Struct, frozen=True, kw_only=True):
    """One measure: its value, and the score from 0 to 1 that it gives. One of no weight only explains others.

    Of so many ``places``, which ``unit`` names, ``count`` have a fault. ``faults`` are the heaviest of them and
    ``mended`` the score without that one fault.
    """

    name: str
    value: float
    score: float
    places: int
    unit: str
    count: int = 0
    weight: float = 1.0
    faults: tuple[Flaw, ...] = ()
    mended: tuple[float, ...] = ()


class Dimension(Struct, frozen=True, kw_only=True):
    """One dimension of quality: its score, or None and in ``note`` why it is unknown; and the metrics it is made of."""

    name: str
    score: float | None
    note: Remark | None = None
    metrics: tuple[Metric, ...] = ()


def share(name: str, faults: Sequence[Flaw], places: int, unit: str = "sentences") -> Metric:
    """The share of so many places that has no fault, as ISO/IEC 25024 measures the quality of data."""
    total = sum(fault.weight for fault in faults)
    kept = tuple(sorted(faults, key=lambda fault: -fault.weight)[:_KEPT])

    def score(weight: float) -> float:
        return max(0.0, 1.0 - max(0.0, weight) / max(1, places))

    return Metric(
        name=name,
        value=round(total / max(1, places), 4),
        score=score(total),
        places=places,
        unit=unit,
        count=len(faults),
        faults=kept,
        mended=tuple(score(total - fault.weight) for fault in kept),
    )


def product(metrics: Sequence[Metric]) -> float:
    """The score of a dimension: the share that passes every check (rolled throughput yield)."""
    return prod(one.score for one in metrics if one.weight)


def dimension(
    name: str, metrics: Sequence[Metric | None], note: Remark | None = None, empty: Remark | None = None
) -> Dimension:
    """A dimension from those of its metrics that could be measured; ``empty`` is why there may be none."""
    taken = tuple(one for one in metrics if one is not None)
    if not taken:
        return unknown(name, empty or note or Remark("quality.nothing"))
    return Dimension(name=name, score=round(product(taken), 4), note=note, metrics=taken)


def unknown(name: str, why: Remark) -> Dimension:
    """A dimension that cannot be measured."""
    return Dimension(name=name, score=None, note=why)


def few(name: str, words: int, least: int) -> Dimension:
    """A dimension that so few words say nothing about."""
    return unknown(name, Remark("quality.few_words", {"words": words, "least": least}))


_WORD = re.compile(r"[^\W_]+(?:['’.-][^\W_]+)*")
_LETTER = re.compile(r"[^\W\d_]")
_WIDE = re.compile("[\u3041-\u30ff\u3400-\u9fff]")
_WRAPPED = 60  # characters; a line at least so long that ends in no stop goes on in the next
_UNWRAPPED = 200  # characters; no longer line was wrapped
_STOPPED = re.compile(r"[.!?…:;。！？]['\"’”)*_`]*\s*$")
_DATA = ("application/json", "text/csv", "text/tab-separated-values")
_MARKDOWN = ("text/markdown", "text/x-markdown")
_NO_PROSE = re.compile(r"`[^`\n]*`|\]\([^)\n]{0,300}\)|(?<!\w)\w+://\S+")
_LONGEST = 2_000  # characters of a sentence
_MOST = 200_000  # characters that are read; more would tell nothing new


class Sentence(Struct, frozen=True):
    """A sentence as it stands, how many words it has, and the block it is in."""

    text: str
    words: int
    block: int

    @property
    def prose(self) -> str:
        """The sentence without code and addresses, which are not the writer's words."""
        return prose_of(self.text)


class ParsedPage(Struct, frozen=True, kw_only=True):
    """A text in blocks and sentences. ``language`` is its code; ``marked`` says whether it has marks of Markdown.

    ``inside`` has for each block its sentences, ``different`` counts the different words, without code, addresses and
    figures. ``prosaic`` is false for programs and data.
    """

    text: str
    blocks: list[Block]
    sentences: list[Sentence]
    inside: list[list[Sentence]]
    language: str | None
    marked: bool
    prosaic: bool
    words: int
    different: int

    @property
    def prose(self) -> str:
        """Paragraphs and items, a block a line."""
        return "\n".join(" ".join(one.text.split()) for one in self.blocks if one.kind in ("p", "li", "q"))

    @property
    def headings(self) -> list[Block]:
        """The headings, in order."""
        return [one for one in self.blocks if one.kind == "h"]

    @property
    def first(self) -> str:
        """The first sentence, or the beginning of the text."""
        return self.sentences[0].text if self.sentences else self.text.strip()[:200]


def prose_of(text: str) -> str:
    """A text without code and addresses; a sign stands in their place, so that no words meet that did not."""
    if "`" not in text and "](" not in text and "://" not in text:
        return text
    return _NO_PROSE.sub(lambda match: "](…)" if match[0].startswith("](") else "…", text)


def page(text: str, content_type: str | None = None) -> ParsedPage:
    """Read a text by its content type; of one that is longer than 200,000 characters the beginning."""
    text = text[:_MOST]
    kind = (content_type or "").split(";", 1)[0].strip().lower()
    program = bool(kind) and of_type(kind) is not None
    data = kind in _DATA or kind.endswith("+json")
    if program or data or "html" in kind or kind.endswith("xml"):
        parts = [Block(name, words, 0, 0, 0) for name, words in document(text, kind).blocks]
    else:
        parts = [part for block in blocks(text) if block.kind not in ("def", "meta") for part in _parted(block)]
    inside = [_sentences(at, block) for at, block in enumerate(parts)]
    found = [one for some in inside for one in some]
    prose = "\n".join(block.text for block in parts if block.kind != "code")
    language = spoken(prose)[0]
    if language is None and prose.isascii() and script(prose) == "latin":
        language = "en"
    return ParsedPage(
        text=text,
        blocks=parts,
        sentences=found,
        inside=inside,
        language=language,
        marked=kind in _MARKDOWN or any(block.kind in ("h", "code") for block in parts),
        prosaic=not (program or data),
        words=sum(one.words for one in found),
        different=len({word for one in found for word in _different(one.prose)}),
    )


def _parted(block: Block) -> list[Block]:
    """A block, or its lines where each is a row of a table or a paragraph: nobody wraps lines that long."""
    lines = [line.strip() for line in block.text.split("\n")]
    if block.kind not in ("p", "q") or len(lines) == 1:
        return [block]
    if all("|" in line for line in lines):
        return [replace(block, kind="td", text=line) for line in lines]
    return [replace(block, text=line) for line in lines] if max(map(len, lines)) > _UNWRAPPED else [block]


def _sentences(at: int, block: Block) -> list[Sentence]:
    if block.kind not in ("p", "li", "q"):
        return []
    cut = [one for part in _unwrapped(block.text) for one in sentences(part)]
    pieces = [one[start : start + _LONGEST] for one in cut for start in range(0, len(one), _LONGEST)]
    return [Sentence(one, _count(one), at) for one in pieces if _WORD.search(one)]


def _unwrapped(text: str) -> list[str]:
    """A block in pieces that end where a line ends a sentence; a line that was only wrapped goes on."""
    pieces: list[str] = []
    for line in text.split("\n"):
        last = pieces[-1].rsplit("\n", 1)[-1] if pieces else ""
        wrapped = _WRAPPED <= len(last) <= _UNWRAPPED and not _STOPPED.search(last)
        if pieces and (wrapped or line.lstrip()[:1].islower()):
            pieces[-1] += "\n" + line
        else:
            pieces.append(line)
    return pieces


def _different(text: str) -> list[str]:
    """The words of a text that have a letter; where words are not parted, its characters two by two."""
    words = [word.lower() for word in _WORD.findall(text) if _LETTER.search(word)]
    return words + [text[match.start() : match.start() + 2] for match in _WIDE.finditer(text)]


def _count(text: str) -> int:
    return len(_WORD.findall(text)) + len(_WIDE.findall(text)) // 2
