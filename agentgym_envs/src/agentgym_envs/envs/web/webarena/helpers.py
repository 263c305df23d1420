"""The functions that WebArena's ``func:`` locators call.

They ask the shop's interface or read a page.
"""

from collections.abc import Callable, Mapping
from typing import Any
from urllib.parse import quote, urlsplit

# The account of WebArena's shop, from its documentation.
ADMIN = {
    "username": "admin",
    "password": "admin1234",
}
ROLE = """name => {
  const account = "td[data-label='Account'] span.gl-avatar-labeled-sublabel";
  const people = [...document.querySelectorAll(account)];
  const index = people.findIndex(person => person.outerText === '@' + name);
  return document.querySelectorAll('td.col-max-role span')[index]?.outerText ?? '';
}"""


def make_helpers(urls: Mapping[str, str], request: Any) -> dict[str, Callable[..., str]]:
    """Returns the helpers by WebArena's names.

    Args:
        urls: the sites' addresses.
        request: Playwright's interface for requests, with the cookies of the episode.
    """

    def shop(path: str) -> Any:
        token = request.post(
            f"{urls['SHOPPING']}/rest/default/V1/integration/admin/token", data=ADMIN
        ).json()
        return request.get(
            f"{urls['SHOPPING']}/rest/V1/{path}", headers={"Authorization": f"Bearer {token}"}
        ).json()

    def latest_order() -> str:
        order = "searchCriteria[sortOrders][0]"
        query = f"{order}[field]=created_at&{order}[direction]=DESC&searchCriteria[pageSize]=1"
        newest = shop(f"orders?{query}")["items"][0]
        return f"{urls['SHOPPING']}/sales/order/view/order_id/{int(newest['increment_id'])}/"

    def latest_review(sku: str) -> Any:
        reviews = shop(f"products/{quote(sku)}/reviews")
        return reviews[-1] if reviews else {"nickname": "", "ratings": [{"percent": ""}]}

    def post_url(url: str) -> str:
        whole = urlsplit(url)
        parts = whole.path.split("/")  # "", "f", the forum, the post, its title, ...
        return (
            f"{whole.scheme}://{whole.netloc}/f/{parts[2]}/{parts[3]}/"
            if parts[1:2] == ["f"] and len(parts) >= 4
            else url
        )

    def role(page: Any, name: str) -> str:
        from playwright.sync_api import Error

        try:
            return str(page.evaluate(ROLE, name))
        except Error:  # the page does not list members
            return ""

    return {
        "shopping_get_latest_order_url": latest_order,
        "shopping_get_sku_latest_review_author": lambda sku: str(latest_review(sku)["nickname"]),
        "shopping_get_sku_latest_review_rating": lambda sku: str(
            latest_review(sku)["ratings"][0]["percent"]
        ),
        "reddit_get_post_url": post_url,
        "gitlab_get_project_memeber_role": role,
    }
