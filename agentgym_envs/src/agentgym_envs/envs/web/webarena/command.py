"""``agentgym webarena``: prepares the sites of WebArena."""

from pathlib import Path
from typing import Annotated

import typer

from agentgym_envs.envs.web.webarena.config import read_tasks, site_urls
from agentgym_envs.envs.web.webarena.login import ACCOUNTS, SiteAccount, sites_of, write_logins
from agentgym_envs.errors import ArgumentError, EnvFailure, EnvRaised

Config = Annotated[
    str | None,
    typer.Option(
        help=(
            "The tasks: test.raw.json, a folder, or libwebarena. Default: the variable"
            " WEBARENA_CONFIG."
        )
    ),
]
Folder = Annotated[
    Path,
    typer.Option(help="Base folder of the tasks' paths, such as ./.auth/shopping_state.json."),
]
Users = Annotated[
    list[str] | None,
    typer.Option(
        "--account",
        help=(
            "An account, such as shopping=user:password; can be repeated. Default: the accounts"
            " that WebArena publishes."
        ),
    ),
]
Browser = Annotated[
    str | None, typer.Option(help="The browser's program. Default: the first that is found.")
]


def login(
    config: Config = None, folder: Folder = Path(), account: Users = None, browser: Browser = None
) -> None:
    """Signs in at the sites and writes the login files that the tasks name.

    The addresses come from the variables SHOPPING, SHOPPING_ADMIN, REDDIT and GITLAB. A file is
    left out if an address is missing.
    """
    urls, accounts = site_urls(), {**ACCOUNTS, **dict(_account(text) for text in account or ())}
    states = sorted(
        {task["storage_state"] for task in read_tasks(config) if task.get("storage_state")}
    )
    ready = [state for state in states if all(site.upper() in urls for site in sites_of(state))]
    failed: list[str] = []
    for state in states:
        if state in ready:
            try:
                (file,) = write_logins(folder, [state], urls, accounts, browser)
            except EnvFailure as error:  # go on with the other sites
                failed.append(str(error))
                typer.echo(f"{folder / state}: {error}")
                continue
            typer.echo(f"{file}: signed in")
        else:
            missing = [site.upper() for site in sites_of(state) if site.upper() not in urls]
            typer.echo(f"{folder / state}: left out, {' and '.join(missing)} not set")
    if failed:
        raise EnvRaised(
            f"{len(failed)} of {len(ready)} login files were not written; the first reason:"
            f" {failed[0]}"
        )
    if not ready:
        raise ArgumentError(
            "no login file was written: set the addresses of the sites, such as"
            " SHOPPING=http://shop.example:7770"
        )


def _account(text: str) -> tuple[str, SiteAccount]:
    """Reads ``site=user:password``."""
    site, _, pair = text.partition("=")
    user, colon, password = pair.partition(":")
    if site not in ACCOUNTS or not (user and colon and password):
        raise ArgumentError(
            f"--account {site}=… must be site=user:password; the sites are {', '.join(ACCOUNTS)}"
        )
    return site, ACCOUNTS[site]._replace(user=user, password=password)
