"""memory_system over a real process: project files, integrity, health and citations."""

from __future__ import annotations

import base64
import io
import json
import zipfile
from typing import Any

import pytest

from stdio_client import Place, Server

from .speaking import DECISION, done, error, get, related, stored, versions, write

FORMATS = ("json", "csv", "markdown", "zip")


def system(server: Server, operation: str, project: str | None, /, **more: Any) -> dict[str, Any]:
    """What an operation of memory_system answers."""
    given = {"operation": operation, **more}
    return done(server, "memory_system", given if project is None else {**given, "project_id": project})


def exported(server: Server, project: str, form: str = "json", /, **more: Any) -> str:
    """A project file as data."""
    return str(system(server, "export_project_data", project, format=form, **more)["data"])


def items(server: Server, project: str, /, **more: Any) -> list[dict[str, Any]]:
    """The items of a JSON export."""
    told: list[dict[str, Any]] = json.loads(exported(server, project, **more))["items"]
    return told


def imported(server: Server, project: str, data: str, form: str = "json", /, **options: Any) -> dict[str, Any]:
    """What an import answers."""
    return system(
        server, "import_project_data", project, source="a test", format=form, data=data, options=options
    )  # fmt: skip


@pytest.fixture
def filled(shared: Server, project: str) -> dict[str, str]:
    """A project with two items, a version more of one, and a relationship."""
    one = stored(
        shared, project, "# Kettle\n\nBoils — 물이 끓는다.\n---\n", content_type="text/markdown", tags=["tea"],
        metadata={"author": "Ann Lee", "n": 1.5}, summary="=1+1",
    )  # fmt: skip
    other = stored(shared, project, "The pan is flat, says ann@example.org")
    write(shared, "update_content", project, content_id=other, updates={"content": "The pan is round", "tags": ["x"]})
    related(shared, project, one, other, "describes", strength=0.5, context="why")
    return {"project": project, "one": one, "other": other}


@pytest.mark.promise("protocol.progress")
def test_the_progress_of_an_export_ends_with_all_of_it(shared: Server, filled: dict[str, str]) -> None:
    asked = {"operation": "export_project_data", "project_id": filled["project"], "format": "json"}
    number = shared.begin_call("memory_system", asked, meta={"progressToken": "export"})
    assert not shared.reply(number).failed
    reports = [
        (one["params"]["progress"], one["params"]["total"])
        for one in shared.notifications
        if one["method"] == "notifications/progress" and one["params"]["progressToken"] == "export"
    ]
    assert reports[-1] == (2, 2)
    assert reports == sorted(set(reports))


@pytest.mark.promise("content.system.round_trip")
@pytest.mark.parametrize("form", FORMATS)
def test_what_is_exported_imports_again_and_exports_as_it_was(
    shared: Server, filled: dict[str, str], form: str
) -> None:
    data = exported(shared, filled["project"], form, include={"history": True})
    copy = f"copy of {filled['project']} as {form}"
    answer = imported(shared, copy, data, form, preserve_ids=True)
    assert (answer["imported_count"], answer["relationship_count"], answer["id_mapping"]) == (2, 1, {})
    assert exported(shared, copy, form, include={"history": True}) == data
    for id in (filled["one"], filled["other"]):
        assert get(shared, copy, id) == get(shared, filled["project"], id)
    if form in ("json", "zip"):
        assert next(one["content"] for one in versions(shared, copy, filled["other"])) == "The pan is round"


@pytest.mark.promise("content.system.export")
def test_an_export_includes_what_is_asked_for(shared: Server, filled: dict[str, str]) -> None:
    project = filled["project"]
    assert all("history" not in one for one in items(shared, project))
    (before,) = next(one["history"] for one in items(shared, project, include={"history": True}) if "history" in one)
    assert before["content"] == "The pan is flat, says ann@example.org"
    assert all("content" not in one for one in items(shared, project, include={"content": False}))
    assert all("metadata" not in one for one in items(shared, project, include={"metadata": False}))
    bare = json.loads(exported(shared, project, include={"relationships": False}))
    assert bare["relationships"] == []
    assert [one["content_id"] for one in items(shared, project, filters={"tags": ["tea"]})] == [filled["one"]]
    markdown = items(shared, project, filters={"content_types": ["text/markdown"]})
    assert [one["content_id"] for one in markdown] == [filled["one"]]
    assert items(shared, project, filters={"date_range": {"end": "2001-01-01"}}) == []
    packed = system(shared, "export_project_data", project, format="json", options={"compress": True})
    assert packed["encoding"] == "base64"
    assert base64.b64decode(packed["data"])[:2] == b"\x1f\x8b"
    imported(shared, f"{project} unpacked", packed["data"])
    assert len(items(shared, f"{project} unpacked")) == 2


@pytest.mark.promise("content.system.anonymize")
def test_an_anonymized_export_names_nobody(shared: Server, project: str) -> None:
    stored(
        shared, project, "Ann Lee (ann@example.org, +82 10-1234-5678) met Ann's boss.", metadata={"author": "Ann Lee"}
    )
    stored(shared, project, "The key is AKIAIOSFODNN7EXAMPLQ", session_id=None)
    data = exported(shared, project, options={"anonymize": True})
    for told in ("Ann", "Lee", "ann@example.org", "1234-5678", "AKIAIOSFODNN7EXAMPLQ"):
        assert told not in data
    assert data.count("Person 1") >= 2


def unpacked(answer: dict[str, Any]) -> str:
    """Everything a project file holds, as text."""
    if answer["encoding"] == "utf-8":
        return str(answer["data"])
    with zipfile.ZipFile(io.BytesIO(base64.b64decode(answer["data"]))) as file:
        return "\n".join(f"{name}\n{file.read(name).decode()}" for name in file.namelist())


@pytest.mark.promise("content.system.export.without_content")
@pytest.mark.parametrize("form", FORMATS)
def test_an_export_without_content_holds_no_sentence_of_it(shared: Server, project: str, form: str) -> None:
    sentences = [
        "The kettle boils at dawn.", "Copper conducts heat well", "Lids keep the steam inside", "Why kettles matter",
        "A second silo is built", "Flour was mixed twice", "Two mills share one silo", "Keep rye and wheat apart",
        "Costs a season's profit", "An older kettle whistled at noon", "Both describe the same kettle",
        "It is about the boiling of kettles",
    ]  # fmt: skip
    extract = {"options": {"extract_metadata": True, "generate_embeddings": False}, "content_type": "text/markdown"}
    id = stored(shared, project, f"# {sentences[3]}\n\n{sentences[9]}", summary=sentences[11], tags=["tea"], **extract)
    quote = {"quote": sentences[1], "pages": 3, "deep": {"said": [f"he said: {sentences[2]}", "red"]}}
    text = f"# {sentences[3]}\n\n{' '.join(sentences[:3])}"
    write(shared, "update_content", project, content_id=id, updates={"content": text, "metadata": quote})
    decision = write(shared, "store_decision", project, **DECISION)["content_id"]
    related(shared, project, id, decision, context=sentences[10])
    found = stored(shared, project, f"As {id} says: {sentences[0]}", options={"detect_relationships": True})
    include = {"content": False, "history": True}
    options = {"include_embeddings": True}
    answer = system(shared, "export_project_data", project, format=form, include=include, options=options)
    held = unpacked(answer)
    assert [one for one in sentences if one in held] == []
    for kept in (id, decision, found, "tea", "pages", "red", "references"):
        assert kept in held
    assert answer["left_out"] == ["embeddings", "relationship contexts"]


@pytest.mark.promise("content.system.anonymize")
@pytest.mark.parametrize("form", FORMATS)
def test_an_anonymized_export_counts_what_it_replaced_in_every_field(shared: Server, project: str, form: str) -> None:
    personal = [
        "Margaret Thornbury", "Thornbury", "김서연", "@quietriver", "203.0.113.77", "GB29 NWBK 6016 1331 9268 19",
        "17 August 1983", "48 Juniper Road", "010-4821-7735", "1984-01-02", "margaret@fern.example",
    ]  # fmt: skip
    id = stored(
        shared, project, "Margaret Thornbury, born 17 August 1983, lives at 48 Juniper Road; ask @quietriver.",
        tags=["Margaret Thornbury"], summary="About Margaret Thornbury",
        metadata={"author": "Margaret Thornbury", "dob": "1984-01-02", "at": {"ip": "from 203.0.113.77"}},
    )  # fmt: skip
    write(shared, "update_content", project, content_id=id, updates={"content": "Thornbury: margaret@fern.example"})
    other = stored(shared, project, "김서연 대리 010-4821-7735, 강남구 지점. Pay GB29 NWBK 6016 1331 9268 19.")
    related(shared, project, id, other, context="Margaret Thornbury met 김서연 씨")
    given = {"include": {"history": True}, "options": {"anonymize": True}}
    answer = system(shared, "export_project_data", project, format=form, **given)
    held = unpacked(answer)
    assert [one for one in personal if one in held] == []
    assert "강남구" in held
    told = answer["anonymized"]
    assert told["best_effort"] is True
    assert "Look through the file" in told["note"]
    assert {"person", "phone", "iban", "ip", "handle", "mail", "address", "birth date"} <= set(told["replaced"])
    assert all(count > 0 for count in told["replaced"].values())
    plain = system(shared, "export_project_data", project, format=form)
    assert "anonymized" not in plain


@pytest.mark.long
@pytest.mark.promise("content.system.embeddings")
def test_an_export_may_carry_the_vectors(meaning: Server, project: str) -> None:
    stored(meaning, project, "The kettle boils", options={"generate_embeddings": True})
    (one,) = items(meaning, project, options={"include_embeddings": True})
    ((_, vectors),) = one["embeddings"].items()
    assert len(base64.b64decode(vectors[0])) == 1024
    (bare,) = items(meaning, project)
    assert "embeddings" not in bare


@pytest.mark.promise("content.system.embeddings")
def test_what_was_stored_a_moment_ago_is_exported_with_its_vectors(meaning: Server, project: str) -> None:
    stored(meaning, project, "The kettle whistles")
    (one,) = items(meaning, project, options={"include_embeddings": True})
    assert one["embeddings"]


@pytest.mark.promise("content.system.integrity")
def test_an_item_without_a_vector_is_counted_and_told(meaning: Server, project: str) -> None:
    stored(meaning, project, "The kettle is cold", options={"generate_embeddings": False})
    told = done(meaning, "memory_system", {"operation": "validate_data_integrity", "project_id": project})
    (issue,) = [one for one in told["issues"] if one["check"] == "missing_embeddings"]
    assert (issue["kind"], issue["count"]) == ("embedding_none", 1)
    assert "no vector" in told["message"]
    exported = done(
        meaning, "memory_system",
        {"operation": "export_project_data", "project_id": project, "format": "json",
         "options": {"include_embeddings": True}},
    )  # fmt: skip
    assert exported["without_embeddings"] == 1


@pytest.mark.promise("content.system.import")
def test_an_import_does_what_its_strategy_says(shared: Server, filled: dict[str, str]) -> None:
    project, one = filled["project"], filled["one"]
    told = json.loads(exported(shared, project))
    for item in told["items"]:
        if item["content_id"] == one:
            item |= {"content": "A new kettle", "tags": ["new"], "metadata": {"n": 2, "more": True}}
            item["updated_at"] = "2099-01-01T00:00:00Z"
            del item["title"]
    data = json.dumps(told)
    before = get(shared, project, one)
    assert imported(shared, project, data, merge_strategy="skip_existing", preserve_ids=True)["skipped_count"] == 2
    assert get(shared, project, one) == before
    answer = imported(shared, project, data, merge_strategy="merge", preserve_ids=True)
    assert (answer["updated_count"], answer["skipped_count"]) == (1, 1)  # of the other one nothing is new
    merged = get(shared, project, one)
    assert (merged["content"], sorted(merged["tags"])) == ("A new kettle", ["new", "tea"])
    assert merged["metadata"] == {"author": "Ann Lee", "n": 2, "more": True}
    imported(shared, project, data, merge_strategy="replace", preserve_ids=True)
    replaced = get(shared, project, one)
    assert (replaced["tags"], replaced["metadata"]) == (["new"], {"n": 2, "more": True})


@pytest.mark.promise("content.system.import")
def test_without_preserve_ids_an_import_gives_ids_of_its_own(shared: Server, filled: dict[str, str]) -> None:
    data = exported(shared, filled["project"])
    answer = imported(shared, f"{filled['project']} again", data)
    assert set(answer["id_mapping"]) == {filled["one"], filled["other"]}
    assert {one["content_id"] for one in items(shared, f"{filled['project']} again")} == set(
        answer["id_mapping"].values()
    )


@pytest.mark.promise("content.system.import.validation")
def test_nothing_is_imported_when_a_record_is_bad(shared: Server, project: str) -> None:
    data = json.dumps({"items": [{"content": "fine"}, {"content": 5}, {"title": "no text"}]})
    given = {"operation": "import_project_data", "project_id": project, "source": "x", "format": "json", "data": data}
    told = error(shared, "memory_system", given)
    assert told["code"] == 422
    assert "items[1]" in json.dumps(told["data"])
    assert "items[2]" in json.dumps(told["data"])
    assert items(shared, project) == []
    answer = imported(shared, project, data, validate_data=False)
    assert (answer["imported_count"], len(answer["validation_errors"])) == (1, 2)


@pytest.mark.promise("content.system.import")
def test_an_import_may_detect_relationships(shared: Server, project: str) -> None:
    first = stored(shared, project, "# The oven manual\n\nHow to heat it.")
    data = json.dumps({"items": [{"content": f"This follows up on {first}, see there."}]})
    answer = imported(shared, project, data, detect_relationships=True)
    assert answer["relationships_detected"] >= 1


@pytest.mark.promise("content.system.integrity")
def test_a_planted_fault_is_found_and_mended(place: Place) -> None:
    server = place.serve("content")
    id = stored(server, "atlas", "The kettle boils")
    assert system(server, "validate_data_integrity", "atlas", checks=["data_consistency"])["valid"]
    server.close_input()
    assert server.exit_code() == 0
    place.sql("UPDATE scope SET memories = 7")
    server = place.serve("content")
    found = system(server, "validate_data_integrity", "atlas", options={"detailed_report": True})
    assert not found["valid"]
    assert "data_consistency" in {one["check"] for one in found["issues"]}
    assert found["looked_at"]
    mended = system(server, "validate_data_integrity", "atlas", options={"fix_issues": True})
    assert mended["fixed"] >= 1
    assert system(server, "validate_data_integrity", "atlas", checks=["data_consistency"])["valid"]
    assert get(server, "atlas", id)["content"] == "The kettle boils"


@pytest.mark.promise("content.system.integrity")
def test_a_check_of_the_system_needs_no_project_and_one_of_a_session_needs_a_session(shared: Server) -> None:
    assert system(shared, "validate_data_integrity", None, scope="system")["scope"] == "system"
    told = error(
        shared, "memory_system", {"operation": "validate_data_integrity", "scope": "session", "project_id": "p"}
    )
    assert (told["code"], told["data"]["details"]["field"]) == (422, "session_id")


@pytest.mark.promise("content.system.import.dropped")
def test_what_an_import_does_not_take_is_counted_and_named(shared: Server, project: str) -> None:
    document = {
        "items": [
            {"content_id": "a", "content": "A kettle", "embeddings": {"m": ["AAAA"]}},
            {"content_id": "b"}, {"content_id": "c"},
        ],
        "relationships": [{"source_id": "a", "target_id": "z", "type": "cites"}],
        "theme": "dark",
    }  # fmt: skip
    answer = imported(shared, project, json.dumps(document), validate_data=False)
    assert (answer["imported_count"], answer["relationship_count"]) == (1, 0)
    assert answer["dropped"] == {
        "items: content is missing": 2,
        "relationships: an end is not in the file": 1,
        "embeddings: vectors are made anew from the texts": 1,
        "'theme' is no part of a project file": 1,
    }
    chat = json.dumps({"title": "Tea", "mapping": {}})
    given = {"operation": "import_project_data", "project_id": project, "source": "x", "format": "json", "data": chat}
    assert "its keys are 'title', 'mapping'" in json.dumps(error(shared, "memory_system", given))


@pytest.mark.promise("content.system.health_all")
def test_health_without_a_project_counts_all_projects(place: Place) -> None:
    server = place.serve("content", environment={"POLYMNIA_EMBEDDER": "use"})
    embed = {"options": {"generate_embeddings": True}}
    ids = [stored(server, "atlas", f"Atlas holds up the sky, part {n}", **embed) for n in range(2)]
    related(server, "atlas", *ids)
    stored(server, "borealis", "A light in the north", **embed)

    def figures(project: str | None) -> dict[str, int]:
        parts = system(server, "check_system_health", project, detailed=True)["health"]["components"]
        metrics = parts["database"]["metrics"] | parts["vector_store"]["metrics"]
        return {name: metrics[name] for name in ("memories", "relationships", "vectors", "pending")}

    assert figures(None) == {"memories": 3, "relationships": 1, "vectors": 3, "pending": 0}
    assert figures("atlas") == {"memories": 2, "relationships": 1, "vectors": 2, "pending": 0}
    assert figures("nothing here") == {"memories": 0, "relationships": 0, "vectors": 0, "pending": 0}


@pytest.mark.promise("content.system.health")
def test_health_is_found_out_by_using_every_part(shared: Server) -> None:
    health = system(shared, "check_system_health", None, detailed=True)["health"]
    assert set(health["components"]) == {"database", "vector_store", "ai_service", "cache"}
    assert health["status"] == "healthy"
    assert health["components"]["database"]["metrics"]["read_ms"] >= 0
    assert set(health["performance"]) >= {"response_time", "throughput", "error_rate"}
    assert health["resources"]["connection_count"] >= 1
    only = system(shared, "check_system_health", None, components=["cache"])["health"]
    assert set(only["components"]) == {"cache"}


@pytest.mark.long
@pytest.mark.promise("content.system.health")
def test_a_store_is_healthy_however_few_and_far_its_memories_are(place: Place) -> None:
    server = place.serve("content", "--embedder", "use")
    for text in ("Deploys are on Monday.", "Invoices are sent monthly.", "# 회의록"):
        stored(server, "atlas", text, options={"generate_embeddings": True})
        health = system(server, "check_system_health", "atlas", detailed=True)["health"]
        assert health["components"]["vector_store"]["metrics"]["found"] == 1, health
        assert health["status"] == "healthy", health


@pytest.mark.promise("content.system.health")
def test_a_broken_embedder_shows_and_errors_are_counted(place: Place) -> None:
    server = place.serve(
        "content", "--embedder", "ollama:none", "--embedder-url", "http://127.0.0.1:9", "--embedder-timeout", "1"
    )
    error(server, "memory_retrieve", {"operation": "get_content", "project_id": "p", "content_id": "nobody"})
    health = system(server, "check_system_health", None)["health"]
    assert health["performance"]["error_rate"] == 0  # what is refused is no error of the server
    semantic = {"operation": "search_content", "project_id": "p", "query": "tea", "query_type": "semantic"}
    assert error(server, "memory_retrieve", semantic)["code"] == 502
    health = system(server, "check_system_health", None)["health"]
    assert health["components"]["ai_service"]["status"] == "unhealthy"
    assert health["status"] == "unhealthy"
    assert health["performance"]["error_rate"] > 0


@pytest.mark.promise("content.system.citation")
@pytest.mark.parametrize("style", ["apa", "mla", "chicago", "ieee", "harvard"])
def test_an_item_is_cited_in_every_style(shared: Server, project: str, style: str) -> None:
    id = stored(shared, project, "# On kettles\n\nThey boil.", metadata={"author": "Ann Lee", "date": "2024-05-01"})
    cited = system(shared, "generate_citation", project, content_id=id, style=style)
    assert "Lee" in cited["citation"]
    assert "kettles" in cited["citation"].casefold()
    assert "2024" in cited["citation"]
    assert "permalink" not in cited
    linked = system(
        shared, "generate_citation", project, content_id=id, style=style,
        options={"include_permalink": True, "include_access_date": True},
    )  # fmt: skip
    assert id in linked["citation"]
    assert linked["access_date"][:4] in linked["citation"]


@pytest.mark.promise("content.system.citation.permalink")
def test_a_permalink_can_be_read(shared: Server) -> None:
    for project, session in (("atlas", None), ("a/b? c", None), ("지도 책", "회의 1")):
        given = {} if session is None else {"session_id": session}
        id = stored(shared, project, f"# On kettles in {project}", **given)
        cited = system(
            shared, "generate_citation", project, content_id=id, options={"include_permalink": True}, **given
        )  # fmt: skip
        assert cited["permalink"] in cited["citation"]
        (content,) = shared.request("resources/read", {"uri": cited["permalink"]})["contents"]
        shown = json.loads(content["text"])
        assert (shown["content_id"], shown["content"]) == (id, f"# On kettles in {project}")
        gone = cited["permalink"].replace(id, "content_0")
        assert "Resource not found" in shared.refusal("resources/read", {"uri": gone})["message"]
    patterns = [one["uriTemplate"] for one in shared.request("resources/templates/list")["resourceTemplates"]]
    assert patterns == ["polymnia://project/{+address}"]


@pytest.mark.promise("content.errors.documented")
def test_the_documentation_an_error_names_can_be_read(shared: Server, project: str) -> None:
    id = stored(shared, project, "there")
    told = [
        error(shared, "memory_store", {"operation": "store_content", "content": "no project"}),
        error(shared, "memory_store", {"operation": "stor_content", "project_id": project}),
        error(shared, "memory_store", {"operation": "update_content", "project_id": project, "content_id": id,
                                       "updates": {}}),
        error(shared, "memory_system", {"operation": "import_project_data", "project_id": project, "source": "x",
                                        "format": "json", "data": "{}"}),
        error(shared, "memory_system", {"operation": "check_system_health", "components": ["disk"]}),
    ]  # fmt: skip
    addresses = {one["data"]["documentation_url"] for one in told}
    assert addresses == {"polymnia://docs/errors", "polymnia://docs/parameters"}
    pages = {}
    for address in addresses:
        (content,) = shared.request("resources/read", {"uri": address})["contents"]
        assert content["mimeType"] == "text/markdown"
        pages[address] = content["text"]
    for one in told:
        assert f"| {one['code']} | `{one['data']['error_type']}` |" in pages["polymnia://docs/errors"]
    for words in (
        "### store_content",
        "| `options.delete_relationships` | boolean | no |",
        "| `content` | string | yes |",
    ):
        assert words in pages["polymnia://docs/parameters"]
    stored(shared, project, "one", request_id="r")
    again = {"operation": "store_content", "project_id": project, "content": "two", "request_id": "r"}
    assert error(shared, "memory_store", again)["data"]["documentation_url"] in addresses
    listed = {one["uri"] for one in shared.request("resources/list")["resources"]}
    assert addresses <= listed


@pytest.mark.promise("content.system.citation")
def test_journals_and_east_asian_names_are_cited_as_they_are(shared: Server, project: str) -> None:
    metadata = {"authors": ["Kim Min-su", "김영희", {"family": "Park", "given": "Ji-young"}], "journal": "J. of Graphs"}
    id = stored(shared, project, "# On kettles", metadata={**metadata, "year": 2024})
    for style in ("apa", "mla", "chicago", "ieee", "harvard"):
        cited = system(shared, "generate_citation", project, content_id=id, style=style)
        assert "J. of Graphs" in cited["citation"], cited["citation"]
        assert cited["citation"].startswith(("Kim", "M. Kim", "[1] M. Kim")), cited["citation"]
        assert {"family": "Kim", "given": "Min-su"} in cited["csl"]["author"]
    assert "Kim, M.," in system(shared, "generate_citation", project, content_id=id)["citation"]


@pytest.mark.promise("content.system.import")
def test_a_file_of_the_export_folder_is_imported(place: Place) -> None:
    server = place.serve("content")
    exports = place.folder / "exports" if stored(server, "atlas", "here") else None
    assert exports is not None
    exports.mkdir()
    (exports / "kettles.md").write_text("# Kettle\n\nIt boils.\n", encoding="utf-8")
    answer = system(server, "import_project_data", "atlas", source="kettles.md", format="markdown")
    assert answer["imported_count"] == 1
    for source in ("nobody.json", "../memory.db"):
        given = {"operation": "import_project_data", "project_id": "atlas", "source": source, "format": "json"}
        assert error(server, "memory_system", given)["code"] == 422


@pytest.mark.promise("content.system.import")
def test_an_import_may_make_the_vectors_at_once_or_never(meaning: Server, project: str) -> None:
    data = json.dumps({"items": [{"content": "The kettle boils water"}]})
    imported(meaning, project, data, generate_embeddings=True)
    assert "embeddings" in items(meaning, project, options={"include_embeddings": True})[0]
    imported(meaning, f"{project} bare", data, generate_embeddings=False)
    (bare,) = items(meaning, f"{project} bare", options={"include_embeddings": True})
    assert not bare.get("embeddings")


@pytest.mark.promise("content.system.requests")
def test_the_request_is_in_the_log(place: Place) -> None:
    server = place.serve("content", "--log-level", "info")
    stored(server, "atlas", "kettle", request_id="r-17")
    server.close_input()
    assert server.exit_code() == 0
    assert "store_content: request 'r-17'" in server.complaints()


@pytest.mark.promise("content.system.round_trip")
def test_versions_that_were_imported_are_read_and_can_be_forgotten(shared: Server, filled: dict[str, str]) -> None:
    copy, other = f"copy of {filled['project']}", filled["other"]
    imported(shared, copy, exported(shared, filled["project"], include={"history": True}), preserve_ids=True)
    told = [(one["version"], one["content"]) for one in versions(shared, copy, other)]
    assert told == [(2, "The pan is round"), (1, "The pan is flat, says ann@example.org")]
    updates = {"content": "The pan is square"}
    write(shared, "update_content", copy, content_id=other, updates=updates, options={"preserve_previous": False})
    assert [one["content"] for one in versions(shared, copy, other)] == ["The pan is square"]
    assert "flat" not in exported(shared, copy, include={"history": True})


@pytest.mark.promise("content.delete.bytes")
def test_what_was_deleted_softly_can_still_be_deleted_for_good(shared: Server, project: str) -> None:
    id = stored(shared, project, "A quagmire")
    write(shared, "delete_content", project, content_id=id)
    assert write(shared, "delete_content", project, content_id=id, options={"hard": True})["hard"]
    given = {"operation": "delete_content", "project_id": project, "content_id": id, "options": {"hard": True}}
    assert error(shared, "memory_store", given)["code"] == 404
