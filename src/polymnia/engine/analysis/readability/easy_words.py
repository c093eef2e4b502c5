"""Easy words: longer English words that everybody knows. A long word that is not here, in any form, counts as hard."""

from __future__ import annotations

__all__ = ["EASY"]

_EASY = """
    accept access accident according account achieve across action active activity actor actress actually addition
    address admit adult advantage adventure advertise advertisement advice affect afraid afternoon against agency
    agree airline airport allow almost alone along already although always ambulance america american amount
    analyse analysis analyze ancient angry animal announce annual another answer anybody anyone anything anyway
    anywhere apartment appear appointment approach appropriate april area argue argument armed army around arrange
    arrive article artist asking asleep assistant attack attempt attention attract august author authority autumn
    available average avoid awake award away baby background baker balance balloon banana band bank based basic
    basket bathroom battery battle beach beautiful beauty because become bedroom bedtime before began begin behave
    behavior behaviour behind believe belong below benefit beside better between beyond bicycle bill billion bird
    birth birthday biscuit blanket blood board body book border boring boss bottle bottom bought brain branch
    brave bread break breakfast breath breathe bridge bright brilliant bring british broadcast broken brother
    brought brown budget building burn business butter button camera campaign cancel candidate candle cannot
    capital captain career careful carry castle catch category cause celebrate celebrity cell center centre
    century ceremony certain chair chairman challenge champion chance change channel character charge charity
    cheap cheer cheese chemical chemistry chicken chief child childhood children chocolate choice choose christmas
    church cigarette cinema circle citizen class classroom clean cleaner clear clever client climate climb clinic
    clock close clothes cloud coast coffee colleague collect collection college color colour combine comfortable
    command comment commercial commit committee common communicate communication community company compare compete
    competition complain complete complex computer concern concert conclude conclusion condition conference
    confident confirm conflict confuse congress connect connection consider construct contact contain content
    contest continue contract contribute control conversation cook cookie copy corner correct cost could council
    count country couple course court cousin cover cream create creative creature credit crime criminal crisis
    cross crowd cruel cultural culture curious current curtain custom customer daily damage dance danger dangerous
    darkness data date daughter dead deal death debt decade december decide decision deep defeat defence defense
    definite degree delay delicious deliver demand democracy department depend depressed describe desert design
    designer desk desperate destroy detail determine develop development diary dictionary diet difference
    different difficult difficulty digital dinner direction director dirty disabled disagree disappear disappoint
    disaster discover discovery discuss discussion disease dish display distance divide divorce doctor document
    dollar domestic double doubt download dramatic draw dream dress drink drive driver drop drug during dust eager
    early earn earth easily east easy economy edge edition editor educate education effect efficient effort eight
    eighteen either elderly elect election electric electricity element elephant eleven else email emergency
    emotion emotional employ employee empty enable encourage enemy energy engine engineer english enjoy enormous
    enough enter entrance environment equal equality equipment escape especially estimate europe european even
    evening event ever every everybody everyone everything everywhere evidence evil exact exam examine example
    excellent except exchange excited exciting excuse exercise exhibition exist expand expansion expect expensive
    experience experiment expert explain explanation explode explore explosion export express extra extreme face
    fact factory fail failure fair fall familiar family famous farm farmer fashion fast father fault favorite
    favourite fear feature february feed feedback feel feeling female festival fiction field fifteen fifty fight
    figure film final finally financial find fine finger finish fire first fish flag flat flight flood floor
    flower focus follow food foot football force foreign forest forever forget forgive form former forty forward
    found fourteen freedom frequent fresh friday friend friendly friendship frighten front fruit fuel full
    function fund funny furniture further furthermore future gallery game garden gather general generation gentle
    gentleman giant gift girl give glad glass global goal gold golden government grade gradual graduate
    grandfather grandmother grass great green grocery ground group grow growth guarantee guard guess guest guide
    guilty guitar habit hair half hammer hand handle handsome happen happily happiness happy hard hardly hate head
    headache health healthy hear heard heart heat heaven heavy height hello help helpful hero herself hide high
    himself history hold hole holiday home honest honey hope horrible horse hospital hotel hour house household
    however huge human hundred hungry hunt hurry hurt husband idea identify identity ignore illegal illness image
    imagination imagine immediate immigrant impact important impossible impress impression improve improvement
    include income increase indeed independent indicate individual industry influence inform information
    ingredient inhabitant initial injure injured injury insect inside install instead institute instruction
    instrument insurance intelligent intend intention interest interested interesting international internet
    interview introduce invent invention invest investigate investment invite involve island issue item itself
    jacket january join joke journalist journey judge juice july jump june justice keep keyboard kill kilometer
    kilometre kind king kitchen knife knock knowledge labor laboratory labour lack ladder lady lake land landscape
    language laptop large largely last late later laugh launch lawyer leader leaf league learn least leather leave
    lecture legal leisure lend less lesson letter level library life lift light likely limit line link list listen
    literature little live loan local location lock logical lonely longer lose loss loud love lovely lower lucky
    luggage lunch luxury machine magazine magic mail main maintain major majority make male manage management
    manager manner manufacture many mark market marriage married marry mass massive match material mathematics
    matter maximum maybe meal mean meaning meanwhile measure measurement mechanic media medical medicine meeting
    member membership memory mental mention message metal meter method metre middle midnight might mile military
    million mind mine minimum minister minority minute mirror mission mistake mixture mobile model modern moment
    monday money monkey month mood moon morning mostly mother mountain mouth movement movie much murder muscle
    museum music musician myself mystery narrow nation national natural nature near nearly necessary need negative
    negotiate neighbor neighborhood neighbour neighbourhood neither nervous network never news newspaper nice
    night nineteen nobody noise none normal north nose note nothing notice november nuclear number numerous nurse
    object observe obtain obvious occasion occur ocean october offer office officer official often once online
    open operate operation opinion opponent opportunity opposite optimistic option orange order ordinary
    organisation organise organization organize original other otherwise ourselves outdoor outside over overseas
    owner pack page pain paint painting pair paper parent park parliament part particular partner party pass
    passenger passport past path patience patient payment peace peaceful pencil penguin people pepper percent
    percentage perfect perform performance perhaps period permanent permission permit person personal persuade
    philosophy phone photo photograph physical picture piece pilot place plan plane planet plant plastic plate
    platform play player pleasant please pleased pleasure plenty pocket poem point poison police policeman polite
    political politician politics pollute pollution poor popular population position positive possibility possible
    poster potato potential pound poverty power powerful practical practice practise predict prefer prepare
    presence present president pressure pretty prevent previous price prime prince princess print priority prison
    prisoner private prize probably problem procedure process produce producer product production profession
    professional professor profit program programme progress project promise promote proof proper property
    proposal propose protect protection protest proud prove provide public publish pull punish punishment pupil
    purchase purple purpose push puzzle qualification quality quantity quarter queen question quick quickly quiet
    quite rabbit race radio rain raise range rare rate rather reach react reaction reader reading ready real
    realise realistic reality realize really reason receive recent recently recipe recognise recognize recommend
    record recover recycle reduce reduction reference reflect reform refugee refuse regard region regular relate
    relationship relative relax release relevant reliable relief religion religious rely remain remember remind
    remote remove rent repair repeat replace reply report represent republic request require requirement rescue
    research researcher resident resource respect respond response responsibility responsible rest restaurant
    restore result retire return reveal revolution reward rhythm rice rich ride ridiculous right ring rise risk
    river road rock role romantic roof room rough round routine royal rubbish rude rule safe safety sail salad
    sale sandwich satellite satisfied satisfy saturday save scared scene schedule school science scientific
    scientist scissor score screen search season seat second secret secretary secure security seem select selfish
    sell send senior sense sensible sensitive sentence separate september series serious serve service settle
    seven seventeen seventy several severe shadow shape share sharp sheep shelf ship shirt shock shoe shoot shop
    shopping short shortage should shoulder shout show shower sick side sight sign signal significant silence
    silent silver similar simple since sincere singer single sister situation sixteen sixty size skill skin skirt
    slave sleep slow slowly small smart smell smile smoke smooth snake snow soap social society sock soft software
    soldier solid solution solve somebody somehow someone something sometimes somewhere song soon sorry soul sound
    soup source south space speak special specialist specific speech speed spell spend spirit spokesman
    spokeswoman spoon sport spread spring square stable stadium staff stage stairs stand standard star start state
    statement station statistics status stay steal step still stomach stone stop store storm story straight
    strange stranger strategy street strength stress strict strong structure struggle student studio study stupid
    style subject substance success successful sudden suddenly suffer sufficient sugar suggest suicide suitable
    suitcase summary summer sunday sunny sunshine supermarket supply support suppose sure surface surprise survey
    survival survive survivor suspect sweater sweet swim switch symbol symptom system table talent talk tall
    target task taste taxi teach teacher team technical technique technology teenager telephone television tell
    temperature temporary tennis tension term terrible terrify terrorist test text than thank theater theatre
    their them themselves then theory there therefore these thick thief thin thing think third thirsty thirteen
    thirty thorough those though thought thousand threat threaten three through throughout throw thursday ticket
    tiger tiny tired title today together toilet tomato tomorrow tonight tool tooth topic total touch tour tourism
    tourist toward towards towel tower town trade tradition traditional traffic train training transfer translate
    translation transport travel treat treatment tree trial trip tropical trouble trousers truck true trust truth
    tube tuesday turn twelve twenty twice type typical umbrella uncle under understand unhappy uniform union unit
    united universe university unless until unusual update upper urban urgent useful useless user usual usually
    vacation valley valuable value variety various vast vegetable vehicle version very victim victory video view
    village violence violent virus visible vision visit visitor voice volume volunteer vote wage wait wake walk
    wall wander want warm warn warning wash waste watch water weak wealth weapon wear weather website wedding
    wednesday week weekend weekly weigh weight welcome west whatever wheel wheelchair when where whereas whether
    which while whisper white whole whose wide widespread wife wild wildlife will willing wind window wine wing
    winner winter wireless wish with within without witness woman women wonder wonderful wood wooden word work
    worker world worldwide worry worse worst worth would write writer writing wrong yellow yesterday young
    youngster yourself youth zero
"""

EASY = frozenset(_EASY.split())
