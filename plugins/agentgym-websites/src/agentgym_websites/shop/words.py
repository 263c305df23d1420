"""Rules of reviews and descriptions.

Blanks are facts of the product and of the order (see ``texts.facts``) or rules of this file.
"""

from collections.abc import Mapping

from agentgym_websites.grammar import Rules

FRIENDS = (
    "my sister", "my father", "my mother", "my brother", "my neighbor", "my nephew", "my grandmother", "a colleague", "my oldest friend",
    "my daughter", "my son", "my aunt", "my roommate", "my uncle", "my cousin", "our landlady", "my mother-in-law", "my godson", "my boss", "my niece",
)  # fmt: skip
TITLES: Rules = {
    "Better than I hoped": (
        "Better than I hoped", "Expected less of {a_thing}", "Surprised by the {part}", "{brand} got it right", "Did not think I would like {them} this much",
        "My doubts were gone in a week", "More {thing} than I paid for", "A pleasant surprise for {place}", "Won me over", "{deed}, but nicer",
    ),
    "Daily companion": (
        "Daily companion", "In use for {owned}", "{owned} of {deed}", "Every single day", "Still like new after {owned}", "My {thing} for everything",
        "Earned a place {at_place}", "Never far from reach", "Hard to imagine a day without {them}", "Works as on the first day",
    ),
    "Great value": (
        "Great value", "Worth every dollar", "Why pay more for {a_thing}?", "Cheap for what you get", "Fair price, good {part}", "{brand} at a good price",
        "Money well spent", "Twice the price elsewhere", "A bargain for {place}", "The sensible choice",
    ),
    "Lovely finish": (
        "Lovely finish", "{colour} at its best", "So pretty in {colour}", "{a_thing} to look at", "Beautifully made {part}", "Exactly the {colour} I wanted",
        "Handsome", "Looks at home {at_place}", "The {part} alone is worth it", "Even nicer than in the picture",
    ),
    "Perfect gift": (
        "Perfect gift", "For {whom}", "A present that gets used", "{whom} loves {them}", "Gave {them} to {whom}", "The best present in years", "Made somebody happy",
        "Gift for a friend of {deed}", "A hit with {whom}", "Buying another one as a present",
    ),
    "Good, with one flaw": (
        "Good, with one flaw", "If only the {part} were better", "The {part} lets {them} down", "Almost there", "Nearly perfect", "Good {thing}, weak {part}",
        "One thing bothers me", "Mind the {part}", "Would be five stars with another {part}", "Heavy, but useful",
    ),
    "Fine for the price": (
        "Fine for the price", "Does the job", "An ordinary {thing}", "Neither good nor bad", "You get what you pay for", "Average", "Okay for {place}",
        "Nothing to write home about", "{deed}, no more", "Good enough",
    ),
    "Smaller than expected": (
        "Smaller than expected", "Check the size first", "Tiny {thing}", "Too small for {place}", "Read the measurements", "A size for dolls",
        "Looked bigger in the picture", "Cute, but small", "I pictured more {thing}", "Less room than I thought",
    ),
    "Slow delivery": (
        "Slow delivery", "{days} to {city}", "Waited {days}", "Good {thing}, slow mail", "Order early", "Late to {city}", "Patience needed",
        "It did come in the end", "The parcel took a detour", "Nice {thing}, tired courier",
    ),
    "Broke within a month": (
        "Broke within a month", "The {part} broke", "Lasted {owned}", "Not made to last", "{owned}, then the trash", "Weak {part}", "Broken already",
        "Gave up after {owned}", "Do not trust the {part}", "Short life",
    ),
    "Not as pictured": (
        "Not as pictured", "{other}, not {colour}", "The wrong color", "Where is the {colour}?", "Picture and parcel disagree", "A different {thing} altogether",
        "Looks nothing like the photo", "Misleading picture", "Ordered {colour}, got {other}", "That is not {colour}",
    ),
    "Poor packaging": (
        "Poor packaging", "Scratched {part}", "Thrown into a box", "Damaged on the way to {city}", "No padding at all", "A dent in the {part}",
        "Who packs like this?", "Arrived with marks", "Box too thin for {a_thing}", "Pity about the {part}",
    ),
    "Would not recommend": (
        "Would not recommend", "The smell!", "Smells of {odor}", "Cheap material", "Save your money", "Stay away", "Not for {place}, please",
        "I hold my breath", "Disappointing {thing}", "{brand} can do better",
    ),
}  # fmt: skip
BODIES: Rules = {
    "Better than I hoped": (
        "{bought_long} {hoped}",
        "{hoped} {bought_long} {good}",
        "{bought_long} {good} {hoped}",
    ),
    "Daily companion": (
        "{bought_long} {daily}",
        "{daily} {bought_long} {good}",
        "{bought_long} {daily} {good}",
    ),
    "Great value": (
        "{bought_long} {value}",
        "{value} {bought_long} {good}",
        "{bought_long} {value} {good}",
    ),
    "Lovely finish": ("{bought} {finish}", "{finish} {bought} {good}", "{finish} {good}"),
    "Perfect gift": (
        "{gift_start} {gift}",
        "{gift_start} {gift} {good}",
        "{gift_start} {good} {gift}",
    ),
    "Good, with one flaw": (
        "{bought_long} {flaw}",
        "{bought_long} {good} {flaw}",
        "{flaw} {bought_long} {plain}",
    ),
    "Fine for the price": (
        "{bought_long} {okay}",
        "{okay} {bought_long} {plain}",
        "{bought_long} {plain} {okay}",
    ),
    "Smaller than expected": (
        "{bought} {small}",
        "{small} {bought} {plain}",
        "{bought} {small} {plain}",
    ),
    "Slow delivery": ("{slow} {plain}", "{slow} {bought}", "{bought} {slow} {plain}"),
    "Broke within a month": (
        "{broke_start} {broke}",
        "{broke_start} {broke} {bad}",
        "{broke_start} {bad}",
    ),
    "Not as pictured": ("{bought} {pictured}", "{pictured} {bought} {bad}", "{pictured} {bad}"),
    "Poor packaging": (
        "{packed_start} {packed}",
        "{packed_start} {packed} {bad}",
        "{packed_start} {bad}",
    ),
    "Would not recommend": ("{bought} {smell}", "{smell} {bought} {bad}", "{smell} {bad}"),
}
"""Layouts of sentences, by theme. An ending that fits the rating can follow."""
EXTRAS: Mapping[str, str] = {
    "option": "{with_option}",
    "other": "{with_other}",
    "early": "{nth_order}",
}
"""Sentences that only some orders allow."""
RULES: Rules = {
    "i": ("I", "I", "we"),
    "got": ("bought", "ordered", "picked", "chose", "got"),
    "since_when": ("in {month}", "on {date}", "back in {month}", "one {weekday} in {month}", "for {price}", "after a long search", "on a whim in {month}"),
    "weekday": ("Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday", "Sunday"),
    "call": ("{this} {thing}", "{this} {brand} {thing}", "{this} {model}", "the {thing}", "the {thing} from {brand}", "{this} {material} {thing}", "the {colour} {thing}"),
    "them2": ("{them}", "{call}"),
    "use": ("{deed}", "{deed2}", "{deed} and {deed2}"),
    "home": ("{place}", "our place in {city}", "my home in {city}"),
    "f": ("in {city}, ", "here in {city}, ", "for {price}, ", "{at_place}, ", "when {deed}, ", "after {deed2}, ", "even when {deed2}, ", "back from {deed}, ", "to be fair, ", "as {a_thing} for {price}, ", "by {weekday}, "),
    "bought_long": (
        "{i} <have had|have owned|have lived with> {call} for {owned}<, mostly for|, chiefly for| and use {them} for> {use}.",
        "<After|Following> {owned} of {use}<,| in {city},| {at_place},> {call} <still get{s}|deserve{s}> <a report|some words|an honest verdict>.",
        "{owned} ago {i} {got} {call} <for {home}|with {deed} in mind|because of {deed}>.",
        "{call} <came|moved> <to {city}|into our home> {owned} ago<, for {use}|, and {use} began>.",
        "{i} {got} {them2} {since_when}; {owned} <later|of {use} later>, here is <my view|what I think|a fair account>.",
        "{owned} with {call}, <day in and day out|week after week|most of it {at_place}|most of it {deed}>.",
        "<Bought|Ordered> {since_when}, {call} {has} <had|seen|survived> {owned} of {use}.",
        "It took {owned} of {use} <before I dared to judge|to make up my mind about|to get to know> {call}.",
        "Over {owned} {call} {has} <served|coped with> {home}<| and plenty of {deed}>.",
        "My {order} here was {call}; since then {owned} of {use} <went by|have passed>.",
        "{city} <gave|offered> {them2} {owned} of <{use}|weather, {deed} and guests>.",
        "<Between|What with> {deed} and {deed2}, {call} {has} worked <hard|quietly|without a rest> for {owned}.",
        "<Because|Since> {deed} takes up most of my {weekday}, {i} {got} {call} {owned} ago.",
        "How {do} {call} hold up after {owned} of {use} in {city}?",
        "When {deed} became <a habit|a chore> in {city}, {i} {got} {call}: that was {owned} ago.",
        "{price}, {owned} and a lot of {use}: <that sums up|such is the record of|so much for> {call}.",
        "{place}, {owned}, {call}: <time to take stock|a short account follows|no regrets so far>.",
        "Unpacked on {arrived} in {city}, {call} {has} been in use for {owned}<, mostly for {deed}|>.",
    ),
    "bought": (
        "{i} {got} {call} {since_when}<, for {home}|, for {use}|>.", "<For|Because of> {use}, {i} {got} {call} {since_when}.",
        "{call} {was} meant <for {home}|to serve for {use}><| from {month} on>.", "<Looking for|In need of> {a_thing} for {use}, {i} {got} {call}.",
        "<My|Our> <old|last> {thing} <gave up|broke|got lost> in {month}, so {call} had to <follow|come|take over>.",
        "{home} <needed|called for> {a_thing}, and {i} {got} {call} {since_when}.", "{since_when} {i} {got} {call} with {deed} in mind.",
        "<A friend in {city}|My neighbor in {city}|Someone at work> <praised|recommended> {brand}, so {i} {got} {call}.",
        "{price} <went to {brand} for|was what I paid for> {call}, for the sake of {use}.", "<My|Our> {order} here, {call}, <was for|went to> {home}.",
        "<Two|Three|Four> people in {city} share {call} for {use}.", "It <all began|started> with {deed}: {i} {got} {call} {since_when}.",
        "Since nobody in {city} <sold|had> {a_thing} in {colour}, {i} {got} {call} here.", "Who needs {a_thing}? <I do|We do>, for {use}, and so {i} {got} {call} {since_when}.",
        "Before {month} {i} had no good {thing} for {deed}; then came {call}.", "Once {deed} had <worn out|finished off> {this} old {thing} of ours, {call} came to {city} {since_when}.",
        "In {city} {deed} is <a serious matter|half my week>, and {i} {got} {call} for it.", "{colour}, {size} in {measure}, {price}: on paper {call} <looked right|was what {i} wanted>.",
    ),
    "occasion": (
        "for a birthday", "as a housewarming present", "for the holidays", "to say thank you", "for a wedding", "for a graduation", "after a long illness",
        "for a new job", "for an anniversary", "when the baby came", "for passing an exam", "for the move to {city}", "at the end of {month}",
    ),
    "gift_start": (
        "{call} {was} <for|a present for> {whom}<, {occasion}| {occasion}>.", "{i} <gave|handed|sent> {whom} {call} {occasion}.", "{whom} <got|received|unwrapped> {call} <from me |>{occasion}.",
        "<Since|As> {whom} <loves|spends evenings|is fond of> {deed}, {i} {got} {call} {occasion}.", "{occasion}, {whom} <wished for|asked for|needed> {a_thing}, and {brand} it was.",
        "<Searching|Looking> for something {occasion}, {i} {got} {call} for {whom}.", "In {month} {i} {got} {call} for {whom}, {occasion}.",
        "What do you give {whom} {occasion}? {call} in {colour}, {i} thought, for {price}.",
        "Whenever {deed} comes up, {whom} talks about nothing else, so {i} {got} {call} {occasion}.", "Because {price} seemed fair, {whom} got {call} from {brand} {occasion}.",
        "On {date} {i} {got} {call} for {whom}, who lives for {deed}.",
    ),
    "damage": ("a deep scratch", "a dent", "a crack", "a long scuff", "an ugly chip", "a stain of glue", "three scratches", "a rub mark", "dried tape"),
    "padding": ("any padding", "a scrap of paper", "bubble wrap", "a second layer of cardboard", "so much as a newspaper", "a single cushion", "filling of any kind"),
    "broke_start": (
        "After {owned} of {use} the {part} <broke|snapped|gave way|came off>.", "The {part} <broke|snapped|gave way> after {owned}<| of {use}>, though {i} only used {call} for {deed2}.",
        "It took {owned} until the {part} of {call} <broke|snapped|gave way>.", "{owned} with {call}, <and|then> the {part} <broke|snapped|came apart>.",
        "{i} <had used|had> {call} for {owned} when the {part} <broke|snapped|cracked> <{at_place}|in the middle of {deed}>.", "The {part} <broke|cracked|came off> while {i} was busy {deed}; {call} {was} {owned} old.",
        "{call} from {month} {is} <broken|useless|in two pieces>: {owned} of {use} and the {part} <snapped|gave way|fell off>.",
        "Arrived on {arrived}, broken {owned} later: the {part} <did not survive|gave up on> {deed}.",
        "{deed} was all that {i} did, and after {owned} the {part} <broke|snapped|gave way>.", "{at_place}, {owned} after {arrived}, the {part} <broke|snapped|gave way>.",
        "How can the {part} of {call} <break|snap|give way> after {owned} of {deed}?", "{price} bought {owned} of {use}; then the {part} <broke|snapped|came off>.",
    ),
    "packed_start": (
        "{call} <arrived|came|landed> in {city} <on {arrived} |>with {damage} on the {part}.", "There was {damage} on the {part} when {i} opened the <box|parcel> <on {arrived}|in {city}>.",
        "Somebody <put|threw> {call} into a <box|carton> without {padding}, <hence|so there was> {damage} on the {part}.", "{damage} on the {part} of something that cost {price}: that was {arrived} in {city}.",
        "All the way to {city} without {padding}, and {damage} on the {part}<| of {call}>.", "<On {arrived}|In {city}> {i} <unpacked|lifted out> {call} and <found|saw> {damage} on the {part}.",
        "{call} <traveled|came> {days} without {padding}, and now there is {damage} on the {part}.",
        "Without {padding} in the box, {call} reached {city} with {damage} on the {part}.", "When the {thing} reached {city} on {arrived}, the {part} had {damage}.",
        "{price}, {days} of waiting, and then {damage} on the {part}.", "Is {damage} on the {part} normal for {a_thing} at {price}?",
    ),
    "hoped": (
        "{i} expected little <for {price}|from {brand}>, <and then|until> the {part} <convinced me|won me over|proved me wrong>.",
        "{f}the {part} <feels|is|turned out> <far better|more solid|nicer> than <{price} suggests|the picture suggests|{i} feared>.", "{i} had doubts about the {part} and <the {material}|{deed}>; <all gone now|none remain>.",
        "<Compared with|Next to> the {brand2} one before, {use} <is half the effort|goes faster|is a pleasure>.", "{at_place} the {part} <surprised|pleased> me most<, and so did the {material}|>.",
        "Not even {deed} <harmed|bothered> {them}, and the {part} <looks new|holds|stays put>.", "{brand} <has thought of|got right> <every detail|the small things>, above all the {part} <and the {part2}|of {material}>.",
        "{i} wanted something <simple|cheap> for {use} and <got|ended up with> {call}, <a keeper|which {is} anything but>.", "{use} with {call} <beats|is better than> <the café|the gym|anything> in {city}.",
        "At {size} in {measure} {i} <expected|feared> trouble {at_place}; <all fits|there was none>.", "Although {brand} was new to me, the {part} <won me over|settled the matter> by {weekday}.",
        "Did {i} expect {a part} like that for {price}? Not in {city}.", "{material} from {origin} <is|turned out> more than {i} had hoped for at {price}.",
    ),
    "daily": (
        "Hardly <a day|a week> in {city} passes without {use}, and the {part} <holds|looks new|is fine>.", "{i} use {them} <each morning|every evening|twice a day> for {deed}; the {part} <still shines|never sticks|has not moved>.",
        "{f}the {part} has never given <me|us> trouble.", "{deed} <has become|turned into> a <habit|ritual> in {city}<, thanks to the {part}| because of {them}>.",
        "Nothing <squeaks|wobbles|rattles> {at_place}, least of all <around|near> the {part}<| or the {part2}>.", "If {i} had to leave {city} in a hurry, {call} would <come along|be under my arm>.",
        "The {colour} has not faded, the {material} <is intact|looks the same>, and the {part} <works|does its job> <as in {month}|as on the first day>.", "<My|Our> <whole family|roommates|colleagues> in {city} borrow {them} for {deed}<| and for {deed2}>.",
        "From {deed} to {deed2}, {call} {has} <become|been> <part of the day|what we reach for first>.", "{place} without {call}? <Hard to imagine|Not any more> since {month}.",
        "Since {arrived} the {part} has been through a lot of {deed}, <without complaint|and it shows no mark>.", "Whether {deed} or {deed2}, {call} {is} always at hand.", "On {weekday}s it is {deed}, otherwise {deed2}, and the {part} <copes with both|never complains>.",
        "Though {deed} is hard on {a_thing}, the {part} and the {part2} look as they did in {month}.",
    ),
    "value": (
        "You <can pay|will pay> <twice as much|more> elsewhere for a worse {part}<| than that of {call}>.", "For {price} {i} <had expected|feared> a flimsy {part}, and <{material} it is|it is anything but>.",
        "{i} compared <six shops|prices in {city}|four brands>: none had {a_thing} of {material} for <less|{price} or less>.", "<Dearer|Other> brands would make {deed} no easier, and {price} <is fair|is what I could spend>.",
        "{price} for {weight} of {material}: {i} <call that|would say that is> <a bargain|fair|honest>.", "{it} cost less than <a meal|an evening out> in {city} and outlived many of them.",
        "{brand} could ask for <more|twice as much>: {price} for such {a part} <is little|surprised me in {city}>.", "<Made in|From> {origin}, of {material}, for {price}: <who else offers that|no wonder {city} is buying>.",
        "Per {weekday} of {deed}, {price} <is|comes to> <pennies|next to nothing> <already|by now>.", "<My|The> {brand2} one cost more than {price}, and the {part} <was worse|lasted a summer|never fit>.",
        "Given {size} in {measure} and a good {part}, {price} is <modest|fair|a bargain>.", "Where else does {price} buy {a_thing} of {material} <from {origin}|with such {a part}>?", "If {deed} is your thing, {price} for {call} <is well spent|will not hurt>.",
        "In {city} {a_brand2} {thing} costs more than {price}<, without that {part}|>.",
    ),
    "finish": (
        "{f}the {colour} <is|looks> <just like|as> in the picture, and the {part} has <an even|a smooth|a fine> finish.", "In daylight the {colour} {material} looks <deeper|warmer|softer> than on <the screen|my phone>, which suits {place}.",
        "Every edge of the {part} is <smooth|rounded|clean>, <even|right> where it meets the {part2}.", "Visitors to {city} <ask about|notice|touch> the {colour} {part} before they <sit down|say hello>.",
        "Somebody in {origin} took <care|time> with the {part}<; there is not a single mark| and the {part2}>.", "The {colour} <suits|lights up|fits> {home} <perfectly|better than expected|well>.",
        "{i} chose {colour} over {other} after <a week|days|an evening> of doubt<| about {place}>, and <all is well|there are no regrets>.", "The {part} is <made|finished> with <rare neatness|real care>, and the {material} <shows no seam|feels warm|shines a little>.",
        "{material} in {colour}: <a sight|pretty> <{at_place}|beside the {part2}>, <even on gray days|above all in {month}>.", "At {size} in {measure}, the {colour} <never looks|does not look> <bulky|heavy> {at_place}.",
        "When the light falls on the {part}, the {material} <glows|shines> {colour}.", "Beside the {part2} the {colour} <comes out best|turns a shade deeper>, above all {at_place}.", "Have you ever seen {material} in {colour} {at_place}?", "{brand} <polished|rounded|matched> the {part} and the {part2} with care.",
        "Though {deed} leaves marks on most things, the {colour} {part} <has none|stays clean>.",
    ),
    "gift": (
        "{i} hear about {use} <every week|each {weekday}> <since then|now>.", "The wrapping was <hardly|barely> off when {deed} <had to be|was> tried in {city}.", "{f}{colour} was <the right choice|a hit>, <I am told|so I hear>.",
        "<Silence first|A long silence>, then a <big smile|hug|shout>, and <an evening of|much talk about> {use}.", "Now <two more|three other> people in {city} want {a_thing} <from {brand}|in {colour}>.", "The {part} was admired by <everybody|all> at the table in {city}.",
        "{it} <came|arrived> on {arrived}, <in time|a day early>, and <needed|lacked> <no more than|only> a ribbon<| around the {part}>.", "{i} had worried about the {part} <for nothing|without need>: {use} <works|goes well> <{at_place}|in {city}>.",
        "A call from {city} said that the {part} <is perfect|made the day>.", "For {price} it <looked|seemed> <far dearer|like more> <in {material}|with that {part}>.", "Nobody in {city} guessed that it was only {price}<, {part} and all|>.",
        "Before {weekday} was over, the {part} had <been tried by everybody|passed a first test>.", "Because the {part} is so <well made|handy|pretty|clever>, {deed} now fills every {weekday} in {city}.", "Within {days} {call} reached {city}, and the {colour} <was loved|got a cheer>.",
    ),
    "flaw": (
        "<My|The> one complaint is the {part}: it <came loose|needed tightening|wobbled> <in the first week|by {weekday}|after {deed}>.", "Only the {part} <annoys me|bothers me|is a pity>, because it <squeaks|sticks|rattles> when {deed}.",
        "If there is a flaw, it is the {part}, which <feels cheaper|looks thinner> than the <{part2}|rest|{material}>.", "Everything is fine <apart from|except> the {part}, which <sticks|jams|slips> {at_place}.",
        "{i} wish that {brand} <would redesign|had tested> the {part}; it <catches on|gets stuck at> the {part2}.", "What {i} <do not like|would change> is the {part}, which is <hard to clean|fiddly> after {deed}.",
        "The {part} is the weak <spot|point>, with <some play|a gap> <from the first day|since {month}|after {deed}>.", "A <better|sturdier|longer> {part} and {call} would be <perfect|worth five stars> for {use}.",
        "Mind the {part}, which <pinched my finger|came off once> <{at_place}|after {deed}>.",
        "{f}the {part} <sticks|jams|slips|squeaks|rattles> a little.", "While the {part2} is excellent, the {part} <is not|comes from a cheaper box>, as {deed} soon shows.", "Why does the {part} <stick|squeak|rattle> when the {part2} is so good?",
        "Were it not for the {part}, {price} would be a bargain for {deed}.", "{brand} saved money on the {part}, and after {deed} <you notice|it shows>.",
    ),
    "plain": (
        "With {weight} {it} {is} nothing {i} would carry far <from {city}|for {deed}>.", "My kitchen scales in {city} say {weight}, by the way.", "Note the {measure}: {size}, <with|including> the {part}.",
        "{size} in {measure} is <enough|plenty|tight> for {place}.", "The {material} <needs care|marks easily> around the {part}<| after {deed}>.", "Made in {origin}, says the box, <if that matters for {deed}|if that matters to you>.",
        "{deed2} is something that {i} have not tried yet with {this} {thing}.", "{f}the {part2} <is alright|does what it should>.", "<Ask|Try> {brand2} if {place} sounds like you.",
        "{days} <to {city}|of waiting> for {price}, <both as announced|no more to say>.", "As for the {part2}, {i} <have no opinion|can say little> after so little {deed}.", "If {deed} is what you want, look at the {part2} first.", "Does {colour} suit {place}? <More or less|Hard to say>.",
        "{brand} <lists|gives> {weight} as its weight, and {i} believe it.",
    ),
    "okay": (
        "Nothing special, nothing wrong <{at_place}|with the {part}|for {price}>.", "For {use} {it} will do <in {city}|for {price}|until {brand} improves the {part}>.", "{f}the {part} is <alright|fine|average>, no more and no less.",
        "{i} would neither <praise|scold> nor <return|give away> {call} <for {deed}|from {brand}>.", "It is what {price} <buys|gets you> in {city}, <the {part}|the {material}> included.", "There are <better|dearer> ones by {brand}, <and worse|with a firmer {part}>.",
        "{city} has seen <prettier|sturdier> things than {call}, <and uglier ones|and weaker {material}>.", "{i} forget {call} as soon as {deed} is <over|done>, <which may be a compliment|like the {part} itself>.",
        "Between the {part} and the {part2} there is <room to improve|little to praise> at {price}.", "Would {i} buy {them2} again for {deed}? <Perhaps|Ask me in a year>.", "As long as {deed} is all you want, the {part} <will do|is good enough>.",
        "{brand2} makes a better {part}, but not for {price}.", "Though the {part} is plain, {deed} <works|goes well enough>.",
    ),
    "small": (
        "{it} turned out <much|far|somewhat> smaller than <I thought|{place} needs>: {size} in {measure}.", "Check the {measure} <before you order|first>: {size} is little {at_place}.", "The picture makes the {part} <look|seem> <twice as large|bigger> than in {city}.",
        "For one person {size} may do, for {place} it is too small<| by half>.", "{i} held {call} next to the old one <in {city} |>and <laughed|sighed>.", "{i} should have measured first, because {size} is not much for {place}.",
        "A {measure} of {size} leaves no room for {deed}<| {at_place}>.", "{use} <needs|wants> more than {size}, <photo or not|whatever the photo says>.", "Who can manage {deed} with a {measure} of only {size}?", "In {city} {i} unpacked {call} and looked for the rest: {size} in {measure}.",
        "Until {deed} started, {size} in {measure} sounded <fine|enough>.", "{place} would need twice the {measure}, not {size}.",
    ),
    "slow": (
        "The <delivery|parcel|courier> to {city} took {days}<, from {date} to {arrived}|, for {way} shipping|>.", "It took {days} until {call} <reached|got to> {city}.", "{days} from <the order|{date}> to <my door in {city}|{arrived}>.",
        "{i} waited {days} for {call}, and {city} is <not the end of the world|on every map>.", "Ordered on {date}, <here|delivered> on {arrived}: {days}<| to {city}>.", "{way} shipping meant {days} <to {city}|of guessing>, for {a_thing} of {price}.",
        "By {arrived}, {days} in, {i} had <borrowed|nearly bought> another {thing} for {deed}.", "Why does {a_thing} need {days} to <reach|get to> {city}?", "{city} saw neither parcel nor courier for {days}<, {price} or not|>.", "From {origin} to the shop in no time, from there to {city} {days}.",
        "While {i} was waiting {days} for {call}, {deed} had to rest.",
    ),
    "broke": (
        "{i} was careful with the {material} <from the first day|{at_place}|even when {deed2}>.", "No <amount of glue|tape|screw> will <bring back|save> the {part} of {call}.", "<One look|A glance> at the {part} shows why: the {material} is <far too thin|brittle|hollow>.",
        "So much for {use} in {home}.", "{i} never let <anybody|children|guests> touch {call} in {city}.", "{brand} calls {price} <fair|cheap> for something to be used every day.", "Without the {part} {call} {is} <scrap|useless> for {deed}.",
        "{weight} of {material} <for the trash|to throw away>, {origin} or not.", "The {part2} <held|survived>, but who wants {deed} without the {part}?", "{f}nobody expects the {part} to give up.", "Since {month} {brand} has lost a customer in {city}.",
        "If {brand} tested the {part} at all, {deed} was not part of it.", "In {city} a repair of the {part} would cost more than {price}.",
    ),
    "pictured": (
        "On the screen {it} {was} {colour}, in the box <from {brand}|on {arrived}> {other}.", "What the shop calls {colour} <anyone in {city} calls|I would call> {other}.", "{i} ordered {colour} and <unpacked|got> {other} on {arrived}.",
        "The photo <shows|promises> {colour} {material}; mine {is} {other}, even {at_place}.", "Who takes {this} {thing} for {colour}? Plainly {it} {is} {other}.", "The {part} in {other} <does not match|clashes with> the {colour} of the {part2}.",
        "{colour} for {place}, {i} thought, and {call} turned out {other}.", "Neither the {part} nor the {part2} is {colour}; both are {other}.", "<to be fair|{at_place}|in {city}|here in {city}|for {price}|by {weekday}|in the evening>, the {part} is <plainly|clearly> {other}, not {colour}.", "{brand} may call it {colour}, my eyes call it {other}.",
        "Under the lamp in {city} the {part} is {other}, by the window as well.", "Although the label says {colour}, the {part} is {other}.", "Since {arrived} {i} own {a_thing} in {other} that was sold as {colour}.",
    ),
    "packed": (
        "{call} may be <good|fine> for {deed}; with that {part} {i} cannot <tell|say>.", "Please use more than <one layer of cardboard|paper> for {weight} of {material}.", "{brand} deserves a better <box|carton> than the one that reached {city}.",
        "The {colour} hides it a little, but the {part} <is what I see|catches the light> {at_place}.", "{i} paid {price} for something new, not for something used.", "For {deed} {it} will do, for a present <in|to> {city} hardly.",
        "{days} on the road and no <label|sticker> to <protect|spare> the {part2}.", "{weight} of {material} <rolled|slid> around in there from {origin} to {city}.", "Who sends {material} to {city} in a box made for <books|shoes>?", "If the {part} had been wrapped, {price} would have been fair.",
    ),
    "odor": ("rubber", "fish", "burnt plastic", "paint", "old socks", "gasoline", "mothballs"),
    "smell": (
        "The {part} smells of {odor}, and <airing|washing> {them} for {n} days in {city} did not help.", "The {material} smells of {odor} <since {arrived}|{at_place}>.",
        "As soon as {call} {was} out of the box <on {arrived} |>there was a smell of {odor}.", "{call} {has} a smell of {odor} that {home} did not deserve.", "{i} <washed|scrubbed|rinsed> the {part} {n} times, and the smell of {odor} <stayed|came back> <{at_place}|by {weekday}>.",
        "{deed} in a smell of {odor}: no, thank you, {brand}.", "{f}everything smells of {odor}.", "By {weekday} all of {city} knew the smell of {odor}.", "Is a smell of {odor} part of the deal at {price}?", "Because of the smell of {odor}, {deed} <is over|had to wait> after {n} minutes.",
        "{n} nights by the open window, and the {part} still smells of {odor}.",
    ),
    "good": (
        "The {part2} <deserves|earns> some praise, too, <for {deed}|{at_place}>.", "{i} like the {part2} best, and then the {colour}<| of the {material}>.", "For {deed2} {it} {do} <very well|a fine job> <{at_place}|too, in {city}>.",
        "At {weight} {it} {is} easy to <handle|move|carry> <for|when> {deed}.", "The {colour} <has grown on me|looks good> <{at_place}|beside the {material}>.", "{i} have tried {them} for {deed2} in {city}, with <success|joy>.",
        "A friend with {a_brand2} {thing} is jealous of the {part2}<, and of the {price}|>.", "Ready for {deed} <within minutes|at once> on {arrived}<, {part2} and all|>.", "Cleaning takes a moment after {deed}, even around the {part2}.",
        "The {material} from {origin} <ages well|feels right> <{at_place}|around the {part2}>.", "{size} in {measure} <is just right|fits> <for {deed}|for {place}>.",
        "{it} <came|arrived> <within|after> {days}, <well packed|in one piece>, all the way from {origin}.", "{f}the {part2} <feels solid|works well|sits firmly>.", "Even {deed2} is <no trouble|a pleasure> now<, thanks to the {part2}|>.", "While {deed} is the main thing, {deed2} works as well.",
        "Whoever designed the {part2} has done some {deed} before.", "Need I say that {deed2} is <easier|more fun> with such {a part2}?", "Thanks to {weight} of {material}, nothing shakes when {deed}.",
    ),
    "bad": (
        "The {part2} does not look <trustworthy|better> either <{at_place}|for {price}>.", "{i} wrote to the shop about the {part} on {wrote} and <wait|keep waiting> <for an answer|in {city}>.", "For {deed} I am back to <my|the> old {thing} <{at_place}|since {wrote}>.",
        "{brand} used to take more care with <the {part2}|{material}>.", "{weight} of disappointment, shipped <from {origin}|to {city}> for {price}.", "The two-year guarantee <had better|must> cover the {part2}.",
        "{i} would not even trust {call} with {deed2}.", "My neighbor in {city} <has|tells> the same story about {brand} and the {part2}.", "<Next time|Next month> {i} take {brand2} for {deed}<, {price} or not|>.", "{f}the {part2} is no better.", "On {wrote} the shop said sorry, and {deed} still has to wait.",
        "If {price} buys no more than this in {city}, {i} would rather pay {brand2}.", "Does {brand} ever try {deed} before the {part2} goes on sale?", "After {days} of waiting for it, {i} had hoped for a better {part2}.",
    ),
    "with_option": (
        "{i} took {them} with “{option}”<, for {deed}|, which {place} needs|, and would again>.", "<The choice|My pick> was {option_name}: {option_value}<, good for {deed}|, because of {place}|, out of habit>.", "“{option_value}” <suits|is right for|was made for> {deed}<| in {city}|, {i} think>.",
        "<For|Given> {place}, “{option_value}” <made sense to me|was the obvious choice>.", "{option_name}: {option_value}, <as {deed} demands|chosen in a hurry|after asking around in {city}>.",
        "With “{option_value}” as the {option_name}, {deed} <goes well|is no problem>.", "Of all that was offered as {option_name}, {i} took “{option_value}” <for {deed}|because of {place}>.",
    ),
    "with_other": (
        "<In|From> the same <parcel|box|carton> came the {other_product}<, which {i} use more|, also for {place}|>.", "{i} <had ordered|ordered> the {other_product} <as well|on {date}, too>, <another story|to save on shipping>.", "<Together with|Beside|Along with> the {other_product} it <made|was> <a heavy box|one big parcel|quite a load> for {city}.",
        "The {other_product} <from the same day|ordered on {date}> <is|was> for <somebody else|another room>.", "<Only|Just> the {other_product} kept {them} company on the way to {city}.",
    ),
    "nth_order": (
        "This was my {nth} order here <since {joined}|from {city}>, <hardly the last|and it shows|for what it is worth>.", "<After|With> {nth_count} orders <from {city}|in this shop|since {joined}> {i} know {brand} <well|a little|by now>.", "{nth_count} orders <since {joined}|to {city}>, and <I remember {call}|none like {call}|{brand} was in most of them>.",
        "Since {joined} {i} have ordered {nth_count} times from {city}, <and not only {a_thing}|mostly from {brand}>.", "If you count {call}, {city} has seen {nth_count} orders of mine.",
    ),
    "end_5": (
        "Full marks.", "Five stars.", "Five stars for the {part}<, the {colour}| and the {material}>, and for {deed}.", "{i} would buy {call} again <tomorrow|for {place}|at {price}>.",
        "<Thank you|Well done|Bravo>, {brand}!", "Recommended to <anybody|everybody|a friend> who <likes|enjoys|loves> {deed2}<| {at_place}>.", "If {deed} is your thing, buy {them2}.", "All of {city} should own {a_thing} like that.", "More like this {part2}, {brand}!",
    ),
    "end_4": (
        "Four stars.", "Nearly full marks.", "One star off for the {part2}<, which could be better|, nothing else|, as nothing is perfect>.",
        "Four stars, since <the manual is only a drawing|{price} is a little much|the {part2} took {n} tries>.", "{i} keep one star for <the next|a better|a bigger> {part2}<| by {brand}>.", "With a better {part2}, {brand} would get all five.", "The fifth star waits in {city} for a new {part2}.",
    ),
    "end_3": (
        "Three stars.", "Three stars from {city}.", "Somewhere in the middle, like the {part2}.", "{i} am keeping {call}, without <enthusiasm|much love|a second look>.",
        "Look around in {city} before you spend {price} on {a_thing}.", "For {deed2} it is three stars, no more.", "{brand} can take three stars <home to {origin}|for it>.",
    ),
    "end_2": (
        "Two stars.", "Two stars, one of them for the {part2}<, the other for the {colour}|>.", "The second star is for the <{part2} of {material}|{colour} of the {part2}|people in {city}>.", "Not again, {brand}.",
        "Two stars, as the people <on the telephone|at the counter> were kind about the {part}.", "{i} hope that {brand} reads this <in {origin}|by {month}>.", "For the {part2} alone {i} give a second star.",
    ),
    "end_1": (
        "Never again.", "One star.", "{i} want the money back, all {price}<, {way} postage too| for the {part}|>.", "One star, because none is not possible for {call}.",
        "{it} went back to the shop on {wrote}, {part} and all.", "A waste of {weight} of {material}<| and of {price}>.", "Stay away, {city}.", "For {deed} {i} now go to {brand2}.",
    ),
}  # fmt: skip
DESCRIPTIONS: Rules = {
    "made": (
        "Made of {material} for {use}<; the {part} is easy to clean|, with {a part} that lasts|>.",
        "The {part} and the {part2} are <made|built> for {use}.",
        "<Good|Right> for {use} and for {place}.",
        "Designed around the {part} and <tested|tried> for {use}<| {at_place}>.",
        "{brand} <improved|refined> the {part} until {use} <was easy|became a joy>.",
        "{size} in {measure}, {weight}, with {a part} <for {deed}|of {material}>.",
        "Whether {deed} or {deed2}, the {part} of {material} <helps|is ready>.",
        "From {origin}: {material}, {weight}, and {a part} that makes {deed} easy.",
    ),
    "use": ("{deed}", "{deed2}", "{deed} and {deed2}"),
}
