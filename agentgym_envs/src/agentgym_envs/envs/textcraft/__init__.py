"""TextCraft: gather and craft items from lists of recipes."""
