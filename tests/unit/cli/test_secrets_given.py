"""Secrets on the command line and in settings: taken where nobody else reads them, and never shown."""

from __future__ import annotations

from .desk import Desk

ADDRESS = "http://ann:geheim@127.0.0.1:9"


def test_a_key_on_the_command_line_is_refused_with_what_to_do(desk: Desk) -> None:
    for command in (["search", "tea"], ["config"], ["stdio"]):
        told = desk.run(*command, "--embedder-key", "geheim")
        assert told.code == 2
        assert "POLYMNIA_EMBEDDER_KEY" in told.err and "--embedder-key-file" in told.err
        assert "geheim" not in told.out + told.err


def test_a_key_may_stand_in_a_file(desk: Desk) -> None:
    desk.add("Ann likes tea")
    given = ("search", "tea", "--embedder", "openai:toy", "--embedder-url", "http://127.0.0.1:9", "--embedder-key-file")
    assert "cannot be read" in desk.run(*given, "nowhere.txt").err
    (desk.folder / "key.txt").write_text("\n")
    assert "is empty" in desk.run(*given, "key.txt").err
    (desk.folder / "key.txt").write_text("geheim\n")
    assert "Ann likes tea" in desk.run(*given, "key.txt").out


def test_a_password_in_an_address_is_never_shown(desk: Desk) -> None:
    desk.add("Ann likes tea")
    given = ("--embedder", "openai:toy", "--embedder-url", ADDRESS, "--embedder-timeout", "1")
    told = [
        desk.run("search", "tea", *given),
        desk.run("health", *given),
        desk.run("reindex", *given),
        desk.run("config", *given),
        desk.run("config", "--json", *given),
        desk.run("search", "tea", "--embedder", "openai:toy", "--embedder-url", "ann:geheim@host"),
    ]
    assert all("127.0.0.1:9" in one.out + one.err for one in told[:5])
    assert "geheim" not in "".join(one.out + one.err for one in told)
