"""The forum."""

from flask import Flask

from agentgym_websites.forum.data import ME
from agentgym_websites.forum.reading import add_reading
from agentgym_websites.forum.writing import add_writing
from agentgym_websites.site import Site, make_app

SITE = Site(
    name="forum",
    title="Commonplace",
    colour="#b4471f",
    tables="forum",
    people="SELECT id, name, name AS login, password FROM people",
    places=(
        ("Communities", "communities"),
        ("Submit", "submit"),
        ("Saved", "saved"),
        ("My page", "my_page"),
        ("Settings", "settings"),
    ),
    user=ME,
)


def create_app() -> Flask:
    """Returns the application."""
    app = make_app(SITE)
    add_reading(app)
    add_writing(app)
    return app
