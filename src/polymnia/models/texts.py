"""The one place that decides what text is legal, and how texts and names are compared."""

from __future__ import annotations

from collections.abc import Iterable

from msgspec import Struct

from polymnia.errors import BadText, Invalid, OverLimit


def closest(name: str, names: Iterable[str]) -> str | None:
    """The name that was probably meant by one that is not there; None where none comes close."""
    from difflib import get_close_matches

    plain = {one.casefold(): one for one in names}
    found = get_close_matches(name[:200].casefold(), plain, n=1, cutoff=0.7)
    return plain[found[0]] if found else None


class Limits(Struct, frozen=True):
    """Sizes a caller never meets by accident. Over one of them a call is refused whole."""

    text_bytes: int = 5 * 1024 * 1024
    name_bytes: int = 64 * 1024
    batch: int = 10_000
    import_bytes: int = 2 * 1024 * 1024 * 1024
    inline_bytes: int = 4 * 1024 * 1024  # of an archive that travels in a message


def legal_text(text: str, where: str, limit: int) -> str:
    """Give the text back if it may be stored: any Unicode but NUL and lone surrogates, within the limit."""
    if not isinstance(text, str):
        raise Invalid(f"{where} must be a text, not {type(text).__name__}", field=where)
    if "\0" in text:
        raise BadText(where, "a NUL character (U+0000)")
    try:
        # Four bytes is the most a character takes: short texts need no second look.
        if len(text) * 4 > limit and (size := len(text.encode())) > limit:
            raise OverLimit(where, size, "bytes", limit, "max_text_bytes")
        if not text.isascii():
            text.encode()
    except UnicodeEncodeError as e:
        raise BadText(where, f"a lone surrogate (U+{ord(text[e.start]):04X})") from None
    return text


def legal_name(text: str, where: str, limits: Limits) -> str:
    """As legal_text, with the limit for names: they are indexed whole."""
    if isinstance(text, str) and len(text) * 4 > limits.name_bytes:
        try:
            size = len(text.encode())
        except UnicodeEncodeError:
            size = 0
        if size > limits.name_bytes:
            raise OverLimit(where, size, "bytes", limits.name_bytes, "max_name_bytes")
    return legal_text(text, where, limits.text_bytes)


def fold(text: str) -> str:
    """The form in which texts are compared without regard to case.

    Case folding is Unicode's, so "STRASSE" finds "Straße". A text that is not in composed form (NFC)
    keeps both its forms, separated by NUL, which no text may hold: so it is found however it is typed.
    """
    return "\0".join(folded_forms(text))


def folded_forms(text: str) -> tuple[str, ...]:
    """The one or two folded forms of a text: composed, and as written where that differs."""
    if text.isascii():
        return (text.lower(),)
    from unicodedata import is_normalized, normalize

    if is_normalized("NFC", text):
        return (text.casefold(),)
    return (normalize("NFC", text).casefold(), text.casefold())


# Letters and signs a reader takes for a Latin one, each followed by what it looks like.
_HOMOGLYPHS = (
    "аa еe оo рp сc уy хx іi јj ѕs ԁd һh ӏl кk мm тt вb нh "  # Cyrillic, folded to lower case
    "αa εe ηn ιi κk νv οo ρp τt υu χx ωw γy "  # Greek
    "օo սu ոn հh ցg ıi ɑa ɡg ‐- ‑- ‒- –- —- −- ’' ‘' ´' `'"
)
_looks: dict[int, str | None] = {}


def skeleton(name: str) -> str:
    """What a name looks like: two names with one skeleton are easily taken for one another.

    Case, width, invisible characters, runs of white space and letters that look like Latin ones are evened out.
    """
    if name.isascii() and name.isprintable():
        return " ".join(name.lower().split()) if " " in name else name.lower()
    from unicodedata import category, normalize

    if not _looks:
        _looks.update((ord(pair[0]), pair[1]) for pair in _HOMOGLYPHS.split())
    spaced = "".join(" " if c.isspace() else c for c in name)
    shown = normalize("NFKC", normalize("NFKC", spaced).casefold()).translate(_looks)
    return " ".join("".join(c for c in shown if category(c) not in ("Cf", "Mn", "Cc")).split())
