"""Launches of single kernels on the device, with the memory of a host program that runs on the CPU."""

from __future__ import annotations

import ctypes
from collections.abc import Mapping, Sequence
from ctypes import byref, c_int, c_int64, c_uint32, c_uint64, c_ulonglong, c_void_p
from typing import Any

import numpy as np

from benchmarks.gpu.device import DeviceArray
from mlc.dialects import kernel, rt
from mlc.dialects.semantics.dims import parse_dim
from mlc.passes.codegen.cuda.launch_geometry import geometry_of
from mlc.tools.cuda_device import Device

Array = np.ndarray[Any, Any]
DYNAMIC_BYTES = 8  # CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES
PROMOTE_256 = 3  # CU_TENSOR_MAP_L2_PROMOTION_L2_256B
TYPES, SWIZZLES = {1: 0, 2: 1, 4: 2}, {0: 0, 32: 1, 64: 2, 128: 3}


class Kernels:
    """The kernels of cubins, until ``close``."""

    def __init__(self, device: Device, images: Sequence[bytes]) -> None:
        self.device, self.modules = device, [c_void_p() for _ in images]
        for module, image in zip(self.modules, images, strict=True):
            device.call("cuModuleLoadData", byref(module), image)

    def close(self) -> None:
        for module in self.modules:
            self.device.call("cuModuleUnload", module)

    def run(self, host: Any, op: rt.LaunchOp, buffers: Sequence[Array], before: Mapping[int, Array]) -> list[Array]:
        """The buffers of a launch after it, of the allocations that were ``before`` it."""
        name = op.callee.root_reference.data
        fn, roots = host.made.functions[name], [root(each) for each in buffers]
        there = {key: DeviceArray(self.device, array) for key, array in before.items()}
        offsets = [b.ctypes.data - r.ctypes.data for b, r in zip(buffers, roots, strict=True)]
        starts = [there[id(r)].address.value + o for r, o in zip(roots, offsets, strict=True)]
        sizes = [host.value(parse_dim(each)) for each in fn.symbols]
        maps = [self._encoded(host, each, starts[n]) for n, each in geometry_of(fn).maps]
        self._launch(host, host.made.kernels.symbols[name], fn, starts, sizes, maps)
        after = {key: each.numpy().reshape(-1).view(np.uint8) for key, each in there.items()}
        return [after[id(r)][o:] for r, o in zip(roots, offsets, strict=True)]

    def _launch(
        self, host: Any, symbol: str, fn: kernel.FuncOp, starts: list[int], sizes: list[int], maps: list[Any]
    ) -> None:
        shape, function = geometry_of(fn), self._function(symbol)
        values = [*map(c_void_p, starts), *map(c_int64, sizes), *maps]
        arguments = (c_void_p * max(len(values), 1))(*(ctypes.addressof(each) for each in values))
        grid = max(1, host.value(shape.grid))
        if shape.dynamic:
            self.device.call("cuFuncSetAttribute", function, DYNAMIC_BYTES, shape.dynamic)
        numbers = map(c_int, (grid, 1, 1, shape.threads, 1, 1, shape.dynamic))
        self.device.call("cuLaunchKernel", function, *numbers, None, arguments, None)
        self.device.call("cuStreamSynchronize", None)

    def _function(self, symbol: str) -> c_void_p:
        function = c_void_p()
        for module in self.modules:
            if not self.device.driver.cuModuleGetFunction(byref(function), module, symbol.encode()):
                return function
        raise RuntimeError(f"no cubin has the kernel {symbol}")

    def _encoded(self, host: Any, each: kernel.TensorMap, start: int) -> Any:
        """A tensor map of a buffer at this address, as the runtime encodes it (``mlc_cuda_maps.c``)."""
        memory, rank = ctypes.create_string_buffer(128 + 64), len(each.extents)
        made = (ctypes.c_char * 128).from_buffer(memory, -ctypes.addressof(memory) % 64)
        extents = (c_uint64 * rank)(*(max(1, host.value(size)) for size in each.extents))
        strides, box = (c_uint64 * rank)(*map(host.value, each.strides)), (c_uint32 * rank)(*each.box)
        steps, kind = (c_uint32 * rank)(*[1] * rank), c_int(TYPES[each.itemsize])
        swizzle = c_int(SWIZZLES[each.span])
        self.device.call("cuTensorMapEncodeTiled", made, kind, c_uint32(rank), c_ulonglong(start), extents, strides,
                         box, steps, c_int(0), swizzle, c_int(PROMOTE_256), c_int(0))  # fmt: skip
        return made


def root(view: Array) -> Array:
    """The allocation that a view is of."""
    while isinstance(view.base, np.ndarray):
        view = view.base
    return view
