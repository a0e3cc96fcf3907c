"""Elementwise operators, casts, products, reductions, quantization, random numbers, signals."""
