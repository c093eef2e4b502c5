"""Finds credentials in a text, by their format or by the name before them."""

from __future__ import annotations

import re
from collections.abc import Iterator
from math import log2

from msgspec import Struct

_Place = tuple[int, int, str]
"""The start, end and kind of a credential."""

# Kind, a substring of every match (checked first), and the pattern.
_TABLE = r"""
aws_access_key AKIA AKIA[A-Z0-9]{16}
aws_access_key ASIA ASIA[A-Z0-9]{16}
google_api_key AIza AIza[\w-]{35}
google_oauth_secret GOCSPX- GOCSPX-[\w-]{24,32}
google_oauth_token ya29. ya29\.[\w-]{20,}
azure_client_secret 8Q~ [\w~.-]{3}8Q~[\w~.-]{31,34}
github_token gh gh[pousr]_[A-Za-z0-9]{30,255}
github_token github_pat_ github_pat_\w{22,255}
gitlab_token gl gl(?:pat|dt|rt|cbt|ptt|agent|oas|soat|ft|imt)-[\w-]{20,}(?:\.[\w-]{4,}){0,3}
slack_token xox xox[abeoprs]-[\w-]{10,}
slack_token xapp- xapp-\d-[\w-]{20,}
stripe_key k_ [sr]k_(?:live|test)_[A-Za-z0-9]{16,}
stripe_webhook_secret whsec_ whsec_[A-Za-z0-9+/=]{24,}
anthropic_key sk-ant- sk-ant-[\w-]{16,}
openai_key sk- sk-(?!ant-)(?:proj-|svcacct-|admin-|or-v1-)?[\w-]{20,}
huggingface_token hf_ hf_[A-Za-z0-9]{30,}
npm_token npm_ npm_[A-Za-z0-9]{36}
pypi_token pypi- pypi-[\w-]{50,}
sendgrid_key SG. SG\.[\w-]{16,32}\.[\w-]{32,64}
twilio_key SK SK[0-9a-f]{32}
digitalocean_token _v1_ do[opr]_v1_[0-9a-f]{64}
shopify_token shp shp(?:at|ca|pa|ss)_[0-9a-fA-F]{32}
telegram_token :AA \d{8,10}:AA[\w-]{32,34}
notion_token ntn_ ntn_[A-Za-z0-9]{40,}
linear_key lin_api_ lin_api_[A-Za-z0-9]{32,}
databricks_token dapi dapi[0-9a-f]{32}
age_key AGE-SECRET-KEY- AGE-SECRET-KEY-1[0-9A-Z]{58}
jwt eyJ eyJ[\w-]{8,}\.eyJ[\w-]{8,}\.[\w-]{8,}
"""
_FORMS = [
    (kind, hint, re.compile(rf"(?<![A-Za-z0-9_+/=-])(?:{pattern})(?![A-Za-z0-9_+/-])"))
    for kind, hint, pattern in map(str.split, _TABLE.strip().splitlines())
]
_SLACK_HOOK = re.compile(r"hooks\.slack\.com/(?:services|workflows)/([A-Z0-9]{6,}/[A-Z0-9]{6,}/[A-Za-z0-9]{16,})")
_BEGIN = re.compile(r"-----BEGIN ((?:[A-Z0-9]{1,12} ){0,4})PRIVATE KEY(?: BLOCK)?-----")
_FINISH = re.compile(r"-----END (?:[A-Z0-9]{1,12} ){0,4}PRIVATE KEY(?: BLOCK)?-----")
_LONGEST_KEY = 20_000
_URL = re.compile(r"://[^\s/:@\"'<>`|\\]{0,128}:([^\s/@\"'<>`|\\]{1,256})@[\w\[]")
_SCHEME = re.compile(r"[A-Za-z][A-Za-z0-9+.-]{1,29}$")
_STORES = frozenset(
    """
    postgres postgresql mysql mariadb mongodb redis rediss amqp amqps mssql sqlserver oracle cockroachdb clickhouse
    kafka ldap ldaps nats cassandra neo4j bolt
    """.split()
)
_AUTHORIZATION = re.compile(r"(?i:\b(bearer|basic|token))[ \t]+([A-Za-z0-9_.~+/-]{16,}={0,2})")
_CARD = re.compile(  # starts with a digit: four times as fast as starting with the lookbehind
    r"[0-9](?<![\w.,+/-][0-9])(?:[0-9]{3}([ -])[0-9]{4}\1[0-9]{4}\1[0-9]{4}|[0-9]{3}([ -])[0-9]{6}\2[0-9]{5}"
    r"|[0-9]{12,15}|[0-9]{18})(?![\w/-]|[.,]\d)"
)
_ISSUER = re.compile(
    r"4|5[1-5]|2(?:22[1-9]|2[3-9]|[3-6]|7[01]|720)|3[47]|6(?:011|4[4-9]|5)|35(?:2[89]|[3-8])|62|9[0-9]{3}(?=\d{12}$)"
)
_LENGTHS = {"3": (15, 16), "4": (13, 16, 19), "5": (16,), "2": (16,), "6": (16, 19), "9": (16,)}

_PASSWORDS = (
    "password|passwd|passphrase|passcode|pwd|passwort|kennwort|contraseña|mot de passe|senha|пароль|비밀번호|"
    "비밀 번호|패스워드|비번|암호|密码|密碼|口令|パスワード|暗証番号"
).split("|")
_KEYS = (
    "api_key|api-key|apikey|api key|secret|token|access_key|access-key|accesskey|access key|account_key|"
    "accountkey|auth_key|authkey|private_key|privatekey|encryption_key|signing_key|license_key|client_key|"
    "credential|sharedaccesskey|_key|api 키|api키|토큰|시크릿|인증키|비밀키|访问密钥|密钥"
).split("|")
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
_NEXT = re.compile(r"&(?=[\w.-]+=)")  # the next URL parameter; any other & may belong to a password
_TOKEN = re.compile(r"[A-Za-z0-9_+/=.~:%!@#$^&*-]+")

# One component of a placeholder value.
_DUMMY = re.compile(
    r"(?i)(?:your|my|the|an?|some|insert|replace|change(?:me)?|enter|put|add|here|this|with|real|own|actual|example|sample"
    r"|dummy|fake|test(?:ing)?|placeholder|todo|tbd|none|null|undefined|true|false|secret|password|passwd|passphrase|pass"
    r"|pwd|tokens?|api|app|keys?|access|client|user(?:name)?|value|string|redacted|hidden|masked|omitted|removed|default"
    r"|auth|bearer|id|goes|me|it|x{3,}|…|[\W_\d])"
)
_REFERENCE = re.compile(
    r"\$[A-Za-z_{(]|\{\{|\{[A-Za-z_]|%[A-Za-z_({]|<|\w+(?:\.\w+)*[(\[]|(?:os|process|self|env|config|settings|secrets|vault|var|ENV)[.:\[]"
)


class Secret(Struct, frozen=True):
    """A credential: its kind, its position in the text, and its masked form."""

    kind: str
    start: int
    end: int
    shown: str


def found(text: str) -> list[Secret]:
    """The credentials in a text, in text order and without overlaps."""
    secrets: list[Secret] = []
    end = 0
    places = (*_tokens(text), *_private_keys(text), *_in_urls(text), *_cards(text), *_named(text))
    # A known token inside a longer named value: the longer one wins, as it hides more.
    for start, stop, kind in sorted(places, key=lambda one: (one[0], -one[1])):
        if start >= end:
            secrets.append(Secret(kind, start, stop, _shown(kind, text[start:stop])))
            end = stop
    return secrets


def masked(text: str) -> str:
    """The text with each credential replaced by its masked form."""
    parts: list[str] = []
    end = 0
    for secret in found(text):
        parts += (text[end : secret.start], secret.shown)
        end = secret.end
    return "".join((*parts, text[end:]))


def _shown(kind: str, token: str) -> str:
    """The masked form of a credential: enough to recognize it, not enough to use it."""
    if kind == "private_key":
        return f"{token[: token.index('-----', 5) + 5]}…"
    if kind == "credit_card":
        return f"…{token[-4:]}"
    if kind in ("password", "url_password", "connection_string") or len(token) < 16:
        return "****"
    return f"{token[:4]}…{token[-4:]}"


def _tokens(text: str) -> Iterator[_Place]:
    for kind, hint, pattern in _FORMS:
        for match in pattern.finditer(text) if hint in text else ():
            token = match.group()
            if _varied(token) and (kind != "jwt" or _is_jwt(token)) and (kind != "openai_key" or _mixed(token)):
                yield match.start(), match.end(), kind
    for match in _SLACK_HOOK.finditer(text):
        if _varied(match[1]):
            yield match.start(1), match.end(1), "slack_webhook"
    if "earer" in text or "uthorization" in text or "UTHORIZATION" in text:
        for match in _AUTHORIZATION.finditer(text):
            if _mixed(match[2]) and _entropy(match[2]) >= 3 and not _is_dummy(match[2]):
                yield match.start(2), match.end(2), "authorization"


def _private_keys(text: str) -> Iterator[_Place]:
    end = 0
    for match in _BEGIN.finditer(text):
        if match.start() < end:
            continue
        last = _FINISH.search(text, match.end(), match.end() + _LONGEST_KEY)
        end = last.end() if last else _base64_end(text, match.end())
        body = text[match.end() : last.start() if last else end]
        if sum(c.isalnum() for c in body) >= 16 and "..." not in body[:80]:
            yield match.start(), end, "private_key"


def _base64_end(text: str, at: int) -> int:
    """The end of a private key without a closing line."""
    match = re.compile(r"(?:[\s\\nr]{0,8}[A-Za-z0-9+/=]{16,80}){0,200}").match(text, at)
    return match.end() if match else at


def _in_urls(text: str) -> Iterator[_Place]:
    for match in _URL.finditer(text):
        word = match[1]
        if _is_dummy(word) or _is_reference(word) or len(set(word)) < 3:
            continue
        scheme = _SCHEME.search(text, max(0, match.start() - 30), match.start())
        base = scheme.group().lower().split("+")[0] if scheme else ""
        yield match.start(1), match.end(1), "connection_string" if base in _STORES else "url_password"


def _cards(text: str) -> Iterator[_Place]:
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


def _named(text: str) -> Iterator[_Place]:
    """Find credentials by the name before them, such as ``password =``."""
    lowered = text.lower()
    if len(lowered) != len(text):
        lowered = text.translate(_ASCII_CASE)
    for names, kind, is_credential in ((_PASSWORDS, "password", _is_password), (_KEYS, "secret", _is_key)):
        for name in names:
            at = lowered.find(name)
            while at >= 0:
                end = at + len(name)
                match = _ASSIGNED.match(text, end) or (_PAIRED.match(text, end) if kind == "secret" else None)
                if match:
                    start = match.start("value")
                    value = _whole(text, start, match["quote"]) or _trimmed(match["value"])
                    sign = match.groupdict().get("sign", "=")
                    before = text[max(0, at - 24) : at]
                    if not _NAMES_IT.match(text, end, start) and is_credential(
                        value, bool(match["quote"]), sign, before, name
                    ):
                        yield start, start + len(value), kind
                    end = start + len(value)
                at = lowered.find(name, end)


def _whole(text: str, start: int, quote: str) -> str:
    """The value up to the closing quote, including spaces; empty if there is none on the line."""
    end = text.find(quote, start, start + 256) if quote else -1
    return "" if end < 0 or "\n" in text[start:end] else text[start:end]


def _trimmed(value: str) -> str:
    """A value without trailing punctuation of a sentence, a list or a line of code."""
    value = _NEXT.split(value, maxsplit=1)[0]
    for sign in (";", ",", "|"):
        value = value.split(sign, 1)[0]
    return value.rstrip(".,;:)]}!?*\\…。") if not value.endswith("!") or len(value) < 8 else value


def _is_password(value: str, quoted: bool, sign: str, before: str, name: str) -> bool:
    if len(value) < 4 or len(set(value)) < 2 or _is_dummy(value) or _is_reference(value) or "://" in value:
        return False
    if not any(c.isascii() and c.isalnum() for c in value) or _UUID.fullmatch(value):
        return False
    if " " in value:
        return "=" in sign or name == "passphrase"
    if quoted:
        # A quoted word after a colon is often a translated label: "Passwort": "Kennwort".
        return value.isascii() and (sign in ("=", ":=", "=>") or _mixed(value) or not value.istitle())
    if not value.isascii() or re.fullmatch(r"\d{1,3}|[a-z]+-?[a-z]*|\d+[-–]\d+", value):
        return False
    return any(c.isdigit() for c in value) or any(c in "!@#$%^&*" for c in value[:-1])


def _is_key(value: str, quoted: bool, sign: str, before: str, name: str) -> bool:
    if len(value) < 16 or not _TOKEN.fullmatch(value) or not _varied(value) or _UUID.search(value):
        return False
    if (
        _is_dummy(value)
        or _is_reference(value)
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
    return _entropy(value) >= (3.4 if name in ("_key", "token", "토큰") and len(value) >= 24 else 3.0)


def _is_dummy(value: str) -> bool:
    """Whether a value is a placeholder: YOUR_API_KEY, xxxx, ****, changeme."""
    return not _DUMMY.sub("", value) and not value.isdigit()


def _varied(token: str) -> bool:
    """Whether a token is not just a repeated character, as in the placeholder sk-xxxxxxxxxxxxxxxxxxxx."""
    return re.search(r"([xX0.*])\1{7}|(.)\2{11}", token) is None and len(set(token)) >= 8


def _is_reference(value: str) -> bool:
    """Whether a value refers to where the real one is stored: ${TOKEN}, os.environ[...], getpass()."""
    return _REFERENCE.match(value) is not None


def _mixed(token: str) -> bool:
    """Whether a token has letters and digits."""
    return any(c.isdigit() for c in token) and any(c.isalpha() for c in token)


def _entropy(token: str) -> float:
    """The Shannon entropy of the token, in bits per character."""
    counts = (token.count(c) / len(token) for c in set(token))
    return -sum(share * log2(share) for share in counts)
