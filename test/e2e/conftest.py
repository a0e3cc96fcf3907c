"""Fixtures of bad input, for every file here."""

from refusals import place, refuses

__all__ = ["place", "refuses"]
