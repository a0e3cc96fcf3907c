"""Models of one operator, interpreted and compiled, against onnxruntime or given results."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import onnx
import onnxruntime
from onnx import ModelProto, helper, numpy_helper

import mlc
from benchmarks.exact_sessions import exact_options
from mlc.dialects.semantics.interpreter import interpret
from mlc.frontends.onnx import import_model

Array = np.ndarray[Any, Any]
ML, MS = "ai.onnx.ml", "com.microsoft"
OPSETS = {"": 22, "ai.onnx.ml": 3, "com.microsoft": 1, "ai.onnx.preview.training": 1}


def single(
    op: str,
    inputs: Mapping[str, Array | None],
    outputs: int = 1,
    *,
    domain: str = "",
    version: int | None = None,
    constants: Sequence[str] = (),
    **attributes: Any,
) -> ModelProto:
    """A model of one node of a version of its domain; inputs in ``constants`` are initializers, None is absent."""
    names = [name if array is not None else "" for name, array in inputs.items()]
    node = helper.make_node(op, names, [f"y{n}" for n in range(outputs)], domain=domain, **attributes)
    given = {n: a for n, a in inputs.items() if a is not None}
    kinds = {n: helper.np_dtype_to_tensor_dtype(a.dtype) for n, a in given.items()}
    infos = [helper.make_tensor_value_info(n, kinds[n], a.shape) for n, a in given.items() if n not in constants]
    tensors = [numpy_helper.from_array(given[n], n) for n in constants]
    results = [onnx.ValueInfoProto(name=name) for name in node.output]
    opsets = {"": OPSETS[""], domain: OPSETS[domain] if version is None else version}
    graph = helper.make_graph([node], op, infos, results, tensors)
    return helper.make_model(graph, opset_imports=[helper.make_opsetid(*o) for o in opsets.items()], ir_version=10)


def by_onnxruntime(model: ModelProto, feeds: Mapping[str, Array]) -> list[Array]:
    """The results of onnxruntime on the CPU, without its graph optimizations."""
    options = exact_options(model)
    options.graph_optimization_level = onnxruntime.GraphOptimizationLevel.ORT_DISABLE_ALL
    session = onnxruntime.InferenceSession(model.SerializeToString(), options, providers=["CPUExecutionProvider"])
    return session.run(None, dict(feeds))


def agrees(
    op: str,
    inputs: Mapping[str, Array | None],
    outputs: int = 1,
    *,
    wanted: Sequence[Array] | None = None,
    rtol: float = 2e-5,
    steps: int = 0,
    constants: Sequence[str] = (),
    compiled: bool = True,
    **how: Any,
) -> None:
    """mlc gives what onnxruntime gives (or ``wanted``), in whole numbers within ``steps``."""
    model = single(op, inputs, outputs, constants=constants, **how)
    feeds = {n: a for n, a in inputs.items() if a is not None and n not in constants}
    expected = by_onnxruntime(model, feeds) if wanted is None else wanted
    for results in ways(model, feeds, compiled):
        for actual, right in zip(results.values(), expected, strict=True):
            close(actual, right, rtol, steps)


def ml(op: str, inputs: Mapping[str, Array], outputs: int = 1, **how: Any) -> None:
    """An operator of ai.onnx.ml; see ``agrees``."""
    agrees(op, inputs, outputs, domain=ML, **how)


def ways(model: ModelProto, feeds: Mapping[str, Array], compiled: bool = True) -> list[dict[str, Array]]:
    """The results by name: interpreted, and compiled."""
    imported = import_model(model)
    imported.module.verify()
    found = [interpret(imported.module, imported.weights, feeds)]
    return [*found, mlc.compile(model).run(feeds)] if compiled else found


def close(actual: Array, right: Array, rtol: float, steps: int = 0) -> None:
    """Equal dtypes and shapes; values within ``rtol`` of the largest, whole numbers within ``steps``."""
    assert (actual.dtype, actual.shape) == (right.dtype, right.shape)
    if right.dtype == object:
        assert actual.tolist() == right.tolist()
    elif right.dtype.kind == "f":
        atol = rtol * float(np.abs(right[np.isfinite(right)]).max(initial=0))
        np.testing.assert_allclose(actual.astype("f8"), right.astype("f8"), rtol=rtol, atol=atol)
    else:
        assert np.abs(actual.astype("i8") - right.astype("i8")).max(initial=0) <= steps


def ms(op: str, inputs: dict[str, Any], outputs: int = 1, **how: Any) -> None:
    """``agrees`` for an operator of com.microsoft."""
    agrees(op, inputs, outputs, **{"domain": MS, **how})


def normal(rng: np.random.Generator, *shape: int) -> Array:
    return rng.standard_normal(shape).astype("f4")
