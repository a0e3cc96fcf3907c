"""Copies of a region's operators: with values in place of its arguments, or for another iteration of a loop."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

from xdsl.dialects.builtin import ArrayAttr, StringAttr, TensorType
from xdsl.dialects.func import ReturnOp
from xdsl.ir import Attribute, Block, Operation, SSAValue

from mlc.dialects.graph.loop import LoopOp, YieldOp
from mlc.dialects.semantics.dims import Dim, DimLike, evaluate, parse_dim, symbols_of
from mlc.dialects.semantics.expr import parse, substitute
from mlc.dialects.types import element_of, shape_of, tensor

NO_EXPRESSIONS = ("why", "strict", "words", "step", "entry", "size")  # properties without symbols


def copied(
    block: Block,
    arguments: Sequence[SSAValue],
    emit: Callable[[Operation], SSAValue],
    dims: Mapping[str, DimLike] | None = None,
) -> tuple[list[SSAValue], dict[SSAValue, SSAValue]]:
    """Copy the operators of ``block``. Return the copies of what it yields, and a map from each value to its copy.

    ``dims`` replaces symbols. A run-time dimension that operators inside and outside of the block define gets a new
    name in the copy.
    """
    dims = {**_new_sizes(block), **(dims or {})}
    values: dict[SSAValue, SSAValue] = dict(zip(block.args, arguments, strict=True))
    for op in block.ops:
        if isinstance(op, YieldOp | ReturnOp):
            return [values[v] for v in op.operands], values
        copy = op.clone(values)
        for each in copy.walk() if dims else ():
            replace_symbols(each, dims)
        emit(copy)
    return [], values


def sizes_defined(block: Block) -> set[str]:
    """Return the run-time dimensions that operators of a block define."""
    return {size for op in block.walk() if (size := _size_of(op)) is not None}


def _new_sizes(block: Block) -> dict[str, DimLike]:
    """Return new names for the run-time dimensions of ``block`` that are defined outside of it as well."""
    own = sizes_defined(block)
    if not own:
        return {}
    inside, outermost = set(block.walk()), block
    while (parent := outermost.parent_op()) is not None and parent.parent is not None:
        outermost = parent.parent
    others = {size for op in outermost.walk() if op not in inside and (size := _size_of(op)) is not None}
    free = (f"size{n}" for n in range(len(own) + len(others) + 1) if f"size{n}" not in own | others)
    return {size: Dim.symbol(next(free)) for size in sorted(own & others)}


def _size_of(op: Operation) -> str | None:
    """Return the run-time dimension that an operator defines, or None."""
    size = op.properties.get("size")
    return size.data if isinstance(size, StringAttr) else None


def replace_symbols(op: Operation, dims: Mapping[str, DimLike]) -> None:
    """Replace symbols in the properties of ``op``, and in the types of its results and of its regions' arguments."""
    for key, attribute in op.properties.items():
        if key not in NO_EXPRESSIONS:
            op.properties[key] = _replaced(attribute, dims, key == "expr")
    if (size := _size_of(op)) is not None and size in dims:
        op.properties["size"] = StringAttr(str(dims[size]))
    for value in [*op.results, *(a for region in op.regions for block in region.blocks for a in block.args)]:
        if isinstance(value.type, TensorType) and symbols_of(shape_of(value)) & dims.keys():
            value._type = tensor(element_of(value), [evaluate(d, dims) for d in shape_of(value)])


def _replaced(attribute: Attribute, dims: Mapping[str, DimLike], scalar: bool) -> Attribute:
    if isinstance(attribute, ArrayAttr):
        return ArrayAttr([_replaced(each, dims, scalar) for each in attribute])
    if not isinstance(attribute, StringAttr) or not any(name in attribute.data for name in dims):
        return attribute
    if not scalar:
        return StringAttr(str(evaluate(parse_dim(attribute.data), dims)))
    index = {name: parse(f"({dim})") for name, dim in dims.items()}
    return StringAttr(str(substitute(parse(attribute.data), index=lambda i: index.get(i.name, i))))


def rename_loops(block: Block) -> None:
    """Give each loop in ``block`` a ``step`` of its own, as copies of a loop have the same."""
    loops = [op for op in block.walk() if isinstance(op, LoopOp)]
    taken, seen = {loop.step.data for loop in loops}, set[str]()
    for loop in loops:
        if loop.step.data in seen:
            new = next(f"step{n}" for n in range(len(taken) + 1) if f"step{n}" not in taken)
            _rename(loop, new)
            taken.add(new)
        seen.add(loop.step.data)


def _rename(loop: LoopOp, name: str) -> None:
    dims = {loop.step.data: Dim.symbol(name)}
    loop.properties["step"] = StringAttr(name)
    loop.properties["at"] = _replaced(loop.at, dims, scalar=False)
    for op in loop.body.block.walk():
        replace_symbols(op, dims)
