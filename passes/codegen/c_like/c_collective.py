"""Collectives in C: the call that starts one, and the table of a program's."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable

from xdsl.dialects.builtin import DenseArrayBase, IntegerAttr, StringAttr

from mlc.dialects import rt
from mlc.dialects.comm.base import number_of
from mlc.dialects.graph import ints_of, source_nodes
from mlc.dialects.semantics.dims import product
from mlc.dialects.types import ITEMSIZE, element_of, elements_in, shape_of
from mlc.passes.codegen.c_like.c_dims import c_dim
from mlc.passes.codegen.c_like.c_string import c_string


def collectives_of(program: rt.ProgramOp) -> list[rt.StartOp]:
    """Return the collectives of a program, in the order of their slots."""
    found = [o for o in rt.walk(program.body.block) if isinstance(o, rt.StartOp)]
    return sorted(found, key=lambda o: o.slot.value.data)


def ranks_of(program: rt.ProgramOp) -> int:
    """Return the number of ranks that a program is for; 0 means any number.

    Raises:
        ValueError: its collectives are for different numbers.
    """
    found = {n for o in collectives_of(program) if (n := _ranks(o))}
    if len(found) > 1:
        raise ValueError(f"one program has collectives of {sorted(found)} ranks")
    return found.pop() if found else 0


def _ranks(op: rt.StartOp) -> int:
    """Return the number of ranks of the job that a collective is for; 0 means any number."""
    ranks, group = op.how.data.get("ranks"), op.how.data.get("group")
    if isinstance(group, DenseArrayBase):
        return ints_of(group)[2]
    return ranks.value.data if isinstance(ranks, IntegerAttr) else 0


def digest_of(program: rt.ProgramOp, kernels: Iterable[str]) -> str:
    """Return the digest that all ranks compare when they join: of the host program, with its collectives, and the
    kernels."""
    return hashlib.sha256("\0".join([str(program), *kernels]).encode()).hexdigest()


def start_call(op: rt.StartOp, source: str | None, target: str) -> str:
    """``mlc_start(c, 0, &(mlc_collective){…});``"""
    fields = {"kind": f"MLC_{op.kind.data.partition('.')[2].upper()}", "to": target, "where": c_string(_where(op))}
    if source is not None and op.source is not None:
        element = element_of(op.source)
        fields |= {"from": source, "count": c_dim(elements_in(op.source)), "size": str(ITEMSIZE[element])}
        if op.kind.data == "comm.all_gather" and "units" in op.how.data:
            fields["count"] = c_dim(elements_in(op.target))  # of balanced blocks each rank knows those of all
        if "lists" in op.how.data:
            lists, rows, *inner = shape_of(op.source)
            fields |= {"lists": c_dim(lists), "rows": c_dim(rows), "row": c_dim(product(inner))}
        fields |= _how(op, element)
    listed = ", ".join(f".{name} = {value}" for name, value in fields.items())
    return f"mlc_start(c, {op.slot.value.data}, &(mlc_collective){{{listed}}});"


def _how(op: rt.StartOp, element: str) -> dict[str, str]:
    """Return the fields of a collective's call that come from its attributes."""
    how, fields = op.how.data, dict[str, str]()
    if isinstance(fn := how.get("fn"), StringAttr):
        fields |= {"combine": f"MLC_{fn.data.upper()}", "element": f"MLC_{element.replace('ui', 'u').upper()}"}
    if isinstance(group := how.get("group"), DenseArrayBase):
        fields |= dict(zip(("ranks", "stride"), map(str, ints_of(group)), strict=False))
    if isinstance(units := how.get("units"), IntegerAttr | StringAttr):
        fields["units"] = c_dim(number_of(units))
    if isinstance(root := how.get("root"), IntegerAttr):
        fields["root"] = str(root.value.data)
    if isinstance(pairs := how.get("pairs"), DenseArrayBase):
        flat = ints_of(pairs)
        fields |= {"pairs": str(len(flat) // 2), "pair": f"(const int64_t[]){{{', '.join(map(str, flat)) or '0'}}}"}
    return fields


def _where(op: rt.StartOp) -> str:
    nodes = ", ".join(source_nodes(op))
    return f"{op.kind.data} at {nodes}" if nodes else op.kind.data


def table(program: rt.ProgramOp, digest: str) -> str:
    """Return the table of a program's collectives; an empty one for a program without collectives."""
    slots = len(collectives_of(program))
    if not slots:
        return ""
    functions = ", ".join(f"mlc_ranks_{name}" for name in ("join", "abandon", "leave", "number"))
    code = f'{{{slots}, {ranks_of(program)}, "{digest}", {functions}}}'
    return f'#include "mlc_collectives.h"\nstatic const mlc_collective_code collectives = {code};'
