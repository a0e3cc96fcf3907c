"""Counter-based random numbers: a key and a position determine each. Source: JAX's ``jax.random``."""
