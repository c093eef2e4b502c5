"""Stop words: the small words of each language, which tell what language a text is in and say nothing else.

Words are written without case and without accents, as a search compares them.
"""

from __future__ import annotations

__all__ = ["STOPWORDS"]

STOPWORDS: dict[str, frozenset[str]] = {
    language: frozenset(words.split())
    for language, words in {
        "english": """a about after again against all also am an and any are aren as at be because been before
            being between both but by can could couldn d did didn do does doesn doing don done down during each
            ever few for from further get gets getting give go goes going got had hadn has hasn have haven
            having he her here hers herself him himself his how i if in into is isn it its itself just let ll m
            many may me might more most much must my myself no nor not now of off on once one only or other our
            ours out over own please re s same shall she should shouldn so some such t than that the their
            theirs them themselves then there these they this those through to too under until up us ve very was
            wasn we were weren what when where which while who whom whose why will with won would wouldn you
            your yours yourself""",
        "german": """ab aber alle allem allen aller alles als also am an ander andere anderen auch auf aus bei
            beim bin bis bist da damit dann das dass dein deine dem den denn der des dessen dich die dies diese
            diesem diesen dieser dieses dir doch dort du durch ein eine einem einen einer eines einige er es
            etwas euch euer fur gegen hab habe haben hat hatte hatten hier hin hinter ich ihm ihn ihnen ihr ihre
            ihrem ihren ihrer im in ins ist ja jede jedem jeden jeder jedes jetzt kann kein keine konnen machen
            man mehr mein meine mich mir mit muss nach nicht nichts noch nun nur ob oder ohne schon sehr sein
            seine seinem seinen seiner selbst sich sie sind so soll sondern um und uns unser unter viel vom von
            vor wann war waren warum was weil welche welchem welchen welcher welches wenn wer werde werden wie
            wieder will wir wird wirst wo wollen wurde wurden zu zum zur zwischen uber""",
        "french": """a ai aient ainsi apres as au aucun aussi autre aux avait avant avec avez avoir avons c ce
            cela ces cet cette ceux chez combien comme comment d dans de depuis des donc dont du elle elles en
            encore entre es est et etaient etait ete etes etre eu eux fait faire ici il ils j je jusque l la le
            les leur leurs lorsque lui m ma mais me meme mes moi mon n ne ni nos notre nous on ont ou par parce
            pas pendant peu plus pour pourquoi qu quand que quel quelle quelles quels qui quoi s sa sans se sera
            ses si son sont sous sur t ta te tes toi ton tous tout toute toutes tres tu un une vers vos votre
            vous y""",
        "spanish": """a al algo alguien algun alguna algunos ante antes asi aunque cada como con contra cual
            cuales cuando cuanto cuantos de del desde donde dos durante e el ella ellas ellos en entre era eran
            eres es esa esas ese eso esos esta estaba estado estamos estan estar estas este esto estos estoy fue
            fueron ha habia han hasta hay he hizo la las le les lo los mas me mi mis mucho muy nada ni no nos
            nosotros o os otra otros para pero por porque pues que quien quienes se sea ser si sido sin sobre
            somos son soy su sus tambien tan te tengo ti tiene tienen todo todos tu tus un una unas uno unos
            usted y ya yo""",
        "italian": """a abbiamo ad agli ai al alla alle allo anche ancora c che chi ci ciascuno cio come con
            contro cosa cosi da dagli dai dal dalla dalle de degli dei del dell della delle dello di dopo dove
            dunque e ed era erano essere fa fatto fra gia gli ha hai hanno ho i il in io l la le lei li lo loro
            lui ma me mi mia mie miei mio molto ne negli nei nel nella nelle no noi non nostra nostro o ogni per
            perche piu po poi prima qual quale quali quando quanti quanto quella quelle quelli quello questa
            queste questi questo qui se sei senza si sia siamo sono sopra sta stato su sua sue sugli sui sul
            sulla suo suoi te ti tra tu tua tuo tutti tutto un una uno vi voi vostro""",
        "portuguese": """a ainda ao aos apos aquela aquele aquilo as ate com como da das de dela dele deles
            depois do dos e ela elas ele eles em entre era eram essa esse esta estao estar estava este estou eu
            foi foram ha isso isto ja la lhe lhes mais mas me mesmo meu meus minha muito na nao nas nem no nos
            nossa nosso num numa o onde os ou para pela pelas pelo pelos por porque qual quais quando quanto
            quantos que quem sao se sem ser sera seu seus so sobre somos sua suas tambem te tem tenho ter teu
            teve tinha todos tu tua tudo um uma umas uns voce voces vos""",
        "dutch": """aan al alles als altijd andere ben bij daar dan dat de der deze die dit doch doen door dus
            een en er ge geen geweest haar had heb hebben heeft hem het hier hij hoe hoeveel hun iemand iets ik
            in is ja je kan kon kunnen maar me meer men met mij mijn moet na naar niet niets nog nu of om omdat
            onder ons onze ook op over reeds te tegen toch toen tot u uit uw van veel voor waar waarom wanneer
            want waren was wat welke werd wezen wie wil worden wordt zal ze zei zelf zich zij zijn zo zonder zou""",
        "swedish": """alla allt att av blev bli blir da de dem den denna deras dess det detta dig din ditt du
            dar efter ej eller en er ett for fran ha hade han hans har henne hennes hon honom hur i icke ingen
            inom inte jag ju kan kunde man med mellan men mig min mina mitt mot mycket nagon nagot nar ni nu och
            om oss pa sa sadan samma sedan sig sin sina sitt sjalv ska skulle som till under upp ut utan vad var
            vara varfor vart vem vi vid vilka vilken vilket ar at""",
        "danish": """ad af alle alt anden at blev blive bliver da de dem den denne der deres det dette dig din
            du efter eller en end er et for fra ham han hans har havde have hende her hos hun hvad hvem hvilken
            hvis hvor hvordan hvorfor hvornar i ikke ind jeg jo kan kunne man mange med meget men mig min mit
            mod ned nar noget nogle nu og ogsa om op os over pa sa selv sig sin sit skal skulle som til ud under
            var ved vi vil ville vor være vaere""",
        "norwegian": """alle at av bare begge ble blei bli blir da de deg dem den denne der deres det dette di
            din disse ditt du eller en enn er et etter for fordi fra ha hadde han hans har hennes her hun hva
            hvem hver hvilke hvilken hvis hvor hvordan hvorfor i ikke inn ja jeg kan kom kunne man mange med meg
            men mer min mitt mot mye na nar noe noen og ogsa om opp oss over pa sa seg selv si sin sine sitt
            skal skulle slik som til ut uten var vart ved vi vil ville være vaere""",
        "finnish": """ei eivat en ennen ettei etta ette han hanen hanet heidan hei hän ja joka jolla jonka jos
            jossa jotka joissa kanssa keiden ken kenen ketka kuin kuinka kuka kun me meidan mika mikä mikaan
            milla milloin mina minka minun mita missa miksi mutta myos ne niiden niin nain nama nuo nyt ole oli
            olin olen olla ollut on ovat se sen sekä seka siina silla sina sinun sitä sita tai tama taman tassa
            te tuo vaan vai vain vaikka voi""",
        "hungarian": """a abban ahhoz ahogy aki akkor alatt amely amikor ami az azert azok azon azt azzal be
            belul benne csak de e egy egyik el ellen elott emlekszik en es ez ezek ezen ezert ezt fel ha hanem
            hiszen hogy hogyan hol honnan is itt ki kell kik lehet lenne lesz leszt majd meg mellett melyik mert
            mi miert mikor milyen mint minden mit most nagyon nekem nem o ok ot ott pedig sem sok szerint tehat
            teljes ugy ugyan ut utan vagy vagyok van vannak vele vissza volt voltak""",
        "romanian": """a acea aceasta aceste acest acesta ai al ale am ar are as asa asta atunci au ca care ce
            cel cele cine cu cum cand cat da dar de decat deci despre din dintre doar dupa e ea ei el ele era
            este eu fara fi fie fost in inca intre isi iar la le lor lui mai mea meu mi mult ne nici nimic noi
            nostru nu o ori pana pe pentru prin sa sau se si sub sunt tot toate toti tu un una unde unei unor
            unui va voi vor vreo""",
        "turkish": """acaba ama ancak bana bazi belki ben beni benim beri bir bircok biri biz bize bizim bu buna
            bunu bunun burada cok cunku da daha de defa degil diye eger en gibi hangi hem hep her herkes hic
            icin ile ise iste kac kadar ki kim kimse mi mu mı nasil ne neden nerede nereye nicin niye o olan
            olarak oldu on ona onlar onu onun orada oysa oyle sana sanki sen seni senin siz sizin su sey tum var
            ve veya ya yani yok zaman""",
        "polish": """aby ale ani bardzo bez bo byc był była było były byl byla bylo byly ci co czy dla do
            dlaczego gdy gdzie go i ich ile im inne ja jak jaki jakie jako je jego jej jest jestem jesli juz
            kazdy kiedy kto ktora ktore ktory ktorych lub ma mam mi mnie moze moj my na nad nam nas nie niego
            nich niz o od on ona one oni ono oraz po pod poniewaz przed przez przy sa sie soba swoj ta tak takie
            tam te tego tej ten to tu tutaj ty tych tylko tym u w we wiec wszystko wy z za ze zeby""",
        "czech": """aby ale ani ano asi az bez bude budu by byl byla byli bylo byt co coz do ho i ja jak jake
            jako je jeho jejich jeji jen jeste ji jich jsem jsme jsou jsi k kam kde kdo kdy kdyz ke ktera ktere
            ktery ma mam me mezi mi mit mne moc mu muj my na nad nam nas ne nebo neni nez nic o od on ona oni
            ono pak po pod podle pro proc proto protoze pred pres pri s se si sve svuj ta tak take tato te tedy
            ten tento to tohoto tom toto tu tuto ty u uz v vam vas ve vice vsak vy z za ze""",
        "indonesian": """ada adalah agar akan aku anda antara apa apakah atau bagaimana bagi bahwa baru beberapa
            begitu belum berapa bisa bukan dalam dan dapat dari dengan di dia hanya harus ia ini itu jadi jika
            juga kalau kami kamu kapan karena kata ke kepada kita lagi lain lalu lebih maka mana masih mengapa
            mereka namun oleh pada para pernah pun saat saja saya sebagai sebuah secara sedang seperti serta
            setelah siapa sini sudah tapi telah tentang tersebut tetapi tidak untuk yaitu yang""",
        "catalan": """a al als amb aquest aquesta aquestes aquests com d de del dels des doncs el ella ells els
            em en encara entre era es esta et ets fins ha han hi i jo l la les li ll m mes meu molt ni no
            nosaltres o on per pero perque quan que qui quin quina s se sense ser seu si sobre son tambe te tot
            tots tu un una uns va vam van vaig vosaltres ja""",
        "vietnamese": """ai bao bi boi cac cai can chi cho co con cua cung da dang dau de den di do duoc gi hay
            khi khong la lai lam len luc ma mot nay neu nguoi nhieu nhu nhung nao o qua ra rang rat sao sau se
            tai the theo thi tren trong tu va vao van vi voi""",
        "russian": """а без более бы был была были было быть в вам вас весь во вот все всего всех вы где да даже
            для до его ее если есть еще же за здесь и из или им их к как какая какие какой ко когда который
            которая которые кто куда ли лишь между меня мне много может можно мои мой моя мы на над надо нас не
            него нее нет ни них но ну о об один он она они оно от очень по под после потом потому почему при про
            с сам свой себя сеичас сколько со так также такой там тебя тем то того тоже только том ты у уже хотя
            чего чей чем что чтобы эта эти это этого этой этом этот я""",
        "greek": """αλλα αν αντι απο αυτα αυτες αυτη αυτο αυτοι αυτος αυτου για γιατι δε δεν εαν ειμαι ειναι
            εκεινος ενα ενας εχει εχω ηταν η θα και κατα κι μα με μετα μη μην μια μου να ο οι ομως οπως οπου
            οταν οτι ου παρα ποια ποιος ποιο ποιοι ποσο που ποτε προς πως σας σε στη στην στο στον στα στις
            στους τα τη την της τι τις το τον του τους των ως""",
        "arabic": """ا الا التي الذي الذين الى ام ان انا انت انه انها او اي اين بعد بل به بين تلك ثم حتى حيث
            خلال ذلك سوف عن على عليه عند فقد في فيه فيها قبل قد كان كانت كل كم كما كيف كيفية لا لان لقد لكن لم
            لماذا لن له لها ليس ما ماذا متى مع من منذ منها نحن نعم هذا هذه هل هم هناك هو هي و وقد ولا يا""",
        "persian": """از است این ان اگر اما با باید بر برای بود به بین پس تا چه چرا چند چون چگونه خود در را شد
            شده ما می من نیست های هر هم همه و ولی که کجا کدام کرد کرده کسی کی یا یک""",
        "hebrew": """אבל או אז אחרי איך איפה אל אלה אלו אם אני אנחנו את אתה אתם ב בין גם ה היא היה היו הוא הם ו
            זאת זה זו יש כי כל כמה כן ל לא לה להם לו למה לפני מ מאוד מה מי מתי על עם עוד של שלה שלו שלי""",
        "hindi": """अपना अपनी अपने आप इन इस इसका इसकी इसके उन उनका उनकी उनके उस उसका उसकी उसके एक और कब कर करता
            करते करना करने कहाँ कहां का कि कितना कितने किस किसी की कुछ के को कोई कौन क्या क्यों गई गए गया जब
            जहाँ जिस जो तक तब तुम तो था थी थे दिया द्वारा नहीं ने पर फिर बहुत भी मुझे में मेरा मेरी मेरे मैं यह
            यहाँ या ये रहा रही रहे लिए लेकिन वह वे सब साथ से हम ही हुआ हुई हुए है हैं हो होता होती होते""",
        "korean": """가장 것 것은 것이 것인가 곳 곳은 그 그것 그것은 그녀 그는 그들 그리고 그런 나 나는 내 내가
            너 누가 누구 누구를 누구에게 누구와 누구의 누구인가 누구인가요 누구지 대한 대해 대해서 된 될 들 등
            때 때문에 또는 또한 를 무슨 무엇 무엇을 무엇이 무엇인가 무엇인가요 무엇인지 및 뭐 뭐가 뭐야 뭘 뭔가
            수 어느 어디 어디서 어디에 어디에서 어디인가 어떠한 어떤 어떻게 언제 언제인가 얼마 얼마나 에 에서
            우리 위해 위한 은 는 을 의 이 이것 인 있나 있는 있다 있었던 있었다 저 저는 제 제가 좀 중 통해 하나
            하는 하다 하였다 한 할 했나 했던 했다 해줘 알려줘 몇""",
    }.items()
}
