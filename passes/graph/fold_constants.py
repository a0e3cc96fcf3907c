"""Constant folding (``fold-constants``): the compiler computes operators whose operands are all known.

    %w = graph.weight "fc.weight" : 10x64
    %t = graph.transpose(%w) : 10x64 -> 64x10     →     %t = graph.weight "fc.weight.folded" : 64x10

A large result is computed when the weights file is written, one tensor at a time, and is not stored before. An operator
that makes more than ``limit`` bytes out of few (a broadcast, a table of an iterator) is not folded, but for ``masks``:
band matrices that exclude scores from a maximum, which kernels of attention need not read (``restrict-domains``).
Others, and what is computed from masks and is none, stay as they are. A result that is one number is that number.

Of a weight that ranks divide each rank has its own value: what is computed of it is computed when the rank's weights
file is written, small results too.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cache
from typing import cast

from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp
from xdsl.ir import Block, Operation, SSAValue
from xdsl.passes import ModulePass

from mlc.dialects.graph import (
    BroadcastOp,
    ComputeOp,
    ConstantOp,
    ContractOp,
    ConvOp,
    ConvTransposeOp,
    MapOp,
    RegionOp,
    StructuredOp,
    WeightOp,
    source_nodes,
    with_nodes,
)
from mlc.dialects.graph.base import broadcast_shapes
from mlc.dialects.semantics.band import bands_of
from mlc.dialects.semantics.evaluate import Array
from mlc.dialects.semantics.numpy_evaluators import kernel_of
from mlc.dialects.types import ITEMSIZE, bytes_of, element_of, elements_in, is_narrow, numpy_dtype, shape_of
from mlc.dialects.weights import WeightStore
from mlc.errors import InputError
from mlc.passes.context import weights_of
from mlc.passes.graph.patterns.cleanup import eliminate_dead, merge_common
from mlc.passes.graph.patterns.constants import constant_values, is_symbolic
from mlc.passes.graph.patterns.masks import excludes_scores, is_mask, may_be_mask
from mlc.passes.rewriter import bodies

Load = Callable[[], Array]
INLINE_FLOATS = 8
INLINE_INTEGERS = 64  # elements, printed in the IR: shapes and index tables
WEIGHT_LIMIT = 1 << 30  # bytes of a weight that is larger than its operands
EAGER = 1 << 16  # bytes; smaller results are computed at once


@dataclass(frozen=True)
class FoldConstants(ModulePass):
    """Fold every operator whose operands are constants. ``limit``: the most bytes of a folded result that is larger
    than its operands; ``masks``: also fold larger band matrices that mask scores of an attention."""

    name = "fold-constants"
    limit: int = 1 << 16
    masks: bool = True

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        merge_common(op)
        for block in bodies(op):
            _Folder(weights_of(ctx), self.limit, self.masks).run(block)
            for inner in [o for o in block.ops if isinstance(o, RegionOp)]:
                _sink(inner)
        eliminate_dead(op)


def _sink(op: RegionOp) -> None:
    """Move the constants that a loop or branch passes to its regions into these regions."""
    for n, value in enumerate(op.seen):
        if isinstance(constant := value.owner, WeightOp | ConstantOp):
            for block in op.inner_blocks():
                copy = constant.clone()
                assert (first := block.first_op) is not None
                block.insert_op_before(copy, first)
                block.args[len(block.args) - len(op.seen) + n].replace_all_uses_with(copy.results[0])


class _Folder:
    def __init__(self, weights: WeightStore, limit: int, masks: bool) -> None:
        self.weights = weights
        self.limit = limit
        self.folds_masks = masks
        self.masks: set[SSAValue] = set()  # larger than the limit, and what is computed from these
        self.loads: dict[SSAValue, Load] = {}
        self.feeding: set[SSAValue] = set()
        self.ranks: dict[SSAValue, int] = {}  # of values that differ from rank to rank

    def run(self, block: Block) -> None:
        ops = list(block.ops)
        self.feeding = _feeding(ops, constant_values(block))
        for op in ops:
            load = self._load_of(op)
            if load is not None:
                self.loads[op.results[0]] = load
        for op in reversed(ops):
            if op.results and op.results[0] in self.masks and self._wanted(op) and not self._masks_scores(op):
                del self.loads[op.results[0]]
        for op in ops:
            if op.results and op.results[0] in self.loads and self._wanted(op):
                self._replace(op)

    def _load_of(self, op: Operation) -> Load | None:
        """Return a function that computes the value of ``op``, or None if the value depends on the model's inputs."""
        match op:
            case WeightOp():
                return self._load_of_weight(op)
            case ConstantOp():
                array = op.array()
                return lambda: array
            case StructuredOp():
                return self._computed(op)
        return None

    def _load_of_weight(self, op: WeightOp) -> Load | None:
        if op.entry.data not in self.weights:
            return None
        entry = self.weights.entry(op.entry.data)
        if entry.ranks > 1:
            self.ranks[op.result] = entry.ranks
        return entry.load

    def _computed(self, op: StructuredOp) -> Load | None:
        if not all(v in self.loads for v in op.operands) or is_symbolic(op):
            return None
        kernel, loads, nodes = kernel_of(op), [self.loads[v] for v in op.operands], source_nodes(op)

        def load() -> Array:
            try:
                return kernel(*(load() for load in loads))
            except IndexError as e:
                raise InputError(f"A constant is read out of its bounds: {e}", node=", ".join(nodes), op=name) from e

        name = op.name
        if ranks := max((self.ranks.get(v, 0) for v in op.operands), default=0):
            self.ranks[op.results[0]] = ranks
            return None if self._grows(op) else load
        if (grows := self._grows(op)) and not (self.folds_masks and may_be_mask(op) and bands_of(load())):
            return None
        if grows or (self.masks.intersection(op.operands) and cast(int, bytes_of(op.results[0])) > self.limit):
            self.masks.add(op.results[0])
        return cache(load) if cast(int, bytes_of(op.results[0])) <= EAGER else load

    def _grows(self, op: StructuredOp) -> bool:
        """Return whether the result of ``op`` is larger than the limit and than its operands. Weights of products have
        a higher limit, because a product reads them from memory in any case."""
        if not isinstance(op, BroadcastOp | ComputeOp | MapOp):
            return False
        sizes = [cast(int, elements_in(v)) * ITEMSIZE[element_of(op.results[0])] for v in (op.results[0], *op.operands)]
        return sizes[0] > max(WEIGHT_LIMIT if op.results[0] in self.feeding else self.limit, *sizes[1:], 0)

    def _wanted(self, op: Operation) -> bool:
        """Return whether ``op`` must be replaced by its value: an operator that is not folded reads it, and ``op`` is
        no constant yet."""
        result = op.results[0]
        small = elements_in(result) == 1 and isinstance(op, WeightOp) and result not in self.ranks
        final = isinstance(op, ConstantOp) or (isinstance(op, WeightOp) and not small)
        return not final and any(
            not u.operation.results or u.operation.results[0] not in self.loads for u in result.uses
        )

    def _masks_scores(self, op: Operation) -> bool:
        """Return whether ``op`` is a mask that excludes scores from a maximum, and is read besides only where the
        derivative of these scores is set to 0."""
        readers = [o for u in op.results[0].uses if not ((o := u.operation).results and o.results[0] in self.loads)]
        maps = [o for o in readers if isinstance(o, MapOp)]
        return len(maps) == len(readers) and excludes_scores(op, maps) and is_mask(self.loads[op.results[0]]())

    def _replace(self, op: Operation) -> None:
        result, load = op.results[0], self.loads[op.results[0]]
        own = result in self.ranks
        new = (None if own else _constant(result, load)) or self._stored(result, load)
        with_nodes(new, source_nodes(op))
        block = op.parent
        assert block is not None
        block.insert_op_before(new, op)
        if isinstance(new, WeightOp) and not own:
            self._broadcast(result, load, new)
        new.results[0].name_hint = result.name_hint
        result.replace_all_uses_with(new.results[0])
        self.loads[new.results[0]] = load

    def _broadcast(self, result: SSAValue, load: Load, before: Operation) -> None:
        """Let maps read one number in place of a tensor of equal elements, where the other operands give the map's
        result its shape."""
        readers = [u for u in result.uses if isinstance(u.operation, MapOp) and _is_broadcast(u.operation, u.index)]
        if not readers or cast(int, bytes_of(result)) > EAGER or not (array := load()).size:
            return
        first = array.reshape(-1)[:1]
        if first.dtype.kind in "biuf" and (array == first).all():
            one = ConstantOp(first.reshape([1] * array.ndim))
            before.parent.insert_op_before(with_nodes(one, source_nodes(before)), before)  # type: ignore[union-attr]
            for use in readers:
                use.operation.operands[use.index] = one.results[0]

    def _stored(self, result: SSAValue, load: Load) -> WeightOp:
        name = f"{_leaf(result)}.folded"
        dtype, shape = numpy_dtype(element_of(result)), cast("tuple[int, ...]", shape_of(result))
        ranks = self.ranks.get(result, 1)
        if cast(int, bytes_of(result)) <= EAGER and ranks == 1:
            name = self.weights.add(name, load())
        else:
            name = self.weights.add_lazy(name, dtype, shape, load, ranks)
        return WeightOp(name, result.type)  # type: ignore[arg-type]


def _is_broadcast(reader: MapOp, operand: int) -> bool:
    """Return whether the result of ``reader`` keeps its shape without the operand numbered ``operand``."""
    others = [shape_of(v) for n, v in enumerate(reader.args) if n != operand]
    return bool(others) and broadcast_shapes(others) == shape_of(reader.result)


def _feeding(ops: Sequence[Operation], constants: set[SSAValue]) -> set[SSAValue]:
    """Return the constants that convolutions and contractions read as weights, and the constants from which these are
    computed."""
    found: set[SSAValue] = set()
    for op in reversed(ops):
        if isinstance(op, ConvOp | ConvTransposeOp | ContractOp):
            found |= constants.intersection(op.operands)
        elif op.results and op.results[0] in found:
            found.update(op.operands)
    return found


def _constant(result: SSAValue, load: Load) -> ConstantOp | None:
    element, count = element_of(result), cast(int, elements_in(result))
    limit = INLINE_INTEGERS if element.lstrip("u")[0] == "i" else INLINE_FLOATS
    inline = 0 < count <= limit and element[0] != "c" and not is_narrow(element)
    return ConstantOp(load()) if inline else None


def _leaf(value: SSAValue) -> str:
    """Return the name of the largest weight from which ``value`` is computed."""
    best, size = "constant", -1
    stack, seen = [value], set()
    while stack:
        owner = stack.pop().owner
        if not isinstance(owner, Operation) or owner in seen:
            continue
        seen.add(owner)
        stack += owner.operands
        if isinstance(owner, WeightOp) and cast(int, elements_in(owner.result)) > size:
            best, size = owner.entry.data.removesuffix(".folded"), cast(int, elements_in(owner.result))
    return best
