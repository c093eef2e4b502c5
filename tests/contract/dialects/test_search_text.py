"""Search over any Unicode text, compared with a plain Python oracle, in a small and in a large memory.

One memory holds a few hundred texts made of every kind of character that has ever broken a search.
Each query is answered by the servers of all four dialects, first while the memory is small, then after
thousands of observations were added, when an index takes over.
"""

from __future__ import annotations

import random
import unicodedata
from collections.abc import Callable, Iterator
from dataclasses import dataclass

import pytest

from form import by_form
from stdio_client import Place, Reply, Server, entity

SPECIAL = [
    "Straße",
    "STRASSE",
    "strasse",
    "ẞ",
    "İstanbul",
    "istanbul",
    "ISTANBUL",
    "ıssız",
    "ﬁle",
    "FILE",
    "ΟΔΥΣΣΕΥΣ",
    "οδυσσευς",
    "café",
    "CAFÉ",
    "cafe\u0301",
    "한국어 기억",
    unicodedata.normalize("NFD", "한국어 기억"),
    "각",
    "가\u11a8",
    "서울특별시",
    "부산",
    "東京都",
    "ไทย",
    "हिन्दी",
    "👩‍👩‍👧 family",
    "👍🏽",
    "🇰🇷",
    "100%",
    "a_b",
    "a%b",
    "axb",
    'say "hi"',
    "it's",
    "back\\slash",
    "a*b?",
    "NOT (x OR y) AND NEAR",
    "line\nbreak",
    "tab\tstop",
    "ΑΣ",
    "ας",
    "ασ",
    "\u00c5ngstr\u00f6m",
    "A\u030angstro\u0308m",
    "\u212bngstrom",
    "ǅ",
    "ǆ",
    "Ⅷ",
    "ⅷ",
    "ʼn",
    "x",
    "xy",
    "xyz",
    "",
    " ",
    "-",
    "--",
    ";",
    "^",
    ":",
    "x:y",
]


def composed(text: str) -> str:
    return unicodedata.normalize("NFC", text)


def contains_folded(text: str, query: str) -> bool:
    """The promise of simple, strict and bilingual: as typed or composed, without regard to case.

    In `strict` spaces around the query do not count.
    """
    forms = {text.casefold(), composed(text).casefold()}
    return any(wanted in form for wanted in (query.casefold(), composed(query).casefold()) for form in forms)


def contains_lowered(text: str, query: str) -> bool:
    """The promise of official: the npm release compares what toLowerCase gives."""
    return query.lower() in text.lower()


def make_texts(chance: random.Random, count: int) -> list[str]:
    pieces = [*SPECIAL, "alpha", "Beta", "GAMMA", "delta-7", "기억", "관찰", "naïve", "Ünïcödé"]
    texts = []
    for _ in range(count):
        words = chance.choices(pieces, k=chance.randint(1, 5))
        texts.append(chance.choice([" ", "", ", "]).join(words))
    return texts


def make_queries(chance: random.Random, texts: list[str], count: int) -> list[str]:
    changes: list[Callable[[str], str]] = [
        str,
        str.upper,
        str.lower,
        str.swapcase,
        composed,
        lambda text: unicodedata.normalize("NFD", text),
    ]
    queries = list(SPECIAL)
    while len(queries) < count:
        text = chance.choice(texts)
        start = chance.randrange(len(text) + 1)
        part = text[start : start + chance.choice([1, 1, 2, 2, 3, 4, 6, 12])]
        queries.append(chance.choice(changes)(part))
    return queries


@dataclass
class Library:
    """A memory of many texts, the servers that read it, and what a plain loop would find in it."""

    servers: dict[str, Server]
    texts: dict[str, list[str]]
    queries: list[str]

    def expected(self, query: str, contains: Callable[[str, str], bool]) -> list[str]:
        return [name for name, texts in self.texts.items() if any(contains(t, query) for t in texts)]

    def add(self, entities: list[dict]) -> None:
        for start in range(0, len(entities), 1000):
            self.servers["simple"].call("create_entities", entities=entities[start : start + 1000])
        for made in entities:
            self.texts[made["name"]] = [made["name"], made["entityType"], *made["observations"]]

    def ask(self, dialect: str) -> Iterator[tuple[str, list[str]]]:
        """Every query with the names found, in the order of the answer."""
        server = self.servers[dialect]
        for start in range(0, len(self.queries), 40):
            part = self.queries[start : start + 40]
            calls = [server.begin_call("search_nodes", {"query": query}) for query in part]
            for query, call in zip(part, calls, strict=True):
                # Not checked against the output schema here: these answers are many and large.
                value = Reply(server.answer(call)["result"]).value
                nodes = value if isinstance(value, list) else value.get("nodes", value.get("entities"))
                yield query, [node["name"] for node in nodes]


@pytest.fixture(scope="module", params=["small", "large"])
def library(request: pytest.FixtureRequest, module_place: Place) -> Library:
    store = str(module_place.folder / f"{request.param}.db")
    servers = {
        dialect: module_place.serve(dialect, "--store", store)
        for dialect in ("simple", "strict", "bilingual", "official")
    }
    chance = random.Random(20)
    texts = make_texts(chance, 320)
    library = Library(servers, {}, make_queries(chance, [t for t in texts if t], by_form(90, 190)))
    library.add(
        [
            entity(f"e{i:03}" + chance.choice(["", " ß", "-각", "_%"]), *texts[4 * i : 4 * i + 4], type="Note")
            for i in range(80)
        ]
    )
    if request.param == "large":
        library.add([entity(f"bulk {i:03}", *make_texts(chance, 6), type="bulk") for i in range(by_form(300, 500))])
    return library


@pytest.mark.promise("graph.search_nodes.folding")
@pytest.mark.promise("graph.search_nodes.short")
@pytest.mark.promise("graph.search_nodes.composition")
@pytest.mark.promise("graph.search_nodes.literal")
@pytest.mark.promise("graph.search_nodes.any_size")
@pytest.mark.parametrize("dialect", ["simple", "bilingual"])
def test_substring_search_finds_exactly_what_a_plain_loop_finds(library: Library, dialect: str) -> None:
    for query, found in library.ask(dialect):
        assert found == library.expected(query, contains_folded), f"query {query!r}"


@pytest.mark.promise("graph.search_nodes.any_size")
@pytest.mark.promise("graph.official.search_nodes.matching")
def test_official_search_finds_exactly_what_a_plain_loop_over_lower_case_finds(library: Library) -> None:
    for query, found in library.ask("official"):
        assert found == library.expected(query, contains_lowered), f"query {query!r}"


@pytest.mark.promise("graph.search_nodes.any_size")
@pytest.mark.promise("graph.strict.search_nodes.matching")
def test_strict_search_answers_every_substring_match_before_anything_similar(library: Library) -> None:
    for query, found in library.ask("strict"):
        exact = library.expected(query.strip(), contains_folded)
        assert sorted(found[: len(exact)]) == sorted(exact), f"query {query!r}"
        assert len(set(found)) == len(found), f"query {query!r}"


@pytest.mark.promise("graph.search_nodes.empty_query")
def test_an_empty_query_answers_everything(library: Library, dialect: str) -> None:
    value = library.servers[dialect].call("search_nodes", query="").value
    nodes = value if isinstance(value, list) else value.get("nodes", value.get("entities"))

    assert sorted(node["name"] for node in nodes) == sorted(library.texts)


@pytest.mark.promise("graph.search_nodes.folding")
@pytest.mark.parametrize("dialect", ["simple", "strict", "bilingual"])
def test_strasse_in_capitals_finds_the_sharp_s_and_back(place: Place, dialect: str) -> None:
    server = place.serve(dialect)
    server.call("create_entities", entities=[entity("a", "Hauptstraße 1"), entity("b", "HAUPTSTRASSE 2")])

    for query in ("STRASSE", "straße", "ẞ", "ss"):
        value = server.call("search_nodes", query=query).value
        nodes = value if isinstance(value, list) else value["nodes"]
        assert sorted(node["name"] for node in nodes) == ["a", "b"], query
