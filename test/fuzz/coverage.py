"""Which operators and types random graphs never have: `python test/fuzz/coverage.py --count 2000`.

A pair is a registered operator and a type that ONNX allows its first input. Of operators that ONNX does not know there
is no type to tell.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator
from typing import Annotated

import numpy as np
import onnx
import typer
from grow import grown
from onnx import GraphProto, helper
from rich.progress import track

from mlc.frontends.onnx.node import REGISTRY
from mlc.frontends.onnx.ops import load_all

Seen = dict[tuple[str, str], set[str]]  # types of the first inputs by domain and operator


def seen_in(graph: GraphProto, types: dict[str, str], found: Seen) -> None:
    """Note the operators of a graph and its bodies."""
    for node in graph.node:
        first = types.get(node.input[0], "") if node.input else ""
        found[node.domain, node.op_type].add(first)
        for attribute in node.attribute:
            seen_in(attribute.g, types, found)


def types_of(model: onnx.ModelProto) -> dict[str, str]:
    """NumPy's names of the types of values."""
    graph = onnx.shape_inference.infer_shapes(model).graph
    kinds = {v.name: v.type.tensor_type.elem_type for v in (*graph.input, *graph.value_info)}
    kinds |= {t.name: t.data_type for t in graph.initializer}
    return {name: np.dtype(helper.tensor_dtype_to_np_dtype(kind)).name for name, kind in kinds.items() if kind}


def allowed(domain: str, op: str) -> Iterator[str]:
    """NumPy's names of the types that the first input of an operator may have."""
    if not onnx.defs.has(op, domain) or not (schema := onnx.defs.get_schema(op, domain=domain)).inputs:
        return
    for text in schema.inputs[0].types:
        kind = getattr(onnx.TensorProto, text.removeprefix("tensor(").removesuffix(")").upper(), None)
        if text.startswith("tensor(") and kind not in (None, onnx.TensorProto.STRING):
            name = np.dtype(helper.tensor_dtype_to_np_dtype(kind)).name
            if not name.startswith("complex"):
                yield name


def main(
    count: Annotated[int, typer.Option(help="Graphs to grow.")] = 2000,
    seed: Annotated[int, typer.Option(help="Of the first graph.")] = 0,
) -> None:
    """Print what is never there."""
    found: Seen = defaultdict(set)
    for each in track(range(seed, seed + count), "graphs"):
        model = grown(each)
        seen_in(model.graph, types_of(model), found)
    load_all()
    pairs = {(domain, op): set(allowed(domain, op)) for domain, op in REGISTRY}
    for (domain, op), types in sorted(pairs.items()):
        missing = sorted(types - found[domain, op])
        if missing or not found[domain, op]:
            print(f"{domain or 'ai.onnx'} {op}: {' '.join(missing) if found[domain, op] else 'never'}")
    operators, total = sum(bool(found[each]) for each in pairs), sum(map(len, pairs.values()))
    there = sum(len(types & found[each]) for each, types in pairs.items())
    print(f"{operators} of {len(pairs)} operators, {there} of {total} pairs of an operator and a type")


if __name__ == "__main__":
    typer.run(main)
