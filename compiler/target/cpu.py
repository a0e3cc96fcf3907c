"""Facts of a CPU: capacities (registers, ports, caches), rates (bandwidths, barriers), and derived properties."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import ClassVar

from mlc.target.base import Target
from mlc.target.rates import DEFAULT, Rates

_BASE = {"aarch64": "armv8-a"}


@dataclass(frozen=True)
class Cache:
    """A level of data cache: its bytes, the ways of a set, the bytes of a line, and how many CPUs share it."""

    size: int
    ways: int = 8
    line: int = 64
    shared_by: int = 1

    @property
    def period(self) -> int:
        """The distance, in bytes, of addresses that fall into the same set."""
        return self.size // self.ways


@dataclass(frozen=True)
class CpuTarget(Target):
    """A CPU. Capacities are exact for ``cpu`` and nominal for named targets; ``rates`` come from a table.

    ``threads`` is how many schedules make tasks for: an artifact runs on any number, and the same input and target give
    the same bytes whatever machine compiles them.
    """

    kind: ClassVar[str] = "cpu"

    vector_bits: int
    vector_registers: int
    l1: Cache
    l2: Cache
    l3: Cache
    fma_ports: int = 2  # multiply-adds of whole vectors that start in a cycle
    fma_latency: int = 4  # cycles until the result of one can be used
    load_ports: int = 2
    issue_width: int = 4  # instructions a cycle
    threads: int = 4
    stack: int = 512 << 10  # bytes of local arrays that a kernel may have: threads of a host program may have 1 MiB
    rates: Rates = field(default=DEFAULT)

    @property
    def lanes(self) -> int:
        """4-byte elements of a vector register."""
        return self.vector_bits // 32

    @property
    def has_mask_registers(self) -> bool:
        """Whether registers of their own hold the results of comparisons, as those of AVX-512 do."""
        return "avx512f" in self.features

    @property
    def blocks_rows(self) -> bool:
        """Whether a product whose rows L2 does not hold has blocks of rows: so Zen 3. Not measured with AVX-512."""
        return self.has("avx2") and not self.has_mask_registers

    @property
    def multiplies_pairs(self) -> bool:
        """Whether an instruction adds the products of two bf16 to a sum in f32, in the time of a multiply-add."""
        return {"avx512bf16", "avx512vl"} <= {*self.features}

    @property
    def multiplies_bytes(self) -> bool:
        """Whether an instruction adds the products of four bytes to a sum in i32, in the time of a multiply-add."""
        return bool({"avx512vnni", "avxvnni"} & {*self.features})

    @property
    def multiplies_byte_pairs(self) -> bool:
        """Whether the best product of bytes adds the products of two, an unsigned and a signed factor each, in an i16
        (AVX2's pmaddubsw). AVX-512 has it too, and was not measured without the instruction of four."""
        return "avx2" in self.features and self.vector_bits == 256 and not self.multiplies_bytes

    @property
    def widens_halves(self) -> bool:
        """Whether an instruction widens vectors of f16; those of bf16 only need a shift."""
        return "f16c" in self.features or self.arch == "aarch64"

    @property
    def flops(self) -> float:
        """Floating-point operations a second of one CPU in a product: two for each lane of a multiply-add."""
        return 2.0 * self.lanes * self.fma_ports * self.rates.clock

    @property
    def sums_in_flight(self) -> int:
        """The number of independent sums that keep the multiply-add ports busy."""
        return self.fma_ports * self.fma_latency

    def fma_cycles(self, rows: int, vectors: int) -> float:
        """Cycles of a rank-1 update of rows × vectors, limited by multiply-add ports, load ports and issue width."""
        products, loads = rows * vectors, rows + vectors
        issued = self._instructions(rows, vectors) / self.issue_width
        return max(products / self.fma_ports, loads / self.load_ports, issued)

    def step_cycles(self, rows: int, vectors: int) -> float:
        """Cycles of a rank-1 update among many: each sum waits for its own last term, so a small tile takes the latency
        of a multiply-add. (With 16 registers, where it was measured; of 32, a last tile is seldom so small.)"""
        latency = self.fma_latency if self.vector_registers <= 16 else 0
        return max(self.fma_cycles(rows, vectors), latency)

    def has_room(self, instructions: int, rows: int, vectors: int, longer: float = 0.0) -> bool:
        """Whether so many more ``instructions`` make a rank-1 update of rows × vectors at most ``longer`` of its time
        longer."""
        slots = self.issue_width * self.fma_cycles(rows, vectors) * (1 + longer)
        return self._instructions(rows, vectors) + instructions <= slots

    def _instructions(self, rows: int, vectors: int) -> int:
        return rows * vectors + rows + vectors + 3  # 3: those of the loop itself

    def fits(self, rows: int, vectors: int) -> bool:
        """Whether accumulators, one row of B and a broadcast element of A fit in registers."""
        return rows * vectors + vectors + 1 <= self.vector_registers

    def tasks(self, each: int = 1) -> int:
        """The number of tasks for ``each`` tasks a thread: with 1 all are busy, with 4 unequal tasks balance well."""
        return self.threads * each

    @property
    def thread_blocks(self) -> bool:
        return False

    @property
    def local_room(self) -> int:
        """Rules plan for ``stack``; a quarter more is for the arrays that they do not count. With what calls need, a
        thread of 1 MiB has room for both."""
        return self.stack * 5 // 4

    @property
    def mask_bytes(self) -> int:
        """A matrix in L2 is read faster than comparisons with mask registers, one in L3 than comparisons without."""
        return (self.l2 if self.has_mask_registers else self.l3).size

    @property
    def blocks_terms(self) -> bool:
        """Whether long sums run in blocks of terms: a register tile of 16 registers reads an element of a panel for 6
        rows only, so that panels must be in L1. One of 32 registers reads it for 14."""
        return self.vector_registers <= 16

    def row_padding(self, row_bytes: int) -> int:
        """A line, if rows would fall into one or two sets of L1."""
        return self.l1.line if 2 * row_bytes % self.l1.period == 0 else 0

    @property
    def resident_bytes(self) -> int:
        return self.l2.size // 2

    @property
    def local_bytes(self) -> int:
        """The most bytes of a kernel's local arrays, which must fit in L2 and on the stack."""
        return min(self.l2.size, self.stack)

    @property
    def block_bytes(self) -> int:
        """Bytes of a local block that is read several times while operands and results are streamed."""
        return self.local_bytes // 2

    def block_points(self, extent: int, point_bytes: int, others: int) -> int:
        """Points of an axis in a block: the largest divisor of its ``extent`` whose local arrays, of ``point_bytes``
        each, are ``block_bytes`` at most, with a block for every thread where there are ``others`` times as many; 1 if
        none is (``block_points(1024, 8192, 12)``: 32)."""
        fitting = (n for n in range(extent, 1, -1) if extent % n == 0 and n * point_bytes <= self.block_bytes)
        return next((n for n in fitting if others * (extent // n) >= self.threads), 1)

    @property
    def handover_bytes(self) -> float:
        """Bytes a second at which one core reads what another wrote: the rate of L3 where all threads share one."""
        return self.rates.l3_bytes if self.l3.shared_by >= self.threads else self.rates.remote_bytes

    @property
    def products_in_a_barrier(self) -> int:
        """Multiply-adds of one CPU in the time of a barrier: for a smaller product a second thread does not pay off."""
        return int(self.rates.barrier * self.flops / 2)

    @property
    def cflags(self) -> tuple[str, ...]:
        """C flags that are the same on every machine, unlike ``-march=native``."""
        if self.arch != "x86_64":
            extensions = [feature for feature in self.features if feature != "neon"]
            return ("-march=" + "+".join([_BASE.get(self.arch, "native"), *extensions]),)
        width = ("-mprefer-vector-width=512",) if self.vector_bits == 512 else ()
        return ("-march=x86-64", *(f"-m{feature}" for feature in self.features), *width)
