"""Twenty Questions."""
