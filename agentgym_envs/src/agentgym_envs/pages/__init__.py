"""Self-contained web pages, and the style and scripts that the report and the comparison page share."""
