"""Layers: modules with the parameters, names and layouts of ``torch.nn``."""
