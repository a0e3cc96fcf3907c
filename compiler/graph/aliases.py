"""Names that TensorFlow 1 has for functions of ``mlc.numpy`` and ``mlc.nn``."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from types import SimpleNamespace
from typing import Any

import numpy as np

import mlc.numpy as mnp
from mlc import nn
from mlc.frontends.array.array import Array, as_array
from mlc.graph.node import Call
from mlc.graph.operation import Operation

Axis = int | Sequence[int] | None


def _reduction(name: str) -> Callable[..., Array]:
    function = getattr(mnp, name)

    def reduce(x: Any, axis: Axis = None, keepdims: bool = False, name: Any = None, **other: Any) -> Array:
        axis = other.get("reduction_indices", axis)
        chosen = tuple(axis) if isinstance(axis, list) else axis
        return function(as_array(x), axis=chosen, keepdims=other.get("keep_dims", keepdims))

    reduce.__name__, reduce.__qualname__ = f"reduce_{name}", f"reduce_{name}"
    reduce.__doc__ = f"``mlc.numpy.{name}``."
    return reduce


reduce_sum, reduce_mean, reduce_max, reduce_min, reduce_prod, reduce_any, reduce_all = map(
    _reduction, ("sum", "mean", "max", "min", "prod", "any", "all")
)


def cast(x: Any, dtype: Any, name: Any = None) -> Array:
    """The elements in another type."""
    return as_array(x).astype(dtype)


def concat(values: Sequence[Any], axis: int = 0, name: Any = None) -> Array:
    """Arrays one after another along an axis."""
    return mnp.concat([as_array(x) for x in values], axis=axis)


def transpose(x: Any, perm: Sequence[int] | None = None, axes: Sequence[int] | None = None) -> Array:
    """The dimensions in another order, by default the opposite one."""
    order = perm if perm is not None else axes
    return mnp.transpose(as_array(x), None if order is None else tuple(order))


def clip_by_value(x: Any, clip_value_min: Any, clip_value_max: Any) -> Array:
    """Elements within bounds."""
    return mnp.clip(as_array(x), clip_value_min, clip_value_max)


def constant(value: Any, dtype: Any = None, shape: Any = None, name: str = "constant") -> Call:
    """A node of an array that never changes; ``shape``: a number repeated, or the elements in that shape."""
    made = as_array(value)
    if dtype is not None:
        made = made.astype(dtype)
    if shape is not None:
        wanted = tuple(shape)
        made = mnp.broadcast_to(made, wanted) if made.size == 1 else mnp.reshape(made, wanted)
    return Call(as_array, as_array(made.numpy()), name=name)


class _Random(Operation):
    """Random numbers, others in each run; of equal ``seed`` the same sequence in each session of a process."""

    def __init__(self, name: str, draw: str, shape: Sequence[int], a: float, b: float, dtype: Any, seed: Any) -> None:
        super().__init__((), name=name)
        self.random, self.draw = np.random.default_rng(seed), draw
        self.parameters, self.shape, self.dtype = (a, b), tuple(shape), np.dtype(dtype)

    def compute(self, *values: Any) -> Any:
        return getattr(self.random, self.draw)(*self.parameters, self.shape).astype(self.dtype)


def random_normal(
    shape: Sequence[int], mean: float = 0.0, stddev: float = 1.0, dtype: Any = np.float32, seed: Any = None,
    name: str = "random_normal",
) -> Operation:  # fmt: skip
    """Normal numbers, others in each run."""
    return _Random(name, "normal", shape, mean, stddev, dtype, seed)


def random_uniform(
    shape: Sequence[int], minval: float = 0.0, maxval: float = 1.0, dtype: Any = np.float32, seed: Any = None,
    name: str = "random_uniform",
) -> Operation:  # fmt: skip
    """Evenly distributed numbers, others in each run."""
    return _Random(name, "uniform", shape, minval, maxval, dtype, seed)


def softmax_cross_entropy_with_logits(labels: Any, logits: Any, axis: int = -1, name: Any = None) -> Array:
    """The cross entropy of each row, for labels that are probabilities."""
    return -mnp.sum(as_array(labels) * nn.log_softmax(logits, axis=axis), axis=axis)


def sparse_softmax_cross_entropy_with_logits(labels: Any, logits: Any, name: Any = None) -> Array:
    """The cross entropy of each row, for labels that are numbers of classes."""
    chosen = mnp.take_along_axis(nn.log_softmax(logits), as_array(labels)[..., None], axis=-1)
    return -chosen[..., 0]


def sigmoid_cross_entropy_with_logits(labels: Any, logits: Any, name: Any = None) -> Array:
    """The binary cross entropy of each element."""
    x, z = as_array(logits), as_array(labels)
    return mnp.maximum(x, 0.0) - x * z + mnp.log1p(mnp.exp(-mnp.abs(x)))


def l2_loss(x: Any, name: Any = None) -> Array:
    """Half of the sum of squares."""
    return mnp.sum(as_array(x) ** 2) / 2


def bias_add(value: Any, bias: Any, name: Any = None) -> Array:
    """The sum."""
    return as_array(value) + as_array(bias)


TRACED: dict[str, Callable[..., Any]] = {
    f.__name__: f
    for f in (reduce_sum, reduce_mean, reduce_max, reduce_min, reduce_prod, reduce_any, reduce_all, cast, concat,
              transpose, clip_by_value, softmax_cross_entropy_with_logits, l2_loss, bias_add,
              sparse_softmax_cross_entropy_with_logits, sigmoid_cross_entropy_with_logits)
}  # fmt: skip
"""Functions on arrays; the module makes nodes of their calls."""
OTHERS = {"mul": "multiply", "sub": "subtract", "div": "divide", "neg": "negative", "truediv": "divide",
          "to_float": "float", "dot": "dot", "to_int32": "int32", "range": "arange", "logical_and": "logical_and",
          "pack": "stack", "batch_matmul": "matmul", "tile": "tile", "identity": "positive"}  # fmt: skip
NODES = {"constant": constant, "random_normal": random_normal, "random_uniform": random_uniform,
         "truncated_normal": random_normal}  # fmt: skip
RANDOM = SimpleNamespace(normal=random_normal, uniform=random_uniform)
