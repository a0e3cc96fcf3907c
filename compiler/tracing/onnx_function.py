"""An ONNX model as a Python function on arrays, whose weights are arguments too."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from onnx import ModelProto, TensorProto, helper

from mlc.dialects.graph.base import optional_axes
from mlc.dialects.semantics.interpreter import main_of
from mlc.dialects.semantics.strings import StringTable
from mlc.dialects.weights import WeightStore
from mlc.driver.cache.digest import of_bytes
from mlc.errors import InputError
from mlc.frontends.array.array import Array, as_array
from mlc.frontends.array.functions.shaping import squeeze
from mlc.frontends.array.transforms.modules import Module, call
from mlc.frontends.onnx import import_model
from mlc.frontends.onnx.reading.data import TensorData
from mlc.plugins import load_operators

FLOATS = (TensorProto.FLOAT16, TensorProto.FLOAT, TensorProto.DOUBLE)
CONSTANTS = ("Dropout", "NonMaxSuppression", "OneHot", "Pad", "Range", "Resize", "Upsample")
"""Operators whose floats are no weights: the importer needs to know them."""


class OnnxFunction:
    """A model as a function of its inputs, and by name of its weights. It is traced, differentiated and compiled like
    every function on arrays.

    ``weights`` are its initializers of floats, of rank 1 and more; ``inputs`` the names of its inputs in order.
    """

    def __init__(self, model: ModelProto, dims: Mapping[str, int]) -> None:
        load_operators()
        open_model, self.weights = _opened(model)
        self.inputs = [x.name for x in open_model.graph.input][: -len(self.weights) or None]
        text = f"{of_bytes(open_model.SerializeToString(deterministic=True))} {sorted(dims.items())}"
        self.module = Module(of_bytes(text.encode()), import_model(open_model, dims))

    def __call__(self, *inputs: Any, weights: Mapping[str, Any] | None = None) -> Any:
        """The model's output, or a tuple of several; ``weights`` replaces those of the model, all or some.

        Raises:
            InputError: another number of inputs, another name of a weight, or arrays of other types or shapes.
        """
        name = self.module.imported.name
        if unknown := set(weights or {}) - set(self.weights):
            raise InputError(f"{name} has no weight {', '.join(sorted(unknown))}", hint="Its weights are in f.weights")
        if len(inputs) != len(self.inputs):
            raise InputError(f"{name} takes {', '.join(self.inputs)}, not {len(inputs)} arrays")
        given = {**self.weights, **(weights or {})}
        results = call(self.module, [as_array(x) for x in (*inputs, *(given[name] for name in self.weights))])
        optional = map(optional_axes, main_of(self.module.imported.module).res_attrs or ())
        results = [self._without_ones(y, axes) for y, axes in zip(results, optional, strict=True)]
        return results[0] if len(results) == 1 else tuple(results)

    def _without_ones(self, y: Array, optional: Sequence[int]) -> Array:
        """A result without its optional axes of one element, as a compiled model gives it."""
        if unknown := [n for n in optional if not isinstance(y.shape[n], int)]:
            what = f"{self.module.imported.name}: axis {unknown[0]} of {list(y.shape)} is only there where it is not 1"
            raise InputError(what, hint="Give the function arrays of known sizes, or dims={...} that fix this one")
        gone = tuple(n for n in optional if y.shape[n] == 1)
        return squeeze(y, gone) if gone else y


def _opened(model: ModelProto) -> tuple[ModelProto, dict[str, Array]]:
    """The model with its weights as further inputs, and the weights."""
    made = ModelProto()
    made.CopyFrom(model)
    fixed = {name for node in made.graph.node if node.op_type in CONSTANTS for name in node.input}
    weights = {t.name: t for t in made.graph.initializer if t.name not in fixed and _is_weight(t)}
    initializers = {t.name for t in made.graph.initializer}
    inputs = [x for x in made.graph.input if x.name not in initializers]
    inputs += [helper.make_tensor_value_info(t.name, t.data_type, t.dims) for t in weights.values()]
    kept = [t for t in made.graph.initializer if t.name not in weights]
    for field, values in ((made.graph.input, inputs), (made.graph.initializer, kept)):
        del field[:]
        field.extend(values)
    data = TensorData(WeightStore(), None, StringTable())
    return made, {name: as_array(data.array(t)) for name, t in weights.items()}


def _is_weight(tensor: TensorProto) -> bool:
    return len(tensor.dims) > 0 and tensor.data_type in FLOATS
