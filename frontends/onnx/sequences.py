"""Sequences, optionals and maps at the border of a model, as tensors, the only values of compiled code.

x: seq(tensor(float))     →   x.0, x.1: tensor(float);  x = SequenceConstruct(x.0, x.1)
y: seq(tensor(float))     →   y.0, y.1, y.2
y: seq(map(string, tensor(float)))  →   y.keys, y.values
x: map(string, tensor(float))       →   x.keys, x.values

How many elements a sequence has is said before (``dims={"x": 2}``), or by each call of a session or backend.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from onnx import ModelProto, NodeProto, TypeProto, ValueInfoProto, helper

from mlc.errors import InputError


def only_tensors(model: ModelProto) -> bool:
    """Whether no input is a sequence or an optional, so that its tensors have names before it runs."""
    return all(i.type.HasField("tensor_type") or i.type.HasField("map_type") for i in model.graph.input)


def parts_of(info: ValueInfoProto) -> list[str]:
    """The names of the tensors that an input is made of."""
    return [f"{info.name}.keys", f"{info.name}.values"] if info.type.HasField("map_type") else [info.name]


def flattened(inputs: Sequence[ValueInfoProto], given: Mapping[str, Any]) -> dict[str, Any]:
    """Arrays by name: of a dictionary its keys and its values, in the types that the model has for them."""
    found: dict[str, Any] = {}
    for info in inputs:
        if info.name in given and info.type.HasField("map_type"):
            type_, value = info.type.map_type, given[info.name]
            kinds = (type_.key_type, type_.value_type.tensor_type.elem_type)
            for name, part, kind in zip(parts_of(info), (value.keys(), value.values()), kinds, strict=True):
                found[name] = np.array(list(part), helper.tensor_dtype_to_np_dtype(kind))
        elif info.name in given:
            found[info.name] = np.asarray(given[info.name])
    return found


def with_elements(model: ModelProto, feeds: Mapping[str, Any]) -> tuple[ModelProto, dict[str, Any]]:
    """A model that takes the elements of these sequences and optionals as tensors, and these tensors by name."""
    result, flat = ModelProto(), dict[str, Any]()
    result.CopyFrom(model)
    inputs, nodes = list(model.graph.input), list[NodeProto]()
    del result.graph.input[:]
    for info in inputs:
        value = feeds.get(info.name)
        if info.type.HasField("map_type"):
            result.graph.input.append(info)
            flat[info.name] = value
            continue
        if info.type.HasField("tensor_type"):
            if info.name in feeds:
                flat[info.name] = np.asarray(value)
            result.graph.input.append(_info(info.name, flat[info.name]) if info.name in feeds else info)
            continue
        elements = {f"{info.name}.{n}": np.asarray(v) for n, v in enumerate(_elements(value))}
        result.graph.input.extend(_info(name, array) for name, array in elements.items())
        nodes.append(_made(info, list(elements), value))
        flat |= elements
    result.graph.ClearField("node")
    result.graph.node.extend([*nodes, *model.graph.node])
    return result, flat


def with_lengths(model: ModelProto, dims: Mapping[str, int]) -> tuple[ModelProto, dict[str, int]]:
    """A model that takes the elements of the sequences that ``dims`` names as tensors ``x.0``, ``x.1``, …, and an
    optional that it names as a tensor ``x``; and what is left of ``dims``. Elements share no open dimension.

    Raises:
        InputError: several elements of an optional tensor.
    """
    named = {i.name: i.type for i in model.graph.input if i.name in dims and _has_elements(i.type)}
    if not named:
        return model, dict(dims)
    result, inputs, nodes = ModelProto(), list[ValueInfoProto](), list[NodeProto]()
    result.CopyFrom(model)
    for info in model.graph.input:
        elements = _declared(info, dims[info.name]) if info.name in named else [info]
        inputs += elements
        if [each.name for each in elements] != [info.name]:
            nodes.append(helper.make_node("SequenceConstruct", [each.name for each in elements], [info.name]))
    for field, values in (("input", inputs), ("node", [*nodes, *model.graph.node])):
        result.graph.ClearField(field)
        getattr(result.graph, field).extend(values)
    return result, {name: size for name, size in dims.items() if name not in named}


def _has_elements(type_: TypeProto) -> bool:
    return type_.HasField("sequence_type") or type_.HasField("optional_type")


def _declared(info: ValueInfoProto, count: int) -> list[ValueInfoProto]:
    """The tensors that a sequence of ``count`` elements, or an optional, consists of."""
    type_ = info.type.optional_type.elem_type if info.type.HasField("optional_type") else info.type
    if not type_.HasField("sequence_type"):
        if count != 1:
            raise InputError(f"Input '{info.name}' is an optional, of {count} elements", hint=f"Give {info.name}=1")
        return [ValueInfoProto(name=info.name, type=type_)]
    elements = [ValueInfoProto(name=f"{info.name}.{n}", type=type_.sequence_type.elem_type) for n in range(count)]
    for dim in (d for each in elements for d in each.type.tensor_type.shape.dim if d.dim_param):
        dim.Clear()  # each element has sizes of its own
    return elements


def _elements(value: Any) -> Sequence[Any]:
    return value if isinstance(value, list | tuple) else [] if value is None else [value]


def _info(name: str, array: np.ndarray[Any, Any]) -> ValueInfoProto:
    return helper.make_tensor_value_info(name, helper.np_dtype_to_tensor_dtype(array.dtype), array.shape)


def _made(info: ValueInfoProto, names: list[str], value: Any) -> NodeProto:
    """The node that makes the sequence or optional from its elements."""
    if isinstance(value, list | tuple):
        return helper.make_node("SequenceConstruct" if names else "SequenceEmpty", names, [info.name])
    return helper.make_node("Identity" if names else "Optional", names, [info.name])


def layout_of(feeds: Mapping[str, Any]) -> tuple[Any, ...]:
    """The key of a rewritten model: which values are given, and dtypes and shapes of all elements."""
    parts = ((name, type(value).__name__, [np.asarray(v) for v in _elements(value)]) for name, value in feeds.items())
    return tuple((name, kind, tuple((a.dtype.str, a.shape) for a in arrays)) for name, kind, arrays in parts)


def regrouped(outputs: Sequence[ValueInfoProto], results: Mapping[str, Any]) -> list[Any]:
    """The values of a model's outputs from the tensors that the compiled model returns; None for a missing optional."""
    return [_grouped(info, results) for info in outputs]


def _grouped(info: ValueInfoProto, results: Mapping[str, Any]) -> Any:
    type_ = info.type
    if type_.HasField("optional_type"):
        type_ = type_.optional_type.elem_type
    if not type_.HasField("sequence_type"):
        return results.get(info.name)
    if type_.sequence_type.elem_type.HasField("map_type"):
        keys, rows = (results[f"{info.name}.{part}"].tolist() for part in ("keys", "values"))
        return [dict(zip(keys, row, strict=True)) for row in rows]
    indices = range(sum(name.startswith(f"{info.name}.") for name in results))
    return [results[f"{info.name}.{n}"] for n in indices if f"{info.name}.{n}" in results]
