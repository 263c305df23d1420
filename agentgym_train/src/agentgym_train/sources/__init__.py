"""Sources: provide the episodes of a step."""
