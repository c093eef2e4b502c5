"""Style: formats an item in a CSL style, with citeproc-py and the parts of the specification it lacks.

These are ``initialize="false"``, initials of hyphenated names, groups that are empty if all their variables are, titles
that substitute for a missing author and are not repeated, and date parts that keep their form for a second date. The
processor outputs marker characters for quotation marks and italics, so that punctuation can be corrected before they
are turned into markup.
"""

from __future__ import annotations

import os
import re
from functools import cache
from html import escape
from typing import Any

from citeproc import LOCALES_PATH, CitationStylesBibliography, model  # type: ignore[import-untyped]
from citeproc import Citation as Cluster
from citeproc import CitationItem as Cited
from citeproc.source import VariableError  # type: ignore[import-untyped]
from citeproc.source.json import CiteProcJSON  # type: ignore[import-untyped]
from citeproc.string import String  # type: ignore[import-untyped]
from lxml import etree  # type: ignore[import-untyped]

from polymnia.models import JsonObject

_STYLES = os.path.join(os.path.dirname(__file__), "csl")
_NAMESPACE = "http://purl.org/net/xbiblio/csl"
_LANG = "{http://www.w3.org/XML/1998/namespace}lang"
# Unicode noncharacters, which are removed from all texts beforehand.
_OPEN_QUOTE, _CLOSE_QUOTE, _OPEN_ITALIC, _CLOSE_ITALIC = "\ufdd0\ufdd1\ufdd2\ufdd3"
_CLOSERS = f"[{_CLOSE_QUOTE}{_CLOSE_ITALIC}’”]"
# A full stop after the end of a sentence, even with a closing quote in between, is superfluous.
_ENDED = re.compile(rf"(?:(?<=[.?!…。？！])({_CLOSERS}+)|(?<=[?!…。？！]))\.(?=[\s{_OPEN_QUOTE}-{_CLOSE_ITALIC}]|$)")
_BEFORE = re.compile(rf"({_CLOSE_QUOTE})({_CLOSE_ITALIC}?)([.,])(?!\w)")
_NUMBER = re.compile(r"(\[\d+\])(?=\S)")
_QUOTED = re.compile(f"{_OPEN_QUOTE}([^{_OPEN_QUOTE}{_CLOSE_QUOTE}]*){_CLOSE_QUOTE}")
_SINGLE = re.compile(r"‘([^‘’]*)’(?!\w)")
_LETTERS = re.compile(r"[^\w]|_")
_FIRST = re.compile(r"[^\W\d_]")
# A word with these characters is an identifier.
_CODE = re.compile(r"\w[_.:/\\(=<@]\w|[_()={}<>]|^\d")
_SMALL = frozenset(
    """
    a an and as at but by down for from in into nor of off on onto or out over per so than the till to up via vs
    with yet
    """.split()
)
_INITIAL = re.compile(r"[^\W\d_]\.")


def render(csl: JsonObject, style: str, locale: str) -> tuple[str, str]:
    """Format one item for a list of references, as plain text and as HTML."""
    loaded = _Loaded(style, locale)
    bibliography = CitationStylesBibliography(loaded, CiteProcJSON([csl]), _Marks)
    bibliography.register(Cluster([Cited(csl["id"])]))
    written = [str(one) for one in bibliography.bibliography()]
    loaded.release()
    if not any(written):
        # A style may not list some types, such as letters in APA, but this one was requested.
        return render(csl | {"type": "document"}, style, locale)
    text = _punctuated(written[0], loaded)
    plain = text.replace(_OPEN_ITALIC, "").replace(_CLOSE_ITALIC, "")
    html = escape(text, quote=False).replace(_OPEN_ITALIC, "<i>").replace(_CLOSE_ITALIC, "</i>")
    return plain, html


def _punctuated(text: str, style: _Loaded) -> str:
    """A citation with the quotation marks of its language and corrected punctuation."""
    text = " ".join(text.split())
    if style.apart:
        text = _NUMBER.sub(r"\1 ", text, count=1)
    text = _ENDED.sub(r"\1", text)
    if style.inside:
        text = _BEFORE.sub(r"\3\1\2", text)
    open, close = style.quotes
    return _QUOTED.sub(lambda found: open + _inner(found[1], open) + close, text)


def _inner(text: str, around: str) -> str:
    """Change quotation marks inside others to the other kind."""
    if around == "“":
        return text.replace("“", "‘").replace("”", "’")
    return _SINGLE.sub(r"“\1”", text)


def _titled(text: str) -> str:
    """An English title in title case; words that have capitals are left unchanged."""
    words = text.split(" ")
    begins = True
    # In a title with capitals, a full stop before lower case does not end a sentence: "J. of Graphs".
    ends = (":", "?", "!", "—", "–") if any(map(str.isupper, text)) else (":", ".", "?", "!", "—", "–")
    for at, word in enumerate(words):
        small = _LETTERS.sub("", word) in _SMALL and not begins and at < len(words) - 1
        if word.islower() and not small and not _CODE.search(word):
            words[at] = _FIRST.sub(lambda found: found[0].upper(), word, count=1)
        begins = word.endswith(ends) and not _INITIAL.fullmatch(word)
    return " ".join(words)


class _Marks:
    """The formatter: outputs marker characters; escaping happens when they are turned into markup."""

    preformat = Oblique = Bold = Light = Underline = Superscript = Subscript = SmallCaps = str

    @staticmethod
    def Italic(text: object) -> str:  # noqa: N802 - the name the processor uses
        return f"{_OPEN_ITALIC}{text}{_CLOSE_ITALIC}"


class _Track:
    """The variables used while an item is formatted: how many were requested, and which had a value."""

    def __init__(self) -> None:
        self.called = self.rendered = 0
        self.read: list[str] = []
        self.taken: set[str] = set()


class _Text(model.Text):  # type: ignore[misc]
    def process(self, item: Any, context: Any = None, **kwargs: Any) -> Any:
        text, language = super().process(item, context=context, **kwargs)
        # By the specification, a macro with output counts as a value; and so does the term for a missing date.
        if text and (self.get("macro") is not None or self.get("term") == "no date"):
            self.get_root().track.rendered += 1
        return text, language

    def case(self, text: Any, language: str | None = None) -> Any:
        if self.get("text-case") != "title":
            return super().case(text, language)
        return String(_titled(str(text))) if language == "en" else text

    def _variable(self, item: Any, context: Any) -> Any:
        name, track = self.get("variable"), self.get_root().track
        track.called += 1
        if name in track.taken:
            return None
        text = super()._variable(item, context)
        if text:
            track.rendered += 1
            track.read.append(name)
        return text


class _Valued:
    """An element that outputs a variable."""

    def process(self, item: Any, *args: Any, **kwargs: Any) -> Any:
        track = getattr(self.get_root(), "track", None)  # type: ignore[attr-defined]
        if track is None:  # a date of a locale, used by one of the style
            return super().process(item, *args, **kwargs)  # type: ignore[misc]
        track.called += 1
        text = super().process(item, *args, **kwargs)  # type: ignore[misc]
        if text:
            track.rendered += 1
        return text


class _Names(_Valued, model.Names):  # type: ignore[misc]
    pass


class _Date(_Valued, model.Date):  # type: ignore[misc]
    pass


class _Number(_Valued, model.Number):  # type: ignore[misc]
    pass


class _Date_Part(model.Date_Part):  # type: ignore[misc]  # noqa: N801 - named after its element
    def render(self, *args: Any, **kwargs: Any) -> Any:
        attributes = dict(self.attrib)
        try:
            return super().render(*args, **kwargs)
        finally:
            self.attrib.clear()
            self.attrib.update(attributes)


class _Name(model.Name):  # type: ignore[misc]
    def get_option(self, name: str, context: Any = None, sort_options: Any = None) -> Any:
        if name == "initialize-with" and self.get("initialize") == "false":
            return None
        return super().get_option(name, context, sort_options)

    def initialize(self, given: str, mark: str, context: Any) -> str:
        """Initials: ``Jean-Paul Q.`` gives ``J.-P. Q.``; a part in lower case has none."""
        if given.lower() == given.upper():
            return given  # a script without capitals has no initials
        words = []
        for word in given.replace(".", ". ").split():
            parts = [part for part in word.split("-") if part[:1].isupper()]
            words.append("-".join(part[0] + mark.strip() for part in parts) if parts else f" {word} ")
        joint = "" if mark == mark.rstrip() else " "
        return " ".join(joint.join(words).split())


class _Substitute(model.Substitute):  # type: ignore[misc]
    def render(self, item: Any, context: Any = None, **kwargs: Any) -> Any:
        track = self.get_root().track
        before = len(track.read)
        text = super().render(item, context=context, **kwargs)
        track.taken.update(track.read[before:])
        return text


class _Group(model.Group):  # type: ignore[misc]
    def process(self, item: Any, context: Any = None, **kwargs: Any) -> Any:
        track = self.get_root().track
        called, rendered = track.called, track.rendered
        parts = []
        for child in self.iterchildren():
            around = {"delimiter": self.get("delimiter", "")} if isinstance(child, model.Choose) else {}
            try:
                parts.append(child.render(item, context=context, **around, **kwargs))
            except VariableError:
                continue
        parts = [part for part in parts if part]
        if not parts or (track.called > called and track.rendered == rendered):
            raise VariableError
        track.rendered = max(track.rendered, rendered + 1)  # the group counts as a value of the enclosing one
        return self.join(parts)


class _Loaded:
    """A style with its locales, parsed for each item, as the processor modifies the tree."""

    def __init__(self, style: str, locale: str) -> None:
        root = self.root = _parsed(os.path.join(_STYLES, f"{style}.csl"))
        language = locale.partition("-")[0]
        own = root.findall(f"{{{_NAMESPACE}}}locale")
        root.locales = [found for lang in (locale, language, None) for found in own if found.get(_LANG) == lang]
        for name in dict.fromkeys((locale, "en-US")):
            root.locales.append(_parsed(os.path.join(LOCALES_PATH, f"locales-{name}.xml")))
        for one in root.locales:
            one.style = root
        root.track, root.formatter = _Track(), _Marks
        self.quotes = str(root.get_single_term(name="open-quote")), str(root.get_single_term(name="close-quote"))
        self.inside = root.get_locale_option("punctuation-in-quote") == "true"
        self.apart = root.bibliography.get("second-field-align") is not None
        for one in root.locales:
            for name, mark in (("open-quote", _OPEN_QUOTE), ("close-quote", _CLOSE_QUOTE)):
                for term in one.iterfind(f".//{{{_NAMESPACE}}}term[@name='{name}']"):
                    term.text = mark

    def release(self) -> None:
        """Free the trees at once: they are large and reference each other."""
        for one in self.root.locales:
            one.style = None
        self.root.locales = []

    def render_bibliography(self, items: list[Any]) -> Any:
        return self.root.bibliography.render(items)


@cache
def _parser() -> etree.XMLParser:
    lookup = etree.ElementNamespaceClassLookup()
    namespace = lookup.get_namespace(_NAMESPACE)
    namespace[None] = model.CitationStylesElement
    for known in model.CitationStylesElement.__subclasses__():
        namespace[known.__name__.replace("_", "-").lower()] = known
    for own in (_Text, _Names, _Date, _Number, _Date_Part, _Name, _Substitute, _Group):
        namespace[own.__name__[1:].replace("_", "-").lower()] = own
    parser = etree.XMLParser(remove_comments=True, no_network=True)
    parser.set_element_class_lookup(lookup)
    return parser


def _parsed(path: str) -> Any:
    with open(path, "rb") as file:
        return etree.fromstring(file.read(), _parser())
