"""Models: loading them, making a small one, and chat templates as tokens."""
