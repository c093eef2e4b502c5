"""Forms: credentials that are known by their looks, whatever stands around them."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import NamedTuple

from polymnia.engine.secrets.looks import entropy, is_dummy, is_reference, mixed, varied

__all__ = ["formed"]

_START = r"(?<![A-Za-z0-9_+/=-])"
_END = r"(?![A-Za-z0-9_+/-])"


class _Form(NamedTuple):
    """A kind of token that is known by its looks. ``hint`` stands in every one of them."""

    kind: str
    hint: str
    pattern: re.Pattern[str]


def _form(kind: str, hint: str, pattern: str) -> _Form:
    return _Form(kind, hint, re.compile(f"{_START}{pattern}{_END}"))


_FORMS = (
    _form("aws_access_key", "AKIA", "AKIA[A-Z0-9]{16}"),
    _form("aws_access_key", "ASIA", "ASIA[A-Z0-9]{16}"),
    _form("google_api_key", "AIza", r"AIza[\w-]{35}"),
    _form("google_oauth_secret", "GOCSPX-", r"GOCSPX-[\w-]{24,32}"),
    _form("google_oauth_token", "ya29.", r"ya29\.[\w-]{20,}"),
    _form("azure_client_secret", "8Q~", r"[\w~.-]{3}8Q~[\w~.-]{31,34}"),
    _form("github_token", "gh", r"gh[pousr]_[A-Za-z0-9]{30,255}"),
    _form("github_token", "github_pat_", r"github_pat_\w{22,255}"),
    _form("gitlab_token", "gl", r"gl(?:pat|dt|rt|cbt|ptt|agent|oas|soat|ft|imt)-[\w-]{20,}(?:\.[\w-]{4,}){0,3}"),
    _form("slack_token", "xox", r"xox[abeoprs]-[\w-]{10,}"),
    _form("slack_token", "xapp-", r"xapp-\d-[\w-]{20,}"),
    _form("stripe_key", "k_", r"[sr]k_(?:live|test)_[A-Za-z0-9]{16,}"),
    _form("stripe_webhook_secret", "whsec_", r"whsec_[A-Za-z0-9+/=]{24,}"),
    _form("anthropic_key", "sk-ant-", r"sk-ant-[\w-]{16,}"),
    _form("openai_key", "sk-", r"sk-(?!ant-)(?:proj-|svcacct-|admin-|or-v1-)?[\w-]{20,}"),
    _form("huggingface_token", "hf_", r"hf_[A-Za-z0-9]{30,}"),
    _form("npm_token", "npm_", r"npm_[A-Za-z0-9]{36}"),
    _form("pypi_token", "pypi-", r"pypi-[\w-]{50,}"),
    _form("sendgrid_key", "SG.", r"SG\.[\w-]{16,32}\.[\w-]{32,64}"),
    _form("twilio_key", "SK", r"SK[0-9a-f]{32}"),
    _form("digitalocean_token", "_v1_", r"do[opr]_v1_[0-9a-f]{64}"),
    _form("shopify_token", "shp", r"shp(?:at|ca|pa|ss)_[0-9a-fA-F]{32}"),
    _form("telegram_token", ":AA", r"\d{8,10}:AA[\w-]{32,34}"),
    _form("notion_token", "ntn_", r"ntn_[A-Za-z0-9]{40,}"),
    _form("linear_key", "lin_api_", r"lin_api_[A-Za-z0-9]{32,}"),
    _form("databricks_token", "dapi", r"dapi[0-9a-f]{32}"),
    _form("age_key", "AGE-SECRET-KEY-", r"AGE-SECRET-KEY-1[0-9A-Z]{58}"),
    _form("jwt", "eyJ", r"eyJ[\w-]{8,}\.eyJ[\w-]{8,}\.[\w-]{8,}"),
)  # fmt: skip

_SLACK_HOOK = re.compile(r"hooks\.slack\.com/(?:services|workflows)/([A-Z0-9]{6,}/[A-Z0-9]{6,}/[A-Za-z0-9]{16,})")
_BEGIN = re.compile(r"-----BEGIN ((?:[A-Z0-9]{1,12} ){0,4})PRIVATE KEY(?: BLOCK)?-----")
_FINISH = re.compile(r"-----END (?:[A-Z0-9]{1,12} ){0,4}PRIVATE KEY(?: BLOCK)?-----")
_LONGEST_KEY = 20_000
_URL = re.compile(r"://[^\s/:@\"'<>`|\\]{0,128}:([^\s/@\"'<>`|\\]{1,256})@[\w\[]")
_SCHEME = re.compile(r"[A-Za-z][A-Za-z0-9+.-]{1,29}$")
_STORES = frozenset({
    "postgres", "postgresql", "mysql", "mariadb", "mongodb", "redis", "rediss", "amqp", "amqps", "mssql", "sqlserver",
    "oracle", "cockroachdb", "clickhouse", "kafka", "ldap", "ldaps", "nats", "cassandra", "neo4j", "bolt",
})  # fmt: skip
_AUTHORIZATION = re.compile(r"(?i:\b(bearer|basic|token))[ \t]+([A-Za-z0-9_.~+/-]{16,}={0,2})")
_CARD = re.compile(  # begins with a digit, which is looked for four times as fast as what is not before it
    r"[0-9](?<![\w.,+/-][0-9])(?:[0-9]{3}([ -])[0-9]{4}\1[0-9]{4}\1[0-9]{4}|[0-9]{3}([ -])[0-9]{6}\2[0-9]{5}"
    r"|[0-9]{12,15}|[0-9]{18})(?![\w/-]|[.,]\d)"
)
_ISSUER = re.compile(
    r"4|5[1-5]|2(?:22[1-9]|2[3-9]|[3-6]|7[01]|720)|3[47]|6(?:011|4[4-9]|5)|35(?:2[89]|[3-8])|62|9[0-9]{3}(?=\d{12}$)"
)
_LENGTHS = {"3": (15, 16), "4": (13, 16, 19), "5": (16,), "2": (16,), "6": (16, 19), "9": (16,)}


def formed(text: str) -> Iterator[tuple[int, int, str]]:
    """Where credentials of a known form begin and end, and what they are."""
    yield from _tokens(text)
    if "PRIVATE KEY" in text:
        yield from _private_keys(text)
    if "://" in text:
        yield from _in_urls(text)
    yield from _cards(text)


def _tokens(text: str) -> Iterator[tuple[int, int, str]]:
    for form in _FORMS:
        if form.hint not in text:
            continue
        for match in form.pattern.finditer(text):
            token = match.group()
            if varied(token) and (form.kind != "jwt" or _is_jwt(token)) and (form.kind != "openai_key" or mixed(token)):
                yield match.start(), match.end(), form.kind
    if "hooks.slack.com" in text:
        for match in _SLACK_HOOK.finditer(text):
            if varied(match[1]):
                yield match.start(1), match.end(1), "slack_webhook"
    if "earer" in text or "uthorization" in text or "UTHORIZATION" in text or "authorization" in text:
        for match in _AUTHORIZATION.finditer(text):
            if mixed(match[2]) and entropy(match[2]) >= 3 and not is_dummy(match[2]):
                yield match.start(2), match.end(2), "authorization"


def _private_keys(text: str) -> Iterator[tuple[int, int, str]]:
    done = 0
    for match in _BEGIN.finditer(text):
        if match.start() < done:
            continue
        last = _FINISH.search(text, match.end(), match.end() + _LONGEST_KEY)
        done = last.end() if last else _base64_end(text, match.end())
        body = text[match.end() : last.start() if last else done]
        if sum(c.isalnum() for c in body) >= 16 and "..." not in body[:80]:
            yield match.start(), done, "private_key"


def _base64_end(text: str, at: int) -> int:
    """Where the lines of a key end whose last line is missing."""
    match = re.compile(r"(?:[\s\\nr]{0,8}[A-Za-z0-9+/=]{16,80}){0,200}").match(text, at)
    return match.end() if match else at


def _in_urls(text: str) -> Iterator[tuple[int, int, str]]:
    for match in _URL.finditer(text):
        word = match[1]
        if is_dummy(word) or is_reference(word) or len(set(word)) < 3:
            continue
        scheme = _SCHEME.search(text, max(0, match.start() - 30), match.start())
        base = scheme.group().lower().split("+")[0] if scheme else ""
        yield match.start(1), match.end(1), "connection_string" if base in _STORES else "url_password"


def _cards(text: str) -> Iterator[tuple[int, int, str]]:
    for match in _CARD.finditer(text):
        digits = match.group().replace(" ", "").replace("-", "")
        if not digits.isascii() or len(set(digits)) < 2 or len(digits) not in _LENGTHS.get(digits[0], ()):
            continue
        if _ISSUER.match(digits) and _luhn(digits):
            yield match.start(), match.end(), "credit_card"


def _luhn(digits: str) -> bool:
    doubled = (sum(divmod(2 * int(c), 10)) for c in digits[-2::-2])
    return (sum(doubled) + sum(int(c) for c in digits[-1::-2])) % 10 == 0


def _is_jwt(token: str) -> bool:
    from base64 import urlsafe_b64decode

    head = token.split(".", 1)[0]
    try:
        return b'"' in urlsafe_b64decode(head + "=" * (-len(head) % 4))
    except ValueError:
        return False
