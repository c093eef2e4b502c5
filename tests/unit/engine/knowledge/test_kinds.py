"""What sort of statement a text is, and which sentences of a conversation are worth keeping."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from form import each
from polymnia import EntityDraft, Invalid, Memory, app
from polymnia.engine.knowledge.kinds import KINDS, ConversationTurn, Extraction, KeptStatement

_CASES = [
    ("My brother works as a paramedic in Dundee.", "user", "fact"),
    ("The warehouse has two loading docks.", "note", "fact"),
    ("I like pears much more than apples.", "user", "preference"),
    ("We have decided to buy the smaller freezer.", "user", "decision"),
    ("Decision: the newsletter moves to Thursdays.", "note", "decision"),
    ("We are going to visit the optician on Friday at three.", "user", "plan"),
    ("Always reply to me in French.", "user", "instruction"),
    ("Never push straight to the main branch.", "note", "instruction"),
    ("We still don't know why the export takes so long.", "note", "question"),
    ("Thanks a lot, you're the best!", "user", "other"),
    ("Could you translate this sentence?", "user", "other"),
    ("Here are a few ideas you could try:", "assistant", "other"),
    ("저는 커피보다 홍차를 더 좋아해요.", "user", "preference"),
    ("다음 주 목요일에 안과 예약이 있어요.", "user", "plan"),
    ("앞으로 항상 반말로 대답해 줘.", "user", "instruction"),
    ("고마워, 큰 도움이 됐어!", "user", "other"),
    ("Ich trinke lieber Saft als Wasser.", "user", "preference"),
    ("Nunca me hables de usted, a partir de ahora.", "user", "instruction"),
]
_TALK = [
    ConversationTurn(
        "Hi! I moved to Tallinn in March. What should I see there?", "user", "Kadri", 1_700_000_000_000_000
    ),
    ConversationTurn("Great question! The old town is lovely.\n\n```python\nprint('sights')\n```", "assistant"),
    ConversationTurn("Thanks!! From now on, always answer in Estonian. I moved to Tallinn in March.", "user", "Kadri"),
]


def _memory(folder: Path, embedder: str) -> Memory:
    return app.open_memory(app.settings({"store": str(folder / "memory.db"), "embedder": embedder}, {}), "test")


@pytest.fixture(scope="module")
def memory(tmp_path_factory) -> Iterator[Memory]:
    with _memory(tmp_path_factory.mktemp("kinds"), "multi") as one:
        yield one


@each("text role kind".split(), _CASES)
def test_a_statement_is_told_by_what_it_says(memory, text, role, kind):
    (found,) = memory.kinds([text], role=role)
    assert found is not None
    assert found.kind == kind, found
    assert 0 < found.probability <= 1
    assert (found.worth >= 0.5) == (kind != "other")


def test_kinds_come_in_the_order_of_the_texts(memory):
    found = memory.kinds(["...", "I like pears much more than apples.", "앞으로 항상 반말로 대답해 줘."], role="user")
    assert found[0] is None  # without a word there is nothing to tell
    assert [one.kind for one in found[1:]] == ["preference", "instruction"]
    assert memory.kinds([]) == []


def test_an_unknown_role_is_refused_by_name(memory):
    with pytest.raises(Invalid, match="role is 'robot', but must be one of: note, user, assistant"):
        memory.kinds(["Hello"], role="robot")
    with pytest.raises(Invalid, match=r"messages\[1\]\.role"):
        memory.extract([ConversationTurn("Hello"), ConversationTurn("Hello", "system")])


def test_stored_memories_are_told_by_their_vectors(tmp_path):
    with _memory(tmp_path, "multi") as memory:
        memory.create_entities(
            [
                EntityDraft("m-1", "memory", ("Never push straight to the main branch.",)),
                EntityDraft("Kadri", "person", ("I like pears more than apples.", "She moved to Tallinn in 2021.")),
            ]
        )
        records = memory.open_nodes(["Kadri", "m-1"])[0].records
        before = memory.kinds_of(records)
        memory.finding().reindex(memory.project, lambda lane, done, total: None)
        embedder = memory.finding().channels[0].embedder
        embedder.embed = None  # nothing is embedded from here on
        found = memory.kinds_of(records)
        backwards = memory.kinds_of(records[::-1])
        twice = memory.kinds_of([*records, *records])
    assert all(one is None for guesses in before for one in guesses)
    by_name = {record.name: [one.kind for one in guesses] for record, guesses in zip(records, found, strict=True)}
    assert by_name == {"Kadri": ["preference", "fact"], "m-1": ["instruction"]}
    assert backwards == found[::-1]
    assert twice == [*found, *found]


def test_a_conversation_yields_its_statements_and_says_what_it_left_out(memory):
    found = memory.extract(_TALK)
    assert [(one.text, one.kind, one.message, one.speaker) for one in found.kept] == [
        ("I moved to Tallinn in March.", "fact", 0, "Kadri"),
        ("From now on, always answer in Estonian.", "instruction", 2, "Kadri"),
    ]
    assert found.kept[0].time == 1_700_000_000_000_000
    assert found.reasons == {"other": 5, "code": 1, "repeated": 1}
    assert [one.message for one in found.left_out] == sorted(one.message for one in found.left_out)
    said = {one.text for one in (*found.kept, *found.left_out)}
    assert {"Hi!", "What should I see there?", "Thanks!!", "print('sights')"} <= said


def test_without_a_model_nothing_is_guessed(tmp_path):
    with _memory(tmp_path, "none") as memory:
        memory.create_entities([EntityDraft("m-1", "memory", ("Never push straight to the main branch.",))])
        assert memory.kinds(["I like pears."]) == [None]
        assert memory.kinds_of(memory.open_nodes(["m-1"])[0].records) == [[None]]
        found = memory.extract([ConversationTurn("I like pears. Hello there!")])
    assert found.kept == []
    assert found.reasons == {"unknown": 2}


def test_nobody_waits_who_is_not_patient(tmp_path):
    with _memory(tmp_path, "multi") as memory:
        assert memory.kinds(["I like pears."], patient=False) == [None]
        assert not memory.finding().channels[0].ready.is_set()


def test_a_model_of_others_is_not_guessed_from(tmp_path):
    with _memory(tmp_path, "multi") as memory:
        memory.finding().kinds.knows = lambda embedder: False
        assert memory.kinds(["I like pears."]) == [None]


def test_an_empty_conversation_yields_nothing(memory):
    assert memory.extract([]) == Extraction([], [])
    assert memory.extract([ConversationTurn("   \n ")]) == Extraction([], [])


def test_other_is_never_kept(memory):
    kept = memory.extract([ConversationTurn(text, role) for text, role, _ in _CASES]).kept
    assert {one.kind for one in kept} <= set(KINDS) - {"other"}
    assert all(isinstance(one, KeptStatement) and one.worth >= 0.5 for one in kept)
