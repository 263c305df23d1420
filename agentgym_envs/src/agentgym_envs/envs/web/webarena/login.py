"""Logins of WebArena's sites: signs in through the pages and writes the tasks' files."""

import json
import os
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from types import MappingProxyType
from typing import Any, NamedTuple

from agentgym_envs.errors import ArgumentError, EnvRaised


class SiteAccount(NamedTuple):
    """A user of a site, and the page on which the user signs in."""

    user: str
    password: str
    page: str


ACCOUNTS: Mapping[str, SiteAccount] = MappingProxyType(
    {
        "shopping": SiteAccount("emma.lopez@gmail.com", "Password.123", "/customer/account/login/"),
        "shopping_admin": SiteAccount("admin", "admin1234", ""),
        "reddit": SiteAccount("MarvelsGrantMan136", "test1234", "/login"),
        "gitlab": SiteAccount("byteblaze", "hello1234", "/users/sign_in"),
    }
)
"""The accounts that WebArena publishes for its sites, by site."""
PASSWORD = "input[type=password]:visible"
USER = "form:has(input[type=password]) input:visible:is(:not([type]), [type=text], [type=email])"
SECONDS = 60


def sites_of(state: str) -> list[str]:
    """Returns the sites of a login file.

    >>> sites_of(".auth/gitlab.reddit_state.json")
    ['gitlab', 'reddit']

    Raises:
        ArgumentError: the name has another form, or names a site without accounts.
    """
    sites = Path(state).name.removesuffix("_state.json").split(".")
    unknown = [site for site in sites if site not in ACCOUNTS]
    if unknown or not state.endswith("_state.json"):
        raise ArgumentError(
            f"{state!r} must be named after its sites, such as shopping_state.json; known are"
            f" {', '.join(ACCOUNTS)}"
        )
    return sites


def log_in(page: Any, url: str, account: SiteAccount) -> None:
    """Signs in on a page of Playwright, through the site's own form.

    Args:
        page: a page of the context to sign in.
        url: the site's address.
        account: the user's account.

    Raises:
        EnvRaised: the site cannot be reached, shows no such form, or refuses the user.
    """
    from playwright.sync_api import Error

    where = url.rstrip("/") + account.page
    try:
        page.goto(where)
        page.locator(USER).first.fill(account.user)
        page.locator(PASSWORD).first.fill(account.password)
        page.locator(PASSWORD).first.press("Enter")
        page.locator(PASSWORD).first.wait_for(state="hidden")
        page.wait_for_load_state("networkidle")
    except Error as error:
        shown = " ".join(error.message.splitlines()[:1])
        raise EnvRaised(f"the user {account.user!r} cannot sign in at {where}: {shown}") from error


def write_logins(
    folder: Path,
    states: Iterable[str],
    urls: Mapping[str, str],
    accounts: Mapping[str, SiteAccount] = ACCOUNTS,
    browser: str | None = None,
) -> list[Path]:
    """Signs in and writes login files; returns their paths.

    Args:
        folder: base folder of the names.
        states: names of files as tasks write them, such as ``./.auth/shopping_state.json``.
        urls: addresses of the sites by name, such as ``SHOPPING``.
        accounts: accounts by site.
        browser: the browser's program; by default the first that is found.

    Raises:
        EnvRaised: a site does not sign the user in.
        ArgumentError: a name or an address is missing.
    """
    return [_write(folder / state, sites_of(state), urls, accounts, browser) for state in states]


def address(site: str, urls: Mapping[str, str]) -> str:
    """Returns the address of a site.

    Raises:
        ArgumentError: the address is not set.
    """
    if site.upper() not in urls:
        raise ArgumentError(
            f"the address of {site} is not set: set the environment variable {site.upper()}"
        )
    return urls[site.upper()]


def _open(session: Any, url: str) -> None:
    """Opens a site once, so that an unreachable server is reported before the form's time limit."""
    from agentgym_envs.envs.web.connection import CommandRefused

    try:
        session.open(url)
    except CommandRefused as error:
        raise EnvRaised(f"no login at {url}: {error}") from error


def _write(
    file: Path,
    sites: Sequence[str],
    urls: Mapping[str, str],
    accounts: Mapping[str, SiteAccount],
    browser: str | None,
) -> Path:
    """Signs in at all sites of a file in one context; only the owner can read the file."""
    from agentgym_envs.envs.web.chromium import BrowserOptions, process
    from agentgym_envs.envs.web.session import BrowserSession

    places = [address(site, urls) for site in sites]
    chromium = process.take(BrowserOptions(browser))
    session = BrowserSession(chromium, lambda request: True, SECONDS)
    try:
        with session.deadline(SECONDS * len(sites)):
            for site, url in zip(sites, places, strict=True):
                _open(session, url)
                log_in(session.page, url, accounts[site])
            state = session.context.storage_state()
    finally:
        session.close()
        process.give_back(chromium)
    file.parent.mkdir(parents=True, exist_ok=True)
    with open(
        os.open(file, os.O_CREAT | os.O_TRUNC | os.O_WRONLY, 0o600), "w", encoding="utf-8"
    ) as out:
        json.dump(state, out)
    return file
