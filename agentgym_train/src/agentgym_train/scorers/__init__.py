"""Scorers: plugins that change the rewards of episodes before an algorithm sees them."""
