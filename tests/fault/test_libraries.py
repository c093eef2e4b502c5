"""A library that cannot be loaded: the calls that need it say so, readiness and health notice, and nothing is lost."""

from __future__ import annotations

from pathlib import Path

import pytest

from network.served import Served
from stdio_client import Place, entity

# Stands before the real NumPy on the path, and fails as long as a file says so.
_NUMPY = """
import os, sys
if os.path.exists({flag!r}):
    raise ImportError("libopenblas.so: cannot open shared object file")
sys.path.remove({folder!r})
del sys.modules["numpy"]
import numpy
sys.modules["numpy"] = numpy
"""


@pytest.fixture
def broken(tmp_path: Path) -> tuple[str, Path]:
    """A folder for PYTHONPATH with a NumPy that fails, and the file that makes it fail."""
    folder, flag = tmp_path / "libraries", tmp_path / "broken"
    (folder / "numpy").mkdir(parents=True)
    (folder / "numpy" / "__init__.py").write_text(_NUMPY.format(flag=str(flag), folder=str(folder)))
    flag.touch()
    return str(folder), flag


@pytest.mark.promise("everywhere.libraries")
def test_what_needs_a_broken_library_says_so_and_works_once_it_is_whole(place: Place, broken: tuple[str, Path]) -> None:
    folder, flag = broken
    server = place.serve("all", environment={"PYTHONPATH": folder})
    server.call("create_entities", entities=[entity("Ann", "Likes tea")])

    for _ in range(2):
        refused = server.refused("memory_search", query="tea")
        assert "cannot load numpy" in refused.text
        assert "libopenblas.so" in refused.text, "the reason"
        assert "pip install" in refused.text, "what to do"
    assert server.names() == ["Ann"], "what does not need it works"
    health = server.call("memory_system", operation="check_system_health", project_id="any").structured
    assert health["health"]["status"] == "unhealthy"
    assert "cannot load numpy" in str(health)

    flag.unlink()
    assert not server.call("memory_search", query="tea").failed


@pytest.mark.promise("network.pages.health")
def test_a_server_that_cannot_search_is_not_ready(
    tmp_path: Path, broken: tuple[str, Path], monkeypatch: pytest.MonkeyPatch
) -> None:
    folder, flag = broken
    monkeypatch.setenv("PYTHONPATH", folder)
    served = Served(tmp_path)
    try:
        served.wait_for_line("Serving")
        assert served.is_well()
        answer = served.request("GET", "/readyz")
        assert (answer.status, answer.value) == (503, {"status": "unavailable"})
        flag.unlink()
        assert served.request("GET", "/readyz").value == {"status": "ready"}
    finally:
        served.stop()
