"""Elimination, norms and variances."""
