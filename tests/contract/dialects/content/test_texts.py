"""What texts may hold: every language, nothing illegal, and credentials as the setting says."""

from __future__ import annotations

from typing import Any

import pytest

from stdio_client import Place, Server

from .speaking import DECISION, bytes_of, find, found, get, read, refused, restarted, stored, told, write


@pytest.mark.promise("content.secrets.flag")
def test_a_credential_is_stored_and_told_of(shared: Server, project: str) -> None:
    key = "AKIAIOSFODNN7EXAMPLQ"
    answer = write(shared, "store_content", project, content=f"The bucket opens with {key} only")
    (warning,) = answer["warnings"]
    (finding,) = warning["findings"]
    assert (warning["type"], finding["kind"]) == ("possible_credentials", "aws_access_key")
    assert key not in str(answer)
    text = get(shared, project, answer["content_id"])["content"]
    assert text[finding["start"] : finding["end"]] == key
    update = write(shared, "update_content", project, content_id=answer["content_id"], updates={"content": f"{key}!"})
    assert update["warnings"]
    decision = write(shared, "store_decision", project, **{**DECISION, "rationale": f"It was {key}"})
    assert decision["warnings"]
    assert "warnings" not in write(shared, "store_content", project, content="The bucket is made of tin")


@pytest.mark.promise("content.secrets.redact")
def test_a_server_may_take_credentials_out(place: Place) -> None:
    server = place.serve("content", "--secrets", "redact")
    key = "AKIAIOSFODNN7EXAMPLQ"
    id = stored(server, "atlas", f"The bucket opens with {key} only", summary=f"about {key}", metadata={"key": key})
    shown = get(server, "atlas", id)
    assert shown["content"].startswith("The bucket opens with ")
    write(server, "update_content", "atlas", content_id=id, updates={"content": f"Now with {key}"})
    write(server, "store_decision", "atlas", **{**DECISION, "rationale": f"It was {key}"})
    assert key not in str(read(server, "search_content", "atlas", query="bucket now silo"))
    restarted(place, server)
    for name, data in bytes_of(place).items():
        assert key.encode() not in data, name


@pytest.mark.promise("content.secrets.refuse")
def test_a_server_may_refuse_credentials(place: Place) -> None:
    server = place.serve("content", "--secrets", "refuse")
    key = "AKIAIOSFODNN7EXAMPLQ"
    id = stored(server, "atlas", "harmless")
    for operation, more in (
        ("store_content", {"content": f"with {key}"}),
        ("store_content", {"content": "harmless", "summary": f"with {key}"}),
        ("store_content", {"content": "harmless", "metadata": {"key": key}}),
        ("store_content", {"content": "harmless", "metadata": {"a": [{"b": key}]}}),
        ("store_content", {"content": "harmless", "tags": [key]}),
        ("update_content", {"content_id": id, "updates": {"content": f"with {key}"}}),
        ("update_content", {"content_id": id, "updates": {"summary": key}}),
        ("update_content", {"content_id": id, "updates": {"metadata": {"k": key}}}),
        ("create_relationship", {"source_id": id, "target_id": id, "type": "cites", "context": key}),
        ("store_decision", {**DECISION, "context": f"with {key}"}),
    ):
        fault = refused(server, operation, 403, "atlas", **more)
        assert key not in str(fault)
        assert "credential" in fault["message"]
    assert len(told(place, "atlas", "changes")) == 1


TEXTS = [
    "서울의 김치찌개는 맵다",
    "🦊 jumps over 🐕‍🦺",
    "e\u0301 and \u00e9",
    "עברית مع العربية",
    "tab\tand\r\nlines\n",
]


@pytest.mark.promise("content.text.unicode")
@pytest.mark.parametrize("text", TEXTS)
def test_texts_of_every_language_come_back_as_they_were(shared: Server, project: str, text: str) -> None:
    given = {"summary": text, "tags": [text.strip()], "metadata": {text: [text]}}
    shown = get(shared, project, stored(shared, project, text, **given))
    assert shown["content"] == text
    assert {key: shown[key] for key in given} == given


@pytest.mark.promise("content.text.unicode")
def test_korean_is_found_without_its_particles(shared: Server, project: str) -> None:
    id = stored(shared, project, "회의는 서울에서 열렸고 예산을 확정했다")
    stored(shared, project, "부산의 날씨가 맑다")
    for query in ("서울", "회의", "예산"):
        assert found(shared, project, query) == [id], query
    (hit,) = find(shared, project, "서울", options={"include_highlights": True})["results"]
    assert any("**서울" in one for one in hit["highlights"])


@pytest.mark.promise("content.text.illegal")
def test_nul_is_refused_by_the_name_of_its_field(shared: Server, project: str) -> None:
    id, bad = stored(shared, project, "good"), "a\0b"
    for operation, more, field in (
        ("store_content", {"content": bad}, "content"),
        ("store_content", {"content": "x", "summary": bad}, "summary"),
        ("store_content", {"content": "x", "content_type": bad}, "content_type"),
        ("store_content", {"content": "x", "tags": ["a", bad]}, "tags[1]"),
        ("update_content", {"content_id": id, "updates": {"content": bad}}, "updates.content"),
        ("update_content", {"content_id": id, "updates": {"summary": bad}}, "updates.summary"),
        ("store_decision", {**DECISION, "title": bad}, "title"),
        ("store_decision", {**DECISION, "rationale": bad}, "rationale"),
        ("store_decision", {**DECISION, "stakeholders": [bad]}, "stakeholders[0]"),
        ("create_relationship", {"source_id": id, "target_id": id, "type": "cites", "context": bad}, "context"),
        ("search_content", {"query": bad}, "query"),
        ("find_similar_content", {"content": bad}, "content"),
    ):
        fault = refused(shared, operation, 422, project, **more)
        assert fault["data"]["details"]["field"] == field, (operation, fault)
    for more in ({"metadata": {"k": bad}}, {"metadata": {bad: 1}}):
        fault = refused(shared, "store_content", 422, project, content="x", **more)
        assert fault["data"]["details"]["field"].startswith("metadata")
    assert found(shared, project, "good") == [id]


@pytest.mark.promise("content.text.illegal")
def test_nul_in_the_standard_parameters_is_refused_too(shared: Server, project: str) -> None:
    for field in ("session_id", "user_id", "request_id"):
        fault = refused(shared, "store_content", 422, project, content="x", **{field: "a\0b"})
        assert fault["data"]["details"]["field"] == field, fault
    assert refused(shared, "store_content", 422, "a\0b", content="x")["data"]["details"]["field"] == "project_id"


@pytest.mark.promise("content.text.illegal")
def test_a_lone_surrogate_is_refused_by_the_name_of_its_field(place: Place) -> None:
    server = place.serve("content")
    for field, rest in (("content", ""), ("summary", ',"content":"x"')):
        answer = server.exchange(
            '{"jsonrpc":"2.0","id":"raw","method":"tools/call","params":{"name":"memory_store","arguments":'
            f'{{"operation":"store_content","project_id":"atlas","{field}":"a\\ud800b"{rest}}}}}}}'
        )
        assert answer["error"]["code"] == 422
        assert answer["error"]["data"]["details"]["field"] == field, answer
    assert find(server, "atlas", "a")["total"] == 0


@pytest.mark.long
@pytest.mark.promise("content.text.limit")
def test_a_text_of_five_mebibytes_is_kept_and_one_more_byte_is_refused(words: Server) -> None:
    most = 5 << 20
    id = stored(words, "atlas", "word " * (most // 5), options={"generate_embeddings": False})
    assert len(get(words, "atlas", id)["content"]) == most
    fault = refused(words, "store_content", 422, "atlas", content="x" * (most + 1))
    assert "content" in str(fault["data"]["details"])
    assert find(words, "atlas", "word")["total"] == 1


@pytest.mark.long
@pytest.mark.promise("content.text.items")
@pytest.mark.parametrize(
    ("field", "given"),
    [
        ("tags", ["tag"] * 10_001),
        ("metadata.notes", {"notes": ["note"] * 10_001}),
        ("metadata", {f"key {i}": "note" for i in range(10_001)}),
    ],
)
def test_more_than_ten_thousand_texts_beside_the_text_are_refused(words: Server, field: str, given: Any) -> None:
    fault = refused(words, "store_content", 422, "atlas", content="quagga", **{field.split(".")[0]: given})
    assert "10,000" in str(fault["data"]), fault
    assert fault["data"]["details"]["field"] == field
    assert find(words, "atlas", "quagga")["total"] == 0


@pytest.mark.promise("content.text.items")
def test_numbers_in_metadata_are_not_counted(words: Server) -> None:
    series = [i / 8 for i in range(20_000)]
    id = stored(words, "atlas", "a series", metadata={"series": series})
    assert get(words, "atlas", id)["metadata"]["series"] == series


@pytest.mark.promise("content.text.limit")
def test_metadata_over_five_mebibytes_is_refused(words: Server) -> None:
    fault = refused(words, "store_content", 422, "atlas", content="quagga", metadata={"series": [0.125] * 900_000})
    assert fault["data"]["details"]["field"] == "metadata", fault
    assert find(words, "atlas", "quagga")["total"] == 0
