"""A model written by hand in C, as the pipeline would hand it over: y[n, 3] = 2 x[n, 3] + w[3]."""

from __future__ import annotations

import hashlib
import json
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

from mlc.driver.artifact.write_artifact import EMBEDDED_SYMBOL
from mlc.runtime.weights import header

WEIGHTS = np.array([0.5, -1.25, 3.0], np.float32)

CODE = """#include "mlc_runtime.h"
%(declaration)s
void k_scale(void *const *buf, const int64_t *dim, int64_t part, int64_t parts) {
  const float *x = buf[0], *w = buf[1];
  float *y = buf[2];
  for (int64_t i = part; i < dim[0]; i += parts)
    for (int j = 0; j < 3; j++) y[3 * i + j] = 2 * x[3 * i + j] + w[j];
}
static void body(mlc_call *c) {
  void *buf[] = {(void *)c->in[0], (void *)c->weights, c->out[0]};
  for (int part; (part = mlc_claim(c)) >= 0;) k_scale(buf, c->dim, part, c->parts);
  mlc_join(c);
  mlc_mark(c, 0);
}
static int64_t workspace(const int64_t *dim) { return 64; }
static int output_shape(int i, const int64_t *dim, int64_t *shape) { shape[0] = dim[0]; shape[1] = 3; return 2; }
static const char signature[] MLC_SIGNATURE = %(signature)s;
const mlc_program tiny_program = {
    .name = "tiny", .signature = signature, .inputs = 1, .outputs = 1, .dims = 1, .launches = 1,
    .workspace = workspace, .output_shape = output_shape, .body = body, .weights_bytes = %(file_bytes)d,
    .weights_sha256 = "%(sha256)s", %(place)s, .isa = "%(isa)s"};
MLC_DEFINE_ABI(tiny, 1a2b);
"""


@dataclass
class TinyLowered:
    """Stands in for ``mlc.driver.lower.Lowered``."""

    sources: dict[str, str]
    signature: dict[str, Any]
    prefix: str = "tiny"
    module: str = "builtin.module {}"
    payload: bytes = field(default_factory=WEIGHTS.tobytes)
    families: tuple[str, ...] = ()

    kernel_digests: tuple[str, ...] = ()

    def weights_writer(self, path: Path) -> None:
        path.write_bytes(header(len(self.payload), hashlib.sha256(self.payload).digest()) + self.payload)


def signature(file: str | None, isa: str) -> dict[str, Any]:
    kernel = {"name": "scale", "symbol": "k_scale", "nodes": ["n0", "n1"], "schedule": "rows", "flops": "6*n"}
    payload = WEIGHTS.tobytes()
    return {
        "abi": 2,
        "interface": "1a2b",
        "mlc": "0.1.0",
        "name": "tiny",
        "target": "cpu",
        "isa": isa.split(),
        "dims": ["n"],
        "inputs": [{"name": "x", "dtype": "float32", "shape": ["n", 3]}],
        "outputs": [{"name": "y", "dtype": "float32", "shape": ["n", 3]}],
        "kernels": [{**kernel, "bytes": "24*n + 12"}],
        "weights": {"bytes": len(payload), "sha256": hashlib.sha256(payload).hexdigest(), "file": file},
        "arena": "64",
        "arena_bound": "64",
    }


def lowered(embedded: bool = True, isa: str = "") -> TinyLowered:
    described = signature(None if embedded else "tiny.weights", isa)
    place = f".embedded = {EMBEDDED_SYMBOL}" if embedded else '.weights_file = "tiny.weights"'
    code = CODE % {
        "declaration": f"extern const char {EMBEDDED_SYMBOL}[];" if embedded else "",
        "signature": json.dumps(json.dumps(described)),
        "file_bytes": 64 + len(WEIGHTS.tobytes()),
        "sha256": described["weights"]["sha256"],
        "place": place,
        "isa": isa,
    }
    return TinyLowered({"model.c": code}, described)


def reference(x: np.ndarray[Any, Any]) -> np.ndarray[Any, Any]:
    return (2 * x.astype(np.float64) + WEIGHTS).astype(np.float32)
