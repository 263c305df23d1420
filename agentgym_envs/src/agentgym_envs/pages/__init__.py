"""Self-contained web pages, and the shared style and scripts of report and comparison page."""
