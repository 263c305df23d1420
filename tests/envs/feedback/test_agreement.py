"""Against hand-worked and published numbers."""

import pytest
from compared import comparison

from agentgym_envs.feedback.agreement import agreement


def judged(**choices):
    """Returns comparisons, one task per choice; a space is a task without a judgement."""
    words = {"a": "a", "b": "b", "t": "tie", "n": "neither"}
    rows = [
        (f"t-{i}", words[c], who)
        for who, made in choices.items()
        for i, c in enumerate(made)
        if c != " "
    ]
    return [comparison(*row) for row in rows]


def test_cohens_kappa_is_the_hand_worked_one():
    """Fifty pairs: 20 both a, 5 kim a and lee b, 10 kim b and lee a, 15 both b.

    The share of agreement is 0.7; by chance it is 0.5 · 0.6 + 0.5 · 0.4.
    """
    found = agreement(judged(kim="a" * 25 + "b" * 25, lee="a" * 20 + "b" * 5 + "a" * 10 + "b" * 15))
    assert (found.annotators, found.pairs) == (("kim", "lee"), 50)
    assert found.raw == pytest.approx(0.7)
    assert found.kappa == pytest.approx(0.4)
    assert str(found) == "agreement of kim, lee on 50 pairs: 0.70, Cohen's κ 0.40"


def test_cohens_kappa_keeps_to_each_ones_own_shares():
    """Kim always chooses a, so the chance is lee's share of a, 3 of 4, and kappa is 0.

    With common shares it would be negative.
    """
    found = agreement(judged(kim="aaaa", lee="aaat"))
    assert (found.raw, found.kappa) == (pytest.approx(0.75), pytest.approx(0))


def test_fleiss_kappa_is_the_hand_worked_one():
    """Three annotators, four pairs: aaa, aab, abn, ttt.

    Agreement within the pairs: 1, 1/3, 0, 1; mean 7/12. Shares of a, b, tie, neither: 6, 2, 3, 1 of
    12; squares: 50/144.
    """
    found = agreement(judged(kim="aaat", lee="aabt", max="abnt"))
    assert found.raw == pytest.approx(7 / 12)
    assert found.kappa == pytest.approx((7 / 12 - 50 / 144) / (1 - 50 / 144))
    assert "Fleiss' κ 0.36" in str(found)


def test_pairs_that_one_alone_has_judged_do_not_count():
    found = agreement(judged(kim="ab n", lee="aa b", max="  t "))
    assert (found.annotators, found.pairs, found.raw) == (("kim", "lee"), 3, pytest.approx(1 / 3))


def test_of_three_not_all_need_to_have_judged():
    """Pairs aaa, ab and nn have agreement 1, 0 and 1, mean 2/3.

    The shares of a, b and neither are 4, 1 and 2 of 7; the squares add up to 21/49 = 3/7.
    """
    found = agreement(judged(kim="aa ", lee="abn", max="a n"))
    assert (found.pairs, found.raw) == (3, pytest.approx(2 / 3))
    assert found.kappa == pytest.approx((2 / 3 - 3 / 7) / (1 - 3 / 7))


@pytest.mark.parametrize("choices", [{}, {"kim": "aab"}, {"kim": "a ", "lee": " a"}])
def test_one_annotator_agrees_with_nobody(choices):
    found = agreement(judged(**choices))
    assert (found.raw, found.kappa) == (None, None)
    assert str(found) == "agreement: no pair was judged by several annotators"


def test_kappa_is_unknown_where_only_one_choice_was_made():
    found = agreement(judged(kim="aa", lee="aa"))
    assert (found.raw, found.kappa) == (1, None)
    assert str(found).endswith("1.00, Cohen's κ –, as only one choice was made")
