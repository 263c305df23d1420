"""The vocabulary of ``agentgym/LMRLWordle-v0``: common English words of five letters.

The list was written for this package. It has the words of the example in the prompt of AgentGym's
client: panic, felon, frown and shire.
"""

_TEXT = """
about above actor adapt admit adopt adult after again agent agree ahead alarm album alert alien
alive allow alone along alter among angel anger angle angry apart apple apply arena argue arise
armor array arrow aside asset avoid award aware awful bacon badge baker basic basin batch beach
beard beast begin being bench berry birth black blade blame blank blast blend bless blind block
blood bloom board boast bonus boost booth bound brain brake brand brave bread break breed brick
bride brief bring broad brook broom brown brush build bunch burst buyer cabin cable camel canal
candy cargo carry carve catch cause chain chair chalk charm chart chase cheap check cheek cheer
chess chest chief child chill choir chord civic civil claim clash class clean clear clerk click
cliff climb clock close cloth cloud coach coast color comet coral couch cough count court cover
crack craft crane crash crawl cream creek crime crisp cross crowd crown crush curve cycle daily
dairy dance debut decay delay depth diary digit diner dirty donor doubt dough dozen draft drain
drama dream dress drift drill drink drive drown dusty dwarf eager eagle early earth eight elbow
elder elect empty enemy enjoy enter entry equal error essay event every exact exile exist extra
fable facet faith false fancy fault favor feast felon fence ferry fetch fever fiber field fiery
fifth fifty fight final first flame flash fleet flesh float flock flood floor flour fluid flute
focus force forge forty found frame fresh front frost frown fruit funny ghost giant given glass
globe glory glove going goose grace grade grain grand grant grape grasp grass grave great green
greet grief grill group grove grown guard guess guest guide guilt habit happy harsh hasty haven
heart heavy hedge hello hobby honey honor horse hotel house human humor hurry ideal image imply
index inner input irony issue ivory jelly jewel joint judge juice kayak knife knock known koala
label labor large laser later laugh layer learn lease leave legal lemon level lever light limit
linen liver lobby local logic loose lower loyal lucky lunar lunch magic major maker maple march
marry match mayor medal media melon mercy merge merit metal meter might minor model moist money
month moral motor mount mouse mouth movie music naval nerve never night noble noise north novel
nurse ocean offer often olive onion opera orbit order other ought outer owner oxide paint panel
panic paper party pasta patch pause peace peach pearl pedal penny phase phone photo piano piece
pilot pinch pitch pizza place plain plane plant plate point polar porch pound power press price
pride prime print prize proof proud prove pulse punch pupil purse queen quest quick quiet quilt
quite quote radar radio raise ranch range rapid ratio reach react ready realm rebel refer relax
reply rider ridge right rigid rival river roast robot rocky rough round route royal ruler rural
rusty salad sauce scale scare scene scent scope score scout seven shade shake shape share shark
sharp sheep sheet shelf shell shift shine shire shirt shock shore short shout shown sight silly
since skill skirt sleep slice slide slope small smart smell smile smoke snake sober solar solid
solve sorry sound south space spare speak speed spell spend spice spine split spoon sport spray
squad stack staff stage stair stake stand stare start state steam steel steep stick still stock
stone stool store storm story stove straw strip study stuff style sugar sunny super swarm sweet
swift swing sword table taste teach teeth thank theme thick thief thing think third thorn three
throw thumb tiger tight title toast today token tooth topic torch total touch tough tower toxic
track trade trail train treat trend trial tribe trick truck trunk trust truth tulip twice twist
ultra uncle under union unite until upper upset urban usage usual vague valid value vapor vault
venue verse video villa viral visit vital vivid vocal voice voter wagon waist waste watch water
weary weigh whale wheat wheel where while white whole width witch woman world worry worse worth
wound wrist write wrong yacht yield young youth zebra
"""
WORDS = tuple(_TEXT.split())
"""The words in alphabetical order. The order and the words are part of the tasks' version."""
