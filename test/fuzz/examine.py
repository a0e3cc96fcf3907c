"""What mlc makes of a damaged model: an error of its own, or a graph that is right.

Import and verification always; every ``INTERPRET``-th valid graph runs in the interpreter, every ``COMPILE``-th as
code, both on random inputs and compared with onnxruntime where that takes the model.
"""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import onnx
import onnxruntime
from isolate import apart
from onnx.reference import ReferenceEvaluator
from xdsl.dialects.func import FuncOp

import mlc
from mlc.dialects.graph import RunCounterOp, StructuredOp
from mlc.dialects.semantics.dims import DimLike, evaluate, parse_guard, product
from mlc.dialects.semantics.interpreter import interpret, main_of, names
from mlc.dialects.types import STRING, element_of, numpy_dtype, shape_of
from mlc.errors import InputError, RunError
from mlc.frontends.onnx import Imported, UnsupportedError, import_model
from mlc.passes.context import MlcContext
from mlc.passes.graph.verify_graph import VerifyGraph

INTERPRET, COMPILE = 8, 64
LONGEST = 20_000  # characters of an error
WORK = 2_000_000  # points of all statements of a graph that runs
SIZE = 3  # of symbolic dimensions
HUGE = 1e30  # from here on numbers count as infinite
REFUSALS = (InputError, UnsupportedError)


class Judge:
    """Says what is wrong with a case; ``made`` gives the bytes of a model by its number, ``folder`` is for its file."""

    def __init__(self, made: Callable[[int], bytes], folder: Path) -> None:
        self.made = made
        self.folder = folder / "models"
        self.folder.mkdir(parents=True, exist_ok=True)
        (self.folder / "w.bin").write_bytes(bytes(range(256)))
        (folder / "secret").write_bytes(bytes(256))
        if not (self.folder / "link.bin").is_symlink():
            os.symlink(folder / "secret", self.folder / "link.bin")

    def __call__(self, case: int) -> str:
        data = self.made(case)
        path = self.folder / f"{os.getpid()}.onnx"
        if case % 2:
            path.write_bytes(data)
        try:
            imported = import_model(path if case % 2 else data)
        except REFUSALS as error:
            return _unclear(error)
        VerifyGraph().apply(MlcContext(weights=imported.weights), imported.module)
        if case % INTERPRET or _guarded(imported) or _work(imported) > WORK:
            return ""
        return _run(data, imported, case)


def _guarded(imported: Imported) -> bool:
    """Whether the model refuses the sizes that it would run with."""
    guards: Any = main_of(imported.module).attributes.get("graph.guards", ())
    sizes: dict[str, Any] = dict(_sizes(imported))
    return any(evaluate(parse_guard(g.data)[0], sizes) < 0 for g in guards)  # type: ignore[operator]


def _unclear(error: Exception) -> str:
    text = str(error)
    return f"an error of {len(text)} characters" if len(text) > LONGEST or not text.strip() else ""


def _work(imported: Imported) -> int:
    """Points of all statements."""
    sizes = _sizes(imported)
    ops = [op for op in main_of(imported.module).body.block.ops if isinstance(op, StructuredOp)]
    return sum(_count(product(s.bounds), sizes) for op in ops for s in op.statements()) + sum(
        _count(product(shape_of(v)), sizes) for v in main_of(imported.module).body.block.args
    )


def _count(size: DimLike, sizes: dict[str, int]) -> int:
    value = evaluate(size, dict(sizes))
    return value if isinstance(value, int) else WORK + 1


def _sizes(imported: Imported) -> dict[str, int]:
    args = main_of(imported.module).body.block.args
    return {symbol: SIZE for a in args for d in shape_of(a) if not isinstance(d, int) for symbol in d.symbols()}


def feeds(main: FuncOp, sizes: dict[str, int], seed: int) -> dict[str, Any]:
    """Normal floats; whole numbers of 0 and 1, which are valid as indices and conditions; these as strings."""
    random, found = np.random.default_rng(seed), {}
    for name, value in zip(names(main.arg_attrs), main.body.block.args, strict=True):
        shape = [evaluate(d, dict(sizes)) for d in shape_of(value)]
        whole = element_of(value)[0] != "f" and element_of(value) != "bf16"
        low = int(name == "sequence_lens")  # of none onnxruntime gives zeros, mlc the initial state
        drawn = random.integers(low, 2, shape) if whole else random.standard_normal(shape)  # type: ignore[arg-type]
        dtype = np.dtype(str) if element_of(value) == STRING else numpy_dtype(element_of(value))
        found[name] = np.asarray(drawn).astype(dtype)
    return found


def _run(data: bytes, imported: Imported, case: int) -> str:
    main = main_of(imported.module)
    inputs = feeds(main, _sizes(imported), case)
    expected = None if _random(imported) else apart(lambda: by_onnxruntime(data, inputs), 30)
    try:
        ways = [("interpreted", interpret(imported.module, imported.weights, inputs))]
        if case % COMPILE == 0:
            ways.append(("compiled", mlc.compile(data, threads=1 + case % 2).run(inputs)))
    except RunError as error:  # inputs that are shapes, say, and do not fit
        return _unclear(error) if expected is None else f"refused at run time: {error}"
    differs = [f"{way}: {line}" for way, results in ways for line in compare(results, expected)]
    return differs[0] if differs and not _supported(data, inputs, [results for _, results in ways]) else ""


def _random(imported: Imported) -> bool:
    """Whether results come from random numbers, which are others in every implementation."""
    return any(isinstance(op, RunCounterOp) for op in imported.module.walk())


def _supported(data: bytes, inputs: dict[str, Any], results: list[dict[str, Any]]) -> bool:
    """Whether onnx's evaluator gives these results. Of halves, onnxruntime rounds only some, so others overflow."""
    wanted = apart(lambda: by_evaluator(data, inputs), 30)
    return wanted is not None and not any(compare(each, wanted) for each in results)


def by_evaluator(data: bytes, inputs: dict[str, Any]) -> dict[str, Any]:
    """What onnx's own evaluator gives."""
    evaluator = ReferenceEvaluator(onnx.load_from_string(data))
    return dict(zip(evaluator.output_names, evaluator.run(None, inputs), strict=True))


def by_onnxruntime(data: bytes, inputs: dict[str, Any]) -> dict[str, Any]:
    """What onnxruntime gives, node by node as the model has them."""
    options = onnxruntime.SessionOptions()
    options.graph_optimization_level = onnxruntime.GraphOptimizationLevel.ORT_DISABLE_ALL
    options.log_severity_level, options.intra_op_num_threads = 4, 1
    session = onnxruntime.InferenceSession(data, options)
    outputs = [o.name for o in session.get_outputs()]
    return dict(zip(outputs, session.run(outputs, inputs), strict=True))


def compare(results: dict[str, Any], expected: dict[str, Any] | None) -> list[str]:
    """What differs, of the outputs that both give."""
    found = []
    for name, wanted in (expected or {}).items():
        actual = results.get(name)
        if actual is None or not isinstance(wanted, np.ndarray) or wanted.dtype == object:
            continue
        if (actual.dtype, actual.shape) != (wanted.dtype, wanted.shape):
            found.append(f"{name} is {actual.dtype}{actual.shape} in place of {wanted.dtype}{wanted.shape}")
        elif not close(actual, wanted):
            found.append(f"{name} is {actual.ravel()[:6]} in place of {wanted.ravel()[:6]}")
    return found


def close(actual: Any, wanted: Any) -> bool:
    """Within a thousandth of the largest value (of 16 bits: a fiftieth); NaN and huge numbers where they are wanted."""
    if wanted.dtype.kind in "iub":
        return bool((actual == wanted).all())
    share = 2e-2 if wanted.dtype.itemsize == 2 else 1e-3
    actual, wanted = (np.clip(a.astype(np.float64), -HUGE, HUGE) for a in (actual, wanted))
    usual = np.abs(wanted)[np.abs(wanted) < HUGE]
    return np.allclose(actual, wanted, share, share * max(1.0, usual.max(initial=0)), equal_nan=True)
