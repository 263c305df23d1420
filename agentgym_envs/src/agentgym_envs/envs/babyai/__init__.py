"""BabyAI as text."""
