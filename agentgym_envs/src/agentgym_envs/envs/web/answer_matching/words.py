"""Word lists of the answer judge. A word outside of them is a content word, perhaps a name."""


def row(text: str) -> frozenset[str]:
    """Returns the words of a text."""
    return frozenset(text.split())


ARTICLES = row("a an the this that these those its their his her my your our")

STATING = row(
    """is are was were be been being has have had do does did can could will would shall should
    isn't aren't wasn't weren't hasn't haven't hadn't doesn't don't didn't can't couldn't won't
    it it's he he's she she's they they're i i'm i've we we've you one who which that's there
    here what when where how why because since as so if then thus therefore hence once
    not no nor neither never none nothing nobody only just exactly also too still already
    of in on at by for from to with without within into onto over under above below between
    among against about through during after before until per via near than like according
    answer answered says said say states stated shows show shown showed lists listed reads read
    named called titled labelled labeled known written wrote writes gives gave given got gets get
    placed bought ordered wants asked sold sells costs cost spent paid wins won stands stood
    lives lived joined owns owned opened edited made makes found finds looked checked searched
    leaves leave takes take turns goes go ran runs came comes belongs located lies closes weighs
    appears seems exists exist matches match returns returned contains contain displayed
    displays does needs equals compared comparing incl including overall altogether total sorted
    counted confirmed verified see seen"""
)
"""Verbs, pronouns, prepositions and the like: words that make a statement of a row of words."""

NOUNS = row(
    """answer result results name title customer user person author member owner product item
    products items thing things post posts page pages order orders project projects place places
    shop store site website forum map catalogue catalog list search query database grid column
    value total sum price amount number rating role address street road town city community
    kg g km m mi min h hour hours minutes pieces piece points stars reviews review members
    final correct right first best most least last newest oldest highest lowest heaviest lightest
    cheapest nearest largest both all each every any other same exact such available mr mrs ms dr"""
)
"""Nouns and adjectives that speak of an answer and name none."""

KNOWN = ARTICLES | STATING | NOUNS | {"and", "but", "&"}

OPPOSITES = tuple(
    pair.split()
    for pair in (
        "heavier lighter", "cheaper dearer", "farther nearer", "farther closer", "longer shorter",
        "more less", "more fewer", "larger smaller", "higher lower", "earlier later",
        "older newer", "older younger", "better worse", "most least", "most fewest", "best worst",
        "cheapest dearest", "nearest farthest", "newest oldest", "first last", "highest lowest",
        "longest shortest", "heaviest lightest", "largest smallest", "close opens",
    )
)  # fmt: skip
