"""The payload: all weights of a program in one file, in the order of the plan."""

from __future__ import annotations

import hashlib
import shutil
import tempfile
import weakref
from dataclasses import dataclass
from pathlib import Path
from typing import BinaryIO, cast

from mlc.dialects import rt
from mlc.dialects.weights import WeightStore
from mlc.driver.artifact.output_files import output_error
from mlc.passes.codegen.emit_c import payload
from mlc.runtime.weights import header

COPY_BYTES = 1 << 24  # copied at a time


@dataclass(frozen=True)
class Payload:
    """The bytes of the weights, in a temporary file that is deleted with this object; their number and SHA-256."""

    size: int
    digest: bytes
    file: BinaryIO

    def write(self, path: Path) -> None:
        """Write a weights file: a header, then the payload."""
        with path.open("wb") as out:
            out.write(header(self.size, self.digest))
            self.file.seek(0)
            shutil.copyfileobj(self.file, out, COPY_BYTES)


def spool(program: rt.ProgramOp, weights: WeightStore) -> Payload:
    """The payload of a planned program, made once: the library, which names its digest, is written before the weights
    file. OutputError where there is no room.
    """
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
