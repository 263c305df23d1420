"""Options of the shop's products, by kind: their names, values and extra prices in dollars."""

from collections.abc import Mapping, Sequence
from typing import NamedTuple

COLOUR = "Color"


class Option(NamedTuple):
    """A choice that a customer makes.

    Attributes:
        name: name of the choice.
        values: values with their extra prices in dollars; empty: some colours, drawn for each
            product.
        preset: whether the first value is chosen by default.
    """

    name: str
    values: Sequence[tuple[str, int]] = ()
    preset: bool = True


def _choose(name: str, *values: tuple[str, int]) -> Option:
    """Returns an option that must be chosen before the product goes into the cart."""
    return Option(name, values, preset=False)


def _pick(name: str, *values: tuple[str, int]) -> Option:
    return Option(name, values)


_COLOUR = Option(COLOUR)
_SIZES = (("Small", 0), ("Medium", 0), ("Large", 0), ("Extra large", 4))
_LAYOUTS = (("US English", 0), ("UK English", 0), ("German", 5), ("French", 5))
_BULBS = _pick(
    "Bulb", ("Without bulb", 0), ("Warm white", 6), ("Daylight", 6), ("Dimmable warm white", 11)
)

# A task names the options of a product for the cart if its kind has mandatory ones.
OPTIONS: Mapping[str, Sequence[Option]] = {
    "Saucepan": (_pick("Lid", ("Glass lid", 0), ("Steel lid", 7), ("Lid with strainer", 12)),),
    "Skillet": (_pick("Handle cover", ("None", 0), ("Leather", 14), ("Silicone", 6)),),
    "Stock Pot": (_choose("Capacity", ("6 quarts", 0), ("8 quarts", 15), ("12 quarts", 34)), _pick("Basket", ("None", 0), ("Pasta basket", 18))),
    "Dutch Oven": (_COLOUR,),
    "Wok": (_choose("Base", ("Flat", 0), ("Round", 0), ("Round with ring", 9)),),
    "Kettle": (_choose("Capacity", ("1 liter", 0), ("1.5 liters", 8), ("2 liters", 13)), _COLOUR),
    "French Press": (_COLOUR,),
    "Pour-Over Set": (_pick("Filters", ("40 paper filters", 0), ("100 paper filters", 6), ("Steel filter", 15)),),
    "Hand Grinder": (_pick("Burrs", ("Steel", 0), ("Ceramic", 9), ("Titanium", 28)),),
    "Teapot": (_pick("Infuser", ("Steel", 0), ("Glass", 5), ("None", 0)), _COLOUR),
    "Dinner Plate": (_pick("Glaze", ("Matte", 0), ("Glossy", 2)),),
    "Mug": (_pick("Glaze", ("Matte", 0), ("Glossy", 2)), _pick("Gift box", ("None", 0), ("With gift box", 4))),
    "Water Glass": (_pick("Gift box", ("None", 0), ("With gift box", 4)),),
    "Tent": (_choose("Poles", ("Aluminum", 0), ("Fiberglass", 0), ("Carbon", 65)), _COLOUR),
    "Sleeping Bag": (_choose("Length", ("Short", 0), ("Regular", 0), ("Long", 20)), _pick("Zipper", ("Left", 0), ("Right", 0))),
    "Camp Stove": (_pick("Fuel", ("Gas", 0), ("Gasoline", 22), ("Multi-fuel", 38)),),
    "Lantern": (_choose("Power", ("Batteries", 0), ("Rechargeable", 14), ("Solar", 21)),),
    "Hammock": (_COLOUR, _pick("Straps", ("Without straps", 0), ("Tree straps", 16))),
    "Cooler": (_pick("Capacity", ("20 liters", 0), ("35 liters", 25), ("50 liters", 48)),),
    "Helmet": (_choose("Size", *_SIZES), _COLOUR),
    "Saddle Bag": (_choose("Capacity", ("1 liter", 0), ("2 liters", 6), ("5 liters", 15)),),
    "Lock": (_pick("Length", ("70 cm", 0), ("90 cm", 5), ("110 cm", 9)),),
    "Front Light": (_choose("Brightness", ("300 lumens", 0), ("600 lumens", 12), ("1,000 lumens", 27)),),
    "Gloves": (_pick("Size", ("Medium", 0), ("Small", 0), ("Large", 0), ("Extra large", 4)),),
    "Pruner": (_choose("Hand", ("Right-handed", 0), ("Left-handed", 3)),),
    "Watering Can": (_choose("Capacity", ("2 liters", 0), ("5 liters", 5), ("9 liters", 11)), _COLOUR),
    "Hose Reel": (_choose("Hose", ("15 m", 0), ("25 m", 14), ("40 m", 31)), _pick("Nozzle", ("Without nozzle", 0), ("Spray nozzle", 8))),
    "Floor Lamp": (_BULBS,),
    "Table Lamp": (_BULBS, _COLOUR),
    "Pendant": (_choose("Cord", ("1 m", 0), ("2 m", 4), ("3 m", 8)), _BULBS),
    "Desk Lamp": (_pick("Base", ("Stand", 0), ("Clamp", 5)),),
    "String Lights": (_pick("Length", ("5 m", 0), ("10 m", 9), ("20 m", 21)),),
    "Duvet Cover": (_COLOUR, _pick("Closure", ("Buttons", 0), ("Zipper", 3))),
    "Pillow": (_choose("Firmness", ("Soft", 0), ("Medium", 0), ("Firm", 3)),),
    "Sheet Set": (_choose("Pillowcases", ("Two", 0), ("Four", 12)), _COLOUR),
    "Quilt": (_COLOUR,),
    "Mattress Topper": (_choose("Thickness", ("5 cm", 0), ("8 cm", 32), ("10 cm", 55)),),
    "Basket": (_pick("Lid", ("Without lid", 0), ("With lid", 5)),),
    "Shelf Unit": (_choose("Shelves", ("Three", 0), ("Four", 18), ("Five", 34)), _pick("Wall bracket", ("None", 0), ("With bracket", 5))),
    "Storage Bench": (_pick("Cushion", ("None", 0), ("Linen", 22), ("Wool", 29)),),
    "Wall Hooks": (_choose("Hooks", ("Three", 0), ("Five", 6), ("Eight", 13)),),
    "Bookcase": (_pick("Back panel", ("Open", 0), ("Closed", 17)),),
    "Earbuds": (_choose("Ear tips", ("Silicone", 0), ("Foam", 6), ("Both", 9)), _COLOUR),
    "Headphones": (_COLOUR, _pick("Case", ("Pouch", 0), ("Hard case", 15))),
    "Headset": (_choose("Plug", ("USB-A", 0), ("USB-C", 0), ("Headphone jack", 0)),),
    "Sport Earphones": (_COLOUR,),
    "Keyboard": (_pick("Layout", *_LAYOUTS),),
    "Keycap Set": (_choose("Layout", *_LAYOUTS), _COLOUR),
    "Trackpad": (_choose("Connection", ("Cable", 0), ("Wireless", 12)),),
    "Desk Mat": (_pick("Size", ("60 × 30 cm", 0), ("80 × 40 cm", 7), ("120 × 60 cm", 16)), _COLOUR),
    "Wall Charger": (_choose("Plug", ("US", 0), ("UK", 2), ("EU", 2)),),
    "Power Bank": (_pick("Capacity", ("10,000 mAh", 0), ("20,000 mAh", 19), ("27,000 mAh", 33)), _COLOUR),
    "Cable": (_pick("Length", ("1 m", 0), ("2 m", 4), ("3 m", 7)),),
    "Car Charger": (_choose("Ports", ("One", 0), ("Two", 5), ("Three", 9)),),
    "Hub": (_pick("Ports", ("Four", 0), ("Seven", 13), ("Ten", 24)),),
}  # fmt: skip
