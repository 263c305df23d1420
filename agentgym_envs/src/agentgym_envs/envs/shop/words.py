"""The word tables of the embedded catalogue, written for this package.

All products, makers and prices are invented. ``catalogue.py`` makes products from these tables.
"""

from typing import NamedTuple


class ProductKind(NamedTuple):
    """A kind of product.

    Attributes:
        name: the name in titles and instructions; also the query of the kind.
        department: the original's ``category``.
        path: the original's ``product_category`` without the department.
        attributes: the groups of ``attributes.py`` that fit.
        options: the kinds of ``OPTIONS`` that a buyer chooses.
        prices: lowest and highest price in dollars.
    """

    name: str
    department: str
    path: str
    attributes: tuple[str, ...]
    options: tuple[str, ...]
    prices: tuple[int, int]

    @property
    def slug(self) -> str:
        """The name with hyphens, as in task ids."""
        return self.name.replace(" ", "-")


class ProductOption(NamedTuple):
    """A choice that the buyer makes on the page of a product.

    Attributes:
        name: the heading on the page.
        wish: the words of an instruction around the value.
        values: all values; each product offers some of them.
    """

    name: str
    wish: str
    values: tuple[str, ...]


_KINDS = """
midi dress | fashion | Women › Dresses | fabric cut | colour clothing | 18 142
hooded sweatshirt | fashion | Men › Sweatshirts | fabric cut | colour clothing | 15 140
denim jacket | fashion | Women › Jackets | fabric cut | wash clothing | 25 180
cargo shorts | fashion | Men › Shorts | fabric cut | colour clothing | 12 110
pajama set | fashion | Women › Sleepwear | fabric cut | print clothing | 14 120
yoga leggings | fashion | Women › Activewear | fabric cut | colour clothing | 10 100
rain coat | fashion | Men › Outerwear | fabric cut | colour clothing | 28 210
knit cardigan | fashion | Women › Sweaters | fabric cut | colour clothing | 18 160
running shoes | fashion | Men › Shoes | footwear | colour shoe width | 25 195
ankle boots | fashion | Women › Shoes | footwear | colour shoe | 30 225
house slippers | fashion | Unisex › Shoes | footwear | print shoe | 9 90
canvas backpack | fashion | Unisex › Bags | bag | colour volume | 20 180
leather wallet | fashion | Men › Accessories | bag | colour | 10 120
tote bag | fashion | Women › Bags | bag | print volume | 11 140
area rug | garden | Home Decor › Rugs | textile | pattern rug | 22 285
throw pillow cover | garden | Home Decor › Pillows | textile | pattern pack | 8 80
blackout curtains | garden | Home Decor › Curtains | textile | colour drop | 16 170
fleece blanket | garden | Bedding › Blankets | textile | colour bed | 14 150
duvet cover | garden | Bedding › Covers | textile | pattern bed | 20 165
shower curtain | garden | Bath › Curtains | textile | pattern drop | 10 90
table lamp | garden | Lighting › Lamps | light | finish bulb | 18 180
floor lamp | garden | Lighting › Lamps | light | finish bulb | 35 270
string lights | garden | Lighting › Outdoor | light | bulb length | 9 100
bar stool | garden | Furniture › Seating | furniture | finish seat | 45 330
coffee table | garden | Furniture › Tables | furniture | finish shape | 60 480
bookshelf | garden | Furniture › Storage | furniture | finish tier | 40 360
storage bench | garden | Furniture › Storage | furniture | finish seat | 55 390
office chair | garden | Furniture › Seating | furniture | seat wheel | 70 525
wireless earbuds | electronics | Audio › Headphones | gadget audio | colour | 18 240
bluetooth speaker | electronics | Audio › Speakers | gadget audio | colour power | 20 270
gaming headset | electronics | Audio › Headphones | gadget audio | colour plug | 22 210
phone case | electronics | Phones › Cases | cover | print phone | 7 90
screen protector | electronics | Phones › Screens | cover | phone pack | 6 60
tablet sleeve | electronics | Tablets › Cases | cover | colour screen | 10 100
charging cable | electronics | Phones › Cables | gadget wire | plug length | 5 60
power bank | electronics | Phones › Batteries | gadget wire | colour power | 15 180
travel adapter | electronics | Phones › Chargers | gadget wire | colour plug | 9 90
mechanical keyboard | electronics | Computers › Keyboards | gadget desk | colour switch | 30 255
computer mouse | electronics | Computers › Mice | gadget desk | colour hand | 9 160
webcam | electronics | Computers › Cameras | gadget desk | plug screen | 20 195
camera tripod | electronics | Cameras › Tripods | stand | finish tier | 18 225
monitor stand | electronics | Computers › Stands | stand | finish screen | 20 165
shampoo | beauty | Hair Care › Shampoos | formula hair | scent bottle | 6 80
hair mask | beauty | Hair Care › Treatments | formula hair | scent bottle | 8 90
face cream | beauty | Skin Care › Creams | formula skin | bottle scent | 9 140
lip balm | beauty | Skin Care › Lips | formula skin | fruit pack | 4 40
body lotion | beauty | Skin Care › Lotions | formula skin | scent bottle | 7 80
bar soap | beauty | Bath › Soaps | formula skin | scent pack | 5 50
nail polish | beauty | Makeup › Nails | formula makeup | shade | 4 44
lipstick | beauty | Makeup › Lips | formula makeup | shade | 6 70
makeup brush set | beauty | Makeup › Brushes | formula makeup | colour pack | 10 120
beard oil | beauty | Hair Care › Beards | formula hair | scent bottle | 8 70
green tea | grocery | Beverages › Tea | diet drink | tea pack | 5 70
coffee beans | grocery | Beverages › Coffee | diet drink | roast weight | 9 90
granola bars | grocery | Snacks › Bars | diet snack | fruit pack | 6 80
trail mix | grocery | Snacks › Nuts | diet snack | spice weight | 7 80
potato chips | grocery | Snacks › Chips | diet snack | spice pack | 5 60
pasta sauce | grocery | Pantry › Sauces | diet pantry | spice weight | 4 50
peanut butter | grocery | Pantry › Spreads | diet pantry | grind weight | 5 60
dried fruit | grocery | Snacks › Fruit | diet snack | fruit weight | 6 70
"""

_OPTIONS = """
colour | color | in {} | black, white, navy, olive, burgundy, teal, khaki, charcoal, lavender, ivory
wash | color | in {} | indigo, stonewash, faded black, off white, light, raw denim, rinse one, acid
print | style | with the {} print | leopard, rainbow, ivy, tiger, sunflower, elephant, polka dots
clothing | size | in size {} | xs, s, m, l, xl, xxl
shoe | size | in size {} | eu 36, eu 37, eu 38, eu 39, eu 40, eu 41, eu 42, eu 43
width | width | in {} width | narrow, regular, broad
volume | capacity | with room for a {} | day, weekend, fortnight, month
pattern | pattern | with the {} pattern | herringbone, plaid tile, chevron, botanical, paisley
rug | size | in the {} size | doormat, runner, bedside, half room, full room, hall square
pack | pack | as a {} | single, twin set, pack of three, pack of six, pack of twelve
drop | drop | with a {} drop | 120 cm, 150 cm, 180 cm, 240 cm
bed | size | in {} size | twin, full, queen, king
finish | finish | with a {} finish | walnut, espresso, graphite, pewter, bronze, birch, copper
bulb | light | with {} light | daylight, candle glow, amber, neutral, party mix
length | length | in the {} length | short, regular, extended, giant
seat | material | with a {} seat | velvet, faux leather, rattan, corduroy, mesh, linen
shape | shape | in a {} shape | round, oval, square, hexagon, kidney
tier | sections | with {} | two sections, three sections, four sections, five sections
wheel | wheels | with {} wheels | hardwood floor, carpet, no rolling
power | power | with {} power | modest, medium, strong, extreme
plug | connector | with a {} plug | type c, micro, lightning pin, classic a, round jack
phone | fits | for a {} phone | five inch, six inch, foldable, mini
screen | fits | for a {} screen | compact, standard, ultrawide, extra large
switch | switches | with {} switches | tactile, linear, clicky, optical
hand | hand | for the {} hand | left, right, either
scent | scent | with the scent of {} | sandalwood, eucalyptus, vanilla, rosemary, jasmine, unscented
bottle | bottle | in the {} bottle | mini, classic, family, salon refill
fruit | flavor | with {} flavor | cherry, mango, blueberry, apricot, pineapple, banana, passionfruit
shade | color | in the shade {} | crimson night, nude, plum, fuchsia, rust, blush, merlot, taupe
tea | flavor | with {} flavor | jasmine blossom, lemon, mint, ginger, toasted rice, plain leaf
roast | roast | as a {} roast | blonde, city, vienna, french, italian
weight | amount | in the {} bag or jar | 200 gram, half kilo, whole kilo, catering
spice | flavor | with {} flavor | sea salt, smoked paprika, rosemary, garlic, chili, truffle
grind | kind | in the {} kind | crunchy, creamy, whipped, powdered
"""

LOOKS = {
    "fashion": ("classic", "casual", "vintage", "elegant", "sporty", "cozy", "trendy", "simple"),
    "garden": (
        "modern",
        "rustic",
        "nordic",
        "industrial",
        "bohemian",
        "minimalist",
        "farmhouse",
        "coastal",
    ),
    "electronics": (
        "compact",
        "portable",
        "slim",
        "rugged",
        "professional",
        "lightweight",
        "smart",
        "universal",
    ),
    "beauty": (
        "gentle",
        "nourishing",
        "daily",
        "refreshing",
        "rich",
        "pure",
        "soothing",
        "luxurious",
    ),
    "grocery": ("tasty", "crisp", "traditional", "savory", "hearty", "fresh", "wholesome", "bold"),
}
USES = {
    "fashion": (
        "travel",
        "office",
        "weekends",
        "holidays",
        "commuting",
        "gym",
        "garden work",
        "parties",
    ),
    "garden": (
        "bedroom",
        "living room",
        "hallway",
        "nursery",
        "dorm",
        "porch",
        "kitchen",
        "studio",
    ),
    "electronics": (
        "travel",
        "office",
        "gaming",
        "hiking",
        "school",
        "streaming",
        "car",
        "video calls",
    ),
    "beauty": ("women", "men", "teens", "travel", "winter", "summer", "mornings", "evenings"),
    "grocery": (
        "breakfast",
        "lunch boxes",
        "picnics",
        "camping",
        "gifts",
        "guests",
        "office",
        "parties",
    ),
}
MAKER_FRONT = (
    "Brindle",
    "Fen",
    "Harrow",
    "Juniper",
    "Larkspur",
    "Marl",
    "Nettle",
    "Osier",
    "Quill",
)
MAKER_BACK = ("combe", "dale", "garth", "ham", "holt", "mere", "stead", "thorpe", "wick", "worth")


def rows(text: str) -> list[list[str]]:
    """Returns the cells of a table with one row per line and bars between the cells."""
    return [[part.strip() for part in line.split("|")] for line in text.strip().splitlines()]


def _kind(row: list[str]) -> ProductKind:
    name, department, path, attributes, options, prices = row
    low, high = map(int, prices.split())
    return ProductKind(
        name, department, path, tuple(attributes.split()), tuple(options.split()), (low, high)
    )


KINDS: tuple[ProductKind, ...] = tuple(map(_kind, rows(_KINDS)))
OPTIONS: dict[str, ProductOption] = {
    key: ProductOption(name, wish, tuple(values.split(", ")))
    for key, name, wish, values in rows(_OPTIONS)
}
