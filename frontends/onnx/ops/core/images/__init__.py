"""Resize, sampling and pooling of regions, boxes, decoding."""
