"""An embedding server on this machine that costs nothing: words that mean the same share a number."""

from __future__ import annotations

import json
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any
from zlib import crc32

__all__ = ["EmbeddingServer"]

_DIMENSIONS = 256
_SAME = {"car": "automobile"}


def _vector(text: str) -> list[float]:
    made = [0.0] * _DIMENSIONS
    made[0] = 0.01
    for word in text.lower().replace(":", " ").split():
        made[crc32(_SAME.get(word, word).encode()) % _DIMENSIONS] += 1.0
    return made


class EmbeddingServer:
    """Speaks OpenAI's protocol on a port of its own, over connections that stay open."""

    def __init__(self) -> None:
        class Handler(BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def do_POST(self) -> None:
                asked = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
                rows = [{"index": i, "embedding": _vector(text)} for i, text in enumerate(asked["input"])]
                data = json.dumps({"data": rows}).encode()
                try:
                    self.send_response(200)
                    self.send_header("Content-Length", str(len(data)))
                    self.end_headers()
                    self.wfile.write(data)
                except ConnectionError:
                    self.close_connection = True  # whoever asked was killed meanwhile

            def log_message(self, *_: Any) -> None: ...

        self._http = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self._http.daemon_threads = True
        self._http.handle_error = lambda *_: None  # type: ignore[method-assign]
        self._thread = threading.Thread(target=self._http.serve_forever, kwargs={"poll_interval": 0.01}, daemon=True)
        self._thread.start()
        self.url = f"http://127.0.0.1:{self._http.server_port}"

    @property
    def arguments(self) -> tuple[str, ...]:
        """What a server of ours is told to use this one."""
        return ("--embedder", "openai:toy", "--embedder-url", self.url)

    def close(self) -> None:
        """Let go of the port."""
        self._http.shutdown()
        self._http.server_close()
        self._thread.join(10)
