"""Collectives on arrays, published as ``mlc.comm``."""
