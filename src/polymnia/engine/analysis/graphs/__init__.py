"""Graphs: the shape of what is related in a project: hubs, bridges, communities, missing links, circles, loners.

Nothing is told that a network made by chance would show as well; see :mod:`~polymnia.engine.analysis.graphs.chance`.
What can be counted (groups apart, records without relations) is certain.
"""

from __future__ import annotations

from collections import Counter
from typing import Any

import numpy as np
from numpy.typing import NDArray

from polymnia.engine.analysis.cycles import cycles
from polymnia.engine.analysis.findings import Found, Pattern
from polymnia.engine.analysis.graphs import chance, hubs, missing
from polymnia.engine.analysis.graphs.bridges import Cut, betweenness, cuts
from polymnia.engine.analysis.graphs.communities import Community, communities, modularity
from polymnia.engine.analysis.graphs.network import Network
from polymnia.engine.analysis.graphs.telling import Teller
from polymnia.engine.analysis.material import Material
from polymnia.importing import importing

__all__ = ["relationship_patterns"]

Numbers = NDArray[Any]

_SURE = 0.7  # what a p value of .05 amounts to; what is less sure shows up in networks made by chance as well
_MISSING = 0.2  # a pair is worth a look when one in five like it is related
_MOST = 10  # of each kind
_MOST_COMMUNITIES = 20
_MOST_CUTS = 5  # of each of the three kinds of bridges
_APART = 3  # members of a group apart that is told by itself
_FEWEST_LINKS = 10  # without which nothing can be compared with chance
_READ = 100  # members of a community whose texts are read for its name
_BACKGROUND = 500  # records its terms are compared with


def relationship_patterns(material: Material) -> Found:
    """The patterns in the relations of a project, surest first.

    For a focus everything is computed over the project, what the focus is part of is never left out for want of room,
    and its own place is told as a ``role``.
    """
    records, relations = material.items, material.relations
    places = {record.name: at for at, record in enumerate(records)}
    network = Network(len(records), [places[r.source] for r in relations], [places[r.target] for r in relations])
    focus = next((at for at, record in enumerate(records) if record.id == material.focus), -1)
    looked_at: dict[str, Any] = {
        "records": len(records), "relations": len(relations), "linked_pairs": network.links,
        "linked_records": int((network.degrees > 0).sum()), "loose_relations": _loose(material),
        "types": dict(Counter(r.type for r in relations).most_common(20)),
    }  # fmt: skip
    if not relations:
        few = "There are no records." if not records else f"None of {len(records)} records is related to another."
        return Found(looked_at=looked_at, notes=[few])
    seen = _Seen(material, Teller(records, network, relations), network, focus)
    seen.circles()
    seen.groups()
    if network.links < _FEWEST_LINKS:
        seen.notes.append(
            f"{_linked(network.links)} too few to tell hubs, bridges and communities from chance; "
            f"{_FEWEST_LINKS} are needed."
        )
    else:
        seen.shape()
        seen.links()
    seen.place()
    told = sorted(seen.patterns, key=lambda one: -one.confidence)
    return Found(patterns=told, looked_at=looked_at | seen.looked_at, notes=seen.notes)


def _linked(count: int) -> str:
    return "1 linked pair is" if count == 1 else f"{count} linked pairs are"


class _Seen:
    """One look at a network: gathers patterns, numbers and notes."""

    def __init__(self, material: Material, teller: Teller, network: Network, focus: int) -> None:
        self.material = material
        self.teller = teller
        self.network = network
        self.focus = focus
        self.patterns: list[Pattern] = []
        self.looked_at: dict[str, Any] = {}
        self.notes: list[str] = []

    def tick(self) -> None:
        """Progress that cannot be counted."""
        self.material.tick()

    def circles(self) -> None:
        """Circles where there should be none."""
        found = cycles(self.material.relations, 3 * _MOST, self.tick)
        name = self.material.items[self.focus].name if self.focus >= 0 else None
        for at, one in enumerate(found):
            if at < _MOST or name in one.names:
                self.patterns.append(self.teller.cycle(one))
        if len(found) > _MOST:
            self.notes.append(f"There are more than {_MOST} circles; the shortest are told.")

    def groups(self) -> None:
        """Groups apart, and records that nothing is related to."""
        parts = self.network.components
        self.looked_at["groups"] = len(parts)
        apart = [part for part in parts[1:] if len(part) >= _APART]
        for at, part in enumerate(apart):
            if at < _MOST or self.focus in part:
                self.patterns.append(self.teller.component(part, len(parts[0]), len(parts)))
        if len(parts) - 1 > min(len(apart), _MOST):
            self.notes.append(
                f"There are {len(parts)} groups that nothing joins; beside the main one, the largest with {_APART} or "
                "more records are told."
            )
        if len(alone := np.flatnonzero(self.network.degrees == 0)):
            self.patterns.append(self.teller.orphans(alone.tolist()))

    def shape(self) -> None:
        """Hubs, communities and bridges, against chance."""
        network = self.network
        for hub in hubs.hubs(network.degrees, _MOST, _SURE, self.focus):
            self.patterns.append(self.teller.hub(hub))
        if (linked := int((network.degrees > 0).sum())) < hubs.FEWEST:
            self.notes.append(f"{linked} linked records are too few to tell a hub; {hubs.FEWEST} are needed.")
        found = communities(network, self.tick)
        apart, ways = cuts(network, self.tick), betweenness(network, self.tick)
        by_chance = chance.by_chance(network, self.material.tick)
        self.looked_at |= {"communities": len(found), "twins": by_chance.twins}
        sure = self._communities(found, by_chance)
        told = self._cuts(apart.by_link, by_chance.link_cuts, by_chance.twins, [])
        told = self._cuts(apart.by_node, by_chance.cuts, by_chance.twins, told)
        self._between(ways, by_chance, sure, {node for cut in told for node in cut.nodes})

    def _communities(self, every: list[Community], by_chance: chance.Chance) -> list[Community]:
        """Tell the communities that chance does not make; answers all of them."""
        found, table = chance.keeping(self.network, every)
        sure = chance.certainty(table, by_chance.communities, by_chance.twins)
        kept = [(one, float(value)) for one, value in zip(found, sure, strict=True) if value >= _SURE]
        kept.sort(key=lambda pair: (-round(pair[1], 2), -len(pair[0].nodes), pair[0].nodes[0]))
        told = [pair for at, pair in enumerate(kept) if at < _MOST_COMMUNITIES or self.focus in pair[0].nodes]
        both = (modularity(self.network, every), by_chance.modularity)
        self.looked_at |= {"modularity": round(both[0], 4), "modularity_by_chance": round(both[1], 4)}
        for (one, value), terms in zip(told, self._terms([pair[0] for pair in told]), strict=True):
            self.patterns.append(self.teller.community(one, terms, value, both))
        if len(kept) > len(told):
            self.notes.append(f"{len(kept)} communities were found; the {len(told)} surest and largest are told.")
        return [one for one, _ in kept]

    def _terms(self, told: list[Community]) -> list[list[str]]:
        """What each community is about, in a few words: of its central members, compared with records all over."""
        with importing():
            from polymnia.engine.analysis.topics import telling_terms

        self.tick()
        groups = [[self._text(node) for node in self.teller.central(one)[:_READ]] for one in told]
        inside = {node for one in told for node in one.nodes}
        step = max(1, self.network.size // _BACKGROUND)
        return telling_terms(groups, [self._text(at) for at in range(0, self.network.size, step) if at not in inside])

    def _text(self, node: int) -> str:
        record = self.material.items[node]
        said = self.material.text(record)
        return said if record.name == record.uid else f"{record.name}\n{said}"

    def _cuts(self, found: list[Cut], by_chance: Numbers, twins: int, before: list[Cut]) -> list[Cut]:
        """Tell what falls apart without a record or link, unless a link told before says as much; answers all told."""
        deep, table = chance.losing(found)
        sure = chance.certainty(table, by_chance, twins)
        order = sorted(range(len(deep)), key=lambda at: (-deep[at].lost, deep[at]))
        own = [at for at in order if self.focus in deep[at].nodes]
        chosen = list(dict.fromkeys([*order[:_MOST_CUTS], *own[:_MOST_CUTS]]))
        told = list(before)
        for at in chosen:
            one, value = deep[at], float(sure[at])
            said = any(set(one.nodes) < set(other.nodes) and abs(one.lost - other.lost) <= 1 for other in before)
            if value >= _SURE and not said:
                self.patterns.append(self.teller.cut(one, value))
                told.append(one)
        return told

    def _between(self, ways: Numbers, by_chance: chance.Chance, groups: list[Community], told: set[int]) -> None:
        """Tell the records that join communities though they have few links."""
        if len(groups) < 2:
            return
        label = np.full(self.network.size, -1)
        for at, one in enumerate(groups):
            label[one.nodes] = at
        nodes, table = chance.joining(self.network, ways)
        sure = chance.certainty(table, by_chance.ways, by_chance.twins)
        count = 0
        for at in np.lexsort((nodes, -ways[nodes], -sure)).tolist():
            node, value = int(nodes[at]), float(sure[at])
            near = Counter(int(one) for one in label[self.network.around(node)] if one >= 0)
            if value >= _SURE and len(near) > 1 and node not in told and (count < _MOST_CUTS or node == self.focus):
                sizes = [len(groups[one].nodes) for one, _ in near.most_common()]
                self.patterns.append(self.teller.between(node, float(ways[node]), dict(near), sizes, value))
                count += 1

    def links(self) -> None:
        """Pairs that ought to be linked."""
        vectors = self.material.vectors
        usable = vectors if vectors.shape[1] and vectors.any() else None
        found, measured = missing.missing(self.network, usable, _MOST, _MISSING, self.tick, self.focus)
        for one in found:
            assert measured is not None
            self.patterns.append(self.teller.missing(one, measured.tried, measured.hits))
        if self.network.links < missing.FEWEST:
            self.notes.append(
                f"{_linked(self.network.links)} too few to tell which links are missing; {missing.FEWEST} are needed."
            )
        elif measured is None:
            self.notes.append("Links that were hidden could not be found again, so none that is missing can be told.")
        elif not found and (best := float(measured.shares[-1])) < _MISSING:
            self.notes.append(
                f"Links that were hidden are hard to find again (at best {best:.0%} of the likeliest pairs were hidden "
                "ones), so none that is missing can be told."
            )
        elif not found:
            self.notes.append("No pair without a link looks like those that have one.")

    def place(self) -> None:
        """The role of the focus."""
        if self.focus >= 0 and self.network.degrees[self.focus]:
            id = self.material.items[self.focus].id
            group = next(len(part) for part in self.network.components if self.focus in part)
            own = next((one for one in self.patterns if one.name == "community" and id in one.members), None)
            self.patterns.append(self.teller.role(self.focus, group, own))


def _loose(material: Material) -> int:
    """How many relations of these records lead to a name that nothing bears."""
    if material.snapshot.count()[1] == len(material.relations):
        return 0
    known = material.by_name
    ends: Counter[str] = Counter()
    for relation in material.snapshot.relations():
        if (relation.source in known) != (relation.target in known):
            ends[relation.target if relation.source in known else relation.source] += 1
    there = material.snapshot.ids(list(ends)) if ends else {}
    return sum(count for name, count in ends.items() if name not in there)
