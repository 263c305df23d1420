"""Configuration: one TOML file, frozen dataclasses behind it, the same names everywhere.

Sections ``algorithm``, ``curriculum`` and ``generator`` are a plugin's ``name`` and that plugin's own options.
"""

import tomllib
from collections.abc import Iterable, Mapping
from dataclasses import asdict, dataclass, field, fields, is_dataclass
from pathlib import Path
from typing import Any, TypeVar

import pydantic
import tomli_w

from agentgym_envs.errors import UnknownName
from agentgym_train.errors import ConfigError

T = TypeVar("T")


@dataclass(frozen=True, kw_only=True)
class EnvConfig:
    """Where episodes come from."""

    id: str
    """A registered id, or "module:id"."""
    kwargs: dict[str, Any] = field(default_factory=dict)
    """For the environment's constructor."""
    groups: int = 8
    """Tasks a step, over all processes."""
    group_size: int = 8
    """Episodes a task."""
    workers: int = 0
    """Environment processes a trainer process; 0: one a core."""
    action_format: str = "plain"
    """How a response holds its action: plain, react, tags or function."""
    timeout: float = 60.0
    """Seconds one environment call may take."""
    retries: int = 3
    """Fresh environments that an episode gets after a failure."""
    failure_budget: int = 256
    """Episodes of the whole run that may be given up, their retries spent, before it stops with a report."""


@dataclass(frozen=True, kw_only=True)
class ModelConfig:
    """The policy at the start."""

    path: str = "scratch"
    """A Hugging Face causal LM, local folder or hub name; "scratch" makes a small one (see ``scratch``)."""
    dtype: str = "float32"
    """Training and generation precision: float32 or bfloat16."""
    max_context: int = 2048
    """Tokens an episode may have."""


@dataclass(frozen=True, kw_only=True)
class ScratchConfig:
    """The small model that ``model.path = "scratch"`` makes: random weights, language-modelled on random play."""

    layers: int = 2
    hidden: int = 64
    heads: int = 4
    vocab: int = 384
    """Entries of the byte-level BPE tokenizer."""
    episodes: int = 2000
    """Random-play episodes to model: no expert, no reward."""
    turns: int = 16
    """Turns an episode of random play."""
    steps: int = 500
    batch: int = 16
    """Episodes an optimizer step."""
    lr: float = 5e-3


@dataclass(frozen=True, kw_only=True)
class RolloutConfig:
    """How the policy acts."""

    temperature: float = 1.0
    max_new_tokens: int = 64
    """Tokens a turn."""
    patience: float = 2.0
    """Seconds that ready episodes wait for slower ones before they go on without them."""


@dataclass(frozen=True, kw_only=True)
class EngineConfig:
    """The optimizer step."""

    zero_stage: int = 2
    """In bfloat16, 0 and 1 run as 2, the first stage that accumulates gradients in float32."""
    lr: float = 1e-6
    weight_decay: float = 0.0
    warmup: int = 0
    """Optimizer steps of linear warm-up."""
    decay: int = 0
    """Optimizer steps over which the rate falls linearly to a tenth, where it stays; 0: constant."""
    max_grad_norm: float = 1.0
    micro_batch_tokens: int = 16384
    """Padded tokens a forward pass."""
    minibatches: int = 1
    """Optimizer steps that one collection is split into."""
    zero: dict[str, Any] = field(default_factory=dict)
    """More keys of DeepSpeed's ``zero_optimization``."""


@dataclass(frozen=True, kw_only=True)
class EvalConfig:
    """Held-out tasks, at the full horizon, with the sampled policy."""

    kwargs: dict[str, Any] = field(default_factory=dict)
    """Changes to ``env.kwargs``, usually the split."""
    episodes: int = 100
    """Tasks, one episode each."""
    horizon: int = 0
    """Turns; 0: the environment's registered limit."""
    every: int = 0
    """Steps between evaluations during training; 0: only before and after."""


@dataclass(frozen=True, kw_only=True)
class RunConfig:
    """Length and place of the run."""

    folder: str
    steps: int
    seed: int = 0
    save_every: int = 50
    """Steps between checkpoints."""
    keep: int = 2
    """Checkpoints to keep."""


@dataclass(frozen=True, kw_only=True)
class Config:
    """Everything a run is made of."""

    run: RunConfig
    env: EnvConfig
    model: ModelConfig = ModelConfig()
    scratch: ScratchConfig = ScratchConfig()
    rollout: RolloutConfig = RolloutConfig()
    engine: EngineConfig = EngineConfig()
    eval: EvalConfig = EvalConfig()
    algorithm: dict[str, Any] = field(default_factory=lambda: {"name": "grpo"})
    curriculum: dict[str, Any] = field(default_factory=dict)
    generator: dict[str, Any] = field(default_factory=lambda: {"name": "hf"})


def load(path: str | Path, overrides: Iterable[str] = ()) -> Config:
    """Reads a TOML file and applies ``a.b=c`` overrides.

    Raises:
        ConfigError: an unreadable file, an unknown key, or a value of the wrong type.
    """
    try:
        raw = tomllib.loads(Path(path).read_text(encoding="utf-8"))
    except OSError as error:
        raise ConfigError(f"cannot read configuration {str(path)!r}: {error.strerror}") from error
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise ConfigError(f"{path} is not TOML: {error}") from error
    for item in overrides:
        _override(raw, item)
    return build(Config, raw)


def build(cls: type[T], raw: Mapping[str, Any], *, section: str = "") -> T:
    """Makes a (nested) dataclass from plain data; strict about keys and types.

    Raises:
        ConfigError: with the full key, the value, and the nearest existing key.
    """
    _check_keys(cls, raw, section)
    try:
        return pydantic.TypeAdapter(cls).validate_python(raw)
    except pydantic.ValidationError as error:
        first = error.errors()[0]
        key = ".".join(str(part) for part in ((section,) if section else ()) + first["loc"])
        value = "" if first["type"] == "missing" else f", not {first['input']!r}"
        raise ConfigError(f"configuration key {key!r}: {first['msg'].lower().removeprefix('value error, ')}{value}") from error


def dumps(config: Config) -> str:
    """Returns the configuration as TOML, every default written out."""
    return tomli_w.dumps(asdict(config))


def difference(old: Config, new: Config, *, ignore: tuple[str, ...] = ()) -> str | None:
    """Returns the first key in which two configurations differ, with both values, or None."""
    a, b = _flat(asdict(old)), _flat(asdict(new))
    for key in sorted(a.keys() | b.keys()):
        if key not in ignore and a.get(key) != b.get(key):
            return f"{key} was {a.get(key)!r} and is now {b.get(key)!r}"
    return None


def _check_keys(cls: type, raw: Mapping[str, Any], section: str) -> None:
    if not is_dataclass(cls):
        return
    known = {f.name: f.type for f in fields(cls) if f.init}
    for key, value in raw.items():
        full = f"{section}.{key}" if section else key
        if key not in known:
            names = [f"{section}.{k}" if section else k for k in known]
            raise ConfigError(str(UnknownName("configuration key", full, names)))
        if isinstance(known[key], type) and is_dataclass(known[key]):
            if not isinstance(value, Mapping):
                raise ConfigError(f"configuration key {full!r} is a section, not {value!r}")
            _check_keys(known[key], value, full)  # type: ignore[arg-type]


def _override(raw: dict[str, Any], item: str) -> None:
    key, equals, text = item.partition("=")
    if not equals or not all(key.split(".")):
        raise ConfigError(f"--set takes a.b=c, not {item!r}")
    *path, last = key.split(".")
    table = raw
    for part in path:
        table = table.setdefault(part, {})
        if not isinstance(table, dict):
            raise ConfigError(f"--set {item}: {part!r} is not a section")
    table[last] = _value(text)


def _value(text: str) -> Any:
    """Reads a value as TOML; what is no TOML value is a string."""
    try:
        return tomllib.loads(f"x = {text}")["x"]
    except tomllib.TOMLDecodeError:
        return text


def _flat(tree: Mapping[str, Any], head: str = "") -> dict[str, Any]:
    flat: dict[str, Any] = {}
    for key, value in tree.items():
        flat.update(_flat(value, f"{head}{key}.") if isinstance(value, Mapping) and value else {f"{head}{key}": value})
    return flat
