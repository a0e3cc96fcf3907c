"""Tensors made, moved, read and written."""
