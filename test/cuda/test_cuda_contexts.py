"""Contexts, devices and streams of the caller's arrays, on a driver of the tests in which each context has its own
memory, and work that no event orders is done in the wrong order."""

from __future__ import annotations

import ctypes
import os
import pickle
from collections.abc import Iterator
from ctypes import byref, c_void_p
from typing import Any

import numpy as np
import pytest
from fake_gpu import Gpu, OnDevice, model, random
from test_host_program import TARGET, counted_loop, loop_with_condition, mlp

import mlc
import mlc.numpy as mnp
from mlc.errors import ArtifactError, InputError, RunError

LEGACY, KINDS = 1, {"pool": 1, "managed": 2, "host": 3}


@pytest.fixture
def machine(gpu: Gpu, monkeypatch: pytest.MonkeyPatch) -> Iterator[Gpu]:
    """Two devices."""
    monkeypatch.setenv("FAKE_CUDA_DEVICES", "2")
    yield gpu


class Arrays:
    """Inputs and an output of ``mlp`` in a context."""

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


def close(gpu: Gpu, *contexts: int) -> None:
    for context in contexts:
        assert gpu.library.cuCtxDestroy_v2(c_void_p(context)) == 0


def test_a_model_is_loaded_once_in_each_context_of_its_arrays(machine: Gpu) -> None:
    """One of pycuda.autoinit on the first device, and one on the second: memory of another context is error 700."""
    contexts = [None, machine.new_context(0), machine.new_context(1)]
    with mlc.compile(mlp(), target=TARGET) as net:
        given = [Arrays(machine, context) for context in contexts]
        for each in given:
            each.run(net)
        before = machine.counts()
        for each in given:
            each.run(net)
        assert not {"cuModuleLoadData", "cuMemAlloc_v2", "cuMemcpyPeerAsync"} & set(machine.since(before))
        for each in given:
            each.check(net)
    for each in given:
        each.free()
    close(machine, *contexts[1:])


@pytest.mark.parametrize("kind", ["pycuda", "address", "current", "device"])
def test_a_model_is_loaded_in_the_context_that_is_given(kind: str, machine: Gpu) -> None:
    class Context:
        def __init__(self, handle: int) -> None:
            self.handle = handle

    made = machine.new_context(1)
    with mlc.compile(mlp(), target=TARGET) as net:
        path, home = net.path, net
        if kind == "current":
            with machine.inside(made):
                there = mlc.load(path)
        else:
            there = mlc.load(path, context={"pycuda": Context(made), "address": made, "device": 1}[kind])
        primary = machine.library.fake_cuda_primary(1)
        arrays = Arrays(machine, primary if kind == "device" else made)
        before = machine.counts()
        arrays.run(there)
        arrays.check(home)
        assert "cuModuleLoadData" not in machine.since(before)
        np.testing.assert_array_equal(there(arrays.data), home(arrays.data))
        again = pickle.loads(pickle.dumps(there))
        np.testing.assert_array_equal(again(arrays.data), home(arrays.data))
        there.close()
        again.close()
    arrays.free()
    close(machine, made)


def test_contexts_that_are_none_are_refused(machine: Gpu) -> None:
    with mlc.compile(mlp(), target=TARGET) as net:
        with pytest.raises(InputError, match="no CUDA device 2: this process may use 2"):
            mlc.load(net.path, context=2)
        for wrong in ("cuda:0", True, -1, 1.5):
            with pytest.raises(InputError, match="A CUDA context cannot be"):
                mlc.load(net.path, context=wrong)
    with mlc.compile(mlp()) as net, pytest.raises(InputError, match="compiled for cpu, which has no CUDA context"):
        mlc.load(net.path, context=0)


def test_arrays_of_several_contexts_or_devices_are_refused(machine: Gpu) -> None:
    contexts = [machine.new_context(0), machine.new_context(1)]
    with mlc.compile(mlp(), target=TARGET) as net:
        here, other, there = (Arrays(machine, context) for context in (None, *contexts))
        with pytest.raises(RunError, match="output 0 .* is in a CUDA context, of device 0, and input 0 in another"):
            net.run_device({"x": here.x}, {"y": other.y})
        with pytest.raises(RunError, match="is in the memory, of device 1, and input 0 in another, of device 0"):
            net.run_device({"x": here.x}, {"y": there.y})
        stream = c_void_p()
        with machine.inside(contexts[0]):
            assert machine.library.cuStreamCreate(byref(stream), 0) == 0
        with pytest.raises(RunError, match="the stream is of another CUDA context than the tensors"):
            here.run(net, stream=stream.value)
        other.run(net, stream=stream)
        other.check(net)
        with machine.inside(contexts[0]):
            machine.library.cuStreamDestroy_v2(stream)
    for each in (here, other, there):
        each.free()
    close(machine, *contexts)


@pytest.mark.parametrize("kind", KINDS)
def test_memory_of_no_context_is_used_where_the_model_is(kind: str, machine: Gpu) -> None:
    with mlc.compile(mlp(), target=TARGET) as net:
        machine.library.fake_cuda_next_kind(KINDS[kind])
        arrays, there = Arrays(machine), Arrays(machine, machine.library.fake_cuda_primary(1))
        machine.library.fake_cuda_next_kind(0)
        arrays.run(net)
        arrays.check(net)
        if kind == "pool":
            with pytest.raises(RunError, match=r"in the memory of device 1, .* loaded on device 0.*context=1"):
                there.run(net)
    arrays.free()
    there.free()


def test_memory_that_cuda_does_not_know_is_refused(gpu: Gpu) -> None:
    with mlc.compile(mlp(), target=TARGET) as net:
        arrays = Arrays(gpu)
        arrays.x.__cuda_array_interface__["data"] = (arrays.data.ctypes.data, False)
        with pytest.raises(RunError, match="input 0 of model 'net' is not in the memory of a GPU"):
            arrays.run(net)
    arrays.free()


def test_arrays_that_overlap_are_refused(gpu: Gpu) -> None:
    with mlc.compile(mlp(), target=TARGET) as net:
        arrays = Arrays(gpu)
        arrays.y.__cuda_array_interface__["data"] = (arrays.x.address + 64, False)
        with pytest.raises(RunError, match="input 0 and output 0 of model 'net' overlap in memory"):
            net.run_device({"x": arrays.x}, {"y": arrays.y})
    arrays.free()


def test_a_model_whose_context_is_gone(machine: Gpu) -> None:
    made = machine.new_context(0)
    with mlc.compile(mlp(), target=TARGET) as net:
        there, data = mlc.load(net.path, context=made), random(3, 8)
        there(data)
        close(machine, made)
        with pytest.raises(RunError, match="The CUDA context in which the model was loaded is gone: load it again"):
            there(data)
        arrays = Arrays(machine)
        with pytest.raises(RunError):  # its weights are gone, too
            arrays.run(there)
        there.close()
        arrays.run(net)
        arrays.check(net)
    arrays.free()


def test_state_is_in_one_context(machine: Gpu) -> None:
    def step(total: Any, x: Any) -> Any:
        return total + mnp.sum(x), 2 * total

    made, data = machine.new_context(1), np.ones(4, np.float32)
    jitted = mlc.jit(step, state=("total",), target=TARGET, wait=True)
    instance = jitted.create(np.zeros(3, np.float32))
    instance(data)
    net = mlc.load(instance._current.path)
    (name,) = net.inputs
    x = OnDevice(machine, data, made)
    with pytest.raises(RunError, match=r"state of model 'step' is in the context .* of device 0.*context="):
        net.run_device({name: x})
    x.free()
    net.close()
    del instance, jitted
    close(machine, made)


# -- streams -----------------------------------------------------------------------------------------------------------


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
        """Enqueues a copy."""
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


# -- captures ----------------------------------------------------------------------------------------------------------


class Capture:
    """What is enqueued in a stream becomes a graph."""

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


# -- processes ---------------------------------------------------------------------------------------------------------


def test_a_child_of_a_fork_gets_an_error(gpu: Gpu) -> None:
    """For a run, for another model, and no crash when it closes the model."""
    with mlc.compile(mlp(), target=TARGET) as net:
        data = random(3, 8)
        net(data)
        read, write = os.pipe()
        if (child := os.fork()) == 0:
            found = []
            for call in (lambda: net(data), lambda: mlc.load(net.path)):
                try:
                    call()
                except (RunError, ArtifactError) as error:
                    found.append(str(error))
            net.close()
            os.write(write, "\n".join(found).encode())
            os._exit(0)
        assert os.waitpid(child, 0)[1] == 0
        first, second = os.read(read, 4096).decode().splitlines()
        assert "was loaded before this process was forked, and CUDA does not work in the child" in first
        assert "this process was forked from one that uses CUDA" in second
        net(data)
    os.close(read)
    os.close(write)


# -- outputs that the run makes ----------------------------------------------------------------------------------------


def test_outputs_are_made_where_the_inputs_are(machine: Gpu) -> None:
    made = machine.new_context(1)
    with mlc.compile(mlp(), target=TARGET) as net:
        for context in (None, made):
            arrays, streams = Arrays(machine, context), Streams(machine, 0)
            found = net.run_device({"x": arrays.x})
            assert list(found) == ["y"] and found["y"].shape == (5, 4) and found["y"].device == (context is not None)
            np.testing.assert_array_equal(found["y"].numpy(), net(arrays.data))
            again = net.run_device({"x": arrays.x}, {})["y"]
            assert again.__cuda_array_interface__["data"] != found["y"].__cuda_array_interface__["data"]
            del found, again
            streams.free()
            arrays.free()
        with pytest.raises(RunError, match="There must be arrays for y, not for z"):
            net.run_device({"x": arrays.x}, {"z": arrays.y})
    close(machine, made)


def test_an_output_goes_into_another_model(gpu: Gpu) -> None:
    """By its interface, or by DLPack, which keeps the memory; the reader's stream waits."""
    with mlc.compile(mlp(), target=TARGET) as net, mlc.compile(counted_loop(), target=TARGET) as _:
        arrays, streams = Arrays(gpu), Streams(gpu, 2)
        y = net.run_device({"x": arrays.x}, stream=streams.all[0])["y"]
        assert y.__cuda_array_interface__["stream"] == streams.all[0]
        assert y.__dlpack_device__() == (2, 0)
        for version in (None, (1, 1)):
            before = gpu.counts()
            capsule = y.__dlpack__(stream=streams.all[1], max_version=version)
            assert gpu.since(before)["cuStreamWaitEvent"] == 1
            assert "cuStreamWaitEvent" not in gpu.since(gpu.counts())
            assert ("versioned" in repr(capsule)) == (version is not None)
        address = y.address
        del y
        before = gpu.counts()
        del capsule
        assert gpu.since(before)["memory"] == -1 and address
        streams.free()
    arrays.free()


def test_no_memory_for_an_output(gpu: Gpu, monkeypatch: pytest.MonkeyPatch) -> None:
    with mlc.compile(mlp(), target=TARGET) as net:
        arrays = Arrays(gpu)
        arrays.run(net)
        monkeypatch.setenv("FAKE_CUDA_MEMORY", "1")
        with pytest.raises(RunError, match="Cannot allocate an output of 80 bytes in a GPU's memory: .*OUT_OF_MEMORY"):
            net.run_device({"x": arrays.x})
        monkeypatch.delenv("FAKE_CUDA_MEMORY")
        del net
    arrays.free()


def test_checks_for_a_real_gpu(gpu: Gpu, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]) -> None:
    import gpu_contexts

    monkeypatch.setattr(gpu_contexts, "LIBRARIES", [])
    failed = gpu_contexts.main()
    shown = capfd.readouterr()
    assert not failed and shown.out.count("right: ") == len(gpu_contexts.CHECKS), shown.err
