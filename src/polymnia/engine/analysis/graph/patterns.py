"""Relationship patterns: hubs, bridges, communities, missing links, cycles, separate groups and orphans."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from polymnia.engine.analysis.findings import Finding, Findings, Remark, example
from polymnia.engine.analysis.graph import missing, structure
from polymnia.engine.analysis.graph.cycles import cycles
from polymnia.engine.analysis.graph.structure import Community, CutVertex, Network
from polymnia.engine.analysis.probability import CAP
from polymnia.engine.analysis.view import ProjectView
from polymnia.importing import importing
from polymnia.models import JsonObject

_SURE = 0.7  # what a p value of .05 amounts to; random networks have less certain ones, too
_MISSING = 0.2  # reported if one pair in five like it is related
_MOST = 10  # of each kind
_MOST_COMMUNITIES = 20
_MOST_CUTS = 5  # of each of the two kinds of bridges
_APART = 3  # members of a separate group that is reported
_FEWEST_LINKS = 10  # for a comparison with random networks
_READ = 100  # members of a community whose texts give its terms
_BACKGROUND = 500  # records these terms are compared with
_EXAMPLES = 10
_FEW = 5


def relationship_patterns(project: ProjectView) -> Findings:
    """The patterns in the relations of a project, most certain first."""
    search = _Search(project)
    records, relations, network = project.items, project.relations, search.network
    looked_at: JsonObject = {
        "records": len(records),
        "relations": len(relations),
        "linked_pairs": network.links,
        "linked_records": int((network.degrees > 0).sum()),
        "types": dict(Counter(r.type for r in relations).most_common(20)),
    }
    if not relations:
        return Findings(looked_at=looked_at, notes=[Remark("graph.no_relations", {"records": len(records)})])
    search.cycles()
    search.groups()
    if network.links < _FEWEST_LINKS:
        search.note("few_links", links=network.links, needed=_FEWEST_LINKS)
    else:
        search.shape()
        search.missing_links()
    found = sorted(search.patterns, key=lambda one: -one.confidence)
    return Findings(patterns=found, looked_at=looked_at | search.looked_at, notes=search.notes)


class _Search:
    def __init__(self, project: ProjectView) -> None:
        self.project = project
        self.records = project.items
        self.places = places = {record.name: at for at, record in enumerate(self.records)}
        ends = [(places[one.source], places[one.target]) for one in project.relations]
        self.network = Network(len(places), [a for a, _ in ends], [b for _, b in ends])
        self.focus = next((at for at, record in enumerate(self.records) if record.id == project.focus), -1)
        self.patterns: list[Finding] = []
        self.looked_at: JsonObject = {}
        self.notes: list[Remark] = []

    def add(self, name: str, sure: float, nodes: Sequence[int], evidence: JsonObject, **details: Any) -> None:
        """Add a finding on some nodes."""
        one = Finding(
            type="relationship_patterns",
            name=name,
            confidence=round(sure, 4),
            evidence=evidence,
            details=details,
            members=tuple(self.records[node].id for node in nodes),
        )
        self.patterns.append(one)

    def note(self, code: str, **values: Any) -> None:
        """Add a remark."""
        self.notes.append(Remark(f"graph.{code}", values))

    def cycles(self) -> None:
        """Cycles of relations that should have none."""
        found = cycles(self.project.relations, 3 * _MOST, self.project.tick)
        focus = self.records[self.focus].name if self.focus >= 0 else None
        for at, one in enumerate(found):
            if at < _MOST or focus in one.names:
                nodes = [self.places[name] for name in one.names]
                steps = [self._example(node, type=step.type) for node, step in zip(nodes, one.steps, strict=True)]
                evidence = {
                    "order": one.order,
                    "length": len(nodes),
                    "steps": steps[:_EXAMPLES],
                    "relations": one.relations,
                    "in_no_circle": one.acyclic,
                }
                self.add("cycle", min(CAP, one.confidence), nodes, evidence)
        if len(found) > _MOST:
            self.note("more_circles", most=_MOST)

    def groups(self) -> None:
        """Separate groups, and records without a relation."""
        parts = self.network.components
        self.looked_at["groups"] = len(parts)
        apart = [part for part in parts[1:] if len(part) >= _APART]
        for at, part in enumerate(apart):
            if at < _MOST or self.focus in part:
                members = self._central(part)
                sizes = {"size": len(part), "largest": len(parts[0]), "groups": len(parts)}
                self.add("component", 1.0, members, sizes | {"central": self._examples(members)})
        if len(parts) - 1 > min(len(apart), _MOST):
            self.note("more_groups", groups=len(parts), least=_APART)
        alone = np.flatnonzero(self.network.degrees == 0).tolist()
        if alone:
            newest = sorted(alone, key=lambda node: (-self.records[node].created, node))
            share = len(alone) / len(self.records)
            evidence = {"count": len(alone), "share": round(share, 4), "examples": self._examples(newest)}
            self.add("orphans", 1.0, alone, evidence, records=len(self.records))

    def shape(self) -> None:
        """Hubs, communities and bridges, compared with random networks."""
        self._hubs()
        found = structure.communities(self.network, self.project.tick)
        nodes, links = structure.cuts(self.network, self.project.tick)
        chance = structure.by_chance(self.network, self.project.tick)
        self.looked_at |= {"communities": len(found), "twins": chance.twins}
        self._communities(found, chance)
        reported = self._bridges(links, chance.link_cuts, chance.twins, [])
        self._bridges(nodes, chance.node_cuts, chance.twins, reported)

    def _hubs(self) -> None:
        degrees = self.network.degrees
        linked = np.sort(degrees[degrees > 0])
        if len(linked) < structure.FEWEST:
            self.note("few_linked", linked=len(linked), needed=structure.FEWEST)
        for one in structure.hubs(degrees, _MOST, _SURE, self.focus):
            below = float((linked <= one.degree).mean())
            evidence = {
                "record": self._example(one.node),
                "degree": one.degree,
                "percentile": round(100 * below, 2),
                "median_degree": int(linked[len(linked) // 2]),
                "expected": float(f"{one.expected:.3g}"),
                "found": one.found,
            }
            self.add("hub", min(CAP, one.confidence), [one.node], evidence, linked=len(linked))

    def _communities(self, every: list[Community], chance: structure.Chance) -> None:
        found, table = structure.separate(self.network, every)
        sure = structure.certainty(table, chance.communities, chance.twins)
        certain = [(one, float(value)) for one, value in zip(found, sure, strict=True) if value >= _SURE]
        certain.sort(key=lambda pair: (-round(pair[1], 2), -len(pair[0].nodes), pair[0].nodes[0]))
        shown = [pair for at, pair in enumerate(certain) if at < _MOST_COMMUNITIES or self.focus in pair[0].nodes]
        here = round(structure.modularity(self.network, every), 4)
        both = {"modularity": here, "modularity_by_chance": round(chance.modularity, 4)}
        self.looked_at |= both
        for (one, value), terms in zip(shown, self._terms([pair[0] for pair in shown]), strict=True):
            members = self._central(one.nodes)
            evidence = {
                "size": len(members),
                "terms": list(terms),
                "inside_share": round(one.share, 4),
                "links_inside": one.inside,
                "links_outside": one.ends - 2 * one.inside,
            }
            self.add("community", value, members, evidence | both | {"central": self._examples(members)})
        if len(certain) > len(shown):
            self.note("more_communities", found=len(certain), shown=len(shown))

    def _terms(self, communities: list[Community]) -> list[list[str]]:
        """A few terms for each community, from its central members compared with other records."""
        with importing():
            from polymnia.engine.analysis.topics import distinctive_terms

        self.project.tick()
        groups = [[self._text(node) for node in self._central(one.nodes)[:_READ]] for one in communities]
        inside = {node for one in communities for node in one.nodes}
        step = max(1, self.network.size // _BACKGROUND)
        return distinctive_terms(
            groups, [self._text(at) for at in range(0, self.network.size, step) if at not in inside]
        )

    def _text(self, node: int) -> str:
        record = self.records[node]
        text = self.project.text(record)
        return text if record.name == record.uid else f"{record.name}\n{text}"

    def _bridges(
        self, found: list[CutVertex], by_chance: NDArray[Any], twins: int, before: list[CutVertex]
    ) -> list[CutVertex]:
        """The records or links that join parts, unless a link reported before covers them."""
        deep, table = structure.deep(found)
        sure = structure.certainty(table, by_chance, twins)
        order = sorted(range(len(deep)), key=lambda at: (-deep[at].lost, deep[at]))
        own = [at for at in order if self.focus in deep[at].nodes]
        reported = []
        for at in dict.fromkeys([*order[:_MOST_CUTS], *own[:_MOST_CUTS]]):
            one, value = deep[at], float(sure[at])
            covered = any(set(one.nodes) < set(other.nodes) and abs(one.lost - other.lost) <= 1 for other in before)
            if value < _SURE or covered:
                continue
            reported.append(one)
            evidence: JsonObject = {
                "records": self._examples(one.nodes),
                "parts": list(one.parts[:_EXAMPLES]),
                "parts_count": len(one.parts),
                "cut_off": one.lost,
            }
            if len(one.nodes) == 2:
                names = {self.records[node].name for node in one.nodes}
                types = sorted({r.type for r in self.project.relations if {r.source, r.target} == names})
                evidence |= {"kind": "link", "types": types}
            else:
                evidence |= {"kind": "record", "degree": int(self.network.degrees[one.nodes[0]])}
            self.add("bridge", value, one.nodes, evidence)
        return reported

    def missing_links(self) -> None:
        """Pairs that are probably related."""
        vectors = self.project.vectors
        usable = vectors if vectors.shape[1] and vectors.any() else None
        found, scale = missing.missing(self.network, usable, _MOST, _MISSING, self.project.tick, self.focus)
        for one in found:
            assert scale is not None
            evidence = {
                "records": self._examples((one.low, one.high)),
                "common_neighbours": len(one.shared),
                **({} if one.cosine is None else {"cosine": round(one.cosine, 4)}),
                "examples": self._examples(one.shared[:_FEW]),
            }
            sure = min(CAP, one.confidence)
            self.add(
                "missing_link", sure, (one.low, one.high), evidence, tried=scale.tried, hits=scale.hits, share=sure
            )
        if self.network.links < missing.FEWEST:
            self.note("few_links_to_hide", links=self.network.links, needed=missing.FEWEST)
        elif scale is None:
            self.note("hidden_not_found")
        elif not found and (best := float(scale.shares[-1])) < _MISSING:
            self.note("hidden_seldom_found", best=best)
        elif not found:
            self.note("none_missing")

    def _central(self, nodes: Sequence[int]) -> list[int]:
        return sorted(nodes, key=lambda node: (-int(self.network.degrees[node]), node))

    def _example(self, node: int, **more: Any) -> JsonObject:
        return example(self.records[node]) | more

    def _examples(self, nodes: Sequence[int]) -> list[JsonObject]:
        return [self._example(node) for node in nodes[:_EXAMPLES]]
