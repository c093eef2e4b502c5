"""Topics: what a text is about, by its own words: its keywords in any language, and a few well-known topics."""

from __future__ import annotations

import re
from collections.abc import Sequence
from functools import cache
from typing import NamedTuple

from polymnia.engine.text.language import DENSE, HANGUL, STOPWORDS, fold, noun
from polymnia.engine.text.words import Group, groups, terms

READ = 1000
"""So many characters tell what a text is about; more only cost time."""

_MOST = 8  # keywords
_COMPARED = 500  # so many characters of each memory of the scope are looked at for shared words
_ADDRESS = re.compile(r"(?:https?|ftp)://\S+|\bwww\.\S+", re.IGNORECASE)
_DENSE = re.compile(f"[{DENSE}]")
# Japanese writes its grammar in hiragana; Chinese has these characters between its words.
_CUT = re.compile(
    "[\u3041-\u309f]+|[的了是在和与與或也都很就我你他她它们們这這那有不对對从從被把给給及为為于於要吗嗎呢吧上下中后後]"
)
_HAN_LONGEST = 8
_KNOWN = 10.0
_SHARED = 2.0  # what a word gains that every memory of the suggested scope has
_MARKED = 0.5  # what an identifier, an acronym or a name inside a sentence gains
_LONG = 0.04  # what each letter adds: long words are rarer
_EARLY = 0.3
_TABLE: dict[tuple[str, str], str] = {
    ("work/meetings/standup", "meeting"): """
        standup stand-up daily-scrum 스탠드업 スタンドアップ 站会
    """,
    ("work/meetings/retrospective", "meeting"): """
        retrospective retro retrospektive rétrospective retrospectiva 회고 レトロスペクティブ 回顾
    """,
    ("work/meetings", "meeting"): """
        meeting agenda attendees besprechung sitzung protokoll réunion reunión reunião riunione vergadering
        совещание встреча toplantı spotkanie 회의 미팅 会議 ミーティング 打ち合わせ 会议 會議 اجتماع बैठक
    """,
    ("work/decisions", "decision"): """
        decision decided entscheidung entschieden beschluss décision décidé decisión decidimos decisão
        decidido decisione beslissing решение решили karar decyzja 결정 決定 决定 قرار
    """,
    ("work/bugs", "bug"): """
        bug crash traceback regression stacktrace exception fehler absturz bogue plantage erreur fallo
        errore ошибка баг сбой 버그 오류 バグ 不具合 エラー 故障 错误 錯誤
    """,
    ("work/planning", "plan"): """
        roadmap milestone deadline sprint backlog meilenstein échéance jalon plazo prazo scadenza срок 마감
        로드맵 締め切り 截止 里程碑
    """,
    ("work/customers", "customer"): """
        customer client invoice contract kunde kunden rechnung vertrag facture cliente factura fatura
        fattura клиент договор 고객 계약 顧客 契約 客户 合同
    """,
    ("learning/programming", "programming"): """
        python javascript typescript java rust golang kotlin sql algorithm async compiler refactoring api
        docker kubernetes programming programmierung programmation programación programação программирование
        프로그래밍 코드 알고리즘 プログラミング コード 编程 代码 算法 برمجة
    """,
    ("learning/languages", "language"): """
        vocabulary grammar pronunciation vokabeln grammatik vocabulaire grammaire vocabulario gramática
        словарь грамматика 문법 어휘 文法 単語 语法 词汇
    """,
    ("learning/reading", "learning"): """
        book chapter author lecture tutorial buch kapitel vorlesung livre chapitre libro capítulo curso
        livro книга глава лекция курс 강의 독서 読書 講義 读书 课程
    """,
    ("personal/health", "health"): """
        doctor dentist medication symptom vaccine blood-pressure workout allergy arzt zahnarzt medikament
        médecin dentiste médicament médico dentista medicamento medico farmaco врач лекарство 병원 의사 건강
        病院 医者 健康 医生 药
    """,
    ("personal/finance", "finance"): """
        budget salary mortgage tax savings insurance steuer gehalt miete versicherung impôt salaire loyer
        assurance impuesto sueldo alquiler imposto salário aluguel tasse affitto налог зарплата аренда 세금
        월급 예산 税金 給料 予算 工资 税 预算
    """,
    ("personal/travel", "travel"): """
        flight hotel itinerary passport luggage visa reise flug reisepass voyage valise viaje vuelo
        pasaporte viagem voo viaggio volo путешествие рейс паспорт 여행 항공권 호텔 旅行 航空券 ホテル 航班
        酒店 护照
    """,
    ("personal/recipes", "recipe"): """
        recipe ingredients oven tablespoon rezept zutaten recette ingrédients receta ingredientes receita
        ricetta рецепт 레시피 요리 レシピ 料理 食谱 菜谱
    """,
    ("personal/family", "family"): """
        birthday wedding anniversary daughter geburtstag hochzeit tochter anniversaire mariage cumpleaños
        boda hija aniversário casamento filha compleanno matrimonio figlia рождения свадьба дочь 생일 결혼
        딸 誕生日 結婚 娘 生日 婚礼 女儿
    """,
    ("personal/home", "home"): """
        plumber garden furniture apartment landlord renovation klempner garten möbel wohnung jardin meubles
        appartement jardín muebles jardim móveis giardino mobili сад мебель квартира 정원 가구 庭 家具 花园
    """,
    ("ideas", "idea"): """
        idea brainstorm idee einfall idée ideia идея 아이디어 アイデア 主意 想法
    """,
}


class Reading(NamedTuple):
    """The beginning of a text, what a query of it would ask for, and its index terms. It is read once for all."""

    text: str
    groups: list[Group]
    """Without what counts as a bonus only."""
    terms: frozenset[str]


class Topic(NamedTuple):
    """A scope that words of a text point to, the category they mean, and those words as they stand in the text."""

    scope: str
    category: str
    words: tuple[str, ...]


def read(text: str) -> Reading:
    """Read the beginning of a text."""
    head = text[:READ]
    return Reading(head, [group for group in groups(head) if not group.bonus], frozenset(terms(head).counts))


def words_of(text: str) -> list[str]:
    """The index terms of the beginning of a text, in order."""
    return list(terms(text[:READ]).counts)


def keywords(reading: Reading, scope_texts: Sequence[str] = (), known: Sequence[str] = ()) -> tuple[str, ...]:
    """The most telling words of a text, as they stand in it but in small letters.

    ``scope_texts`` are memories of the scope it probably belongs to: a word they share tells more. ``known`` are
    words that are telling for sure; those that stand in the text come first.
    """
    small = _ADDRESS.sub(" ", reading.text).lower()
    shared = [terms(one[:_COMPARED]).counts for one in scope_texts]
    scores = {word: _KNOWN for word in known if word in small}
    words = [(word, forms) for word, forms in _words(reading).items() if word.lower() in small]
    for at, (word, forms) in enumerate(words):
        lower = word.lower()
        common = sum(any(form in one for form in forms) for one in shared) / len(shared) if shared else 0.0
        score = 1.0 + _SHARED * common + _LONG * min(len(word), 12) + _EARLY * (1 - at / len(words))
        if word[1:] != word[1:].lower() or any(c.isdigit() for c in word):
            score += _MARKED
        score *= min(3, small.count(lower)) ** 0.5
        scores[lower] = max(score, scores.get(lower, 0.0))
    chosen: list[str] = []
    for word in sorted(scores, key=lambda one: -scores[one]):
        if not any(word in other for other in chosen):
            chosen.append(word)
            if len(chosen) == _MOST:
                break
    return tuple(chosen)


def _words(reading: Reading) -> dict[str, set[str]]:
    """The content words of a text, as they are written, with the index terms to know them by.

    Those of scripts without spaces are cut out as well as can be told.
    """
    found: dict[str, set[str]] = {}
    for group in reading.groups:
        forms = {form for form, _ in group.alternatives}
        for word in _cut(group.word):
            if len(word) > 1 and not word.isdigit():
                found.setdefault(word, set()).update(forms)
    return found


def _cut(word: str) -> list[str]:
    if not _DENSE.search(word):
        return [word]
    if HANGUL.search(word):
        root = noun(word)
        return [] if fold(root) in STOPWORDS["korean"] else [root]
    return [piece for piece in _CUT.split(word) if len(piece) <= _HAN_LONGEST]


def topics(reading: Reading) -> list[Topic]:
    """The topics a text mentions: those with most of its words first, of equals the most specific, then the earliest.

    What is said of a topic is said of those below it too, when they are mentioned at all.
    """
    folded = fold(reading.text)
    written = {term: group.word for group in reversed(reading.groups) for term, _ in group.alternatives}
    found: dict[str, Topic] = {}
    for (scope, category), (spaced, dense) in _forms().items():
        words: dict[str, None] = {}
        for form in spaced:
            hits = [written[term] for term in form & reading.terms if term in written]
            if hits:
                words.setdefault(min(hits, key=lambda hit: (len(hit), hit)).lower())
        for word in dense:
            if word in folded:
                words.setdefault(word)
        if words:
            found[scope] = Topic(scope, category, tuple(words))
    for scope, topic in found.items():
        above = found.get(scope.rpartition("/")[0])
        if above:
            found[scope] = topic._replace(words=tuple(dict.fromkeys(topic.words + above.words)))
    return sorted(found.values(), key=lambda one: (-len(one.words), -one.scope.count("/"), _first(one, folded)))


def _first(topic: Topic, folded: str) -> int:
    return min(folded.find(fold(word)) % (len(folded) + 1) for word in topic.words)


@cache
def _forms() -> dict[tuple[str, str], tuple[list[frozenset[str]], list[str]]]:
    """For each topic the index terms of its words, and those words that are looked for as they stand."""
    made: dict[tuple[str, str], tuple[list[frozenset[str]], list[str]]] = {}
    for topic, words in _TABLE.items():
        spaced: list[frozenset[str]] = []
        dense: list[str] = []
        for word in words.split():
            if _DENSE.search(word):
                dense.append(fold(word))
            else:
                spaced.append(frozenset(_whole(word)))
        made[topic] = (spaced, dense)
    return made


def _whole(word: str) -> set[str]:
    """The terms to know a word by; of one with a hyphen only the whole, or any part of it would do."""
    asked = groups(word)
    return {term for group in asked if group.bonus == (len(asked) > 1) for term, _ in group.alternatives}
