"""Functions of neural networks on arrays: activations, convolutions, normalizations, attention, losses."""
