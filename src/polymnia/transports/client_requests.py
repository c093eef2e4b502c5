"""Requests to a client: questions to its user (elicitation) and to its model (sampling).

In the handshake era our request goes out while the call runs, and the call waits for the client's response. In the
stateless era nothing waits: the call is answered with its question (``input_required``), and the client calls again
with the answer. The server keeps nothing between the two, so earlier answers travel in ``requestState``, signed.
"""

from __future__ import annotations

import hashlib
import hmac
import os
import time
from base64 import urlsafe_b64decode, urlsafe_b64encode
from collections.abc import Callable
from functools import partial
from queue import Empty, SimpleQueue
from typing import Any, Literal

import msgspec
from msgspec import UNSET, Raw, Struct
from msgspec.json import encode

from polymnia.errors import Cancelled
from polymnia.operation import Context
from polymnia.schemas import JsonObject
from polymnia.transports.errors import INVALID_PARAMS, InputRequired, RpcError
from polymnia.transports.rpc import Message, Request
from polymnia.transports.wire import CallTool

ANSWER_SECONDS = 300.0  # in which a client must respond
_MOST_WAITING = 8  # calls of one client that wait for it at once
_SIGNATURE = hashlib.sha256().digest_size
_YES_OR_NO = {"type": "object", "properties": {"yes": {"type": "boolean", "title": "Yes"}}, "required": ["yes"]}

Ask = Callable[[str, JsonObject], Raw | None]
"""Makes a request to the client, by its method and parameters; returns its result, None without one."""


class _Elicited(Struct):
    action: Literal["accept", "decline", "cancel"]
    content: Any = None


class _Choice(Struct):
    yes: bool


class _Sampled(Struct):
    content: Any


class _Block(Struct):
    type: str
    text: str = ""


class _State(Struct):
    """What a call that was answered with a question tells the call that brings the answer."""

    caller: tuple[str | None, str | None]
    call: str  # a digest of the tool and its arguments
    until: float
    asked: str  # the key of the question
    answers: dict[str, Raw]  # to earlier ones


_elicited = msgspec.json.Decoder(_Elicited)
_sampled = msgspec.json.Decoder(_Sampled)
_text = msgspec.json.Decoder(str)
_state = msgspec.json.Decoder(_State)
_responses = msgspec.json.Decoder(dict[str, Raw])


def offer(context: Context, request: Request, given: CallTool) -> None:
    """Give an operation the means to ask that its client has declared and the transport can carry."""
    declared = request.meta.capabilities if request.modern and request.meta else request.connection.capabilities
    if not isinstance(declared, dict):
        return
    if request.modern:
        ask: Ask = _Rounds(request, given).ask
    elif request.can_ask:
        ask = partial(_ask, request)
    else:
        return
    elicitation = declared.get("elicitation")
    if isinstance(elicitation, dict) and (not elicitation or "form" in elicitation):  # not only by URL
        context.confirm = partial(_confirm, ask)
    if isinstance(declared.get("sampling"), dict):
        context.sample = partial(_sample, ask)


def _confirm(ask: Ask, question: str) -> bool | None:
    result = ask("elicitation/create", {"message": question, "requestedSchema": _YES_OR_NO})
    try:
        elicited = None if result is None else _elicited.decode(result)
        if elicited is None or elicited.action == "cancel":
            return None
        return elicited.action == "accept" and msgspec.convert(elicited.content, _Choice).yes
    except (msgspec.DecodeError, UnicodeDecodeError):
        return None


def _sample(ask: Ask, system: str, text: str, tokens: int) -> str | None:
    message = {"role": "user", "content": {"type": "text", "text": text}}
    result = ask("sampling/createMessage", {"messages": [message], "systemPrompt": system, "maxTokens": tokens})
    try:
        content = None if result is None else _sampled.decode(result).content
        blocks = msgspec.convert(content if isinstance(content, list) else [content], list[_Block])
    except (msgspec.DecodeError, UnicodeDecodeError):
        return None
    texts = [block.text for block in blocks if block.type == "text"]
    return "".join(texts) if texts else None


# ── the handshake era ─────────────────────────────────────────────────────────────────────────────────


def _ask(request: Request, method: str, params: JsonObject) -> Raw | None:
    """Send the client a request and wait for its response; raises Cancelled if the call is cancelled meanwhile."""
    connection, queue = request.connection, request.queue
    if len(connection.questions) >= _MOST_WAITING:
        return None
    id = f"polymnia-{os.urandom(8).hex()}"  # no client's own
    waiting: SimpleQueue[Message | None] = SimpleQueue()
    connection.questions[id] = waiting
    request.question = id
    begun = time.monotonic()
    response = None
    # Whatever ends the waiting finds the question from here on, or is found here.
    ended = connection.gone or request.cancelled or not request.can_ask
    if ended or (queue is not None and not queue.pause(request)):
        request.question = None
        connection.give_up(id)
    else:
        try:
            request.ask(method, params)
            response = _response(request, waiting)
        finally:
            if queue is not None:
                queue.resume(request)
            request.waited += time.monotonic() - begun
    if request.cancelled:
        raise Cancelled("The request was cancelled while it waited for the client; nothing was changed")
    return None if response is None or response.error is not UNSET or response.result is UNSET else response.result


def _response(request: Request, waiting: SimpleQueue[Message | None]) -> Message | None:
    try:
        response = waiting.get(timeout=ANSWER_SECONDS)
    except Empty:
        request.retract("No response came in time")
        response = waiting.get()  # None, or the response if it came at the last moment
    if response is None:
        request.retract("The response is no longer needed")
    request.question = None
    return response


# ── the stateless era ─────────────────────────────────────────────────────────────────────────────────


class _Rounds:
    """One call of several that ask a question each: what the calls before it were answered."""

    def __init__(self, request: Request, given: CallTool) -> None:
        connection = request.connection
        self._caller = connection.user, connection.account
        self._call = _digest([connection.server.registry.name, given.name, msgspec.json.decode(request.arguments)])
        self._secret = connection.server.secret
        self._answers: dict[str, Raw] = {}
        if given.requestState is UNSET:
            return
        state = _opened(given.requestState, self._secret)
        if state is None or (state.caller, state.call) != (self._caller, self._call) or state.until < time.time():
            text = "requestState is not what this server gave this call, or it has expired; call again without it"
            raise RpcError(INVALID_PARAMS, text)
        self._answers = state.answers
        try:
            responses = {} if given.inputResponses is UNSET else _responses.decode(given.inputResponses)
        except (msgspec.DecodeError, UnicodeDecodeError) as e:
            raise RpcError(INVALID_PARAMS, f"inputResponses must be an object of responses: {e}") from None
        if state.asked in responses:
            self._answers[state.asked] = responses[state.asked]

    def ask(self, method: str, params: JsonObject) -> Raw:
        """The client's answer; raises InputRequired where it has not been given yet."""
        key = _digest([method, params])
        if key in self._answers:
            return self._answers[key]
        state = _State(self._caller, self._call, time.time() + ANSWER_SECONDS, key, self._answers)
        result = {
            "inputRequests": {key: {"method": method, "params": params}},
            "requestState": _sealed(state, self._secret),
        }
        raise InputRequired({"resultType": "input_required", **result})


def _digest(value: Any) -> str:
    return hashlib.sha256(encode(value, order="sorted")).hexdigest()[:32]


def _sealed(state: _State, secret: bytes) -> str:
    data = encode(state)
    return urlsafe_b64encode(hmac.digest(secret, data, "sha256") + data).decode()


def _opened(sealed: Raw, secret: bytes) -> _State | None:
    """The state a client brings back; None if we did not write it."""
    try:
        text = _text.decode(sealed)
        state = _state.decode(urlsafe_b64decode(text)[_SIGNATURE:])
        return state if hmac.compare_digest(text.encode(), _sealed(state, secret).encode()) else None
    except (ValueError, msgspec.DecodeError):
        return None
