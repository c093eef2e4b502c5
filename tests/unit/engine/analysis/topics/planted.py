"""Texts whose topics are known, twins of them in which words are mixed, and projects made of them."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from random import Random
from typing import Any

from polymnia import Memory
from polymnia.engine.analysis.findings import Finding, Findings
from polymnia.engine.analysis.topics import topic_clusters
from polymnia.engine.content import ItemDraft
from polymnia.engine.search import Analysis, LazySearch
from polymnia.engine.search.finder import Finder
from polymnia.storage.sqlite import SqliteStore

__all__ = ["ENGLISH", "KOREAN", "ODD", "SAME", "found", "named", "project", "twin"]

ENGLISH: dict[str, list[str]] = {
    "bread": [
        "The sourdough starter doubled overnight, so the bread dough can be mixed in the morning",
        "Knead the bread dough for ten minutes until the gluten is stretchy",
        "Bake the sourdough bread in a hot oven with a tray of steam",
        "Rye flour makes the bread dough sticky, add it to the sourdough slowly",
        "A cold proof in the fridge gives the sourdough bread a stronger crust",
        "The bread crumb was too dense because the dough did not proof long enough",
        "Feed the sourdough starter with equal parts of flour and water",
        "Score the loaf before baking so that the bread crust opens evenly in the oven",
    ],
    "bicycle": [
        "The rear derailleur of the bicycle skips gears under load",
        "Replaced the chain and the cassette on the touring bicycle",
        "Bicycle tyre pressure should be lower on gravel roads",
        "The front brake pads of the bicycle squeal when it rains",
        "Ordered a new saddle for the bicycle, the old one cracked",
        "True the wheel: two spokes of the bicycle rim are loose",
        "Clean the bicycle chain and oil it after every wet ride",
        "The gears of the bicycle shift badly since the derailleur cable stretched",
    ],
    "database": [
        "The database migration locks the orders table for four minutes",
        "Add an index on customer_id, the database query scans the whole table",
        "Nightly backup of the database failed because the disk was full",
        "The database replica lags behind the primary by thirty seconds",
        "Vacuum the orders table, the database grew to ninety gigabytes",
        "A slow query blocks the connection pool of the database",
        "Write the rollback of the database migration before running it in production",
        "Restore the database backup to the staging server every month",
    ],
    "garden": [
        "Tomato seedlings need more light before they go into the garden bed",
        "Prune the apple tree in the garden while the branches are bare",
        "Slugs ate the lettuce seedlings in the garden last night",
        "Spread compost on the garden bed before planting the beans",
        "The roses in the garden have mildew on their leaves",
        "Water the tomato plants in the garden early in the morning",
        "Sow carrots in the garden when the soil is warmer than eight degrees",
        "The garden hose leaks, the beans and the roses are dry",
    ],
}
KOREAN: dict[str, list[str]] = {
    "김치": [
        "김치를 담그려면 배추를 소금에 여섯 시간 절여야 한다",
        "배추 김치에 고춧가루와 젓갈을 넣어 버무렸다",
        "김치가 너무 빨리 익어서 김치냉장고로 옮겼다",
        "올해 김장은 배추 서른 포기로 김치를 담글 계획이다",
        "깍두기 김치는 무를 깍둑썰기해서 고춧가루에 버무린다",
        "신 김치로 찌개를 끓이면 국물이 더 시원하다",
        "김치 양념에 마늘과 생강을 더 넣기로 했다",
    ],
    "지하철": [
        "지하철 2호선이 신호 고장으로 이십 분 지연되었다",
        "출근 시간에 지하철 환승역이 너무 혼잡하다",
        "지하철 막차는 밤 열두 시에 역을 떠난다",
        "새 지하철 노선이 공항까지 연결된다",
        "지하철 요금이 다음 달부터 백오십 원 오른다",
        "지하철 역 승강장에 안전문이 설치되었다",
        "지하철에서 내려 버스로 환승하면 요금이 할인된다",
    ],
    "축구": [
        "축구 경기에서 후반전에 골을 두 번 넣어 이겼다",
        "축구 감독이 수비수를 교체하고 전술을 바꿨다",
        "국가대표 축구 선수단이 월드컵 예선을 준비한다",
        "축구 골키퍼가 승부차기에서 공을 세 번 막았다",
        "주말 축구 경기는 비 때문에 취소되었다",
        "축구 공격수가 무릎 부상으로 경기에 나오지 못한다",
        "축구 결승 경기 표가 십 분 만에 매진되었다",
    ],
}
SAME: dict[str, list[str]] = {
    "weather": [
        "It will rain heavily in the city tomorrow afternoon",
        "The forecast says snow and strong wind on Sunday",
        "A storm with thunder and hail is expected tonight",
        "Temperatures will drop below zero this weekend",
        "내일 오후에는 비가 많이 내릴 것으로 예보되었다",
        "일요일에는 눈이 오고 바람이 강하게 분다는 일기 예보가 있다",
        "오늘 밤 천둥과 우박을 동반한 폭풍이 예상된다",
        "이번 주말에는 기온이 영하로 떨어진다",
    ],
    "hospital": [
        "The doctor prescribed antibiotics for the infection",
        "My surgery at the hospital is scheduled for Monday",
        "The nurse measured my blood pressure at the clinic",
        "The patient takes two pills against the pain every day",
        "의사가 감염 때문에 항생제를 처방했다",
        "병원 수술이 월요일로 잡혔다",
        "간호사가 진료소에서 혈압을 쟀다",
        "환자는 통증 때문에 매일 알약 두 개를 먹는다",
    ],
}
ODD = [
    "Quarterly invoices from the notary arrived in a green envelope",
    "Zebra crossing paint dries within an hour",
]


def twin(texts: Sequence[str], seed: int = 1) -> list[str]:
    """As many texts of the same lengths, made of the same words in any order: they have no topics."""
    words = [word for text in texts for word in text.split()]
    Random(seed).shuffle(words)
    drawn = iter(words)
    return [" ".join(next(drawn) for _ in text.split()) for text in texts]


@contextmanager
def project(path: Path, texts: Sequence[str], models: Sequence[Any] = ()) -> Iterator[Memory]:
    """A project with an item for each text, in this order."""
    store = SqliteStore(str(path / "memory.db"), analyst=Analysis())
    memory = Memory(store, finding=LazySearch(lambda: Finder(store, embedders=list(models))))
    for text in texts:
        memory.store_item(ItemDraft(text=text))
    if models:
        memory.finding().reindex("default", lambda *_: None)
    yield memory
    memory.close()


def found(memory: Memory, focus: str | None = None, asked: str = "topic_clusters") -> Findings:
    """The topics of a project; the focus is the id of an item. What was asked before is not computed again."""
    return memory.analysed(topic_clusters, key=asked, focus=focus)[0]


def named(all_found: Findings, name: str) -> list[Finding]:
    """The patterns of one kind."""
    return [one for one in all_found.patterns if one.name == name]
