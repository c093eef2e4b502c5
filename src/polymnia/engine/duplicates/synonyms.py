"""Synonyms: words that say the same in nearly every sentence, and the forms of irregular words."""

from __future__ import annotations

from functools import cache
from unicodedata import normalize

from polymnia.engine.duplicates.roots import HANGUL, roots
from polymnia.engine.search.languages import fold

__all__ = ["synonymous"]

# Groups between bars. A word may stand in several.
_TABLE = """
man guy gentleman fellow|woman lady|child kid|person human individual|people folk human|mother mom mum|father dad
someone somebody person|child children kid|man men|woman women|foot feet|mouse mice|tooth teeth|anyone anybody
everyone everybody|big large|small little tiny|quick fast rapid|begin start commence|end finish conclude
stop halt cease|buy purchase|speak talk|leap jump hop|cut slice chop|film movie|car automobile
photo picture photograph image pic|bike bicycle|phone telephone|tv television telly|doctor physician|sofa couch
road street|stone rock|shop store|job work|vacation holiday|illness sickness disease|ill sick|sea ocean|beach shore
answer reply respond|ask request|help assist aid|need require|want wish|choose pick select|fix repair mend
error mistake|delete remove erase|create make|build construct|huge enormous gigantic|happy glad|angry mad furious
clever smart intelligent|rich wealthy|important significant key|difficult hard|easy simple|wrong incorrect
right correct|often frequently|maybe perhaps possibly|almost nearly|approximately roughly about around
discuss debate|happen occur|receive get obtain|give provide|show display|see watch view|search seek|die death dead
attack assault|murder kill|widen expand|protest rally demonstration|police cop|lawyer attorney|salary wage pay
company firm|flat apartment|lift elevator|lorry truck|gray grey|colour color|favourite favorite|centre center
programme program|organise organize|organisation organization|analyse analyze|blonde blond|airplane plane aircraft
kidnap abduct|bad terrible awful|good great fine|use utilize utilise employ|prepare make|oust remove|plan schedule
postpone delay defer|wed marry|shut close|large major|main primary|whole entire|near nearby|trail path|toss throw
usa us america american|uk britain british|china chinese|japan japanese|greece greek|france french|germany german
spain spanish|italy italian|korea korean|syria syrian|egypt egyptian|russia russian|israel israeli|iran iranian
iraq iraqi|turkey turkish|india indian|pakistan pakistani|canada canadian|mexico mexican|brazil brazilian
australia australian|ukraine ukrainian|poland polish|sweden swedish|norway norwegian|denmark danish|europe european
asia asian|africa african|england english|scotland scottish|ireland irish|switzerland swiss|austria austrian
vietnam vietnamese|malaysia malaysian|libya libyan|afghanistan afghan|palestine palestinian|gaza gazan|minute min
hour hr h|second sec|kilometre kilometer km|kilogram kilogramme kg kilo|centimetre centimeter cm
millimetre millimeter mm|metre meter|litre liter|mile mi|pound lb gbp quid|ounce oz|gigabyte gb|megabyte mb
terabyte tb|percent pct percentage prozent pourcent процент|dollar usd buck|euro eur|million mln m|billion bn b
config configuration|repo repository|db database|app application|docs documentation|env environment|info information
auth authentication|js javascript|ts typescript|postgres postgresql|k8s kubernetes|prod production|dev development
auto wagen|beginnen starten anfangen|kaufen erwerben|voiture auto|empezar comenzar|машина автомобиль|начать начинать
남자 남성|여자 여성|아이 어린이|사람 인간|구매 구입|회의 미팅|자동차 차 차량|집 주택|자르 썰|연주 치
"""
_FORMS = """
be been|become became|begin began begun|bite bit bitten|blow blew blown|break broke broken|bring brought|build built
buy bought|catch caught|choose chose chosen|come came|cost|cut|deal dealt|dig dug|do done did|draw drew drawn
drink drank drunk|drive drove driven|eat ate eaten|fall fell fallen|feed fed|feel felt|fight fought|find found
fly flew flown|forget forgot forgotten|forgive forgave|freeze froze frozen|get got gotten|give gave given
go went gone|grow grew grown|hang hung|hear heard|hide hid hidden|hold held|keep kept|know knew known|lay laid
lead led|leave left|lend lent|lie lay|lose lost|make made|mean meant|meet met|pay paid|ride rode ridden
ring rang rung|rise rose risen|run ran|say said|see saw seen|seek sought|sell sold|send sent|shake shook shaken
shine shone|shoot shot|show shown|sing sang sung|sink sank sunk|sit sat|sleep slept asleep|slide slid
speak spoke spoken|spend spent|stand stood|steal stole stolen|stick stuck|strike struck|swim swam swum|take took taken
teach taught|tell told|think thought|throw threw thrown|understand understood|wake woke woken|wear wore worn
win won|write wrote written|foot feet|tooth teeth|mouse mice|goose geese|leaf leaves|life lives|wife wives|knife knives
child children|man men|woman women|person people|ox oxen
"""


@cache
def _groups() -> dict[str, frozenset[int]]:
    """Folded words, each with the groups it stands in; Korean ones as roots in jamo."""
    found: dict[str, set[int]] = {}
    for group, entry in enumerate((_TABLE.strip() + "|" + _FORMS.strip()).replace("\n", "|").split("|")):
        for word in entry.split():
            found.setdefault(normalize("NFD", word) if HANGUL.match(word) else fold(word), set()).add(group)
    return {word: frozenset(groups) for word, groups in found.items()}


def synonymous(a: tuple[str, str], b: tuple[str, str]) -> bool:
    """Whether two words say the same, each given folded and as its stem."""
    return not _of(a).isdisjoint(_of(b))


def _of(word: tuple[str, str]) -> frozenset[int]:
    table = _groups()
    if HANGUL.match(word[0]):
        found: frozenset[int] = frozenset()
        return found.union(*(table.get(root, ()) for root in roots(word[0])))
    return table.get(word[0]) or table.get(word[1]) or frozenset()
