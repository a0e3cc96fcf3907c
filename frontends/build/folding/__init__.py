"""What is known while a module is built: constant folding, literals, bounds of indices."""
