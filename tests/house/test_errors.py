"""The fault tree is complete: documented, with codes, and worded by every dialect."""

from __future__ import annotations

import re
from collections import Counter

from polymnia import errors
from polymnia.dialects.associative.refusals import CATEGORIES
from polymnia.dialects.associative.refusals import word as word_associative
from polymnia.dialects.content.refusals import CODES as CONTENT_CODES
from polymnia.dialects.content.refusals import word as word_content
from polymnia.dialects.graph.refusals import KOREAN, SOLUTIONS, word
from polymnia.errors import Fault, Violation
from polymnia.transports.errors import CODES, from_fault

# One of each, as it would be raised.
_SAMPLES: list[Fault] = [
    Fault("Something odd happened"),
    errors.Invalid("That is not legal"),
    errors.BadArguments("create_entities", [Violation("entities[0].name", "string", "number")]),
    errors.BadText("entities[0].name", "a NUL character (U+0000)"),
    errors.EmptyList("entities"),
    errors.ManyTexts("Ann", 3),
    errors.OverLimit("entities", 10_001, "items", 10_000, "max_batch"),
    errors.UnknownOperation("There is no tool of that name"),
    errors.NotFound(["Ann", "Bob"]),
    errors.AlreadyExists(["Ann", "Bob"]),
    errors.MissingEnds(["Ann", "Bob"]),
    errors.Conflict("A later change stands in the way", changes=[7]),
    errors.Cancelled("The request was cancelled"),
    errors.Refused("Writing needs a session"),
    errors.NotAllowed("This key may read but not write"),
    errors.OverQuota("The project 'atlas' may hold 2 memories, and would have 3; nothing was changed"),
    errors.ExportFailed("The file cannot be written"),
    errors.ImportFailed("The archive cannot be read"),
    errors.Unavailable("The store cannot be used"),
    errors.Busy("Another process is writing"),
    errors.Interrupted("The connection was lost"),
    errors.TooNew("Made by a newer Polymnia"),
    errors.NotAStore("notes.txt is not a Polymnia store"),
    errors.Damaged("The store is damaged"),
    errors.BrokenFile("Failed to parse storage file: Invalid JSON at line 1"),
    errors.NoLibrary("jwt"),
    errors.NoModel("The folder models holds no embedding model"),
    errors.NoSpace("No space left"),
    errors.Forbidden("The store cannot be opened"),
]

_DIALECTS = ["simple", "strict", "bilingual", "official"]


def _faults() -> list[type[Fault]]:
    """Every kind of fault, parents before children."""

    def below(kind: type[Fault]) -> list[type[Fault]]:
        return [kind, *(each for child in kind.__subclasses__() for each in below(child))]

    return [kind for kind in dict.fromkeys(below(Fault)) if kind.__module__ == errors.__name__]


def _tree() -> list[tuple[int, str]]:
    """The lines of the tree in the docstring: the depth and the fault."""
    lines = re.findall(r"^    ([│├└─ ]*)([A-Z]\w+) {2,}\S", errors.__doc__ or "", re.M)
    return [(len(indent) // 4, name) for indent, name in lines]


def test_every_fault_is_public() -> None:
    assert sorted(fault.__name__ for fault in _faults()) == sorted(errors.__all__)


def test_every_fault_has_a_code_of_its_own() -> None:
    codes = Counter(fault.code for fault in _faults())
    assert not [code for code, times in codes.items() if times > 1]


def test_a_fault_is_explained() -> None:
    for fault in _faults():
        assert "code" in vars(fault), f"{fault.__name__} borrows its parent's code"
        assert re.fullmatch(r"[a-z]+(_[a-z]+)*", fault.code)
        assert (fault.__doc__ or "").strip()
        assert fault.hint.strip().endswith(".")


def test_the_tree_in_the_docstring_has_every_fault_below_its_parent() -> None:
    tree = _tree()
    assert sorted(name for _, name in tree) == sorted(fault.__name__ for fault in _faults())
    above: list[str] = []
    for depth, name in tree:
        del above[depth:]
        parent = getattr(errors, name).__bases__[0].__name__
        assert parent == (above[-1] if above else "Exception"), name
        above.append(name)


def test_importing_everything_from_errors_gives_the_faults() -> None:
    assert all(issubclass(getattr(errors, name), Fault) for name in errors.__all__)


def test_there_is_a_sample_of_every_fault() -> None:
    assert [type(fault) for fault in sorted(_SAMPLES, key=lambda fault: fault.code)] == sorted(
        _faults(), key=lambda kind: kind.code
    )


def test_every_dialect_has_words_for_every_fault() -> None:
    for dialect in _DIALECTS:
        for fault in _SAMPLES:
            reply = word(dialect)(fault)
            text = reply.text if reply.text is not None else reply.value["error"]
            assert reply.is_error
            assert text.strip()
            assert "None" not in text
            assert not re.search(r"\.\.(?!\.)", text), f"two full stops: {text}"
            # The subject is named: the memory, the field, or the message itself.
            about = fault.details.get("names", fault.details.get("field")) or fault.message
            about = about[0] if isinstance(about, list) else about
            if not isinstance(fault, errors.BadArguments):
                assert str(about) in text
            else:
                assert "entities[0].name" in text


def test_bilingual_words_every_fault_in_korean_too() -> None:
    for fault in _SAMPLES:
        english, korean = (word("bilingual")(fault).text or "").split("\n")
        assert english.startswith("Error: ")
        assert re.search("[가-힣]", korean)
        assert not re.search("[가-힣]", english)


def test_no_table_of_words_has_a_fault_that_does_not_exist() -> None:
    codes = {fault.code for fault in _faults()}
    assert set(KOREAN) == codes
    assert set(SOLUTIONS) <= codes


def test_strict_advises_what_to_do_about_every_fault() -> None:
    for fault in _SAMPLES:
        error, solution = (word("strict")(fault).text or "").split("\n")
        assert error.startswith("Error: ")
        assert re.fullmatch(r"Solution: \S.*", solution)


def test_the_associative_dialect_has_a_category_for_every_fault_and_no_other() -> None:
    # Commands have faults of their own below these; whether they are imported yet is of no concern here.
    assert {kind for kind in CATEGORIES if kind.__module__ == errors.__name__} == set(_faults())


def test_the_associative_dialect_words_every_fault() -> None:
    for fault in _SAMPLES:
        reply = word_associative(fault)
        assert reply.is_error
        assert reply.value["success"] is False
        assert reply.value["error"] == CATEGORIES[type(fault)]
        assert reply.value["message"].strip()


def test_the_content_dialect_has_a_code_for_every_fault_and_no_other() -> None:
    assert set(CONTENT_CODES) == set(_faults())


def test_the_content_dialect_words_every_fault_as_an_error_of_the_protocol() -> None:
    for fault in _SAMPLES:
        refusal = word_content(fault).refusal
        assert refusal is not None
        code, message, data = refusal
        assert (code, data["error_type"]) == CONTENT_CODES[type(fault)]
        assert 400 <= code <= 504
        assert message.strip()
        assert data["suggestions"]
        assert all(text.strip() for text in data["suggestions"])
        assert isinstance(data["details"], dict)


def test_the_protocol_has_a_code_for_every_fault_and_no_other() -> None:
    assert set(CODES) == set(_faults())


def test_every_fault_becomes_an_error_of_the_protocol_that_says_what_to_do() -> None:
    for fault in _SAMPLES:
        error = from_fault(fault)
        assert error.code == CODES[type(fault)]
        assert error.message
        assert error.data["code"] == fault.code
        assert error.data["hint"] == fault.hint
