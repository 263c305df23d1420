"""Rollouts in TRL's own ``GRPOTrainer``; see ``tox run -e trl``."""

import math
import re
from pathlib import Path
from statistics import fmean, stdev

import gymnasium
import pytest
import tiny
import torch
from raised import raises

pytest.importorskip("trl", reason="needs TRL: run `tox run -e trl`")

from agentgym_trl import Rollouts
from transformers import AutoModelForCausalLM, AutoTokenizer
from trl import GRPOConfig, GRPOTrainer

from agentgym_envs.errors import AgentGymError, ArgumentError, EnvFailure, TaskError
from agentgym_train import ConfigError

pytestmark = pytest.mark.filterwarnings("ignore")  # of TRL, about its own insides
MAZE, MAZE_KEYWORDS = "agentgym/Maze-v1", {"rooms": [4], "workers": 1}
GUIDE = Path(__file__).parents[3] / "docs/guides/trl.md"
SEVENTH = "seventh_env:support/Seventh-v0"
ADAPTIVE = {"name": "adaptive", "start": 1, "limit": 3, "window": 1}


@pytest.fixture(scope="session")
def model(tmp_path_factory):
    """A tiny model whose template knows no tools."""
    return tiny.save(tmp_path_factory.mktemp("model"), template=tiny.CHATML)


@pytest.fixture
def build(model, tmp_path, monkeypatch):
    monkeypatch.setenv("TRL_EXPERIMENTAL_SILENCE", "1")
    trainers = []

    def make(env_id=MAZE, *, turns=3, rows=6, dataset=None, options=None, **keywords):
        rollouts = Rollouts(env_id, AutoTokenizer.from_pretrained(model), turns=turns, **keywords)
        config = {
            "output_dir": str(tmp_path),
            "max_steps": 1,
            "per_device_train_batch_size": rows,
            "num_generations": 3,
            "max_completion_length": 8,
            "learning_rate": 1e-3,
            "use_cpu": True,
            "bf16": False,
            "gradient_checkpointing": False,
            "report_to": "none",
            "save_strategy": "no",
            "logging_steps": 1,
            "disable_tqdm": True,
        }
        trainer = GRPOTrainer(
            model=AutoModelForCausalLM.from_pretrained(model),
            args=GRPOConfig(**config | (options or {})),
            train_dataset=dataset or rollouts.dataset(20),
            **rollouts.arguments(),
        )
        trainers.append((trainer, rollouts))
        return trainer, rollouts

    yield make
    for _, rollouts in trainers:
        rollouts.close()


def watch(trainer):
    """Records what each call of ``rollout_func`` returned, and its episodes."""
    seen, play = [], trainer.rollout_func

    def watched(prompts, trainer):
        output = play(prompts, trainer)
        seen.append((output, [vars(e) | {"score": e.reward_or_none} for e in trainer.environments]))
        return output

    trainer.rollout_func = watched
    return seen


def script(trainer, tokenizer, answer, logps=None):
    """Replaces sampling: ``answer`` takes the text so far and returns a response."""

    def generate(prompt_ids, images, fields, generations):
        texts = [answer(tokenizer.decode(ids)) for ids in prompt_ids]
        ids = [tokenizer(text)["input_ids"] + [tokenizer.eos_token_id] for text in texts]
        return ids, logps and [[logps] * len(row) for row in ids]

    trainer._generate_single_turn = generate


def exits(text):
    return text.rpartition("Exits: ")[2].split()


def solution(seed):
    env = gymnasium.make(MAZE, rooms=[4])
    env.reset(seed=seed)
    actions, observations = [], []
    for action in env.unwrapped.oracle():
        actions.append(action)
        observations.append(env.step(action)[0])
    return actions, observations


def test_tokens_rewards_and_ends_of_solved_episodes(build):
    """The text of a row is what the chat template writes for the conversation."""
    from datasets import Dataset

    seeds = [3, 5]
    rows = {"prompt": [[{"role": "user", "content": ""}]] * 2, "seed": seeds}
    trainer, rollouts = build(turns=20, dataset=Dataset.from_dict(rows), **MAZE_KEYWORDS)
    tokenizer, solved = trainer.processing_class, {seed: solution(seed) for seed in seeds}
    # The openings tell the episodes apart.
    first = {gymnasium.make(MAZE, rooms=[4]).reset(seed=seed)[0]: seed for seed in seeds}

    def answer(text):
        opening = text.split("<|im_start|>user\n")[1].split("<|im_end|>")[0]
        return solved[first[opening]][0][text.count("assistant\n") - 1]

    script(trainer, tokenizer, answer, logps=-0.5)
    seen = watch(trainer)
    trainer.train()
    ((output, episodes),) = seen
    assert [e["score"] for e in episodes] == [1.0] * 6
    assert {e["end"] for e in episodes} == {"decided"}
    for n, episode in enumerate(episodes):
        actions, observations = solved[episode["seed"]]
        assert episode["turns"] == len(actions)
        opening = next(text for text, seed in first.items() if seed == episode["seed"])
        users = [opening, *observations[:-1]]
        messages = [{"role": "system", "content": rollouts.description.instructions}]
        for user, action in zip(users, actions, strict=True):
            messages += [{"role": "user", "content": user}]
            messages += [{"role": "assistant", "content": action}]
        ids = output["prompt_ids"][n] + output["completion_ids"][n]
        assert tokenizer.decode(ids) + "\n" == tokenizer.apply_chat_template(
            messages, tokenize=False
        )
        sampled = [
            token
            for token, own in zip(output["completion_ids"][n], output["env_mask"][n], strict=True)
            if own
        ]
        assert tokenizer.decode(sampled) == "".join(f"{a}<|im_end|>" for a in actions)
        assert output["logprobs"][n] == [-0.5 * own for own in output["env_mask"][n]]
    assert trainer.state.log_history[0]["success"] == 1.0


def test_no_fault_becomes_a_zero(build):
    trainer, _ = build(SEVENTH, turns=9, rows=12, workers=1, options={"max_steps": 4, "beta": 0.1})
    seen, means, rewards, advantages = watch(trainer), [], [], []
    calculate = trainer._calculate_rewards

    def recorded(*parts):
        means.append(calculate(*parts))
        return means[-1]

    trainer._calculate_rewards = recorded
    trainer.train()
    assert trainer.state.global_step == 4
    advantages = [*trainer._logs["advantages"]][-12:]
    failed = 0
    for (output, episodes), tensor in zip(seen, means, strict=True):
        rewards = tensor[:, 0].tolist()
        for n, episode in enumerate(episodes):
            failed += episode["error"] is not None
            assert math.isnan(rewards[n]) == (episode["error"] is not None)
            assert any(output["env_mask"][n]) == (episode["error"] is None), "not even KL"
    assert failed >= 10, "each of the 4 steps plays 36 turns, less those after a fault"
    for first in range(0, 12, 3):
        group = rewards[first : first + 3]
        valid = [r for r in group if not math.isnan(r)]
        mean, scale = fmean(valid or [0]), (stdev(valid) if len(valid) > 1 else 0) + 1e-4
        expected = [0.0 if math.isnan(r) else (r - mean) / scale for r in group]
        assert advantages[first : first + 3] == pytest.approx(expected, rel=1e-3, abs=1e-4)


def test_a_step_without_any_episode_stops_the_run(build):
    trainer, rollouts = build(SEVENTH, workers=1, every=1)
    with raises(EnvFailure, "Seventh-v0", "all 6", "seventh step"):
        trainer.train()
    assert rollouts._pool is None or not rollouts._pool.outstanding


def test_a_row_with_an_unknown_task_stops_the_run(build):
    from datasets import Dataset

    rows = {"prompt": [[{"role": "user", "content": ""}]] * 2, "task_id": ["nowhere"] * 2}
    trainer, _ = build(dataset=Dataset.from_dict(rows), **MAZE_KEYWORDS)
    with raises(TaskError, "nowhere"):
        trainer.train()


def test_the_curriculum_sets_the_horizon_and_is_resumed(build):
    def horizons(trainer):
        return [row["turns"] for row in trainer.state.log_history if "turns" in row]

    kwargs = {"curriculum": ADAPTIVE, **MAZE_KEYWORDS}
    whole, _ = build(options={"max_steps": 6}, **kwargs)
    script(whole, whole.processing_class, lambda text: "stay")
    whole.train()
    assert horizons(whole) == [1, 1, 2, 2, 3, 3]
    first, _ = build(options={"max_steps": 3, "save_strategy": "steps", "save_steps": 3}, **kwargs)
    script(first, first.processing_class, lambda text: "stay")
    first.train()
    second, _ = build(options={"max_steps": 6}, **kwargs)
    script(second, second.processing_class, lambda text: "stay")
    second.train(resume_from_checkpoint=True)
    assert horizons(second) == [1, 1, 2, 2, 3, 3]


def test_evaluation_has_all_turns(build):
    trainer, rollouts = build(turns=4, curriculum=ADAPTIVE, **MAZE_KEYWORDS)
    script(trainer, trainer.processing_class, lambda text: "stay")
    metrics = trainer.evaluate(rollouts.dataset(2, first_seed=50))
    assert metrics["eval_turns"] == 4


def test_formats_and_a_full_context(build):
    trainer, _ = build(
        turns=50,
        max_context=480,
        action_format="tags",
        options={"max_steps": 2, "max_completion_length": 40},
        **MAZE_KEYWORDS,
    )
    seen = watch(trainer)
    script(trainer, trainer.processing_class, lambda text: f"<action>go {exits(text)[0]}</action>")
    trainer.train()
    for _, episodes in seen:
        assert {e["end"] for e in episodes} == {"context"}
        assert all(e["mask"][-1] for e in episodes), "no observation after the last action"
        assert all(e["turns"] and not e["invalid"] for e in episodes)
        assert all(len(e["prompt_ids"]) + len(e["completion_ids"]) <= 480 for e in episodes)


def test_no_room_for_the_first_action(build):
    trainer, _ = build(max_context=20, **MAZE_KEYWORDS)
    with raises(ArgumentError, "max_context"):
        trainer.train()


def test_a_template_without_tools_is_left_as_it_was(build):
    trainer, _ = build(**MAZE_KEYWORDS)
    assert trainer.processing_class.chat_template == tiny.CHATML
    assert trainer.tools == []


def test_a_template_that_drops_thoughts_is_one_line():
    with raises(AgentGymError, "not prefix-preserving", "Set tokenizer.chat_template"):
        Rollouts(MAZE, tiny.tokenizer(tiny.FORGETFUL), turns=3, **MAZE_KEYWORDS)


@pytest.mark.parametrize(
    ("keywords", "error", "message"),
    [
        ({"turns": 0}, ArgumentError, "turns=0"),
        ({"curriculum": {"name": "scaling_intr"}}, ValueError, "scaling_inter"),
        (
            {"curriculum": {"name": "task_difficulty", "turns": 3, "stages": [[1, 2]], "every": 2}},
            ConfigError,
            "TRL chooses the tasks",
        ),
        ({"env_id": "agentgym/Connect4-v1", "seats": "all"}, ArgumentError, "seats"),
    ],
)
def test_arguments_that_cannot_be(build, keywords, error, message):
    with pytest.raises(error, match=message):
        build(**keywords)


def test_an_environment_without_tasks_needs_a_number(build):
    _, rollouts = build(SEVENTH)
    with pytest.raises(ArgumentError, match="lists no tasks"):
        rollouts.dataset()


def test_the_gradient_is_that_of_sampled_tokens(build):
    """TRL's loss on our rows, beside one that is written out here."""
    trainer, _ = build(SEVENTH, turns=9, workers=1, every=1000, options={"loss_type": "dr_grpo"})
    seen, found, compute = watch(trainer), [], trainer.compute_loss

    def compared(model, inputs, *rest, **others):
        loss = compute(model, inputs, *rest, **others)
        (output, _), expected = seen[-1], 0.0
        advantages = {tuple(ids): float("nan") for ids in output["completion_ids"]}
        rows = zip(inputs["completion_ids"], inputs["completion_mask"], strict=True)
        for (ids, mask), advantage in zip(rows, inputs["advantages"].tolist(), strict=True):
            advantages[tuple(ids[mask.bool()].tolist())] = advantage
        keys = "prompt_ids", "completion_ids", "env_mask"
        for prompt, ids, own in zip(*(output[key] for key in keys), strict=True):
            logp_TV = model(torch.tensor([prompt + ids])).logits[0].log_softmax(-1)
            logps = [logp_TV[len(prompt) - 1 + n, t] for n, t in enumerate(ids) if own[n]]
            expected = expected - advantages[tuple(ids)] * torch.stack(logps).sum()
        weights = [p for p in model.parameters() if p.requires_grad]
        for value in (loss, expected):
            parts = torch.autograd.grad(value, weights, retain_graph=True)
            found.append(torch.cat([part.flatten() for part in parts]))
        return loss

    trainer.compute_loss = compared
    trainer.train()
    cosine = torch.nn.functional.cosine_similarity(*found[:2], dim=0)
    assert float(found[0].norm()) > 0
    assert float(cosine) == pytest.approx(1.0, abs=1e-4)


def test_the_guide_runs(model, tmp_path, monkeypatch):
    """With a tiny model, on mazes."""
    monkeypatch.chdir(tmp_path)
    (code,) = re.findall(r"^```py\n(.*?)^```", GUIDE.read_text(), re.M | re.S)
    for old, new in {
        "Qwen/Qwen2.5-0.5B-Instruct": model,
        "agentgym/TextCraft-v2": MAZE,
        'action_format="react"': "rooms=[4], workers=1",
        "max_completion_length=128": "max_completion_length=8, max_steps=1, use_cpu=True,"
        ' bf16=False, report_to="none", save_strategy="no", gradient_checkpointing=False',
    }.items():
        assert old in code
        code = code.replace(old, new)
    exec(compile(code, str(GUIDE), "exec"), {})
