"""The models that come with the package: embedders, a ranker and a judge, for English and for sixteen languages.

English texts go to the English networks; if one of two texts is in another language, the multilingual network gets
both. Each is loaded on first use.
"""

from __future__ import annotations

import re
from functools import cache
from math import tanh
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from polymnia.engine.ports import Judgement
from polymnia.errors import NoModel
from polymnia.inference.networks import MultilingualEncoder, OnnxNetwork, one_thread
from polymnia.inference.tokens import Floats, PositionTable, SubwordTable, WordTable
from polymnia.inference.weights import SHIPPED, LazyModel, Weights, installed, shared

if TYPE_CHECKING:
    from collections.abc import Sequence


class Calibration(NamedTuple):
    """chance = logistic(slope * logit + offset)."""

    slope: float
    offset: float


ENGLISH, MULTILINGUAL = "en", "multi"

RANK = {ENGLISH: Calibration(0.580, 0.693), MULTILINGUAL: Calibration(0.487, 0.358)}
"""For the chance that a text answers a question."""

JUDGE = {ENGLISH: 1.60, MULTILINGUAL: 2.25}
"""The temperature, by which the judge's six logits are divided."""

# ── which models know the language of a text ──────────────────────────────────────────────────────────────

# By its letters and function words: cheap heuristics, not a language detector. A few words without any sign count as
# known, because a query is often a single name. What USE knows beyond its 16 languages was measured: it places
# sentences in Indonesian, Catalan, Ukrainian and Bulgarian near their English translations, and all sentences of an
# unknown language (Greek, Hebrew, Hindi, Finnish, Vietnamese, Persian, the Nordic languages) near each other.

_SAMPLE = 1000  # characters from which the language is determined

_USE_LETTERS = re.compile(
    "[a-zA-Z\u00aa-\u024f\u1e00-\u1eff\uff21-\uff5a"  # Latin
    "\u0400-\u052f"  # Cyrillic
    "\u0620-\u06ff\u0750-\u077f\ufb50-\ufdff\ufe70-\ufefc"  # Arabic
    "\u0e01-\u0e4e"  # Thai
    "\u3005-\u3007\u3040-\u30ff\u31f0-\u31ff\uff66-\uff9d"  # kana
    "\u1100-\u11ff\u3131-\u318e\uac00-\ud7a3"  # Hangul
    "\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff\U00020000-\U0003ffff]"  # Han
)

# Letters and double letters of USE's scripts that none of its languages has.
_FOREIGN = re.compile(
    "[åøđðþħəőűășțěřůčšžďťňľĺŕģķļņėįųūāēīơư\u1ea0-\u1ef9]|ää|öö|yy"  # Latin
    "|[әғқңөұүһ]"  # Cyrillic
    "|[پچژگکیٹڈڑںےہھ]"  # Arabic
)
_FOREIGN_SHARE = 0.15  # a text may contain foreign names
_FUNCTION_WORDS_SHARE = 0.1
_ACCENTED_SHARE = 0.02  # of an English text's letters
_NOT_LATIN_SHARE = 0.1
_WORD = re.compile(r"[^\W\d_]+")

# Frequent function words that are not English words. Languages USE knows:
_KNOWN = {
    "en": "the of and to is that it for was with are have this not you be by at from what when where who how did does "
    "do my your we they he she his her will would there which has had can about i a an in on as or but all one up out "
    "our me if its than more no so some any were been get go see know like just good time role yes yeah",
    "de": "der das und ist nicht ein eine einen einem mit auf für den dem von zu zum zur sich auch wird sind ich wir "
    "sie er hat haben wann wie wer wo kann bei nach aber oder im in an am mein meine unser ihr",
    "fr": "le la les des et est une un que qui dans pour pas sur avec au aux du ne ce il elle nous vous sont été où "
    "quand comment mon ma je",
    "es": "el la a los las de que y en un una es por con para se su lo como más pero está qué cuándo dónde quién "
    "fue mi",
    "it": "i il lo gli che di è a in un una per non con sono del della nel come più ma ha chi quando dove la le",
    "pt": "os as a de que do da um uma para com não por mais como dos das foi está quando onde quem na no ao nos estão "
    "são",
    "nl": "de het een en van dat niet op te zijn voor met aan er wordt hij zij wij ik wat wanneer waar wie naar in",
    "pl": "nie się na jest że jak po ale od są czy co kiedy gdzie kto z w i do dla",
    "tr": "ve bir bu için ile ne çok daha gibi var mı mi olarak değil nasıl nerede kim da de",
    "id": "yang dan di ini itu dengan untuk tidak dari akan pada ada saya kamu apa dalam ke",
}
# Languages it does not know:
_UNKNOWN = {
    "fi": "ja ei että hän oli mutta kun myös joka ovat minä sinä tämä olen niin kuin sekä mitä missä",
    "et": "ja ei oli kui aga mis või seda ka ning kes",
    "sv": "och att det som för är på med av inte jag han hon till den ett när vad",
    "da": "og at det er på med af ikke jeg han hun til et den som fra når hvad hvor",
    "cs": "se na je že do jak ale jsem byl byla jeho nebo když kde",
    "hr": "je se na da su za od koji nije kako što gdje",
    "hu": "a az és hogy nem egy van volt meg ez csak mint vagy kell hol mikor",
    "ro": "a și în de la cu nu pe este care din să unde când sunt mai",
    "sw": "na ya wa kwa katika za kila hii yake lake yangu kuwa hiyo watu vya lini wapi",
    "tl": "ang ng sa mga ay ko si na hindi ito kung",
    "vi": "và là của không có được cho một trong với người này tôi",
}


def is_multilingual(text: str) -> bool:
    """Whether USE was trained on the language of the text."""
    text = text[:_SAMPLE]
    if not text.isascii() and len(_USE_LETTERS.findall(text)) * 2 < sum(map(str.isalpha, text)):
        return False
    words = _WORD.findall(text.lower())
    if sum(1 for word in words if _FOREIGN.search(word)) > len(words) * _FOREIGN_SHARE:
        return False
    votes = _votes(words)
    foreign = max(votes[language] for language in _UNKNOWN)
    return foreign < len(words) * _FUNCTION_WORDS_SHARE or foreign <= max(votes[language] for language in _KNOWN)


def is_english(text: str) -> bool:
    """Whether the text is English."""
    text = text[:_SAMPLE]
    votes = _votes(_WORD.findall(text.lower()))
    english = votes.pop(ENGLISH)
    if not text.isascii():
        letters = sum(map(str.isalpha, text))
        other = [character for character in text if character.isalpha() and not character.isascii()]
        if sum(1 for character in other if character > "\u024f") > letters * _NOT_LATIN_SHARE:
            return False
        if len(other) > letters * _ACCENTED_SHARE and english < 2:
            return False
    return english >= max(votes.values())


def _votes(words: list[str]) -> dict[str, int]:
    """How many of the words are function words of each language."""
    votes = dict.fromkeys(_KNOWN | _UNKNOWN, 0)
    for word in words:
        for language in _function_words().get(word, ()):
            votes[language] += 1
    return votes


@cache
def _function_words() -> dict[str, list[str]]:
    table: dict[str, list[str]] = {}
    for language, words in (_KNOWN | _UNKNOWN).items():
        for word in words.split():
            table.setdefault(word, []).append(language)
    return table


# ── embedders ─────────────────────────────────────────────────────────────────────────────────────────────


class _BuiltInModel(LazyModel):
    """A model whose weights come with the package."""

    def __init__(self, weights: Weights = SHIPPED) -> None:
        super().__init__()
        self._weights = weights


_QUERY = (
    "Represent this sentence for searching relevant passages: "  # the model was trained with this prefix before a query
)
_MAX_TOKENS = 510  # the model has 512 positions, two of them for the start and end tokens
_MAX_CHARACTERS = 16 * _MAX_TOKENS

# The multilingual network averages, so the longer a text, the less its vector represents each part: passages are short,
# and longer ones are truncated to this. No piece is longer than 16 characters, most have 4.
_MAX_PIECES = 512
_BATCH = 768  # tokens in a batch: enough to reuse each weight often, few enough for the CPU cache


class EnglishEmbedder(_BuiltInModel):
    """Vectors of 384 numbers for English texts, in about five milliseconds for a text of thirty words."""

    id = "polymnia-en-1"
    dimensions = 384
    near = True
    strong = True
    unrelated = 0.472
    answers = (0.4, 0.75)

    _words: WordTable
    _positions: PositionTable
    _network: OnnxNetwork

    def knows(self, text: str) -> bool:
        """Whether the text is English, judging by letters and function words."""
        return is_english(text)

    def embed(self, texts: Sequence[str], *, query: bool = False) -> Floats:
        """One unit vector for each text."""
        if not self.ready:
            self.load()
        if not texts:
            return np.empty((0, self.dimensions), np.float32)
        prompt = _QUERY if query else ""
        vectors = self._network.run([self._rows(prompt + text) for text in texts], "vector")
        vectors /= np.linalg.norm(vectors, axis=1, keepdims=True)
        return vectors

    def _rows(self, text: str) -> Floats:
        words = self._words
        ids = [words.start, *words.ids(text[:_MAX_CHARACTERS], _MAX_TOKENS), words.end]
        return self._positions.add(words.rows(ids))

    def _prepare(self) -> None:
        (network,) = self._weights.verified("embedder_en.onnx")
        self._words = shared(WordTable, self._weights, "words_embedder_en.npz")
        self._positions = self._words.positions("embedder")
        self._network = OnnxNetwork(network)


class MultilingualEmbedder(_BuiltInModel):
    """Vectors of 512 numbers for texts in 16 languages, in about half a millisecond for a short text."""

    id = "polymnia-multi-2"
    dimensions = 512
    near = True
    strong = False  # an average over words: its similarity counts less than shared words
    unrelated = 0.085
    answers = (0.05, 0.55)

    _words: SubwordTable
    _network: MultilingualEncoder

    def knows(self, text: str) -> bool:
        """Whether the text is in a language the model was trained on, judging by letters and function words."""
        return is_multilingual(text)

    def embed(self, texts: Sequence[str], *, query: bool = False) -> Floats:
        """One unit vector for each text. Queries and texts are embedded alike."""
        if not self.ready:
            self.load()
        vectors = np.empty((len(texts), self.dimensions), np.float32)
        with one_thread():
            group: list[list[int]] = []
            first = tokens = 0
            for at, text in enumerate(texts):
                ids = self._words.pieces.ids(text[: 8 * _MAX_PIECES], _MAX_PIECES)
                if group and tokens + len(ids) > _BATCH:
                    vectors[first:at] = self._network.run(group)
                    group, first, tokens = [], at, 0
                group.append(ids)
                tokens += len(ids)
            if group:
                vectors[first:] = self._network.run(group)
        return vectors

    def _prepare(self) -> None:
        self._words = shared(SubwordTable, self._weights)
        with np.load(self._words.path) as arrays:
            layers = {name: arrays[name] for name in arrays if name[0] != "q"}
        self._network = MultilingualEncoder(self._words.rows, layers)


# ── models of text pairs ──────────────────────────────────────────────────────────────────────────────────

_PAIR_TOKENS = 256  # of two texts with the special tokens
_PAIR_CHARACTERS = 16 * _PAIR_TOKENS


class _PairReader(_BuiltInModel):
    """A network that reads two texts together."""

    _words: WordTable | SubwordTable
    _positions: PositionTable
    _network: OnnxNetwork

    def read(self, pairs: Sequence[tuple[str, str]], output: str) -> Floats:
        """The network's row for each pair of texts."""
        if not self.ready:
            self.load()
        ids: dict[str, list[int]] = {}
        for text in (text for pair in pairs for text in pair):
            if text not in ids:
                ids[text] = self._words.ids(text[:_PAIR_CHARACTERS], _PAIR_TOKENS - 3)
        return self._network.run([self._rows(ids[one], ids[other]) for one, other in pairs], output)

    def _rows(self, one: list[int], other: list[int]) -> Floats:
        room = _PAIR_TOKENS - 3
        if len(one) + len(other) > room:  # the longer one is truncated
            one = one[: max(room // 2, room - len(other))]
            other = other[: room - len(one)]
        ids = [self._words.start, *one, self._words.end, *other, self._words.end]
        return self._positions.add(self._project(self._words.rows(ids)), len(one) + 2)

    def _project(self, rows: Floats) -> Floats:
        return rows


class _EnglishReader(_PairReader):
    """An English network: ``ranker`` or ``judge``."""

    def __init__(self, weights: Weights, kind: str) -> None:
        super().__init__(weights)
        self._kind = kind

    def _prepare(self) -> None:
        (network,) = self._weights.verified(f"{self._kind}_en.onnx")
        words = shared(WordTable, self._weights, "words_scorer_en.npz")
        self._words, self._positions = words, words.positions(self._kind)
        self._network = OnnxNetwork(network)


class _MultilingualReader(_PairReader):
    """The multilingual network, which ranks and judges; it shares the token table of the multilingual embedder."""

    def _prepare(self) -> None:
        network, positions = self._weights.verified("scorer_multi.onnx", "places_multi.npz")
        self._words = shared(SubwordTable, self._weights)
        with np.load(positions) as arrays:
            self._positions = PositionTable(arrays["places"], arrays["parts"])
            self._in = arrays["enter"].astype(np.float32).T.copy()
            self._bias = arrays["enter_bias"].astype(np.float32)
        self._network = OnnxNetwork(network)

    def _project(self, rows: Floats) -> Floats:
        projected: Floats = rows @ self._in + self._bias
        return projected


class Scorer:
    """Chooses between both networks. ``kind`` is the English file's name, ``output`` the network output to use."""

    kind: str
    output: str

    def __init__(self, weights: Weights = SHIPPED) -> None:
        self._can_run = False
        self._readers: dict[str, _PairReader] = {
            ENGLISH: _EnglishReader(weights, self.kind),
            MULTILINGUAL: shared(_MultilingualReader, weights),
        }

    def load(self) -> None:
        """Raise NoModel if the networks cannot be run; each is loaded on first use."""
        self._can_run = self._can_run or installed("onnxruntime")
        if not self._can_run:
            raise NoModel(
                f"The {self.kind} needs the library onnxruntime, which is not installed",
                hint="Run `pip install onnxruntime`; everything else works without it.",
            )

    def knows(self, text: str) -> bool:
        """Whether one of the networks knows the text's language, judging by letters and function words."""
        return is_multilingual(text)

    def _read(self, pairs: Sequence[tuple[str, str]]) -> list[tuple[str, Floats]]:
        """For each pair the name of the network used, and its row."""
        english = {text: is_english(text) for pair in pairs for text in pair}
        which = [ENGLISH if english[one] and english[other] else MULTILINGUAL for one, other in pairs]
        rows: list[Any] = [None] * len(pairs)
        for name, reader in self._readers.items():
            at = [i for i, one in enumerate(which) if one == name]
            if at:
                for i, row in zip(at, reader.read([pairs[i] for i in at], self.output), strict=True):
                    rows[i] = row
        return list(zip(which, rows, strict=True))


class Ranker(Scorer):
    """Six layers, from ms-marco-MiniLM: about four milliseconds for a query and a text of thirty words together."""

    id = "polymnia-rank-1"
    kind = "ranker"
    output = "rank"

    def score(self, query: str, texts: Sequence[str]) -> list[float]:
        """The chance that each text answers the query."""
        chances = []
        for which, row in self._read([(query, text) for text in texts]):
            logit = RANK[which].slope * float(row[0]) + RANK[which].offset
            chances.append((1 + tanh(logit / 2)) / 2)  # the logistic function, without overflow
        return chances


class PairJudge(Scorer):
    """Eight layers (six for languages other than English) and six classes, in the order of Judgement."""

    id = "polymnia-judge-3"
    kind = "judge"
    output = "judge"

    def judge(self, pairs: Sequence[tuple[str, str]]) -> list[Judgement]:
        """The class probabilities of each pair."""
        judgements = []
        for which, row in self._read(pairs):
            logits = row / JUDGE[which]
            chances = np.exp(logits - logits.max())
            judgements.append(Judgement(*(chances / chances.sum()).tolist())._replace(strong=which == ENGLISH))
        return judgements
