"""The computed offsets of gathers, such as the pixels of a convolution: of several steps, and of neighbours."""
