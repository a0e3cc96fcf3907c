"""Names of a kernel's buffers in isl's sets and maps."""

from __future__ import annotations

from xdsl.ir import Block, SSAValue

from mlc.dialects import kernel


def array_names(block: Block) -> dict[SSAValue, str]:
    """Return the isl names of the buffers of a kernel's block: arguments are ``b0, b1, …``, local arrays ``t0, t1,
    …``."""
    names: dict[SSAValue, str] = {a: f"b{n}" for n, a in enumerate(block.args)}
    local = [o.result for o in block.ops if isinstance(o, kernel.LocalOp)]
    return names | {r: f"t{n}" for n, r in enumerate(local)}
