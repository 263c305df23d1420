"""The tasks of the sites: templates with oracles, and task files in WebArena's form.

The files are made from the templates.
"""
