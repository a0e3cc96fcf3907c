"""Resampling: resize, sampling on grids and in regions; boxes and decoding of images."""
