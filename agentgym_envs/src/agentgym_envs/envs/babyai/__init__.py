"""BabyAI as a text environment."""
