"""The facts about places, people's texts about them, and reports of problems in the streets.

All texts were written for this map.
"""

from collections.abc import Mapping, Sequence
from typing import NamedTuple

from agentgym_websites.grammar import Rules


class Kind(NamedTuple):
    """The properties of a category of places.

    Attributes:
        facts: labels and possible values of a page's facts; a review can name a fact by the label's
            last word, in small letters.
        tips: possible recommendations; each place has some.
        recommends: forms of a recommendation, with the blank ``tip``.
        good: good opinions about a place's facts.
        bad: bad opinions.
    """

    facts: Mapping[str, Sequence[str]]
    tips: Sequence[str]
    recommends: Sequence[str]
    good: Sequence[str]
    bad: Sequence[str]


EATEN = (
    "{now}try the {tip}", "{now}order the {tip}", "for the {tip} alone I would walk here from {where}<, even on a {weather} day| in {month}>", "{tip} is what I order<, even on a {weather} {weekday}| every {weekday}>", "nobody should leave {street} without the {tip}<, least of all in {month}| on a {weekday}>",
    "from {where} I come for the {tip}<, even when it is {weather}| every {weekday}>",
)  # fmt: skip
SEEN = (
    "{now}do not miss the {tip}", "{now}go straight to the {tip}", "for the {tip} alone I would come from {where}<, even on a {weather} day| in {month}>", "{now}start with the {tip}", "the {tip} <takes|needs> time, <above all in {month}|more than a {weather} {weekday}>",
    "friends from {where} still talk about the {tip}<| that we saw in {month}>",
)  # fmt: skip
USED = (
    "{now}I can recommend the {tip}", "{now}nothing beats the {tip}", "tell people from {where} about the {tip}<, above all in {month}| before {weekday}>", "{now}make use of the {tip}", "{street} is worth the way for the {tip}<| on a {weather} day>",
    "from {where} I come for the {tip}<, even when it is {weather}| every {weekday}>",
)  # fmt: skip
ACCESS = ("step-free", "step-free with a ramp", "one step at the door", "stairs only")
KINDS: Mapping[str, Kind] = {
    "cafe": Kind(
        {"Seating": ("courtyard garden", "window benches", "upstairs gallery", "pavement tables", "two small rooms", "long shared table"), "Wi-Fi": ("free", "none", "one hour free"), "Access": ACCESS},
        ("plum cake", "cardamom bun", "flat white", "walnut tart", "ginger tea", "cheese scone", "cold brew", "lemon slice", "rye toast", "hot chocolate", "almond croissant", "carrot cake", "honey waffle", "mushroom quiche"),
        EATEN,
        ("{f}the {seating} made my morning", "{f}I liked the {seating} best", "{f}nothing comes close to the {seating}", "{f}I read a whole chapter undisturbed, thanks to the {seating}"),
        ("{f}I waited {wait} for a cup", "{f}my coffee was cold before I had found a place<| for two>", "{f}even the {seating} could not make up for {wait} in the queue"),
    ),
    "restaurant": Kind(
        {"Cuisine": ("Georgian", "Basque", "Sichuan", "Lebanese", "Peruvian", "Nordic", "Sicilian", "Punjabi", "Ethiopian", "Oaxacan"), "Outdoor seating": ("terrace", "garden", "none"), "Access": ACCESS},
        ("braised leek", "smoked trout", "lamb stew", "cheese bread", "black lentils", "grilled squash", "pepper dumplings", "fig salad", "clay-pot rice", "sour cherry soup", "charred cabbage", "almond cake", "seared mackerel", "chestnut noodles"),
        EATEN,
        ("{here}the {cuisine} kitchen knows what it is doing", "{f}I had {cuisine} food as good as in a family kitchen", "{f}we came for {cuisine} cooking and stayed until they swept the floor", "their {cuisine} table is worth crossing {town} for<, even on a {weather} {weekday}| in {month}>"),
        ("{f}what they call {cuisine} was mostly salt", "{f}we waited {wait} for something {cuisine} that came lukewarm", "{cuisine} it says over the door on {street}, and {f}I tasted little of it"),
    ),
    "hotel": Kind(
        {"Number of rooms": tuple(map(str, range(9, 64))), "Breakfast": ("included", "extra, $9", "extra, $12", "extra, $15", "not served"), "Access": ACCESS},
        ("corner room", "attic room", "room over the garden", "late check-out", "library bar", "breakfast porridge", "rooftop sauna", "bicycle hire", "reading nook", "evening soup", "room with the blue tiles", "packed lunch"),
        USED,
        ("with {rooms} rooms it still feels like somebody's house<, even on a {weekday}| in {month}>", "{f}we slept well although {street} has its traffic", "{f}the desk knew our names", "breakfast: {breakfast}; {f}the linen smelled of fresh air"),
        ("{rooms} rooms and one lift, which {f}took {wait}", "{f}our room looked on to {street} and we heard every van", "breakfast: {breakfast}, which {f}came as a surprise"),
    ),
    "museum": Kind(
        {"Admission": ("free", "$4", "$6", "$8", "$11", "free on Sundays"), "Guided tours": ("on Saturdays", "daily at 11:00", "by appointment only", "in summer only"), "Access": ACCESS},
        ("salt merchant's ledger", "painted sleigh", "ship's figurehead", "clockmaker's bench", "room of maps", "glass harmonica", "whale bone", "printing press", "tapestry of the flood", "toy theatre", "diving bell", "loom by the window"),
        SEEN,
        ("admission: {admission}, and {f}we stayed for three hours", "guided tours: {tours}, {here}by somebody who loves the place", "{f}the guards had time for stories", "{here}the labels are short and say something"),
        ("admission: {admission}, and {f}half of the rooms were roped off", "{f}the labels were too dim to read", "tours: {tours}, and {f}ours left {wait} late"),
    ),
    "park": Kind(
        {"Dogs": ("on a lead", "welcome", "not allowed"), "Lighting": ("until 22:00", "none", "along the main path"), "Access": ACCESS},
        ("rose walk", "duck pond", "bandstand", "herb terrace", "beech alley", "old glasshouse", "skating bowl", "bee garden", "sundial lawn", "fern grotto", "wild meadow", "lookout bench"),
        SEEN,
        ("{here}there is no better place", "dogs: {dogs}, and {f}we had no trouble", "the gate on {street} is the quiet one<, even on a {weather} {weekday}| in {month}>", "{here}my children know every tree behind {street}"),
        ("{f}the bins by {street} were full", "dogs: {dogs}, says the sign, and {f}nobody seemed to read it", "{f}the paths were all mud"),
    ),
    "pharmacy": Kind(
        {"Night service": ("Mondays", "Tuesdays", "Wednesdays", "Thursdays", "Fridays", "none"), "Delivery": ("free within the town", "$3", "$4", "$5"), "Access": ACCESS},
        ("blood pressure check", "home-made balm", "flu jab without an appointment", "travel advice", "pill organiser", "hearing test", "skin consultation", "herbal tea mix", "plaster set for hikers", "baby scales to borrow"),
        USED,
        ("{f}they had my order as promised", "delivery: {delivery}, which {f}saved me a walk with a fever", "{f}they took the time to explain, even with a queue out to {street}", "{f}everybody was friendly, quick and discreet"),
        ("{f}I waited {wait} and they had none left", "{f}nobody could find my order", "delivery: {delivery}, and {f}mine never rang"),
    ),
    "supermarket": Kind(
        {"Parking": ("5 spaces", "12 spaces", "30 spaces", "60 spaces", "110 spaces"), "Self-checkout": ("yes", "no"), "Access": ACCESS[:2]},
        ("fish counter", "day-old bread shelf", "local apples", "cheese counter", "refill station", "soup of the day", "olive bar", "farm eggs", "flower stand", "spice wall", "goat yoghurt", "frozen pierogi"),
        USED,
        ("{here}the shelves are still full in the evening", "parking: {parking}, and {f}I needed no more", "{here}the people at the till are patient", "{f}everything was clean, calm and well sorted"),
        ("parking: {parking}, so {f}we went round {street} for {wait}", "{f}half of the shelves were bare", "{f}there was one till open and a line of {wait}"),
    ),
    "station": Kind(
        {"Platforms": ("2", "3", "4", "5", "6"), "Ticket office": ("daily", "weekdays only", "closed, machines only"), "Access": ACCESS[:3]},
        ("waiting room with the tiled stove", "pretzel stand", "book exchange shelf", "covered bicycle park", "left-luggage lockers", "bicycle hire at the side door", "kiosk with the foreign papers", "footbridge view"),
        USED,
        ("{platforms} platforms on {street} and signs that anybody can follow<, even in {month}| on a {weekday}>", "ticket office: {office}; {f}I had my ticket in a minute", "{f}my train left to the minute", "{f}it was full of people and still clean"),
        ("ticket office: {office}; {f}I learned that with {wait} to spare", "{platforms} platforms, and {here}not one bench in the shade", "{f}nobody said that my train was cancelled"),
    ),
    "library": Kind(
        {"Quiet room": ("all day", "mornings only", "afternoons only"), "Late opening": ("Mondays", "Tuesdays", "Wednesdays", "Thursdays"), "Access": ACCESS[:2]},
        ("map cabinet", "seed library", "reading circle", "newspaper archive", "board game shelf", "children's attic", "sheet music drawer", "telescope to borrow", "crime shelf", "language café"),
        USED,
        ("late opening: {opening}; {here}just right after work", "quiet room: {room}; {f}I wrote a chapter of my thesis there", "{f}the librarian found a book that I had only half remembered", "{f}it was the warmest place in {town}"),
        ("quiet room: {room}; {f}it was anything but", "{f}my reservation took {wait} at the desk", "late opening: {opening}, unless, as {f}we learned, somebody is ill"),
    ),
    "hospital": Kind(
        {"Visiting hours": ("14:00–18:00", "15:00–19:00", "10:00–12:00 and 15:00–18:00"), "Beds": tuple(map(str, range(80, 420, 10))), "Access": ACCESS[:1]},
        ("eye clinic", "physiotherapy pool", "roof garden", "children's ward", "night nurse on the second floor", "hand surgery", "canteen's lentil soup", "chapel's quiet hour"),
        USED,
        ("{f}I was seen within {wait}", "visiting hours: {hours}, and {f}nobody was chased out", "{f}I met calm people from the door to the ward", "{beds} beds, and {f}they still knew who I was"),
        ("{f}I sat for {wait} in a corridor with a broken clock", "visiting hours: {hours}, and {f}the porter did not know", "{beds} beds, and {here}no place to park"),
    ),
    "school": Kind(
        {"Pupils": tuple(map(str, range(140, 780, 20))), "Lunch": ("cooked on site", "delivered", "packed lunches only"), "Access": ACCESS[:3]},
        ("rowing club", "school orchestra", "chess lessons", "vegetable garden", "summer play", "pottery room", "robotics group", "choir", "walking bus", "weather station"),
        USED,
        ("{pupils} pupils, and {here}the head greets most by name", "lunch: {lunch}, and {f}our daughter asked for the recipes", "the walk along {street} is safe<, even in {month}| on a {weather} day>", "{here}the homework makes sense"),
        ("{pupils} pupils, and {here}a single crossing on {street}", "lunch: {lunch}, and {f}it came back uneaten", "{f}the letter reached us {wait} after the meeting"),
    ),
    "fuel": Kind(
        {"Charging points": ("1", "2", "4", "6", "8"), "Car wash": ("$7", "$9", "$12", "none"), "Access": ACCESS[:2]},
        ("air pump that works", "coffee machine", "hot-dog roll", "tyre check", "map stand", "window scraper", "night counter", "cinnamon roll by the till", "free water tap", "trailer hire"),
        USED,
        ("charging points: {points}; {f}one was free at noon", "{f}it was cheaper than on the motorway, with a clean lavatory", "{here}it is easy to get in and out although {street} is narrow", "{f}they helped with a flat tyre"),
        ("charging points: {points}; {f}all were out of order", "{f}I stood {wait} at the till behind a coach party", "{here}the exit to {street} is a trap"),
    ),
}  # fmt: skip
REVIEWS: Mapping[int, Sequence[str]] = {
    1: ("{Bad}. {Never}.", "{Opening_bad}. {Bad}. {Never}.", "{Never}. {Bad}."),
    2: ("{Opening_bad}. {Bad}. {Perhaps}.", "{Bad}. {Perhaps}.", "{Perhaps}. {Bad}."),
    3: (
        "{Mixed}. {Good}; then again, {gripe}.",
        "{Good}, but {gripe}. {Mixed}.",
        "{Good}. {Mixed}, since {gripe}.",
        "{Gripe}. Still, {good}.",
    ),
    4: (
        "{Good}. {Recommend}.",
        "{Recommend}. {Good}. {Gripe}: one star off.",
        "{Recommend}. {Good}.",
    ),
    5: (
        "{Opening_good}. {Good}. {Recommend}.",
        "{Good}. {Recommend}! {Again}.",
        "{Recommend}! {Good}. {Again}.",
    ),
}
"""Forms of a review, by stars."""
COMMON: Rules = {
    "f": (
        "", "on a {weather} {weekday} ", "in {month} ", "on my first {weekday} ", "on a {weather} day in {month} ", "one {weekday} in {month} ", "when I came in {month}, ", "here on {street} ", "though it was {weather}, ", "one {weather} evening ", "on {weekday} of all days ",
    ),
    "now": ("", "on a {weather} {weekday} ", "in {month} ", "here in {town} ", "on {street} ", "on {weekday}s ", "on a {weather} day in {month} ", "when it is {weather}, ", "if you come on a {weekday}, "),
    "here": ("", "here in {town} ", "on {street} ", "in {town}, on {street}, ", "whatever people in {where} say, ", "{weather} or not, ", "on {weekday}s ", "in {month} as in any month, "),
    "opening_bad": ("a disappointment", "not my {weekday}", "I had hoped for more", "once and not again", "sorry to say it", "{town} deserves better", "{wait} wasted"),
    "opening_good": ("a find", "the pride of {street}", "just right", "my favourite in {town}", "better every time", "{town} at its best", "worth the way"),
    "never": (
        "I shall go elsewhere", "nobody needs to come from {where} to {street} for this", "in {month} I left {street} without a word", "two stars would be a lie", "my neighbour on {street} <shall not go|has been warned><| in {month}>", "in {town} one <finds|gets> better<, even in {month}|>", "{street} without me, from {weekday} on", "on {weekday} I try another place in {town}",
    ),
    "perhaps": (
        "perhaps it was a bad {weekday} <for {town}|in {month}>", "in {month} I may give it another try on a {weekday}", "the idea is right", "before {month} it was better <on {street}|in {town}>", "somebody on {street} should tell the owner in {month}", "{town} can do better", "if {street} were quieter in {month}, who knows",
    ),
    "mixed": ("mixed feelings", "neither here nor there", "middling", "a {weekday} place", "half and half", "could be better", "{town} has better"),
    "gripe": (
        "<on {weekday}|in {month}|at first> we waited {wait} at the entrance", "on {weekday} it could be open longer<| in {month}>", "from {street} it is hard to find<| in {month}| on a {weather} day>", "the signs on {street} are small<| on a {weather} day>", "<on {weekday}|in {month}|on {street}> nobody said hello<| when it was {weather}>", "on a {weather} <day|{weekday}> it was full<| in {month}>",
    ),
    "again": (
        "back in {month}", "on {weekday} we shall come again with friends from {where}", "nothing to add", "keep it up", "all of {street} has heard about it<| since {month}>", "{town} can be proud", "would I come from {where} for it<, even in {month}| on a {weekday}>? <Yes|Any day|Of course>",
    ),
    "weekday": ("Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday", "Sunday"),
    "month": ("January", "February", "March", "April", "May", "September", "October", "November"),
    "weather": ("rainy", "windy", "sunny", "frosty", "foggy", "mild", "grey", "bright"),
    "wait": ("ten minutes", "a quarter of an hour", "twenty minutes", "half an hour", "forty minutes", "most of an hour"),
}  # fmt: skip
NOTES: Mapping[str, Sequence[str]] = {
    "street lamp": ("has been dark since {month}", "flickers all night", "leans over the pavement", "stays on at noon"),
    "bench": ("has lost two slats", "is drawn facing the wrong way", "has gone and is still on the map", "was moved to the other side"),
    "bus shelter": ("has a broken pane", "is missing from the map", "leaks on {weather} days", "shows last year's timetable"),
    "zebra crossing": ("has worn off", "is not on the map yet", "was painted in {month} and is missing here", "cannot be seen at night"),
    "drinking fountain": ("is dry", "runs only until {month}", "should be on the map", "drips day and night"),
    "post box": ("was taken away in {month}", "has moved to the corner", "is emptied at noon now", "is hidden behind a hedge"),
    "bicycle rack": ("is full of wrecks", "has room for six more bicycles than it says", "is new since {month}", "stands in the way of prams"),
    "road sign": ("shows the old speed limit", "is hidden by a tree", "has been turned round", "names the wrong street"),
    "hedge": ("has grown over half of the pavement", "was cut down in {month}", "hides the crossing", "is drawn as a wall"),
    "manhole cover": ("rattles under every car", "has sunk by a hand's breadth", "is loose", "collects water on {weather} days"),
    "phone box": ("is a book exchange now", "went in {month}", "has no door", "is still drawn although it has gone"),
    "recycling bin": ("takes glass only", "has been full since {weekday}", "burned down in {month}", "was moved behind the corner"),
}  # fmt: skip
SAID = (
    "{greeting}, I walked along {street} on {weekday} and the {subject} {state}.",
    "The {subject} on {street} {state}. Somebody from {town} should look at it before {soon}<| or {weekday}>.",
    "{weekday}, {weather}: the {subject} on {street} {state}.",
    "Every {weekday} I pass {street} in {town}: the {subject} {state}.",
    "On {street} in {town} the {subject} {state}.",
    "Who looks after {street} in {town}? The {subject} {state}.",
)
"""The text of a note."""
REPLIES = (
    "On {weekday} I can go and look at {street}.",
    "Still so on {weekday}, I passed the {subject} on my way through {street}.",
    "Is that the {subject} nearer to the middle of {street}, or the one at its end?",
    "The town of {town} answers that the {subject} is on its list for {soon}.",
    "Seen it too. Of the {subject} I took a picture on a {weather} {weekday}.",
    "On my {weekday} round of {town} I found the {subject} on {street} as you say.",
    "When I passed {street} on {weekday}, the {subject} was as you say.",
)
"""Other people's replies to a note."""
NOTE: Rules = {
    **{key: COMMON[key] for key in ("weekday", "weather")},
    "month": ("October", "November", "December", "January"),
    "soon": ("July", "August", "September"),
    "greeting": ("hello", "good morning", "hello mappers", "hi all"),
}
