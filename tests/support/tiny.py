"""Tiny models with random weights of several architectures, and their tokenizer and chat."""

import torch
from transformers import CONFIG_MAPPING, AutoModelForCausalLM, Qwen2Config, Qwen2ForCausalLM

from agentgym_train.distributed import Distributed
from agentgym_train.models import scratch
from agentgym_train.models.chat import ChatTokens
from agentgym_train.protocols import GeneratorContext, SamplingOptions

# Similar to ChatML: a separator follows the end of each message.
CHATML = (
    "{% for m in messages %}<|im_start|>{{ m['role'] }}\n{{ m['content'] }}<|im_end|>\n{% endfor %}"
    "{% if add_generation_prompt %}<|im_start|>assistant\n{% endif %}"
)
# Drops the thoughts of earlier turns, so the rendered text is not a prefix of the next one.
FORGETFUL = (
    "{% for m in messages %}<|im_start|>{{ m['role'] }}\n"
    "{% if m['role'] == 'assistant' and not loop.last %}{{ m['content'].split('</think>')[-1] }}"
    "{% else %}{{ m['content'] }}{% endif %}"
    "<|im_end|>\n{% endfor %}{% if add_generation_prompt %}<|im_start|>assistant\n{% endif %}"
)
NO_SYSTEM = (
    "{% if messages[0]['role'] == 'system' %}{{ raise_exception('no system role') }}{% endif %}"
    + CHATML
)
CORPUS = [
    "Exits: north east south west",
    "go north",
    "go south",
    "go east",
    "go west",
    "take lamp",
    "Goal: take the lamp\nHere: lamp",
] * 20


def tokenizer(template=None):
    """Returns a tokenizer; with a template, the stop token is <|im_end|>."""
    made = scratch.train_tokenizer(CORPUS, 400)
    if template:
        made.add_special_tokens(
            {"additional_special_tokens": ["<|im_start|>", "<|im_end|>"], "eos_token": "<|im_end|>"}
        )
        made.chat_template = template
    return made


def context(folder, *, dtype=torch.float32, max_rows=0):
    """Returns what a generator of a saved model is built from."""
    return GeneratorContext(
        model_folder=folder,
        device=torch.device("cpu"),
        dtype=dtype,
        max_context=512,
        max_rows=max_rows,
        sampling=SamplingOptions(temperature=1.0, max_new_tokens=6, stop_ids=frozenset()),
        seed=0,
        distributed=Distributed(),
    )


def save(folder, *, template=None, seed=0, hidden=32, layers=2):
    """Saves a model and its tokenizer; returns the folder as a string."""
    tok = tokenizer(template)
    torch.manual_seed(seed)
    config = Qwen2Config(
        vocab_size=len(tok),
        hidden_size=hidden,
        intermediate_size=2 * hidden,
        num_hidden_layers=layers,
        num_attention_heads=4,
        num_key_value_heads=2,
        max_position_embeddings=512,
        tie_word_embeddings=True,
        bos_token_id=None,
        eos_token_id=tok.eos_token_id,
        pad_token_id=tok.pad_token_id,
        initializer_range=0.2,
    )
    Qwen2ForCausalLM(config).save_pretrained(folder)
    tok.save_pretrained(folder)
    return str(folder)


def chat(template=CHATML, instructions="Be brief."):
    """Returns a chat over the tiny tokenizer."""
    return ChatTokens(tokenizer(template), instructions)


WINDOW = 16
SHAPE = {
    "hidden_size": 32,
    "intermediate_size": 64,
    "num_hidden_layers": 2,
    "num_attention_heads": 4,
    "num_key_value_heads": 2,
    "max_position_embeddings": 512,
    "initializer_range": 0.2,
    "bos_token_id": None,
    "eos_token_id": None,
    "pad_token_id": None,
}
ARCHITECTURES = {
    "qwen2": {"tie_word_embeddings": True},
    "qwen3": {"head_dim": 16},
    "llama": {},
    "mistral": {"sliding_window": WINDOW},
    "gemma3_text": {
        "sliding_window": WINDOW,
        "head_dim": 16,
        "layer_types": ["sliding_attention", "full_attention"],
    },
    "gpt2": {},
    "lfm2": {"layer_types": ["conv", "full_attention"], "block_multiple_of": 8},
    "mpt": {"d_model": 32, "n_heads": 4, "n_layers": 2},  # positions are cache distances
    "bloom": {"n_head": 4, "n_layer": 2},  # positions are counted in the padding mask
    "mamba": {"state_size": 4},  # no keys and values
}


def model(kind="qwen2", *, seed=0, vocabulary=300, **shape):
    """Returns a model of an architecture; its distributions are far from uniform."""
    torch.manual_seed(seed)
    config = CONFIG_MAPPING[kind](
        vocab_size=vocabulary, **(SHAPE | ARCHITECTURES.get(kind, {}) | shape)
    )
    return AutoModelForCausalLM.from_config(config)
