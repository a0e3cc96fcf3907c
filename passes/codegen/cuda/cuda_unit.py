"""The kernels of a planned module as CUDA functions, which a unit includes after the device header."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence

from xdsl.dialects.builtin import ModuleOp

from mlc.dialects import kernel
from mlc.passes.codegen.cuda.cuda_kernel import print_kernel
from mlc.passes.codegen.emit_c import Kernels

HEADER = "mlc_cuda_kernel.h"
LIBRARY_HEADER = "mlc_cuda_library.h"
WARPGROUP_HEADER, WARPGROUP_CALL = "mlc_cuda_warpgroup.h", "mlc_wgmma<"
TMA_HEADER, TMA_CALL = "mlc_cuda_tma.h", "mlc_tensor_map"
LIBRARY_CALL = "MLC_GRID_THREAD,"  # in the call of a runtime library function


def print_kernels(module: ModuleOp) -> Kernels:
    """Return CUDA for the kernels of a planned module. A symbol is the hash of its text."""
    printed = {o.sym_name.data: print_kernel(o, "KERNEL") for o in module.ops if isinstance(o, kernel.FuncOp)}
    symbols = {name: f"k_{hashlib.sha256(text.encode()).hexdigest()[:16]}" for name, text in printed.items()}
    return Kernels(symbols, {symbols[name]: text.replace("KERNEL", symbols[name], 1) for name, text in printed.items()})


def unit(functions: Sequence[str]) -> str:
    """Return a ``.cu`` file of kernels, which includes the headers of the functions that they call."""
    calls = {LIBRARY_HEADER: LIBRARY_CALL, WARPGROUP_HEADER: WARPGROUP_CALL, TMA_HEADER: TMA_CALL}
    headers = [header for header, call in calls.items() if any(call in text for text in functions)] or [HEADER]
    return "\n".join([*(f'#include "{header}"' for header in headers), "", *functions])
