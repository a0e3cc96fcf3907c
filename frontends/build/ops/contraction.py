"""Contractions: matrix products (matmul, GEMM), Einstein sums (einsum); biases of convolutions. Source: NumPy."""

from __future__ import annotations

from collections.abc import Sequence

from mlc.dialects.semantics.dims import product
from mlc.frontends.build.builder import Builder
from mlc.frontends.build.errors import NotSupported
from mlc.frontends.build.folding.literals import literal
from mlc.frontends.build.tensors import Tensor

BATCH = "abcdefghij"
LETTERS = "abcdefghijklmnopqrstuvwxyz"


def matmul(build: Builder, a: Tensor, b: Tensor) -> Tensor:
    """NumPy's matmul. A product with a single matrix is one 2-D contraction, whatever batches the left operand has."""
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


def gemm(
    build: Builder,
    a: Tensor,
    b: Tensor,
    c: Tensor | None,
    transposed: tuple[bool, bool] = (False, False),
    factors: tuple[float, float] = (1.0, 1.0),
) -> Tensor:
    """alpha · a · b + beta · c of matrices, either of which may be stored transposed; ``factors``: alpha, beta."""
    left, right = "km" if transposed[0] else "mk", "nk" if transposed[1] else "kn"
    y, (alpha, beta) = build.contract(f"{left},{right}->mn", a, b), factors
    scaled = "x0" if alpha == 1 else f"{literal(alpha)} * x0"
    if c is None or beta == 0:
        return y if alpha == 1 else build.map(scaled, y)
    added = "x1" if beta == 1 else f"{literal(beta)} * x1"
    return build.map(f"{scaled} + {added}", y, c)


def add_channel_bias(build: Builder, y: Tensor, bias: Tensor | None) -> Tensor:
    """``y`` [N, C, …] + ``bias`` [C]; ``y`` where there is none."""
    if bias is None:
        return y
    return build.map("x0 + x1", y, build.reshape(bias, (*bias.shape, *[1] * (y.rank - 2))))


def einsum(build: Builder, equation: str, xs: Sequence[Tensor]) -> Tensor:
    """Operands are combined from left to right, two at a time; ellipses and repeated letters are resolved first."""
    equation = equation.replace(" ", "")
    left, arrow, out = equation.partition("->")
    terms = left.split(",")
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
    pairs = [_diagonal(build, t, x) for t, x in zip(terms, xs, strict=True)]
    term, result = pairs[0]
    for n, (other, x) in enumerate(pairs[1:], 1):
        later = set(out).union(*(t for t, _ in pairs[n + 1 :]))
        kept = "".join(c for c in dict.fromkeys(term + other) if c in later)
        result, term = build.contract(f"{term},{other}->{kept}", result, x), kept
    return _arranged(build, term, result, out)


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
