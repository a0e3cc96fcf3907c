"""Input-output aliases of the main function: which results take over the memory of an argument, and which operations
read it.

The attribute ``graph.alias`` of a result is the number of an argument, of the same type, whose memory it takes over
(XLA: input-output alias). The caller gives that argument away (JAX: donation).
"""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass
from typing import NamedTuple

from xdsl.dialects.builtin import IntegerAttr, ModuleOp, StringAttr
from xdsl.dialects.func import FuncOp
from xdsl.ir import Operation, SSAValue

from mlc.dialects import kernel
from mlc.dialects.graph import LoopOp, SliceOp
from mlc.dialects.graph.base import ALIAS, STATE
from mlc.dialects.graph.traits import ViewLike, has
from mlc.passes.fuse.grouping.views import source_of


@dataclass(frozen=True)
class Alias:
    """Result number ``result`` of ``main`` takes over the memory of argument number ``argument``."""

    main: FuncOp
    result: int
    argument: int

    @property
    def old(self) -> SSAValue:
        return self.main.body.block.args[self.argument]

    @property
    def new(self) -> SSAValue:
        """The value whose memory becomes the result's: the result before reshapes."""
        end = self.main.body.block.last_op
        assert end is not None
        return source_of(end.operands[self.result])

    @property
    def writer(self) -> kernel.CallOp | None:
        """The call of the kernel that computes the result; None if no kernel in the main function computes it."""
        call = self.new.owner
        return call if isinstance(call, kernel.CallOp) and call.parent is self.main.body.block else None

    def pairs(self) -> set[tuple[int, int]]:
        """Return pairs (operand, result) of the writer's buffers, by number, that may share memory."""
        call = self.writer
        if call is None:
            return set()
        result = len(call.args) + call.res.index(self.new)
        return {(n, result) for n, value in enumerate(call.args) if source_of(value) is self.old}


def aliases_of(main: FuncOp) -> list[Alias]:
    """Return the aliases of a main function, in the order of its results."""
    entries = [] if main.res_attrs is None else [(n, each.data.get(ALIAS)) for n, each in enumerate(main.res_attrs)]
    return [Alias(main, n, at.value.data) for n, at in entries if isinstance(at, IntegerAttr)]


def pairs_of_aliases(module: ModuleOp) -> dict[str, set[tuple[int, int]]]:
    """Return, by the names of kernels, pairs (input, output) of buffers that an alias wants in the same memory."""
    asked: dict[str, set[tuple[int, int]]] = defaultdict(set)
    for main in [o for o in module.ops if isinstance(o, FuncOp)]:
        for alias in aliases_of(main):
            if (call := alias.writer) is not None:
                asked[call.callee.root_reference.data] |= alias.pairs()
        functions = {o.sym_name.data: o for o in module.ops if isinstance(o, kernel.FuncOp)}
        for update in [each for op in main.walk() if isinstance(op, LoopOp) for each in updates_of(op).values()]:
            if scatter_of(functions[name := update.call.callee.root_reference.data]) is not None:
                asked[name].add(update.pair)
    return asked


class Update(NamedTuple):
    """A call in the body of a loop that reads a loop-carried value as its buffer ``pair[0]``, and computes the next one
    as ``pair[1]``. Nothing reads the old value after it."""

    call: kernel.CallOp
    pair: tuple[int, int]


def updates_of(op: LoopOp) -> dict[int, Update]:
    """Return, by the numbers of the loop-carried values, the calls that may write the next value into the memory of the
    old one, where their kernels are proved to work in place."""
    block = op.body.block
    position = {each: n for n, each in enumerate(block.ops)}
    found = {}
    for n, (value, old) in enumerate(zip(op.yielded[1], block.args, strict=False)):
        call = source_of(value).owner
        if not isinstance(call, kernel.CallOp) or call.parent is not block:
            continue
        read = [k for k, each in enumerate(call.args) if _memory(each) is old]
        alone = len(read) == 1 and source_of(call.args[read[0]]) is old
        if alone and all(position[each] < position[call] for each in readers(old) - {call}):
            found[n] = Update(call, (read[0], len(call.args) + call.res.index(source_of(value))))
    return found


def scatter_of(fn: kernel.FuncOp) -> kernel.LibraryCallOp | None:
    """The library call that scatters updates into its first argument, if that is the whole kernel: it reads of the data
    the elements alone that it writes."""
    calls = [op for op in fn.block.ops if isinstance(op, kernel.LibraryCallOp)]
    return calls[0] if len(calls) == 1 and calls[0].function.data.startswith("scatter") else None


def states_of(main: FuncOp) -> dict[int, str]:
    """Return the arguments that are state of the model, with the names of the weights that are their first values ("":
    zeros)."""
    entries = [] if main.arg_attrs is None else [(n, each.data.get(STATE)) for n, each in enumerate(main.arg_attrs)]
    return {n: entry.data for n, entry in entries if isinstance(entry, StringAttr)}


def readers(value: SSAValue) -> set[Operation]:
    """Return the operations that read the memory of ``value``, directly or through views of it."""
    found: set[Operation] = set()
    for use in value.uses:
        op = use.operation
        if has(op, ViewLike) or isinstance(op, SliceOp):
            found |= readers(op.results[0])
        else:
            found.add(op)
    return found


def is_in_place(alias: Alias, functions: dict[str, kernel.FuncOp], position: dict[Operation, int]) -> bool:
    """Return whether the writer can write into the argument's memory, because no operation reads the old value after
    the write.

    Other kernels must read it before the writer. The writer may read it only if each instance that reads an element
    overwrites it (``prove-in-place``). ``position``: the positions of the operations of the main function.
    """
    call = alias.writer
    if call is None:
        return False
    own = {n for n, value in enumerate(call.args) if _memory(value) is alias.old}
    proved = functions[call.callee.root_reference.data].in_place
    if own != {n for n, _ in alias.pairs() & proved}:
        return False
    return all(position[op] < position[call] for op in readers(alias.old) - {call})


def _memory(value: SSAValue) -> SSAValue:
    """Return the value of which ``value`` is a view."""
    while isinstance(op := value.owner, Operation) and (has(op, ViewLike) or isinstance(op, SliceOp)):
        value = op.operands[0]
    return value
