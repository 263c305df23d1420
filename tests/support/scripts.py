"""Loads a Python file that is in no package, such as a benchmark or an example."""

import importlib.util


def load(path):
    """Returns the module of a file."""
    spec = importlib.util.spec_from_file_location(path.stem, path)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module
