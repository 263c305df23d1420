"""Judges codes (SKUs, telephone numbers, versions), coordinates, and yes or no."""

import re
from collections.abc import Iterator
from decimal import Decimal

from agentgym_envs.envs.web.answer_matching.wording import COMMON, Mention, doubtful, plain, states


def _shape(code: str) -> str:
    """Returns a pattern of the codes that look like one.

    A digit stands for each digit, a letter for each letter; the signs between them may be missing.
    """
    if re.fullmatch(r"\d+(?:\.\d+)+", code):
        return r"(?<![\d.])" + r"\.".join([r"\d+"] * len(code.split("."))) + r"(?!\w|[.-]\w)"
    parts = [
        ("[a-z]" if run[0].isalpha() else r"\d") + f"{{{len(run)}}}"
        for run in re.findall(r"[a-z]+|\d+", code)
    ]
    return r"(?<![a-z0-9])" + r"[-. ()/]{0,2}".join(parts) + r"(?![a-z0-9])"


def bare(code: str) -> str:
    """Returns a code without signs; a version keeps its points."""
    return code if re.fullmatch(r"[\d.]+", code) else re.sub(r"[^a-z0-9]", "", code)


def _found(codes: list[str], text: str) -> Iterator[Mention]:
    for shape in dict.fromkeys(map(_shape, codes)):
        for found in re.finditer(shape, text.replace(", ", " ,")):
            yield Mention(bare(found[0]), found.start(), found.end())


def judge_codes(value: str, text: str, intent: str) -> bool:
    """All codes of the value, which blanks separate, and no others."""
    codes = [plain(code) for code in value.split()]
    wanted, found = {bare(code) for code in codes}, list(_found(codes, text))
    asked = {mention.value for mention in _found(codes, intent)}
    return all(states(code, found, text, asked | wanted - {code}, COMMON) for code in wanted)


def judge_point(value: str, text: str, intent: str) -> bool:
    """Two coordinates; a letter for the hemisphere may stand in place of a sign."""
    del intent
    found = list(re.finditer(r"(-?\d+\.\d+)°?(?: ?([nsew])\b)?", text))
    said = [Decimal(m[1]) * (-1 if m[2] in ("s", "w") else 1) for m in found]
    pairs = [
        Mention((said[k], said[k + 1]), found[k].start(), found[k + 1].end())
        for k in range(0, len(found) - 1, 2)
    ]
    wanted = tuple(Decimal(part) for part in value.split(","))
    return len(found) % 2 == 0 and states(wanted, pairs, text)


def judge_yes(value: str, text: str, intent: str) -> bool:
    """The answer begins with the word and does not hold the other one."""
    del intent
    said = re.findall(r"\b(yes|no)\b", text)
    return said == [value] and text.startswith(value) and not doubtful(text)
