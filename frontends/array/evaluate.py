"""Evaluation of lazy arrays: a trace that is new runs in the reference interpreter, one that repeats is compiled.

Programs are found by the structure of the trace. The second use of one starts its compilation in the background;
nobody waits for the C compiler.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from concurrent.futures import Future
from typing import Any

import numpy as np

from mlc.dialects.comm import CommOp
from mlc.dialects.semantics.prepared import interpreted
from mlc.errors import RunError
from mlc.frontends.array.array import Array, TraceError
from mlc.frontends.array.lowering import import_trace
from mlc.frontends.array.record import Body, Emit, Record, Unique, Variables, new_argument, ordered, where_called
from mlc.frontends.imported import Imported

Arrays = Sequence[np.ndarray[Any, Any]]
Run = Callable[[Arrays], Arrays]
Compiler = Callable[[str, Callable[[], Imported]], "Future[Run]"]
compiler: list[Compiler] = []
"""Starts to compile a program of this structure; ``mlc.numpy`` sets it, since the driver is no part of a frontend."""
COMPILED_AFTER = 2  # uses of a program
MOST_PROGRAMS = 4096  # that are kept; the oldest goes


class Program:
    """A trace as a function of its data: interpreted at first, compiled when it repeats."""

    def __init__(self, order: list[Record], inputs: list[Record], outputs: list[Record]) -> None:
        self.uses, self.text = 0, repr(structure(order, outputs))
        self.compiled: Future[Run] | None = None
        names = {each: f"x{n}" for n, each in enumerate(inputs)}
        self.imported = import_trace(*_without_data(names, outputs), "eager")
        module, weights = self.imported.module, self.imported.weights
        self.interpreted = interpreted(module, weights)
        self.meets_ranks = any(isinstance(op, CommOp) for op in module.walk())  # which all interpret it, then

    def __call__(self, inputs: Arrays) -> Arrays:
        self.uses += 1
        if self.uses == COMPILED_AFTER and compiler and not self.meets_ranks:
            self.compiled = compiler[0](self.text, self.again)
        if self.compiled is not None and self.compiled.done() and self.compiled.exception() is None:
            return self.compiled.result()(inputs)
        return self.interpreted(inputs)

    def again(self) -> Imported:
        """A fresh copy of the module, since compilation changes it."""
        return Imported(self.imported.module.clone(), self.imported.weights, self.imported.name)


NOT_PLAIN = (Unique, Variables, Body)  # parameters that are compared by what they mean


def emit_name(emit: Emit) -> str:
    return f"{emit.__module__}.{emit.__qualname__}"


_programs: dict[tuple[Any, ...], Program] = {}


def evaluate(arrays: Sequence[Array]) -> None:
    """Compute the elements of arrays, together.

    Raises:
        TraceError: one depends on an argument of a function that is traced.
        RunError: there is no memory for one.
    """
    wanted = [each for each in arrays if each.value is None]
    for each in wanted:
        if each.record.traced:
            raise _no_elements(each.record)
    outputs = list(dict.fromkeys(each.operand() for each in wanted))
    if not outputs:
        return
    order = ordered(outputs)
    inputs = [each for each in order if each.data is not None]
    key = structure(order, outputs, lambda emit: emit)
    program = _programs.get(key)
    if program is None:
        if len(_programs) >= MOST_PROGRAMS:
            del _programs[next(iter(_programs))]
        program = _programs[key] = Program(order, inputs, outputs)
    try:
        results = program([each.data for each in inputs])  # type: ignore[misc]
    except MemoryError as error:
        raise RunError(
            f"There is no memory for the value of an array: {error}", hint="Make its sizes smaller"
        ) from error
    found = dict(zip(outputs, results, strict=True))
    for each in wanted:
        each.value = np.asarray(found[each.record])


def structure(
    order: Sequence[Record], outputs: Sequence[Record], name: Callable[[Emit], Any] = emit_name
) -> tuple[Any, ...]:
    """What a trace computes, without its data: equal for equal programs. With names it is the same in every process."""
    position: dict[Record, int] = {}
    unique: dict[Unique, int] = {}
    rows: list[Any] = []
    for n, each in enumerate(order):  # in every evaluation: short for what is most frequent
        position[each] = n
        if each.data is not None:
            rows.append(("data", each.element, each.shape))
            continue
        params = each.params
        if any(p.__class__ in NOT_PLAIN for p in params):
            params = tuple([_canonical(p, unique, name) for p in params])
        operands = [position[operand] for operand in each.operands if operand in position]
        rows.append((name(each.emit), params, each.element, each.shape, *operands))
    return (*rows, tuple([position[each] for each in outputs]))


def _canonical(param: Any, unique: dict[Unique, int], name: Callable[[Emit], Any]) -> Any:
    """A parameter that is equal for equal programs: numbers in place of identities, the structure of a loop's body."""
    if isinstance(param, Unique):
        return f"#{unique.setdefault(param, len(unique))}"
    if isinstance(param, Variables):
        return len(param)  # which are among the operands
    if isinstance(param, Body):
        inner = [*param.arguments, *param.captured]
        return structure([*inner, *ordered(param.outputs, set(inner))], param.outputs, name)
    return param


def _without_data(names: dict[Record, str], outputs: Sequence[Record]) -> tuple[dict[str, Record], dict[str, Record]]:
    """The trace with arguments in place of data, so that the program serves other data of the same types."""
    made: dict[Record, Record] = {}
    for each in ordered(outputs):
        if each in names:
            made[each] = new_argument(each.element, each.shape)
        elif any(made[operand] is not operand for operand in each.operands):
            copy = Record(each.emit, tuple(made[o] for o in each.operands), each.params, each.element, each.shape)
            copy.origin, made[each] = each.origin, copy
        else:
            made[each] = each
    results = {f"y{n}": made[each] for n, each in enumerate(outputs)}
    return {name: made[each] for each, name in names.items()}, results


def _no_elements(record: Record) -> TraceError:
    hint = "Use mlc.numpy.where for a choice of elements, or make the argument static"
    made = f" (made at {record.where})" if record.where else ""
    return TraceError(
        f"{where_called()}: the elements of an array{made} are not known while its function is traced", hint=hint
    )
