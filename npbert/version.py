"""The version of npbert."""

__version__ = "0.1.0"
