"""Operators of one's own: statements written in Python."""
