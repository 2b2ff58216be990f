"""The version of the kit."""

__version__ = "0.1.0"
