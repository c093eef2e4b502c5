"""Embedders over HTTP: OpenAI-compatible /v1/embeddings endpoints, and Ollama."""

from __future__ import annotations

import json
import time
from abc import abstractmethod
from collections.abc import Callable, Sequence
from http.client import HTTPException
from typing import Any
from urllib.error import HTTPError, URLError
from urllib.parse import unquote, urlsplit
from urllib.request import HTTPRedirectHandler, OpenerDirector, ProxyHandler, Request, build_opener

from polymnia.errors import Invalid, NoModel
from polymnia.inference.custom import CustomEmbedder
from polymnia.models import JsonObject

_BATCH = 64  # texts in one request
_MAX_CHARACTERS = 8000  # of a text: below the input limit of common models in every script
_MAX_BYTES = 1 << 28  # of a response
_PAUSES = (0.5, 1.0, 2.0)  # seconds before each retry
_LONGEST_PAUSE = 10.0  # however long the server asks us to wait


class _Endpoint(CustomEmbedder):
    """Sends texts in batches, retries when the server is busy, and reports faults clearly."""

    near = False

    _kind: str
    _default: str
    _path: str
    _not_found = "Check the address and the name of the model."

    def __init__(
        self,
        model: str,
        *,
        url: str | None = None,
        key: str | None = None,
        timeout: float = 30.0,
        pause: Callable[[float], None] = time.sleep,
    ) -> None:
        super().__init__()
        self._model = model
        address, self._authorization = _split_credentials(url or self._default)
        self._url = _address(address, self._path)
        self._shown = self._url.partition("?")[0]
        if key:
            self._authorization = f"Bearer {key}"
        self._timeout = timeout
        self._pause = pause
        self._opener = _opener(self._url)

    @property
    def id(self) -> str:
        """The kind of server and the model's name there."""
        return f"{self._kind}:{self._model}"

    def _open(self) -> None:
        pass  # the first batch shows whether it responds

    def _vectors(self, texts: Sequence[str], query: bool) -> list[Any]:
        rows: list[Any] = []
        for start in range(0, len(texts), _BATCH):
            # Servers refuse a batch with an empty text.
            batch = [text[:_MAX_CHARACTERS] or " " for text in texts[start : start + _BATCH]]
            response = self._post({"model": self._model, "input": batch})
            try:
                found = self._rows(response)
            except (KeyError, TypeError, IndexError) as error:
                raise self._wrong(f"something that holds no embeddings ({_excerpt(response)})") from error
            if len(found) != len(batch):
                raise self._wrong(f"{len(found)} vectors for {len(batch)} texts")
            rows += found
        return rows

    @abstractmethod
    def _rows(self, response: Any) -> list[Any]:
        """The vectors in a response, in the order of the texts."""

    def _post(self, body: JsonObject) -> Any:
        headers = {"Content-Type": "application/json", "Accept": "application/json"}
        if self._authorization:
            headers["Authorization"] = self._authorization
        request = Request(self._url, json.dumps(body).encode(), headers, method="POST")
        for pause in (*_PAUSES, None):
            try:
                with self._opener.open(request, timeout=self._timeout) as response:
                    return json.loads(response.read(_MAX_BYTES))
            except HTTPError as error:
                with error:
                    if pause is None or not (error.code == 429 or error.code >= 500):
                        raise self._refused(error) from error
                    pause = max(pause, min(_seconds(error.headers.get("Retry-After")), _LONGEST_PAUSE))
            except TimeoutError as error:
                raise self._timed_out() from error
            except (URLError, HTTPException, ConnectionError) as error:
                reason = error.reason if isinstance(error, URLError) else error
                if isinstance(reason, TimeoutError):
                    raise self._timed_out() from error
                if pause is None or isinstance(reason, ConnectionRefusedError):
                    raise NoModel(
                        f"The embedding server at {self._shown} cannot be reached: {reason}",
                        hint="Start the server or correct its address; keyword search works without it.",
                        url=self._shown,
                    ) from error
            except ValueError as error:
                raise self._wrong("something that is not JSON") from error
            self._pause(pause)
        raise AssertionError("the last try either answers or raises")

    def _refused(self, error: HTTPError) -> NoModel:
        hint = {
            401: "Check the key of the embedding server.",
            403: "Check the key of the embedding server.",
            404: self._not_found.format(self._model),
            429: "Wait, or ask the provider for a higher limit; what is missing is embedded later.",
        }.get(error.code, "Look at the server's own log; keyword search works without it.")
        reason = _excerpt(error.read(400).decode("utf-8", "replace"))
        return NoModel(
            f"The embedding server at {self._shown} answered {error.code} for the model {self._model}: {reason}",
            hint=hint,
            url=self._shown,
            status=error.code,
        )

    def _timed_out(self) -> NoModel:
        return NoModel(
            f"The embedding server at {self._shown} did not answer within {self._timeout:g} s",
            hint="Use a faster model or allow more time; keyword search works meanwhile.",
            url=self._shown,
            timeout=self._timeout,
        )


class OpenAI(_Endpoint):
    """A model behind an OpenAI-compatible endpoint."""

    _kind = "openai"
    _default = "https://api.openai.com"
    _path = "/v1/embeddings"

    def _rows(self, response: Any) -> list[Any]:
        return [item["embedding"] for item in sorted(response["data"], key=lambda item: int(item.get("index", 0)))]


class Ollama(_Endpoint):
    """A model served by Ollama."""

    _kind = "ollama"
    _default = "http://127.0.0.1:11434"
    _path = "/api/embed"
    _not_found = "Run `ollama pull {}`, or check the address."

    def _rows(self, response: Any) -> list[Any]:
        return list(response["embeddings"])


class _NoRedirects(HTTPRedirectHandler):
    """Treats a redirect as a fault: the texts and the key are only for the configured server."""

    def redirect_request(self, *_: Any) -> None:
        return None


def _opener(url: str) -> OpenerDirector:
    # A local server is never behind the proxy.
    host = urlsplit(url).hostname or ""
    near = host in ("localhost", "::1") or host.startswith("127.")
    return build_opener(_NoRedirects, *([ProxyHandler({})] if near else []))


def _split_credentials(url: str) -> tuple[str, str | None]:
    """An address without its credentials, so that no message can contain them, and the header made of them."""
    start, is_address, rest = url.partition("://")
    who, is_named, _ = rest.partition("/")[0].rpartition("@")
    if not is_address or not is_named:
        return url, None
    from base64 import b64encode

    header = f"Basic {b64encode(unquote(who).encode()).decode()}"
    return f"{start}://{rest[len(who) + 1 :]}", header


def _address(url: str, path: str) -> str:
    """The full address, whether ``url`` ends at the host, at the version or with the full path."""
    parts = urlsplit(url)
    if parts.scheme not in ("http", "https") or not parts.hostname:
        raise Invalid(
            f"{url.rpartition('@')[2]!r} is no address of an embedding server",
            hint="Give one such as http://127.0.0.1:11434.",
        )
    url = url.rstrip("/")
    first, last = path.rsplit("/", 1)
    if url.endswith(path):
        return url
    return f"{url}/{last}" if url.endswith(first) else url + path


def _seconds(value: str | None) -> float:
    try:
        return float(value or 0)
    except ValueError:
        return 0.0


def _excerpt(value: object) -> str:
    text = " ".join(str(value).split())
    return text if len(text) <= 200 else text[:200] + "…"
