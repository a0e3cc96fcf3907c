"""Batching (``vmap``): a region's operators on tensors with one more dimension, the first, in place of a loop."""

from mlc.dialects.batching import collectives, operators, regions  # their rules
from mlc.dialects.batching.walk import Batch, Batching, NotBatched

__all__ = ["Batch", "Batching", "NotBatched", "collectives", "operators", "regions"]
