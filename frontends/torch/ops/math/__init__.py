"""Elementwise operators, contractions, reductions."""
