"""WebArena on the user's own servers."""
