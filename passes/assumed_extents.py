"""Assumed extents: the values of symbolic dimensions with which costs are compared at compile time.

A schedule assumes loops that are long enough for whole tiles. A memory plan assumes small extents, at which no single
buffer dominates; the placement order that it finds is used for all sizes. The assumption changes speed and memory only:
an artifact is correct for every value.
"""

from __future__ import annotations

SCHEDULED = 256  # points of a loop, where the costs of tiles are compared
LONG = 4096  # terms of a sum, where it is compared whether parts of SCHEDULED terms take less time
TYPICAL = 1024  # of a dimension, where the bytes that ranks send and hold are counted
PLANNED = 8  # of a dimension, for placing buffers; iterations of a loop, for counting its work
