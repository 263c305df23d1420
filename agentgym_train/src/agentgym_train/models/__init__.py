"""Models: loading, a small model from scratch, and chat templates as tokens."""
