"""Attention of halves on a GPU: the cases, and each beside torch's ``scaled_dot_product_attention``."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

from benchmarks.attention import Shape, arguments, model, reference
from benchmarks.gpu.advance import compiled
from benchmarks.gpu.measurements import ELEMENTS, Row, judged, results_on
from benchmarks.gpu.peers import torch_on_gpu
from benchmarks.gpu.timing import timed
from mlc.dialects.types import numpy_dtype
from mlc.tools.cuda_device import Device

CASES = {
    **{
        f"attention_{n}x{heads}x{size}": Shape(heads, 1, n, n, size, size)
        for n in (512, 2048)
        for heads in (12, 32)
        for size in (64, 128)
    },
    "attention_causal_2048x32x128": Shape(32, 1, 2048, 2048, 128, 128, causal=True),
    "attention_constant_2048x32x128": Shape(32, 1, 2048, 2048, 128, 128, causal=True, constant=True),
    "attention_constant_2048x12x64": Shape(12, 1, 2048, 2048, 64, 64, causal=True, constant=True),
    "attention_grouped_2048x32x128": Shape(32, 4, 2048, 2048, 128, 128),
    "attention_odd_1009x12x80": Shape(12, 1, 1009, 1009, 80, 80),
    "attention_decode_4096x32x128": Shape(32, 4, 1, 4096, 128, 128),
    "attention_decode_4099x32x128": Shape(32, 4, 1, 4099, 128, 128),
    "attention_open_4096x32x128": Shape(32, 4, 1, 4096, 128, 128, open=True),
    "attention_dynamic_2048x12x64": Shape(12, 1, 2048, 2048, 64, 64, dynamic=True),
    "attention_dynamic_causal_2048x12x64": Shape(12, 1, 2048, 2048, 64, 64, causal=True, dynamic=True),
    "attention_dynamic_2048x32x128": Shape(32, 4, 2048, 2048, 128, 128, dynamic=True),
    "attention_three_4096x32x128": Shape(32, 4, 3, 4096, 128, 128),
}
"""Queries (for decoding, keys) × heads × elements of a key: prefill, and one query, or three, of 32 heads that share 8
of keys, whose number ``open`` cases know at run time only, and ``dynamic`` ones that of queries, too."""


LIMITS = {"bfloat16": 3e-2}
"""Of the largest value, as in the tests: a score beside the middle of two bfloat16 is rounded either way."""


def measured(device: Device, target: str, runs: int, elements: list[str]) -> Iterator[tuple[str, Callable[[], Row]]]:
    """A row of each case and element type."""
    for element in elements:
        for name, shape in CASES.items():
            yield name, lambda name=name, shape=shape, element=element: _row(device, name, shape, element, target, runs)  # type: ignore[misc]


def flops(shape: Shape) -> float:
    """The floating-point operations of both products."""
    return 2.0 * shape.heads * shape.queries * shape.keys * (shape.size + shape.value)


def _row(device: Device, name: str, shape: Shape, element: str, target: str, runs: int) -> Row:
    dtype = numpy_dtype({"float16": "f16", "bfloat16": "bf16"}[element])
    arrays = [each.astype(dtype) for each in arguments(shape)]
    inputs = dict(zip(("q", "k", "v", "mask"), arrays, strict=False))
    with compiled(model(shape, ELEMENTS[element]), target=target) as net:
        seconds, out = results_on(device, net, inputs, runs)
        found = out["y"].astype("float64")
    wanted = reference(shape, *(each.astype("float64") for each in arrays), element=dtype)
    theirs = _torch(device, shape, element, arrays, runs)
    return {
        "case": f"{name} {element}",
        "ms": round(1e3 * seconds, 4),
        "TFLOP/s": round(1e-12 * flops(shape) / seconds, 2),
        "GB/s": round(1e-9 * sum(each.nbytes for each in arrays) / seconds, 1),
        **judged(found, wanted, element, LIMITS.get(element)),
        "torch ms": theirs and round(1e3 * theirs, 4),
        "speed of torch": theirs and round(theirs / seconds, 3),
    }


def _torch(device: Device, shape: Shape, element: str, arrays: list[Any], runs: int) -> float | None:
    """Seconds of torch on the same data, by the backend that it chooses; None where torch has no GPU."""
    torch = torch_on_gpu()
    if torch is None:
        return None
    q, k, v = (torch.from_numpy(x.astype("float32")).cuda().to(getattr(torch, element)) for x in arrays[:3])
    attend = torch.nn.functional.scaled_dot_product_attention

    def run() -> None:
        attend(q, k, v, is_causal=shape.causal, enable_gqa=shape.shared > 1)

    return timed(device, run, runs)
