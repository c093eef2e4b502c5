"""Telling: what was found in a network, as patterns with their evidence."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from typing import Any

from polymnia.engine.analysis.cycles import Cycle
from polymnia.engine.analysis.findings import Pattern
from polymnia.engine.analysis.graphs.bridges import Cut
from polymnia.engine.analysis.graphs.communities import Community
from polymnia.engine.analysis.graphs.hubs import Hub
from polymnia.engine.analysis.graphs.missing import Missing
from polymnia.engine.analysis.graphs.network import Network
from polymnia.engine.items import title_of
from polymnia.models import Record, Relation

__all__ = ["TYPE", "Teller"]

TYPE = "relationship_patterns"

_EXAMPLES = 10
_FEW = 5
_LONG = 60  # characters of a title in a sentence
_COUNTED = frozenset(("component", "orphans", "role"))
_SUREST = 0.999  # nothing that is estimated is certain
_BY_CHANCE = "in networks made by chance in which every record has as many links as here"


class Teller:
    """Writes patterns about the records of a project and the relations between them."""

    def __init__(self, records: Sequence[Record], network: Network, relations: Sequence[Relation]) -> None:
        self.records = records
        self.network = network
        self.places = {record.name: at for at, record in enumerate(records)}
        self._of: dict[int, list[Relation]] | None = None
        self._relations = relations

    def of(self, node: int) -> list[Relation]:
        """The relations of a node."""
        if self._of is None:
            self._of = {}
            for relation in self._relations:
                for name in {relation.source, relation.target}:
                    self._of.setdefault(self.places[name], []).append(relation)
        return self._of.get(node, [])

    def title(self, node: int) -> str:
        """A record's title as it stands in a sentence."""
        title = title_of(self.records[node])
        return f"“{title if len(title) <= _LONG else title[:_LONG].rstrip() + '…'}”"

    def example(self, node: int, **more: Any) -> dict[str, Any]:
        """A record as it stands in evidence."""
        return {"id": self.records[node].uid, "title": title_of(self.records[node]), **more}

    def ways(self, node: int) -> dict[str, Any]:
        """How many relations go out of a node and come in, and of which types."""
        name = self.records[node].name
        of = self.of(node)
        types = Counter(relation.type for relation in of)
        return {
            "outgoing": sum(relation.source == name for relation in of),
            "incoming": sum(relation.target == name for relation in of),
            "types": dict(sorted(types.items(), key=lambda one: (-one[1], one[0]))[:_EXAMPLES]),
        }

    def percentile(self, node: int) -> float:
        """The share of the linked records that have no more neighbours than this one, in percent."""
        held = self.network.degrees[self.network.degrees > 0]
        return round(100.0 * float((held <= self.network.degrees[node]).mean()), 2)

    def hub(self, one: Hub) -> Pattern:
        """A record with many neighbours."""
        linked = int((self.network.degrees > 0).sum())
        held = sorted(self.network.degrees[self.network.degrees > 0].tolist())
        middle = held[len(held) // 2]
        return self._pattern(
            "hub", one.confidence, [one.node],
            f"{self.title(one.node)} is linked with {one.degree} records; half of the linked have {middle} or fewer.",
            f"The degrees of the lower nine tenths of {linked} linked records let expect {one.expected:.2g} records "
            f"with {one.degree} or more neighbours; there are {one.found}. The confidence is the share "
            "beyond expectation.",
            {"record": self.example(one.node), "degree": one.degree, "percentile": self.percentile(one.node),
             "median_degree": middle, "expected": float(f"{one.expected:.3g}"), "found": one.found,
             **self.ways(one.node)},
        )  # fmt: skip

    def cut(self, one: Cut, sure: float) -> Pattern:
        """A record or a relation without which a part would fall off."""
        parts = list(one.parts)
        told = " and ".join(str(part) for part in parts[:_FEW]) + (" and more" if len(parts) > _FEW else "")
        evidence: dict[str, Any] = {
            "records": [self.example(node) for node in one.nodes], "parts": parts[:_EXAMPLES],
            "parts_count": len(parts), "cut_off": one.lost,
        }  # fmt: skip
        if len(one.nodes) == 2:
            names = {self.records[node].name for node in one.nodes}
            types = sorted({r.type for r in self.of(one.nodes[0]) if {r.source, r.target} == names})
            evidence |= {"kind": "link", "types": types}
            what = f"Only the link between {self.title(one.nodes[0])} and {self.title(one.nodes[1])} joins"
        else:
            evidence |= {"kind": "record", "degree": int(self.network.degrees[one.nodes[0]])}
            what = f"Only {self.title(one.nodes[0])} joins"
        return self._pattern(
            "bridge", sure, list(one.nodes), f"{what} parts of {told} records.",
            f"Without it {one.lost} records hang together apart from the rest. Compared with what is cut off by single "
            f"records or links {_BY_CHANCE}.",
            evidence,
        )  # fmt: skip

    def between(self, node: int, share: float, groups: dict[int, int], sizes: list[int], sure: float) -> Pattern:
        """A record that many shortest ways between communities go through."""
        degree = int(self.network.degrees[node])
        return self._pattern(
            "bridge", sure, [node],
            f"{share:.0%} of the shortest ways go through {self.title(node)}, which has {degree} neighbours in "
            f"{len(groups)} communities.",
            f"Compared with records of as few links {_BY_CHANCE}.",
            {"records": [self.example(node)], "kind": "between", "betweenness": round(share, 4), "degree": degree,
             "neighbours_by_community": sorted(groups.values(), reverse=True)[:_EXAMPLES],
             "community_sizes": sizes[:_EXAMPLES]},
        )  # fmt: skip

    def community(self, one: Community, terms: Sequence[str], sure: float, modularity: tuple[float, float]) -> Pattern:
        """A group that keeps to itself, with what it is about."""
        members = self.central(one)
        about = ", ".join(terms) if terms else ", ".join(self.title(node) for node in members[:3])
        return self._pattern(
            "community", sure, members,
            f"{len(members)} records belong together: {about}; {one.share:.0%} of their links stay among them.",
            f"Found by modularity ({modularity[0]:.2f} here, {modularity[1]:.2f} by chance) and compared with groups "
            f"of the same kind {_BY_CHANCE}.",
            {"size": len(members), "terms": list(terms), "inside_share": round(one.share, 4),
             "links_inside": one.inside, "links_outside": one.ends - 2 * one.inside,
             "modularity": round(modularity[0], 4), "modularity_by_chance": round(modularity[1], 4),
             "central": [self.example(node) for node in members[:_EXAMPLES]]},
        )  # fmt: skip

    def central(self, one: Community) -> list[int]:
        """The members of a community, those with the most neighbours first."""
        return sorted(one.nodes, key=lambda node: (-int(self.network.degrees[node]), node))

    def missing(self, one: Missing, tried: int, hits: int) -> Pattern:
        """A pair that ought to be related."""
        cosine = {} if one.cosine is None else {"cosine": round(one.cosine, 4)}
        near = "" if one.cosine is None else f" and are near in meaning (cosine {one.cosine:.2f})"
        return self._pattern(
            "missing_link", one.confidence, [one.low, one.high],
            f"{self.title(one.low)} and {self.title(one.high)} share {len(one.shared)} neighbours{near}, but have no "
            "relation.",
            f"A tenth of the links was hidden and looked for among {tried} such pairs; {hits} of them were "
            f"hidden ones. Of those like this pair, {one.confidence:.0%} were.",
            {"records": [self.example(one.low), self.example(one.high)], "common_neighbours": len(one.shared), **cosine,
             "examples": [self.example(node) for node in one.shared[:_FEW]]},
        )  # fmt: skip

    def cycle(self, one: Cycle) -> Pattern:
        """A circle among relations that put things in an order."""
        nodes = [self.places[name] for name in one.names]
        way = " → ".join(
            [*(self.title(node) for node in nodes[:_FEW]), "…" if len(nodes) > _FEW else self.title(nodes[0])]
        )
        return self._pattern(
            "cycle", one.confidence, nodes,
            f"A circle of {len(nodes)} in {one.order}: {way}.",
            f"{one.kept} of the {one.relations} relations that tell this order are in no circle.",
            {"order": one.order, "length": len(nodes), "steps": [
                {**self.example(node), "type": step.type} for node, step in zip(nodes, one.steps, strict=True)
            ][:_EXAMPLES], "relations": one.relations, "in_no_circle": one.kept},
        )  # fmt: skip

    def component(self, nodes: Sequence[int], largest: int, groups: int) -> Pattern:
        """A group that no relation joins to the rest."""
        members = sorted(nodes, key=lambda node: (-int(self.network.degrees[node]), node))
        names = ", ".join(self.title(node) for node in members[:3])
        return self._pattern(
            "component", 1.0, members,
            f"{len(members)} records are linked with each other and with nothing else: {names}.",
            f"Counted: the linked records fall into {groups} groups, the largest of {largest}.",
            {"size": len(members), "largest": largest, "groups": groups,
             "central": [self.example(node) for node in members[:_EXAMPLES]]},
        )  # fmt: skip

    def orphans(self, nodes: Sequence[int]) -> Pattern:
        """Records that nothing is related to."""
        share = len(nodes) / len(self.records)
        return self._pattern(
            "orphans", 1.0, nodes,
            f"{len(nodes)} of {len(self.records)} records ({share:.0%}) have no relation to another record.",
            "Counted.",
            {"count": len(nodes), "share": round(share, 4),
             "examples": [self.example(node) for node in sorted(nodes, key=self._newest)[:_EXAMPLES]]},
        )  # fmt: skip

    def role(self, node: int, group: int, of: Pattern | None) -> Pattern:
        """What one record is in the network."""
        degree, percentile = int(self.network.degrees[node]), self.percentile(node)
        inside = "" if of is None else f" It belongs to a community of {of.evidence['size']} records."
        told = {} if of is None else {
            "community": {"size": of.evidence["size"], "terms": of.evidence["terms"], "confidence": of.confidence}
        }  # fmt: skip
        return self._pattern(
            "role", 1.0, [node],
            f"{self.title(node)} is linked with {degree} records, as many as or more than {percentile:.0f} % of the "
            f"linked ones, in a group of {group}.{inside}",
            "Counted; how sure the community is, is told with it.",
            {"record": self.example(node), "degree": degree, "percentile": percentile, "group_size": group,
             **self.ways(node), **told},
        )  # fmt: skip

    def _newest(self, node: int) -> tuple[int, int]:
        return -self.records[node].created, node

    def _pattern(
        self, name: str, sure: float, nodes: Sequence[int], summary: str, explanation: str, evidence: dict[str, Any]
    ) -> Pattern:
        return Pattern(
            type=TYPE, name=name, summary=summary, explanation=explanation, evidence=evidence,
            confidence=1.0 if name in _COUNTED else round(min(_SUREST, sure), 4),
            members=tuple(self.records[node].id for node in nodes),
        )  # fmt: skip
