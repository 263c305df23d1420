"""Train tickets."""
