"""Credentials are found by their form or their name, and ordinary text raises no alarm."""

from __future__ import annotations

import string

import pytest
from hypothesis import given
from hypothesis import strategies as st

from form import each
from polymnia.engine.privacy.secrets import found, masked

# Tokens are put together here, so that no scanner takes this file for a leak.
_TOKENS = {
    "aws_access_key": "AK" + "IA2E0A8F3B244C7QXB",
    "google_api_key": "AI" + "za" + "SyA1b2C3d4E5f6G7h8I9j0K1l2M3n4O5p6Q",
    "github_token": "gh" + "p_16C7e42F292c6912E7710c838347Ae178B4a",
    "gitlab_token": "gl" + "pat-a1B2c3D4e5F6g7H8i9J0",
    "slack_token": "xo" + "xb-123456789012-1234567890123-AbCdEfGhIjKlMnOp",
    "stripe_key": "sk" + "_live_4eC39HqLyjWDarjtT1zdp7dc",
    "openai_key": "sk" + "-proj-abc123def456ghi789jkl012",
    "anthropic_key": "sk" + "-ant-api03-abcDEF123456789-abcdefgh",
    "jwt": "ey"
    + "JhbGciOiJIUzI1NiIsInR5cCI6IkpXVCJ9.eyJzdWIiOiIxMjM0NTY3ODkwIn0.dozjgNryP4J3jVmNHl0w5N_XgL0n3I9PlFUP0",
}
_ASSIGNED = [
    ("password=hunter2", "hunter2"),
    ('passwd = "letmein"', "letmein"),
    ('passphrase = "correct horse battery staple"', "correct horse battery staple"),
    ("my password is hunter22, do not tell", "hunter22"),
    ("비밀번호: q1w2e3r4!", "q1w2e3r4!"),
    ("비밀번호는 abc1234! 입니다", "abc1234!"),
    ("Passwort: geheim99", "geheim99"),
    ("mot de passe : azerty123", "azerty123"),
    ("密码：abc12345", "abc12345"),
    ("パスワードは pass1234x です", "pass1234x"),
    ("Server=db;User Id=sa;Password=P@ssw0rd!;", "P@ssw0rd!"),
    ('"api_key": "3f786850e387550fdab836ed7e6dc881"', "3f786850e387550fdab836ed7e6dc881"),
    ("client_secret: Ab3~kdj39dkKJd83kd9dkXyZ", "Ab3~kdj39dkKJd83kd9dkXyZ"),
    ("Authorization: Bearer abcdef1234567890ABCDEF", "abcdef1234567890ABCDEF"),
    ("postgres://bob:s3cr3tPw@db.example.com/shop", "s3cr3tPw"),
    ("https://ann:tr0ub4dor@example.com/", "tr0ub4dor"),
]
_HARMLESS = [
    "commit 3f786850e387550fdab836ed7e6dc881de23001b",
    "token: 3f786850e387550fdab836ed7e6dc881de23001b",
    "id: 550e8400-e29b-41d4-a716-446655440000",
    'api_key = "YOUR_API_KEY"',
    "api_key=xxxxxxxxxxxxxxxxxxxxxxxx",
    "sk-xxxxxxxxxxxxxxxxxxxxxxxxxxxx",
    "password: must be 8 characters",
    "password: 8-12 characters",
    "password is required",
    'password = os.environ["DB_PASSWORD_1"]',
    "password: ${DB_PASSWORD1}",
    '"password": {"type": "string"}',
    "https://user:pass@host/",
    "https://example.com:8080/path@2",
    "max_tokens: 4096, the token-bucket-limiter-v2 is on",
    "data:image/png;base64,iVBORw0KGgoAAAANSUhEUgAAAAUAAAAFCAYAAACNbyblAAAAHElEQVQI12P4",
    "Lorem ipsum dolor sit amet, consectetur adipiscing elit.",
    "card 4111-1111-1111-1112, order 1234567890123456",
    "비밀번호는 8자리 이상이어야 합니다",
    "The key: think first. The secret: patience-and-practice-make-perfect",
    "public_key = 3f786850e387550fdab836ed7e6dc881",
]


@pytest.mark.parametrize("kind", sorted(_TOKENS))
def test_a_token_is_known_by_its_form(kind):
    token = _TOKENS[kind]
    text = f"It is {token}."
    (secret,) = found(text)
    assert (secret.kind, text[secret.start : secret.end]) == (kind, token)
    assert secret.shown == f"{token[:4]}…{token[-4:]}"


@each(("text", "value"), _ASSIGNED)
def test_what_a_name_announces_is_found_and_masked(text, value):
    assert [text[one.start : one.end] for one in found(text)] == [value]
    assert value not in masked(text)
    assert masked(text).startswith(text[:3])


@each("text", _HARMLESS)
def test_ordinary_text_and_place_holders_raise_no_alarm(text):
    assert found(text) == []
    assert masked(text) == text


def test_a_private_key_is_hidden_whole():
    key = "-----BEGIN RSA " + "PRIVATE KEY-----\nMIIEpAIBAAKCAQEA7bq\nabcdefgh\n-----END RSA PRIVATE KEY-----"
    shown = masked(f"before\n{key}\nafter")
    assert "MIIE" not in shown
    assert shown.startswith("before\n")
    assert shown.endswith("\nafter")


def test_a_private_key_without_its_last_line_is_hidden_too():
    text = "-----BEGIN " + "PRIVATE KEY-----\n" + "MIIEpAIBAAKCAQEA7bqabcdefgh\n" * 3 + "\nThen words."
    assert "MIIE" not in masked(text)
    assert masked(text).endswith("Then words.")


def test_a_card_number_needs_the_right_last_digit():
    assert [one.kind for one in found("card 4111 1111 1111 1111 please")] == ["credit_card"]
    assert found("card 4111 1111 1111 1112 please") == []


def test_masking_twice_changes_nothing_more():
    text = " and ".join(text for text, _ in _ASSIGNED)
    assert masked(masked(text)) == masked(text)


@given(st.text(string.ascii_lowercase + " .,\n", max_size=400))
def test_plain_words_are_never_credentials(text):
    assert found(text) == []


@given(st.text(max_size=300))
def test_places_are_in_order_and_apart(text):
    end = 0
    for one in found(text + " password=hunter2 " + text):
        assert end <= one.start < one.end
        end = one.end


@pytest.mark.long
@pytest.mark.parametrize("piece", ["password=", "://a:", "eyJaaaaaaaaa.", "sk-", "4", "api_key:x", "xxx "])
def test_a_long_hostile_text_is_read_to_its_end(piece):
    # Two million characters: what costs more than its length would not come back within the test's patience.
    assert found(piece * (2_000_000 // len(piece))) == []


def test_a_password_with_an_ampersand_is_masked_whole() -> None:
    assert "3xyz" not in masked("password = Tr0ub4dor&3xyz")
    assert masked("?password=Tr0ub4dor3&user=ann").endswith("&user=ann")
