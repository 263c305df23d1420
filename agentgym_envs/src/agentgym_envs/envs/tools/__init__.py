"""Function calls, a policy and a user."""
