"""Arguments to build scorers, and the score of a reward model by transformers alone."""

import torch
from transformers import AutoModelForSequenceClassification, AutoTokenizer

from agentgym_envs.pool import EnvDescription
from agentgym_train.config import Config, EngineConfig, EnvConfig, ModelConfig, RunConfig
from agentgym_train.distributed import Distributed
from agentgym_train.protocols import RunContext

RULES = "Find the lamp."


def context(**engine):
    config = Config(
        run=RunConfig(folder="x", steps=1),
        envs=(EnvConfig(id="m:e"),),
        model=ModelConfig(max_context=256),
        engine=EngineConfig(**engine),
    )
    training = EnvDescription(RULES, None, None, {}, text_env=True)
    return RunContext(config, Distributed(), None, None, training, range(8), None)


def by_transformers(folder, turns):
    """Returns the score of one conversation, computed as in the documentation of transformers."""
    tokenizer = AutoTokenizer.from_pretrained(folder)
    messages = [{"role": "system", "content": RULES}]
    for turn in turns:
        messages += [
            {"role": "user", "content": turn.observation},
            {"role": "assistant", "content": turn.action},
        ]
    ids = tokenizer.apply_chat_template(messages, return_tensors="pt", return_dict=False)
    with torch.no_grad():
        return AutoModelForSequenceClassification.from_pretrained(folder)(ids).logits.item()
