"""The errors that follow the failure of a worker process."""

from collections.abc import Iterable, Mapping, Sequence

from agentgym_envs.errors import EnvFailure, EnvTimeout, NeighbourFailed, WorkerDied
from agentgym_envs.pool.handle import PoolRequest

Failures = dict[int, EnvFailure]
STATELESS = ("reset", "drop")  # kinds of requests that need no earlier state


def failures(
    env_id: str,
    indices: Iterable[int],
    requests: Sequence[PoolRequest],
    begun: int,
    kind: type[EnvFailure],
    why: str,
    lost: Mapping[int, EnvFailure],
) -> tuple[Failures, Failures]:
    """Returns the errors of a failed worker's requests, and those of the lost environments.

    Args:
        env_id: the environment's id, for messages.
        indices: the worker's environments.
        requests: the worker's unanswered requests, in order.
        begun: the number of the latest request that the worker has begun; 0 before any.
        kind: the error of the request that failed.
        why: the reason.
        lost: the environments that were lost before, by index.

    Returns:
        Errors by number of the request, and the new ``lost``.
    """
    if begun == 0:
        # The worker failed at start-up. No environment caused it, and a retry would fail too.
        return {r.id: kind(f"{env_id} did not start: {why}") for r in requests}, dict(lost)
    first = requests[0] if requests else None
    culprit = first if first and (first.id <= begun or kind is EnvTimeout) else None
    after = {**lost, **{index: _loss(env_id, index, culprit, why) for index in indices}}
    failed: Failures = {}
    if culprit:
        failed[culprit.id] = kind(f"{env_id} environment {culprit.index}: {why}")
    failed |= stateless(requests[bool(culprit) :], after)
    return failed, after


def _loss(env_id: str, index: int, culprit: PoolRequest | None, why: str) -> EnvFailure:
    """Returns the error that answers the steps of an environment without its worker."""
    name = f"{env_id} environment {index}"
    if culprit is None:
        return WorkerDied(f"{name} was lost with its worker, which was at no request: {why}")
    if culprit.index == index:
        return WorkerDied(f"{name} was lost: {why}")
    return NeighbourFailed(f"{name} was lost with environment {culprit.index}, which failed: {why}")


def stateless(requests: Sequence[PoolRequest], lost: Failures) -> Failures:
    """Returns the failures of requests to environments in ``lost``.

    A reset or a drop among the requests removes its environment from ``lost``.
    """
    failed: Failures = {}
    for request in requests:
        if request.kind in STATELESS:
            lost.pop(request.index, None)
        if request.index in lost:
            failed[request.id] = lost[request.index]
    return failed
