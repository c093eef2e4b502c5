"""Conversations: a hit that is a turn names the turns around it, and nothing else is taken for one."""

from __future__ import annotations

import json
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import pytest

from polymnia import EntityDraft, Hit, Memory, connect
from stdio_client import Place

FERRY = [
    "Ann: Did you get the tickets?",
    "Bob: Yes, both of them.",
    "Ann: When does the ferry to Busan leave?",
    "Bob: At eight, from pier 4.",
    "Ann: Then I will pick you up at seven.",
]
QUESTION = "When does the ferry to Busan leave?"


@pytest.fixture
def memory(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Memory]:
    """A memory that is searched by words."""
    monkeypatch.setenv("POLYMNIA_EMBEDDER", "none")
    with closing(Place(tmp_path)) as place, connect(place.address) as held:
        yield held


def first(memory: Memory, query: str) -> Hit:
    return memory.search(query).hits[0]


def around(hit: Hit) -> tuple[str | None, str | None]:
    """What was said before and after a hit."""
    return hit.previous and hit.previous.text, hit.next and hit.next.text


@pytest.mark.promise("search.turns")
def test_a_turn_names_the_turn_before_and_the_reply(memory: Memory) -> None:
    ids = [memory.remember(text).record.uid for text in FERRY]

    hit = first(memory, QUESTION)

    assert hit.record.uid == ids[2]
    assert hit.next is not None
    assert (hit.next.id, hit.next.who, hit.next.text, hit.next.cut) == (ids[3], "Bob", "At eight, from pier 4.", False)
    assert hit.previous is not None
    assert (hit.previous.id, hit.previous.who, hit.previous.text) == (ids[1], "Bob", "Yes, both of them.")
    ends = [first(memory, "did you get the tickets"), first(memory, "pick you up at seven")]
    assert [around(one) for one in ends] == [(None, "Yes, both of them."), ("At eight, from pier 4.", None)]


@pytest.mark.promise("search.turns")
def test_a_question_and_its_reply_are_enough(memory: Memory) -> None:
    memory.remember("민수: 배는 언제 떠나요?")
    memory.remember("영희: 여덟 시에 떠나요.")
    memory.remember("user: I have moved to Busan", scope="chat")
    memory.remember("assistant: Noted, I will remember that.", scope="chat")

    assert around(first(memory, "배는 언제 떠나요?")) == (None, "여덟 시에 떠나요.")
    assert around(first(memory, "moved to Busan")) == (None, "Noted, I will remember that.")


@pytest.mark.promise("search.turns")
def test_turns_stored_backwards_are_told_in_the_order_of_their_numbers(memory: Memory) -> None:
    drafts = [EntityDraft(f"talk/D1:{i}", "message", (text,)) for i, text in enumerate(FERRY)]
    memory.create_entities(drafts[::-1])

    hit = first(memory, QUESTION)

    assert (hit.previous and hit.previous.name, hit.next and hit.next.name) == ("talk/D1:1", "talk/D1:3")


@pytest.mark.promise("search.turns")
def test_a_turn_that_is_gone_is_not_named(memory: Memory) -> None:
    ids = [memory.remember(text).record.uid for text in FERRY]
    assert around(first(memory, QUESTION))[1] == "At eight, from pier 4."
    memory.forget(ids[3])
    assert around(first(memory, QUESTION))[1] == "Then I will pick you up at seven."


@pytest.mark.promise("search.turns")
def test_a_turn_that_was_moved_to_another_scope_is_not_named(memory: Memory) -> None:
    ids = [memory.remember(text, scope="chat").record.uid for text in FERRY]
    memory.revise(ids[3], scope="private")
    assert around(first(memory, QUESTION)) == ("Yes, both of them.", None)


@pytest.mark.promise("search.turns", "search.budget")
def test_a_long_turn_is_cut_and_a_budget_is_kept(memory: Memory) -> None:
    for text in (*FERRY[:3], "Bob: At eight, " + "if the wind is not too strong for it " * 50, FERRY[4]):
        memory.remember(text)

    whole = first(memory, QUESTION)
    assert whole.next is not None
    assert whole.next.cut
    assert whole.next.text.startswith("At eight, if the wind")
    assert len(whole.next.text) < 250
    for budget in (20, 60, 140, 300, 900):
        found = memory.search(QUESTION, max_tokens=budget)
        assert found.cut is not None
        assert found.cut.tokens <= budget
    assert found.hits[0].next == whole.next
    assert memory.search(QUESTION, max_tokens=60).hits[0].next is None


@pytest.mark.promise("search.turns.only")
@pytest.mark.parametrize(
    "drafts",
    [
        pytest.param(
            [EntityDraft(f"memo {i}", "note", (text,), session="s1") for i, text in enumerate(
                ("Invoices are sent on Fridays", "The kiln needs a new door", "Invoices are kept ten years"))],
            id="notes of one session",
        ),
        pytest.param(
            [EntityDraft(f"note-{i}", "note", (text,)) for i, text in enumerate(
                ("Invoices: sent on Fridays", "Kiln: needs a new door", "Garden: water it twice"))],
            id="notes with headings",
        ),
        pytest.param(
            [EntityDraft(f"fact-{i}", "fact", (text,)) for i, text in enumerate(
                ("Ann: sends the invoices", "Ann: owns a kiln", "Bob: likes his garden", "Bob: plays the guitar"))],
            id="facts about people",
        ),
        pytest.param(
            [EntityDraft(f"fact-{i}", "fact", (text,), scope=scope) for i, (text, scope) in enumerate(
                (("Ann: sends the invoices", "ann"), ("Bob: likes his garden", "bob"), ("Ann: owns a kiln", "ann")))],
            id="facts about people in scopes",
        ),
        pytest.param(
            [EntityDraft(f"call-{i}", "message", texts) for i, texts in enumerate(
                (("Ann: about the invoices", "Bob: yes?", "Ann: late"), ("Cem: a kiln", "Dot: no", "Cem: ok")))],
            id="whole conversations",
        ),
        pytest.param(
            [EntityDraft(f"chat-{i}", "chat", (text,)) for i, text in enumerate(
                ("We talked about invoices", "We talked about the kiln", "We talked about the garden"))],
            id="what was talked about",
        ),
    ],
)  # fmt: skip
def test_notes_that_were_stored_one_after_the_other_have_nothing_to_do_with_each_other(
    memory: Memory, drafts: list[EntityDraft]
) -> None:
    memory.create_entities(drafts)

    found = memory.search("invoices kiln garden", at_least=0).hits

    assert len(found) == len(drafts)
    assert [(hit.why.lent, hit.previous, hit.next) for hit in found] == [(0.0, None, None)] * len(drafts)


@pytest.mark.promise("search.turns.only")
def test_turns_of_a_dialogue_lend_each_other_score(memory: Memory) -> None:
    for text in FERRY:
        memory.remember(text)
    for text in ("The ferry is painted blue", "Pier 4 is closed in winter"):
        memory.remember(text, scope="notes")

    lent = {hit.record.observations[0]: hit.why.lent for hit in memory.search("ferry pier", at_least=0).hits}

    assert lent["Bob: At eight, from pier 4."] > 0
    assert lent["The ferry is painted blue"] == lent["Pier 4 is closed in winter"] == 0


@pytest.mark.promise("search.command.turns")
def test_the_command_prints_what_was_said_before_and_after(place: Place, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("POLYMNIA_EMBEDDER", "none")
    with connect(place.address) as memory:
        for text in FERRY:
            memory.remember(text)
        memory.remember("The ferry is painted blue", scope="notes")

    lines = [line.strip() for line in place.run("search", "leave for Busan").stdout.splitlines()]
    assert lines[1:4] == [
        "Ann: When does the ferry to Busan leave?",
        "before: Bob: Yes, both of them.",
        "after: Bob: At eight, from pier 4.",
    ]
    hits = json.loads(place.run("search", "ferry", "--json").stdout)["hits"]
    told = {hit["observations"][0]: hit for hit in hits}
    assert told[FERRY[2]]["next"]["who"] == "Bob"
    assert told["The ferry is painted blue"]["next"] is None
