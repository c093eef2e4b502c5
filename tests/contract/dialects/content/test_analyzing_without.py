"""Without a model what can be told is told, and the rest says why; no analysis needs a library of its own."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from stdio_client import Place, Server

from .analyzing import DIMENSIONS, INSIGHTS, PATTERNS, analyze, analyze_all
from .speaking import related, stored

TEXTS = (
    "The harbour office opens at 08:00 each morning.",
    "The harbour office opens at 10:00 each morning.",
    "# Harbour rules\n\nShips pay at the counter. TODO: say how much.",
    "The ferry leaves the harbour at noon.",
    "항구 사무소는 8시에 연다.",
    "Rye bread rests a day before it is cut.",
    "Ann waters the plants on Mondays.",
)


def harbour(server: Server, project: str) -> list[str]:
    """Store the texts, and relate the first two."""
    ids = [stored(server, project, text) for text in TEXTS]
    related(server, project, ids[0], ids[1], "cites")
    return ids


# No model


@pytest.mark.long
@pytest.mark.promise("analysis.no_model")
def test_without_a_model_everything_is_answered(shared: Server, project: str) -> None:
    ids = harbour(shared, project)
    for id in ids:
        answers = analyze_all(shared, project, id)
        assert all(answer["success"] for answer in answers)
    whole = analyze(shared, "detect_patterns", project)
    assert list(whole["counts"]) == list(PATTERNS)
    assert "unavailable" not in whole
    assert set(analyze(shared, "analyze_quality", project, content_id=ids[0])["dimensions"]) == set(DIMENSIONS)
    assert list(analyze(shared, "generate_insights", project)["counts"]) == list(INSIGHTS)
    assert len(analyze(shared, "detect_conflicts", project)["conflicts"]) == 1


@pytest.mark.promise("analysis.no_model")
def test_what_needs_vectors_says_that_there_are_none(shared: Server, project: str) -> None:
    ids = harbour(shared, project)
    topics = analyze(shared, "detect_patterns", project, pattern_types=["topic_clusters"])
    assert any("vectors" in one["note"] for one in topics["notes"])
    assert topics["looked_at"]["topic_clusters"]["model"] is None
    relevance = analyze(shared, "analyze_quality", project, content_id=ids[0], quality_dimensions=["relevance"])
    assert "vectors" in str(relevance) or "too small" in str(relevance)
    found = analyze(shared, "find_content_relationships", project, content_id=ids[3])
    assert [note for note in found["notes"] if "model" in note or "vectors" in note]


# With a model


@pytest.mark.promise("analysis.model")
def test_a_model_tells_what_words_do_not(meaning: Server, shared: Server, project: str) -> None:
    sea = ("The vessel reached the harbour before dawn.", "Sailors moored the ship at the quay.",
           "The boat anchored in the bay at night.", "A captain steered his freighter into port.",
           "The crew tied the schooner to the pier.", "Fishermen docked their trawler at sunrise.")  # fmt: skip
    bread = ("The baker kneads sourdough every morning.", "Rye loaves rise slowly in a warm oven.",
             "Flour, water and salt make a simple crust.", "Yeast lets the buns double in size.",
             "She sliced the baguette for breakfast.", "Whole grain toast browns quickly.")  # fmt: skip
    made = {"generate_embeddings": True}
    groups = [{stored(meaning, project, text, options=made) for text in some} for some in (sea, bread)]
    answer = analyze(meaning, "detect_patterns", project, pattern_types=["topic_clusters"])
    looked = answer["looked_at"]["topic_clusters"]
    assert looked["with_vectors"] == 12
    assert looked["model"]
    clusters = [set(one["content_ids"]) for one in answer["patterns"] if one["name"] == "cluster"]
    assert clusters
    # No cluster mixes the two subjects, which have no word in common.
    assert all(cluster <= groups[0] or cluster <= groups[1] for cluster in clusters)


# No extra


@pytest.fixture(scope="module")
def bare(module_place: Place, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    """A server of an installation that lacks scikit-learn and SciPy."""
    folder = tmp_path_factory.mktemp("shadows")
    for name in ("sklearn", "scipy"):
        (Path(folder) / name).mkdir()
        (Path(folder) / name / "__init__.py").write_text(f'raise ImportError("No module named {name}")\n')
    before = module_place.environment.get("PYTHONPATH")
    path = f"{folder}:{before}" if before else str(folder)
    yield module_place.serve("content", environment={"PYTHONPATH": path})


@pytest.mark.promise("analysis.no_extra")
def test_every_analysis_comes_with_the_plain_installation(bare: Server, project: str) -> None:
    ids = harbour(bare, project)
    patterns = analyze(bare, "detect_patterns", project)
    assert set(patterns["counts"]) == set(PATTERNS)
    assert "unavailable" not in patterns
    assert len(analyze(bare, "detect_conflicts", project)["conflicts"]) == 1
    assert analyze(bare, "analyze_quality", project, content_id=ids[2])["overall_score"] is not None
    found: dict[str, Any] = analyze(bare, "find_content_relationships", project, content_id=ids[0])
    assert [one["content_id"] for one in found["relationships"]] == [ids[1]]
    insights = analyze(bare, "generate_insights", project, options={"depth": "comprehensive"})
    assert insights["counts"]["content_gaps"] >= 1
