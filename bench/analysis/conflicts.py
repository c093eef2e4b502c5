"""``python -m bench.analysis.conflicts [--data FOLDER] [--fit]``: conflicts and duplicates, by the judge of pairs.

The pairs are the test part of ``training/data``: each is asked about as two items that are named, in projects of 250
pairs and all of them together as one project; the first statements alone, which have nothing against each other, say
how often a project is told of a conflict that is none. With ``--data`` also those pairs of public sets that the judge
has not learned from. ``--fit`` prints the table of ``engine.knowledge.judge`` for this judge, from one half of the
pairs. ``--judge MODULE:CLASS`` takes another judge than the one that is installed.
"""

from __future__ import annotations

import argparse
import gzip
import hashlib
import importlib
import json
import math
import os
import random
import sys
import tempfile
import time
from collections.abc import Iterator, Sequence
from itertools import combinations
from typing import Any, NamedTuple

__all__ = ["main"]

SEED = 20_261_115
NLI = {"negnli_en": ("nli", 0.68), "kornli_ko": ("nli", 0.65), "scifact": ("pairs", 0.66)}
CLASH = ("conflict", "update")
DROPPED = 0.005  # of different texts, that may be called the same
SURE = 0.0005  # and where somebody is told to delete one
SAME_GRADE = 4.5  # from which two texts of STS-B count as one, of 5
ALARMS = 0.5  # per 100 items that have nothing against each other
TOGETHER = 250  # pairs of a project
LEVELS = tuple(at / 100 for at in range(5, 96))


class Reading(NamedTuple):
    """What the judge says of two statements, how near their vectors are, what words they share, and among how many
    items they were found."""

    chance: float
    near: float
    shared: float
    among: int = 500
    strong: bool = True


class Told(NamedTuple):
    """What was found of what there is to find."""

    told: int
    right: int
    there: int

    @property
    def f1(self) -> float:
        return 2 * self.right / max(1, self.told + self.there)

    def __str__(self) -> str:
        precision, recall = self.right / max(1, self.told), self.right / max(1, self.there)
        return f"precision {precision:.3f}, recall {recall:.3f}, F1 {self.f1:.3f} ({self.told} told)"


def main(arguments: list[str] | None = None) -> int:
    """Measure and print."""
    parser = argparse.ArgumentParser(prog="python -m bench.analysis.conflicts", description=__doc__)
    parser.add_argument("--data", help="the folder of the public sets")
    parser.add_argument("--sample", type=int, default=1000, help="pairs of each public set (0 for all)")
    parser.add_argument("--languages", help="of the test part, such as en,ko; default: all")
    parser.add_argument("--embedder", default="auto", help="as in POLYMNIA_EMBEDDER; default: auto")
    parser.add_argument("--judge", help="MODULE:CLASS of another judge")
    parser.add_argument("--fit", action="store_true", help="print the borders that fit this judge")
    given = parser.parse_args(arguments)
    judge = _judge(given.judge)
    languages = given.languages.split(",") if given.languages else None
    pairs = _test_part(languages)
    print(f"{len(pairs)} pairs of the test part, judge {judge.id}\n")
    _measure(pairs, judge, given.embedder)
    _measure_projects(languages, judge, given.embedder)
    _same(pairs, languages, judge, given.embedder)
    if given.data:
        _public(given.data, given.sample, judge, given.embedder)
    if given.fit:
        _fit(pairs, judge, given.embedder)
    return 0


def _judge(name: str | None) -> Any:
    if name is not None:
        module, _, kind = name.partition(":")
        return getattr(importlib.import_module(module), kind)()
    from polymnia import inference

    judge = inference.judge("auto")
    if judge is None:
        raise SystemExit("no judge is installed; name one with --judge MODULE:CLASS")
    return judge


def _test_part(languages: Sequence[str] | None) -> list[Any]:
    from training import texts

    return [one for one in texts.pairs(test=True) if languages is None or one.language in languages]


class Project:
    """A project of some texts, an item each, and questions about its conflicts."""

    def __init__(self, texts: Sequence[str], judge: Any, embedder: str) -> None:
        from polymnia import EntityDraft, Memory, inference
        from polymnia.engine.search import Analysis, LazySearch
        from polymnia.engine.search.finder import Finder
        from polymnia.storage.sqlite import SqliteStore

        self._folder = tempfile.TemporaryDirectory()
        store = SqliteStore(os.path.join(self._folder.name, "memory.db"), analyst=Analysis())
        embedders = inference.choose(embedder)
        self.memory = Memory(store, finding=LazySearch(lambda: Finder(store, embedders=embedders, judge=judge)))
        self.texts = list(dict.fromkeys(texts))
        drafts = [
            EntityDraft(f"content_{at:08x}", "content", (text,), uid=f"content_{at:08x}", created=1_700_000_000_000_000)
            for at, text in enumerate(self.texts)
        ]
        self.memory.create_entities(drafts)
        if embedders:
            self.memory.finding().reindex("default", lambda *_: None)

    def __enter__(self) -> Project:
        return self

    def __exit__(self, *_: object) -> None:
        self.memory.close()
        self._folder.cleanup()

    def _ask(self, work: Any) -> Any:
        """What some work on the material of the project, and its items by their texts, gives."""
        from polymnia.engine.analysis.view import ProjectView
        from polymnia.models import Filters

        def run(look: Any) -> Any:
            material = ProjectView(look, filters=Filters(), now=0)
            return work(material, {one.observations[0]: one for one in material.items})

        with self.memory.finding().separate_neighbours("default", lambda: None) as look:
            return run(look)

    def told(self) -> list[frozenset[str]]:
        """The texts of the items that clash."""
        from polymnia.engine.analysis.conflicts import conflicts

        found = self._ask(lambda material, _: conflicts(material, suggest=False).clashes)
        return [frozenset(side.record.observations[0] for side in (one.left, one.right)) for one in found]

    def told_of(self, pairs: Sequence[tuple[str, str]]) -> list[bool]:
        """Whether two items clash, for each pair of texts that is named."""
        from polymnia.engine.analysis.conflicts import conflicts

        def work(material: Any, items: Any) -> list[bool]:
            ids = [[items[text].id for text in pair] for pair in pairs]
            return [bool(conflicts(material, among=two, suggest=False).clashes) for two in ids]

        found: list[bool] = self._ask(work)
        return found

    def readings(self) -> list[tuple[frozenset[str], Reading]]:
        """What is known of each pair that is brought together."""
        return self._ask(lambda material, items: _read(material, list(items.values())))  # type: ignore[no-any-return]

    def readings_of(self, pairs: Sequence[tuple[str, str]]) -> list[Reading]:
        """What is known of the statements that clash most, for each pair of texts that is named."""

        def work(material: Any, items: Any) -> list[Reading]:
            found = [_read(material, [items[text] for text in dict.fromkeys(pair)], named=True) for pair in pairs]
            return [max((one for _, one in some), default=Reading(0.01, 0.0, 0.0)) for some in found]

        return self._ask(work)  # type: ignore[no-any-return]


def _read(material: Any, records: Sequence[Any], *, named: bool = False) -> list[tuple[frozenset[str], Reading]]:
    from polymnia.engine.analysis.conflicts import detection, statements
    from polymnia.engine.analysis.conflicts.statements import Candidates

    table = statements.Statements(records, whole=named)
    known = Candidates(table, *detection._vectors(material, records, whole=False))
    rows = (known.every() if named else known.found())[: detection._JUDGED]
    said = material.judging.read([(table.judged(a), table.judged(b)) for a, b in rows.tolist()])
    items = [frozenset(table.record(row).observations[0] for row in pair) for pair in rows.tolist()]
    nearness, shares = (one.tolist() for one in known.related(rows))
    near = [(share if math.isnan(one) else one, share) for one, share in zip(nearness, shares, strict=True)]
    among = material.snapshot.size()
    return [
        (pair, Reading(one.clash, *two, among, one.strong)) for pair, one, two in zip(items, said, near, strict=True)
    ]


def _known(pairs: Sequence[Any]) -> dict[frozenset[str], bool | None]:
    """Whether two statements clash, of those somebody judged, and of those that are second to the same first one.

    What says the same as the first clashes with whatever that clashes with, and so does what says more. Of other
    statements about one first statement nobody knows: they count neither for nor against.
    """
    found: dict[frozenset[str], bool | None] = {frozenset((one.a, one.b)): one.label in CLASH for one in pairs}
    seconds: dict[str, list[Any]] = {}
    for one in pairs:
        seconds.setdefault(one.a, []).append(one)
    for one, other in (two for some in seconds.values() for two in combinations(some, 2)):
        clash: bool | None = None
        for left, right in ((one, other), (other, one)):
            if left.label == "same" or (left.label == "narrower" and right.label in CLASH):
                clash = right.label in CLASH
        found.setdefault(frozenset((one.b, other.b)), clash)
    return found


def _measure(pairs: Sequence[Any], judge: Any, embedder: str) -> None:
    print("| everyday pairs | |\n|---|---|", flush=True)
    texts = [text for one in pairs for text in (one.a, one.b)]
    with Project(texts, judge, embedder) as project:
        begun = time.perf_counter()
        named = project.told_of([(one.a, one.b) for one in pairs])
        found = {frozenset((one.a, one.b)) for one, told in zip(pairs, named, strict=True) if told}
        wanted = {frozenset((one.a, one.b)) for one in pairs if one.label in CLASH}
        took = (time.perf_counter() - begun) / len(pairs)
        print(
            f"| named | {Told(len(found), len(found & wanted), len(wanted))}; {took * 1e3:.0f} ms a pair |", flush=True
        )
        strangers = project.told_of(_unrelated(pairs))
        print(f"| two of different pairs, named | {sum(strangers) / len(strangers):.3f} are told |", flush=True)
    for size in (TOGETHER, len(pairs)):
        _measure_together(_projects(pairs, size), judge, embedder)


def _measure_together(projects: Sequence[Sequence[Any]], judge: Any, embedder: str) -> None:
    found, met, alarms, items, took = Told(0, 0, 0), 0, 0, [0, 0], 0.0
    for some in projects:
        known = _known(some)
        wanted = {pair for pair, clash in known.items() if clash}
        with Project([text for one in some for text in (one.a, one.b)], judge, embedder) as project:
            begun = time.perf_counter()
            told = {one for one in project.told() if len(one) == 2 and known.get(one, False) is not None}
            took += time.perf_counter() - begun
            found = Told(found.told + len(told), found.right + len(told & wanted), found.there + len(wanted))
            met += len({one for one, _ in project.readings()} & wanted)
            items[0] += len(project.texts)
        with Project([one.a for one in some], judge, embedder) as project:
            alarms += len(project.told())
            items[1] += len(project.texts)
    print(
        f"| {len(projects)} of {items[0] // len(projects)} items | {found}; {met / found.there:.3f} brought together; "
        f"{took / len(projects):.1f} s; false alarms per 100 items {100 * alarms / items[1]:.2f} |",
        flush=True,
    )


def _projects(pairs: Sequence[Any], size: int) -> list[list[Any]]:
    """The pairs in projects of about so many; those with the same first statement together."""
    families: dict[str, list[Any]] = {}
    for one in pairs:
        families.setdefault(one.a, []).append(one)
    firsts = list(families)
    random.Random(SEED).shuffle(firsts)
    found: list[list[Any]] = [[]]
    for first in firsts:
        if len(found[-1]) >= size:
            found.append([])
        found[-1] += families[first]
    return found


def _measure_projects(languages: Sequence[str] | None, judge: Any, embedder: str) -> None:
    """The small projects of the test part, all as one: what two statements are to each other is known of every pair."""
    from training import texts

    some = [one for one in texts.projects("test") if languages is None or one.language in languages]
    wanted = {frozenset((one.items[i], one.items[j])) for one in some for i, j, label in one.pairs if label in CLASH}
    with Project([text for one in some for text in one.items], judge, embedder) as project:
        told = {one for one in project.told() if len(one) == 2}
        met = {one for one, _ in project.readings()}
        share = len(met & wanted) / max(1, len(wanted))
        print(f"| {len(some)} small projects as one of {len(project.texts)} items | ", end="")
        print(f"{Told(len(told), len(told & wanted), len(wanted))}; brought together {share:.3f} |\n", flush=True)


def _unrelated(pairs: Sequence[Any], many: int = 300) -> list[tuple[str, str]]:
    draw = random.Random(SEED)
    return [(one.a, other.b) for one, other in (draw.sample(pairs, 2) for _ in range(many))]


def _same(pairs: Sequence[Any], languages: Sequence[str] | None, judge: Any, embedder: str) -> None:
    from polymnia.engine.knowledge.judge import COPY, SAME

    print("| duplicates | same seen | different seen |\n|---|---|---|")
    for where, (asked, truth) in (
        ("pairs", ([(one.a, one.b) for one in pairs], [one.label == "same" for one in pairs])),
        ("small projects", _pairs_of("test", languages)),
    ):
        near = _nearness(asked, embedder)
        for name, border in (("named in the answer", SAME), ("as copies", COPY)):
            sure = _sameness(asked, near, judge, border, strict=border is COPY)
            seen = [_share(sure, truth, same, border.medium) for same in (True, False)]
            print(f"| {where}, {name} | {seen[0]:.3f} | {seen[1]:.4f} |", flush=True)
    print(flush=True)


def _pairs_of(part: str, languages: Sequence[str] | None) -> tuple[list[tuple[str, str]], list[bool]]:
    """Every pair of statements of each small project of a part, and whether they say the same."""
    from training import texts

    found, truth = [], []
    for one in texts.projects(part):
        if languages is None or one.language in languages:
            same = {frozenset(pair[:2]) for pair in one.pairs if pair[2] == "same"}
            for i, j in combinations(range(len(one.items)), 2):
                found.append((one.items[i], one.items[j]))
                truth.append(frozenset((i, j)) in same)
    return found, truth


def _nearness(pairs: Sequence[tuple[str, str]], embedder: str) -> list[float | None]:
    """How near the vectors of each two texts are, by the first model that knows both; None where none does."""
    import numpy as np

    from polymnia import inference

    found: list[float | None] = [None] * len(pairs)
    for model in inference.choose(embedder):
        model.load()
        mine = [at for at, pair in enumerate(pairs) if found[at] is None and all(map(model.knows, pair))]
        texts = list(dict.fromkeys(text for at in mine for text in pairs[at]))
        rows = [row for start in range(0, len(texts), 64) for row in model.embed(texts[start : start + 64])]
        vectors = dict(zip(texts, rows, strict=True))
        for at in mine:
            a, b = (vectors[text] for text in pairs[at])
            found[at] = min(1.0, max(0.0, (float(np.dot(a, b)) - model.unrelated) / (1 - model.unrelated)))
    return found


def _sameness(
    pairs: Sequence[tuple[str, str]], near: Sequence[float | None], judge: Any, border: Any, *, strict: bool = False
) -> list[float]:
    from polymnia.engine.knowledge import duplicates
    from polymnia.engine.knowledge.judge import Judging

    return duplicates.same(Judging(judge), pairs, near, border._replace(medium=0.001), strict=strict)


def _share(sure: Sequence[float], truth: Sequence[bool], same: bool, border: float) -> float:
    some = [value for value, true in zip(sure, truth, strict=True) if true == same]
    return sum(value >= border for value in some) / max(1, len(some))


def _public(data: str, sample: int, judge: Any, embedder: str) -> None:
    from polymnia.engine.knowledge.judge import COPY, NAMED, SAME
    from training.public import held_out

    print("| public sets | pairs | at the border | best border |\n|---|---|---|---|")
    for name, (file, target) in NLI.items():
        # The part made of RTE is judged entailed or not, which says nothing of contradictions.
        rows = [one for one in _rows(os.path.join(data, name, f"{file}.jsonl.gz")) if one.get("split") != "RTE"]
        rows = [one for one in rows if held_out(one["a"], one["b"])]
        rows = random.Random(SEED).sample(rows, sample) if 0 < sample < len(rows) else rows
        asked = [(one["a"], one["b"]) for one in rows]
        with Project([text for pair in asked for text in pair], judge, embedder) as project:
            sure = [_sure(NAMED, one) for one in project.readings_of(asked)]
        truth = [one["label"] == "contradiction" for one in rows]
        print(
            f"| {name} (target {target}) | {len(rows)} | {_at(sure, truth, NAMED.medium)} | {_best(sure, truth)} |",
            flush=True,
        )
    rows = list(_rows(os.path.join(data, "stsb_en", "pairs.jsonl.gz")))
    rows = random.Random(SEED).sample(rows, sample) if 0 < sample < len(rows) else rows
    asked = [(one["a"], one["b"]) for one in rows]
    near = _nearness(asked, embedder)
    truth = [one["score"] >= SAME_GRADE for one in rows]
    for border in (SAME, COPY):
        sure = _sameness(asked, near, judge, border)
        found = f"{_at(sure, truth, border.medium)} | {_best(sure, truth)}"
        print(f"| stsb_en, same from {border.medium} on (target 0.65) | {len(rows)} | {found} |")
    print(flush=True)


def _sure(border: Any, one: Reading) -> float:
    value: float = border.confidence(*one[:4])
    return value


def _at(sure: Sequence[float], truth: Sequence[bool], border: float) -> Told:
    told = [value >= border for value in sure]
    return Told(sum(told), sum(a and b for a, b in zip(told, truth, strict=True)), sum(truth))


def _best(sure: Sequence[float], truth: Sequence[bool]) -> str:
    border = max((at / 100 for at in range(1, 100)), key=lambda border: _at(sure, truth, border).f1)
    return f"{border:.2f}: F1 {_at(sure, truth, border).f1:.3f}"


def _fit(pairs: Sequence[Any], judge: Any, embedder: str) -> None:
    from polymnia.engine.knowledge.judge import Border
    from polymnia.inference.built_in import is_english

    pairs = [one for one in pairs if hashlib.sha256(one.a.encode()).digest()[-1] % 2]
    asked = [*((one.a, one.b) for one in pairs), *_unrelated(pairs)]
    with Project([text for pair in asked for text in pair], judge, embedder) as project:
        named = project.readings_of(asked)
    truth = [*(one.label in CLASH for one in pairs), *(False for _ in asked[len(pairs) :])]
    border = Border(*_logistic(named, truth), 0.5)
    sure = [_sure(border, one) for one in named]
    print("NAMED =", _shown(border, max(LEVELS, key=lambda at: _at(sure, truth, at).f1)))
    met: list[tuple[Reading, bool]] = []
    small: list[Reading] = []
    there, items = {True: 0, False: 0}, {True: 0, False: 0}
    for some in [*_projects(pairs, TOGETHER), pairs]:
        known = _known(some)
        with Project([text for one in some for text in (one.a, one.b)], judge, embedder) as project:
            met += [(one, known.get(pair, False) is True) for pair, one in project.readings()
                    if known.get(pair, False) is not None]  # fmt: skip
        with Project([one.a for one in some], judge, embedder) as project:
            quiet = [one for _, one in project.readings()]
            met += [(one, False) for one in quiet]
        if len(some) < len(pairs):
            small += quiet
            for text in project.texts:
                items[is_english(text)] += 1
            for pair, clash in known.items():
                there[all(map(is_english, pair))] += clash is True
    for strong in (True, False):
        found = [one for one in met if one[0].strong == strong]
        *weights, crowd, shift = _logistic([one for one, _ in found], [clash for _, clash in found], 4)
        border = Border(*weights, shift, 0.5, crowd=crowd)
        found = [one for one in found if one[0].among < len(pairs)]
        truth = [clash for _, clash in found]
        sure = [_sure(border, one) for one, _ in found]
        alarm = [_sure(border, one) for one in small if one.strong == strong]
        few = [at for at in LEVELS if 100 * sum(value >= at for value in alarm) / max(1, items[strong]) <= ALARMS]
        best = max(few or [0.95], key=lambda at: _at(sure, truth, at)._replace(there=there[strong]).f1)
        print("PROJECT," if strong else "PROJECT, weak,", _shown(border, best), flush=True)
    _fit_same(pairs, judge, embedder)


def _fit_same(pairs: Sequence[Any], judge: Any, embedder: str) -> None:
    """The borders of what says the same, from the same half of the pairs and from the small projects for fitting."""
    from polymnia.engine.knowledge import duplicates
    from polymnia.engine.knowledge.judge import Border, Judging

    hard = [(one.a, one.b) for one in pairs]
    asked, truth = _pairs_of("fit", None)
    asked, truth = [*hard, *asked], [*(one.label == "same" for one in pairs), *truth]
    near = _nearness(asked, embedder)
    said = Judging(judge).verdicts(asked)
    found = [
        Reading(one.same, shares if way is None else way, shares)
        for one, way, shares in zip(said, near, (duplicates.shared(*pair) for pair in asked), strict=True)
    ]
    # Of the small projects nearly all pairs are plainly different: a twentieth says enough of those.
    some = [*range(len(hard)), *range(len(hard), len(asked), 20)]
    weights = _logistic([found[at] for at in some], [truth[at] for at in some])
    for name, most in (("SAME", DROPPED), ("COPY", SURE)):
        border = Border(*weights, 0.5)
        sure = _sameness(asked, near, judge, border, strict=name == "COPY")
        levels = (at / 200 for at in range(20, 200))
        few = (at for at in levels if _share(sure[: len(hard)], truth[: len(hard)], False, at) <= most)
        print(name, "=", _shown(border, next(few, 1.0)))


def _shown(border: Any, medium: float) -> str:
    found = {key: value for key, value in border._replace(medium=medium)._asdict().items() if value}
    return "Border(" + ", ".join(f"{key}={value:.3g}" for key, value in found.items()) + ")"


def _logistic(found: Sequence[Reading], truth: Sequence[bool], columns: int = 3) -> list[float]:
    """The weights of what is known of pairs under which it fits best what is true, and the shift."""
    import numpy as np

    x = np.array([(*one[:columns], 1.0) for one in found])
    chance = np.clip(x[:, 0], 1e-4, 1 - 1e-4)
    x[:, 0] = np.log(chance / (1 - chance))
    if columns > 3:
        x[:, 3] = np.log(x[:, 3] / 500)
    y = np.array(truth, float)
    weights = np.zeros(x.shape[1])
    for _ in range(100):
        p = 1 / (1 + np.exp(-x @ weights))
        slope = (x * (p * (1 - p))[:, None]).T @ x + 0.01 * np.eye(len(weights))
        weights += np.clip(np.linalg.solve(slope, x.T @ (y - p) - 0.01 * weights), -1, 1)
    return [float(one) for one in weights]


def _rows(path: str) -> Iterator[dict[str, Any]]:
    with gzip.open(path, "rt", encoding="utf-8") as file:
        yield from (json.loads(line) for line in file)


if __name__ == "__main__":
    sys.exit(main())
