"""Where infinities and NaN come from: a program runs anew in the interpreter, which sees each operator's values."""

from __future__ import annotations

from contextlib import suppress
from typing import Any

import numpy as np
from xdsl.dialects.builtin import ArrayAttr, StringAttr
from xdsl.ir import Operation

from mlc.dialects.comm.world import alone
from mlc.dialects.graph import MapOp
from mlc.dialects.semantics.interpreter import interpret
from mlc.errors import RunError
from mlc.frontends.array import trees
from mlc.frontends.array.array import as_array
from mlc.tracing.jit import Jitted

Data = np.ndarray[Any, Any]


class Found(Exception):
    """The first operator whose result is not finite."""


def is_finite(x: Data) -> bool:
    return x.dtype.kind not in "fc" and x.dtype.name != "bfloat16" or bool(np.isfinite(x.astype(np.float64)).all())


def origin(step: Jitted, *args: Any) -> str:
    """The operator, and the line of Python that it is from, whose result is first not finite while its operands are;
    or the inputs that are not finite, or nothing."""
    names = [".".join(map(str, path)) for path in trees.paths(trees.flatten(args)[1])]
    values = [as_array(x).numpy() for x in trees.leaves(args)]
    if wrong := [name for name, x in zip(names, values, strict=True) if not is_finite(x)]:
        return f"the inputs {', '.join(wrong)} are not finite"
    traced = step.lower(*args)
    imported = traced.imported()
    try:
        with alone(), suppress(RunError), np.errstate(all="ignore"):  # not every rank of a job may look for it
            interpret(imported.module, imported.weights, dict(zip(traced.inputs, values, strict=True)), _observe)
    except Found as found:
        return str(found)
    return ""


def _observe(op: Operation, operands: list[Data], result: Data) -> None:
    if is_finite(result) or not operands or not all(map(is_finite, operands)):
        return
    nodes = op.attributes.get("graph.node")
    lines = [n.data for n in nodes if isinstance(n, StringAttr)] if isinstance(nodes, ArrayAttr) else []
    what = f' "{op.expr.data}"' if isinstance(op, MapOp) else ""
    kind = "NaN" if np.isnan(result.astype(np.float64)).any() else "an infinity"
    ranges = ", ".join(f"[{x.min():.6g}, {x.max():.6g}]" for x in operands if x.size)
    raise Found(f"{' '.join(lines) or 'unknown line'}: {op.name}{what} gives {kind} from operands in {ranges}")
