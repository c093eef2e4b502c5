"""Quality in words: faults, what to do about them, and what could not be measured."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import partial
from typing import TYPE_CHECKING, Any

from polymnia.dialects.content.reports import Description, remark
from polymnia.models import JsonObject

if TYPE_CHECKING:
    from polymnia.engine.analysis.quality import Dimension, Flaw, Improvement, Metric, Quality

_COUNT = "Count again and put the wrong one right."
_USUAL = '{share:.0%} of {count} others of kind "{kind}"{tagged} have '
_FAULTS = {
    "vague_words": ("{words} leaves open what exactly is meant.", "Say which, how many, who or when."),
    "long_sentences": (
        "The sentence has {words} words; more than {limit} are hard to hold in mind.",
        "Make two or three sentences of it.",
    ),
    "repeated_sentences": ("The text says this {times} times.", "Say it once."),
    "long_to_read": ("The sentence has {words} words.", "Make it shorter."),
    "long_and_hard_to_read": (
        "The sentence has {words} words, and hard ones among them: {hard}.",
        "Make it shorter, with plainer words.",
    ),
    "hard_to_read": ("{count} of its {words} words are hard, among them {hard}.", "Use plainer words for them."),
    "placeholders": (
        '"{mark}" stands for something still to be written or decided.',
        "Write it, decide it, or say who will and when.",
    ),
    "headings_without_text": ("Nothing stands under this heading.", "Write the part or take the heading out."),
    "announced_but_missing": (
        "It announces something that does not come.",
        "Add what is announced, or end the sentence.",
    ),
    "finished_end": ("The text breaks off.", "Finish the sentence."),
    "no_context": ("The decision says nothing of its context.", "Say what made the decision necessary."),
    "no_decision": ("The decision says nothing of its decision.", "Say in one sentence what was decided."),
    "no_rationale": ("The decision says nothing of its rationale.", "Say why it was decided so."),
    "no_alternatives": (
        "The decision says nothing of its alternatives.",
        "Name what else was considered, and why it was not taken.",
    ),
    "no_impact": ("The decision says nothing of its impact.", "Say what changes because of it, and for whom."),
    "no_stakeholders": (
        "The decision says nothing of its stakeholders.",
        "Name who decided and who has to know.",
    ),
    "no_heading": (_USUAL + 'a part "{name}"; this one has none.', 'Add a part "{name}".'),
    "no_metadata": (_USUAL + '"{name}" in its metadata; this one has none.', 'Add "{name}" to its metadata.'),
    "no_field": (_USUAL + "the field {name}; this one has none.", "Add the field {name}."),
    "no_such_day": ('There is no such day as "{shown}".', "Look the date up and put it right."),
    "wrong_weekday": ('"{shown}": it is a {right}, not a {wrong}.', "Look the date up and put it right."),
    "order_of_dates": ('It ends ("{last}") before it begins ("{first}").', "Put the dates in order."),
    "sums": ("The numbers disagree: {sum} is {total:,.10g}, not {stated}.", _COUNT),
    "totals": ("The numbers disagree: the {parts} parts above sum to {total:,.10g}, not {stated:,.10g}.", _COUNT),
    "announced_counts": ("The numbers disagree: it announces {said}, but {listed} follow.", _COUNT),
    "figures_for_one_thing": ('The numbers disagree: {here} here and {there} in "{other}".', _COUNT),
    "denied": (
        '"{title}" ({id}) says otherwise: "{theirs}" ({differs}).',
        "Find out which is right and correct the other.",
    ),
    "label_and_text": ("The {what} speaks of {words}, the text does not.", "Write of it, or change the {what}."),
    "tags_and_text": (
        'The text neither says "{tag}" nor is like the {others} others with that tag.',
        'Take the tag "{tag}" off, or write of it.',
    ),
    "nearness_to_the_project": (
        "{share:.0%} of the project are nearer to their neighbours than this.",
        "Say how it belongs to the project, or keep it elsewhere.",
    ),
    "heading_level": (
        "The heading is of level {level}, right below one of level {before}.",
        "Move it up to the level below that one.",
    ),
    "heading_twice": ("The same heading stands here twice.", "Join the two parts or rename one."),
    "long_paragraphs": (
        "The paragraph that begins here has {words} words; {limit} are a lot.",
        "Part it where the thought changes.",
    ),
    "wall": ("A paragraph of {characters:,} characters.", "Part it where the thought changes."),
    "open_code": ("The block of code that begins here is never closed.", "Close it with the same marks."),
    "empty_link": ('The link "{words}" leads nowhere.', "Give it an address or make it plain text."),
    "no_anchor": ('There is no heading for the link "{target}".', "Link to a heading that is there."),
    "open_mark": ("A mark ({sign}) is not closed.", "Close it or take it out."),
    "one_spelling_for_one_thing": (
        '"{form}" is elsewhere in the text written "{usual}".',
        'Write "{usual}" everywhere.',
    ),
    "forms_of_dates": (
        'The date is written like "{form}", elsewhere like "{usual}".',
        'Write it like "{usual}" everywhere.',
    ),
    "manner_of_address": (
        'The sentence ends in the manner of "{form}", the others of "{usual}".',
        'Keep to "{usual}".',
    ),
    "spelling_of_the_project": (
        'The project writes "{usual}" ({times} of {total} times), not "{form}".',
        'Write "{usual}".',
    ),
    "steps_with_who": ("It does not say who does it.", "Name one person or team."),
    "steps_with_when": ("It does not say by when.", "Give a date."),
    "steps_with_means": ("The step names nothing to act on.", "Give the command, file, link or number."),
}
"""The problem and the advice for each fault."""

_WEEKDAYS = ("Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday", "Sunday")
_METHODS = {
    "english": "the mean of Flesch's reading ease (1948) and the new Dale-Chall formula (1995)",
    "korean": "length of sentences and words against encyclopaedia paragraphs",
}


def describe(fault: Flaw) -> Description:
    """The problem and the advice for a fault."""
    return _described(fault.name, fault.values)


def _described(name: str, given: Mapping[str, Any]) -> Description:
    tag = given.get("tag")
    values: JsonObject = {"tagged": f' tagged "{tag}"' if tag else ""}
    for key, value in given.items():
        values[key] = ", ".join(f'"{one}"' for one in value) if isinstance(value, list) else value
        if name == "wrong_weekday" and key in ("right", "wrong"):
            values[key] = _WEEKDAYS[value]
    problem, advice = _FAULTS[name]
    return Description(problem.format(**values), recommendation=advice.format(**values))


def _problem(name: str, **values: Any) -> str:
    return _described(name, values).summary


def suggestion(one: Improvement) -> JsonObject:
    """A suggestion as fields."""
    words = describe(one.fault)
    return {
        "dimension": one.dimension,
        "metric": one.metric,
        "quote": one.fault.quote,
        "problem": words.summary,
        "advice": words.recommendation,
        "dimension_gain": one.dimension_gain,
        "gain": one.gain,
    }


def dimension(one: Dimension, *, metrics: bool) -> JsonObject:
    """A dimension as fields; a score of null has a note with the reason."""
    fields: JsonObject = {"score": one.score}
    if one.note is not None:
        fields["note"] = remark(one.note)
    if metrics:
        fields["metrics"] = {each.name: _metric(each) for each in one.metrics}
    return fields


def _metric(one: Metric) -> JsonObject:
    if not one.weight:
        against = "a part of reading_ease"
    elif one.name == "reading_ease":
        against = f"reading ease by {_METHODS.get(one.unit, one.unit)}; 1 is the easiest"
    else:
        against = f"{one.count} of {one.places} {one.unit}; the score is the share without a fault"
    fields: JsonObject = {
        "value": one.value,
        "score": one.score,
        "weight": one.weight,
        "measured_against": against,
    }
    return fields | ({"quotes": [fault.quote for fault in one.faults]} if one.faults else {})


def notes(found: Quality) -> list[str]:
    """What could not be measured, and why."""
    unknown = [one for one in found.dimensions if one.score is None]
    return [f"{one.name} is not part of the score: {remark(one.note)}" for one in unknown]


def worded(found: Quality) -> JsonObject:
    """A quality with its descriptions as fields."""
    values = {name: getattr(found, name) for name in found.__struct_fields__}
    dimensions = [{"name": one.name, **dimension(one, metrics=True)} for one in found.dimensions]
    return values | {"dimensions": dimensions, "suggestions": [suggestion(one) for one in found.suggestions]}


REMARKS: dict[str, str | Callable[..., str]] = {
    "nothing": "Nothing in the text can be measured.",
    "no_text": "There is no text.",
    "few_words": "Too few words to judge by: {words}, and {least} are needed.",
    "few_different": "Too few different words to judge by: {words}, and {least} are needed.",
    "gibberish_latin": "There is too little to judge by: it reads as no words: {share:.0%} of its runs of {letters} "
    "letters are in words of a language known here.",
    "gibberish_korean": "There is too little to judge by: it reads as no words: {odd} of its {letters} Korean letters "
    "are in no word.",
    "vague_unknown": "Vague words are known for English and Korean only.",
    "few_siblings": "There are too few others of its kind to say what it should have.",
    "only_checks": "Only dates, numbers and agreement with the project can be checked here, not whether a statement "
    "is true.",
    "nothing_to_check": "The text has no full date, sum or count to check, and nothing else to agree with.",
    "no_neighbours": "The project is too small, or has no vectors, to say how near it is to the rest.",
    "no_labels": "No title, summary or tags were given to compare it with, and the project is too small, or has no "
    "vectors, to compare it with.",
    "no_layout": "Programs and data are not laid out as prose is.",
    "short": "Too short to need a structure: {sentences} of {least} sentences.",
    "no_prose": "Programs and data are not read as prose is.",
    "reading_few_words": "Too few words to tell: 5 are needed.",
    "reading_no_sentence": "There is no sentence to measure.",
    "reading_unknown_language": "No measure of readability is known for this language or script.",
    "reading_korean": "For Korean the order of texts is meant; no formula tested with readers is published.",
    "reading_lix": "No formula is known for this language; LIX stands in.",
    "no_tasks": "Nothing shows that it is there to be acted on: it has no tasks or numbered steps.",
}
for _name in _FAULTS:
    REMARKS[f"fault_{_name}"] = partial(_problem, _name)
