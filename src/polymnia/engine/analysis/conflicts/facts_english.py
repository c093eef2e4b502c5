"""Facts in English: subject, relation and value by the verb between them."""

from __future__ import annotations

import re

from polymnia.engine.analysis.conflicts.said import Said, words
from polymnia.engine.search.languages import stem

__all__ = ["does", "english"]

_NEWS = re.compile(
    r"\b(?:now|currently|nowadays|already|always|generally|usually|still|just|recently|these days)\b ?", re.I
)
_VERB = re.compile(
    r"\b(?:(?P<moved>(?:has |have |was |were |got )?(?:moved|relocated)(?: from (?P<left>[^,.;]{2,30}?))? to)"
    r"|(?P<switched>(?:has |have )?(?:switched|migrated|changed|converted)(?: from (?P<dropped>[^,.;]{2,30}?))? to)"
    r"|(?P<port>(?:listens|runs|is served|is exposed|is available|is) on port|port is)"
    r"|(?P<home>lives? in|resides? in|is living in|live in)"
    r"|(?P<work>works?(?: as [^,.;]{2,30}?)? (?:at|for)|is employed (?:at|by)|is working (?:at|for)|is now at)"
    r"|(?P<place>(?:is|are)(?: (?:located|based|situated|hosted|deployed|stationed|headquartered) (?:in|on|at)"
    r"| (?:in|at))|sits? (?:in|at))"
    r"|(?P<use>uses?|is using|are using|adopted|standardi[sz]ed on|is built (?:with|on)|goes with)"
    r"|(?P<prefer>prefers?|favou?rs?))\s+"
    r"(?:the |our |a |an |my )?",
    re.IGNORECASE,
)
_OWNS = re.compile(
    r"^(?P<owner>[A-Z][\w'’.-]+(?: [A-Z][\w'’.-]+)?) (?:owns|leads|maintains|manages|heads|took over|takes over"
    r"|is responsible for|is in charge of|is the (?:owner|lead|maintainer|manager) of)"
    r" (?:the |our )?(?P<owned>[^,;]{2,50}?)[.!]?$"
    r"|^(?:the |our )?(?P<owned2>[^,;]{2,50}?) is (?:owned|led|maintained|managed"
    r"|headed) by (?P<owner2>[A-Z][^,;]{1,30}?)[.!]?$"
    r"|^(?:the )?(?:owner|lead|maintainer|manager) of (?:the "
    r"|our )?(?P<owned3>[^,;]{2,50}?) is (?P<owner3>[A-Z][^,;]{1,30}?)[.!]?$"
)
_THING = re.compile(
    r"^(?:we|they|the team|i|you)(?: have| has)? (?:moved|migrated|switched|relocated)"
    r" (?:the|our|my) (?P<thing>[^,.;]{2,40}?)(?: from (?P<from>[^,.;]{2,30}?))? (?:to|onto) (?:the "
    r"|our )?(?P<rest>.+)$",
    re.IGNORECASE,
)
_THAN = re.compile(
    r"^(?:the |our |my )?(?P<one>[\w'’-]+(?: [\w'’-]+)?) (?:is|are) (?P<how>[a-z]+er|more [a-z]+|less [a-z]+) than"
    r" (?:the |our |my )?(?P<other>[\w'’-]+(?: [\w'’-]+)?)[.!]?$",
    re.IGNORECASE,
)
_STOPPED = re.compile(
    r"^(?P<subject>[^,.;]{1,40}?) (?:(?:has |have )?(?:stopped|quit|given up|gave up) (?P<verb>\w+ing)"
    r"|no longer (?P<verb2>\w+)) (?:the |any |a )?(?P<rest>.+)$",
    re.IGNORECASE,
)
_DOES = re.compile(
    r"^(?P<subject>(?:the |our |my )?[\w'’-]+(?: [\w'’-]+){0,2}?) (?P<verb>[a-z]{3,}s|(?<=we )[a-z]{3,}"
    r"|(?<=i )[a-z]{3,})"
    r" (?:the |any |a )?(?P<rest>.+)$",
    re.IGNORECASE,
)
_LEFT = re.compile(r"\b(?:left|quit) (?P<gone>[A-Z][\w&.-]*)")
_VALUE = re.compile(
    r"(?P<value>[\w@#+&'’./-]*\w(?:[+#]+)?(?: [\w@#+&'’./-]*\w[+#]*){0,3}?)(?=[.,;:!)]*(?:$|\s(?=$))|[,;:]"
    r"| (?:in|on|at|for|with|since|until|when|while|as|because|from|by|after|before|during|and|or|but|instead"
    r"|rather|over"
    r"|to|near|every|if|unless|only|again|this|last|next)\b)",
    re.IGNORECASE,
)
_MORE = re.compile(r"\s*(?:,|and\b|or\b|&|/)", re.IGNORECASE)
_REPLACED = re.compile(
    r"\b(?:instead of|rather than|over|in place of) (?:the |a )?(?P<gone>[\w@#+&'’./ -]{2,30}?)(?=[.,;!]|$)", re.I
)
_MONTH = "jan|feb|mar|apr|may|jun|jul|aug|sep|oct|nov|dec|spring|summer|autumn|winter|early|mid|late|19|20"
_ASIDE = re.compile(
    rf"\b(?:with|near|because|since|until|again|this|last|next|together|(?:in|on|at|from"
    rf"|by) (?:the )?(?:{_MONTH})\w*|in all)\b.*$",
    re.IGNORECASE,
)
_WORD = re.compile(r"\w(?:[\w'’.+#-]*[\w+#])?")
_LIGHT = words("in on at for with the a an of to and as by from our my all")


def english(text: str) -> list[Said]:
    """What a statement says of its subject; nothing where no word tells a relation."""
    if owned := _OWNS.match(text):
        who = owned["owner"] or owned["owner2"] or owned["owner3"]
        what = owned["owned"] or owned["owned2"] or owned["owned3"]
        return [Said(what, "owner", who, "")]
    text = _NEWS.sub("", text)
    if more := _THAN.match(text):
        one, other = more["one"].lower(), more["other"].lower()
        pair = sorted((one, other))
        return [Said(" ".join(pair), f"{more['how'].lower()} than", one, "")] if one != other else []
    if thing := _THING.match(text):
        value, rest = _valued(thing["rest"])
        found = [Said(thing["thing"], "place", value, _scope(rest), event=True)] if value else []
        return [*found, *([Said(thing["thing"], "place", thing["from"], "", True)] if thing["from"] else [])]
    if stopped := _STOPPED.match(text):
        value, rest = _valued(stopped["rest"])
        return [Said(stopped["subject"], _doing(stopped["verb"] or stopped["verb2"]), value, _scope(rest), True)]
    verb = _VERB.search(text)
    if verb is None:
        return []
    subject, (value, rest) = text[: verb.start()], _valued(text[verb.end() :])
    gone = _LEFT.search(subject)
    subject = subject[: gone.start()] if gone else subject
    if not value or _MORE.match(rest):
        return []
    relation = verb.lastgroup if verb.lastgroup not in ("left", "dropped") else "moved" if verb["moved"] else "switched"
    scope = _scope(rest)
    replaced = _REPLACED.search(rest)
    dropped = verb["left"] or verb["dropped"] or (replaced["gone"] if replaced else "")
    if replaced:
        scope = _scope(rest[: replaced.start()])
    ways = {"moved": ("home", "place"), "switched": ("use", "prefer")}.get(relation or "", (relation or "",))
    found = [Said(subject, way, value, scope, event=len(ways) > 1) for way in ways]
    if dropped:
        found += [Said(subject, way, dropped, "", True) for way in ways]
    if gone:
        found.append(Said(subject, "work", gone["gone"], "", True))
    return found


def does(text: str) -> list[Said]:
    """What somebody does, by any verb."""
    found = _DOES.match(text)
    return [Said(found["subject"], _doing(found["verb"]), _valued(found["rest"])[0], "")] if found else []


def _doing(verb: str) -> str:
    root = stem(verb.lower(), "english")
    return root if root in ("use", "prefer") else f"do {root}"


def _valued(text: str) -> tuple[str, str]:
    """The value a text begins with, and what follows it."""
    found = _VALUE.match(text)
    return (found["value"], text[found.end() :]) if found else ("", "")


def _scope(rest: str) -> str:
    """For what a value holds, as its words; what only says since when, why or with whom does not narrow it."""
    words = (word.lower() for word in _WORD.findall(_ASIDE.sub("", rest)))
    return " ".join(stem(word, "english") if word.isascii() else word for word in words if word not in _LIGHT)
