"""The control tokens of a chat model, and the arguments of its template.

A control token opens or ends a message, or has a meaning of its own for the model. Which tokens
these are follows from the tokenizer and from the text that its template writes, not from a list of
models. Other added tokens are ordinary text: newlines, HTML tags, and the tags of thoughts and tool
calls, which models write inside their messages.
"""

import inspect
import json
import re
from collections.abc import Iterable, Mapping, Set
from datetime import date
from typing import Any

from transformers import PreTrainedTokenizerBase

from agentgym_train.errors import TemplateError

_BARS = re.compile(r"<[|｜].+[|｜]>", re.DOTALL)  # the usual spelling, such as <|fim_prefix|>
_BRACKETS = re.compile(r"<.+>|\[.+\]", re.DOTALL)
_TAG = re.compile(r"</?([^/<>]+)>")
_DIRECTIVES = [f"%{flag}{letter}" for letter in "aAbBcdDeFHIjmMpSuUVwWxXyYzZ" for flag in ("", "-")]
_SET = {"messages", *inspect.signature(PreTrainedTokenizerBase.apply_chat_template).parameters}
_SET -= {"tools", "documents"}


def tokens(
    tokenizer: PreTrainedTokenizerBase, *, outer: str, inner: str
) -> tuple[list[str], list[str]]:
    """Returns the texts of the control tokens, and of those that open or end a message.

    Longer texts come first. A token opens or ends a message if it is the tokenizer's first, last or
    padding token, or if the template writes it around messages. The other control tokens are marked
    as special, or they are spelled with bars, such as ``<|fim_prefix|>``.

    Args:
        tokenizer: the model's.
        outer: what the template writes between an assistant's words and a user's.
        inner: what it writes between a user's words and an assistant's. A pair of tags that it
            writes here only, such as ``<think>`` and ``</think>``, is part of a message.
    """
    added = tokenizer.added_tokens_decoder.values()
    special = {t.content for t in added if t.special} | set(tokenizer.all_special_tokens)
    texts = {t.content for t in added} | special
    # Tokens, not text: a special "<" is a part of the text "<|im_end|>".
    around, inside = (set(tokenizer.tokenize(part)) for part in (outer, inner))
    ends = {tokenizer.bos_token, tokenizer.eos_token, tokenizer.pad_token} - {None}
    boundaries = ends | {
        text
        for text in texts
        if (text in special or _BRACKETS.fullmatch(text))
        and _is_around(text, around, inside, texts)
    }
    # A single character that is special, such as a digit, is ordinary text of an observation.
    marked = {text for text in special if len(text) > 1}
    control = boundaries | marked | {text for text in texts if _BARS.fullmatch(text)}
    return _sorted(control), _sorted(boundaries)


def neutral(text: str, control: Iterable[str]) -> str:
    """Returns the text with a zero-width space inside each written-out control token.

    A token of one character becomes a replacement character, since nothing fits inside it.
    """
    for token in control:
        if token in text:
            text = text.replace(token, f"{token[0]}\u200b{token[1:]}" if token[1:] else "\ufffd")
    return text


def check_arguments(template: str, arguments: Mapping[str, Any], *, key: str) -> None:
    """Rejects arguments that the template does not read, or that the trainer sets.

    Raises:
        TemplateError: names the argument.
    """
    for name in arguments:
        if name in _SET:
            raise TemplateError(f"{key}.{name}: the trainer sets this argument; remove it")
        if not re.search(rf"\b{re.escape(name)}\b", template):
            raise TemplateError(
                f"{key}.{name}: the chat template does not read {name!r}; remove it or correct the"
                " name"
            )


def with_date(template: str, day: str) -> str:
    """Returns a template that reads a date where it would read the clock (``strftime_now``).

    The macro is part of the text, since transformers passes no functions to a template.

    Args:
        template: the text of a template.
        day: as YYYY-MM-DD; empty: today.
    """
    if "strftime_now" not in template:
        return template
    moment = date.fromisoformat(day) if day else date.today()
    values = "".join(
        f".replace({json.dumps(d)}, {json.dumps(moment.strftime(d), ensure_ascii=False)})"
        for d in _DIRECTIVES
    )
    clock = f"{{% macro strftime_now(form) %}}{{{{ form{values} }}}}{{% endmacro %}}"
    # The empty expression keeps a newline at the start of the template.
    return f"{clock}{{{{ '' }}}}{template}"


def _is_around(text: str, outer: Set[str], inner: Set[str], texts: Set[str]) -> bool:
    """Says whether the template writes a token around messages."""
    tag = _TAG.fullmatch(text)
    pair = {f"<{tag[1]}>", f"</{tag[1]}>"} if tag else {text}
    if tag and pair <= texts:
        return not pair.isdisjoint(outer)
    return text in outer or text in inner


def _sorted(texts: Iterable[str]) -> list[str]:
    return sorted(sorted(filter(str.strip, texts)), key=len, reverse=True)
