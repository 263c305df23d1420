"""What people think of episodes: pairs of the same task, compared."""
