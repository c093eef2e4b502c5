"""Dates: what a text mentions, what a moment is called, and what a question asks for."""

from __future__ import annotations

from datetime import UTC, date, datetime, timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from form import each
from polymnia.engine.text.dates import find_dates, find_time_range


def _moment(year: int, month: int, day: int, hour: int = 0) -> int:
    since = datetime(year, month, day, hour, tzinfo=UTC) - datetime(1970, 1, 1, tzinfo=UTC)
    return since // timedelta(microseconds=1)


# A Wednesday.
NOW = _moment(2023, 5, 17, 15)
FULL = ["@2023", "@2023-05", "@2023-05-08"]


@each(
    "text",
    [
        "2023-05-08", "on 2023-05-08T13:56:00Z", "2023/05/08", "2023.05.08", "2023. 5. 8.", "8.5.2023", "08.05.2023",
        "08.05.23", "8 May 2023", "8 May, 2023", "8th of May 2023", "May 8th 2023", "May 8, 2023",
        "1:56 pm on 8 May, 2023",
        "the eighth of May 2023", "8. Mai 2023", "am 8. Mai 2023 um 14:00 Uhr", "le 8 mai 2023", "8 de mayo de 2023",
        "8 de maio de 2023", "8 maggio 2023", "8 mei 2023", "8 мая 2023 года", "8 maja 2023", "8 Mayıs 2023",
        "2023년 5월 8일", "2023년 5월 8일에 만났다", "2023年5月8日", "我们在2023年5月8日见面", "二〇二三年五月八日",
        "２０２３年５月８日", "令和5年5月8日", "8 MAY 2023", "report-2023-05-08.md",
    ],
)  # fmt: skip
def test_a_day_is_read_however_it_is_written(text: str) -> None:
    assert find_dates(text) == FULL


_MONTHS = {
    "English": "January February March April May June July August September October November December",
    "German": "Januar Februar März April Mai Juni Juli August September Oktober November Dezember",
    "French": "janvier février mars avril mai juin juillet août septembre octobre novembre décembre",
    "Spanish": "enero febrero marzo abril mayo junio julio agosto septiembre octubre noviembre diciembre",
    "Portuguese": "janeiro fevereiro março abril maio junho julho agosto setembro outubro novembro dezembro",
    "Italian": "gennaio febbraio marzo aprile maggio giugno luglio agosto settembre ottobre novembre dicembre",
    "Dutch": "januari februari maart april mei juni juli augustus september oktober november december",
    "Russian": "января февраля марта апреля мая июня июля августа сентября октября ноября декабря",
    "Polish": "stycznia lutego marca kwietnia maja czerwca lipca sierpnia września października listopada grudnia",
    "Turkish": "Ocak Şubat Mart Nisan Mayıs Haziran Temmuz Ağustos Eylül Ekim Kasım Aralık",
    "Chinese": "一月 二月 三月 四月 五月 六月 七月 八月 九月 十月 十一月 十二月",
}


@each("language", _MONTHS)
def test_every_month_has_its_name(language: str) -> None:
    for number, name in enumerate(_MONTHS[language].split(), 1):
        text = f"2022年{name}" if language == "Chinese" else f"{name} 2022"
        assert find_dates(text) == ["@2022", f"@2022-{number:02}"], text


def test_a_russian_month_is_read_in_the_nominative_too() -> None:
    names = "январь февраль март апрель май июнь июль август сентябрь октябрь ноябрь декабрь"
    assert [find_dates(f"{name} 2022")[-1][-2:] for name in names.split()] == [f"{n:02}" for n in range(1, 13)]


def test_an_accent_may_be_missing_or_encoded_apart() -> None:
    assert find_dates("3 fevrier 2022") == find_dates("3 fe\u0301vrier 2022") == ["@2022", "@2022-02", "@2022-02-03"]


def test_a_day_without_a_year_is_that_of_any_year() -> None:
    assert find_dates("on 8 May") == ["@--05", "@--05-08"]
    assert find_dates("5월 8일") == ["@--05", "@--05-08"]
    assert find_dates("in May") == ["@--05"]


def test_told_when_it_was_written_a_day_without_a_year_gets_the_nearest() -> None:
    assert "@2022-12-30" in find_dates("we met on 30 December", _moment(2023, 1, 2))
    assert "@2023-01-02" in find_dates("we meet on 2 January", _moment(2022, 12, 30))


def test_a_day_without_a_year_has_the_one_said_before() -> None:
    assert find_dates("In 2008 she left, and on 3 May she was back.", NOW)[-1] == "@2008-05-03"


def test_a_date_in_slashes_is_read_both_ways() -> None:
    assert {"@2023-05-08", "@2023-08-05"} <= set(find_dates("5/8/2023"))
    assert find_dates("25/8/2023") == ["@2023", "@2023-08", "@2023-08-25"]


def test_a_range_of_days_mentions_each_of_them() -> None:
    days = [f"@2023-05-{day:02}" for day in range(3, 11)]
    for text in ("3-10 May 2023", "May 3–10, 2023", "from 3 to 10 May 2023", "3. bis 10. Mai 2023"):
        assert find_dates(text) == ["@2023", "@2023-05", *days]


def test_a_year_a_season_and_a_quarter_are_dates() -> None:
    assert find_dates("it was built in 1998") == ["@1998"]
    assert find_dates("in 1066") == ["@1066"]
    assert find_dates("summer of 2022") == ["@2022", "@2022-06", "@2022-07", "@2022-08"]
    assert find_dates("Q1 2022") == ["@2022", "@2022-01", "@2022-02", "@2022-03"]


@each(
    "text",
    [
        "", "you may go", "May I come in?", "this may be wrong", "they march on", "an august body", "a second thought",
        "life on Mars", "the OCT4 gene", "version 1.2.23", "192.168.20.23", "call 555-1234", "$2023", "2023 items",
        "error 2003", "13:45", "32 May", "2023-13-45", "31.2.2023", "1/2000 of them", "Rio de Janeiro", "3.14159",
        "0000-00-00", "99999999999", "page 1999", "two days later", "오늘날", "2,023",
    ],
)  # fmt: skip
def test_what_is_no_date_is_left_alone(text: str) -> None:
    assert find_dates(text) == []


def test_relative_words_mean_a_day_only_beside_the_time_they_were_told() -> None:
    assert find_dates("I saw her yesterday and last Tuesday") == []
    assert find_dates("I saw her yesterday", NOW) == ["@2023", "@2023-05", "@2023-05-16"]
    assert "@2023-05-14" in find_dates("vor drei Tagen", NOW)
    assert "@2022" in find_dates("작년에 샀다", NOW)
    assert "@2023-05-09" in find_dates("last week", NOW)


def test_a_text_full_of_dates_gives_a_bounded_number_of_terms() -> None:
    text = " ".join(str(date.fromordinal(730_000 + day)) for day in range(2_000))
    assert len(find_dates(text)) == 64


@pytest.mark.long
@pytest.mark.parametrize(
    "unit", ["the quick brown fox ", "1", "1.", "a", "-", "in may 5 ", "我昨天去了", "지난주에 갔다 ", "1/2/", "'"]
)
def test_a_text_of_megabytes_mentions_what_a_shorter_one_does(unit: str) -> None:
    text = unit * ((1 << 20) // len(unit))
    assert set(find_dates(unit * 20, NOW)) <= set(find_dates(text, NOW))


@each(
    ("query", "first", "last"),
    [
        ("what happened in May 2023?", "2023-05-01", "2023-05-31"),
        ("in 2023", "2023-01-01", "2023-12-31"),
        ("since 2022", "2022-01-01", "2023-05-17"),
        ("after March 2023", "2023-04-01", "2023-05-17"),
        ("before March 2024", "0001-01-01", "2024-02-29"),
        ("until May 2020", "0001-01-01", "2020-05-31"),
        ("between 3 and 10 May 2023", "2023-05-03", "2023-05-10"),
        ("between March and May 2022", "2022-03-01", "2022-05-31"),
        ("from November 2021 to February 2022", "2021-11-01", "2022-02-28"),
        ("2021-2023", "2021-01-01", "2023-12-31"),
        ("what did I do today", "2023-05-17", "2023-05-17"),
        ("yesterday", "2023-05-16", "2023-05-16"),
        ("the day before yesterday", "2023-05-15", "2023-05-15"),
        ("last Tuesday", "2023-05-16", "2023-05-16"),
        ("last Wednesday", "2023-05-10", "2023-05-10"),
        ("next Wednesday", "2023-05-24", "2023-05-24"),
        ("on Monday", "2023-05-15", "2023-05-15"),
        ("last week", "2023-05-08", "2023-05-14"),
        ("last weekend", "2023-05-13", "2023-05-14"),
        ("this month", "2023-05-01", "2023-05-31"),
        ("last year", "2022-01-01", "2022-12-31"),
        ("3 days ago", "2023-05-14", "2023-05-14"),
        ("two weeks ago", "2023-04-30", "2023-05-06"),
        ("a month ago", "2023-04-01", "2023-04-30"),
        ("in the last 3 days", "2023-05-14", "2023-05-17"),
        ("last summer", "2022-06-01", "2022-08-31"),
        ("last winter", "2022-12-01", "2023-02-28"),
        ("last night", "2023-05-16", "2023-05-16"),
        ("May last year", "2022-05-01", "2022-05-31"),
        ("in the 1990s", "1990-01-01", "1999-12-31"),
        ("gestern", "2023-05-16", "2023-05-16"),
        ("letzte Woche", "2023-05-08", "2023-05-14"),
        ("vor drei Tagen", "2023-05-14", "2023-05-14"),
        ("letzten Dienstag", "2023-05-16", "2023-05-16"),
        ("letztes Jahr im Mai", "2022-05-01", "2022-05-31"),
        ("vor 2021", "0001-01-01", "2020-12-31"),
        ("어제", "2023-05-16", "2023-05-16"),
        ("지난주에 뭐 했지?", "2023-05-08", "2023-05-14"),
        ("지난주 화요일", "2023-05-09", "2023-05-09"),
        ("작년 5월", "2022-05-01", "2022-05-31"),
        ("3일 전", "2023-05-14", "2023-05-14"),
        ("일주일 전", "2023-05-10", "2023-05-10"),
        ("2022년부터", "2022-01-01", "2023-05-17"),
        ("2022년 5월부터 7월까지", "2022-05-01", "2022-07-31"),
        ("2021年11月から2月まで", "2021-11-01", "2022-02-28"),
        ("昨天我去了哪里", "2023-05-16", "2023-05-16"),
        ("上周", "2023-05-08", "2023-05-14"),
        ("上周二", "2023-05-09", "2023-05-09"),
        ("去年五月", "2022-05-01", "2022-05-31"),
        ("三天前", "2023-05-14", "2023-05-14"),
        ("先週", "2023-05-08", "2023-05-14"),
        ("昨日の会議", "2023-05-16", "2023-05-16"),
        ("ayer", "2023-05-16", "2023-05-16"),
        ("la semana pasada", "2023-05-08", "2023-05-14"),
        ("hace tres días", "2023-05-14", "2023-05-14"),
        ("qu'est-ce qu'on a fait hier ?", "2023-05-16", "2023-05-16"),
        ("la semaine dernière", "2023-05-08", "2023-05-14"),
        ("il y a trois jours", "2023-05-14", "2023-05-14"),
        ("на прошлой неделе", "2023-05-08", "2023-05-14"),
        ("drie dagen geleden", "2023-05-14", "2023-05-14"),
    ],
)
def test_a_question_asks_for_a_time(query: str, first: str, last: str) -> None:
    found = find_time_range(query, NOW)
    assert found is not None
    assert (found.start, found.end) == (
        _moment(*map(int, first.split("-"))),
        _moment(*map(int, last.split("-"))) + 86_400_000_000,
    )


@each(
    "query",
    [
        "When did Irene go to the reading circle?", "", "may I?", "what may happen", "the march of the penguins",
        "a second opinion", "who was first", "the last tag we released", "the last day of school",
        "wo ist hier der Hof",
        "version 1.2.23", "error 2003", "언제 만났지?", "什么时候见面的", "wann war das", "top 10 results",
        "Spring Boot",
        "one day", "this may be", "how long ago", "last time",
    ],
)  # fmt: skip
def test_a_question_without_a_time_asks_for_none(query: str) -> None:
    assert find_time_range(query, NOW) is None


def test_the_terms_are_days_then_months_then_years() -> None:
    def terms(query: str) -> tuple[str, ...]:
        found = find_time_range(query, NOW)
        assert found is not None
        return found.terms

    assert terms("on 8 May 2023") == ("@2023-05-08",)
    assert terms("in May 2023") == ("@2023-05",)
    assert terms("in 2023") == ("@2023",)
    assert terms("last week") == tuple(f"@2023-05-{day:02}" for day in range(8, 15))
    assert terms("last summer") == ("@2022-06", "@2022-07", "@2022-08")
    assert terms("from 2019 to 2021") == ("@2019", "@2020", "@2021")
    assert terms("since 2022")[:2] == ("@2022", "@2023-01")


def test_a_text_that_mentions_the_time_asked_for_bears_one_of_its_terms() -> None:
    for query, text in [("in May 2023", "8.5.2023"), ("last week", "2023-05-10"), ("in 2023", "5 March 2023")]:
        found = find_time_range(query, NOW)
        assert found is not None
        assert set(found.terms) & set(find_dates(text))


def test_without_a_year_every_year_is_meant() -> None:
    found = find_time_range("what did we do in May?", _moment(2024, 2, 1))
    assert found is not None
    assert found.any_year
    assert found.start == _moment(2023, 5, 1)
    assert {"@--05", "@2023-05", "@2019-05"} <= set(found.terms)


def test_the_words_of_the_time_are_told_from_the_rest() -> None:
    found = find_time_range("What did Ann say in May 2023 about cats?", NOW)
    assert found is not None
    assert (found.text, found.rest) == ("in May 2023", "What did Ann say about cats?")
    assert found.past_words == ("in", "may", "2023")


def test_a_day_begins_at_midnight_of_the_zone() -> None:
    late = _moment(2023, 5, 17, 20)  # already the 18th in Seoul
    found = find_time_range("today", late, 9 * 60)
    assert found is not None
    assert found.terms == ("@2023-05-18",)
    assert found.start == _moment(2023, 5, 17, 15)


_WORDS = """last this next week month year day ago 3 31 two in May May 29 February 2023 9999 0001 since before between
and until vor letzten Sommer summer 작년 5월 전 지난 去年 五月 上 周二 三 天 前 - , . 's hier Tuesday
1/1/1 9999-12-31"""


@given(st.lists(st.sampled_from(_WORDS.split()), max_size=8), st.integers(-(10**18), 10**19), st.integers(-900, 900))
def test_whatever_is_asked_and_whenever_there_is_an_answer(words: list[str], now: int, zone: int) -> None:
    found = find_time_range(" ".join(words), now, zone)
    if found is not None:
        assert found.start < found.end
        assert 0 < len(found.terms) <= 64
    assert len(find_dates("".join(words), now)) <= 64


@given(st.text(), st.integers())
def test_no_text_is_too_strange(text: str, now: int) -> None:
    find_time_range(text, now)
    find_dates(text, now)
