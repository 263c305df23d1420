"""Learning: streams, advantages, losses and the update."""
