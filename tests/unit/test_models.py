"""Which texts are legal, in which form they are compared, and which names look alike."""

from __future__ import annotations

from pathlib import Path
from unicodedata import normalize

import pytest
from hypothesis import given
from hypothesis import strategies as st

from form import each
from polymnia import connect
from polymnia.errors import BadText, Invalid, OverLimit
from polymnia.models import Limits, Relation, fold, folded_forms, legal_name, legal_text, skeleton

TEXTS = st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\0"))

# ── legal texts ─────────────────────────────────────────────────────────────────────────────────────────────


@given(TEXTS)
def test_any_text_without_nul_and_lone_surrogates_is_legal_and_given_back(text: str) -> None:
    assert legal_text(text, "here", 1 << 20) is text
    assert legal_name(text, "here", Limits()) is text


@pytest.mark.parametrize("text", ["\0", "a\0b", "서\0울"])
def test_nul_is_refused_with_the_place(text: str) -> None:
    for refuse in (lambda: legal_text(text, "names[0]", 100), lambda: legal_name(text, "names[0]", Limits())):
        with pytest.raises(BadText, match=r"names\[0\] contains a NUL character"):
            refuse()


@pytest.mark.parametrize("text", ["\ud800", "a\udfffb", "\udc00\ud800", "é\ud83d", "x" * 50 + "\udead"])
def test_a_lone_surrogate_is_refused_and_named(text: str) -> None:
    for refuse in (
        lambda: legal_text(text, "query", 1000),
        lambda: legal_text(text, "query", 10),
        lambda: legal_name(text, "query", Limits(name_bytes=10)),
    ):
        with pytest.raises(BadText, match=r"query contains a lone surrogate \(U\+D[89A-F]..\)"):
            refuse()


@each("project", ["a\0b", "\ud800", "é" * 201])
def test_a_name_that_no_project_may_have_is_refused_before_anything_is_made(tmp_path: Path, project: str) -> None:
    place = tmp_path / "memory.db"
    with pytest.raises(Invalid, match="project"):
        connect(str(place), project=project)
    with connect(str(place)) as memory, pytest.raises(Invalid, match="project"):
        memory.acting("me", project=project)
    assert not place.exists()


@pytest.mark.parametrize(
    ("text", "size"), [("a" * 10, 10), ("é" * 5, 10), ("서" * 3, 9), ("😀" * 2, 8), ("", 0)], ids=ascii
)
def test_a_limit_counts_bytes_and_includes_itself(text: str, size: int) -> None:
    assert legal_text(text, "here", size) == text
    assert legal_name(text, "here", Limits(name_bytes=size)) == text
    if size:
        with pytest.raises(OverLimit, match="max_text_bytes") as over:
            legal_text(text, "here", size - 1)
        assert over.value.details["size"] == size
        with pytest.raises(OverLimit, match="max_name_bytes"):
            legal_name(text, "here", Limits(name_bytes=size - 1))


def test_a_name_has_the_limit_of_a_text_too() -> None:
    with pytest.raises(OverLimit, match="max_text_bytes"):
        legal_name("a" * 20, "here", Limits(text_bytes=10))


# ── the form in which texts are compared ────────────────────────────────────────────────────────────────────


@each(
    ("text", "forms"),
    [
        ("", ("",)),
        ("ABC xyz", ("abc xyz",)),
        ("Straße", ("strasse",)),
        ("ﬁn", ("fin",)),
        ("ΣΑΣ ς", ("σασ σ",)),
        ("İ", ("i\u0307",)),
        ("ı", ("ı",)),
        ("서울", ("서울",)),
        ("É", ("é",)),
        ("E\u0301", ("é", "e\u0301")),
        (normalize("NFD", "각"), ("각", normalize("NFD", "각"))),
        ("\u212b", ("å", "å")),
    ],
)
def test_a_text_is_folded_and_composed_and_kept_as_written_where_that_differs(
    text: str, forms: tuple[str, ...]
) -> None:
    assert folded_forms(text) == forms
    assert fold(text) == "\0".join(forms)


@given(TEXTS)
def test_the_forms_are_those_of_unicode(text: str) -> None:
    forms = folded_forms(text)
    assert forms[0] == normalize("NFC", text).casefold()
    assert set(forms) == {normalize("NFC", text).casefold(), text.casefold()}


@given(TEXTS, TEXTS, TEXTS)
def test_a_part_is_found_in_the_whole_whatever_its_case(before: str, part: str, after: str) -> None:
    for written in (part, part.lower(), part.casefold()):
        forms = folded_forms(before + part + after)
        assert any(form in whole for form in folded_forms(written) for whole in forms)


@given(TEXTS)
def test_a_text_is_found_by_its_composed_and_its_decomposed_form(text: str) -> None:
    for typed in (normalize("NFC", text), normalize("NFD", text)):
        assert set(folded_forms(typed)) & set(folded_forms(text))


@given(TEXTS)
def test_no_text_reaches_from_one_form_into_the_other(text: str) -> None:
    assert fold(text).count("\0") == len(folded_forms(text)) - 1


# ── what a name looks like ──────────────────────────────────────────────────────────────────────────────────


@each(
    ("one", "other"),
    [
        ("Ann", "ANN"),
        ("Straße", "STRASSE"),
        ("ﬁle", "file"),
        ("ＡＢＣ１", "abc1"),
        ("café", "cafe\u0301"),
        ("paypal", "раураl"),
        ("Αlpha", "Alpha"),
        ("a\u200bb", "ab"),
        ("a\u00adb", "ab"),
        ("\ufeffab", "ab"),
        ("a b", "a  b"),
        ("a b", " a b "),
        ("a b", "a\u00a0b"),
        ("a b", "a\u3000b"),
        ("a b", "a\tb"),
        ("a b", "a\nb"),
        ("é b", "é\tb"),
        ("ab", "a\x07b"),
        ("ab", "a\x7fb"),
        ("éb", "é\x07b"),
        ("a-b", "a–b"),
        ("it's", "it’s"),
        ("Kelvin", "\u212aelvin"),
    ],
)
def test_names_that_differ_in_looks_alone_have_one_skeleton(one: str, other: str) -> None:
    assert skeleton(one) == skeleton(other)


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("a", "b"),
        ("ab", "a b"),
        ("resume", "résumé"),
        ("1", "l"),
        ("서울", "서을"),
        ("a-b", "a_b"),
        ("", "a"),
        ("日", "曰"),
    ],
    ids=ascii,
)
def test_names_a_reader_tells_apart_have_two(one: str, other: str) -> None:
    assert skeleton(one) != skeleton(other)


@given(st.text(st.characters(min_codepoint=32, max_codepoint=126)))
def test_case_and_outer_space_never_matter(name: str) -> None:
    assert skeleton(name) == skeleton(name.upper()) == skeleton(f" {name} ")


@given(st.text(st.characters(categories=["Lu", "Ll", "Lo", "Nd"]), min_size=1), st.integers(0, 20))
def test_an_invisible_character_never_matters(name: str, place: int) -> None:
    assert skeleton(name[:place] + "\u200b" + name[place:]) == skeleton(name)


# ── values ──────────────────────────────────────────────────────────────────────────────────────────────────


def test_a_relation_is_known_by_its_ends_and_its_public_id() -> None:
    relation = Relation(id=255, source="a", target="b", type="knows")
    assert relation.ends == ("a", "b", "knows")
    assert relation.uid == "relation_ff"
