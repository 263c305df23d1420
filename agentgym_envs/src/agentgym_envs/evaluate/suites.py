"""Named task lists, evaluated family by family: ``agentgym_envs.suites["agentgym-rl"]``.

The list "agentgym-rl" has the scenarios, families and counts of the paper's tables (Xi et al.,
2025). Which tasks the paper took is not known to us: these are as many from our test split (then
from dev, where test has too few), spread evenly.

The list "classic" has tasks by the rules of ALFWorld, WebShop and tau-bench. The household families
have the counts of ALFWorld's unseen games.
"""

import os
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from agentgym_envs import registry
from agentgym_envs.errors import ArgumentError
from agentgym_envs.tasks import matching, spread

STAND_IN = "embedded questions with as many hops; pass the data set's own file to evaluate on it"
OUR_ROOMS = "without games=FOLDER, embedded tasks by ALFWorld's rules; with it, ALFWorld's own"
OUR_PRODUCTS = "without products=FILE, an embedded catalogue by WebShop's rules; with it, WebShop's"
OUR_DOMAINS = "domains of this package in the form of tau-bench, with a scripted user"
OUR_SITES = "our own sites; set WEBARENA_CONFIG and the sites' addresses to evaluate on WebArena"


@dataclass(frozen=True)
class SuiteFamily:
    """One row of a table: tasks that are reported together.

    Attributes:
        scenario: what kind of environment.
        name: the paper's.
        count: tasks.
        env_id: the environment.
        patterns: globs of task ids; ``count`` of what they match, spread evenly, are the tasks.
        note: an explanation for readers of the table.
    """

    scenario: str
    name: str
    count: int
    env_id: str
    patterns: tuple[str, ...] = ("*",)
    note: str = ""

    def task_ids(self, **kwargs: Any) -> tuple[str, ...]:
        """Returns the task ids.

        ``questions`` of the user replace the patterns. Of ``games`` or ``products`` of the user,
        the whole test split is played.
        """
        if "questions" in kwargs:
            return tuple(spread(self._make(kwargs).task_ids, self.count))
        tasks = self._make(kwargs).task_set
        if kwargs.keys() & {"games", "products"}:
            return matching(tasks.ids("test"), self.patterns)
        chosen: list[str] = []
        for split in ("test", "dev"):
            chosen += spread(matching(tasks.ids(split), self.patterns), self.count - len(chosen))
        return tuple(chosen)

    def _make(self, kwargs: dict[str, Any]) -> Any:
        if "split" in kwargs:
            raise ArgumentError(
                f"split={kwargs['split']!r} cannot be set for {self.name}: a suite has its own"
                " splits. Leave it out"
            )
        return registry.make(self.env_id, split="test", **kwargs).unwrapped


def whole_file(keywords: Mapping[str, Any]) -> dict[str, Any]:
    """Makes every question of a user's file a test task.

    An environment outside a suite splits the file.
    """
    path = keywords.get("questions")
    return {
        **keywords,
        **({"questions": {"test": path}} if isinstance(path, str | os.PathLike) else {}),
    }


def _families() -> tuple[SuiteFamily, ...]:
    from agentgym_envs.envs.babyai.tasks import FAMILIES as BABYAI
    from agentgym_envs.envs.scienceworld.tasks import FAMILIES as SCIENCE
    from agentgym_envs.envs.web.webarena.config import CONFIG as WEBARENA

    hosted = bool(os.environ.get(WEBARENA))
    web = [
        ("E-commerce", 15, ("shopping-*",), ("shop-*",)),
        ("CMS", 15, ("shopping_admin-*",), ("admin-*",)),
        ("Maps", 10, ("map-*",), ("map-*",)),
        ("GitLab and Reddit", 10, ("gitlab*", "reddit*"), ("code-*", "forum-*")),
    ]
    search = [
        ("NQ", 50, ("hop1-country-*",)),
        ("TriviaQA", 50, ("hop1-capital-*", "hop1-year-*")),
        ("PopQA", 50, ("hop1-currency-*", "hop1-symbol-*")),
        ("HotpotQA", 50, ("hop2-capital-of-country-of-*",)),
        ("2Wiki", 50, ("hop2-domain-*",)),
        ("Bamboogle", 50, ("hop2-inhabitants-*", "hop2-symbol-after-*")),
        ("MuSiQue", 100, ("hop3-*",)),
    ]
    science = {"Measure": 53, "Test-Conductivity": 83, "Find": 44, "Chem-Mix": 5, "Lifespan": 15}
    return (
        *[
            (
                SuiteFamily("web", name, count, "agentgym/WebArena-v1", theirs)
                if hosted
                else SuiteFamily("web", name, count, "agentgym/WebSites-v1", ours, note=OUR_SITES)
            )
            for name, count, theirs, ours in web
        ],
        *[
            SuiteFamily("search", name, n, "agentgym/Search-v1", patterns, note=STAND_IN)
            for name, n, patterns in search
        ],
        *[
            SuiteFamily("textcraft", f"Depth {d}", n, "agentgym/TextCraft-v2", (f"depth{d}-*",))
            for d, n in enumerate((31, 41, 25, 3), 1)
        ],
        *[
            SuiteFamily(
                "babyai",
                name,
                5 * len(levels),
                "agentgym/BabyAI-v2",
                tuple(f"{level}-[0-4]" for level in levels),
            )
            for name, levels in BABYAI.items()
        ],
        *[
            SuiteFamily(
                "scienceworld",
                name,
                n,
                "agentgym/ScienceWorld-v2",
                tuple(f"{task}-[0-9]*" for task in SCIENCE[name]),
            )
            for name, n in science.items()
        ],
    )


def _classic() -> tuple[SuiteFamily, ...]:
    unseen = {
        "Pick": ("pick_and_place_simple", 24),
        "Look": ("look_at_obj_in_light", 18),
        "Clean": ("pick_clean_then_place_in_recep", 31),
        "Heat": ("pick_heat_then_place_in_recep", 23),
        "Cool": ("pick_cool_then_place_in_recep", 21),
        "Pick two": ("pick_two_obj_and_place", 17),
    }
    return (
        *[
            SuiteFamily("household", name, n, "agentgym/Household-v0", patterns, OUR_ROOMS)
            for name, (kind, n) in unseen.items()
            # ALFWorld's own games are in folders.
            for patterns in [(f"{kind}-*", f"*/{kind}-*")]
        ],
        SuiteFamily("shop", "Shop", 360, "agentgym/Shop-v0", note=OUR_PRODUCTS),
        *[
            SuiteFamily("tools", name, 84, "agentgym/Tools-v0", (f"{domain}-*",), OUR_DOMAINS)
            for name, domain in (("Library", "library"), ("Railway", "trains"))
        ],
    )


suites: dict[str, tuple[SuiteFamily, ...]] = {"agentgym-rl": _families(), "classic": _classic()}
