"""Shared memory is counted by one formula, which knows the alignment of arrays with a layout, and has a limit."""

from __future__ import annotations

import pytest
from xdsl.dialects.builtin import FunctionType, StringAttr

from mlc import target
from mlc.dialects import kernel
from mlc.dialects.poly import ScheduleError
from mlc.dialects.types import memref
from mlc.passes.shared_memory import check_shared, local_offsets, reduction_bytes, shared_bytes
from mlc.target import GpuTarget

LAYOUT = StringAttr("register lane warp of 1")


def kernel_of(*locals_: tuple[int, bool]) -> kernel.FuncOp:
    """A kernel with local arrays of so many floats, each with or without a layout."""
    fn = kernel.FuncOp("k", FunctionType.from_lists([], []))
    for size, swizzled in locals_:
        fn.block.add_op(kernel.LocalOp(memref("f32", (size,)), LAYOUT if swizzled else None))
    fn.block.add_op(kernel.ReturnOp())
    return fn


def gpu() -> GpuTarget:
    found = target.get("cuda")
    assert isinstance(found, GpuTarget)
    return found


@pytest.mark.parametrize(
    "locals_, offsets, end",
    [
        ([], [], 0),
        ([(5, False), (4, False)], [0, 32], 48),
        ([(4, False), (256, True)], [0, 1024], 2048),
        ([(257, True), (1, True), (1, False)], [0, 2048, 2064], 2080),
    ],
)
def test_arrays_begin_at_their_alignment(locals_: list[tuple[int, bool]], offsets: list[int], end: int) -> None:
    fn = kernel_of(*locals_)
    found, last = local_offsets(fn)
    assert ([*found.values()], last) == (offsets, end)
    assert shared_bytes(fn, gpu()) == end + reduction_bytes(fn, gpu())


def test_arrays_that_a_loop_shares_count_no_bytes() -> None:
    fn = kernel_of((4, False), (256, True))
    last = [o for o in fn.block.ops if isinstance(o, kernel.LocalOp)][-1]
    assert shared_bytes(fn, gpu(), without=[last]) == 16 + reduction_bytes(fn, gpu())


def test_a_kernel_may_have_all_of_it_and_no_byte_more() -> None:
    machine = gpu()
    room = (machine.shared_optin - reduction_bytes(kernel_of(), machine)) // 4
    check_shared(kernel_of((room, False)), machine)
    with pytest.raises(ScheduleError, match=f"of {machine.shared_optin}; use smaller tiles"):
        check_shared(kernel_of((room - 4, False), (1, True)), machine)
