"""Chat templates as token streams: the tokens between sampled actions.

A sampled token is never decoded and encoded again. The tokens between two actions come from a
difference: the template is rendered over a synthetic exchange that ends with the next observation.
The text after the assistant's words is tokenized separately.

A control token opens or ends a message, or has a meaning of its own for the model. Which tokens
these are follows from the tokenizer and from the text that its template writes, not from a list of
models. Other added tokens are ordinary text: newlines, HTML tags, and the tags of thoughts and tool
calls, which models write inside their messages.
"""

import inspect
import json
import re
from collections.abc import Iterable, Mapping, Sequence, Set
from datetime import date
from functools import lru_cache
from types import MappingProxyType
from typing import Any

import jinja2
from transformers import PreTrainedTokenizerBase

from agentgym_train.errors import TemplateError

_BARS = re.compile(r"<[|｜].+[|｜]>", re.DOTALL)  # the usual spelling, such as <|fim_prefix|>
_BRACKETS = re.compile(r"<.+>|\[.+\]", re.DOTALL)
_TAG = re.compile(r"</?([^/<>]+)>")
_DIRECTIVES = [f"%{flag}{letter}" for letter in "aAbBcdDeFHIjmMpSuUVwWxXyYzZ" for flag in ("", "-")]
_SET = {"messages", *inspect.signature(PreTrainedTokenizerBase.apply_chat_template).parameters}
_SET -= {"tools", "documents"}


def control_tokens(
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


Message = dict[str, str]
KEPT = 1024
"""Number of observations whose tokens are cached; small environments repeat many observations."""
MINIMAL = (
    "{% for message in messages %}"
    "{% if message['role'] == 'user' %}<|user|>{{ message['content'] }}"
    "{% elif message['role'] == 'assistant' %}<|assistant|>{{ message['content'] }}<|end|>"
    "{% endif %}{% endfor %}"
    "{% if add_generation_prompt %}<|assistant|>{% endif %}"
)
"""The template of models from scratch. It leaves out the rules, which such models cannot read."""
_BODY, _WORDS = "agentgym observes", "agentgym acts"  # the texts of a synthetic exchange
_PROBES = ("go north", "<think>\nA thought.\n</think>\n\ngo north", "two\nlines")


class ChatTemplate:
    """Renders conversations with a tokenizer's chat template.

    Args:
        tokenizer: has a chat template.
        instructions: the environment's rules, for the system message; empty: no system message.
        arguments: variables of the template.
        date: the date that the template reads, as YYYY-MM-DD; empty: today.
        section: the section of the configuration with the template's keys, for messages.

    Raises:
        TemplateError: the tokenizer has no chat template, or the template fails or does not read
            an argument.
    """

    def __init__(
        self,
        tokenizer: PreTrainedTokenizerBase,
        instructions: str = "",
        *,
        arguments: Mapping[str, Any] = MappingProxyType({}),
        date: str = "",
        section: str = "model",
    ):
        if not tokenizer.chat_template:
            raise TemplateError(
                f"tokenizer {tokenizer.name_or_path!r} has no chat template: set"
                f" {section}.chat_template"
            )
        self.tokenizer, self._section, self._arguments = tokenizer, section, dict(arguments)
        source = tokenizer.get_chat_template()
        check_arguments(source, arguments, key=f"{section}.chat_template_kwargs")
        self._source = with_date(source, date)
        self._control: list[str] = []
        self._boundaries: list[str] = []
        self._head = self._choose_head(instructions)
        self._control, self._boundaries = self._control_tokens()

    @property
    def control(self) -> Sequence[str]:
        """The texts of the control tokens, longer ones first."""
        return self._control

    @property
    def folds(self) -> bool:
        """Whether the rules go before the first observation, not into a system message."""
        return self._head is not None and self._head["role"] == "user"

    def messages(self, observations: Sequence[str], actions: Sequence[str]) -> list[Message]:
        """Returns an episode as chat messages; observations and actions alternate."""
        out = self._user(observations[0], first=True)
        for action, observation in zip(actions, [*observations[1:], None], strict=False):
            out.append({"role": "assistant", "content": self._response(action)})
            if observation is not None:
                out += self._user(observation)
        return out

    def episode(self, observations: Sequence[str], actions: Sequence[str]) -> list[int]:
        """Returns the tokens of a complete episode with the rules, the input of a reward model."""
        return self.ids(self.render(self.messages(observations, actions)))

    def render(
        self,
        messages: Sequence[Mapping[str, Any]],
        *,
        prompt: bool = False,
        tools: Sequence[Mapping[str, Any]] = (),
    ) -> str:
        """Returns the template's text.

        Args:
            messages: the conversation.
            prompt: add the start of the assistant's next message.
            tools: functions that the model can call, in OpenAI's form.

        Raises:
            TemplateError: the template is invalid, or it refuses the messages.
        """
        try:
            text = self.tokenizer.apply_chat_template(
                messages,
                chat_template=self._source,
                tokenize=False,
                add_generation_prompt=prompt,
                **({"tools": list(tools)} if tools else {}),
                **self._arguments,
            )
        except (jinja2.TemplateError, TypeError) as error:
            raise TemplateError(
                f"the chat template of {self.tokenizer.name_or_path!r} fails: {error}. Set another"
                f" one in {self._section}.chat_template"
            ) from error
        return str(text)

    def ids(self, text: str) -> list[int]:
        """Returns the tokens of rendered text, without added special tokens."""
        return list(self.tokenizer(text, add_special_tokens=False)["input_ids"])

    def harmless(self, message: Mapping[str, Any]) -> dict[str, Any]:
        """Returns a message whose text opens and ends no message.

        The system's text can hold words of the model, such as a plan or a lesson.
        """
        own = message["role"] in ("system", "assistant")
        control = self._boundaries if own else self._control
        return {**message, "content": neutral(message["content"], control)}

    def _user(self, observation: str, *, first: bool = False) -> list[Message]:
        body = neutral(observation, self._control)
        if not first or not self._head:
            return [{"role": "user", "content": body}]
        if self._head["role"] == "system":
            return [dict(self._head), {"role": "user", "content": body}]
        return [{"role": "user", "content": f"{self._head['content']}\n\n{body}"}]

    def _response(self, text: str) -> str:
        """Returns a response that cannot end its message or open another one.

        The model's own markup stays, such as the tags of thoughts and tool calls.
        """
        return neutral(text, self._boundaries)

    def _exchange(self) -> list[Message]:
        """Returns the messages of a synthetic exchange, with the rules."""
        words = {"role": "assistant", "content": _WORDS}
        return [*self._user(_BODY, first=True), words, *self._user(_BODY)]

    def _control_tokens(self) -> tuple[list[str], list[str]]:
        """See :func:`agentgym_train.models.chat.control_tokens`."""
        rules = self._head["content"].strip() if self._head else ""
        text = self.render(self._exchange(), prompt=True).replace(rules, "")
        first, _, rest = text.partition(_BODY)
        inner, _, rest = rest.partition(_WORDS)
        outer, _, prompt = rest.partition(_BODY)
        # Without rules, the template can write a system message with any text.
        return control_tokens(
            self.tokenizer, outer=outer + (first if rules else ""), inner=inner + prompt
        )

    def _choose_head(self, instructions: str) -> Message | None:
        """Returns the message with the rules, or None without rules.

        It is a system message. If the template cannot have one, it is a user message, and its text
        goes before the first observation.
        """
        heads: list[Message | None] = [None]
        if instructions:
            heads = [{"role": role, "content": instructions} for role in ("system", "user")]
        errors: list[TemplateError] = []
        for head in heads:
            self._head = head
            try:
                self._check()
                return head
            except TemplateError as error:
                errors.append(error)
        for head, reason in zip(heads, errors, strict=True):
            if self._accepts(reason):
                self._head = head
                return head
        raise errors[-1]

    def _accepts(self, error: TemplateError) -> bool:
        """Whether the template can be used in spite of an error of ``_check``."""
        return False

    def _check(self) -> None:
        """Rejects a template that fails or leaves out the rules.

        Raises:
            TemplateError: says which.
        """
        text = self.render(self._exchange(), prompt=True)
        rules = self._head["content"].strip() if self._head else ""
        if rules not in text and self._source != MINIMAL:
            raise TemplateError(
                f"the chat template of {self.tokenizer.name_or_path!r} leaves out the rules of the"
                f" environment: set another one in {self._section}.chat_template"
            )


class RewritingTemplate(TemplateError):
    """The template rewrites earlier messages if later ones are added."""


class ChatTokens(ChatTemplate):
    """A chat template as token streams.

    Args:
        tokenizer: see :class:`ChatTemplate`.
        instructions: see :class:`ChatTemplate`.
        must_grow: reject a template that rewrites earlier messages. Only
            :class:`agentgym_train.models.conversation.Conversation` renders with such a template.
        options: see :class:`ChatTemplate`.

    Raises:
        TemplateError: as :class:`ChatTemplate`; or no control token ends a message of the
            assistant.
        RewritingTemplate: see ``must_grow``.
    """

    def __init__(
        self,
        tokenizer: PreTrainedTokenizerBase,
        instructions: str = "",
        *,
        must_grow: bool = True,
        **options: Any,
    ):
        self.grows, self._must_grow = True, must_grow
        super().__init__(tokenizer, instructions, **options)
        exchange = self.render(self._exchange(), prompt=True)
        before = len(self.render(self._user(_BODY, first=True), prompt=True)) if self.grows else 0
        words = exchange.index(_WORDS, before or exchange.index(_BODY))
        self._gap = exchange[before:words] if self.grows else ""
        self._before = words + len(_WORDS)  # characters of a synthetic exchange before its tail
        self._end = self._message_end(exchange[self._before :].partition(_BODY)[0])
        self._tail_ids = lru_cache(KEPT)(lambda body: tuple(self.ids(self._tail(body))))
        stops = {tokenizer.eos_token_id, self._last_stop()} - {None}
        self.stop_ids: frozenset[int] = frozenset(stops)

    @property
    def end_ids(self) -> list[int]:
        """The tokens that end the assistant's message before a message of the user."""
        return self._end

    def opening(self, observation: str) -> list[int]:
        """Returns the tokens before the first action."""
        return self.ids(self.render(self._user(observation, first=True), prompt=True))

    def between(self, action_ids: Sequence[int], observation: str) -> list[int]:
        """Returns the tokens between two actions.

        They are the end of the assistant's message, the observation and the generation prompt. The
        part of the end that the action already has, as sampled tokens, is left out.

        Raises:
            RewritingTemplate: the template rewrites earlier messages, so no such tokens exist.
        """
        if not self.grows:
            raise RewritingTemplate(
                f"the chat template of {self.tokenizer.name_or_path!r} rewrites earlier messages,"
                " so its conversations are not one token stream: set"
                f" {self._section}.chat_template to a template that does not"
            )
        ids = list(self._tail_ids(neutral(observation, self._control)))
        if action_ids and action_ids[-1] == self._end[-1]:
            return ids[len(self._end) :]
        sampled = range(len(self._end) - 1, 0, -1)
        return ids[next((n for n in sampled if list(action_ids[-n:]) == self._end[:n]), 0) :]

    def response(self, text: str) -> list[int]:
        """Returns the tokens of a response that was not sampled, with its stop token."""
        return self.ids(self._gap + self._response(text)) + self._end

    def text(self, action_ids: Sequence[int]) -> str:
        """Returns the text of an action, without special tokens and surrounding white space."""
        ids = list(action_ids)
        if ids and ids[-1] in self.stop_ids:
            ids.pop()  # a stop token can lack the mark of special tokens
        return str(self.tokenizer.decode(ids, skip_special_tokens=True)).strip()

    def _tail(self, body: str) -> str:
        """Returns the rendered text between the assistant's words and its next message."""
        exchange = [*self._exchange()[:-1], {"role": "user", "content": body}]
        return self.render(exchange, prompt=True)[self._before :]

    def _message_end(self, text: str) -> list[int]:
        """Returns the tokens that end the assistant's message; the last one is the stop token.

        It is the first control token after the assistant's words. White space can precede it, but
        no other text, which would become a part of each action.

        Args:
            text: the rendered text between the assistant's words and the next observation.
        """
        ids = self.ids(text)
        stops = {*self.tokenizer.convert_tokens_to_ids(self._control), self.tokenizer.eos_token_id}
        place = next((n for n, token in enumerate(ids) if token in stops), None)
        if place is not None and not str(self.tokenizer.decode(ids[:place])).strip():
            return ids[: place + 1]
        raise TemplateError(
            f"the chat template of {self.tokenizer.name_or_path!r} ends the assistant's messages"
            f" with {text[:30]!r}, which begins with no control token of the tokenizer, so a"
            f" response could not stop there: set {self._section}.chat_template to a template that"
            f" ends them with {self.tokenizer.eos_token!r}, or add the token to the tokenizer"
        )

    @property
    def minimal(self) -> bool:
        """Whether the template is that of models from scratch, which leaves out the rules."""
        return self._source == MINIMAL

    def _last_stop(self) -> int:
        """Returns the token that ends a message of the assistant which is the last one.

        With most templates, it ends every message. gpt-oss ends a thought with the token that ends
        earlier messages, so a response must not stop there.
        """
        words = self.render(self._exchange()[:-1])
        ending = self.ids(words.rpartition(_WORDS)[2])
        control = {*self.tokenizer.convert_tokens_to_ids(self._control)}
        return next((token for token in ending if token in control), self._end[-1])

    def _accepts(self, error: TemplateError) -> bool:
        if self._must_grow or not isinstance(error, RewritingTemplate):
            return False
        self.grows = False
        return True

    def _check(self) -> None:
        """Rejects a template that rewrites earlier messages, besides the checks of a template.

        Each rendering of a growing conversation must begin with the previous rendering and the
        assistant's words. White space can precede the words: the model samples it.
        """
        super()._check()
        messages = self._user("first", first=True)
        before = self.render(messages, prompt=True)
        for words in _PROBES:
            messages.append({"role": "assistant", "content": words})
            messages += self._user("next")
            after = self.render(messages, prompt=True)
            gap = after[len(before) :]
            expected = before + gap[: len(gap) - len(gap.lstrip())] + words
            if not after.startswith(expected):
                pairs = enumerate(zip(expected, after, strict=False))
                place = next((i for i, (a, b) in pairs if a != b), len(after))
                raise RewritingTemplate(
                    f"the chat template of {self.tokenizer.name_or_path!r} is not"
                    " prefix-preserving: after one more exchange it wrote"
                    f" {after[place : place + 30]!r} in place of {expected[place : place + 30]!r}."
                    f" Set {self._section}.chat_template to a template that does not change earlier"
                    " messages"
                )
            before = after
