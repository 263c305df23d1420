"""Reporting: metrics, tables, learning curves and readable episodes."""
