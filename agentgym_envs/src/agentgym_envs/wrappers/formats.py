"""How an agent writes an action into its response: plain, ReAct, tags, function calls.

Each format says how to write one (``describe``), reads it strictly (``parse``) and writes it (``render``), so that
``parse(render(action)) == action``. Formats know an environment only by its ``tools``: a template of an action for each name.
"""

import json
import re
from collections.abc import Mapping
from dataclasses import dataclass
from string import Formatter
from typing import Any, Protocol

Tools = Mapping[str, str]


class FormatError(ValueError):
    """A response that is not in the format; the message tells the agent what to do."""


class Format(Protocol):
    """A way to write actions."""

    def describe(self) -> str:
        """Returns the rules, for a system prompt."""

    def parse(self, response: str) -> str:
        """Returns the action of a response.

        Raises:
            FormatError: it has none, or more than one.
        """

    def render(self, action: str, thought: str = "") -> str:
        """Returns a response with this action."""


@dataclass(frozen=True)
class Plain:
    """The whole response is the action."""

    tools: Tools

    def describe(self) -> str:
        """No rules."""
        return ""

    def parse(self, response: str) -> str:
        """Strips white space."""
        if not response.strip():
            raise FormatError("The response is empty. Answer with one action.")
        return response.strip()

    def render(self, action: str, thought: str = "") -> str:
        """The action alone."""
        return action


@dataclass(frozen=True)
class ReAct:
    """``Thought: … Action: …`` (Yao et al., 2023), as AgentGym uses it: two actions in one response are an error."""

    tools: Tools
    _form = re.compile(r"\s*Thought:(?P<thought>.*?)^\s*Action:(?P<action>.*)", re.DOTALL | re.MULTILINE)

    def describe(self) -> str:
        """The form."""
        return "Write every response in this form, with exactly one action:\nThought: what you think\nAction: the action"

    def parse(self, response: str) -> str:
        """Takes what follows ``Action:``."""
        actions = len(re.findall(r"^\s*Action:", response, re.MULTILINE))
        if actions > 1:
            raise FormatError(f"The response has {actions} actions. Write exactly one line that begins with 'Action:'.")
        match = self._form.fullmatch(response)
        if match is None or not match["action"].strip():
            raise FormatError("The response is not in the form 'Thought: ...' and then, on a new line, 'Action: ...'.")
        return match["action"].strip()

    def render(self, action: str, thought: str = "") -> str:
        """Both lines."""
        return f"Thought: {thought}\nAction: {action}"


@dataclass(frozen=True)
class Tags:
    """``<think>…</think><action>…</action>``."""

    tools: Tools

    def describe(self) -> str:
        """The form."""
        return "Write every response as <think>what you think</think><action>the action</action>, with exactly one action."

    def parse(self, response: str) -> str:
        """Takes what is in the one pair of action tags."""
        found = re.findall(r"<action>(.*?)</action>", response, re.DOTALL)
        if len(found) != 1 or response.count("<action>") != 1 or not found[0].strip():
            raise FormatError(f"The response has {len(found)} actions between <action> and </action>. Write exactly one.")
        return str(found[0].strip())

    def render(self, action: str, thought: str = "") -> str:
        """Both pairs of tags."""
        return f"<think>{thought}</think><action>{action}</action>"


@dataclass(frozen=True)
class FunctionCall:
    """One JSON call ``{"name": …, "arguments": {…}}``, bare or between ``<tool_call>`` tags, of a function of the environment."""

    tools: Tools

    def schema(self) -> list[dict[str, Any]]:
        """Returns the functions in OpenAI's ``tools`` form."""
        return [
            {
                "type": "function",
                "function": {
                    "name": name,
                    "description": f"Takes the action: {template}",
                    "parameters": {
                        "type": "object",
                        "properties": {p: {"type": "string"} for p in _parameters(template)},
                        "required": _parameters(template),
                        "additionalProperties": False,
                    },
                },
            }
            for name, template in self.tools.items()
        ]

    def describe(self) -> str:
        """The form and the schema."""
        return (
            'Write every response as exactly one JSON function call {"name": ..., "arguments": {...}}. The functions are:\n'
            + "\n".join(json.dumps(tool["function"], ensure_ascii=False) for tool in self.schema())
        )

    def parse(self, response: str) -> str:
        """Fills the function's template with the arguments."""
        call = self._call(response)
        name, arguments = str(call.get("name")), call.get("arguments", {})
        if name not in self.tools:
            raise FormatError(f"There is no function {name!r}. The functions are: {', '.join(self.tools)}.")
        if isinstance(arguments, str):  # OpenAI writes the arguments as a string
            arguments = _json(arguments)
        wanted = _parameters(self.tools[name])
        if not isinstance(arguments, dict) or sorted(arguments) != sorted(wanted):
            raise FormatError(f"Function {name!r} takes exactly these arguments: {', '.join(wanted) or 'none'}.")
        if not all(isinstance(v, str | int | float) and str(v).strip() for v in arguments.values()):
            raise FormatError(f"The arguments of {name!r} must be strings that are not empty.")
        return self.tools[name].format(**arguments)

    def render(self, action: str, thought: str = "") -> str:
        """Calls the first function whose template fits."""
        for name, template in self.tools.items():
            match = re.fullmatch(_pattern(template), action, re.DOTALL)
            if match:
                return json.dumps({"name": name, "arguments": match.groupdict()}, ensure_ascii=False)
        raise ValueError(f"no function writes the action {action!r}")

    def _call(self, response: str) -> dict[str, Any]:
        tagged = re.findall(r"<tool_call>(.*?)</tool_call>", response, re.DOTALL)
        if len(tagged) > 1:
            raise FormatError(f"The response has {len(tagged)} function calls. Write exactly one.")
        call = _json(tagged[0] if tagged else response)
        if not isinstance(call, dict):
            raise FormatError("The response is not one JSON object with 'name' and 'arguments'.")
        return call


def _json(text: str) -> Any:
    try:
        return json.loads(text)
    except (json.JSONDecodeError, RecursionError) as error:
        reason = error.msg if isinstance(error, json.JSONDecodeError) else "too deep"
        raise FormatError(f"The response is not one JSON function call: {reason}.") from error


def _parameters(template: str) -> list[str]:
    return [field for _, field, _, _ in Formatter().parse(template) if field]


def _pattern(template: str) -> str:
    parts = Formatter().parse(template)
    return "".join(re.escape(text) + (f"(?P<{field}>.+?)" if field else "") for text, field, _, _ in parts)


FORMATS: dict[str, type[Format]] = {"plain": Plain, "react": ReAct, "tags": Tags, "function": FunctionCall}
