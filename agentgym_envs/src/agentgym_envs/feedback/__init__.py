"""Human feedback: people compare pairs of episodes of the same task."""
