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


def _lore(
    doer: str,
    shop: str,
    gear: str,
    flairs: tuple[str, str],
    rules: tuple[str, str],
    **subjects: str,
) -> Lore:
    return Lore(
        doer,
        shop,
        _gear(gear),
        flairs,
        rules,
        {name: _subject(text) for name, text in subjects.items()},
    )


LORE = {
    "bread": _lore(
        "baker", "mill shop", "proving basket 14-32, dough scraper 5-12, kitchen scale 15-40, bread lame 8-19, baking steel 45-90, oven thermometer 9-18",
        ("Crumb shot", "Recipe"), ("Give weights in grams, not in cups.", "A picture of a crust needs one of the crumb."),
        **{
            "a sourdough starter": "feed it at the same hour every day; keep it next to the kettle; use rye for the first week; mark the jar with a rubber band; keep a spoonful dry in an envelope | it smells of nail varnish; it rises and then collapses within the hour; a pink streak runs down the glass | hours between feeds 6-24",
            "a rye loaf": "let it rest a full day before you cut it; bake it in a tin; scald a third of the flour; shape it with wet hands; let the oven fall after ten minutes | the crumb sticks to the knife; the top cracks along the side; the sour taste is gone by the third day | minutes in the oven 45-80",
            "focaccia": "use more oil than you dare; dimple it just before it goes in; salt the top twice; press the olives in and not on; bake it on the lowest rack | the middle stays pale; it turns into a cracker; the oil runs out at the corners | grams of oil 30-90",
            "brioche": "add the butter cold and slowly; chill the dough overnight; brush it with egg twice; prove it in a tall tin; weigh the eggs without their shells | the butter leaks out; the dough never comes off the hook; the crust is brown before the middle is done | minutes of kneading 12-30",
            "ciabatta": "fold it every half hour; flour the bench and not the dough; leave the bubbles alone; dust it with semolina; slide it in on paper | it spreads like a puddle; there is one big hole and no others; it sticks to the towel every time | per cent of water 75-90",
            "bagels": "boil them for a minute a side; shape them the evening before; put malt into the water; turn them with a skewer; leave a hole as wide as two fingers | the holes close in the oven; they wrinkle when they cool; the seeds fall off in the bag | seconds in the water 30-90",
            "pizza dough": "give it two days in the fridge; stretch it with your knuckles; heat the steel for an hour; ball it up before it goes cold; let the topping drain in a sieve | it springs back when I stretch it; the rim burns and the middle stays wet; one side stays white as chalk | grams for a ball 220-290",
            "oven spring": "score it at a low angle; start with a closed lid; put it in straight from the fridge; spray the walls twice; judge it by the poke and not by the clock | the cut heals over; it bursts at the bottom; the loaf leans towards the fan | degrees at the start 230-260",
        },
    ),
    "cycling": _lore(
        "rider", "bike shop", "floor pump 25-60, chain gauge 8-15, rear light 18-55, multi-tool 15-40, frame bag 30-95, torque key 35-80",
        ("Ride report", "Workshop"), ("Say where you ride: roads differ.", "No selling of frames without a serial number."),
        **{
            "gravel tyres": "run them softer than you think; swap front and rear in spring; check the sidewalls after every ride; carry a spare valve core; weigh yourself with the bags on | the rear one wears flat in the middle; they hum on asphalt; small stones cut the middle knobs | millimetres of width 35-50",
            "disc brakes": "bed the pads in on a long hill; clean the rotor with spirit only; centre the caliper by eye; pump the lever before every descent; heat the new pads with ten hard stops | they howl in the rain; the lever goes to the bar; the pistons come back at two speeds | hundred kilometres per set of pads 8-40",
            "commuter lights": "point the front one at the road, not at eyes; carry a second rear light; charge them at your desk; tie the rear one to the bag as well; wipe the lens with a sock | the mount turns downwards; the battery dies in the cold; the cable breaks at the same bend | lumens in front 100-600",
            "winter gloves": "wear thin liners below them; buy them a size larger; dry them away from the radiator; put a windproof cover over the bars; swap them at halfway | the thumbs freeze first; I cannot feel the levers; the lining comes out with the finger | degrees below zero 2-15",
            "chain wear": "measure it every month; replace it before the cassette goes; wax it instead of oiling it; wipe it after each wet ride; run two of them in turn | it skips under load; the small sprocket is already hooked; it creaks only when I stand | hundred kilometres per chain 20-60",
            "saddle height": "raise it by two millimetres a week; mark the post with tape; measure with your riding shoes on; change one thing in a fortnight; look at the heel and not at the knee | my knees hurt in front; my hips rock; the post slips a little on cobbles | centimetres to the pedal 88-108",
            "bike bags": "pack the heavy things low; roll the closure three times; put a spare strap in every bag; waterproof the seams from inside; put the tools where you can reach them | the rear bag swings; the straps rub the paint off; my heels hit them on every turn | litres in all 12-55",
            "tubeless sealant": "shake the bottle for a minute; top it up every season; keep a plug kit in the pocket; turn the valve to four o'clock first; write the date on the rim | it dries into a ball; the rim hisses overnight; white spots dry on the frame | millilitres per tyre 30-120",
        },
    ),
    "houseplants": _lore(
        "plant keeper", "nursery", "moisture meter 7-16, clay pot 6-22, moss pole 9-24, mister 5-14, humidity tray 8-20, potting scoop 6-18",
        ("New leaf", "Rescue"), ("Show the roots when you ask for a diagnosis.", "Name the direction of your window."),
        **{
            "monstera": "give it a pole before it leans; wipe the leaves with a wet cloth; turn the pot a quarter every week; mist the aerial roots; cut the lowest leaf in spring | the new leaves have no holes; the edges turn brown; it has turned its back to the room | new leaves a year 3-12",
            "a spider plant": "let the babies root in water first; use rainwater; cut brown tips at a slant; hang it above the sink; divide it when the roots lift it | the tips are brown; it makes no babies; thin white threads sit in the middle | babies on a runner 2-14",
            "a fiddle leaf fig": "never move it in winter; water it by weight; keep it away from the heater; shake the trunk for a minute a week; clean both sides of a leaf | it drops a leaf a week; there are dark spots in the middle of the leaves; the newest leaf stays the size of a coin | centimetres tall 60-240",
            "a snake plant": "forget to water it; use a pot that is too small; add a third of grit; lay the cuttings down for two days; wipe it with beer | the base is soft; it leans to one side; a leaf fell over without a reason | weeks between waterings 2-7",
            "pothos": "cut it above a node; hang it where you see it daily; let it dry until it droops; wind the ends back into the pot; take one cutting a month | the variegation fades; the stems are bare at the top; the new leaves are half as large | centimetres of vine 50-380",
            "calathea": "group it with other plants; water it with filtered water; keep it out of draughts; set it on wet pebbles; keep a bowl of rain on the sill | the leaves curl by noon; the pattern fades; paper-dry edges run all round | per cent of humidity 40-75",
            "a rubber tree": "pinch the tip in March; dust it every fortnight; put it where the sun arrives in the morning; rub the milk off with ash; lift the pot before you water | it grows straight up without a branch; the lower leaves turn yellow; sticky drops appear below the leaves | years in the same pot 2-5",
            "a grow light": "hang it lower than looks right; put it on a timer; measure it with your telephone; raise it a hand a week; paint the shelf white behind it | the leaves bleach; everything leans to it; the timer loses an hour at each power cut | hours of light a day 8-16",
        },
    ),
    "astronomy": _lore(
        "stargazer", "telescope shop", "red torch 8-20, star atlas 18-45, wide eyepiece 40-120, dew strip 25-60, folding stool 20-55, moon filter 12-30",
        ("First light", "Sketch"), ("Name the instrument and the sky you had.", "Never point at the sun without a filter, not even as a joke."),
        **{
            "Saturn's rings": "wait until it is high in the south; let the tube cool for an hour; use less power than you own; sit down to observe; wait for the steady second | the gap never shows; the image boils; my eyelashes keep touching the glass | times of magnification 90-260",
            "the Orion nebula": "look beside it and not at it; sketch it before you read about it; start with the lowest power; cover your head with a dark cloth; return to it every clear night | it is grey instead of pink; the trapezium shows three stars only; street light washes out the wings | minutes at the eyepiece 10-60",
            "a Dobsonian": "line up the mirrors every time; put felt under the base; carry it in two trips; mark the balance with tape; let two people lift the tube | it sticks and then jumps; the finder points elsewhere; the mirror dews over at midnight | millimetres of mirror 130-300",
            "meteor showers": "lie on your back with a blanket; go out after midnight; leave the telescope at home; face away from the moon; warm a flask of soup | the moon washes them out; clouds come at two; I look down whenever one falls | meteors an hour 8-70",
            "star trails": "tape the focus ring down; start an hour after sunset; take many short pictures; put the battery in your pocket; point it at the pole | dew covers the lens; planes cross every frame; a hiker's lamp crossed the best frame | minutes of exposure 20-180",
            "Jupiter's moons": "note their places every evening; steady the binoculars on a fence; look up the shadow times first; draw four dots every night; use an app only afterwards | one of them is always missing; they smear into lines; a chimney hides them after ten | nights in a row 3-14",
            "light pollution": "ask the council for hoods; drive twenty minutes out of town; let your eyes adapt for half an hour; close the shutters of your own house; count the stars in one square | the new lamps shine upwards; I cannot find the Little Bear; the football ground shines until eleven | kilometres to a dark place 8-60",
            "a solar filter": "hold it against a lamp before each use; tape it to the tube; cap the finder as well; look for wrinkles first; keep it in a stiff box | there is a pinhole in it; the wind lifts it; the edge lets a sliver of light pass | spots on the disc 2-9",
        },
    ),
    "woodworking": _lore(
        "woodworker", "timber yard", "marking gauge 18-45, dovetail saw 40-95, mallet 15-35, bar clamp 12-30, card scraper 8-18, sharpening stone 25-70",
        ("Joinery", "First project"), ("Say which wood it is.", "Pictures of machines show the guard."),
        **{
            "dovetails": "cut the tails first; saw on the waste side of the line; mark with a knife, not a pencil; pare towards the middle; number every corner | there are gaps on one side; the baseline wanders; one pin broke off in the last blow | tails in a drawer 3-9",
            "hand planes": "sharpen before you curse; wax the sole; skew it on hard grain; set the cap iron close; lift it on the way back | it tears the grain; it chatters at the end; shavings jam in the throat | degrees of bevel 25-35",
            "a workbench": "build it heavier than you need; put the vice at the left corner; drill the dog holes last; peg the top instead of gluing it; store the heavy tools below | it walks across the floor; the top cups in winter; one leg is a hair too short | kilograms in all 60-180",
            "walnut boards": "buy a third more than the plan says; let them lie indoors for a month; save the sapwood for the back; plane both faces on one day; stand them on edge | they twist after the first cut; the colour fades at the window; the pith runs through the best piece | dollars a board foot 9-19",
            "table saw safety": "use a push stick even when it is slow; stand to the left of the blade; set the blade a tooth above the board; unplug it before you touch the blade; sweep the floor each hour | it kicked back; the fence is not parallel; offcuts creep towards the blade | teeth on the blade 24-60",
            "wood glue": "wipe it with a wet rag at once; clamp it for longer than the bottle says; warm the parts before you glue; write the date on the bottle; use less than you fear | the joint creeps; it shows up as a pale stain; the clamps mark the soft side | minutes in the clamps 30-240",
            "a cutting board": "glue the strips with the rings alternating; oil it weekly for a month; round the edges last; wet it and sand it again; put feet below it | it cups after washing; a seam has opened; a dark line shows where water stood | strips in the board 7-19",
            "oil finish": "wipe off all that shines; let it dry for two days; hang the rags outside; warm the tin in a bath; test it on the inside of a door | it stays sticky; it turns yellow on maple; dust settles in the second coat | coats 2-6",
        },
    ),
    "running": _lore(
        "runner", "running shop", "running belt 15-35, head torch 20-55, foam roller 14-30, reflective vest 10-24, soft flask 12-22, ankle strap 18-40",
        ("Race report", "Comeback"), ("We are no doctors: pain that stays belongs in a surgery.", "Give your pace in minutes per kilometre."),
        **{
            "tempo runs": "start the first ten minutes too slowly; run them on the same loop; stop when your form goes; talk one sentence a kilometre; warm up for as long as you run | I fade after half of it; the pulse climbs and climbs; the wind is always in the second half | minutes at pace 15-45",
            "trail shoes": "lace the heel twice; keep a pair for mud alone; size up by half a number; dry them with newspaper; check the heel counter with your thumb | the toes hit the front downhill; the lugs peel off; a root tore the mesh at the toe | hundred kilometres per pair 4-11",
            "shin splints": "swap two runs for the bicycle; raise your toes at every red light; shorten your stride; run on grass for a month; roll the calves each night | it hurts at the first kilometre; the bone is sore to touch; the left one aches on stairs | weeks of rest 2-9",
            "a half marathon": "practise your breakfast; walk through the water stops; hold back until the fifteenth kilometre; write your splits on your arm; train at the hour of the race | I hit a wall late; my socks were new; my watch said more than the signs | minutes at the finish 92-150",
            "heart rate zones": "measure your own maximum; wet the strap before you start; walk uphill without shame; run by breath on hot days; repeat the test in spring | easy feels far too slow; the watch reads my cadence; coffee adds ten to everything | beats in the easy zone 118-148",
            "hill repeats": "walk down every time; drive the knees, not the feet; choose a hill with a bench on top; count steps and not minutes; lean from the ankles | the calves cramp; the last one is half as fast; a dog joins in at the third one | repeats 4-14",
            "recovery days": "swim instead of jogging; go to bed an hour earlier; leave the watch at home; cook something long; stretch while the kettle boils | I cannot sit still; the legs stay heavy; my mood drops by evening | days off a week 2-4",
            "pacing": "let the crowd go; check your watch at every third sign only; aim for an even second half; run the first sign blind; tape the plan to your bottle | I always start too fast; hills ruin my average; bridges fool my watch | seconds lost per kilometre 3-25",
        },
    ),
    "photography": _lore(
        "photographer", "camera shop", "lens cloth 4-10, remote release 14-35, grey card 8-18, ring adapter 12-28, padded strap 20-50, rain cover 12-30",
        ("Portrait", "Film"), ("Say how the picture was taken.", "Ask before you show a stranger's face."),
        **{
            "a 50 mm lens": "step closer instead of cropping; stop it down by one click; take nothing else for a month; walk round the thing twice; use the window as your lamp | the focus hunts indoors; portraits look soft wide open; tall rooms never fit in | pictures in a month 80-900",
            "film scanning": "blow the dust off twice; tape the curl down flat; scan the contact sheet first; let the lamp warm up; number the strips before you cut | there are rings in the sky; the colours lean to green; a hair sits in the same corner | minutes a frame 2-12",
            "golden hour": "arrive an hour early; shoot into the sun and then turn round; expose for the sky; scout the place at noon; put the tripod in the shade | it lasts ten minutes here; faces turn orange; a hill swallows the last part | minutes of good light 10-55",
            "tripods": "extend the thick legs first; hang your bag from the hook; switch the stabiliser off; turn the camera before you tilt; rinse the feet after sand | the head sags under the lens; it shakes on bridges; one clamp slips when it is cold | hundred grams of weight 9-28",
            "street portraits": "ask first and then wait; show them the picture; stand in open shade; learn a joke; carry a small print as thanks | people stiffen; I lose my nerve; traffic noise eats every question | refusals in a day 2-12",
            "long exposure": "cover the viewfinder; use the timer of two seconds; bring a filter for the day; tape over the red lamp; wait for two quiet waves | the water is grey; there is a hot spot in every corner; somebody always walks in with a torch | seconds open 4-240",
            "raw editing": "set the white point first; walk away before you export; edit on a dim screen; crop before you tone; keep one version in grey | skies turn purple; prints come out too dark; greens look like plastic | minutes a picture 2-25",
            "camera straps": "wear it across the chest; buy one with a quick release; sew the ends down; cut it to your own height; knot a cord as a spare | it slides off the shoulder; the ring scratches the body; it twists under the rucksack | centimetres long 90-150",
        },
    ),
    "boardgames": _lore(
        "player", "game shop", "card tray 4-12, neoprene mat 18-45, dice tray 10-26, token box 8-20, sand timer 3-9, storage insert 20-50",
        ("Session report", "Variant"), ("Hide the endings of campaign games.", "Name the number of players."),
        **{
            "worker placement": "block one place every round; count the rounds before you plan; take the first player early; teach it with two rounds; leave the meeples in cups | the last round is decided before it starts; one of us always runs away; the tall player covers the market | places on the board 9-24",
            "two-player games": "swap seats after every game; keep the score over a year; play the same one ten times; agree on a time for thinking; write down the openings | one of us always wins; the box says two but means four; the loser wants to swap the box | minutes a game 15-90",
            "rulebooks": "read the last page first; let one person teach and nobody else; play an open first round; mark the exceptions with tabs; read the example with the pieces | the example contradicts the text; nobody knows what a phase is; page four sends me back to page nine | pages 4-48",
            "solo variants": "write your score into the lid; play the robot without mercy; set it up before dinner; use a die for the second player; photograph the table at the end | it is only a puzzle; the robot takes longer than I do; I catch myself cheating for it | minutes of set-up 4-25",
            "party games": "stop while they still laugh; mix the teams each round; leave the score out of it; seat the couples apart; keep the sand timer hidden | the shy ones go to the kitchen; the jokes repeat; the loudest table wins every time | people at the table 5-14",
            "deck building": "throw away the weak cards first; buy nothing in the last two rounds; count your coins; shuffle for your neighbour; follow one colour | my deck stalls; I buy too much; the market never shows a cheap card | cards at the end 14-40",
            "game storage": "store them upright; bag every player's pieces apart; weigh the box and write it down; cut trays from foam board; list the contents on the spine | the lids lift; small boxes vanish; the sleeves make it too high | games on the shelf 18-160",
            "house rules": "agree on them before the first turn; try the printed rules three times; write them on a card; vote at the end of the night; try one change only | nobody remembers who made it; the new ones object; guests think that they are printed | rules changed 2-8",
        },
    ),
    "gardening": _lore(
        "gardener", "garden centre", "hand fork 8-18, watering can 12-30, seed heater 22-50, pruning saw 15-45, frost cover 6-16, soil thermometer 7-15",
        ("Harvest", "Pest"), ("Name your climate.", "No poison without its label."),
        **{
            "tomato blight": "take the lower leaves off; water the soil and never the leaf; give every plant a roof; burn what you cut; grow two kinds that ripen early | brown rings run up the stem; it came overnight after the rain; spots appear on the green fruit | plants lost 2-14",
            "raised beds": "fill the lowest third with wood; leave paths as wide as your barrow; line the inside with card; screw the corners from inside; cover it in autumn | the soil sinks by a hand; ants have moved in; the boards bow in the middle | centimetres deep 20-60",
            "compost": "add two parts brown to one part green; turn it once a month; chop everything; put twigs at the bottom; water it in a dry summer | it stays cold; it smells of eggs; rats have dug in from below | months until it is ready 4-14",
            "slugs": "go out with a torch at ten; water in the morning only; plant the lettuce on a table; lay a board and lift it at dawn; keep the grass short around it | they eat the seedlings in a night; the beer trap draws all of the neighbour's; copper tape made no difference | slugs in a night 6-90",
            "seed trays": "water them from below; sow half now and half in a fortnight; label every row; turn them every morning; use a lamp on the north side | the seedlings fall over; mould covers the soil; they grow long and pale | days until they come up 4-21",
            "pruning roses": "cut above a bud that looks outwards; wait until the forsythia blooms; clean the blade between plants; cut above a bud that looks outward; clean the blade between two bushes | they flower on one side; the stems turn black; suckers come up from below | buds left on a stem 3-7",
            "drip irrigation": "put a filter before the timer; bury the line under the mulch; flush the ends every month; flush the ends in spring; lay it under the straw | the last bed stays dry; the drippers clog with lime; ants block the small holes | litres an hour 2-8",
            "cover crops": "sow them before the last harvest; cut them down when they flower; leave the roots in the ground; sow before the last tomato is out; cut it down before it flowers | it seeds itself everywhere; the soil stays wet in spring; pigeons took most of the seed | weeks in the ground 6-26",
        },
    ),
    "personalfinance": _lore(
        "saver", "book shop", "ledger 6-15, document folder 8-20, fireproof box 30-80, label maker 20-45, desk calculator 9-22, shredder 35-90",
        ("Milestone", "Taxes"), ("No names of banks, no referral codes.", "Nobody here is your adviser."),
        **{
            "an emergency fund": "keep it at another bank; count in weeks and not in money; fill it before you invest; name the account after its purpose; refill it before any holiday | it melts every December; I do not know when it is enough; three bills arrived in one week | weeks of spending 6-40",
            "index funds": "buy on the same day each month; look at it once a year; choose the broadest one; write down why you bought; ignore the evening news | I sold in the dip; I own the same shares three times; the fee went up without a word | years until I need it 8-35",
            "a first mortgage": "ask for the rate in writing; keep a reserve for the roof; read the early payment clause; bring the papers sorted by year; visit the street at night | the valuation came in low; the fees are hidden in the third letter; the broker stopped answering | years of the term 15-35",
            "a car loan": "compare the total and not the monthly sum; pay one extra rate a year; refuse the insurance that comes with it; test the payment with a savings plan; ask for the sum at the end | I owe more than it is worth; the last rate is a balloon; the dealer added a service plan | months to go 12-72",
            "a pension": "take all that the employer adds; ask for your record every year; write down who inherits it; send the letter by registered mail; put the rise of each year in | two years are missing; nobody explains the letter; two of my employers no longer exist | per cent of my pay 4-18",
            "a budget app": "enter it at the till; use seven categories at most; plan the month before it begins; check it with tea on Sunday; start with last month | it loses the cash; my partner does not use it; it counts the rent twice | categories 5-24",
            "a tax return": "put every slip in one box; do it in March; keep a copy of what you sent; photograph the slips at once; list the trips by date | the form asks for a number that I never got; they want it on paper; the portal logs me out | hours of work 2-16",
            "a credit score": "dispute the wrong entry in writing; keep the oldest card; ask once and not five times; lower the limit that you never use; set every bill to automatic | it fell after I paid everything; somebody else's debt is in it; an old address still hangs on it | points gained 12-95",
        },
    ),
    "books": _lore(
        "reader", "bookshop", "reading lamp 18-45, book stand 12-28, page clip 3-8, notebook 6-16, shelf bracket 9-20, audio player 30-75",
        ("Review", "Reading list"), ("Hide what gives the end away.", "Recommend with a reason."),
        **{
            "a long novel": "read it aloud for the first fifty pages; draw the family on the flyleaf; carry nothing else; read with a friend in another town; put a date in the margin | I lose track of the cousins; the middle sags; the print is tiny after ten | pages 620-1180",
            "short stories": "read one and close the book; start with the last one; copy out the best sentence; read them in the order of the book; leave a day between two | they end too soon; they blur into each other; the best one is on the flap | stories in the collection 7-24",
            "translations": "compare the first page of two; look up the translator before the author; read the notes at the end; borrow two versions; read a poem aloud in both | the jokes are gone; the names change halfway; one chapter is missing in mine | years since it was translated 2-60",
            "library cards": "reserve on Sunday evenings; ask for books from other branches; borrow the big print for trains; note the number in your phone; thank the volunteers | my turn comes all at once; the limit is too low; the machine beeps at every return | books on loan 2-30",
            "audiobooks": "slow it down for dialogue; listen while you wash up; rewind when you notice that you drift; try the sample at full speed; walk a new street with it | I fall asleep; the reader does silly voices; chapters end in the middle of a word | hours long 6-42",
            "a reading slump": "read something that you loved at twelve; stop at page fifty without guilt; leave the telephone in the kitchen; go back to comics; set a timer to nine minutes | I read the same page again and again; nothing sounds good; the pile beside the bed accuses me | weeks without a book 2-20",
            "book clubs": "let the quietest person begin; choose books below three hundred pages; fix the next date before you leave; let the host choose the cake and not the book; write one question each | nobody has finished it; one person talks; half of us saw the film | members 4-13",
            "science fiction": "begin with the short ones; skip the map; do not ask how the drive works; read the afterword first; make a list of the planets | the science has aged; the women make the coffee; the sequel forgets its hero | books in the series 2-11",
        },
    ),
    "coffee": _lore(
        "coffee drinker", "roastery", "pocket scale 14-35, gooseneck kettle 30-80, milk jug 9-22, tamper 15-40, knock box 12-28, cupping spoon 5-12",
        ("Recipe card", "Gear talk"), ("Give dose, water and time.", "No roaster's advertising."),
        **{
            "hand grinders": "count the clicks from zero; brush the burrs every week; grind standing, against the hip; hold the beans with two drops of water; tighten the axle once a year | the setting slips; it takes two minutes for a cup; my wrist aches on Sundays | clicks for filter 14-32",
            "light roasts": "use water just off the boil; rest the bag for three weeks; grind finer than you would; stir the bloom; pour in five small steps | it tastes of lemon and nothing else; the second cup is sour; the cup is thin as tea | days after roasting 10-35",
            "espresso dialing": "change one thing at a time; weigh what comes out; write every shot down; keep the beans at one temperature; taste with a spoon | it gushes after ten seconds; it is bitter and sour at once; Monday's setting fails on Tuesday | seconds for a shot 22-38",
            "moka pots": "fill it with hot water; take it off at the first gurgle; never press the coffee down; level it with a finger; cool the base under the tap | it tastes burnt; steam comes out of the side; the handle has begun to melt | minutes on the stove 3-9",
            "cold brew": "steep it in the fridge; filter it twice; mix it with tonic; grind it like sand from a beach; stir after the first hour | it is flat; there is mud at the bottom; it turns sour on the third day | hours of steeping 8-24",
            "water hardness": "mix tap water with filtered half and half; descale before it is due; taste the water by itself first; note the date of each filter; boil a test glass dry | everything tastes of chalk; the kettle furs up in a week; limescale floats on my tea | degrees of hardness 4-22",
            "milk steaming": "stop when the jug is too hot to hold; purge the wand first; swirl it until it shines; sink the tip by a fingernail; knock the jug once | I get bubbles like bath foam; it separates in the cup; big bubbles come back while I pour | grams of milk 120-240",
            "filter papers": "rinse them with hot water; fold the seam twice; store them away from spices; press the edge to the wall; buy the brown ones | they taste of card; they collapse at the side; they taste of the cupboard | papers a month 20-70",
        },
    ),
    "linux": _lore(
        "administrator", "computer shop", "memory stick 6-18, external disk 45-110, network switch 18-45, serial cable 7-16, small board 35-85, spare fan 8-20",
        ("Config", "Solved"), ("Paste the message and not a picture of it.", "Say which version you run."),
        **{
            "systemd timers": "add a random delay; list them all before you add one; test the service without the timer first; mail yourself the failures; keep the names short | it runs twice after a resume; the log says nothing; a job waits for a network that never comes | minutes between runs 5-90",
            "a home server": "label every cable; put it where you can hear it; write down what you installed; test the power cut on purpose; leave one socket free | it reboots at night; the fan is louder than the telly; the kernel update ate the wifi | watts at the wall 6-65",
            "btrfs snapshots": "keep them on another disk as well; name them by the day; prune them before the disk is full; balance it at night; write the command on a card | the disk is full and nothing is on it; the rollback lost the boot entry; deleting them takes longer than the backup | snapshots kept 7-60",
            "tiling windows": "learn five keys and no more for a week; keep one floating desktop; print the bindings; bind the mouse to nothing; open the mail on screen four | dialogues open in a corner; the second screen goes black; a game refuses to be tiled | windows on one desktop 2-7",
            "printer drivers": "try it without a driver first; give it a fixed address; keep the old cable; send it a plain text first; turn off the status pop-ups | every page comes out twice; it only prints after a restart; the margins move with each update | pages lost 3-60",
            "shell scripts": "quote every variable; let it fail early; read it again after a month; print the command before you run it; test it in an empty folder | it works by hand and not at night; a blank in a name broke it; it deletes one file too many | lines of code 12-240",
            "backups": "restore one file every month; keep a copy at your sister's; encrypt before it leaves the house; leave one disk at work; draw a plan of what goes where | it has been empty since March; the disk sounds odd; the log has grown larger than the data | gigabytes in all 40-900",
            "Wayland": "log in on the old session when you must share; set the scale per screen; report it with the log; start the old terminal once; keep a second session ready | the screen cannot be shared; the pointer is tiny; copied text vanishes with its window | crashes in a month 2-12",
        },
    ),
    "travel": _lore(
        "traveller", "outdoor shop", "sleep mask 6-16, packing cube 9-22, travel lock 7-18, sink plug 3-7, power adapter 9-24, day pack 25-60",
        ("Trip report", "Route check"), ("Name the month of your journey.", "No questions that a timetable answers."),
        **{
            "night trains": "take the upper bed; bring your own breakfast; board at the second station; keep your shoes under the pillow; sleep with your head to the corridor | the heating cannot be turned down; they wake you at the border; the restaurant car was left behind | hours on the train 7-17",
            "hostels": "ask for a bed by the wall; book the first night only; write to them before you arrive late; hang a towel as a curtain; cook on the first evening | somebody packs plastic bags at five; the lockers need a lock; the key card forgets me each noon | dollars a night 18-48",
            "packing light": "wear the heavy shoes; lay it all out and leave a third; wash a shirt every evening; roll the shirts around the socks; post the guide book home | the bag is full before the shoes; I missed a jumper on day two; the soap leaked into everything | kilograms of luggage 4-11",
            "ferry passes": "check in by foot; buy it before the season; sit on the side without the wind; stand by the door before it docks; learn the names of the piers | the last boat is full; the pass excludes the fast one; my cabin was above the engine | crossings 3-16",
            "visa questions": "carry two printed photographs; apply six weeks before; keep the receipt with the passport; fill it in with capitals; bring your own pen and glue | the form has timed out; the bank letter was too old; the clerk wants a page that does not exist | days of waiting 4-38",
            "solo travel": "tell somebody your route each evening; eat at the counter; learn ten words before you go; sit beside the driver; send yourself a postcard | dinners are lonely; rooms for one cost the same; nobody watches the bag when I swim | days alone 5-60",
            "rail passes": "add up single tickets first; reserve the fast ones in April; fill in the diary before you board; screenshot every ticket; change in small stations | the seats for pass holders are gone; it starts on the wrong day; the app shows it as used | travel days 4-15",
            "travel insurance": "read what it says about mopeds; photograph every receipt; pay the ticket with the same card; save the number under two names; ask the nurse to stamp it | they want a report from the police; the delay was an hour too short; the excess is higher than my phone was worth | hours of delay 3-20",
        },
    ),
    "music": _lore(
        "musician", "music shop", "clip tuner 10-22, capo 8-20, music stand 15-40, metronome 12-30, record brush 9-24, practice mute 10-26",
        ("Cover", "Practice log"), ("Post what you play, not what you own.", "Be kind to first recordings."),
        **{
            "fingerpicking": "play the thumb alone for a week; sing the bass line; keep the nails a little long; tap your foot on two; slow the chorus to half | the thumb stops when the tune starts; the third finger is weak; the strings buzz at the second fret | beats a minute 50-120",
            "piano scales": "play them with your eyes shut; start on the black keys; stop after ten minutes; use a coin on the hand; end with a piece you love | the fourth finger is uneven; the left hand races; the neighbours knock at contrary motion | minutes of practice a day 8-45",
            "vinyl care": "brush it before every side; store the records upright; wash them with distilled water; level the deck with a coin; ground the cable | the first track crackles; the sleeves have split; a click follows me from side to side | records on the shelf 30-420",
            "ear training": "sing it before you look; test yourself on the bus; do fourths and fifths first; hum the last note of the fridge; guess first and play after | I mix up sixths; chords are a blur; minor and major swap when I am tired | intervals right out of twenty 8-18",
            "a loop pedal": "tap on the one and not before; build the quietest layer first; leave the second bar empty; record the drums with your mouth; stop on the fourth bar | the loop drifts; it turns into mud; my second layer comes a breath late | layers at once 2-6",
            "choir warm-ups": "hum before you sing; stretch like a cat; end on something slow; sing on the way down first; shake the arms out | the altos are cold; the high ones push; the tenors arrive in the middle | minutes before we sing 5-25",
            "stage fright": "play for one person the day before; breathe out for longer than in; make your first piece the easiest; eat a banana an hour before; learn the room by walking it | my hands are cold; I forget the second verse; my knees shake on the low step | people in the room 8-140",
            "headphones": "replace the pads before you replace them; turn it down by three clicks; try them with your own records; untwist the cable each night; let them rest on a hook | one side crackles; they press after an hour; the left one is quieter after rain | hundred grams of weight 2-5",
        },
    ),
    "languages": _lore(
        "learner", "language school", "pocket dictionary 9-24, card box 7-18, graded reader 6-14, writing pad 4-9, wall chart 8-20, verb table 5-12",
        ("Progress", "Resource"), ("Write your languages in your profile.", "Correct only who asks for it."),
        **{
            "German cases": "learn the article as a part of the word; colour the genders; read recipes aloud; ask “whom” aloud; write a diary of one line | the dative still surprises me; adjectives ruin everything; plural dative hides from me | tables on my wall 2-9",
            "listening practice": "hear the same three minutes daily; write down what you think you hear; listen first and read later; read the transcript backwards; choose one voice for a month | they swallow the endings; I lose it after the first number; jokes arrive a minute late | minutes a day 6-60",
            "flash cards": "make the cards yourself; delete those that annoy you; put a sentence on the back; shuffle the directions; say it before you flip | the pile grows; I know the card and not the word; yesterday's words come back as strangers | cards a day 8-60",
            "Japanese kanji": "write them on squared paper; learn the parts before the whole; read shop signs; draw the odd one on the mirror; tell a story for each part | I can read but not write; they look alike; the tenth stroke always goes missing | characters in a month 20-140",
            "tandem partners": "set a timer for each language; meet at the same café; agree on how to be corrected; bring a menu to translate; send a voice note in between | we always end in English; my partner cancels; our time zones eat the evening | meetings so far 2-40",
            "Spanish subjunctive": "collect the phrases that call for it; ignore the exceptions for a year; say what you wish for every morning; underline it in songs; begin with your mother's advice | I hear it and cannot make it; the past forms mix; old people laugh at my wishes | phrases in my notebook 12-90",
            "accent work": "record yourself once a week; copy one speaker only; exaggerate until you laugh; chew while you say it; whisper the hard line | my R is still flat; they answer in English; my jaw is sore by Friday | weeks of practice 4-40",
            "reading aloud": "read to a child or a cat; mark the pauses with a pencil; repeat the page on the next day; sit up as at a piano; record the same page in June | my voice tires; I do not notice what I read; commas come as a surprise | pages an evening 2-8",
        },
    ),
    "birds": _lore(
        "birdwatcher", "nature shop", "seed feeder 12-30, field notebook 5-12, binocular strap 14-32, nest box 15-38, hide net 18-45, bird bath 20-55",
        ("Sighting", "Identify"), ("No places of nests.", "Say when and in which light."),
        **{
            "feeder squirrels": "hang it on a long wire; grease nothing, it harms feathers; feed them somewhere else; move it a metre each week; smear nothing and fit a dome | they empty it by nine; they chew through the wood; they hang upside down and wait | squirrels at once 2-6",
            "owl calls": "stand still for twenty minutes; go in late February; answer no call; cup your hands behind the ears; note the wind | I only hear the road; two of them sound alike; the dog answers before I can hear | calls in a night 2-30",
            "warbler season": "learn the songs in winter; start at sunrise by the water; look at the legs first; stay at one bush for an hour; learn the alarm call first | they stay behind leaves; half of them look green; the songs stop when I open the book | kinds in a morning 3-17",
            "a field guide": "write into the margins; tear out the countries that you never visit; learn its order by heart; stick a tab at the gulls; draw the bird before you look | the colours are too bright; it has no young birds; my page shows a bird from another coast | plates 40-260",
            "binoculars": "set the left eye first; try them on at dusk; clean them with a brush before a cloth; lean on a tree; wear them high on the chest | they fog inside; the image is double; the strap squeaks when I lift them | times of magnification 7-12",
            "nest boxes": "face them to the north-east; clean them in October; leave a metre of free flight; roughen the inside below the hole; hang two of a kind far apart | wasps have moved in; the great tits throw the others out; a woodpecker has widened it | millimetres of the hole 26-45",
            "a duck pond": "bring oats instead of bread; count them from one end; come before the dogs; sit with the sun behind you; note the rings on their legs | the mallards are hybrids; they sleep whenever I come; the geese chase every visitor | birds on the water 12-160",
            "migration": "watch the wind and not the calendar; count for ten minutes and pause; write down the first and the last; get up for the first north wind; keep one tally for each hour | they pass at night; the fog hides everything; a plane put the whole flock down | birds an hour 20-800",
        },
    ),
    "diy": _lore(
        "home improver", "hardware shop", "spirit level 12-30, filling knife 6-15, stud finder 18-40, sanding block 5-12, caulk gun 8-20, work light 20-48",
        ("Before and after", "Tool talk"), ("Electricity belongs to an electrician.", "Measure before you ask."),
        **{
            "a leaking tap": "shut the water off and open it once more; take the old washer to the shop; wrap the tape with the thread; close the drain before you unscrew; photograph each layer | it drips again after a week; the nut is round; water stands under the sink by noon | drops a minute 4-60",
            "drywall": "score it and snap it; stagger the joints; sand with a pole and a lamp from the side; pre-cut the holes with the box as a stencil; feather three coats | the screws pop; the seams show in the evening light; a corner cracked when the heating went on | sheets 2-18",
            "grout": "mix it like toothpaste; wipe it across the joints; seal it after a week; soak the tiles at the edge; work in squares of an arm | it cracks in the corner; the colour is not that of the sample; white haze came back overnight | kilograms of powder 2-12",
            "squeaky floors": "walk it with chalk in hand; screw into the joist at an angle; dust the gap with talcum; listen from the room below; mark the joists with tape | it only squeaks at night; the pipes run just below; the long board lifts at one end | squeaks found 3-22",
            "door hinges": "replace one screw by a long one; pack the lower hinge with card; mark the door before you plane; oil the pin and not the leaf; hold it up with a wedge | it rubs at the top; the latch misses the plate; it swings open by itself | millimetres of gap 2-6",
            "wallpaper": "hang the first strip by a plumb line; start behind the door; let the paste soak in; number the strips on the back; smooth from the middle outwards | the seams open; the pattern jumps; a bubble hides behind the lamp | rolls 3-14",
            "a draughty window": "hold a candle along the frame; replace the felt on a dry day; hang a curtain that reaches the floor; press clay into the gap; seal the shutter box too | it whistles in the west wind; the paint holds it shut; the curtain moves on still days | degrees gained 2-5",
            "tile cutting": "score once and press hard; drill with water; cut the visible edges from the front; tape the line before you drill; buy a tenth more | the corners break off; the blade wanders; the last row is a finger too narrow | tiles broken 2-16",
        },
    ),
    "cooking": _lore(
        "cook", "kitchen shop", "chef's knife 25-90, cast pan 22-60, steamer basket 9-24, spice grinder 14-35, pickling jar 4-11, wooden spoon 3-9",
        ("Weeknight", "Technique"), ("Post the recipe with the picture.", "Say how many it feeds."),
        **{
            "risotto": "toast the rice until it clicks; keep the stock hot; stop while it still flows; finish it off the heat; warm the plates | it turns into a brick; the middle is chalky; it splits when I add the cheese | minutes of stirring 15-28",
            "knife skills": "curl your fingers; rest the tip on the board; sharpen it every Sunday; cut a flat side first; move the guiding hand like a crab | my onions slide; the wrist hurts; the blade wedges in a carrot | onions a minute 2-4",
            "lentil soup": "add vinegar at the end; fry the spices first; cook half of it to a mash; rinse them until it is clear; keep a ladle back for tomorrow | it tastes of nothing; it sets overnight; the green ones never soften | minutes of simmering 20-60",
            "stir-fry": "cook it in two batches; dry everything; cut it all before you light the stove; tilt the pan; add the sauce down the side | it stews in its water; the garlic burns; the smoke alarm joins in | minutes in the pan 3-9",
            "roast chicken": "salt it the day before; start with the breast down; let it rest for as long as you can bear; tie the legs loosely; roast it on bread | the breast is dry; the skin is soft; the pan juices burn black | minutes in the oven 55-100",
            "pickles": "weigh the salt; keep them under the brine; put a vine leaf into the jar; cut the blossom end off; label the lids | they go soft; the brine is cloudy; mould floats on the third jar | days in the jar 4-30",
            "dumplings": "wet only half of the edge; freeze them before you steam them; fill less than looks right; fold them under a wet cloth; steam them on leaves | they open in the pot; the bottoms stick; the filling leaks when they cool | pleats on each 5-18",
            "leftover rice": "spread it on a tray; fry it on the next day; crumble it with wet hands; add an egg at the end; season it cold | it clumps; it smells of the fridge; it stays hard in the middle | hours in the fridge 10-40",
        },
    ),
    "mathematics": _lore(
        "problem solver", "book shop", "squared pad 4-9, compass 7-18, paper model 6-15, chalk box 3-8, logic puzzle 9-24, slide rule 20-60",
        ("Proof", "Exercise"), ("Show what you have tried.", "Hide full solutions."),
        **{
            "induction": "write the step for three to four first; say aloud what you assume; check the base case twice; name the set of failures; try strong and then weaken it | the base case is missing; I assume what I want; my step skips from one to three | pages of proof 2-6",
            "knot theory": "tie it with a real rope; colour the strands; count the crossings of the mirror image; number the arcs; search for a move that undoes two | my diagram has one crossing too many; the two are the same after all; the rope slips while I count | crossings 3-11",
            "prime gaps": "make the table by hand first; look at the logarithm; plot it before you guess; sort them by size; work modulo thirty | the pattern dies at a thousand; the heuristic is off by two; my program runs past its bound | digits of the largest 3-12",
            "graph colouring": "start with the vertex of highest degree; swap two colours along a chain; look for a wheel; peel off the small degrees; draw it without crossings | the fifth colour is needed at the end; greedy does badly; two neighbours share a colour in the end | vertices 9-60",
            "the pigeonhole principle": "name the holes before the pigeons; make it tight with one pigeon less; look for sums; draw the holes as boxes; pair each thing with its rest | I cannot see what the holes are; it gives one less than I need; my boxes overlap at the border | points in the square 5-33",
            "infinite series": "group the terms by powers of two; compare it with an integral; sum the first ten by hand; bound the tail first; test the ratio at ten | it converges too slowly; I rearranged and got another value; the signs hide the divergence | terms until it settles 12-900",
            "matrices": "multiply by a vector first; draw what happens to a square; do the two by two case; look for a row that is a sum; write the sizes above | I mix rows and columns; the determinant is nearly zero; my inverse is not one | rows 2-8",
            "topology": "draw it on a paper cup; ask what stays near; collect the counterexamples; cover it with small open sets; bend it before you cut it | the doughnut explains nothing; my open sets are not; my picture only works in the plane | examples in my notes 5-40",
        },
    ),
}  # fmt: skip
