"""Transformations of functions on arrays: derivatives, batching, control flow (whose bodies are traced functions)."""
