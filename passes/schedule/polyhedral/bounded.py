"""A limit on isl's operations: some operations on integer sets take exponential time, and mlc must not hang on any
kernel."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

import islpy as isl

from mlc.dialects import kernel
from mlc.dialects.poly import ScheduleError

ISL_OPERATIONS = 50_000_000
"""The most isl operations for one kernel in one pass; the largest kernels of the benchmarks need less than a
hundredth."""


class IslLimit(ScheduleError):
    """isl needs too many operations for a kernel's schedule."""


@contextmanager
def bounded(fn: kernel.FuncOp, stage: str, operations: int) -> Iterator[None]:
    """Context manager that limits isl's operations on a kernel; raises IslLimit after ``operations`` of them."""
    context = isl.DEFAULT_CONTEXT
    context.reset_operations()
    context.set_max_operations(operations)
    try:
        yield
    except isl.Error as error:
        if not _exhausted():
            raise
        raise IslLimit(f"kernel @{fn.sym_name.data}: {stage} needs more than {operations} isl operations") from error
    finally:
        context.set_max_operations(0)
        context.reset_operations()


def _exhausted() -> bool:
    """Return whether the limit caused an error: every further isl operation then fails too."""
    try:
        isl.Set("[n] -> { [i] : 0 <= i < n }")
    except isl.Error:
        return True
    return False
