"""What a cubin says of each kernel's launches (ELF sections ``.nv.info.SYMBOL`` and ``.nv.shared.SYMBOL``), as
``cuobjdump -elf`` prints it: the sizes of parameters, the threads of a block, registers, and static shared memory."""

from __future__ import annotations

import struct
from dataclasses import dataclass, field

from mlc.passes.codegen.cuda.launch_geometry import Geometry
from mlc.target import GpuTarget
from mlc.tools.cubin import resources

PARAMETER, MOST_THREADS, BY_VALUE = 0x17, 0x05, 4  # EIATTR_KPARAM_INFO, EIATTR_MAX_THREADS, EIFMT_SVAL
RESERVED = 1024  # bytes of shared memory of each block that sm_90 keeps, counted in the section of a kernel's own
UNIT = 256  # registers that a warp is given at a time
_SECTION = struct.Struct("<IIQQQQIIQQ")


@dataclass
class Facts:
    parameters: dict[int, tuple[int, int]] = field(default_factory=dict)  # offset and bytes
    threads: int = 0
    static: int = 0
    registers: int = 0

    def problems(self, sizes: list[int], geometry: Geometry, target: GpuTarget) -> list[str]:
        """Return why the driver would refuse a launch with parameters of these sizes, or read others."""
        own = [size for _, (_, size) in sorted(self.parameters.items())]
        registers = -(-self.registers * target.warp // UNIT) * UNIT * -(-geometry.threads // target.warp)
        shared = self.static + geometry.dynamic
        return [
            *([f"parameters of {own} bytes, and not {sizes}"] if own != sizes else []),
            *([f"{geometry.threads} threads, of {self.threads}"] if geometry.threads > self.threads else []),
            *([f"{registers} registers, of {target.registers}"] if registers > target.registers else []),
            *([f"{shared} bytes of shared memory"] if shared > target.shared_optin else []),
        ]


def facts(image: bytes) -> dict[str, Facts]:
    """Return the facts of each kernel of a cubin."""
    (start,), (count, names) = struct.unpack_from("<Q", image, 0x28), struct.unpack_from("<HH", image, 0x3C)
    sections = [_SECTION.unpack_from(image, start + n * _SECTION.size) for n in range(count)]
    found = {symbol: Facts(registers=each.registers) for symbol, each in resources([image]).items()}
    for section in sections:
        at = sections[names][4] + section[0]
        name, data = image[at : image.index(b"\0", at)].decode(), image[section[4] : section[4] + section[5]]
        _, _, symbol = name[1:].partition(".")
        which, _, symbol = symbol.partition(".")
        if which == "info" and symbol in found:
            _read(data, found[symbol])
        if which == "shared" and symbol in found:
            found[symbol].static = section[5]
    return found


def _read(data: bytes, of: Facts) -> None:
    at = 0
    while at + 4 <= len(data):
        form, attribute, size = struct.unpack_from("<BBH", data, at)
        if form == BY_VALUE and attribute == PARAMETER:
            _, number, offset, rest = struct.unpack_from("<IHHI", data, at + 4)
            of.parameters[number] = (offset, rest >> 18)
        if form == BY_VALUE and attribute == MOST_THREADS:
            of.threads = struct.unpack_from("<I", data, at + 4)[0]
        at += 4 + (size if form == BY_VALUE else 0)
