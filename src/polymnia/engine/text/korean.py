"""Korean: the particles and endings of its words, and the noun before them."""

from __future__ import annotations

import re

PARTICLES = tuple(
    """
    만으로는 으로부터 에게서는 만으로 으로는 으로써 으로서 로부터 에서는 에서도 에게는 까지는 부터는 이라는 이라고
    이라서 에게서 에서의 께서는 에게 에서 으로 까지 부터 처럼 보다 마다 조차 밖에 하고 이랑 라는 라고 이나 이란 께서
    한테 에는 에도 로는 로서 로써
    들은 들이 들을 들의 은 는 이 가 을 를 과 와 의 에 도 만 로
    """.split()
)
"""What hangs on a noun, the longest first."""

VERB_ENDINGS = tuple("했습니다 입니다 합니다 됩니다 습니다 하는 하여 해서 했다 한다 된다 되는 이다 이며 이고".split())
"""What makes a verb of a noun."""

HANGUL = re.compile("[\uac00-\ud7af]+")
"""A run of syllables."""

GRAMMAR = re.compile(
    "(?<=..)(?:(?:들|이|에|으로|에게|에서)?(?:은|는|도|만|의)|들?(?:이|가|을|를|과|와|에게|로)|이?(?:나|란|라는|라고|며|고|다|던)"
    "|에|에서|에게서|으로|으로써|로써|로서|으로서|까지|부터|처럼|보다|마다|조차|밖에|하고|이랑|랑|으로부터|로부터"
    "|이었던|였던|인가|입니다|했던|하는|하여|한|된|되는|하다|했다|하며)$"
)
"""What is likely grammar at the end of a word: more than PARTICLES, since a search only weighs it less."""

SHORT_NOUN = re.compile("[\uac00-\ud7af][은는이가을를에의도만로와과]$")
"""A noun of one syllable with its particle."""

_ENDING = re.compile(f"(?<=..)(?:{'|'.join((*PARTICLES, *VERB_ENDINGS))})$")
_AFTER_CONSONANT, _AFTER_VOWEL, _RIEUL = frozenset("은이을과"), frozenset("는가를와로"), 8


def noun(word: str) -> str:
    """A word without its particle or ending, where it has one.

    A short particle goes by the sound before it: 이 은 을 과 follow a final consonant, 가 는 를 와 a vowel, 로 a vowel
    or ㄹ; so 네이버페이 has none.
    """
    ending = _ENDING.search(word)
    if ending is None:
        return word
    root, particle = word[: ending.start()], ending.group()
    final = (ord(root[-1]) - 0xAC00) % 28 if "가" <= root[-1] <= "힣" else None
    if root[-1].isdigit() and particle == "만":
        return word  # 21만: two hundred thousand
    if particle in _AFTER_CONSONANT and not final:
        return word
    if particle in _AFTER_VOWEL and final and not (particle == "로" and final == _RIEUL):
        return word
    return root
