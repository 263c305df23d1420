"""Deep search: questions, a search engine, one answer."""
