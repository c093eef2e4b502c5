"""Made-up memories that read like real ones: as many as wanted, the same for the same number."""

from __future__ import annotations

import itertools
import json
import random
from collections.abc import Iterator

from bench import graph

__all__ = ["Maker"]

SEED = 20_260_831
KINDS = ("person", "decision", "preference", "component", "event", "task", "note", "place")
NEEDED = 30_000

# {w} is a word of the uneven vocabulary, the others are drawn from the short lists below.
SENTENCES = (
    "{who} {verb} the {quality} {thing} when working on {w}.",
    "{who} said in {month} {year} that the {w} {thing} should be {verb} in {place}.",
    "The {w} service answers on port {number} and its {thing} is {verb} in {place}.",
    "We {verb} {w} with {w} because the {thing} was too {quality} for {who}.",
    "{who} and {who} met in {place} on {day} {month} {year}; they {verb} {w} and the {thing}.",
    "{who} is allergic to {w} and never travels without a {quality} {thing}.",
    "Ticket {w}-{number} stays open in {place} until the {thing} is {verb}.",
    "{who} asked for a {quality} {thing} that shows {w}, {w} and {w}.",
    "Before {month} {year} the {quality} {thing} of {place} was called {w}.",
    "{who} {verb} {w} twice; after that the {thing} in {place} was {quality}.",
    "My {quality} {thing} came from {w}, a gift that {who} {verb}.",
    "On {day} {month} the {w} team {verb} its {thing}, which {who} found {quality}.",
)
QUESTIONS = (
    "Who {verb} the {thing} when working on {w}?",
    "Where should the {w} {thing} be {verb}?",
    "Which port does the {w} service use?",
    "Why was {w} {verb}?",
    "When did {who} meet {who} about {w}?",
    "Who is allergic to {w}?",
    "What is {quality} in {place}, and what has {w} to do with it?",
    "What did {who} say about {w} in {month} {year}?",
)
WORDS = {
    "who": "Anna Ben Carla David Elif Farid Grace Hana Igor Julia Kofi Lena Mateo Nadia Omar Priya Quinn Rosa Sven",
    "thing": "budget calendar camera cache database desk diagram folder guitar index invoice keyboard ladder lamp map "
    "meeting menu notebook parser passport pipeline printer queue recipe report router schedule schema script sofa",
    "place": "Berlin Busan Cairo Delhi Dublin Geneva Kyoto Lagos Lima Lisbon Madrid Milan Oslo Paris Porto Quito Seoul",
    "month": "January February March April May June July August September October November December",
    "verb": "approved archived borrowed broken built bought changed checked cleaned closed deleted deployed designed "
    "drawn fixed found hidden joined kept lost measured merged moved opened painted planned praised published read "
    "refused repaired replaced reviewed saved sold tested translated updated washed written",
    "quality": "ancient blue brittle calm cheap clever cold costly crowded dusty early empty exact faint famous fast "
    "fragile fresh gentle heavy hollow late loud narrow odd patient plain private quiet rare rough sharp slow smooth "
    "steep strict tiny vague warm wide",
}
NUMBERS = {"number": (10, 9999), "day": (1, 28), "year": (2015, 2026)}


class Maker:
    """Draws memories and questions from one vocabulary."""

    def __init__(self) -> None:
        self._lists = {slot: words.split() for slot, words in WORDS.items()}
        names = (name.split(" (")[0] for name, _, _ in graph.synthetic(NEEDED).entities[:NEEDED])
        self._words = sorted({name for name in names if name.isascii()})
        random.Random(SEED).shuffle(self._words)
        self._weights = list(itertools.accumulate(1 / (rank + 3) for rank in range(len(self._words))))

    def memories(self, count: int) -> Iterator[tuple[str, str, list[str]]]:
        """Name, kind and observations: one sentence or a few, some eighteen words on average."""
        draw = random.Random(SEED + 1)
        for number in range(count):
            texts = [self._sentence(draw, SENTENCES) for _ in range(draw.choice((1, 1, 1, 2)))]
            yield f"{self._word(draw)} {number}", draw.choice(KINDS), texts

    def questions(self, count: int) -> list[str]:
        """Natural questions in the words of the memories."""
        draw = random.Random(SEED + 2)
        return [self._sentence(draw, QUESTIONS) for _ in range(count)]

    def write(self, path: str, count: int) -> int:
        """A graph file with so many memories; answers how many observations they have."""
        observations = 0
        with open(path, "w", encoding="utf-8") as file:
            for name, kind, texts in self.memories(count):
                observations += len(texts)
                file.write(
                    json.dumps({"type": "entity", "name": name, "entityType": kind, "observations": texts}) + "\n"
                )
        return observations

    def _word(self, draw: random.Random) -> str:
        return draw.choices(self._words, cum_weights=self._weights)[0]

    def _sentence(self, draw: random.Random, patterns: tuple[str, ...]) -> str:
        parts = draw.choice(patterns).split("{")
        return parts[0] + "".join(self._fill(draw, part) for part in parts[1:])

    def _fill(self, draw: random.Random, part: str) -> str:
        slot, rest = part.split("}", 1)
        if slot == "w":
            return self._word(draw) + rest
        if slot in self._lists:
            return draw.choice(self._lists[slot]) + rest
        return str(draw.randint(*NUMBERS[slot])) + rest
