"""The facts about places, people's texts about them, and reports of problems in the streets.

All texts were written for this map.
"""

from collections.abc import Mapping, Sequence
from typing import NamedTuple

from agentgym_envs.envs.web.sites.grammar import Rules


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
    "Try the {tip}{when}", "Order the {tip}", "For the {tip} alone I would walk here from {where}", "My advice is the {tip}{when}", "Nobody should leave without the {tip}",
    "I come from {where} for the {tip}",
)  # fmt: skip
SEEN = (
    "Do not miss the {tip}", "Go straight to the {tip}{when}", "For the {tip} alone I would come from {where}", "Start with the {tip}", "Leave time for the {tip}",
    "I showed friends from {where} the {tip}",
)  # fmt: skip
USED = (
    "I can recommend the {tip}", "Nothing here beats the {tip}", "Tell people from {where} about the {tip}", "Make use of the {tip}", "What I come for is the {tip}",
    "I come from {where} for the {tip}",
)  # fmt: skip
ACCESS = ("step-free", "step-free with a ramp", "one step at the door", "stairs only")
KINDS: Mapping[str, Kind] = {
    "cafe": Kind(
        {"Seating": ("courtyard garden", "window benches", "upstairs gallery", "pavement tables", "two small rooms", "long shared table"), "Wi-Fi": ("free", "none", "one hour free"), "Access": ACCESS},
        ("plum cake", "cardamom bun", "flat white", "walnut tart", "ginger tea", "cheese scone", "cold brew", "lemon slice", "rye toast", "hot chocolate", "almond croissant", "carrot cake", "honey waffle", "mushroom quiche"),
        EATEN,
        ("the {seating} is where I spend most of {weekday} morning", "I like the {seating} best", "on a {weather} day there is nothing better than its {seating}", "I found the {seating} quiet enough to read a whole chapter"),
        ("crowded {seating}, and I waited {wait} for a cup", "my coffee was cold before I had found a place in the {seating}", "even the {seating} could not make up for {wait} in the queue"),
    ),
    "restaurant": Kind(
        {"Cuisine": ("Georgian", "Basque", "Sichuan", "Lebanese", "Peruvian", "Nordic", "Sicilian", "Punjabi", "Ethiopian", "Oaxacan"), "Outdoor seating": ("terrace", "garden", "none"), "Access": ACCESS},
        ("braised leek", "smoked trout", "lamb stew", "cheese bread", "black lentils", "grilled squash", "pepper dumplings", "fig salad", "clay-pot rice", "sour cherry soup", "charred cabbage", "almond cake", "seared mackerel", "chestnut noodles"),
        EATEN,
        ("the {cuisine} kitchen knows what it is doing", "I have rarely had {cuisine} food this good outside a family kitchen", "we came for {cuisine} cooking on {weekday} and stayed until they swept the floor", "their {cuisine} table is worth crossing {town} for"),
        ("what they call {cuisine} was mostly salt", "we waited {wait} for something {cuisine} that came lukewarm", "{cuisine} it says over the door, and I tasted little of it"),
    ),
    "hotel": Kind(
        {"Number of rooms": tuple(map(str, range(9, 64))), "Breakfast": ("included", "extra, $9", "extra, $12", "extra, $15", "not served"), "Access": ACCESS},
        ("corner room", "attic room", "room over the garden", "late check-out", "library bar", "breakfast porridge", "rooftop sauna", "bicycle hire", "reading nook", "evening soup", "room with the blue tiles", "packed lunch"),
        USED,
        ("with {rooms} rooms it still feels like somebody's house", "we slept well although {street} has its traffic", "the desk knew our names by {weekday}", "breakfast: {breakfast}; the linen smelled of fresh air on a {weather} day"),
        ("{rooms} rooms and one lift that took {wait}", "ours looked on to {street} and we heard every van", "breakfast: {breakfast}, which nobody told us before {weekday}"),
    ),
    "museum": Kind(
        {"Admission": ("free", "$4", "$6", "$8", "$11", "free on Sundays"), "Guided tours": ("on Saturdays", "daily at 11:00", "by appointment only", "in summer only"), "Access": ACCESS},
        ("salt merchant's ledger", "painted sleigh", "ship's figurehead", "clockmaker's bench", "room of maps", "glass harmonica", "whale bone", "printing press", "tapestry of the flood", "toy theatre", "diving bell", "loom by the window"),
        SEEN,
        ("admission is {admission} and we stayed for three hours", "guided tours are {tours}, by somebody who loves the place", "hardly anyone there on {weekday}, so the guards had time for stories", "the labels are short and say something"),
        ("admission is {admission}, and half of the rooms were roped off", "the labels were too dim to read on a {weather} afternoon", "tours are {tours}, and ours left {wait} late"),
    ),
    "park": Kind(
        {"Dogs": ("on a lead", "welcome", "not allowed"), "Lighting": ("until 22:00", "none", "along the main path"), "Access": ACCESS},
        ("rose walk", "duck pond", "bandstand", "herb terrace", "beech alley", "old glasshouse", "skating bowl", "bee garden", "sundial lawn", "fern grotto", "wild meadow", "lookout bench"),
        SEEN,
        ("on a {weather} {weekday} there is no better place in {town}", "dogs: {dogs}; we have never had trouble", "the gate on {street} is the quiet one", "my children know every tree behind {street}"),
        ("the bins by {street} were full on {weekday}", "dogs: {dogs}, says the sign, and nobody seems to read it", "after a {weather} night the paths are all mud"),
    ),
    "pharmacy": Kind(
        {"Night service": ("Mondays", "Tuesdays", "Wednesdays", "Thursdays", "Fridays", "none"), "Delivery": ("free within the town", "$3", "$4", "$5"), "Access": ACCESS},
        ("blood pressure check", "home-made balm", "flu jab without an appointment", "travel advice", "pill organiser", "hearing test", "skin consultation", "herbal tea mix", "plaster set for hikers", "baby scales to borrow"),
        USED,
        ("they had my order by {weekday} as promised", "delivery is {delivery}, which saved me a walk with a fever", "they take the time to explain, even with a queue out to {street}", "friendly, quick and discreet"),
        ("I waited {wait} and they had none left", "nobody could find my order on {weekday}", "delivery is {delivery}, and mine never rang"),
    ),
    "supermarket": Kind(
        {"Parking": ("5 spaces", "12 spaces", "30 spaces", "60 spaces", "110 spaces"), "Self-checkout": ("yes", "no"), "Access": ACCESS[:2]},
        ("fish counter", "day-old bread shelf", "local apples", "cheese counter", "refill station", "soup of the day", "olive bar", "farm eggs", "flower stand", "spice wall", "goat yoghurt", "frozen pierogi"),
        USED,
        ("on {weekday} evenings the shelves are still full", "parking: {parking}; I have never needed more", "the people at the till are patient on {street}", "clean, calm and well sorted"),
        ("parking: {parking}, so we went round {street} for {wait}", "half of the shelves were bare on {weekday}", "one till open and a line of {wait}"),
    ),
    "station": Kind(
        {"Platforms": ("2", "3", "4", "5", "6"), "Ticket office": ("daily", "weekdays only", "closed, machines only"), "Access": ACCESS[:3]},
        ("waiting room with the tiled stove", "pretzel stand", "book exchange shelf", "covered bicycle park", "left-luggage lockers", "bicycle hire at the side door", "kiosk with the foreign papers", "footbridge view"),
        USED,
        ("{platforms} platforms and signs that anybody can follow", "ticket office: {office}; I had my ticket in a minute", "my train left to the minute on {weekday}", "full of people on {weekday}, and still clean"),
        ("ticket office: {office}; I learned that with {wait} to spare", "{platforms} platforms and not one bench in the shade", "nobody said that the {weekday} train was cancelled"),
    ),
    "library": Kind(
        {"Quiet room": ("all day", "mornings only", "afternoons only"), "Late opening": ("Mondays", "Tuesdays", "Wednesdays", "Thursdays"), "Access": ACCESS[:2]},
        ("map cabinet", "seed library", "reading circle", "newspaper archive", "board game shelf", "children's attic", "sheet music drawer", "telescope to borrow", "crime shelf", "language café"),
        USED,
        ("late opening: {opening}; just right after work", "quiet room: {room}; I wrote half of my thesis there", "the librarian found a book that I had only half remembered", "a warm place on a {weather} {weekday}"),
        ("quiet room: {room}; when I came it was anything but", "my reservation took {wait} at the desk", "late opening: {opening}, unless somebody is ill, as on {weekday}"),
    ),
    "hospital": Kind(
        {"Visiting hours": ("14:00–18:00", "15:00–19:00", "10:00–12:00 and 15:00–18:00"), "Beds": tuple(map(str, range(80, 420, 10))), "Access": ACCESS[:1]},
        ("eye clinic", "physiotherapy pool", "roof garden", "children's ward", "night nurse on the second floor", "hand surgery", "canteen's lentil soup", "chapel's quiet hour"),
        USED,
        ("I was seen within {wait} on a {weekday} night", "visiting hours are {hours}, and nobody is chased out", "calm people from the door to the ward", "{beds} beds, and they still knew who I was"),
        ("I sat for {wait} in a corridor with a broken clock", "visiting hours are {hours}; they might tell the porter", "{beds} beds and a car park for twenty"),
    ),
    "school": Kind(
        {"Pupils": tuple(map(str, range(140, 780, 20))), "Lunch": ("cooked on site", "delivered", "packed lunches only"), "Access": ACCESS[:3]},
        ("rowing club", "school orchestra", "chess lessons", "vegetable garden", "summer play", "pottery room", "robotics group", "choir", "walking bus", "weather station"),
        USED,
        ("{pupils} pupils, and the head knows most of the names", "lunch is {lunch}, and our daughter asks for the recipes", "the walk along {street} is safe", "homework that makes sense"),
        ("{pupils} pupils and a single crossing on {street}", "lunch is {lunch} and comes back uneaten", "letters reach us {wait} after the meeting"),
    ),
    "fuel": Kind(
        {"Charging points": ("1", "2", "4", "6", "8"), "Car wash": ("$7", "$9", "$12", "none"), "Access": ACCESS[:2]},
        ("air pump that works", "coffee machine", "hot-dog roll", "tyre check", "map stand", "window scraper", "night counter", "cinnamon roll by the till", "free water tap", "trailer hire"),
        USED,
        ("charging points: {points}; one was free at noon on {weekday}", "cheaper than on the motorway, and a clean lavatory", "easy to get in and out although {street} is narrow", "they helped with a flat tyre on a {weather} evening"),
        ("charging points: {points}; out of order on {weekday}", "{wait} at the till behind a coach party", "the exit to {street} is a trap at rush hour"),
    ),
}  # fmt: skip
REVIEWS: Mapping[int, Sequence[str]] = {
    1: ("{Bad}. {never}.", "{opening_bad}: {bad}. {never}."),
    2: ("{opening_bad}: {bad}. {perhaps}.", "{Bad}. {perhaps}."),
    3: (
        "{mixed} {good}; then again, {gripe}.",
        "{mixed} {good}, but {gripe}.",
        "{Good}. {mixed} What I did not like: {gripe}.",
    ),
    4: (
        "{Good}. {recommend}.",
        "{recommend}. {Good}. One star off: {gripe}.",
        "{recommend}, and {good}.",
    ),
    5: (
        "{opening_good}: {good}. {recommend}.",
        "{Good}. {recommend}! {again}.",
        "{recommend}! {Good}. {again}.",
    ),
}
"""Forms of a review, by stars."""
COMMON: Rules = {
    "opening_bad": ("a disappointment", "not my {weekday}", "I had hoped for more", "once and not again", "sorry to say it", "below what {street} is used to"),
    "opening_good": ("a find", "the pride of {street}", "just right", "my favourite in {town}", "a good {weekday} begins here", "better every time"),
    "never": ("I shall go elsewhere", "no need to come from {where} for this", "I left without a word", "two stars would be a lie", "I would not send my neighbour there"),
    "perhaps": ("perhaps I came on a bad day", "I may give it another try in {month}", "the idea is right", "it used to be better before {month}", "somebody should tell the owner"),
    "mixed": ("mixed feelings.", "neither here nor there.", "middling, like most of {street}.", "it depends on the day.", "half and half."),
    "gripe": ("we waited {wait} at the entrance", "it could be open longer on {weekday}", "it is hard to find from {street}", "the signs are small", "nobody said hello", "it was full on a {weather} day"),
    "again": ("back in {month} for sure", "we shall come again soon", "nothing to add", "keep it up", "told all of {street} about it"),
    "when": ("", "", " on a {weather} day", " in {month}", " before noon", " towards evening"),
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
    "The {subject} on {street} {state}. Somebody from {town} should look at it.",
    "{weekday}, {weather}: the {subject} on {street} {state}.",
    "I pass {street} in {town} every {weekday}: the {subject} {state}.",
)
"""The text of a note."""
REPLIES = (
    "I can go and look on {weekday}.",
    "Still so on {weekday}, I passed the {subject} on my way through {street}.",
    "Is that the {subject} nearer to the middle of {street}, or the one at its end?",
    "The town of {town} answers that the {subject} is on its list for {soon}.",
    "Seen it too. I took a picture of the {subject} on a {weather} {weekday}.",
    "On my round of {town} I found the {subject} on {street} as you say.",
)
"""Other people's replies to a note."""
NOTE: Rules = {
    **{key: COMMON[key] for key in ("weekday", "weather")},
    "month": ("October", "November", "December", "January"),
    "soon": ("July", "August", "September"),
    "greeting": ("hello", "good morning", "hello mappers", "hi all"),
}
