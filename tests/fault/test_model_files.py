"""Damaged model files, seen through a server: what is stored is stored, words are found, and it is said why."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

import polymnia
from form import mostly_long
from polymnia.inference.weights import SHIPPED
from stdio_client import Place, entity

pytest.importorskip("onnxruntime")

# No search and no analysis reads the model of statement kinds, which has a test of its own.
_ALL = sorted(name for name in os.listdir(SHIPPED.folder) if name not in ("SHA256SUMS", "kinds.npz"))
_TEXTS = (
    "The office closes at five.",
    "The office shuts at nine in the evening.",
    "사무실은 다섯 시에 닫는다.",
    "사무실은 저녁 아홉 시에 문을 닫는다.",
)


def _installed(folder: Path, broken: list[str]) -> str:
    """The package as it would be with some of its weight files cut off; gives the folder to import it from."""
    package = folder / "library" / "polymnia"
    package.mkdir(parents=True)
    weights = package / "weights"
    weights.mkdir()
    for one in Path(polymnia.__file__).parent.iterdir():
        if one.name not in ("weights", "__pycache__"):
            (package / one.name).symlink_to(one)
    for one in Path(SHIPPED.folder).iterdir():
        if one.name in broken:
            (weights / one.name).write_bytes(one.read_bytes()[:-1000])
        else:
            (weights / one.name).symlink_to(one)
    return str(package.parent)


@pytest.mark.long
@pytest.mark.promise("search.broken_model")
@pytest.mark.promise("search.command.health_broken")
@pytest.mark.parametrize(
    "broken", mostly_long([["judge_en.onnx", "scorer_multi.onnx"], _ALL, *([one] for one in _ALL)])
)
def test_a_damaged_model_file_stops_nothing_and_is_told(place: Place, broken: list[str]) -> None:
    path = {"PYTHONPATH": _installed(place.folder, broken)}
    server = place.serve("all", "--embedder", "auto", environment=path)
    server.call("create_entities", entities=[entity("Ann", "Drinks green tea"), entity("서울", "대한민국의 수도이다")])
    for text in _TEXTS:
        server.call("memory_store", content=text, scope="work")
    told = [str(server.call("search_nodes", query="green tea").notes)]
    for query, name in (("what does Ann drink?", "Ann"), ("대한민국의 수도", "서울")):
        reply = server.call("search_nodes", query=query)
        assert reply.value["nodes"][0]["name"] == name
        told.append(str(reply.notes))
    # Whether one says the same in other words is judged after the text is stored: no answer may fail then.
    for text in ("The office shuts at five.", "사무실은 다섯 시에 문을 닫는다."):
        assert not server.call("memory_store", content=text, scope="work").failed
    assert len(server.call("memory_list_all").structured["memories"]) == len(_TEXTS) + 4
    told.append(server.call("memory_analyze", operation="detect_conflicts", project_id="default").text)

    health = place.run("health", "--embedder", "auto", environment=path)

    assert health.returncode == 1
    assert any(f"weights/{name} is not the one of this version" in health.stdout for name in broken)
    assert any(f"weights/{name} is not the one of this version" in one for name in broken for one in told), told


@pytest.mark.long
@pytest.mark.promise("native.remember.kind", "search.command.health_broken")
@pytest.mark.parametrize("broken", mostly_long([["kinds.npz"], ["kinds.npz", *_ALL]], 1))
def test_without_the_model_of_kinds_everything_is_stored_and_nothing_guessed(place: Place, broken: list[str]) -> None:
    path = {"PYTHONPATH": _installed(place.folder, broken)}
    server = place.serve("native", "--embedder", "auto", environment=path)

    stored = server.call("remember", text="Always answer me in metric units.")
    talk = server.call("remember", conversation=[{"role": "Ann", "text": "I am allergic to peanuts."}], session="s")

    assert "[memory · " in stored.text
    assert "1 turn of the session 's'" in talk.text
    assert "there is no model to choose by" in talk.text
    assert "Standing instructions" not in server.call("brief").text
    health = place.run("health", "--embedder", "auto", environment=path)
    assert health.returncode == 1
    assert any(f"weights/{name} is not the one of this version" in health.stdout for name in broken)
