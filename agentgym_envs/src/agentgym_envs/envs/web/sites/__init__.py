"""Five web sites of our own: shop, shop admin, forum, code host and map."""
