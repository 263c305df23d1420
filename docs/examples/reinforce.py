"""REINFORCE for a language model in one file, over ``EnvPool``, with PyTorch and Transformers.

    python docs/examples/reinforce.py MODEL

MODEL is an instruction-tuned model: a folder, or a name on the Hugging Face Hub.
"""

import sys
from dataclasses import dataclass, field

import gymnasium as gym
import torch
from transformers import AutoModelForCausalLM, AutoTokenizer, GenerationConfig

import agentgym_envs  # noqa: F401  registers the environments
from agentgym_envs.pool import EnvPool
from agentgym_envs.wrappers import ActionFormat


@dataclass
class Args:
    """Settings of a run."""

    model: str
    env_id: str = "agentgym/Maze-v1"
    keywords: dict = field(default_factory=lambda: {"split": "train", "rooms": [4]})
    action_format: str = "plain"
    horizon: int = 8  # turns
    steps: int = 20
    tasks: int = 4  # per step
    group_size: int = 8  # episodes per task
    max_new_tokens: int = 16  # per turn
    micro_batch: int = 8  # turns
    learning_rate: float = 1e-5
    seed: int = 1


@dataclass
class Episode:
    """An episode; a turn is the ids of its prompt and those that the policy sampled."""

    messages: list
    turns: list = field(default_factory=list)
    total: float = 0.0  # sum of the rewards
    error: Exception | None = None


def load(args):
    """Returns the tokenizer and the policy, which samples from its own distribution."""
    tokenizer = AutoTokenizer.from_pretrained(args.model)
    tokenizer.pad_token = tokenizer.pad_token or tokenizer.eos_token
    model = AutoModelForCausalLM.from_pretrained(args.model, dtype=torch.float32)
    model.generation_config = GenerationConfig(  # a model's own has top-k, top-p and penalties
        do_sample=True,
        top_k=0,
        max_new_tokens=args.max_new_tokens,
        eos_token_id=tokenizer.eos_token_id,
        pad_token_id=tokenizer.pad_token_id,
    )
    return tokenizer, model.to("cuda" if torch.cuda.is_available() else "cpu")


def batch(tokenizer, model, rows):
    """Returns rows of ids as tensors, padded on the left."""
    padded = tokenizer.pad({"input_ids": rows}, padding_side="left", return_tensors="pt")
    return padded.to(model.device)


@torch.no_grad()
def sample(tokenizer, model, prompts):
    """Returns the sampled ids after each prompt, with the stop token if there is one."""
    inputs = batch(tokenizer, model, prompts)
    rows = model.generate(**inputs)[:, inputs["input_ids"].shape[1] :].tolist()
    stop = tokenizer.eos_token_id
    return [row[: row.index(stop) + 1] if stop in row else row for row in rows]


def play(tokenizer, model, pool, rules, seeds):
    """Plays one episode per environment of the pool; the seed chooses the task."""
    episodes = [Episode([{"role": "system", "content": rules}]) for _ in seeds]
    for i, seed in enumerate(seeds):
        pool.reset(i, seed=seed)
    while pool.outstanding:
        results, waiting = [], []
        while pool.outstanding:
            results += pool.recv()
        for result in sorted(results, key=lambda result: result.index):
            episode = episodes[result.index]
            episode.total, episode.error = episode.total + result.reward, result.error
            if not (result.error or result.terminated or result.truncated):
                episode.messages.append({"role": "user", "content": result.observation})
                waiting.append((result.index, episode))
        prompts = [
            tokenizer.apply_chat_template(e.messages, add_generation_prompt=True, return_dict=False)
            for _, e in waiting
        ]
        sampled = sample(tokenizer, model, prompts) if prompts else []
        for (i, episode), prompt, ids in zip(waiting, prompts, sampled, strict=True):
            response = tokenizer.decode(ids, skip_special_tokens=True)
            episode.messages.append({"role": "assistant", "content": response})
            episode.turns.append((prompt, ids))
            pool.send(i, response)
    return episodes


def weighted(episodes, group_size):
    """Returns all turns with their advantages: the return minus the mean of the task's episodes.

    An episode whose environment failed has no return, and is left out.
    """
    turns = []
    for start in range(0, len(episodes), group_size):
        group = [e for e in episodes[start : start + group_size] if e.error is None]
        baseline = sum(e.total for e in group) / max(len(group), 1)
        turns += [(*turn, e.total - baseline) for e in group for turn in e.turns]
    return [turn for turn in turns if turn[-1]]  # an advantage of 0 has no gradient


def loss(tokenizer, model, turns):
    """Returns −Σ advantage · log π(sampled ids | prompt); the sampled ids are those of the play."""
    inputs = batch(tokenizer, model, [prompt + ids for prompt, ids, _ in turns])
    positions = (inputs["attention_mask"].cumsum(1) - 1).clamp(min=0)
    length_B1 = torch.tensor([[len(ids)] for _, ids, _ in turns], device=model.device)
    advantage_B1 = torch.tensor([[advantage] for *_, advantage in turns], device=model.device)
    last = int(length_B1.max())
    logits_BTV = model(**inputs, position_ids=positions, logits_to_keep=last + 1).logits[:, :-1]
    id_BT1 = inputs["input_ids"][:, -last:, None]
    logp_BT = logits_BTV.float().log_softmax(-1).gather(2, id_BT1)[..., 0]
    # The rows end together, so that a row's sampled tokens are its last ones.
    sampled_BT = torch.arange(last, 0, -1, device=model.device) <= length_B1
    return -(advantage_B1 * logp_BT * sampled_BT).sum()


def train(args):
    """Returns the mean return of each step."""
    torch.manual_seed(args.seed)
    tokenizer, model = load(args)
    optimizer = torch.optim.AdamW(model.parameters(), args.learning_rate, weight_decay=0.0)
    with ActionFormat(gym.make(args.env_id, **args.keywords), args.action_format) as env:
        rules = env.instructions
    count, history = args.tasks * args.group_size, []
    options = {"action_format": args.action_format, "max_episode_steps": args.horizon}
    with EnvPool(args.env_id, count, **options, **args.keywords) as pool:
        for step in range(args.steps):
            first = args.seed + step * args.tasks
            seeds = [first + i // args.group_size for i in range(count)]
            episodes = play(tokenizer, model, pool, rules, seeds)
            played = [e for e in episodes if e.error is None]
            if not played:
                raise episodes[0].error
            turns = weighted(episodes, args.group_size)
            for start in range(0, len(turns), args.micro_batch):
                part = loss(tokenizer, model, turns[start : start + args.micro_batch])
                (part / len(played)).backward()
            torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0)
            optimizer.step()
            optimizer.zero_grad()
            history.append(sum(e.total for e in played) / len(played))
            print(f"step {step + 1}: return {history[-1]:.3f}", flush=True)  # noqa: T201
    return history


if __name__ == "__main__":
    train(Args(*sys.argv[1:]))
