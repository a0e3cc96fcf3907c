"""The geometry of a kernel's launches: blocks, threads of a block, bytes of shared memory, and tensor maps."""

from __future__ import annotations

from dataclasses import dataclass

from xdsl.dialects.builtin import IntegerAttr, StringAttr

from mlc.dialects import kernel
from mlc.dialects.semantics.dims import DimLike, parse_dim
from mlc.passes.device.distribute_values import THREADS
from mlc.passes.device.loops.argument_alignment import ALIGNED
from mlc.passes.device.set_launch_geometry import DYNAMIC, GRID, SHARED


@dataclass(frozen=True)
class Geometry:
    """``grid`` blocks of ``threads`` threads, each block with ``shared`` bytes of shared memory, of which the launch
    asks for ``dynamic``. ``maps``: the tensor maps that it takes, each with the number of its buffer; ``aligned``:
    whether it takes tensors that are aligned for copies of several elements."""

    grid: DimLike
    threads: int
    shared: int
    dynamic: int = 0
    maps: tuple[tuple[int, kernel.TensorMap], ...] = ()
    aligned: bool = False


def geometry_of(fn: kernel.FuncOp) -> Geometry:
    """The geometry that a kernel's attributes say."""
    grid, threads, shared = (fn.attributes.get(name) for name in (GRID, THREADS, SHARED))
    assert isinstance(grid, StringAttr) and isinstance(threads, IntegerAttr) and isinstance(shared, IntegerAttr)
    dynamic = fn.attributes.get(DYNAMIC)
    bytes_ = dynamic.value.data if isinstance(dynamic, IntegerAttr) else 0
    args = list(fn.block.args)
    maps = tuple((args.index(each.buffer), each) for each in tensor_maps(fn))  # type: ignore[arg-type]
    aligned = bool(maps) or ALIGNED in fn.attributes
    return Geometry(parse_dim(grid.data), threads.value.data, shared.value.data, bytes_, maps, aligned)


def tensor_maps(fn: kernel.FuncOp) -> list[kernel.TensorMap]:
    """The tensor maps of a kernel's bulk copies and stores, in the order of its parameters."""
    return list(dict.fromkeys(o.map for o in fn.walk() if isinstance(o, kernel.BulkCopyOp | kernel.BulkStoreOp)))
