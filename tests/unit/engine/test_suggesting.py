"""A scope is suggested from what is filed already, with an honest confidence."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from polymnia.engine.suggesting import Neighbour, crowding, suggest

_PARTS = st.text("abcdefgh가나会é", min_size=1, max_size=6)
_SCOPES = st.lists(_PARTS, min_size=1, max_size=4).map("/".join)
_NEIGHBOURS = st.lists(
    st.builds(
        Neighbour,
        scope=_SCOPES,
        cosine=st.none() | st.floats(-1, 1),
        words=st.floats(0, 1.2),
        text=st.text(max_size=40),
        category=st.none() | st.sampled_from(["meeting", "bug"]),
        crowd=st.none() | st.floats(-1, 1),
    ),
    max_size=12,
)


def _near(scope: str, *cosines: float, words: float = 0.5, crowd: float = 0.75, **more: str) -> list[Neighbour]:
    return [Neighbour(scope, cosine, words, crowd=crowd, **more) for cosine in cosines]


def _counts(neighbours: list[Neighbour]) -> dict[str, int]:
    return {one.scope: sum(other.scope == one.scope for other in neighbours) for one in neighbours}


def test_a_text_goes_where_its_nearest_memories_are():
    near = _near("home/garden", 0.82, 0.8, 0.78) + _near("work/bugs", 0.4, 0.38)
    found = suggest("The roses need water every other day", near, scopes=_counts(near))
    assert found.scope == "home/garden"
    assert found.confidence > 0.8
    assert not found.abstained


def test_the_other_scopes_voted_for_are_alternatives_with_their_reasons():
    near = _near("home/garden", 0.8, 0.79, 0.78, text="Roses: cut them in March")
    near += _near("home/balcony", 0.78, 0.77, text="Tomatoes grow on the balcony")
    found = suggest("When are roses cut?", near, scopes=_counts(near))
    other = next(one for one in found.alternatives if one.scope == "home/balcony")
    assert 0 < other.confidence < found.confidence
    assert "2 of the 5" in other.reasoning
    assert "Tomatoes grow" in other.reasoning


def test_split_neighbours_make_it_less_sure_than_agreeing_ones():
    agreeing = _near("a/x", 0.8, 0.79, 0.78, 0.77)
    split = _near("a/x", 0.8, 0.78) + _near("b/y", 0.79, 0.77)
    sure = suggest("some words", agreeing, scopes=_counts(agreeing))
    unsure = suggest("some words", split, scopes=_counts(split))
    assert sure.confidence > unsure.confidence + 0.1


def test_nothing_near_falls_back_to_the_default_with_low_confidence():
    near = _near("home/garden", 0.2, 0.18, 0.15, words=0.0)
    found = suggest("Quarterly figures of the Lisbon office", near, scopes=_counts(near))
    assert (found.scope, found.abstained) == ("user/default", True)
    assert found.confidence < 0.5


def test_nothing_near_falls_back_to_where_the_caller_is():
    near = _near("home/garden", 0.2, 0.18, 0.15, words=0.0)
    found = suggest("Quarterly figures", near, current="work/finance", scopes=_counts(near))
    assert (found.scope, found.abstained) == ("work/finance", True)
    assert found.confidence < 0.5


def test_a_single_memory_does_not_attract_everything():
    lone = _near("home/garden", 0.1, words=0.0, crowd=0.0)
    assert suggest("Quarterly figures", lone, scopes=_counts(lone)).abstained
    fitting = _near("home/garden", 0.7, words=0.3, crowd=0.0)
    assert suggest("Cut the roses", fitting, scopes=_counts(fitting)).scope == "home/garden"


def test_what_was_likeliest_is_an_alternative_when_it_abstains():
    near = _near("home/garden", 0.4, 0.39, words=0.1, crowd=0.8)
    found = suggest("Quarterly figures", near, scopes={"home/garden": 900})
    assert found.abstained
    assert "home/garden" in [one.scope for one in found.alternatives]


def test_a_text_must_be_as_near_to_its_neighbours_as_they_are_to_each_other():
    loose, tight = _near("a/x", 0.55, 0.54, 0.53, crowd=0.5), _near("a/x", 0.55, 0.54, 0.53, crowd=0.95)
    among_loose = suggest("some words", loose, scopes=_counts(loose))
    among_tight = suggest("some words", tight, scopes=_counts(tight))
    assert among_loose.confidence > among_tight.confidence


def test_where_the_caller_is_tips_the_scales():
    near = _near("team/red/notes", 0.8, 0.78) + _near("team/blue/notes", 0.8, 0.78)
    for current in ("team/red", "team/blue"):
        assert suggest("some words", near, current=current, scopes=_counts(near)).scope == f"{current}/notes"


def test_a_parent_is_only_above_whole_parts_of_a_path():
    near = _near("team/redwood", 0.8, 0.78) + _near("team/red/notes", 0.8, 0.78)
    assert suggest("some words", near, current="team/red", scopes=_counts(near)).scope == "team/red/notes"


def test_a_scope_whose_name_is_said_wins_a_tie():
    near = _near("projects/apollo", 0.7, 0.68) + _near("projects/gemini", 0.7, 0.68)
    found = suggest("Gemini ships on Friday", near, scopes=_counts(near))
    assert found.scope == "projects/gemini"


def test_neighbours_that_agree_on_the_parent_alone_lead_to_the_parent():
    near = [one for leaf in "abcdef" for one in _near(f"bank/cards/{leaf}", 0.9, 0.89, 0.88, words=0.9, crowd=0.85)]
    found = suggest("My card", near, scopes=_counts(near))
    assert found.scope == "bank/cards"
    assert not found.abstained
    assert found.confidence < 0.8


def test_a_large_scope_does_not_win_by_its_size():
    near = _near("big/pile", 0.7, 0.7) + _near("small/shelf", 0.7, 0.7)
    assert suggest("some words", near, scopes={"big/pile": 5000, "small/shelf": 3}).scope == "small/shelf"


def test_memories_of_another_session_do_not_vote():
    near = _near("session/abc", 0.95, 0.94, 0.93) + _near("home/garden", 0.8, 0.79, 0.78)
    assert suggest("some words", near, scopes=_counts(near)).scope == "home/garden"
    assert suggest("some words", near, current="session/abc", scopes=_counts(near)).scope == "session/abc"


def test_memories_nobody_filed_teach_nothing():
    near = _near("user/default", 0.95, 0.94, 0.93)
    found = suggest("Besprechung mit dem Team am Montag", near, scopes=_counts(near))
    assert found.scope == "work/meetings"
    assert found.confidence < 0.5


def test_sessions_of_others_teach_nothing_either():
    near = _near("session/abc", 0.95, 0.94, 0.93)
    assert suggest("Besprechung mit dem Team am Montag", near, scopes=_counts(near)).scope == "work/meetings"


def test_it_works_without_vectors():
    near = [Neighbour("home/garden", None, share) for share in (0.9, 0.8, 0.8)] + [Neighbour("work/bugs", None, 0.1)]
    found = suggest("roses need water", near, scopes=_counts(near))
    assert (found.scope, found.abstained) == ("home/garden", False)


def test_a_text_in_another_language_is_judged_by_meaning():
    english = "The roses in the garden need water and they are not to be cut before March, as far as we know"
    same, other = (
        "Roses and their water, and what is to be done with them in March",
        "Die Rosen im Garten brauchen Wasser und sind nicht vor dem März zu schneiden",
    )
    near = _near("home/garden", 0.7, 0.69, 0.68, words=0.0, text=english, crowd=0.7)
    foreign = suggest(other, near, scopes=_counts(near))
    own = suggest(same, near, scopes=_counts(near))
    assert foreign.confidence > own.confidence
    assert foreign.scope == "home/garden"


@pytest.mark.parametrize(
    ("text", "scope", "category"),
    [
        ("Meeting notes: the release moves to May", "work/meetings", "meeting"),
        ("Reunión con el equipo de ventas", "work/meetings", "meeting"),
        ("오늘 회의에서 출시 일정을 정했다", "work/meetings", "meeting"),
        ("今日の会議で予定を決めた", "work/meetings", "meeting"),
        ("Der Zahnarzt sagt, im Herbst wieder", "personal/health", "health"),
        ("Рецепт борща от бабушки", "personal/recipes", "recipe"),
        ("Learning Python: a generator is an iterator", "learning/programming", "programming"),
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


def test_the_category_is_that_of_the_nearest_memories():
    near = _near("work/a", 0.85, 0.84, 0.83, category="incident")
    assert suggest("Database meeting", near, scopes=_counts(near)).category == "incident"


def test_crowding_is_the_mean_cosine_to_the_nearest_others():
    vectors = np.array([[1, 0], [1, 0], [0, 1]], np.float32)
    assert crowding(vectors) == pytest.approx([0.5, 0.5, 0.0])
    assert crowding(vectors[:1]) == [0.0]
    assert crowding(vectors[:0]) == []


@settings(max_examples=150, deadline=None)
@given(content=st.text(max_size=120), near=_NEIGHBOURS, current=st.none() | _SCOPES, unrelated=st.floats(0, 0.5))
def test_every_suggestion_is_well_formed(content: str, near: list[Neighbour], current: str | None, unrelated: float):
    found = suggest(content, near, current=current, scopes=_counts(near), unrelated=unrelated)
    confidences = [one.confidence for one in found.alternatives]
    scopes = [found.scope, *(one.scope for one in found.alternatives)]
    assert 0 <= found.confidence <= 1
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


@settings(max_examples=50, deadline=None)
@given(content=st.text(max_size=60), near=_NEIGHBOURS, seed=st.randoms(use_true_random=False))
def test_the_order_of_the_neighbours_does_not_matter(content: str, near: list[Neighbour], seed):
    shuffled = seed.sample(near, len(near))
    one, other = (suggest(content, each, scopes=_counts(near)) for each in (near, shuffled))
    assert one.confidence == pytest.approx(other.confidence, abs=0.002)
    assert one.abstained == other.abstained or abs(one.confidence - 0.5) < 0.01
