"""Finds personal data with a recognizable format: accounts, IP and MAC addresses, handles, birth dates, addresses.

Check digits are verified and structured values parsed, so that an order number is not mistaken for an account.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import NamedTuple

from polymnia.engine.text.document import MAIL


class Form(NamedTuple):
    """A match in a text: its span, its kind, and its normalized value ``what``, equal for different spellings."""

    start: int
    end: int
    kind: str
    what: str


# The length of an IBAN by country, from the IBAN registry.
_IBAN_LENGTHS = {
    one[:2]: int(one[2:])
    for one in (
        "AD24 AE23 AL28 AT20 AZ28 BA20 BE16 BG22 BH22 BI27 BR29 BY28 CH21 CR22 CY28 CZ24 DE22 DJ27 DK18 DO28 EE20 EG29 "
        "ES24 FI18 FK18 FO18 FR27 GB22 GE22 GI23 GL18 GR27 GT28 HN28 HR21 HU28 IE22 IL23 IQ23 IS26 IT27 JO30 KW30 KZ20 "
        "LB28 LC32 LI21 LT20 LU20 LV21 LY25 MC27 MD24 ME22 MK19 MN20 MR27 MT31 MU30 NI28 NL18 NO15 OM23 PK24 PL28 PS29 "
        "PT25 QA29 RO24 RS22 RU33 SA24 SC31 SD18 SE24 SI19 SK24 SM27 SO23 ST25 SV28 TL23 TN24 TR26 UA29 VA22 VG24 XK20 "
        "YE30"
    ).split()
}
_IBAN = re.compile(r"(?<![A-Za-z0-9])([A-Z]{2}\d{2})((?:[ \u00a0-]?[A-Z0-9]){11,30})")
_IPV4 = re.compile(r"(?<![A-Za-z0-9_.])(?:\d{1,3}\.){3}\d{1,3}(?![A-Za-z0-9_-]|\.\d)")
_RELEASE = re.compile(r"\b(?:v|version|release)\s?$", re.IGNORECASE)
_IPV6 = re.compile(
    r"(?<![A-Za-z0-9_:.])(?=[0-9A-Fa-f:]{0,40}\d)[0-9A-Fa-f]{0,4}(?::[0-9A-Fa-f]{0,4}){2,7}(?![A-Za-z0-9_:])"
)
_MAC = re.compile(r"(?<![\w:-])[0-9A-Fa-f]{2}(?:([:-])[0-9A-Fa-f]{2})(?:\1[0-9A-Fa-f]{2}){4}(?![\w:-])")
_USERINFO = re.compile(r"(?<=://)[^\s/@:]{1,100}(?::[^\s/@]{0,200})?(?=@[\w.-])")
_HANDLE = re.compile(r"(?<![\w@./:`$%-])@(?=[\w.-]{0,38}[^\W\d_])[^\W_](?:[\w.-]{0,38}\w)?(?![\w/(@]|\.\w)")

# National id numbers of Korea and the United States. Korean and Japanese text continues without a space after a
# number, so only Latin letters count as part of it.
_CITIZEN = re.compile(
    r"(?<![A-Za-z0-9_-])(?:\d{2}(?:0[1-9]|1[0-2])(?:0[1-9]|[12]\d|3[01])-[1-8]\d{6}|(?!000|666|9)\d{3}-\d{2}-\d{4})(?![A-Za-z0-9_-])"
)
_PHONE = re.compile(
    r"(?<![A-Za-z0-9_.,:/+-])(?:"
    r"\+\d{1,3}[ .-]?(?:\(\d{1,4}\)[ .-]?)?\d{1,4}(?:[ .-]?\d{2,4}){2,4}"
    r"|\(\d{2,5}\)[ .-]?\d{2,4}[ .-]\d{2,4}(?:[ .-]\d{2,4})?"
    r"|0\d{1,3}[ .-]\d{3,4}[ .-]\d{4}|01[016789]\d{7,8}|0\d{2,4}[ /-]\d{5,9}|0\d(?:[ .]\d\d){4}"
    r"|1[5-9]\d\d-\d{4}|[2-9]\d{2}[.-]\d{3}[.-]\d{4}|1[ .-][2-9]\d{2}[ .-]\d{3}[ .-]\d{4}"
    r")(?![A-Za-z0-9_]|[.,:/-]\d)"
)

_NUMERIC_DAY = r"(?:\d{4}\s?[-./年년]\s?\d{1,2}\s?[-./月월]\s?\d{1,2}\s?[日일]?|\d{1,2}[./-]\s?\d{1,2}[./-]\s?\d{2,4})"
_WORDED_DAY = (
    r"(?:\d{1,2}(?:st|nd|rd|th|er|º|\.)?\s(?:of\s|de\s|d['’])?[^\W\d_]{3,12}\.?,?\s(?:de\s|del\s)?\d{4}"
    r"|[^\W\d_]{3,12}\.?\s\d{1,2}(?:st|nd|rd|th)?,?\s\d{4})"
)
_DAY = re.compile(rf"(?<!\d)(?:{_NUMERIC_DAY}|{_WORDED_DAY}|\d{{8}}|(?:19|20)\d\d(?:년|年)?)(?!\d)")
_BIRTH = re.compile(
    r"\b(?:born|birthda(?:y|te)|birth\s?date|date\sof\sbirth|d\.?o\.?b\.?|geboren(?:e|er)?|geb\.|geburts(?:tag|datum)"
    r"|née?|naissance|anniversaire|nacid[oa]|naci[óo]|nacimiento|cumpleaños|nat[oa]\s(?:il|a|nel)|nascita|nascid[oa]"
    r"|nasceu|nascimento|geboortedatum|född|født|urodzon[ya]|родил(?:ся|ась)|рождения)(?!\w)"
    r"|생년월일|생일|출생|태어|生年月日|誕生日|出生|生日",
    re.IGNORECASE,
)
_BORN_BEHIND = re.compile(
    rf"((?<!\d)(?:{_NUMERIC_DAY}|(?:19|20)?\d\d(?:년|年)?|\d{{6}}))\s?(?:(?<=[년일])생|생(?![가-힣])|生まれ|에\s태어)"
)
_BESIDE = 40  # max. characters between the word and the date after it
_JUST_BEFORE = 26  # max. characters before the word in which its date may be

_WORDS = r"[^\W\d_][\w.'’-]{0,30}"
_TITLE_WORDS = r"(?:[A-ZÀ-Þ][\w.'’-]{0,30}\s){1,4}"
_HOUSE = r"\d{1,5}(?:\s?[-/]\s?\d{1,4})?[A-Za-z]?"
_CITY = rf"(?:,?\s(?:[A-Z]{{1,2}}-)?\d{{4,5}}(?:-\d{{3,4}})?\s{_WORDS}(?:\s[A-ZÀ-Þ]{_WORDS})?)?"
_STREETS = (
    # English: the number first and the kind of street last; then a flat, a town and a postcode
    rf"(?<![\w.,])\d{{1,5}}[A-Za-z]?\s(?:[NSEW]\.?\s)?{_TITLE_WORDS}"
    r"(?:Street|St|Avenue|Ave|Road|Rd|Lane|Ln|Drive|Dr|Boulevard|Blvd|Court|Ct|Way|Place|Pl|Square|Sq|Terrace|Close"
    r"|Crescent|Highway|Hwy|Parkway|Pkwy|Row|Mews|Grove|Gardens)\b\.?"
    r"(?:,?\s(?:Apt|Apartment|Suite|Ste|Unit|Flat|Floor|#)\.?\s?\w{1,6})?"
    r"(?:,\s[A-Z][\w.'’-]{1,30}(?:\s[A-Z][\w.'’-]{1,30}){0,2})?(?:,?\s[A-Z]{2}\s\d{5}(?:-\d{4})?"
    r"|,?\s[A-Z]{1,2}\d[A-Z\d]?\s?\d[A-Z]{2})?",
    # German, Dutch and Scandinavian: the kind is the end of the word, the number last
    rf"(?<!\w)(?:[A-ZÄÖÜÅØ][\w.'’]{{0,30}}[ -]){{0,3}}[A-ZÄÖÜÅØ]\w{{0,40}}?"
    rf"(?:straße|strasse|str\.|weg|platz|allee|gasse|ring|damm|ufer|straat|laan|plein|gracht|kade|gatan|vägen|gata"
    rf"|vej|gade|veien)\s{_HOUSE}(?!\w){_CITY}",
    rf"(?<!\w)[A-ZÄÖÜ]\w{{1,40}}er\s(?:Straße|Weg|Platz|Allee|Ring|Damm)\s{_HOUSE}(?!\w){_CITY}",
    # French: number, kind, name
    r"(?<!\w)\d{1,4}(?:\s?(?:bis|ter))?,?\s(?:rue|avenue|av\.|boulevard|bd|place|chemin|allée|impasse|quai|cours|route)\s"
    rf"(?:(?:de|du|des|la|le|les|d['’]|l['’])\s?){{0,3}}{_WORDS}(?:[\s-]{_WORDS}){{0,3}}?(?=,|\.|\s\d{{5}}|\s[a-zà]|$){_CITY}",
    # Spanish, Portuguese, Italian: kind, name, number
    r"(?<!\w)(?:Calle|C/|Avenida|Av\.|Avda\.|Plaza|Paseo|Carrera|Rua|Travessa|Praça|Via|Viale|Piazza|Corso|Largo)\s"
    rf"(?:(?:de|del|da|do|dos|das|la|las|los|di|della|dei)\s){{0,2}}{_WORDS}(?:\s{_WORDS}){{0,3}}?,?"
    rf"\s(?:n[.ºo°]{{1,2}}\s?)?{_HOUSE}(?!\w){_CITY}",
    # Slavic: ul. name number
    rf"(?<!\w)(?:ul\.|ulica|al\.|ул\.|улица|проспект|пр\.)\s{_WORDS}(?:\s{_WORDS}){{0,2}}?,?\s(?:д\.\s?|дом\s)?{_HOUSE}(?!\w)",
    # Korean: province, city, district, then road and number, or village and lot; block and flat behind
    r"(?:[가-힣]{1,5}(?:특별시|광역시|특별자치시|특별자치도|도|시)\s)?(?:[가-힣]{1,5}(?:시|군|구)\s){0,2}"
    r"(?:[가-힣]{1,4}(?:읍|면)\s)?[가-힣0-9]{1,10}(?:대로|로|길)\s?\d{1,4}(?:-\d{1,3})?(?:번?길\s?\d{1,4}(?:-\d{1,3})?)?(?![\d.년월일%개명번차주])"
    r"(?:,?\s\d{1,4}동)?(?:,?\s?\d{1,5}호)?",
    r"[가-힣]{1,5}(?:시|군|구)\s(?:[가-힣]{1,4}(?:읍|면)\s)?[가-힣0-9]{1,6}(?:동|리|가)\s\d{1,4}(?:-\d{1,4})?(?:번지)?(?:\s\d{1,5}호)?",
    # Japanese: prefecture to block; Chinese: road, number, flat
    r"(?:〒\d{3}-\d{4}\s?)?(?:東京都|北海道|(?:京都|大阪)府|[一-龥]{2,3}県)[一-龥ぁ-んァ-ヶ]{1,15}\d{1,4}(?:(?:[-−‐]|丁目|番地?|号)\d{0,4}){0,4}",
    r"〒\d{3}-\d{4}",
    r"(?:[一-龥]{2,4}[省市])?(?:[一-龥]{1,4}[区區县縣])?[一-龥]{1,6}(?:路|街|大道|巷|弄)\d{1,5}[号號](?:[\w一-龥]{0,8}?室)?",
    r"(?i:\bP\.?\s?O\.?\sBox\s\d{1,7})|(?i:\bPostfach\s\d[\d ]{1,8}\d)",
)
_ADDRESS = [re.compile(one) for one in _STREETS]


def forms(text: str) -> Iterator[Form]:
    """All personal data in a text that has a recognizable format; matches may overlap."""
    digits = any(map(str.isdigit, text))
    if digits:
        yield from _accounts(text)
        yield from _machines(text)
        yield from _births(text)
        yield from _addresses(text)
    if "@" in text:
        yield from (Form(*m.span(), "mail", m.group().lower()) for m in MAIL.finditer(text))
        yield from (Form(*m.span(), "user", m.group()) for m in _USERINFO.finditer(text))
        yield from (Form(*m.span(), "handle", m.group().casefold()) for m in _HANDLE.finditer(text))
    if digits:
        yield from (Form(*m.span(), "number", m.group()) for m in _CITIZEN.finditer(text))
        for match in _PHONE.finditer(text):
            number = re.sub(r"\D", "", match.group())
            if len(number) >= 8:
                yield Form(*match.span(), "phone", number)


def _accounts(text: str) -> Iterator[Form]:
    for match in _IBAN.finditer(text):
        length = _IBAN_LENGTHS.get(match[1][:2])
        if length is None:
            continue
        iban, end = match[1], match.end(1)
        for char in match[2]:
            if len(iban) == length:
                break
            end += 1
            iban += char if char.isalnum() else ""
        if len(iban) == length and _mod97(iban):
            yield Form(match.start(), end, "iban", iban)


def _mod97(iban: str) -> bool:
    return int("".join(str(int(char, 36)) for char in iban[4:] + iban[:4])) % 97 == 1


def _machines(text: str) -> Iterator[Form]:
    from ipaddress import ip_address

    found = [*_IPV4.finditer(text), *(_IPV6.finditer(text) if text.count(":") > 1 else ())]
    for match in found:
        try:
            address = ip_address(match.group())
        except ValueError:
            continue
        if _RELEASE.search(text, max(0, match.start() - 12), match.start()):
            continue  # a version number of four parts
        if not (address.is_loopback or address.is_unspecified):
            yield Form(match.start(), match.end(), "ip", address.compressed)
    for match in _MAC.finditer(text):
        yield Form(*match.span(), "mac", match.group().lower().replace("-", ":"))


def _births(text: str) -> Iterator[Form]:
    for word in _BIRTH.finditer(text):
        if day := _DAY.search(text, word.end(), word.end() + _BESIDE):
            yield Form(day.start(), day.end(), "birth date", day.group())
        before = max(0, word.start() - _JUST_BEFORE)
        for day in _DAY.finditer(text, before, word.start()):
            if not text[day.end() : word.start()].strip():
                yield Form(day.start(), day.end(), "birth date", day.group())
    for day in _BORN_BEHIND.finditer(text):
        yield Form(day.start(1), day.end(1), "birth date", day[1])


def _addresses(text: str) -> Iterator[Form]:
    for pattern in _ADDRESS:
        for match in pattern.finditer(text):
            yield Form(*match.span(), "address", " ".join(match.group().split()))
