"""Train the English models.

    python -m training.english ranker --seed 0 --base ce.npz --tokenizer tokenizer.json --out OUT
    python -m training.english judge --seed 0 --base ce.npz --tokenizer tokenizer.json --public DIR --snli FILE \\
        --plain FILE --out OUT
    python -m training.english small-ranker --teachers OUT/ranker-0 OUT/ranker-1 ... (the other options as above)
    python -m training.english small-judge --teachers OUT/judge-0 OUT/judge-1 ...
    python -m training.english embedder --base bge.npz --scorer-base ce.npz --teachers OUT/ranker-0 ...
    python -m training.english small-embedder --base bge.npz --teachers OUT/embedder ...

Two cross-encoders with twelve layers, one that ranks texts for a question and one that judges pairs of statements, are
trained from several seeds; six layers learn to answer as all of them together do. The embedder, which turns a text into
a vector, learns from the texts and from the cross-encoders that rank; again six layers learn from twelve. `--eval DIR`
adds public sets to the figures.
"""

from __future__ import annotations

import argparse
from collections.abc import Callable, Sequence
from copy import copy
from pathlib import Path

import numpy as np
import torch
import torch.nn.functional as F  # noqa: N812 - its usual name
from torch import nn

from training import measure, public, texts
from training.bert import Bert, Scorer, load_base
from training.fitting import Tokens, fit, say, seed

QUERY = "Represent this sentence for searching relevant passages: "
DEVICE = "cuda" if torch.cuda.is_available() else "cpu"


def bert_tokens(tokenizer: Path, table: np.ndarray) -> Tokens:
    """The tokens of lower-case BERT."""
    from tokenizers import Tokenizer

    found = Tokenizer.from_file(str(tokenizer))
    found.no_truncation()
    found.no_padding()
    return Tokens(
        lambda some: [one.ids for one in found.encode_batch(some, add_special_tokens=False)], 101, 102, table, DEVICE
    )


class Data:
    """The texts of some languages, in the form the trainings draw from."""

    def __init__(self, languages: Sequence[str] | None, options: argparse.Namespace) -> None:
        def wanted(language: str) -> bool:
            return languages is None or language in languages

        self.train = [c for c in texts.collections(test=False) if wanted(c.language)]
        self.test = [c for c in texts.collections(test=True) if wanted(c.language)]
        if options.share < 1:
            self.train = self.train[:: round(1 / options.share)]
        self.questions = [(q, c) for c in self.train for q in c.questions if q.evidence]
        self.unanswered = [(q, c) for c in self.train for q in c.questions if not q.evidence]
        self.pairs = [p for p in texts.pairs(test=False) if wanted(p.language)][:: round(1 / options.share)]
        self.test_pairs = [p for p in texts.pairs(test=True) if wanted(p.language)]
        self.projects = [p for p in texts.projects("train") if wanted(p.language)]
        for project in self.projects:
            self.pairs += [texts.Pair(project.items[i], project.items[j], label, project.language)
                           for i, j, label in project.pairs]  # fmt: skip
        self.items = [text for c in self.train for text in c.texts]
        self.sentences: list[str] = []
        self.near: list[tuple[str, str]] = []
        self.public: list[public.Judged] = []
        self.held: dict[str, list[public.Judged]] = {}
        say("collections", len(self.train), len(self.test), "questions", len(self.questions), "pairs", len(self.pairs),
            len(self.test_pairs))  # fmt: skip

    def add_public(self, name: str, path: Path, times: int) -> None:
        """Judged pairs of others: seven of ten to learn from, the others to measure."""
        self.public += public.pairs(path, held=False) * times
        self.held[name] = public.pairs(path, held=True)

    def bring_together(self, tokens: Tokens, each: int = 6) -> None:
        """Statements that an index would bring together though nobody wrote them as a pair: what stands in `near`.

        Vectors are the means of the words' own, the rarer the weightier. Texts of one pair, of pairs with the same
        first statement, and texts that a question names together are left out: they may contradict each other.
        """
        owners: dict[str, set[str]] = {}
        for pair in self.pairs:
            owners.setdefault(pair.a, set()).add(pair.a)
            owners.setdefault(pair.b, set()).add(pair.a)
        for number, project in enumerate(self.projects):
            for text in project.items:
                owners.setdefault(text, set()).add(f"project {number}")
        for c in self.train:
            for i, text in enumerate(c.texts):
                owners.setdefault(text[:600], set()).add(f"{c.id} {i}")
        for question, c in self.questions:
            for i, j in _twos(question.evidence):
                owners[c.texts[i][:600]].add(f"{c.id} {j}")
        some = list(owners)
        tokens.learn(some)
        ids = [sorted(set(tokens.ids(text))) for text in some]
        counts = np.bincount([i for row in ids for i in row], minlength=len(tokens.table))
        worth = torch.tensor(np.log(len(some) / (1 + counts)), device=DEVICE, dtype=torch.float32)
        vectors = torch.stack([(tokens.table[row].float() * worth[row, None]).sum(0) for row in ids])
        vectors = F.normalize(vectors - vectors.mean(0), dim=-1)
        for start in range(0, len(some), 1024):
            nearest = (vectors[start : start + 1024] @ vectors.T).topk(each + 1).indices.tolist()
            for i, row in enumerate(nearest, start):
                self.near += [(some[i], some[j]) for j in row if j != i and not owners[some[i]] & owners[some[j]]]
        for project in self.projects:
            known = {frozenset(pair[:2]) for pair in project.pairs}
            pairs = [two for two in _twos(range(len(project.items))) if frozenset(two) not in known]
            self.near += [(project.items[i], project.items[j]) for i, j in pairs] * 3
        say("brought together", len(self.near))


class Lessons:
    """Batches to learn from."""

    def __init__(self, data: Data, tokens: Tokens, random: object) -> None:
        self.data, self.tokens, self.random = data, tokens, random
        # Texts that a question about a change names together may contradict each other.
        self._changed = {
            (c.id, *sorted(pair)) for q, c in data.questions if len(q.evidence) > 1 for pair in _twos(q.evidence)
        }

    def ranking(self, batch: int, shown: int) -> tuple[list[str], list[str]]:
        """Questions, each with one text that answers it and others that do not."""
        asked, offered = [], []
        for question, c in self.random.sample(self.data.questions, batch):
            others = [i for i in range(len(c.texts)) if i not in question.evidence]
            some = [c.texts[i] for i in self.random.sample(others, min(len(others), shown - 3))]
            while len(some) < shown - 1:
                some.append(self.random.choice(self.data.items))
            offered += [c.texts[self.random.choice(question.evidence)], *some]
            asked += [question.text] * shown
        return asked, offered

    def unanswered(self, batch: int, shown: int) -> tuple[list[str], list[str]]:
        """Questions, each with texts of its collection, of which none answers it."""
        asked, offered = [], []
        for question, c in self.random.choices(self.data.unanswered, k=batch):
            asked += [question.text] * shown
            offered += self.random.choices(c.texts, k=shown)
        return asked, offered

    def judging(
        self, own: int, of_others: int, neighbours: int, near: int = 0
    ) -> tuple[list[str], list[str], torch.Tensor]:
        """Pairs, and which labels are right for each."""
        a, b, allowed = [], [], []
        for pair in self.random.choices(self.data.pairs, k=own):
            turned = pair.label in ("conflict", "same", "compatible", "unrelated") and self.random.random() < 0.5
            a.append(pair.b if turned else pair.a)
            b.append(pair.a if turned else pair.b)
            allowed.append((texts.LABELS.index(pair.label),))
        for pair in self.random.choices(self.data.public, k=of_others) if self.data.public else ():
            a.append(pair.a), b.append(pair.b), allowed.append(pair.allowed)
        for _ in range(neighbours):
            c = self.random.choice(self.data.train)
            i, j = self.random.sample(range(len(c.texts)), 2)
            if (c.id, *sorted((i, j))) not in self._changed:
                a.append(c.texts[i][:600]), b.append(c.texts[j][:600]), allowed.append((4, 5))
        for one, other in self.random.choices(self.data.near, k=near) if self.data.near else ():
            a.append(one), b.append(other), allowed.append((4, 5))
        right = torch.zeros(len(a), len(texts.LABELS), dtype=torch.bool, device=DEVICE)
        for i, labels in enumerate(allowed):
            right[i, list(labels)] = True
        return a, b, right

    def anything(self, batch: int, shown: int) -> tuple[list[str], list[str]]:
        """Questions and statements beside texts of any kind: nothing is known of them but what a teacher says."""
        asked, offered = [], []
        for _ in range(batch):
            question, c = self.random.choice(self.random.choice((self.data.questions,) * 4 + (self.data.unanswered,)))
            some = list(self.random.sample(c.texts, min(len(c.texts), shown // 2)))
            other = self.random.choice(self.data.train)
            some += self.random.sample(other.texts, min(len(other.texts), shown // 4))
            while len(some) < shown:
                some.append(self.random.choice(self.data.sentences or self.data.items))
            chance = self.random.random()
            text = question.text if chance < 0.6 else self.random.choice(self.data.items) if chance < 0.8 else (
                self.random.choice(self.random.choice(self.data.train).questions).text)  # fmt: skip
            asked += [text[:300]] * shown
            offered += some[:shown]
        return asked, offered


def marginal(logits: torch.Tensor, right: torch.Tensor) -> torch.Tensor:
    """The loss where any of several labels is right."""
    chances = logits.log_softmax(-1)
    return -chances.masked_fill(~right, -1e4).logsumexp(-1).mean()


def train_ranker(options: argparse.Namespace, data: Data, base: dict, tokens: Tokens) -> Scorer:
    """The large cross-encoder that says how well a text answers a question."""
    lessons = Lessons(data, tokens, seed(options.seed))
    model = Scorer(Bert(12))
    model.take(base)

    def losses(step: int) -> dict[str, torch.Tensor]:
        n = options.batch
        a, b = (one + more for one, more in zip(lessons.ranking(n, 16), lessons.unanswered(n // 6, 16), strict=True))
        rank = in_parts(tokens, a, b, 256, lambda inputs, _: model(*inputs)[0]).view(-1, 16)
        absolute = torch.zeros_like(rank)
        absolute[:n, 0] = 1
        return {
            "rank": F.cross_entropy(rank[:n], torch.zeros(n, dtype=torch.long, device=DEVICE)),
            "absolute": 0.3 * F.binary_cross_entropy_with_logits(rank, absolute),
        }

    fit(model, losses, options.steps, options.rate, device=DEVICE)
    return model


def train_judge(options: argparse.Namespace, data: Data, base: dict, tokens: Tokens) -> Scorer:
    """The large cross-encoder that says what one statement is to another: pairs of others first, then our own."""
    lessons = Lessons(data, tokens, seed(options.seed + 4))
    start = load(options.start) if options.start else base
    model = Scorer(Bert(depth(start)))
    model.take(start)

    def losses(step: int) -> dict[str, torch.Tensor]:
        n = options.batch
        early = not options.start and step < options.steps * 0.5
        shares = (1.5, 6, 0.5, 1) if early else (4, 2.5, 0.75, 2.5)
        a, b, right = lessons.judging(*(round(n * share) for share in shares))
        judged = in_parts(tokens, a, b, 160, lambda inputs, _: model(*inputs)[1])
        return {"judge": marginal(judged, right)}

    fit(model, losses, options.steps, options.rate * 1.5, device=DEVICE)
    return model


class Several(nn.Module):
    """Cross-encoders that answer together: the mean of what they say, and the vectors inside the first."""

    def __init__(self, scorers: Sequence[Scorer]) -> None:
        super().__init__()
        self.all = nn.ModuleList(scorers)

    def forward(self, *inputs: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor, list[torch.Tensor]]:
        """As a cross-encoder does."""
        made = [one(*inputs) for one in self.all]
        return sum(one[0] for one in made) / len(made), sum(one[1] for one in made) / len(made), made[0][2]


def steady(model: nn.Module) -> nn.Module:
    """A model without dropout: what copies a teacher needs no protection from learning by heart."""
    for part in model.modules():
        if isinstance(part, nn.Dropout):
            part.p = 0.0
    return model


def distil(
    options: argparse.Namespace, data: Data, teacher: Several, tokens: Tokens, layers: Sequence[int], what: str
) -> Scorer:
    """A smaller cross-encoder that answers as the large ones do, from some of the layers of the first."""
    lessons = Lessons(data, tokens, seed(options.seed + 1))
    model = Scorer(Bert(len(layers)))
    model.take(teacher.all[0].weights(), layers)
    steady(model), teacher.eval()
    head = 0 if what == "rank" else 1

    def losses(step: int) -> dict[str, torch.Tensor]:
        n = options.batch
        right = None
        if what == "judge":
            a, b, right = lessons.judging(4 * n, 4 * n, n, 2 * n)
        else:
            a, b = lessons.ranking(n, 16) if step % 2 else lessons.anything(n, 16)
        apart: list[torch.Tensor] = []
        of: list[torch.Tensor] = []

        def both(inputs: tuple[torch.Tensor, ...], share: float) -> torch.Tensor:
            with torch.no_grad():
                said = teacher(*inputs)
            mine = model(*inputs)
            apart.append(share * hidden(mine[2], said[2], inputs[1], layers))
            of.append(said[head])
            return mine[head]

        own = in_parts(tokens, a, b, 200, both, of)
        theirs = of[0]
        found = {"hidden": sum(apart)}
        if right is not None:
            found["as taught"] = F.kl_div(own.log_softmax(-1), theirs.softmax(-1), reduction="batchmean")
            found["right"] = 0.2 * marginal(own, right)
            return found
        own, theirs = own.view(n, 16), theirs.view(n, 16)
        found["as taught"] = F.kl_div(own.log_softmax(-1), theirs.softmax(-1), reduction="batchmean")
        found["size"] = 0.1 * F.mse_loss(own, theirs)
        if step % 2:
            found["right"] = 0.3 * F.cross_entropy(own, torch.zeros(n, dtype=torch.long, device=DEVICE))
        return found

    fit(model, losses, options.steps, options.rate * 5, device=DEVICE, every=500)
    return model


def in_parts(
    tokens: Tokens,
    a: Sequence[str],
    b: Sequence[str],
    most: int,
    run: Callable[[tuple[torch.Tensor, ...], float], torch.Tensor],
    beside: list[torch.Tensor] | None = None,
    parts: int = 3,
) -> torch.Tensor:
    """Run a batch in parts of about equal length, so that little is wasted on padding, and put the results in order.

    What the run appends to `beside` is put in the same order.
    """
    order = sorted(range(len(a)), key=lambda i: len(tokens.ids(a[i])) + len(tokens.ids(b[i])))
    size = -(-len(order) // parts)
    found = []
    for start in range(0, len(order), size):
        some = order[start : start + size]
        found.append(run(tokens.double([a[i] for i in some], [b[i] for i in some], most), len(some) / len(order)))
    back = torch.empty(len(order), dtype=torch.long, device=DEVICE)
    back[torch.tensor(order, device=DEVICE)] = torch.arange(len(order), device=DEVICE)
    if beside is not None:
        beside[:] = [torch.cat(beside)[back]]
    return torch.cat(found)[back]


def hidden(own: list[torch.Tensor], of: list[torch.Tensor], mask: torch.Tensor, layers: Sequence[int]) -> torch.Tensor:
    """How far the vectors after each layer are from the teacher's: the layer before the next one that was kept."""
    ends = [*(layer - 1 for layer in layers[1:]), len(of) - 1]
    seen = mask[..., None].float()
    apart = [(((mine - of[end]) ** 2) * seen).sum() / seen.sum() for mine, end in zip(own, ends, strict=True)]
    return sum(apart) / len(own) / own[0].shape[-1]


def vector(model: Bert, inputs: tuple[torch.Tensor, ...]) -> torch.Tensor:
    """A text's vector of length 1."""
    return F.normalize(model(*inputs)[-1][:, 0].float(), dim=-1)


def train_embedder(
    options: argparse.Namespace, data: Data, base: dict, teacher: Several, tokens: Tokens, score_tokens: Tokens
) -> Bert:
    """The large embedder: the right text among all texts of a batch, and the cross-encoder's order of its own."""
    lessons = Lessons(data, tokens, seed(options.seed + 2))
    model = Bert(12)
    model.take(base)
    teacher.eval()

    def losses(step: int) -> dict[str, torch.Tensor]:
        n, shown = 2 * options.batch, 10
        a, b = lessons.ranking(n, shown)
        asked = vector(model, tokens.single([QUERY + q for q in a[::shown]], 96))
        offered = vector(model, tokens.single(b))
        scores = asked @ offered.T / 0.02
        own = torch.stack([scores[i, i * shown : (i + 1) * shown] for i in range(n)])
        with torch.no_grad():
            order = teacher(*score_tokens.double(a, b))[0].view(n, shown)
        return {
            "among all": F.cross_entropy(scores, torch.arange(n, device=DEVICE) * shown),
            "order": F.kl_div(own.log_softmax(-1), order.softmax(-1), reduction="batchmean"),
        }

    fit(model, losses, options.steps, options.rate / 1.5, device=DEVICE)
    return model


def distil_embedder(
    options: argparse.Namespace, data: Data, teacher: Bert, tokens: Tokens, layers: Sequence[int]
) -> Bert:
    """A smaller embedder that places texts where the large one does."""
    random = seed(options.seed + 3)
    lessons = Lessons(data, tokens, random)
    model = Bert(len(layers))
    model.take(as_arrays(teacher), layers)
    steady(model), teacher.eval()

    def piece(text: str) -> str:
        words = text.split()
        if len(words) < 12 or random.random() < 0.6:
            return text
        start = random.randrange(len(words) - 6)
        return " ".join(words[start : start + random.randrange(6, 60)])

    def losses(step: int) -> dict[str, torch.Tensor]:
        n, shown = 2 * options.batch, 8
        a, b = lessons.ranking(n, shown)
        more = [piece(random.choice(data.items)) for _ in range(8 * n)] + random.choices(
            data.sentences or data.items, k=8 * n
        )
        x = tokens.single([QUERY + q for q in a[::shown]], 96)
        y = tokens.single(b + more, 160)
        with torch.no_grad():
            after_x, after_y = teacher(*x), teacher(*y)
            asked_t, offered_t = (F.normalize(after[-1][:, 0].float(), dim=-1) for after in (after_x, after_y))
        own_x, own_y = model(*x), model(*y)
        asked, offered = (F.normalize(after[-1][:, 0].float(), dim=-1) for after in (own_x, own_y))
        scores = asked @ offered.T / 0.02
        return {
            "place": 20 * ((1 - (asked * asked_t).sum(-1)).mean() + (1 - (offered * offered_t).sum(-1)).mean()),
            "order": F.kl_div(
                scores.log_softmax(-1), (asked_t @ offered_t.T / 0.02).softmax(-1), reduction="batchmean"
            ),
            "answer": 0.2 * F.cross_entropy(scores, torch.arange(n, device=DEVICE) * shown),
            "hidden": hidden(own_x, after_x, x[1], layers) + hidden(own_y, after_y, y[1], layers),
        }

    fit(model, losses, options.steps, options.rate * 6, device=DEVICE, every=500)
    return model


@torch.no_grad()
def scores_of(
    model: Scorer, head: int, tokens: Tokens, a: Sequence[str], b: Sequence[str], most: int = 256
) -> np.ndarray:
    """The numbers of a head for many pairs."""
    model.eval()
    order = sorted(range(len(a)), key=lambda i: len(tokens.ids(a[i])) + len(tokens.ids(b[i])))
    found: list = [None] * len(a)
    with torch.autocast(DEVICE, dtype=torch.bfloat16):
        for i in range(0, len(order), 512):
            some = order[i : i + 512]
            made = model(*tokens.double([a[k] for k in some], [b[k] for k in some], most))[head].cpu().numpy()
            for k, row in zip(some, made, strict=True):
                found[k] = row
    return np.array(found)


@torch.no_grad()
def vectors_of(model: Bert, tokens: Tokens, some: Sequence[str], most: int = 256) -> np.ndarray:
    """The vectors of many texts."""
    model.eval()
    with torch.autocast(DEVICE, dtype=torch.bfloat16):
        return torch.cat(
            [vector(model, tokens.single(some[i : i + 512], most)).cpu() for i in range(0, len(some), 512)]
        ).numpy()


def measure_ranking(model: Scorer, tokens: Tokens, data: Data, tag: str) -> None:
    """Whole collections of the test part, ordered."""
    values: dict[str, list[float]] = {}
    for c in data.test:
        asked = [q for q in c.questions if q.evidence]
        n = len(c.texts)
        found = scores_of(model, 0, tokens, [q.text for q in asked for _ in range(n)], list(c.texts) * len(asked))
        for q, row in zip(asked, found.reshape(len(asked), n), strict=True):
            across = "across" if q.language != c.language else c.language if c.language in ("en", "ko") else "other"
            values.setdefault(across, []).append(measure.ndcg(list(np.argsort(-row)), q.evidence))
    say(tag, "test part nDCG@10", {kind: (len(v), round(float(np.mean(v)), 4)) for kind, v in values.items()})


def measure_judging(model: Scorer, tokens: Tokens, data: Data, tag: str) -> None:
    """The pairs of the test part, and held-out pairs of others."""
    rows = [(p.a, p.b, p.label in ("conflict", "update"), p.label == "same") for p in data.test_pairs]
    _judged(model, tokens, rows, tag, "pairs of the test part")
    for name, held in data.held.items():
        _judged(model, tokens, [(p.a, p.b, p.allowed == (0, 1), False) for p in held], tag, name)
    # Neighbours in a collection are what a search for conflicts looks at, and nearly never conflicts.
    random = seed(5)
    a, b = [], []
    for c in data.test:
        for _ in range(40):
            one, other = random.sample(c.texts, 2)
            a.append(one[:600]), b.append(other[:600])
    chances = torch.tensor(scores_of(model, 1, tokens, a, b)).softmax(-1).numpy()
    clash = chances[:, 0] + chances[:, 1]
    say(tag, "neighbours taken for conflicts", len(a), {t: int((clash > t).sum()) for t in (0.5, 0.8, 0.9)})
    # All the pairs of the test part in one project.
    rest = copy(data)
    rest.pairs, rest.train, rest.questions, rest.near, rest.projects = data.test_pairs, [], [], [], []
    rest.bring_together(tokens)
    pairs = [(p.a, p.b, p.label in ("conflict", "update"), False) for p in data.test_pairs]
    _judged(model, tokens, [*pairs, *((*two, False, False) for two in rest.near)], tag, "the test part as a project")


def _judged(model: Scorer, tokens: Tokens, rows: list, tag: str, name: str) -> None:
    chances = torch.tensor(scores_of(model, 1, tokens, [r[0] for r in rows], [r[1] for r in rows])).softmax(-1).numpy()
    clash, same = chances[:, 0] + chances[:, 1], chances[:, 2]
    true, one = np.array([r[2] for r in rows]), np.array([r[3] for r in rows])
    figures = {"n": len(rows), "clash F1": round(measure.f1(clash > 0.5, true), 3),
               "best": tuple(round(x, 3) for x in measure.best_f1(clash, true)),
               "area": round(measure.area(clash, true), 3)}  # fmt: skip
    if one.any():
        figures |= {"same F1": round(measure.f1(chances.argmax(1) == 2, one), 3),
                    "same area": round(measure.area(same, one), 3),
                    "same>.9": (int(((same > 0.9) & ~one).sum()),
                                round(float((same[one] > 0.9).mean()), 3))}  # fmt: skip
    say(tag, name, figures)


def measure_vectors(model: Bert, tokens: Tokens, data: Data, tag: str) -> None:
    """Whole collections of the test part, by vectors alone."""
    values: list[float] = []
    for c in data.test:
        asked = [q for q in c.questions if q.evidence]
        found = vectors_of(model, tokens, [QUERY + q.text for q in asked]) @ vectors_of(model, tokens, c.texts).T
        values += [measure.ndcg(list(np.argsort(-row)), q.evidence) for q, row in zip(asked, found, strict=True)]
    say(tag, "test part by vectors", round(float(np.mean(values)), 4))


def measure_locomo(
    folder: Path, tag: str, embedder: tuple[Bert, Tokens] | None, scorers: dict[str, tuple[Scorer, Tokens]], every: int
) -> None:
    """Turns of long conversations: words, vectors, both with their neighbours, and the best of these reranked."""
    groups: dict[str, list[dict]] = {}
    for row in texts.rows(folder / "locomo/corpus.jsonl.gz"):
        groups.setdefault(row["group"], []).append(row)
    queries = list(texts.rows(folder / "locomo/queries.jsonl.gz"))[::every]
    found: dict[str, dict[str, list[float]]] = {}
    jobs = []
    for group, rows in groups.items():
        asked = [q for q in queries if q["group"] == group]
        if not asked:
            continue
        words = measure.Bm25([row["text"] for row in rows])
        ids = [row["id"] for row in rows]
        if embedder:
            own = vectors_of(*embedder, [row["text"] for row in rows])
            near = vectors_of(*embedder, [QUERY + q["text"] for q in asked]) @ own.T
        for i, q in enumerate(asked):
            fused = words.scores(q["text"])
            if embedder:
                fused = 0.5 * fused + 0.5 * np.clip((near[i] - 0.35) / 0.5, 0, 1)
                _note(found, "vectors", q, [ids[k] for k in np.argsort(-near[i])[:10]])
            spread = fused.copy()
            for far, share in ((1, 0.3), (2, 0.15)):
                spread[far:] += share * fused[:-far]
                spread[:-far] += share * fused[far:]
            order = np.argsort(-spread)[:30]
            _note(found, "fused", q, [ids[k] for k in order[:10]])
            jobs.append(
                (
                    q,
                    [ids[k] for k in order],
                    [rows[k]["text"] for k in order],
                    spread[order] / max(1e-6, spread[order[0]]),
                )
            )
    for name, scorer in scorers.items():
        made = scores_of(
            scorer[0],
            0,
            scorer[1],
            [job[0]["text"] for job in jobs for _ in range(30)],
            [t for job in jobs for t in job[2]],
        )
        for (q, ids, _, spread), row in zip(jobs, made.reshape(len(jobs), 30), strict=True):
            for depth in (8, 12, 20, 30):
                order = np.argsort(-row[:depth])
                _note(found, f"{name} {depth}", q, [ids[k] for k in order])
            mixed = 1 / (1 + np.exp(-row)) + 0.3 * spread
            _note(found, f"{name} mixed 20", q, [ids[k] for k in np.argsort(-mixed[:20])])
    say(
        tag,
        "LoCoMo macro nDCG@10",
        {name: round(float(np.mean([np.mean(v) for v in kinds.values()])), 4) for name, kinds in found.items()},
    )


def _note(found: dict, name: str, q: dict, order: list) -> None:
    found.setdefault(name, {}).setdefault(q["category"], []).append(measure.ndcg(order, set(q["relevant"])))


def save(path: Path, weights: dict[str, np.ndarray]) -> None:
    """Weights in 16 bits, in parts of at most 15 MB."""
    parts: list[dict[str, np.ndarray]] = [{}]
    for name, array in weights.items():
        if sum(one.nbytes for one in parts[-1].values()) + array.nbytes > 15e6:
            parts.append({})
        parts[-1][name] = array.astype(np.float16)
    for i, part in enumerate(parts):
        np.savez(path.with_suffix(f".{i}.npz"), **part)


def load(path: Path) -> dict[str, np.ndarray]:
    """What `save` wrote."""
    name = path.name.removesuffix(".npz")
    return {key: array for part in sorted(path.parent.glob(name + ".*.npz")) for key, array in np.load(part).items()}


def as_arrays(model: nn.Module) -> dict[str, np.ndarray]:
    """A model's weights."""
    return {name: value.detach().cpu().numpy() for name, value in model.state_dict().items()}


def depth(weights: dict[str, np.ndarray]) -> int:
    """The number of layers."""
    return 1 + max(int(name.split(".")[2]) for name in weights if name.startswith("encoder.layer."))


def scorers(paths: Sequence[Path], **shape: int) -> Several:
    """Trained cross-encoders."""
    found = []
    for path in paths:
        weights = load(path)
        found.append(Scorer(Bert(depth(weights), **shape)))
        found[-1].take(weights)
    return Several(found).to(DEVICE).eval()


_STEPS = {"ranker": 900, "judge": 2400, "small-ranker": 2400, "small-judge": 2400, "embedder": 1000,
          "small-embedder": 3000}  # fmt: skip


def main() -> None:
    """Train as the options say."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("what", choices=tuple(_STEPS))
    parser.add_argument("--base", type=Path, required=True)
    parser.add_argument("--scorer-base", type=Path)
    parser.add_argument("--start", type=Path, help="a trained judge to go on with instead of the base")
    parser.add_argument("--teachers", type=Path, nargs="*", default=[], help="trained models, without the ending")
    parser.add_argument("--tokenizer", type=Path, required=True)
    parser.add_argument("--public", type=Path)
    parser.add_argument("--snli", type=Path)
    parser.add_argument("--plain", type=Path, help="a gzipped file of sentences of any kind, one a line")
    parser.add_argument("--eval", type=Path)
    parser.add_argument("--every", type=int, default=3, help="take every n-th question of LoCoMo")
    parser.add_argument("--share", type=float, default=1.0, help="of the texts, to draw the curve")
    parser.add_argument("--out", type=Path, required=True)
    parser.add_argument("--batch", type=int, default=24, help="questions a step")
    parser.add_argument("--steps", type=int)
    parser.add_argument("--layers", default="0,2,4,6,8,10")
    parser.add_argument("--rate", type=float, default=4e-5)
    parser.add_argument("--seed", type=int, default=0)
    options = parser.parse_args()
    options.steps = options.steps or _STEPS[options.what]
    layers = [int(one) for one in options.layers.split(",")]
    base, table = load_base(options.base)
    tokens = bert_tokens(options.tokenizer, table)
    data = Data(("en",), options)
    if options.snli:
        judged = public.snli(options.snli, 100000)
        data.public += judged
        data.sentences += [text for pair in judged for text in (pair.a, pair.b)]
    if options.plain:
        data.sentences += public.plain(options.plain)
    if options.public:
        data.add_public("negnli", options.public / "negnli_en/nli.jsonl.gz", 4)
        data.add_public("scifact", options.public / "scifact/pairs.jsonl.gz", 8)
    {"ranker": _ranker, "judge": _judge, "embedder": _embedder}[options.what.removeprefix("small-")](
        options, data, base, tokens, layers
    )


def _ranker(options: argparse.Namespace, data: Data, base: dict, tokens: Tokens, layers: Sequence[int]) -> None:
    if options.teachers:
        teacher = scorers(options.teachers)
        measure_ranking(teacher, tokens, data, f"{len(options.teachers)} rankers")
        if options.eval:
            measure_locomo(options.eval, "", None, {"large": (teacher, tokens)}, options.every)
        ranker, name = distil(options, data, teacher, tokens, layers, "rank"), "ranker_small"
    else:
        ranker, name = train_ranker(options, data, base, tokens), f"ranker-{options.seed}"
    save(options.out / f"{name}.npz", ranker.weights())
    measure_ranking(ranker, tokens, data, name)
    if options.eval:
        measure_locomo(options.eval, "", None, {name: (ranker, tokens)}, options.every)


def _judge(options: argparse.Namespace, data: Data, base: dict, tokens: Tokens, layers: Sequence[int]) -> None:
    data.bring_together(tokens)
    if options.teachers:
        teacher = scorers(options.teachers)
        measure_judging(teacher, tokens, data, f"{len(options.teachers)} judges")
        judge, name = distil(options, data, teacher, tokens, layers, "judge"), "judge_small"
    else:
        judge, name = train_judge(options, data, base, tokens), f"judge-{options.seed}"
    save(options.out / f"{name}.npz", judge.weights())
    measure_judging(judge, tokens, data, name)


def _embedder(options: argparse.Namespace, data: Data, base: dict, tokens: Tokens, layers: Sequence[int]) -> None:
    if options.what == "embedder":
        score_tokens = bert_tokens(options.tokenizer, load_base(options.scorer_base)[1])
        embedder, name = (
            train_embedder(options, data, base, scorers(options.teachers), tokens, score_tokens),
            "embedder",
        )
    else:
        teacher = Bert(12)
        teacher.take(load(options.teachers[0]))
        embedder, name = distil_embedder(options, data, teacher.to(DEVICE), tokens, layers), "embedder_small"
    save(options.out / f"{name}.npz", as_arrays(embedder))
    measure_vectors(embedder, tokens, data, name)
    if options.eval:
        measure_locomo(options.eval, name, (embedder, tokens), {}, options.every)


def _twos(numbers: Sequence[int]) -> list[tuple[int, int]]:
    return [(a, b) for i, a in enumerate(numbers) for b in numbers[i + 1 :]]


if __name__ == "__main__":
    main()
