"""Citations: what five styles make of a content, whatever is known about it."""

from __future__ import annotations

import json
import re
import subprocess
import sys
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from form import by_form, each
from polymnia.engine.citations import STYLES, Citable, Citation, citable, cite
from polymnia.engine.citations.item import _TYPES, authors
from polymnia.errors import Invalid
from polymnia.models import Record

NOW = 1_794_700_800_000_000  # 2026-11-15
LINK = "polymnia://project/harbour/content/content_1"
ARTICLE = {
    "type": "article", "title": "Tidal clocks of the western harbour",
    "authors": ["Moreau, Elena", "Jean-Paul Q. Stein"],
    "journal": "Journal of Coastal Studies", "volume": 12, "issue": 3, "pages": "101-119", "date": "2021-03-14",
    "doi": "https://doi.org/10.5555/jcs.2021.77",
}  # fmt: skip
PAGE = {
    "type": "webpage", "title": "How to read a tide table", "author": "Elena Moreau", "website": "Harbour Notes",
    "date": "2023-05-02", "url": "https://example.org/tides?a=1&b=2",
}  # fmt: skip


def item(
    metadata: dict[str, Any] | None = None, content: str = "A line.", kind: str | None = None, created: int = 0
) -> Citable:
    record = Record(
        id=1,
        uid="content_1",
        name="content_1",
        kind=kind or "content",
        observations=(content,),
        metadata=metadata or {},
        created=created,
    )
    return citable("harbour", record)


def cited(style: str, told: Citable, *, permalink: bool = False, access_date: bool = False) -> Citation:
    return cite(told, style, permalink=permalink, access_date=access_date, now=NOW)


@pytest.mark.parametrize(
    ("style", "text"),
    [
        ("apa", "Moreau, E., & Stein, J.-P. Q. (2021). Tidal clocks of the western harbour. Journal of Coastal "
         "Studies, 12(3), 101–119. https://doi.org/10.5555/jcs.2021.77"),
        ("mla", "Moreau, Elena, and Jean-Paul Q. Stein. “Tidal Clocks of the Western Harbour.” Journal of Coastal "
         "Studies, vol. 12, no. 3, Mar. 2021, pp. 101–19, https://doi.org/10.5555/jcs.2021.77."),
        ("chicago", "Moreau, Elena, and Jean-Paul Q. Stein. 2021. “Tidal Clocks of the Western Harbour.” Journal of "
         "Coastal Studies 12 (3): 101–19. https://doi.org/10.5555/jcs.2021.77."),
        ("ieee", "[1] E. Moreau and J.-P. Q. Stein, “Tidal clocks of the western harbour,” Journal of Coastal Studies, "
         "vol. 12, no. 3, pp. 101–119, Mar. 2021, doi: 10.5555/jcs.2021.77."),
        ("harvard", "Moreau, E. and Stein, J.-P.Q. (2021) ‘Tidal clocks of the western harbour’, Journal of Coastal "
         "Studies, 12(3), pp. 101–119. Available at: https://doi.org/10.5555/jcs.2021.77."),
    ],
)  # fmt: skip
def test_an_article_is_cited_as_the_style_asks(style: str, text: str) -> None:
    assert cited(style, item(ARTICLE)).text == text


@pytest.mark.parametrize(
    ("style", "text"),
    [
        ("apa", "Moreau, E. (2023, May 2). How to read a tide table. Harbour Notes. Retrieved November 15, 2026, from "
         "https://example.org/tides?a=1&b=2"),
        ("mla", "Moreau, Elena. “How to Read a Tide Table.” Harbour Notes, 2 May 2023, "
         "https://example.org/tides?a=1&b=2. Accessed 15 Nov. 2026."),
        ("chicago", "Moreau, Elena. 2023. “How to Read a Tide Table.” Harbour Notes, May 2. Accessed November 15, "
         "2026. https://example.org/tides?a=1&b=2."),
        ("ieee", "[1] E. Moreau, “How to read a tide table,” Harbour Notes. Accessed: Nov. 15, 2026. [Online]. "
         "Available: https://example.org/tides?a=1&b=2"),
        ("harvard", "Moreau, E. (2023) How to read a tide table, Harbour Notes. Available at: "
         "https://example.org/tides?a=1&b=2 (Accessed: 15 November 2026)."),
    ],
)  # fmt: skip
def test_a_web_page_is_cited_with_its_address_and_the_date_of_access(style: str, text: str) -> None:
    assert cited(style, item(PAGE), access_date=True).text == text


@pytest.mark.parametrize(
    ("style", "text"),
    [
        ("apa", "Use one queue. (n.d.)."),
        ("mla", "“Use One Queue.”"),
        ("chicago", "“Use One Queue.” n.d."),
        ("ieee", "[1] “Use one queue.”"),
        ("harvard", "‘Use one queue’ (no date)."),
    ],
)
def test_without_author_and_date_the_title_comes_first_and_is_said_once(style: str, text: str) -> None:
    assert cited(style, item(content="Use one queue.\nMore of it.")).text == text


@each("style", STYLES)
@each("metadata", [ARTICLE, PAGE, {}])
def test_permalink_and_access_date_show_when_they_are_asked_for_and_only_then(
    style: str, metadata: dict[str, Any]
) -> None:
    plain = cited(style, item(metadata))
    assert LINK not in plain.text and "2026" not in plain.text and plain.permalink is plain.accessed is None
    full = cited(style, item(metadata), permalink=True, access_date=True)
    assert LINK in full.text and LINK in full.html and LINK in full.bibtex and "2026" in full.text
    assert (full.permalink, full.accessed) == (LINK, "2026-11-15")
    if "url" in metadata:
        assert metadata["url"] in full.text  # its own address is not displaced


@pytest.mark.long
@each("style", STYLES)
@each("type", sorted(_TYPES))
def test_every_type_is_cited_with_its_author_title_and_year(style: str, type: str) -> None:
    text = cited(
        style, item({"type": type, "title": "Tidal clocks", "author": "Elena Moreau", "date": "2021-03-14"})
    ).text
    assert "Moreau" in text and "tidal clocks" in text.lower() and ("2021" in text or style == "ieee")
    assert not re.search(r"\s[.,]|\.\.|,,|\(\)|\s\s", text)


@pytest.mark.parametrize("style", STYLES)
def test_korean_titles_and_names_stay_as_they_are(style: str) -> None:
    text = cited(
        style, item({"authors": ["김, 민준", "이서연"], "date": "2024년 3월 5일"}, "# 항구의 조석 관측\n\n본문")
    ).text
    assert "김민준" in text and "이서연" in text and "항구의 조석 관측" in text and "2024" in text


def test_only_english_titles_get_capitals() -> None:
    assert "“What ‘Durable’ Means: A Guide”" in cited(
        "mla", item({"title": 'what "durable" means: a guide'})
    ).text.replace(".”", "”")
    assert "les marées du port" in cited("mla", item({"title": "les marées du port"})).text
    assert "die Uhren der Flut" in cited("mla", item({"title": "die Uhren der Flut", "language": "de"})).text


@each("style", STYLES)
@each("title", ["Is it safe?", "Stop!", "And so on…", "Notes on Acme Inc.", "A note.", "Wait..."])
def test_no_sentence_ends_twice(style: str, title: str) -> None:
    text = cited(style, item({"title": title, "author": "Harbour Board, Inc.", "date": "2020"})).text
    assert not re.search(r"[?!…]\W?\.|(?<!\.)\.[”’]?\.(?!\.)", text)


def test_html_is_escaped_and_has_the_italics_of_the_style() -> None:
    made = cited(
        "apa", item({"title": "<b>Bold</b> & brave", "type": "report", "author": "O'Neil & Sons Ltd", "year": 1999})
    )
    assert made.html == "O’Neil &amp; Sons Ltd. (1999). <i>&lt;b&gt;Bold&lt;/b&gt; &amp; brave</i>."
    assert made.text == "O’Neil & Sons Ltd. (1999). <b>Bold</b> & brave."


@each(
    ("told", "found"),
    [
        ("Elena Moreau", [{"family": "Moreau", "given": "Elena"}]),
        ("Moreau, Elena", [{"family": "Moreau", "given": "Elena"}]),
        ("Ludwig van Beethoven", [{"family": "Beethoven", "given": "Ludwig", "non-dropping-particle": "van"}]),
        ("van der Berg, Jan", [{"family": "Berg", "given": "Jan", "non-dropping-particle": "van der"}]),
        ("King, Martin Luther, Jr.", [{"family": "King", "given": "Martin Luther", "suffix": "Jr."}]),
        ("Elena Moreau <elena@example.org>", [{"family": "Moreau", "given": "Elena"}]),
        ("Elena Moreau and Tom Hill", [{"family": "Moreau", "given": "Elena"}, {"family": "Hill", "given": "Tom"}]),
        ("Elena Moreau, Tom Hill", [{"family": "Moreau", "given": "Elena"}, {"family": "Hill", "given": "Tom"}]),
        ("Moreau, E.; Hill, T.", [{"family": "Moreau", "given": "E."}, {"family": "Hill", "given": "T."}]),
        ("김민준, 이서연", [{"literal": "김민준"}, {"literal": "이서연"}]),
        ("김, 민준", [{"literal": "김민준"}]),
        ("남궁, 민", [{"literal": "남궁민"}]),
        ("김구, 이상", [{"literal": "김구"}, {"literal": "이상"}]),
        ("山田, 太郎", [{"literal": "山田太郎"}]),
        ("山田太郎、鈴木花子", [{"literal": "山田太郎"}, {"literal": "鈴木花子"}]),
        ("William H. Press", [{"family": "Press", "given": "William H."}]),
        ("국립해양조사원", [{"literal": "국립해양조사원"}]),
        ("山田太郎", [{"literal": "山田太郎"}]),
        ("Harbour Board, Inc.", [{"literal": "Harbour Board, Inc."}]),
        ("University of the Coast", [{"literal": "University of the Coast"}]),
        ("ops-bot-7", [{"literal": "ops-bot-7"}]),
        ({"name": "Blue Whale", "type": "Organization"}, [{"literal": "Blue Whale"}]),
        ({"first_name": "Elena", "last_name": "Moreau"}, [{"family": "Moreau", "given": "Elena"}]),
        ({"family": "김", "given": "민준"}, [{"literal": "김민준"}]),
        (["Moreau, Elena", {"name": "Tom Hill"}, 7, None], [{"family": "Moreau", "given": "Elena"},
         {"family": "Hill", "given": "Tom"}]),
        ("", []), (None, []), (12, []), ([], []),
    ],
)  # fmt: skip
def test_names_are_read_in_every_form(told: Any, found: list[dict[str, str]]) -> None:
    assert authors(told) == found


@each(
    ("date", "day"),
    [
        ("2021-03-14", (2021, 3, 14)), ("2021-03-14T10:00:00Z", (2021, 3, 14)), ("2021/3", (2021, 3)), (2021, (2021,)),
        ("March 14, 2021", (2021, 3, 14)), ("14 Mar. 2021", (2021, 3, 14)), ("May 2020", (2020, 5)),
        ("2021년 3월 14일", (2021, 3, 14)), ("2021-02-31", (2021, 2)), ("2021-13-01", (2021,)),
    ],
)  # fmt: skip
def test_dates_are_read_as_far_as_they_are_told(date: Any, day: tuple[int, ...]) -> None:
    assert item({"date": date}, created=NOW).issued == day


def test_without_a_date_the_time_of_storing_counts() -> None:
    assert item({"date": "some day"}, created=NOW).issued == (2026, 11, 15)


@pytest.mark.parametrize(
    ("content", "title"),
    [
        ("# Tides of the *north*\n\ntext", "Tides of the north"),
        ("Tides\n=====\ntext", "Tides"),
        ("<html><title>Tides &amp; waves</title>", "Tides & waves"),
        ("- First point. Second point.", "First point"),
        ("오늘 배포했다. 내일 쉰다.", "오늘 배포했다"),
        ("{\n", "content_1"),
        ("word " * 100, "word " * 23 + "word…"),
    ],
)
def test_a_title_is_read_off_the_text(content: str, title: str) -> None:
    assert item(content=content).title == title


@pytest.mark.parametrize(
    ("metadata", "kind", "type"),
    [
        ({}, "decision", "report"), ({}, "note", "document"), ({}, None, "document"),
        ({"url": "https://example.org"}, "memory", "webpage"), ({"type": "software"}, None, "software"),
        ({"journal": "Tides"}, None, "article-journal"), ({"type": "book"}, "note", "book"),
    ],
)  # fmt: skip
def test_the_type_follows_metadata_then_kind(metadata: dict[str, Any], kind: str | None, type: str) -> None:
    assert item(metadata, kind=kind).type == type


def test_bibtex_and_csl_tell_the_same() -> None:
    made = cited("apa", item({**ARTICLE, "title": "50% of {tides} & more_"}), permalink=True)
    assert made.bibtex.startswith("@article{content_1,\n")
    assert r"title = {{50\% of \{tides\} \& more\_}}," in made.bibtex
    assert "author = {Moreau, Elena and Stein, Jean-Paul Q.}," in made.bibtex
    assert made.csl["DOI"] == "10.5555/jcs.2021.77" and made.csl["issued"] == {"date-parts": [[2021, 3, 14]]}
    json.dumps(made.csl)


def test_the_same_item_is_cited_the_same_again() -> None:
    for style in STYLES:
        before = cited(style, item(ARTICLE)).text
        cited(style, item(PAGE), access_date=True)
        assert cited(style, item(ARTICLE)).text == before


def test_an_unknown_style_is_refused_with_those_there_are() -> None:
    with pytest.raises(Invalid, match="apa, mla, chicago, ieee, harvard"):
        cited("vancouver", item())


texts = st.text(st.characters(exclude_categories=["Cs"]), max_size=30)
told = st.recursive(
    st.none() | st.booleans() | st.integers() | texts,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(texts, inner, max_size=2),
    max_leaves=4,
)
keys = ["title", "author", "authors", "date", "year", "url", "doi", "publisher", "journal", "volume", "issue", "pages",
        "edition", "number", "type", "language", "place", "release"]  # fmt: skip


@given(texts, st.dictionaries(st.sampled_from(keys), told, max_size=8), st.sampled_from(STYLES))
@settings(max_examples=by_form(30, 150), deadline=None)
def test_whatever_metadata_hold_there_is_a_citation(content: str, metadata: dict[str, Any], style: str) -> None:
    made = cited(style, item(metadata, content), permalink=True, access_date=True)
    assert made.text == made.text.strip() and LINK in made.text and "2026" in made.text
    assert not re.search("[\x00-\x08\ufdd0-\ufdef]", made.text)
    assert "<" not in re.sub("</?i>", "", made.html)


def test_the_processor_is_loaded_with_the_first_citation_only() -> None:
    code = "import sys, polymnia.engine.citations; print('citeproc' in sys.modules or 'lxml' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code], capture_output=True, text=True).stdout.strip() == "False"
