"""Array programs, each written once for NumPy, JAX and mlc."""
