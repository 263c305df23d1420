"""Checks of an environment's spec, methods, tasks and tools."""

import pickle
import warnings
from string import Formatter

import gymnasium
from gymnasium.utils.env_checker import check_env

from agentgym_envs.core import TextEnv
from agentgym_envs.errors import ConformanceError
from agentgym_envs.spaces import Unicode
from agentgym_envs.tasks import SPLITS
from agentgym_envs.testing.resources import children, threads
from agentgym_envs.testing.subject import TestedEnv, expect, refused, unwrapped
from agentgym_envs.wrappers.formats import FunctionCallFormat, parameters, typed


def spec_and_spaces(subject: TestedEnv) -> None:
    """The spec round-trips through JSON and pickle; both spaces are Unicode; instructions exist."""
    env = subject.shown
    assert env.spec is not None
    expect(env.spec.max_episode_steps is not None, "no default max_episode_steps is registered")
    again = gymnasium.envs.registration.EnvSpec.from_json(env.spec.to_json())
    expect(
        again.id == env.spec.id and again.kwargs == env.spec.kwargs,
        "spec.to_json() does not round-trip",
    )
    expect(pickle.loads(pickle.dumps(env.spec)).id == env.spec.id, "the spec does not pickle")
    expect(
        isinstance(env.observation_space, Unicode) and isinstance(env.action_space, Unicode),
        "spaces must be Unicode",
    )
    rules = unwrapped(env).instructions
    expect(isinstance(rules, str) and bool(rules.strip()), "unwrapped.instructions is empty")


def methods(subject: TestedEnv) -> None:
    """The class is a TextEnv that implements every abstract method."""
    kind = type(unwrapped(subject.shown))
    expect(
        issubclass(kind, TextEnv), f"{kind.__name__} must be a subclass of agentgym_envs.TextEnv"
    )
    missing = [n for n in dir(kind) if getattr(getattr(kind, n), "__isabstractmethod__", False)]
    expect(not missing, f"{kind.__name__} does not implement {', '.join(missing)}")


def construction(subject: TestedEnv) -> None:
    """The constructor starts no process and no thread."""
    processes, running = set(children()), threads()
    subject.make()
    expect(
        not (more := set(children()) - processes),
        f"the constructor started the processes {sorted(more)}",
    )
    begun = sorted(thread.name for thread in threads() - running)
    expect(not begun, f"the constructor started the threads {begun}")


def splits(subject: TestedEnv) -> str:
    """The splits exist, share no task, and are the same every time."""
    seen: dict[str, str] = {}
    for split in SPLITS:
        ids = unwrapped(subject.make(split=split)).task_ids
        expect(
            isinstance(ids, tuple) and len(ids) > 0,
            f"split {split!r}: task_ids must be a non-empty tuple",
        )
        expect(
            ids == unwrapped(subject.make(split=split)).task_ids,
            f"split {split!r}: task_ids changed between two environments",
        )
        for task_id in ids:
            expect(
                type(task_id) is str and bool(task_id.strip()),
                f"split {split!r}: the task id {task_id!r} is not a non-empty str",
            )
            expect(
                task_id not in seen,
                f"task {task_id!r} is in {split!r} and in {seen.get(task_id)!r}",
            )
            seen[task_id] = split
    expect(
        refused(lambda: subject.make(tasks=["no such task"])),
        "tasks=['no such task'] must raise TaskError",
    )
    expect(
        refused(lambda: subject.make(split="no such split")),
        "split='no such split' must raise UnknownName",
    )
    return ", ".join(f"{split}: {len(ids)} tasks" for split, ids in subject.listed.items())


def gymnasium_check(subject: TestedEnv) -> None:
    """Gymnasium's own check_env passes without a warning."""
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        check_env(subject.plain.unwrapped, skip_render_check=True)


def tools(subject: TestedEnv) -> str:
    """Each action that the walks listed has a tool that writes it and reads it back."""
    found = unwrapped(subject.shown).tools
    for name, tool in found.items():
        template = typed(tool)["template"]
        expect(name.isidentifier(), f"the tool name {name!r} is not an identifier")
        fields = [
            (field, spec, conversion)
            for _, field, spec, conversion in Formatter().parse(template)
            if field is not None
        ]
        plain = all(
            field.isidentifier() and not spec and not conversion
            for field, spec, conversion in fields
        )
        expect(
            plain and len({f for f, *_ in fields}) == len(fields),
            f"{template!r}: parameters must be identifiers, each used once",
        )
        extra = set() if isinstance(tool, str) else set(tool["parameters"])
        expect(
            extra <= set(parameters(template)),
            f"{template!r}: there are schemas of other parameters than its own: {sorted(extra)}",
        )
    calls = FunctionCallFormat(found)
    for action in subject.offered:
        try:
            calls.render(action)  # render also reads the action back
        except ValueError as error:
            raise ConformanceError(f"{action!r}: {error}") from error
    return f"{len(subject.offered)} actions"
