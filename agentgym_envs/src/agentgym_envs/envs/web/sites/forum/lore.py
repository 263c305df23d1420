"""What the forum's people know: gear, rules and flairs of each community, and of each subject tips, troubles and a figure."""

from typing import NamedTuple


class Subject(NamedTuple):
    """What there is to say about a subject.

    Attributes:
        tips: what to do, in the imperative.
        troubles: what goes wrong, as sentences.
        measure: what people count: follows a number.
        low: the least of it.
        high: the most of it.
    """

    tips: tuple[str, ...]
    troubles: tuple[str, ...]
    measure: str
    low: int
    high: int


class Lore(NamedTuple):
    """What there is to say about a community.

    Attributes:
        doer: one of its people.
        shop: where they buy.
        gear: things, with their least and highest price.
        flairs: of its own.
        rules: of its own.
        subjects: by name.
    """

    doer: str
    shop: str
    gear: tuple[tuple[str, int, int], ...]
    flairs: tuple[str, str]
    rules: tuple[str, str]
    subjects: dict[str, Subject]


def _gear(text: str) -> tuple[tuple[str, int, int], ...]:
    parts = [part.rsplit(" ", 1) for part in text.split(", ")]
    return tuple((name, *map(int, prices.split("-"))) for name, prices in parts)  # type: ignore[misc]


def _subject(text: str) -> Subject:
    tips, troubles, figure = text.split(" | ")
    measure, prices = figure.rsplit(" ", 1)
    low, high = map(int, prices.split("-"))
    return Subject(tuple(tips.split("; ")), tuple(troubles.split("; ")), measure, low, high)


def _lore(doer: str, shop: str, gear: str, flairs: tuple[str, str], rules: tuple[str, str], **subjects: str) -> Lore:
    return Lore(doer, shop, _gear(gear), flairs, rules, {name: _subject(text) for name, text in subjects.items()})


LORE = {
    "bread": _lore(
        "baker", "mill shop", "proving basket 14-32, dough scraper 5-12, kitchen scale 15-40, bread lame 8-19, baking steel 45-90, oven thermometer 9-18",
        ("Crumb shot", "Recipe"), ("Give weights in grams, not in cups.", "A picture of a crust needs one of the crumb."),
        **{
            "sourdough starter": "feed it at the same hour every day; keep it next to the kettle; use rye for the first week | it smells of nail varnish; it rises and then collapses within the hour | hours between feeds 6-24",
            "rye loaf": "let it rest a full day before you cut it; bake it in a tin; scald a third of the flour | the crumb sticks to the knife; the top cracks along the side | minutes in the oven 45-80",
            "focaccia": "use more oil than you dare; dimple it just before it goes in; salt the top twice | the middle stays pale; it turns into a cracker | grams of oil 30-90",
            "brioche": "add the butter cold and slowly; chill the dough overnight; brush it with egg twice | the butter leaks out; the dough never comes off the hook | minutes of kneading 12-30",
            "ciabatta": "fold it every half hour; flour the bench and not the dough; leave the bubbles alone | it spreads like a puddle; there is one big hole and no others | per cent of water 75-90",
            "bagels": "boil them for a minute a side; shape them the evening before; put malt into the water | the holes close in the oven; they wrinkle when they cool | seconds in the water 30-90",
            "pizza dough": "give it two days in the fridge; stretch it with your knuckles; heat the steel for an hour | it springs back when I stretch it; the rim burns and the middle stays wet | grams for a ball 220-290",
            "oven spring": "score it at a low angle; start with a closed lid; put it in straight from the fridge | the cut heals over; it bursts at the bottom | degrees at the start 230-260",
        },
    ),
    "cycling": _lore(
        "rider", "bike shop", "floor pump 25-60, chain gauge 8-15, rear light 18-55, multi-tool 15-40, frame bag 30-95, torque key 35-80",
        ("Ride report", "Workshop"), ("Say where you ride: roads differ.", "No selling of frames without a serial number."),
        **{
            "gravel tyres": "run them softer than you think; swap front and rear in spring; check the sidewalls after every ride | the rear one wears flat in the middle; they hum on asphalt | millimetres of width 35-50",
            "disc brakes": "bed the pads in on a long hill; clean the rotor with spirit only; centre the caliper by eye | they howl in the rain; the lever goes to the bar | hundred kilometres per set of pads 8-40",
            "commuter lights": "point the front one at the road, not at eyes; carry a second rear light; charge them at your desk | the mount turns downwards; the battery dies in the cold | lumens in front 100-600",
            "winter gloves": "wear thin liners below them; buy them a size larger; dry them away from the radiator | the thumbs freeze first; I cannot feel the levers | degrees below zero 2-15",
            "chain wear": "measure it every month; replace it before the cassette goes; wax it instead of oiling it | it skips under load; the small sprocket is already hooked | hundred kilometres per chain 20-60",
            "saddle height": "raise it by two millimetres a week; mark the post with tape; measure with your riding shoes on | my knees hurt in front; my hips rock | centimetres to the pedal 88-108",
            "bike bags": "pack the heavy things low; roll the closure three times; put a spare strap in every bag | the rear bag swings; the straps rub the paint off | litres in all 12-55",
            "tubeless sealant": "shake the bottle for a minute; top it up every season; keep a plug kit in the pocket | it dries into a ball; the rim hisses overnight | millilitres per tyre 30-120",
        },
    ),
    "houseplants": _lore(
        "plant keeper", "nursery", "moisture meter 7-16, clay pot 6-22, moss pole 9-24, mister 5-14, humidity tray 8-20, potting mix 6-18",
        ("New leaf", "Rescue"), ("Show the roots when you ask for a diagnosis.", "Name the direction of your window."),
        **{
            "monstera": "give it a pole before it leans; wipe the leaves with a wet cloth; turn the pot a quarter every week | the new leaves have no holes; the edges turn brown | new leaves a year 3-12",
            "spider plant": "let the babies root in water first; use rainwater; cut brown tips at a slant | the tips are brown; it makes no babies | babies on a runner 2-14",
            "fiddle leaf fig": "never move it in winter; water it by weight; keep it away from the heater | it drops a leaf a week; there are dark spots in the middle of the leaves | centimetres tall 60-240",
            "snake plant": "forget to water it; use a pot that is too small; add a third of grit | the base is soft; it leans to one side | weeks between waterings 2-7",
            "pothos": "cut it above a node; hang it where you see it daily; let it dry until it droops | the variegation fades; the stems are bare at the top | centimetres of vine 50-380",
            "calathea": "group it with other plants; water it with filtered water; keep it out of draughts | the leaves curl by noon; the pattern fades | per cent of humidity 40-75",
            "rubber tree": "pinch the tip in March; dust it every fortnight; put it where the sun arrives in the morning | it grows straight up without a branch; the lower leaves turn yellow | years in the same pot 1-5",
            "grow light": "hang it lower than looks right; put it on a timer; measure it with your telephone | the leaves bleach; everything leans to it | hours of light a day 8-16",
        },
    ),
    "astronomy": _lore(
        "stargazer", "telescope shop", "red torch 8-20, star atlas 18-45, wide eyepiece 40-120, dew strip 25-60, folding stool 20-55, moon filter 12-30",
        ("First light", "Sketch"), ("Name the instrument and the sky you had.", "Never point at the sun without a filter, not even as a joke."),
        **{
            "Saturn's rings": "wait until it is high in the south; let the tube cool for an hour; use less power than you own | the gap never shows; the image boils | times of magnification 90-260",
            "the Orion nebula": "look beside it and not at it; sketch it before you read about it; start with the lowest power | it is grey instead of pink; the trapezium shows three stars only | minutes at the eyepiece 10-60",
            "a Dobsonian": "line up the mirrors every time; put felt under the base; carry it in two trips | it sticks and then jumps; the finder points elsewhere | millimetres of mirror 130-300",
            "meteor showers": "lie on your back with a blanket; go out after midnight; leave the telescope at home | the moon washes them out; clouds come at two | meteors an hour 8-70",
            "star trails": "tape the focus ring down; start an hour after sunset; take many short pictures | dew covers the lens; planes cross every frame | minutes of exposure 20-180",
            "Jupiter's moons": "note their places every evening; steady the binoculars on a fence; look up the shadow times first | one of them is always missing; they smear into lines | nights in a row 3-14",
            "light pollution": "ask the council for hoods; drive twenty minutes out of town; let your eyes adapt for half an hour | the new lamps shine upwards; I cannot find the Little Bear | kilometres to a dark place 8-60",
            "a solar filter": "hold it against a lamp before each use; tape it to the tube; cap the finder as well | there is a pinhole in it; the wind lifts it | spots on the disc 1-9",
        },
    ),
    "woodworking": _lore(
        "woodworker", "timber yard", "marking gauge 18-45, dovetail saw 40-95, mallet 15-35, bar clamp 12-30, card scraper 8-18, sharpening stone 25-70",
        ("Joinery", "First project"), ("Say which wood it is.", "Pictures of machines show the guard."),
        **{
            "dovetails": "cut the tails first; saw on the waste side of the line; mark with a knife, not a pencil | there are gaps on one side; the baseline wanders | tails in a drawer 3-9",
            "hand planes": "sharpen before you curse; wax the sole; skew it on hard grain | it tears the grain; it chatters at the end | degrees of bevel 25-35",
            "a workbench": "build it heavier than you need; put the vice at the left corner; drill the dog holes last | it walks across the floor; the top cups in winter | kilograms in all 60-180",
            "walnut boards": "buy a third more than the plan says; let them lie indoors for a month; save the sapwood for the back | they twist after the first cut; the colour fades at the window | dollars a board foot 9-19",
            "table saw safety": "use a push stick even when it is slow; stand to the left of the blade; set the blade a tooth above the board | it kicked back; the fence is not parallel | teeth on the blade 24-60",
            "wood glue": "wipe it with a wet rag at once; clamp it for longer than the bottle says; warm the parts before you glue | the joint creeps; it shows up as a pale stain | minutes in the clamps 30-240",
            "a cutting board": "glue the strips with the rings alternating; oil it weekly for a month; round the edges last | it cups after washing; a seam has opened | strips in the board 7-19",
            "oil finish": "wipe off all that shines; let it dry for two days; hang the rags outside | it stays sticky; it turns yellow on maple | coats 2-6",
        },
    ),
    "running": _lore(
        "runner", "running shop", "running belt 15-35, head torch 20-55, foam roller 14-30, reflective vest 10-24, soft flask 12-22, calf sleeves 18-40",
        ("Race report", "Comeback"), ("We are no doctors: pain that stays belongs in a surgery.", "Give your pace in minutes per kilometre."),
        **{
            "tempo runs": "start the first ten minutes too slowly; run them on the same loop; stop when your form goes | I fade after half of it; the pulse climbs and climbs | minutes at pace 15-45",
            "trail shoes": "lace the heel twice; keep a pair for mud alone; size up by half a number | the toes hit the front downhill; the lugs peel off | hundred kilometres per pair 4-11",
            "shin splints": "swap two runs for the bicycle; raise your toes at every red light; shorten your stride | it hurts at the first kilometre; the bone is sore to touch | weeks of rest 2-9",
            "half marathon": "practise your breakfast; walk through the water stops; hold back until the fifteenth kilometre | I hit a wall late; my socks were new | minutes at the finish 92-150",
            "heart rate zones": "measure your own maximum; wet the strap before you start; walk uphill without shame | easy feels far too slow; the watch reads my cadence | beats in the easy zone 118-148",
            "hill repeats": "walk down every time; drive the knees, not the feet; choose a hill with a bench on top | the calves cramp; the last one is half as fast | repeats 4-14",
            "recovery days": "swim instead of jogging; go to bed an hour earlier; leave the watch at home | I cannot sit still; the legs stay heavy | days off a week 1-4",
            "pacing": "let the crowd go; check your watch at every third sign only; aim for an even second half | I always start too fast; hills ruin my average | seconds lost per kilometre 3-25",
        },
    ),
    "photography": _lore(
        "photographer", "camera shop", "lens cloth 4-10, remote release 14-35, grey card 8-18, ring adapter 12-28, padded strap 20-50, rain cover 12-30",
        ("Portrait", "Film"), ("Say how the picture was taken.", "Ask before you show a stranger's face."),
        **{
            "a 50 mm lens": "step closer instead of cropping; stop it down by one click; take nothing else for a month | the focus hunts indoors; portraits look soft wide open | pictures in a month 80-900",
            "film scanning": "blow the dust off twice; tape the curl down flat; scan the contact sheet first | there are rings in the sky; the colours lean to green | minutes a frame 2-12",
            "golden hour": "arrive an hour early; shoot into the sun and then turn round; expose for the sky | it lasts ten minutes here; faces turn orange | minutes of good light 10-55",
            "tripods": "extend the thick legs first; hang your bag from the hook; switch the stabiliser off | the head sags under the lens; it shakes on bridges | hundred grams of weight 9-28",
            "street portraits": "ask first and then wait; show them the picture; stand in open shade | people stiffen; I lose my nerve | people who said no, in a day 1-12",
            "long exposure": "cover the viewfinder; use the timer of two seconds; bring a filter for the day | the water is grey; there is a hot spot in every corner | seconds open 4-240",
            "raw editing": "set the white point first; walk away before you export; edit on a dim screen | skies turn purple; prints come out too dark | minutes a picture 2-25",
            "camera straps": "wear it across the chest; buy one with a quick release; sew the ends down | it slides off the shoulder; the ring scratches the body | centimetres long 90-150",
        },
    ),
    "boardgames": _lore(
        "player", "game shop", "card sleeves 4-12, neoprene mat 18-45, dice tray 10-26, token box 8-20, sand timer 3-9, storage insert 20-50",
        ("Session report", "Variant"), ("Hide the endings of campaign games.", "Name the number of players."),
        **{
            "worker placement": "block one place every round; count the rounds before you plan; take the first player early | the last round is decided before it starts; one of us always runs away | places on the board 9-24",
            "two-player games": "swap seats after every game; keep the score over a year; play the same one ten times | one of us always wins; the box says two but means four | minutes a game 15-90",
            "rulebooks": "read the last page first; let one person teach and nobody else; play an open first round | the example contradicts the text; nobody knows what a phase is | pages 4-48",
            "solo variants": "write your score into the lid; play the robot without mercy; set it up before dinner | it is only a puzzle; the robot takes longer than I do | minutes of set-up 4-25",
            "party games": "stop while they still laugh; mix the teams each round; leave the score out of it | the shy ones go to the kitchen; the jokes repeat | people at the table 5-14",
            "deck building": "throw away the weak cards first; buy nothing in the last two rounds; count your coins | my deck stalls; I buy too much | cards at the end 14-40",
            "game storage": "store them upright; bag every player's pieces apart; weigh the box and write it down | the lids lift; small boxes vanish | games on the shelf 18-160",
            "house rules": "agree on them before the first turn; try the printed rules three times; write them on a card | nobody remembers who made it; the new ones object | rules changed 1-8",
        },
    ),
    "gardening": _lore(
        "gardener", "garden centre", "hand fork 8-18, watering can 12-30, seed heater 22-50, secateurs 15-45, fleece 6-16, soil thermometer 7-15",
        ("Harvest", "Pest"), ("Name your climate.", "No poison without its label."),
        **{
            "tomato blight": "take the lower leaves off; water the soil and never the leaf; give every plant a roof | brown rings run up the stem; it came overnight after the rain | plants lost 1-14",
            "raised beds": "fill the lowest third with wood; leave paths as wide as your barrow; line the inside with card | the soil sinks by a hand; ants have moved in | centimetres deep 20-60",
            "compost": "add two parts brown to one part green; turn it once a month; chop everything | it stays cold; it smells of eggs | months until it is ready 4-14",
            "slugs": "go out with a torch at ten; water in the morning only; plant the lettuce on a table | they eat the seedlings in a night; the beer trap draws all of the neighbour's | slugs in a night 6-90",
            "seed trays": "water them from below; sow half now and half in a fortnight; label every row | the seedlings fall over; mould covers the soil | days until they come up 4-21",
            "pruning roses": "cut above a bud that looks outwards; wait until the forsythia blooms; clean the blade between plants | they flower on one side; the stems turn black | buds left on a stem 3-7",
            "drip irrigation": "put a filter before the timer; bury the line under the mulch; flush the ends every month | the last bed stays dry; the drippers clog with lime | litres an hour 2-8",
            "cover crops": "sow them before the last harvest; cut them down when they flower; leave the roots in the ground | it seeds itself everywhere; the soil stays wet in spring | weeks in the ground 6-26",
        },
    ),
    "personalfinance": _lore(
        "saver", "book shop", "ledger 6-15, document folder 8-20, fireproof box 30-80, label maker 20-45, desk calculator 9-22, shredder 35-90",
        ("Milestone", "Taxes"), ("No names of banks, no referral codes.", "Nobody here is your adviser."),
        **{
            "emergency fund": "keep it at another bank; count in weeks and not in money; fill it before you invest | it melts every December; I do not know when it is enough | weeks of spending 6-40",
            "index funds": "buy on the same day each month; look at it once a year; choose the broadest one | I sold in the dip; I own the same shares three times | years until I need it 8-35",
            "first mortgage": "ask for the rate in writing; keep a reserve for the roof; read the early payment clause | the valuation came in low; the fees are hidden in the third letter | years of the term 15-35",
            "car loan": "compare the total and not the monthly sum; pay one extra rate a year; refuse the insurance that comes with it | I owe more than it is worth; the last rate is a balloon | months to go 12-72",
            "pension": "take all that the employer adds; ask for your record every year; write down who inherits it | two years are missing; nobody explains the letter | per cent of my pay 4-18",
            "budget app": "enter it at the till; use seven categories at most; plan the month before it begins | it loses the cash; my partner does not use it | categories 5-24",
            "tax return": "put every slip in one box; do it in March; keep a copy of what you sent | the form asks for a number that I never got; they want it on paper | hours of work 2-16",
            "credit score": "dispute the wrong entry in writing; keep the oldest card; ask once and not five times | it fell after I paid everything; somebody else's debt is in it | points gained 12-95",
        },
    ),
    "books": _lore(
        "reader", "bookshop", "reading lamp 18-45, book stand 12-28, page markers 3-8, notebook 6-16, shelf bracket 9-20, audio player 30-75",
        ("Review", "Reading list"), ("Hide what gives the end away.", "Recommend with a reason."),
        **{
            "a long novel": "read it aloud for the first fifty pages; draw the family on the flyleaf; carry nothing else | I lose track of the cousins; the middle sags | pages 620-1180",
            "short stories": "read one and close the book; start with the last one; copy out the best sentence | they end too soon; they blur into each other | stories in the collection 7-24",
            "translations": "compare the first page of two; look up the translator before the author; read the notes at the end | the jokes are gone; the names change halfway | years since it was translated 2-60",
            "library cards": "reserve on Sunday evenings; ask for books from other branches; borrow the big print for trains | my turn comes all at once; the limit is too low | books on loan 2-30",
            "audiobooks": "slow it down for dialogue; listen while you wash up; rewind when you notice that you drift | I fall asleep; the reader does silly voices | hours long 6-42",
            "a reading slump": "read something that you loved at twelve; stop at page fifty without guilt; leave the telephone in the kitchen | I read the same page again and again; nothing sounds good | weeks without a book 2-20",
            "book clubs": "let the quietest person begin; choose books below three hundred pages; fix the next date before you leave | nobody has finished it; one person talks | members 4-13",
            "science fiction": "begin with the short ones; skip the map; do not ask how the drive works | the science has aged; the women make the coffee | books in the series 2-11",
        },
    ),
    "coffee": _lore(
        "coffee drinker", "roastery", "pocket scale 14-35, gooseneck kettle 30-80, milk jug 9-22, tamper 15-40, knock box 12-28, cupping spoon 5-12",
        ("Recipe card", "Gear talk"), ("Give dose, water and time.", "No roaster's advertising."),
        **{
            "hand grinders": "count the clicks from zero; brush the burrs every week; grind standing, against the hip | the setting slips; it takes two minutes for a cup | clicks for filter 14-32",
            "light roasts": "use water just off the boil; rest the bag for three weeks; grind finer than you would | it tastes of lemon and nothing else; the second cup is sour | days after roasting 10-35",
            "espresso dialing": "change one thing at a time; weigh what comes out; write every shot down | it gushes after ten seconds; it is bitter and sour at once | seconds for a shot 22-38",
            "moka pots": "fill it with hot water; take it off at the first gurgle; never press the coffee down | it tastes burnt; steam comes out of the side | minutes on the stove 3-9",
            "cold brew": "steep it in the fridge; filter it twice; mix it with tonic | it is flat; there is mud at the bottom | hours of steeping 8-24",
            "water hardness": "mix tap water with filtered half and half; descale before it is due; taste the water by itself first | everything tastes of chalk; the kettle furs up in a week | degrees of hardness 4-22",
            "milk steaming": "stop when the jug is too hot to hold; purge the wand first; swirl it until it shines | I get bubbles like bath foam; it separates in the cup | grams of milk 120-240",
            "filter papers": "rinse them with hot water; fold the seam twice; store them away from spices | they taste of card; they collapse at the side | papers a month 20-70",
        },
    ),
    "linux": _lore(
        "administrator", "computer shop", "memory stick 6-18, external disk 45-110, network switch 18-45, serial cable 7-16, small board 35-85, spare fan 8-20",
        ("Config", "Solved"), ("Paste the message and not a picture of it.", "Say which version you run."),
        **{
            "systemd timers": "add a random delay; list them all before you add one; test the service without the timer first | it runs twice after a resume; the log says nothing | minutes between runs 5-90",
            "a home server": "label every cable; put it where you can hear it; write down what you installed | it reboots at night; the fan is louder than the telly | watts at the wall 6-65",
            "btrfs snapshots": "keep them on another disk as well; name them by the day; prune them before the disk is full | the disk is full and nothing is on it; the rollback lost the boot entry | snapshots kept 7-60",
            "tiling windows": "learn five keys and no more for a week; keep one floating desktop; print the bindings | dialogues open in a corner; the second screen goes black | windows on one desktop 2-7",
            "printer drivers": "try it without a driver first; give it a fixed address; keep the old cable | every page comes out twice; it only prints after a restart | pages lost 3-60",
            "shell scripts": "quote every variable; let it fail early; read it again after a month | it works by hand and not at night; a blank in a name broke it | lines of code 12-240",
            "backups": "restore one file every month; keep a copy at your sister's; encrypt before it leaves the house | it has been empty since March; the disk sounds odd | gigabytes in all 40-900",
            "Wayland": "log in on the old session when you must share; set the scale per screen; report it with the log | the screen cannot be shared; the pointer is tiny | crashes in a month 1-12",
        },
    ),
    "travel": _lore(
        "traveller", "outdoor shop", "sleep mask 6-16, packing cube 9-22, travel lock 7-18, sink plug 3-7, power adapter 9-24, day pack 25-60",
        ("Trip report", "Route check"), ("Name the month of your journey.", "No questions that a timetable answers."),
        **{
            "night trains": "take the upper bed; bring your own breakfast; board at the second station | the heating cannot be turned down; they wake you at the border | hours on the train 7-17",
            "hostels": "ask for a bed by the wall; book the first night only; write to them before you arrive late | somebody packs plastic bags at five; the lockers need a lock | dollars a night 18-48",
            "packing light": "wear the heavy shoes; lay it all out and leave a third; wash a shirt every evening | the bag is full before the shoes; I missed a jumper on day two | kilograms of luggage 4-11",
            "ferry passes": "check in by foot; buy it before the season; sit on the side without the wind | the last boat is full; the pass excludes the fast one | crossings 3-16",
            "visa questions": "carry two printed photographs; apply six weeks before; keep the receipt with the passport | the form has timed out; the bank letter was too old | days of waiting 4-38",
            "solo travel": "tell somebody your route each evening; eat at the counter; learn ten words before you go | dinners are lonely; rooms for one cost the same | days alone 5-60",
            "rail passes": "add up single tickets first; reserve the fast ones in April; fill in the diary before you board | the seats for pass holders are gone; it starts on the wrong day | travel days 4-15",
            "travel insurance": "read what it says about mopeds; photograph every receipt; pay the ticket with the same card | they want a report from the police; the delay was an hour too short | hours of delay 3-20",
        },
    ),
    "music": _lore(
        "musician", "music shop", "clip tuner 10-22, capo 8-20, music stand 15-40, metronome 12-30, record brush 9-24, practice mute 10-26",
        ("Cover", "Practice log"), ("Post what you play, not what you own.", "Be kind to first recordings."),
        **{
            "fingerpicking": "play the thumb alone for a week; sing the bass line; keep the nails a little long | the thumb stops when the tune starts; the third finger is weak | beats a minute 50-120",
            "piano scales": "play them with your eyes shut; start on the black keys; stop after ten minutes | the fourth finger is uneven; the left hand races | minutes of practice a day 8-45",
            "vinyl care": "brush it before every side; store the records upright; wash them with distilled water | the first track crackles; the sleeves have split | records on the shelf 30-420",
            "ear training": "sing it before you look; test yourself on the bus; do fourths and fifths first | I mix up sixths; chords are a blur | intervals right out of twenty 8-18",
            "a loop pedal": "tap on the one and not before; build the quietest layer first; leave the second bar empty | the loop drifts; it turns into mud | layers at once 2-6",
            "choir warm-ups": "hum before you sing; stretch like a cat; end on something slow | the altos are cold; the high ones push | minutes before we sing 5-25",
            "stage fright": "play for one person the day before; breathe out for longer than in; make your first piece the easiest | my hands are cold; I forget the second verse | people in the room 8-140",
            "headphones": "replace the pads before you replace them; turn it down by three clicks; try them with your own records | one side crackles; they press after an hour | hundred grams of weight 2-5",
        },
    ),
    "languages": _lore(
        "learner", "language school", "pocket dictionary 9-24, card box 7-18, graded reader 6-14, writing pad 4-9, wall chart 8-20, verb table 5-12",
        ("Progress", "Resource"), ("Write your languages in your profile.", "Correct only who asks for it."),
        **{
            "German cases": "learn the article as a part of the word; colour the genders; read recipes aloud | the dative still surprises me; adjectives ruin everything | tables on my wall 1-9",
            "listening practice": "hear the same three minutes daily; write down what you think you hear; listen first and read later | they swallow the endings; I lose it after the first number | minutes a day 6-60",
            "flash cards": "make the cards yourself; delete those that annoy you; put a sentence on the back | the pile grows; I know the card and not the word | cards a day 8-60",
            "Japanese kanji": "write them on squared paper; learn the parts before the whole; read shop signs | I can read but not write; they look alike | characters in a month 20-140",
            "tandem partners": "set a timer for each language; meet at the same café; agree on how to be corrected | we always end in English; my partner cancels | meetings so far 2-40",
            "Spanish subjunctive": "collect the phrases that call for it; ignore the exceptions for a year; say what you wish for every morning | I hear it and cannot make it; the past forms mix | phrases in my notebook 12-90",
            "accent work": "record yourself once a week; copy one speaker only; exaggerate until you laugh | my R is still flat; they answer in English | weeks of practice 4-40",
            "reading aloud": "read to a child or a cat; mark the pauses with a pencil; repeat the page on the next day | my voice tires; I do not notice what I read | pages an evening 1-8",
        },
    ),
    "birds": _lore(
        "birdwatcher", "nature shop", "seed feeder 12-30, field notebook 5-12, binocular strap 14-32, nest box 15-38, hide net 18-45, bird bath 20-55",
        ("Sighting", "Identify"), ("No places of nests.", "Say when and in which light."),
        **{
            "feeder squirrels": "hang it on a long wire; grease nothing, it harms feathers; feed them somewhere else | they empty it by nine; they chew through the wood | squirrels at once 1-6",
            "owl calls": "stand still for twenty minutes; go in late February; answer no call | I only hear the road; two of them sound alike | calls in a night 2-30",
            "warbler season": "learn the songs in winter; start at sunrise by the water; look at the legs first | they stay behind leaves; half of them look green | kinds in a morning 3-17",
            "a field guide": "write into the margins; tear out the countries that you never visit; learn its order by heart | the colours are too bright; it has no young birds | plates 40-260",
            "binoculars": "set the left eye first; try them on at dusk; clean them with a brush before a cloth | they fog inside; the image is double | times of magnification 7-12",
            "nest boxes": "face them to the north-east; clean them in October; leave a metre of free flight | wasps have moved in; the great tits throw the others out | millimetres of the hole 26-45",
            "duck pond": "bring oats instead of bread; count them from one end; come before the dogs | the mallards are hybrids; they sleep whenever I come | birds on the water 12-160",
            "migration": "watch the wind and not the calendar; count for ten minutes and pause; write down the first and the last | they pass at night; the fog hides everything | birds an hour 20-800",
        },
    ),
    "diy": _lore(
        "home improver", "hardware shop", "spirit level 12-30, filling knife 6-15, stud finder 18-40, sanding block 5-12, caulk gun 8-20, work light 20-48",
        ("Before and after", "Tool talk"), ("Electricity belongs to an electrician.", "Measure before you ask."),
        **{
            "a leaking tap": "shut the water off and open it once more; take the old washer to the shop; wrap the tape with the thread | it drips again after a week; the nut is round | drops a minute 4-60",
            "drywall": "score it and snap it; stagger the joints; sand with a pole and a lamp from the side | the screws pop; the seams show in the evening light | sheets 2-18",
            "grout": "mix it like toothpaste; wipe it across the joints; seal it after a week | it cracks in the corner; the colour is not that of the sample | kilograms of powder 2-12",
            "squeaky floors": "walk it with chalk in hand; screw into the joist at an angle; dust the gap with talcum | it only squeaks at night; the pipes run just below | squeaks found 3-22",
            "door hinges": "replace one screw by a long one; pack the lower hinge with card; mark the door before you plane | it rubs at the top; the latch misses the plate | millimetres of gap 1-6",
            "wallpaper": "hang the first strip by a plumb line; start behind the door; let the paste soak in | the seams open; the pattern jumps | rolls 3-14",
            "a draughty window": "hold a candle along the frame; replace the felt on a dry day; hang a curtain that reaches the floor | it whistles in the west wind; the paint holds it shut | degrees gained 1-5",
            "tile cutting": "score once and press hard; drill with water; cut the visible edges from the front | the corners break off; the blade wanders | tiles broken 1-16",
        },
    ),
    "cooking": _lore(
        "cook", "kitchen shop", "chef's knife 25-90, cast pan 22-60, steamer basket 9-24, spice grinder 14-35, pickling jar 4-11, wooden spoon 3-9",
        ("Weeknight", "Technique"), ("Post the recipe with the picture.", "Say how many it feeds."),
        **{
            "risotto": "toast the rice until it clicks; keep the stock hot; stop while it still flows | it turns into a brick; the middle is chalky | minutes of stirring 15-28",
            "knife skills": "curl your fingers; rest the tip on the board; sharpen it every Sunday | my onions slide; the wrist hurts | onions a minute 1-4",
            "lentil soup": "add vinegar at the end; fry the spices first; cook half of it to a mash | it tastes of nothing; it sets overnight | minutes of simmering 20-60",
            "stir-fry": "cook it in two batches; dry everything; cut it all before you light the stove | it stews in its water; the garlic burns | minutes in the pan 3-9",
            "roast chicken": "salt it the day before; start with the breast down; let it rest for as long as you can bear | the breast is dry; the skin is soft | minutes in the oven 55-100",
            "pickles": "weigh the salt; keep them under the brine; put a vine leaf into the jar | they go soft; the brine is cloudy | days in the jar 4-30",
            "dumplings": "wet only half of the edge; freeze them before you steam them; fill less than looks right | they open in the pot; the bottoms stick | pleats on each 5-18",
            "leftover rice": "spread it on a tray; fry it on the next day; crumble it with wet hands | it clumps; it smells of the fridge | hours in the fridge 10-40",
        },
    ),
    "mathematics": _lore(
        "problem solver", "book shop", "squared pad 4-9, compass 7-18, paper model 6-15, chalk box 3-8, logic puzzle 9-24, slide rule 20-60",
        ("Proof", "Exercise"), ("Show what you have tried.", "Hide full solutions."),
        **{
            "induction": "write the step for three to four first; say aloud what you assume; check the base case twice | the base case is missing; I assume what I want | pages of proof 1-6",
            "knot theory": "tie it with a real rope; colour the strands; count the crossings of the mirror image | my diagram has one crossing too many; the two are the same after all | crossings 3-11",
            "prime gaps": "make the table by hand first; look at the logarithm; plot it before you guess | the pattern dies at a thousand; the heuristic is off by two | digits of the largest 3-12",
            "graph colouring": "start with the vertex of highest degree; swap two colours along a chain; look for a wheel | the fifth colour is needed at the end; greedy does badly | vertices 9-60",
            "the pigeonhole principle": "name the holes before the pigeons; make it tight with one pigeon less; look for sums | I cannot see what the holes are; it gives one less than I need | points in the square 5-33",
            "infinite series": "group the terms by powers of two; compare it with an integral; sum the first ten by hand | it converges too slowly; I rearranged and got another value | terms until it settles 12-900",
            "matrices": "multiply by a vector first; draw what happens to a square; do the two by two case | I mix rows and columns; the determinant is nearly zero | rows 2-8",
            "topology": "draw it on a paper cup; ask what stays near; collect the counterexamples | the doughnut explains nothing; my open sets are not | examples in my notes 5-40",
        },
    ),
}  # fmt: skip
