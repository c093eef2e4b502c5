"""General words: words of content that say nothing of what a text is about, in a few languages."""

from __future__ import annotations

__all__ = ["GENERAL"]

_GENERAL = """
    new use used using uses make makes made making work works working need needs needed want wants way ways
    thing things time times day days year years people person say says said see seen know known like likes liked
    take takes taken come comes came look looks looking good better best great first second third last next also
    well even still back two three four five part lot kind really actually however therefore example examples
    etc e.g i.e via per without within since another every many several different same important able possible
    likely maybe sure yes today tomorrow yesterday week month place think thought feel feels something anything
    everything someone anyone nothing always never often usually sometimes although though instead whether
    around across along already almost among show shows shown find found try tried put set keep call called ask
    asked tell told help start started end ended provide provides provided include includes including based
    follow follows following describe describes document documents text page note notes file item items written
    com org net www neu neue neuen gut viele heute morgen gestern jahr jahre tag tage zeit gibt gab immer geht
    sagt nuevo nueva bueno hacer hace ano anos dia dias tiempo cada puede ser siendo tener tiene nouveau
    nouvelle faire fait annee jour temps peut etre avoir plus tout tous toute comme 오늘 내일 어제 우리 저희
    그것 이것 경우 때문 정도 사람 시간 이번 다음 지난 모든 가장 매우 다시 함께 통해 위해 대해 관련 부분 이후
    이전 현재 사용 필요 가능 내용 생각 하나 여러 이상 이하 중요 그리고 하지만 그러나 또한 그래서 따라서 그런데
    씨와 씨는 씨가 씨의 달에 일에 월에 년에 때는 것은 것이 것을 수가 수는 등을 등의 등이 안에 밖에 위에 뒤에
    앞에 중에 그는 그가 그의 나는 내가 너는 이를 이는 이와 그를
"""

GENERAL = frozenset(_GENERAL.split())
"""In small letters and without accents."""
