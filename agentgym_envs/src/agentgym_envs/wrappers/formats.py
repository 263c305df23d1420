"""Formats of responses: plain, ReAct, tags and function calls.

Each format has rules for a prompt (``describe``), a parser (``parse``) and a writer (``render``);
``parse(render(action)) == action``. A format knows only the ``tools`` of an environment: templates
of actions by name.

In every format a response can begin with a thought that ends with ``</think>``. The thought can
mention anything and is never part of the action.
"""

import json
import math
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from string import Formatter
from typing import Any, Protocol

from agentgym_envs.core import Tool, echo
from agentgym_envs.surrogates import whole_json
from agentgym_envs.wrappers.responses import (
    FormatError,
    begins_with_thought,
    marked_action,
    read_arguments,
    split_thought,
    tagged,
    unbold,
    unfenced,
    unmarked,
)

ToolTemplates = Mapping[str, str | Tool]
_JSON_NUMBER = re.compile(r"-?(0|[1-9][0-9]{0,9})(\.[0-9]?[1-9])?")


class ResponseFormat(Protocol):
    """A way to write actions."""

    def describe(self) -> str:
        """Returns the rules for a system prompt."""

    def parse(self, response: str) -> str:
        """Returns the action of a response.

        Raises:
            FormatError: the response has no action or several.
        """

    def render(self, action: str, thought: str = "") -> str:
        """Returns a response with this action.

        Raises:
            ValueError: the format cannot write the action, or not with this thought.
        """


@dataclass(frozen=True)
class PlainFormat:
    """The response without its thought and the word ``Action:`` is the action."""

    tools: ToolTemplates

    def describe(self) -> str:
        """Returns no rules."""
        return ""

    def parse(self, response: str) -> str:
        """Removes the thought, ``Action:`` and surrounding white space."""
        thought, text = split_thought(response)
        action = unmarked(text)
        if not action:
            raise FormatError(
                f"The response {'has nothing after its thought' if thought else 'is empty'}. Answer"
                " with one action."
            )
        return action

    def render(self, action: str, thought: str = "") -> str:
        """Returns the action."""
        return _readable(self, action, action)


@dataclass(frozen=True)
class ReActFormat:
    """``Thought: … Action: …`` (Yao et al., 2023); two actions in one response are an error.

    A line that begins with ``Observation:`` after an action ends the response: some models go on
    with observations, thoughts and actions that they invent.
    """

    tools: ToolTemplates

    def describe(self) -> str:
        """The form."""
        return (
            "Write every response in this form, with exactly one action:\nThought: what you"
            " think\nAction: the action"
        )

    def parse(self, response: str) -> str:
        """Returns the text after ``Action:``; a ``<think>`` block can replace ``Thought:``."""
        thought, text = split_thought(response)
        count, action = marked_action(text)
        if count > 1:
            raise FormatError(
                f"The response has {count} actions. Write exactly one line that begins with"
                " 'Action:'."
            )
        if not (thought or begins_with_thought(text)) or not action:
            raise FormatError(
                "The response is not in the form 'Thought: ...' and then, on a new line, 'Action:"
                " ...'."
            )
        return action

    def render(self, action: str, thought: str = "") -> str:
        """Returns both lines."""
        return _readable(self, f"Thought: {thought}\nAction: {action}", action)


@dataclass(frozen=True)
class TagsFormat:
    """``<think>…</think><action>…</action>``."""

    tools: ToolTemplates

    def describe(self) -> str:
        """The form."""
        return (
            "Write every response as <think>what you think</think><action>the action</action>, with"
            " exactly one action."
        )

    def parse(self, response: str) -> str:
        """Returns the text between the only pair of action tags."""
        opened, found = tagged(split_thought(response)[1], "action")
        action = unbold(found[0]) if opened == len(found) == 1 else ""
        if not action:
            raise FormatError(
                f"The response has {len(found)} actions between <action> and </action>. Write"
                " exactly one."
            )
        return action

    def render(self, action: str, thought: str = "") -> str:
        """Returns both pairs of tags."""
        return _readable(self, f"<think>{thought}</think><action>{action}</action>", action)


@dataclass(frozen=True)
class FunctionCallFormat:
    """One JSON call ``{"name": …, "arguments": {…}}`` of a function of the environment.

    The call can be bare, in ``<tool_call>`` tags or in a code fence. The arguments can be JSON in a
    text. A call without arguments can have ``null``, an empty text or no ``arguments``.
    """

    tools: ToolTemplates

    def schema(self) -> list[dict[str, Any]]:
        """Returns the functions in OpenAI's ``tools`` form."""
        return [
            {
                "type": "function",
                "function": {
                    "name": name,
                    "description": tool["description"],
                    "parameters": {
                        "type": "object",
                        "properties": dict(tool["parameters"]),
                        "required": list(tool["parameters"]),
                        "additionalProperties": False,
                    },
                },
            }
            for name, tool in ((name, typed(tool)) for name, tool in self.tools.items())
        ]

    def describe(self) -> str:
        """Returns the form and the schema."""
        return (
            'Write every response as exactly one JSON function call {"name": ..., "arguments":'
            " {...}}. The functions are:\n"
            + "\n".join(json.dumps(tool["function"], ensure_ascii=False) for tool in self.schema())
        )

    def parse(self, response: str) -> str:
        """Fills the function's template with the arguments."""
        call = self._call(response)
        name = str(call.get("name"))
        if name not in self.tools:
            raise FormatError(
                f"There is no function {echo(name)!r}. The functions are: {', '.join(self.tools)}."
            )
        arguments = _read(read_arguments, call.get("arguments"))
        template = typed(self.tools[name])["template"]
        wanted = parameters(template)
        if not isinstance(arguments, dict) or sorted(arguments) != sorted(wanted):
            raise FormatError(
                f"Function {name!r} takes exactly these arguments: {', '.join(wanted) or 'none'}."
            )
        if not all(map(_is_word, arguments.values())):
            raise FormatError(f"The arguments of {name!r} must be strings that are not empty.")
        return template.format(**arguments)

    def render(self, action: str, thought: str = "") -> str:
        """Returns a call of the first function whose template fits."""
        for name, tool in ((name, typed(tool)) for name, tool in self.tools.items()):
            match = re.fullmatch(_pattern(tool["template"]), action, re.DOTALL)
            if match:
                arguments = {
                    p: _value(text, tool["parameters"][p]) for p, text in match.groupdict().items()
                }
                call = json.dumps({"name": name, "arguments": arguments}, ensure_ascii=False)
                # The call must not end the thought of the response.
                call = re.sub("<(?=/think)", r"\\u003c", call, flags=re.IGNORECASE)
                return _readable(self, call, action)
        raise ValueError(f"no function writes the action {action!r}")

    def _call(self, response: str) -> dict[str, Any]:
        text = split_thought(response)[1].strip()
        opened, found = (0, []) if text.startswith("{") else tagged(text, "tool_call")
        if opened > 1:
            raise FormatError(f"The response has {opened} function calls. Write exactly one.")
        call = _read(
            json.loads,
            found[0] if found else text if text.startswith("{") else unmarked(unfenced(text)),
        )
        if not isinstance(call, dict):
            raise FormatError("The response is not one JSON object with 'name' and 'arguments'.")
        return call


def _readable(form: ResponseFormat, response: str, action: str) -> str:
    """Returns the response if the format reads the action back from it."""
    if form.parse(response) != action.strip():
        raise ValueError(f"{type(form).__name__} cannot write the action {action!r}")
    return response


def _read(read: Callable[[Any], Any], written: Any) -> Any:
    """Returns what a function reads from a call.

    Raises:
        FormatError: the call is not JSON.
    """
    try:
        return whole_json(read(written))
    except (ValueError, RecursionError) as error:  # a number of 5,000 digits is a ValueError
        reason = (
            "too deep"
            if isinstance(error, RecursionError)
            else getattr(error, "msg", "a number is too long")
        )
        raise FormatError(f"The response is not one JSON function call: {reason}.") from error


def _is_word(value: Any) -> bool:
    """Returns whether an argument is a non-empty text or a finite number.

    Many models write numbers for texts.
    """
    if isinstance(value, str):
        return bool(value.strip())
    return type(value) is int or (isinstance(value, float) and math.isfinite(value))


def typed(tool: str | Tool) -> Tool:
    """Returns a tool with a description and a schema of every parameter."""
    if isinstance(tool, str):
        tool = {"template": tool, "description": f"Takes the action: {tool}", "parameters": {}}
    schemas = {
        p: tool["parameters"].get(p, {"type": "string"}) for p in parameters(tool["template"])
    }
    return {**tool, "parameters": schemas}


def parameters(template: str) -> list[str]:
    """Returns the names in the braces of a template."""
    return [field for _, field, _, _ in Formatter().parse(template) if field]


def _value(text: str, schema: Mapping[str, Any]) -> Any:
    """Returns the number in a text if the schema wants one and JSON writes it the same."""
    numeric = schema.get("type") in ("integer", "number")
    return json.loads(text) if numeric and _JSON_NUMBER.fullmatch(text) else text


def _pattern(template: str) -> str:
    parts = Formatter().parse(template)
    return "".join(
        re.escape(text) + (f"(?P<{field}>.+?)" if field else "") for text, field, _, _ in parts
    )


FORMATS: dict[str, Callable[[ToolTemplates], ResponseFormat]] = {
    "plain": PlainFormat,
    "react": ReActFormat,
    "tags": TagsFormat,
    "function": FunctionCallFormat,
}
