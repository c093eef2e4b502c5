"""What "nothing in common" looks like to a model for which nobody has measured it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from numpy.typing import NDArray

__all__ = ["SENTENCES", "mean_cosine"]

# Sentences that share no subject, as many in each language.
SENTENCES = (
    "The invoice for March was paid twice by mistake.",
    "Penguins cannot fly but they swim very well.",
    "She plays the violin in a small orchestra.",
    "How do I reset the password of my router?",
    "Volcanic soil is good for growing wine.",
    "He broke his leg while skiing last winter.",
    "Add two eggs and a cup of flour to the bowl.",
    "The tenants voted against a new elevator.",
    "Der Vermieter hat die Heizung noch nicht repariert.",
    "Im Herbst ziehen die Kraniche nach Süden.",
    "Das Programm stürzt ab, sobald der Speicher voll ist.",
    "Meine Tante sammelt alte Briefmarken.",
    "Die Brücke wurde im siebzehnten Jahrhundert gebaut.",
    "Zum Frühstück gab es Käse und Oliven.",
    "Der Richter vertagte die Verhandlung auf Mai.",
    "Unser Hund fürchtet sich vor Gewitter.",
    "주말에 친구와 영화를 보러 갔다.",
    "서버 인증서가 다음 달에 만료된다.",
    "할머니는 마당에서 고추를 말리신다.",
    "이 강은 겨울마다 꽁꽁 언다.",
    "회의록을 아직 공유하지 못했습니다.",
    "고래는 물고기가 아니라 포유류이다.",
    "어제 산 신발이 발에 맞지 않는다.",
    "대통령은 예산안에 서명했다.",
    "火星上的一天比地球上的一天长一点。",
    "他把雨伞忘在出租车上了。",
    "这道菜需要先用小火炖两个小时。",
    "数据库的备份昨晚没有成功。",
    "我妹妹在学习弹钢琴。",
    "春天的时候樱花开满了山坡。",
    "股东大会推迟到六月举行。",
    "医生建议他少吃盐。",
)
_LANGUAGES = 4


def mean_cosine(vectors: NDArray[Any]) -> float:
    """The mean cosine of two sentences, from the vectors (of length 1) of all of them.

    Taken in the language in which it is lowest: sentences in a language the model does not know are all
    alike to it, which says nothing about those it knows.
    """
    size = len(SENTENCES) // _LANGUAGES
    means = []
    for start in range(0, len(SENTENCES), size):
        same = vectors[start : start + size]
        means.append((float((same @ same.T).sum()) - size) / (size * (size - 1)))
    return min(means)
