"""Recognises single characters that are words, by the rules of NLTK's ``word_tokenize``.

WebArena compares single characters by these rules. They are those of the Penn Treebank tokenizer
with NLTK's additions. Punkt's English model adds a rule for a period behind a single character, in
a text without capitals. The text counts as lower-case.
"""

import re

# Characters that stand apart from all others.
_APART = r"\s«»“”‘’„`;@#$%&‒–—―?!*\[\](){}<>\""
_CLOSING = r"[\])}>\"'»”’ ]*"  # can follow the last period
# A period ends a sentence at the end of the text, and before a character that is neither a
# lower-case letter nor punctuation.
_END = (
    rf"(?:$|[{_APART}]|--|\.\.|''|[:,](?:\D|$)|\.{_CLOSING}$|\.(?:[«“‘„({{\[*]|\s+[^\s;:,.!?a-z]))"
)
_CLITIC = r"(?:'(?:s|m|d|ll|re|ve)?|n't)"  # "i'm" is two words
_BEFORE = rf"(?:^|(?<=[{_APART}])|(?<=--)|(?<=\.\.)|(?<=''))"
_COMMA = r"(?<=(?<![:,])[:,])"  # separates words, but not digits: 9:00, 1,000
_QUOTE = r"(?<=(?<!\w)')(?!(?:re|ve|ll|m|t|s|d|n)\b)"  # an opening quote


def is_word(character: str, text: str) -> bool:
    """Returns whether a letter or digit is a word by itself somewhere in a text.

    Args:
        character: one lower-case letter or digit.
        text: lower-case, without blanks around it.
    """
    before = f"{_BEFORE}|{_QUOTE}" if character.isdecimal() else f"{_BEFORE}|{_QUOTE}|{_COMMA}"
    return (
        re.search(rf"(?:{before}){re.escape(character)}(?={_END}|{_CLITIC}{_END})", text)
        is not None
    )
