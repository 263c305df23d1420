"""The policy as an agent's model: messages in, replies out, and the calls that they were.

A player plays an agent's turns. It is a generator function: it yields requests to the policy,
receives what was sampled, and returns the response to the environment. So a collection drives many
players at a time, without threads, in an order that does not depend on the clock.
"""

import inspect
from collections.abc import Callable, Generator, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from agentgym_envs.agents import EpisodeEnding, EpisodeOpening
from agentgym_envs.agents.base import checked_lesson
from agentgym_envs.errors import AgentFailure, AgentGymError, ContextExceeded
from agentgym_envs.models.answers import ModelReply, TokenUsage
from agentgym_envs.models.calls import with_ids
from agentgym_train.data.types import Call, Trajectory, Turn
from agentgym_train.models.chat import ChatTokens
from agentgym_train.models.conversation import API, Conversation, SampledReply
from agentgym_train.protocols import ActionSample

Steps = Generator["PolicyRequest", ActionSample, Any]


@dataclass(frozen=True)
class PolicyRequest:
    """An action that the policy is asked for."""

    call: Call
    """Without its action."""
    kept: int
    """How many tokens of the generator's row stay; the others are taken back."""
    ids: Sequence[int]
    """The tokens that follow them in the row."""

    def __await__(self) -> Generator["PolicyRequest", ActionSample, ActionSample]:
        return (yield self)


class Player:
    """Plays one agent's part of an episode.

    Args:
        max_context: maximum tokens of a sample, its next action included.
        max_new_tokens: maximum tokens of an action.
    """

    def __init__(self, *, max_context: int, max_new_tokens: int):
        self.max_context, self.max_new_tokens = max_context, max_new_tokens
        self._row = 0  # tokens of the generator's row

    def turn(self, observation: str, info: Mapping[str, Any]) -> Steps:
        """Plays a turn and returns the response to the environment.

        Raises:
            ContextExceeded: a prompt does not fit into the context together with an action.
        """
        raise NotImplementedError

    def end(self, ending: EpisodeEnding) -> Steps:
        """Ends an attempt and returns the agent's lesson for the next one.

        Raises:
            ContextExceeded: see :meth:`turn`.
        """
        raise NotImplementedError

    def next_attempt(self, memory: Sequence[Any]) -> None:
        """Starts another attempt of the episode.

        Args:
            memory: see :func:`agentgym_envs.agents.open_episode`.
        """
        raise NotImplementedError

    def check_room(self, tokens: int) -> None:
        """Raises ``ContextExceeded`` if an action does not fit behind so many tokens."""
        if tokens + self.max_new_tokens > self.max_context:
            raise ContextExceeded(
                f"a prompt of {tokens} tokens and an action of {self.max_new_tokens} exceed"
                f" model.max_context={self.max_context}"
            )


class StreamPlayer(Player):
    """The agent ``chat`` over a template that keeps earlier messages: one growing sample.

    Args:
        chat: the template.
        limits: see :class:`Player`.
    """

    def __init__(self, chat: ChatTokens, **limits: int):
        super().__init__(**limits)
        self._chat, self._action = chat, list[int]()

    def turn(self, observation: str, info: Mapping[str, Any]) -> Steps:
        """Asks once."""
        ids = (
            self._chat.between(self._action, observation)
            if self._row
            else self._chat.opening(observation)
        )
        self.check_room(self._row + len(ids))
        sample = yield PolicyRequest(Call(ids), self._row, ids)
        self._row, self._action = self._row + len(ids) + len(sample.ids), sample.ids
        return self._chat.text(sample.ids)


class AgentPlayer(Player):
    """Any agent. Each attempt has a new one; the samples of an episode go on.

    Args:
        make: creates the agent from its client.
        opening: creates the opening from the first ``info`` and the memory of earlier attempts.
        conversation: renders the agent's messages.
        limits: see :class:`Player`.
    """

    def __init__(
        self,
        make: Callable[["PolicyClient"], Any],
        opening: Callable[[Mapping[str, Any], Sequence[Any]], EpisodeOpening],
        conversation: Conversation,
        **limits: int,
    ):
        super().__init__(**limits)
        self._client = PolicyClient(self, conversation)
        self._make, self._opening = make, opening
        self._started = False
        self.next_attempt(())

    def turn(self, observation: str, info: Mapping[str, Any]) -> Steps:
        """Runs the agent's ``act``, before the first turn its ``start`` too."""
        asked = len(self._client.replies)
        if not self._started:
            self._started = True
            yield from self._run("start", self._opening(info, self._memory))
        response = yield from self._run("act", observation, info)
        if not isinstance(response, str):
            raise AgentFailure(
                f"the agent {self._name} responded with {response!r}: a response is a str"
            )
        if len(self._client.replies) == asked:
            raise AgentFailure(
                f"the agent {self._name} responded without asking its model, so there is nothing to"
                " learn from: use its 'client' in each 'act', or another agent"
            )
        return response

    def end(self, ending: EpisodeEnding) -> Steps:
        """Runs the agent's ``end``. An agent without a turn in this attempt has no lesson."""
        if not self._started:
            return None
        return checked_lesson(self._agent, (yield from self._run("end", ending)))

    def next_attempt(self, memory: Sequence[Any]) -> None:
        """Replaces the agent by a new one with the memory."""
        self._agent, self._memory, self._started = self._make(self._client), tuple(memory), False

    @property
    def _name(self) -> str:
        return type(self._agent).__name__

    def _run(self, method: str, *arguments: Any) -> Steps:
        """Runs a method of the agent up to its result."""
        function = getattr(self._agent, method, None)
        if function is None:
            return None
        try:
            result = function(*arguments)
            if not inspect.isawaitable(result):
                return result
            waiting = result.__await__()
            request = next(waiting)
            while True:
                if not isinstance(request, PolicyRequest):
                    raise AgentFailure(
                        f"the agent {self._name} awaits {request!r}: in training, an agent awaits"
                        " the replies of its client only, one after the other"
                    )
                sample = yield request
                request = waiting.send(sample)
        except StopIteration as done:
            return done.value
        except AgentGymError:
            raise
        except Exception as error:
            raise AgentFailure(f"the agent {self._name} raised {error!r} in {method!r}") from error


class PolicyClient:
    """The policy, in the place of a model's server.

    It keeps the tokens of the episode's samples. A prompt that begins with all tokens of a sample
    continues it; the longest such sample counts. Any other prompt starts a sample.

    Args:
        player: has the limits.
        conversation: renders messages.
    """

    def __init__(self, player: Player, conversation: Conversation):
        self._player, self._conversation = player, conversation
        self.replies: list[SampledReply] = []
        self._samples: list[list[int]] = []
        self._row: list[int] = []
        self._ids: set[str] = set()  # of calls of functions

    @property
    def max_context(self) -> int:
        """Maximum tokens of a prompt together with an action."""
        return self._player.max_context

    async def complete(
        self,
        messages: Sequence[Mapping[str, Any]],
        *,
        tools: Sequence[Mapping[str, Any]] | None = None,
        seed: int | None = None,
        sample: str = "",
    ) -> ModelReply:
        """Samples the reply to a conversation.

        Args:
            messages: the conversation.
            tools: functions that the reply can call, in OpenAI's form.
            seed: for servers; the run fixes the noise of the policy.
            sample: for servers, as ``seed``.

        Raises:
            ContextExceeded: the prompt does not fit into the context together with an action.
            TemplateError: the chat template refuses the messages.
            AgentFailure: the agent has changed a reply that it sends back as the policy's.
        """
        prompt = self._conversation.prompt(messages, self.replies, tools or ())
        self._player.check_room(len(prompt))
        extended = [
            (len(ids), number)
            for number, ids in enumerate(self._samples)
            if prompt[: len(ids)] == ids
        ]
        known, number = max(extended, default=(0, len(self._samples)))
        kept = _common(self._row, prompt)
        call = Call(prompt[known:], sample=number)
        action = await PolicyRequest(call, kept, prompt[kept:])
        self._row = [*prompt, *action.ids]
        self._samples[number : number + 1] = [self._row]
        reply = self._conversation.read(action.ids, tools or ())
        self.replies.append(reply)
        ended = action.ids[-1] in self._conversation.stop_ids
        answer = ModelReply(
            text=reply.text,
            tool_calls=reply.tool_calls,
            reasoning=reply.reasoning,
            usage=TokenUsage(len(prompt), len(action.ids)),
            finish=("tool_calls" if reply.tool_calls else "stop") if ended else "length",
            replay={"api": API, "call": len(self.replies) - 1},
        )
        answer = with_ids(answer, self._ids)
        self._ids.update(call.id for call in answer.tool_calls)
        return answer


def replayed(player: Player, turns: Iterable[tuple[str, list[int]]]) -> list[list[Call]]:
    """Returns the samples of a recorded episode, as the agent of a player sees it.

    Args:
        player: has not played yet.
        turns: observations, each with the tokens of the response. They answer all calls of a turn.
    """
    trajectory = Trajectory("", 0)
    for observation, ids in turns:
        trajectory.turns.append(Turn(observation))
        steps, sample = player.turn(observation, {}), None
        try:
            while True:
                call = steps.send(sample).call  # type: ignore[arg-type]
                call.action_ids, call.logps = ids, [0.0] * len(ids)
                trajectory.turns[-1].calls.append(call)
                sample = ActionSample(ids, call.logps, 0)
        except StopIteration:
            continue
    return trajectory.samples


def _common(row: Sequence[int], prompt: Sequence[int]) -> int:
    """Returns how many tokens a row and a prompt share; at least one of the prompt is left over."""
    limit = min(len(row), len(prompt) - 1)
    return next((n for n in range(limit) if row[n] != prompt[n]), limit)
