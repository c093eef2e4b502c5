"""Relationships and topics in words: hubs, bridges, communities, missing links, cycles, clusters, connections."""

from __future__ import annotations

from collections.abc import Callable

from polymnia.dialects.content.reports import Description, Words, plural, quoted
from polymnia.models import JsonObject

_BY_CHANCE = "in networks made by chance in which every record has as many links as here"
_FEW = 5


def _titles(records: list[dict[str, str]], most: int = _FEW) -> list[str]:
    return [quoted(one["title"]) for one in records[:most]]


def _hub(of: JsonObject, details: JsonObject) -> Description:
    return Description(
        f"{quoted(of['record']['title'])} is linked with {of['degree']} records; half of the linked have "
        f"{of['median_degree']} or fewer.",
        f"The degrees of the lower nine tenths of {details['linked']} linked records let expect "
        f"{of['expected']:.2g} records with {of['degree']} or more neighbours; there are {of['found']}. The confidence "
        "is the share beyond expectation.",
    )


def _bridge(of: JsonObject, details: JsonObject) -> Description:
    what = " and ".join(_titles(of["records"]))
    what = f"the link between {what} joins" if of["kind"] == "link" else f"{what} joins"
    parts = " and ".join(str(part) for part in of["parts"][:_FEW])
    more = " and more" if of["parts_count"] > _FEW else ""
    return Description(
        f"Only {what} parts of {parts}{more} records.",
        f"Without it {of['cut_off']} records hang together apart from the rest. Compared with what is cut off by "
        f"single records or links {_BY_CHANCE}.",
    )


def _community(of: JsonObject, details: JsonObject) -> Description:
    return Description(
        f"{of['size']} records belong together: {', '.join(of['terms'] or _titles(of['central'], 3))}; "
        f"{of['inside_share']:.0%} of their links stay among them.",
        f"Found by modularity ({of['modularity']:.2f} here, {of['modularity_by_chance']:.2f} by chance) and compared "
        f"with groups of the same kind {_BY_CHANCE}.",
    )


def _missing_link(of: JsonObject, details: JsonObject) -> Description:
    near = f" and are near in meaning (cosine {of['cosine']:.2f})" if "cosine" in of else ""
    return Description(
        f"{' and '.join(_titles(of['records']))} share {of['common_neighbours']} neighbours{near}, but have no "
        "relation.",
        f"A tenth of the links was hidden and looked for among {details['tried']} such pairs; "
        f"{details['hits']} of them were hidden ones. Of those like this pair, {details['share']:.0%} were.",
    )


def _cycle(of: JsonObject, details: JsonObject) -> Description:
    way = _titles(of["steps"])
    return Description(
        f"A circle of {of['length']} in {of['order']}: {' → '.join([*way, '…' if of['length'] > _FEW else way[0]])}.",
        f"{of['in_no_circle']} of the {of['relations']} relations that tell this order are in no circle.",
    )


def _component(of: JsonObject, details: JsonObject) -> Description:
    return Description(
        f"{of['size']} records are linked with each other and with nothing else: {', '.join(_titles(of['central'], 3))}"
        ".",
        f"Counted: the linked records fall into {of['groups']} groups, the largest of {of['largest']}.",
    )


def _orphans(of: JsonObject, details: JsonObject) -> Description:
    return Description(
        f"{of['count']} of {details['records']} records ({of['share']:.0%}) have no relation to another record.",
        "Counted.",
    )


def _links(count: int) -> str:
    return "1 linked pair is" if count == 1 else f"{count} linked pairs are"


def _cluster(of: JsonObject, details: JsonObject) -> Description:
    return Description(
        f"{of['size']} of {details['items']} items are about: {of['label']}.",
        f"Grouped by meaning and words; how many groups there are was estimated. Cohesion {of['cohesion']:.2f}: random "
        f"groups of this size are 0, equal texts 1. When parts of the items were grouped again, it was found with an "
        f"overlap of {of['stability']:.2f}. Its items are nearer to its middle than to the next by {of['apart']:.2f} "
        "(-1 to 1).",
    )


def _outliers(of: JsonObject, details: JsonObject) -> Description:
    return Description(
        f"{of['count']} of {details['items']} items fit into no cluster.",
        "They are farther from their nearest neighbours than the other items are: below the lower quarter of all by "
        "more than the middle half is wide, on a logarithmic scale. The confidence is the share of them beyond what a "
        "bell curve has there, times that of the surest cluster.",
    )


def _none(*, candidates: int, of_types: bool) -> str:
    which = " of the types asked for" if of_types else ""
    some = f"none of {candidates} items near it shows one" if candidates > 1 else "the one item near it shows none"
    return f"No relationship{which} is drawn here, and {some if candidates else 'no other item is near it'}."


DESCRIPTIONS: dict[str, Words] = {
    "hub": _hub,
    "bridge": _bridge,
    "community": _community,
    "missing_link": _missing_link,
    "cycle": _cycle,
    "component": _component,
    "orphans": _orphans,
    "cluster": _cluster,
    "outliers": _outliers,
}

REMARKS: dict[str, str | Callable[..., str]] = {
    "no_relations": lambda records: (
        f"None of {records} records is related to another." if records else "There are no records."
    ),
    "few_links": lambda links, needed: (
        f"{_links(links)} too few to tell hubs, bridges and communities from chance; {needed} are needed."
    ),
    "more_circles": "There are more than {most} circles; the shortest are told.",
    "more_groups": "There are {groups} groups that nothing joins; beside the main one, the largest with {least} or "
    "more records are told.",
    "few_linked": "{linked} linked records are too few to tell a hub; {needed} are needed.",
    "more_communities": "{found} communities were found; the {shown} surest and largest are told.",
    "few_links_to_hide": lambda links, needed: (
        f"{_links(links)} too few to tell which links are missing; {needed} are needed."
    ),
    "hidden_not_found": "Links that were hidden could not be found again, so none that is missing can be told.",
    "hidden_seldom_found": "Links that were hidden are hard to find again (at best {best:.0%} of the likeliest pairs "
    "were hidden ones), so none that is missing can be told.",
    "none_missing": "No pair without a link looks like those that have one.",
    "few": lambda count, least: (
        f"{plural(count, 'item')} with text; at least {least} are needed to tell subjects apart."
    ),
    "no_vectors": "There are no vectors: items were compared by their words alone.",
    "without_vector": "{count} items have no vector of {model}: they were compared by their words alone.",
    "no_groups": "The items show no groups.",
    "by_chance": "Groups left out because chance would make such groups too: {count}.",
    "many_relations": "Of the relations of the record itself the {read} strongest were read.",
    "nothing_further": lambda steps: (
        f"Nothing further than {steps} step{'s' * (steps > 1)} away comes before what is told."
    ),
    "strongest_records": "Step {step}: of {records} records the {strongest} strongest were walked on from.",
    "strongest_relations": "Step {step}: of {records} records with many relations the {strongest} strongest were "
    "followed.",
    "gone": lambda count, names: f"{count} names it is related to are not there (any more): {', '.join(names)}.",
    "no_model": "There is no model here, so what is similar in meaning alone is not discovered.",
    "less_certain": "{count} that the texts show are less certain than min_confidence {least:g}.",
    "none": _none,
    "more": "{count} more connections are not told; a higher limit tells them.",
}
