"""Opposites: words that exclude each other."""

from __future__ import annotations

from functools import cache

from polymnia.engine.duplicates.roots import HANGUL
from polymnia.engine.search.languages import fold, stem

__all__ = ["excludes"]

_PREFIXES = frozenset({
    "un", "in", "im", "il", "ir", "dis", "non", "de", "a", "anti", "mis", "counter", "re", "ab", "des", "ne", "не",
    "без", "不", "非", "無", "无", "未", "反", "비", "불", "부", "무", "미", "반",
})  # fmt: skip
"""What turns a word into its opposite, or at least into another word."""

# A line for each matter, its sides between bars; one that is indented goes on with the line before.
_TABLE = """
will shall must|may might
before earlier prior|after later following since
more increase rise rose risen grew grown grow gain up higher raise climb jump surge soar upward improve expand|less
  fewer decrease fall fell fallen drop shrink lose down lower decline reduce cut plunge sink downward worsen
on enable activate start begin launch open resume|off disable deactivate stop end finish close shut halt cease
  pause suspend
in inside indoor indoors within enter into import incoming input join arrive|out outside outdoor outdoors leave
  exit export outgoing output quit depart
over above top upstairs exceed|under below beneath bottom downstairs underneath
always everyone everybody everything all every each|never none nobody nothing sometimes rarely seldom some few
first initial begin|last final
left|right
east eastern|west western
north northern|south southern
front ahead|back rear behind
buy bought purchase|sell sold
win won victory beat|lose lost defeat
pass passed succeed success|fail failed failure
accept approve agree allow permit confirm accepted|reject refuse decline deny forbid ban prohibit disagree oppose
  rejected
love like enjoy prefer|hate dislike detest avoid
good great excellent best better|bad poor terrible worst worse
big large huge tall|small little tiny short
hot warm|cold cool
new young|old ancient
fast quick rapid quickly|slow slowly
early|late
morning|noon afternoon|evening|night midnight
hundred|thousand|million|billion|trillion
hour hourly|day daily|week weekly|month monthly|quarter quarterly|year yearly annual
likely probable|unlikely improbable
teach|learn
lend|borrow
yes|no
encrypt|decrypt
login|logout
install|uninstall
employer|employee
http|https
lock|unlock
puppy|dog
kitten|cat
girl|woman
boy|man
second|third|fourth|fifth
student|teacher
parent|child
ascending|descending
plus|minus
stable|unstable beta alpha
high|low
long|short brief
heavy|light
strong|weak
hard difficult|easy simple soft
rich|poor
happy glad|sad unhappy angry
true correct right|false wrong incorrect
full|empty
day daytime|night
summer|winter
push|pull
add include insert attach append|remove exclude delete detach drop
connect lock bind|disconnect unlock unbind
create build make|destroy demolish
remember|forget
send give lend|receive take borrow
public|private
male man boy father husband brother son uncle king mr|female woman girl mother wife sister daughter aunt queen mrs ms
maximum max most|minimum min least
upload|download
read|write
online|offline
internal|external
minor|major
synchronous sync|asynchronous async
alive live|dead die
present|absent
is are am ist sind est sont es está son есть|was were war waren était étaient era estaba fue был была были|will
  shall wird werden sera será будет будут
must required mandatory muss doit debe должен|optional may might kann peut puede может
can|cannot
asleep sleep|awake wake
clean|dirty
wet|dry
deep|shallow
wide broad|narrow
thick|thin
black|white
married|divorced single
guilty|innocent
cheap|expensive
safe|dangerous
war|peace
ally friend|enemy
import|export
server|client
input|output
horizontal|vertical
temporary|permanent
manual|automatic
breakfast|dinner lunch
same equal identical|different
stand|sit lie
dev development staging|production prod
vor vorher früher|nach nachher später danach
mehr steigen gestiegen steigt erhöhen wachsen höher zunehmen|weniger sinken gesunken sinkt senken fallen niedriger
  abnehmen
an öffnen beginnen anfangen starten offen|aus schließen enden aufhören stoppen geschlossen
gut besser|schlecht schlechter
groß|klein
warm heiß|kalt
neu jung|alt
immer alle|nie manchmal keine
links|rechts
mag liebt liebe|hasst hasse
kaufen kauft gekauft|verkaufen verkauft
gewinnen gewann gewonnen|verlieren verlor verloren
richtig wahr|falsch
mann vater bruder|frau mutter schwester
avant|après
plus augmenter augmente hausse monter monte|moins diminuer diminue baisse baisser descendre
ouvrir ouvert ouvre commencer commence début|fermer fermé ferme finir finit fin arrêter
bon bien meilleur|mauvais mal pire
grand|petit
chaud|froid
nouveau jeune|vieux ancien
toujours tous|jamais parfois
gauche|droite
aime adore|déteste
acheter achète acheté|vendre vend vendu
gagner gagne gagné|perdre perd perdu
vrai|faux
homme père frère|femme mère sœur
antes|después
más aumentar aumenta aumentó sube subió subir crecer|menos disminuir disminuye disminuyó baja bajó bajar reducir
abrir abre abierto abrió empezar empieza|cerrar cierra cerrado cerró terminar termina
bueno bien mejor|malo mal peor
grande|pequeño
caliente|frío
nuevo joven|viejo antiguo
siempre todos|nunca
izquierda|derecha
ama gusta encanta|odia
comprar compra compró|vender vende vendió
ganar gana ganó|perder pierde perdió
verdadero|falso
hombre padre hermano|mujer madre hermana
до перед раньше|после позже
больше вырос растет рост увеличить увеличился повысить выше|меньше упал падает падение снизить снизился уменьшить ниже
открыт открыть открыл открыли начать начал включить|закрыт закрыть закрыл закрыли закончить закончил выключить
хороший хорошо лучше|плохой плохо хуже
большой|маленький
горячий теплый|холодный
новый молодой|старый
всегда все|никогда иногда
лево левый слева|право правый справа
любит люблю нравится|ненавидит ненавижу
купить купил|продать продал
выиграл победил|проиграл
правда|ложь
мужчина отец брат|женщина мать сестра
قبل|بعد
زاد ارتفع ازداد يرتفع اكثر|انخفض قل تراجع ينخفض اقل
فتح مفتوح يفتح بدا|اغلق مغلق يغلق انتهى
جيد|سيئ
كبير|صغير
حار|بارد
جديد|قديم
دائما|ابدا
يحب احب|يكره اكره
اشترى|باع
فاز|خسر
전 이전 먼저|후 이후 나중
증가 상승 늘었다 늘어 올랐다 올라 높|감소 하락 줄었다 줄어 내렸다 내려 낮
열 열었다 열린 시작|닫 닫았다 닫힌 종료 끝
켜 켰다|꺼 껐다
좋 좋아 좋은|싫 싫어 나쁜 나쁘
크 큰|작 작은
덥 더운 뜨거|춥 추운 차가
새 새로운|오래 오래된
항상 모두 모든|가끔
왼쪽|오른쪽
사 샀다 구매 구입|팔 팔았다 판매
이기 이겼다 승리|지 졌다 패배
성공|실패
찬성 동의 허용 승인|반대 금지 거부 거절
남자 남성 소년 아버지|여자 여성 소녀 어머니
추가 포함|삭제 제거 제외
활성화|비활성화
아침 오전|저녁 오후 밤
합격|불합격
참|거짓
가능|불가능
여름|겨울
"""


@cache
def _places() -> dict[str, frozenset[tuple[int, int]]]:
    """Folded words and the stems of English ones, each with the lines and sides it stands on."""
    found: dict[str, set[tuple[int, int]]] = {}
    for line, entry in enumerate(_TABLE.strip().replace("\n  ", " ").split("\n")):
        for side, words in enumerate(entry.split("|")):
            for word in words.split():
                found.setdefault(fold(word), set()).add((line, side))
                if word.isascii():
                    found.setdefault(stem(word, "english"), set()).add((line, side))
    return {word: frozenset(places) for word, places in found.items()}


def _of(said: str, key: str) -> frozenset[tuple[int, int]]:
    table = _places()
    found = table.get(said) or table.get(key)
    if found is None and HANGUL.match(said):
        # What follows a Korean noun makes a verb of it, and grammar of that.
        found = next((table[said[:size]] for size in (4, 3, 2) if said[:size] in table), None)
    return found or frozenset()


def excludes(a: tuple[str, str], b: tuple[str, str]) -> bool:
    """Whether two words exclude each other, each given folded and as its stem."""
    here, there = _of(*a), _of(*b)
    if here and there:
        sides: dict[int, set[int]] = {}
        for line, side in there:
            sides.setdefault(line, set()).add(side)
        if any(line in sides and side not in sides[line] for line, side in here):
            return True
    short, long = sorted((a[0], b[0]), key=len)
    return len(short) > 1 and long.endswith(short) and long[: -len(short)] in _PREFIXES
