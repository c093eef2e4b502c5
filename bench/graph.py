"""The graphs that are measured: WordNet from a folder, or a seeded synthetic one of the same size."""

from __future__ import annotations

import gzip
import itertools
import json
import os
import random
import re
from collections import Counter
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Any

__all__ = ["Entity", "Graph", "Queries", "korean_word", "synthetic", "wordnet"]

NODES = 117_659
EDGES = 364_552
KOREAN = 2_000
SEED = 20_260_831

Entity = tuple[str, str, list[str]]
Relation = tuple[str, str, str]


@dataclass(frozen=True, slots=True)
class Queries:
    """Search words by how often they occur, short ones and Korean ones apart."""

    rare: list[str]
    medium: list[str]
    common: list[str]
    frequent: list[str]
    phrase: list[str]
    absent: list[str]
    one: list[str]
    two: list[str]
    korean: list[str]
    korean_two: list[str]
    korean_one: list[str]

    def words(self) -> list[str]:
        """Words of every frequency, in turn, so that any prefix is a fair mixture."""
        bands = (self.rare, self.medium, self.common, self.frequent)
        return [word for turn in zip(*bands, strict=False) for word in turn]


@dataclass(frozen=True, slots=True)
class Graph:
    """Entities with unique names, and relations between them."""

    origin: str
    entities: list[Entity]
    relations: list[Relation]

    def first(self, size: int) -> Graph:
        """The first entities and the relations among them."""
        entities = self.entities[:size]
        names = {name for name, _, _ in entities}
        return Graph(self.origin, entities, [r for r in self.relations if r[0] in names and r[1] in names])

    def write(self, path: str) -> None:
        """Write the graph as both servers read it: one JSON object a line."""
        with open(path, "w", encoding="utf-8") as file:
            rows: Iterable[dict[str, Any]] = itertools.chain(
                ({"type": "entity", "name": n, "entityType": t, "observations": o} for n, t, o in self.entities),
                ({"type": "relation", "from": a, "to": b, "relationType": r} for a, b, r in self.relations),
            )
            file.write("\n".join(json.dumps(row, ensure_ascii=False) for row in rows))

    def folded(self, fold: Callable[[str], str] = str.lower) -> list[str]:
        """Every searchable text of an entity in one folded string, to count the right hits by scanning."""
        return [fold("\n".join([name, kind, *texts])) for name, kind, texts in self.entities]

    def queries(self, each: int, seed: int = SEED) -> Queries:
        """A seeded sample: at most ``each`` words of every band, counted in this graph."""
        draw = random.Random(seed)
        texts = self.folded()
        counts: Counter[str] = Counter()
        for text in texts:
            counts.update(set(re.findall(r"\w+", text)))
        latin = sorted(word for word in counts if len(word) >= 4 and word.isascii() and word.isalpha())
        hangul = sorted(word for word in counts if "가" <= word[0] <= "힣")

        def band(low: float, high: float) -> list[str]:
            found = [word for word in latin if low <= counts[word] <= high]
            return draw.sample(found, min(each, len(found)))

        size = len(texts)
        pairs = Counter(word[at : at + 2] for word in latin for at in range(len(word) - 1))
        phrases = [text.split("\n")[2] for text in draw.sample(texts, each * 4) if text.count("\n") >= 2]
        return Queries(
            rare=band(1, max(2, size * 3e-5)),
            medium=band(max(3, size * 1e-4), max(12, size * 1e-3)),
            common=band(max(13, size * 2e-3), max(40, size * 8e-3)),
            frequent=band(max(41, size * 1.5e-2), size),
            phrase=[" ".join(p.split()[:3]) for p in phrases if p.count(" ") >= 3 and p.isascii()][:each],
            absent=["".join(draw.choices("qxzjkvw", k=8)) for _ in range(each)],
            one=draw.sample("qxzjkv7935", min(each, 10)),
            two=draw.sample(sorted(pairs), min(each, len(pairs))),
            korean=draw.sample([w for w in hangul if len(w) >= 3], min(each, sum(len(w) >= 3 for w in hangul))),
            korean_two=[word[:2] for word in draw.sample(hangul, min(each, len(hangul)))],
            korean_one=[word[-1] for word in draw.sample(hangul, min(each, len(hangul)))],
        )


def korean_word(draw: random.Random) -> str:
    """A string of two to five Hangul syllables."""
    return "".join(chr(draw.randrange(0xAC00, 0xD7A4, 7)) for _ in range(draw.choice((2, 2, 3, 3, 4, 5))))


def _korean_entities(draw: random.Random, count: int) -> list[Entity]:
    words = [korean_word(draw) for _ in range(max(50, count))]
    weights = list(itertools.accumulate(1 / (rank + 2) for rank in range(len(words))))

    def line(length: int) -> str:
        return " ".join(draw.choices(words, cum_weights=weights, k=length))

    return [(f"{words[i % len(words)]} (k{i:06d})", "한국어", [line(8), line(3)]) for i in range(count)]


def wordnet(folder: str) -> Graph:
    """WordNet from nodes.jsonl.gz and edges.jsonl.gz, and some synthetic Korean entities after it.

    Names are not unique there, so an entity is called by its name and its id.
    """
    names: dict[str, str] = {}
    entities: list[Entity] = []
    with gzip.open(os.path.join(folder, "nodes.jsonl.gz"), "rt", encoding="utf-8") as nodes:
        for row in map(json.loads, nodes):
            names[row["id"]] = name = f"{row['name']} ({row['id']})"
            aliases = ["also " + ", ".join(row["aliases"])] if row["aliases"] else []
            entities.append((name, row["type"], [row["text"], *aliases]))
    with gzip.open(os.path.join(folder, "edges.jsonl.gz"), "rt", encoding="utf-8") as edges:
        relations = [(names[row["from"]], names[row["to"]], row["rel"]) for row in map(json.loads, edges)]
    origin = f"WordNet, {len(entities):,} entities and {len(relations):,} relations, and {KOREAN:,} Korean ones"
    return Graph(origin, entities + _korean_entities(random.Random(SEED), KOREAN), relations)


def synthetic(size: int = NODES) -> Graph:
    """As many entities and relations as WordNet, of made-up words that are as unevenly used as real ones."""
    draw = random.Random(SEED)
    onsets = [
        *"bcdfghjklmnprstvw",
        "br",
        "ch",
        "cl",
        "cr",
        "dr",
        "fl",
        "gr",
        "pl",
        "pr",
        "sh",
        "sl",
        "st",
        "th",
        "tr",
    ]
    nuclei = [*"aeiou", "ai", "ea", "ie", "oo", "ou"]
    codas = ["", "", "n", "r", "s", "l", "t", "m", "nd", "st", "ck"]

    def word() -> str:
        parts = (
            draw.choice(onsets) + draw.choice(nuclei) + draw.choice(codas) for _ in range(draw.choice((1, 2, 2, 3)))
        )
        return "".join(parts)

    words = sorted({word() for _ in range(40_000)})
    draw.shuffle(words)
    weights = list(itertools.accumulate(1 / (rank + 3) for rank in range(len(words))))
    kinds = [f"{part}.{draw.choice(words)}" for part in ("noun", "verb", "adj", "adv") for _ in range(11)]

    def line(shortest: int, longest: int) -> str:
        return " ".join(draw.choices(words, cum_weights=weights, k=draw.randint(shortest, longest)))

    entities: list[Entity] = []
    for number in range(size):
        texts = [line(4, 20)]
        if draw.random() < 0.5:
            texts.append("also " + line(1, 4))
        entities.append((f"{draw.choice(words)} (s{number:06d})", draw.choice(kinds), texts))
    verbs = ("hyponym", "hypernym", "part of", "member of", "similar to", "derivation", "antonym")
    links: dict[Relation, None] = {}
    while len(links) < size * EDGES // NODES:
        # Most links are to near neighbours, so that a first part of the graph keeps its share of relations.
        start = draw.randrange(size)
        end = min(size - 1, max(0, start + int(draw.gauss(0, 40))))
        links[entities[start][0], entities[end][0], draw.choice(verbs)] = None
    relations = list(links)
    korean = min(KOREAN, size // 50)
    origin = f"synthetic, {size:,} entities and {len(relations):,} relations, and {korean:,} Korean ones"
    return Graph(origin, entities + _korean_entities(draw, korean), relations)
