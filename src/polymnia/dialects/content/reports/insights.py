"""Insights in words: the conclusion, how it was measured, and what to do about it."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

from polymnia.dialects.content.reports import Description, Words, conflicts, day, plural, quoted, remark
from polymnia.engine.analysis.insights import InsightFinding
from polymnia.engine.content import title_of
from polymnia.models import JsonObject


def _memories(count: int) -> str:
    return plural(count, "memory", "memories")


# ── Content gaps ─────────────────────────────────────────────────────────────────────────────────────────────────────


def _unfinished(of: JsonObject, details: JsonObject) -> Description:
    first = of["places"][0]
    what = "has nothing under" if first["how"] == "empty heading" else "leaves open:"
    more = f" and {plural(of['count'] - 1, 'more place')}" if of["count"] > 1 else ""
    ago = plural(of["days_since_change"], "day")
    return Description(
        f"{quoted(details['title'])} {what} “{first['line']}”{more}; it was last changed {ago} ago.",
        "Counted: the lines are quoted as they stand. Code is not read.",
        "Write what is missing, or take the place out.",
    )


def _open_question(of: JsonObject, details: JsonObject) -> Description:
    question = of["questions"][0]["question"]
    more = f" and {plural(of['count'] - 1, 'more question')}" if of["count"] > 1 else ""
    closest = "no other memory says any of its words"
    if details["nearest"] is not None:
        said = f"says {details['share']:.0%} of its words"
        closest = f"the nearest other memory, {quoted(details['nearest'])}, {said}"
    # A memory that is nothing but its question has no other title.
    who = "Somebody asks" if details["title"] == question else f"{quoted(details['title'])} asks"
    return Description(
        f"{who} “{question}”{more}, and nothing answers it: {closest}.",
        "The share of the question's words that the best other memory says, and how often a question with such a share "
        "had no answer in stores from which the answering text was taken away (half of them).",
        "Store the answer, then say what it answers.",
    )


def _missing_reference(of: JsonObject, details: JsonObject) -> Description:
    count = of["count"] - 1
    more = f" (and {plural(count, 'other memory', 'other memories')})" if count else ""
    said, how = {
        "id": ("which is not there", "Counted: the id belongs to nothing that is there."),
        "deleted": (
            "which was deleted",
            "Counted: the id belongs to nothing that is there, but to something that was deleted.",
        ),
        "title": ("which no memory is called", "Counted: no memory has this name or title."),
        "key": (
            f"which no memory is called, though {details.get('called')} others of its series are",
            f"Of {details.get('named')} keys {details.get('series')}-… that are named, {details.get('there')} are the "
            "title of a memory; the confidence is how usual that is: (those + 1) / (the others + 2).",
        ),
    }[details["how"]]
    store = f", or store “{of['reference']}”" if details["how"] in ("title", "key") else ""
    return Description(
        f"{quoted(details['title'])}{more} refers to “{of['reference']}”, {said}.",
        how,
        f"Correct the reference in {', '.join(details['ids'])}{store}.",
    )


def _loose_end(of: JsonObject, details: JsonObject) -> Description:
    lead = f"{plural(of['count'], 'relation')} ({', '.join(details['types'])}) lead to"
    return Description(
        f"{lead} “{of['name']}”, which names nothing that is there.",
        "Counted.",
        f"Store “{of['name']}”, or delete the relations that lead to it.",
    )


def _thin_decision(called: str, of: JsonObject, details: JsonObject) -> Description:
    return Description(
        f"In {plural(of['count'], 'decision')} of {of['decisions']} no {called} is named, first in "
        f"{quoted(details['title'])}; the other {of['having']} are complete in that.",
        "How usual the part is among the decisions of this project: (those that have it + 1) / (the others + 2), "
        "the mean of what is likely after seeing them.",
        f"Add it to {', '.join(one['id'] for one in of['lacking'])}.",
    )


def _unwritten_name(of: JsonObject, details: JsonObject) -> Description:
    return Description(
        f"“{of['name']}” is mentioned in {of['mentions']} memories, but none is about it: no name, title, tag or first "
        f"words are. Of {of['names_like_it']} names mentioned at least half as often, {of['having']} have a memory of "
        "their own.",
        "How usual it is here that a name mentioned at least half as often has a memory of its own: (those that have "
        "+ 1) / (the others + 2).",
        f"Store what “{of['name']}” is, from what these memories say.",
    )


# ── Trends ───────────────────────────────────────────────────────────────────────────────────────────────────────────

_SUBJECT = {
    "rising": "takes a growing share of what is done",
    "falling": "takes a shrinking share of what is done",
    "new": "is new",
    "silent": "has fallen silent",
}
_PROJECT = {"rising": "is getting busier", "falling": "is getting quieter"}
_SHARES = "Cochran-Armitage test of the share of changes over two horizons, each day being one observation."
_TESTS = {
    "rising": _SHARES,
    "falling": _SHARES,
    "new": "The exact chance that all days on which it came up are in the horizon, if they could be any active days.",
    "silent": "The exact chance that none of the days on which it came up is in the horizon, from its first day on.",
}


def _trend(kind: str, of: JsonObject, details: JsonObject) -> Description:
    about, said = "The project", _PROJECT.get(kind, "")
    test = "Mann-Kendall test of counts in equal times over two horizons."
    for field, value in of.get("subject", {}).items():
        about, said, test = f"The {field} “{value}”", _SUBJECT[kind], _TESTS[kind]
    return Description(
        f"{about} {said}: {plural(of['within'], 'change')} in the last {of['days']} days after {of['before']} in the "
        f"{of['days']} days before.",
        f"{test} The confidence is 1 less the share of false ones to expect among all questions (Benjamini-Hochberg).",
        _trend_advice(kind, details["ids"]),
    )


def _trend_advice(kind: str, ids: list[str]) -> str | None:
    if not ids:
        return None
    named = ", ".join(ids)
    match kind:
        case "rising" | "new":
            return "Much is being added here: see whether it agrees, and sum it up in one memory."
        case "silent":
            return f"Decide whether it is done: if so, say so in {ids[0]}; if not, look at {named} again."
        case _:
            return f"Check whether {named} still matter."


# ── Efficiency ───────────────────────────────────────────────────────────────────────────────────────────────────────


def _duplicates(said: str, how: str, of: JsonObject, details: JsonObject) -> Description:
    saved = f"{_memories(of['saved_memories'])} and {plural(of['saved_characters'], 'character')}"
    return Description(
        f"{of['saved_memories'] + 1} memories {said} ({quoted(details['title'])}); keeping one saves {saved}.",
        how,
        f"Keep {of['keep']} and delete the rest, which can be undone.",
    )


def _tag_spellings(of: JsonObject, details: JsonObject) -> Description:
    named = " and ".join(f"“{tag}” ({count})" for tag, count in of["tags"].items())
    return Description(
        f"The tags {named} are one tag in {_memories(details['memories'])}; with “{of['keep']}” alone a search "
        "by tag finds all of them.",
        "Counted: the same letters and digits but for case, accents, spaces and signs.",
        f"Give the {_memories(of['count'])} in the evidence “{of['keep']}” instead.",
    )


def _split(of: JsonObject, details: JsonObject) -> Description:
    return Description(
        f"{quoted(details['title'])} has {of['characters']:,} characters in {of['section_count']} sections; "
        f"split, who needs one section reads {of['characters'] - of['saved_characters']:,} at most and saves "
        f"{of['saved_characters']:,}.",
        "Counted: the sections are those of the highest level of headings that repeats.",
        "Store each section as a memory of its own that is part of this one.",
    )


def _clean_sessions(of: JsonObject, details: JsonObject) -> Description:
    were = "was" if of["sessions"] == 1 else "were"
    return Description(
        f"{plural(of['sessions'], 'session')} of {of['of']} with {_memories(of['saved_memories'])} {were} not used for "
        f"{details['days']} days or more (the oldest for {of['oldest_days']}).",
        "Counted.",
        "Clean up, which can be undone.",
    )


def _settle_conflict(of: JsonObject, details: JsonObject) -> Description:
    clash = details["clash"]
    left, right = (quoted(title_of(side.record)) for side in (clash.left, clash.right))
    return conflicts.describe(clash)._replace(summary=f"{left} and {right} cannot both be right: {clash.differs}.")


# ── Synthesis ────────────────────────────────────────────────────────────────────────────────────────────────────────


def _topic(of: JsonObject, details: JsonObject) -> Description:
    clashes = of.get("conflict_count")
    disagree = f" {plural(clashes, 'pair')} of statements on it cannot both hold." if clashes else ""
    denied = any("otherwise" in one for one in of["statements"])
    return Description(
        f"{plural(of['memories'], 'memory is', 'memories are')} about {of['topic']}. {_most_said(of)}{disagree}",
        "Sentences as they are stored, chosen by how near they are to those of other memories on the topic (LexRank) "
        "and how little they repeat each other. A memory is counted as saying one only if a sentence of it has the "
        "same words, or the judge of pairs calls it the same; one that says otherwise is told beside it. The "
        "confidence is that of the topic.",
        "Settle first which of them holds." if denied else "Keep it as one memory to start from.",
    )


def _most_said(of: JsonObject) -> str:
    """The sentence that most memories share, how many do, and how many disagree."""
    first = max(of["statements"], key=lambda one: int(one["said_by"]))
    many, read = int(first["said_by"]), of["memories_read"]
    begins = "What they say most" if many > 1 else "In the middle of what they say stands"
    counted = f"so {many} of {read} that were read" if many > 1 else f"said by 1 of {read} that were read"
    against = ""
    if others := first.get("otherwise"):
        verb = "says" if first["denied_by"] == 1 else "say"
        against = f"; {first['denied_by']} {verb} otherwise: “{others[0]['sentence']}”"
    return f"{begins}: “{first['sentence']}” ({counted}{against})."


# ── Findings of other analyses ───────────────────────────────────────────────────────────────────────────────────────


def advice(found: InsightFinding) -> str | None:
    """What to do about a finding of another analysis."""
    if found.name == "missing_link":
        return "Draw the relation if it holds." if found.actions else None
    ids = found.details.get("ids", [])
    if not ids:
        return None
    first, named = ids[0], ", ".join(ids)
    match found.name:
        case "most_read":
            return f"Keep {named} right before anything else, as it is what people rely on."
        case "found_not_opened":
            return (
                f"Give {named} a title and a summary that say what is in it, or delete it if it only gets in the way."
            )
        case "never_read":
            others = len(found.members) - len(ids)
            more = f" and {plural(others, 'other')}" if others > 0 else ""
            return f"Look at {named}{more}, and delete what nobody needs, which can be undone."
        case "read_not_updated":
            return f"See whether {named} still holds."
        case "rewritten":
            return f"See what keeps changing in {first} and keep that apart from what stays."
        case "read_together":
            return "Relate what is read together."
        case "sole_keeper" | "specialty":
            return f"Let a second person read {named}: only {found.evidence['user']} keeps it up."
        case _:
            return None


DESCRIPTIONS: dict[str, Words] = {
    "unfinished": _unfinished,
    "open_question": _open_question,
    "missing_reference": _missing_reference,
    "loose_end": _loose_end,
    "decision_without_rationale": partial(_thin_decision, "reason"),
    "decision_without_alternatives": partial(_thin_decision, "alternative"),
    "decision_without_impact": partial(_thin_decision, "consequence"),
    "unwritten_name": _unwritten_name,
    **{f"{kind}_{what}": partial(_trend, kind) for kind in _SUBJECT for what in ("subject", "project")},
    "duplicates": partial(_duplicates, "say the same", "Counted: they say exactly the same and are of one scope."),
    "near_duplicates": partial(
        _duplicates,
        "say nearly the same",
        "Near by vectors or words, of the same words or the same by the judge of pairs, and no number, name or "
        "negation differs. Read them before you delete one.",
    ),
    "tag_spellings": _tag_spellings,
    "split": _split,
    "clean_sessions": _clean_sessions,
    "settle_conflict": _settle_conflict,
    "topic": _topic,
}


def _few_changes(*, days: int, changes: int, active: int, since: str | None, needed: tuple[int, int]) -> str:
    began = f" since {day(since)}" if since else ""
    return (
        f"Too little to tell a trend over {days} days: {plural(changes, 'change')} on {plural(active, 'day')}{began}; "
        f"it takes {needed[0]} changes on {needed[1]} days, some of them before the last {days} days."
    )


def _names_seldom_written(*, silent: int, fewest: int, having: int, names: int) -> str:
    return (
        f"{silent} names are mentioned in {fewest} or more memories and none is about them, but names seldom have a "
        f"memory of their own here ({having} of {names})."
    )


REMARKS: dict[str, str | Callable[..., str]] = {
    "of_type": lambda type, note: f"{type}: {remark(note)}",
    "recent": lambda note, days: f"{remark(note)} (The last {days} days were looked at.)",
    "names_seldom_written": _names_seldom_written,
    "few_changes": _few_changes,
    "no_trend": "No rise or fall over {days} days is sure enough to be told.",
    "no_topic": lambda memories: f"No topic stands out in {_memories(memories)}.",
    "smaller_topics": lambda topics: f"{plural(topics, 'smaller topic')} not summed up at this depth.",
}
