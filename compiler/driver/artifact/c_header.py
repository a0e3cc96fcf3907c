"""The C header of a model: its interface, and the arguments to pass. The same interface gives the same bytes."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from typing import Any

from mlc.driver.artifact.names import comment_text
from mlc.passes.codegen.c_like.c_string import c_string
from mlc.runtime.c import paths
from mlc.runtime.signature import dtype_of, sizes_text

Signature = Mapping[str, Any]


_DEVICE = """
/* As @PREFIX@_run, with tensors in the memory of the device that the model was created on. The run is ordered in
 * `stream` (a CUstream or cudaStream_t of that device's primary context; NULL: the default stream). This returns when
 * the run is enqueued; where the model computes sizes or conditions from data, later. */
int @PREFIX@_run_device(@PREFIX@_model *model, const void *const *inputs, void *const *outputs, const int64_t *dims,
                        void *stream);
"""

_JOIN = """
/* Joins the ranks that run this model, which has collectives, before its first run: all call this at once. `comm` is
 * the table of mlc_comm.h, which lives as long as the model; NULL: this rank alone. mlc_comm_mpi.h makes the table of
 * an MPI communicator; `python -c "from mlc import comm; print(*comm.include())"` prints the folders of both headers.
 * Returns 0, or 1 on failure: ranks with another program, or that do not come within comm->limit seconds. */
struct mlc_comm;
int @PREFIX@_join(@PREFIX@_model *model, const struct mlc_comm *comm);
"""


def header(prefix: str, signature: Signature) -> str:
    """The text of the header."""
    text = paths()["mlc_model.h.in"].read_text().replace("@CONSTANTS@", "\n".join(_constants(signature)))
    text = text.replace("@DEVICE@", _DEVICE if signature["target"].startswith("cuda") else "")
    text = text.replace("@JOIN@", _JOIN if "collectives" in signature else "")
    text = text.replace("@PREFIX@", prefix).replace("@INTERFACE@", signature["interface"])
    return f"/*{_contract(signature)} */\n{text}"


def _contract(signature: Signature) -> str:
    """Lines of a C comment that list dimensions, inputs and outputs in the order of the arguments."""
    lines = [f" dims: {', '.join(map(comment_text, signature['dims'])) or 'none'}"]
    for kind in ("inputs", "outputs"):
        for index, tensor in enumerate(signature[kind]):
            shape = comment_text(sizes_text(tensor["shape"], tensor.get("optional", ())))
            alias = f", may be inputs[{tensor['alias']}]" if "alias" in tensor else ""
            lines.append(f"{kind}[{index}]: {comment_text(tensor['name'])} {tensor['dtype']}[{shape}]{alias}")
    for tensor in signature.get("states", ()):
        shape = ", ".join(map(str, tensor["shape"]))
        lines.append(f"state {comment_text(tensor['name'])} {tensor['dtype']}[{shape}]")
    for size in signature.get("sizes", ()):
        name, bound, output = comment_text(size["name"]), comment_text(size["bound"]), size["output"]
        lines.append(f"{name}: known after the run, at most {bound}; outputs[{output}] says it")
    return "\n * ".join(lines)


def _constants(signature: Signature) -> Iterator[str]:
    """Counts as enumerators, so that two headers with one prefix do not compile together, then macros for each
    tensor.
    """
    kinds = ("INPUT", "OUTPUT", "DIM")
    counts = (f"@PREFIX@_{kind}_COUNT = {len(signature[f'{kind.lower()}s'])}" for kind in kinds)
    states = signature.get("states", ())
    yield f"enum {{ {', '.join([*counts, *([f'@PREFIX@_STATE_COUNT = {len(states)}'] if states else [])])} }};"
    if states:
        yield f"#define @PREFIX@_STATES {{{', '.join(c_string(each['name']) for each in states)}}}"
    for index, tensor in enumerate(states):
        yield from _of_tensor(f"@PREFIX@_STATE_{index}", tensor)
    for kind in kinds[:2]:
        for index, tensor in enumerate(signature[f"{kind.lower()}s"]):
            yield from _of_tensor(f"@PREFIX@_{kind}_{index}", tensor)


def _of_tensor(name: str, tensor: Mapping[str, Any]) -> Iterator[str]:
    """Macros of a tensor: its rank, and without symbolic dimensions its shape, elements and bytes too."""
    shape = tensor["shape"]
    yield f"#define {name}_RANK {len(shape)}"
    if all(isinstance(size, int) for size in shape):
        elements = math.prod(shape)
        if shape:
            yield f"#define {name}_SHAPE {{{', '.join(map(str, shape))}}}"
        yield f"#define {name}_ELEMENTS INT64_C({elements})"
        yield f"#define {name}_BYTES INT64_C({elements * dtype_of(tensor['dtype']).itemsize})"
