"""Control flow that stays in the compiled model: loops, branches, scans; and its unrolling."""
