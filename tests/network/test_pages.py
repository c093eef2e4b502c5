"""The pages for operators: whether it lives, whether it can serve, and its figures."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from prometheus_client.parser import text_string_to_metric_families

from polymnia.keys import KeyFile

from .conftest import MANY
from .served import Served, eventually, request

READ = request("tools/call", {"name": "read_graph", "arguments": {}})


@pytest.mark.promise("network.pages.health")
def test_a_server_lives_and_is_ready(open_server: Served) -> None:
    assert open_server.request("GET", "/healthz").value == {"status": "alive"}
    assert open_server.request("GET", "/readyz").value == {"status": "ready"}
    assert open_server.request("HEAD", "/healthz").status == 200


@pytest.mark.promise("network.pages.health")
def test_a_server_without_its_store_lives_and_is_not_ready(serving: Callable[..., Served], tmp_path: Path) -> None:
    (tmp_path / "memory.db").write_text("This is a letter and no store.")
    served = serving(folder=tmp_path)
    assert served.is_well()
    answer = served.request("GET", "/readyz")
    assert (answer.status, answer.value) == (503, {"status": "not_a_store"})
    assert str(tmp_path) not in served.post(READ).body.decode()


@pytest.mark.promise("network.pages.metrics")
def test_the_figures_are_what_prometheus_reads(open_server: Served) -> None:
    open_server.post(READ)
    open_server.request("GET", "/no/such/page")
    answer = open_server.request("GET", "/metrics")
    assert answer.headers["content-type"].startswith("text/plain; version=")
    families = {family.name: family for family in text_string_to_metric_families(answer.body.decode())}
    requests = {(s.labels["path"], s.labels["status"]): s.value for s in families["polymnia_http_requests"].samples}
    assert requests[("/mcp", "200")] >= 1
    assert requests[("other", "404")] >= 1
    calls = {sample.labels["dialect"]: sample.value for sample in families["polymnia_calls"].samples}
    assert calls["all"] >= 1
    times = [sample for sample in families["polymnia_http_request_seconds"].samples if sample.name.endswith("_bucket")]
    assert [sample.value for sample in times] == sorted(sample.value for sample in times)
    assert times[-1].labels["le"] == "+Inf"
    assert families["polymnia_sessions"].samples[0].value >= 0
    assert families["polymnia_connections"].samples[0].value == 1


@pytest.mark.long
@pytest.mark.promise("network.pages.metrics")
def test_figures_have_a_right_of_their_own_where_there_are_keys(serving: Callable[..., Served], tmp_path: Path) -> None:
    file = KeyFile(str(tmp_path / "config" / "polymnia" / "keys.json"))
    _, everything = file.add("everything")
    _, scraper = file.add("scraper", projects=(), write=False, metrics=True)
    served = serving(*MANY, folder=tmp_path)
    nobody = served.request("GET", "/metrics")
    assert nobody.status == 401
    assert "polymnia keys add NAME --access metrics" in nobody.value["error"]["data"]["suggestions"][0]
    refused = served.request("GET", "/metrics", key=everything)
    assert (refused.status, refused.value["error"]["code"]) == (403, 403)
    assert "right to read /metrics" in refused.value["error"]["message"]
    assert "--access metrics" in refused.value["error"]["data"]["suggestions"][0]
    assert served.request("GET", "/metrics", key=scraper).status == 200
    assert served.request("POST", "/mcp", key=scraper).value["error"]["code"] == 403
    assert served.request("GET", "/readyz").status == 200


def _calls(served: Served) -> dict[tuple[str, str, str], float]:
    page = served.request("GET", "/metrics").body.decode()
    families = {family.name: family for family in text_string_to_metric_families(page)}
    return {
        (one.labels["tool"], one.labels["operation"], one.labels["outcome"]): one.value
        for one in families["polymnia_calls"].samples
    }


@pytest.mark.promise("network.pages.tools")
def test_calls_are_counted_by_tool_operation_and_outcome(serving: Callable[..., Served], kind: str) -> None:
    served = serving(*MANY)
    with served.door(kind, "all") as door:
        stored = {"operation": "store_content", "project_id": "atlas", "content": "The gate opens at nine."}
        door.call("memory_store", stored)
        door.call("memory_store", {**stored, "content": "The gate shuts at six."})
        door.call("memory_store", {"operation": "store_content", "project_id": "atlas"})
        door.call("memory_store", {"operation": "made-up-operation", "project_id": "atlas"})
        door.call("open_nodes", {"names": ["nobody"]})
        door.call("made-up-tool", {})
    expected = {
        ("memory_store", "store_content", "ok"): 2,
        ("memory_store", "store_content", "bad_arguments"): 1,
        ("memory_store", "", "unknown_operation"): 1,
        ("open_nodes", "", "ok"): 1,
        ("unknown", "", "unknown_operation"): 1,
    }
    eventually(lambda: _calls(served) == expected, "a call is answered before it is counted")
    page = served.request("GET", "/metrics").body.decode()
    assert "made-up" not in page
    assert "atlas" not in page
    times = next(one for one in text_string_to_metric_families(page) if one.name == "polymnia_call_seconds")
    taken = {one.labels["operation"]: one.value for one in times.samples if one.name.endswith("_count")}
    assert taken["store_content"] == 3


@pytest.mark.promise("network.pages.tools")
def test_calls_over_a_limit_are_counted_as_such(serving: Callable[..., Served]) -> None:
    served = serving("--rate-limit-session", "2")
    for _ in range(3):
        served.post(READ)
    expected = {("read_graph", "", "ok"): 2, ("read_graph", "", "rate_limited"): 1}
    eventually(lambda: _calls(served) == expected, "all of them are counted")


_NO_METRICS = {
    "by", "histogram_quantile", "increase", "label_values", "le", "max", "rate", "sum", "time", "__rate_interval",
}  # fmt: skip
_SELECTOR = re.compile(r"(polymnia_\w+)(?:\{([^}]*)\})?")
_GROUPED = re.compile(r"by \(([^)]*)\)")


def _expressions(dashboard: dict[str, Any]) -> Iterator[str]:
    yield from (target["expr"] for panel in dashboard["panels"] for target in panel["targets"])
    yield from (one["query"] for one in dashboard["templating"]["list"] if one["type"] == "query")


@pytest.mark.promise("network.pages.dashboard")
def test_the_dashboard_asks_for_figures_that_are_there(serving: Callable[..., Served], tmp_path: Path) -> None:
    served = serving(*MANY, "--backup-dir", str(tmp_path / "backups"))
    served.post(READ)
    served.request("GET", "/healthz")
    eventually(lambda: _calls(served), "the call is counted")
    page = served.request("GET", "/metrics").body.decode()
    labels: dict[str, set[str]] = {}
    for family in text_string_to_metric_families(page):
        for sample in family.samples:
            labels.setdefault(sample.name, set()).update(sample.labels)
    dashboard = json.loads((Path(__file__).parents[2] / "packaging" / "grafana.json").read_text())
    asked = set()
    for expression in _expressions(dashboard):
        selectors = _SELECTOR.findall(expression)
        assert selectors, expression
        for name, matchers in selectors:
            assert name in labels, f"{expression}: there is no {name}"
            assert set(re.findall(r"(\w+)\s*[!=]", matchers)) <= labels[name], expression
            for grouped in _GROUPED.findall(expression):
                assert set(re.findall(r"\w+", grouped)) <= labels[name], expression
            asked.add(name)
        bare = _SELECTOR.sub("", re.sub(r'"[^"]*"', "", _GROUPED.sub("by", expression)))
        words = set(re.findall(r"[A-Za-z_]\w*", bare)) - _NO_METRICS - {"dialect"}
        assert not words, f"{expression}: {words}"
    families = {name.removesuffix("_total") for name in labels}
    families = {re.sub("_(bucket|count|sum|created)$", "", name) for name in families}
    shown = {re.sub("_(bucket|count|sum|total)$", "", name) for name in asked}
    assert {name for name in families if name.startswith("polymnia")} == shown
