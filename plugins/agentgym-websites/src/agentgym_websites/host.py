"""Serves the five sites, within the process or on ports.

The databases are reset in milliseconds.
"""

import sqlite3
import threading
from collections.abc import Callable, Iterator, Mapping
from functools import cache, partial
from typing import Any
from urllib.parse import urlsplit

from flask import Flask
from werkzeug.serving import make_server

from agentgym_envs.envs.web.embedded import ProxyReply, ProxyRequest, SiteHost, wsgi_reply
from agentgym_websites.changes import Changes, differences, side_effects
from agentgym_websites.code import code
from agentgym_websites.forum import forum
from agentgym_websites.map import map as map_site
from agentgym_websites.packed import FILL, PACKED, file_of, unpack
from agentgym_websites.shop import admin, shop
from agentgym_websites.site import (
    DATABASE,
    HOSTS,
    ORIGINS,
    Site,
    open_database,
    signed_in,
)

SITES: Mapping[str, Site] = {m.SITE.name: m.SITE for m in (shop, admin, forum, code, map_site)}
CREATE: Mapping[str, Callable[[], Flask]] = {
    m.SITE.name: m.create_app for m in (shop, admin, forum, code, map_site)
}


@cache
def application(name: str) -> Flask:
    """Returns a site's application, shared by all episodes of the process."""
    return CREATE[name]()


@cache
def snapshot(tables: str) -> bytes:
    """Returns a database in its state at the start of every episode."""
    connection = open_database()
    if tables in PACKED:
        unpack(file_of(tables).read_bytes(), connection)
    else:
        FILL[tables](connection)
    connection.execute("VACUUM")
    content = connection.serialize()
    connection.close()
    return content


class Host(SiteHost):
    """The sites of one episode, with separate databases.

    Attributes:
        databases: the open databases, by the name of their tables.
    """

    def __init__(self) -> None:
        self.databases: dict[str, sqlite3.Connection] = {}
        self._names = {urlsplit(origin).netloc: name for name, origin in ORIGINS.items()}

    def database(self, tables: str) -> sqlite3.Connection:
        """Returns a database of this episode; the first request opens it."""
        if tables not in self.databases:
            self.databases[tables] = open_database(snapshot(tables))
        return self.databases[tables]

    def serve(self, request: ProxyRequest) -> ProxyReply | bool:
        """Answers a request to one of the sites; False for any other address."""
        url = urlsplit(request.url)
        name = self._names.get(url.netloc)
        if name is None or url.scheme != "http":
            return False
        state = {DATABASE: self.database(SITES[name].tables), HOSTS: ORIGINS}
        return wsgi_reply(application(name), request, **state)

    def cookies(self) -> list[dict[str, Any]]:
        """Returns the cookies of the people who are signed in when an episode starts."""
        return [
            {
                "name": f"session_{name}",
                "value": signed_in(application(name), site.user),
                "url": ORIGINS[name],
            }
            for name, site in SITES.items()
        ]

    def changes(self) -> dict[str, Changes]:
        """Returns the differences of the databases from the start of the episode."""
        found = {
            tables: differences(connection, snapshot(tables))
            for tables, connection in self.databases.items()
        }
        return {tables: changes for tables, changes in found.items() if changes}

    def query(self, locator: str) -> str:
        """Answers ``tables:sql``: each row is a line."""
        tables, _, sql = locator.partition(":")
        return "\n".join(" | ".join(map(str, row)) for row in self.database(tables).execute(sql))

    def side_effects(self, wanted: Mapping[str, Any]) -> list[str]:
        """Returns the tables whose changes differ from those that a task wants."""
        return side_effects(self.changes(), wanted)

    def restore(self) -> None:
        """Discards all changes: every database is again in its first state."""
        for connection in self.databases.values():
            connection.close()
        self.databases.clear()


class Servers:
    """The sites on ports of this machine, for any browser.

    All visitors share the databases. Closing the servers discards the changes.

    Args:
        address: address to listen on.
        port: port of the first site; the other sites use the next ports. 0 chooses free ports.

    Attributes:
        origins: the address of each site.
    """

    def __init__(self, address: str = "127.0.0.1", port: int = 0):
        self.host, self._lock = Host(), threading.Lock()
        answers = [partial(self._answer, name) for name in SITES]
        self._servers = [
            make_server(address, port and port + i, answer, threaded=True)
            for i, answer in enumerate(answers)
        ]
        self.origins = {
            name: f"http://{address}:{server.port}"
            for name, server in zip(SITES, self._servers, strict=True)
        }
        for server in self._servers:
            threading.Thread(target=server.serve_forever, daemon=True).start()

    def _answer(self, name: str, environ: dict[str, Any], start: Any) -> list[bytes]:
        with self._lock:
            environ |= {DATABASE: self.host.database(SITES[name].tables), HOSTS: self.origins}
            return list(application(name)(environ, start))

    def logins(self) -> Iterator[tuple[str, str, str, str]]:
        """Yields the title of each site, its address, and the name and password of its user."""
        for name, site in SITES.items():
            login = self.host.database(site.tables).execute(
                f"SELECT login, password FROM ({site.people}) WHERE id = ?", (site.user,)
            )
            yield site.title, self.origins[name], *login.fetchone()

    def close(self) -> None:
        """Stops listening and discards the databases."""
        for server in self._servers:
            server.shutdown()
            server.server_close()
        self.host.restore()
