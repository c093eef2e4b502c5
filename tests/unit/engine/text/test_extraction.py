"""What a text tells of itself is extracted, whatever it is written in, and nothing is made up."""

from __future__ import annotations

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from form import each
from polymnia.engine.text.extraction import Extracted, Heading, extract

_MARKDOWN = """# Billing service

The **billing service** of Acme Corp was written by Ann Lee and Dr. Müller on 2024-05-03. Ann likes PostgreSQL.
See [the guide](https://example.com/guide_(1)) or https://docs.acme.example/a, or write to ann@acme.example.

## What is left
- [ ] write tests for the billing service
- [x] ship it

| a | b |
|---|---|
| 1 | 2 |

```py
print(1)
```

```
SELECT name FROM users;
```
"""


def test_markdown_tells_everything_at_once():
    told = extract(_MARKDOWN, "text/markdown")
    assert (told.title, told.language) == ("Billing service", "en")
    assert told.headings == [Heading(1, "Billing service"), Heading(2, "What is left")]
    assert told.keywords[0].lower() == "billing service"
    assert told.people == ["Ann Lee", "Müller"]
    assert told.organisations == ["Acme Corp"]
    assert "PostgreSQL" in told.names
    assert told.dates == ["2024-05-03"]
    assert told.links == ["https://docs.acme.example/a", "https://example.com/guide_(1)"]
    assert told.mails == ["ann@acme.example"]
    assert told.code_languages == ["python", "sql"]
    assert told.has_tasks
    assert told.has_tables
    assert (told.counts.tasks, told.counts.tasks_done, told.counts.code_blocks) == (2, 1, 2)
    assert (told.counts.characters, told.counts.lines, told.counts.paragraphs) == (len(_MARKDOWN), 20, 1)


def test_korean_tells_people_dates_and_keywords_without_particles():
    told = extract(
        "김민수 대표는 2024년 5월 3일에 서울에서 이지영 씨와 결제 시스템을 논의했다. 결제 시스템은 곧 출시된다.\n"
        "담당자: 박서준, 최유리. 문의는 help@acme.example로."
    )
    assert told.language == "ko"
    assert told.people == ["김민수", "이지영", "박서준", "최유리"]
    assert told.dates == ["2024-05-03"]
    assert told.keywords[0] == "결제 시스템"
    assert told.mails == ["help@acme.example"]


@each(
    ("text", "code"),
    [
        ("The cat sat on the mat and looked at the birds that were in the garden.", "en"),
        ("Die Katze saß auf der Matte und sah die Vögel an, die im Garten waren.", "de"),
        ("El gato se sentó en la alfombra y miró a los pájaros que estaban en el jardín.", "es"),
        ("Le chat était assis sur le tapis et il regardait les oiseaux qui étaient dans le jardin.", "fr"),
        ("고양이는 정원에 있는 새들을 바라보았다.", "ko"),
        ("猫は庭にいる鳥を見ていた。", "ja"),
        ("猫坐在垫子上看着花园里的鸟。", "zh"),
        ("Кот сидел на коврике и смотрел на птиц, которые были в саду.", "ru"),
        ("xq zzt 12 foo", None),
        ("", None),
    ],
)
def test_the_language_is_told_only_where_it_shows(text, code):
    assert extract(text).language == code


def test_html_is_read_without_its_tags():
    told = extract(
        "<html><head><title>Hallo &amp; Welt</title><style>p {color: red}</style><script>var secret = 1</script></head>"
        "<body><h1>Über uns</h1><p>Wir sind die Firma und <b>das</b> ist der Text.</p>"
        "<table><tr><td>1</td></tr></table>"
        '<pre><code class="language-js">let a = 1</code></pre><a href="/x">x</a>'
        '<a href="mailto:a@b.example">m</a></body>',
        "text/html; charset=utf-8",
    )
    assert (told.title, told.language) == ("Hallo & Welt", "de")
    assert told.headings == [Heading(1, "Über uns")]
    assert (told.links, told.mails, told.code_languages) == (["/x"], ["a@b.example"], ["javascript"])
    assert told.has_tables
    assert not {"secret", "color", "red"} & set(told.keywords)


def test_json_has_its_keys_as_headings_and_its_strings_as_words():
    told = extract('{"title": "Our hosts", "db": {"host": "in the cellar"}, "n": [1, 2]}', "application/json")
    assert told.title == "Our hosts"
    assert [(one.level, one.text) for one in told.headings] == [(1, "title"), (1, "db"), (1, "n"), (2, "host")]
    assert (told.counts.words, told.code_languages) == (5, ["json"])


def test_broken_json_is_read_as_text():
    assert extract('{"title": "Our hosts"', "application/json").title is None


def test_csv_is_a_table_with_its_columns_as_headings():
    told = extract("name;city\nAnn;Paris\nBob;Rome\n", "text/csv")
    assert told.has_tables
    assert [one.text for one in told.headings] == ["name", "city"]


def test_a_program_is_told_by_its_type_and_read_by_its_comments():
    told = extract(
        '"""Sorting by radix."""\nimport os\n# Make the buckets for each of the digits\nx = 1\n', "text/x-python"
    )
    assert (told.code_languages, told.title, told.language) == (["python"], "Sorting by radix.", "en")
    assert "import" not in told.keywords


@each(
    ("code", "language"),
    [
        ("def add(a, b):\n    return a + b", "python"),
        ("const add = (a, b) => {\n  console.log(a)\n}", "javascript"),
        ("package main\n\nfunc main() {\n}", "go"),
        ("fn main() {\n    let mut x = 1;\n}", "rust"),
        ('{"a": [1, 2]}', "json"),
        ("SELECT a, b\nFROM t WHERE a = 1", "sql"),
        ("#!/bin/bash\nls", "bash"),
        ("#include <stdio.h>\nint main(void) { return 0; }", "c"),
        ("just some words\nof output", None),
        ("12:00 started\n12:01 done", None),
    ],
)
def test_code_without_a_label_is_told_by_signs_that_settle_it(code, language):
    told = extract(f"Look:\n\n```\n{code}\n```\n", "text/markdown")
    assert told.code_languages == ([language] if language else [])


@pytest.mark.parametrize(
    ("text", "title"),
    [
        ("Notes on bees\n\nThey fly far and come back.", "Notes on bees"),
        ("They fly far and come back.\n\nThen they sleep.", None),
        ("Notes on bees\n=============\n\nThey fly.", "Notes on bees"),
        ("---\ntitle: Bees and us\n---\n\nThey fly.", "Bees and us"),
        ("벌에 대한 메모\n\n벌은 멀리 난다.", "벌에 대한 메모"),
        ("벌은 멀리 난다고 한다\n\n그리고 돌아온다.", None),
        ("One line alone", None),
        ("# comment in a script\n# another one\nls", None),
    ],
)
def test_a_title_is_what_looks_like_one(text, title):
    assert extract(text, "text/plain").title == title


@pytest.mark.parametrize(
    ("text", "words", "sentences"),
    [
        ("One two three. Four five!", 5, 2),
        ("Dr. Smith met J. Doe. They left.", 7, 2),
        ("나는 학교에 갔다. 비가 왔다.", 5, 2),
        ("我去学校。下雨了。", 7, 2),
        ("No full stop", 3, 1),
        ("...", 0, 0),
        ("", 0, 0),
    ],
)
def test_words_and_sentences_are_counted_by_the_rules_of_the_script(text, words, sentences):
    counts = extract(text).counts
    assert (counts.words, counts.sentences) == (words, sentences)


def test_reading_takes_as_long_as_people_take():
    assert extract("word " * 238).reading_seconds == 60
    assert extract("字" * 255).reading_seconds == 60
    assert extract("한국어를 " * 125).reading_seconds == 60
    assert extract("").reading_seconds == 0


def test_an_address_ends_where_the_sentence_goes_on():
    told = extract(
        "(see https://a.example/b.) Then https://a.example/c에서 and https://ko.example/wiki/서울 and www.b.example!"
    )
    assert told.links == ["https://a.example/b", "https://a.example/c", "https://ko.example/wiki/서울", "www.b.example"]


def test_german_nouns_are_no_names():
    told = extract("Der Hund und die Katze sind mit Angela Merkel in dem Garten, aber das Haus ist leer.")
    assert told.names == ["Angela Merkel"]


def test_what_is_not_there_is_absent_when_kept():
    assert set(msgspec.to_builtins(extract("just words"))) == {"counts", "reading_seconds", "keywords"}


@given(
    st.text(max_size=400),
    st.sampled_from(
        [None, "text/plain", "text/markdown", "text/html", "application/json", "text/csv", "text/x-python", "x"]
    ),
)
def test_any_text_of_any_type_is_read(text, content_type):
    told = extract(text, content_type)
    assert told.counts.characters == len(text)
    assert msgspec.convert(msgspec.to_builtins(told), Extracted) == told


_WORDS = [
    "garden", "rose", "Ann", "Lee", "PostgreSQL", "결제", "시스템을", "서울에서", "机器学习", "the", "and", ".",
    ",", "\n",
]  # fmt: skip


@given(
    st.lists(
        st.sampled_from(_WORDS),
        max_size=60,
    )
)
def test_keywords_and_names_really_stand_in_the_text(words):
    text = " ".join(words)
    small = " ".join(text.split()).lower()
    told = extract(text)
    assert all(one.lower() in small for one in told.keywords)
    assert all(one in text for one in told.names)


@pytest.mark.long
@pytest.mark.parametrize(
    "piece", ["<a ", "<!--", "[a](", "# ", "```\n", "| a |\n|---|\n", "<script>", "A. B ", "@a.", "김민수 "]
)
def test_a_long_hostile_text_is_read_to_its_end(piece):
    # Half a million characters: what costs more than its length would not come back within the test's patience.
    text = piece * (500_000 // len(piece))
    for content_type in ("text/markdown", "text/html"):
        assert extract(text, content_type).counts.characters == len(text)
