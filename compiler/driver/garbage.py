"""Garbage collection (of reference cycles, by CPython's ``gc``) is paused while passes run.

IR is cyclic: an operation refers to its results, and these to it. A collection visits the whole module and finds
little; together they take a fifth of the time of a training step's passes. The cycles that passes drop are collected
after them.
"""

from __future__ import annotations

import gc
from collections.abc import Iterator
from contextlib import contextmanager


@contextmanager
def paused_collection() -> Iterator[None]:
    """No automatic collection during the ``with``, of one thread at a time; what was off before stays off."""
    was_on = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if was_on:
            gc.enable()
