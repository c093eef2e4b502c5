"""Every constant by which conflicts are weighed is needed: without it, a case of its own comes out otherwise."""

from __future__ import annotations

from .switching import RULES, constants, switched_off, told

_YARD = """The roof was repaired in spring. Swallows nest under the beams. The cellar smells of apples. A ladder leans
at the wall. The gate needs oil. Hens walk across the yard."""
_CODE = """The compiler warns about casts. Tests run on every push. The parser keeps comments. Releases are tagged
weekly. Plugins load at start. The cache lives in memory."""

NEEDED_BY = {
    "priors._VALUE": ("회의는 월요일 오전 10시이다.", "회의는 화요일 오전 10시이다."),
    "priors._DENIED": ("We deploy on Fridays.", "Never deploy on Fridays."),
    "priors._OPPOSED": ("The harbour is deep.", "The harbour is shallow."),
    "priors._CHANGED": ("The user works at Siemens.", "The user works on turbines."),
    "priors._PLACED": ("The depot is in Lisbon.", "The depot is in Porto."),
    "priors._ELSEWHERE": ("Alice likes the office.", "Alice does not like the coffee of the office."),
    "priors._NARROW": ("The wait at the ferry is 10 minutes.", "The wait at the ferry on Sunday is 40 minutes."),
    "priors._EXCEPT": ("The ferry takes 10 minutes.", "On Sunday the ferry takes 40 minutes."),
    "priors._TWICE": ("The meeting with Anna was on 3 May 2025.", "The meeting with Anna was on 9 May 2025."),
    "priors._SEVERAL": ("The blood pressure was 128 in the morning.", "The blood pressure was 135 in the evening."),
    "priors._SCHEDULED": ("The office opens at 8 and closes at 17.", "The office opens at 9 and closes at 18."),
    "priors._ONE_ITEM": ("The Orion team uses Slack. The Orion team does not use Slack.",),
    "priors._UNKNOWN": (f"The fee is 20 euros. {_YARD}", f"The fee is 30 euros. {_YARD}"),
    "priors._ALIEN": (f"The fee of the lease is 20 euros. {_YARD}", f"The fee of the lease is 30 euros. {_CODE}"),
    "priors._COMMON": (f"The fee of the lease is 20 euros. {_YARD}", f"The fee of the lease is 30 euros. {_CODE}"),
    "priors._LISTED": ("Price: 20 euros", "Price: 30 euros"),
    "priors._EVENT": ("The review call is scheduled for 3 May 2025.", "The review call is scheduled for 9 May 2025."),
    "priors._DID": ("I ran 5 km today.", "I ran 8 km today."),
    "priors._ONCE": ("The release is planned for 12 March.", "The release is planned for 2 April."),
    "weighing._FORMAL": ("Fishing is allowed at the quay.", "Fishing is forbidden at the quay."),
    "weighing._EXTRA": ("Always squash commits.", "Never squash commits with green tests late Friday."),
    "weighing._ELSE": ("The north door of the barn is open.", "The door of the barn is closed."),
    "weighing._CALLED": ("Ann leads the payments team.", "Bob leads the payments team since June 2026."),
    "weighing._MAYBE": ("The lake is cold.", "The lake is blue."),
    "weighing._LOOSELY": ("The harbour pool is warm.", "The harbour pool is cold for divers."),
    "weighing._PERHAPS": ("Card numbers are never stored.", "The fraud service stores card numbers for a week."),
    "weighing._NEWS": ("백업 보관 기간은 30일이다.", "백업 보관 기간은 이제 90일이다."),
}
NO_RULES = {"priors._NOTHING", "weighing._LARGEST", "weighing._EVEN", "weighing._BECAUSE"}
"""A floor, a ceiling, even odds and wording: they decide nothing by themselves."""
UNSEEN = {"priors._BESIDE"}
"""Set by what real texts told wrongly; no case of two notes shows it. None is to be added here."""


def test_every_constant_of_the_rules_has_a_case_that_needs_it() -> None:
    every = {f"{name}.{constant}" for name in RULES for constant in constants(name)}
    assert every == NEEDED_BY.keys() | NO_RULES | UNSEEN
    idle = []
    for key, texts in NEEDED_BY.items():
        with_it = told(*texts)
        with switched_off(*key.split(".")):
            if told(*texts) == with_it:
                idle.append(key)
        assert told(*texts) == with_it
    assert not idle
