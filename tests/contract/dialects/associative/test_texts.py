"""Which texts and numbers are kept as they are, and which are refused by the name of their field."""

from __future__ import annotations

import json

import pytest

from form import each
from stdio_client import Server

from .speaking import archive, fault, found, got, kept, refused, stored


@pytest.mark.promise("associative.text.unicode")
@pytest.mark.parametrize(
    "text",
    [
        "한국어로 쓴 기억입니다",
        "👩‍👩‍👧‍👦 family 🎉",
        "مرحبا بالعالم",
        "a\u0301e\u0301",
        "tab\there\r\nline",
        "\ufeffBOM",
        "a" * 10_000,
    ],
    ids=["Korean", "emoji", "Arabic", "combining", "white space", "mark", "one long word"],
)
def test_any_text_comes_back_as_it_was(shared: Server, text: str) -> None:
    id = stored(shared, text, scope="글", tags=[text.strip()[:50]], category="분류", metadata={text[:50]: text})
    memory = got(shared, id)
    assert memory["content"] == text
    assert memory["metadata"] == {text[:50]: text}
    (record,) = [one for one in json.loads(archive(shared, scope="글"))["memories"] if one["memory_id"] == id]
    assert record["content"] == text
    assert id in found(shared, text[:60], scope="글", limit=100, similarity_threshold=0)


FIELDS = [
    ("memory_store", "content", '"%s"', {}),
    ("memory_store", "scope", '"a/%s"', {"content": "x"}),
    ("memory_store", "category", '"%s"', {"content": "x"}),
    ("memory_store", "tags[1]", '["ok","%s"]', {"content": "x"}),
    ("memory_store", "metadata.deep[0]", '{"deep":["%s"]}', {"content": "x"}),
    ("memory_search", "query", '"%s"', {}),
    ("memory_update", "content", '"%s"', {"memory_id": "x"}),
    ("memory_get", "memory_id", '"%s"', {}),
    ("memory_move", "target_scope", '"%s"', {"memory_ids": ["x"]}),
    ("scope_suggest", "content", '"%s"', {}),
    ("session_manage", "session_id", '"%s"', {"action": "create"}),
]


@pytest.mark.promise("associative.text.refused")
@each("bad", ["a\\u0000b", "a\\ud800b"])
@each(("tool", "field", "value", "more"), FIELDS)
def test_nul_and_lone_surrogates_are_refused_by_the_name_of_their_field(
    shared: Server, tool: str, field: str, value: str, more: dict[str, object], bad: str
) -> None:
    name = field.split("[")[0].split(".")[0]
    rest = json.dumps(more)[1:-1]
    arguments = f'{{"{name}":{value % bad}{"," if rest else ""}{rest}}}'
    id = shared.fresh_id()
    shared.send_line(
        f'{{"jsonrpc":"2.0","id":{id},"method":"tools/call","params":{{"name":"{tool}","arguments":{arguments}}}}}'
    )
    answer = shared.answer(id)
    assert "result" in answer, answer
    value_ = json.loads(answer["result"]["content"][0]["text"])
    if tool == "memory_get" and value_["error"] == "MEMORY_NOT_FOUND":
        return  # nothing is called so, which is just as true
    assert value_["error"] == "VALIDATION_ERROR", value_
    assert name in value_["message"]


@pytest.mark.promise("associative.text.empty")
def test_an_empty_text_is_refused(shared: Server) -> None:
    for text in ("", " ", "\n\t"):
        assert "content" in refused(shared, "memory_store", "VALIDATION_ERROR", content=text)["message"]


@pytest.mark.promise("associative.text.limit")
def test_a_text_of_five_mebibytes_is_kept_and_one_byte_more_is_refused(words: Server) -> None:
    most = 5 * 1024 * 1024
    text = (f"{'w' * 1000} " * (most // 1001 + 1))[: most - 8] + " narwhal"
    id = stored(words, text)
    assert got(words, id)["content"] == text
    assert found(words, "narwhal") == [id]
    value = refused(words, "memory_store", "VALIDATION_ERROR", content=text + "x")
    assert "content" in value["message"]
    assert "5,242,880" in value["message"]
    assert len(kept(words)) == 1


@pytest.mark.promise("associative.text.numbers")
@pytest.mark.parametrize(("number", "fits"), [(2**63 - 1, True), (-(2**63), True), (2**63, False), (10**400, False)])
def test_numbers_in_metadata_fit_64_bits_or_are_refused(shared: Server, number: int, fits: bool) -> None:
    reply = shared.call("memory_store", content=f"number {len(str(number))} {number < 0}", metadata={"n": number})
    if fits:
        assert got(shared, reply.value["memory_id"])["metadata"] == {"n": number}
    else:
        value = fault(reply)
        assert value["error"] == "VALIDATION_ERROR"
        assert "metadata" in value["message"]
