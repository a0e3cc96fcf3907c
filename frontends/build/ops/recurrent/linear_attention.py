"""Linear attention: a matrix of each head sums outer products of keys and values (Katharopoulos et al., 2020), decays
(Yang et al., 2024, gated linear attention) and is corrected by what it gave already (gated delta networks).

S' = exp(g) S;  S = S' + k ⊗ (β (v - S'ᵀ k));  y = scale · Sᵀ q.
"""

from __future__ import annotations

from dataclasses import dataclass

from mlc.dialects.semantics.dims import DimLike
from mlc.frontends.build.builder import Builder
from mlc.frontends.build.folding.literals import literal
from mlc.frontends.build.ops.recurrent.cells import row_at, run_steps
from mlc.frontends.build.tensors import Tensor

UNROLLED = 4  # steps: a step is several kernels


@dataclass(frozen=True)
class Tokens:
    """The inputs of a recurrence at all steps, in f32: [T, B, heads, size] each.

    ``decay``, in log space, is [T, B, H, 1], or one for each element of a key; None: there is none. ``rate`` is
    [T, B, H, 1]; None: what the state gives already is not subtracted. Queries and keys may have fewer heads than
    values, or queries more.
    """

    queries: Tensor
    keys: Tensor
    values: Tensor
    decay: Tensor | None
    rate: Tensor | None

    def at(self, build: Builder, t: DimLike) -> list[Tensor | None]:
        """Query, key, value, decay and rate of one step."""
        parts = (self.queries, self.keys, self.values, self.decay, self.rate)
        return [None if x is None else row_at(build, x, t) for x in parts]


def linear_attention(
    build: Builder, tokens: Tokens, state: Tensor, scale: float, collected: bool
) -> tuple[Tensor, Tensor, Tensor | None]:
    """(results [T, B, heads, dv], last state, all states [T, B, H, dk, dv] where ``collected``).

    ``state`` [B, H, dk, dv] is in f32.
    """
    steps = tokens.queries.shape[0]

    def at(t: DimLike, before: list[Tensor]) -> tuple[list[Tensor], list[Tensor]]:
        y, new = step(build, tokens.at(build, t), before[0], scale)
        return [y, *([new] if collected else [])], [new]

    (ys, *states), (last,) = run_steps(build, steps, [state], at, unrolled=UNROLLED)
    return ys, last, states[0] if collected else None


def step(build: Builder, parts: list[Tensor | None], state: Tensor, scale: float) -> tuple[Tensor, Tensor]:
    """(result [B, heads, dv], new state) of one token."""
    query, key, value, decay, rate = parts
    assert query is not None and key is not None and value is not None
    heads = state.shape[1]
    key = spread(build, key, heads)
    if decay is not None:
        state = build.map("x0 * exp(x1)", state, build.reshape(decay, (*decay.shape, 1)))
    if rate is not None:
        given = build.contract("bhk,bhkv->bhv", key, state)
        value = build.map("x2 * (x0 - x1)", value, given, rate)
    outer = (build.reshape(key, (*key.shape, 1)), build.reshape(value, (*value.shape[:2], 1, value.shape[2])))
    new = build.map("x0 + x1 * x2", state, *outer)
    return _read(build, query, new, scale), new


def _read(build: Builder, query: Tensor, state: Tensor, scale: float) -> Tensor:
    """[B, heads, dv]: each query times the state of its head; several of either may share one of the other."""
    batch, heads, size, out = state.shape
    query = spread(build, query, heads)
    groups = query.shape[1] // heads
    if groups == 1:
        y = build.contract("bhk,bhkv->bhv", query, state)
    else:
        grouped = build.reshape(query, (batch, heads, groups, size))
        y = build.reshape(build.contract("bhgk,bhkv->bhgv", grouped, state), (batch, query.shape[1], out))
    return build.map(f"x0 * {literal(scale)}", y)


def spread(build: Builder, x: Tensor, heads: DimLike) -> Tensor:
    """[B, n, size] with each head repeated until there are ``heads``. Where there are that many already it stays
    unchanged.
    """
    if not (isinstance(heads, int) and isinstance(x.shape[1], int)) or heads <= x.shape[1]:
        return x
    return build.compute(f"x0[i0, i1 // {heads // x.shape[1]}, i2]", [x], (x.shape[0], heads, x.shape[2]))


def last_states(build: Builder, states: Tensor, window: int) -> Tensor:
    """The last ``window`` of the states of all steps along dimension 0; zeros before the first one."""
    zeros = build.broadcast(build.constant(0, states.element), (window, *states.shape[1:]))
    return build.cut(build.concat([zeros, states], 0), 0, states.shape[0], window)
