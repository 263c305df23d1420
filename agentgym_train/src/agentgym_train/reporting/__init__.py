"""Reporting: metrics, tables, learning curves, and episodes as text."""
