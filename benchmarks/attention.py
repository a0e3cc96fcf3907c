"""Attention alone, beside onnxruntime and torch: CPU time of one thread, in turn, as ratios.

    python -m benchmarks.attention [SHAPE…] [--seconds 4]

A shape is that of ViT-Tiny (197 tokens), CLIP (257), ViT (577), GPT-2 (512, with a causal mask), a Llama with grouped
queries (1024), or one of long or prime lengths. ``constant_…`` have a causal mask that is a constant, whose masked
blocks are not executed (torch: ``is_causal``); that of the other causal ones is an input. Engines get the same arrays;
the largest difference from float64 is of the largest value.
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Callable
from dataclasses import dataclass
from statistics import median

import numpy as np
import onnx
from onnx import TensorProto, helper

import mlc
from benchmarks.engines import installed

Run = Callable[[list[np.ndarray]], np.ndarray]


@dataclass(frozen=True)
class Shape:
    """Heads of queries, heads that share keys, queries, keys, elements of a key and of a value."""

    heads: int
    shared: int
    queries: int
    keys: int
    size: int
    value: int
    causal: bool = False
    constant: bool = False  # the mask is a constant of the model, and no input
    open: bool = False  # the number of keys is a symbolic dimension
    dynamic: bool = False  # so is that of queries


SHAPES = {
    "vit_tiny": Shape(3, 1, 197, 197, 64, 64),
    "clip": Shape(16, 1, 257, 257, 64, 64),
    "vit_384": Shape(12, 1, 577, 577, 64, 64),
    "gpt2_512": Shape(12, 1, 512, 512, 64, 64, causal=True),
    "llama_1024": Shape(16, 4, 1024, 1024, 64, 64, causal=True),
    "constant_512": Shape(12, 1, 512, 512, 64, 64, causal=True, constant=True),
    "constant_2048": Shape(12, 1, 2048, 2048, 64, 64, causal=True, constant=True),
    "prime_1009": Shape(12, 1, 1009, 1009, 64, 64),
    "long_2048": Shape(8, 1, 2048, 2048, 64, 64),
    "long_4096": Shape(4, 1, 4096, 4096, 64, 64),
    "values_128": Shape(8, 1, 2048, 2048, 64, 128),
}


def model(shape: Shape, element: int = TensorProto.FLOAT) -> onnx.ModelProto:
    """softmax(q kT / sqrt(size) + mask) v as exporters write it; shared keys and values are repeated by Expand."""
    s = shape
    own = s.heads // s.shared
    keys: int | str = "keys" if s.open or s.dynamic else s.keys
    queries: int | str = "queries" if s.dynamic else s.queries
    inputs = {"q": [1, s.heads, queries, s.size], "k": [1, own, keys, s.size], "v": [1, own, keys, s.value]}
    inputs |= {"mask": [queries, keys]} if s.causal and not s.constant else {}
    nodes = [node for name in "kv" for node in _repeated(name, s)]
    nodes += [
        helper.make_node("Transpose", ["k_all"], ["columns"], perm=[0, 1, 3, 2]),
        helper.make_node("MatMul", ["q", "columns"], ["products"]),
        helper.make_node("Mul", ["products", "scale"], ["scaled"]),
        *([helper.make_node("Add", ["scaled", "mask"], ["masked"])] if s.causal else []),
        helper.make_node("Softmax", ["masked" if s.causal else "scaled"], ["weights"], axis=-1),
        helper.make_node("MatMul", ["weights", "v_all"], ["y"]),
    ]
    constants = [helper.make_tensor("scale", element, [], [s.size**-0.5])]
    for name in "kv" if shape.shared > 1 else "":
        size = {"k": s.size, "v": s.value}[name]
        wide, merged = [1, own, s.shared, 1, 1], [1, s.heads, keys if isinstance(keys, int) else -1, size]
        constants += [_ints(f"{name}_wide", wide), _ints(f"{name}_shape", merged)]
    values = [helper.make_tensor_value_info(n, element, dims) for n, dims in inputs.items()]
    result = helper.make_tensor_value_info("y", element, [1, s.heads, queries, s.value])
    constants += [_ints("axes", [2])] if s.shared > 1 else []
    constants += [_mask(s, element)] if s.causal and s.constant else []
    graph = helper.make_graph(nodes, "attention", values, [result], constants)
    return helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8)


def causal_mask(shape: Shape) -> np.ndarray:
    return np.where(np.tri(shape.queries, shape.keys, dtype=bool), 0, -np.inf).astype(np.float32)


def _mask(shape: Shape, element: int) -> onnx.TensorProto:
    mask = causal_mask(shape).astype(helper.tensor_dtype_to_np_dtype(element))
    return helper.make_tensor("mask", element, mask.shape, mask.tobytes(), raw=True)


def _ints(name: str, values: list[int]) -> onnx.TensorProto:
    return helper.make_tensor(name, TensorProto.INT64, [len(values)], values)


def _repeated(name: str, shape: Shape) -> list[onnx.NodeProto]:
    if shape.shared == 1:
        return [helper.make_node("Identity", [name], [f"{name}_all"])]
    return [
        helper.make_node("Unsqueeze", [name, "axes"], [f"{name}_one"]),
        helper.make_node("Expand", [f"{name}_one", f"{name}_wide"], [f"{name}_each"]),
        helper.make_node("Reshape", [f"{name}_each", f"{name}_shape"], [f"{name}_all"]),
    ]


F64 = np.dtype(np.float64)


def arguments(shape: Shape) -> list[np.ndarray]:
    own, normal = shape.heads // shape.shared, np.random.default_rng().standard_normal
    dims = [(shape.heads, shape.queries, shape.size), (own, shape.keys, shape.size), (own, shape.keys, shape.value)]
    arrays = [normal((1, *d)).astype(np.float32) for d in dims]
    return [*arrays, causal_mask(shape)] if shape.causal and not shape.constant else arrays


def reference(
    shape: Shape, q: np.ndarray, k: np.ndarray, v: np.ndarray, *mask: np.ndarray, element: np.dtype = F64
) -> np.ndarray:
    """In float64; products and scores are rounded to ``element``, which the model's tensors have."""
    mask = (causal_mask(shape),) if shape.causal and shape.constant else mask
    k, v = (x.astype(np.float64).repeat(shape.shared, axis=1) for x in (k, v))
    products = (q.astype(np.float64) @ k.swapaxes(2, 3)).astype(element).astype(np.float64)
    scores = (products * shape.size**-0.5).astype(element).astype(np.float64) + (mask[0] if mask else 0)
    power = np.exp(scores - scores.max(-1, keepdims=True))
    return np.asarray(power / power.sum(-1, keepdims=True) @ v)


def engines(shape: Shape) -> dict[str, Run]:
    proto = model(shape)
    net = mlc.compile(proto, threads=1)
    found: dict[str, Run] = {"mlc": lambda args: np.asarray(net(*args))}
    if installed("onnxruntime"):
        import onnxruntime as ort

        options = ort.SessionOptions()
        options.intra_op_num_threads = 1
        session = ort.InferenceSession(proto.SerializeToString(), options)
        names = [i.name for i in session.get_inputs()]
        found["onnxruntime"] = lambda args: np.asarray(session.run(None, dict(zip(names, args, strict=True)))[0])
    if installed("torch"):
        found["torch"] = _torch(shape)
    return found


def _torch(shape: Shape) -> Run:
    import torch
    from torch.nn.functional import scaled_dot_product_attention

    torch.set_num_threads(1)

    def run(args: list[np.ndarray]) -> np.ndarray:
        q, k, v = (torch.from_numpy(a) for a in args[:3])
        with torch.no_grad():
            options = {"is_causal": shape.causal, "enable_gqa": shape.shared > 1}
            return np.asarray(scaled_dot_product_attention(q, k, v, **options))

    return run


def measure(shape: Shape, seconds: float) -> tuple[dict[str, float], dict[str, float]]:
    """Milliseconds of each engine, and its largest difference from float64."""
    args, runs = arguments(shape), engines(shape)
    expected = reference(shape, *args)
    errors = {name: float(np.abs(run(args) - expected).max() / np.abs(expected).max()) for name, run in runs.items()}
    times: dict[str, list[float]] = {name: [] for name in runs}
    start = time.perf_counter()
    while time.perf_counter() - start < seconds or len(times["mlc"]) < 5:
        for name, run in runs.items():
            before = time.process_time()
            run(args)
            times[name].append(time.process_time() - before)
    return {name: 1e3 * median(each) for name, each in times.items()}, errors


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("shapes", nargs="*", metavar="SHAPE", help=f"of {', '.join(SHAPES)}; default: all")
    parser.add_argument("--seconds", type=float, default=4, help="of each shape, default 4")
    options = parser.parse_args()
    for name in options.shapes or SHAPES:
        times, errors = measure(SHAPES[name], options.seconds)
        each = "  ".join(f"{e} {t:8.2f} ms ({t / times['mlc']:.2f}, {errors[e]:.0e})" for e, t in times.items())
        print(f"{name:12} {each}", flush=True)


if __name__ == "__main__":
    main()
