"""Looks: whether a token is random enough to be a credential, or only holds the place of one."""

from __future__ import annotations

import re
from math import log2

__all__ = ["entropy", "is_dummy", "is_reference", "mixed", "varied"]

# One piece of a value that holds a place.
_DUMMY = re.compile(
    r"(?i)(?:your|my|the|an?|some|insert|replace|change(?:me)?|enter|put|add|here|this|with|real|own|actual|example|sample"
    r"|dummy|fake|test(?:ing)?|placeholder|todo|tbd|none|null|undefined|true|false|secret|password|passwd|passphrase|pass"
    r"|pwd|tokens?|api|app|keys?|access|client|user(?:name)?|value|string|redacted|hidden|masked|omitted|removed|default"
    r"|auth|bearer|id|goes|me|it|x{3,}|…|[\W_\d])"
)
_REFERENCE = re.compile(
    r"\$[A-Za-z_{(]|\{\{|\{[A-Za-z_]|%[A-Za-z_({]|<|\w+(?:\.\w+)*[(\[]|(?:os|process|self|env|config|settings|secrets|vault|var|ENV)[.:\[]"
)


def is_dummy(value: str) -> bool:
    """Whether a value only holds the place of one: YOUR_API_KEY, xxxx, ****, changeme."""
    return not _DUMMY.sub("", value) and not value.isdigit()


def varied(token: str) -> bool:
    """Whether a token is more than one sign again and again: sk-xxxxxxxxxxxxxxxxxxxx holds a place."""
    return re.search(r"([xX0.*])\1{7}|(.)\2{11}", token) is None and len(set(token)) >= 8


def is_reference(value: str) -> bool:
    """Whether a value names where the real one is kept: ${TOKEN}, os.environ[...], getpass()."""
    return _REFERENCE.match(value) is not None


def mixed(token: str) -> bool:
    """Whether a token has letters and digits."""
    return any(c.isdigit() for c in token) and any(c.isalpha() for c in token)


def entropy(token: str) -> float:
    """How many bits a character of the token tells."""
    counts = (token.count(c) / len(token) for c in set(token))
    return -sum(share * log2(share) for share in counts)
