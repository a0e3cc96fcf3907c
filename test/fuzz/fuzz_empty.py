"""Runs ONNX's node tests with extents of 0 and compares with onnxruntime: `python test/fuzz/fuzz_empty.py --count 200`.

In each, all axes of the inputs that have one size, or one axis alone, become 0:
as a fixed extent, and as an open dimension that is 0 at run time. What onnxruntime runs must give the same.
"""

from __future__ import annotations

import warnings
from collections import defaultdict
from collections.abc import Iterator, Sequence
from functools import cache
from random import Random, SystemRandom
from typing import Annotated, Any

import numpy as np
import onnxruntime
import typer
from isolate import apart, judged
from onnx import ModelProto, TensorProto, numpy_helper

import mlc
from mlc.errors import InternalError, MlcError, ToolchainError
from mlc.frontends.onnx.errors import UnsupportedError

SECONDS = 120.0
RANDOM = ("Random", "Bernoulli", "Multinomial", "Dropout")
Axis = tuple[int, int]  # of an input
onnxruntime.set_default_logger_severity(4)


@cache
def tests() -> dict[str, list[Any]]:
    """Node tests whose inputs are tensors, by operator."""
    found = defaultdict(list)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        from onnx.backend.test.loader import load_model_tests

        for case in load_model_tests(kind="node"):
            op = case.model.graph.node[-1].op_type
            if len(case.data_sets) == 1 and "expanded" not in case.name and not op.startswith(RANDOM):
                found[op].append(case)
    return found


def cases(count: int, seed: int) -> list[tuple[str, ModelProto, dict[str, Any], list[Axis]]]:
    """``count`` tests with the axes that become 0, all operators in turn; a seed draws others."""
    random = Random(seed)
    operators = {op: random.sample(each, len(each)) for op, each in sorted(tests().items())}
    names = random.sample(list(operators), len(operators))
    found: list[Any] = []
    for turn in range(max(map(len, operators.values()))):
        for op in names:
            if turn < len(operators[op]) and (one := _drawn(operators[op][turn], random)):
                found.append(one)
            if len(found) == count:
                return found
    return found


def inputs_of(case: Any) -> dict[str, Any]:
    """A test's inputs by name."""
    values = [numpy_helper.to_array(v) if isinstance(v, TensorProto) else v for v in case.data_sets[0][0]]
    return dict(zip([i.name for i in case.model.graph.input], values, strict=False))


def _drawn(case: Any, random: Random) -> tuple[str, ModelProto, dict[str, Any], list[Axis]] | None:
    feeds = inputs_of(case)
    values = list(feeds.values())
    if not all(isinstance(v, np.ndarray) for v in values) or len(values) != len(case.model.graph.input):
        return None
    axes = [(n, axis) for n, value in enumerate(values) for axis in range(value.ndim)]
    groups = [[(n, a) for n, a in axes if values[n].shape[a] == size] for size in {values[n].shape[a] for n, a in axes}]
    choices = sorted(groups) + [[axis] for axis in axes]
    return (case.name, case.model, feeds, random.choice(choices)) if choices else None


def emptied(
    model: ModelProto, feeds: dict[str, Any], axes: Sequence[Axis], is_open: bool
) -> tuple[ModelProto, dict[str, Any]]:
    """The model with extents of 0, or open ones that the feeds make 0."""
    changed, given = ModelProto(), dict(feeds)
    changed.CopyFrom(model)
    for n, axis in axes:
        info = changed.graph.input[n]
        dim = info.type.tensor_type.shape.dim[axis]
        dim.Clear()
        if is_open:
            dim.dim_param = "open"
        else:
            dim.dim_value = 0
        given[info.name] = np.take(given[info.name], [], axis)
    for output in changed.graph.output:
        if output.type.HasField("tensor_type"):
            output.type.tensor_type.ClearField("shape")
    return changed, given


def problem(name: str, model: ModelProto, feeds: dict[str, Any], axes: Sequence[Axis]) -> str:
    """What is wrong with a test whose axes are 0; empty where nothing is, or nobody runs it."""
    fixed, given = emptied(model, feeds, axes, is_open=False)
    wanted = apart(lambda: _by_onnxruntime(fixed, given), SECONDS)  # which divides by zero at times
    if wanted is None:
        return "".join(_crash(emptied(model, feeds, axes, is_open)[0], is_open) for is_open in (False, True))
    lines = []
    for is_open in (False, True):
        try:
            given_results = mlc.compile(emptied(model, feeds, axes, is_open)[0]).run(given)
            wrong = "; ".join(_differences(given_results, wanted))
        except UnsupportedError:  # such as a shape of an open number of integers
            continue
        except Exception as error:
            wrong = f"{type(error).__name__}: {error}"
        lines += [f"{name} {axes} {'open' if is_open else 'fixed'}: {wrong}"] if wrong else []
    return "\n".join(lines)


def _crash(model: ModelProto, is_open: bool) -> str:
    """What is no error of mlc's about the model, where onnxruntime refuses it too."""
    try:
        mlc.compile(model)
    except (InternalError, ToolchainError) as error:
        return f"{'open' if is_open else 'fixed'}: {type(error).__name__}: {error}\n"
    except MlcError:
        pass
    return ""


def _by_onnxruntime(model: ModelProto, feeds: dict[str, Any]) -> dict[str, Any] | None:
    try:
        session = onnxruntime.InferenceSession(model.SerializeToString(), providers=["CPUExecutionProvider"])
        names = [o.name for o in session.get_outputs()]
        return dict(zip(names, session.run(names, feeds), strict=True))
    except Exception:
        return None


def _differences(given: dict[str, Any], wanted: dict[str, Any]) -> Iterator[str]:
    for name, value in wanted.items():
        if not isinstance(value, np.ndarray):
            continue
        mine = given[name]
        if (mine.shape, mine.dtype) != (value.shape, value.dtype):
            yield f"'{name}' is {mine.dtype}{list(mine.shape)}, not {value.dtype}{list(value.shape)}"
        elif value.dtype == object:
            if mine.tolist() != value.tolist():
                yield f"'{name}' has other strings"
        elif not np.allclose(mine.astype("f8"), value.astype("f8"), 1e-3, 1e-5, equal_nan=True):
            yield f"'{name}' is {mine.ravel()[:4]}, not {value.ravel()[:4]}"


def problems(count: int, seed: int) -> Iterator[str]:
    """What is wrong with ``count`` tests, drawn by ``seed``."""
    drawn = cases(count, seed)
    for n, wrong in judged(range(len(drawn)), lambda n: problem(*drawn[n]), SECONDS):
        if wrong:
            yield f"{drawn[n][0]} {drawn[n][3]}: {wrong}"


def main(
    count: Annotated[int, typer.Option(help="Tests to run.")] = 100,
    seed: Annotated[int | None, typer.Option(help="Which tests and axes; random by default.")] = None,
) -> None:
    """Look for node tests that fail where extents are 0."""
    seed = SystemRandom().randrange(1 << 16) if seed is None else seed
    found = 0
    for line in problems(count, seed):
        found += 1
        print(line, flush=True)
    print(f"seed {seed}: {found} of {count} tests are wrong where extents are 0")
    raise SystemExit(found > 0)


if __name__ == "__main__":
    typer.run(main)
