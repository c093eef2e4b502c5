"""The conformance table by every transport and engine: the answers are alike, and the comparison sees what is not."""

from __future__ import annotations

import json
from pathlib import Path

from clients.conformance.canonical import canonical
from clients.conformance.comparing import TABLE, compared
from clients.python.conformance import replayed
from polymnia.client import MCPMemoryClient

from .serving import Serving


def test_every_call_and_every_fault_is_answered_alike_by_every_transport_and_engine(tmp_path: Path) -> None:
    table = json.loads(TABLE.read_text(encoding="utf-8"))
    assert (len(table["calls"]), len(table["faults"])) == (60, 20)
    answers = {}
    for name, kind, engine in (("ws", "ws", "sqlite"), ("http", "http", "sqlite"), ("postgres", "ws", "postgres")):
        (tmp_path / name).mkdir()
        serving = Serving(tmp_path / name, kept_by=engine)
        try:
            with MCPMemoryClient(serving.url(kind)) as client:
                answers[name] = list(replayed(client, table))
        finally:
            serving.close()
    assert compared(answers, table) == []

    other = [line.replace('"Likes green tea"', '"Likes tea"') for line in answers["ws"]]
    assert compared({"ws": answers["ws"], "other": other}, table)
    spaced = [answers["ws"][0].replace(",", ", "), *answers["ws"][1:]]
    assert any("canonical" in problem for problem in compared({"spaced": spaced}, table))
    assert compared({"short": answers["ws"][:-1]}, table)


def test_canonical_json_is_as_the_rfc_has_it() -> None:
    cases = {
        1.0: "1", 0.1: "0.1", 1e-7: "1e-7", 1.5e-6: "0.0000015", 1e21: "1e+21", 1e20: "100000000000000000000",
        -0.0: "0", 123456789.125: "123456789.125", 5e-324: "5e-324", 1.7976931348623157e308: "1.7976931348623157e+308",
    }  # fmt: skip
    assert {value: canonical(value) for value in cases} == cases
    assert canonical({"b": [True, None, 'é\u2028"\n'], "a": {}}) == '{"a":{},"b":[true,null,"é\u2028\\"\\n"]}'
