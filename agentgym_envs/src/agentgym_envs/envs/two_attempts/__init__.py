"""Two attempts at a task of another environment in one episode."""
