"""Quantized contractions of blocks (``round-blocks``): a product with a weight of a few bits multiplies bytes, where
the model allows it.

    %y = graph.compute "x0[…] * (f32((x1[…] >> …) & 15) - 8) * x2[…])"(%x, %w, %s) {reduce = [blocks, words, 8],
         rounds = "i8"}

  → %u = max |%x| of 32 neighbours / 127, %b = i8(round(%x / %u)), %c = -8 · Σ %b
    %y = graph.compute "f32(x2[…] + dot4(x3[…] & 0x0f0f0f0f, x0[…]) + dot4(…)) * (x1[…] * x4[…])"(%b, %u, %c, %v, %s)
         {reduce = [blocks]}

A model says with ``accuracy_level = 4`` that its activations may be bytes with a scale for each block; ``numerics =
relaxed`` allows it in every such product. An instruction that multiplies four bytes takes the time of one multiply-
add of floats. So a chunk of 32 terms, or a block of fewer, is one sum of integers, which is scaled once. AVX2 has an
instruction for two bytes (``dot2x2``), whose sums of 16 bits hold a chunk of integers of 4 bits; ``sum2`` adds them.
In each word of the weight the integers are put into another order, such that the same bits of its four bytes are of
four neighbours: a mask makes them bytes. The model's sum stays for ``numerics = strict`` and targets without the
instruction.
"""

from __future__ import annotations

from dataclasses import dataclass

from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp
from xdsl.ir import SSAValue
from xdsl.passes import ModulePass

from mlc.dialects.graph import ComputeOp, MapOp, ReduceOp, dims_of
from mlc.dialects.semantics.block_sums import BlockSum
from mlc.dialects.semantics.dims import DimLike
from mlc.dialects.types import shape_of
from mlc.passes.context import target_of
from mlc.passes.graph.patterns.cleanup import eliminate_dead
from mlc.passes.graph.patterns.constants import constant_values
from mlc.passes.op_builder import OpBuilder
from mlc.passes.rewriter import bodies, erase_unused

CHUNK = 32  # terms that are summed as integers, and share a scale of the left factor
BYTE, FOUR, MOST = 8, 4, 127
NIBBLE, ONES = 0xF, 0x01010101
assert CHUNK // 2 * NIBBLE * (MOST + 1) < 2**15  # terms of a sum of 16 bits
LEAST = 1e-36  # a chunk of smaller numbers is zero: 127 divided by its largest one would be infinite


@dataclass(frozen=True)
class RoundBlocks(ModulePass):
    """Multiply bytes in products with weights of a few bits whose model allows that. ``always``: in all of them."""

    name = "round-blocks"
    always: bool = False

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        target = target_of(ctx)
        if not target.multiplies_bytes and not target.multiplies_byte_pairs:
            return
        for body in bodies(op):
            constants = constant_values(body)
            for each in [o for o in body.ops if isinstance(o, ComputeOp)]:
                allowed = self.always or (each.rounds is not None and each.rounds.data == "i8")
                if allowed and (sum_ := each.block_sum) and each.args[1] in constants:
                    new = _Product(each, sum_, OpBuilder(each), pairs=not target.multiplies_bytes)
                    each.result.replace_all_uses_with(new.emit())
                    erase_unused([each])
        eliminate_dead(op)


@dataclass(frozen=True)
class _Product:
    """The integer form of ``op``, a ``sum``."""

    op: ComputeOp
    sum: BlockSum
    builder: OpBuilder
    pairs: bool  # the instruction adds the products of two bytes, not of four

    @property
    def rows(self) -> DimLike:
        return dims_of(self.op.shape)[0]

    @property
    def blocks(self) -> int:
        return int(dims_of(self.op.reduce)[0])  # type: ignore[arg-type]

    @property
    def chunk(self) -> int:
        return min(self.sum.block, CHUNK)

    @property
    def parts(self) -> int:
        """Chunks of a block."""
        return self.sum.block // self.chunk

    def emit(self) -> SSAValue:
        units, values = self._rounded()
        scales, zeros = self.op.args[2], self.op.args[3:]
        sums = self._sums(values)
        args = [self.builder.packed(values), units, sums, self._ordered(), scales, *zeros]
        reduce = (self.blocks, self.parts) if self.parts > 1 else (self.blocks,)
        return self.builder.emit(ComputeOp(self._text(), args, dims_of(self.op.shape), reduce, "add"))

    def _rounded(self) -> tuple[SSAValue, SSAValue]:
        """Return the scale of each chunk [rows, chunks], and the bytes [rows, chunks, terms]."""
        emit = self.builder.emit
        x = self.builder.reshape(self.op.args[0], (self.rows, self.blocks * self.parts, self.chunk))
        largest = emit(ReduceOp("max", emit(MapOp("abs(x0)", [x])), [2], True))
        ratio = emit(MapOp(f"where(x0 > {LEAST}, {MOST} / x0, 0 * x0)", [largest]))
        units = self.builder.reshape(emit(MapOp(f"x0 * {1 / MOST}", [largest])), shape_of(x)[:2])
        return units, emit(MapOp("i8(round(x0 * x1))", [x, ratio]))

    def _sums(self, values: SSAValue) -> SSAValue:
        """Return Σ x of each chunk, as f32; without zero points -middle · Σ x, as i32."""
        emit = self.builder.emit
        sums = emit(ReduceOp("add", emit(MapOp("i32(x0)", [values])), [2]))
        return emit(MapOp("f32(x0)" if self.sum.zeros else f"x0 * {-self.sum.middle}", [sums]))

    def _ordered(self) -> SSAValue:
        """Return the words of the weight, in which integer 4p + j has become the p-th of byte j."""
        bits, count = self.sum.bits, BYTE // self.sum.bits
        moves = [(FOUR * p + j, j * count + p) for p in range(count) for j in range(FOUR)]
        if count == 1:
            return self.op.args[1]
        parts = [f"(((x0 >> {bits * start}) & {self.sum.mask}) << {bits * end})" for start, end in moves]
        return self.builder.emit(MapOp(" | ".join(parts), [self.op.args[1]]))

    def _factors(self, chunk: str) -> list[tuple[str, str]]:
        """Return what ``_text`` multiplies: four integers of the weight as bytes, and four bytes of the left factor."""
        bits, words = self.sum.bits, self.chunk // self.sum.per
        part = f"r1 * {words} + " if self.parts > 1 else ""
        bytes_, found = self.sum.mask * ONES, []
        for word in range(words):
            for place in range(BYTE // bits):
                read = f"x3[i1, r0, {part}{word}]"
                taken = read if bits == BYTE else f"({read} >> {bits * place}) & {bytes_}"
                found.append((taken, f"x0[i0, {chunk}, {word * BYTE // bits + place}]"))
        return found

    def _sums_of_pairs(self, chunk: str) -> list[str]:
        """Return sums of 16 bits, in which no chunk overflows: half of its terms are products of an integer of 4 bits
        and a byte. An integer of 8 bits is two of 4."""
        factors = self._factors(chunk)
        if self.sum.bits < BYTE:
            return [_sum_of_pairs(factors)]
        low, high = (_sum_of_pairs([(f"({a} >> {n}) & {NIBBLE * ONES}", b) for a, b in factors]) for n in (0, 4))
        return [low, f"({high} << 4)"]

    def _text(self) -> str:
        chunk = f"r0 * {self.parts} + r1" if self.parts > 1 else "r0"
        dots = self._sums_of_pairs(chunk) if self.pairs else [f"dot4({a}, {b})" for a, b in self._factors(chunk)]
        start = [] if self.sum.zeros else [f"x2[i0, {chunk}]"]
        total = f"f32({' + '.join([*start, *dots])})"
        if self.sum.zeros:
            total = f"({total} - x2[i0, {chunk}] * f32(x5[i1, r0]))"
        return f"{total} * (x1[i0, {chunk}] * x4[i1, r0])"


def _sum_of_pairs(factors: list[tuple[str, str]]) -> str:
    """Return the sum of products of bytes, by pairs in 16 bits."""
    first, *others = (f"dot2x2({a}, {b})" for a, b in factors)
    for other in others:
        first = f"add2({first}, {other})"
    return f"sum2({first})"
