"""TRL's trainers learn from what is exported, and leave no row of it out."""

import json

import pytest
import tiny
from compared import comparison, side, turn

from agentgym_envs.feedback.export import exported, written

pytestmark = [
    pytest.mark.full,
    pytest.mark.filterwarnings("ignore"),  # of TRL and what it needs, about their own insides
]
ROWS = 6


def compared():
    """Comparisons of every choice; the fourth is of episodes of more than 1,024 tokens."""
    rows = []
    for i, choice in enumerate(("a", "b", "a", "b", "a", "b", "tie", "neither")):
        long = "go north, go south. " * (400 if i == 3 else 1)
        a, b = (
            side(run, [turn(1), turn(2, response=f"{said} {long}")])
            for run, said in (("one", "go"), ("two", "take"))
        )
        rows.append(comparison(f"t-{i}", choice, a=a, b=b))
    return rows


@pytest.fixture(scope="module")
def model(tmp_path_factory):
    return tiny.save(tmp_path_factory.mktemp("model"), template=tiny.CHATML)


@pytest.fixture
def learned(model, tmp_path):
    """Trains two steps on what is exported; returns the trainer."""
    from datasets import load_dataset

    def train(form, trainer, config, loaded, **options):
        (tmp_path / "rows.jsonl").write_text(
            written(exported(compared(), form)[0]), encoding="utf-8"
        )
        rows = load_dataset(
            "json",
            data_files=str(tmp_path / "rows.jsonl"),
            cache_dir=str(tmp_path / "cache"),
            split="train",
        )
        settings = config(
            output_dir=str(tmp_path / "out"), max_steps=2, per_device_train_batch_size=2,
            learning_rate=1e-3, max_length=8192, use_cpu=True, bf16=False, report_to=[],
            save_strategy="no", logging_steps=1, disable_tqdm=True, **options,
        )  # fmt: skip
        made = trainer(
            model=loaded,
            args=settings,
            train_dataset=rows,
            processing_class=tiny.tokenizer(tiny.CHATML),
        )
        made.train()
        losses = [line["loss"] for line in made.state.log_history if "loss" in line]
        assert len(losses) == 2
        assert all(loss == loss and loss > 0 for loss in losses)  # finite
        return made, [
            json.loads(line)
            for line in (tmp_path / "rows.jsonl").read_text(encoding="utf-8").splitlines()
        ]

    return train


def decoded(trainer, row, *columns):
    return [trainer.processing_class.decode(row[column]) for column in columns]


def test_the_reward_trainer_takes_every_pair(model, learned):
    from transformers import AutoModelForSequenceClassification
    from trl import RewardConfig, RewardTrainer

    loaded = AutoModelForSequenceClassification.from_pretrained(model, num_labels=1)
    trainer, rows = learned("rewards", RewardTrainer, RewardConfig, loaded)
    assert len(trainer.train_dataset) == len(rows) == ROWS
    chosen, rejected = decoded(trainer, trainer.train_dataset[1], "chosen_ids", "rejected_ids")
    assert "take go north" in chosen
    assert "go go north" in rejected
    assert "<|im_start|>system\nFind the lamp." in chosen


def test_the_dpo_trainer_takes_every_pair(model, learned):
    from transformers import AutoModelForCausalLM
    from trl import DPOConfig, DPOTrainer

    trainer, rows = learned(
        "dpo", DPOTrainer, DPOConfig, AutoModelForCausalLM.from_pretrained(model)
    )
    assert len(trainer.train_dataset) == len(rows) == ROWS
    prompt, chosen, rejected = decoded(
        trainer, trainer.train_dataset[1], "prompt_ids", "chosen_ids", "rejected_ids"
    )
    assert prompt.endswith("room 2<|im_end|>\n<|im_start|>assistant\n")
    assert chosen.startswith("take go north")
    assert rejected.startswith("go go north")


def test_the_kto_trainer_takes_every_episode(model, learned):
    from transformers import AutoModelForCausalLM
    from trl import KTOConfig, KTOTrainer

    trainer, rows = learned(
        "kto", KTOTrainer, KTOConfig, AutoModelForCausalLM.from_pretrained(model)
    )
    assert len(trainer.train_dataset) == len(rows) == 2 * (ROWS + 2)
    assert [row["label"] for row in trainer.train_dataset] == [row["label"] for row in rows]
    prompt, completion = decoded(trainer, trainer.train_dataset[0], "prompt_ids", "completion_ids")
    assert prompt.endswith("room 1<|im_end|>\n<|im_start|>assistant\n")
    assert completion.startswith("go 1<|im_end|>\n<|im_start|>user\nroom 2")
