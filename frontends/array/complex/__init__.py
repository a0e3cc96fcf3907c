"""Complex arrays: pairs of real ones. Nothing below the array frontend knows complex numbers."""
