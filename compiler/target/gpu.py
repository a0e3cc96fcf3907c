"""Facts of an NVIDIA GPU: multiprocessors, registers, shared memory, caches, rates, and derived properties."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import ClassVar

from mlc.target.base import Target
from mlc.target.heuristics import GpuHeuristics

KIB, MIB = 1 << 10, 1 << 20


@dataclass(frozen=True)
class GpuTarget(Target):
    """A GPU, and the CPU beside it that runs the host program (``arch``, ``features``).

    ``architectures`` are the compute capabilities that kernels are compiled for, as nvcc's ``-arch`` takes them; the
    facts are those of the first one's largest product. Sources: CUDA C++ Programming Guide 13.0, table "Technical
    Specifications per Compute Capability"; the data sheets of A100 and H100.
    """

    kind: ClassVar[str] = "gpu"

    architectures: tuple[str, ...]
    multiprocessors: int
    registers: int  # 32-bit registers of a multiprocessor
    shared: int  # bytes of shared memory that a block may have with a static declaration
    shared_optin: int  # the same where the launch asks for more than the default
    l2_bytes: int
    warp: int = 32  # threads of a warp
    library_threads: int = 256  # threads of a block of a runtime library function
    block_threads: int = 256  # threads of a block that schedules make tiles for
    most_threads: int = 1024  # threads that a block may have
    resident_threads: int = 2048  # threads that a multiprocessor runs at a time
    thread_registers: int = 128  # registers of a thread that tiles are made for: half of what it may have
    clock: float = 1.41e9  # cycles a second
    memory_bytes: float = 2.0e12  # read or written a second
    products: int = 64  # f32 multiply-adds that a multiprocessor starts in a cycle
    l2_read: float = 32  # bytes that a multiprocessor reads from L2 in a cycle; an estimate, as the next three are
    shared_read: float = 128  # bytes that it reads from shared memory in a cycle: one word for each lane
    term_cycles: float = 16  # of a term at least, while a block waits for its operands: as if one copy were in flight
    launch_cycles: float = 3000  # of one more kernel
    arriving: float = 64  # bytes that reach a multiprocessor in a cycle, from L2 or from what others of a cluster read
    access_cycles: float = 700  # of an access of L2 that others wait for
    processing_clusters: int = 8  # groups of multiprocessors (GPC); the blocks of a cluster are on those of one
    heuristics: GpuHeuristics = field(default=GpuHeuristics())

    @property
    def flops(self) -> float:
        """Floating-point operations a second of all multiprocessors, without tensor cores."""
        return 2.0 * self.products * self.multiprocessors * self.clock

    @property
    def threads(self) -> int:
        """The number of blocks that run at a time, one a multiprocessor; schedules make at least so many."""
        return self.multiprocessors

    def tensor_products(self, bits: int) -> int:
        """Multiply-adds of so many bits (TF32: 32) that a multiprocessor's tensor cores start in a cycle."""
        return self.products * 256 // bits

    def tasks(self, each: int = 1) -> int:
        """The number of blocks for which each multiprocessor is full ``each`` times."""
        return self.multiprocessors * each * (self.resident_threads // self.block_threads)

    def shared_of(self, threads: int) -> int:
        """Bytes of shared memory of a block for which a multiprocessor runs as many blocks of so many threads as it has
        registers for; it keeps a KiB for each."""
        blocks = max(1, self.registers // (threads * self.thread_registers))
        return max(self.shared, (self.shared_optin + KIB) // blocks - KIB)

    def in_clusters(self, blocks: int) -> int:
        """The multiprocessors that clusters of so many blocks, one on each, occupy: pairs fill all, and more of them as
        many as equal processing clusters have room for."""
        groups = self.processing_clusters if blocks > 2 else 1
        each = max(self.multiprocessors // groups, blocks)
        return max(each // blocks * blocks * (self.multiprocessors // each), blocks)

    @property
    def thread_blocks(self) -> bool:
        return True

    @property
    def device_memory(self) -> bool:
        return True

    @property
    def local_room(self) -> int:
        return self.shared

    @property
    def resident_bytes(self) -> int:
        return self.l2_bytes // 2

    @property
    def warpgroups(self) -> bool:
        """Whether kernels may have products of warpgroups (wgmma): sm_90a alone has them."""
        return all(name == "sm_90a" for name in self.architectures)

    @property
    def open_rows(self) -> bool:
        """A block reads a row again, at best from L2, where other kernels would write and read it from memory."""
        return True

    @property
    def block_bytes(self) -> int:
        """Bytes that a block may read several times from L2 while all multiprocessors do the same."""
        return self.l2_bytes // self.multiprocessors

    @property
    def cflags(self) -> tuple[str, ...]:
        """C flags of the host program: the base instruction set."""
        return ("-march=x86-64",) if self.arch == "x86_64" else ()


A100 = GpuTarget("cuda:sm_80", "x86_64", (), ("sm_80",), 108, 64 * KIB, 48 * KIB, 163 * KIB, 40 * MIB)
H100 = GpuTarget(
    "cuda:sm_90", "x86_64", (), ("sm_90a",), 132, 64 * KIB, 48 * KIB, 227 * KIB, 50 * MIB,
    clock=1.83e9, memory_bytes=3.35e12, products=128, term_cycles=12, launch_cycles=2000,
)  # fmt: skip
"""Terms and launches by what an H200 measured of products with parts (`benchmarks/results`, "Parts of sums")."""
PORTABLE = GpuTarget("cuda", "x86_64", (), ("sm_80", "sm_90a"), 108, 64 * KIB, 48 * KIB, 163 * KIB, 40 * MIB)
"""The default: one artifact with code for both architectures, scheduled for the smaller one."""

GPUS = {target.name: target for target in (PORTABLE, A100, H100)}
"""Named GPU targets. ``cuda:sm_90`` has the instructions of sm_90a, which no later architecture runs."""
