"""``agentgym eval --probe``: which parameters, roles and functions a model's server accepts.

Each part of the run's requests is sent alone, with a conversation of a few words, and then all of
them together. A refused request costs nothing. An accepted one costs a short reply.
"""

import logging
from collections.abc import Sequence
from dataclasses import dataclass, replace

from agentgym_envs.errors import ProviderError
from agentgym_envs.evaluate.budget import UsageTotals, used_by
from agentgym_envs.evaluate.job import EvalJob
from agentgym_envs.models.connect import connect
from agentgym_envs.models.dialect import ServerDialect
from agentgym_envs.models.endpoint import ChatMessage, ModelEndpoint, ToolSchema
from agentgym_envs.models.provider import GREETING
from agentgym_envs.stopping import run_tasks
from agentgym_envs.terminal import CommandConsole

LOOK: ToolSchema = {
    "type": "function",
    "function": {
        "name": "look",
        "description": "Looks around.",
        "parameters": {"type": "object", "properties": {}, "additionalProperties": False},
    },
}
CALL = {"id": "call_1", "type": "function", "function": {"name": "look", "arguments": "{}"}}
CALLED: Sequence[ChatMessage] = (
    {"role": "user", "content": "Look, and then say one word."},
    {"role": "assistant", "content": "", "tool_calls": [CALL]},
    {"role": "tool", "tool_call_id": "call_1", "content": "A wall."},
)
out = CommandConsole(markup=False, emoji=False, highlight=False)


@dataclass(frozen=True)
class RequestFeature:
    """A part of the run's requests, and a request that has it."""

    name: str
    endpoint: ModelEndpoint
    messages: Sequence[ChatMessage] = GREETING[1:]
    tools: Sequence[ToolSchema] | None = None
    needed: bool = True
    """Whether the run has this part."""


def parts_of(job: EvalJob, endpoint: ModelEndpoint) -> list[RequestFeature]:
    """Returns the parts of a job's requests: each alone, and at last all together."""
    plain = replace(endpoint, temperature=None, max_tokens=None, effort=None, extra={})
    functions = job.factory.format == "function"
    options = {
        f"temperature {endpoint.temperature:g}"
        if endpoint.temperature is not None
        else "": replace(plain, temperature=endpoint.temperature),
        f"at most {endpoint.max_tokens} tokens": replace(plain, max_tokens=endpoint.max_tokens),
        f"effort {endpoint.effort}" if endpoint.effort else "": replace(
            plain, effort=endpoint.effort, temperature=None
        ),
        **{
            f"--send {name}={value}": replace(plain, extra={name: value})
            for name, value in endpoint.extra.items()
        },
    }
    return [
        RequestFeature("a message of the user", plain),
        RequestFeature("a system message", plain, GREETING),
        *(RequestFeature(name, changed) for name, changed in options.items() if name),
        RequestFeature("functions", plain, tools=[LOOK], needed=functions),
        RequestFeature("a function's result", plain, CALLED, [LOOK], needed=functions),
        RequestFeature("all that the run sends", endpoint, GREETING, [LOOK] if functions else None),
    ]


async def probed(part: RequestFeature) -> tuple[str, str, UsageTotals]:
    """Sends the request of a part; returns whether it was accepted, a note, and the tokens."""
    async with connect(replace(part.endpoint, retries=min(2, part.endpoint.retries))) as client:
        try:
            reply = await client.complete(part.messages, tools=part.tools)
        except ProviderError as error:
            return (
                ("no" if part.needed else "no, and the run needs none"),
                str(error),
                UsageTotals(),
            )
        changes = client.dialect.changes(ServerDialect.first(part.endpoint))
        uncounted = "" if reply.usage else "the server counts no tokens, so no budget can be kept"
        cut = "the reply reached the limit of tokens" if reply.finish == "length" else ""
        note = "; ".join(filter(None, (changes, uncounted, cut)))
        return ("in another form" if changes else "yes"), note, used_by(reply)


def probe_all(jobs: Sequence[EvalJob]) -> bool:
    """Prints what each job's server accepts; returns whether it accepts all that the runs send."""
    logging.getLogger("agentgym_envs.models").setLevel(logging.ERROR)  # the lines below say it all
    fine = True
    for job in jobs:
        title = f"{job.player} on {job.settings.target}"
        if job.client is None:
            out.print(f"{title}: the agent uses no model")
            continue
        out.print(f"{title}, at {job.client.endpoint.url}:", soft_wrap=True)
        used = UsageTotals()
        for part in parts_of(job, job.client.endpoint):
            accepted, note, usage = run_tasks(probed(part))
            used.add(usage)
            out.print(f"  {part.name}: {accepted}{note and f' ({note})'}", soft_wrap=True)
        fine = fine and not accepted.startswith("no")
        out.print(f"  These requests took {used.spent}.", soft_wrap=True)
    return fine
