"""The pipelines: one module for each kind of target, whose stages have the same names."""

STAGES = ("import", "graph", "layout", "fuse", "kernel", "schedule", "tile", "loops", "plan", "code")
"""The names of the stages, in order; ``--emit`` stops after one."""
