"""Convolutions of halves on a GPU, NHWC between them: chains of equal ones, beside torch's (cuDNN, channels last)."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper

from benchmarks.gpu.advance import compiled
from benchmarks.gpu.measurements import Row, judged, results_on
from benchmarks.gpu.peers import recorded, torch_on_gpu
from benchmarks.gpu.timing import timed
from mlc.tools.cuda_device import Device

CASES = {
    f"conv_{batch}x{channels}x{pixels}_{window}x{window}": (batch, channels, pixels, window)
    for batch in (1, 32)
    for channels, pixels in ((64, 56), (128, 28), (256, 14), (512, 7))
    for window in (1, 3)
}
"""Images × channels × pixels of a row, and the window: the layers of ResNet."""
CHAIN = 8  # convolutions of a model: the input and the output are transposed once
Case = tuple[int, int, int, int]


def measured(device: Device, target: str, runs: int, cases: int | None) -> Iterator[tuple[str, Callable[[], Row]]]:
    """A row of each of the first ``cases``."""
    for name, case in [*CASES.items()][:cases]:
        yield name, lambda name=name, case=case: _row(device, name, case, target, runs)  # type: ignore[misc]


def weights(case: Case) -> list[np.ndarray[Any, Any]]:
    _, channels, _, window = case
    random, shape = np.random.default_rng(0), (channels, channels, window, window)
    scale = np.sqrt(2 / (channels * window * window))
    return [(scale * random.standard_normal(shape)).astype(np.float16) for _ in range(CHAIN)]


def model(case: Case) -> onnx.ModelProto:
    """``CHAIN`` convolutions, each with a border that keeps the pixels, and a ReLU."""
    batch, channels, pixels, window = case
    image = [batch, channels, pixels, pixels]
    nodes, constants, value = [], [], "x"
    for n, array in enumerate(weights(case)):
        constants.append(numpy_helper.from_array(array, f"w{n}"))
        nodes.append(helper.make_node("Conv", [value, f"w{n}"], [f"c{n}"], pads=[window // 2] * 4))
        value = "y" if n == CHAIN - 1 else f"r{n}"
        nodes.append(helper.make_node("Relu", [f"c{n}"], [value]))
    ends = [helper.make_tensor_value_info(name, TensorProto.FLOAT16, image) for name in "xy"]
    graph = helper.make_graph(nodes, "convolutions", ends[:1], ends[1:], constants)
    return helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8)


def in_float64(case: Case, x: np.ndarray[Any, Any]) -> np.ndarray[Any, Any]:
    """The result in float64, an image at a time."""
    return np.stack([_of_image(case, image.astype(np.float64)) for image in x])


def _of_image(case: Case, image: np.ndarray[Any, Any]) -> np.ndarray[Any, Any]:
    channels, window = case[1], case[3]
    border = [(0, 0), (window // 2, window // 2), (window // 2, window // 2)]
    for each in weights(case):
        windows = np.lib.stride_tricks.sliding_window_view(np.pad(image, border), (window, window), axis=(1, 2))
        columns = windows.transpose(0, 3, 4, 1, 2).reshape(channels * window * window, -1)
        image = np.maximum(each.reshape(channels, -1).astype(np.float64) @ columns, 0).reshape(image.shape)
    return image


def _row(device: Device, name: str, case: Case, target: str, runs: int) -> Row:
    batch, channels, pixels, window = case
    x = np.random.default_rng(1).standard_normal((batch, channels, pixels, pixels)).astype(np.float16)
    with compiled(model(case), target=target) as net:
        seconds, out = results_on(device, net, {"x": x}, runs)
        found = out["y"].astype(np.float64)
    seconds /= CHAIN
    wanted = in_float64(case, x)
    theirs = _torch(device, case, x, runs)
    return {
        "case": name,
        "µs": round(1e6 * seconds, 2),
        "TFLOP/s": round(2e-12 * batch * (channels * pixels * window) ** 2 / seconds, 2),
        **judged(found, wanted, "float16"),
        "torch µs": theirs and round(1e6 * theirs, 2),
        "speed of torch": theirs and round(theirs / seconds, 3),
    }


def _torch(device: Device, case: Case, x: np.ndarray[Any, Any], runs: int) -> float | None:
    """Seconds of one of torch's convolutions of the same data, channels last; None where torch has no GPU."""
    torch = torch_on_gpu()
    if torch is None:
        return None
    last = {"memory_format": torch.channels_last}
    image = torch.from_numpy(x).cuda().to(**last)
    filters = [torch.from_numpy(w).cuda().to(**last) for w in weights(case)]

    def run() -> Any:
        value = image
        for each in filters:
            value = torch.relu_(torch.nn.functional.conv2d(value, each, padding=case[3] // 2))
        return value

    with torch.inference_mode():
        return timed(device, recorded(torch, run), runs) / CHAIN
