"""Passes of stages graph, layout and fuse keep what a graph computes.

The inputs of their lit tests are interpreted on random data before and after the passes of the test's RUN line.
"""

from __future__ import annotations

import itertools
import re
from collections.abc import Sequence
from pathlib import Path

import numpy as np
import pytest
from xdsl.dialects import get_all_dialects
from xdsl.dialects.builtin import ModuleOp
from xdsl.dialects.func import FuncOp
from xdsl.parser import Parser
from xdsl.passes import ModulePass, PassPipeline

import mlc.target
from mlc.dialects.graph import WeightOp
from mlc.dialects.semantics.dims import evaluate, symbols_of
from mlc.dialects.semantics.evaluate import Array
from mlc.dialects.semantics.interpreter import bind_symbols, run_block
from mlc.dialects.types import element_of, numpy_dtype, shape_of
from mlc.dialects.weights import WeightStore
from mlc.errors import MlcError
from mlc.passes.context import MlcContext
from mlc.universe import UNIVERSE

ROOT = Path(__file__).parents[3]
FILES = ROOT / "test" / "filecheck" / "passes"
STAGES = ("graph", "layout", "fuse")
PASSES = {path.stem.replace("_", "-") for stage in STAGES for path in (ROOT / "passes" / stage).glob("[!_]*.py")}
OTHERS = {"verify-graph", "verify-layout", "differentiate"}  # change nothing, or mean to change values
EXTENTS = (3, 5, 2)  # of symbolic dimensions, in order of their names
RUN = re.compile(
    r"// RUN: mlc-opt %s (?:.*--for-target (?P<target>\S+) )?(?:.*?)-p (?:'(?P<quoted>[^']*)'|(?P<plain>\S+))"
)
TOLERANCE = {"winograd": 1e-4, "winograd-gradients": 1e-5}  # of the largest value; else 1e-6
ROUNDED = {"fuse/reassociate-sums-2": 2**-11}
"""Inputs whose terms are rounded to halves before the pass and not after it: half a unit in the last place of halves,
of the largest value."""


def inputs() -> list[tuple[str, str, str, str]]:
    """(name, target, pipeline, text) of each module in the lit tests of the three stages."""
    found = []
    for file in sorted(path for stage in STAGES for path in (FILES / stage).glob("*.mlir")):
        text = file.read_text()
        run = RUN.match(text)
        assert run, f"{file} begins with no RUN line"
        for n, module in enumerate(text.split("// -----")):
            target = run["target"] or "x86-64-v4"
            found.append((f"{file.parent.name}/{file.stem}-{n}", target, run["quoted"] or run["plain"], module))
    return found


def pipeline(text: str) -> list[ModulePass]:
    """The passes of a pipeline up to the first of a later stage."""
    passes = PassPipeline.parse_spec(UNIVERSE.all_passes, text).passes
    return list(itertools.takewhile(lambda each: each.name in PASSES - OTHERS, passes))


def context(target: str) -> MlcContext:
    ctx = MlcContext(target=mlc.target.get(target))
    for name, dialect in {**get_all_dialects(), **UNIVERSE.all_dialects}.items():
        ctx.register_dialect(name, dialect)
    return ctx


def arguments(function: FuncOp) -> list[Array]:
    """Random operands; a predicate is true, so that loops run."""
    random = np.random.default_rng(11)
    symbols = sorted(set().union(*(symbols_of(shape_of(a)) for a in function.args)))
    extents = {s: EXTENTS[n % len(EXTENTS)] for n, s in enumerate(symbols)}

    return [random_array(random, [int(evaluate(d, extents)) for d in shape_of(a)], element_of(a))  # type: ignore[arg-type]
            for a in function.args]


def random_array(random: np.random.Generator, shape: Sequence[int], element: str) -> Array:
    if element == "i1":
        return random.random(shape) < 0.7 if shape else np.array(True)
    if element in ("i8", "ui8"):
        return random.integers(-100 if element == "i8" else 0, 127, shape).astype(numpy_dtype(element))
    if element[0] in "iu":
        return random.integers(1, 3, shape).astype(numpy_dtype(element))
    return random.standard_normal(shape).astype(numpy_dtype(element))


def results(module: ModuleOp, weights: WeightStore) -> dict[str, list[Array]]:
    """What each function of a module gives."""
    found = {}
    for function in (op for op in module.ops if isinstance(op, FuncOp)):
        given = arguments(function)
        with np.errstate(all="ignore"):
            symbols = bind_symbols(function, given)
            found[function.sym_name.data] = run_block(function.body.block, given, weights, symbols)
    return found


def store(module: ModuleOp) -> WeightStore:
    weights, random = WeightStore(), np.random.default_rng(12)
    for op in (o for o in module.walk() if isinstance(o, WeightOp)):
        if op.entry.data not in weights:
            weights.add(op.entry.data, random_array(random, shape_of(op.result), element_of(op.result)))
    return weights


CASES = inputs()


def parsed(target: str, text: str) -> tuple[MlcContext, ModuleOp]:
    ctx = context(target)
    module = Parser(ctx, text).parse_module()
    ctx.weights = store(module)
    return ctx, module


@pytest.mark.parametrize(("name", "target", "passes", "text"), CASES, ids=[case[0] for case in CASES])
def test_values_stay(name: str, target: str, passes: str, text: str) -> None:
    steps = pipeline(passes)
    if not steps:
        pytest.skip("no pass that keeps values")
    ctx, module = parsed(target, text)
    try:
        before = results(module, ctx.weights)
    except (MlcError, IndexError) as error:
        pytest.skip(f"the input has no value: {error}")
    assert before, f"{name} has no function"
    try:
        for step in steps:
            step.apply(ctx, module)
    except MlcError as error:
        pytest.skip(f"refused: {error}")
    module.verify()
    after = results(module, ctx.weights)
    for function, arrays in before.items():
        for expected, actual in zip(arrays, after[function], strict=True):
            assert actual.dtype == expected.dtype
            scale = np.abs(expected[np.isfinite(expected)]).max(initial=1) if expected.dtype.kind == "f" else 0
            atol = scale * ROUNDED.get(name, max(TOLERANCE.get(step.name, 1e-6) for step in steps))
            np.testing.assert_allclose(actual, expected, rtol=1e-5, atol=atol, err_msg=f"{name}: {function}")


@pytest.mark.parametrize("passed", sorted(PASSES - OTHERS))
def test_each_pass_changes_an_input(passed: str) -> None:
    """The test above would hold for a pass that does nothing."""
    for _, target, passes, text in CASES:
        steps = pipeline(passes)
        if any(step.name == passed for step in steps) and changes(target, text, steps, passed):
            return
    pytest.fail(f"no input of a lit test is changed by {passed}")


def changes(target: str, text: str, steps: list[ModulePass], passed: str) -> bool:
    ctx, module = parsed(target, text)
    try:
        for step in steps:
            old = str(module)
            step.apply(ctx, module)
            if step.name == passed and str(module) != old:
                return True
    except MlcError:
        pass
    return False
