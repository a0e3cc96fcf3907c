"""The runtime of CUDA models (``runtime/c/cuda``): graphs, errors, memory, and tensors that are on the device."""

from __future__ import annotations

import os
import subprocess
import sys
import threading
from ctypes.util import find_library
from pathlib import Path
from typing import Any

import numpy as np
import onnx
import pytest
from fake_gpu import HERE, Gpu, OnDevice, model, random
from test_host_program import TARGET, check, counted_loop, loop_with_condition, mlp, nonzero

import mlc
import mlc.numpy as mnp
from mlc.errors import ArtifactError, MlcError, RunError
from mlc.runtime import device_runs


def test_a_graph_is_made_once_for_each_set_of_sizes(gpu: Gpu) -> None:
    with mlc.compile(mlp(), target=TARGET) as net:
        large = {"x": random(9, 8)}
        net.run(large)
        net.run({"x": random(2, 8)})
        before = gpu.counts()
        for n in (9, 2, 9):
            net.run({"x": random(n, 8)})
        calls = gpu.since(before)
    assert calls["cuGraphLaunch"] == 3
    assert "cuGraphInstantiateWithFlags" not in calls and "cuMemAlloc_v2" not in calls


def test_a_loop_with_known_trips_is_unrolled_into_one_graph(gpu: Gpu) -> None:
    source = counted_loop()
    with mlc.compile(source, target=TARGET) as net:
        before = gpu.counts()
        check(net, source, [{"x": random(1, 8)}])
        calls = gpu.since(before)
    assert calls["cuGraphLaunch"] == 1 and calls["cuGraphAddKernelNode"] >= 9


def test_launches_of_a_phase_have_no_edge_between_them(gpu: Gpu) -> None:
    source = model(
        """net (float[4,8] x) => (float[4,8] y, float[8,4] f) {
             a = MatMul(x, p)
             b = MatMul(x, q)
             c = Softmax(a)
             d = Softmax(b)
             f = Transpose(d)
             y = MatMul(c, g) }""",
        p=random(8, 8), q=random(8, 8), g=random(8, 8),
    )  # fmt: skip
    with mlc.compile(source, target=TARGET) as net:
        before = gpu.counts()
        check(net, source, [{"x": random(4, 8)}])
        calls = gpu.since(before)
    nodes = calls["cuGraphAddKernelNode"]
    assert calls.get("edges", 0) < nodes - 1  # a chain would have so many


def test_a_loop_updates_the_graphs_that_differ_in_arguments_alone(gpu: Gpu) -> None:
    source = model(
        """net (float[1,8] x, float limit) => (float[1,8] y, float[k,1,8] ys) {
             trips = Constant<value = int64 {40}>()
             go = Constant<value = bool {1}>()
             y, ys = Loop(trips, go, x) <body = body (int64 i, bool c, float[1,8] a)
                 => (bool d, float[1,8] s, float[1,8] t) {
               m = MatMul(a, w)
               s = Abs(m)
               r = Softmax(s)
               t = MatMul(r, w)
               q = ReduceMax<keepdims=0>(s)
               d = Less(q, limit) }> }""",
        w=np.eye(8, dtype=np.float32) * 1.25 + 0.01,
    )
    with mlc.compile(source, target=TARGET) as net:
        before = gpu.counts()
        check(net, source, [{"x": np.ones((1, 8), np.float32), "limit": np.array(50, np.float32)}])
        calls = gpu.since(before)
    assert calls["cuGraphLaunch"] >= 10 and calls["cuGraphInstantiateWithFlags"] <= 8
    assert calls["cuGraphExecKernelNodeSetParams"] > 0


@pytest.mark.parametrize("make, feed", [
    (mlp, lambda: {"x": random(3, 8)}),
    (loop_with_condition, lambda: {"x": abs(random(4)), "limit": np.array(30, np.float32)}),
    (nonzero, lambda: {"x": random(9), "v": random(9)}),
])  # fmt: skip
def test_whichever_call_fails_nothing_leaks_and_no_result_is_wrong(make: Any, feed: Any, gpu: Gpu) -> None:
    source, inputs = make(), feed()
    with mlc.compile(source, target=TARGET) as net:
        path, expected = net.path, net.run(inputs)
        failed, call, held = 0, 0, mlc.compile(source, target=TARGET)
        del held
        while True:
            call += 1
            gpu.fail_at(call)
            try:
                with mlc.load(path) as again:
                    found = again.run(inputs)
                    again.profile(**inputs)
            except MlcError as error:
                assert "out of memory" in str(error) or "no " in str(error), error
                failed += 1
            else:
                assert all(np.array_equal(found[name], expected[name]) for name in expected)
                if call > gpu_calls(gpu, path, inputs):
                    break
    assert failed > 15


def gpu_calls(gpu: Gpu, path: Path, inputs: Any) -> int:
    """The calls of the driver that loading and running a model makes."""
    gpu.fail_at(0)
    before = sum(count for name, count in gpu.counts().items() if name.startswith("cu"))
    with mlc.load(path) as net:
        net.run(inputs)
        net.profile(**inputs)
    return sum(count for name, count in gpu.counts().items() if name.startswith("cu")) - before


def test_a_step_that_fails_is_not_run_again(gpu: Gpu) -> None:
    """A failure after the kernels have updated the state is an error; another run would update it twice."""

    def step(total: Any, x: Any) -> Any:
        return total + mnp.sum(x), 2 * total

    jitted, data = mlc.jit(step, state=("total",), target=TARGET, wait=True), np.ones(4, np.float32)
    instance = jitted.create(np.zeros(3, np.float32))
    instance(data)
    before = instance.state[0]
    for call in range(1, 40):
        gpu.fail_at(call)
        try:
            instance(data)
            done = True
        except MlcError:
            done = False
        gpu.fail_at(0)
        after = instance.state[0]
        assert after[0] - before[0] in ((4,) if done else (0, 4)), call
        before = after
    del instance, jitted


def test_errors_say_what_is_missing(gpu: Gpu, monkeypatch: pytest.MonkeyPatch) -> None:
    with mlc.compile(mlp(), target=TARGET) as net:
        path = net.path
        net.run({"x": random(2, 8)})
        monkeypatch.setenv("FAKE_CUDA_MEMORY", "4000")
        with pytest.raises(RunError, match="the device has no .* bytes of memory that model .* needs"):
            net.run({"x": random(999, 8)})
        monkeypatch.setenv("FAKE_CUDA_MEMORY", str(1 << 30))
        net.run({"x": random(99, 8)})  # the model is fit for use again
    monkeypatch.setenv("FAKE_CUDA_ARCHITECTURE", "80")
    with pytest.raises(ArtifactError, match=r"has code for sm_90a, which the device Fake GPU, of sm_80, cannot run"):
        mlc.load(path)
    monkeypatch.setenv("FAKE_CUDA_ARCHITECTURE", "90")
    monkeypatch.setenv("FAKE_CUDA_DEVICES", "0")
    with pytest.raises(ArtifactError, match="no CUDA device"):
        mlc.load(path)


START = """
import sys, mlc
try:
    mlc.load(sys.argv[1])
except mlc.errors.MlcError as error:
    print(error)
"""


def load_elsewhere(path: Path, **environment: str) -> str:
    """What a new process says that loads the artifact."""
    command, env = [sys.executable, "-c", START, str(path)], {**os.environ, **environment}
    done = subprocess.run(command, capture_output=True, text=True, env=env)
    assert done.returncode == 0, done.stderr
    return done.stdout


@pytest.mark.skipif(find_library("cuda") is not None, reason="there is a driver")
def test_a_model_that_is_compiled_where_no_gpu_is(tmp_path: Path) -> None:
    """The error names the model, and not the artifact in the cache."""
    onnx.save(mlp(), tmp_path / "net.onnx")
    command = [sys.executable, "-m", "mlc", "run", "net.onnx", "--random", "0", "--dim", "n=2", "--target", TARGET]
    environment = {**os.environ, "MLC_NVCC": str(HERE / "fake_nvcc.py")}
    done = subprocess.run(command, capture_output=True, text=True, env=environment, cwd=tmp_path)
    assert done.returncode == 2
    assert "Model 'net' is compiled, but does not run on this machine: there is no CUDA driver" in done.stderr
    assert "or compile for a CPU. 'mlc compile' writes it for another one" in done.stderr


def test_without_a_driver_or_with_an_old_one(gpu: Gpu, tmp_path: Path) -> None:
    with mlc.compile(mlp(), target=TARGET) as net:
        net.save(tmp_path / "net.so")
    if find_library("cuda") is None:
        assert "there is no CUDA driver" in load_elsewhere(tmp_path / "net.so")
    found = load_elsewhere(tmp_path / "net.so", LD_LIBRARY_PATH=str(gpu.folder), FAKE_CUDA_VERSION="10020")
    assert "the CUDA driver is too old: it supports CUDA 10.2, and models need 11.4 or later" in found


def test_tensors_on_the_device_are_used_without_a_copy(gpu: Gpu) -> None:
    data = random(5, 8)
    with mlc.compile(mlp(), target=TARGET) as net:
        expected = net(data)
        arrays = [(OnDevice(gpu, data), OnDevice(gpu, np.zeros((5, 4), np.float32))) for _ in range(6)]
        for x, y in arrays:
            net.run_device({"x": x}, {"y": y})
        for _, y in arrays:
            assert np.array_equal(y.numpy(), expected)
        before = gpu.counts()
        for x, y in arrays:
            net.run_device({"x": x}, {"y": y})
        calls = gpu.since(before)
        assert not {"cuMemcpyHtoDAsync_v2", "cuMemcpyDtoHAsync_v2", "cuStreamSynchronize"} & set(calls)
        assert "cuGraphInstantiateWithFlags" not in calls  # other addresses are updates
        with pytest.raises(RunError, match=r"Output 'y' must be float32\[n_?, 4\], that is \(5, 4\)"):
            net.run_device({"x": arrays[0][0]}, {"y": arrays[0][0]})
        with pytest.raises(RunError, match="Input 'x' of type ndarray is not in a GPU's memory"):
            net.run_device({"x": data}, {"y": arrays[0][1]})
    for array in (array for pair in arrays for array in pair):
        array.free()


def test_layouts_that_have_run_are_not_checked_again_and_others_are(gpu: Gpu, monkeypatch: pytest.MonkeyPatch) -> None:
    checked: list[tuple[int, ...]] = []
    check = device_runs.solve_dims
    monkeypatch.setattr(device_runs, "solve_dims", lambda *given: checked.append(given[1][0]) or check(*given))
    data = [random(n, 8) for n in (5, 3, 5, 5, 3)]
    arrays = [(OnDevice(gpu, x), OnDevice(gpu, np.zeros((len(x), 4), np.float32))) for x in data]
    with mlc.compile(mlp(), target=TARGET) as net:
        for (x, y), given in zip(arrays, data, strict=True):
            net.run_device({"x": x}, {"y": y})
            np.testing.assert_array_equal(y.numpy(), net(given))
        assert checked == [(5, 8), (3, 8)]
        x, y = arrays[0]
        about = y.__cuda_array_interface__
        for wrong, why in (
            ({"shape": (3, 4)}, "Output 'y' must be"), ({"typestr": "<f8"}, "has the dtype float64"),
            ({"strides": (4, 20)}, "must be contiguous"), ({"data": (y.address, True)}, "is read-only"),
        ):  # fmt: skip
            y.__cuda_array_interface__ = about | wrong
            with pytest.raises(RunError, match=why):
                net.run_device({"x": x}, {"y": y})
        y.__cuda_array_interface__ = about
        for inputs, out in (({"x": x, "z": x}, {"y": y}), ({}, {"y": y}), ({"x": x}, {"y": y, "z": y})):
            with pytest.raises(RunError, match="There must be arrays for"):
                net.run_device(inputs, out)
    with pytest.raises(RunError, match="is closed"):
        net.run_device({"x": x}, {"y": y})
    for array in (array for pair in arrays for array in pair):
        array.free()


@pytest.mark.parametrize("copy", ["tma", "async"])
def test_a_tensor_that_is_not_aligned_is_copied_first(copy: str, gpu: Gpu, tmp_path: Path) -> None:
    """Tensor maps and copies of 16 bytes begin at multiples of them; tensors of the caller may begin at any element."""
    w, x = random(64, 72).astype(np.float16), random(70, 64).astype(np.float16)
    source = model("net (float16[n,64] x) => (float16[n,72] y) { a = MatMul(x, w)\n y = Relu(a) }", w=w)
    (tmp_path / "mine").write_text(f"contract_1: contraction: S0 S1 | m/64p n/64vp | k/64 | warps=4 copy={copy}\n")
    moved = [OnDevice(gpu, np.zeros(n, np.float16)) for n in (70 * 64 + 1, 70 * 72 + 1)]
    with mlc.compile(source, target=TARGET, schedule=str(tmp_path / "mine")) as net:
        expected = net(x)
        for array, shape in zip(moved, (x.shape, expected.shape), strict=True):
            array.__cuda_array_interface__ |= {"data": (array.address + 2, False), "shape": shape}
        moved[0].array[1:] = x.reshape(-1)
        moved[0].copy("cuMemcpyHtoDAsync_v2", moved[0].address, moved[0].array.ctypes.data)
        net.run_device({"x": moved[0]}, {"y": moved[1]})
        np.testing.assert_array_equal(moved[1].numpy()[1:].reshape(expected.shape), expected)
    for array in moved:
        array.free()


def test_a_model_for_a_cpu_takes_no_tensors_of_a_device() -> None:
    with mlc.compile(mlp()) as net, pytest.raises(RunError, match="is compiled for cpu, not for a GPU"):
        net.run_device({}, {})


def test_runs_of_several_threads_follow_one_another(gpu: Gpu) -> None:
    data = [random(n, 8) for n in (2, 3, 4, 5)]
    with mlc.compile(mlp(), target=TARGET) as net:
        expected = [net(x) for x in data]
        wrong: list[int] = []

        def work(n: int) -> None:
            wrong.extend(n for _ in range(20) if not np.array_equal(net(data[n]), expected[n]))

        threads = [threading.Thread(target=work, args=(n,)) for n in range(len(data))]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        assert not wrong


def test_a_launch_asks_for_shared_memory(gpu: Gpu, tmp_path: Path) -> None:
    """The driver of the tests refuses a launch with other bytes than the kernel's, or more than are allowed."""
    source = model("net (float[60,70] x) => (float[60,140] y) { y = MatMul(x, w) }", w=random(70, 140))
    with mlc.compile(source, target=TARGET) as net:
        (line,) = (f"{k['name']}: {k['schedule']}" for k in net.signature["kernels"])
    name, rule, *_ = line.split(": ")
    (tmp_path / "mine").write_text(f"{name}: {rule}: S0 | m/64p n/128vp | k | depth=6\n")
    before = gpu.counts()
    with mlc.compile(source, target=TARGET, schedule=str(tmp_path / "mine")) as net:
        assert net.signature["kernels"][0]["shared"] > 48 << 10
        check(net, source, [{"x": random(60, 70)}])
    assert gpu.since(before)["cuFuncSetAttribute"] == 1


CUDA_HEADER = Path("/usr/local/cuda/include/cuda.h")
LAYOUTS = """
#include <cuda.h>
#include "mlc_cuda_driver.h"
#define SAME(ours, a, theirs, b) _Static_assert(offsetof(ours, a) == offsetof(theirs, b), #b)
_Static_assert(sizeof(mlc_kernel_node) == sizeof(CUDA_KERNEL_NODE_PARAMS_v1), "kernel");
_Static_assert(sizeof(mlc_copy_node) == sizeof(CUDA_MEMCPY3D_v2), "copy");
SAME(mlc_kernel_node, block, CUDA_KERNEL_NODE_PARAMS_v1, blockDimX);
SAME(mlc_kernel_node, shared_bytes, CUDA_KERNEL_NODE_PARAMS_v1, sharedMemBytes);
SAME(mlc_kernel_node, params, CUDA_KERNEL_NODE_PARAMS_v1, kernelParams);
SAME(mlc_copy_node, source.memory_type, CUDA_MEMCPY3D_v2, srcMemoryType);
SAME(mlc_copy_node, source.device, CUDA_MEMCPY3D_v2, srcDevice);
SAME(mlc_copy_node, target.memory_type, CUDA_MEMCPY3D_v2, dstMemoryType);
SAME(mlc_copy_node, target.device, CUDA_MEMCPY3D_v2, dstDevice);
SAME(mlc_copy_node, width_bytes, CUDA_MEMCPY3D_v2, WidthInBytes);
_Static_assert(MLC_CUDA_MAJOR == CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR, "major");
_Static_assert(MLC_CUDA_MINOR == CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR, "minor");
_Static_assert(MLC_CUDA_OUT_OF_MEMORY == CUDA_ERROR_OUT_OF_MEMORY, "error");
_Static_assert(MLC_CUDA_NO_DEVICE == CUDA_ERROR_NO_DEVICE, "error");
_Static_assert(MLC_CUDA_ILLEGAL_ADDRESS == CUDA_ERROR_ILLEGAL_ADDRESS, "error");
_Static_assert(MLC_CUDA_LAUNCH_TIMEOUT == CUDA_ERROR_LAUNCH_TIMEOUT, "error");
_Static_assert(MLC_CUDA_ASSERT == CUDA_ERROR_ASSERT, "error");
_Static_assert(MLC_CUDA_STACK_ERROR == CUDA_ERROR_HARDWARE_STACK_ERROR, "error");
_Static_assert(MLC_CUDA_LAUNCH_FAILED == CUDA_ERROR_LAUNCH_FAILED, "error");
_Static_assert(MLC_CUDA_DYNAMIC_BYTES == CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES, "attribute");
_Static_assert(MLC_CUDA_NON_BLOCKING == CU_STREAM_NON_BLOCKING, "flag");
_Static_assert(MLC_CUDA_NO_TIMING == CU_EVENT_DISABLE_TIMING, "flag");
_Static_assert(MLC_CUDA_DEVICE_MEMORY == CU_MEMORYTYPE_DEVICE && sizeof(mlc_address) == sizeof(CUdeviceptr), "memory");
"""


@pytest.mark.skipif(not CUDA_HEADER.exists(), reason="needs the CUDA toolkit's headers")
def test_our_declarations_are_those_of_the_driver(tmp_path: Path) -> None:
    source = tmp_path / "layouts.c"
    source.write_text(LAYOUTS)
    include = [f"-I{CUDA_HEADER.parent}", f"-I{HERE.parents[1] / 'runtime/c/cuda'}"]
    subprocess.run(["gcc", "-std=gnu11", "-fsyntax-only", *include, source], check=True)
