"""The geometry of a kernel's launches: blocks, threads of a block, bytes of shared memory, and tensor maps."""

from __future__ import annotations

from dataclasses import dataclass

from mlc.dialects import kernel
from mlc.dialects.semantics.dims import DimLike


@dataclass(frozen=True)
class Geometry:
    """The geometry of a launch: ``grid`` blocks of ``threads`` threads, each block with ``shared`` bytes of shared
    memory, ``dynamic`` of which the launch requests. ``maps``: its tensor maps, each with the number of its buffer;
    ``aligned``: whether its tensors must be aligned for copies of several elements."""

    grid: DimLike
    threads: int
    shared: int
    dynamic: int = 0
    maps: tuple[tuple[int, kernel.TensorMap], ...] = ()
    aligned: bool = False


def geometry_of(fn: kernel.FuncOp) -> Geometry:
    """Return the geometry that ``set-launch-geometry`` has written."""
    launch = fn.launch
    assert launch.grid is not None and launch.launched is not None and launch.shared is not None
    args = list(fn.block.args)
    maps = tuple((args.index(each.buffer), each) for each in tensor_maps(fn))  # type: ignore[arg-type]
    aligned = bool(maps or launch.aligned)
    return Geometry(launch.grid, launch.launched, launch.shared, launch.dynamic, maps, aligned)


def tensor_maps(fn: kernel.FuncOp) -> list[kernel.TensorMap]:
    """Return the tensor maps of a kernel's bulk copies and stores, in the order of its parameters."""
    return list(dict.fromkeys(o.map for o in fn.walk() if isinstance(o, kernel.BulkCopyOp | kernel.BulkStoreOp)))
