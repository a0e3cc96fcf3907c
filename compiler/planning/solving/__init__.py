"""Solvers of discrete problems with costs of options and of pairs of options: reduction, integer program, descent."""
