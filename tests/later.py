"""Large libraries that a test compares with: imported when one is first used.

Each process of pytest-xdist collects all tests and runs some of them: to import torch takes as long as many tests.
"""

import importlib
import importlib.util

import pytest


class Later:
    """A module that is imported when something of it is asked for."""

    def __init__(self, name):
        self._name = name

    def __getattr__(self, name):
        if name.startswith("_"):  # pytest asks for such names of all that stands in a file
            raise AttributeError(name)
        return getattr(importlib.import_module(self._name), name)


def needs(name, install):
    """Without the library all tests of the file are skipped, and told to `pip install` this."""
    library = name.partition(".")[0]
    if importlib.util.find_spec(library) is None:
        pytest.skip(f"{library} is not installed: pip install {install}", allow_module_level=True)


def later(name, install):
    """The module, which the tests of the file need."""
    needs(name, install)
    return Later(name)
