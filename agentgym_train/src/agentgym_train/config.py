"""Configuration: one TOML file, frozen dataclasses behind it, the same names everywhere.

Sections ``algorithm``, ``curriculum``, ``generator`` and ``source``, and each of ``scorer`` and ``tracker``, are a plugin's
``name`` and its own options.
"""

import json
import tomllib
from collections.abc import Collection, Iterable, Mapping
from dataclasses import asdict, dataclass, field, fields, is_dataclass
from pathlib import Path
from typing import Annotated, Any, Literal, TypeVar, get_type_hints

import pydantic
import tomli_w
from pydantic import Field

from agentgym_envs.errors import UnknownName
from agentgym_train.errors import ConfigError
from agentgym_train.limits import Count, Name, NonNegative, Patience, Positive, Seconds, Seed, Temperature, Whole

T = TypeVar("T")
SCRATCH = "scratch"
VOCAB = 260  # the bytes and the four special tokens


@dataclass(frozen=True, kw_only=True)
class EnvConfig:
    """Where episodes come from."""

    id: Name
    """A registered id, or "module:id"."""
    kwargs: dict[str, Any] = field(default_factory=dict)
    """For the environment's constructor."""
    groups: Count = 8
    """Tasks a step, over all processes."""
    group_size: Count = 8
    """Episodes a task."""
    workers: Whole = 0
    """Environment processes a trainer process; 0: one a core."""
    action_format: str = "plain"
    """How a response holds its action: plain, react, tags or function."""
    timeout: Seconds = 60.0
    """Seconds one environment call may take."""
    retries: Whole = 3
    """Fresh environments that an episode gets after a failure."""
    failure_budget: Whole = 256
    """Episodes of the whole run that may be given up, their retries spent, before it stops with a report."""


@dataclass(frozen=True, kw_only=True)
class ModelConfig:
    """The policy at the start."""

    path: Name = SCRATCH
    """A Hugging Face causal LM, local folder or hub name; "scratch" makes a small one (see ``scratch``)."""
    dtype: Literal["float32", "bfloat16"] = "float32"
    """Training and generation precision: float32 or bfloat16."""
    max_context: Annotated[int, Field(ge=32, le=2**31 - 1)] = 2048
    """Tokens an episode may have; at least 32, for the start-up probe is an episode too."""


@dataclass(frozen=True, kw_only=True)
class ScratchConfig:
    """The small model that ``model.path = "scratch"`` makes: random weights, language-modelled on random play."""

    layers: Count = 2
    hidden: Count = 64
    heads: Count = 4
    """Attention heads; ``hidden`` is an even multiple of it."""
    vocab: Annotated[Count, Field(ge=VOCAB)] = 384
    """Entries of the byte-level BPE tokenizer."""
    episodes: Count = 2000
    """Random-play episodes to model: no expert, no reward."""
    turns: Count = 16
    """Turns an episode of random play."""
    steps: Count = 500
    batch: Count = 16
    """Episodes an optimizer step."""
    lr: Positive = 5e-3

    def __post_init__(self) -> None:
        if self.hidden % (2 * self.heads):
            raise ValueError(f"hidden={self.hidden} is no even multiple of heads={self.heads}")


@dataclass(frozen=True, kw_only=True)
class RolloutConfig:
    """How the policy acts."""

    temperature: Temperature = 1.0
    max_new_tokens: Count = 64
    """Tokens a turn."""
    patience: Patience = 2.0
    """Seconds that ready episodes wait for slower ones before they go on without them."""


@dataclass(frozen=True, kw_only=True)
class EngineConfig:
    """The optimizer step."""

    zero_stage: Annotated[int, Field(ge=0, le=3)] = 2
    """In bfloat16, 0 and 1 run as 2, the first stage that accumulates gradients in float32."""
    lr: Positive = 1e-6
    weight_decay: NonNegative = 0.0
    warmup: Whole = 0
    """Optimizer steps of linear warm-up."""
    decay: Whole = 0
    """Optimizer steps over which the rate falls linearly to a tenth, where it stays; 0: constant."""
    max_grad_norm: Positive = 1.0
    micro_batch_tokens: Count = 16384
    """Padded tokens a forward pass."""
    minibatches: Count = 1
    """Optimizer steps that one collection is split into."""
    zero: dict[str, Any] = field(default_factory=dict)
    """More keys of DeepSpeed's ``zero_optimization``."""


@dataclass(frozen=True, kw_only=True)
class EvalConfig:
    """Held-out tasks, at the full horizon, with the sampled policy."""

    kwargs: dict[str, Any] = field(default_factory=dict)
    """Changes to ``env.kwargs``, usually the split."""
    episodes: Count = 100
    """Tasks, one episode each."""
    horizon: Whole = 0
    """Turns; 0: the environment's registered limit."""
    every: Whole = 0
    """Steps between evaluations during training; 0: only before and after."""


@dataclass(frozen=True, kw_only=True)
class RunConfig:
    """Length and place of the run."""

    folder: Name
    steps: Count
    seed: Seed = 0
    save_every: Count = 50
    """Steps between checkpoints."""
    keep: Count = 2
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
    source: dict[str, Any] = field(default_factory=lambda: {"name": "rollout"})
    scorer: list[dict[str, Any]] = field(default_factory=list)
    """``[[scorer]]`` tables: each changes the rewards that the one before it left."""
    tracker: list[dict[str, Any]] = field(default_factory=list)
    """``[[tracker]]`` tables; ``metrics.jsonl`` is written in any case."""

    def __post_init__(self) -> None:
        answer, context = self.rollout.max_new_tokens, self.model.max_context
        if answer >= context:
            raise ConfigError(f"rollout.max_new_tokens={answer} leaves no room for a prompt in model.max_context={context}")


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
    _check_values(raw, section)
    try:
        return pydantic.TypeAdapter(cls).validate_json(json.dumps(raw), strict=True)  # TOML's types are JSON's: lists, no tuples
    except pydantic.ValidationError as error:
        raise _refusal(error, section) from error


def dumps(config: Config) -> str:
    """Returns the configuration as TOML, every default written out; TOML has no word for None, which is left out."""
    return tomli_w.dumps(without_none(asdict(config)))


def difference(old: Config, new: Config, *, ignore: Collection[str] = ()) -> str | None:
    """Returns the keys in which two configurations differ, each with both values, or None."""
    a, b = _flat(asdict(old)), _flat(asdict(new))
    changed = sorted(key for key in a.keys() | b.keys() if key not in ignore and (key in a, a.get(key)) != (key in b, b.get(key)))
    shown = [f"{key} was {_shown(a, key)} and is now {_shown(b, key)}" for key in changed]
    return "; ".join(shown) or None


def without_none(tree: Mapping[str, Any]) -> dict[str, Any]:
    """Returns nested tables without the keys whose value is None."""
    return {k: without_none(v) if isinstance(v, Mapping) else v for k, v in tree.items() if v is not None}


def _shown(flat: Mapping[str, Any], key: str) -> str:
    return repr(flat[key]) if key in flat else "not set"


def _check_values(raw: Mapping[str, Any], section: str) -> None:
    """Refuses, in free-form tables too, what is no JSON: dates, numbers that are not finite, integers beyond 64 bits."""
    for key, value in _flat(raw, f"{section}." if section else "").items():
        try:
            json.dumps(value, allow_nan=False)
        except TypeError as error:
            raise ConfigError(f"configuration key {key!r}: neither text, number, boolean nor array: {value}") from error
        except ValueError as error:
            raise ConfigError(f"configuration key {key!r}: a number must be finite, not {value}") from error
        if isinstance(value, int) and abs(value) >= 2**63:
            raise ConfigError(f"configuration key {key!r}: an integer has at most 64 bits, not {str(value)[:20]}…")


def _refusal(error: pydantic.ValidationError, section: str) -> ConfigError:
    """Says in one line what was wrong first: the full key, the reason, the value."""
    first = error.errors()[0]
    cause = first.get("ctx", {}).get("error")
    if isinstance(cause, ConfigError):
        return cause
    key = ".".join(str(part) for part in ((section,) if section else ()) + first["loc"])
    named = f"configuration key {key!r}: " if key else ""
    if cause is not None:
        return ConfigError(f"{named}{cause}")
    value = "" if first["type"] == "missing" else f", not {first['input']!r}"
    return ConfigError(f"{named}{first['msg'][0].lower()}{first['msg'][1:]}{value}")


def _check_keys(cls: type, raw: Mapping[str, Any], section: str) -> None:
    if not is_dataclass(cls):
        return
    types = get_type_hints(cls)
    known = {f.name: types[f.name] for f in fields(cls) if f.init}
    for key, value in raw.items():
        full = f"{section}.{key}" if section else key
        if key not in known:
            names = [f"{section}.{k}" if section else k for k in known]
            raise ConfigError(str(UnknownName("configuration key", full, names)))
        if isinstance(known[key], type) and is_dataclass(known[key]):
            if not isinstance(value, Mapping):
                raise ConfigError(f"configuration key {full!r} is a section, not {value!r}")
            _check_keys(known[key], value, full)


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
