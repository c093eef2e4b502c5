"""Names: what stands after `password=`, `비밀번호:` or the name of a key, and is no word and no place-holder."""

from __future__ import annotations

import re
from collections.abc import Iterator

from polymnia.engine.secrets.looks import entropy, is_dummy, is_reference, mixed, varied

__all__ = ["named"]

_PASSWORDS = (
    "password", "passwd", "passphrase", "passcode", "pwd", "passwort", "kennwort", "contraseña", "mot de passe",
    "senha", "пароль", "비밀번호", "비밀 번호", "패스워드", "비번", "암호", "密码", "密碼", "口令", "パスワード",
    "暗証番号",
)  # fmt: skip
_KEYS = (
    "api_key", "api-key", "apikey", "api key", "secret", "token", "access_key", "access-key", "accesskey",
    "access key", "account_key", "accountkey", "auth_key", "authkey", "private_key", "privatekey", "encryption_key",
    "signing_key", "license_key", "client_key", "credential", "sharedaccesskey", "_key", "api 키", "api키", "토큰",
    "시크릿", "인증키", "비밀키", "访问密钥", "密钥",
)  # fmt: skip
_ASCII_CASE = {upper: upper + 32 for upper in range(65, 91)}
_ASSIGNED = re.compile(
    r"[\w-]{0,24}[\"'`*\])]{0,3}[ \t]{0,4}"
    r"(?P<sign>:=|=>|==?|:|：|→|(?:은|는|이|가|は)[ \t]|(?:is|ist|es|est|lautet)[ \t])[ \t*]{0,4}"
    r"(?:\r?\n[ \t]*)?(?P<quote>[\"'`]?)(?P<value>[^\s\"'`<>]{4,256})"
)
_PAIRED = re.compile(r"[\w-]{0,24}[\"'`]?[ \t]*,[ \t]*(?P<quote>[\"'`])(?P<value>[^\s\"'`<>,]{16,256})")
_UNSECRET = re.compile(
    r"(?i)(?:public|primary|foreign|cache|sort|partition|object|max|min|total|num|count|idempotency|csrf|page|next|"
    r"continuation|cancel|unique|ssh|kms|secret_?name|key_?name|shared)[ _-]?(?:access[ _-]?)?$"
)
_NAMES_IT = re.compile(
    r"(?i)[\w-]*?(?:name|_?ids?|count|limit|type|length|size|field|file|path|url|uri|hash|expir\w*|ttl|arn)\b"
)
_UUID = re.compile(r"[0-9a-fA-F]{8}(?:-[0-9a-fA-F]{4}){3}-[0-9a-fA-F]{12}")
_HEX = re.compile(r"(?:0x)?[0-9a-fA-F]+")
_NEXT = re.compile(r"&(?=[\w.-]+=)")  # the next parameter of an address; any other & may belong to a password
_TOKEN = re.compile(r"[A-Za-z0-9_+/=.~:%!@#$^&*-]+")


def named(text: str) -> Iterator[tuple[int, int, str]]:
    """Where credentials stand that are known by the name before them, and what they are."""
    small = text.lower()
    if len(small) != len(text):
        small = text.translate(_ASCII_CASE)
    for names, kind, judge in ((_PASSWORDS, "password", _is_password), (_KEYS, "secret", _is_key)):
        for name in names:
            at = small.find(name)
            while at >= 0:
                end = at + len(name)
                match = _ASSIGNED.match(text, end) or (_PAIRED.match(text, end) if kind == "secret" else None)
                if match:
                    start = match.start("value")
                    value = _whole(text, start, match["quote"]) or _trimmed(match["value"])
                    sign = match.groupdict().get("sign", "=")
                    before = text[max(0, at - 24) : at]
                    if not _NAMES_IT.match(text, end, start) and judge(value, bool(match["quote"]), sign, before, name):
                        yield start, start + len(value), kind
                    end = start + len(value)
                at = small.find(name, end)


def _whole(text: str, start: int, quote: str) -> str:
    """What stands between quotes, which may have spaces."""
    end = text.find(quote, start, start + 256) if quote else -1
    return "" if end < 0 or "\n" in text[start:end] else text[start:end]


def _trimmed(value: str) -> str:
    """A value without what ends a sentence, a list or a line of code."""
    value = _NEXT.split(value, maxsplit=1)[0]
    for sign in (";", ",", "|"):
        value = value.split(sign, 1)[0]
    return value.rstrip(".,;:)]}!?*\\…。") if not value.endswith("!") or len(value) < 8 else value


def _is_password(value: str, quoted: bool, sign: str, before: str, name: str) -> bool:
    if len(value) < 4 or len(set(value)) < 2 or is_dummy(value) or is_reference(value) or "://" in value:
        return False
    if not any(c.isascii() and c.isalnum() for c in value) or _UUID.fullmatch(value):
        return False
    if " " in value:
        return "=" in sign or name == "passphrase"
    if quoted:
        # A word in quotes after a colon is a label in more languages than one: "Passwort": "Kennwort".
        return value.isascii() and (sign in ("=", ":=", "=>") or mixed(value) or not value.istitle())
    if not value.isascii() or re.fullmatch(r"\d{1,3}|[a-z]+-?[a-z]*|\d+[-–]\d+", value):
        return False
    return any(c.isdigit() for c in value) or any(c in "!@#$%^&*" for c in value[:-1])


def _is_key(value: str, quoted: bool, sign: str, before: str, name: str) -> bool:
    if len(value) < 16 or not _TOKEN.fullmatch(value) or not varied(value) or _UUID.search(value):
        return False
    if (
        is_dummy(value)
        or is_reference(value)
        or "://" in value
        or value.startswith(("/", "data:", "sha256", "sha512", "ssh-"))
    ):
        return False
    if _UNSECRET.search(before) or not any(c.isdigit() for c in value) or not any(c.isalpha() for c in value):
        return False
    if _HEX.fullmatch(value):
        # Forty hexadecimal digits after a bare "token" or "key" may be a commit; after "api_key" they are a key.
        return (len(value) >= 24 and name not in ("_key", "token", "토큰")) or (
            len(value) >= 32 and "=" in sign and quoted
        )
    words = re.split(r"[-_./:]", value)
    if all(re.fullmatch(r"[A-Za-z]{0,14}|\d{0,4}|v?\d+", word) for word in words):
        return False  # a name made of words: `token-bucket-limiter-v2`
    return entropy(value) >= (3.4 if name in ("_key", "token", "토큰") and len(value) >= 24 else 3.0)
