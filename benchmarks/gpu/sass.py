"""Machine code of NVIDIA GPUs (SASS), which cuobjdump prints: the innermost loops of a kernel, their instructions."""

from __future__ import annotations

import re
import subprocess
import tempfile
from collections import Counter
from collections.abc import Iterator, Sequence
from typing import NamedTuple

from benchmarks.gpu.cubins import COPIES, TENSOR_CORES
from mlc.driver.toolchain.cuda_compiler import toolkit
from mlc.errors import ToolchainError

LINE = re.compile(r"^\s+/\*([0-9a-f]{4,})\*/\s+(?:@!?U?P\w+\s+)?([A-Z][A-Z0-9]*)([^;]*);", re.M)
KINDS = {
    "products": TENSOR_CORES,
    "copies": COPIES,
    "shared": ("LDSM", "LDS", "STS", "STSM"),
    "waits": ("SYNCS", "BAR", "DEPBAR", "LDGDEPBAR", "WARPSYNC", "WARPGROUP", "FENCE", "MEMBAR", "ELECT"),
    "branches": ("BRA", "BRX", "BSSY", "BSYNC", "BREAK", "EXIT", "CALL", "RET", "NOP"),
}  # fmt: skip
"""Opcodes by what they are for; all others are ``arithmetic``: addresses, conditions, moves of registers."""


class Instruction(NamedTuple):
    at: int
    opcode: str
    rest: str  # modifiers and operands

    @property
    def target(self) -> int | None:
        """Where a branch goes."""
        found = re.search(r"0x([0-9a-f]+)", self.rest) if self.opcode == "BRA" else None
        return int(found[1], 16) if found else None


def functions(image: bytes) -> dict[str, list[Instruction]]:
    """The instructions of each kernel of a cubin, in order. ToolchainError without cuobjdump, which needs nvdisasm."""
    program = next(toolkit("cuobjdump"), None)
    if program is None:
        raise ToolchainError("There is no cuobjdump", hint="`pip install nvidia-cuda-cuobjdump nvidia-cuda-nvdisasm`")
    with tempfile.NamedTemporaryFile(suffix=".cubin") as file:
        file.write(image)
        file.flush()
        text = subprocess.run([program, "-sass", file.name], capture_output=True, text=True, check=True).stdout
    parts = re.split(r"^\s+Function : (\S+)$", text, flags=re.M)[1:]
    return {name: instructions(code) for name, code in zip(parts[::2], parts[1::2], strict=True)}


def instructions(text: str) -> list[Instruction]:
    return [Instruction(int(at, 16), opcode, rest) for at, opcode, rest in LINE.findall(text)]


def loops(code: Sequence[Instruction]) -> Iterator[list[Instruction]]:
    """The innermost loops that multiply by tensor cores or copy to shared memory, from where they begin to the branch
    back. A branch back into a loop from after it, from where a wait goes on, is none."""
    ends = sorted((each.target, each.at) for each in code if each.target is not None and each.target < each.at)
    found: list[list[Instruction]] = []
    for first, last in ends:
        body = [each for each in code if first <= each.at <= last]
        if any(each.opcode in (*TENSOR_CORES, *COPIES) for each in body):
            found.append(body)
    for body in found:
        others = [other for other in found if other is not body]
        inner = any(body[0].at <= other[0].at and other[-1].at <= body[-1].at for other in others)
        after = any(other[0].at < body[0].at <= other[-1].at < body[-1].at for other in others)
        if not inner and not after:
            yield body


def mix(body: Sequence[Instruction]) -> dict[str, int]:
    """How many instructions of a loop are of each kind, and all of them beside products."""
    kinds = {opcode: kind for kind, opcodes in KINDS.items() for opcode in opcodes}
    counts = Counter(kinds.get(each.opcode, "arithmetic") for each in body)
    beside = len(body) - counts["products"]
    return {**{kind: counts[kind] for kind in (*KINDS, "arithmetic")}, "beside products": beside}
