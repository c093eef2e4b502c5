"""The topics of real projects."""

from __future__ import annotations

from pathlib import Path

import pytest

from form import mostly_long
from polymnia import describe, remark
from polymnia.inference.built_in import MultilingualEmbedder

from .planted import ENGLISH, KOREAN, ODD, SAME, found, named, project, twin

EVERY = [text for topics in (ENGLISH, KOREAN) for some in topics.values() for text in some]


@pytest.fixture(scope="module")
def use() -> MultilingualEmbedder:
    model = MultilingualEmbedder()
    model.load()
    return model


@pytest.mark.long
def test_topics_in_two_languages_with_the_real_model(tmp_path: Path, use: MultilingualEmbedder) -> None:
    with project(tmp_path, EVERY, [use]) as memory:
        all_found = found(memory)
    clusters = named(all_found, "cluster")
    assert len(clusters) == len(ENGLISH) + len(KOREAN)
    assert all_found.looked_at["with_vectors"] == len(EVERY)
    for topic in (*ENGLISH, *KOREAN):
        (one,) = (one for one in clusters if any(topic in term for term in one.evidence["terms"]))
        texts = {example["title"] for example in one.evidence["examples"]}
        assert texts <= set((ENGLISH | KOREAN)[topic])
        assert one.evidence["label"] in describe(one).summary
        assert one.evidence["size"] == len(one.members) >= 6
        assert 0 < one.evidence["cohesion"] < 1
        assert one.confidence > 0.8
        assert one.evidence["first"] <= one.evidence["last"]


def test_one_topic_in_two_languages_is_one_cluster(tmp_path: Path, use: MultilingualEmbedder) -> None:
    texts = [text for some in SAME.values() for text in some]
    with project(tmp_path, texts, [use]) as memory:
        all_found = found(memory)
        ids = {record.id: at for at, record in enumerate(memory.analysed(lambda m: m.items, key="items")[0])}
    groups = [{ids[id] for id in one.members} for one in named(all_found, "cluster")]
    for group in groups:
        assert {at % 8 < 4 for at in group} == {True, False}
        assert len({at // 8 for at in group}) == 1


def test_what_fits_nowhere_is_told_with_its_nearest_cluster(tmp_path: Path, use: MultilingualEmbedder) -> None:
    texts = [text for some in ENGLISH.values() for text in some] + ODD
    with project(tmp_path, texts, [use]) as memory:
        all_found = found(memory)
    (outliers,) = named(all_found, "outliers")
    told = {example["title"] for example in outliers.evidence["examples"]}
    assert set(ODD) <= told
    assert outliers.evidence["count"] == len(outliers.members) <= 4
    assert all(example["nearest"] for example in outliers.evidence["examples"])
    inside = {id for one in named(all_found, "cluster") for id in one.members}
    assert not inside & set(outliers.members)


@pytest.mark.long
def test_a_shuffled_twin_has_no_topics(tmp_path: Path, use: MultilingualEmbedder) -> None:
    with project(tmp_path, twin(EVERY), [use]) as memory:
        all_found = found(memory)
    assert all(one.confidence < 0.5 for one in named(all_found, "cluster"))
    assert len(named(all_found, "cluster")) <= 2
    assert any("chance" in remark(note) for note in all_found.notes)


@pytest.mark.parametrize("size", mostly_long([4, 5]))
def test_a_dozen_notes_about_three_topics(tmp_path: Path, use: MultilingualEmbedder, size: int) -> None:
    texts = [text for some in list(ENGLISH.values())[:3] for text in some[:size]]
    with project(tmp_path, texts, [use]) as memory:
        clusters = named(found(memory), "cluster")
    assert sorted(len(one.members) for one in clusters) == [size] * 3


def test_without_a_model_words_are_compared_and_the_answer_says_so(tmp_path: Path) -> None:
    with project(tmp_path, EVERY) as memory:
        all_found = found(memory)
    assert len(named(all_found, "cluster")) == len(ENGLISH) + len(KOREAN)
    assert all_found.looked_at["model"] is None
    assert any("words alone" in remark(note) for note in all_found.notes)


@pytest.mark.long
def test_only_what_the_focus_belongs_to(tmp_path: Path) -> None:
    with project(tmp_path, EVERY) as memory:
        first = memory.analysed(lambda material: material.items[0], key="first")[0]
        all_found = found(memory, focus=first.uid)
    (one,) = all_found.patterns
    assert first.id in one.members
    assert any("bread" in term for term in one.evidence["terms"])


@pytest.mark.long
def test_the_same_project_gives_the_same_answer(tmp_path: Path) -> None:
    with project(tmp_path, EVERY) as memory:
        first = found(memory)
        again = found(memory, asked="once more")
    assert [(one.members, one.confidence, describe(one).summary) for one in first.patterns] == [
        (one.members, one.confidence, describe(one).summary) for one in again.patterns
    ]


@pytest.mark.parametrize("count", [0, 1, 3])
def test_too_few_items_are_said_to_be_too_few(tmp_path: Path, count: int) -> None:
    with project(tmp_path, EVERY[:count]) as memory:
        all_found = found(memory)
    assert all_found.patterns == []
    assert remark(all_found.notes[0]).startswith(f"{count} item{'s' * (count != 1)} with text; at least 6 are needed")


def test_items_that_all_say_the_same_are_one_cluster(tmp_path: Path) -> None:
    with project(tmp_path, ["Water the beans"] * 6) as memory:
        (one,) = found(memory).patterns
    assert one.name == "cluster"
    assert len(one.members) == 6
    assert one.evidence["cohesion"] == 1
