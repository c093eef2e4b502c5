"""Knowledge synthesis: what a topic says, in its own sentences, and nothing where there is no topic."""

from __future__ import annotations

import random
from pathlib import Path

import numpy as np
import pytest

from polymnia import describe
from polymnia.engine.analysis.insights.synthesis import central, chosen
from polymnia.engine.analysis.topics.features import features

from .planted import Project, named, of_type, shuffled

_TOPICS = {
    "bread": (
        "The sourdough starter needs flour and water",
        "Knead the sourdough until the flour binds",
        "Bake the loaf in a hot oven",
        "The oven must be hot before the loaf goes in",
        "Flour and yeast make the dough rise",
        "Let the dough rest before the oven",
        "The yeast feeds on flour in the dough",
    ),
    "sailing": (
        "The mast carries the main sail",
        "Reef the sail when the wind grows",
        "The rudder turns the boat against the wind",
        "Wind fills the sail and heels the boat",
        "Drop the anchor before the boat drifts",
        "The keel keeps the boat upright in wind",
        "Trim the sail to the wind",
    ),
    "chess": (
        "The knight jumps over every pawn",
        "Castle early so that the king is safe",
        "A pawn that reaches the end is a queen",
        "The queen and the rook mate the king",
        "Trade a bishop for a knight",
        "The rook belongs on an open file",
        "Keep the king behind a pawn",
    ),
}
_KOREAN = (
    "빵 반죽은 밀가루 물 소금 으로 만든다",
    "밀가루 반죽은 오븐 에서 굽는다",
    "오븐 온도는 빵 반죽 에 중요하다",
    "효모 는 반죽 을 부풀린다",
    "빵 반죽은 하루 쉬게 한다",
    "밀가루 는 체에 친다",
)


def _texts(made: random.Random) -> list[tuple[str, str]]:
    """Notes of three sentences of one topic each."""
    return [
        (topic, ". ".join(made.sample(said, 3)) + ".")
        for number in range(36)
        for topic, said in [list(_TOPICS.items())[number % 3]]
    ]


def _written(path: Path, *, mixed: bool = False) -> Project:
    project = Project(path)
    notes = _texts(random.Random(4))
    texts = [text for _, text in notes]
    for number, text in enumerate(shuffled(texts) if mixed else texts):
        project.note(text, days=45 - number)
    return project


@pytest.fixture(scope="module")
def project(tmp_path_factory: pytest.TempPathFactory) -> Project:
    """One project for all that only look at it."""
    return _written(tmp_path_factory.mktemp("topics"))


def test_a_synthesis_quotes_sentences_as_they_are_stored(project: Project) -> None:
    found = project.insights("knowledge_synthesis", depth="deep")
    told = named(found, "topic")
    assert len(told) >= 3
    texts = {record.uid: record.observations[0] for record in project.memory.read_graph().records}
    for one in told:
        for said in [*one.evidence["statements"], one.evidence["newest"]]:
            assert said["sentence"] in texts[said["id"]]
        sentences = [said["sentence"] for said in one.evidence["statements"]]
        assert len(set(sentences)) == len(sentences) == 5
        assert one.evidence["statements"][0]["said_by"] > 1
        assert 0 < one.confidence <= 1


def test_the_sentences_of_a_synthesis_are_of_its_topic(project: Project) -> None:
    topics = {sentence: topic for topic, said in _TOPICS.items() for sentence in said}
    for one in named(project.insights("knowledge_synthesis", depth="deep"), "topic"):
        of = {topics[said["sentence"].rstrip(".")] for said in one.evidence["statements"]}
        assert len(of) == 1


def test_words_dealt_by_chance_have_nothing_to_sum_up(tmp_path: Path) -> None:
    found = of_type(_written(tmp_path, mixed=True).insights("knowledge_synthesis"), "knowledge_synthesis")
    assert len(found) <= 1
    assert all(one.confidence < 0.6 for one in found)


@pytest.mark.long
def test_each_depth_reads_and_tells_more(project: Project) -> None:
    read, told = [], []
    for depth in ("surface", "deep", "comprehensive"):
        found = project.insights("knowledge_synthesis", depth=depth)
        one = named(found, "topic")[0]
        read.append(one.evidence["sentences"])
        told.append(len(one.evidence["statements"]))
        assert ("conflicts" in one.evidence) is (depth != "surface")
    assert told == [3, 5, 7] or told == [3, 5, 8]
    assert read[0] <= read[1] <= read[2]


def test_decisions_and_what_disagrees_are_told_with_the_topic(tmp_path: Path) -> None:
    project = _written(tmp_path)
    project.note(f"{'. '.join(_TOPICS['sailing'][:4])}.", days=2, kind="decision")
    for days, weight in ((2, 20), (1, 30)):
        said = [*_TOPICS["sailing"][days + 1 : days + 4], f"The anchor of the boat weighs {weight} kilograms"]
        project.note(f"{'. '.join(said)}.", days=days)
    told = named(project.insights("knowledge_synthesis", depth="deep"), "topic")
    assert sum(one.evidence["decision_count"] for one in told) == 1
    assert sum(one.evidence["conflict_count"] for one in told) >= 1


@pytest.mark.long
def test_korean_is_summed_up_too(tmp_path: Path) -> None:
    project = Project(tmp_path)
    made = random.Random(2)
    for number in range(30):
        said = made.sample(_KOREAN if number % 2 else _TOPICS["chess"], 3)
        project.note("\n".join(f"{one}." for one in said), days=45 - number)
    told = named(project.insights("knowledge_synthesis"), "topic")
    assert any("반죽" in describe(one).summary for one in told)


def test_it_works_without_a_model(tmp_path: Path) -> None:
    project = Project(tmp_path, model=False)
    for number, (_, text) in enumerate(_texts(random.Random(4))):
        project.note(text, days=45 - number)
    assert named(project.insights("knowledge_synthesis"), "topic")


def test_a_sentence_that_others_echo_is_central_and_its_own_echo_is_not() -> None:
    rows = features(None, ["red boat sails", "red boat sails", "red boat sails", "green tea", "green tea", "green tea"])
    owners = np.array([1, 2, 3, 4, 4, 4])
    rank = central(rows, owners)
    assert rank[:3].min() > rank[3:].max()
    first, second = chosen(rows, rank, 2)
    assert first < 3 <= second  # the second says something else
