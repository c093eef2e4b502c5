"""The commands that search and tend: search, explain, reindex, health."""

from __future__ import annotations

import json
import os
import pty
import re
import select
import signal
import struct
import subprocess
import sys
from typing import Any

import pytest

import forked
from form import LONG_FORM, by_form
from polymnia import EntityDraft, connect
from stdio_client import DEADLINE, Place

WITH_MEANING = {"POLYMNIA_EMBEDDER": "use"}

MEMORIES = [
    EntityDraft("Ann", "person", ("Drinks green tea every morning",), tags=("friend",), scope="home/people"),
    EntityDraft("Bob", "person", ("Plays the guitar", "Hates tea"), metadata={"age": 41, "team": "blue"}),
    EntityDraft("tea house", "place", ("Open until late",), scope="home"),
    EntityDraft("서울", "도시", ("서울은 대한민국의 수도이다",), session="trip"),
]


@pytest.fixture
def filled(place: Place, monkeypatch: pytest.MonkeyPatch) -> Place:
    """A place whose store holds a few memories."""
    monkeypatch.setenv("POLYMNIA_EMBEDDER", "none")
    with connect(place.address) as memory:
        memory.create_entities(MEMORIES)
    return place


def told(place: Place, *arguments: str, code: int = 0, model: bool = False) -> Any:
    """What a command tells in JSON."""
    done = place.run(*arguments, "--json", environment=WITH_MEANING if model else None)
    assert done.returncode == code, done.stderr
    return json.loads(done.stdout)


def names(answer: Any) -> list[str]:
    return [hit["name"] for hit in answer["hits"]]


@pytest.mark.promise("search.command")
def test_a_search_prints_score_name_kind_pieces_and_reason(filled: Place) -> None:
    done = filled.run("search", "green tea")

    assert done.returncode == 0
    first, piece, reason, *_ = done.stdout.splitlines()
    assert re.fullmatch(r"[01]\.\d\d  Ann \(person\) home/people", first)
    assert piece.strip() == "Drinks green tea every morning"
    assert reason.strip().startswith("The query stands in an observation as it is")
    assert done.stderr == ""


@pytest.mark.promise("search.command")
def test_notes_go_to_stderr_and_a_miss_names_the_nearest(filled: Place) -> None:
    done = filled.run("search", "qqqqzzzz")

    assert done.returncode == 0
    assert "Ann" not in done.stdout
    assert "Nothing matches" in done.stderr
    assert any(repr(draft.name) in done.stderr for draft in MEMORIES)


@pytest.mark.promise("search.command")
def test_a_store_that_is_not_there_is_not_made(place: Place) -> None:
    for command in (["search", "tea"], ["explain", "tea"], ["reindex"], ["health"]):
        done = place.run(*command, environment={"POLYMNIA_STORE": place.nowhere})
        assert done.returncode == 1
        assert "There is no store" in done.stderr
    assert place.is_nowhere()


@pytest.mark.long
@pytest.mark.promise("search.command.marks")
def test_a_terminal_shows_the_words_that_match_strong(filled: Place) -> None:
    shown = _on_a_terminal(filled, "search", "green tea")

    assert "\x1b[1mgreen tea\x1b[0m every morning" in shown
    assert "\x1b[" not in filled.run("search", "green tea").stdout
    assert "\x1b[" not in _on_a_terminal(filled, "search", "green tea", NO_COLOR="1")


@pytest.mark.promise("search.command.marks")
def test_what_a_memory_says_never_controls_the_terminal(place: Place, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("POLYMNIA_EMBEDDER", "none")
    with connect(place.address) as memory:
        memory.create_entities([EntityDraft("evil\x1b[2J", "\x07kind", ("red\x1b[31m\nwords\r and tea",))])

    for command in ("search", "explain"):
        printed = place.run(command, "tea red").stdout
        assert not re.search(r"[\x00-\x09\x0b-\x1f\x7f-\x9f]", printed), command


@pytest.mark.promise("search.command.filters")
@pytest.mark.parametrize(
    ("options", "found"),
    [
        ([], {"Ann", "Bob", "tea house"}),
        (["--kind", "person"], {"Ann", "Bob"}),
        (["--kind", "person", "--kind", "place"], {"Ann", "Bob", "tea house"}),
        (["--tag", "friend"], {"Ann"}),
        (["--scope", "home"], {"tea house"}),
        (["--scope", "home", "--below"], {"Ann", "tea house"}),
        (["--session", "other"], {"Ann", "Bob", "tea house"}),
        (["--meta", "team=blue"], {"Bob"}),
        (["--meta", "age=41"], {"Bob"}),
        (["--meta", 'age="41"'], set()),
        (["--since", "2020-01-01"], {"Ann", "Bob", "tea house"}),
        (["--until", "2020-01-01"], set()),
    ],
)
def test_options_filter(filled: Place, options: list[str], found: set[str]) -> None:
    assert set(names(told(filled, "search", "tea", *options))) == found
    if LONG_FORM or options[:1] == ["--meta"]:
        assert {name for name, _ in told(filled, "explain", "tea", *options)["fusion"]} == found


@pytest.mark.promise("search.command.filters")
@pytest.mark.parametrize(
    ("code", "options"),
    [
        (1, ["--below"]),
        (1, ["--meta", "team"]),
        (1, ["--since", "soon"]),
        (2, ["--limit", "0"]),
        (2, ["--max-tokens", "0"]),
    ],
)
def test_an_option_that_makes_no_sense_is_refused(filled: Place, code: int, options: list[str]) -> None:
    done = filled.run("search", "tea", *options)

    assert done.returncode == code
    assert done.stdout == ""
    assert len(done.stderr.splitlines()) == 2


@pytest.mark.promise("search.command.json")
def test_json_has_all_of_the_answer(filled: Place) -> None:
    answer = told(filled, "search", "tea", "--limit", "1", "--facets")

    assert answer["total"] == 3
    assert answer["facets"]["kinds"] == {"person": 2, "place": 1}
    assert answer["notes"] == []
    (hit,) = answer["hits"]
    assert hit.keys() >= {"id", "name", "entityType", "observations", "score", "why", "fragments", "created"}
    assert hit["why"]["sentence"]
    assert {mark for piece in hit["fragments"] for mark in _marked(piece)} == {"tea"}
    rest = told(filled, "search", "tea", "--cursor", answer["next"])
    assert {hit["name"], *names(rest)} == {"Ann", "Bob", "tea house"}


def _marked(piece: dict[str, Any]) -> list[str]:
    return [piece["text"][start:end] for start, end in piece["marks"]]


@pytest.mark.promise("search.command.json")
def test_a_budget_is_told(filled: Place) -> None:
    answer = told(filled, "search", "tea", "--max-tokens", "12")

    assert answer["budget"]["tokens"] <= 12
    assert answer["budget"]["left_out"] + answer["budget"]["cut"] > 0


@pytest.mark.promise("search.command.explain")
def test_a_plan_is_printed_in_columns_whatever_the_script(filled: Place) -> None:
    printed = filled.run("explain", "tea 수도").stdout

    assert printed.startswith("query     tea 수도\n")
    for part in ("language", "time", "words", "exact", "together"):
        assert re.search(rf"^{part}\b", printed, re.M), part
    table = printed[printed.index("together") :].splitlines()[1:]
    assert table[0].split() == ["memory", "words", "meaning", "lent", "score"]
    rows = [line for line in table if line.startswith("  ")]
    assert {"서울", "Ann"} <= {line.split()[0] for line in rows}
    places = {_columns_before(line, r"\d\.\d{3}") for line in rows[1:]}
    assert len(places) == 1, rows


def _columns_before(line: str, pattern: str) -> int:
    """Where the first number stands on a terminal, on which Hangul takes two columns."""
    found = re.search(pattern, line)
    assert found
    return sum(2 if "가" <= c <= "힣" else 1 for c in line[: found.start()])


@pytest.mark.promise("search.command.explain")
def test_a_plan_in_json_is_the_plan_of_the_library(filled: Place) -> None:
    plan = told(filled, "explain", "who drinks tea")

    assert plan.keys() >= {"query", "language", "words", "time", "lanes", "fusion", "found", "milliseconds"}
    assert plan["fusion"][0][0] == "Ann"


@pytest.mark.promise("search.command.reindex", "search.command.health")
def test_a_reindex_brings_everything_up_to_date(filled: Place) -> None:
    before = told(filled, "health", model=True)
    assert before["models"]["polymnia-multi-2"]["pending"] > 0

    done = filled.run("reindex", environment=WITH_MEANING)
    assert done.returncode == 0
    assert "vectors of polymnia-multi-2" in done.stdout

    after = told(filled, "health", model=True)
    assert after["well"]
    assert after["waitingWords"] == after["pending"] == 0
    assert after["models"]["polymnia-multi-2"]["state"] == "ready"
    assert after["models"]["polymnia-multi-2"]["vectors"] > 0
    again = filled.run("reindex", environment=WITH_MEANING)
    assert "everything was up to date" in again.stdout
    anew = told(filled, "reindex", "--anew", "--all-projects", model=True)
    assert anew["default"]["done"]["words"] > 0
    assert told(filled, "health", model=True)["passages"] == after["passages"]
    assert names(told(filled, "search", "the capital of Korea", model=True))[0] == "서울"


@pytest.mark.promise("search.command.reindex_model")
def test_vectors_of_a_model_that_is_not_in_use_go_with_a_reindex(filled: Place) -> None:
    told(filled, "reindex", model=True)
    with connect(filled.address) as memory, memory.store.write("default", "test", "embed") as tx:
        texts = [text.id for text in tx.texts(0, 100) if text.body]
        below_zero = struct.pack("<8e", *[-(8**-0.5)] * 8)
        tx.put_vectors("old-model", 8, [(text, 0, below_zero, b"\0") for text in texts])
    assert told(filled, "health", model=True)["models"]["old-model"]["state"] == "not in use"

    done = told(filled, "reindex", model=True)

    assert done["default"]["removed"] == len(texts)
    assert told(filled, "health", model=True)["models"].keys() == {"polymnia-multi-2"}


@pytest.mark.promise("search.command.reindex_stopped")
def test_a_reindex_that_is_interrupted_goes_on_where_it_stopped(place: Place, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("POLYMNIA_EMBEDDER", "none")
    many = by_form(2000, 4000)
    with connect(place.address) as memory:
        text = "The quick brown fox jumps over a lazy dog and runs away through the forest"
        memory.create_entities([EntityDraft(f"m{i}", "note", (f"{text} {i}",)) for i in range(many)])
        ours, theirs = pty.openpty()
        running = subprocess.Popen(
            [sys.executable, "-m", "polymnia", "reindex"],
            env={**place.environment, **WITH_MEANING},
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=theirs,
            # What a shell starts in the background ignores the signal, and so would everything started from here.
            preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_DFL),
        )
        try:
            _read_until(ours, "Vectors of polymnia-multi-2")
            running.send_signal(signal.SIGINT)
            _read_until(ours, "run it again to go on")
            assert running.wait(DEADLINE) == 130
        finally:
            running.kill()
            running.wait()
            os.close(ours)
            os.close(theirs)
        made = _vectors(memory)
    assert 0 < made < many
    rest = told(place, "reindex", model=True)["default"]
    assert rest["done"]["polymnia-multi-2"] == many - made
    assert rest["models"]["polymnia-multi-2"] == {"vectors": many, "pending": 0, "state": "ready", "why": None}


def _read_until(terminal: int, wanted: str) -> str:
    """What a terminal shows until it shows the text that is waited for."""
    shown = ""
    while wanted not in shown:
        ready, _, _ = select.select([terminal], [], [], DEADLINE)
        assert ready, f"{wanted!r} was not shown: {shown}"
        shown += os.read(terminal, 4096).decode(errors="replace")
    return shown


def _vectors(memory: Any) -> int:
    with memory.store.read("default") as snapshot:
        return int(snapshot.models().get("polymnia-multi-2", (0, 0))[1])


@pytest.mark.promise("search.purged")
def test_a_purge_leaves_no_word_and_no_vector_of_an_indexed_text(place: Place, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("POLYMNIA_EMBEDDER", "none")
    with connect(place.address) as memory:
        memory.create_entities([EntityDraft("secret", "note", ("The zanzibarite lies in getHiddenQuarry",)), *MEMORIES])
    before = told(place, "reindex", model=True)["default"]["models"]["polymnia-multi-2"]["vectors"]

    assert place.run("purge", "secret", "--yes").returncode == 0

    for name, data in place.contents().items():
        assert b"zanzibar" not in data.lower(), name
        assert b"quarry" not in data.lower(), name
    assert told(place, "health")["models"]["polymnia-multi-2"]["vectors"] == before - 1
    assert "secret" not in names(told(place, "search", "zanzibarite"))


@pytest.mark.promise("search.command.health")
def test_health_tells_what_is_there(filled: Place) -> None:
    data = told(filled, "health")

    assert data["well"]
    assert data["store"]["path"] == filled.shown
    assert data["store"]["bytes"] > 0
    assert data["store"]["format"] >= 2
    assert data["projects"] == {"default": {"memories": 4, "relations": 0}}
    assert (data["memories"], data["relations"], data["models"]) == (4, 0, {})
    printed = filled.run("health").stdout
    assert filled.shown in printed
    assert "4 memories" in printed
    assert "by words alone" in printed


@pytest.mark.promise("search.no_onnxruntime")
def test_without_onnxruntime_meaning_goes_on_with_numpy_and_health_says_so(filled: Place) -> None:
    (filled.folder / "without").mkdir()
    (filled.folder / "without" / "sitecustomize.py").write_text("import sys; sys.modules['onnxruntime'] = None")
    without = {"PYTHONPATH": str(filled.folder / "without"), "POLYMNIA_EMBEDDER": "auto"}

    for _ in range(10):  # a search does not wait for long: on a busy machine it may be by words alone, and says so
        found = json.loads(filled.run("search", "the capital of Korea", "--json", environment=without).stdout)
        if names(found):
            break
    data = json.loads(filled.run("health", "--json", environment=without).stdout)

    assert names(found)[0] == "서울"
    assert data["well"]
    assert data["models"].keys() == {"polymnia-multi-2"}
    assert "pip install onnxruntime" in data["missing"]
    assert data["missing"] in filled.run("health", environment=without).stdout
    whole = json.loads(filled.run("health", "--json", environment={"POLYMNIA_EMBEDDER": "auto"}).stdout)
    assert whole["missing"] is None
    assert whole["models"].keys() == {"polymnia-multi-2", "polymnia-en-1"}


@pytest.mark.promise("search.command.health_broken")
def test_a_broken_model_is_told_with_an_exit_code(filled: Place) -> None:
    data = told(filled, "health", "--embedder", "onnx:nowhere", code=1)

    assert not data["well"]
    (model,) = data["models"].values()
    assert model["state"] == "broken"
    assert "nowhere" in model["why"]
    printed = filled.run("health", "--embedder", "onnx:nowhere")
    assert printed.returncode == 1
    assert "broken" in printed.stdout
    refused = filled.run("reindex", "--embedder", "onnx:nowhere")
    assert refused.returncode == 1
    assert "nowhere" in refused.stderr


def _on_a_terminal(place: Place, *arguments: str, **more: str) -> str:
    """What a command prints on a terminal."""
    ours, theirs = pty.openpty()
    try:
        running = forked.start(
            [sys.executable, "-m", "polymnia", *arguments],
            env={**place.environment, **more},
            stdin=subprocess.DEVNULL,
            stdout=theirs,
            stderr=subprocess.DEVNULL,
        )
        assert running.wait(DEADLINE) == 0
        return os.read(ours, 65536).decode()
    finally:
        os.close(ours)
        os.close(theirs)
