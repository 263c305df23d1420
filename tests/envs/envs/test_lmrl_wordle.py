"""LMRL-Gym's Wordle beside examples worked by hand and a player that sees the feedback only."""

import random
from collections import Counter

import gymnasium
import pytest

from agentgym_envs import registry
from agentgym_envs.envs.lmrl.wordle import best_guess, consistent, feedback
from agentgym_envs.envs.lmrl.words import WORDS

ID = "agentgym/LMRLWordle-v0"


@pytest.fixture(scope="module")
def env():
    env = registry.make(ID, split="test")
    assert {"crown", "agree", "alert"} < set(env.unwrapped.task_ids)
    return env


def begin(env, word):
    return env.reset(options={"task_id": word})


def test_the_vocabulary_is_a_sorted_list_of_words_of_five_letters(env):
    assert len(WORDS) == len(set(WORDS)) == 681
    assert list(WORDS) == sorted(WORDS)
    assert all(len(word) == 5 and word.isascii() and word.islower() for word in WORDS)
    listed = env.unwrapped.instructions.rpartition(": ")[2].split()
    assert tuple(listed) == WORDS
    sizes = Counter(task.split for task in map(env.unwrapped.task_set.get, WORDS))
    assert sizes == {"train": 565, "dev": 58, "test": 58}  # the README says so


def test_the_difficulty_counts_the_words_that_differ_in_one_letter(env):
    for word in WORDS:
        near = [w for w in WORDS if sum(a != b for a, b in zip(w, word, strict=True)) == 1]
        assert env.unwrapped.task_set.difficulty(word) == len(near)


def test_words_of_other_splits_can_be_guessed(env):
    begin(env, "crown")
    train = next(word for word in WORDS if env.unwrapped.task_set.get(word).split == "train")
    assert not env.step(train)[-1]["invalid"]


@pytest.mark.parametrize(
    ("guess", "hidden", "seen"),
    [
        ("shire", "crane", "bbbyg"),
        ("panic", "frown", "bbybb"),  # this and the next one are in the prompt of AgentGym's client
        ("felon", "frown", "gbbyg"),
        ("eagle", "crane", "yybbg"),  # an e is right, and the other one counts as well
        ("sheep", "crane", "bbyyb"),
        ("crane", "eagle", "bbybg"),
        ("crane", "crane", "ggggg"),
    ],
)
def test_feedback(guess, hidden, seen):
    assert feedback(guess, hidden) == seen


def test_an_episode(env):
    text, info = begin(env, "crown")
    assert "6 guesses" in text
    assert (info["score"], info["success"]) == (0, False)
    text, reward, terminated, truncated, info = env.step("b a c o n")
    assert (text, reward, terminated, truncated) == ("b b y y g", 0.0, False, False)
    assert info["guesses"] == [["bacon", "bbyyg"]]
    text, *_, info = env.step("xxxxx")
    assert (text, info["invalid"], info["turn"]) == ("invalid word", True, 2)
    assert info["guesses"] == [["bacon", "bbyyg"]]
    text, reward, terminated, _, info = env.step("CROWN")
    assert (text, reward, terminated, info["success"]) == ("g g g g g", 1.0, True, True)


@pytest.mark.parametrize("last", ["a l e r t", "crown.", "no idea", "", "a l e r", "alerts"])
def test_the_sixth_guess_is_the_last(env, last):
    begin(env, "crown")
    for _ in range(5):
        assert not env.step("alert")[2]
    _, reward, terminated, _, info = env.step(last)
    assert terminated
    assert (reward, info["success"]) == ((1.0, True) if "crown" in last else (0.0, False))


@pytest.mark.full
def test_a_player_without_the_word_finds_every_word_in_five_guesses():
    turns = Counter()
    for hidden in WORDS:
        guesses = []
        while (hidden, "ggggg") not in guesses:
            guess = best_guess(consistent(guesses))
            guesses.append((guess, feedback(guess, hidden)))
        turns[len(guesses)] += 1
    assert max(turns) == 5
    assert 3.1 <= sum(n * words for n, words in turns.items()) / len(WORDS) < 3.2


def test_the_oracle_solves_from_any_state():
    env = gymnasium.make(ID, split="train")
    rng = random.Random(5)
    for seed in range(60):
        env.reset(seed=seed)
        over = False
        for _ in range(seed % 6):
            over = over or env.step(rng.choice(["zebra", *WORDS]))[2]
        for action in [] if over else env.unwrapped.oracle():
            _, _, over, truncated, info = env.step(action)
            assert over or not truncated
        assert info["success"]
