"""A reward model: a Hugging Face sequence classifier with one label.

A run with ``[comparisons]`` or TRL's RewardTrainer trains such a model. It reads a whole
conversation with the rules of the environment, written by its own chat template.

Shapes: B conversations, T tokens.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cache, cached_property
from typing import Any

import torch
from transformers import (
    AutoConfig,
    AutoModelForSequenceClassification,
    PreTrainedModel,
    PreTrainedTokenizerBase,
)

from agentgym_envs.pool import EnvDescription
from agentgym_train import plugins
from agentgym_train.config import Config
from agentgym_train.config.constraints import Name, NonNegative, Positive
from agentgym_train.config.schema import template_text
from agentgym_train.data.types import Group, Trajectory
from agentgym_train.errors import ConfigError, ModelError, TrainingError
from agentgym_train.models.chat import ChatTemplate
from agentgym_train.models.loading import check_files, device, load_tokenizer
from agentgym_train.protocols import RunContext, Scorer
from agentgym_train.scorers.rewards import rewarded


class RewardModel(Scorer):
    """Adds a model's score to the reward of an episode's last turn.

    The constructor loads the tokenizer; the first ``score`` loads the model. With ``rollout.ahead``
    the model is loaded at once.
    """

    learned = True

    @dataclass(frozen=True, kw_only=True)
    class Options:
        """The model, and the use of its score."""

        path: Name
        """The reward model: a local folder or a hub name."""
        weight: Positive = 1.0
        """Factor of the score."""
        replace: bool = False
        """Replace the environment's rewards by the score, instead of adding it."""
        limit: NonNegative = 0.0
        """Scores are clipped to ± this value before ``weight`` applies; 0: no limit."""
        chat_template: str = ""
        """The chat template of the reward model: a Jinja file, or its text. Empty: the template of
        its tokenizer."""
        chat_template_kwargs: dict[str, Any] = field(default_factory=dict)
        """Arguments of the reward model's chat template."""

        def __post_init__(self) -> None:
            text = template_text(self.chat_template, key="scorer.chat_template")
            object.__setattr__(self, "chat_template", text)

        def check_kl(self, config: Config) -> None:
            """Rejects a learned score as the only reward unless the file sets ``kl_coef``."""
            unset = (
                "kl_coef" not in config.algorithm
                and getattr(plugins.make_algorithm(config.algorithm), "kl_coef", None) == 0
            )
            if self.replace and unset:
                raise ConfigError(
                    "scorer.replace=true leaves a learned score as the only reward, which a policy"
                    " can raise without doing better: set algorithm.kl_coef above 0 to keep the"
                    " policy near its start, or to 0.0 for no such limit"
                )

        def template(
            self, tokenizer: PreTrainedTokenizerBase, config: Config, training: EnvDescription
        ) -> ChatTemplate:
            """Returns the template that writes conversations for the reward model.

            Raises:
                TemplateError: the tokenizer has no chat template, or it cannot be used.
            """
            return ChatTemplate(
                tokenizer,
                training.instructions,
                arguments=self.chat_template_kwargs,
                date=config.run.date,
                section="scorer",
            )

        def load(self) -> tuple[Any, PreTrainedTokenizerBase]:
            """Returns the model's configuration and its tokenizer.

            Raises:
                ModelError: they cannot be loaded.
            """
            try:
                shape = AutoConfig.from_pretrained(self.path)
            except (OSError, ValueError) as error:
                raise ModelError(
                    f"scorer.path={self.path!r} is not a model that can be loaded:"
                    f" {str(error).splitlines()[0]}"
                ) from error
            return shape, load_tokenizer(
                self.path, key="scorer.path", chat_template=self.chat_template
            )

    @classmethod
    def check(cls, options: Options, config: Config, training: EnvDescription) -> None:
        """Rejects a model that is not a reward model or is too short for the run's episodes.

        Raises:
            ModelError: the model has no single label, too few positions, or cannot be loaded.
            TemplateError: its tokenizer has no chat template.
            ConfigError: its score is the only reward, and ``algorithm.kl_coef`` is not set.
        """
        options.check_kl(config)
        check_files(options.path, key="scorer.path")
        shape, tokenizer = options.load()
        options.template(tokenizer, config, training)
        kinds = ", ".join(shape.architectures or ["nothing"])
        if "ForSequenceClassification" not in kinds or shape.num_labels != 1:
            raise ModelError(
                f"scorer.path={options.path!r} must be a sequence classifier with one label, but it"
                f" is {kinds}, {shape.num_labels} labels"
            )
        reach = getattr(shape, "max_position_embeddings", None)
        if reach is not None and reach < config.model.max_context:
            raise ModelError(
                f"scorer.path={options.path!r} reads {reach} tokens, fewer than"
                f" model.max_context={config.model.max_context}"
            )

    def __init__(self, options: Options, context: RunContext):
        if context.config.rollout.ahead:
            # transformers changes torch's default dtype while it loads a model, and a generator may
            # work in another thread later.
            _loaded(options.path, getattr(torch, context.config.model.dtype))
        shape, tokenizer = options.load()
        self._options, self._dtype = options, getattr(torch, context.config.model.dtype)
        self._template = options.template(tokenizer, context.config, context.training)
        self._pad = shape.get_text_config().pad_token_id
        self._reach = getattr(shape, "max_position_embeddings", math.inf)
        self._max_tokens = context.config.engine.micro_batch_tokens

    @cached_property
    def _model(self) -> PreTrainedModel:
        return _loaded(self._options.path, self._dtype)

    def score(self, groups: Sequence[Group]) -> list[Group]:
        """Returns the groups with the scores in the rewards; an episode without turns has no score.

        Raises:
            TrainingError: a score is not finite, or an episode is longer than the model reads;
                names the episode.
        """
        played = [t for group in groups for t in group.played if t.turns]
        rows = [tuple(self._read(t)) for t in played]
        # Equal episodes get equal scores: the same row has another rounding in another batch.
        distinct = list(dict.fromkeys(rows))
        known = dict(zip(distinct, self._scores(distinct), strict=True))
        scores = [known[row] for row in rows]
        for t, score in zip(played, scores, strict=True):
            if not math.isfinite(score):
                raise TrainingError(
                    f"{self._options.path} scores {_named(t)} with {score}, which is not finite"
                )
        # ``rewarded`` visits the trajectories in the order of ``played``.
        remaining = iter(scores)
        return rewarded(groups, lambda t: self._rewards(t, next(remaining)) if t.turns else [])

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
    def _scores(self, rows: Sequence[Sequence[int]]) -> list[float]:
        """Returns one score per row, from batches of rows of similar length."""
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

    def _parts(self, rows: Sequence[Sequence[int]]) -> list[list[int]]:
        """Splits rows into parts of at most ``engine.micro_batch_tokens`` padded tokens.

        Shorter rows come first.
        """
        parts: list[list[int]] = []
        for row in sorted(range(len(rows)), key=lambda row: len(rows[row])):
            # Without a padding token, a model cannot find the last token of a padded row.
            fits = bool(parts) and (len(parts[-1]) + 1) * len(rows[row]) <= self._max_tokens
            if fits and self._pad is not None:
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
