"""The door of the explorer: keys and rights for every operation, other sites, limits, events, and its files."""

from __future__ import annotations

import json
import threading
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

import polymnia
from form import each

from .conftest import MANY
from .exploring import Api
from .routes import ADDRESSES
from .served import Refused, Served

FREE = (*MANY, "--rate-limit-explorer", "1000000")
OPERATIONS = sorted(
    path.removeprefix("/api/") for method, path in ADDRESSES if method == "POST" and path.startswith("/api/")
)
# What each operation that writes would do, if it might.
WRITES: dict[str, dict[str, Any]] = {
    "restore": {"id": "Ann", "change": 1},
    "edit": {"id": "Ann", "add": ["more"]},
    "store": {"text": "new"},
    "delete": {"ids": ["Ann"]},
    "relate": {"from": "Ann", "to": "Bea", "type": "knows"},
    "unrelate": {"from": "Bea", "to": "Ann", "type": "likes"},
    "move": {"ids": ["Ann"], "scope": "elsewhere"},
    "undo": {"changes": [1]},
    "resolve": {"steps": [{"do": "delete", "id": "Ann"}]},
    "dismiss": {"item": "0123"},
    "move_scope": {"from": "user/default", "to": "elsewhere"},
    "import_preview": {"name": "x.json", "data": '{"entities":[{"name":"C","entityType":"x","observations":[]}]}'},
    "import": {"name": "x.json", "data": '{"entities":[{"name":"C","entityType":"x","observations":[]}]}'},
    "create_key": {"name": "mine", "access": "write"},
    "revoke_key": {"id": "{key}"},
}
READS: dict[str, dict[str, Any]] = {
    "about": {}, "operations": {}, "search": {"query": "tea"}, "names": {"prefix": "A"}, "memory": {"id": "Ann"},
    "versions": {"id": "Ann"}, "timeline": {}, "news": {"after": 0}, "change": {"change": 1},
    "undo_preview": {"change": 1}, "compare": {"from": "2020-01-01"}, "graph": {}, "review": {"kind": "stale"},
    "tree": {}, "health": {},
}  # fmt: skip


class Guarded:
    """A server with a key for each right; ``vault`` is a project that only some of them open."""

    def __init__(self, served: Served) -> None:
        self.served = served
        add = served.keys.add
        self.keys = {
            "manage": add("boss", manage=True)[1],
            "write": add("writer")[1],
            "read": add("reader", write=False)[1],
            "own": add("tenant", projects=("own",))[1],
            "metrics": add("prometheus", projects=(), write=False, metrics=True)[1],
        }
        boss = self.api("manage")
        boss("store", text="likes tea", name="Ann")
        boss("store", text="likes coffee", name="Bea")
        boss("relate", from_="Bea", to="Ann", type="likes")
        boss("store", text="the tea of the tenant", name="Cid", project="own")
        boss("store", text="tea nobody else may see", name="Hidden", project="vault")

    def api(self, key: str | None) -> Api:
        """The API for a key."""
        return Api(self.served, None if key is None else self.keys[key])

    def state(self) -> object:
        """Everything that a write could have changed."""
        with polymnia.connect(self.served.address) as memory:
            stamps = [(name, memory.acting("test", project=name).stamp()) for name in memory.store.projects()]
            notes = []
            for name, _ in stamps:
                with memory.store.read(name) as snapshot:
                    notes += snapshot.notes("dismissed", "dismissee", 100)
        return stamps, notes, Path(self.served.keys.path).read_bytes()


@pytest.fixture(scope="module")
def guarded(serving: Callable[..., Served]) -> Guarded:
    """A server with keys."""
    return Guarded(serving(*FREE))


def test_the_tables_below_have_every_operation() -> None:
    assert {*WRITES, *READS, "keys"} == set(OPERATIONS)


@pytest.mark.promise("api.rights.read")
@each("name", sorted(WRITES))
def test_a_key_that_may_only_read_changes_nothing(guarded: Guarded, name: str) -> None:
    before = guarded.state()
    given = json.loads(json.dumps(WRITES[name]).replace("{key}", guarded.served.keys.keys()[0].id))
    answer = guarded.served.request(
        "POST", f"/api/{name}", json.dumps(given), key=guarded.keys["read"], Content_Type="application/json"
    )
    assert answer.status == 403, (name, answer.body)
    assert answer.value["error"]["data"]["error_type"] == "not_allowed"
    assert guarded.state() == before


@pytest.mark.promise("api.rights.read")
@each("name", sorted(READS))
def test_a_key_that_may_only_read_reads_everything(guarded: Guarded, name: str) -> None:
    answer = guarded.served.request(
        "POST", f"/api/{name}", json.dumps(READS[name]), key=guarded.keys["read"], Content_Type="application/json"
    )
    assert answer.status == 200, (name, answer.body)


@pytest.mark.promise("api.undo.preview")
def test_a_key_that_may_only_read_sees_what_an_undo_would_do(guarded: Guarded) -> None:
    relations = next(one for one in guarded.api("read")("timeline")["changes"] if one["tool"] == "relate")
    preview = guarded.api("read")("undo_preview", change=relations["change"])
    assert preview["changes"] == [relations["change"]]


@pytest.mark.promise("api.rights.projects")
@each("name", sorted(READS))
def test_a_key_of_some_projects_sees_nothing_of_others(guarded: Guarded, name: str) -> None:
    api = guarded.api("own")
    plain = api.answer(name, **READS[name])
    assert b"vault" not in plain.body.lower() and b"hidden" not in plain.body.lower(), plain.body
    if name not in ("about", "operations", "news", "health"):
        assert api.answer(name, **{**READS[name], "project": "vault"}).status == 403, name


@pytest.mark.promise("api.rights.projects")
def test_exports_and_news_of_other_projects_are_refused(guarded: Guarded) -> None:
    served, key = guarded.served, guarded.keys["own"]
    assert served.request("GET", "/api/export?format=graph-json&project=vault", key=key).status == 403
    own = served.request("GET", "/api/export?format=graph-json", key=key)
    assert [one["name"] for one in own.value["entities"]] == ["Cid"]
    assert guarded.api("own")("about")["projects"] == ["own"]
    assert guarded.api("own")("news", after=0, projects=["vault"])["changes"] == []
    assert guarded.api("own")("search", query="tea")["projects"] == {"own": 1}


@pytest.mark.promise("api.keys")
def test_keys_are_managed_by_who_may(guarded: Guarded) -> None:
    boss = guarded.api("manage")
    for key in ("read", "write", "own"):
        for name, given in (("keys", {}), ("create_key", WRITES["create_key"]), ("revoke_key", {"id": "x"})):
            assert guarded.api(key).refused(name, **given)[0] == 403
    assert guarded.api("metrics").answer("keys").status == 403
    made = boss("create_key", name="new one", access="read", projects=["own"])
    assert made["key"]["access"] == "read" and made["key"]["projects"] == ["own"]
    assert made["secret"] not in Path(guarded.served.keys.path).read_text(encoding="utf-8")
    assert made["secret"].encode() not in boss.answer("keys").body
    fresh = Api(guarded.served, made["secret"])
    assert fresh("about")["access"] == {"write": False, "manage": False, "all_projects": False, "key": True}
    assert fresh("about")["user"] == "new one"
    assert boss("revoke_key", id=made["key"]["id"])["revoked"]["name"] == "new one"
    assert fresh.answer("about").status == 401
    assert boss.refused("revoke_key", id="nobody")[0] == 404
    assert boss.refused("create_key", name="two\nlines", access="read")[0] == 400
    assert boss.refused("create_key", name="x", access="manage", projects=["own"])[0] == 400
    assert boss.refused("create_key", name="x", access="read", projects=[])[0] == 400
    current = [one for one in boss("keys")["keys"] if one["current"]]
    assert [one["name"] for one in current] == ["boss"]


@pytest.mark.promise("api.keys.last")
def test_the_last_key_that_manages_others_stays(guarded: Guarded) -> None:
    boss = guarded.api("manage")
    own = next(one["id"] for one in boss("keys")["keys"] if one["current"])
    assert boss.refused("revoke_key", id=own)[0] == 409
    assert boss("keys")["keys"]


@pytest.mark.promise("api.keys.first")
def test_the_first_key_must_manage_others(serving: Callable[..., Served]) -> None:
    api = Api(serving(*FREE))
    assert api("keys") == {"keys": [], "needed": False}
    status, data = api.refused("create_key", name="reader", access="read")
    assert (status, data["error_type"]) == (403, "refused")
    made = api("create_key", name="boss", access="manage")
    assert api.answer("about").status == 401
    assert Api(api.served, made["secret"])("keys")["needed"] is True


@pytest.mark.promise("api.door")
def test_no_page_of_another_site_can_call(guarded: Guarded) -> None:
    served, key = guarded.served, guarded.keys["write"]
    before = guarded.state()
    body = json.dumps(WRITES["store"])

    def status(content_type: str | None = "application/json", **headers: str) -> int:
        given = {**headers, **({} if content_type is None else {"Content_Type": content_type})}
        return served.request("POST", "/api/store", body, key=key, **given).status

    assert status(Origin="https://evil.example") == 403
    assert status(Origin="null") == 403
    assert status(Host="evil.example") == 421
    for wrong in ("text/plain", "application/x-www-form-urlencoded", "multipart/form-data; boundary=x", None):
        assert status(wrong) == 415, wrong
    assert served.request("GET", "/api/store", key=key).status == 405
    assert served.request("POST", "/api/store?text=x", "", key=key, Content_Type="application/json").status == 400
    for other in ("", "nonsense", guarded.keys["write"][:-1] + "x"):
        answer = served.request("POST", "/api/store", body, key=other or None, Content_Type="application/json")
        assert answer.status == 401, other
    with_cookie = served.request("POST", "/api/store", body, Cookie=f"key={key}", Content_Type="application/json")
    assert with_cookie.status == 401
    assert not any("set-cookie" in one.headers for one in (with_cookie, served.request("GET", "/healthz")))
    assert guarded.state() == before
    ours = f"http://127.0.0.1:{served.port}"
    assert (
        served.request("POST", "/api/about", "{}", key=key, Origin=ours, Content_Type="application/json").status == 200
    )


@pytest.mark.promise("api.door")
def test_what_is_too_large_or_too_deep_is_refused(serving: Callable[..., Served]) -> None:
    served = serving(*FREE, "--max-message-bytes", "20000")
    api = Api(served)
    assert api.refused("store", text="x" * 30_000)[0] == 413
    assert api.answer("edit", id="x", metadata=json.loads('{"a":' * 120 + "1" + "}" * 120)).status == 400
    assert served.request("POST", "/api/about", "[]", Content_Type="application/json").status == 400
    assert served.request("POST", "/api/about", b"\xff\xfe", Content_Type="application/json").status == 400
    assert served.is_well()


@pytest.mark.promise("api.rates")
def test_calls_are_limited(serving: Callable[..., Served]) -> None:
    served = serving("--rate-limit-explorer", "3", "--rate-limit-heavy", "1")
    api = Api(served)
    assert api.answer("review", kind="stale").status == 200
    status, data = api.refused("review", kind="stale", project="conflicts")
    assert (status, data["details"]["type"]) == (429, "heavy")
    assert [api.answer("about").status for _ in range(3)] == [200, 200, 429]
    limited = api.answer("about")
    assert limited.headers["x-ratelimit-type"] == "explorer" and int(limited.headers["retry-after"]) > 0


# ── events ────────────────────────────────────────────────────────────────────────────────────────────────


def changes(events: Any) -> Iterator[dict[str, Any]]:
    """The changes that a stream tells of."""
    while (event := events.next()) is not None:
        if event.get("event") == "change":
            yield {"id": int(event["id"]), **json.loads(event["data"])}


@pytest.mark.promise("api.events")
@pytest.mark.parametrize("flags", [(), ("--workers", "2")], ids=["alone", "workers"])
def test_every_change_is_told_once(serving: Callable[..., Served], flags: tuple[str, ...]) -> None:
    served = serving(*FREE, *flags)
    api = Api(served)
    api.store("before", project="one")
    with served.events("/api/events") as events:
        assert json.loads((events.next() or {})["data"]) == {"projects": ["one"]}
        told = changes(events)
        first = api("store", text="in one", name="Ann", project="one")["changes"][0]
        one = next(told)
        assert (one["id"], one["project"], one["change"]["tool"]) == (first, "one", "store")
        assert [(effect["how"], effect["title"]) for effect in one["effects"]] == [("made", "Ann")]
        api.store("in a new project", project="two")
        assert next(told)["project"] == "two"
    missed = [api("edit", id="Ann", add=[f"more {at}"], project="one")["changes"][0] for at in range(3)]
    with served.events("/api/events", Last_Event_ID=str(first + 1)) as events:
        told = changes(events)
        assert [next(told)["id"] for _ in missed] == missed
        last = api("delete", ids=["Ann"], project="one")["changes"][0]
        assert next(told)["id"] == last
    with pytest.raises(Refused):
        served.events("/api/events", Last_Event_ID="1x").__enter__()


@pytest.mark.promise("api.events.rights")
def test_a_stream_tells_of_its_projects_and_ends_with_its_key(guarded: Guarded) -> None:
    key, text = guarded.served.keys.add("passing", projects=("own",))
    boss = guarded.api("manage")
    ended = threading.Event()
    with guarded.served.events("/api/events", key=text) as events:
        assert json.loads((events.next() or {})["data"]) == {"projects": ["own"]}
        boss.store("not for you", project="vault")
        boss.store("for you", project="own")
        assert next(changes(events))["project"] == "own"
        boss("revoke_key", id=key.id)
        assert next(changes(events), None) is None
        ended.set()
    assert ended.is_set()
    with pytest.raises(Refused):
        guarded.served.events("/api/events", key=text).__enter__()


# ── the page ──────────────────────────────────────────────────────────────────────────────────────────────

BUNDLE = """
import os, polymnia.app.network as network
from polymnia.transports.web.explorer import Explorer
folder = os.path.abspath("bundle")
os.makedirs(os.path.join(folder, "assets"))
for name, text in {"index.html": "<!doctype html><title>x</title>", "icon.svg": "<svg/>", "notes.exe": "no",
                   "assets/page-abc.js": "let a = 1;" * 200}.items():
    with open(os.path.join(folder, name), "w") as file:
        file.write(text)
made = Explorer.__init__
Explorer.__init__ = lambda self, server, _: made(self, server, folder)
"""


@pytest.fixture(scope="module")
def page(serving: Callable[..., Served]) -> Served:
    """A server with keys and a small bundle."""
    served = serving(*FREE, before=BUNDLE)
    served.keys.add("somebody")
    return served


@pytest.mark.promise("api.page", "api.page.headers")
def test_the_page_needs_no_key_and_lets_nothing_else_in(page: Served) -> None:
    assert page.request("POST", "/api/about", "{}", Content_Type="application/json").status == 401
    index = page.request("GET", "/")
    assert (index.status, index.headers["content-type"]) == (200, "text/html; charset=utf-8")
    assert index.headers["cache-control"] == "no-cache"
    policy = dict(part.strip().partition(" ")[::2] for part in index.headers["content-security-policy"].split(";"))
    assert policy["default-src"] == "'none'" and policy["frame-ancestors"] == "'none'"
    assert policy["script-src"] == policy["connect-src"] == policy["style-src"] == "'self'"
    assert "unsafe" not in index.headers["content-security-policy"]
    assert index.headers["x-content-type-options"] == "nosniff"
    assert index.headers["referrer-policy"] == "no-referrer"
    assert index.headers["cross-origin-opener-policy"] == "same-origin"
    again = page.request("GET", "/", If_None_Match=index.headers["etag"])
    assert (again.status, again.body) == (304, b"")
    script = page.request("GET", "/assets/page-abc.js", Accept_Encoding="gzip, br")
    assert script.headers["content-type"] == "text/javascript; charset=utf-8"
    assert "immutable" in script.headers["cache-control"]
    assert script.headers["content-encoding"] == "gzip" and len(script.body) < 200
    plain = page.request("GET", "/assets/page-abc.js", Accept_Encoding="gzip;q=0")
    assert "content-encoding" not in plain.headers and plain.body.startswith(b"let a = 1;")
    assert page.request("HEAD", "/").body == b""
    assert page.request("GET", "/icon.svg").headers["content-type"] == "image/svg+xml"
    assert page.request("GET", "/", Origin="https://evil.example").status == 403


@pytest.mark.promise("api.page.files")
@each(
    "path",
    ["/../memory.db", "/%2e%2e/memory.db", "/assets/../index.html", "/assets/%2e%2e%2f%2e%2e%2fmemory.db",
     "//etc/passwd", "/index.html", "/notes.exe", "/assets/", "/assets", "/icon.svg/", "/assets%2fpage-abc.js%00",
     "/ASSETS/page-abc.js", "/..\\memory.db", "/config/polymnia/keys.json"],
)  # fmt: skip
def test_only_the_files_of_the_bundle_are_served(page: Served, path: str) -> None:
    answer = page.exchange(f"GET {path} HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n".encode())
    assert answer.split()[1] in (b"401", b"404", b"400"), answer
    assert b"SQLite" not in answer and b"digest" not in answer


@pytest.mark.promise("api.page.off")
def test_the_explorer_can_be_left_out(serving: Callable[..., Served]) -> None:
    served = serving(*FREE, "--explorer", "off")
    assert served.request("GET", "/").status == 404
    assert served.request("POST", "/api/about", "{}", Content_Type="application/json").status == 404
    assert served.request("GET", "/api/events").status == 404
