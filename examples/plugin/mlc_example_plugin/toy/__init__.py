"""A toy accelerator: tiles of 8 × 8 floats in a scratchpad, a list of instructions, and a simulator in C."""
