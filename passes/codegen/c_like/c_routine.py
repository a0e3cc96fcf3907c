"""Calls of routines in C."""

from __future__ import annotations

from collections.abc import Sequence

from mlc.dialects import rt
from mlc.dialects.graph import ints_of, source_nodes
from mlc.dialects.semantics.strings import unescaped
from mlc.dialects.types import elements_in
from mlc.passes.codegen.c_like.c_dims import c_dim
from mlc.passes.codegen.c_like.c_string import c_string


def routine_call(op: rt.RoutineOp, buffers: Sequence[str]) -> str:
    """Return ``mlc_string_concat(c, &(mlc_step){…});``, which writes the last of ``buffers``."""
    words = [unescaped(w.data) for w in op.words or ()]
    numbers = () if op.numbers is None else ints_of(op.numbers)
    counts = [c_dim(elements_in(a)) for a in op.args]
    fields = {
        "in": f"{{{', '.join(buffers[:-1])}}}",
        "count": f"{{{', '.join(counts[:-1])}}}",
        "out": buffers[-1],
        "made": counts[-1],
        "word": c_string(words[0]) if words else "0",
        "number": f"{{{', '.join(map(str, numbers)) or '0'}}}",
        "node": c_string(", ".join(source_nodes(op))),
    }
    step = ", ".join(f".{name} = {value}" for name, value in fields.items())
    return f"mlc_{op.fn.data.replace('.', '_')}(c, &(mlc_step){{{step}}});"
