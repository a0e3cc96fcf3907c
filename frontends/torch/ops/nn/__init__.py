"""Layers: activations, convolutions and pools, normalization, recurrent layers, resampling of images."""
