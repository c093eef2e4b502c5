"""How much memory a server takes with every model at work: it is bounded, however long the texts are."""

from __future__ import annotations

import random
import sys
import time
from typing import Any

import pytest

from form import by_form
from stdio_client import DEADLINE, Place, Server

pytest.importorskip("onnxruntime")

_SENTENCES = {
    "en": "The {0} team keeps {3} spare parts of the {1} beside the {2}.",
    "ko": "{0} 담당자는 예비 부품 {3}개를 {1} 창고의 {2} 옆에 둔다.",
}
_NOUNS = {
    "en": ["gateway", "ledger", "orchard", "violin", "harbour", "lantern", "engine", "meadow", "payroll", "kettle"],
    "ko": ["관문", "장부", "과수원", "바이올린", "항구", "등불", "기관", "초원", "급여", "주전자"],
}
_CLASHES = {
    "en": ("The office closes at five.", "The office closes at nine in the evening."),
    "ko": ("사무실은 다섯 시에 닫는다.", "사무실은 저녁 아홉 시에 닫는다."),
}


class _Client:
    """A client that stores and asks in one language."""

    def __init__(self, server: Server, language: str) -> None:
        self._server = server
        self._language = language
        self._random = random.Random(7)

    def text(self, length: int = 0) -> str:
        """A sentence, or a text of so many characters."""
        said = ""
        while True:
            nouns = self._random.sample(_NOUNS[self._language], 3)
            said += _SENTENCES[self._language].format(*nouns, self._random.randrange(90))
            if len(said) >= length:
                return said
            said += " "

    def call(self, tool: str, operation: str, **arguments: Any) -> Any:
        return self._server.call(tool, operation=operation, project_id=self._language, **arguments)

    def search(self, query: str) -> Any:
        return self.call("memory_retrieve", "search_content", query=query)

    def store(self, *texts: str) -> None:
        for text in texts:
            self.call("memory_store", "store_content", content=text)

    def everything(self) -> None:
        """Store, search and compare: short texts and long ones, one after the other and together."""
        self.store(*(self.text() for _ in range(by_form(8, 40))), *_CLASHES[self._language])
        self.call("memory_analyze", "detect_conflicts")
        calls = [
            self._server.begin_call(
                "memory_store",
                {"operation": "store_content", "project_id": self._language, "content": self.text(size)},
            )
            for size in by_form([10_000] * 2, [100_000] * 2 + [300_000])
        ]
        for call in calls:
            assert not self._server.reply(call).failed
        end = time.monotonic() + by_form(1, 10) * DEADLINE
        while any(note["code"] == "pending" for note in self.search(self.text()).notes):
            assert time.monotonic() < end
        self.search(self.text(3_000))
        for _ in range(by_form(4, 20)):
            self.search(self.text())
        self.call("memory_retrieve", "find_similar_content", content=self.text(50_000))


def _most(server: Server) -> float:
    """The most memory the process has had, in megabytes."""
    with open(f"/proc/{server.process.pid}/status") as stream:
        return next(int(line.split()[1]) / 1024 for line in stream if line.startswith("VmHWM"))


@pytest.mark.skipif(sys.platform != "linux", reason="reads /proc")
@pytest.mark.promise("search.resident")
def test_a_server_with_every_model_at_work_takes_no_more_than_is_promised(place: Place) -> None:
    # What looks like a setting of the interpreter: the process is started, not forked from one that has models loaded.
    server = place.serve("all", "--embedder", "auto", environment={"PYTHON_OF_ITS_OWN": "1"})
    taken = {}
    for language in ("en", "ko"):
        _Client(server, language).everything()
        taken[language] = _most(server)
    english, both = by_form((320, 450), (340, 500))
    assert taken["en"] < english and taken["ko"] < both, taken
