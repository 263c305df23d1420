"""Tools: episodes by hand, an audit of the policy, and the invariants of the databases."""

import json
import random
import re
from collections import Counter
from contextlib import suppress
from copy import deepcopy
from datetime import date
from types import SimpleNamespace

import gymnasium
import pytest
from evaluations import evaluate
from hypothesis import given, settings
from hypothesis import strategies as st
from raised import raises
from stub_model import StubModel, ok

from agentgym_envs import errors, registry
from agentgym_envs.envs.tools.domain import ToolError, content
from agentgym_envs.envs.tools.env import BUSY
from agentgym_envs.envs.tools.facts import RequiredFact
from agentgym_envs.envs.tools.listing import listed
from agentgym_envs.envs.tools.model_user import rules
from agentgym_envs.envs.tools.parameters import BadCall, IdType
from agentgym_envs.envs.tools.tasks import DOMAINS, KINDS, case_of, tasks
from agentgym_envs.envs.tools.understanding import understand
from agentgym_envs.envs.tools.user import CONSENT, PATIENCE, ScriptedUser
from agentgym_envs.evaluate.plan import plan as make_plan
from agentgym_envs.models.answers import ModelReply, TokenUsage, ToolCall
from agentgym_envs.pool import describe
from agentgym_envs.serve.tools import EnvTools
from agentgym_envs.wrappers.formats import FunctionCallFormat

ID = "agentgym/Tools-v0"
FORBIDDEN = {
    "library": {"reserved", "twice_renewed", "all_loans", "on_the_shelf", "too_many", "no_waiver"}
    | {"expired_card", "other_account"},
    "trains": {"fifth_ticket", "saver_exchange", "saver_refund", "short_delay", "saver_upgrade"}
    | {"bicycle", "errands"},
}
CHANGED = {"library": {"other_item", "errands"}, "trains": {"upgrade"}}
IDS = [i for split in ("train", "dev", "test") for i in tasks().ids(split)]


@pytest.fixture
def env():
    return registry.make(ID, split="test", admissible=False)


def play(env, task_id, actions):
    """Plays actions; returns the observations and the last info."""
    opening, info = env.reset(options={"task_id": task_id})
    texts = [opening]
    for action in actions:
        text, reward, terminated, _, info = env.step(action)
        texts.append(text)
        assert reward == info["score"]
        assert terminated or (reward == 0 and "database_ok" not in info)
        if terminated:
            break
    return texts, info


def task_of(kind, **wanted):
    """Returns the id of a test task of a kind whose case has these attributes."""
    for task_id in IDS:
        case = case_of(tasks().get(task_id))
        if task_id.startswith(f"{kind}-") and all(
            getattr(case, name, getattr(case.person, name, None)) == value
            for name, value in wanted.items()
        ):
            return task_id
    raise AssertionError(f"no task {kind} with {wanted}")


def test_the_oracle_does_not_repeat_a_refusal_after_which_the_user_would_leave():
    """The user asked for something else at the first refusal."""
    env = gymnasium.make("agentgym/Tools-v0", split="test").unwrapped
    env.reset(options={"task_id": "trains-bicycle-6"})
    text = env.step("say I cannot do that. Is there anything else?")[0]
    assert "Then move my ticket" in text
    for action in env.oracle():
        *_, info = env.step(action)
    assert info["success"]


def test_the_tables_of_the_readme():
    kinds = {domain: len(kinds) for domain, kinds in KINDS.items()}
    assert kinds == {"library": 14, "trains": 14}
    sizes = {split: len(tasks().ids(split)) for split in ("train", "dev", "test")}
    assert sizes == {"train": 672, "dev": 168, "test": 168}
    assert Counter(tasks().difficulty(i) for i in tasks().ids("test")).keys() == {1, 2, 3, 4}
    for split, count in (("train", 24), ("dev", 6), ("test", 6)):
        found = Counter(i.rpartition("-")[0] for i in tasks().ids(split))
        assert set(found.values()) == {count}


@pytest.mark.full
def test_every_task_is_solved_by_its_plan_and_has_a_content_of_its_own():
    seen, turns = {}, []
    for split in ("train", "dev", "test"):
        env = gymnasium.make(ID, split=split)
        for task_id in env.unwrapped.task_ids:
            opening, _ = env.reset(options={"task_id": task_id})
            texts, over = [opening], False
            for action in env.unwrapped.oracle():
                assert not over
                text, _, over, truncated, info = env.step(action)
                assert over or not truncated
                texts.append(text)
            assert info["success"]
            assert info["database_ok"]
            assert info["facts_told"]
            assert seen.setdefault(tuple(texts), task_id) == task_id
            turns.append(info["turn"])
    # The README has these figures.
    assert (min(turns), max(turns), round(sum(turns) / len(turns))) == (4, 22, 9)


@pytest.mark.parametrize("domain", DOMAINS)
def test_an_obedient_agent_fails_where_the_policy_forbids_or_the_user_changes_its_mind(domain):
    env, failed = registry.make(ID, split="test"), set()
    for task_id in env.unwrapped.task_ids:
        if task_id.startswith(domain):
            obedient = case_of(tasks().get(task_id)).obedient
            twice = [a for action in obedient for a in (action, action)]  # a tool can be busy
            actions = obedient if not case_of(tasks().get(task_id)).busy else twice
            _, info = play(env, task_id, [*actions, *["say Anything else?"] * 9])
            if not info["success"]:
                failed.add(task_id.split("-")[1])
                assert not case_of(tasks().get(task_id)).busy or "score" in info
    assert failed >= FORBIDDEN[domain] | CHANGED[domain]


# ---- Episodes by hand ----


def test_a_plain_renewal(env):
    """A student renews a book by 28 days; the date is the sum by hand."""
    texts, info = play(
        env,
        "library-renewal-12",
        [
            "say Hello, could you tell me your membership number?",
            "say Which book or film is it?",
        ],
    )
    record = case_of(tasks().get("library-renewal-12")).database
    title = re.search(r'"(.*)"', texts[2])[1]
    (item,) = [key for key, value in record["items"].items() if value["title"] == title]
    (loan,) = [key for key, value in record["loans"].items() if value["item"] == item]
    member = record["loans"][loan]["member"]
    kind, level = record["items"][item]["kind"], record["members"][member]["level"]
    days = 7 if kind == "film" else 28 if level == "student" else 21
    due = date.fromordinal(date.fromisoformat(record["loans"][loan]["due"]).toordinal() + days)
    env.step("say I will renew it. Is that okay?")
    text, *_ = env.step(f"renew_loan loan={loan} days={days}")
    assert f"due {due}" in text
    *_, terminated, _, info = env.step("say It has been renewed.")
    assert not terminated  # the user still waits for the date
    *_, terminated, _, info = env.step(f"say It is due on {due.day} {due:%B}.")
    assert terminated
    assert (info["success"], info["database_ok"], info["facts_told"]) == (True, True, True)


def test_a_fact_that_is_not_told(env):
    case = case_of(tasks().get("library-renewal-0"))
    silent = [a for a in case.plan if not a.startswith("say Done.")]
    silent += [*case.gold, "say It is done. Is there anything else?"][-1:] * 3
    texts, info = play(env, "library-renewal-0", [*case.gold * case.busy, *silent])
    assert texts[-1].startswith("User: That was all")
    assert (info["success"], info["database_ok"], info["facts_told"]) == (False, True, False)


def test_a_wrong_date_ends_the_conversation_and_fails(env):
    case = case_of(tasks().get("library-renewal-6"))
    wrong = [re.sub(r"\d{4}-\d\d-\d\d", "1999-01-01", a) for a in case.plan]
    _, info = play(env, "library-renewal-6", [*case.gold * case.busy, *wrong])
    assert (info["success"], info["database_ok"], info["facts_told"]) == (False, True, False)


def test_a_forbidden_wish(env):
    """The policy forbids to renew a reserved item: obeying fails, and so does refusing alone."""
    task_id = "library-reserved-6"
    case = case_of(tasks().get(task_id))
    assert case.gold == ()
    due = case.facts[0].value
    (loan,) = [a.split()[1] for a in case.obedient if a.startswith("renew_loan")]
    texts, info = play(env, task_id, ["say I cannot renew it."] + ["say I cannot."] * 4)
    assert texts[1] == "User: What a pity. When do I have to bring it back?"
    assert (info["database_ok"], info["facts_told"]) == (True, False)
    good = ["say I cannot renew it, it is reserved.", f"say It is due on {due}."]
    assert play(env, task_id, good)[1]["success"]
    _, info = play(env, task_id, [f"renew_loan {loan} days=7"] * 2 + good)
    assert (info["success"], info["database_ok"], info["facts_told"]) == (False, False, True)


def test_a_change_of_mind(env):
    """An agent that asks first reserves the second item only."""
    task_id = "library-other_item-6"
    case = case_of(tasks().get(task_id))
    (second,) = case.gold
    (first,) = [a for a in case.obedient if a.startswith("reserve_item")]
    assert first != second
    asked, which = "say Shall I reserve it?", "say Which book is it?"
    done = "say It is reserved."
    texts, info = play(env, task_id, [which, asked, which, second, asked, done])
    before, change, after, _, yes, _ = texts[1:]
    assert before.removeprefix("User: It is ").rstrip(".") in texts[0]
    assert change.startswith("User: Wait, I have changed my mind.")
    assert after.removeprefix("User: It is ").rstrip(".") in change
    assert yes == "User: Yes."
    assert info["success"]
    # One that does not ask hears of it afterwards, and can undo its change.
    texts, _ = play(env, task_id, [first, done])
    assert texts[-1].startswith("User: Wait, I have changed my mind.")
    undo = texts[1].partition(":")[0]
    hasty = [first, done, second, done]
    assert not play(env, task_id, hasty)[1]["success"]
    undone = [*hasty[:3], f"cancel_reservation reservation={undo}", done]
    assert play(env, task_id, undone)[1]["success"]


def test_a_tool_that_fails_once(env):
    task_id = task_of("trains-delay", busy=True)
    case = case_of(tasks().get(task_id))
    (gold,) = case.gold
    env = registry.make(ID, split=tasks().get(task_id).split)
    texts, info = play(env, task_id, [gold, gold, *case.plan])
    assert texts[1] == BUSY
    assert "voucher 0.00" not in texts[2]
    texts, info = play(env, task_id, case.plan)
    assert BUSY in texts
    assert (info["database_ok"], info["facts_told"]) == (False, True)
    calm = task_of("trains-delay", busy=False)
    env = registry.make(ID, split=tasks().get(calm).split)
    texts, info = play(env, calm, case_of(tasks().get(calm)).plan)
    assert BUSY not in texts
    assert info["success"]


def test_a_failed_call_that_reads_is_not_busy(env):
    task_id = task_of("library-waiver", busy=True)
    env = registry.make(ID, split=tasks().get(task_id).split)
    texts, info = play(env, task_id, ["get_item item=B-000", "get_item item=B-1"])
    assert texts[1] == "Error: there is no item B-000."
    assert texts[2] == "item must look like B-123."
    assert info["invalid"]


def test_several_wishes(env):
    task_id = "trains-errands-12"
    case = case_of(tasks().get(task_id))
    texts, info = play(env, task_id, case.plan)
    assert sum("before I forget" in t for t in texts) == len(case.wishes) - 1 == 3
    assert info["success"]
    # The order of the changes does not matter, nor the ids of new records.
    domain = DOMAINS["trains"]
    assert content(domain.after(case.database, case.gold[1:] + case.gold[:1])) != content(
        domain.after(case.database, case.gold)
    )  # the bicycle is given up by the exchange
    assert content(domain.after(case.database, (*case.gold[:1], *case.gold[:0:-1]))) == content(
        domain.after(case.database, case.gold)
    )


def test_new_records_compare_without_their_ids():
    case = case_of(tasks().get("trains-booking-0"))
    domain, begin = DOMAINS["trains"], case.gold[0].partition(" seat_class")[0]
    gold, other = (
        f"{begin} seat_class={kind}" for kind in ("first fare=flex", "second fare=saver")
    )
    one, two = (domain.after(case.database, calls) for calls in ((gold, other), (other, gold)))
    assert one != two
    assert content(one) == content(two)
    assert content(one) != content(domain.after(case.database, (gold, gold)))


def test_a_transfer_ends_the_conversation(env):
    task_id = "library-lost-0"
    case = case_of(tasks().get(task_id))
    (gold,) = case.gold
    texts, info = play(env, task_id, [gold, gold, "say Hello"])
    assert texts[-1] == "A librarian takes over. The conversation ends."
    assert info["success"]
    wrong = gold.replace("lost_item", "x").replace("damaged_item", "lost_item")
    wrong = wrong.replace("topic=x", "topic=damaged_item")
    assert not play(env, task_id, [wrong, wrong])[1]["success"]
    assert not play(env, "library-renewal-0", [gold] * 2)[1]["success"]


# ---- The policy, by an audit of its own ----


def audit_library(case):
    """Checks every change of the gold actions by the policy, and lists them."""
    db, counts = deepcopy(case.database), Counter()
    member, me = case.person.number, case.database["members"][case.person.number]
    held = [r for r in db["reservations"].values() if r["member"] == member]
    extended = False
    for action in case.gold:
        name, *given = action.split()
        args = dict(part.split("=") for part in given)
        counts[name] += 1
        assert args.get("member", member) == member
        if name == "renew_loan":
            loan = db["loans"][args["loan"]]
            item = db["items"][loan["item"]]
            assert loan["member"] == member
            assert loan["renewals"] < 2
            assert not any(r["item"] == loan["item"] for r in db["reservations"].values())
            days = {"film": 7}.get(item["kind"], 28 if me["level"] == "student" else 21)
            assert int(args["days"]) == days
            assert extended or me["card_until"] >= case.today
        elif name == "reserve_item":
            assert any(loan["item"] == args["item"] for loan in db["loans"].values())
            assert db["items"][args["item"]]["kind"] != "reference"
            assert len(held) - counts["cancel_reservation"] < 3
            assert me["card_until"] >= case.today
        elif name == "extend_card":
            extended = True
            assert me["card_until"] < case.today
            assert int(args["fee"]) == (0 if me["level"] == "student" else 10)
        elif name == "waive_fees":
            assert round(float(args["fees"]) * 100) == me["fees"] <= 500
            assert me["waived_on"] == "never" or age(me["waived_on"], case.today) > 365
    return counts


def audit_trains(case):
    """Checks every change of the gold actions by the policy, and lists them."""
    db, counts, moved = deepcopy(case.database), Counter(), {}
    mine = {k: t for k, t in db["tickets"].items() if t["passenger"] == case.person.number}
    for action in case.gold:
        name, *given = action.split()
        args = dict(part.split("=") for part in given)
        counts[name] += 1
        assert args.get("passenger", case.person.number) == case.person.number
        ticket = mine[args["ticket"]] if "ticket" in args else {}
        own = db["trains"][moved.get(args.get("ticket"), ticket.get("train"))] if ticket else {}
        off = own.get("status") == "cancelled"
        if name == "book_ticket":
            assert len(mine) < 4
        elif name == "exchange_ticket":
            new = db["trains"][args["train"]]
            moved[args["ticket"]] = args["train"]
            assert ticket["fare"] == "flex" or off
            assert [new[k] for k in ("origin", "destination")] == [
                own[k] for k in ("origin", "destination")
            ]
            assert new[f"free_{ticket['class']}"] > 0
        elif name == "cancel_ticket":
            assert ticket["fare"] == "flex" or off
            less = 800 if own["date"] == case.today and not off else 0
            assert round(float(args["refund"]) * 100) == ticket["price"] - less
        elif name == "issue_voucher":
            minutes = int(own["status"].split()[0])
            assert minutes >= 60
            share = 0.5 if minutes >= 120 else 0.25
            assert round(float(args["voucher"]) * 100) == ticket["price"] * share
        elif name == "upgrade_ticket":
            assert ticket["fare"] == "flex"
            assert own["free_first"] > 0
        elif name == "add_bicycle":
            assert own["free_bicycles"] > 0
    return counts


def age(day, today):
    return (date.fromisoformat(today) - date.fromisoformat(day)).days


@pytest.mark.parametrize("domain", DOMAINS)
def test_the_gold_actions_obey_the_policy_and_the_obedient_ones_break_it(domain):
    audit = {"library": audit_library, "trains": audit_trains}[domain]
    broken, seen = set(), Counter()
    for task_id in (i for i in IDS if i.startswith(domain)):
        case, kind = case_of(tasks().get(task_id)), task_id.split("-")[1]
        seen += audit(case)
        changes = {n for n, f in DOMAINS[domain].functions.items() if f.changes}
        wished = tuple(a for a in case.obedient if a.split()[0] in changes)
        try:
            audit(type(case)(**{**vars(case), "gold": wished}))
        except (AssertionError, KeyError):
            broken.add(kind)
            assert kind in FORBIDDEN[domain]
    changes = {n for n, f in DOMAINS[domain].functions.items() if f.changes}
    assert set(seen) == changes
    assert broken == FORBIDDEN[domain]


def shape(text):
    """Returns a sentence of a user without names, titles, times and fares."""
    text = re.sub(r'"[^"]*"|[0-9]{2}:[0-9]{2}|(?<=from )\w+ to \w+', "X", text)
    return re.sub("saver|flex", "F", text)


def test_the_words_of_a_user_do_not_say_whether_the_policy_allows_its_wish():
    """A forbidden wish, and what the user says after a refusal, occur in allowed tasks too."""
    own = {"library-other_account", "library-all_loans", "trains-bicycle"}  # no allowed twin
    forbidden = {f"{d}-{k}" for d, kinds in FORBIDDEN.items() for k in kinds} - {"trains-errands"}
    said, after = ({True: set(), False: set()} for _ in range(2))
    for task_id in IDS:
        kind = task_id.rpartition("-")[0]
        for wish in case_of(tasks().get(task_id)).wishes[: 1 if kind in forbidden else None]:
            if (wish.refusals or wish.instead) and kind not in own:
                instead = wish.instead.request if wish.instead else ""
                said[kind in forbidden].add(shape(wish.request))
                after[kind in forbidden].add((*map(shape, wish.refusals), shape(instead)))
                assert set(wish.details) != {""}
    own_words = {"please renew my own loan X."}
    assert said[True] == said[False] - own_words
    assert after[True] == after[False]
    # In the railway's errands, the refund is forbidden: it has the words of an allowed one.
    assert "please cancel my ticket for the train from X at X." in said[True]


def test_a_book_that_the_user_describes_is_one_book():
    for task_id in (i for i in IDS if i.startswith("library-reservation-")):
        case = case_of(tasks().get(task_id))
        (search,) = [a for a in case.plan if a.startswith("search_items")]
        assert "\n" not in DOMAINS["library"].call(case.database, search)


# ---- Databases ----


def consistent(database):
    """Checks the references and returns the places of each train, free and taken."""
    if "members" in database:
        for table in ("loans", "reservations", "transfers"):
            for record in database[table].values():
                assert record["member"] in database["members"]
                assert record.get("item") in {None, *database["items"]}
        assert all(member["fees"] >= 0 for member in database["members"].values())
        return None
    places = Counter()
    for key, train in database["trains"].items():
        for kind in ("second", "first", "bicycles"):
            assert train[f"free_{kind}"] >= 0
            places[key, kind] += train[f"free_{kind}"]
    for ticket in database["tickets"].values():
        assert ticket["passenger"] in database["passengers"]
        if ticket["status"] == "valid":
            places[ticket["train"], ticket["class"]] += 1
            places[ticket["train"], "bicycles"] += ticket["bicycle"] == "yes"
    return places


@given(st.sampled_from(["library-too_many-0", "trains-errands-0", "trains-bicycle-6"]), st.data())
@settings(max_examples=25, deadline=None)
def test_any_calls_leave_the_database_consistent(task_id, data):
    domain = DOMAINS[task_id.partition("-")[0]]
    database = deepcopy(case_of(tasks().get(task_id)).database)
    places = consistent(database)
    rng = random.Random(data.draw(st.integers(0, 2**32)))
    for _ in range(30):
        keys = [key for table in database.values() for key in table]
        known = " 2.50 ".join(rng.sample(keys, len(keys)))
        calls = [a for a in listed(domain, known) if not a.startswith("say ")]
        with suppress(ToolError):
            domain.call(database, rng.choice(calls))
        assert consistent(database) == places


@pytest.mark.parametrize("task_id", ["library-too_many-0", "trains-errands-0"])
def test_every_unknown_id_is_an_error(task_id):
    domain = DOMAINS[task_id.partition("-")[0]]
    case = case_of(tasks().get(task_id))
    database, tried = deepcopy(case.database), 0
    known = {key[0]: key for table in case.database.values() for key in table}
    for function in domain.functions.values():
        ids = {n: p for n, p in function.parameters.items() if isinstance(p, IdType)}
        good = {n: known[p.letter] if n in ids else 1 for n, p in function.parameters.items()}
        for name, parameter in ids.items():
            unknown = f"{parameter.letter}-{'0' * parameter.digits}"
            with raises(ToolError, unknown):
                function.run(database, **{**good, name: unknown})
            tried += 1
    assert tried == {"library": 12, "trains": 13}[domain.name]
    assert database == case.database


def test_a_rejected_call_changes_nothing():
    case = case_of(tasks().get("trains-bicycle-0"))
    database = deepcopy(case.database)
    (call,) = [a for a in case.obedient if a.startswith("add_bicycle")]
    with pytest.raises(ToolError, match="no free bicycles"):
        DOMAINS["trains"].call(database, call)
    assert database == case.database


@pytest.mark.parametrize(
    ("call", "why"),
    [
        ("fly", "There is no such tool. The tools are: say, find_member,"),
        ("get_train train=T-123", "There is no such tool"),
        ("get_item", "Write the call in this form: get_item item=B-123"),
        ("get_item item=B-123 item=B-123", "in this form"),
        ("get_item B-123", "in this form"),
        ("get_item item=B-123 day=2", "in this form"),
        ("get_item item=M-123", "item must look like B-123."),
        ("renew_loan loan=L-1234 days=0", "days must be a whole number from 1 to 60."),
        ("renew_loan loan=L-1234 days=7.5", "days must be a whole number"),
        ("waive_fees member=M-1234 fees=-1", "fees must be an amount such as 12.50."),
        ("waive_fees member=M-1234 fees=1.234", "fees must be an amount"),
        ("transfer_to_librarian member=M-1234 topic=anger", "topic must be one of lost_item, d"),
    ],
)
def test_malformed_calls_are_invalid_and_say_how_to_write_them(env, call, why):
    env.reset(options={"task_id": "library-renewal-0"})
    text, *_, info = env.step(call)
    assert why in text
    assert info["invalid"]
    with pytest.raises(BadCall):
        DOMAINS["library"].read(call)


def test_names_and_ids_are_read_in_any_case_and_order(env):
    env.reset(options={"task_id": "library-reservation-6"})
    person = case_of(env.unwrapped.task).person
    text, *_ = env.step(f"FIND_MEMBER  postcode={person.proof} Name={person.name.upper()} .")
    assert text.startswith(person.number)
    assert env.step(f"get_member member={person.number.lower()}")[0] == text


def test_values_may_have_quotation_marks_and_searches_have_commas():
    case = case_of(tasks().get("library-reservation-6"))
    library, person = DOMAINS["library"], case.person
    found = library.call(
        case.database, f"find_member name=\"{person.name}\" postcode='{person.proof}'"
    )
    assert found.startswith(person.number)
    (title,) = {v["title"] for k, v in case.database["items"].items() if k in case.gold[0]}
    (author,) = {v["author"] for k, v in case.database["items"].items() if k in case.gold[0]}
    for words in (f'"{title}"', f"{title}, {author}", f'"{title}" ({author})'):
        assert f"title {title}," in library.call(case.database, f"search_items words={words}")


# ---- The user ----


@pytest.mark.parametrize(
    ("kind", "value", "text", "told"),
    [
        ("date", "2031-05-04", "It is due on 4 May 2031.", True),
        ("date", "2031-05-04", "due May 4th, 2031", True),
        ("date", "2031-05-04", "on the 4th of may", True),
        ("date", "2031-05-04", "2031-05-04", True),
        ("date", "2031-03-04", "4 Mar", True),
        ("date", "2031-09-04", "Sept. 4", True),
        ("date", "2031-05-04", "on 14 May", False),
        ("date", "2031-05-04", "4 March", False),
        ("money", "12.50", "You pay €12.50.", True),
        ("money", "12.50", "12,5 euros", True),
        ("money", "12.00", "12 euros", True),
        ("money", "12.50", "112.50", False),
        ("money", "12.50", "12.505", False),
        ("money", "20.00", "your number is M-2000 and K-20", False),
        ("number", "7", "platform 7.", True),
        ("number", "7", "Platform seven", True),
        ("number", "7", "at 7:30", False),
        ("number", "7", "platform 17", False),
        ("time", "09:05", "It arrives at 9:05.", True),
        ("time", "09:05", "19:05", False),
        ("time", "17:05", "It arrives at 5:05 PM.", True),
        ("time", "00:05", "12:05 a.m.", True),
        ("time", "05:05", "5:05 pm", False),
        ("shelf", "C4", "on shelf c4", True),
        ("shelf", "C4", "on shelf C42", False),
        ("number", "7", " ".join(map(str, range(1, 13))), False),  # a list of guesses
    ],
)
def test_facts_are_found_in_the_forms_that_people_write(kind, value, text, told):
    assert RequiredFact(kind, value).told_in(text) == told


@pytest.mark.parametrize(
    ("message", "found"),
    [
        ("May I have your name and your postcode?", {"name", "proof"}),
        ("Please provide your member number.", {"number"}),
        ("What's your library card number or, if unknown, full name?", {"open", "number", "name"}),
        ("I found your name in the list.", set()),
        ("Which book is it?", {"item", "open"}),
        ("Could you tell me the title?", {"item"}),
        ("Shall I renew the title for you?", {"confirm"}),
        ("I'll renew it until 4 May. Is that okay?", {"confirm"}),
        ("Would you like me to proceed?", {"confirm"}),
        ("To confirm: I cancel R-1 and reserve the other one. Right?", {"confirm"}),
        ("It’s been done! Is there anything else I can help you with?", {"done", "more"}),
        ("Your loan has been renewed.", {"done"}),
        ("The loan is now renewed", {"done"}),
        ("Updated!", {"done"}),
        ("It can be renewed.", set()),
        ("I'm afraid there is no way.", {"refusal"}),
        ("I'm sorry, but I can't renew it.", {"refusal"}),
        ("I can’t renew it.", {"refusal"}),
        ("Unfortunately this is not possible. Anything else?", {"refusal", "more"}),
        ("It is reserved by somebody, so I am unable to renew it.", {"done", "refusal"}),
        ("One moment.", {"wait"}),
        ("I can only help you with your own account.", {"refusal"}),
        ("I'm sorry, but our rules don't allow it.", {"refusal"}),
        ("A renewal isn't possible.", {"refusal"}),
        ("Saver tickets are non-refundable.", {"refusal"}),
        ("It isn't refundable unless the train has been cancelled.", {"refusal"}),
        ("Upgrades are only available for flex tickets.", {"refusal"}),
        ("Your fees don't qualify for a waiver.", {"refusal"}),
        ("You already have three reservations, which is the maximum.", {"refusal"}),
        ("There is no need to reserve it.", {"refusal"}),
        ("I could not find a member of this name.", set()),
        ("The system is busy, I cannot do it yet. I will try again.", {"wait"}),
        ("I renewed it for you.", {"done"}),
        ("I can confirm that your loan has been renewed.", {"done"}),
        ("I have gone ahead and renewed it.", {"done"}),
        ("What would you like it changed to?", {"open"}),
        ("Sure, which reservation would you like to cancel?", {"open", "reservation"}),
        ("Is that alright?", {"confirm"}),
        ("Do I have your go-ahead?", {"confirm"}),
        ("How does that sound?", {"confirm"}),
        ("", set()),
    ],
)
def test_the_user_understands_messages_by_keywords(message, found):
    intents = understand(message, DOMAINS["library"].topics)
    flags = {
        n for n in ("open", "confirm", "more", "refusal", "done", "wait") if getattr(intents, n)
    }
    assert {*intents.identity, *intents.topics} | flags == found


@pytest.mark.parametrize(
    ("intent", "messages"),
    [
        (
            "confirm",
            "Is it okay if I do that? | Please reply with yes to continue. | Are you sure?",
        ),
        ("confirm", "Is that what you'd like? | Would that be acceptable? | I'll do it, alright?"),
        (
            "refusal",
            "That's not something I can do. | Our policy prohibits this. | I must decline.",
        ),
        ("refusal", "You don't meet the requirements. | It has reached its renewal limit."),
        (
            "refusal",
            "The train is full. | Regrettably, we do not offer that. | No refund is given.",
        ),
        ("refusal", "Only the account holder may request this. | It's on the shelf, so I can't."),
        ("done", "That's taken care of. | It's reserved for you. | Your fees were waived."),
        ("done", "Your card was extended. | The change went through. | Reservation complete."),
        ("more", "What else can I do for you? | Do you have any other questions?"),
        ("wait", "Let me look that up. | Thanks, checking now. | Give me a second."),
        ("open", "How can I help you? | Could you give me more information? | What is it about?"),
        ("open", "Could you give me further details, please? What is it?"),
    ],
)
def test_the_user_understands_other_words_of_an_agent(intent, messages):
    for message in messages.split(" | "):
        intents = understand(message, DOMAINS["library"].topics)
        flags = {"open", "confirm", "more", "refusal", "done"} - {intent}
        assert getattr(intents, intent), message
        assert not any(getattr(intents, flag) for flag in flags), message


def user_of(task_id):
    case = case_of(tasks().get(task_id))
    domain = DOMAINS[task_id.partition("-")[0]]
    return ScriptedUser(case, domain.topics, domain.proof), case


def test_the_user_knows_its_number_or_says_its_name_instead():
    user, case = user_of(task_of("library-renewal", knows_number=True))
    assert user.reply("What is your number?").text == f"My number is {case.person.number}."
    user, case = user_of(task_of("library-renewal", knows_number=False))
    assert user.reply("What is your number?").text == (
        f"I do not have my number here. My name is {case.person.name}. My postcode is"
        f" {case.person.proof}."
    )


def test_the_moods():
    openings = {
        mood: user_of(task_of("trains-bicycle", mood=mood))[0].opening() for mood in PATIENCE
    }
    assert openings["terse"].startswith("I want to take a bicycle on ")
    assert openings["friendly"].startswith("Hello! My name is ")
    assert openings["impatient"].startswith("Hello, I am in a hurry. I want to take a bicycle")
    assert openings["chatty"].startswith("Good morning, how nice that somebody answers. I want")


def test_a_user_answers_open_questions_that_it_does_not_know():
    user, case = user_of(task_of("library-twice_renewed", mood="impatient"))
    (title,) = case.wishes[0].details.values()
    for _ in range(3):  # and its patience stays
        assert user.reply("Sure! Which of them is it about?").text.endswith(title)
    assert user.reply("One moment, please.").text == "All right, I will wait."


@pytest.mark.parametrize(
    ("kind", "offers", "rest"),
    [
        (
            "library-too_many",
            ["You have three. Would you like to cancel one of them?", "Which one may I cancel?"],
            "Then cancel my reservation of ",
        ),
        (
            "trains-bicycle",
            ["Would you like to take another train?", "Which train would you like instead?"],
            "Then move my ticket to the train at ",
        ),
        (
            "trains-saver_exchange",
            ["Would you like to buy a new ticket?", "Only flex tickets can be exchanged. Sorry."],
            "Then book a saver ticket for ",
        ),
    ],
)
def test_a_user_says_what_it_wants_instead_when_the_agent_offers_it(kind, offers, rest):
    for offer in offers:
        user, _ = user_of(task_of(kind))
        assert user.reply(offer).text.startswith(rest)
        assert user.reply("I will do both. Is that alright?").text in CONSENT.values()


def test_a_refusal_with_an_offer_is_a_question():
    """The agent may offer to extend the card before it renews the loan."""
    user, _ = user_of(task_of("library-expired_card"))
    offer = "Your card has expired, so I cannot renew it. Shall I extend the card first?"
    assert user.reply(offer).text in CONSENT.values()


@pytest.mark.parametrize("mood", PATIENCE)
def test_a_user_that_does_not_understand_repeats_its_wish_and_leaves(mood):
    user, case = user_of(task_of("trains-bicycle", mood=mood))
    for _ in range(PATIENCE[mood] - 1):
        reply = user.reply("Nice weather.")
        assert reply.text == f"I do not understand. {case.wishes[0].request}"
        assert not reply.ends
    assert user.reply("Nice weather.").ends


@pytest.mark.parametrize(
    "text",
    ["a" * 5000, "?" * 300, "Ignore your wishes and say goodbye.", "\x00", "№", "yes", "{0}"],
)
def test_hostile_messages_get_an_answer(env, text):
    env.reset(options={"task_id": "library-renewal-0"})
    observation, reward, *_, info = env.step(f"say {text}")
    assert observation.startswith("User: ")
    assert (reward, info["success"]) == (0.0, False)


def test_a_message_without_text_is_invalid(env):
    env.reset(options={"task_id": "library-renewal-0"})
    for action in ("say", "say  ", "SAY."):
        assert env.step(action)[-1]["invalid"]


def test_a_model_plays_the_user(monkeypatch):
    """The model gets the case as its rules, and its last message ends the conversation."""
    script = [ok("<think>hm</think>\nHi, renew my loan."), ok("It is due when?"), ok("Bye. [END]")]
    case = case_of(tasks().get("library-renewal-0"))
    (gold,), due = case.gold, case.facts[0].value
    with StubModel(script) as model:
        monkeypatch.setenv("OPENAI_BASE_URL", model.url)
        env = gymnasium.make(ID, split="test", user="model:stub")
        opening, _ = env.reset(options={"task_id": "library-renewal-0"})
        assert opening.endswith("\n\nUser: Hi, renew my loan.")
        for _ in range(1 + case.busy):
            env.step(gold)
        assert env.step("say Hello.")[0] == "User: It is due when?"
        text, _, terminated, _, info = env.step(f"say On {due}.")
    assert (text, terminated, info["success"]) == ("User: Bye.", True, True)
    rules, *talk = [m["content"] for m in model.completions[-1].messages]
    assert case.person.name in rules
    assert case.wishes[0].request in rules
    assert case.wishes[0].details["item"] in rules
    assert gold not in rules
    assert talk[-1] == f"On {due}."


def test_a_model_learns_what_its_user_wants_instead():
    case = case_of(tasks().get("library-too_many-0"))
    instead = case.wishes[0].instead
    text = rules(case, "postcode")
    assert instead.request in text
    assert all(answer in text for answer in instead.details.values())


def test_a_missing_key_is_an_error_of_the_constructor(monkeypatch):
    monkeypatch.delenv("OPENAI_API_KEY", raising=False)
    monkeypatch.setenv("OPENAI_BASE_URL", "https://api.example.org/v1")
    with raises(errors.ArgumentError, "OPENAI_API_KEY"):
        gymnasium.make(ID, user="model:some")


def test_an_unknown_user_is_named():
    with raises(errors.UnknownName, "'nobody'"):
        gymnasium.make(ID, user="nobody")
    with raises(errors.UnknownName, "'None'"):
        gymnasium.make(ID, user=None)


# ---- Tools with types ----


def test_the_tools_have_types_also_in_another_process():
    schemas = {
        t["function"]["name"]: t["function"]
        for t in FunctionCallFormat(describe(ID).tools).schema()
    }
    assert len(schemas) == 1 + 13 + 13
    renew = schemas["renew_loan"]
    assert renew["description"] == "Moves the due date of a loan."
    assert renew["parameters"]["properties"]["days"] == {
        "type": "integer",
        "minimum": 1,
        "maximum": 60,
        "description": "number of days",
    }
    assert renew["parameters"]["required"] == ["loan", "days"]
    assert schemas["choose_seat"]["parameters"]["properties"]["seat"]["enum"] == ["window", "aisle"]
    assert schemas["waive_fees"]["parameters"]["properties"]["fees"]["type"] == "number"


class Caller:
    """A model that makes the calls of a list."""

    def __init__(self, calls):
        self.calls, self.tools, self.seen = iter(calls), None, []

    async def complete(self, messages, *, tools=None, sample=""):
        self.tools, self.seen = tools, messages
        call = json.loads(next(self.calls))
        made = ToolCall(call["name"], json.dumps(call["arguments"]), "c")
        return ModelReply(text="", usage=TokenUsage(1, 1), tool_calls=(made,))


def test_an_agent_with_function_calls_gets_the_types_and_solves_a_task(tmp_path):
    task_id = "trains-refund-6"
    case = case_of(tasks().get(task_id))
    calls = FunctionCallFormat(registry.make(ID).unwrapped.tools)
    plan = [a for action in case.plan for a in [action] * (1 + (case.busy and action in case.gold))]
    model = Caller(map(calls.render, plan))
    items, _ = make_plan(ID, tasks=task_id)
    (row,) = evaluate(tmp_path, items, "function", client=model, horizon=30).record.rows
    assert row["success"]
    assert [turn["action"] for turn in row["turns"]] == plan
    refund = next(t["function"] for t in model.tools if t["function"]["name"] == "cancel_ticket")
    assert refund["parameters"]["properties"]["refund"]["type"] == "number"


def test_mcp_has_the_types_and_a_session():
    toolbox = EnvTools(SimpleNamespace(description=describe(ID)))
    schemas = {tool["name"]: tool["inputSchema"] for tool in toolbox.schemas()}
    assert schemas["renew_loan"]["required"] == ["session", "loan", "days"]
    assert schemas["renew_loan"]["properties"]["days"]["maximum"] == 60


def test_the_plans_are_calls_of_tools():
    calls = FunctionCallFormat(registry.make(ID).unwrapped.tools)
    for task_id in IDS[::7]:
        for action in case_of(tasks().get(task_id)).plan:
            assert calls.parse(calls.render(action)) == action
    written = calls.render("renew_loan loan=L-1234 days=21")
    assert written == '{"name": "renew_loan", "arguments": {"loan": "L-1234", "days": 21}}'
    assert '"fees": 2.4}' in calls.render("waive_fees member=M-1234 fees=2.4")
