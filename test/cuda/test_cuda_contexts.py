"""Contexts and devices of the caller's arrays, on a driver of the tests in which each context has its own memory."""

from __future__ import annotations

import os
import pickle
from collections.abc import Iterator
from ctypes import byref, c_void_p
from typing import Any

import gpu_contexts
import numpy as np
import pytest
from caller import Arrays, Streams
from fake_gpu import Gpu, OnDevice, random
from test_host_program import TARGET, mlp

import mlc
import mlc.numpy as mnp
from mlc.errors import ArtifactError, InputError, RunError

LEGACY, KINDS = 1, {"pool": 1, "managed": 2, "host": 3}


@pytest.fixture
def machine(gpu: Gpu, monkeypatch: pytest.MonkeyPatch) -> Iterator[Gpu]:
    """Two devices."""
    monkeypatch.setenv("FAKE_CUDA_DEVICES", "2")
    yield gpu


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


def test_an_output_is_read_by_its_interface_or_dlpack(gpu: Gpu) -> None:
    """DLPack keeps the memory; the reader's stream waits."""
    with mlc.compile(mlp(), target=TARGET) as net:
        arrays, streams = Arrays(gpu), Streams(gpu, 2)
        y = net.run_device({"x": arrays.x}, stream=streams.all[0])["y"]
        assert y.__cuda_array_interface__["stream"] == streams.all[0]
        assert y.__dlpack_device__() == (2, 0)
        for version in (None, (1, 1)):
            before = gpu.counts()
            capsule = y.__dlpack__(stream=streams.all[1], max_version=version)
            assert gpu.since(before)["cuStreamWaitEvent"] == 1
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


@pytest.mark.parametrize("check", [check.__name__ for check in gpu_contexts.CHECKS])
def test_checks_for_a_real_gpu(gpu: Gpu, check: str) -> None:
    assert not gpu_contexts.alone("cuda", check)
