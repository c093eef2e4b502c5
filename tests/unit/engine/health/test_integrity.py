"""Integrity: a planted fault is found, and nothing else is; mending mends it and loses nothing."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest

from form import mostly_long
from polymnia import EntityDraft, Memory
from polymnia.dialects.content.reports import health
from polymnia.engine.content import ItemDraft
from polymnia.engine.graph import Policy
from polymnia.engine.health.integrity import CHECKS, RULES, IntegrityReport, validate
from polymnia.engine.search import Analysis
from polymnia.errors import Invalid
from polymnia.storage import indexes, snapshot
from polymnia.storage.checks import indexes as index_checks
from polymnia.storage.sqlite import SqliteStore, grams

from .planted import PLANTED, STONES, TEXTS, Desk, Planted, of


@pytest.fixture(scope="module", autouse=True)
def large() -> Iterator[None]:
    """Indexes take everything in, and are asked, from as few texts on as there are here."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(indexes, "_UNINDEXED", STONES)
        patch.setattr(grams, "_SCAN_BELOW", STONES)
        patch.setattr(snapshot, "MAX_TEXTS", STONES)
        yield


@pytest.fixture(scope="module")
def filled(tmp_path_factory: pytest.TempPathFactory) -> str:
    """The file of a store that has been filled and closed."""
    desk = Desk(tmp_path_factory.mktemp("filled"))
    desk.fill()
    desk.memory.close()
    return desk.path


@pytest.fixture
def desk(tmp_path: Path, filled: str) -> Iterator[Desk]:
    shutil.copy(filled, tmp_path)
    desk = Desk(tmp_path)
    yield desk
    desk.memory.close()


def kinds(report: IntegrityReport) -> set[str]:
    return {finding.kind for finding in report.findings}


def identify(planted: Planted) -> str:
    return f"{planted.kind}-{PLANTED.index(planted)}"


planted = pytest.mark.parametrize("fault", PLANTED, ids=identify)


def test_a_sound_store_has_no_findings(desk: Desk) -> None:
    for scope in ("project", "system"):
        report = desk.validate(scope=scope, fix=True)
        assert (report.findings, report.sound, report.changes) == ([], True, {})
    assert desk.validate(scope="session", session="spring").findings == []


@planted
def test_a_planted_fault_is_found_and_nothing_else(desk: Desk, fault: Planted) -> None:
    desk.plant(fault.statement, **fault.value(desk))
    (found,) = desk.validate(scope=fault.scope).findings
    rule = RULES[fault.kind]
    assert (found.kind, found.check, found.severity) == (fault.kind, rule.check, rule.severity)
    assert found.where and found.count >= 1 and found.left == found.count
    assert found.fixable == fault.mends
    words = health.issue(found)
    assert str(found.count) in words["what"] or words["what"][0].isupper()
    assert words["how"]
    for check in CHECKS:  # only the check that is asked for finds it
        found_by_it = kinds(desk.validate(scope=fault.scope, checks=[check]))
        assert found_by_it == ({fault.kind} if check == rule.check else set())


def told(desk: Desk) -> list[str]:
    """Every text there is."""
    return sorted(text for record in desk.everything() if hasattr(record, "name") for text in record.observations)


@pytest.mark.parametrize("fault", mostly_long(PLANTED, 10), ids=identify)
def test_mending_mends_what_can_be_mended_tells_the_rest_and_loses_nothing(desk: Desk, fault: Planted) -> None:
    before, names = told(desk), {one.name for one in desk.everything() if hasattr(one, "name")}
    arrows = sorted(one.ends for one in desk.everything() if hasattr(one, "ends"))
    desk.plant(fault.statement, **fault.value(desk))
    report = desk.validate(scope=fault.scope, fix=True)
    (found,) = report.findings
    assert (found.left == 0) == fault.mends
    assert report.sound == (fault.mends or found.severity == "info")
    again = desk.validate(scope=fault.scope)
    assert kinds(again) == (set() if fault.mends else {fault.kind})
    if not fault.mends:
        return
    after = [text.replace("\N{REPLACEMENT CHARACTER}", " ") for text in told(desk)]
    assert after == before
    assert names <= {one.name for one in desk.everything() if hasattr(one, "name")}
    if fault.kind not in ("relation_end_gone", "reference_mark_wrong"):
        assert sorted(one.ends for one in desk.everything() if hasattr(one, "ends")) == arrows
    for text in TEXTS:  # and everything is found again
        assert "Harbour" in [hit.record.name for hit in desk.memory.search(text).hits]
        assert "Harbour" in [record.name for record in desk.memory.search_nodes(text).records]


RETURNS = {
    "relation_end_gone", "reference_mark_wrong", "strength_outside", "scope_illegal", "session_missing",
    "session_differs", "text_has_nul", "time_ahead",
}  # fmt: skip


@pytest.mark.parametrize(
    "fault", mostly_long([one for one in PLANTED if RULES[one.kind].by == "change"], 3), ids=identify
)
def test_what_changed_memories_is_one_change_that_an_undo_takes_back(desk: Desk, fault: Planted) -> None:
    desk.plant(fault.statement, **fault.value(desk))
    count = len(desk.memory.changes(100))
    report = desk.validate(fix=True)
    assert len(desk.memory.changes(100)) == count + 1
    assert desk.memory.changes(1)[0].action == "validate_data_integrity"
    desk.memory.undo(report.changes["default"])
    left = kinds(desk.validate(checks=[RULES[fault.kind].check]))
    # Versions and times of change count on, whatever is undone.
    assert left == ({fault.kind} if fault.kind in RETURNS else set())


@pytest.mark.parametrize("fault", [one for one in PLANTED if one.kind == "json_broken"], ids=identify)
def test_what_could_not_be_read_is_kept_as_text_and_an_undo_leaves_the_project_readable(
    desk: Desk, fault: Planted
) -> None:
    desk.plant(fault.statement, **fault.value(desk))
    report = desk.validate(fix=True)
    (kept,) = [one.metadata["unreadable"] for one in desk.everything() if "unreadable" in getattr(one, "metadata", {})]
    assert len(kept) == 1 and all(isinstance(text, str) and text for text in kept.values())
    desk.memory.undo(report.changes["default"])
    assert len(desk.everything()) > STONES


def test_texts_of_a_lost_memory_get_a_new_one(desk: Desk) -> None:
    desk.plant("UPDATE observation SET memory = memory + 800000 WHERE text = 'Grinds rye'")
    report = desk.validate(fix=True)
    (record,) = [one for one in desk.everything() if getattr(one, "kind", "") == "recovered"]
    assert record.observations == ("Grinds rye",)
    assert desk.memory.search("rye").hits[0].record.name == record.name
    assert report.sound


def test_a_session_is_checked_alone(desk: Desk) -> None:
    desk.plant(
        "UPDATE memory SET version = 0 WHERE id = :id",
        "UPDATE memory SET metadata = '{' WHERE session = 'spring'",
        **of("Mill")(desk),
    )
    assert kinds(desk.validate(scope="session", session="spring")) == {"json_broken"}
    assert kinds(desk.validate(scope="session", session="autumn")) == set()
    assert kinds(desk.validate()) == {"json_broken", "version_low"}


def test_a_session_must_be_named(desk: Desk) -> None:
    with pytest.raises(Invalid, match="which"):
        desk.validate(scope="session")


def test_an_unknown_check_is_refused_by_name(desk: Desk) -> None:
    with pytest.raises(Invalid, match=r"'spelling'.*orphaned_relationships"):
        desk.validate(checks=["spelling"])


def test_another_project_is_checked_only_with_the_system_and_its_memories_are_not_named(desk: Desk) -> None:
    desk.plant("UPDATE memory SET version = 0 WHERE name = 'Lamp'")
    assert desk.validate().findings == []
    (found,) = desk.validate(scope="system").findings
    assert (found.kind, found.project, found.count, found.where) == ("version_low", "elsewhere", 1, ())
    (mended,) = desk.validate(scope="system", fix=True).findings
    assert mended.left == 0


def test_a_finding_names_so_many_places_and_counts_all(desk: Desk) -> None:
    desk.plant("UPDATE memory SET version = 0 WHERE kind = 'stone'")
    (found,) = desk.validate(spots=5).findings
    assert (found.count, len(found.where)) == (STONES, 5)
    (mended,) = desk.validate(spots=5, fix=True).findings
    assert (mended.count, mended.left) == (STONES, 0)


def test_the_report_says_what_was_looked_at(desk: Desk) -> None:
    whole = {one.what: one for one in desk.validate().looked}
    assert (whole["memory rows"].looked, whole["memory rows"].of) == (STONES + 4, STONES + 4)
    assert all(one.whole for one in whole.values())
    some = {one.what: one for one in desk.validate(sample=10).looked}
    assert (some["texts in the word index"].looked, some["texts in the word index"].of) == (10, 2 * STONES + 10)
    assert not some["texts in the word index"].whole
    assert some["memory rows"].whole


def test_without_a_model_the_report_says_that_vectors_were_not_looked_at(tmp_path: Path) -> None:
    with Memory(SqliteStore(str(tmp_path / "memory.db"), analyst=Analysis())) as memory:
        memory.create_entities([EntityDraft("Ann", "person", ("Likes tea",))])
        report = validate(memory, checks=["missing_embeddings"])
    assert report.findings == []
    assert [(one.what, one.why_not) for one in report.looked if one.why_not] == [("embeddings", "no model is in use")]


def test_vectors_that_cannot_be_made_are_told_with_the_reason(desk: Desk) -> None:
    desk.plant("DELETE FROM vector_bits; DELETE FROM vector")
    desk.toy.broken = RuntimeError("out of ink")
    (found,) = desk.validate(fix=True).findings
    assert (found.kind, found.left) == ("embedding_missing", found.count)
    assert found.failed is not None and "out of ink" in found.failed


def test_a_relation_that_lost_its_end_is_broken_and_one_that_waits_for_an_end_is_not(desk: Desk) -> None:
    desk.memory.delete_entities(["stone 9"])
    simple = desk.memory.acting("simple", Policy(missing_end="keep"))
    simple.create_relations([("Mill", "stone 9", "waits for"), ("Mill", "Tower", "waits for")])
    desk.plant("UPDATE relation SET target = 'stone 9' WHERE type = 'near'")
    found = {one.kind: (one.severity, one.count) for one in desk.validate(fix=True).findings}
    assert found == {"relation_end_gone": ("error", 1), "relation_end_waits": ("info", 2)}
    assert desk.memory.count()[1] == 3


def test_a_relation_kept_when_its_target_was_deleted_is_told_as_such(desk: Desk) -> None:
    other = desk.memory.store_item(ItemDraft(text="The ferryman's house")).record
    third = desk.memory.store_item(ItemDraft(text="The ferryman's boat")).record
    desk.memory.relate_items(other.uid, third.uid, "references", context=f"as {third.uid} says")
    desk.memory.delete_item(third.uid, keep_references=True)
    found = {one.kind: one.where for one in desk.validate(checks=CHECKS[2:]).findings}
    assert set(found) == {"reference_kept", "mention_missing"}
    assert found["reference_kept"] == found["mention_missing"]


def test_an_unreadable_text_does_not_keep_the_rest_from_being_mended(desk: Desk) -> None:
    desk.plant(
        "UPDATE observation SET text = CAST(x'47ff' AS TEXT) WHERE text = 'Grinds rye'",
        "UPDATE memory SET version = 0 WHERE name = 'Bridge'",
        "UPDATE memory SET tags = '{' WHERE name = 'Harbour'; DELETE FROM session",
    )
    left = {one.kind: one.left for one in desk.validate(fix=True).findings if one.severity != "info"}
    assert left.pop("text_no_unicode") == 1
    assert (left["version_low"], left["json_broken"], left["session_missing"]) == (0, 0, 0)


def test_a_word_index_full_of_marks_is_made_anew(desk: Desk, monkeypatch: pytest.MonkeyPatch) -> None:
    desk.memory.delete_entities([f"stone {i}" for i in range(50)])
    monkeypatch.setattr(index_checks, "_GONE", 20)
    monkeypatch.setattr(index_checks, "_GONE_SHARE", 0.01)
    (found,) = desk.validate(fix=True).findings
    assert (found.kind, found.count, found.left) == ("marks_many", 100, 0)
    desk.memory.undo(desk.memory.changes(1)[0].id)
    assert "stone 7" in [hit.record.name for hit in desk.memory.search("lies 7 steps").hits]
    assert desk.validate(checks=["data_consistency"]).findings == []


def test_texts_that_wait_for_the_word_index_are_taken_in(desk: Desk, monkeypatch: pytest.MonkeyPatch) -> None:
    desk.memory.create_entities([EntityDraft(f"twig {i}", "wood", (f"burns {i}",)) for i in range(50)])
    monkeypatch.setattr(index_checks, "_UNLISTED", 90)
    (found,) = desk.validate(checks=["performance_issues"], fix=True).findings
    assert (found.kind, found.count, found.left) == ("words_behind", 100, 0)


def test_several_faults_at_once_are_all_mended(desk: Desk) -> None:
    desk.plant(
        "UPDATE memory SET tags = '{', metadata = '[', version = 0 WHERE id = :id",
        "UPDATE memory SET scope = ' / ' WHERE id = :id",
        "UPDATE project SET seq = seq - 5, texts = 0 WHERE id = 1",
        "DELETE FROM scope; DELETE FROM tag; DELETE FROM gram; DELETE FROM vector",
        "DELETE FROM session",
        **of("Harbour")(desk),
    )
    report = desk.validate(scope="system", fix=True)
    assert {one.kind: one.left for one in report.findings if one.left} == {}
    assert desk.validate(scope="system").findings == []
    assert "Harbour" in [hit.record.name for hit in desk.memory.search(TEXTS[1]).hits]


def test_every_rule_belongs_to_a_check_and_every_check_has_rules() -> None:
    assert {rule.check for rule in RULES.values()} == set(CHECKS)


def test_every_rule_has_words() -> None:
    assert set(health._WORDS) == set(RULES)


def test_what_a_change_mends_has_a_repair() -> None:
    from polymnia.engine.health.repairs import REPAIRS

    assert set(REPAIRS) == {kind for kind, rule in RULES.items() if rule.by == "change"}
