"""Facts about the kinds of product, and the places where each category is used.

A kind has parts, uses, materials and a measure.
"""

from collections.abc import Mapping, Sequence
from typing import NamedTuple

PLURAL = (
    "Gloves",
    "Loppers",
    "String Lights",
    "Wall Hooks",
    "Earbuds",
    "Headphones",
    "Sport Earphones",
    "Studio Monitors",
)


class Thing(NamedTuple):
    """The facts about a kind of product.

    Attributes:
        parts: parts of the product.
        deeds: uses of the product.
        materials: materials, of which a product has one.
        measure: name of a measure.
        low: lowest value of the measure.
        high: highest value of the measure.
        unit: unit of the measure.
    """

    parts: Sequence[str]
    deeds: Sequence[str]
    materials: Sequence[str]
    measure: str
    low: int
    high: int
    unit: str


# Kind | parts | deeds | materials | measure.
_TABLE = """\
Saucepan | lid, handle, pouring rim, base | simmering tomato sauce, warming milk, reducing gravy, cooking oatmeal | stainless steel, enameled steel, aluminum | height 9-16 cm
Skillet | handle, rivet, rim, base | frying eggs, searing fish, browning onions, crisping potatoes | carbon steel, stainless steel, aluminum | depth 4-7 cm
Stock Pot | lid, base, side handle, rim | cooking bone broth, boiling corn for a crowd, making chili, canning peaches | stainless steel, enameled steel | height 22-34 cm
Griddle | drip channel, foot, handle, cooking surface | flipping pancakes, grilling zucchini, toasting flatbread, searing burgers | carbon steel, aluminum | length 28-52 cm
Dutch Oven | lid knob, side handle, lid, base | baking no-knead bread, braising short ribs, simmering beans, roasting a chicken | enameled iron, cast iron | height 14-22 cm
Wok | handle, lid knob, base, rim | stir-frying noodles, steaming dumplings, stir-frying greens, steaming dumplings | carbon steel, cast iron | depth 8-13 cm
Kettle | spout, switch, lid hinge, lid | boiling water for tea, filling hot-water bottles, making tea, filling hot-water bottles | stainless steel, enameled steel, glass | height 18-29 cm
French Press | plunger, mesh filter, beaker, lid | brewing the first coffee of the day, making cold brew, brewing coffee for two, steeping cold brew | glass, stainless steel | height 17-26 cm
Pour-Over Set | dripper, carafe, collar, filter holder | brewing slow Sunday coffee, tasting light roasts, brewing one careful cup, serving coffee after dinner | glass, porcelain, stainless steel | height 19-31 cm
Hand Grinder | crank, burr, catch jar, lid | grinding beans at dawn, grinding peppercorns, grinding for espresso, grinding pepper in a pinch | stainless steel, aluminum, beech | height 14-23 cm
Teapot | spout, infuser, lid, handle | steeping green tea, serving guests, steeping green tea, pouring for guests | porcelain, cast iron, glass | height 11-19 cm
Milk Frother | whisk, motor, stand, lid | foaming oat milk, mixing hot chocolate, frothing milk for cappuccino, mixing hot chocolate | stainless steel, glass | height 15-25 cm
Dinner Plate | rim, foot ring, center, underside | serving Sunday roast, plating pasta, eating in the garden, serving pancakes | stoneware, porcelain, earthenware | diameter 24-31 cm
Soup Bowl | rim, foot ring, wall, base | eating ramen, serving chowder, reheating stew, eating cereal | stoneware, porcelain, earthenware | diameter 14-22 cm
Serving Platter | handle, edge, base, rim | carrying out the roast, arranging cheese, passing around fruit, serving grilled fish | stoneware, porcelain, acacia | length 32-48 cm
Mug | handle, rim, base, inside | drinking morning coffee, sipping cocoa, warming my hands, drinking tea at my desk | stoneware, porcelain, enameled steel | height 8-13 cm
Water Glass | rim, base, wall, outside | serving iced tea, setting the table for ten, drinking lemonade, rinsing paintbrushes | soda-lime glass, recycled glass, borosilicate glass | height 9-16 cm
Salad Bowl | rim, foot, wall, inside | tossing greens, mixing potato salad, rising bread dough, serving fruit salad | acacia, stoneware, olive wood | diameter 22-34 cm
Tent | zipper, center pole, rain fly, inner door | camping in the hills, sleeping out at festivals, waiting out a storm, camping in the backyard | ripstop nylon, polyester, cotton canvas | height 98-210 cm
Sleeping Bag | zipper, hood, stuff sack, lining | sleeping under the stars, spending nights in mountain huts, sleeping in the van, hosting friends on the floor | goose down, polyester, merino wool | length 178-225 cm
Camp Stove | burner, igniter, valve, pot stand | boiling water at camp, cooking oatmeal on the trail, frying trout by the river, making tea on the summit | steel, aluminum, titanium | width 9-38 cm
Lantern | switch, hook, battery cover, handle | reading in the tent, playing cards after dark, cooking after sunset, lighting the porch | aluminum, polycarbonate, bamboo | height 12-29 cm
Hammock | carabiner, seam, hanging loop, edge | napping between two pines, reading in the yard, sleeping off lunch, watching the stars | cotton, parachute nylon, polyester | length 215-320 cm
Cooler | lid seal, drain plug, handle, hinge | keeping drinks cold at the beach, hauling groceries home, packing fish on ice, storing milk at camp | polyethylene, polypropylene, aluminum | height 28-49 cm
Helmet | chin strap, padding, rear dial, visor | riding to work, racing down gravel, commuting in traffic, teaching my son to ride | polycarbonate, recycled ABS, carbon fiber | height 14-19 cm
Saddle Bag | buckle, strap, lining, zipper | carrying spare tubes, packing snacks for long rides, hiding a rain jacket, carrying tools | waxed canvas, polyester, leather | length 14-29 cm
Floor Pump | gauge, hose, valve head, foot plate | inflating road tires, topping up the whole family's bikes, pumping up tires before dawn, setting tubeless beads | steel, aluminum, beech | height 58-74 cm
Lock | key, shackle, mount, keyhole cover | locking up outside the station, chaining two bikes together, leaving my bike at the pool, securing a gate | hardened steel, titanium, steel chain | width 8-22 cm
Front Light | bracket, lens, charging port, switch | commuting before sunrise, riding through tunnels, riding home at midnight, spotting potholes | aluminum, polycarbonate | length 6-12 cm
Gloves | palm padding, wrist strap, cuff, thumb | riding in cold rain, mountain biking, riding before sunrise, descending in the cold | goat leather, merino wool, polyester | length 16-27 cm
Pruner | blade, spring, safety catch, handle | trimming roses, cutting back lavender, deadheading dahlias, cutting kindling | carbon steel, stainless steel | length 17-24 cm
Trowel | blade, handle, hanging cord, tip | planting bulbs, potting herbs, digging up dandelions, filling pots | stainless steel, carbon steel, bronze | length 26-36 cm
Watering Can | rose, spout, handle, brim | watering seedlings, watering the balcony, feeding tomatoes, reaching hanging baskets | galvanized steel, polypropylene, copper | height 18-41 cm
Hand Rake | middle tine, handle, ferrule, neck | loosening soil, clearing leaves under hedges, gathering pine needles, leveling seedbeds | stainless steel, carbon steel, bronze | length 24-41 cm
Hose Reel | crank, wall bracket, coupling, guide arm | watering the lawn, washing the car, rinsing muddy boots, filling the pond | galvanized steel, polypropylene, aluminum | height 31-58 cm
Loppers | blade, grip, pivot bolt, bumper | cutting thick branches, clearing brambles, thinning the apple tree, clearing the path | carbon steel, aluminum, stainless steel | length 48-86 cm
Floor Lamp | shade, foot switch, stem, base | reading on the sofa, lighting a dark corner, knitting at night, brightening the study | brass, powder-coated steel, oak | height 138-176 cm
Table Lamp | shade, switch, cord, base | reading in bed, lighting the hallway, writing letters, lighting the bedside | brass, ceramic, oak | height 31-58 cm
Pendant | canopy, shade, cord, canopy | lighting the dining table, brightening the stairs, lighting the kitchen island, eating by soft light | brass, blown glass, linen | diameter 18-48 cm
Desk Lamp | arm, joint, dimmer, joint | sketching at night, doing homework, soldering small parts, studying late | aluminum, powder-coated steel, brass | height 36-62 cm
Wall Sconce | bracket, shade, switch, mounting plate | lighting the corridor, reading before sleep, lighting the stairs, reading without a nightstand | brass, blown glass, plaster | height 19-38 cm
String Lights | plug, first socket, timer, clip | decorating the porch, lighting garden parties, eating outside in August, decorating the balcony | copper wire, rubber cable, cotton cord | width 2-6 cm
Duvet Cover | button row, seam, hem, seam | sleeping through hot nights, dressing up the guest room, changing beds every week, sleeping through summer | organic cotton, linen, cotton flannel | length 200-240 cm
Pillow | seam, cover, piping, filling | sleeping on my side, propping myself up to read, sleeping on my side, reading against the wall | goose down, latex, polyester | length 48-76 cm
Sheet Set | elastic, hem, corner seam, fitted corner | making up the guest bed, sleeping through the summer, making up the sofa bed, sleeping cool in July | cotton percale, linen, cotton flannel | length 200-244 cm
Wool Blanket | edging, corner, fringe, weave | napping on the couch, sitting out late on the porch, wrapping up on the porch, warming cold feet | merino, lambswool, alpaca | length 150-220 cm
Quilt | stitching, binding, hem, stitching | keeping warm in winter, covering the daybed, covering an old sofa, sleeping with the window open | organic cotton, linen, velvet | length 180-250 cm
Mattress Topper | foam core, corner strap, cover, cover | saving an old mattress, sleeping with a sore back, softening a hard mattress, sleeping on a sofa bed | latex, memory foam, merino wool | length 188-205 cm
Basket | handle, base, weave, rim | sorting laundry, storing toys, carrying laundry, gathering toys | rattan, seagrass, cotton rope | height 22-48 cm
Shelf Unit | shelf bracket, back panel, foot, upright | storing board games, holding jars in the pantry, storing board games, lining up jars | solid oak, powder-coated steel, bamboo | height 82-198 cm
Shoe Rack | crossbar, corner joint, foot, bottom rail | storing boots by the door, keeping the hallway tidy, drying wet boots, lining up sneakers | bamboo, powder-coated steel, solid oak | width 52-98 cm
Storage Bench | hinge, lid, seat, front panel | tying shoes, hiding blankets, putting on shoes, hiding winter blankets | solid oak, rattan, painted pine | width 82-128 cm
Wall Hooks | middle hook, wall plate, end cap, screw cover | hanging coats, hanging backpacks, hanging umbrellas, drying towels | brass, solid oak, powder-coated steel | width 28-92 cm
Bookcase | shelf bracket, side panel, back panel, shelf edge | shelving cookbooks, displaying plants, keeping paperbacks in order, storing records | solid oak, painted pine, walnut veneer | height 88-212 cm
Earbuds | charging case, left bud, microphone, ear tip | listening to podcasts, taking calls on the bus, following language lessons, drowning out the bus | recycled plastic, aluminum | width 2-5 cm
Headphones | headband, ear padding, hinge, left ear cup | listening to records, working in a loud office, falling asleep on flights, practicing the piano at night | aluminum, recycled plastic, walnut | height 17-23 cm
Headset | microphone arm, ear padding, mute button, headband | sitting through video calls, playing online with friends, dictating notes, teaching online | recycled plastic, aluminum | height 16-22 cm
Sport Earphones | ear hook, remote, cable, control button | running intervals, lifting weights, running in the rain, rowing indoors | silicone, recycled plastic | length 42-98 cm
Studio Monitors | volume knob, tweeter, power supply, front grille | mixing demos, listening to vinyl, watching films at my desk, editing a podcast | birch plywood, recycled plastic, aluminum | height 17-34 cm
Earphone Case | zipper, lining, loop, magnetic flap | tidying my backpack, traveling for work, keeping cables apart, carrying spare ear tips | wool felt, leather, recycled plastic | width 7-12 cm
Keyboard | space bar, left foot, shift key, escape key | writing reports, programming all day, answering mail, writing my thesis | aluminum, recycled plastic, walnut | width 29-46 cm
Number Pad | enter key, cable, zero key, plus key | doing the books, typing invoices, entering receipts, balancing the till | aluminum, recycled plastic | height 11-15 cm
Wrist Rest | gel core, cover, rubber base, stitched edge | typing for hours, resting sore wrists, writing long reports, playing strategy games | walnut, memory foam, leather | width 29-46 cm
Keycap Set | space bar, shift key, stem mount, return key | refreshing an old keyboard, building a keyboard for work, learning a new layout, typing in the dark | PBT plastic, ABS plastic, resin | height 1-2 cm
Trackpad | left button, click mechanism, charging port, glass surface | editing photos, scrolling through spreadsheets, sketching floor plans, zooming around maps | aluminum, frosted glass, recycled plastic | width 12-18 cm
Desk Mat | stitching, corner, rubber backing, edge | protecting an old desk, drawing with a tablet, keeping coffee off the wood, moving the mouse smoothly | wool felt, leather, cork | thickness 1-4 mm
Wall Charger | plug, port, casing, prong | charging a laptop overnight, charging two phones at once, charging in hotel rooms, filling a tablet at breakfast | recycled plastic, polycarbonate | height 4-9 cm
Power Bank | battery indicator, port, casing, button | charging on long flights, keeping a camera running, charging on the trail, lending power to friends | aluminum, recycled plastic | length 9-17 cm
Charging Stand | hinge, magnet, foot, cable outlet | charging on the nightstand, propping up my phone at work, charging while I cook, watching recipes | aluminum, walnut, silicone | height 8-17 cm
Cable | plug, sleeve, strain relief, connector | charging from the sofa, connecting a monitor, charging in the back seat, backing up my phone | braided nylon, rubber, braided cotton | thickness 3-6 mm
Car Charger | plug, indicator light, port, spring contact | navigating on road trips, charging on the commute, charging in the taxi, powering a dash camera | aluminum, recycled plastic | length 5-9 cm
Hub | cable, card reader, casing, status light | connecting an old printer, docking a small laptop, plugging in three drives, presenting at work | aluminum, recycled plastic | width 6-14 cm
"""
# Category: places.
_PLACES = """\
Cookware: our tiny kitchen; my first apartment; the cabin; a shared kitchen; a camp kitchen on the coast; a house with an induction hob; Sunday dinners for eight; a student flat
Coffee & Tea: the office kitchen; my dorm room; our camper van; a small café corner at home; a studio above a bakery; early mornings; a slow weekend breakfast; the night shift at work
Tableware: our summer house; a household of six; my grandmother's old cupboard; the break room; picnics on the lawn; a table for four; everyday meals; dinner with the in-laws
Camping: a week in the mountains; a rainy weekend by the lake; three nights in the desert; our first trip with the kids; a canoe trip in June; the festival season; a windy ridge in October; weekends with the scouts
Cycling: a daily ride of nine miles; a tour along the coast; hilly city streets; winter commutes; gravel roads after rain; the school run; long Saturday rides; an old steel bike
Garden Tools: a small balcony; heavy clay soil; our community garden; a yard full of roses; two raised beds; a shady courtyard; an orchard of nine trees; a greenhouse in spring
Lighting: a dark hallway; a rented room; our reading corner; a home office; a loft with high ceilings; a windowless kitchen; a child's bedroom; a long corridor
Bedding: the guest room; a drafty bedroom; our bunk house; a very hot attic; a tall bed; a baby's cot next door; hot summers in the south; a house full of guests
Storage: a narrow entrance; a studio apartment; the kids' room; our laundry room; a closet under the stairs; an old farmhouse; a shared hallway; a workshop with little floor
Headphones: an open-plan office; long train rides; a noisy apartment; night shifts; a house with thin walls; the gym before work; a home studio; a call center
Keyboards: a shared desk; a home office; the front desk of a clinic; a standing desk; a library workplace; a small laptop table; two jobs at one desk; a newsroom
Chargers: a crowded nightstand; business trips; a family with five phones; a car full of gadgets; a camper with one socket; an airport lounge; a drawer of old phones; a conference room
"""


def _thing(parts: str, deeds: str, materials: str, measure: str) -> Thing:
    name, numbers, unit = measure.split()
    low, high = map(int, numbers.split("-"))
    return Thing(
        parts.split(", "),
        deeds.split(", "),
        materials.split(", "),
        name.capitalize(),
        low,
        high,
        unit,
    )


THINGS: Mapping[str, Thing] = {
    kind: _thing(*rest) for kind, *rest in (row.split(" | ") for row in _TABLE.splitlines())
}
PLACES: Mapping[str, Sequence[str]] = {
    category: places.split("; ")
    for category, places in (row.split(": ") for row in _PLACES.splitlines())
}
ON = (
    "a small balcony", "a rainy weekend by the lake", "our first trip with the kids", "a canoe trip in June", "a windy ridge in October", "weekends with the scouts", "a daily ride of nine miles",
    "a tour along the coast", "hilly city streets", "winter commutes", "gravel roads after rain", "the school run", "long Saturday rides", "an old steel bike", "long train rides", "night shifts",
    "a crowded nightstand", "business trips", "a small laptop table", "a shared desk", "a standing desk", "the night shift at work", "early mornings",
    "a tall bed", "the front desk of a clinic",
)  # fmt: skip
AT = (
    "picnics on the lawn",
    "a table for four",
    "everyday meals",
    "dinner with the in-laws",
    "Sunday dinners for eight",
    "the gym before work",
    "a slow weekend breakfast",
    "two jobs at one desk",
)
DURING = (
    "a week in the mountains",
    "three nights in the desert",
    "the festival season",
    "hot summers in the south",
)
"""Places and times that follow these words instead of "in"."""
VARIANTS: Mapping[str, str] = {
    "Cast Iron": "cast iron", "Copper": "copper", "Glass": "glass", "Steel": "stainless steel", "Stoneware": "stoneware", "Brass": "brass", "Linen": "linen",
    "Walnut": "walnut", "Organic Cotton": "organic cotton", "Flannel": "cotton flannel", "Oak": "solid oak", "Rattan": "rattan", "Carbon": "carbon fiber",
    "Enameled": "enameled steel", "Porcelain": "porcelain", "Ceramic": "ceramic", "Bamboo": "bamboo", "Birch": "birch plywood", "Aluminum": "aluminum",
    "Titanium": "titanium", "Percale": "cotton percale", "Wool": "merino wool", "Canvas": "cotton canvas", "Bronze": "bronze", "Braided": "braided nylon",
    "Leather": "leather", "Wicker": "wicker", "Opal Glass": "opal glass", "Smoked Glass": "smoked glass", "Acacia": "acacia",
}  # fmt: skip
"""Variants of a product that name its material."""
ORIGINS = (
    "Portugal", "Sweden", "Japan", "Vermont", "Italy", "Ohio", "Denmark", "Taiwan", "Oregon", "Germany", "Poland", "Vietnam", "Mexico", "India",
)  # fmt: skip
