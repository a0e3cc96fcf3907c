"""Products of tensor cores as C statements: fragments are read from shared memory, and each pair is multiplied."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from mlc.dialects.kernel import FRAGMENT
from mlc.passes.codegen.cuda.coordinates import THREAD
from mlc.passes.codegen.cuda.thread_part import Held

GROUP, MEMBER = f"({THREAD} >> 2 & 7)", f"({THREAD} & 3)"
"""A lane is member t of group g: PTX numbers the elements of fragments by these."""


@dataclass(frozen=True)
class Operand:
    """A staged operand: element (k, x) is ``pointer[k·row + x]``."""

    pointer: str
    row: int

    def at(self, k: int, x: str) -> str:
        """The element of step ``k`` and the lane's member, rounded."""
        return f"mlc_tf32({self.pointer}[({k} + {MEMBER}) * {self.row} + {x}])"


@dataclass(frozen=True)
class WarpProduct:
    """``total`` += the product of ``a`` and ``b`` over ``steps``; ``bases``: where the warp's part begins, on each
    axis."""

    total: Held
    a: Operand
    b: Operand
    bases: tuple[str, str]

    def steps(self, count: int, name: str) -> Iterator[str]:
        """C statements; variables begin with ``name``."""
        rows, columns = self._starts(0), self._starts(1)
        for k in range(0, count, FRAGMENT[2]):
            for m in rows:
                yield self._left(f"{name}_{k}_a{m}", k, m)
            for n in columns:
                yield self._right(f"{name}_{k}_b{n}", k, n)
            for m in rows:
                for n in columns:
                    yield self._product(f"{name}_{k}", m, n)

    def _coordinates(self) -> Mapping[tuple[int, ...], str]:
        """The variable of each element of the lane whose group and member are 0, in its warp's part."""
        layout = self.total.part.layout
        assert layout is not None
        return {layout(register=r): text for r, text in self.total.names.items()}

    def _starts(self, axis: int) -> list[int]:
        return sorted({at[axis] // FRAGMENT[axis] * FRAGMENT[axis] for at in self._coordinates()})

    def _left(self, name: str, k: int, m: int) -> str:
        elements = [self.a.at(k + dk, f"{self.bases[0]} + {GROUP} + {m + dm}") for dk in (0, 4) for dm in (0, 8)]
        return f"const uint32_t {name}[4] = {{{', '.join(elements)}}};"

    def _right(self, name: str, k: int, n: int) -> str:
        elements = [self.b.at(k + dk, f"{self.bases[1]} + {GROUP} + {n}") for dk in (0, 4)]
        return f"const uint32_t {name}[2] = {{{', '.join(elements)}}};"

    def _product(self, name: str, m: int, n: int) -> str:
        known = self._coordinates()
        sums = [known[m + dm, n + dn] for dm in (0, 8) for dn in (0, 1)]
        left = [f"{name}_a{m}[{i}]" for i in range(4)]
        right = [f"{name}_b{n}[{i}]" for i in range(2)]
        return f"mlc_mma({', '.join([*sums, *left, *right])});"
