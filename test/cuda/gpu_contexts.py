"""Contexts, streams, captures and libraries on a real GPU: what the tests show on a driver of their own.

    python test/cuda/gpu_contexts.py

It compiles two small models, takes some seconds, and prints a line for each check. PyTorch and CuPy are used where they
are installed with CUDA.
"""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from ctypes import byref, c_int, c_size_t, c_uint, c_ulonglong, c_void_p
from typing import Any

import numpy as np

import mlc
import mlc.numpy as mnp
from mlc.errors import MlcError
from mlc.runtime import cuda_driver
from mlc.runtime.device_tensors import DeviceTensor

F32 = np.dtype(np.float32)
WEIGHTS = np.random.default_rng(0).normal(size=(8, 4)).astype(F32)
DATA = np.random.default_rng(1).normal(size=(5, 8)).astype(F32)
WANTED = np.tanh(DATA @ WEIGHTS)


def compiled(target: str) -> tuple[Any, str, str]:
    """The model, and the names of its input and output."""
    model = mlc.jit(lambda x: mnp.tanh(x @ WEIGHTS), target=target, wait=True).lower(DATA).model
    return model, next(iter(model.inputs)), next(iter(model.outputs))


def close(found: np.ndarray[Any, Any], wanted: np.ndarray[Any, Any] = WANTED) -> None:
    np.testing.assert_allclose(found, wanted, rtol=1e-3, atol=1e-4)


def uploaded(array: np.ndarray[Any, Any], context: int, stream: int = 0) -> DeviceTensor:
    tensor = DeviceTensor(array.shape, array.dtype, context, stream)
    with cuda_driver.pushed(context):
        cuda_driver.call("cuMemcpyHtoDAsync_v2", c_ulonglong(tensor.address), c_void_p(array.ctypes.data),
                         c_size_t(array.nbytes), c_void_p(stream))  # fmt: skip
        cuda_driver.call("cuStreamSynchronize", c_void_p(stream))
    return tensor


@contextmanager
def new_context() -> Iterator[int]:
    """A context that is not primary, as pycuda.autoinit makes it."""
    made = c_void_p()
    cuda_driver.call("cuCtxCreate_v2", byref(made), c_uint(0), c_int(0))
    cuda_driver.call("cuCtxPopCurrent_v2", byref(c_void_p()))
    assert made.value
    yield made.value
    cuda_driver.call("cuCtxDestroy_v2", made)


@contextmanager
def new_stream(context: int) -> Iterator[int]:
    stream = c_void_p()
    with cuda_driver.pushed(context):
        cuda_driver.call("cuStreamCreate", byref(stream), c_uint(1))
        assert stream.value
        yield stream.value
        cuda_driver.call("cuStreamDestroy_v2", stream)


def runs_in_a_context_of_its_own(net: Any, x: str, y: str) -> None:
    with new_context() as context:
        given = uploaded(DATA, context)
        found = net.run_device({x: given})[y]
        assert found.context == context
        close(found.numpy())
        with cuda_driver.primary(0) as primary:
            try:
                net.run_device({x: given}, {y: uploaded(WANTED, primary)})
            except MlcError as error:
                assert "in a CUDA context" in str(error), error
            else:
                raise AssertionError("arrays of two contexts are taken")
        with mlc.load(net.path, context=context) as there:
            close(there(DATA))
        del given, found


def is_closed_before_its_context_ends(net: Any, x: str, y: str) -> None:
    """In this order: drivers abort where a context that is destroyed is used."""
    with new_context() as context:
        there = mlc.load(net.path, context=context)
        close(there(DATA))
        there.close()
    close(net(DATA))


def is_captured(net: Any, x: str, y: str) -> None:
    with cuda_driver.primary(0) as context, new_stream(context) as stream:
        given, made = uploaded(DATA, context), uploaded(0 * WANTED, context)
        net.run_device({x: given}, {y: made}, stream)
        graph, executable = c_void_p(), c_void_p()
        cuda_driver.call("cuStreamBeginCapture_v2", c_void_p(stream), c_int(0))
        net.run_device({x: given}, {y: made}, stream)
        cuda_driver.call("cuStreamEndCapture", c_void_p(stream), byref(graph))
        cuda_driver.call("cuGraphInstantiateWithFlags", byref(executable), graph, c_ulonglong(0))
        changed = uploaded(2 * DATA, context, stream)
        cuda_driver.call("cuMemcpyDtoDAsync_v2", c_ulonglong(given.address), c_ulonglong(changed.address),
                         c_size_t(DATA.nbytes), c_void_p(stream))  # fmt: skip
        cuda_driver.call("cuGraphLaunch", executable, c_void_p(stream))
        cuda_driver.call("cuStreamSynchronize", c_void_p(stream))
        close(made.numpy(), np.tanh(2 * DATA @ WEIGHTS))
        cuda_driver.call("cuGraphExecDestroy", executable)
        cuda_driver.call("cuGraphDestroy", graph)
        del given, made, changed


def says_so_in_a_child(net: Any, x: str, y: str) -> None:
    close(net(DATA))
    if (child := os.fork()) == 0:
        status = 1
        with suppress(BaseException):
            try:
                net(DATA)
            except MlcError as error:
                status = "forked" not in str(error)
        os._exit(status)
    assert os.waitpid(child, 0)[1] == 0


def compiles_ptx(net: Any, x: str, y: str) -> None:
    """On a device later than sm_80 of another generation."""
    close(compiled("cuda:sm_80")[0](DATA))


def updates_in_place(net: Any, x: str, y: str) -> None:
    def step(w: Any, n: Any, x: Any) -> Any:
        return w - 0.1 * (x.mT @ (x @ w)), n + 1

    w, n = np.tile(WEIGHTS, (1, 33)), np.float32(0)
    jitted = mlc.jit(step, target=net.signature["target"], wait=True, donate=("w", "n"))
    for _ in range(3):
        wanted = w - 0.1 * (DATA.T @ (DATA @ w))
        w, n = (np.array(each) for each in jitted(w.copy(), n, DATA))
        close(w, wanted)
    assert n == 3


def takes_tensors_of_torch(net: Any, x: str, y: str) -> None:
    torch = __import__("torch")
    with torch.cuda.stream(torch.cuda.Stream()) as _:
        given = torch.zeros(5, 8, device="cuda")
        torch.cuda._sleep(100_000_000)
        given.copy_(torch.from_numpy(DATA))
        close(torch.from_dlpack(net.run_device({x: given})[y]).cpu().numpy())
        made = torch.zeros(5, 4, device="cuda")
        net.run_device({x: given}, {y: made}, stream=torch.cuda.current_stream())
        close(made.cpu().numpy())
    graph = torch.cuda.CUDAGraph()
    with torch.cuda.graph(graph):
        net.run_device({x: given}, {y: made}, stream=torch.cuda.current_stream())
    given.mul_(2)
    graph.replay()
    close(made.cpu().numpy(), np.tanh(2 * DATA @ WEIGHTS))
    try:
        net.run_device({x: given.requires_grad_()})
    except MlcError as error:
        assert "requires gradients" in str(error), error
    del graph


def takes_arrays_of_cupy(net: Any, x: str, y: str) -> None:
    cupy = __import__("cupy")
    with cupy.cuda.Stream(non_blocking=True):
        given = cupy.asarray(DATA)
        close(cupy.asnumpy(cupy.asarray(net.run_device({x: given})[y])))
    pool = cupy.cuda.MemoryAsyncPool()  # of no context
    with cupy.cuda.using_allocator(pool.malloc):
        close(cupy.asnumpy(cupy.asarray(net.run_device({x: cupy.asarray(DATA)})[y])))


CHECKS: list[Callable[[Any, str, str], None]] = [
    runs_in_a_context_of_its_own, is_closed_before_its_context_ends, is_captured, says_so_in_a_child, updates_in_place,
    compiles_ptx,
]  # fmt: skip
LIBRARIES: list[tuple[str, Callable[[Any, str, str], None]]] = [
    ("torch", takes_tensors_of_torch), ("cupy", takes_arrays_of_cupy),
]  # fmt: skip


STATES = {0: "right", -6: "aborted", -11: "crashed"}


def has_cuda(library: str) -> bool:
    with suppress(Exception):
        return bool(__import__(library).cuda.is_available())
    return False


def main(target: str = "cuda") -> int:
    """Each check in a process of its own: one that crashes leaves the others."""
    failed = 0
    for check in [*CHECKS, *(check for _, check in LIBRARIES)]:
        child = subprocess.run([sys.executable, "-X", "faulthandler", __file__, target, check.__name__], check=False)
        failed += child.returncode != 0
        print(f"{STATES.get(child.returncode, 'failed')}: {check.__name__.replace('_', ' ')}", flush=True)
    print(f"{failed} checks failed")
    return failed


def alone(target: str, name: str) -> int:
    library, check = next(
        (library, each)
        for library, each in [*((None, each) for each in CHECKS), *LIBRARIES]
        if each.__name__ == name
    )
    if library and not has_cuda(library):
        return 0
    net, x, y = compiled(target)
    close(net(DATA))
    check(net, x, y)
    net.close()
    return 0


if __name__ == "__main__":
    sys.exit(alone(*sys.argv[1:]) if len(sys.argv) > 2 else main(*sys.argv[1:]))
