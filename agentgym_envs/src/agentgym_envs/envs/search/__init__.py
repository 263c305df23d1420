"""Deep search: questions, a search engine and one answer per episode."""
