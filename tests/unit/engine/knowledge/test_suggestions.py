"""A scope is suggested from what is filed already, with an honest confidence."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from form import by_form
from polymnia.engine.knowledge.suggestions import Example, ScopeView, suggest

_PARTS = st.text("abcdefgh가나会é", min_size=1, max_size=6)
_SCOPES = st.lists(_PARTS, min_size=1, max_size=4).map("/".join)
_EXAMPLES = st.lists(
    st.builds(
        Example,
        scope=_SCOPES,
        text=st.text(max_size=40),
        category=st.none() | st.sampled_from(["meeting", "bug"]),
    ),
    max_size=12,
)
_GARDEN = ["The roses need water", "Cut the roses in March", "Water the garden roses at night", "Roses like the sun"]
_BUGS = ["The login page crashes", "A crash in the login form", "The page crashes after login", "Login fails twice"]


def _filed(scope: str, texts: list[str], category: str | None = None) -> list[Example]:
    return [Example(scope, text, category) for text in texts]


def _view(asked: list[float], filed: list[list[float]], scopes: int, **more: float) -> ScopeView:
    rows = np.array([asked, *filed], np.float32)
    rows /= np.linalg.norm(rows, axis=1, keepdims=True)
    return ScopeView(rows[0], rows[1:], np.zeros((scopes, rows.shape[1]), np.float32), **more)


def test_a_text_goes_where_texts_like_it_are():
    found = suggest("Do the roses need water at night?", _filed("home/garden", _GARDEN) + _filed("work/bugs", _BUGS))
    assert (found.scope, found.abstained) == ("home/garden", False)
    assert found.confidence > 0.5
    assert "of the 8 nearest memories" in found.reasoning
    assert found.alternatives[0].scope == "work/bugs"
    assert "such as" in found.alternatives[0].reasoning


def test_vectors_tell_where_no_word_is_shared():
    examples = _filed("home/garden", ["a", "b", "c"]) + _filed("work/bugs", ["d", "e", "f"])
    near, far = (
        [[0.9, 0.1, 0.4], [0.95, 0.2, 0.3], [0.9, 0.1, 0.3]],
        [[0.1, 0.9, 0.4], [0.2, 0.95, 0.3], [0.1, 0.9, 0.3]],
    )
    found = suggest("quite another word", examples, [_view([0.92, 0.15, 0.35], near + far, 2)])
    assert (found.scope, found.abstained) == ("home/garden", False)


def test_gibberish_belongs_nowhere_however_little_is_filed():
    for examples in (
        _filed("home/garden", _GARDEN[:1]),
        _filed("home/garden", _GARDEN),
        _filed("a/b", _BUGS + _GARDEN),
    ):
        for current, scope in ((None, "user/default"), ("my/place", "my/place")):
            found = suggest("zxcv qwer asdf", examples, current=current)
            assert (found.scope, found.abstained) == (scope, True)
            assert found.confidence < 0.3


def test_one_memory_is_not_enough_to_be_sure():
    found = suggest("The roses need water", _filed("home/garden", _GARDEN[:1]))
    assert found.confidence < 0.5


def test_what_was_likeliest_is_an_alternative_when_it_abstains():
    found = suggest(
        "Do many people sleep near roses on Sundays in June?",
        _filed("home/garden", _GARDEN) + _filed("work/bugs", _BUGS),
    )
    assert found.abstained
    assert found.alternatives[0].scope == "home/garden"
    assert found.alternatives[0].confidence <= found.confidence < 0.5


def test_scopes_that_share_their_texts_make_it_less_sure():
    clear = suggest("The roses need water at night", _filed("a/x", _GARDEN) + _filed("b/y", _BUGS))
    split = suggest("The roses need water at night", _filed("a/x", _GARDEN) + _filed("b/y", _GARDEN))
    assert split.confidence < clear.confidence - 0.1


def test_where_the_caller_is_tips_the_scales():
    examples = _filed("team/red/notes", _GARDEN) + _filed("team/blue/notes", _GARDEN) + _filed("team/redwood", _GARDEN)
    for current in ("team/red", "team/blue"):
        assert suggest("The roses need water", examples, current=current).scope == f"{current}/notes"


def test_a_scope_whose_name_is_said_wins_a_tie():
    examples = _filed("projects/apollo", _GARDEN) + _filed("projects/gemini", _GARDEN)
    assert suggest("Gemini: the roses need water", examples).scope == "projects/gemini"


def test_memories_nobody_filed_teach_nothing():
    found = suggest("Besprechung mit dem Team am Montag", _filed("user/default", _GARDEN))
    assert found.scope == "work/meetings"
    assert found.confidence < 0.5


@pytest.mark.parametrize(
    ("text", "scope", "category"),
    [
        ("Meeting notes: the release moves to May", "work/meetings", "meeting"),
        ("오늘 회의에서 출시 일정을 정했다", "work/meetings", "meeting"),
        ("今日の会議で予定を決めた", "work/meetings", "meeting"),
        ("Рецепт борща от бабушки", "personal/recipes", "recipe"),
    ],
)
def test_an_empty_store_falls_back_to_well_known_words(text: str, scope: str, category: str):
    found = suggest(text, [])
    assert (found.scope, found.category) == (scope, category)
    assert found.confidence < 0.5


def test_in_an_empty_store_the_current_scope_is_the_parent():
    text = "Meeting notes from standup discussion about API performance"
    found = suggest(text, [], current="work/meetings")
    assert found.scope == "work/meetings/standup"
    assert {"meeting", "standup", "api", "performance"} <= set(found.keywords)
    assert (found.category, found.content_type) == ("meeting", "notes")
    assert suggest(text, [], current="projects/apollo").scope == "projects/apollo/standup"


def test_an_empty_store_and_no_known_word_is_the_default():
    found = suggest("xyzzy plugh", [])
    assert (found.scope, found.abstained, found.category) == ("user/default", True, None)


def test_the_category_is_that_of_the_memories_of_the_scope():
    examples = _filed("work/a", _BUGS, "incident") + _filed("home/garden", _GARDEN, "plant")
    assert suggest("The login page crashes twice", examples).category == "incident"


@settings(max_examples=by_form(20, 60), deadline=None)
@given(content=st.text(max_size=120), examples=_EXAMPLES, current=st.none() | _SCOPES)
def test_every_suggestion_is_well_formed(content: str, examples: list[Example], current: str | None):
    found = suggest(content, examples, current=current)
    confidences = [found.confidence, *(one.confidence for one in found.alternatives)]
    scopes = [found.scope, *(one.scope for one in found.alternatives)]
    assert all(0 <= confidence <= 1 for confidence in confidences)
    assert confidences == sorted(confidences, reverse=True)
    assert len(set(scopes)) == len(scopes)
    assert all(part and part == part.strip() and part != ".." for scope in scopes for part in scope.split("/"))
    assert all(one.reasoning for one in found.alternatives)
    assert all(word in content.lower() for word in found.keywords)
    assert len(set(found.keywords)) == len(found.keywords)
    if found.abstained:
        assert found.scope == (current or "user/default")
        assert found.confidence < 0.5
