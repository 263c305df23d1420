"""What reviews are composed of. Blanks are facts of the review (see ``reviews.facts``) or rules of this file."""

from agentgym_envs.envs.web.sites.grammar import Rules

LONG = ("six weeks", "two months", "ten weeks", "three months", "four months", "half a year", "eight months", "nearly a year")
SHORT = ("five days", "nine days", "ten days", "two weeks", "sixteen days", "three weeks")
FRIENDS = (
    "my sister", "my father", "my mother", "my brother", "my neighbor", "my nephew", "my grandmother", "a colleague", "my oldest friend",
    "my daughter", "my son", "my aunt", "my roommate", "my uncle", "my cousin", "our landlady",
)  # fmt: skip
TITLES: Rules = {
    "Better than I hoped": (
        "Better than I hoped", "Expected less of {a_thing}", "Surprised by the {part}", "{brand} got it right", "Did not think I would like {them} this much",
        "My doubts were gone in a week", "More {thing} than I paid for", "A pleasant surprise for {place}", "Won me over", "{deed}, but nicer",
    ),
    "Daily companion": (
        "Daily companion", "In use for {owned}", "{owned} of {deed}", "Every single day", "Still like new after {owned}", "My {thing} for everything",
        "Earned a place in {place}", "Never far from reach", "Hard to imagine a day without {them}", "Works as on the first day",
    ),
    "Great value": (
        "Great value", "Worth every dollar", "Why pay more for {a_thing}?", "Cheap for what you get", "Fair price, good {part}", "{brand} at a good price",
        "Money well spent", "Twice the price elsewhere", "A bargain for {place}", "The sensible choice",
    ),
    "Lovely finish": (
        "Lovely finish", "{colour} at its best", "So pretty in {colour}", "{a_thing} to look at", "Beautifully made {part}", "Exactly the {colour} I wanted",
        "Handsome", "Looks at home in {place}", "The {part} alone is worth it", "Even nicer than in the picture",
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
        "Slow delivery", "{days} days to {city}", "Waited {days} days", "Good {thing}, slow mail", "Order early", "Late to {city}", "Patience needed",
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
    "Better than I hoped": ("{start_long} {hoped} {extra_good} {end}", "{hoped} {start_long} {end}", "{start_long} {hoped} {end}"),
    "Daily companion": (
        "{start_long} {daily} {end}",
        "{daily} {start_long} {extra_good}",
        "{start_long} {daily} {extra_good} {end}",
    ),
    "Great value": ("{start_long} {value} {end}", "{value} {start_long} {end}", "{value} {extra_good} {start_long}"),
    "Lovely finish": ("{start_place} {finish} {end}", "{finish} {start_place} {extra_good}", "{finish} {extra_good} {end}"),
    "Perfect gift": ("{start_gift} {gift} {end}", "{start_gift} {gift} {extra_good}", "{start_gift} {extra_good} {gift} {end}"),
    "Good, with one flaw": ("{start_long} {flaw} {end}", "{start_long} {extra_good} {flaw} {end}", "{start_long} {flaw} {heavy}"),
    "Fine for the price": ("{start_long} {fine} {end}", "{fine} {start_long} {end}", "{start_long} {heavy} {fine}"),
    "Smaller than expected": ("{start_place} {small} {end}", "{small} {start_place} {end}", "{start_place} {small} {small_too}"),
    "Slow delivery": ("{slow} {extra_good} {end}", "{slow} {start_place} {end}", "{start_place} {slow} {slow_too}"),
    "Broke within a month": ("{start_broke} {broke} {end}", "{start_broke} {broke} {extra_bad}", "{start_broke} {extra_bad} {end}"),
    "Not as pictured": ("{start_place} {pictured} {end}", "{pictured} {start_place} {end}", "{pictured} {extra_bad} {end}"),
    "Poor packaging": ("{start_packed} {packed} {end}", "{start_packed} {packed} {extra_bad}", "{start_packed} {end}"),
    "Would not recommend": ("{start_place} {smell} {end}", "{smell} {start_place} {extra_bad}", "{smell} {extra_bad} {end}"),
}
RULES: Rules = {
    "start_long": (
        "I have had {this} {brand} {thing} for {owned}, mostly for {deed}.", "After {owned} of {deed} I can say something about {this} {thing}.",
        "{owned} ago I bought {this} {thing} for {place}.", "The {variant} {thing} came into our house {owned} ago, for {deed}.",
        "We have used the {thing} for {owned} now, in the first place for {deed}.", "I have been {deed} with {this} {thing} for {owned}.",
        "{this} {thing} {has} seen {owned} of use, and a good deal of {deed}.", "It has been {owned} since I ordered the {variant} {thing}.",
        "For {owned} the {thing} by {brand} {has} had to cope with {place}.", "I wanted {a_thing} for {deed} and have owned {this} one for {owned}.",
    ),
    "start_place": (
        "I ordered the {thing} for {place}.", "We needed {a_thing} for {deed}.", "I was looking for something for {place} and chose {brand}.",
        "I do a lot of {deed}, so {a_thing} had to come.", "The {variant} {thing} {was} meant for {place}.", "My old {thing} had to go, and {brand} looked promising.",
        "I bought {this} {thing} with {deed} in mind.", "For {place} I wanted {a_thing} in {colour}.", "It was meant to make {deed} easier.",
    ),
    "start_gift": (
        "I bought {this} {thing} for {whom}, {occasion}.", "The {thing} {was} a present for {whom}, {occasion}.", "{whom} got {this} {brand} {thing} from me {occasion}.",
        "Looking for something {occasion}, I chose {a_thing} for {whom}.", "{whom} is fond of {deed}, so the {thing} {was} an easy choice {occasion}.",
        "I gave the {variant} {thing} to {whom} {occasion}.",
    ),
    "occasion": (
        "for a birthday", "as a housewarming present", "for the holidays", "to say thank you", "for a wedding", "for a graduation", "after a long illness",
        "for a new job", "on a whim", "for an anniversary",
    ),
    "start_broke": (
        "After {owned} of {deed} the {part} broke.", "The {part} broke after {owned}, and I had only used the {thing} for {deed}.",
        "It took {owned} until the {part} of {this} {thing} broke.", "{owned} with {this} {brand} {thing}, and the {part} broke.",
        "I had used the {thing} for {owned} when the {part} broke.", "The {part} broke while I was {deed}; the {thing} {was} {owned} old.",
    ),
    "start_packed": (
        "The {thing} arrived in {city} with {damage} on the {part}.", "There was {damage} on the {part} when I opened the box.",
        "Somebody had put the {thing} into a box without {padding}, and there was {damage} on the {part}.", "{damage} on the {part}, right out of the box.",
        "All the way to {city} without {padding}: I found {damage} on the {part}.",
    ),
    "damage": ("a deep scratch", "a dent", "a crack", "a long scuff", "an ugly chip", "a stain of glue", "three scratches"),
    "padding": ("any padding", "a scrap of paper", "bubble wrap", "a second layer of cardboard", "so much as a newspaper"),
    "hoped": (
        "I had expected little, and then the {part} convinced me.", "The {part} {feel} far better than the price suggests.", "I was skeptical about the {part}; I was wrong.",
        "Compared with the one I had before, {deed} is half the effort.", "What surprised me most was the {part}.", "Not even {place} could bring {them} down.",
        "{brand} has thought about every detail, down to the {part}.", "I only wanted something simple, and got something good.",
    ),
    "feel": ("looked and felt", "turned out", "proved to be"),
    "daily": (
        "Hardly a day goes by without {deed}.", "I use {them} each morning and the {part} still looked new when I checked today.", "The {part} has never given me trouble in all that time.",
        "{deed} has become a habit because of {them}.", "Nothing squeaks, nothing wobbles, least of all around the {part}.", "If I had to leave {place} in a hurry, I would take the {thing} along.",
        "The color has not faded and the {part} works as before.", "My whole family borrows {them} for {deed}.",
    ),
    "value": (
        "You can pay twice as much elsewhere for a worse {part}.", "For this price I had expected a flimsy {part}, and it is anything but.", "I compared six shops, and none had {a_thing} like this for less.",
        "Dearer brands make {deed} no easier.", "The price is more than fair for {place}.", "At {weight} {it} {is} no toy, and the price is a joke.",
        "It costs less than an evening out and will outlive many of them.", "{brand} could ask for more; please do not tell them.",
    ),
    "finish": (
        "The {colour} is just like in the picture, and the {part} has a very even finish.", "In daylight the {colour} is deeper than on the screen, which I like.", "Every edge of the {part} is smooth.",
        "Visitors ask about the {colour} before they sit down.", "Somebody took care with the {part}; I found not a single mark.", "The {colour} suits {place} perfectly.",
        "I chose {colour} after a week of doubt and am glad that I did.", "The {part} is made with rare neatness.",
    ),
    "gift": (
        "I hear about {deed} every week since then.", "The wrapping was hardly off when {it} simply had to be tried.", "The {colour} was just the right choice.", "There was a long silence, then a very big smile.",
        "Now two more people in the family want one.", "The {part} was admired by everybody at the table.", "It came in time and needed no more than a ribbon.", "I had worried about the {part} for nothing.",
    ),
    "flaw": (
        "My one complaint is the {part}: it came loose in the first week and had to be tightened.", "Only the {part} annoys me, because it squeaks.", "If there is a flaw, it is the {part}, which feels cheaper than the rest.",
        "Everything is fine apart from the {part}, which sticks.", "I wish that {brand} would redesign the {part}; it catches on everything.", "What I do not like is the {part}, which is hard to clean.",
        "The {part} is the weak spot: a little play from the first day.",
    ),
    "heavy": (
        "With {weight} {it} {is} not what I would carry far.", "At {weight} {it} {is} what {it} {is}.", "The scales say {weight}, by the way.", "Note the weight: {weight}.",
    ),
    "fine": (
        "Nothing special, nothing wrong.", "For {deed} {it} will do.", "The {part} is alright, no more and no less.", "I would neither praise nor return {them}.", "It is what one expects at this price, the {part} included.",
        "There are better ones by {brand}, and worse.", "{place} has seen prettier things, and uglier ones.", "I forget about {them} as soon as I put {them} away, which may be a compliment.",
    ),
    "small": (
        "It turned out much smaller than I thought.", "Check the measurements before you order: mine fits into a shoe box.", "The picture makes the {part} look twice as large.", "For one person that may do, for {place} {it} {is} too small.",
        "I held {them} next to the old one and laughed.", "I should have measured first, but the photo could be more honest.",
    ),
    "small_too": ("The {part} is well made, to be fair.", "For {deed} it will do, if you are patient.", "In {colour} it is at least pretty.", "Perhaps a child would enjoy it."),
    "slow": (
        "The delivery to {city} took {days} days.", "It took {days} days until the parcel reached {city}.", "{days} days from the order to my door in {city}.", "I waited {days} days for {this} {thing}, and {city} is not the end of the world.",
        "Express it was not: {days} days to {city}.",
    ),
    "slow_too": ("Nobody could tell me where {it} {was}.", "The tracking page said “soon” the whole time.", "The {thing} itself {is} fine, and so is the {part}.", "By then I had borrowed one for {deed}."),
    "broke": (
        "I was careful with {them} from the first day.", "No amount of glue will bring the {part} back.", "One look at the {part} shows why: the material is far too thin.", "So much for {deed}.", "I never let anybody else touch {them}.",
        "{brand} calls this made to be used every day.", "Without the {part} the {thing} {is} scrap.",
    ),
    "pictured": (
        "On the screen it was {colour}, in the box it was {other}.", "What the shop calls {colour} I would call {other}.", "I ordered {colour} and unpacked something in {other}.", "The photo shows {colour}; mine {is} {other}, whatever the light.",
        "Who could take this for {colour}? It is plainly {other}.",
    ),
    "packed": (
        "The {thing} itself may be good; I cannot tell any more.", "Please use more than one layer of cardboard.", "{brand} deserves a better box.", "The {colour} hides it a little, but I know that it is there.", "I paid for a new {thing}, not for this.",
        "For {deed} it will do, for a present it will not.",
    ),
    "smell": (
        "The {part} smells of {odor}, and airing {them} for days did not help.", "Cheap material, and the whole {thing} smells of {odor}.", "As soon as the {thing} {was} out of the box there was a smell of {odor}.", "The {thing} {has} a smell of {odor} that {place} does not deserve.",
        "I washed the {part} twice, and the smell of {odor} stayed.",
    ),
    "extra_good": (
        "The {part2} deserves a word of praise, too.", "I like the {part2} best.", "For {deed2} {it} will do very well, too.", "At {weight} {it} {is} easy to handle for what {it} {do}.", "The {colour} has grown on me.",
        "I have tried {them} for {deed2} as well, with success.", "A friend with {a_thing} by another brand is jealous of the {part2}.", "Ready to use within minutes.", "Cleaning takes a moment, even around the {part2}.",
    ),
    "extra_bad": (
        "The {part2} does not look trustworthy either.", "I have written to the shop and wait for an answer.", "For {deed} I am back to my old one.", "{brand} used to be better.", "{weight} of disappointment.", "The two-year guarantee had better be real.",
        "I would not even use {them} for {deed2}.", "My neighbor in {city} has the same story to tell.",
    ),
    "end_5": ("Full marks.", "I would buy {them} again tomorrow.", "Five stars, and I do not give them lightly.", "Highly recommended to anybody who likes {deed2}.", "Thank you, {brand}!", "No complaints.", "I could not be happier."),
    "end_4": ("One star off, because nothing is perfect.", "Four stars, since the manual is only a drawing.", "Four stars: another color or two would be nice.", "Nearly full marks.", "Just a little expensive, hence four stars.", "I keep one star for the next model."),
    "end_3": ("Three stars.", "So it is three stars from me.", "Somewhere in the middle.", "I am keeping {them}, without enthusiasm.", "Look around before you decide.", "Might suit others better."),
    "end_2": ("Two stars, because the refund came quickly.", "The second star is for the {part2}.", "Two stars, as the people on the telephone were kind.", "I hope that {brand} reads this.", "Not again.", "A second star for good intentions."),
    "end_1": ("I want my money back.", "One star, because none is not possible.", "Never again.", "{it} went back the same day.", "Look for something else.", "A waste of {weight} of material."),
    "odor": ("rubber", "fish", "burnt plastic", "paint", "old socks", "gasoline", "mothballs"),
}  # fmt: skip
DESCRIPTIONS = (
    "Made for {deed}; the {part} is easy to clean, and there is a two-year guarantee.",
    "The {part} and the {part2} are made to be used every day. Two-year guarantee.",
    "Good for {deed} and for {deed2}. Two-year guarantee, on the {part} as well.",
    "Just right for {place}, and nothing gets in the way of {deed}. Two-year guarantee.",
    "Designed around the {part} and tested for {deed}. Two-year guarantee.",
    "We tried the {thing} for {deed2}, and {brand} improved the {part} until we were content. Two-year guarantee.",
)
