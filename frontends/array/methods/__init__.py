"""What Python and NumPy call on arrays: operators, conversions, methods."""
