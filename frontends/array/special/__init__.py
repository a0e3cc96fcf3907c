"""Special functions: gamma functions, error functions, Bessel functions, entropies."""
