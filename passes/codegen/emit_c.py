"""The last stage: kernels and host program as C files, the signature, and the weights payload."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from xdsl.dialects.builtin import ModuleOp, StringAttr
from xdsl.ir import Operation

from mlc.dialects import kernel, rt
from mlc.dialects.dims import DimLike, condition, evaluate, parse_dim, symbols_of
from mlc.dialects.graph import source_nodes
from mlc.dialects.graph.sizes import ROOM, upper
from mlc.dialects.types import NUMPY_NAMES, element_of, shape_of
from mlc.dialects.weights import WeightStore
from mlc.passes.codegen.c_kernel import kernel_symbols, print_kernel
from mlc.passes.codegen.c_model import Weights, arena_bytes, print_model
from mlc.passes.kernel.count_work import BYTES, FLOPS
from mlc.passes.plan.plan_memory import ALIGN, TYPICAL, aligned, live_bytes_bound, live_ranges
from mlc.passes.schedule.apply_schedules import TUNED
from mlc.passes.schedule.schedule import SCHEDULE

KERNELS_A_FILE = 6
LIBRARY_CALL = ", tid, threads);"  # ends the call of one


@dataclass(frozen=True)
class Code:
    """What the C compiler and the artifact writer need."""

    sources: dict[str, str]
    signature: dict[str, Any]


def program_of(module: ModuleOp) -> rt.ProgramOp:
    return next(o for o in module.ops if isinstance(o, rt.ProgramOp))


@dataclass(frozen=True)
class Kernels:
    """The C functions of a module's kernels: kernel -> symbol, symbol -> text. Kernels of one text share a symbol."""

    symbols: dict[str, str]
    texts: dict[str, str]


def print_kernels(module: ModuleOp, lanes: int) -> Kernels:
    """C for the kernels of a planned module. A symbol is the hash of its text, so equal code has equal objects."""
    texts = {name: print_kernel(fn, "KERNEL", lanes) for name, fn in _functions(module).items()}
    symbols = {name: f"k_{hashlib.sha256(text.encode()).hexdigest()[:16]}" for name, text in texts.items()}
    return Kernels(symbols, {symbols[name]: text.replace("KERNEL", symbols[name], 1) for name, text in texts.items()})


def _functions(module: ModuleOp) -> dict[str, kernel.FuncOp]:
    return {o.sym_name.data: o for o in module.ops if isinstance(o, kernel.FuncOp)}


def emit_c(
    module: ModuleOp,
    prefix: str,
    kernels: Kernels,
    isa: Sequence[str],
    weights: Weights,
    about: dict[str, Any],
    kernels_a_file: int = KERNELS_A_FILE,
) -> Code:
    """C for a planned module; ``about`` is added to the signature (compiler version, target)."""
    program, functions = program_of(module), _functions(module)
    signature = _signature(program, functions, kernels.symbols, prefix, weights) | about
    dims = {name: kernel_symbols(fn) for name, fn in functions.items()}
    groups = enumerate(_groups(list(kernels.texts.values()), kernels_a_file))
    sources = {f"kernels_{n}.c": _unit(group) for n, group in groups}
    sources["model.c"] = print_model(program, prefix, kernels.symbols, dims, signature, weights, isa)
    return Code(sources, signature)


def _unit(texts: Sequence[str]) -> str:
    """A file of kernels; where none is a function of the runtime, their header need not be read."""
    calls = any(LIBRARY_CALL in text for text in texts)
    return "\n".join([f'#include "mlc_{"library" if calls else "kernel"}.h"\n', *texts])


def _groups(texts: Sequence[str], size: int) -> Iterator[Sequence[str]]:
    for n in range(0, len(texts), size):
        yield texts[n : n + size]


def _signature(
    program: rt.ProgramOp, functions: dict[str, kernel.FuncOp], symbols: dict[str, str], prefix: str, weights: Weights
) -> dict[str, Any]:
    ops = list(rt.walk(program.body.block))
    inputs = [_tensor(n.data, o) for n, o in zip(program.inputs, _of(ops, rt.InputOp), strict=True)]
    outputs = [_tensor(n.data, o) for n, o in zip(program.outputs, _of(ops, rt.OutputOp), strict=True)]
    bounds = program.bound_of
    launches = [_launch(o, functions, symbols, bounds) for o in ops if isinstance(o, rt.LaunchOp)]
    return {
        "abi": 2,
        "name": prefix,
        "dims": [d.data for d in program.dims],
        "guards": [{"expr": g.data, "message": condition(parse_dim(g.data))} for g in program.guards or ()],
        "inputs": inputs,
        "outputs": outputs,
        "sizes": _sizes(program),
        "kernels": launches,
        "weights": {"bytes": weights.payload, "sha256": weights.sha256, "file": weights.file},
        **_arena(program),
    }


def _of(ops: Sequence[Any], kind: type) -> list[Any]:
    return [o for o in ops if isinstance(o, kind)]


def _tensor(name: str, op: Any) -> dict[str, Any]:
    shape = [d if isinstance(d, int) else str(d) for d in shape_of(op.result)]
    return {"name": name, "dtype": NUMPY_NAMES[element_of(op.result)], "shape": shape}


def _sizes(program: rt.ProgramOp) -> list[dict[str, Any]]:
    """Dimensions that depend on data: the output that says them, and what they never exceed."""
    told = [s.data for s in program.sizes or ()]
    bounds = program.bound_of
    numbers = enumerate(told, len(program.outputs) - len(told))
    entries = [{"name": name, "output": n, "bound": str(bounds[name])} for n, name in numbers]
    return [entry | ({"grows": True} if ROOM.fullmatch(str(entry["bound"])) else {}) for entry in entries]


def _launch(
    op: rt.LaunchOp, functions: dict[str, kernel.FuncOp], symbols: dict[str, str], bounds: dict[str, DimLike]
) -> dict[str, Any]:
    name = op.callee.root_reference.data
    attributes = functions[name].attributes

    def text(key: str) -> str:
        attr = attributes.get(key)
        return attr.data if isinstance(attr, StringAttr) else ""

    turns = turns_of(op)

    def most(count: str) -> str:
        return str(upper(parse_dim(count) * turns, bounds)) if count else count

    return {
        "name": name,
        "symbol": symbols[name],
        "nodes": list(source_nodes(op)),
        "schedule": text(SCHEDULE),
        **({"tuned": True} if TUNED in attributes else {}),
        **({"turns": str(upper(turns, bounds))} if turns != 1 else {}),
        "flops": most(text(FLOPS)),
        "bytes": most(text(BYTES)),
    }


def turns_of(op: Operation) -> DimLike:
    """How often an operation of the host program runs; a loop that ends when data says so counts as one of TYPICAL."""
    turns: DimLike = 1
    while (op := op.parent_op()) is not None:  # type: ignore[assignment]
        if isinstance(op, rt.LoopOp):
            turns = turns * (TYPICAL if op.trips is None else parse_dim(op.trips.data))
    return turns


def _arena(program: rt.ProgramOp) -> dict[str, Any]:
    """Bytes of the arena and the most bytes alive at one time, at typical values of the symbolic dimensions."""
    ranges = live_ranges(program)
    symbols = sorted(symbols_of(r.size for r in ranges))
    at: dict[str, DimLike] = dict.fromkeys(symbols, TYPICAL)
    sizes = [evaluate(aligned(r.size), at) for r in ranges]
    bound = live_bytes_bound(ranges, [s for s in sizes if isinstance(s, int)])
    size = arena_bytes(program, at)
    return {"arena": str(size), "arena_bound": str(bound), "arena_at": dict.fromkeys(symbols, TYPICAL)}


def payload_entries(program: rt.ProgramOp) -> list[tuple[int, str]]:
    """(offset, entry) of each weight, in order of offset."""
    ops = [o for o in rt.walk(program.body.block) if isinstance(o, rt.WeightOp)]
    return sorted({(o.offset.value.data, o.entry.data) for o in ops if o.offset is not None})


def payload(program: rt.ProgramOp, weights: WeightStore) -> Iterator[bytes | memoryview]:
    """The payload in pieces, one weight in memory at a time; entries start at multiples of 64 bytes."""
    for _, name in payload_entries(program):
        array = weights[name]
        data = array.reshape(-1).view("u1").data if array.nbytes else b""
        yield data
        yield bytes(-array.nbytes % ALIGN)


