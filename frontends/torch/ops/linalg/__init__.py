"""Linear algebra: decompositions, factors, what they solve."""
