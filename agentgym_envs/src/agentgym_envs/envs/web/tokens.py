"""Which characters of a text are words of their own, as NLTK's ``word_tokenize`` has it: WebArena compares lone characters by it.

The rules are those of the Penn Treebank's tokenizer with NLTK's additions, and what Punkt's English
model makes of a period behind a single character in a text without capitals. The text counts as
lower-case.
"""

import re

_APART = r"\s«»“”‘’„`;@#$%&‒–—―?!*\[\](){}<>\""  # characters that stand apart from all others
_CLOSING = r"[\])}>\"'»”’ ]*"  # what may follow the last period
# A period ends a sentence at the end of the text, and before what is neither a lower-case letter
# nor punctuation.
_END = (
    rf"(?:$|[{_APART}]|--|\.\.|''|[:,](?:\D|$)|\.{_CLOSING}$|\.(?:[«“‘„({{\[*]|\s+[^\s;:,.!?a-z]))"
)
_CLITIC = r"(?:'(?:s|m|d|ll|re|ve)?|n't)"  # "i'm" is two words
_BEFORE = rf"(?:^|(?<=[{_APART}])|(?<=--)|(?<=\.\.)|(?<=''))"
_COMMA = r"(?<=(?<![:,])[:,])"  # parts words, but not digits: 9:00, 1,000
_QUOTE = r"(?<=(?<!\w)')(?!(?:re|ve|ll|m|t|s|d|n)\b)"  # an opening one


def is_word(character: str, text: str) -> bool:
    """Says whether a letter or digit is a word of its own somewhere in a text.

    Args:
        character: one, lower-case.
        text: lower-case, without blanks around it.
    """
    before = f"{_BEFORE}|{_QUOTE}" if character.isdecimal() else f"{_BEFORE}|{_QUOTE}|{_COMMA}"
    return (
        re.search(rf"(?:{before}){re.escape(character)}(?={_END}|{_CLITIC}{_END})", text)
        is not None
    )
