"""Contractions: MatMul, Gemm, Einsum, Conv."""

from __future__ import annotations

from collections.abc import Sequence

from mlc.dialects.dims import product
from mlc.frontends.onnx.builder import Builder
from mlc.frontends.onnx.errors import NotSupported
from mlc.frontends.onnx.literals import literal
from mlc.frontends.onnx.node import Node, onnx_op
from mlc.frontends.onnx.ops.windows import Window
from mlc.frontends.onnx.tensors import Tensor

BATCH = "abcdefghij"
LETTERS = "abcdefghijklmnopqrstuvwxyz"


@onnx_op("MatMul")
def matmul(node: Node) -> Tensor:
    return matrix_product(node.build, node[0], node[1])


def matrix_product(build: Builder, a: Tensor, b: Tensor) -> Tensor:
    """NumPy's matmul. A product with one matrix becomes one 2-D contraction, whatever the batch of the left side."""
    if a.rank == 0 or b.rank == 0:
        raise NotSupported("a scalar operand")
    if b.rank == 2 and a.rank > 2:
        rows, n = a.shape[:-1], b.shape[1]
        flat = build.reshape(a, (product(rows), a.shape[-1]))
        return build.reshape(build.contract("mk,kn->mn", flat, b), (*rows, n))
    lhs = BATCH[: max(a.rank - 2, 0)] if a.rank >= b.rank else BATCH[b.rank - a.rank : max(b.rank - 2, 0)]
    rhs = BATCH[: max(b.rank - 2, 0)] if b.rank >= a.rank else BATCH[a.rank - b.rank : max(a.rank - 2, 0)]
    rows_, columns = "m" if a.rank > 1 else "", "n" if b.rank > 1 else ""
    batch = BATCH[: max(a.rank, b.rank, 2) - 2]
    return build.contract(
        f"{lhs if a.rank > 2 else ''}{rows_}k,{rhs if b.rank > 2 else ''}k{columns}->{batch}{rows_}{columns}", a, b
    )


@onnx_op("Gemm")
def gemm(node: Node) -> Tensor:
    left = "km" if node.flag("transA", 0) else "mk"
    right = "nk" if node.flag("transB", 0) else "kn"
    product_ = node.build.contract(f"{left},{right}->mn", node[0], node[1])
    alpha, beta, bias = node.attr("alpha", 1.0), node.attr("beta", 1.0), node.get(2)
    scaled = "x0" if alpha == 1 else f"{literal(alpha)} * x0"
    if bias is None or beta == 0:
        return product_ if alpha == 1 else node.build.map(scaled, product_)
    added = "x1" if beta == 1 else f"{literal(beta)} * x1"
    return node.build.map(f"{scaled} + {added}", product_, bias)


@onnx_op("Conv")
def conv(node: Node) -> Tensor:
    x, w = node[0], node[1]
    window = Window.of(node, x.shape[2:], w.shape[2:])
    padded = window.padded(node.build, x, "0")
    y = node.build.conv(padded, w, window.strides, window.dilations, node.attr("group", 1))
    return biased(node.build, y, node.get(2))


def biased(build: Builder, y: Tensor, bias: Tensor | None) -> Tensor:
    if bias is None:
        return y
    return build.map("x0 + x1", y, build.reshape(bias, (*bias.shape, *[1] * (y.rank - 2))))


@onnx_op("Einsum")
def einsum(node: Node) -> Tensor:
    """Operands are combined from left to right, two at a time; ellipses and repeated letters are resolved first."""
    equation = node.attr("equation").replace(" ", "")
    left, arrow, out = equation.partition("->")
    terms, xs = left.split(","), node.tensors()
    if len(terms) != len(xs):
        raise NotSupported(f"equation '{equation}' with {len(xs)} operands")
    width = max((x.rank - len(t.replace("...", "")) for t, x in zip(terms, xs, strict=True) if "..." in t), default=0)
    spare = [c for c in "ABCDEFGHIJKLMNOPQRSTUVWXYZ" if c not in equation]
    terms = [
        t.replace("...", "".join(spare[width - x.rank + len(t) - 3 : width])) for t, x in zip(terms, xs, strict=True)
    ]
    out = out.replace("...", "".join(spare[:width])) if arrow else _implicit(terms, "".join(spare[:width]))
    letters = dict.fromkeys("".join(terms))  # lower case, so that no letter is the name of a symbolic dimension
    fresh = str.maketrans("".join(letters), LETTERS[: len(letters)])
    terms, out = [t.translate(fresh) for t in terms], out.translate(fresh)
    pairs = [_diagonal(node.build, t, x) for t, x in zip(terms, xs, strict=True)]
    term, result = pairs[0]
    for n, (other, x) in enumerate(pairs[1:], 1):
        later = set(out).union(*(t for t, _ in pairs[n + 1 :]))
        kept = "".join(c for c in dict.fromkeys(term + other) if c in later)
        result, term = node.build.contract(f"{term},{other}->{kept}", result, x), kept
    return _arranged(node.build, term, result, out)


def _implicit(terms: Sequence[str], ellipsis: str) -> str:
    letters = "".join(terms)
    return ellipsis + "".join(sorted(c for c in set(letters) if letters.count(c) == 1 and c not in ellipsis))


def _diagonal(build: Builder, term: str, x: Tensor) -> tuple[str, Tensor]:
    letters = "".join(dict.fromkeys(term))
    if letters == term:
        return term, x
    at = ", ".join(f"i{letters.index(c)}" for c in term)
    return letters, build.compute(f"x0[{at}]", [x], [x.shape[term.index(c)] for c in letters])


def _arranged(build: Builder, term: str, x: Tensor, out: str) -> Tensor:
    gone = [n for n, c in enumerate(term) if c not in out]
    if gone:
        x, term = build.cast(build.reduce("add", build.wide(x), gone), x.element), "".join(c for c in term if c in out)
    return build.transpose(x, [term.index(c) for c in out])
