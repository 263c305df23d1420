"""Lists of posts, with their orders and filters."""

from typing import Any

from flask import flash, redirect, render_template, request, session

from agentgym_websites.site import TODAY, field, page, user, value, where

NOW = f"{TODAY} 12:00"
ORDERS = {
    "hot": ("Hot", f"score / (julianday('{NOW}') - julianday(written) + 2.0) DESC, p.id"),
    "new": ("Newest", "written DESC, p.id"),
    "top": ("Highest score", "score DESC, p.id"),
    "controversial": (
        "Controversial",
        "1.0 * (score + 2 * downs) * min(score + downs, downs) / max(score + downs, downs, 1) DESC, p.id",
    ),
    "old": ("Oldest", "written, p.id"),
    "talk": ("Most comments", "comments DESC, p.id"),
}
RANGES = {
    "day": ("Past 24 hours", "-1 days"), "week": ("Past week", "-7 days"), "month": ("Past month", "-1 months"),
    "quarter": ("Past 3 months", "-3 months"), "half": ("Past 6 months", "-6 months"),
}  # fmt: skip
SORTS = [(key, label) for key, (label, _) in ORDERS.items()]
SINCE = [("", "All time"), *((key, label) for key, (label, _) in RANGES.items())]
TABLES = "posts p JOIN people a ON a.id = author_id JOIN communities c ON c.id = community_id WHERE removed = 0 AND "


def viewer() -> int:
    """Returns the id of the signed-in person, or 0 without one."""
    return int(session.get("user", 0))


def columns() -> str:
    """Returns the columns of a post that a page shows.

    They include the viewer's vote and whether the viewer has saved the post.
    """
    me = viewer()
    return (
        "p.*, a.name AS author, c.name AS community,"
        f" (SELECT vote FROM votes v WHERE v.person_id = {me} AND v.post_id = p.id AND v.comment_id = 0) AS mine,"
        f" EXISTS (SELECT 1 FROM saved s WHERE s.person_id = {me} AND s.post_id = p.id AND s.comment_id = 0) AS kept"
    )


def feed(
    template: str, conditions: dict[str, Any], first: str = "new", pinned: str = "", **more: Any
) -> str:
    """Shows the posts that fit, with the order and filters of the address.

    Args:
        template: template of the page.
        conditions: see :func:`where`.
        first: order if the address has none.
        pinned: SQL that comes before any order.
        **more: further values for the template.
    """
    start = RANGES.get(request.args.get("time", ""), ("", None))[1]
    narrowed = {f"written >= datetime('{NOW}', ?)": start, "flair = ?": request.args.get("flair")}
    condition, values = where(conditions | narrowed)
    chosen = request.args.get("sort", first)
    order = ORDERS.get(chosen, ORDERS[first])[1]
    found = page(columns(), TABLES + condition, pinned + order, values, size=15)
    return render_template(template, found=found, sorts=SORTS, chosen=chosen, since=SINCE, **more)


def moderates(community: int) -> bool:
    """Returns whether the signed-in person moderates a community."""
    return bool(
        value(
            "SELECT 1 FROM moderators WHERE person_id = ? AND community_id = ?", user(), community
        )
    )


def done(message: str, address: str, **told: Any) -> Any:
    """Ends the action of a button.

    A script gets the new state. Without a script, the page with the button is shown again.

    Args:
        message: message for a person.
        address: page to show if the form names none.
        **told: state for a script.
    """
    if request.accept_mimetypes.best == "application/json":
        return told
    flash(message)
    target = field("back")
    return redirect(target if target.startswith("/") and not target.startswith("//") else address)
