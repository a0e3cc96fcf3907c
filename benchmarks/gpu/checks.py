"""What is checked first: the machine, the simplest kernel, and, last, kernels under compute-sanitizer."""

from __future__ import annotations

import shutil
import subprocess
import sys
from collections.abc import Callable, Iterator
from functools import partial
from itertools import product
from typing import Any

import numpy as np
import onnx

from benchmarks.gpu.advance import compiled
from benchmarks.gpu.device import DeviceArray
from mlc.driver.toolchain.cuda_compiler import find_cuda
from mlc.target import GPUS
from mlc.tools.cuda_device import Device

Row = dict[str, Any]
TOOLS = ("memcheck", "racecheck", "synccheck")  # of compute-sanitizer
SANITIZED = ("first kernel", "mlp", "bert")  # rows of one process each
SECONDS = 100  # of a tool on a row
SUM = '<ir_version: 8, opset_import: ["" : 17]> g (float[1000] x) => (float[1000] y) { y = Add (x, x) }'


def machine(device: Device) -> Row:
    """The device, its driver, and the compiler of kernels."""
    compiler = find_cuda()
    return {"device": device.name, "architecture": device.architecture, "CUDA": device.version,
            "compiler": compiler.version.splitlines()[-1]}  # fmt: skip


def target_of(architecture: str) -> str:
    """The target with the facts of a device, or the portable one."""
    return f"cuda:{architecture}" if f"cuda:{architecture}" in GPUS else "cuda"


def first_kernel(device: Device, target: str) -> Iterator[tuple[str, Callable[[], Row]]]:
    """One kernel of one operation: by host tensors, then by the device's in a stream."""
    yield "first kernel", lambda: _first_kernel(device, target)


def _first_kernel(device: Device, target: str) -> Row:
    x = np.arange(1000, dtype=np.float32)
    with compiled(onnx.parser.parse_model(SUM), target=target) as net:
        found = net.run({"x": x})["y"]
        given, out = DeviceArray(device, x), DeviceArray(device, np.zeros_like(x))
        net.run_device({"x": given}, {"y": out})
        right = {"host": bool((found == x + x).all()), "device": bool((out.numpy() == x + x).all())}
    return {"what": "first kernel", **right, "right": all(right.values())}


def sanitized(target: str) -> Iterator[tuple[str, Callable[[], Row]]]:
    """The rows of small models again, under each tool of compute-sanitizer where it is installed."""
    if (program := shutil.which("compute-sanitizer")) is None:
        return
    for tool, name in product(TOOLS, SANITIZED):
        yield f"{tool} {name}", partial(_sanitized, program, tool, name, target)


def _sanitized(program: str, tool: str, name: str, target: str) -> Row:
    own = [sys.executable, "-m", "benchmarks.gpu", "--only", name, "--target", target, "--runs", "1"]
    command = [program, "--tool", tool, "--error-exitcode", "9", *own]
    done = subprocess.run(command, capture_output=True, text=True, timeout=SECONDS - 5, check=False)
    errors = [line for line in done.stdout.splitlines() if line.startswith("=========")]
    return {"what": f"{tool} {name}", "right": not done.returncode, "says": " ".join(errors)[-300:]}
