"""A client of the explorer's API, as its page is one."""

from __future__ import annotations

import json
from typing import Any

from .served import Answer, Served

__all__ = ["Api", "archive_with_drawn_relations"]


class Api:
    """Calls operations; what is refused raises unless its answer is asked for."""

    def __init__(self, served: Served, key: str | None = None) -> None:
        self.served = served
        self.key = key

    def answer(self, name: str, /, **given: Any) -> Answer:
        """The answer to a call, whatever it is; ``from_`` is the parameter ``from``."""
        body = json.dumps({name.rstrip("_"): value for name, value in given.items()})
        return self.served.request("POST", f"/api/{name}", body, key=self.key, Content_Type="application/json")

    def __call__(self, name: str, /, **given: Any) -> Any:
        """What an operation answers."""
        answer = self.answer(name, **given)
        assert answer.status == 200, (name, answer.status, answer.body)
        return answer.value

    def refused(self, name: str, /, **given: Any) -> tuple[int, Any]:
        """The status and the data of a refusal."""
        answer = self.answer(name, **given)
        error = answer.value["error"]
        assert error["code"] == answer.status, error
        assert error["message"], error
        return answer.status, error["data"]

    def store(self, text: str, **given: Any) -> str:
        """Store a memory; answers its id."""
        return str(self("store", text=text, **given)["memory"]["id"])


def archive_with_drawn_relations() -> str:
    """A file of nine memories, one of which the server has linked with seven others, and somebody with the last."""
    memories = [{"id": f"memory-{n}", "content": f"Crane {n} stands in the harbour."} for n in range(9)]
    associations = [
        {"source": "memory-0", "target": f"memory-{n}", "type": "associated_with" if n < 8 else "older_than",
         "origin": "auto" if n < 8 else "manual"}
        for n in range(1, 9)
    ]  # fmt: skip
    archive = {"format": "polymnia-memories", "version": 1, "memories": memories, "associations": associations}
    return json.dumps(archive)
