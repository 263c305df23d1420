"""Chat templates as token streams: the tokens between sampled actions.

A sampled token is never decoded and encoded again. The tokens between two actions come from a
difference: the template is rendered over a synthetic exchange that ends with the next observation.
The text after the assistant's words is tokenized separately.
"""

from collections.abc import Sequence
from functools import lru_cache

import jinja2
from transformers import PreTrainedTokenizerBase

from agentgym_train.errors import TemplateError

Message = dict[str, str]
KEPT = 1024
"""Number of observations whose tokens are cached; small environments repeat many observations."""
_WORDS = "agentgym"  # the assistant's words in synthetic exchanges
_PROBES = ("go north", "<think>\nA thought.\n</think>\n\ngo north", "two\nlines")


class Template:
    """Renders conversations with a tokenizer's chat template.

    Args:
        tokenizer: has a chat template.
        instructions: the environment's rules, for the system message; empty: no system message.

    Raises:
        TemplateError: the tokenizer has no chat template.
    """

    def __init__(self, tokenizer: PreTrainedTokenizerBase, instructions: str = ""):
        if not tokenizer.chat_template:
            raise TemplateError(
                f"tokenizer {tokenizer.name_or_path!r} has no chat template: set"
                " tokenizer.chat_template"
            )
        self.tokenizer = tokenizer
        self._special = sorted(
            set(tokenizer.all_special_tokens) | set(tokenizer.get_added_vocab()),
            key=len,
            reverse=True,
        )
        self._head = self._choose_head(instructions)

    def messages(self, observations: Sequence[str], actions: Sequence[str]) -> list[Message]:
        """Returns an episode as chat messages; observations and actions alternate."""
        out = self._user(observations[0], first=True)
        for action, observation in zip(actions, [*observations[1:], None], strict=False):
            out.append({"role": "assistant", "content": self._neutral(action)})
            if observation is not None:
                out += self._user(observation)
        return out

    def episode(self, observations: Sequence[str], actions: Sequence[str]) -> list[int]:
        """Returns the tokens of a complete episode with the rules, the input of a reward model."""
        return self.ids(self.render(self.messages(observations, actions)))

    def render(self, messages: list[Message], *, prompt: bool = False) -> str:
        """Returns the template's text.

        Args:
            messages: the conversation.
            prompt: add the start of the assistant's next message.
        """
        return str(
            self.tokenizer.apply_chat_template(
                messages, tokenize=False, add_generation_prompt=prompt
            )
        )

    def _user(self, observation: str, *, first: bool = False) -> list[Message]:
        body = self._neutral(observation)
        if not first or not self._head:
            return [{"role": "user", "content": body}]
        if self._head["role"] == "system":
            return [dict(self._head), {"role": "user", "content": body}]
        return [{"role": "user", "content": f"{self._head['content']}\n\n{body}"}]

    def _choose_head(self, instructions: str) -> Message | None:
        """Returns the message with the rules, or None without rules.

        It is a system message. If the template has no system role, it is a user message, and its
        text goes before the first observation.
        """
        if not instructions:
            return None
        head = {"role": "system", "content": instructions}
        try:
            self.render([head, {"role": "user", "content": "x"}])
        except jinja2.TemplateError:
            return {"role": "user", "content": instructions}
        return head

    def _neutral(self, text: str) -> str:
        """Returns the text with a zero-width space inside written-out special tokens.

        Otherwise an observation or action could end its message.
        """
        for token in self._special:
            if token and token in text:
                text = text.replace(token, f"{token[0]}\u200b{token[1:]}")
        return text

    def ids(self, text: str) -> list[int]:
        """Returns the tokens of rendered text, without added special tokens."""
        return list(self.tokenizer(text, add_special_tokens=False)["input_ids"])


class Chat(Template):
    """A chat template as token streams.

    Args:
        tokenizer: has a chat template.
        instructions: the environment's rules, for the system message; empty: no system message.

    Raises:
        TemplateError: the tokenizer has no chat template, or the template rewrites earlier messages
            when later ones are added.
    """

    def __init__(self, tokenizer: PreTrainedTokenizerBase, instructions: str = ""):
        super().__init__(tokenizer, instructions)
        self._check_prefix()
        self._tail_ids = lru_cache(KEPT)(lambda body: tuple(self.ids(self._tail(body))))
        ends = self.ids(self._tail("x"))[:1]
        self.stop_ids = frozenset(t for t in (tokenizer.eos_token_id, *ends) if t is not None)

    def opening(self, observation: str) -> list[int]:
        """Returns the tokens before the first action."""
        return self.ids(self.render([*self._user(observation, first=True)], prompt=True))

    def between(self, action_ids: Sequence[int], observation: str) -> list[int]:
        """Returns the tokens between two actions.

        They are the end of the assistant's message, the observation and the generation prompt. The
        first of them is left out if the action ends with it, as a sampled stop token.
        """
        ids = list(self._tail_ids(self._neutral(observation)))
        return ids[1:] if ids and action_ids and action_ids[-1] == ids[0] else ids

    def response(self, text: str) -> list[int]:
        """Returns the tokens of a response that was not sampled, with its stop token."""
        end = self.ids(self._tail("x"))[:1]
        return self.ids(self._neutral(text)) + [token for token in end if token in self.stop_ids]

    def text(self, action_ids: Sequence[int]) -> str:
        """Returns the text of an action, without special tokens and surrounding white space."""
        return str(self.tokenizer.decode(list(action_ids), skip_special_tokens=True)).strip()

    def _tail(self, body: str) -> str:
        """Returns the rendered text between the assistant's words and its next message."""
        exchange = [{"role": "user", "content": "x"}, {"role": "assistant", "content": _WORDS}]
        text = self.render([*exchange, {"role": "user", "content": body}], prompt=True)
        return text[text.index(_WORDS) + len(_WORDS) :]

    def _check_prefix(self) -> None:
        """Rejects a template that rewrites earlier messages.

        Each rendering of a growing conversation must begin with the previous rendering and the
        assistant's words.
        """
        messages = self._user("first", first=True)
        before = self.render(messages, prompt=True)
        for words in _PROBES:
            messages.append({"role": "assistant", "content": words})
            messages += self._user("next")
            expected, after = before + words, self.render(messages, prompt=True)
            if not after.startswith(expected):
                pairs = enumerate(zip(expected, after, strict=False))
                place = next((i for i, (a, b) in pairs if a != b), len(after))
                raise TemplateError(
                    f"the chat template of {self.tokenizer.name_or_path!r} is not"
                    " prefix-preserving: after one more exchange it wrote"
                    f" {after[place : place + 30]!r} in place of {expected[place : place + 30]!r}."
                    " Use a template that does not change earlier messages"
                )
            before = after
