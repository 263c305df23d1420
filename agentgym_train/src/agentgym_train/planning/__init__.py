"""Accounting of memory: what each card holds in a run, from shapes alone.

No weights are loaded. ``plan.py`` adds up the parts, ``switches.py`` looks for settings that fit.
"""
