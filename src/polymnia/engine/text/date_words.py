"""The words of the calendar in the languages we read dates in, each with the part it plays in a date.

A part is a letter and a value; :mod:`date_grammar` reads a text as a string of such letters. ``~`` before a
word means that it is also an ordinary word or an abbreviation: a month only beside a number or after "in".
"""

from __future__ import annotations

from unicodedata import normalize

__all__ = ["EASTERN", "HANGUL", "PARTICLES", "PHRASES", "WORDS", "Part"]

Part = tuple[str, int]

_MONTHS = """
january januar jänner janvier enero ~janeiro gennaio januari январь января январе styczeń stycznia styczniu ocak
  ~jan ~janv ~ene ~gen ~янв
february februar feber février febrero fevereiro febbraio februari февраль февраля феврале ~luty lutego lutym şubat
  ~feb ~févr ~fév ~fev ~febr ~фев
~march märz ~mars ~marzo março maart ~marca ~март марта марте ~marzec marcu ~mart ~mar ~mär ~мар ~mrz
april avril ~abril aprile апрель апреля апреле kwiecień kwietnia kwietniu nisan ~apr ~avr ~abr ~апр
~may ~mai mayo maio maggio ~mei ~май ~мая ~мае ~maj ~maja ~maju mayıs ~mag
june juni ~juin junio junho giugno июнь июня июне czerwiec czerwca czerwcu haziran ~jun ~giu ~июн
july juli juillet julio julho luglio июль июля июле lipiec lipca lipcu temmuz ~jul ~juil ~lug ~июл
~august août ~agosto augustus август августа августе sierpień sierpnia sierpniu ağustos ~aug ~авг
september septembre septiembre setiembre setembro settembre сентябрь сентября сентябре wrzesień września wrześniu
  eylül ~sep ~sept ~сен ~сент
october oktober octobre octubre outubro ottobre октябрь октября октябре październik października październiku ~ekim
  ~oct ~okt ~ott ~окт
november novembre noviembre novembro ноябрь ноября ноябре listopad listopada listopadzie ~kasım ~nov ~нояб ~ноя
december dezember décembre diciembre dezembro dicembre декабрь декабря декабре grudzień grudnia grudniu aralık ~dec
  ~dez ~déc ~dic ~дек
"""
_WEEKDAYS = """
monday montag lundi lunes lunedì maandag понедельник poniedziałek pazartesi
tuesday tue tues dienstag mardi martes martedì dinsdag вторник wtorek salı
wednesday wed mittwoch mercredi miércoles mercoledì woensdag среда среду środa środę çarşamba
thursday thu thur thurs donnerstag jeudi jueves giovedì donderdag четверг czwartek perşembe
friday fri freitag vendredi viernes venerdì vrijdag пятница пятницу piątek cuma
saturday samstag sonnabend samedi sábado sabato zaterdag суббота субботу sobota sobotę cumartesi
sunday sonntag dimanche domingo domenica zondag воскресенье niedziela niedzielę pazar
"""
_SEASONS = """
spring frühling frühjahr printemps primavera lente voorjaar весна весной весну wiosna wiosną wiosnę ilkbahar
summer sommer été verano verão zomer лето летом lato latem yaz
autumn fall herbst automne otoño outono autunno herfst осень осенью jesień jesienią sonbahar
winter hiver invierno inverno зима зимой зиму zima zimą zimę kış
"""
# Units: 0 hour, 1 day, 2 week, 3 month, 4 year, 5 weekend, 6 quarter, 7 part of a day, 8 night.
_UNITS = """
hour hours hrs minute minutes mins stunde stunden minuten heure heures hora horas minuto minutos ora ore uur час
  часа часов godzin godziny saat
day days tag tage tagen jour jours día días dia dias giorno giorni dag dagen день дня дней dzień dni gün
week weeks wk woche wochen semaine semaines semana semanas settimana settimane weken неделя неделю недели недель
  неделе tydzień tygodnie tygodni tygodniu hafta
month months monat monats monate monaten mois mes meses mês mese mesi maand maanden месяц месяца месяцев месяце
  miesiąc miesiące miesięcy miesiącu ay
year years yr yrs jahr jahre jahren jahres année années ans año años ano anos anno anni jaar jaren год года лет году
  rok roku lat yıl sene
weekend weekends wochenende fine-settimana
quarter quartal trimestre kwartaal
morning afternoon evening mañana matin soir manhã mattina tarde abend vormittag nachmittag
night nacht nuit noche noite notte
"""
_NUMBERS = """
one ein eine einen einem einer un une una um uma uno een один одну jeden jedną bir
two couple zwei deux dos dois duas due twee два две dwa dwie iki
three drei trois tres três tre drie три trzy üç
four vier quatre cuatro quatro quattro четыре cztery dört
five fünf cinq cinco cinque vijf пять pięć beş
six sechs seis sei zes шесть sześć altı
seven sieben siete sete sette zeven семь siedem yedi
eight acht huit ocho oito otto восемь osiem sekiz
nine neun neuf nueve nove negen девять dziewięć dokuz
ten zehn dix diez dez dieci tien десять dziesięć
eleven elf onze undici jedenaście
twelve zwölf douze doce doze dodici twaalf dwanaście
"""
_ORDINALS = """first second third fourth fifth sixth seventh eighth ninth tenth eleventh twelfth thirteenth
fourteenth fifteenth sixteenth seventeenth eighteenth nineteenth twentieth"""

_ROLES: tuple[tuple[str, int, str], ...] = (
    ("r", 10, "today tonight heute aujourd'hui hoy hoje oggi vandaag сегодня dzisiaj dziś bugün"),
    ("r", 9, "yesterday gestern ayer ontem ieri gisteren вчера wczoraj dün"),
    ("H", 9, "hier"),
    ("r", 8, "vorgestern anteayer anteontem avanthier eergisteren позавчера przedwczoraj"),
    ("r", 11, "tomorrow morgen demain amanhã domani завтра jutro yarın"),
    ("r", 12, "übermorgen overmorgen послезавтра pojutrze"),
    (
        "P",
        -1,
        "last previous letzte letzten letzter letztes letztem vorige vorigen voriger voriges vorigem vergangene"
        " vergangenen vergangenes vergangener afgelopen geçen zeszły zeszłym zeszłego zeszłą zeszłej ubiegły"
        " ubiegłym ubiegłego прошлый прошлой прошлом прошлую прошлое прошлого última último ultima ultimo",
    ),
    ("R", -1, "past derniers dernières últimos últimas ultimi ultime последние laatste ostatnie ostatnich"),
    (
        "P",
        0,
        "this diese diesen dieser dieses diesem diesjährigen cette ce cet esta este questa questo deze dit"
        " этот этой этом эту это tym bu",
    ),
    (
        "P",
        1,
        "next coming nächste nächsten nächster nächstes nächstem kommende kommenden kommendes volgende gelecek"
        " следующий следующей следующем следующую następny następnym przyszłym",
    ),
    ("p", -1, "dernier dernière passé passée pasado pasada passado passada scorso scorsa"),
    ("p", 1, "prochain prochaine próximo próxima prossimo prossima"),
    ("g", 0, "ago fa geleden temu назад önce atrás atras"),
    ("v", 0, "vor hace há"),
    ("i", 0, "in im en em w в во"),
    ("O", 0, "on am op le el"),
    (
        "f",
        0,
        "the of at den der des dem die das du de del do da dos della dell les la l d los las il lo nel nella"
        " no na al ao van het на early mid late anfang mitte ende début finales principios",
    ),
    ("s", 0, "since seit depuis desde dal sinds с со od ab"),
    ("b", 0, "before prior avant antes prima voor до przed"),
    ("A", 0, "after nach après después depois dopo после"),
    ("U", 0, "until till bis jusqu jusque hasta até fino tot"),
    ("B", 0, "between zwischen entre tra fra tussen между między"),
    ("F", 0, "from von vom"),
    ("&", 0, "and und et y e и"),
    ("&", 1, "to through thru"),
    (
        "c",
        4,
        "few several paar einige einigen einiger wenigen quelques unos algunos alguns qualche enkele"
        " несколько kilka birkaç",
    ),
    ("1", 1, "a an"),
    ("t", 0, "pm uhr"),
)

PHRASES: dict[str, tuple[Part, ...]] = {
    "day before yesterday": (("r", 8),),
    "day after tomorrow": (("r", 12),),
    "mid-": (("f", 0),),
    "il y a": (("v", 0),),
    "avant-hier": (("r", 8),),
    "avant hier": (("r", 8),),
    "aujourd'hui": (("r", 10),),
    "aujourd’hui": (("r", 10),),
    "l'an dernier": (("r", 39),),
    "l’an dernier": (("r", 39),),
    "l'an passé": (("r", 39),),
    "l’an passé": (("r", 39),),
    "pasado mañana": (("r", 12),),
    "segunda-feira": (("W", 0),),
    "terça-feira": (("W", 1),),
    "quarta-feira": (("W", 2),),
    "quinta-feira": (("W", 3),),
    "sexta-feira": (("W", 4),),
    "fin de semana": (("u", 5),),
    "fim de semana": (("u", 5),),
    "week-end": (("u", 5),),
    "a.m": (("t", 0),),
    "p.m": (("t", 0),),
}
"""Words that belong together, each with its parts."""

# The value of an "r" is a unit and how far away it is: 10 + offset for days, 20 + offset for weeks, 30 for months,
# 40 for years, 50 for weekends. Offsets stay between -3 and 3.
_HANGUL = """
x0 오늘날|r10 오늘|r9 어제|r9 어젯밤|r8 그제|r8 그저께|r8 엊그제|r11 내일|r12 모레|r19 지난주|r19 저번주|r18 지지난주
r20 이번주|r20 금주|r21 다음주
r29 지난달|r29 저번달|r28 지지난달|r30 이번달|r30 이달|r31 다음달|r39 작년|r39 지난해|r38 재작년|r40 올해|r40 금년
r41 내년
r49 지난주말|r50 이번주말|P-1 지난|P-1 저번|P0 이번|P1 다음|u1 일|u2 주|u2 주일|u3 개월|u3 달|u4 년|u4 해|u5 주말
u6 분기|u0 시간|u0 분
d1 한|d2 두|d3 세|d4 네|d5 다섯|d6 여섯|c4 몇
K1 하루|K2 이틀|K3 사흘|K4 나흘|K7 일주일|K10 열흘|K15 보름
g0 전|k0 부터|k0 이후|j0 이전|h0 까지|&0 와|f0 에서
W0 월요일|W1 화요일|W2 수요일|W3 목요일|W4 금요일|W5 토요일|W6 일요일|S0 봄|S1 여름|S2 가을|S3 겨울
"""
_EASTERN = """
r10 今天|r10 今日|r10 今晚|r9 昨天|r9 昨日|r9 昨晚|r9 きのう|r8 前天|r8 一昨日|r8 おととい|r11 明天|r11 明日
r12 后天|r12 後天|r12 明後日|r10 きょう
r19 先週|r18 先々週|r20 今週|r21 来週|r29 先月|r28 先々月|r30 今月|r31 来月|r39 去年|r39 昨年|r38 前年|r38 一昨年
r40 今年|r41 明年|r41 来年
P-1 上|P-1 上个|P-1 上個|P-1 上一个|P0 这|P0 這|P0 这个|P0 這個|P0 本|P1 下|P1 下个|P1 下個|R-1 过去|R-1 過去
R-1 最近|R-1 過去の|R-1 近
u1 天|u1 日|u1 日間|u2 周|u2 週|u2 週間|u2 星期|u2 个星期|u2 個星期|u2 礼拜|u2 个礼拜|u3 个月|u3 個月|u3 か月
u3 ヶ月|u3 ヵ月|u3 カ月|u3 月|u4 年|u4 年間
u5 周末|u5 週末|u6 季度|u0 小时|u0 小時|u0 時間|u0 分钟|u0 分鐘|g0 前|g0 之前|g0 以前|k0 以来
k0 以來|k0 以降|k0 から|k0 以后|k0 以後
j0 より前|h0 まで|h0 为止|U0 直到|s0 自从|s0 自從|s0 自|F0 从|F0 從|&1 到|&1 至|&0 和|f0 的|f0 の|f0 に|f0 在|f0 は
c4 几|c4 幾|c4 数
W0 周一|W1 周二|W2 周三|W3 周四|W4 周五|W5 周六|W6 周日|W6 周天|W0 週一|W1 週二|W2 週三|W3 週四|W4 週五|W5 週六|W6 週日
W0 星期一|W1 星期二|W2 星期三|W3 星期四|W4 星期五|W5 星期六|W6 星期日|W6 星期天|W0 礼拜一|W1 礼拜二|W2 礼拜三
W3 礼拜四|W4 礼拜五|W5 礼拜六|W6 礼拜天
W0 月曜日|W1 火曜日|W2 水曜日|W3 木曜日|W4 金曜日|W5 土曜日|W6 日曜日|W0 月曜|W1 火曜|W2 水曜|W3 木曜|W4 金曜
W5 土曜|W6 日曜
S0 春天|S0 春|S1 夏天|S1 夏|S2 秋天|S2 秋|S3 冬天|S3 冬
d1 一|d2 二|d2 两|d2 兩|d3 三|d4 四|d5 五|d6 六|d7 七|d8 八|d9 九|d10 十
"""

PARTICLES = frozenset({
    "에", "에는", "엔", "에도", "의", "은", "는", "이", "가", "도", "을", "를",
    "초", "말", "중", "경", "쯤", "동안", "간", "에서", "날", "부터는",
})  # fmt: skip
"""What may trail a Korean word of the calendar without ending the date."""


def _entries(table: str) -> dict[str, Part]:
    pairs = (entry.split(" ") for line in table.split("\n") for entry in line.split("|") if entry)
    return {word: (part[0], int(part[1:])) for part, word in pairs}


def _lines(table: str) -> list[str]:
    """The lines of a table; one that is indented goes on with the line before."""
    return table.strip().replace("\n  ", " ").split("\n")


def _words() -> dict[str, Part]:
    found: dict[str, Part] = {}

    def learn(letter: str, value: int, words: str) -> None:
        for word in words.split():
            if word.endswith("~"):
                continue
            if word.startswith("~"):
                found.setdefault(word[1:], ("w" if letter == "m" else letter, value))
            else:
                found.setdefault(word, (letter, value))

    for letter, first, table in (
        ("m", 1, _MONTHS),
        ("W", 0, _WEEKDAYS),
        ("S", 0, _SEASONS),
        ("u", 0, _UNITS),
    ):
        for value, line in enumerate(_lines(table), first):
            learn(letter, value, line)
    for letter, value, words in _ROLES:
        learn(letter, value, words)
    for value, line in enumerate(_lines(_NUMBERS), 1):
        learn("d", value, line)
    for value, word in enumerate(_ORDINALS.split(), 1):
        found[word] = ("e", value)
    # A tilde or an accent is often left out in typing; "once" and the like mean something else without it.
    for word, part in list(found.items()):
        if len(word) > 3 and word[0] < "ʰ" and not word.isascii():
            bare = "".join(c for c in normalize("NFD", word) if c < "\u0300" or c > "\u036f")
            if bare not in ("once", "passe", "mars", "manana"):
                found.setdefault(bare, part)
    return found


WORDS = _words()
HANGUL = _entries(_HANGUL)
EASTERN = _entries(_EASTERN)
