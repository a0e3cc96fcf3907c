"""A model between copies and arrays of pycuda: in pycuda's own context, and in its streams.

    python -m examples.pycuda.arrays

Compiling needs a CUDA compiler and no GPU. Without pycuda or a GPU the program says what is missing, and ends there.
"""

from __future__ import annotations

import sys
import tempfile
from pathlib import Path
from typing import Any

import numpy as np

import mlc
import mlc.numpy as mnp

ROWS, BATCHES = 64, 6


def parameters() -> dict[str, np.ndarray[Any, Any]]:
    random = np.random.default_rng(0)
    return {"a": random.normal(0, 0.3, (32, 48)).astype("f4"), "b": random.normal(0, 0.3, (48, 10)).astype("f4")}


def network(x: Any) -> Any:
    """A perceptron of two layers, whose parameters are constants of the model."""
    p = parameters()
    return mnp.maximum(x @ p["a"], 0) @ p["b"]


def compiled(folder: Path) -> Path:
    """The artifact of the network for GPUs."""
    path = folder / "network.so"
    mlc.jit(network, target="cuda").save(path, np.zeros((ROWS, 32), np.float32))
    return path


def context_of_pycuda() -> Any:
    """A context on the first device, which is current; a message where there is none."""
    try:
        import pycuda.driver as cuda
    except ImportError as error:
        return f"There is no pycuda, or no CUDA driver for it ({error}). Install it: pip install 'mlc[pycuda]'"
    try:
        cuda.init()
        return cuda.Device(0).make_context()
    except cuda.Error as error:
        return f"There is no GPU that pycuda can use: {error}"


def run(path: Path, context: Any) -> float:
    """The largest difference from NumPy of batches that are uploaded and computed in two streams in turn."""
    import pycuda.driver as cuda
    from pycuda.gpuarray import GPUArray, to_gpu_async

    model = mlc.load(path, context=context)
    (given,), (made,) = model.inputs, model.outputs
    streams = [cuda.Stream(), cuda.Stream()]
    batches = [np.random.default_rng(n).normal(size=(ROWS, 32)).astype("f4") for n in range(BATCHES)]
    held, found = [], []
    for n, batch in enumerate(batches):
        stream = streams[n % 2]
        x, y = to_gpu_async(batch, stream=stream), GPUArray((ROWS, 10), np.float32)
        model.run_device({given: x}, {made: y}, stream=stream)
        held.append((x, y))  # until the runs have ended
        found.append(y.get_async(stream=stream))
    context.synchronize()
    tensor = model.run_device({given: held[0][0]})[made]  # an output that the run makes, in the same context
    again = GPUArray(tensor.shape, tensor.dtype, gpudata=tensor.address, base=tensor).get()
    wanted = [np.maximum(x @ parameters()["a"], 0) @ parameters()["b"] for x in [*batches, batches[0]]]
    model.close()
    return max(float(np.abs(a - b).max()) for a, b in zip([*found, again], wanted, strict=True))


def main() -> int:
    with tempfile.TemporaryDirectory() as folder:
        path = compiled(Path(folder))
        print("compiled for GPUs:", ", ".join(sorted(file.name for file in Path(folder).iterdir())))
        context = context_of_pycuda()
        if isinstance(context, str):
            print(context)
            return 1
        try:
            print(f"{BATCHES} batches in two streams; the largest difference from NumPy is {run(path, context):.1e}")
        finally:
            context.pop()
            context.detach()
        return 0


if __name__ == "__main__":
    sys.exit(main())
