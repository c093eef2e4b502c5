"""Where the client can ask its user or its model, the native dialect lets it."""

from __future__ import annotations

import pytest

from stdio_client import Place, Server

from .speaking import ids, text

TURNS = [
    {"role": "Ann", "text": "Hello! From now on please write all dates as day-month-year."},
    {"role": "assistant", "text": "Sure, will do."},
]


@pytest.fixture(scope="module")
def transport() -> str:
    """Questions go over the pipes here; tests/network has the others."""
    return "stdio"


@pytest.fixture
def asking(place: Place) -> Server:
    """A server whose client can ask its user and its model."""
    server = place.start("--dialect", "native")
    server.initialize(capabilities={"elicitation": {}, "sampling": {}})
    return server


@pytest.mark.promise("native.forget.for_good")
@pytest.mark.parametrize(
    ("answer", "deleted"),
    [
        ({"action": "accept", "content": {"yes": True}}, True),
        ({"action": "accept", "content": {"yes": False}}, False),
        ({"action": "decline"}, False),
        ({"action": "cancel"}, False),
    ],
)
def test_the_user_decides_whether_something_is_deleted_for_good(
    asking: Server, answer: dict[str, object], deleted: bool
) -> None:
    (id,) = ids(text(asking, "remember", text="An old secret."))
    call = asking.begin_call("forget", {"ids": [id], "for_good": True})
    asked = asking.notification("elicitation/create")
    assert "An old secret." in asked["params"]["message"]
    asking.send({"jsonrpc": "2.0", "id": asked["id"], "result": answer})
    said = asking.reply(call).text
    assert ("Deleted for good: 1 memory." in said) is deleted
    assert ("Nothing was deleted" in said) is not deleted
    assert ("no memories" in text(asking, "recall", query="secret")) is deleted


@pytest.mark.promise("native.forget.for_good")
def test_a_call_does_not_confirm_in_place_of_the_user(asking: Server) -> None:
    (id,) = ids(text(asking, "remember", text="An old secret."))
    for confirm in ({}, {"confirm": True}):
        call = asking.begin_call("forget", {"ids": [id], "for_good": True, **confirm})
        asked = asking.notification("elicitation/create")
        asking.send({"jsonrpc": "2.0", "id": asked["id"], "result": {"action": "decline"}})
        assert "the user declined" in asking.reply(call).text
    assert "An old secret." in text(asking, "read", ids=[id])


@pytest.mark.promise("native.remember.extract")
@pytest.mark.parametrize(
    ("answer", "kept"),
    [
        ("instruction | Ann | Dates are to be written as day-month-year.", True),
        ("NONE", False),
        ("I am sorry, I cannot do that.", None),
    ],
)
def test_the_clients_model_chooses_what_of_a_conversation_is_kept(
    asking: Server, answer: str, kept: bool | None
) -> None:
    call = asking.begin_call("remember", {"conversation": TURNS, "session": "s"})
    asked = asking.notification("sampling/createMessage")
    assert "write all dates" in asked["params"]["messages"][0]["content"]["text"]
    content = {"role": "assistant", "content": {"type": "text", "text": answer}, "model": "m"}
    asking.send({"jsonrpc": "2.0", "id": asked["id"], "result": content})
    said = asking.reply(call).text
    assert ("chosen by your model" in said) is (kept is not None)
    assert ("Kept 1 statement" in said) is bool(kept)
    assert "2 turns of the session 's'" in said
    assert ("Dates are to be written" in text(asking, "recall", kind="instruction")) is bool(kept)


@pytest.mark.promise("native.remember.conversation")
def test_a_conversation_that_another_client_sends_meanwhile_is_stored_once(asking: Server, place: Place) -> None:
    call = asking.begin_call("remember", {"conversation": TURNS, "session": "s"})
    asked = asking.notification("sampling/createMessage")
    more = [*TURNS, {"role": "Ann", "text": "Thank you."}]
    assert "3 turns of the session" in text(place.serve("native"), "remember", conversation=more, session="s")
    content = {"role": "assistant", "content": {"type": "text", "text": "NONE"}, "model": "m"}
    asking.send({"jsonrpc": "2.0", "id": asked["id"], "result": content})
    assert "2 turns are in the session 's' already" in asking.reply(call).text
    assert "Session 's', 3 turns" in text(asking, "read", ids=["s"])
