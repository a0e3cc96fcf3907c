"""Operators that make, move, select, read and write elements."""
