"""Five web sites of our own: shop, shop admin, forum, code host and map."""

__version__ = "0.1.0"
