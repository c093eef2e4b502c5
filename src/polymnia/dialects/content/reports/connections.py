"""What a look for connections left out, in words."""

from __future__ import annotations

from collections.abc import Callable


def _none(*, candidates: int, of_types: bool) -> str:
    which = " of the types asked for" if of_types else ""
    some = f"none of {candidates} items near it shows one" if candidates > 1 else "the one item near it shows none"
    return f"No relationship{which} is drawn here, and {some if candidates else 'no other item is near it'}."


REMARKS: dict[str, Callable[..., str]] = {
    "many_relations": lambda read: f"Of the relations of the record itself the {read} strongest were read.",
    "nothing_further": lambda steps: (
        f"Nothing further than {steps} step{'s' * (steps > 1)} away comes before what is told."
    ),
    "strongest_records": lambda step, records, strongest: (
        f"Step {step}: of {records} records the {strongest} strongest were walked on from."
    ),
    "strongest_relations": lambda step, records, strongest: (
        f"Step {step}: of {records} records with many relations the {strongest} strongest were followed."
    ),
    "gone": lambda count, names: f"{count} names it is related to are not there (any more): {', '.join(names)}.",
    "no_model": lambda: "There is no model here, so what is similar in meaning alone is not discovered.",
    "less_certain": lambda count, least: f"{count} that the texts show are less certain than min_confidence {least:g}.",
    "none": _none,
    "more": lambda count: f"{count} more connections are not told; a higher limit tells them.",
}
