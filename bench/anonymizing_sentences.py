"""Sentences with personal data marked [[kind:text]], and sentences without any; whom and what they name is made up.

What the rules missed of SEEN was mended, so it only shows what still holds. HELD_OUT was written after the rules; since
then only days before the word of birth were mended, of which it had one.
"""

from __future__ import annotations

__all__ = ["HELD_OUT", "SEEN"]

SEEN = """
Please ask [[person:Oluwaseun Adeyemi]] whether the crates have cleared customs.
[[person:Priya Raghunathan]] rotated the certificates last night.
The lease was signed by [[person:Margaret Thornbury]] and her brother [[person:Colin]].
Ring [[phone:+44 20 7946 0958]] if the boiler trips again.
Our plumber, [[person:Dmitri Volkov]], lives at [[address:48 Juniper Hollow Road]].
Ship the replacement to [[address:1290 Kestrel Avenue, Apt 4B, Boise, ID 83702]].
[[person:Siobhan O'Malley]] was born on [[birth date:17 August 1983]] in a small harbour town.
Wire the deposit to [[iban:GB29 NWBK 6016 1331 9268 19]] before Friday.
The login came from [[ip:203.0.113.77]] at four in the morning.
The kiosk answers on [[ip:2001:db8:85a3::8a2e:370:7334]] only.
Ping [[handle:@quietriver_88]] in the channel when the build is green.
Her address is [[mail:m.thornbury+orders@fernhill-bakery.example]] for invoices.
Clone it from https://[[user:deploybot:hunter2]]@git.example.org/tools.git and run make.
Charge the card [[card:4539 1488 0343 6467]] once the goods arrive.
The scanner reports itself as [[mac:00:1B:44:11:3A:B7]].
Dr. [[person:Anneliese Brandt]] prefers the earlier slot.
Yesterday [[person:Tomasz]] told me that the pump was noisy.
Contact: [[person:Fatima Al-Sayed]], [[phone:(415) 555-0132]], [[mail:fatima@lumen.example]].
My sister [[person:Ingrid]] moved to [[address:7 Old Mill Lane, Whitby]] in spring.
Patient DOB: [[birth date:03/11/1976]], allergic to penicillin.
[[person:Hiroshi Tanaka]] and [[person:Mei-Ling Chu]] will present the findings.
The courier left it with [[person:Mr. Okonkwo]] next door.
Send feedback to [[handle:@bakehouse.nora]] rather than to the shop.
Reach the night desk at [[phone:1-800-555-0199]] at any hour.
Payment went to [[iban:DE89370400440532013000]] by mistake.
Signed, [[person:Eleanor Whitcombe]]
[[person:Kwame Mensah]] <[[mail:kwame.mensah@harbour.example]]> replied within an hour.
The visitor badge shows [[person:Rafael Quintero]] and nothing else.
He was born [[birth date:1991-02-28]] and has worked here since.
P.S. write to [[address:P.O. Box 4417]] if the gate is closed.
담당은 [[person:김서연]] 대리이고 연락처는 [[phone:010-4821-7735]]입니다.
[[person:박준호]] 씨가 어제 창고 열쇠를 두고 갔습니다.
[[person:이하은]]은 다음 주에 발표를 맡는다.
배송지는 [[address:서울특별시 마포구 양화로 45]]입니다.
[[person:최민재]] 교수에게 [[mail:minjae.choi@example.ac.kr]]로 보내 주세요.
고객 생년월일은 [[birth date:1988년 4월 12일]]로 확인되었다.
환불 계좌 명의는 [[person:정다은]]이며 전화는 [[phone:02-555-0147]]이다.
접속 주소 [[ip:198.51.100.23]]에서 실패가 다섯 번 있었다.
[[person:한지우]]와 [[person:윤도현]]이 함께 점검했다.
문의는 [[handle:@haneul_studio]] 계정으로 받습니다.
주소가 [[address:경기도 성남시 분당구 판교역로 166]]로 바뀌었다.
[[person:오세훈]] 팀장은 [[birth date:1979년]]생이다.
부산 [[address:해운대구 우동 1418]]에 있는 작업실을 비웠다.
주민등록번호 [[number:880412-2345678]]는 지워야 한다.
[[person:Jürgen Hallstein]] hat den Vertrag gestern unterschrieben.
Bitte an [[address:Lindenstraße 12, 10969 Berlin]] liefern.
Frau [[person:Özdemir]] ist unter [[phone:030 5550147]] zu erreichen.
[[person:Katharina Weißmüller]], geboren am [[birth date:9. Mai 1967]], wohnt nebenan.
Die Miete geht auf [[iban:AT61 1904 3002 3457 3201]].
[[person:Amélie Rousseau]] habite au [[address:14 rue des Tilleuls, 69003 Lyon]].
Monsieur [[person:Lefèvre]] est né le [[birth date:21 octobre 1959]] à Nantes.
Appelez le [[phone:06 12 34 56 78]] après dix-huit heures.
Le virement vers [[iban:FR14 2004 1010 0505 0001 3M02 606]] a échoué.
[[person:Benoît]] a dit que la réunion est reportée.
[[person:Lucía Fernández]] vive en la [[address:Calle de los Olivos, 23]].
El técnico [[person:Joaquín Peralta]] llega a las nueve; su móvil es [[phone:+34 612 345 678]].
La clienta nació el [[birth date:5 de julio de 1994]].
[[person:Giulia Marchetti]] abita in [[address:Via Garibaldi 8]], al terzo piano.
Il signor [[person:Bianchi]] ha chiamato due volte.
[[person:Thiago Albuquerque]] mudou-se para a [[address:Rua das Acácias, 310]].
[[person:Sanne de Vries]] woont op de [[address:Prinsengracht 263]] in Amsterdam.
Bel [[phone:+31 6 12345678]] voor de sleutel.
[[person:Linnea Ekström]] bor på [[address:Storgatan 15]].
[[person:佐藤]]さんは来週大阪に出張します。
荷物は[[address:東京都渋谷区神南1-19-11]]に届けてください。
[[person:田中美咲]]さんの電話番号は[[phone:090-1234-5678]]です。
彼女の生年月日は[[birth date:1995年6月3日]]です。
请联系[[person:王建国]]先生,电话[[phone:+86 138 0013 8000]]。
包裹寄到[[address:上海市静安区南京西路1266号]]。
[[person:李晓梅]]女士明天来签合同。
[[person:Анна Петрова]] передала ключи соседке.
Адрес: [[address:ул. Садовая, д. 14]], домофон не работает.
Он родился [[birth date:12.04.1980]] в Казани.
[[person:Zofia Wiśniewska]] mieszka przy [[address:ul. Kwiatowa 7]].
Przelew na [[iban:PL61 1090 1014 0000 0712 1981 2874]] dotarł wczoraj.
[[person:Nguyễn Thị Lan]] sẽ gọi lại vào buổi chiều.
[[person:Ayşe Yılmaz]] toplantıyı erteledi.
The Gangnam District office opens at nine.
강남구 주민센터는 아홉 시에 연다.
노원구와 성동구의 예산이 늘었다.
수성구는 올해 도서관을 두 곳 더 짓는다.
The train from Victoria Station to Lincoln County was late.
We tagged release 10.4.2.1 and moved on.
The order number is 4471 2290 1183 and it ships on Monday.
PostgreSQL listens on port 5432 and Redis on 6379.
Use @property for the getter and @dataclass for the rest.
Install @types/node before you compile.
The quarterly report covers 2021, 2022 and 2023.
Fold the dough at 10:30:45 and again at noon.
ISO 8601 and RFC 3339 agree on this point.
The Charlotte Street bridge closes in March.
Jenkins failed again after the Gradle upgrade.
Python and Java disagree about integer division.
이번 분기 매출은 전년 대비 12% 늘었다.
정상화 방안은 다음 회의에서 논의한다.
서비스 안정성이 크게 좋아졌다.
The museum was founded in 1887 by the city.
Set the timeout to 00:30:00 and the limit to 4096.
Invoice 2024-000123 is overdue by 14 days.
std::vector is faster here than std::list.
The loopback address 127.0.0.1 is enough for tests.
Die Sitzung beginnt um neun Uhr im großen Saal.
Le serveur redémarre toutes les nuits.
El informe se publica cada lunes.
Mount Fuji can be seen from the office.
Paris in April is crowded.
The Nobel Committee meets in Oslo.
Model A123-4567-890 replaces model A122-4567-890.
Room 204 is free until three.
The commit 3f2a91bc fixes the leak.
회의실 예약은 내일 오전까지 가능합니다.
전문가 의견을 더 들어 보기로 했다.
The keys are with [[person:Philippa Garland]] until Thursday.
[[person:Bartholomew Quayle]] complained about the noise again.
Could you forward this to [[person:Nomvula Dlamini]]?
Minutes taken by [[person:Leopold Ashdown]], checked by [[person:Yusra Haddad]].
Ms. [[person:Vandermeer]] will chair the panel.
I had lunch with [[person:Gideon]] and [[person:Tabea]] yesterday.
[[person:Caspian Holt]] thinks the estimate is too low.
Her mobile is [[phone:+1 646-555-0173]], landline [[phone:212.555.0148]].
The nurse can be paged on [[phone:+61 2 5550 1234]].
Deliver to [[address:22 Saltmarsh Crescent, Whitstable, CT5 4AB]].
They moved from [[address:903 N Alder Street]] to [[address:5 Quarry Row]].
Our office: [[address:350 Fifth Avenue, Suite 3300, New York, NY 10118]].
Date of birth [[birth date:1969-12-30]], blood type B.
[[person:Ophelia Marsh]]'s birthday is [[birth date:June 2, 2001]].
Refund to [[iban:NL91 ABNA 0417 1643 00]] please.
Her bank gave [[iban:ES9121000418450200051332]] as the account.
Requests from [[ip:192.0.2.146]] and [[ip:fe80::1ff:fe23:4567:890a]] are blocked.
Thanks to [[handle:@marlowe]] for the patch.
Follow [[handle:@salt.and.cedar]] for updates.
Write to [[mail:ophelia_marsh@quarry.example.co.uk]] instead.
The printer has the address [[mac:3c-5a-b4-01-23-45]].
회의록은 [[person:강태오]] 사원이 정리했습니다.
[[person:신유진]] 님께 견적서를 보냈다.
어제 [[person:배수현]]이 퇴사했다.
[[person:임지훈]]의 자리는 3층이다.
연락처: [[phone:031-555-0188]], 팩스는 없음.
휴대폰 [[phone:010.2233.4455]]로 문자 주세요.
택배는 [[address:부산광역시 수영구 광안해변로 219]]로 보내라.
[[address:대전 유성구 대학로 99]]에 새 사무실을 얻었다.
아이 생일은 [[birth date:2015년 11월 7일]]이다.
[[person:서지안]]과 [[person:문채원]]은 같은 조다.
담당자: [[person:조은별]]
[[person:Ottilie Krämer]] leitet das Archiv seit Januar.
Herr [[person:Nowakowski]] wohnt in der [[address:Goethestr. 5]].
Rückfragen unter [[phone:+49 89 5550123]].
Sie ist am [[birth date:14.02.1990]] geboren.
[[person:Clothilde Mercier]] quitte l'équipe vendredi.
Livraison au [[address:3 bis avenue Jean Jaurès, 31000 Toulouse]].
Mme [[person:Delacroix]] est née le [[birth date:2 mai 1971]].
[[person:Rodrigo Salvatierra]] envió el informe.
Nuestra oficina está en [[address:Avenida Libertador 1450]].
[[person:Federica Donati]] arriva domani; tel. [[phone:+39 347 555 0182]].
[[person:Heloísa Tavares]] nasceu em [[birth date:30 de março de 1985]].
[[person:Jeroen Bakker]] heeft de sleutel van [[address:Kerkstraat 41]].
[[person:Astrid Lindholm]] ringer i morgon.
[[person:鈴木]]様からお電話がありました。
お届け先は[[address:大阪府大阪市北区梅田3-1-3]]です。
[[person:陈志强]]经理下周出差。
[[person:Игорь Соколов]] подписал акт.
[[person:Małgorzata Zielińska]] dzwoniła rano.
송파구와 강서구에 지점이 있다.
달서구 도서관은 월요일에 쉰다.
The Camden borough council met at Alexandra Palace.
Build 7.12.0.3 of version 7.12.0.3 is out.
Ticket 8842-1190 was closed as a duplicate.
Kubernetes evicts pods when Prometheus alerts fire.
The ratio 16:9:1 is not a time.
Set max_connections to 20000000 and restart.
Boston and Lima share a time zone in winter.
운영비는 상반기보다 줄었다.
고객 문의가 두 배로 늘어 인력을 충원한다.
The Spring release ships with Hibernate and Tomcat.
Chapter 12 covers Newton and Euler methods.
Die Brücke wird im Sommer saniert.
Le train de 18 h 45 est supprimé.
La reunión empieza a las 10:15.
SKU 4006381333931 is out of stock.
At 1600 Hz the amplifier clips.
""".strip().splitlines()

HELD_OUT = """
Please route the contract through [[person:Cordelia Finch]] first.
[[person:Thaddeus Okafor]] fixed the flaky test on Sunday.
The complaint by [[person:Ludmilla Sorensen]] was settled.
We met [[person:Ekow]] at the fair.
[[person:Marguerite Dubois-Lang]] asked for a copy.
Assigned to [[person:Jedediah Crane]]; reviewer is [[person:Rukmini Iyer]].
Miss [[person:Halloran]] collects the parcel.
Call [[phone:+353 1 555 0136]] or [[phone:(020) 7946 0321]].
Our new place is [[address:61 Harrow Mews, London, NW1 4RT]].
Meet me at [[address:2210 W Burnside Road]].
The child was born [[birth date:8 March 2019]].
DOB [[birth date:11.09.1948]] per the passport.
Transfer it to [[iban:BE68 5390 0754 7034]].
SSH in from [[ip:198.18.4.9]] only.
Credit goes to [[handle:@tinkerbird]] and [[handle:@oak_and_iron]].
Contact [[mail:c.finch@larkspur.example]].
[[person:권나영]] 선생님은 휴가 중입니다.
어제 [[person:송민호]]가 발표했다.
[[person:유재석]] 씨 전화는 [[phone:010-9988-1122]]예요.
새 주소는 [[address:인천광역시 연수구 센트럴로 123]]입니다.
[[person:홍길동]]에게 [[birth date:1975년 5월 5일]] 생일 축하 카드를 보냈다.
[[person:안서윤]]이 재고를 확인했다.
[[person:Wilhelmine Vogt]] kommt später.
Lieferung an [[address:Am Ring 3]] oder [[address:Rosenweg 22b, 80331 München]].
[[person:Apolline Garnier]] a validé le devis.
Rendez-vous au [[address:27 boulevard Voltaire, 75011 Paris]].
[[person:Nerea Ibarguren]] firmó el acta.
[[person:Ginevra Colombo]] è nata il [[birth date:3 aprile 1992]].
[[person:Sjoerd Hoekstra]] belt morgen terug.
[[person:山本]]さんに確認してください。
[[person:张伟]]先生的电话是[[phone:+86 139 1234 5678]]。
[[person:Наталья Белова]] заболела.
We run Apache Kafka beside Google Cloud.
The team flew from San Francisco to Hong Kong.
Visual Studio crashes when Microsoft Teams starts.
React Native and Spring Boot need an upgrade.
Amazon Web Services had an outage in North Virginia.
The Raspberry Pi sits behind the router.
Monte Carlo sampling beats Gaussian quadrature here.
The Great Wall is long.
Bayes and Markov chains are on the syllabus.
광진구 보건소는 토요일에 쉰다.
이번 주 일정은 수요일에 확정된다.
조직 개편안을 다음 달에 발표한다.
The Elm Grove branch was merged into main.
Order 5500-1234-9 contains 3 items.
Use port 8080 on host 0.0.0.0.
Version 3.11.2.0 fixes it.
Der Bericht erscheint im Herbst.
La facture est payée.
The Hudson River freezes rarely.
Google Maps shows Golden Gate Park.
""".strip().splitlines()
