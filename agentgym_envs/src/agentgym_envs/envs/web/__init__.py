"""Web navigation through a real browser."""
