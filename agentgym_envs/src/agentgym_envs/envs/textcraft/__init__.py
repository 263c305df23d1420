"""TextCraft: gathering and crafting from lists of recipes."""
