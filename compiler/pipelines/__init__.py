"""The pipelines: one module for each kind of target."""
