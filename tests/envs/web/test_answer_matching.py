"""Judging answers by their meaning: fair wordings count; guesses, hedges and near misses do not."""

import pytest

from agentgym_envs.envs.web.answer_matching import accepts

PAIR = ["Marlow Oak Shoe Rack", "Hushwood Three-Tier Bookcase"]
HEAVIER = "Which is heavier, the Marlow Oak Shoe Rack or the Hushwood Three-Tier Bookcase?"

# A kind, its value, the task's text, fair answers, wrong ones.
CASES = [
    (
        "number",
        "12",
        "How many products have fewer than 10 pieces?",
        [
            "12",
            "There are 12 products.",
            "twelve",
            "12.0",
            '"12"',
            "12 products have fewer than 10 pieces",
        ],
        [
            "13",
            "112",
            "1.2",
            "12 or 13",
            "12, 13",
            "12-13",
            "between 12 and 13",
            "about 12",
            "not 12",
            "maybe 12",
            "CA-12",
            "N/A",
            "",
            "10",
        ],
    ),
    (
        "number",
        "3",
        "How many?",
        ["3", "three", "It has 3."],
        ["13", "30", "3.5", "3 or 4", "v3", "at least 3", "3?"],
    ),
    (
        "number",
        "75400",
        "How many inhabitants?",
        ["75,400", "75400", "It has 75,400 inhabitants."],
        ["7,540", "75,400 or 75,500", "75,40"],
    ),
    (
        "money",
        "1299.00",
        "How much?",
        ["$1,299.00", "1299", "1,299.00 dollars", "It costs $1299.", "$1,299.00 for 3 pieces"],
        [
            "$12.99",
            "$1,299.50",
            "$1,299 or $1,300",
            "$1,299-1,400",
            "not $1,299.00",
            "$129",
            "almost $1,299",
            "N/A",
        ],
    ),
    (
        "date",
        "2026-06-02",
        "When? Answer like Jun 9, 2026.",
        ["Jun 2, 2026", "2026-06-02", "June 2nd, 2026", "2 June 2026", "6/2/2026"],
        [
            "Jun 3, 2026",
            "Jun 2",
            "Jun 2, 2026 or Jun 3, 2026",
            "June 2, 2025",
            "Jun 12, 2026",
            "Jun 2, 20267",
            "Jun 9, 2026, Jun 2, 2026",
        ],
    ),
    (
        "month",
        "2026-03",
        "Which?",
        ["2026-03", "March 2026", "Mar 2026"],
        ["2026-04", "March", "March 2025", "2026-03 or 2026-04"],
    ),
    (
        "time",
        "17:00",
        "When?",
        ["17:00", "5 pm", "It closes at 5:00 p.m."],
        ["18:00", "5 am", "17:00 or 18:00", "5", "17:30", "17:007"],
    ),
    (
        "duration",
        "65",
        "How long?",
        ["1 h 5 min", "65 min", "1 hour and 5 minutes"],
        ["1 h 15 min", "5 min", "1 h", "about 65 min", "1 h 5 min or 1 h 6 min"],
    ),
    (
        "codes",
        "555-0152",
        "Which?",
        ["555-0152", "5550152", "(555) 0152"],
        ["555-0153", "555-0152 or 555-0153", "555-0152, 555-0153", "555-01521"],
    ),
    (
        "codes",
        "CO-1336 CY-1980",
        "Which?",
        ["CO-1336, CY-1980", "cy-1980 and co-1336", "CY-1980\nCO-1336"],
        ["CO-1336", "CO-1336, CY-1980, CA-1644", "CO-1336, CY-1981"],
    ),
    (
        "codes",
        "1.4.8",
        "Which?",
        ["1.4.8", "v1.4.8", "Version 1.4.8."],
        ["1.4.81", "1.4.8 or 1.4.9", "11.4.8", "1.4", "1.4.8, 1.5.0"],
    ),
    (
        "point",
        "44.3246,-71.2082",
        "Where?",
        ["44.3246, -71.2082", "(44.3246, -71.2082)", "44.3246° N, 71.2082° W"],
        ["44.3246, 71.2082", "44.3246", "-71.2082, 44.3246"],
    ),
    (
        "yes",
        "yes",
        "Is it?",
        ["yes", "Yes.", "Yes, it is."],
        ["no", "yes or no", "yes and no", "It might be, yes"],
    ),
    (
        "name",
        PAIR[1],
        HEAVIER,
        [
            PAIR[1],
            f"The {PAIR[1]} is heavier",
            f"The {PAIR[1]} is heavier than the {PAIR[0]}.",
            f"not the {PAIR[0]} but the {PAIR[1]}",
            f"{PAIR[1]}, not the {PAIR[0]}",
        ],
        [
            PAIR[0],
            " or ".join(PAIR),
            ", ".join(PAIR),
            f"The {PAIR[0]} is heavier than the {PAIR[1]}",
            f"not the {PAIR[1]} but the {PAIR[0]}",
            f"maybe the {PAIR[1]}",
            f"The {PAIR[1]} is lighter",
            "Hushwood",
            f"not the {PAIR[1]}",
            f"{PAIR[1]}?",
            f"N/A {PAIR[1]}",
            f"Either is heavier, I guess the {PAIR[1]}",
            f"{PAIR[1]}s",
        ],
    ),
    (
        "none",
        "N/A",
        "How much is order 12?",
        [
            "N/A",
            "n/a",
            "N/A. This product does not exist in the shop",
            "N/A - there is no such product",
            "The answer is N/A",
            "N/A (no order 12)",
        ],
        [
            "The price is $12, not N/A",
            "12",
            "N/A or 12",
            "N/A, but it may cost $12",
            "there is no such product",
            "N/A 13",
            "Nancy",
            "",
        ],
    ),
]


def verdict(kind, value, intent, said):
    return accepts({"kind": kind, "value": value, "among": PAIR}, said, intent)


@pytest.mark.parametrize(
    ("kind", "value", "intent", "said"), [(*case[:3], said) for case in CASES for said in case[3]]
)
def test_a_fair_wording_is_accepted(kind, value, intent, said):
    assert verdict(kind, value, intent, said)


@pytest.mark.parametrize(
    ("kind", "value", "intent", "said"), [(*case[:3], said) for case in CASES for said in case[4]]
)
def test_another_value_a_second_guess_and_a_hedge_are_not(kind, value, intent, said):
    assert not verdict(kind, value, intent, said)


BOUNDED = [
    ("number", "6", ["thirty-six", "six hundred", "6k", "6 million", "6%", "6 dozen", "over 6"]),
    ("number", "6", ["under 6", "more than 6", "6+", "not six", "6 is wrong"]),
    ("number", "36", ["6", "thirty", "thirty-six hundred"]),
    ("money", "22", ["€22", "22 cents", "$22k", "$22 million", "-$22", "22 pounds"]),
    ("date", "2023-04-19", ["not Apr 19, 2023", "before Apr 19, 2023"]),
    ("date", "2023-04-19", ["about Apr 19, 2023", "Apr 19, 2023 is wrong"]),
    ("time", "18:00", ["not 18:00", "before 18:00", "about 18:00"]),
    ("month", "2025-08", ["not August 2025", "before August 2025"]),
    ("duration", "59", ["not 59 min", "59 seconds", "59 km", "59 days", "over 59 min"]),
    ("codes", "KE-7972 CY-5529", ["KE-7972 and CY-5529 are not in the order"]),
]  # fmt: skip
FAIR = [
    ("number", "36", ["thirty-six", "36", "thirty six orders"]),
    ("number", "600", ["six hundred", "600"]),
    ("number", "3", ["Three, one of them cancelled"]),
    (
        "number",
        "6",
        ["6 comments under the post", "There are 6 above the fold", "6, more than the other one"],
    ),
    (
        "date",
        "2023-04-19",
        [
            "On Apr 19, 2023, and it wasn't changed before that day's end",
            "Apr 19, 2023 after the sale",
        ],
    ),
    ("money", "22", ["twenty-two dollars", "$22", "22 USD"]),
]


@pytest.mark.parametrize(
    ("kind", "value", "said"), [(k, v, s) for k, v, texts in BOUNDED for s in texts]
)
def test_a_bound_a_denial_or_another_unit_is_no_answer(kind, value, said):
    assert not accepts({"kind": kind, "value": value}, said, "What is it?")


@pytest.mark.parametrize(
    ("kind", "value", "said"), [(k, v, s) for k, v, texts in FAIR for s in texts]
)
def test_number_words_are_numbers(kind, value, said):
    assert accepts({"kind": kind, "value": value}, said, "What is it?")


def test_a_unit_that_contradicts_the_question_is_wrong():
    spec, asked = {"kind": "number", "value": "50"}, "What is the speed limit, in km/h?"
    assert [accepts(spec, said, asked) for said in ("50", "50 km/h", "50 mph", "50 m/s")] == [
        True,
        True,
        False,
        False,
    ]


@pytest.mark.parametrize(
    "said", ["Esme Ibarra is not the customer", "Esme Ibarra did not place it"]
)
def test_a_denial_behind_a_name_counts(said):
    assert not accepts(
        {"kind": "name", "value": "Esme Ibarra", "among": ["Esme Ibarra", "Amir Winslow"]},
        said,
        "Who placed it?",
    )
