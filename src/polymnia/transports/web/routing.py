"""Routing headers of the stateless era, which must agree with the message.

Proxies route by these headers without reading the message, so a server that believed the message alone could be made to
do what a proxy would not have let through.
"""

from __future__ import annotations

import re
from base64 import b64decode, b64encode
from collections.abc import Mapping
from typing import Any

import msgspec
from msgspec import UNSET, Raw, Struct, UnsetType, field

from polymnia.operation import Operation
from polymnia.schemas import JsonObject
from polymnia.transports.errors import (
    HEADER_MISMATCH,
    INVALID_PARAMS,
    INVALID_REQUEST,
    UNSUPPORTED_VERSION,
    Headers,
    Refusal,
)
from polymnia.transports.rpc import Message, Received, Server
from polymnia.transports.wire import HANDSHAKE_VERSIONS, MODERN_VERSIONS, PREFIX

_NAME_KEYS = {"tools/call": "name", "prompts/get": "name", "resources/read": "uri"}
_VERSION, _METHOD, _NAME, _PARAMETER = b"mcp-protocol-version", b"mcp-method", b"mcp-name", b"mcp-param-"
_WRAPPED = re.compile(r"=\?base64\?(.*)\?=")


class _Meta(Struct):
    version: Any = field(default=None, name=PREFIX + "protocolVersion")


class _Params(Struct):
    meta: _Meta | None = field(default=None, name="_meta")
    name: Any = None
    uri: Any = None
    arguments: Raw | UnsetType = UNSET


_params = msgspec.json.Decoder(_Params)
_arguments = msgspec.json.Decoder(JsonObject)


def is_modern(headers: Headers, received: Received, server: Server) -> bool:
    """Whether a message is of the stateless era; refused if its headers do not agree with it."""
    version = next((value.decode("latin-1") for name, value in headers if name == _VERSION), None)
    if not isinstance(received, Message):
        return _is_modern_version(version, is_batch=isinstance(received, list))
    try:
        params = _Params() if received.params is UNSET else _params.decode(received.params)
    except (msgspec.DecodeError, UnicodeDecodeError):
        return _is_modern_version(version)
    version_in_message = params.meta.version if params.meta is not None else None
    if version_in_message is None:
        if version in MODERN_VERSIONS and received.method is not UNSET and received.id is not UNSET:
            raise _refusal(INVALID_PARAMS, f"params._meta lacks the required key {PREFIX}protocolVersion", received)
        _check_known(version, received)
        return version in MODERN_VERSIONS
    if received.id is not UNSET:  # notifications carry no routing headers
        mismatch = _mismatch(headers, received, params, server.registry.operations)
        if mismatch is not None:
            raise _refusal(HEADER_MISMATCH, mismatch, received)
    return True


def _is_modern_version(version: str | None, *, is_batch: bool = False) -> bool:
    """The same for a message that cannot be decoded here: the protocol layer reports what is wrong."""
    _check_known(version, None)
    if version in MODERN_VERSIONS and is_batch:
        raise _refusal(INVALID_REQUEST, "The body must be one message", None)
    return version in MODERN_VERSIONS


def _check_known(version: str | None, read: Message | None) -> None:
    if version is not None and version not in HANDSHAKE_VERSIONS and version not in MODERN_VERSIONS:
        data = {"supported": [*HANDSHAKE_VERSIONS, *MODERN_VERSIONS], "requested": version}
        raise _refusal(UNSUPPORTED_VERSION, f"Unsupported protocol version {version}", read, data)


def _refusal(code: int, text: str, read: Message | None, data: Any = None) -> Refusal:
    id = None if read is None or read.id is UNSET else read.id
    return Refusal(400, text, code=code, data=data, id=id)


def _mismatch(headers: Headers, read: Message, params: _Params, operations: Mapping[str, Operation]) -> str | None:
    """How headers and message disagree; None if they agree."""
    given: dict[bytes, str] = {}
    for name, value in headers:
        if name in (_VERSION, _METHOD, _NAME) or name.startswith(_PARAMETER):
            if name in given:
                return f"{name.decode('latin-1')} is given twice"
            given[name] = value.decode("latin-1").strip(" \t")
    if given.get(_VERSION) != params.meta.version:  # type: ignore[union-attr]
        return "MCP-Protocol-Version is not the protocol version of the message"
    if given.get(_METHOD) != read.method:
        return "Mcp-Method is not the method of the message"
    key = _NAME_KEYS.get(str(read.method))
    if key is not None and (named := getattr(params, key)) is not None and _decoded_header(given.get(_NAME)) != named:
        return f"Mcp-Name is not the {key} of the message"
    tool = operations.get(params.name) if read.method == "tools/call" and isinstance(params.name, str) else None
    return None if tool is None or not tool.headers else _parameter_mismatch(tool, params, given)


def _parameter_mismatch(tool: Operation, params: _Params, given: Mapping[bytes, str]) -> str | None:
    """How parameters and the headers that repeat them disagree."""
    try:
        arguments = {} if params.arguments is UNSET else _arguments.decode(params.arguments)
    except (msgspec.DecodeError, UnicodeDecodeError):
        return None  # the tool reports what is wrong with them
    for parameter, header in tool.headers.items():
        value = arguments.get(parameter)
        repeated = given.get(_PARAMETER + header.lower().encode())
        written = str(value).lower() if isinstance(value, bool) else None if value is None else str(value)
        if _decoded_header(repeated) != written or (repeated is None) != (written is None):
            return f"Mcp-Param-{header} is not the parameter {parameter} of the message"
    return None


def _decoded_header(value: str | None) -> str | None:
    """A header's decoded value: what a header cannot hold is encoded as base64."""
    wrapped = _WRAPPED.fullmatch(value or "")
    if wrapped is None:
        return value
    try:
        data = b64decode(wrapped[1], validate=True)
        return data.decode() if b64encode(data).decode() == wrapped[1] else None
    except ValueError:
        return None
