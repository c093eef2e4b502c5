"""generate_insights: what follows from a project, each with the numbers and items it rests on."""

from __future__ import annotations

from random import Random
from typing import Any

import pytest

from stdio_client import Place, Server

from .analyzing import INSIGHTS, analyze, diary, ids_in, kinds, lasting
from .speaking import get, read, stored

SAME = "The northern lighthouse was rebuilt after the storm with a stronger lamp and a taller tower of white stone."
SEA = ["harbour", "ship", "anchor", "captain", "sailor", "wave", "tide", "mast", "crew", "deck"]
BREAD = ["flour", "oven", "dough", "yeast", "crust", "baker", "rye", "wheat", "loaf", "salt"]
GAP = "# Pumps\n\nThe pump house is described in [[Manual of the pumps]].\n\nTODO: say who pays."
QUESTION = "Who owns the key of the windmill cellar?"


@pytest.fixture(scope="module")
def planted(module_place: Place) -> dict[str, Any]:
    """A project of sixty days: sea first, bread of late; a gap, a question, two equal items, and one that all read."""
    draw = Random(1)
    with diary(module_place, "planted") as book:
        first = book.note(f"{' '.join(draw.sample(SEA, 6))}.", days=61, tags=["sea"])
        for day in range(60, 0, -1):
            words, tag = (SEA, "sea") if day > 25 or day % 6 == 0 else (BREAD, "bread")
            for n in range(1 if day > 25 else 3):
                book.note(f"{' '.join(draw.sample(words, 6))}.", days=day - n / 10, tags=[tag])
            if day == 40:
                twice = [book.note(SAME, days=day - 0.5) for _ in range(2)]
                gap = book.note(GAP, days=day - 0.6)
                question = book.note(QUESTION, days=day - 0.7)
        for day in range(29, 0, -1):
            for who in ("Ann", "Bob", "Cem"):
                book.read(first, days=day, who=who)
            book.read(gap, days=day)
    return {"first": first, "twice": twice, "gap": gap, "question": question}


def insights(server: Server, project: str, /, **more: Any) -> list[dict[str, Any]]:
    """What follows from a project."""
    found: list[dict[str, Any]] = analyze(server, "generate_insights", project, **more)["insights"]
    return found


def named(found: list[dict[str, Any]], *names: str) -> list[dict[str, Any]]:
    """Those of some names."""
    return [one for one in found if one["name"] in names]


@pytest.mark.promise("analysis.insights.gaps")
def test_what_is_missing_is_found(shared: Server, planted: dict[str, Any]) -> None:
    found = insights(shared, "planted", insight_types=["content_gaps"])
    (open_,) = named(found, "unfinished")
    assert open_["content_ids"] == [planted["gap"]]
    assert open_["evidence"]["places"][0]["line"] == "TODO: say who pays."
    assert any("Manual of the pumps" in one["summary"] and planted["gap"] in one["content_ids"] for one in found)
    assert any(QUESTION in one["summary"] and planted["question"] in one["content_ids"] for one in found)


@pytest.mark.promise("analysis.insights.usage")
def test_what_everybody_reads_is_found(shared: Server, planted: dict[str, Any]) -> None:
    found = insights(shared, "planted", insight_types=["usage_insights"])
    (read_,) = named(found, "most_read")
    assert planted["first"] in read_["content_ids"]
    assert named(found, "concentration")


@pytest.mark.promise("analysis.insights.trends")
def test_what_rises_and_falls_is_found(shared: Server, planted: dict[str, Any]) -> None:
    found = insights(shared, "planted", insight_types=["trend_analysis"])
    assert any("bread" in one["summary"] for one in found)
    assert any("sea" in one["summary"] for one in found)
    assert all(one["confidence"] >= 0.9 for one in found)


@pytest.mark.promise("analysis.insights.efficiency")
def test_what_could_be_saved_is_found(shared: Server, planted: dict[str, Any]) -> None:
    (twice,) = named(insights(shared, "planted", insight_types=["efficiency_opportunities"]), "duplicates")
    assert set(twice["content_ids"]) == set(planted["twice"])
    assert (twice["evidence"]["saved_memories"], twice["evidence"]["saved_characters"]) == (1, len(SAME))


@pytest.mark.promise("analysis.insights.synthesis")
def test_what_is_said_of_a_subject_is_put_together(shared: Server, planted: dict[str, Any]) -> None:
    topics = named(insights(shared, "planted", insight_types=["knowledge_synthesis"]), "topic")
    assert topics
    for one in topics:
        for said in one["evidence"]["statements"]:
            assert said["sentence"] in get(shared, "planted", said["id"])["content"]
            assert said["id"] in one["content_ids"]
    words = [set(" ".join(one["evidence"]["topic"].split(",")).split()) for one in topics]
    assert any(some <= set(SEA) for some in words)
    assert any(some <= set(BREAD) for some in words)


KEEPERS = (
    "The keeper of the lighthouse is paid by the harbour office.",
    "The harbour office pays the keeper of the lighthouse.",
    "The harbour office does not pay the keeper of the lighthouse.",
    "The harbour office pays the keeper of the lighthouse 40 crowns a month.",
    "The harbour office stopped paying the keeper of the lighthouse.",
)
LAMPS = (
    "The lamp of the lighthouse needs 12 litres of oil.",
    "The lamp of the lighthouse needs 30 litres of oil.",
    "The lamp of the lighthouse is cleaned with oil and sand.",
)


@pytest.mark.xfail(strict=True, reason="the judge is not sure enough that active and passive say the same")
@pytest.mark.long
@pytest.mark.promise("analysis.insights.agreed")
def test_only_who_says_it_is_counted_and_who_says_otherwise_is_told(meaning: Server, project: str) -> None:
    texts = {stored(meaning, project, text): text for text in (*KEEPERS, *LAMPS)}
    for words in (SEA, BREAD):
        for at in range(6):
            stored(meaning, project, f"{' '.join(Random(at).sample(words, 6))}.")
    asked = {"insight_types": ["knowledge_synthesis"], "options": {"depth": "comprehensive"}}
    told = {
        said["sentence"]: said
        for one in named(insights(meaning, project, **asked), "topic")
        for said in one["evidence"]["statements"]
    }
    for said in told.values():
        assert said["said_by"] == 1 + len(said.get("also", [])), said
        for other in [*said.get("also", []), *said.get("otherwise", [])]:
            assert other["sentence"] in get(meaning, project, other["id"])["content"]
    paid, pays, never, much, gone = (told[text] for text in KEEPERS)
    assert [texts[one["id"]] for one in paid["also"]] == [KEEPERS[1]]
    assert [texts[one["id"]] for one in pays["also"]] == [KEEPERS[0]]
    assert {texts[one["id"]] for one in never["otherwise"]} >= {KEEPERS[1]}
    assert [one["said_by"] for one in (never, much, gone)] == [1, 1, 1]
    assert [texts[one["id"]] for one in told[LAMPS[0]]["otherwise"]] == [LAMPS[1]]
    assert [told[text]["said_by"] for text in LAMPS] == [1, 1, 1]


@pytest.mark.promise("analysis.insights.agreed")
def test_what_disagrees_is_not_put_together_as_if_it_did_not(meaning: Server, project: str) -> None:
    squash = "You should squash commits before merging to the main branch of the mobile repository."
    both = (squash, squash.replace("should", "should not"))
    ids = {stored(meaning, project, text) for text in both}
    stored(meaning, project, "The main branch of the mobile repository is built every night from all merged commits.")
    for text in (*KEEPERS, *LAMPS):
        stored(meaning, project, text)
    found = insights(meaning, project, insight_types=["knowledge_synthesis"], options={"depth": "comprehensive"})
    (one,) = [one for one in named(found, "topic") if set(one["content_ids"]) & ids]
    assert any(f"“{text}” (said by 1 of " in one["summary"] for text in both)
    assert any(said in one["summary"] for said in ("1 says otherwise", "cannot both hold"))
    (settle,) = one["calls"]
    assert settle["arguments"]["operation"] == "detect_conflicts"
    assert set(settle["arguments"]["content_ids"]) >= ids
    assert meaning.call(settle["tool"], settle["arguments"]).structured["conflicts"]


@pytest.mark.promise("analysis.insights.none")
def test_where_nothing_follows_nothing_is_told_and_why(shared: Server, project: str) -> None:
    for text in (
        "Violins are tuned in fifths.",
        "The ferry leaves the pier at eight.",
        "Rye bread needs a sour dough.",
    ):
        stored(shared, project, text)
    answer = analyze(shared, "generate_insights", project, options={"depth": "comprehensive"})
    assert (answer["insights"], answer["counts"]) == ([], dict.fromkeys(INSIGHTS, 0))
    assert answer["looked_at"]["memories"] == 3
    for type in ("usage_insights", "trend_analysis"):
        assert any(note.startswith(type) for note in answer["notes"])


@pytest.mark.promise("analysis.insights.types")
@pytest.mark.parametrize("type", INSIGHTS)
def test_only_the_types_asked_for_are_told(shared: Server, planted: dict[str, Any], type: str) -> None:
    answer = analyze(shared, "generate_insights", "planted", insight_types=[type])
    whole = analyze(shared, "generate_insights", "planted")
    assert list(whole["counts"]) == list(INSIGHTS)
    assert list(answer["counts"]) == [type]
    assert answer["insights"]
    told = [(one["name"], one["content_ids"]) for one in answer["insights"]]
    assert told == [(one["name"], one["content_ids"]) for one in whole["insights"] if one["type"] == type]


@pytest.mark.promise("analysis.insights.depth")
def test_more_depth_looks_at_more_and_tells_more(shared: Server, planted: dict[str, Any]) -> None:
    told = {
        depth: analyze(shared, "generate_insights", "planted", options={"depth": depth})
        for depth in ("surface", "deep", "comprehensive")
    }
    assert {depth: answer["looked_at"]["depth"] for depth, answer in told.items()} == {one: one for one in told}
    counts = [len(told[depth]["insights"]) for depth in ("surface", "deep", "comprehensive")]
    assert counts[0] < counts[1] <= counts[2]
    kinds = [{one["name"] for one in told[depth]["insights"]} for depth in ("surface", "deep", "comprehensive")]
    assert kinds[0] <= kinds[1] <= kinds[2]
    assert lasting(analyze(shared, "generate_insights", "planted")) == lasting(told["surface"])


@pytest.mark.promise("analysis.insights.horizon")
def test_the_horizon_is_the_time_it_is_about(shared: Server, planted: dict[str, Any]) -> None:
    told = {
        horizon: analyze(shared, "generate_insights", "planted", options={"time_horizon": horizon})
        for horizon in ("short", "medium", "long")
    }
    assert [told[horizon]["looked_at"]["days"] for horizon in ("short", "medium", "long")] == [7, 30, 365]
    readings = [told[horizon]["looked_at"]["usage_insights"]["readings"] for horizon in ("short", "medium", "long")]
    assert readings[0] < readings[1] <= readings[2]
    # Bread rose within the month; the year has nothing before it to compare with, and says so.
    assert told["medium"]["counts"]["trend_analysis"] > 0
    assert told["long"]["counts"]["trend_analysis"] == 0
    assert any(note.startswith("trend_analysis") for note in told["long"]["notes"])
    assert lasting(analyze(shared, "generate_insights", "planted")) == lasting(told["medium"])


@pytest.mark.promise("analysis.insights.recommendations")
def test_recommendations_are_told_unless_they_are_not_wanted(shared: Server, planted: dict[str, Any]) -> None:
    given = {"insight_types": ["efficiency_opportunities", "content_gaps"]}
    told = insights(shared, "planted", **given)
    assert all(one["recommendation"] for one in named(told, "duplicates", "unfinished"))
    bare = insights(shared, "planted", **given, options={"include_recommendations": False})
    assert not [one for one in bare if "recommendation" in one]
    assert [one["summary"] for one in bare] == [one["summary"] for one in told]


@pytest.mark.promise("analysis.insights.recommendations")
@pytest.mark.parametrize("session", [{}, {"session_id": "s"}], ids=["project", "session"])
def test_a_recommended_call_can_be_made_as_it_stands(shared: Server, project: str, session: dict[str, str]) -> None:
    for _ in range(2):
        stored(shared, project, SAME, **session)
    savings = {"insight_types": ["efficiency_opportunities"], **session}
    (twice,) = named(insights(shared, project, **savings), "duplicates")
    (delete,) = twice["calls"]
    assert delete["arguments"]["project_id"] == project
    assert not shared.call(delete["tool"], delete["arguments"]).failed
    assert not named(insights(shared, project, **savings), "duplicates")


@pytest.mark.promise("analysis.insights.one_advice")
def test_no_advice_deletes_what_another_keeps(meaning: Server, project: str) -> None:
    for text in (
        "Push notifications of the mobile app are sent through Firebase.",
        "Push notifications of the mobile app are sent through Firebase.",
        "Push notifications of the mobile app: are sent through Firebase!",
        "Push notifications of the mobile app are sent, through Firebase.",
        "Push notifications of the mobile app: are sent through Firebase!",
        "Rye bread needs a sour dough and a slow oven.",
    ):
        stored(meaning, project, text)
    deep = {"insight_types": ["efficiency_opportunities"], "options": {"depth": "comprehensive"}}
    told = named(insights(meaning, project, **deep), "duplicates", "near_duplicates")
    assert kinds(told) == {"duplicates", "near_duplicates"}
    kept = {one["evidence"]["keep"] for one in told}
    gone = [id for one in told for id in one["evidence"]["superfluous"]]
    assert not kept & set(gone)
    assert len(set(gone)) == len(gone) == 4
    for one in told:
        for made in one["calls"]:
            assert not meaning.call(made["tool"], made["arguments"]).failed
    assert not named(insights(meaning, project, **deep), "duplicates", "near_duplicates")


@pytest.mark.promise("analysis.insights.scope")
def test_a_set_is_looked_at_alone(shared: Server, planted: dict[str, Any]) -> None:
    answer = analyze(shared, "generate_insights", "planted", scope="content_set", content_ids=planted["twice"])
    assert answer["looked_at"]["memories"] == 2
    assert {one["name"] for one in answer["insights"]} == {"duplicates"}
    other = analyze(shared, "generate_insights", "planted", content_ids=[planted["gap"], planted["twice"][0]])
    assert not named(other["insights"], "duplicates")
    assert named(other["insights"], "unfinished")
    assert ids_in(other) <= {planted["gap"], planted["twice"][0]}


@pytest.mark.promise("analysis.insights.scope")
def test_a_session_is_looked_at_alone(shared: Server, project: str) -> None:
    stored(shared, project, "# Roof\n\nTODO: mend the roof.")
    inside = stored(shared, project, "# Cellar\n\nTODO: mend the cellar.", session_id="s")
    gaps = {"insight_types": ["content_gaps"]}
    alone = analyze(shared, "generate_insights", project, scope="session", session_id="s", **gaps)
    assert [one["content_ids"] for one in alone["insights"]] == [[inside]]
    assert len(insights(shared, project, session_id="s", **gaps)) == 2
    assert inside not in ids_in(insights(shared, project, **gaps))


@pytest.mark.promise("analysis.insights.evidence")
def test_each_rests_on_numbers_and_items_that_are_there(shared: Server, planted: dict[str, Any]) -> None:
    found = insights(shared, "planted", options={"depth": "comprehensive"})
    assert found
    for one in found:
        assert 0.5 <= one["confidence"] <= 1, one["summary"]
        assert one["summary"]
        assert one["explanation"]
        assert one["evidence"]
        for id in ids_in(one):
            read(shared, "get_content", "planted", content_id=id)


@pytest.mark.promise("analysis.insights.languages")
def test_korean_gaps_are_found(shared: Server, project: str) -> None:
    gap = stored(shared, project, "# 펌프\n\n펌프실 열쇠는 관리실에 있다.\n\nTODO: 비용을 적는다.")
    question = stored(shared, project, "풍차 지하실의 열쇠는 누가 가지고 있습니까?")
    found = insights(shared, project, insight_types=["content_gaps"])
    assert {id for one in found for id in one["content_ids"]} >= {gap, question}
