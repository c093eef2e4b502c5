"""Export and import: both formats, every strategy, and nothing lost on the way."""

from __future__ import annotations

import json

import pytest
import yaml

from stdio_client import Place, Server, entity, relation

from .speaking import archive, contents, found, got, imported, kept, linked, refused, scopes, stored, told

FORMATS = [("json", False), ("json", True), ("yaml", False), ("yaml", True)]
NAMES = ["json", "json gzip", "yaml", "yaml gzip"]


@pytest.fixture(scope="module")
def full(module_place: Place) -> Server:
    """A store with memories of every sort; nobody changes it."""
    server = module_place.serve("all")
    stored(server, "the golden lantern of the lighthouse", scope="work/a", tags=["yes", "1e3"], category="no",
           metadata={"n": 1, "f": 0.5, "none": None, "deep": {"list": [True, "2025-07-10"]}})  # fmt: skip
    stored(server, "the golden lantern of the lighthouse again", scope="work/a/b")
    stored(server, "한국어 메모 🎉\nzweite Zeile: # kein Kommentar", scope="개인/메모")
    stored(server, "a thought of the session", scope="session/s1")
    people = [entity("Ann", "likes tea", "likes\nmilk", type="person"), entity("Bob", "x")]
    server.call("create_entities", entities=people)
    server.call("create_relations", relations=[relation("Ann", "knows", "Bob")])
    id = stored(server, "changed once", scope="work")
    server.call("memory_update", memory_id=id, content="changed indeed")
    return server


def fresh(place: Place, *arguments: str) -> Server:
    """A server on a store of its own that shares the export folder."""
    number = len(list(place.folder.glob("other-*.db")))
    return place.serve("all", *arguments, environment={"POLYMNIA_STORE": str(place.folder / f"other-{number}.db")})


@pytest.mark.promise("associative.archives.round_trip")
@pytest.mark.parametrize(("form", "gzip"), FORMATS, ids=NAMES)
def test_what_is_exported_to_a_file_imports_again_with_nothing_lost(
    module_place: Place, full: Server, form: str, gzip: bool
) -> None:
    name = f"round-trip.{form}{'.gz' if gzip else ''}"
    done = full.call("memory_export", file_path=name, export_format=form, compression=gzip).value
    other = fresh(module_place)
    back = imported(other, file_path=name)
    assert back["imported_count"] == done["exported_count"] == len(kept(full))
    assert (back["skipped_count"], back["overwritten_count"], back["validation_errors"]) == (0, 0, [])
    again = other.call("memory_export", file_path=f"again-{name}", export_format=form, compression=gzip).value
    first, second = (module_place.folder / "exports" / file for file in (name, f"again-{name}"))
    assert second.read_bytes() == first.read_bytes()
    assert again["associations_count"] == done["associations_count"] > 1
    for memory in kept(full):
        assert got(other, memory["memory_id"]) == got(full, memory["memory_id"])
    assert scopes(other) == scopes(full)
    assert other.graph() == full.graph()
    sessions = other.call("session_manage", action="list").value["sessions"]
    assert [(one["session_id"], one["memory_count"]) for one in sessions] == [("s1", 1)]
    assert found(other, "golden lantern") == found(full, "golden lantern")


@pytest.mark.promise("associative.archives.inline")
@pytest.mark.parametrize(("form", "gzip"), FORMATS, ids=NAMES)
def test_what_is_exported_in_the_answer_imports_again(place: Place, full: Server, form: str, gzip: bool) -> None:
    data = archive(full, export_format=form, compression=gzip)
    other = place.serve("associative")
    back = imported(other, import_data=data)
    assert back["imported_count"] == len(kept(full))
    assert archive(other, export_format=form, compression=gzip) == data


@pytest.mark.promise("associative.archives.yaml")
def test_yaml_is_yaml_and_says_the_same_as_json(full: Server) -> None:
    as_yaml, as_json = archive(full, export_format="yaml"), archive(full)
    assert yaml.safe_load(as_yaml) == json.loads(as_json)
    assert not as_yaml.lstrip().startswith("{")


@pytest.mark.promise("associative.archives.scope")
def test_an_export_of_a_scope_holds_what_is_in_it_and_below_and_the_links_between(full: Server) -> None:
    told = json.loads(archive(full, scope="work/a"))
    assert [one["scope"] for one in told["memories"]] == ["work/a", "work/a/b"]
    ids = {one["memory_id"] for one in told["memories"]}
    assert told["associations"]
    assert all({one["source"], one["target"]} <= ids for one in told["associations"])
    assert told["scope"] == "work/a"
    nothing = full.call("memory_export", scope="no/such/scope").value
    assert (nothing["exported_count"], json.loads(nothing["export_data"])["memories"]) == (0, [])


@pytest.mark.promise("associative.archives.associations")
def test_associations_are_exported_unless_one_says_no(place: Place, full: Server) -> None:
    other = place.serve("associative")
    imported(other, import_data=archive(full, include_associations=False))
    assert all(linked(other, one["memory_id"]) == [] for one in kept(other))
    value = imported(other, import_data=archive(full))
    assert value["associations_count"] == len(json.loads(archive(full))["associations"])
    assert linked(other, "Ann") == linked(full, "Ann")


@pytest.mark.promise("associative.archives.reads")
def test_an_export_changes_nothing(place: Place, words: Server) -> None:
    stored(words, "stays")
    before = told(place, "changes")
    first = archive(words)
    words.call("memory_export", file_path="x.json")
    assert archive(words) == first
    assert told(place, "changes") == before


@pytest.mark.promise("associative.archives.replaces")
def test_an_export_to_a_name_that_is_taken_replaces_the_file_whole(place: Place, words: Server) -> None:
    stored(words, "one " * 100)
    words.call("memory_export", file_path="x.json")
    words.call("memory_export", file_path="x.json", scope="nowhere")
    file = place.folder / "exports" / "x.json"
    assert json.loads(file.read_text())["memories"] == []
    assert [path.name for path in file.parent.iterdir()] == ["x.json"]


@pytest.mark.promise("associative.archives.folder")
def test_the_folder_of_exports_is_a_setting(place: Place) -> None:
    server = place.serve("associative", "--export-dir", str(place.folder / "somewhere"))
    stored(server, "exported elsewhere")
    server.call("memory_export", file_path="x.json")
    assert (place.folder / "somewhere" / "x.json").exists()
    assert imported(server, file_path="x.json")["skipped_count"] == 1


# What happens to memories that are there already


@pytest.fixture
def two(words: Server) -> tuple[Server, str, str]:
    """A server with two memories, and an archive that has the first as it was before, otherwise, and a third."""
    one = stored(words, "the old text", scope="s", tags=["a", "b"], metadata={"k": "old", "o": 1}, category="c")
    stored(words, "the other text", scope="s")
    record = {"memory_id": one, "content": "the new text", "scope": "t", "tags": ["b", "z"], "metadata": {"k": "new"},
              "created_at": "2025-07-10T05:30:00.000Z", "updated_at": "2025-07-11T05:30:00Z", "version": 7}  # fmt: skip
    data = json.dumps(
        {"memories": [record, {"content": "the other text", "scope": "s"}, {"content": "the third text", "scope": "s"}]}
    )
    return words, one, data


@pytest.mark.promise("associative.import.skip_duplicates")
def test_skip_duplicates_keeps_what_is_there(two: tuple[Server, str, str]) -> None:
    server, one, data = two
    before = got(server, one)
    value = imported(server, import_data=data, merge_strategy="skip_duplicates")
    assert (value["imported_count"], value["skipped_count"], value["overwritten_count"]) == (1, 2, 0)
    assert value["imported_scopes"] == ["s"]
    assert got(server, one) == before
    assert contents(server) == ["the old text", "the other text", "the third text"]
    again = imported(server, import_data=data)
    assert (again["imported_count"], again["skipped_count"]) == (0, 3)
    assert len(kept(server)) == 3


@pytest.mark.promise("associative.import.overwrite")
def test_overwrite_makes_the_memory_as_it_is_in_the_archive(place: Place, two: tuple[Server, str, str]) -> None:
    server, one, data = two
    value = imported(server, import_data=data, merge_strategy="overwrite")
    assert (value["imported_count"], value["skipped_count"], value["overwritten_count"]) == (1, 0, 2)
    memory = got(server, one)
    assert (memory["content"], memory["scope"], memory["tags"]) == ("the new text", "t", ["b", "z"])
    assert (memory["metadata"], memory["category"], memory["version"]) == ({"k": "new"}, None, 7)
    assert memory["created_at"].startswith("2025-07-10T05:30:00")
    assert memory["updated_at"].startswith("2025-07-11T05:30:00")
    assert found(server, "new text", scope="t") == [one]
    assert "the old text" in json.dumps(told(place, "history", one))


@pytest.mark.promise("associative.import.create_versions")
def test_create_versions_adds_a_version_and_the_one_before_stays(place: Place, two: tuple[Server, str, str]) -> None:
    server, one, data = two
    created = got(server, one)["created_at"]
    value = imported(server, import_data=data, merge_strategy="create_versions")
    assert (value["imported_count"], value["skipped_count"], value["overwritten_count"]) == (1, 0, 2)
    memory = got(server, one)
    assert (memory["content"], memory["tags"], memory["version"]) == ("the new text", ["b", "z"], 2)
    assert memory["updated_at"] > created
    events = told(place, "history", one)
    assert [event["version"] for event in events if event["version"]] == [1, 2]
    assert events[-1]["removed"] == ["the old text"]


@pytest.mark.promise("associative.import.merge_metadata")
def test_merge_metadata_keeps_the_text_and_unites_tags_and_metadata(two: tuple[Server, str, str]) -> None:
    server, one, data = two
    value = imported(server, import_data=data, merge_strategy="merge_metadata")
    assert (value["imported_count"], value["skipped_count"], value["overwritten_count"]) == (1, 0, 2)
    memory = got(server, one)
    assert (memory["content"], memory["scope"], memory["category"]) == ("the old text", "s", "c")
    assert memory["tags"] == ["a", "b", "z"]
    assert memory["metadata"] == {"k": "new", "o": 1}


@pytest.mark.promise("associative.import.same_text")
def test_the_same_text_in_the_same_scope_is_the_same_memory_and_in_another_it_is_not(words: Server) -> None:
    one = stored(words, "known here", scope="a")
    data = json.dumps({
        "memories": [
            {"memory_id": "m1", "content": "known here", "scope": "a"},
            {"memory_id": "m2", "content": "known here", "scope": "b"},
        ],
        "associations": [{"source": "m1", "target": "m2", "type": "next to"}],
    })  # fmt: skip
    value = imported(words, import_data=data)
    assert (value["imported_count"], value["skipped_count"], value["associations_count"]) == (1, 1, 1)
    assert linked(words, one) == ["m2"]


@pytest.mark.promise("associative.import.graph")
def test_an_entity_of_the_same_name_is_the_same_memory(place: Place) -> None:
    server = place.serve("all")
    server.call("create_entities", entities=[entity("Ann", "likes tea")])
    data = json.dumps({"memories": [{"name": "Ann", "kind": "person", "observations": ["likes coffee"]}]})
    assert imported(server, import_data=data)["skipped_count"] == 1
    assert imported(server, import_data=data, merge_strategy="overwrite")["overwritten_count"] == 1
    assert server.graph()["entities"][0]["observations"] == ["likes coffee"]


@pytest.mark.promise("associative.import.prefix")
@pytest.mark.parametrize("prefix", ["imported/", "imported", " imported /"])
def test_a_prefix_is_put_before_every_scope(words: Server, prefix: str) -> None:
    data = '{"memories": [{"content": "a", "scope": "work/x"}, {"content": "b"}]}'
    value = imported(words, import_data=data, target_scope_prefix=prefix)
    assert value["imported_scopes"] == ["imported/user/default", "imported/work/x"]
    assert scopes(words)["imported"]["total_memory_count"] == 2


@pytest.mark.promise("associative.import.prefix")
def test_a_prefix_that_makes_a_path_too_deep_or_is_none_is_refused(words: Server) -> None:
    deep = json.dumps({"memories": [{"content": "a", "scope": "/".join("abcdefghij")}]})
    value = refused(words, "memory_import", "IMPORT_ERROR", import_data=deep, target_scope_prefix="x")
    assert value["data"]["validation_errors"][0].startswith("memories[0]")
    refused(words, "memory_import", "VALIDATION_ERROR", import_data=deep, target_scope_prefix="a/../b")
    assert kept(words) == []


@pytest.mark.promise("associative.import.seed_shape")
def test_archives_of_other_makers_are_read_when_they_say_the_same(words: Server) -> None:
    data = """
# written by hand
memories:
  - content: a first text
    scope: hand/made
    tags: [yes, 007]
  - content: |
      two
      lines
"""
    value = imported(words, import_data=data)
    assert value["imported_count"] == 2
    assert value["import_source"] == "direct"
    assert kept(words)[1]["tags"] == ["yes", "007"]
    bare = '[{"content": "in a bare list"}]'
    assert imported(words, import_data=bare)["imported_count"] == 1


@pytest.mark.promise("associative.import.undo")
@pytest.mark.parametrize("strategy", ["skip_duplicates", "overwrite", "create_versions", "merge_metadata"])
def test_one_undo_takes_a_whole_import_back(place: Place, two: tuple[Server, str, str], strategy: str) -> None:
    server, one, data = two
    before = got(server, one)
    imported(server, import_data=data, merge_strategy=strategy)
    told(place, "undo")
    after = got(server, one)
    for part in ("content", "scope", "tags", "metadata", "category", "created_at"):
        assert after[part] == before[part]
    assert contents(server) == ["the old text", "the other text"]
    assert scopes(server).keys() == {"s"}
    assert found(server, "third text", similarity_threshold=0.3) == []


@pytest.mark.promise("associative.archives.progress")
def test_progress_is_told_to_clients_that_ask(words: Server) -> None:
    data = json.dumps({"memories": [{"content": f"text number {number}"} for number in range(3000)]})
    for tool, arguments in (
        ("memory_import", {"import_data": data}),
        ("memory_export", {"file_path": "x.json"}),
    ):
        call = words.begin_call(tool, arguments, meta={"progressToken": tool})
        assert not words.reply(call).failed
        reports = [n["params"] for n in words.notifications if n["method"] == "notifications/progress"]
        reports = [one for one in reports if one["progressToken"] == tool]
        steps = [one["progress"] for one in reports]
        assert steps, tool
        assert steps == sorted(set(steps)), "progress only grows"
        assert not [one for one in reports[:-1] if one.get("total") == one["progress"]], "only the last one is the end"
    silent = len(words.notifications)
    words.call("memory_export", file_path="y.json")
    assert not [n for n in words.notifications[silent:] if n["method"] == "notifications/progress"]


@pytest.mark.promise("associative.archives.large")
def test_an_archive_too_large_for_an_answer_is_refused_with_a_way_out(place: Place) -> None:
    server = place.serve("associative", environment={"POLYMNIA_MAX_MESSAGE_BYTES": "100000"})
    for number in range(4):
        stored(server, f"{number} {'long ' * 2000}")
    value = refused(server, "memory_export", "EXPORT_ERROR")
    assert "file_path" in value["message"]
    assert not server.call("memory_export", file_path="x.json").failed
    assert not server.call("memory_export", compression=True).failed
