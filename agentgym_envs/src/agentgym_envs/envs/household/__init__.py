"""Household: find, change and place objects in a house. The rules and the words are ALFWorld's."""
