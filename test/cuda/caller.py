"""A caller's objects on a device of the fake driver: arrays of a small model, streams, a capture."""

from __future__ import annotations

import ctypes
from ctypes import byref, c_void_p
from typing import Any

import numpy as np
from fake_gpu import Gpu, OnDevice, random


class Arrays:
    """The inputs and the output of ``mlp``, in a context."""

    def __init__(self, gpu: Gpu, context: int | None = None, rows: int = 5) -> None:
        self.data = random(rows, 8)
        self.x = OnDevice(gpu, self.data, context)
        self.y = OnDevice(gpu, np.zeros((rows, 4), np.float32), context)

    def run(self, net: Any, **options: Any) -> None:
        net.run_device({"x": self.x}, {"y": self.y}, **options)

    def check(self, net: Any) -> None:
        np.testing.assert_array_equal(self.y.numpy(), net(self.data))

    def free(self) -> None:
        self.x.free()
        self.y.free()


class Streams:
    """Non-blocking streams of the primary context."""

    def __init__(self, gpu: Gpu, count: int) -> None:
        self.gpu, self.all = gpu, []
        with gpu.inside():
            for _ in range(count):
                stream = c_void_p()
                assert gpu.library.cuStreamCreate(byref(stream), 1) == 0
                self.all.append(stream.value)

    def copy(self, target: OnDevice, source: OnDevice, stream: int) -> None:
        """Enqueue a copy in a stream."""
        size = ctypes.c_size_t(target.array.nbytes)
        with self.gpu.inside():
            assert (
                self.gpu.library.cuMemcpyDtoDAsync_v2(
                    c_void_p(target.address), c_void_p(source.address), size, c_void_p(stream)
                )
                == 0
            )

    def free(self) -> None:
        with self.gpu.inside():
            for stream in self.all:
                assert self.gpu.library.cuStreamDestroy_v2(c_void_p(stream)) == 0


class Capture:
    """A capture: work that is enqueued in the stream becomes a CUDA graph."""

    def __init__(self, gpu: Gpu, stream: int) -> None:
        self.gpu, self.stream, self.exec = gpu, c_void_p(stream), c_void_p()

    def __enter__(self) -> Capture:
        with self.gpu.inside():
            assert self.gpu.library.cuStreamBeginCapture_v2(self.stream, 0) == 0
        return self

    def __exit__(self, *_: object) -> None:
        graph = c_void_p()
        with self.gpu.inside():
            assert self.gpu.library.cuStreamEndCapture(self.stream, byref(graph)) == 0
            assert self.gpu.library.cuGraphInstantiateWithFlags(byref(self.exec), graph, ctypes.c_ulonglong(0)) == 0
            assert self.gpu.library.cuGraphDestroy(graph) == 0

    def launch(self) -> None:
        with self.gpu.inside():
            assert self.gpu.library.cuGraphLaunch(self.exec, self.stream) == 0

    def free(self) -> None:
        with self.gpu.inside():
            assert self.gpu.library.cuGraphExecDestroy(self.exec) == 0
