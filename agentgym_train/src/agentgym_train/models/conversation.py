"""Any conversation as tokens, with the sampled tokens of earlier replies in their places.

``ChatTokens`` renders conversations that only grow. An agent can also drop messages, rewrite them
or ask a second question, and the templates of thinking models drop the thoughts of past turns. So a
prompt is rendered as a whole here: a mark stands for each sampled reply, the template's text around
the marks is tokenized, and the tokens that were sampled take the places of the marks.
"""

from bisect import bisect_left
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property, lru_cache
from typing import Any

from agentgym_envs.agents.chat import thinking
from agentgym_envs.errors import AgentFailure
from agentgym_envs.models.answers import ToolCall
from agentgym_train.errors import TemplateError
from agentgym_train.models.chat import KEPT, ChatTokens
from agentgym_train.models.tool_calls import CallGrammar, harmless_calls, same_calls

THOUGHTS = (("<think>", "</think>"), ("[THINK]", "[/THINK]"))
"""The tags of thoughts, by family."""
CHANNELS = ("<|channel|>analysis<|message|>", "<|channel|>final<|message|>")
"""What precedes the thought and the answer of gpt-oss."""
API = "policy"
"""The ``api`` of a reply's ``replay``."""
MARK = "agentgymreply"


@dataclass(frozen=True)
class SampledReply:
    """A reply of the policy: its tokens, and what they say."""

    ids: list[int]
    """All sampled tokens, a stop token at the end included."""
    answer_ids: list[int]
    """The tokens after the thought, without the stop token."""
    text: str
    """The text of ``answer_ids`` without tool calls."""
    reasoning: str = ""
    opening: str = ""
    """The text before ``answer_ids``: the thought with its tags, or the tags alone."""
    tool_calls: tuple[ToolCall, ...] = ()

    @property
    def whole(self) -> str:
        """The text with the thought before it, as agents write it."""
        return thinking(self.reasoning, self.text)


class Conversation:
    """Renders the messages of an agent.

    Args:
        chat: the chat template.
        calls: the agent's responses are calls of functions, so a reply stops after its calls.

    Raises:
        TemplateError: the template has no generation prompt, or see :attr:`grammar`.
    """

    def __init__(self, chat: ChatTokens, *, calls: bool = False):
        self.chat = chat
        self._ids = lru_cache(KEPT)(lambda text: tuple(chat.ids(text)))
        self._prompt = self._generation_prompt()
        rules = [{"role": "system", "content": MARK}, {"role": "user", "content": "x"}]
        self._folds = chat.folds or not (chat.minimal or MARK in self._rendered(rules))
        self.splits = self._knows_thoughts()
        """Whether the template tells thoughts from answers."""
        self.stop_ids = chat.stop_ids | (self.grammar.stop_ids if calls else frozenset())

    @cached_property
    def grammar(self) -> CallGrammar:
        """How the model writes calls of functions.

        Raises:
            TemplateError: see :class:`.CallGrammar`.
        """
        ask = [{"role": "system", "content": "rules"}, {"role": "user", "content": MARK}]
        return CallGrammar(self.chat, self._prompt, self._folded(ask))

    def read(self, ids: Sequence[int], tools: Sequence[Mapping[str, Any]] = ()) -> SampledReply:
        """Splits sampled tokens into a thought, an answer and calls of functions.

        Args:
            ids: a reply's.
            tools: the functions that the reply can call, in OpenAI's form.
        """
        own = list(ids)
        if own and own[-1] in self.stop_ids:
            own.pop()
        answer, reasoning, opening = self._thought(own) if self.splits else (own, "", "")
        text, calls = self.chat.text(answer), list[ToolCall]()
        if tools:
            said, calls = self.grammar.read(str(self.chat.tokenizer.decode(answer)), tools)
            text = said if calls else text
        return SampledReply(list(ids), answer, text, reasoning, opening, tuple(calls))

    def written(self, response: str) -> list[int]:
        """Returns the tokens of a response that was not sampled, with its stop token.

        A thought in tags is written as the template writes that of a last message. A template that
        leaves it out has the thought in tags.
        """
        if not self.splits:
            return self.chat.response(response)
        text, thought, opened = response.strip(), "", False
        tags = THOUGHTS[0]
        for opening, closing in THOUGHTS:
            if text.startswith(opening) and closing in text:
                thought, _, text = text.removeprefix(opening).partition(closing)
            if self._prompt.rstrip().endswith(opening):
                tags, opened = (opening, closing), True
        message = self.chat.harmless({"role": "assistant", "content": text.strip()})
        thought = str(self.chat.harmless({**message, "content": thought.strip()})["content"])
        apart = dict.fromkeys(("reasoning_content", "thinking"), thought) if thought else {}
        ask = {"role": "user", "content": MARK}
        said = self._rendered([ask, {**message, **apart}])
        before = self.chat.render([ask], prompt=True)
        if said.startswith(before) and thought in said:
            words = said[len(before) :]
        elif thought or opened:
            opening = "" if opened else f"{tags[0]}\n"
            words = f"{opening}{thought}\n{tags[1]}\n\n{message['content']}"
        else:
            words = message["content"]
        ids = self.chat.ids(words)
        end = next((n for n, token in enumerate(ids) if token in self.chat.stop_ids), None)
        return [*ids, *self.chat.end_ids] if end is None else ids[: end + 1]

    def prompt(
        self,
        messages: Sequence[Mapping[str, Any]],
        replies: Sequence[SampledReply],
        tools: Sequence[Mapping[str, Any]] = (),
    ) -> list[int]:
        """Returns the tokens of a conversation, up to the assistant's next message.

        A message of the assistant that a reply of the policy wrote has the reply's tokens:

        - with the reply's ``replay``: as much of them as the template shows of such a message;
        - with the reply's text and its thought: all of them;
        - with the reply's text only: those after the thought.

        Args:
            messages: an agent's.
            replies: the policy's replies in this episode.
            tools: functions for the template, in OpenAI's form.

        Raises:
            TemplateError: the template refuses the messages.
            AgentFailure: a message has a reply's ``replay`` and another text or other calls; or an
                agent with functions has another format than "function".
        """
        if tools and not self.grammar.stop_ids <= self.stop_ids:
            raise AgentFailure(
                "the agent gives functions to its model, and its replies would not stop after a"
                " call: set format = 'function' in the agent's class"
            )
        mark = MARK
        while mark in str([*messages, *tools]):
            mark += "x"
        shown: list[dict[str, Any]] = []
        places: list[_Place] = []
        sources = _sources(messages, replies)
        for number, (message, source) in enumerate(zip(messages, sources, strict=True)):
            _check_text(message)
            if message["role"] == "system" and not message["content"]:
                continue
            if source is None:
                shown.append(harmless_calls(self.chat.harmless(message), self.chat.control))
            else:
                places.append(_Place(*source, f"{mark}{number}z", f"{mark}{number}t"))
                shown.append(places[-1].message(message))
        text = self.chat.render(self._folded(shown), prompt=True, tools=tools)
        return self._spliced(text, places, mark)

    def _spliced(self, text: str, places: Sequence["_Place"], mark: str) -> list[int]:
        """Returns the tokens of a rendered text, with the replies' tokens at their places."""
        ids, start, action = list[int](), 0, list[int]()
        for place in places:
            at = text.find(place.mark, start)
            if at < 0:  # the template leaves the message out
                continue
            whole, head = self._head(text[start:at], place)
            ids += self._joined(action, self._part(head, mark))
            action = list(place.reply.ids if whole else place.reply.answer_ids)
            start = at + len(place.mark)
            if place.reply.tool_calls:
                start = self._end_of_message(text, start)
        return ids + self._joined(action, self._part(text[start:], mark))

    def _head(self, head: str, place: "_Place") -> tuple[bool, str]:
        """Returns whether a reply stays whole, and the text before it.

        Args:
            head: the text between the reply before and the answer.
            place: the reply.
        """
        if place.reply.tool_calls:
            head = self.grammar.before(head)
        before, shown, _ = head.partition(place.thought_mark)
        opening = self._opening(before)
        cut = before.rindex(self._prompt[:opening]) + opening
        whole = place.whole
        if not whole and opening == len(self._prompt):
            # White space is the model's own, and tells no thoughts apart.
            whole = bool(shown) or _squeezed(before[cut:]) == _squeezed(place.reply.opening)
        if opening and whole:
            return True, before[:cut] + self._prompt[opening:]
        thought = {"role": "assistant", "content": place.reply.reasoning}
        return False, head.replace(place.thought_mark, self.chat.harmless(thought)["content"])

    def _part(self, text: str, mark: str) -> tuple[int, ...]:
        """Returns the tokens of a part of the rendered text."""
        if mark in text:
            raise TemplateError(
                f"the chat template of {self.chat.tokenizer.name_or_path!r} writes a message of"
                " the assistant twice, or not in its place: set model.chat_template to another one"
            )
        return self._ids(text)

    def _opening(self, head: str) -> int:
        """Returns how many characters of the generation prompt precede a reply in the text.

        Args:
            head: the text between the reply before and this one.
        """
        if self._prompt in head:
            return len(self._prompt)
        shorter = (self._prompt[:n] for n in range(len(self._prompt) - 1, 0, -1))
        return next((len(part) for part in shorter if head.endswith(part)), 0)

    def _end_of_message(self, text: str, start: int) -> int:
        """Returns the place of the first stop token after ``start``."""
        stops = self.chat.tokenizer.convert_ids_to_tokens(sorted(self.stop_ids))
        found = [at for stop in stops if (at := text.find(stop, start)) >= 0]
        return min(found, default=len(text))

    def _joined(self, action: Sequence[int], following: Sequence[int]) -> list[int]:
        """Returns a reply's tokens and those of the text after it.

        The text begins with the end of the reply's message. The part of it that was sampled is
        there once. If the template ends messages with another token than the one that was sampled,
        the template's stays.
        """
        end, ids = self.chat.end_ids, list(following)
        if action and action[-1] in self.stop_ids:
            if action[-1] in ids[: len(end)]:
                return [*action, *ids[ids.index(action[-1]) + 1 :]]
            return [*action[:-1], *ids]
        sampled = range(len(end) - 1, 0, -1)
        return [*action, *ids[next((n for n in sampled if list(action[-n:]) == end[:n]), 0) :]]

    def _thought(self, ids: Sequence[int]) -> tuple[list[int], str, str]:
        """Returns the tokens after the thought, the text of the thought, and that with its tags."""
        text = str(self.chat.tokenizer.decode(list(ids)))
        channel, final = CHANNELS
        if text.startswith(CHANNELS):
            thought, found, answer = text.partition(final)
            if not found:  # a call
                answer = text.partition("<|end|><|start|>assistant")[2]
            thought = thought.removeprefix(channel).partition("<|end|>")[0].strip()
            end = len(text) - len(answer)
            return self._last(ids, text, end), thought, text[:end]
        for opening, closing in THOUGHTS:
            opened = text.lstrip().startswith(opening) or self._prompt.rstrip().endswith(opening)
            end = text.rfind(closing) + len(closing) if closing in text else len(text) * opened
            if end:
                thought = text[:end].removesuffix(closing).strip().removeprefix(opening).strip()
                return self._last(ids, text, end), thought, text[:end]
        return list(ids), "", ""

    def _last(self, ids: Sequence[int], text: str, start: int) -> list[int]:
        """Returns the tokens of the text from ``start`` on, without white space before it.

        If a token has both sides of the place, the text is tokenized anew.
        """
        decode = self.chat.tokenizer.decode
        place = bisect_left(range(len(ids)), start, key=lambda n: len(str(decode(list(ids[:n])))))
        while place < len(ids) and not str(decode([ids[place]])).strip():
            place += 1
        answer = text[start:].strip()
        same = str(decode(list(ids[place:]))).strip() == answer
        return list(ids[place:]) if same else self.chat.ids(answer)

    def _generation_prompt(self) -> str:
        """Returns the text that begins the assistant's next message.

        A template such as Mistral's has no such text: the end of the user's message takes its
        place. The assistant's words must follow it.

        Raises:
            TemplateError: the template begins the message in another way than it asks for it.
        """
        ask = [{"role": "user", "content": MARK}]
        asked = self.chat.render(ask, prompt=True)
        if found := asked[len(self.chat.render(ask)) :]:
            return found
        end = asked.rpartition(MARK)[2]
        said = self.chat.render([*ask, {"role": "assistant", "content": MARK}])
        gap = said.rpartition(MARK)[0].rpartition(MARK)[2].removeprefix(end)
        if not end or gap.strip():
            raise TemplateError(
                f"the chat template of {self.chat.tokenizer.name_or_path!r} writes no generation"
                f" prompt, but begins the assistant's messages with {gap[:30]!r}: set"
                " model.chat_template to a template that reads add_generation_prompt"
            )
        return end

    def _knows_thoughts(self) -> bool:
        """Whether the template tells thoughts from answers: it shows them apart, or drops them.

        Otherwise, a thought is a part of the text, as it is for a server with this template.
        """
        ask, thought = {"role": "user", "content": "x"}, f"{MARK}t"
        apart = dict.fromkeys(("reasoning_content", "thinking"), thought)
        tagged = "".join([THOUGHTS[0][0], thought, THOUGHTS[0][1], MARK])
        shown = self._rendered([ask, {"role": "assistant", "content": MARK, **apart}])
        kept = self._rendered([ask, {"role": "assistant", "content": tagged}, ask])
        return thought in shown or (bool(kept) and thought not in kept)

    def _rendered(self, messages: Sequence[Mapping[str, Any]]) -> str:
        """Returns the template's text, or nothing if it refuses the messages."""
        try:
            return self.chat.render(messages)
        except TemplateError:
            return ""

    def _folded(self, messages: list[dict[str, Any]]) -> list[dict[str, Any]]:
        """Returns messages whose system text is in the first user's, if the template needs it."""
        if not self._folds or not messages or messages[0]["role"] != "system":
            return messages
        rules, *rest = messages
        at = next((n for n, message in enumerate(rest) if message["role"] == "user"), None)
        if at is None:
            return [{"role": "user", "content": rules["content"]}, *rest]
        first = {**rest[at], "content": f"{rules['content']}\n\n{rest[at]['content']}"}
        return [*rest[:at], first, *rest[at + 1 :]]


@dataclass(frozen=True)
class _Place:
    """A reply in a rendered conversation."""

    reply: SampledReply
    whole: bool
    """Whether the reply stays whole, whatever the template shows of it."""
    has_thought: bool
    """Whether the message has the thought, so that the template decides."""
    mark: str
    thought_mark: str

    def message(self, message: Mapping[str, Any]) -> dict[str, Any]:
        """Returns the message with marks in place of the reply's texts."""
        marked: dict[str, Any] = {"role": "assistant", "content": self.mark}
        if self.has_thought and self.reply.reasoning:
            # Names of the field in the templates of Qwen and GLM, and of gpt-oss.
            marked |= {"reasoning_content": self.thought_mark, "thinking": self.thought_mark}
        if calls := message.get("tool_calls"):
            marked["tool_calls"] = [
                {**call, "function": {**call["function"], "arguments": {"x": self.mark}}}
                for call in calls
            ]
            marked["content"] = ""
        return marked


def _sources(
    messages: Sequence[Mapping[str, Any]], replies: Sequence[SampledReply]
) -> list[tuple[SampledReply, bool, bool] | None]:
    """Returns the reply that each message holds, or None; and two facts of a :class:`_Place`.

    Replies are in the order of time: if several have the same text, the last message holds the
    latest one. So messages keep their replies as the conversation grows.

    Raises:
        AgentFailure: the text of a reply was changed, and the message claims to be the reply.
    """
    found: list[tuple[SampledReply, bool, bool] | None] = []
    later = len(replies)  # the number of the reply after this message
    for message in reversed(messages):
        content, replay = message["content"], message.get("replay") or {}
        if message["role"] != "assistant":
            found.append(None)
        elif replay.get("api") == API:
            later = replay["call"]
            if not 0 <= later < len(replies):
                raise AgentFailure(
                    f"a message claims to be reply {later} of the model, which gave {len(replies)}:"
                    " 'replay' belongs to the episode of its reply"
                )
            found.append((replies[later], False, True))
            if not same_calls(message, replies[later].tool_calls):
                raise AgentFailure(
                    "a message claims to be a reply of the model, and has other calls of functions:"
                    " leave out its 'replay', or keep the calls"
                )
            if content != replies[later].text:
                raise AgentFailure(
                    f"a message claims to be the model's reply {replies[later].text!r}, and has the"
                    f" text {content!r}: leave out its 'replay', or keep the text"
                )
        else:
            number = next(
                (
                    n
                    for n in range(later - 1, -1, -1)
                    if content in (replies[n].text, replies[n].whole)
                    and same_calls(message, replies[n].tool_calls)
                ),
                None,
            )
            if number is None:
                found.append(None)
            else:
                later = number
                found.append((replies[later], content != replies[later].text, False))
    return found[::-1]


def _squeezed(text: str) -> str:
    """Returns the text without white space."""
    return "".join(text.split())


def _check_text(message: Mapping[str, Any]) -> None:
    if not isinstance(message["content"], str):
        raise AgentFailure(
            f"a message of the {message['role']} has the content {message['content']!r:.80}: the"
            " policy reads text only; use an environment or an agent without pictures"
        )
