"""PPO in one file, over ``gym.make_vec``, on mazes.

    python docs/examples/ppo.py

The policy reads the last turns as a bag of words and chooses among the admissible actions.
"""

import zlib
from collections import deque
from dataclasses import dataclass

import gymnasium as gym
import torch
from torch import nn
from torch.distributions import Categorical
from torch.nn.utils.rnn import pad_sequence

import agentgym_envs  # noqa: F401  registers the environments

VOCAB = 1024


@dataclass
class Args:
    """Settings, named as in CleanRL."""

    env_id: str = "agentgym/Maze-v1"
    rooms: tuple[int, ...] = (6,)
    max_turns: int = 20
    seed: int = 1
    iterations: int = 15
    num_envs: int = 32
    num_steps: int = 64
    update_epochs: int = 4
    num_minibatches: int = 4
    learning_rate: float = 3e-3
    gamma: float = 0.95
    gae_lambda: float = 0.95
    clip_coef: float = 0.2
    ent_coef: float = 0.01
    vf_coef: float = 0.25
    memory: int = 6  # turns that the policy reads
    hidden: int = 64


def encode(text):
    """Returns the hashes of the words; 0 is padding."""
    return torch.tensor([zlib.crc32(word.encode()) % (VOCAB - 1) + 1 for word in text.split()])


class Agent(nn.Module):
    """Scores the admissible actions by their words."""

    def __init__(self, hidden):
        super().__init__()
        self.words = nn.EmbeddingBag(VOCAB, hidden, mode="sum", padding_idx=0)
        self.choices = nn.EmbeddingBag(VOCAB, hidden, mode="sum", padding_idx=0)
        self.body = nn.Sequential(nn.Tanh(), nn.Linear(hidden, hidden), nn.Tanh())
        self.critic = nn.Linear(hidden, 1)

    def get_action_and_value(self, obs, choices, action=None):
        """Returns actions, as numbers of choices, with their log-probabilities and values."""
        state = self.body(self.words(pad_sequence(obs, batch_first=True)))
        counts = [len(row) for row in choices]
        flat = pad_sequence([choice for row in choices for choice in row], batch_first=True)
        candidates = pad_sequence(self.choices(flat).split(counts), batch_first=True)
        logits = (candidates @ state[:, :, None])[:, :, 0] / state.shape[1] ** 0.5
        real = torch.arange(logits.shape[1]) < torch.tensor(counts)[:, None]
        probs = Categorical(logits=logits.masked_fill(~real, -1e9))
        action = probs.sample() if action is None else action
        return action, probs.log_prob(action), probs.entropy(), self.critic(state)[:, 0]


def read(turns):
    """Returns the words of the last turns, each with the age of its turn."""
    aged = (f"{age}:{w}" for age, turn in enumerate(reversed(turns)) for w in turn.split())
    return encode(" ".join(aged))


def train(args):
    """Returns the share of successful episodes in each iteration."""
    torch.manual_seed(args.seed)
    keywords = {"split": "train", "rooms": list(args.rooms), "max_episode_steps": args.max_turns}
    keywords |= {"admissible": True, "autoreset_mode": "SameStep"}
    envs = gym.make_vec(args.env_id, args.num_envs, **keywords)
    agent = Agent(args.hidden)
    optimizer = torch.optim.Adam(agent.parameters(), lr=args.learning_rate, eps=1e-5)
    texts, infos = envs.reset(seed=args.seed)
    turns, history = [deque([text], maxlen=args.memory) for text in texts], []
    for iteration in range(args.iterations):
        obs, choices, successes, start = [], [], [], [0] * args.num_envs
        shape = (args.num_steps, args.num_envs)
        actions, valid = torch.zeros(shape, dtype=torch.long), torch.ones(shape, dtype=torch.bool)
        logprobs, rewards, dones, values = (torch.zeros(shape) for _ in range(4))
        for step in range(args.num_steps + 1):
            next_obs = [read(each) for each in turns]
            next_choices = [[encode(a) for a in row] for row in infos["admissible_actions"]]
            with torch.no_grad():
                action, logprob, _, value = agent.get_action_and_value(next_obs, next_choices)
            if step == args.num_steps:
                break
            obs += next_obs
            choices += next_choices
            actions[step], logprobs[step], values[step] = action, logprob, value
            chosen = [row[a] for row, a in zip(infos["admissible_actions"], action, strict=True)]
            texts, reward, terminated, truncated, infos = envs.step(chosen)
            done = terminated | truncated
            rewards[step], dones[step] = torch.tensor(reward), torch.tensor(done)
            for i in range(args.num_envs):
                if not done[i]:
                    turns[i].append(f">{chosen[i]} {texts[i]}")
                    continue
                if infos["final_info"].get("_error", done & False)[i]:
                    valid[start[i] : step + 1, i] = False  # a failure is not a reward of 0
                else:
                    successes.append(infos["final_info"]["success"][i])
                start[i], turns[i] = step + 1, deque([texts[i]], maxlen=args.memory)
        history.append(sum(successes) / len(successes) if successes else float("nan"))
        advantages, lastgaelam = torch.zeros(shape), 0
        for t in reversed(range(args.num_steps)):
            nextvalues = values[t + 1] if t + 1 < args.num_steps else value
            delta = rewards[t] + args.gamma * nextvalues * (1 - dones[t]) - values[t]
            lastgaelam = delta + args.gamma * args.gae_lambda * (1 - dones[t]) * lastgaelam
            advantages[t] = lastgaelam
        b_inds = valid.flatten().nonzero()[:, 0]
        batch = [x.flatten() for x in (actions, logprobs, advantages, advantages + values)]
        for _ in range(args.update_epochs):
            for mb in b_inds[torch.randperm(len(b_inds))].chunk(args.num_minibatches):
                mb_actions, mb_logprobs, mb_advantages, mb_returns = (x[mb] for x in batch)
                _, newlogprob, entropy, newvalue = agent.get_action_and_value(
                    [obs[i] for i in mb], [choices[i] for i in mb], mb_actions
                )
                ratio = (newlogprob - mb_logprobs).exp()
                mb_advantages -= mb_advantages.mean()
                mb_advantages /= mb_advantages.std(correction=0) + 1e-8
                clipped = ratio.clamp(1 - args.clip_coef, 1 + args.clip_coef)
                pg_loss = -torch.min(mb_advantages * ratio, mb_advantages * clipped).mean()
                v_loss = args.vf_coef * ((newvalue - mb_returns) ** 2).mean()
                loss = pg_loss + v_loss - args.ent_coef * entropy.mean()
                optimizer.zero_grad()
                loss.backward()
                nn.utils.clip_grad_norm_(agent.parameters(), 0.5)
                optimizer.step()
        print(f"iteration {iteration + 1}: success {history[-1]:.3f}", flush=True)  # noqa: T201
    envs.close()
    return history


if __name__ == "__main__":
    train(Args())
