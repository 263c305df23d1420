"""The harness: one request to the model per turn, without a program of its own."""

import verifiers.v1 as vf
from openai import APIStatusError, AsyncOpenAI, DefaultAsyncHttpxClient
from verifiers.v1.clients import ModelContext
from verifiers.v1.dialects.chat import message_to_wire
from verifiers.v1.harnesses.utils.compaction import is_context_overflow

PLAYED = vf.ProgramResult(exit_code=0, stdout="", stderr="")


class AgentGymHarness(vf.Harness[vf.HarnessConfig]):
    """Asks the model for one response to the conversation.

    A conversation without room for a response ends the episode. All other failures of the model's
    server are retried twice and then raised.
    """

    APPENDS_SYSTEM_PROMPT = True
    SUPPORTS_RESUME = True
    EXECUTES_CODE = False
    NEEDS_CONTAINER = False

    async def launch(
        self,
        ctx: ModelContext,
        trace: vf.Trace,
        runtime: vf.Runtime,
        endpoint: str,
        secret: str,
        mcp_urls: dict[str, str],
        data: vf.TaskData,
    ) -> vf.ProgramResult:
        """Sends the conversation to verifiers' proxy, which records the response."""
        system, messages = self.resolve_prompt(data)
        wire = [message_to_wire(message) for message in messages]
        if system:
            wire.insert(0, {"role": "system", "content": system})
        # To read certificates takes 20 ms, and verifiers' proxy on this machine has none.
        http = DefaultAsyncHttpxClient(verify=endpoint.startswith("https:"), timeout=None)
        async with AsyncOpenAI(base_url=endpoint, api_key=secret, http_client=http) as client:
            try:
                await client.chat.completions.create(model=ctx.model or "", messages=wire)
            except APIStatusError as error:
                if not is_context_overflow(error):
                    raise
        return PLAYED
