"""How texts are taken apart into statements."""

from __future__ import annotations

from polymnia.engine.analysis.conflicts.statements import statements
from polymnia.engine.knowledge import duplicates
from polymnia.models import Record

TEXT = """---
title: notes
---
# Gateway

The timeout is 30 seconds. It was e.g. 10 before. Is it right?

- Retries of Dr. Falk: 3
1. Use tabs. Then spaces.

| a | b |
|---|---|
| 1 | 2 |

```python
limit = 3
```

Worker
------
The quick brown fox jumps over the lazy dog and keeps on
running. 서버는 켜져 있습니다 그리고 빠릅니다. 빠릅니까
"""


def said(text: str, **fields: object) -> list[tuple[str, str]]:
    record = Record(id=1, uid="u", name="u", kind="content", observations=(text,), **fields)  # type: ignore[arg-type]
    return [(text[one.start : one.end], one.about) for one in statements(record)]


def test_code_headings_tables_and_questions_state_nothing() -> None:
    assert said(TEXT) == [
        ("The timeout is 30 seconds.", "Gateway"),
        ("It was e.g. 10 before.", "Gateway"),
        ("Retries of Dr. Falk: 3", "Gateway"),
        ("Use tabs.", "Gateway"),
        ("Then spaces.", "Gateway"),
        ("The quick brown fox jumps over the lazy dog and keeps on\nrunning.", "Worker"),
        ("서버는 켜져 있습니다", "Worker"),
        ("그리고 빠릅니다.", "Worker"),
    ]


def test_who_speaks_is_what_it_is_about() -> None:
    assert said("Ann: I like tea. We drink it.") == [("I like tea.", "Ann"), ("We drink it.", "Ann")]
    assert said("Timeout: 30 seconds") == [("Timeout: 30 seconds", "")]


def test_a_title_tells_what_it_is_about_and_programs_tell_nothing() -> None:
    assert said("It is old.", metadata={"title": "Orion"}) == [("It is old.", "Orion")]
    assert said("x = 1. y is 2.", content_type="text/x-python") == []


def test_any_text_can_be_read() -> None:
    odd = (
        "1234-d-5 12:xx ²³ ٣ ١٢ 5pm 3com n't ' -- "
        "東京は3月5日 10時 Straße №5 ａｂｃ e\u0301 \u200b 99:99:99 1..2 日月 년월일 1년2월"
    )
    for size in range(1, len(odd)):
        for text in (odd[:size], odd[size:], f"# {odd[size:]}\n\n- {odd[:size]}.\n"):
            duplicates.words(text)
            duplicates.clash(text, odd)
            duplicates.unlike(text, odd)
            said(text)
