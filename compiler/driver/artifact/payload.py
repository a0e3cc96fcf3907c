"""The payload: all weights of a program in one file, in the order of the plan."""

from __future__ import annotations

import hashlib
import json
import shutil
import tempfile
import weakref
from dataclasses import dataclass
from pathlib import Path
from typing import BinaryIO, ClassVar, cast

from mlc.dialects import rt
from mlc.dialects.comm.world import numbered
from mlc.dialects.weights import WeightStore
from mlc.driver.artifact.output_files import output_error
from mlc.passes.codegen.cpu.payload_layout import payload_layout
from mlc.passes.codegen.emit_c import payload
from mlc.runtime.weights import HEADER_BYTES, INDEX, header, of_rank

COPY_BYTES = 1 << 24  # copied at a time


@dataclass(frozen=True)
class Payload:
    """The bytes of the weights, in a temporary file that is deleted with this object; their number and SHA-256."""

    size: int
    digest: bytes
    file: BinaryIO

    of_ranks: ClassVar[tuple[str, ...]] = ()

    def write(self, path: Path, rank: int = 0, ranks: int = 0) -> None:
        """Write a weights file: a header, then the payload. ``ranks``: that of one of so many ranks."""
        with path.open("wb") as out:
            out.write(header(self.size, self.digest, rank, ranks))
            self.file.seek(0)
            shutil.copyfileobj(self.file, out, COPY_BYTES)


@dataclass(frozen=True)
class PayloadsOfRanks:
    """The payloads of all ranks, equally long; ``of_ranks`` are their digests."""

    payloads: tuple[Payload, ...]

    @property
    def size(self) -> int:
        return self.payloads[0].size

    @property
    def of_ranks(self) -> tuple[str, ...]:
        return tuple(each.digest.hex() for each in self.payloads)

    @property
    def digest(self) -> bytes:
        return hashlib.sha256("".join(self.of_ranks).encode()).digest()

    def write(self, path: Path) -> None:
        """Write the weights file of each rank beside ``path``, and an index of them."""
        ranks = len(self.payloads)
        for rank, each in enumerate(self.payloads):
            each.write(of_rank(path, rank, ranks), rank, ranks)
        files = [{"rank": rank, "file": of_rank(path, rank, ranks).name, "bytes": self.size + HEADER_BYTES,
                  "sha256": digest} for rank, digest in enumerate(self.of_ranks)]  # fmt: skip
        path.with_suffix(INDEX).write_text(json.dumps({"ranks": ranks, "files": files}, indent=1) + "\n")


def spool(program: rt.ProgramOp, weights: WeightStore) -> Payload | PayloadsOfRanks:
    """The payload of a planned program, or those of all ranks, made once: the library, which names the digests, is
    written before the weights files. OutputError where there is no room.
    """
    ranks = max((weights.entry(name).ranks for _, name in payload_layout(program).entries), default=1)
    if ranks == 1:
        return _spooled(program, weights)
    found = []
    for rank in range(ranks):
        with numbered(rank, ranks):
            found.append(_spooled(program, weights))
    return PayloadsOfRanks(tuple(found))


def _spooled(program: rt.ProgramOp, weights: WeightStore) -> Payload:
    file = cast(BinaryIO, tempfile.TemporaryFile(prefix="mlc-payload-"))  # noqa: SIM115 (closed with the payload)
    digest, size = hashlib.sha256(), 0
    for piece in payload(program, weights):
        digest.update(piece)
        try:
            size += file.write(piece)
        except OSError as error:
            raise output_error(Path(tempfile.gettempdir()), error) from error
    made = Payload(size, digest.digest(), file)
    weakref.finalize(made, file.close)
    return made
