"""Constant masks that are band matrices: conditions of domains, else comparisons of iterators (schedule stage)."""
