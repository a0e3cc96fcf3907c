"""Operators that move elements: reshape, transpose, broadcast, slice, concat."""

from __future__ import annotations

from collections.abc import Sequence

from xdsl.dialects.builtin import ArrayAttr, DenseArrayBase, IntegerAttr, StringAttr, TensorType, UnitAttr
from xdsl.ir import SSAValue
from xdsl.irdl import (
    ParsePropInAttrDict,
    irdl_op_definition,
    operand_def,
    opt_prop_def,
    prop_def,
    result_def,
    traits_def,
    var_operand_def,
)
from xdsl.utils.exceptions import VerifyException

from mlc.dialects.graph.base import (
    PURE,
    StructuredOp,
    broadcast_index,
    broadcast_shapes,
    dims_attr,
    dims_of,
    ints,
    ints_of,
    iterators,
)
from mlc.dialects.graph.sizes import sizes_of
from mlc.dialects.graph.traits import ViewLike
from mlc.dialects.semantics.dims import DimLike, product
from mlc.dialects.semantics.statement import Statement, statement
from mlc.dialects.types import element_of, shape_of, tensor


@irdl_op_definition
class ReshapeOp(StructuredOp):
    """The same elements in row-major order with another shape. A reshape never moves data: it is a view of the
    buffer.

    With run-time dimensions, a ``graph.size`` before it checks that the number of elements is equal. Passes keep a
    ``barrier``, so that its readers are recomputed (JAX: optimization_barrier).
    """

    name = "graph.reshape"
    input = operand_def(TensorType)
    result = result_def(TensorType)
    shape = prop_def(ArrayAttr[StringAttr])
    barrier = opt_prop_def(UnitAttr)
    traits = traits_def(PURE, ViewLike())
    irdl_options = (ParsePropInAttrDict(),)
    assembly_format = "`(` $input `)` attr-dict `:` functional-type($input, $result)"

    def __init__(self, input: SSAValue, shape: Sequence[DimLike], barrier: bool = False):
        result = _infer_reshape(input, tuple(shape))
        properties = {"shape": dims_attr(shape), "barrier": UnitAttr() if barrier else None}
        super().__init__(operands=[input], properties=properties, result_types=[result])

    def infer(self) -> TensorType:
        return _infer_reshape(self.input, dims_of(self.shape))

    def statements(self) -> tuple[Statement, ...]:
        source, target = shape_of(self.input), shape_of(self.result)
        names = iterators(len(target))
        flat = _linear(names, target)
        reads, weight = [], product(source)
        for d in source:
            weight = 1 if d == 0 else product([weight]) // d
            reads.append(f"({flat}) // ({weight}) % ({d})" if d != 1 else "0")
        return (statement(" ".join(names), target, f"x0[{', '.join(reads) or '()'}]"),)


def _linear(names: Sequence[str], shape: Sequence[DimLike]) -> str:
    text = "0"
    for name, d in zip(names, shape, strict=True):
        text = f"({text})*({d}) + {name}"
    return text


def _infer_reshape(input: SSAValue, shape: Sequence[DimLike]) -> TensorType:
    if product(shape_of(input)) != product(shape) and not sizes_of((*shape_of(input), *shape)):
        raise VerifyException(f"graph.reshape: {shape_of(input)} has other elements than {tuple(shape)}")
    return tensor(element_of(input), shape)


@irdl_op_definition
class TransposeOp(StructuredOp):
    """A transposition: dimension n of the result is dimension ``perm[n]`` of the operand."""

    name = "graph.transpose"
    input = operand_def(TensorType)
    result = result_def(TensorType)
    perm = prop_def(DenseArrayBase)
    traits = traits_def(PURE)
    irdl_options = (ParsePropInAttrDict(),)
    assembly_format = "`(` $input `)` attr-dict `:` functional-type($input, $result)"

    def __init__(self, input: SSAValue, perm: Sequence[int]):
        super().__init__(
            operands=[input], properties={"perm": ints(perm)}, result_types=[_infer_transpose(input, perm)]
        )

    def infer(self) -> TensorType:
        return _infer_transpose(self.input, ints_of(self.perm))

    def statements(self) -> tuple[Statement, ...]:
        perm = ints_of(self.perm)
        reads = [f"i{perm.index(n)}" for n in range(len(perm))]
        return (statement(" ".join(iterators(len(perm))), shape_of(self.result), f"x0[{', '.join(reads) or '()'}]"),)


def _infer_transpose(input: SSAValue, perm: Sequence[int]) -> TensorType:
    shape = shape_of(input)
    if sorted(perm) != list(range(len(shape))):
        raise VerifyException(f"graph.transpose: {list(perm)} is not a permutation of {len(shape)} dimensions")
    return tensor(element_of(input), (shape[p] for p in perm))


@irdl_op_definition
class BroadcastOp(StructuredOp):
    """A broadcast to ``shape``: dimensions of extent 1 are repeated and leading ones added, like NumPy's
    broadcast_to."""

    name = "graph.broadcast"
    input = operand_def(TensorType)
    result = result_def(TensorType)
    shape = prop_def(ArrayAttr[StringAttr])
    traits = traits_def(PURE)
    irdl_options = (ParsePropInAttrDict(),)
    assembly_format = "`(` $input `)` attr-dict `:` functional-type($input, $result)"

    def __init__(self, input: SSAValue, shape: Sequence[DimLike]):
        result = _infer_broadcast(input, tuple(shape))
        super().__init__(operands=[input], properties={"shape": dims_attr(shape)}, result_types=[result])

    def infer(self) -> TensorType:
        return _infer_broadcast(self.input, dims_of(self.shape))

    def statements(self) -> tuple[Statement, ...]:
        shape = shape_of(self.result)
        index = broadcast_index(shape_of(self.input), len(shape))
        return (statement(" ".join(iterators(len(shape))), shape, "x0" + index),)


def _infer_broadcast(input: SSAValue, shape: tuple[DimLike, ...]) -> TensorType:
    if broadcast_shapes([shape_of(input), shape]) != shape:
        raise VerifyException(f"graph.broadcast: {shape_of(input)} does not broadcast to {shape}")
    return tensor(element_of(input), shape)


@irdl_op_definition
class SliceOp(StructuredOp):
    """A slice: ``sizes[n]`` elements of dimension n from ``starts[n]`` on, with step ``steps[n]`` (which may be
    negative)."""

    name = "graph.slice"
    input = operand_def(TensorType)
    result = result_def(TensorType)
    starts = prop_def(ArrayAttr[StringAttr])
    sizes = prop_def(ArrayAttr[StringAttr])
    steps = prop_def(DenseArrayBase)
    traits = traits_def(PURE)
    irdl_options = (ParsePropInAttrDict(),)
    assembly_format = "`(` $input `)` attr-dict `:` functional-type($input, $result)"

    def __init__(self, input: SSAValue, starts: Sequence[DimLike], sizes: Sequence[DimLike], steps: Sequence[int]):
        properties = {"starts": dims_attr(starts), "sizes": dims_attr(sizes), "steps": ints(steps)}
        result = _infer_slice(input, starts, sizes, steps)
        super().__init__(operands=[input], properties=properties, result_types=[result])

    def infer(self) -> TensorType:
        return _infer_slice(self.input, dims_of(self.starts), dims_of(self.sizes), ints_of(self.steps))

    def statements(self) -> tuple[Statement, ...]:
        names = iterators(len(self.steps))
        parts = zip(names, dims_of(self.starts), ints_of(self.steps), strict=True)
        reads = [f"({start}) + {name}*{step}" for name, start, step in parts]
        return (statement(" ".join(names), shape_of(self.result), f"x0[{', '.join(reads) or '()'}]"),)


def _infer_slice(
    input: SSAValue, starts: Sequence[DimLike], sizes: Sequence[DimLike], steps: Sequence[int]
) -> TensorType:
    shape = shape_of(input)
    if not len(shape) == len(starts) == len(sizes) == len(steps):
        raise VerifyException(f"graph.slice: starts, sizes and steps must have one entry for each dimension of {shape}")
    for d, start, size, step in zip(shape, starts, sizes, steps, strict=True):
        if isinstance(size, int) and size < 0:
            raise VerifyException(f"graph.slice: {size} elements of a dimension of extent {d}")
        last = start + (size - 1) * step
        ends = [e for e in (start, last) if isinstance(e, int) and isinstance(d, int)]
        if size != 0 and any(not 0 <= e < d for e in ends):  # type: ignore[operator]
            raise VerifyException(f"graph.slice: elements {start}..{last} of a dimension of extent {d}")
    return tensor(element_of(input), sizes)


@irdl_op_definition
class ConcatOp(StructuredOp):
    """The concatenation of the operands along ``axis``."""

    name = "graph.concat"
    args = var_operand_def(TensorType)
    result = result_def(TensorType)
    axis = prop_def(IntegerAttr)
    traits = traits_def(PURE)
    irdl_options = (ParsePropInAttrDict(),)
    assembly_format = "`(` $args `)` attr-dict `:` functional-type($args, $result)"

    def __init__(self, args: Sequence[SSAValue], axis: int):
        axis %= len(shape_of(args[0]))
        super().__init__(
            operands=[args], properties={"axis": IntegerAttr(axis, 64)}, result_types=[_infer_concat(args, axis)]
        )

    def infer(self) -> TensorType:
        return _infer_concat(self.args, self.axis.value.data)

    def statements(self) -> tuple[Statement, ...]:
        axis, offset, copies = self.axis.value.data, 0, []
        for n, arg in enumerate(self.args):
            shape: tuple[DimLike, ...] = shape_of(arg)
            names = iterators(len(shape))
            out = [f"{name} + ({offset})" if k == axis else name for k, name in enumerate(names)]
            copies.append(statement(" ".join(names), shape, f"x{n}[{', '.join(names)}]", out="; ".join(out)))
            offset = offset + shape[axis]  # type: ignore[assignment]
        return tuple(copies)


def _infer_concat(args: Sequence[SSAValue], axis: int) -> TensorType:
    shapes = [shape_of(a) for a in args]
    if not shapes or not 0 <= axis < len(shapes[0]):
        raise VerifyException(f"graph.concat: {len(shapes)} operands of shape {shapes[:1]} have no axis {axis}")
    rest = {(*s[:axis], *s[axis + 1 :]) for s in shapes}
    if len(rest) != 1 or len({element_of(a) for a in args}) != 1:
        types = ", ".join(str(a.type) for a in args)
        raise VerifyException(f"graph.concat: operands {types} differ in an axis other than {axis}")
    total = sum((s[axis] for s in shapes[1:]), shapes[0][axis])
    return tensor(element_of(args[0]), (*shapes[0][:axis], total, *shapes[0][axis + 1 :]))
