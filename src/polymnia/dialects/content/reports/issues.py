"""Issues in words: items that are empty, duplicated, out of date, contradictory or badly structured."""

from __future__ import annotations

from collections.abc import Callable

from polymnia.dialects.content.reports import Description, plural
from polymnia.models import JsonObject

_EMPTY = {
    "no_text": "no text",
    "white_space": "only white space",
    "heading_alone": "a heading and nothing under it",
    "only_signs": "only signs",
    "no_word": "a word that stands for nothing",
    "placeholder": "a mark that something is still to be written",
}


def _of(of: JsonObject, details: JsonObject, verb: str, verb_of_many: str) -> str:
    """The beginning of a sentence: how many contents of all, and the verb."""
    count = of["count"]
    return f"{plural(count, 'content')} of {details['total']:,} {verb if count == 1 else verb_of_many}"


def _empty(of: JsonObject, details: JsonObject) -> Description:
    reasons = sorted(of["by_reason"].items(), key=lambda one: (-one[1], one[0]))
    parts = ", ".join(f"{count} × {_EMPTY[why]}" for why, count in reasons)
    return Description(
        f"{_of(of, details, 'says', 'say')} nothing: {parts}.",
        "Each text was read letter by letter without its headings, signs and marks for what is still to be written; "
        "the confidence is 1 because nothing is left of these.",
    )


def _duplicated(of: JsonObject, details: JsonObject) -> Description:
    return Description(
        f"{of['count']:,} contents in {plural(of['groups'], 'group')} say the same ({of['equal']:,} letter by letter, "
        f"{of['nearly']:,} nearly): {plural(of['superfluous'], 'content')} may be superfluous.",
        "Texts of one scope that say exactly the same, which nobody stores twice unasked, are certain. Others were "
        "found by vectors and shared words and compared word by word; of such pairs people call 79 to 88 % the same. "
        "The confidence is the mean over the members.",
    )


def _stale(of: JsonObject, details: JsonObject) -> Description:
    reasons = of["by_reason"]
    superseded, over = (reasons.get(name, 0) for name in ("superseded", "past_deadline"))
    return Description(
        f"{_of(of, details, 'seems', 'seem')} out of date: {superseded:,} superseded, {over:,} with a deadline that "
        "has passed.",
        "Marks and relations that supersede, and dates ahead when written that have passed since, are read as they "
        "stand, so the confidence is 1.",
    )


def _contradictory(of: JsonObject, details: JsonObject) -> Description:
    return Description(
        f"{plural(of['conflicts'], 'conflict')} between statements of {plural(of['count'], 'content')}.",
        "Found by the look for conflicts, with sensitivity medium. The confidence is the mean of how often conflicts "
        "like these are real.",
    )


def _badly_structured(of: JsonObject, details: JsonObject) -> Description:
    return Description(
        f"{_of(of, details, 'has', 'have')} a broken layout, {plural(of['faults'], 'fault')} in all.",
        "Headings, fences, links and paragraphs were read as a page would show them; what is told is there letter by "
        "letter, so the confidence is 1. Whether it is worth mending is a matter of taste.",
    )


DESCRIPTIONS = {
    "empty": _empty,
    "duplicated": _duplicated,
    "stale": _stale,
    "contradictory": _contradictory,
    "badly_structured": _badly_structured,
}

REMARKS: dict[str, str | Callable[..., str]] = {
    "no_content": lambda: "There is no content to look at.",
    "not_compared": lambda pairs: f"{pairs:,} further pairs of contents that are less alike were not compared.",
    "some_read": lambda doubtful, step: (
        f"Of {doubtful:,} contents with headings, links or long paragraphs every {step}th was read closely."
    ),
    "superseded_by": lambda by: f"superseded by {by}",
    "status": lambda status: f'its status is "{status}"',
    "over": lambda day: f"{day} is over, and it was last changed before that",
}
for _why, _words in _EMPTY.items():
    REMARKS[_why] = _words.__str__
