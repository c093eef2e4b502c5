"""Given names: enough of them, in many languages, to know a person's name from a place's or a product's."""

from __future__ import annotations

__all__ = ["GIVEN", "WORDS_TOO"]

GIVEN = frozenset(
    """
    aaron abby abdul abdullah abel abigail abraham ada adam adela adele adelina adrian adriana adrien agatha agnes
    agnieszka ahmad ahmed aida aiden aiko aisha akira alain alan alana alba albert alberto alejandra alejandro
    aleksander aleksandr aleksandra alena alessandra alessandro alessia alex alexander alexandra alexandre alexis
    alfonso alfred alfredo ali alice alicia alina aline alisha alison allan allen allison alma alvaro alyssa amadou
    amanda amara amber amelia amelie amin amina amir amit amy ana anastasia anders andre andrea andreas andrei
    andrej andres andrew andrey andy angel angela angelica angelina angelo angus anil anita anja anjali ann anna
    annabel anne anneke annette annie ansel anthony antoine anton antonia antonio anya april arjun armando arnaud
    arne arnold arthur artur arturo arun asha ashley asma astrid audrey august aurelie aurora ava axel ayesha ayumi
    barbara barry bart beata beatrice beatriz becky belinda ben benedict benjamin benoit bernadette bernard bernd
    bernhard bert beth bethany betty beverly bianca bilal bill billy birgit bjorn bob bobby bogdan boris brad
    bradley brandon brenda brendan brent brett brian bridget brigitte bruce bruno bryan caitlin caleb calvin camila
    camille carina carl carla carlo carlos carmen carol carolina caroline carolyn carrie carsten casey catalina
    catherine cecile cecilia cedric celine cesar chantal charles charlie charlotte chelsea chen chiara chidi chinedu
    chloe chris christa christian christiane christina christine christoph christophe christopher cindy claire clara
    clarence clarissa claude claudia claudio claus clemens clement cody colin colleen connie connor conrad constance
    corinna cory courtney craig cristian cristina crystal curtis cynthia dagmar daisuke daisy dale damian damien dan
    dana daniel daniela daniele danielle danny daphne darren dave david dawn dean deborah debra deepak denis denise
    dennis derek desmond diana diane diego dieter dima dimitri dina dirk dmitri dmitry dolores dominic dominik
    dominique donald donna dora doris dorothy doug douglas duncan dustin dylan eddie edgar edith edmund eduardo
    edward edwin eileen ekaterina elaine eleanor elena eli elias elif elijah elisa elisabeth elise eliza elizabeth
    ella ellen elliot elmar elsa elvira emanuel emeka emil emilia emilie emilio emily emma emmanuel enrico enrique
    eric erica erik erika erin ernest ernesto erwin esra esteban esther ethan etienne eugene eugenia eva evan eve
    evelyn fabian fabio fabrice faith farah fatima fatou federica federico felicia felix fernanda fernando filip
    fiona flora florence florian frances francesca francesco francine francis francisco franck francois francoise
    frank franz fred freddie frederic frederick frederik frieda friedrich fritz gabriel gabriela gabriele gabrielle
    gail gareth gary gavin geoff geoffrey george georgia georgina gerald gerard gerhard gerardo gianluca gianni
    gilbert gilles gina giorgio giovanni giulia giuseppe gladys glen glenn gloria gonzalo gordon grace graham greg
    gregor gregory greta guido guillaume guillermo gunther gus gustav gustavo guy gwen hakim hal hamza hana hank
    hanna hannah hanne hans harald harold harriet harry haruka haruki harvey hasan hassan heather hector heidi heike
    heiko heinrich heinz helen helena helene helga helmut hendrik henri henrik henry herbert herman hermann hilary
    hilda hiroko hiroshi holger holly horst howard hubert hugh hugo hussein ian ibrahim ida ignacio igor ike ilse
    imran ines inga ingrid irena irene irina iris irma isaac isabel isabella isabelle isaiah ismail ivan ivana ivy
    jack jackie jacob jacqueline jacques jade jaime jakob jakub james jamie jan jana jane janet janice janine jared
    jasmin jasmine jason javier jay jean jeanne jeff jeffrey jenna jennifer jenny jens jeremy jerome jerry jesper
    jesse jessica jesus jill jim jimmy jin joachim joan joana joanna joanne joao jochen joe joel joerg johan johann
    johanna johannes john johnny jolene jon jonas jonathan jordan jorge jose josef josefina joseph josephine josh
    joshua joy joyce juan juana juanita judith judy julia julian juliana julie julien juliet julio julius jun june
    junko jurgen justin justine kaito kamal karen karim karin karina karl karla karolina karsten kate katerina
    katharina katherine kathleen kathrin kathryn kathy katia katie katja katrin kaylee kazuo keiko keith kelly ken
    kenji kenneth kent kerry kevin khadija khalid kim kimberly kirk kirsten klaus konrad konstantin krista kristen
    kristian kristin kristina krzysztof kurt kwame kyle lara larissa larry lars laszlo latoya laura lauren laurence
    laurent lea leah lee leila lena lennart leo leon leonard leonardo leonie leroy leslie leticia levi lewis liam
    lidia lila lilian lily lin lina linda lindsay ling lisa liz lloyd lola lorena lorenzo loretta lori lothar lou
    louis louise luc luca lucas lucia luciana lucie lucy luigi luis luisa luka lukas luke luna lydia lynn mackenzie
    madeleine madison maggie magdalena magnus mahmoud maja malcolm malik mandy manfred manon manuel manuela marc
    marcel marcela marcelo marcia marco marcos marcus margaret margarita margot maria mariam marian mariana marianne
    marie marina mario marion marisa marissa marius marjorie mark marko markus marlene marta martha martin martina
    marvin mary maryam masha mason mateo mathias mathieu mathilde matilda matt matteo matthew matthias maureen
    maurice mauricio max maxim maxime maximilian maya megan mehdi mehmet mei melanie melinda melissa mercedes
    meredith mia michael michaela michal michel michele michelle miguel mika mikael mike mikhail mila milan milena
    miles mina ming minh miranda miriam misaki mitchell mohamed mohammad mohammed moira molly mona monica monika
    monique morgan moritz moses muhammad murat mustafa myra nadia nadine nam nancy naomi natalia natalie natasha
    nathalie nathan nathaniel neal ned neha neil nelson nick nicola nicolas nicole niels nigel nikita niklas nikola
    nikolai nils nina nino noah noel nora norbert norma norman octavio oksana olaf oleg olga oliver olivia olivier
    omar oscar oskar otto owen pablo pamela paola paolo pascal patricia patrice patrick patty paul paula paulina
    pavel pawel pedro peggy penelope penny per percy perry peter petra phil philip philipp philippe phillip phoebe
    pierre pilar piotr polly prakash priya quentin quinn rachel rafael rahul rainer raj rajesh ralf ralph ramon
    randy raquel rashid raul ravi ray raymond rebecca regina reiner renata renate rene rhonda ricardo richard rick
    ricky rita rob robert roberta roberto robin rodrigo roger roland rolf roman romain ron ronald ronnie rosa
    rosalie rosario rose rosemary ross roxanne roy ruben rudolf rudy rupert russell ruth ryan sabine sabrina sadie
    sakura salim sally salma salvador sam samantha samir samira samuel sandeep sandra sandrine sandy sanjay santiago
    sara sarah sascha sasha satoshi scott sean sebastian sebastien selina selma serena serge sergei sergey sergio
    seth shannon sharon shaun sheila shelby sherry shirley silke silvia simon simone sofia solange sonia sonja sonya
    sophia sophie stacy stan stanislav stanley stefan stefania stefanie stefano stella stephan stephane stephanie
    stephen steve steven stewart stuart sue sunil suresh susan susana susanne susie suzanne sven svenja svetlana
    sylvain sylvia sylvie tabitha takashi takeshi tamara tanja tanya tara tariq tatiana taylor ted teresa terry
    tessa thea theo theodor theodore theresa therese thiago thierry thomas tiffany till tim timo timothy tina tobias
    toby todd tom tomas tomasz tommy toni tony torsten tracy travis trevor tristan trudy tyler udo ulrich ulrike
    ursula ute valentin valentina valeria valerie vanessa vera verena veronica veronika vicky victor victoria vijay
    viktor viktoria vincent vincenzo viola violet virginia vivian vladimir volker wade wallace walter wanda wayne
    wei wendy werner wesley whitney wilfred wilhelm will willem william willy winston wolfgang xavier xiao yan yara
    yasmin yasmine yolanda yoko youssef yuki yuko yuri yusuf yves yvette yvonne zachary zahra zainab zara zhang zoe
    aarav adebayo aditi adunni agus ananya ankita aoife arjuna asif ayaka aylin ayse babajide basak beatrijs berit
    blessing bolanle brigida britt bronwyn budi burak caoimhe cem chiamaka chinwe ciaran dariusz deniz dewi diarmuid
    divya dorota ebba eero eilidh eivind emre erlend esperanza eszter ewa fatma femi ferenc fleur folake freja frida
    gabor gaurav geert gizem grainne grzegorz gunnar hakan halina harish hassana henk hoang ifeoma iker ilona ingeborg
    inigo ishaan itziar jaap jadwiga jelena joaquin joost jorgen jovana kaan kari karthik katarzyna kavya kemal kenta
    kofi lakshmi lerato linnea lotte maarten mai mairead malgorzata mamadou marek marieke marlies matej mateusz meera
    merve milos mirjam naledi naoki ngozi nguyen niamh nikhil nikos nisha nkechi noor obinna oisin olamide oluwaseun
    oluwaseyi oyvind padraig pham pinar pooja pranav putri radek rasmus ratna rhys rina rohan rohit roisin rutger ryo
    sanjana sanne saoirse sean selim shota shreya sibel siddharth signe sigrid sindre siobhan sipho siti sneha snezana
    solveig soren stijn svetla takumi temitope tendai thabo thandiwe thi tjeerd tomislav torbjorn tran tunde tuomas
    ugo urszula vaclav vesna vikram vivek wahyu wangari wieslaw wojciech yaw yetunde yigit yuta zanele zeynep zlatan
    zofia zoltan zuzana minjun minsu jimin jihoon jiwoo seojun seoyeon hyejin hyunwoo jisoo jiyoung minji soyeon
    sungho sunghoon taehyung yejin yuna younghee chulsoo donghyun eunji eunjung jaehyun jongho kyungsoo minho
    seungmin sujin yoojin александр алексей алена алина анастасия андрей анна антон борис вадим валентина василий
    вера виктор виктория виталий владимир галина дарья денис дмитрий евгений екатерина елена иван игорь ирина кирилл
    ксения лариса людмила максим марина мария михаил надежда наталья никита николай оксана олег ольга павел петр
    роман светлана сергей софия станислав татьяна федор юлия юрий γιώργος μαρία ελένη κώστας νίκος δημήτρης γιάννης
    محمد أحمد علي فاطمة حسن حسين خالد عمر مريم سارة يوسف إبراهيم
    """.split()  # noqa: SIM905
)  # fmt: skip
"""In small letters, without accents where the alphabet is Latin."""

WORDS_TOO = frozenset({
    "april", "august", "angel", "art", "bill", "billy", "chase", "dale", "daisy", "dawn", "dean", "drew", "eve",
    "faith", "frank", "gene", "glen", "grace", "grant", "guy", "hope", "iris", "ivy", "jack", "jade", "jean",
    "jenny", "jesus", "joy", "june", "kent", "lance", "lily", "lin", "mark", "mason", "max", "may", "miles", "mina",
    "ming", "nick", "pat", "penny", "per", "pilar", "ray", "regina", "rich", "rick", "rob", "robin", "roman",
    "rosa", "rose", "roy", "ross", "ruby", "rusty", "sally", "salvador", "sandy", "sky", "sue", "ted", "till",
    "tim", "tom", "udo", "ute", "victor", "viola", "violet", "virginia", "wade", "wayne", "will", "win", "georgia",
    "florence", "jordan", "victoria", "chelsea", "austin", "paris", "sydney", "charlotte", "madison", "santiago",
    "san", "china", "israel", "chad", "lee", "kim", "chen", "wei", "jin", "jun", "ling", "mei", "yan", "aurora",
    "luna", "stella", "ada", "julia", "ruth", "job", "mercedes", "alexa", "siri", "oscar", "ali", "ava", "ella",
    "phoenix", "an", "sam", "jay", "don", "van", "ken", "raj", "nam", "minh", "alma", "alba", "flora", "norma",
    "mai", "ryo", "fleur", "noor", "blessing", "esperanza", "signe", "tran",
    "hal", "guido", "dora", "dina", "mona", "lila", "lola", "nino", "stan", "ned",
})  # fmt: skip
"""Those that are a word, a month or a place as well: alone they name nobody for certain."""
