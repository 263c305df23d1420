"""Rules of reviews and descriptions.

Blanks are facts of the product and of the order (see ``texts.facts``) or rules of this file.
"""

from collections.abc import Mapping

from agentgym_envs.envs.web.sites.grammar import Rules

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
        "{bought_long} {fine}",
        "{fine} {bought_long} {plain}",
        "{bought_long} {plain} {fine}",
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
    "call": ("{this} {thing}", "{this} {brand} {thing}", "{this} {variant} {thing}", "the {thing}", "the {thing} from {brand}", "{this} {material} {thing}", "the {thing} in {colour}"),
    "them2": ("{them}", "{call}"),
    "use": ("{deed}", "{deed2}", "{deed} and {deed2}"),
    "home": ("{place}", "our place in {city}", "my home in {city}"),
    "bought_long": (
        "{i} <have had|have owned|have lived with> {call} for {owned}<, mostly for|, chiefly for| and use {them} for> {use}.",
        "<After|Following> {owned} of {use}<,| in {city},| {at_place},> {call} <still get{s}|deserve{s}> <a report|some words|an honest verdict>.",
        "{owned} ago {i} {got} {call} <for {home}|with {deed} in mind|because of {deed}>.",
        "{call} <came|moved> <to {city}|into {place}|into our home> {owned} ago<, for {use}|, and {use} began>.",
        "{i} {got} {them2} {since_when}; {owned} <later|of {use} later>, here is <my view|what I think|a fair account>.",
        "{owned} with {call}, <day in and day out|week after week|most of it in {home}|most of it {deed}>.",
        "<Bought|Ordered> {since_when}, {call} {has} <had|seen|survived> {owned} of {use}.",
        "<It took|I needed> {owned} of {use} <before I dared to judge|to make up my mind about|to get to know> {call}.",
        "<For|Over> {owned} {call} {has} <served|coped with|faced> {home}<| and its {deed}>.",
        "<My|Our> {order} here was {call}; <since then|that was> {owned} of {use}<| went by>.",
        "{city} has <seen|given> {them2} {owned} <of {use}|of weather, {deed} and guests>.",
        "<Between|What with> {deed} and {deed2}, {call} <{has} worked|worked> <hard|quietly|without a rest> for {owned}.",
    ),
    "bought": (
        "{i} {got} {call} {since_when}<, for {home}|, for {use}|>.", "<For|Because of> {use}, {i} {got} {call} {since_when}.",
        "{call} {was} <meant|supposed> to <live in|serve> {home}<| from {month} on>.", "<Looking for|In need of> {a_thing} for {use}, {i} {got} {call}.",
        "<My|Our> <old|last> {thing} <gave up|broke|got lost> in {month}, so {call} had to <follow|come|take over>.",
        "{home} <needed|called for|was missing> {a_thing}, and {i} {got} {call} {since_when}.", "{since_when} {i} {got} {call} <with|thinking of> {deed}<| and {place}>.",
        "<A friend in {city}|My neighbor in {city}|Someone at work> <praised|recommended> {brand}, so {i} {got} {call}.",
        "{price} <went to|was what I paid> <{brand} for|at this shop for> {call}, for the sake of {use}.", "<My|Our> {order} here, {call}, <was for|went to> {home}.",
        "<Two|Three|Four> people in {city} share {call} for {use}.", "It <all began|started> with {deed}: {i} {got} {call} {since_when}.",
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
    ),
    "damage": ("a deep scratch", "a dent", "a crack", "a long scuff", "an ugly chip", "a stain of glue", "three scratches", "a bent corner", "a rub mark", "dried tape"),
    "padding": ("any padding", "a scrap of paper", "bubble wrap", "a second layer of cardboard", "so much as a newspaper", "a single cushion", "filling of any kind"),
    "broke_start": (
        "After {owned} of {use} the {part} <broke|snapped|gave way|came off>.", "The {part} <broke|snapped|gave way> after {owned}<| of {use}>, though {i} only used {call} for {deed2}.",
        "<It took|Just> {owned} <until|and> the {part} of {call} <broke|snapped|gave way>.", "{owned} with {call}, <and|then> the {part} <broke|snapped|came apart>.",
        "{i} <had used|had> {call} for {owned} when the {part} <broke|snapped|cracked> <{at_place}|during {deed}>.", "The {part} <broke|cracked|came off> while {i} was busy {deed}; {call} {was} {owned} old.",
        "{call} from {month} {is} <broken|useless|in two pieces>: {owned} of {use} and the {part} <snapped|gave way|fell off>.",
        "Arrived on {arrived}, broken {owned} later: the {part} <did not survive|gave up on> {deed}.",
    ),
    "packed_start": (
        "{call} <arrived|came|landed> in {city} <on {arrived} |>with {damage} on the {part}.", "There was {damage} on the {part} when {i} opened the <box|parcel> <on {arrived}|in {city}>.",
        "Somebody <put|threw> {call} into a <box|carton> without {padding}, <hence|so there was> {damage} on the {part}.", "{damage} on the {part}<, right out of the box| of something that cost {price}>: that was {arrived} in {city}.",
        "All the way to {city} without {padding}<, and|:> {damage} on the {part}<| of {call}>.", "<On {arrived}|In {city}> {i} <unpacked|lifted out> {call} and <found|saw> {damage} on the {part}.",
        "The {part} <has|shows> {damage}, because {call} <traveled|came> {days} without {padding}.",
    ),
    "hoped": (
        "{i} <had|> expected little <for {price}|from {brand}|of {material}>, <and then|until> the {part} <convinced me|won me over|proved me wrong>.",
        "The {part} <feels|is|turned out> <far better|more solid|nicer> than <{price} suggests|the picture suggests|{i} feared>.", "{i} had doubts about the {part} and <the {material}|{origin} quality|{deed}>; <wrongly|all gone now|none remain>.",
        "<Compared with|Next to> the {brand2} one before, {use} <is half the effort|goes faster|is a pleasure>.", "What <surprised|pleased> me most <about|in> {place} was the {part}<| and how the {material} feels>.",
        "Not even {home} <brings|brought> {them} <down|to grief>, and the {part} <looks new|holds|stays put>.", "{brand} <has thought of|got right> <every detail|the small things>, <down to|above all> the {part} <and the {part2}|of {material}>.",
        "{i} wanted something <simple|cheap> for {use} and <got|ended up with> {call}, <a keeper|which is anything but>.", "{use} with {call} <beats|is better than> <the café|the gym|anything> in {city}.",
        "At {size} in {measure} {i} <expected|feared> trouble {at_place}; <it fits|there was none|no such thing>.",
    ),
    "daily": (
        "Hardly <a day|a week> <goes by|passes> without {use}, and the {part} <holds|looks new|is fine>.", "{i} use {them} <each morning|every evening|twice a day> for {deed}; the {part} <still shines|never sticks|has not moved>.",
        "The {part} has <never given|not given> <me|us> trouble, <not even when|even while> {deed2}.", "{deed} <has become|turned into> a <habit|ritual> in {home}<, thanks to the {part}| because of {them}>.",
        "Nothing <squeaks|wobbles|rattles>, least of all <around|near> the {part}<| or the {part2}>, {deed} or not.", "If {i} had to leave {place} in a hurry, {call} would <come along|be under my arm>.",
        "The {colour} has not faded, the {material} <is intact|looks the same>, and the {part} <works|does its job> <as in {month}|as on the first day>.", "<My|Our> <whole family|roommates|colleagues> <borrow|borrows|want> {them} for {deed}<| and for {deed2}>.",
        "From {deed} to {deed2}, {call} {has} <become|been> <part of the day|what we reach for first>.", "{place} without {call}? <Hard to imagine|Not any more> since {month}.",
    ),
    "value": (
        "You <can pay|will pay> <twice as much|more> elsewhere for a worse {part}<| than that of {call}>.", "For {price} {i} <had expected|feared> a flimsy {part}, and <{material} it is|it is anything but>.",
        "{i} compared <six shops|prices in {city}|four brands>: none had {a_thing} of {material} for <less|{price} or less>.", "<Dearer|Other> brands <make|would make> {deed} no easier, <and|but> {price} <is fair|is what I could spend>.",
        "{price} for {weight} of {material}: {i} <call that|would say that is> <a bargain|fair|honest>.", "{it} <was|came to> less than <a meal|an evening out|parking> in {city} and <outlived|beat> <both|many of them>, {part} and all.",
        "{brand} could ask <for more|for twice as much>: {price} <for such {part_a} is little|with that {part2}, no less|surprised me in {city}>.", "<Made in|From> {origin}, of {material}, for {price}: <who else offers that|find that elsewhere|no wonder {city} is buying>.",
        "Per {weekday} of {deed}, {price} <is|comes to> <pennies|next to nothing> <already|by now>.", "<My|The> {brand2} one cost more than {price} and the {part} <was worse|lasted a summer|never fit>.",
    ),
    "finish": (
        "The {colour} <is|looks> <just like|as> in the picture, and the {part} has <an even|a smooth|a fine> finish<| in {material}>.", "In daylight the {colour} {material} <looks|is> <deeper|warmer|softer> than on <the screen|my phone>, which suits {place}.",
        "Every edge of the {part} is <smooth|rounded|clean>, <even|right> where it meets the {part2}.", "Visitors from {city} <ask about|notice|touch> the {colour} {part} before they <sit down|say hello>.",
        "Somebody in {origin} took <care|time> with the {part}<; not a single mark| and the {part2}>.", "The {colour} <suits|lights up|fits> {home} <perfectly|better than expected|well>.",
        "{i} chose {colour} over {other} after <a week|days|an evening> of doubt<| about {place}>, and <am glad|no regrets>.", "The {part} <is made|is finished> with <rare neatness|real care>, the {material} <shows no seam|feels warm|shines a little>.",
        "{material} in {colour}: <a sight|pretty> <{at_place}|beside the {part2}>, <even on gray days|above all in {month}>.", "At {size} in {measure}, the {colour} <never looks|does not look> <bulky|heavy> <{at_place}|while {deed}>.",
    ),
    "gift": (
        "{i} hear about {use} <every week|each {weekday}> <since then|now>.", "The wrapping was <hardly|barely> off <in {city} |>when {deed} <had to be|was> tried.", "The {colour} was <the right choice|a hit> <in {city}|for {place}>, <I am told|so I hear>.",
        "<Silence first|A long silence>, then a <big smile|hug|shout>, and <an evening of|much talk about> {use}.", "Now <two more|three other> people in {city} want {a_thing} <from {brand}|in {colour}>.", "The {part} was admired by <everybody|all> at the table in {city}.",
        "{it} <came|arrived> on {arrived}, <in time|a day early>, and <needed|lacked> <no more than|only> a ribbon<| around the {part}>.", "{i} had worried about the {part} <for nothing|without need>: {use} <works|goes well> <{at_place}|in {city}>.",
        "{whom} <wrote|called> from {city} to say that the {part} <is perfect|made the day>.", "For {price} it <looked|seemed> <far dearer|like more> <in {material}|with that {part}>.",
    ),
    "flaw": (
        "<My|The> one complaint is the {part}: it <came loose|needed tightening|wobbled> <in the first week|by {weekday}|after {deed}>.", "Only the {part} <annoys me|bothers me|is a pity>, because it <squeaks|sticks|rattles> <during|when> {deed}.",
        "If there is a flaw, it is the {part}, which <feels cheaper|looks thinner> than <the {part2}|the rest|the {material}>.", "<Everything|All> is fine <apart from|except> the {part}, which <sticks|jams|slips> {at_place}.",
        "{i} wish that {brand} <would redesign|had tested> the {part}; it <catches on|gets stuck at> the {part2}.", "What {i} <do not like|would change> is the {part}, which is <hard to clean|fiddly> after {deed}.",
        "The {part} is the <weak spot|weak point>: <some play|a gap> <from the first day|since {month}|after {deed}>.", "A <better|sturdier|longer> {part} and {call} would be <perfect|worth five stars> for {use}.",
        "Mind the {part}, which <pinched my finger|came off once|leaks a little> <{at_place}|while {deed}>.",
    ),
    "plain": (
        "With {weight} {it} {is} <not|nothing> {i} would carry far <from {place}|for {deed}>.", "The scales <in {city} |>say {weight} for the {material} <model|version>, by the way.", "Note the {measure}: {size}, <with|including> the {part}.",
        "{size} in {measure} is <enough|plenty|tight> for {place}.", "The {material} <needs care|marks easily> around the {part}<| after {deed}>.", "<Made in|It says> {origin}<, says the box|, if that matters> <for {deed}|to you>.",
        "{deed2} {i} have <not tried|left out> <yet|so far> <{at_place}|with {this} {thing}>.", "The {part2} <is alright|does what it should> <in {home}|for {deed}>.", "<Ask|Try> {brand2} if {place} <is your case|sounds like you>.",
        "{days} <to {city}|of waiting> for {price}, <both as announced|no more to say>.",
    ),
    "fine": (
        "<Nothing special|No miracle>, nothing wrong <{at_place}|with the {part}|for {price}>.", "For {use} {it} will do <in {home}|for {price}|until {brand} improves the {part}>.", "The {part} is <alright|fine|average>, <no more and no less|like the {part2}>, for {price}.",
        "{i} would neither <praise|scold> nor <return|give away> {call} <for {deed}|from {place}>.", "It is what {price} <buys|gets you> in {city}, <the {part}|the {material}> included.", "There are <better|dearer> ones by {brand}, <and worse|with a firmer {part}>.",
        "{home} has seen <prettier|sturdier> things than {call}, <and uglier ones|and weaker {material}>.", "{i} forget <about {them}|{call}> as soon as {deed} is <over|done>, <which may be a compliment|like the {part} itself>.",
        "Between the {part} and the {part2} there is <room to improve|little to praise> at {price}.",
    ),
    "small": (
        "{it} turned out <much|far|somewhat> smaller than <I thought|{place} needs|for {deed}>: {size} in {measure}.", "Check the {measure} <before you order|first>: {size} <fits a shoe box|is little {at_place}>.", "The picture makes the {part} <look|seem> <twice as large|bigger> <as in {city}|as on my table>.",
        "For one person {size} may do, for {place} <it is|that is> too small<| by half>.", "{i} held {call} next to the old one <in {city} |>and <laughed|sighed>.", "{i} should have measured {place} first; <{size} is|with {size}> <not much|little help>.",
        "A {measure} of {size} <leaves|gives> no room for {deed}<| {at_place}>.", "{use} <needs|wants> more than {size}, <photo or not|whatever the photo says>.",
    ),
    "slow": (
        "The <delivery|parcel|courier> to {city} took {days}<, from {date} to {arrived}|, for {way} shipping|>.", "It took {days} until {call} <reached|got to> {city}.", "{days} from <the order|{date}> to <my door in {city}|{arrived}>.",
        "{i} waited {days} for {call}, and {city} is <not the end of the world|on every map>.", "Ordered on {date}, <here|delivered> on {arrived}: {days}<| to {city}>.", "{way} shipping meant {days} <to {city}|of guessing>, for a {thing} of {price}.",
        "By {arrived}, {days} in, {i} had <borrowed|nearly bought> another {thing} for {deed}.",
    ),
    "broke": (
        "{i} was careful with the {material} <from the first day|{at_place}|even when {deed2}>.", "No <amount of glue|tape|screw> will <bring back|save> the {part} of {call}.", "<One look|A glance> at the {part} shows why: the {material} is <far too thin|brittle|hollow>.",
        "So much for {use} in {home}.", "{i} never let <anybody|children|guests> touch {call} <in {city}|during {deed}>.", "{brand} calls {price} <fair|cheap> for something to be used <every day|{at_place}>.", "Without the {part} {call} {is} <scrap|useless> for {deed}.",
        "{weight} of {material} <for the trash|to throw away>, {origin} or not.", "The {part2} <held|survived>, but who <does|wants> {deed} without {part_a}?",
    ),
    "pictured": (
        "On the screen {it} {was} {colour}, in the box <from {brand}|on {arrived}> {other}.", "What the shop calls {colour} <anyone in {city} calls|I would call> {other}.", "{i} ordered {colour} and <unpacked|got> {other} on {arrived}.",
        "The photo <shows|promises> {colour} {material}; mine {is} {other}, <in any light|even {at_place}>.", "Who takes {this} {thing} for {colour}? <Plainly|To all of {city}> {it} {is} {other}.", "The {part} in {other} <does not match|clashes with> the {colour} of {place}.",
        "{colour} for {place}, {i} thought, <and|yet> {call} turned out {other}.", "Neither the {part} nor the {part2} is {colour}; both are {other}.",
    ),
    "packed": (
        "{call} may be <good|fine> for {deed}; {i} cannot <tell|say> <with that {part}|any more>.", "Please use more than <one layer of cardboard|paper> for {weight} of {material}.", "{brand} deserves a better <box|carton> than the one <of {arrived}|that reached {city}>.",
        "The {colour} hides it a little, but the {part} <is what I see|catches the light> {at_place}.", "{i} paid {price} for a new {thing}, not for <a used one|this {part}>.", "For {deed} {it} will do, for a present to {city} <it will not|hardly>.",
        "{days} on the road <and|with> no <label|sticker> to <protect|spare> the {part2}.",
    ),
    "odor": ("rubber", "fish", "burnt plastic", "paint", "old socks", "gasoline", "mothballs"),
    "smell": (
        "The {part} smells of {odor}, and <airing|washing> {them} for {n} days <in {city}|beside {place}> did not help.", "<Cheap|Poor> {material}, and the whole {thing} smells of {odor} <since {arrived}|{at_place}>.",
        "As soon as {call} {was} out of the box <on {arrived} |>there was a smell of {odor}.", "{call} {has} a smell of {odor} that {home} does not deserve.", "{i} <washed|scrubbed|rinsed> the {part} {n} times, and the smell of {odor} <stayed|came back> <{at_place}|by {weekday}>.",
        "{deed} <in|amid> a smell of {odor}: <no, thank you|not for {price}>, {brand}.",
    ),
    "good": (
        "The {part2} <deserves|earns> <a word of|some> praise, <too|as does the {material}>, <for {deed}|{at_place}>.", "{i} like the {part2} best <of all|when {deed}>, <then|and> the {colour}.", "For {deed2} {it} {do} <very well|a fine job> <{at_place}|too, in {city}>.",
        "At {weight} {it} {is} easy to <handle|move|carry> <for|when> {deed}.", "The {colour} <has grown on me|looks good> <{at_place}|beside the {material}>.", "{i} have tried {them} for {deed2} in {city}, with <success|joy>.",
        "A friend with {a_brand2} {thing} is jealous of the {part2} <in {colour}|and of the {price}>.", "Ready <to use|for {deed}> <within minutes|at once> on {arrived}<, {part2} and all|>.", "Cleaning <takes|needs> a moment after {deed}, even <around|behind> the {part2}.",
        "The {material} from {origin} <ages well|feels right> <{at_place}|around the {part2}>.", "{size} in {measure} <is just right|fits> <for {deed}|beside the {part2}|for {place}>.",
        "{it} <came|arrived> <within|after> {days}, {weight} of it, <well packed|in one piece> <for {city}|from {origin}>.",
    ),
    "bad": (
        "The {part2} does not look <trustworthy|better> either <{at_place}|for {price}>.", "{i} wrote to the shop about the {part} on {wrote} and <wait|keep waiting> <for an answer|in {city}>.", "For {deed} I am back to <my old|a borrowed> {thing} <{at_place}|since {wrote}>.",
        "{brand} used to <be better|care more> about <the {part2}|{material}|{place}>.", "{weight} of disappointment, <shipped|sent> <from {origin}|to {city}> for {price}.", "The two-year guarantee <had better|must> cover the {part2} <in {city}|and {deed}>.",
        "{i} would not even <use {them}|trust {call}> for {deed2}.", "My neighbor in {city} <has|tells> <the same story|worse> about {brand} and the {part2}.", "<Next time|Next month> {i} take {brand2} for {deed}<, {price} or not|>.",
    ),
    "with_option": (
        "{i} took {them} with “{option}”<, for {deed}|, which {place} needs|, and would again>.", "<The choice|My pick> was {option_name}: {option_value}<, good for {deed}|, because of {place}|, out of habit>.", "“{option_value}” is <the right|a sensible|the usual> {option_name} for {deed}<| in {city}|, {i} think>.",
        "<For|Given> {place}, “{option_value}” <made sense|was the obvious> <to me|choice>.", "{option_name}: {option_value}, <as {deed} demands|chosen in a hurry|after asking around in {city}>.",
    ),
    "with_other": (
        "<In|From> the same <parcel|box|carton> came the {other_product}<, which {i} use more|, also for {place}|>.", "{i} <had ordered|ordered> the {other_product} <as well|on {date}, too>, <another story|to save on shipping|for {city}>.", "<Together with|Beside|Along with> the {other_product} it <made|was> <a heavy box|one big parcel|quite a load> <for|to carry in> {city}.",
        "The {other_product} <from the same day|ordered on {date}> <is|was> for <somebody else|{place}, too|another room>.", "<Only|Just> the {other_product} <kept it company|came with it> <on the road|to {city}>.",
    ),
    "nth_order": (
        "This was my {nth} order here <since {joined}|from {city}>, <hardly the last|and it shows|for what it is worth>.", "<After|With> {nth_count} orders <from {city}|in this shop|since {joined}> {i} know {brand} <well|a little|by now>.", "{nth_count} orders <since {joined}|to {city}>, and <I remember {call}|none like {call}|{brand} was in most of them>.",
    ),
    "end_5": (
        "Full marks.", "Five stars.", "Five stars for the {part}<, the {colour}| and the {material}> and <for {deed}|for {city}'s fastest {thing}>.", "{i} would buy {call} again <tomorrow|for {place}|at {price}|in {colour}>.",
        "<Thank you|Well done|Bravo>, {brand}!", "Recommended to <anybody|everybody|a friend> who <likes|enjoys|loves> {deed2}<| {at_place}>.",
    ),
    "end_4": (
        "Four stars.", "Nearly full marks.", "One star off for the {part2}<, which could be better|, nothing else|, as nothing is perfect> <{at_place}|for {price}|in {material}>.",
        "Four stars, since <the manual for {call} is only a drawing|{price} is a little much for {place}|the {part2} took {n} tries>.", "{i} keep one star for <the next|a better|a bigger> {part2} <by {brand}|and for {deed2}>.",
    ),
    "end_3": (
        "Three stars.", "Three stars from {city}.", "Somewhere in the middle, like the {part2} <{at_place}|for {price}|of {material}>.", "I am keeping {call}, without <enthusiasm|much love|a second look>, <for {deed2}|{at_place}>.",
        "Look around <in {city} |>before you spend {price} on {a_thing}<| for {place}>.",
    ),
    "end_2": (
        "Two stars.", "Two stars, one of them for the {part2} <and|or perhaps for> the {colour}.", "The second star is for the <{part2} of {material}|{colour} of the {part2}|people in {city}>.", "Not again, {brand}.",
        "Two stars, as the people <on the telephone|at the counter> in {city} were kind about the {part}.", "{i} hope that {brand} reads <this|about the {part}> <in {origin}|by {month}|before {deed} goes wrong again>.",
    ),
    "end_1": (
        "Never again.", "One star.", "{i} want <my|the> money back, all {price}<, {way} postage too| for the {part}|, and a new {part2}>.", "One star, because none is not possible for {call}.",
        "{it} went back <to the shop |>on {wrote}, {part} and all.", "A waste of {weight} of {material}<| and of {price}| on {deed}>.", "Stay away, {city}.",
    ),
}  # fmt: skip
DESCRIPTIONS: Rules = {
    "made": (
        "Made of {material} for {use}<; the {part} is easy to clean|, with {part_a} that lasts|>.",
        "The {part} and the {part2} <are made|are built> for {use}.",
        "<Good|Right> for {use} <in|and for> {place}.",
        "Designed around the {part} and <tested|tried> for {use}<| {at_place}>.",
        "{brand} <improved|refined> the {part} until {use} <was easy|became a joy>.",
        "{size} in {measure}, {weight}, <and|with> {part_a} <for {deed}|of {material}>.",
    ),
    "use": ("{deed}", "{deed2}", "{deed} and {deed2}"),
}
