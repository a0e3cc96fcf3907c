"""Steps of layers and of operators on images in other types than float32."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from any_steps import SINGLE, kinds, put_back, source
from growing import Graph

Use = tuple[list[str], tuple[int, ...], dict[str, Any]]  # inputs, shape of the result, attributes


def _layers(g: Graph, kind: str) -> dict[str, Callable[[], Use]]:
    n, c, h, w = (g.random.randint(1, 4) for _ in range(4))
    h, w, f = h + 2, w + 2, g.random.randint(1, 6)

    def new(*shape: int) -> str:
        return source(g, shape, kind)

    def positive(*shape: int) -> str:
        return source(g, shape, kind, 0.5, 2)

    x = new(n, c, h, w)
    same, pool = (n, c, h, w), {"kernel_shape": [2, 2]}
    return {
        "Conv": lambda: ([x, new(f, c, 3, 3)], (n, f, h - 2, w - 2), {}),
        "ConvTranspose": lambda: ([x, new(c, f, 2, 2)], (n, f, h + 1, w + 1), {}),
        "MaxPool": lambda: ([x], (n, c, h - 1, w - 1), pool),
        "AveragePool": lambda: ([x], (n, c, h - 1, w - 1), pool),
        "GlobalAveragePool": lambda: ([x], (n, c, 1, 1), {}),
        "LayerNormalization": lambda: ([x, new(w), new(w)], same, {"epsilon": 0.1}),
        "InstanceNormalization": lambda: ([x, new(c), new(c)], same, {"epsilon": 0.1}),
        "BatchNormalization": lambda: ([x, new(c), new(c), new(c), positive(c)], same, {"epsilon": 0.1}),
        "LpNormalization": lambda: ([positive(h, w)], (h, w), {}),
        "Gemm": lambda: ([new(h, c), new(c, f), new(f)], (h, f), {}),
        "Einsum": lambda: ([new(h, c), new(c, f)], (f, h), {"equation": "hc,cf->fh"}),
        "PRelu": lambda: ([x, new(w)], same, {}),
        "ReduceMean": lambda: ([x, g.constant([3])], (n, c, h, 1), {}),
        "ReduceL2": lambda: ([x, g.constant([1])], (n, 1, h, w), {}),
        "ReduceLogSumExp": lambda: ([x, g.constant([2])], (n, c, 1, w), {}),
        "Sum": lambda: ([x, new(w)], same, {}),
    }


def layer(g: Graph) -> None:
    """A layer on floats of other widths."""
    kind = g.random.choice(SINGLE)
    uses = _layers(g, kind)
    op = g.random.choice([op for op in uses if kind in kinds(op, g.opset)])
    inputs, shape, how = uses[op]()
    y = g.add(op, inputs, shape, last=True, **how)
    put_back(g, y, kind)


def _images(g: Graph, kind: str) -> dict[str, Use]:
    x = source(g, (n := g.random.randint(1, 3), 4, 4, 6), kind)
    nearest = {"mode": "nearest", "coordinate_transformation_mode": "asymmetric", "nearest_mode": "floor"}
    return {
        "DepthToSpace": ([x], (n, 1, 8, 12), {"blocksize": 2}),
        "SpaceToDepth": ([x], (n, 16, 2, 3), {"blocksize": 2}),
        "Resize": ([x, "", g.constant(np.float32([1, 1, 2, 3]))], (n, 4, 8, 18), nearest),
        "MaxPool": ([x], (n, 4, 3, 5), {"kernel_shape": [2, 2]}),
        "Squeeze": ([g.add("Unsqueeze", [x, g.constant([0])], (1, n, 4, 4, 6), last=True), g.constant([0])],
                    (n, 4, 4, 6), {}),
    }  # fmt: skip


def image(g: Graph) -> None:
    """Images of any type that are rearranged."""
    kind = g.random.choice([k for k in kinds("Tile", g.opset) if k in kinds("Resize", g.opset) and k != "bool"])
    uses = _images(g, kind)
    op = g.random.choice([op for op in uses if kind in kinds(op, g.opset)])
    inputs, shape, how = uses[op]
    put_back(g, g.add(op, inputs, shape, last=True, **how), kind)


def counted(g: Graph) -> None:
    """Where elements of any type are not zero, and which are different."""
    kind = g.random.choice([k for k in kinds("Tile", g.opset) if np.dtype(k).kind in "iufb" and k != "bfloat16"])
    shape = (g.random.randint(1, 5), g.random.randint(1, 6))
    x = g.new(shape, kind)
    op = g.random.choice(["NonZero", "EyeLike", "Unique"])
    if op == "NonZero":
        g.add(op, [x], (2, None), "int64", last=True)  # type: ignore[arg-type]
    elif op == "EyeLike":
        g.add(op, [x], shape, last=True, k=1)
    elif kind in ("int8", "int64", "float64"):
        g.add(op, [x], (None,), last=True)  # type: ignore[arg-type]


LAYERS: tuple[Callable[[Graph], None], ...] = (layer, layer, layer, image, image, counted)
