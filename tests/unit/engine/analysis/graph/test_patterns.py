"""The patterns in the relations of real projects, planted and made by chance."""

from __future__ import annotations

from pathlib import Path

import pytest

from polymnia import EntityDraft, Memory, describe, remark
from polymnia.engine.analysis.findings import Findings, Remark
from polymnia.engine.analysis.graph.patterns import relationship_patterns
from polymnia.engine.analysis.graph.structure import Network, twin
from polymnia.engine.content import ItemDraft
from polymnia.errors import Cancelled

from . import planted
from .planted import named, patterns, project, record

SUBJECTS = ("whale plankton ocean", "kernel scheduler thread", "양자 얽힘 측정", "violin sonata tempo")


def planted_links() -> planted.Pairs:
    """Four groups; groups 0 and 1 hang on the others by one link each, and node 40 is linked with half of all."""
    links = planted.cliques(4, 10, share=0.8, between=1, seed=2)
    return [*links, *((40, at) for at in range(20, 40, 1))]


def names_of(memory: Memory, found: tuple[int, ...]) -> set[str]:
    with memory.store.read(memory.project) as snapshot:
        return {record.name for record in snapshot.load(list(found))}


def text(at: int) -> str:
    return f"{SUBJECTS[min(at // 10, 3)]} note {at}"


@pytest.fixture(scope="module")
def found(tmp_path_factory: pytest.TempPathFactory) -> tuple[Findings, dict[int, str]]:
    with project(tmp_path_factory.mktemp("planted"), planted_links(), texts=text, alone=3, model=True) as memory:
        with memory.store.read(memory.project) as snapshot:
            names = {record.id: record.name for record in snapshot.records()}
        return patterns(memory), names


def test_the_planted_hub_is_told_with_its_degree(found: tuple[Findings, dict[int, str]]) -> None:
    (hub,) = named(found[0], "hub")
    assert [found[1][id] for id in hub.members] == ["n40"]
    assert (hub.evidence["degree"], hub.evidence["percentile"]) == (20, 100.0)
    assert hub.confidence > 0.8


def test_the_planted_communities_are_told_by_what_they_say(found: tuple[Findings, dict[int, str]]) -> None:
    told = {frozenset(found[1][id] for id in one.members): one for one in named(found[0], "community")}
    first, second = (frozenset(f"n{at}" for at in range(start, start + 10)) for start in (0, 10))
    assert first in told and second in told
    assert told[first].confidence > 0.8
    assert {"whale", "plankton", "ocean"} & set(" ".join(told[first].evidence["terms"]).split())
    assert told[first].evidence["inside_share"] > 0.9
    assert told[first].evidence["modularity"] > told[first].evidence["modularity_by_chance"] + 0.1


def test_the_only_link_between_parts_is_a_bridge(found: tuple[Findings, dict[int, str]]) -> None:
    links = [one for one in named(found[0], "bridge") if one.evidence["kind"] == "link"]
    told = {frozenset(found[1][id] for id in one.members): one for one in links}
    bridge = told[frozenset({"n0", "n19"})]
    assert bridge.evidence["parts"] == [31, 10] and bridge.evidence["cut_off"] == 10
    assert bridge.evidence["types"] == ["related_to"]
    assert bridge.confidence > 0.8


def test_records_without_relations_are_told_together(found: tuple[Findings, dict[int, str]]) -> None:
    (alone,) = named(found[0], "orphans")
    assert {found[1][id] for id in alone.members} == {"alone 0", "alone 1", "alone 2"}
    assert alone.evidence["count"] == 3


def test_patterns_come_surest_first_and_say_what_was_looked_at(found: tuple[Findings, dict[int, str]]) -> None:
    sure = [one.confidence for one in found[0].patterns]
    assert sure == sorted(sure, reverse=True) and all(0 <= one <= 1 for one in sure)
    assert found[0].looked_at["records"] == 44
    assert found[0].looked_at["linked_records"] == 41
    assert all(one.type == "relationship_patterns" and describe(one).explanation for one in found[0].patterns)


@pytest.mark.long
@pytest.mark.parametrize("seed", range(3))
def test_a_rewired_twin_shows_no_community_bridge_or_missing_link(tmp_path: Path, seed: int) -> None:
    links = planted_links()
    network = twin(Network(41, [a for a, _ in links], [b for _, b in links]), seed + 50)
    pairs = list(zip(network.low.tolist(), network.high.tolist(), strict=True))
    with project(tmp_path, pairs, texts=text) as memory:
        told = patterns(memory)
    # Who has many neighbours still has them.
    assert {one.name for one in told.patterns} <= {"hub"}


@pytest.mark.long
@pytest.mark.parametrize("seed", range(3))
def test_chance_shows_nothing(tmp_path: Path, seed: int) -> None:
    with project(tmp_path, planted.chance(60, 150, seed)) as memory:
        told = patterns(memory)
    assert told.patterns == []


@pytest.mark.parametrize("branches", [2, 3])
def test_a_plain_hierarchy_shows_nothing(tmp_path: Path, branches: int) -> None:
    links = [(f"n{(at - 1) // branches}", f"n{at}", "contains") for at in range(1, 100)]
    with project(tmp_path, links) as memory:
        assert patterns(memory).patterns == []


def test_a_plain_sequence_shows_nothing(tmp_path: Path) -> None:
    with project(tmp_path, [(f"n{at}", f"n{at + 1}", "precedes") for at in range(40)]) as memory:
        assert patterns(memory).patterns == []


def test_what_is_missing_is_found_where_meaning_agrees(tmp_path: Path) -> None:
    links = planted.cliques(6, 9, share=0.95, seed=4)
    with project(tmp_path, links, texts=lambda at: f"subject{at // 9} theme{at // 9}", model=True) as memory:
        told = named(patterns(memory), "missing_link")
        assert told
        for one in told:
            a, b = (int(name[1:]) for name in names_of(memory, one.members))
            assert a // 9 == b // 9 and (min(a, b), max(a, b)) not in links
            assert one.evidence["common_neighbours"] >= 5 and one.evidence["cosine"] > 0.5


def test_a_group_apart_is_told_as_one(tmp_path: Path) -> None:
    apart = [("가온", "나래", "알다"), ("나래", "다솜", "알다"), ("다솜", "가온", "알다")]
    rest = [(f"n{a}", f"n{b}", "knows") for a, b in planted.chance(20, 60)]
    with project(tmp_path, [*rest, *apart]) as memory:
        (told,) = named(patterns(memory), "component")
        assert names_of(memory, told.members) == {"가온", "나래", "다솜"}
        assert "가온" in describe(told).summary
        assert told.evidence["largest"] == 20


def test_a_circle_is_told_with_its_steps(tmp_path: Path) -> None:
    links = [("설계", "구현", "part_of"), ("구현", "시험", "part_of"), ("시험", "설계", "part_of")]
    with project(tmp_path, links) as memory:
        (told,) = named(patterns(memory), "cycle")
        assert names_of(memory, told.members) == {"설계", "구현", "시험"}
        assert [step["type"] for step in told.evidence["steps"]] == ["part_of"] * 3
        assert told.confidence > 0.8


def test_an_empty_project_says_so(tmp_path: Path) -> None:
    with project(tmp_path, []) as memory:
        told = patterns(memory)
    assert told.patterns == [] and told.notes == [Remark("graph.no_relations", {"records": 0})]


def test_one_record_has_no_pattern(tmp_path: Path) -> None:
    with project(tmp_path, [], alone=1) as memory:
        told = patterns(memory)
    assert told.patterns == [] and "None of 1 records" in remark(told.notes[0])


def test_one_relation_is_too_little_and_that_is_said(tmp_path: Path) -> None:
    with project(tmp_path, [(0, 1)]) as memory:
        told = patterns(memory)
    assert told.patterns == []
    assert any("too few" in note and "10 are needed" in note for note in map(remark, told.notes))


def test_loops_parallels_and_loose_ends_break_nothing(tmp_path: Path) -> None:
    links = [("a", "a", "likes"), ("a", "b", "likes"), ("a", "b", "knows"), ("b", "a", "likes")]
    with project(tmp_path, links) as memory:
        with memory.store.write(memory.project, "test", "loose") as tx:
            tx.add_relations([("a", "nobody", "likes", {}), ("nobody", "nowhere", "likes", {})])
        told = patterns(memory)
    assert told.looked_at["linked_pairs"] == 1


def test_a_deleted_record_is_part_of_nothing(tmp_path: Path) -> None:
    with project(tmp_path, [("a", "b", "contains"), ("b", "a", "contains")]) as memory:
        assert named(patterns(memory), "cycle")
        memory.delete_entities(["b"])
        assert patterns(memory).patterns == []


def test_what_another_session_keeps_is_not_seen(tmp_path: Path) -> None:
    with project(tmp_path, []) as memory:
        mine, other = (memory.store_item(ItemDraft(text=f"item {at}", session=at)).record for at in ("mine", "other"))
        memory.create_relations([(mine.name, other.name, "contains"), (other.name, mine.name, "contains")])

        def look(session: str | None) -> Findings:
            return memory.analysed(relationship_patterns, key="x", session=session)[0]

        assert look("mine").patterns == [] and look("mine").looked_at["records"] == 1


def test_a_focus_is_in_its_community(tmp_path: Path) -> None:
    with project(tmp_path, planted.cliques(4, 10, share=0.8, seed=2), texts=text) as memory:
        told = patterns(memory, focus="n5")
        id = record(memory, "n5").id
        own = [one for one in told.patterns if id in one.members]
    assert [one.evidence["size"] for one in own if one.name == "community"] == [10]


def test_the_same_project_gets_the_same_answer(tmp_path: Path) -> None:
    with project(tmp_path, planted_links(), texts=text) as memory:
        one = memory.analysed(relationship_patterns, key=1)[0]
        other = memory.analysed(relationship_patterns, key=2)[0]
    assert one == other


def test_it_can_be_called_off(tmp_path: Path) -> None:
    def off(done: int, total: int) -> None:
        raise Cancelled("off")

    with project(tmp_path, planted_links()) as memory, pytest.raises(Cancelled):
        memory.analysed(relationship_patterns, key="x", step=off)


def test_long_titles_are_shortened_in_sentences(tmp_path: Path) -> None:
    with project(tmp_path, []) as memory:
        memory.create_entities([EntityDraft("가" * 100, "thing", ("x",)), EntityDraft("b", "thing", ("y",))])
        memory.create_relations([("가" * 100, "b", "contains"), ("b", "가" * 100, "contains")])
        (told,) = named(patterns(memory), "cycle")
    summary = describe(told).summary
    assert "가" * 60 + "…" in summary and "가" * 61 not in summary
