"""Environments with the rules of LMRL-Gym, for its clients in AgentGym."""
