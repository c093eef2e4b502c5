"""Train the models for the sixteen languages of the Universal Sentence Encoder.

    python -m training.multilingual scorer --seed 0 --start OUT/judge-0 --rankers OUT/ranker_small \\
        --judges OUT/judge_small --use weights.npz --pieces sp.model --teacher-base ce.npz --tokenizer tokenizer.json \\
        --public DIR --snli FILE --out OUT
    python -m training.multilingual small-scorer --teachers OUT/multi-0 OUT/multi-1 ... (the other options as above)
    python -m training.multilingual encoder --teachers OUT/multi-0 OUT/multi-1 ...

The scorer is a cross-encoder over the encoder's table of subwords: its layers begin as those of an English scorer, the
way into them as the linear map that best takes subwords that are English words to the vectors BERT has for those words.
It learns from the texts of `data` in every language, and where a text is English, or has an English translation, from
the English scorers; six layers learn from several with twelve. The embedder is the encoder itself, with a learned
weight for each token, taught by the texts and by those scorers. The table stays as it is.
"""

from __future__ import annotations

import argparse
from pathlib import Path

import numpy as np
import torch
import torch.nn.functional as F  # noqa: N812 - its usual name
from torch import nn

from polymnia.inference.tokens import Pieces
from training import english, measure, public, texts
from training.bert import Bert, Scorer, load_base
from training.english import DEVICE, Data, Lessons, Several, marginal
from training.fitting import Tokens, fit, say, seed

_PARTS = 17
_BRANCHES = (("2", 2, 0), ("3", 3, 1), ("5", 5, 2))


def read_use(path: Path) -> tuple[dict[str, np.ndarray], np.ndarray]:
    """The encoder's layers and its table of subwords."""
    file = dict(np.load(path))
    parts = np.stack([file.pop(f"q{i + 1}") for i in range(_PARTS)])
    table = np.empty((_PARTS * parts.shape[1], parts.shape[2]), np.float32)
    for i in range(_PARTS):
        table[i::_PARTS] = parts[i].astype(np.float32) * file["scale"][i] + file["lo"][i]
    return {name: array for name, array in file.items() if name not in ("scale", "lo", "bits", "eps")}, table


class Encoder(nn.Module):
    """The encoder: convolutions over the vectors of two, three and five neighbouring subwords, their weighted mean, and
    four dense layers."""

    def __init__(self, layers: dict[str, np.ndarray]) -> None:
        super().__init__()
        for name, array in layers.items():
            self.register_parameter(name, nn.Parameter(torch.tensor(array)))
        self.weigh = nn.Linear(512, 1)
        nn.init.zeros_(self.weigh.weight)
        nn.init.zeros_(self.weigh.bias)

    def forward(self, words: torch.Tensor, mask: torch.Tensor) -> torch.Tensor:
        """Vectors of length 1."""
        get = self.get_parameter
        with torch.autocast(DEVICE, enabled=False):
            own, seen = words.float(), mask[..., None].float()
            inner = torch.cat([own @ get("proj" + b) + get("proj_b" + b) for b, _, _ in _BRANCHES], -1)
            inner = F.layer_norm(inner, inner.shape[-1:], eps=1e-12)
            inner = inner * torch.cat([get("ln_g" + b) for b, _, _ in _BRANCHES])
            inner = (inner + torch.cat([get("ln_b" + b) for b, _, _ in _BRANCHES])) * seen
            outs = [own]
            for at, (b, size, before) in enumerate(_BRANCHES):
                entering = inner[..., at * 256 : (at + 1) * 256]

                def over(
                    x: torch.Tensor, name: str, b: str = b, size: int = size, before: int = before
                ) -> torch.Tensor:
                    weight = get(f"w{name}_{b}").view(size, 256, 256).permute(2, 1, 0)
                    made = F.conv1d(F.pad(x.transpose(1, 2), (before, size - 1 - before)), weight).transpose(1, 2)
                    return F.relu(made + get(f"b{name}_{b}"))

                first = (over(entering, "1") + entering) * seen
                outs.append(over(first, "2") + first)
            x = F.layer_norm(torch.cat(outs, -1), (1280,), self.ln_g, self.ln_b, 1e-12) @ self.cnn_W + self.cnn_b
            weights = seen * 2 * torch.sigmoid(self.weigh(own))
            mean = (x * weights).sum(1) / torch.sqrt(seen.sum(1))
            h = F.relu(F.relu(mean @ self.d0) @ self.d1 + mean @ self.p1)
            return F.normalize(torch.tanh(F.relu(h @ self.d2) @ self.d3 + h @ self.p3), dim=-1)


def way_in(pieces: Pieces, table: np.ndarray, words: Path, bert_table: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """The linear map that takes subwords to the vectors of the same words in BERT."""
    import json

    vocabulary = json.loads(words.read_text(encoding="utf-8"))["model"]["vocab"]
    cut = {word: pieces.ids(word, 9)[1:-1] for word in vocabulary if word.isascii() and word.isalpha()}
    rows = [(ids[0], vocabulary[word]) for word, ids in cut.items() if len(ids) == 1 and ids[0] > 2]
    x = np.hstack([table[[r[0] for r in rows]], np.ones((len(rows), 1), np.float32)])
    y = bert_table[[r[1] for r in rows]]
    solved = np.linalg.solve(x.T @ x + 30 * np.eye(x.shape[1]), x.T @ y)
    left = float(((x @ solved - y) ** 2).sum() / ((y - y.mean(0)) ** 2).sum())
    say("words in both", len(rows), "of their variance explained", round(1 - left, 3))
    return solved[:-1].T.astype(np.float32), solved[-1].astype(np.float32)


class Translations:
    """Which English sentences there are in other languages."""

    def __init__(self) -> None:
        self.all = texts.parallel()
        self._of: dict[str, list[str]] = {}
        for en, _, other in self.all:
            self._of.setdefault(en, []).append(other)

    def some(self, text: str, random: object) -> str | None:
        """A translation, where there is one."""
        found = self._of.get(text)
        return random.choice(found) if found else None


class Batches:
    """What the cross-encoder learns from: English texts, English texts in translation, texts of other languages."""

    def __init__(self, options: argparse.Namespace, data: Data, tokens: Tokens, number: int) -> None:
        self.random = seed(number)
        english_data = Data(("en",), options)
        english_data.public = [p for p in data.public if p.a.isascii() and p.b.isascii()]
        english_data.bring_together(tokens)
        english_data.sentences = public.plain(options.plain) if options.plain else []
        other = Data(None, options)
        other.bring_together(tokens)
        other.questions = [(q, c) for q, c in other.questions if q.language != "en" or c.language != "en"]
        other.unanswered = [(q, c) for q, c in other.unanswered if c.language != "en"]
        other.public = [p for p in data.public if not (p.a.isascii() and p.b.isascii())]
        other.pairs = [p for p in other.pairs if p.language != "en"]
        self.english = Lessons(english_data, tokens, self.random)
        self.other = Lessons(other, tokens, self.random)
        self.translations = Translations()
        self._statements = [p.a for some in (english_data, other) for p in some.pairs]
        self._items = english_data.items
        self._translated = [(q, c) for q, c in english_data.questions if self.translations.some(q.text, self.random)]
        say("translated questions", len(self._translated), "sentences", len(self.translations.all))
        say("foreign questions", len(other.questions), "pairs", len(other.pairs), "public", len(other.public))

    def translated(self, n: int) -> tuple[list[str], list[str], list[str], list[str]]:
        """English questions and texts, and the same in other languages as far as there are translations."""
        a, b, own_a, own_b = [], [], [], []
        random, known = self.random, self.translations
        for q, c in random.choices(self._translated, k=n):
            shown = random.sample(c.texts, min(len(c.texts), 12))
            shown += random.choices(self._items, k=16 - len(shown))
            a += [q.text] * 16
            b += shown
            own_a += [known.some(q.text, random) if random.random() < 0.8 else q.text] * 16
            own_b += [known.some(text, random) or text for text in shown]
        return a, b, own_a, own_b

    def judging(self, n: int) -> tuple[list[str], list[str], torch.Tensor]:
        """Pairs of other languages, sentences with their translations, and any two statements of any two languages."""
        a, b, right = self.other.judging(3 * n, 2 * n, n // 2, n)
        for en, _, text in self.random.choices(self.translations.all, k=n):
            a.append(en), b.append(text)
        for one, another in zip(*(self.random.choices(self._statements, k=n // 2) for _ in "ab"), strict=True):
            a.append(one), b.append(another)
        more = torch.zeros(n + n // 2, len(texts.LABELS), dtype=torch.bool, device=DEVICE)
        more[:n, texts.LABELS.index("same")] = True
        more[n:, texts.LABELS.index("unrelated")] = True
        return a, b, torch.cat([right, more])


def first_vectors(made: tuple[torch.Tensor, torch.Tensor, list[torch.Tensor]]) -> torch.Tensor:
    """How well each text answers, and the vectors of the first token (every tokenisation has one) after each layer."""
    return torch.cat([made[0][:, None], *(after[:, 0].float() for after in made[2])], dim=1)


def train_scorer(
    options: argparse.Namespace,
    data: Data,
    teachers: tuple[Several, Several],
    enter: tuple,
    tokens: Tokens,
    english_tokens: Tokens,
) -> Scorer:
    """The large cross-encoder for every language."""
    batches = Batches(options, data, tokens, options.seed + 10)
    start = english.load(options.start)
    model = Scorer(Bert(english.depth(start), enter=512))
    model.take({"enter.weight": enter[0], "enter.bias": enter[1]} | start)
    ranker, judge_en = teachers

    def taught(
        a: list[str], b: list[str], n: int, a_own: list[str] | None = None, b_own: list[str] | None = None
    ) -> dict[str, torch.Tensor]:
        """As the English scorer says; the student may read translations."""
        with torch.no_grad():
            said = english.in_parts(english_tokens, a, b, 200, lambda inputs, _: first_vectors(ranker(*inputs)))
        own = english.in_parts(tokens, a_own or a, b_own or b, 200, lambda inputs, _: first_vectors(model(*inputs)))
        rank, rank_t = own[:, 0].view(n, -1), said[:, 0].view(n, -1)
        found = {"rank": F.kl_div(rank.log_softmax(-1), rank_t.softmax(-1), reduction="batchmean"),
                 "size": 0.1 * F.mse_loss(rank, rank_t)}  # fmt: skip
        if own.shape == said.shape:
            found["inside"] = F.mse_loss(own[:, 1:], said[:, 1:])
        return found

    def losses(step: int) -> dict[str, torch.Tensor]:
        n = options.batch
        found = {}
        turn = step % 4
        if turn == 0 or ("enter.weight" not in start and step < options.steps * 0.2):
            found |= taught(*(batches.english.anything(n, 16) if step % 8 else batches.english.ranking(n, 16)), n)
        elif turn == 1:
            a, b, *own = batches.translated(n)
            found |= taught(a, b, n, *own)
        else:
            lists = batches.other.ranking(n, 16), batches.other.unanswered(n // 6, 16)
            a, b = (one + more for one, more in zip(*lists, strict=True))
            rank = english.in_parts(tokens, a, b, 200, lambda inputs, _: model(*inputs)[0]).view(-1, 16)
            absolute = torch.zeros_like(rank)
            absolute[:n, 0] = 1
            found["rank"] = F.cross_entropy(rank[:n], torch.zeros(n, dtype=torch.long, device=DEVICE))
            found["size"] = 0.3 * F.binary_cross_entropy_with_logits(rank, absolute)
        c, d, _ = batches.english.judging(2 * n, 2 * n, n // 2, n)
        with torch.no_grad():
            judge_t = judge_en(*english_tokens.double(c, d, 128))[1]
        judge = model(*tokens.double(c, d, 128))[1]
        found["judge en"] = F.kl_div(judge.log_softmax(-1), judge_t.softmax(-1), reduction="batchmean")
        c, d, right = batches.judging(n)
        found["judge"] = marginal(model(*tokens.double(c, d, 128))[1], right)
        return found

    fit(model, losses, options.steps, options.rate, device=DEVICE, every=500)
    return model


def distil_scorer(options: argparse.Namespace, data: Data, teacher: Several, tokens: Tokens) -> Scorer:
    """Six layers that answer as the large cross-encoders do."""
    batches = Batches(options, data, tokens, options.seed + 12)
    layers = (0, 2, 4, 6, 8, 10)
    model = Scorer(Bert(len(layers), enter=512))
    model.take(teacher.all[0].weights(), layers)
    english.steady(model)

    def as_taught(a: list[str], b: list[str], most: int, head: int) -> tuple[torch.Tensor, torch.Tensor, torch.Tensor]:
        apart: list[torch.Tensor] = []
        of: list[torch.Tensor] = []

        def both(inputs: tuple[torch.Tensor, ...], share: float) -> torch.Tensor:
            with torch.no_grad():
                said = teacher(*inputs)
            mine = model(*inputs)
            apart.append(share * english.hidden(mine[2], said[2], inputs[1], layers))
            of.append(said[head])
            return mine[head]

        own = english.in_parts(tokens, a, b, most, both, of)
        return own, of[0], sum(apart)

    def losses(step: int) -> dict[str, torch.Tensor]:
        n = options.batch
        turn = step % 4
        if turn == 0:
            a, b = batches.english.anything(n, 16)
        elif turn == 1:
            _, _, a, b = batches.translated(n)
        else:
            a, b = batches.other.ranking(n, 16) if turn == 2 else batches.other.anything(n, 16)
        own, theirs, rank_hidden = as_taught(a, b, 200, 0)
        own, theirs = own.view(n, 16), theirs.view(n, 16)
        found = {
            "rank": F.kl_div(own.log_softmax(-1), theirs.softmax(-1), reduction="batchmean"),
            "size": 0.1 * F.mse_loss(own, theirs),
        }
        if turn == 2:
            found["right"] = 0.3 * F.cross_entropy(own, torch.zeros(n, dtype=torch.long, device=DEVICE))
        c, d, _ = batches.english.judging(n, n, n // 2, n)
        e, f, _ = batches.judging(n)
        judge, judge_t, judge_hidden = as_taught([*c, *e], [*d, *f], 128, 1)
        found["judge"] = F.kl_div(judge.log_softmax(-1), judge_t.softmax(-1), reduction="batchmean")
        found["hidden"] = rank_hidden + judge_hidden
        return found

    fit(model, losses, options.steps, options.rate, device=DEVICE, every=500)
    return model


def train_embedder(
    options: argparse.Namespace, data: Data, layers: dict, teacher: Several, tokens: Tokens, sentences: list[str]
) -> Encoder:
    """The encoder, taught by questions and texts of every language, kept near where it was on sentences of any kind."""
    random = seed(options.seed + 11)
    lessons = Lessons(data, tokens, random)
    base = Encoder(layers).to(DEVICE).eval()
    model = Encoder(layers)
    known = Translations()

    def losses(step: int) -> dict[str, torch.Tensor]:
        n, shown = 2 * options.batch, 10
        a, b = lessons.ranking(n, shown)
        asked_texts = [known.some(q, random) or q if random.random() < 0.5 else q for q in a[::shown]]
        b = [known.some(t, random) or t if random.random() < 0.3 else t for t in b]
        asked, offered = model(*tokens.single(asked_texts, 96)), model(*tokens.single(b, 200))
        scores = asked @ offered.T / 0.05
        own = torch.stack([scores[i, i * shown : (i + 1) * shown] for i in range(n)])
        with torch.no_grad():
            order = teacher(*tokens.double([q for q in asked_texts for _ in range(shown)], b, 200))[0].view(n, shown)
        some = random.sample(known.all, 3 * n)
        one, other = model(*tokens.single([s[0] for s in some], 96)), model(*tokens.single([s[2] for s in some], 96))
        across = one @ other.T / 0.05
        right = torch.arange(len(some), device=DEVICE)
        kept = random.choices(sentences, k=3 * n)
        x = tokens.single(kept, 96)
        with torch.no_grad():
            before = base(*x)
        return {
            "among all": F.cross_entropy(scores, torch.arange(n, device=DEVICE) * shown),
            "order": F.kl_div(own.log_softmax(-1), order.softmax(-1), reduction="batchmean"),
            "across": 0.3 * (F.cross_entropy(across, right) + F.cross_entropy(across.T, right)),
            "kept": options.keep * (1 - (model(*x) * before).sum(-1)).mean(),
        }

    fit(model, losses, options.steps, options.rate, device=DEVICE, every=500)
    return model


@torch.no_grad()
def measure_encoder(model: Encoder, tokens: Tokens, data: Data, tag: str, folder: Path | None) -> None:
    """The test part by vectors alone, and how well sentences of others are compared."""
    model.eval().to(DEVICE)

    def vectors(some: list[str]) -> np.ndarray:
        return torch.cat(
            [model(*tokens.single(some[i : i + 512], 256)).cpu() for i in range(0, len(some), 512)]
        ).numpy()

    values: dict[str, list[float]] = {}
    for c in data.test:
        asked = [q for q in c.questions if q.evidence]
        found = vectors([q.text for q in asked]) @ vectors(list(c.texts)).T
        for q, row in zip(asked, found, strict=True):
            kind = "across" if q.language != c.language else c.language if c.language in ("en", "ko") else "other"
            values.setdefault(kind, []).append(measure.ndcg(list(np.argsort(-row)), q.evidence))
    say(tag, "test part by vectors", {kind: round(float(np.mean(v)), 4) for kind, v in values.items()})
    for name in ("stsb_en", "korsts_ko") if folder else ():
        rows = list(texts.rows(folder / name / "pairs.jsonl.gz"))
        near = (vectors([r["a"] for r in rows]) * vectors([r["b"] for r in rows])).sum(1)
        rank = lambda x: np.argsort(np.argsort(x))  # noqa: E731
        say(tag, name, "Spearman", round(float(np.corrcoef(rank(near), rank([r["score"] for r in rows]))[0, 1]), 4))


_STEPS = {"scorer": 2000, "small-scorer": 2000, "encoder": 700}
_RATES = {"scorer": 1.2e-4, "small-scorer": 2e-4, "encoder": 3e-4}


def main() -> None:
    """Train as the options say."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("what", choices=tuple(_STEPS))
    parser.add_argument("--use", type=Path, required=True)
    parser.add_argument("--pieces", type=Path, required=True)
    parser.add_argument("--start", type=Path, help="a cross-encoder whose layers the new one begins with")
    parser.add_argument("--rankers", type=Path, nargs="*", default=[], help="English ones")
    parser.add_argument("--judges", type=Path, nargs="*", default=[], help="English ones")
    parser.add_argument("--teachers", type=Path, nargs="*", default=[], help="cross-encoders of this script")
    parser.add_argument("--teacher-base", type=Path, required=True)
    parser.add_argument("--tokenizer", type=Path, required=True)
    parser.add_argument("--public", type=Path)
    parser.add_argument("--snli", type=Path)
    parser.add_argument("--plain", type=Path, help="a gzipped file of English sentences of any kind, one a line")
    parser.add_argument("--eval", type=Path)
    parser.add_argument("--share", type=float, default=1.0)
    parser.add_argument("--out", type=Path, required=True)
    parser.add_argument("--name", help="of the file, where several are tried")
    parser.add_argument("--batch", type=int, default=24)
    parser.add_argument("--steps", type=int)
    parser.add_argument("--rate", type=float)
    parser.add_argument("--keep", type=float, default=5.0)
    parser.add_argument("--seed", type=int, default=0)
    options = parser.parse_args()
    options.steps = options.steps or _STEPS[options.what]
    options.rate = options.rate or _RATES[options.what]
    layers, table = read_use(options.use)
    pieces = Pieces(options.pieces.read_bytes())
    tokens = Tokens(lambda some: [pieces.ids(text[:4096], 512)[1:-1] for text in some], 1, 2, table, DEVICE)
    _, bert_table = load_base(options.teacher_base)
    english_tokens = english.bert_tokens(options.tokenizer, bert_table)
    data = Data(None, options)
    sentences = list(data.items)
    if options.snli:
        judged = public.snli(options.snli, 60000)
        data.public += judged[:30000]
        sentences += [text for pair in judged[:15000] for text in pair[:2]]
    if options.public:
        data.add_public("negnli", options.public / "negnli_en/nli.jsonl.gz", 3)
        data.add_public("scifact", options.public / "scifact/pairs.jsonl.gz", 8)
        data.add_public("kornli", options.public / "kornli_ko/nli.jsonl.gz", 1)
    if options.what == "encoder":
        measure_encoder(Encoder(layers), tokens, data, "encoder as it is", options.eval)
        teacher = english.scorers(options.teachers, enter=512)
        embedder = train_embedder(options, data, layers, teacher, tokens, sentences)
        trained = {name: array.astype(np.float16) for name, array in english.as_arrays(embedder).items()}
        np.savez(options.out / f"{options.name or 'use'}.npz", **trained)
        measure_encoder(embedder, tokens, data, options.name or "encoder", options.eval)
        return
    tokens.learn(sentences + [q.text for q, _ in data.questions] + [t for p in data.public for t in p[:2]])
    if options.what == "scorer":
        enter = way_in(pieces, table, options.tokenizer, bert_table)
        teachers = english.scorers(options.rankers), english.scorers(options.judges)
        scorer, name = train_scorer(options, data, teachers, enter, tokens, english_tokens), f"multi-{options.seed}"
    else:
        teacher = english.scorers(options.teachers, enter=512)
        english.measure_ranking(teacher, tokens, data, "all together")
        scorer, name = distil_scorer(options, data, teacher, tokens), "scorer_multi"
    english.save(options.out / f"{name}.npz", scorer.weights())
    english.measure_ranking(scorer, tokens, data, name)
    english.measure_judging(scorer, tokens, data, name)
    for language in ("en", "ko", "rest"):
        part = [p for p in data.test_pairs if language == (p.language if p.language in ("en", "ko") else "rest")]
        rows = [(p.a, p.b, p.label in ("conflict", "update"), p.label == "same") for p in part]
        english._judged(scorer, tokens, rows, name, f"pairs {language}")


if __name__ == "__main__":
    main()
