"""Topics in words: clusters, and what fits nowhere."""

from __future__ import annotations

from collections.abc import Callable

from polymnia.dialects.content.reports import Description
from polymnia.dialects.content.reports.phrases import plural
from polymnia.engine.analysis.findings import Pattern


def _cluster(found: Pattern) -> Description:
    of = found.evidence
    return Description(
        f"{of['size']} of {found.details['items']} items are about: {of['label']}.",
        f"Grouped by meaning and words; how many groups there are was estimated. Cohesion {of['cohesion']:.2f}: random "
        f"groups of this size are 0, equal texts 1. When parts of the items were grouped again, it was found with an "
        f"overlap of {of['stability']:.2f}. Its items are nearer to its middle than to the next by {of['apart']:.2f} "
        "(-1 to 1).",
    )


def _outliers(found: Pattern) -> Description:
    return Description(
        f"{found.evidence['count']} of {found.details['items']} items fit into no cluster.",
        "They are farther from their nearest neighbours than the other items are: below the lower quarter of all by "
        "more than the middle half is wide, on a logarithmic scale. The confidence is the share of them beyond what a "
        "bell curve has there, times that of the surest cluster.",
    )


DESCRIPTIONS = {"cluster": _cluster, "outliers": _outliers}

REMARKS: dict[str, Callable[..., str]] = {
    "few": lambda count, least: (
        f"{plural(count, 'item')} with text; at least {least} are needed to tell subjects apart."
    ),
    "no_vectors": lambda: "There are no vectors: items were compared by their words alone.",
    "without_vector": lambda count, model: (
        f"{count} items have no vector of {model}: they were compared by their words alone."
    ),
    "no_groups": lambda: "The items show no groups.",
    "by_chance": lambda count: f"Groups left out because chance would make such groups too: {count}.",
}
