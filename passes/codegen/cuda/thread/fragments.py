"""Products of tensor cores as C statements: fragments are loaded from shared memory, and pairs of them are
multiplied.

The offsets of all elements follow from linear layouts, so a thread's part is a variable. Each fragment adds a constant:
by exclusive or if the thread has the same bits, otherwise in the instruction, as in ``ldmatrix`` at ``s, (t5 ^ 64) +
1024``.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property

from mlc.dialects.kernel import MmaOp, MmaShape
from mlc.dialects.kernel.linear_layout import Coordinate, LinearLayout
from mlc.dialects.types import element_of
from mlc.passes.codegen.cuda.thread.coordinates import THREAD, Coordinates
from mlc.passes.codegen.cuda.thread.cuda_memory import TileAccesses
from mlc.passes.codegen.cuda.thread.thread_part import Held
from mlc.passes.device.distribution.fragments import factor, matrix_rows
from mlc.passes.device.distribution.swizzle import placed

GROUP, MEMBER = f"({THREAD} >> 2 & 7)", f"({THREAD} & 3)"
"""A lane is member t of group g; PTX numbers the elements of fragments by g and t."""
TYPES = {"f32": "tf32", "ui8": "u8", "i8": "s8", "f8e4m3fn": "e4m3", "f8e5m2": "e5m2"}
"""PTX's names of the element types of factors, where they differ."""


@dataclass(frozen=True)
class Operand:
    """A staged operand: element (k, x) is at k·strides[0] + x·strides[1] of a local array of ``layout``.

    ``total``: the distribution of the sums, whose warps have the parts of the operand.
    """

    pointer: str
    ring: tuple[str, str]  # the array that it is a buffer of, and the bytes from there on
    mma: MmaShape
    left: bool
    strides: Sequence[int]
    layout: LinearLayout | None
    total: LinearLayout
    coordinates: Coordinates
    steps: int

    @property
    def axis(self) -> int:
        return 0 if self.left else 1

    @property
    def wide(self) -> int:
        """The elements of a fragment across the sum."""
        return self.mma.rows if self.left else self.mma.columns

    def loads(self, name: str, k: int, starts: Sequence[int]) -> Iterator[str]:
        """Yield C statements that define the registers ``{name}{x}`` of the fragments at ``starts``, for steps from
        ``k`` on."""
        if self.layout is None:
            yield from (self._single(f"{name}{x}", k, x) for x in starts)
            return
        single = [x for x in starts if not self._paired(x, starts)]
        for x in starts:
            registers = 4 if self.left else 2
            yield f"uint32_t {name}{x}[{registers}];"
        for x in (x for x in single if self.left or not self._paired(x - self.wide, starts)):
            yield self._matrices([f"{name}{x}[{r}]" for r in range(4 if self.left else 2)], k, x, pair=False)
        for x in (x for x in starts if self._paired(x, starts)):
            names = [f"{name}{at}[{r}]" for at in (x, x + self.wide) for r in range(2)]
            yield self._matrices(names, k, x, pair=True)

    def _paired(self, x: int, starts: Sequence[int]) -> bool:
        """Return whether one load reads the right fragment at ``x`` and the one beside it."""
        return not self.left and x % (2 * self.wide) == 0 and x in starts and x + self.wide in starts

    def _matrices(self, names: Sequence[str], k: int, x: int, pair: bool) -> str:
        """Return the load of 2 or 4 matrices of 8 rows of 16 bytes."""
        transposed = self.strides[0] != 1
        rows = matrix_rows(factor(self.mma, self.left, pair), transposed)
        place = self._placed(rows.of_input("lane")).scaled(self._size)
        variable, constant = self.coordinates.moved(place, 0, self._constant(k, x) * self._size)
        array, buffer = self.ring
        at = [*([buffer] if buffer != "0" else []), variable, *([str(constant)] if constant else [])]
        function = f"mlc_ldmatrix_x{len(names)}{'_trans' if transposed else ''}"
        return f"{function}({', '.join(names)}, {array}, {' + '.join(at)});"

    @property
    def _size(self) -> int:
        """The bytes of an element."""
        return self.mma.bits // 8

    @cached_property
    def _extents(self) -> tuple[int, int]:
        """The extents of (k, x) that hold all coordinates: powers of two."""
        assert self.layout is not None
        across = self.layout.shape[0] // self.steps
        return self.steps, across

    def _placed(self, lanes: Sequence[Coordinate]) -> LinearLayout:
        """Return the offsets of a lane's coordinates in its warp's part of the array."""
        warps = [(0, basis[self.axis]) for basis in self.total.of_input("warp")]
        layout = LinearLayout.of(self._extents, lane=lanes, warp=warps)
        assert self.layout is not None
        return placed(layout, self.strides, self.layout)

    def _constant(self, k: int, x: int) -> int:
        assert self.layout is not None
        at = LinearLayout.of(self._extents, one=[(k, x)])
        return placed(at, self.strides, self.layout)(one=1)[0]

    def _single(self, name: str, k: int, x: int) -> str:
        """Return the load of a TF32 fragment, register by register, if neighbours along the sum are not contiguous."""
        first = self.coordinates.thread_variable(
            LinearLayout.of(
                self.total.shape,
                lane=[(0,) * 2] * len(self.total.of_input("lane")),
                warp=self.total.of_input("warp"),
            ),
            self.axis,
        )
        bases = factor(self.mma, self.left).of_input("register")
        loads = []
        for r in range(1 << len(bases)):
            dk, dx = (sum(b[n] for i, b in enumerate(bases) if r >> i & 1) for n in range(2))
            at = f"({k + dk} + {MEMBER}) * {self.strides[0]} + {first} + {GROUP} + {x + dx}"
            loads.append(f"mlc_bits<float, uint32_t>({self.pointer}[{at}])")
        return f"uint32_t {name}[{len(loads)}] = {{{', '.join(loads)}}};"


@dataclass(frozen=True)
class HeldOperand:
    """A left factor in registers, which is distributed like the sums: element (m, k) like that of row m and column
    k.

    ``pack`` returns a register of 32 bits for the expressions of two neighbours.
    """

    held: Held
    mma: MmaShape
    pack: Callable[[str, str], str]
    zero: str
    coordinates: Coordinates

    def loads(self, name: str, k: int, starts: Sequence[int]) -> Iterator[str]:
        """Yield C statements that define the registers of the fragments at ``starts``, for steps from ``k`` on."""
        for x in starts:
            fragment = [self.pack(*map(self._element, pair)) for pair in self._registers(k, x)]
            yield f"const uint32_t {name}{x}[4] = {{{', '.join(fragment)}}};"

    def _element(self, register: int | None) -> str:
        """Return an element, or 0 if it is beyond the vector."""
        if register is None:
            return self.zero
        valid = " && ".join(TileAccesses(self.coordinates, self.held.part, "0", []).exists(register))
        return f"({valid} ? {self.held.at(register)} : {self.zero})" if valid else self.held.at(register)

    def _registers(self, k: int, x: int) -> list[list[int | None]]:
        """Return the registers that hold the elements of each register of a fragment, apart from the lane's part."""
        layout = self.held.part.layout
        assert layout is not None
        fragment = factor(self.mma, left=True)
        lanes = [(m, n) for n, m in fragment.of_input("lane")]
        assert tuple(lanes) == layout.of_input("lane"), f"{layout} does not hold fragments"
        known = {layout(register=r): r for r in self.held.part.registers()}
        elements = [[fragment(register=r, element=e) for e in range(self.mma.packed)] for r in range(4)]
        return [[known.get((x + dm, k + dk)) for dk, dm in pair] for pair in elements]


@dataclass(frozen=True)
class WarpProduct:
    """The addition of the product of ``a`` and ``b`` to ``total``, by the instruction of ``op``."""

    total: Held
    op: MmaOp
    a: Operand | HeldOperand
    b: Operand

    def steps(self, count: int, name: str) -> Iterator[str]:
        """Yield C statements; names of variables begin with ``name``."""
        rows, columns = self._starts(0, self.op.shape.rows), self._starts(1, self.op.shape.columns)
        for k in range(0, count, self.op.shape.steps):
            yield from self.b.loads(f"{name}_{k}_b", k, columns)
            yield from self.a.loads(f"{name}_{k}_a", k, rows[:1])
            for m, following in zip(rows, [*rows[1:], None], strict=True):  # the next row's loads are in flight
                yield from self.a.loads(f"{name}_{k}_a", k, [] if following is None else [following])
                for n in columns:
                    yield self._product(f"{name}_{k}", m, n)

    @cached_property
    def _coordinates(self) -> dict[Coordinate, str]:
        """The variable of each element of the lane whose group and member are 0, in its warp's part."""
        layout = self.total.part.layout
        assert layout is not None
        return {layout(register=r): text for r, text in self.total.names.items()}

    def _starts(self, axis: int, size: int) -> list[int]:
        return sorted({at[axis] // size * size for at in self._coordinates})

    def _product(self, name: str, m: int, n: int) -> str:
        coordinates = [(m + dm, n + dn) for dm in (0, 8) for dn in (0, 1)]
        sums = [self._coordinates.get(at, f"{name}_{m}_{n}[{r}]") for r, at in enumerate(coordinates)]
        beyond = f"float {name}_{m}_{n}[4] = {{}}; " if any(at not in self._coordinates for at in coordinates) else ""
        factors = (self.op.b,) if self.op.held else (self.op.a, self.op.b)
        elements = list(dict.fromkeys(map(element_of, factors)))
        which = "_".join(TYPES.get(e, e) for e in elements) + ("x3" if self.op.split is not None else "")
        return f"{beyond}mlc_mma_{which}({', '.join(sums)}, {name}_a{m}, {name}_b{n});"
