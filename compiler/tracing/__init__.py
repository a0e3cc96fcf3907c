"""Traced Python functions: compiled programs of them, and of arrays that are evaluated line by line."""
