"""Page: a parsed text, and its quality in flaws, metrics and dimensions."""

from __future__ import annotations

import re
from collections.abc import Sequence
from math import prod

from msgspec import Struct, field
from msgspec.structs import replace

from polymnia.engine.analysis.findings import Remark
from polymnia.engine.text.code import of_type
from polymnia.engine.text.document import Block, blocks, document
from polymnia.engine.text.language import detect_language, script
from polymnia.engine.text.sentences import sentences
from polymnia.models import JsonObject

_LISTED = 12  # faults listed of one metric; all of them count


class Flaw(Struct, frozen=True):
    """Something wrong in one place: a quote, the kind of flaw, the values of its description, and its weight."""

    quote: str
    name: str
    values: JsonObject = field(default_factory=dict)
    weight: float = 1.0


class Metric(Struct, frozen=True, kw_only=True):
    """One measure: its value and its score from 0 to 1; without a weight it only explains others.

    ``count`` of ``places`` (in ``unit``) have a fault. ``faults`` are the heaviest of them, ``score_without`` the score
    without each.
    """

    name: str
    value: float
    score: float
    places: int
    unit: str
    count: int = 0
    weight: float = 1.0
    faults: tuple[Flaw, ...] = ()
    score_without: tuple[float, ...] = ()


class Dimension(Struct, frozen=True, kw_only=True):
    """One dimension of quality: its metrics and its score, or None with the reason in ``note``."""

    name: str
    score: float | None
    note: Remark | None = None
    metrics: tuple[Metric, ...] = ()


def share(name: str, faults: Sequence[Flaw], places: int, unit: str = "sentences") -> Metric:
    """The share of places without a fault (ISO/IEC 25024)."""
    total = sum(fault.weight for fault in faults)
    heaviest = tuple(sorted(faults, key=lambda fault: -fault.weight)[:_LISTED])

    def score(weight: float) -> float:
        return max(0.0, 1.0 - max(0.0, weight) / max(1, places))

    return Metric(
        name=name,
        value=round(total / max(1, places), 4),
        score=score(total),
        places=places,
        unit=unit,
        count=len(faults),
        faults=heaviest,
        score_without=tuple(score(total - fault.weight) for fault in heaviest),
    )


def product(metrics: Sequence[Metric]) -> float:
    """The score of a dimension: the share that passes all checks (rolled throughput yield)."""
    return prod(one.score for one in metrics if one.weight)


def dimension(
    name: str, metrics: Sequence[Metric | None], note: Remark | None = None, empty: Remark | None = None
) -> Dimension:
    """A dimension from the metrics that could be measured; ``empty`` is the note if there are none."""
    taken = tuple(one for one in metrics if one is not None)
    if not taken:
        return unknown(name, empty or note or Remark("quality.nothing"))
    return Dimension(name=name, score=round(product(taken), 4), note=note, metrics=taken)


def unknown(name: str, why: Remark) -> Dimension:
    """A dimension that cannot be measured."""
    return Dimension(name=name, score=None, note=why)


def few(name: str, words: int, least: int) -> Dimension:
    """A dimension that cannot be measured of so few words."""
    return unknown(name, Remark("quality.few_words", {"words": words, "least": least}))


_WORD = re.compile(r"[^\W_]+(?:['’.-][^\W_]+)*")
_LETTER = re.compile(r"[^\W\d_]")
_WIDE = re.compile("[\u3041-\u30ff\u3400-\u9fff]")
_WRAPPED = 60  # characters of a line that may be wrapped, at least
_UNWRAPPED = 200  # and at most
_STOPPED = re.compile(r"[.!?…:;。！？]['\"’”)*_`]*\s*$")
_DATA = ("application/json", "text/csv", "text/tab-separated-values")
_MARKDOWN = ("text/markdown", "text/x-markdown")
_NO_PROSE = re.compile(r"`[^`\n]*`|\]\([^)\n]{0,300}\)|(?<!\w)\w+://\S+")
_LONGEST = 2_000  # characters of a sentence
_MOST = 200_000  # characters read of a text


class Sentence(Struct, frozen=True):
    """A sentence, the number of its words, and its block."""

    text: str
    words: int
    block: int

    @property
    def prose(self) -> str:
        """The sentence without code and addresses."""
        return prose_of(self.text)


class ParsedPage(Struct, frozen=True, kw_only=True):
    """A text in blocks and sentences. ``language`` is its code; ``marked`` is whether it has Markdown.

    ``inside`` has the sentences of each block, ``different`` counts the different words, without code, addresses and
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
        """Paragraphs and list items, one in each line."""
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
    """A text with code and addresses replaced by a sign."""
    if "`" not in text and "](" not in text and "://" not in text:
        return text
    return _NO_PROSE.sub(lambda match: "](…)" if match[0].startswith("](") else "…", text)


def page(text: str, content_type: str | None = None) -> ParsedPage:
    """Parse a text by its content type, up to 200,000 characters."""
    text = text[:_MOST]
    kind = (content_type or "").split(";", 1)[0].strip().lower()
    program = bool(kind) and of_type(kind) is not None
    data = kind in _DATA or kind.endswith("+json")
    if program or data or "html" in kind or kind.endswith("xml"):
        parts = [Block(name, words, 0, 0, 0) for name, words in document(text, kind).blocks]
    else:
        parts = [part for block in blocks(text) if block.kind not in ("def", "meta") for part in _split(block)]
    inside = [_sentences(at, block) for at, block in enumerate(parts)]
    found = [one for some in inside for one in some]
    prose = "\n".join(block.text for block in parts if block.kind != "code")
    language = detect_language(prose)[0]
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


def _split(block: Block) -> list[Block]:
    """A block, or its lines if each is a row of a table or a paragraph."""
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
    """The lines of a block, wrapped ones joined."""
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
    """The words of a text that have a letter, and bigrams of scripts without spaces."""
    words = [word.lower() for word in _WORD.findall(text) if _LETTER.search(word)]
    return words + [text[match.start() : match.start() + 2] for match in _WIDE.finditer(text)]


def _count(text: str) -> int:
    return len(_WORD.findall(text)) + len(_WIDE.findall(text)) // 2
