"""Fixtures of bad input and of the command line, for every file here."""

from command_line import command_cache, mlc_command, model
from refusals import place, refuses

__all__ = ["command_cache", "mlc_command", "model", "place", "refuses"]
