"""The array frontend: traces Python functions on arrays, and imports a trace as a graph module."""
