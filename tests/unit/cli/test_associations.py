"""What has to do with a memory."""

from __future__ import annotations

import re

from .desk import Desk


def test_associations_tell_kind_strength_reason_and_text(desk: Desk) -> None:
    one = desk.add("Backups run at night", "--tag", "database", "--scope", "work")
    other = desk.add("Mina tends the tables", "--tag", "database")
    told = desk.run("associations", one)
    head, text, reason, last = told.lines
    assert re.fullmatch(rf"0\.\d\d  {other}  contextual  user/default", head)
    assert text.strip() == "Mina tends the tables"
    assert "both tagged database" in reason
    assert last == "1 of 1 memory that were looked at." or last.startswith("1 of ")
    value = desk.run("associations", one, "--json").value
    assert (value["id"], value["candidates"]) == (one, 1)
    (found,) = value["associations"]
    assert (found["id"], found["type"], found["text"]) == (other, "contextual", "Mina tends the tables")


def test_limit_and_threshold_leave_out_the_weak_ones(desk: Desk) -> None:
    one = desk.add("Backups run at night", "--tag", "database")
    strong = desk.add("Mina tends the tables", "--tag", "database")
    desk.add("Snow is white")
    found = desk.run("associations", one, "--json").value["associations"]
    assert [each["type"] for each in found] == ["contextual", "temporal"]
    for words in (["--limit", "1"], ["--threshold", "0.25"]):
        assert [each["id"] for each in desk.run("associations", one, *words, "--json").value["associations"]] == [
            strong
        ]
    assert desk.run("associations", one, "--limit", "0").code == 2


def test_a_memory_that_is_alone_is_no_fault(desk: Desk) -> None:
    told = desk.run("associations", desk.add("Snow is white"))
    assert (told.code, told.lines) == (0, ["0 of 0 memories that were looked at."])
