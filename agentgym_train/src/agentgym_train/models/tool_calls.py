"""How a model writes calls of functions, and the calls of a sampled reply.

Families write calls in different forms. The form of a model is the one that reads back the call
which the model's own chat template writes, so no list of models is needed. The same text says which
token ends a message with a call.
"""

import json
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

from agentgym_envs.models.answers import ToolCall
from agentgym_envs.surrogates import whole_json
from agentgym_envs.wrappers.responses import read_arguments
from agentgym_train.errors import TemplateError
from agentgym_train.models.chat import ChatTokens, neutral

Schemas = Mapping[str, Mapping[str, Any]]
"""By function: the schema of each parameter."""
_Found = tuple[Any, Any, Any]
"""Name, arguments and id of a call, as they were read."""
_NAME = re.compile(r"[\w.-]{1,64}")
_ID = re.compile(r"[a-zA-Z0-9]{9}")  # Mistral's form, the only one whose calls have ids
_HEADERS = re.compile(r"<\|start\|>assistant|<\|channel\|>\w+|<\|message\|>|<\|end\|>")  # gpt-oss
_PROBE = {
    "type": "function",
    "function": {
        "name": "agentgym_probe",
        "description": "A function.",
        "parameters": {
            "type": "object",
            "properties": {"place": {"type": "string", "description": "A place."}},
            "required": ["place"],
        },
    },
}
_NAMED, _VALUE, _RESULT = "agentgym_probe", "agentgymplace", "agentgymresult"


def _json(text: str) -> Any:
    """Returns the JSON data of a text; None if it is none."""
    try:
        return whole_json(json.loads(text))
    except (ValueError, RecursionError):
        return None


def _listed(data: Any, *keys: str) -> Iterator[_Found]:
    """Yields the calls of JSON data; a call that is none has no name.

    Args:
        data: a call or a list of calls.
        keys: names of the arguments.
    """
    for call in data if isinstance(data, list) else [data]:
        made = call if isinstance(call, dict) else {}
        arguments = next((made[key] for key in keys if key in made), None)
        yield made.get("name"), arguments, made.get("id")


def _hermes(found: re.Match[str], schemas: Schemas) -> Iterator[_Found]:
    return _listed([_json(found[1])], "arguments")


def _llama(found: re.Match[str], schemas: Schemas) -> Iterator[_Found]:
    return _listed([_json(found[1])], "parameters", "arguments")


def _mistral(found: re.Match[str], schemas: Schemas) -> Iterator[_Found]:
    if found["list"]:
        return _listed(_json(found["list"]), "arguments")
    return iter([(found["name"], found["arguments"], found["id"])])


def _harmony(found: re.Match[str], schemas: Schemas) -> Iterator[_Found]:
    return iter([(found["name"], found["arguments"], None)])


def _tagged(pair: re.Pattern[str]) -> Callable[[re.Match[str], Schemas], Iterator[_Found]]:
    """Returns a reader of calls with one tag for each argument.

    A value is a text if the function's schema says so, and JSON otherwise.
    """

    def read(found: re.Match[str], schemas: Schemas) -> Iterator[_Found]:
        name, body = found[1].strip(), found[2]
        types = {key: schema.get("type") for key, schema in schemas.get(name, {}).items()}
        arguments = dict[str, Any]()
        for key, text in pair.findall(body):
            data = None if types.get(key) == "string" else _json(text)
            arguments[key] = text if data is None else data
        malformed = pair.sub("", body).strip()
        return iter([(None if malformed else name, arguments, None)])

    return read


_XML = re.compile(r"<parameter=([^>\n]+)>\n?(.*?)\n?</parameter>", re.DOTALL)
_KEYS = re.compile(r"<arg_key>(.*?)</arg_key>\s*<arg_value>(.*?)</arg_value>", re.DOTALL)
_FORMS: Mapping[str, tuple[str, Callable[[re.Match[str], Schemas], Iterator[_Found]]]] = {
    "Hermes": (r"<tool_call>(.*?)</tool_call>", _hermes),
    "Qwen3-Coder": (
        r"<tool_call>\s*<function=([^>\n]+)>(.*?)</function>\s*</tool_call>",
        _tagged(_XML),
    ),
    "GLM": (r"<tool_call>([^<]+)(.*?)</tool_call>", _tagged(_KEYS)),
    "Mistral": (
        r"\[TOOL_CALLS\]\s*(?:(?P<list>\[.*\])\s*\Z|(?P<name>[^\s\[{]+)\s*"
        r"(?:\[CALL_ID\](?P<id>\w+))?(?:\[ARGS\])?\s*(?P<arguments>\{.*?)(?=\[TOOL_CALLS\]|\Z))",
        _mistral,
    ),
    "gpt-oss": (
        r"(?:<\|channel\|>\w+)?\s*to=functions\.(?P<name>[\w.-]+)\s*(?:<\|channel\|>\w+)?\s*"
        r"(?:<\|constrain\|>)?(?:json)?\s*<\|message\|>\s*(?P<arguments>\{.*?)"
        r"(?:<\|call\|>|<\|end\|>|\Z)",
        _harmony,
    ),
    # The whole answer.
    "Llama 3": (r"\A\s*(?:<\|python_tag\|>)?\s*(\{.*\})\s*\Z", _llama),
}


class CallGrammar:
    """The form of a model's calls, and the token that ends a message with calls.

    Args:
        chat: the model's template.
        prompt: what begins the assistant's next message.
        ask: the messages of a conversation before the first reply.

    Raises:
        TemplateError: the template has no place for functions or refuses their calls, or it writes
            calls in an unknown form.
    """

    def __init__(self, chat: ChatTokens, prompt: str, ask: Sequence[Mapping[str, Any]]):
        self._template = f"the chat template of {chat.tokenizer.name_or_path!r}"
        written = self._written(chat, prompt, ask)
        ends = re.compile("|".join(map(re.escape, chat.control)))
        probe = [(_NAMED, {"place": _VALUE})]
        for end in ends.finditer(written, written.index(_VALUE)):
            for self.form, (pattern, self._reader) in _FORMS.items():
                self._pattern = re.compile(pattern, re.DOTALL)
                _, calls = self.read(written[: end.start()], [_PROBE])
                if [(call.name, call.values()) for call in calls] == probe:
                    self.stop_ids = frozenset(chat.tokenizer.convert_tokens_to_ids([end[0]]))
                    found = self._pattern.search(written[: end.start()])
                    self._opening = written[found.start() if found else 0 : written.index(_NAMED)]
                    return
        raise TemplateError(
            f"{self._template} writes a call of a function as {written[:120]!r}, which is none of"
            f" the forms {', '.join(_FORMS)}: use agent.name='react', or set model.chat_template to"
            " a template with one of these forms"
        )

    def read(self, text: str, tools: Sequence[Mapping[str, Any]]) -> tuple[str, list[ToolCall]]:
        """Returns the text without its calls, and the calls.

        The text of a cut or malformed call stays a part of the answer.

        Args:
            text: an answer with its control tokens, without the token that ends it.
            tools: the functions, in OpenAI's form.
        """
        functions = [tool["function"] for tool in tools]
        schemas = {f["name"]: f.get("parameters", {}).get("properties", {}) for f in functions}
        calls, said, end = list[ToolCall](), "", 0
        for found in self._pattern.finditer(text):
            made = [_call(*parts) for parts in self._reader(found, schemas)]
            if made and None not in made:
                calls += filter(None, made)
                said += text[end : found.start()]
                end = found.end()
        said += text[end:]
        return _HEADERS.sub("", said).strip() if calls else text, calls

    def before(self, text: str) -> str:
        """Returns the text before the last call that the template writes in ``text``."""
        return text[: text.rfind(self._opening)]

    def _written(self, chat: ChatTokens, prompt: str, ask: Sequence[Mapping[str, Any]]) -> str:
        """Returns what the template writes for a call, up to the text of the call's result."""
        if chat.minimal:
            raise TemplateError(
                "a model from scratch reads no functions, which the agent gives to its model: set"
                " model.path to a trained model, or use another agent, such as agent.name='react'"
            )
        if _NAMED not in chat.render(ask, prompt=True, tools=[_PROBE]):
            raise TemplateError(
                f"{self._template} has no place for functions, which the agent gives to its model:"
                " set model.chat_template to a template that reads 'tools', or use another agent,"
                " such as agent.name='react'"
            )
        call = {"name": _NAMED, "arguments": {"place": _VALUE}}
        name = "call00001"
        messages = [
            *ask,
            {
                "role": "assistant",
                "content": "",
                "tool_calls": [{"id": name, "type": "function", "function": call}],
            },
            {"role": "tool", "tool_call_id": name, "content": _RESULT},
        ]
        text = chat.render(messages, prompt=True, tools=[_PROBE])
        before, value, after = text.rpartition(_VALUE)
        if not value or _RESULT not in after:
            raise TemplateError(
                f"{self._template} leaves out the calls of functions or their results: set"
                " model.chat_template to another one, or use another agent"
            )
        parts = (prompt[:n] for n in range(len(prompt), 0, -1))
        opening = next((part for part in parts if part in before), ask[-1]["content"])
        return before.rpartition(opening)[2] + value + after.partition(_RESULT)[0]


def _call(name: Any, arguments: Any, identity: Any) -> ToolCall | None:
    """Returns a call, or None if it has no name that servers take, or no arguments."""
    try:
        values = whole_json(read_arguments(arguments))
    except (ValueError, RecursionError):
        return None
    if not isinstance(name, str) or not _NAME.fullmatch(name) or not isinstance(values, dict):
        return None
    known = isinstance(identity, str) and _ID.fullmatch(identity)
    return ToolCall(name, json.dumps(values, ensure_ascii=False), identity if known else "")


def same_calls(message: Mapping[str, Any], calls: Sequence[ToolCall]) -> bool:
    """Whether a message has the same calls; their ids can differ."""
    written = [call["function"] for call in message.get("tool_calls") or ()]
    return [(one["name"], _object(one["arguments"])) for one in written] == [
        (call.name, call.values()) for call in calls
    ]


def harmless_calls(message: Mapping[str, Any], control: Sequence[str]) -> dict[str, Any]:
    """Returns a message whose calls have objects as arguments, and no control tokens.

    Args:
        message: one that the policy did not write.
        control: texts of tokens that must not be in it.
    """
    if not message.get("tool_calls"):
        return dict(message)
    calls = [
        {
            **call,
            "function": {**call["function"], "arguments": _object(call["function"]["arguments"])},
        }
        for call in message["tool_calls"]
    ]
    text = neutral(json.dumps(calls, ensure_ascii=False), control)
    return {**message, "tool_calls": json.loads(text)}


def _object(arguments: Any) -> Any:
    return _json(arguments) if isinstance(arguments, str) else arguments
