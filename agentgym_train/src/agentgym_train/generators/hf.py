"""The embedded generator: a Hugging Face causal LM of its own, with the key-value cache kept across turns.

All episodes share one cache. A turn appends its new tokens padded on the left and masked, so rows of different lengths stay
aligned; positions are the running sum of the mask. Nothing that was computed is computed again.

Shapes: B rows of the cache, S positions in it, L tokens appended at once, V vocabulary.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

import torch
from torch import Tensor
from transformers import AutoModelForCausalLM, DynamicCache, PreTrainedModel

from agentgym_train.protocols import Sample, Sampling


@dataclass(frozen=True, kw_only=True)
class HF:
    """The options of the embedded generator: none."""

    def build(self, model_folder: str, device: torch.device, dtype: torch.dtype) -> "HFGenerator":
        """Loads a second copy of the model, whole on every process, so that sharded training never blocks generation."""
        model = AutoModelForCausalLM.from_pretrained(model_folder, dtype=dtype)
        return HFGenerator(model.to(device).eval().requires_grad_(False))


class HFGenerator:
    """Samples from a model in this process."""

    def __init__(self, model: PreTrainedModel):
        self.model = model
        self._weights = dict(model.named_parameters())

    def load(self, weights: Iterable[tuple[str, Tensor]]) -> None:
        """Copies weights in place, by name."""
        for name, weight in weights:
            self._weights[name].data.copy_(weight)

    def session(self, rows: int, sampling: Sampling) -> "HFSession":
        """Starts ``rows`` empty episodes."""
        return HFSession(self.model, rows, sampling)


class HFSession:
    """Episodes in progress over one growing cache."""

    def __init__(self, model: PreTrainedModel, rows: int, sampling: Sampling):
        self.model = model
        self.sampling = sampling
        self.device = model.device
        self._stop = torch.tensor(sorted(sampling.stop_ids), device=self.device)
        self._noise = torch.Generator(self.device).manual_seed(sampling.seed)
        self._place = {row: row for row in range(rows)}  # row -> its line in the cache
        self._unfed: dict[int, list[int]] = {}  # the last sampled token of a row is not in the cache yet
        self._cache = DynamicCache(config=model.config)
        self._mask_BS = torch.zeros((rows, 0), dtype=torch.int64, device=self.device)

    @torch.inference_mode()
    def generate(self, prompts: Mapping[int, Sequence[int]]) -> dict[int, Sample]:
        """Appends ``prompts`` to their rows and samples an action for each; other rows get masked padding."""
        lines = [self._place[row] for row in prompts]
        new = {self._place[row]: [*self._unfed.pop(row, []), *ids] for row, ids in prompts.items()}
        logits_BV = self._append(*self._block(new))
        ids: dict[int, list[int]] = {line: [] for line in lines}
        logps: dict[int, list[float]] = {line: [] for line in lines}
        active_B = torch.zeros(len(logits_BV), dtype=torch.bool, device=self.device)
        active_B[lines] = True
        for count in range(1, self.sampling.max_new_tokens + 1):
            token_B, logp_B = self._sample(logits_BV)
            tokens, values = token_B.tolist(), logp_B.tolist()
            for line in active_B.nonzero()[:, 0].tolist():
                ids[line].append(tokens[line])
                logps[line].append(values[line])
            active_B = active_B & ~torch.isin(token_B, self._stop)
            if count == self.sampling.max_new_tokens or not bool(active_B.any()):
                break
            logits_BV = self._append(token_B[:, None], active_B[:, None].to(torch.int64))
        for row, line in zip(prompts, lines, strict=True):
            self._unfed[row] = ids[line][-1:]
        return {row: Sample(ids[line], logps[line]) for row, line in zip(prompts, lines, strict=True)}

    @torch.inference_mode()
    def restart(self, row: int) -> None:
        """Hides everything that the row holds in the cache."""
        self._unfed.pop(row, None)
        self._mask_BS[self._place[row]] = 0

    @torch.inference_mode()
    def finish(self, row: int) -> None:
        """Drops a row; when half of the cache's lines are idle they are cut out."""
        self._unfed.pop(row, None)
        del self._place[row]
        if self._place and len(self._place) <= len(self._mask_BS) // 2 and self._mask_BS.shape[1]:
            kept = torch.tensor(list(self._place.values()), device=self.device)
            self._mask_BS = self._mask_BS[kept]
            self._cache.batch_select_indices(kept)
            self._place = {row: line for line, row in enumerate(self._place)}

    def _block(self, new: Mapping[int, Sequence[int]]) -> tuple[Tensor, Tensor]:
        """Returns ids and mask, shape (B, L), of token lists aligned at their ends."""
        width = max(len(ids) for ids in new.values())
        id_BL = torch.zeros((len(self._mask_BS), width), dtype=torch.int64)
        mask_BL = torch.zeros_like(id_BL)
        for line, ids in new.items():
            id_BL[line, width - len(ids) :] = torch.tensor(ids)
            mask_BL[line, width - len(ids) :] = 1
        return id_BL.to(self.device), mask_BL.to(self.device)

    def _append(self, id_BL: Tensor, mask_BL: Tensor) -> Tensor:
        """Runs the model over new tokens; returns the logits, shape (B, V), behind the last position."""
        self._mask_BS = torch.cat([self._mask_BS, mask_BL], 1)
        position_BL = (self._mask_BS.cumsum(1) - 1).clamp(min=0)[:, -id_BL.shape[1] :]
        output = self.model(
            input_ids=id_BL,
            attention_mask=self._mask_BS,
            position_ids=position_BL,
            past_key_values=self._cache,
            use_cache=True,
            logits_to_keep=1,
        )
        logits_BV: Tensor = output.logits[:, -1].float()
        return logits_BV

    def _sample(self, logits_BV: Tensor) -> tuple[Tensor, Tensor]:
        """Draws a token a row by the Gumbel-max trick; returns tokens and their log-probabilities, shape (B,)."""
        logp_BV = (logits_BV / self.sampling.temperature).log_softmax(-1)
        noise_BV = torch.empty_like(logp_BV).exponential_(generator=self._noise)
        token_B = (logp_BV - noise_BV.log()).argmax(-1)
        return token_B, logp_BV.gather(1, token_B[:, None])[:, 0]
