"""Layers of experts: y = sum of weight[t, e] · FC2_e(activation(FC1_e(x_t))) over the experts e of token t.

Tokens read the weights of their experts alone. Where these are most of all experts, many tokens are multiplied with
those of all, as two products of matrices: each weight is read once. (16 experts of which a token has 2, 64 tokens:
3.4 ms by their own experts, 12 by all.)
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from mlc.dialects.graph import BitcastOp
from mlc.dialects.semantics.dims import DimLike
from mlc.frontends.build.builder import Builder
from mlc.frontends.build.ops.experts.routing import Route
from mlc.frontends.build.tensors import Tensor

WORD = 32  # bits
FEW_TOKENS = 16  # a symbolic number may be as few
MOST = 3  # products that matrices may have for one that tokens need


@dataclass(frozen=True)
class Packed:
    """Integers of ``bits`` in bytes [E, N, K * bits / 8], with a scale, and perhaps a zero point, for each block of K.

    ``scales`` and ``zeros`` are [E, N, K / block], in f32.
    """

    data: Tensor
    bits: int
    block: int
    scales: Tensor
    zeros: Tensor | None

    @property
    def operands(self) -> list[Tensor]:
        return [self.data, self.scales, *([] if self.zeros is None else [self.zeros])]

    def element(self, names: list[str], expert: str, row: str, column: str) -> str:
        """Element [expert, row, column] as an expression; ``names`` are those of the operands."""
        per, block = 8 // self.bits, f"{expert}, {row}, ({column}) // {self.block}"
        byte = f"i32({names[0]}[{expert}, {row}, ({column}) // {per}])"
        integer = f"(({byte} >> i32(({column}) % {per} * {self.bits})) & {2**self.bits - 1})"
        zero = str(2 ** (self.bits - 1)) if self.zeros is None else f"{names[2]}[{block}]"
        return f"(f32({integer}) - {zero}) * {names[1]}[{block}]"


    def words(self, build: Builder) -> Words | None:
        """The same read as 32 bits at a time, or as bytes that hold one integer; None where a block ends within."""
        experts, rows, bytes_ = self.data.shape
        per, blocks = 1 if self.bits == 8 else WORD // self.bits, self.scales.shape[2]
        if self.block % per:
            return None
        packed = build.reshape(self.data, (experts, rows, blocks, bytes_ // blocks))
        packed = packed if per == 1 else build.emit(BitcastOp(build.value(packed)))
        zeros = [] if self.zeros is None else [self.zeros]
        reduced = (int(blocks), self.block // per, per)  # type: ignore[arg-type]
        return Words([packed, self.scales, *zeros], self.bits, self.block, reduced)


@dataclass(frozen=True)
class Words:
    """A packed weight as words [E, N, blocks, words]; a product sums over blocks, words and the integers of a word."""

    operands: list[Tensor]
    bits: int
    block: int
    reduced: tuple[int, int, int]

    @property
    def column(self) -> str:
        """The column that is summed, as an expression."""
        return f"r0 * {self.block} + r1 * {self.reduced[2]} + r2"

    def element(self, expert: str, row: str) -> str:
        """The element of an expert's row as an expression; the operands are x2 and on."""
        word = f"x2[{expert}, {row}, r0, r1]"
        integer = word if self.bits == 8 else f"(({word} >> i32(r2 * {self.bits})) & {2**self.bits - 1})"
        zero = str(2 ** (self.bits - 1)) if len(self.operands) < 3 else f"x4[{expert}, {row}, r0]"
        return f"(f32({integer}) - {zero}) * x3[{expert}, {row}, r0]"


@dataclass(frozen=True)
class Dense:
    """A weight [E, N, K] that is not packed."""

    data: Tensor

    @property
    def operands(self) -> list[Tensor]:
        return [self.data]

    def element(self, names: list[str], expert: str, row: str, column: str) -> str:
        """Element [expert, row, column] in f32 as an expression."""
        return f"f32({names[0]}[{expert}, {row}, {column}])"


Weight = Packed | Dense


@dataclass(frozen=True)
class Layer:
    """Weights [E, N, K] and biases [E, N] of all experts, in f32."""

    weight: Weight
    shape: tuple[int, int, int]
    bias: Tensor | None

    def whole(self, build: Builder) -> Tensor:
        """The weight [E, N, K] in f32, unpacked where it is packed."""
        if isinstance(self.weight, Dense):
            return build.cast(self.weight.data, "f32")
        names = [f"x{n}" for n in range(len(self.weight.operands))]
        return build.compute(self.weight.element(names, "i0", "i1", "i2"), self.weight.operands, self.shape)

    def of_experts(self, build: Builder, x: Tensor, route: Route) -> Tensor:
        """[T, k, N]: the layer of each token's experts on ``x`` [T, K], or on an input for each of them, [T, k, K]."""
        y = self._products(build, x, route)
        if self.bias is None:
            return y
        return build.map("x0 + x1", y, build.compute("x0[x1[i0, i1], i2]", [self.bias, route.experts], y.shape))

    def _products(self, build: Builder, x: Tensor, route: Route) -> Tensor:
        _, rows, columns = self.shape
        shape, row = (*route.experts.shape, rows), "x0[i0, {}]" if x.rank == 2 else "x0[i0, i1, {}]"
        if isinstance(self.weight, Packed) and (words := self.weight.words(build)) is not None:
            text = f"{row.format(words.column)} * ({words.element('x1[i0, i1]', 'i2')})"
            return build.compute(text, [x, route.experts, *words.operands], shape, words.reduced, "add")
        names = [f"x{n + 2}" for n in range(len(self.weight.operands))]
        text = f"{row.format('r0')} * ({self.weight.element(names, 'x1[i0, i1]', 'i2', 'r0')})"
        return build.compute(text, [x, route.experts, *self.weight.operands], shape, (columns,), "add")

    def of_all(self, build: Builder, x: Tensor) -> Tensor:
        """[T, E, N]: the layer of all experts on ``x`` [T, K]."""
        experts, rows, columns = self.shape
        weight = build.reshape(self.whole(build), (experts * rows, columns))
        y = build.contract("tk,nk->tn", x, weight)
        y = build.reshape(y, (x.shape[0], experts, rows))
        return y if self.bias is None else build.map("x0 + x1", y, self.bias)


Activation = Callable[[Tensor, Tensor | None], Tensor]


def mixture(build: Builder, x: Tensor, route: Route, layers: list[Layer], activation: Activation) -> Tensor:
    """[T, H] of tokens ``x`` [T, H] in f32. ``layers`` are FC1, FC2 and perhaps FC3.

    ``activation`` is given the results of FC1 and FC3, [T, experts, N].
    """
    first, second, *third = layers
    if _few(x.shape[0]) or first.shape[0] > MOST * int(route.experts.shape[1]):  # type: ignore[arg-type]
        y, gate = (layer.of_experts(build, x, route) for layer in (first, *third)), None
        inner, gate = [*y, None][:2]
        each = second.of_experts(build, activation(inner, gate), route)  # type: ignore[arg-type]
        weights = build.reshape(route.weights, (*route.weights.shape, 1))
        return build.reduce("add", build.map("x0 * x1", each, weights), [1])
    weights = route.of_all(build, first.shape[0])
    inner, gate = [*(layer.of_all(build, x) for layer in (first, *third)), None][:2]
    return _summed(build, activation(inner, gate), weights, second)  # type: ignore[arg-type]


def _summed(build: Builder, inner: Tensor, weights: Tensor, layer: Layer) -> Tensor:
    """Σ weights[t, e] (layer_e(inner[t, e])) as one product over experts and columns."""
    experts, rows, columns = layer.shape
    scaled = build.map("x0 * x1", inner, build.reshape(weights, (*weights.shape, 1)))
    flat = build.reshape(scaled, (inner.shape[0], experts * columns))
    whole = build.reshape(build.transpose(layer.whole(build), [0, 2, 1]), (experts * columns, rows))
    y = build.contract("tk,kn->tn", flat, whole)
    if layer.bias is None:
        return y
    return build.map("x0 + x1", y, build.contract("te,en->tn", weights, layer.bias))


def _few(tokens: DimLike) -> bool:
    return not isinstance(tokens, int) or tokens <= FEW_TOKENS
