"""Conformance tests whose inputs have open dimensions: ``python test/conformance/open_inputs.py [TEST…]``.

Exporters name an extent that two inputs share in two ways, or not at all. So of one test of each set of operators, one
input after the other has no known extent; what the other inputs say of it has to be enough. Models are imported and
interpreted. The exit code is 1 if a model is refused or wrong that REASONS does not name.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator

from cases import Case, as_array, assert_same, cases, expected_failure
from onnx import ModelProto

from mlc.dialects.semantics.interpreter import interpret
from mlc.errors import MlcError
from mlc.frontends.onnx import import_model

MAX_NODES = 40
REASONS = {  # what of an operator cannot be open, and is refused with a way out; an open extent is not broadcast
    "attention": "attn_mask", "causal_conv": "weight", "deform_conv": "W", "gathernd": "indices",
    "linear_attention": "query", "scatternd": "indices", "mod_broadcast": "y",
    "matmulinteger": "a_zero_point b_zero_point",
    "qlinearmatmul": "a_scale a_zero_point b_scale b_zero_point y_scale y_zero_point",
}  # fmt: skip


def opened(model: ModelProto, name: str) -> ModelProto:
    """Return a copy of ``model`` in which the extents of input ``name``, and all shapes that follow from them, are
    unknown.
    """
    result = ModelProto()
    result.CopyFrom(model)
    shown = [value for value in result.graph.input if value.name == name]
    for value in (*shown, *result.graph.output):
        for dim in value.type.tensor_type.shape.dim:
            dim.Clear()
    del result.graph.value_info[:]
    return result


def inputs_of(model: ModelProto) -> list[str]:
    """Return the names of the inputs that have dimensions."""
    constant = {value.name for value in model.graph.initializer}
    return [v.name for v in model.graph.input if v.name not in constant and v.type.tensor_type.shape.dim]


def compare(case: Case, name: str) -> None:
    """Run the test with input ``name`` open. Raise AssertionError or MlcError if the results differ."""
    imported = import_model(opened(case.model, name))
    names = [value.name for value in case.model.graph.input]
    for given, wanted in case.data_sets:
        feeds = dict(zip(names, (as_array(value) for value in given), strict=False))
        found = interpret(imported.module, imported.weights, feeds)
        for value, array in zip(case.model.graph.output, wanted, strict=True):
            assert_same(found[value.name], as_array(array), case.rtol, case.atol)


def chosen() -> Iterator[str]:
    """Return one test for each set of operators and number of inputs."""
    seen = set()
    for name in sorted(cases()):
        graph = cases()[name].model.graph
        key = (tuple(sorted({node.op_type for node in graph.node})), len(graph.input))
        if key not in seen and len(graph.node) <= MAX_NODES and expected_failure(name, "interpreted") is None:
            seen.add(key)
            yield name


def is_explained(test: str, name: str) -> bool:
    return any(test.startswith(f"test_{start}") and name in names.split() for start, names in REASONS.items())


def main(tests: list[str]) -> bool:
    """Run the chosen tests; return whether all are right."""
    wrong = 0
    for test in tests or chosen():
        several = inputs_of(cases()[test].model)
        for name in several if len(several) > 1 else ():
            try:
                compare(cases()[test], name)
            except (AssertionError, MlcError, ValueError) as error:
                wrong += not is_explained(test, name)
                print(f"{test}, input {name}{' (explained)' if is_explained(test, name) else ''}: {str(error)[:300]}")
    print(f"{wrong} wrong")
    return not wrong


if __name__ == "__main__":
    sys.exit(not main(sys.argv[1:]))
