"""The tasks of the sites: templates, each with its oracle, and the files in WebArena's form that are made of them."""
