"""Convolutions, pools, normalizations, recurrent cells."""
