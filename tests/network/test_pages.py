"""The pages for operators: whether it lives, whether it can serve, and its figures."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest
from prometheus_client.parser import text_string_to_metric_families

from polymnia.keys import KeyFile

from .conftest import MANY
from .served import Served, request

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
