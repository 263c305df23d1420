"""A reward model: a Hugging Face sequence classifier with one label, from a run with ``[comparisons]`` or from TRL's RewardTrainer.

It reads a whole conversation through its own chat template, with the rules that the policy has been
told. Shapes: B conversations, T tokens.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache, cached_property
from typing import Any, ClassVar

import torch
from transformers import (
    AutoConfig,
    AutoModelForSequenceClassification,
    AutoTokenizer,
    PreTrainedModel,
    PreTrainedTokenizerBase,
)

from agentgym_envs.pool import Description
from agentgym_train import plugins
from agentgym_train.config import Config
from agentgym_train.config.constraints import Name, NonNegative, Positive
from agentgym_train.data.types import Group, Trajectory
from agentgym_train.errors import ConfigError, ModelError, TrainingError
from agentgym_train.models.chat import Template
from agentgym_train.models.loading import device
from agentgym_train.protocols import RunContext, Scorer, ScorerPlugin
from agentgym_train.scorers.rewards import rewarded


@dataclass(frozen=True, kw_only=True)
class RewardModel(ScorerPlugin):
    """Adds a model's score to the reward of an episode's last turn."""

    path: Name
    """The reward model: a local folder or a hub name."""
    weight: Positive = 1.0
    """Factor of the score."""
    replace: bool = False
    """Replace the environment's rewards by the score, instead of adding it."""
    limit: NonNegative = 0.0
    """Scores are clipped to ± this value before ``weight`` applies; 0: no limit."""
    learned: ClassVar[bool] = True

    def check(self, config: Config, training: Description) -> None:
        """Refuses what is no reward model, or cannot read an episode of the run's length.

        Raises:
            ModelError: says what is wrong with it.
            TemplateError: its tokenizer has no chat template.
            ConfigError: its score is all the reward there is, and nothing is said of a divergence
                from the start.
        """
        self._check_tether(config)
        told, tokenizer = self.load()
        Template(tokenizer, training.instructions)
        kinds = ", ".join(told.architectures or ["nothing"])
        if "ForSequenceClassification" not in kinds or told.num_labels != 1:
            raise ModelError(
                f"scorer.path={self.path!r} is no sequence classifier with one label: it is"
                f" {kinds}, {told.num_labels} labels"
            )
        reach = getattr(told, "max_position_embeddings", None)
        if reach is not None and reach < config.model.max_context:
            raise ModelError(
                f"scorer.path={self.path!r} reads {reach} tokens, fewer than"
                f" model.max_context={config.model.max_context}"
            )

    def _check_tether(self, config: Config) -> None:
        """Lets a policy follow a learned score alone, as far as it likes, only where the file says ``kl_coef = 0``."""
        silent = (
            "kl_coef" not in config.algorithm
            and getattr(plugins.make_algorithm(config.algorithm), "kl_coef", None) == 0
        )
        if self.replace and silent:
            raise ConfigError(
                "scorer.replace=true leaves a learned score as the only reward, which a policy can"
                " raise without doing better: set algorithm.kl_coef above 0, to hold it to where it"
                " started, or to 0.0 if it is to be free"
            )

    def load(self) -> tuple[Any, PreTrainedTokenizerBase]:
        """Returns the model's configuration and its tokenizer.

        Raises:
            ModelError: there is none.
        """
        try:
            return AutoConfig.from_pretrained(self.path), AutoTokenizer.from_pretrained(self.path)
        except (OSError, ValueError) as error:
            raise ModelError(
                f"scorer.path={self.path!r} is no model that can be loaded:"
                f" {str(error).splitlines()[0]}"
            ) from error

    def build(self, context: RunContext) -> "ModelScorer":
        """Reads the tokenizer; the model itself is loaded when there is something to score."""
        return ModelScorer(self, context)


class ModelScorer(Scorer):
    """Scores whole episodes."""

    def __init__(self, options: RewardModel, context: RunContext):
        told, tokenizer = options.load()
        self._options, self._dtype = options, getattr(torch, context.config.model.dtype)
        self._template = Template(tokenizer, context.training.instructions)
        self._pad, self._reach = (
            told.get_text_config().pad_token_id,
            getattr(told, "max_position_embeddings", math.inf),
        )
        self._most = context.config.engine.micro_batch_tokens

    @cached_property
    def _model(self) -> PreTrainedModel:
        return _loaded(self._options.path, self._dtype)

    def score(self, groups: Sequence[Group]) -> list[Group]:
        """Returns the groups with the scores in the rewards; an episode without a turn has none.

        Raises:
            TrainingError: a score is not finite, or an episode is longer than the model reads;
                names the episode.
        """
        played = [t for group in groups for t in group.played if t.turns]
        scores = self._scores([self._read(t) for t in played])
        for t, score in zip(played, scores, strict=True):
            if not math.isfinite(score):
                raise TrainingError(
                    f"{self._options.path} scores {_named(t)} with {score}, which is no reward"
                )
        left = iter(scores)
        return rewarded(groups, lambda t: self._rewards(t, next(left)) if t.turns else [])

    def _rewards(self, t: Trajectory, score: float) -> list[float]:
        if self._options.limit:
            score = max(-self._options.limit, min(score, self._options.limit))
        kept = [0.0 if self._options.replace else turn.reward for turn in t.turns]
        return [*kept[:-1], kept[-1] + self._options.weight * score]

    def _read(self, t: Trajectory) -> list[int]:
        """Returns an episode's tokens."""
        ids = self._template.episode(
            [turn.observation for turn in t.turns], [turn.action for turn in t.turns]
        )
        if len(ids) > self._reach:
            raise TrainingError(
                f"{self._options.path} reads {self._reach} tokens, and {_named(t)} has {len(ids)}:"
                " lower model.max_context"
            )
        return ids

    @torch.no_grad()
    def _scores(self, rows: Sequence[list[int]]) -> list[float]:
        """Returns a score a row, from batches of rows of like length."""
        scores: dict[int, float] = {}
        for part in self._parts(rows):
            id_BT = torch.full((len(part), len(rows[part[-1]])), self._pad or 0)
            valid_BT = torch.zeros_like(id_BT)
            for n, row in enumerate(part):
                id_BT[n, : len(rows[row])] = torch.tensor(rows[row])
                valid_BT[n, : len(rows[row])] = 1
            place = self._model.device
            logits_B1 = self._model(
                input_ids=id_BT.to(place), attention_mask=valid_BT.to(place)
            ).logits
            scores |= zip(part, logits_B1[:, 0].float().tolist(), strict=True)
        return [scores[row] for row in range(len(rows))]

    def _parts(self, rows: Sequence[list[int]]) -> list[list[int]]:
        """Splits rows, the shorter ones first, so that a part pads to at most ``engine.micro_batch_tokens``."""
        parts: list[list[int]] = []
        for row in sorted(range(len(rows)), key=lambda row: len(rows[row])):
            # Without a padding token a model finds the last token of a single row alone.
            if (
                parts
                and self._pad is not None
                and (len(parts[-1]) + 1) * len(rows[row]) <= self._most
            ):
                parts[-1].append(row)
            else:
                parts.append([row])
        return parts


@cache
def _loaded(path: str, dtype: torch.dtype) -> PreTrainedModel:
    """Loads a model once for all environments."""
    model = AutoModelForSequenceClassification.from_pretrained(path, dtype=dtype)
    model.config.use_cache = False
    return model.to(device()).eval()


def _named(t: Trajectory) -> str:
    return f"the episode of task {t.task_id!r}, seed {t.seed},"
