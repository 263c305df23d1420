"""Folders with the ``config.json`` of Qwen2.5 models, without weights, and of a small one."""

import json

SIZES = {
    "0.5b": (896, 4864, 24, 14, 2, 151936, True),
    "1.5b": (1536, 8960, 28, 12, 2, 151936, True),
    "3b": (2048, 11008, 36, 16, 2, 151936, True),
    "7b": (3584, 18944, 28, 28, 4, 152064, False),
    "tiny": (8, 16, 2, 2, 1, 10, True),
    "small": (192, 768, 4, 4, 2, 3000, True),
    "shallow": (192, 768, 2, 4, 2, 3000, True),
}
"""Hidden size, intermediate size, layers, heads, key heads, vocabulary, tied embeddings."""
KEYS = (
    "hidden_size",
    "intermediate_size",
    "num_hidden_layers",
    "num_attention_heads",
    "num_key_value_heads",
    "vocab_size",
    "tie_word_embeddings",
)
FILE = """
[run]
folder = "{folder}/run"
steps = 1
[env]
id = "agentgym/Maze-v1"
groups = 4
group_size = 2
[model]
path = "{folder}"
max_context = 160
[rollout]
max_new_tokens = 1
[algorithm]
name = "rloo"
[curriculum]
name = "fixed"
turns = 4
[eval]
episodes = 1
[engine]
micro_batch_tokens = 320
zero = {{ reduce_bucket_size = 100000, allgather_bucket_size = 100000 }}
"""


def save(folder, size):
    """Writes the configuration of a model; returns the folder as a string."""
    fixed = {
        "architectures": ["Qwen2ForCausalLM"],
        "model_type": "qwen2",
        "max_position_embeddings": 32768,
    }
    shape = dict(zip(KEYS, SIZES[size], strict=True))
    (folder / "config.json").write_text(json.dumps(fixed | shape))
    return str(folder)


def written(folder, size="shallow"):
    """Writes a model and a configuration file for it; returns the file."""
    save(folder, size)
    (folder / "config.toml").write_text(FILE.format(folder=folder))
    return folder / "config.toml"
