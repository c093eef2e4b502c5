"""analyze_quality: each dimension tells a good text from a bad one, and says which sentence is to mend."""

from __future__ import annotations

from typing import Any

import pytest

from stdio_client import Place, Server

from .analyzing import DIMENSIONS, analyze
from .speaking import stored, write

_WALL = " ".join(
    f"The pump of village number {n} moves water from the lower basin to the upper one at night." for n in range(1, 61)
)
_PARTS = "\n\n".join(f"## Village {n}\n\nThe pump of village number {n} moves water at night." for n in range(1, 31))

# A text that is good in this respect, and one that is not.
TWINS: dict[str, tuple[str, str]] = {
    "clarity": (
        "Ann replaces the pump on Monday. Bob tests the pump on Tuesday.",
        "Stuff was done by someone somehow. Various things were perhaps handled in some way.",
    ),
    "completeness": (
        "# Pump\n\nThe pump moves ten litres. The motor runs at night.",
        "# Pump\n\nThe pump moves TBD litres. TODO: say when the motor runs.",
    ),
    "accuracy": (
        "The invoice of 28 February 2025 has parts: 10 + 20 + 30 = 60.",
        "The invoice of 31 February 2025 has parts: 10 + 20 + 30 = 70.",
    ),
    "relevance": (
        "# Ferry\n\nThe ferry leaves at eight. The ferry has two decks.",
        "# Violin\n\nThe ferry leaves at eight. The ferry has two decks.",
    ),
    "structure": (f"# Pumps\n\n{_PARTS}", _WALL),
    "consistency": (
        "The e-mail server stores every e-mail. Each e-mail has a sender. The colour is red. The colour stays.",
        "The e-mail server stores every email. Each e-mail has a sender. The colour is red. The color stays.",
    ),
    "readability": (
        "The pump is old. We will buy a new one. It will cost less.",
        "Notwithstanding considerable infrastructural deterioration, organisational stakeholders unanimously "
        "recommended comprehensive replacement of hydraulic instrumentation.",
    ),
    "actionability": (
        "# Tasks\n\n- [ ] Ann: close the valve V3 by 2026-03-01 with the red key.\n"
        "- [ ] Bob: write the time into the log book by 2026-03-02.",
        "# Tasks\n\n- [ ] Do something about the valve.\n- [ ] Maybe handle the filter sometime.",
    ),
}
FLAWED = "# Plan\n\nThe plan is due on 31 February 2025. TODO: say who pays. Stuff was done by someone somehow."


def quality(server: Server, project: str, id: str, /, **more: Any) -> dict[str, Any]:
    """How good an item is."""
    answer = analyze(server, "analyze_quality", project, content_id=id, **more)
    assert answer["content_id"] == id
    return answer


@pytest.mark.long
@pytest.mark.promise("analysis.quality.dimensions")
@pytest.mark.parametrize("dimension", DIMENSIONS)
def test_a_dimension_tells_a_good_text_from_a_bad_one(shared: Server, project: str, dimension: str) -> None:
    told = []
    for number, text in enumerate(TWINS[dimension]):
        of = f"{project} {number}"
        answer = quality(shared, of, stored(shared, of, text), quality_dimensions=[dimension])
        assert list(answer["dimensions"]) == [dimension]
        assert answer["overall_score"] == answer["dimensions"][dimension]["score"]
        told.append(answer)
    good, bad = told
    assert 0 <= bad["overall_score"] < 0.6
    assert bad["overall_score"] + 0.3 < good["overall_score"] <= 1
    assert {one["dimension"] for one in bad["suggestions"]} == {dimension}
    assert len(good["suggestions"]) < len(bad["suggestions"])


@pytest.mark.promise("analysis.quality.dimensions")
def test_all_eight_are_told_and_those_that_cannot_be_say_why(shared: Server, project: str) -> None:
    answer = quality(shared, project, stored(shared, project, "Ann replaces the pump."))
    assert tuple(answer["dimensions"]) == DIMENSIONS
    scores = {name: one["score"] for name, one in answer["dimensions"].items()}
    untold = [name for name, score in scores.items() if score is None]
    assert untold
    for name in untold:
        assert answer["dimensions"][name]["note"]
        assert any(name in note for note in answer["notes"])
    known = [score for score in scores.values() if score is not None]
    assert min(known) <= answer["overall_score"] <= max(known)


@pytest.mark.promise("analysis.quality.dimensions")
def test_accuracy_is_only_what_can_be_known_here(shared: Server, project: str) -> None:
    id = stored(shared, project, "The moon is made of cheese.")
    answer = quality(shared, project, id, quality_dimensions=["accuracy"])
    assert answer["dimensions"]["accuracy"]["note"]
    assert answer["suggestions"] == []
    # It is known what the project says.
    stored(shared, project, "The moon is not made of cheese.")
    after = quality(shared, project, id, quality_dimensions=["accuracy"])
    (suggestion,) = after["suggestions"]
    assert suggestion["quote"] == "The moon is made of cheese."
    assert "The moon is not made of cheese." in suggestion["problem"]
    assert after["dimensions"]["accuracy"]["score"] < 0.5


@pytest.mark.promise("analysis.quality.suggestions")
def test_a_suggestion_quotes_the_sentence_it_is_about(shared: Server, project: str) -> None:
    id = stored(shared, project, FLAWED)
    suggestions = quality(shared, project, id)["suggestions"]
    quotes = {(one["dimension"], one["quote"]) for one in suggestions}
    assert ("accuracy", "The plan is due on 31 February 2025.") in quotes
    assert ("completeness", "TODO: say who pays.") in quotes
    assert ("clarity", "Stuff was done by someone somehow.") in quotes
    for one in suggestions:
        assert one["quote"] in FLAWED
        assert one["problem"]
        assert one["advice"]
    gains = [one["gain"] for one in suggestions]
    assert gains == sorted(gains, reverse=True)


@pytest.mark.promise("analysis.quality.suggestions")
def test_what_is_suggested_makes_it_better(shared: Server, project: str) -> None:
    id = stored(shared, project, FLAWED)
    before = quality(shared, project, id)
    text = "# Plan\n\nThe plan is due on 28 February 2025. The town pays. Ann closes the plan."
    shared.call("memory_store", operation="update_content", project_id=project, content_id=id,
                updates={"content": text})  # fmt: skip
    after = quality(shared, project, id)
    assert after["overall_score"] > before["overall_score"]
    assert len(after["suggestions"]) < len(before["suggestions"])


@pytest.mark.promise("analysis.quality.options")
def test_suggestions_and_metrics_are_told_when_they_are_wanted(shared: Server, project: str) -> None:
    id = stored(shared, project, FLAWED)
    plain = quality(shared, project, id)
    assert plain["suggestions"]
    assert not [one for one in plain["dimensions"].values() if "metrics" in one]
    assert "suggestions" not in quality(shared, project, id, options={"include_suggestions": False})
    full = quality(shared, project, id, options={"include_metrics": True})
    assert full["overall_score"] == plain["overall_score"]
    metrics = full["dimensions"]["completeness"]["metrics"]
    assert metrics["placeholders"]["quotes"] == ["TODO: say who pays."]
    for one in full["dimensions"].values():
        for metric in one["metrics"].values():
            assert 0 <= metric["score"] <= 1
            assert metric["weight"] >= 0
            assert metric["measured_against"]


@pytest.mark.promise("analysis.quality.benchmark")
def test_others_are_compared_side_by_side(shared: Server, project: str) -> None:
    bad = stored(shared, project, FLAWED)
    good = stored(shared, project, "# Pump\n\nAnn replaces the pump on Monday. Bob tests the pump on Tuesday.")
    middle = stored(shared, project, "# Ferry\n\nThe ferry has two decks. TODO: say when the ferry leaves.")
    assert "benchmark" not in quality(shared, project, bad)
    answer = quality(shared, project, bad, options={"benchmark_against": [good, middle]})
    items = {one["content_id"]: one for one in answer["benchmark"]["items"]}
    assert list(items) == [good, middle]
    for id, one in items.items():
        alone = quality(shared, project, id)
        assert one["score"] == alone["overall_score"]
        assert one["dimensions"] == {name: side["score"] for name, side in alone["dimensions"].items()}
        assert one["differences"]["overall"] == pytest.approx(answer["overall_score"] - one["score"], abs=1e-3)
    standing = answer["benchmark"]["standing"]
    assert (standing["overall"]["rank"], standing["overall"]["of"]) == (3, 3)
    better = quality(shared, project, good, options={"benchmark_against": [bad, middle]})
    assert better["benchmark"]["standing"]["overall"]["rank"] == 1
    chosen = quality(shared, project, bad, quality_dimensions=["clarity"], options={"benchmark_against": [good]})
    assert set(chosen["benchmark"]["items"][0]["dimensions"]) == {"clarity"}


@pytest.mark.promise("analysis.quality.languages")
def test_korean_is_read_as_korean(shared: Server, project: str) -> None:
    text = "# 계획\n\n회의는 2025년 2월 31일에 열린다. TODO: 예산을 적는다. 민지가 보고서를 쓴다."
    answer = quality(shared, project, stored(shared, project, text))
    quotes = {(one["dimension"], one["quote"]) for one in answer["suggestions"]}
    assert ("accuracy", "회의는 2025년 2월 31일에 열린다.") in quotes
    assert ("completeness", "TODO: 예산을 적는다.") in quotes
    assert answer["looked_at"]["language"] == "ko"


@pytest.mark.promise("analysis.quality.project")
def test_meaning_tells_what_belongs_to_the_project(module_place: Place, meaning: Server, project: str) -> None:
    texts = [
        f"The harbour crew of pier {n} moors the ferry, checks the anchor and pays the captain." for n in range(12)
    ]
    ids = [stored(meaning, project, text, options={"generate_embeddings": True}) for text in texts]
    odd = stored(meaning, project, "Rye bread needs flour, salt, a sour dough and a hot oven.",
                 options={"generate_embeddings": True})  # fmt: skip
    inside, outside = (
        quality(meaning, project, id, quality_dimensions=["relevance"])["overall_score"] for id in (ids[5], odd)
    )
    assert inside is not None
    assert outside is None or outside < inside


@pytest.mark.promise("analysis.quality.little")
@pytest.mark.parametrize("text", ["a" * 300, "12 34 56 78 90 11 12 13", "https://example.com/a/b/c", "word " * 30])
def test_what_says_next_to_nothing_is_not_praised(shared: Server, project: str, text: str) -> None:
    answer = analyze(shared, "analyze_quality", project, content_id=stored(shared, project, text))
    assert answer["overall_score"] is None
    assert all(one["score"] is None and one["note"] for one in answer["dimensions"].values())


@pytest.mark.promise("analysis.quality.little")
def test_what_is_said_twice_and_what_disagrees_with_itself(shared: Server, project: str) -> None:
    text = "The pump stops at noon. The tank holds 30 litres. The pump stops at noon. The tank holds 40 litres."
    answer = analyze(shared, "analyze_quality", project, content_id=stored(shared, project, text))
    told = {one["metric"]: one["quote"] for one in answer["suggestions"]}
    assert told["repeated_sentences"] == "The pump stops at noon."
    assert told["figures_for_one_thing"] == "The tank holds 30 litres."


@pytest.mark.promise("analysis.quality.peers")
def test_a_tag_is_held_against_a_text_only_by_others_that_bear_it(meaning: Server, project: str) -> None:
    text = "The queue holds invoices for a day, and the ledger reads them from there at night."
    relevance = {"quality_dimensions": ["relevance"]}
    alone = stored(meaning, project, text, tags=["people", "ko"])
    assert not quality(meaning, project, alone, **relevance)["suggestions"]
    for flower in ("Roses", "Tulips", "Lilies", "Daisies"):
        stored(meaning, project, f"{flower} in the flower bed need water at noon.", tags=["people"])
    (told,) = quality(meaning, project, alone, **relevance)["suggestions"]
    assert '"people" nor is like the 4 others' in told["problem"]


@pytest.mark.promise("analysis.quality.suggestions")
@pytest.mark.parametrize(
    "text",
    [
        "Card numbers are never stored; only the token of the provider is kept.",
        "The migration of the ledger to the new schema must be finished by Monday.",
        "결제 서버는 매주 화요일 오전에 운영 팀이 직접 배포하고 그 결과를 바로 알린다.",
    ],
)
def test_nobody_is_told_to_shorten_a_short_sentence(shared: Server, project: str, text: str) -> None:
    told = quality(shared, project, stored(shared, project, text))["suggestions"]
    assert not [one for one in told if "horter" in one["advice"]]


@pytest.mark.promise("analysis.quality.suggestions")
def test_a_long_sentence_is_to_be_shortened_and_a_hard_one_to_be_said_plainly(shared: Server, project: str) -> None:
    asked = {"quality_dimensions": ["readability"]}
    long = (
        "The committee that had been established by the department subsequently recommended that every applicable "
        "regulation concerning hydraulic equipment be reconsidered before the replacement of the instruments begins."
    )
    (cut,) = quality(shared, project, stored(shared, project, long), **asked)["suggestions"]
    assert "shorter" in cut["advice"]
    hard = stored(shared, project, TWINS["readability"][1])
    (plain,) = quality(shared, project, hard, **asked)["suggestions"]
    assert "plainer" in plain["advice"]
    assert "shorter" not in plain["advice"]


@pytest.mark.promise("analysis.quality.once")
def test_one_conflict_counts_once(shared: Server, project: str) -> None:
    ids = []
    for chosen, rejected in (("PostgreSQL", "DynamoDB"), ("DynamoDB", "PostgreSQL")):
        given = {
            "title": f"Use {chosen} for the ledger",
            "context": "The ledger needs transactions.",
            "decision": f"The ledger is kept in {chosen}.",
            "rationale": "The team has known it for years.",
            "alternatives": [rejected],
        }
        ids.append(write(shared, "store_decision", project, **given)["content_id"])
    told = quality(shared, project, ids[0], quality_dimensions=["accuracy"])["suggestions"]
    assert [one["quote"] for one in told] == ["The ledger is kept in PostgreSQL."]
    deep = {"insight_types": ["efficiency_opportunities"], "options": {"depth": "deep"}}
    found = analyze(shared, "generate_insights", project, **deep)["insights"]
    assert len([one for one in found if one["name"] == "settle_conflict"]) == 1


STRUCK = {
    "letters": "asdkjh qwlekj zxmcnb poiqwe. Lkjasd mnbzxc sdkfjh, wlekjr xcvnm.",
    "rows": "qwertyuiop asdfghjkl zxcvbnm dfgh sdfg xcvb",
    "한글 낱자": "ㅁㄴㅇㄹ ㅂㅈㄷㄱ ㅋㅌㅊㅍ ㅗㅓㅏㅣ ㅁㄴㅇㄹ",
    "한글 음절": "꿞뗽 뙑쾗 먃뷁 쀍쬻 꿞뗽뙑 쾗쀍",
}
WORDS = {
    "names": "Kubernetes, PostgreSQL, DynamoDB, Firebase, nginx and kubectl run in Kraków.",
    "commands": "tmux zsh vim ssh grep awk sed systemctl",
    "Polish": "Chrząszcz brzmi w trzcinie w Szczebrzeszynie, a pies szczeka na sąsiada.",
    "German": "Die Rechtsschutzversicherung zahlt Kraftfahrzeugschäden erst nach Prüfung.",
    "Finnish": "Hyvää huomenta kaikille ystäville, kahvi odottaa keittiössä pöydällä.",
    "Indonesian": "Kapal berangkat pagi hari dari pelabuhan utara menuju pulau seberang.",
    "Korean": "결제 서버는 매주 화요일 오전에 배포하고 ㅋㅋ 결과를 바로 알린다.",
}


@pytest.mark.promise("analysis.quality.little")
@pytest.mark.parametrize("text", STRUCK.values(), ids=STRUCK)
def test_what_looks_like_words_and_is_none_has_no_score(shared: Server, project: str, text: str) -> None:
    answer = quality(shared, project, stored(shared, project, text))
    assert answer["overall_score"] is None
    assert any("reads as no words" in one["note"] for one in answer["dimensions"].values())


@pytest.mark.promise("analysis.quality.little")
@pytest.mark.parametrize("text", WORDS.values(), ids=WORDS)
def test_rare_words_and_names_are_words(shared: Server, project: str, text: str) -> None:
    answer = quality(shared, project, stored(shared, project, text))
    assert answer["overall_score"] is not None
    assert not any("reads as no words" in one.get("note", "") for one in answer["dimensions"].values())


@pytest.mark.promise("analysis.quality.little")
def test_what_a_project_calls_its_things_are_words(shared: Server, project: str) -> None:
    id = stored(shared, project, "Xkqz and grmbl: hjklm, fhqwg, zzyzx.")
    assert quality(shared, project, id)["overall_score"] is None
    stored(shared, project, "The machines are called Xkqz, Grmbl, Hjklm and Fhqwg.")
    assert quality(shared, project, id)["overall_score"] is not None
