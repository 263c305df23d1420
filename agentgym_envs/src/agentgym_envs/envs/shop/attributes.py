"""The properties of the embedded catalogue's products, in groups, written for this package."""

from typing import NamedTuple

from agentgym_envs.envs.shop.words import rows


class ProductAttribute(NamedTuple):
    """A property that some products of a kind have.

    Attributes:
        name: the text that the reward compares.
        feature: the sentence on the page of features.
        wish: the words of an instruction, after the name of the product.
    """

    name: str
    feature: str
    wish: str


_ATTRIBUTES = """
fabric
machine washable | Goes into the washing machine at thirty degrees. | for the washing machine
quick drying | Dries within two hours on the line. | that dries quickly
wrinkle free | Comes out of the suitcase without a crease. | that needs no iron
organic cotton | Woven from organic cotton only. | made of cotton from organic farms
moisture wicking | Moisture wicking yarn takes sweat away. | that keeps me dry when i sweat
fleece lined | Fleece lined, for cold mornings. | with a lining of fleece
tumble dry | Tumble dry on low heat. | that i can put in the dryer
stretch fabric | Stretch fabric follows each movement. | in a fabric that stretches
cut
tall length | The tall length suits long legs and arms. | for a tall person
relaxed fit | The relaxed fit leaves room for a second layer. | that is not tight
flat seams | Flat seams do not rub. | with seams that do not rub
deep pockets | Two deep pockets hold keys and a phone. | with pockets that are deep
elastic waist | The elastic waist needs no belt. | with elastic at the waist
contrast piping | Contrast piping along the edges. | with piping in another color
zipper closure | Zipper closure with a metal pull. | that closes with a zipper
drawstring hem | A drawstring hem keeps the wind out. | with a drawstring at the hem
footwear
non slip sole | The non slip sole holds on wet stone. | that does not slip on wet ground
memory foam | An insole of memory foam. | with an insole of soft foam
arch support | Firm arch support for long days. | that supports my arches
waterproof upper | The waterproof upper keeps feet dry. | that keeps water out
wide toe box | A wide toe box gives the toes room. | with room for the toes
vegan leather | Made with vegan leather. | without animal leather
ankle padding | Soft ankle padding against blisters. | padded at the ankle
reflective trim | Reflective trim is seen at night. | that drivers see at night
rubber outsole | A rubber outsole that does not mark floors. | with outsoles of rubber
easy slip on | Easy slip on, without laces. | that i can put on without laces
bag
laptop compartment | A padded laptop compartment. | with a place for my laptop
water repellent | Water repellent on the outside. | that repels water
adjustable strap | The adjustable strap also crosses the body. | with a strap that adjusts
hidden pocket | A hidden pocket for a passport. | with a pocket that nobody sees
magnetic snap | Closes with a magnetic snap. | that closes with a magnet
rfid blocking | Rfid blocking cloth protects cards. | that blocks rfid readers
key ring | A key ring inside. | with a ring for keys
reinforced seams | Reinforced seams carry books. | with seams that hold a lot
folds flat | Folds flat when it is empty. | that i can fold flat
textile
machine washable | Goes into the washing machine at thirty degrees. | for the washing machine
stain resistant | Stain resistant: spills stay on the surface. | that resists stains
fade resistant | Fade resistant in full sun. | that keeps its color in the sun
double sided | Double sided, with a second look on the back. | that i can use on both sides
hypoallergenic | Hypoallergenic, also for babies. | that suits people with allergies
hidden zipper | A hidden zipper at one edge. | with a zipper that does not show
non slip backing | Non slip backing or hem weights. | that stays in place
hand woven | Hand woven on a wooden loom. | woven by hand
flame retardant | Treated to be flame retardant. | that does not catch fire
oeko certified | Oeko certified yarn. | with an oeko certificate
light
dimmable | Dimmable in ten steps. | that i can dim
remote control | A remote control for the sofa. | with a remote
energy saving | Energy saving diodes. | that saves energy
touch switch | A touch switch at the base. | that i switch on by touch
built in timer | A built in timer ends the evening. | with a timer
weather sealed | Weather sealed for the terrace. | that can stay out in the rain
flicker free | Flicker free for reading. | that does not flicker
easy assembly | Easy assembly in five minutes. | that is easy to assemble
solar charging | Solar charging by day. | that charges in the sun
furniture
solid wood | A frame of solid wood. | of real wood
easy assembly | Easy assembly with one key. | that is easy to assemble
adjustable height | Adjustable height in four steps. | with a height that adjusts
scratch resistant | Scratch resistant lacquer. | that does not scratch
hidden storage | Hidden storage under the top. | with storage inside
floor protectors | Felt floor protectors on each foot. | that does not damage the floor
rounded corners | Rounded corners for homes with children. | without sharp corners
padded edge | A padded edge around the top. | with a soft edge
heavy duty | Heavy duty joints bear 150 kg. | that carries a heavy load
stackable design | A stackable design saves room. | that stacks
gadget
fast charging | Fast charging: half full in twenty minutes. | that charges fast
water resistant | Water resistant against rain. | that water does not harm
one year warranty | One year warranty. | with one year of warranty
travel pouch | A travel pouch is in the box. | with a pouch for travel
status display | A small status display. | with a display
plug and play | Plug and play without a driver. | that works without a driver
recycled plastic | Housing of recycled plastic. | made from recycled material
audio
noise cancelling | Noise cancelling on both sides. | that cancels noise
deep bass | Deep bass from a large driver. | with a strong bass
voice assistant | Works with a voice assistant. | that i can talk to
stereo pairing | Stereo pairing of two devices. | that pairs for stereo sound
built in microphone | A built in microphone for calls. | with a microphone
low latency | Low latency mode for films. | without a delay in films
cover
shock absorbing | Shock absorbing corners. | that absorbs shocks
anti glare | Anti glare in the sun. | that does not glare
fingerprint proof | A fingerprint proof surface. | that shows no fingerprints
raised edges | Raised edges around the glass. | with edges that protect the glass
wireless charging | Made for wireless charging. | that works with a wireless charger
easy alignment | Easy alignment with a frame. | that is easy to align
card slot | A card slot on the back. | with a slot for cards
scratch resistant | Scratch resistant coating. | that does not scratch
ultra thin | Ultra thin, under a millimetre. | that is very thin
wire
braided sleeve | A braided sleeve against kinks. | with a braid around the wire
surge protection | Surge protection inside. | that protects against surges
dual ports | Dual ports for two devices. | with two ports
right angle | A right angle end. | with an angled end
flight approved | Flight approved. | that i can take on a plane
pocket size | Pocket size. | that fits in a pocket
desk
silent keys | Silent keys for shared rooms. | that makes no noise
programmable buttons | Programmable buttons. | with buttons that i can program
wrist rest | With a soft wrist rest. | with a rest for the wrist
privacy cover | A sliding privacy cover. | that i can cover for privacy
ergonomic shape | An ergonomic shape. | that is good for my posture
two receivers | Two receivers, one for the laptop bag. | with a second receiver
stand
quick release | A quick release plate. | that i can release quickly
adjustable height | Adjustable height in four steps. | with a height that adjusts
carbon fiber | Legs of carbon fiber. | made with carbon
bubble level | A bubble level on the head. | that shows when it is level
cable channel | A cable channel at the back. | that hides cables
carrying bag | A carrying bag is in the box. | with a bag to carry it
rubber feet | Rubber feet on each corner. | with feet of rubber
heavy duty | Heavy duty joints. | that carries a heavy load
ventilated base | A ventilated base. | that stays cool
formula
cruelty free | Cruelty free: not tested on animals. | not tested on animals
paraben free | A paraben free recipe. | without parabens
allergen tested | Allergen tested in a laboratory. | tested for allergens
plant based | Plant based. | made from plants
recyclable box | Comes in a recyclable box. | in a box that i can recycle
long lasting | Long lasting. | that lasts
hair
sulfate free | Sulfate free. | without sulfates
argan extract | With argan extract. | with extract of argan
keratin | Keratin makes it smooth. | with a protein that smooths
for dry ends | For dry ends. | for ends that are dry
anti dandruff | Anti dandruff. | against dandruff
scalp soothing | Scalp soothing. | that soothes the scalp
skin
hyaluronic acid | Hyaluronic acid keeps water in the skin. | with a hyaluronic formula
shea butter | A tenth of it is shea butter. | with butter from shea nuts
aloe vera | Aloe vera cools. | with aloe
for sensitive skin | For sensitive skin. | for skin that is sensitive
vitamin e | Vitamin e. | with vitamins
non greasy | Non greasy. | that is not greasy
makeup
high pigment | High pigment in one layer. | with a lot of pigment
smudge proof | Smudge proof until the evening. | that does not smudge
vegan recipe | Vegan recipe or bristles. | that is vegan
travel size | Travel size. | small enough for a trip
quick dry | Quick dry. | that dries quickly
matte look | A matte look. | that does not shine
diet
gluten free | Gluten free. | without gluten
certified organic | Certified organic. | with an organic certificate
non gmo | Non gmo. | without gmo
fair trade | Fair trade. | traded fairly
kosher | Kosher. | that a rabbi has approved
resealable pouch | A resealable pouch. | in a pouch that closes again
drink
caffeine free | Caffeine free. | without caffeine
low acid | Low acid. | that is low in acid
single origin | From a single origin. | from one farm
hand picked | Hand picked. | picked by hand
compostable filters | Compostable filters. | with filters for the compost
shade grown | Shade grown. | grown in the shade
snack
no added sugar | No added sugar. | without added sugar
high protein | High protein. | high in protein
nut allergy safe | Nut allergy safe: made on a separate line. | that is safe for a nut allergy
low sodium | Low sodium. | low in sodium
individually wrapped | Individually wrapped. | with each piece wrapped
keto friendly | Keto friendly. | for a keto diet
pantry
slow cooked | Slow cooked. | cooked slowly
glass jar | In a glass jar. | in a jar of glass
no palm fat | No palm fat. | without palm fat
small batch | Small batch. | made in a small number
dairy free | Dairy free. | without dairy
extra smooth | Extra smooth. | that is very smooth
"""


def _attributes() -> dict[str, list[ProductAttribute]]:
    groups: dict[str, list[ProductAttribute]] = {}
    for row in rows(_ATTRIBUTES):
        if len(row) == 1:
            group = groups.setdefault(row[0], [])
        else:
            group.append(ProductAttribute(*row))
    return groups


ATTRIBUTES: dict[str, list[ProductAttribute]] = _attributes()
