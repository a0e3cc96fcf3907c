"""Every operator in every version, with all optional attributes and inputs absent, on tensors of rank 3 and 4.

One model an opset has all operators whose version begins there; onnxruntime says which of them it takes and what they
compute. So a default that changed from one version to the next (Softmax's axis) is compared in both.
"""

from __future__ import annotations

import secrets
from collections.abc import Iterator

import numpy as np
import onnx
import onnxruntime
import pytest
from onnx import NodeProto, helper
from onnx.defs import OpSchema

import mlc

OLDEST, NEWEST = 7, 22  # opsets that onnxruntime takes and mlc reads
SHAPES = [(2, 3, 5), (2, 3, 4, 5)]
TYPES = {"tensor(float)": np.float32, "tensor(int64)": np.int64, "tensor(bool)": np.bool_}
RANDOM = {"RandomNormalLike", "RandomUniformLike", "Multinomial", "Bernoulli"}
LENIENT = {("MeanVarianceNormalization", 3), ("Compress", 3), ("Compress", 4)}
"""What onnxruntime takes and ONNX does not: default axes of rank 4 on rank 3, and a condition that is no vector."""
Case = tuple[NodeProto, dict[str, np.ndarray]]


def schemas(opset: int) -> Iterator[OpSchema]:
    """The operators whose version begins at ``opset``, or is the one of the oldest."""
    for schema in onnx.defs.get_all_schemas_with_history():
        if schema.domain == "" and not schema.deprecated and schema.name not in RANDOM:
            latest = onnx.defs.get_schema(schema.name, opset, "") if schema.since_version <= opset else None
            begins = schema.since_version == opset or opset == OLDEST
            if latest is not None and latest.since_version == schema.since_version and begins:
                yield schema


def case(schema: OpSchema, shape: tuple[int, ...], random: np.random.Generator) -> Case | None:
    """A node with the required inputs alone, and random arrays for them; None if an input can be no such tensor."""
    if any(attribute.required for attribute in schema.attributes.values()) or (schema.name, len(shape)) in LENIENT:
        return None
    single, variadic = OpSchema.FormalParameterOption.Single, OpSchema.FormalParameterOption.Variadic
    needed = [given for given in schema.inputs if given.option in (single, variadic)]
    needed += [given for given in schema.inputs if given.option == variadic]  # two of them
    constraints = {each.type_param_str: each.allowed_type_strs for each in schema.type_constraints}
    arrays = {}
    for n, given in enumerate(needed):
        allowed = constraints.get(given.type_str, [given.type_str])
        dtype = next((kind for name, kind in TYPES.items() if name in allowed), None)
        if dtype is None:
            return None
        values = random.integers(0, 2, shape) if dtype != np.float32 else random.standard_normal(shape)
        arrays[f"{schema.name}_{len(shape)}_{n}"] = values.astype(dtype)
    name = f"{schema.name}_{len(shape)}"
    outputs = [f"{name}_out"]
    return helper.make_node(schema.name, list(arrays), outputs, name=name), arrays


def type_of(array: np.ndarray) -> onnx.TypeProto:
    return helper.make_tensor_type_proto(helper.np_dtype_to_tensor_dtype(array.dtype), array.shape)


def model(cases: list[Case], opset: int, types: dict[str, onnx.TypeProto] | None = None) -> onnx.ModelProto:
    given = {name: array for _, arrays in cases for name, array in arrays.items()}
    inputs = [helper.make_value_info(name, type_of(array)) for name, array in given.items()]
    names, types = [node.output[0] for node, _ in cases], types or {}
    outputs = [helper.make_value_info(name, types.get(name, onnx.TypeProto())) for name in names]
    graph = helper.make_graph([node for node, _ in cases], "absent", inputs, outputs)
    return helper.make_model(graph, opset_imports=[helper.make_opsetid("", opset)], ir_version=10)


def reference(each: Case, opset: int) -> np.ndarray | None:
    """What onnxruntime computes; None where it takes no such node, or gives no array."""
    node, arrays = each
    options = onnxruntime.SessionOptions()
    options.log_severity_level = 4
    try:
        inferred = onnx.shape_inference.infer_shapes(model([each], opset), strict_mode=True)
        session = onnxruntime.InferenceSession(inferred.SerializeToString(), options)
        (found,) = session.run([node.output[0]], arrays)
    except Exception:  # onnx's and onnxruntime's own classes, for whatever such a node lacks
        return None
    return found if isinstance(found, np.ndarray) else None


@pytest.mark.parametrize("opset", range(OLDEST, NEWEST + 1))
def test_defaults(opset: int) -> None:
    seed = secrets.randbits(32)
    random = np.random.default_rng(seed)
    cases = [found for schema in schemas(opset) for shape in SHAPES if (found := case(schema, shape, random))]
    pairs = [(each, right) for each in cases if (right := reference(each, opset)) is not None]
    if not pairs:
        pytest.skip("no operator of this version runs without attributes")
    types = {each[0].output[0]: type_of(right) for each, right in pairs}
    net = mlc.compile(model([each for each, _ in pairs], opset, types))
    actual = net.run({name: array for each, _ in pairs for name, array in each[1].items()})
    for each, right in pairs:
        name = each[0].output[0]
        assert (actual[name].dtype, actual[name].shape) == (right.dtype, right.shape), f"seed {seed}: {name}"
        scale = np.abs(right[np.isfinite(right)]).max(initial=1) if right.dtype.kind == "f" else 0
        np.testing.assert_allclose(actual[name], right, 1e-5, 1e-5 * scale, err_msg=f"seed {seed}: {name}")


def test_there_are_enough_cases() -> None:
    """Whatever onnxruntime refuses, most operators are compared."""
    random = np.random.default_rng(0)
    cases = [found for schema in schemas(OLDEST) if (found := case(schema, SHAPES[0], random))]
    compared = {node.op_type for node, arrays in cases if reference((node, arrays), OLDEST) is not None}
    assert {"Softmax", "LogSoftmax", "Hardmax", "Flatten", "ArgMax"} <= compared and len(compared) > 50
