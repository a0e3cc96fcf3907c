"""The host program of a model: its interface, and the addresses of its memory."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from xdsl.dialects.builtin import (
    ArrayAttr,
    DictionaryAttr,
    StringAttr,
)
from xdsl.ir import Block, Region
from xdsl.irdl import (
    IRDLOperation,
    ParsePropInAttrDict,
    irdl_op_definition,
    opt_prop_def,
    prop_def,
    region_def,
    traits_def,
)
from xdsl.traits import IsolatedFromAbove, NoTerminator

from mlc.dialects.semantics.dims import DimLike, parse_dim


@irdl_op_definition
class ProgramOp(IRDLOperation):
    """A model: its interface, the buffers of its tensors, and the kernels that it launches, in order.

    ``inputs``/``outputs``: names of the tensors in the signature. ``dims``: the symbolic dimensions in the C ABI's
    order. ``guards``: expressions over ``dims`` that a caller must keep non-negative. ``sizes``: run-time dimensions
    (defined by ``rt.nonzero``, ``rt.size``, ``rt.loop_condition``), whose values are the last outputs; ``inner``:
    run-time dimensions of a loop or branch; ``bounds``: upper bounds of both, as expressions over ``dims``. A size
    without any other bound has a dimension ``room<n>`` at the end of ``dims``, which the caller chooses. ``strings``:
    the constant strings. ``arena``: the memory of the plan (``plan-memory``).
    """

    name = "rt.program"
    sym_name = prop_def(StringAttr)
    inputs = prop_def(ArrayAttr[StringAttr])
    outputs = prop_def(ArrayAttr[StringAttr])
    dims = prop_def(ArrayAttr[StringAttr])
    guards = opt_prop_def(ArrayAttr[StringAttr])
    sizes = opt_prop_def(ArrayAttr[StringAttr])
    inner = opt_prop_def(ArrayAttr[StringAttr])
    bounds = opt_prop_def(ArrayAttr[StringAttr])
    strings = opt_prop_def(ArrayAttr[StringAttr])
    arena = opt_prop_def(DictionaryAttr)
    body = region_def("single_block")
    traits = traits_def(IsolatedFromAbove(), NoTerminator())
    irdl_options = (ParsePropInAttrDict(),)
    assembly_format = "$sym_name attr-dict `do` $body"

    def __init__(
        self,
        name: str,
        inputs: Sequence[str],
        outputs: Sequence[str],
        dims: Sequence[str],
        guards: Sequence[str] = (),
        bounds: Mapping[str, DimLike] | None = None,
        inner: Sequence[str] = (),
    ):
        def strings(values: Sequence[str]) -> ArrayAttr[StringAttr]:
            return ArrayAttr(StringAttr(v) for v in values)

        properties = {
            "sym_name": StringAttr(name),
            "inputs": strings(inputs),
            "outputs": strings(outputs),
            "dims": strings(dims),
        } | ({"guards": strings(guards)} if guards else {})
        if bounds:
            order = [*(s for s in bounds if s not in inner), *inner]
            properties |= {"sizes": strings(order[: len(order) - len(inner)])}
            properties |= {"bounds": strings([str(bounds[s]) for s in order])}
        properties |= {"inner": strings(inner)} if inner else {}
        super().__init__(properties=properties, regions=[Region(Block())])

    @property
    def bound_of(self) -> dict[str, DimLike]:
        """The upper bound of each run-time dimension."""
        names = (*(self.sizes or ()), *(self.inner or ()))
        return {s.data: parse_dim(b.data) for s, b in zip(names, self.bounds or (), strict=True)}
