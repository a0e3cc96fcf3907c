"""Streams of the caller's arrays, and captures, on a driver that does work which no event orders in the wrong order."""

from __future__ import annotations

from ctypes import c_void_p
from typing import Any

import numpy as np
import pytest
from caller import Arrays, Capture, Streams
from fake_gpu import Gpu, OnDevice, model, random
from test_host_program import TARGET, loop_with_condition, mlp

import mlc
from mlc.errors import RunError


@pytest.mark.parametrize("said", [True, False])
def test_a_run_waits_for_the_streams_of_its_arrays_and_these_for_it(said: bool, gpu: Gpu) -> None:
    """A copy to the input in its stream, and one of the output in the output's: neither is synchronized. Without the
    events (``said``: the arrays say their streams) the result is wrong, because the driver of the tests reorders."""
    with mlc.compile(mlp(), target=TARGET) as net:
        arrays, streams = Arrays(gpu), Streams(gpu, 3)
        arrays.run(net)
        fresh, after = OnDevice(gpu, random(5, 8)), OnDevice(gpu, np.zeros((5, 4), np.float32))
        if said:
            arrays.x.__cuda_array_interface__["stream"] = streams.all[0]
            arrays.y.__cuda_array_interface__["stream"] = streams.all[1]
        streams.copy(arrays.x, fresh, streams.all[0])
        arrays.run(net, stream=streams.all[2])
        streams.copy(after, arrays.y, streams.all[1])
        assert np.array_equal(after.numpy(), net(fresh.array)) == said
        streams.free()
    arrays.free()
    fresh.free()
    after.free()


def test_without_a_stream_a_run_is_in_that_of_its_arrays(gpu: Gpu) -> None:
    with mlc.compile(mlp(), target=TARGET) as net:
        arrays, streams = Arrays(gpu), Streams(gpu, 1)
        arrays.run(net)
        fresh = OnDevice(gpu, random(5, 8))
        for array in (arrays.x, arrays.y):
            array.__cuda_array_interface__["stream"] = streams.all[0]
        streams.copy(arrays.x, fresh, streams.all[0])
        before = gpu.counts()
        arrays.run(net)
        assert gpu.since(before).get("cuEventRecord") == 1  # that of the model's own runs
        assert np.array_equal(arrays.y.numpy(), net(fresh.array))
        streams.free()
    arrays.free()
    fresh.free()


def test_streams_of_libraries(gpu: Gpu) -> None:
    streams = Streams(gpu, 1)
    address = streams.all[0]
    kinds: list[Any] = [
        type("Torch", (), {"cuda_stream": address}), type("CuPy", (), {"ptr": address}),
        type("Pycuda", (), {"handle": address}), type("Numba", (), {"handle": c_void_p(address)}),
        type("Core", (), {"__cuda_stream__": lambda self: (0, address)}),
    ]  # fmt: skip
    with mlc.compile(mlp(), target=TARGET) as net:
        arrays = Arrays(gpu)
        for kind in (*kinds, lambda: 0, lambda: 1, lambda: 2, lambda: address):
            arrays.run(net, stream=kind())
            arrays.check(net)
        with pytest.raises(RunError, match="A CUDA stream cannot be 'fast'"):
            arrays.run(net, stream="fast")
        arrays.x.__cuda_array_interface__["stream"] = 0
        with pytest.raises(RunError, match="Input 'x' says the stream 0"):
            arrays.run(net)
        streams.free()
    arrays.free()


def test_a_run_may_be_captured(gpu: Gpu) -> None:
    """The caller's graph has it, and keeps the memory that it uses when the model takes more for another run."""
    with mlc.compile(mlp(), target=TARGET) as net:
        arrays, streams, large = Arrays(gpu), Streams(gpu, 1), random(99, 8)
        arrays.run(net)
        with Capture(gpu, streams.all[0]) as graph:
            arrays.run(net, stream=streams.all[0])
        net(large)
        for _ in range(2):
            fresh = OnDevice(gpu, random(5, 8))
            streams.copy(arrays.x, fresh, streams.all[0])
            graph.launch()
            assert np.array_equal(arrays.y.numpy(), net(fresh.array))
            fresh.free()
        graph.free()
        streams.free()
    arrays.free()


@pytest.mark.parametrize("make, why", [
    (mlp, "needs .* bytes of memory for these dimensions, which cannot be allocated while the stream is captured"),
    (loop_with_condition, "has steps on the host, which a captured graph cannot hold"),
])  # fmt: skip
def test_runs_that_cannot_be_captured_are_refused(make: Any, why: str, gpu: Gpu) -> None:
    feed = {"x": random(5, 8)} if make is mlp else {"x": random(4), "limit": np.array(30, np.float32)}
    with mlc.compile(make(), target=TARGET) as net:
        streams = Streams(gpu, 1)
        given = {name: OnDevice(gpu, value) for name, value in feed.items()}
        out = {name: OnDevice(gpu, value) for name, value in net.run(feed).items()}
        if make is mlp:
            net.close()
            net = mlc.load(net.path)
        with Capture(gpu, streams.all[0]) as graph, pytest.raises(RunError, match=why):
            net.run_device(given, out, streams.all[0])
        net.run_device(given, out, streams.all[0])
        net.close()
        graph.free()
        streams.free()
    for each in (*given.values(), *out.values()):
        each.free()


def test_random_numbers_are_not_captured(gpu: Gpu) -> None:
    source = model("net (float[5,8] x) => (float[5,8] y) { r = RandomNormalLike(x)\n y = Add(x, r) }")
    with mlc.compile(source, target=TARGET) as net:
        x, y, streams = OnDevice(gpu, random(5, 8)), OnDevice(gpu, random(5, 8)), Streams(gpu, 1)
        net.run_device({"x": x}, {"y": y}, streams.all[0])
        with Capture(gpu, streams.all[0]) as graph, pytest.raises(RunError, match="which would be the same in each"):
            net.run_device({"x": x}, {"y": y}, streams.all[0])
        graph.free()
        streams.free()
    x.free()
    y.free()
