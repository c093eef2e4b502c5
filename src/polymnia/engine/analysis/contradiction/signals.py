"""Signals: small lists of words that say how far a statement goes, and in which direction."""

from __future__ import annotations

from polymnia.engine.search.languages import fold, stem

__all__ = ["SIGNALS"]

_LISTS = {
    "all": """all every each always everyone everybody everything entire entirely whole completely fully totally
        must guaranteed 모든 모두 항상 언제나 전부 완전히 누구나 매번 반드시 늘 다 전체""",
    "none": """never nobody nothing none nowhere neither zero ever any anyone anything anybody 전혀 결코 절대
        절대로 아무 아무도 아무것도 어떤 한번도 단 하나도 조금도""",
    "only": "only just solely exclusively alone single sole merely 오직 유일 유일한 단지 만 뿐 혼자 단독",
    "some": """some many most few several sometimes often usually mostly partly certain various 일부 몇 여러 많은
        많이 대부분 가끔 때때로 종종 보통 다양한 어떤""",
    "may": """may might could can maybe perhaps possibly probably likely seem suggest appear 아마 아마도 같다
        같습니다 가능""",
    "must": "must should need have required shall ought necessary 해야 필요 의무 필수",
    "lack": """refuse fail deny lack lacks absence absent unable impossible avoid prevent stop without miss missing
        reject forbid prohibit ban cancel wrong false ignore forget little rarely seldom hardly barely
        unlikely unknown 거부 실패 부족 불가능 금지 중단 취소 모른다 모르 거절 반대 거짓 잘못 무시 막 싫어
        포기 없이""",
    "up": """increase increased increases raise rise rose grow grew high higher elevated elevate enhance promote
        activate improve upregulate more greater larger gain induce stimulate accelerate strong strengthen
        support enable allow positive positively effective benefit beneficial succeed success protect win
        better best good prolong longer induction activation upregulation elevation enhanced necessary
        essential sufficient accurate efficient 증가 상승 늘 높 향상 개선 촉진 강화 좋 성공 유익 효과 많 크
        큰 쉽 쉬운 빠른 빠르 행복 즐거 훌륭""",
    "down": """decrease decreased reduce reduced reduction decline fall fell drop lower low less fewer smaller
        inhibit suppress impair block downregulate diminish weaken attenuate deplete loss lose lost
        ineffective inaccurate negative negatively adverse harm harmful worse worst bad poor fail failure
        disrupt delay short shorter slow inhibition suppression downregulation deficiency deficient
        unaffected independent unrelated unnecessary inefficient 감소 하락 줄 낮 악화 억제 약화 나쁘 나쁜
        실패 해로 적 작 작은 어렵 어려운 느린 느리 슬프 슬픈 불행 끔찍""",
    "sole": """lead leads led own owns owner head manager manages ceo cto captain capital default primary main
        chief director president deadline due born birthday located headquarters moved official version
        first last favorite favourite responsible charge winner author approves 담당 담당자 팀장 대표 책임
        책임자 기본 수도 마감 마감일 생일 본사 위치 사장 소유 주인 기본값 최종 공식 회장 승인 가장 이끈 이끌
        맡 맡고""",
    "both": "also too additionally besides another other both as well 또한 도 역시 추가로 다른 함께 및",
    "past": "was were had did ago yesterday former previously used formerly once 전에 예전 과거 이전",
    "joins": "and or because so while although but however though when if 그리고 그래서 하지만 그러나 또는 만약",
}


def _forms(words: str) -> frozenset[str]:
    found: set[str] = set()
    for word in words.split():
        found.add(fold(word))
        if word.isascii():
            found.add(stem(word, "english"))
    return frozenset(found)


SIGNALS: dict[str, frozenset[str]] = {name: _forms(words) for name, words in _LISTS.items()}
"""What each signal is told by: folded words and stems, Korean ones also as beginnings."""
